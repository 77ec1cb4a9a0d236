"""Functions of boundary layers: exponentials that fall off from a side, times slow waves along it.

Re(exp(ω·(x − x₀) − iφ)) with ω = κ n + iτ, n the outward normal at a point x₀ of the boundary. Derivatives are powers
of ω, so equations with small coefficients at their highest derivatives lose no digits.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


class LayerFunctions:
    """Exponentials of layers.

    Parameters
    ----------
    table
        One row per function: x₀, Re ω, Im ω (as many numbers as there are coordinates, each), φ.

    Examples
    --------
    >>> layer = LayerFunctions(np.array([[1.0, 100.0, 0.0, 0.0]]))
    >>> layer(np.array([[1.0], [0.99]]), (1,)).round(2).tolist()
    [[100.0], [36.79]]
    """

    kind = "layers"

    def __init__(self, table: Array) -> None:
        self.table = np.atleast_2d(np.array(table, dtype=float))
        self.table.flags.writeable = False

    def __len__(self) -> int:
        return len(self.table)

    def __call__(self, x: Array, alpha: tuple[int, ...], laps: int = 0) -> Array:
        """Return ∂^alpha Δ^laps of every function, shape (n, functions)."""
        d = x.shape[1]
        origins, rates = self.table[:, :d], self.table[:, d : 2 * d] + 1j * self.table[:, 2 * d : 3 * d]
        factor = np.exp(-1j * self.table[:, -1]) * np.sum(rates**2, axis=1) ** laps
        for axis, order in enumerate(alpha):
            factor = factor * rates[:, axis] ** order
        middle = x.mean(axis=0)
        exponent = (x - middle) @ rates.T + np.sum((middle - origins) * rates, axis=1)
        if np.any(exponent.real > 0):
            exponent = np.minimum(exponent.real, 50.0) + 1j * exponent.imag
        return np.asarray((factor * np.exp(exponent)).real)
