"""Harmonic functions with given boundary values, as sums of functions that are harmonic themselves.

Powers of z, powers of z about a corner that match its angle, and poles in holes are fitted to the boundary values by
least squares. By the maximum principle the error is nowhere larger than the misfit on the boundary, which is measured
at other points: the reference brings its own bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Functions = Callable[[Array], Array]  # of complex places (n,), one column for each


@dataclass(frozen=True, eq=False)
class HarmonicReference:
    """A sum of harmonic functions.

    Attributes
    ----------
    functions, coefficients
        The functions, and how much of each there is.
    misfit
        Largest distance from the boundary values that was found, and with it a bound of the error.
    """

    functions: Functions
    coefficients: Array
    misfit: float

    @classmethod
    def fitted(
        cls, functions: Functions, fitted: tuple[Array, Array], checked: tuple[Array, Array]
    ) -> HarmonicReference:
        """Fit boundary values, given as places and values; the misfit is taken at others."""
        table, values = functions(fitted[0]), fitted[1]
        sizes = np.linalg.norm(table, axis=0)
        coefficients = np.linalg.lstsq(table / sizes, values, rcond=1e-15)[0] / sizes
        misfit = float(np.max(np.abs(functions(checked[0]) @ coefficients - checked[1])))
        return cls(functions, coefficients, misfit)

    def __call__(self, x: Array, y: Array) -> Array:
        """Return values at places."""
        return self.values(x, y)

    def values(self, x: Array, y: Array) -> Array:
        """Return values at places."""
        z = np.asarray(x, dtype=float) + 1j * np.asarray(y, dtype=float)
        return np.asarray(self.functions(z.ravel()) @ self.coefficients).reshape(z.shape)


def powers(z: Array, count: int) -> Array:
    """Return 1 and real and imaginary parts of z, …, z^count."""
    table = z[:, None] ** np.arange(count + 1)
    return np.concatenate([table.real, table[:, 1:].imag], axis=1)


def poles(z: Array, centre: complex, radius: float, count: int) -> Array:
    """Return log |z − c| and real and imaginary parts of (radius/(z − c))ᵏ, k = 1, …, count."""
    table = (radius / (z - centre))[:, None] ** np.arange(1, count + 1)
    return np.concatenate([np.log(np.abs(z - centre))[:, None], table.real, table.imag], axis=1)


def along(corners: Sequence[complex], each: int) -> Array:
    """Return places on the edges of a polygon, closer together at its corners."""
    s = (1 - np.cos(np.pi * (np.arange(each) + 0.5) / each)) / 2
    s = s**2 * (3 - 2 * s)
    ends = [*corners[1:], corners[0]]
    return np.concatenate([a + (b - a) * s for a, b in zip(corners, ends, strict=True)])


def around(centre: complex, radius: float, count: int) -> Array:
    """Return places on a circle."""
    return np.asarray(centre + radius * np.exp(2j * np.pi * np.arange(count) / count))


def angle(z: Array, corner: complex, direction: float) -> tuple[Array, Array]:
    """Return distance from a corner, and the angle from a direction on, in [−π/4, 7π/4)."""
    local = (z - corner) * np.exp(-1j * direction)
    return np.abs(local), np.mod(np.angle(local) + np.pi / 4, 2 * np.pi) - np.pi / 4
