"""Singular functions of corners: r^α cos(αθ) and r^α sin(αθ), which no sum of smooth neurons comes close to.

Times powers of r², they are what eigenfunctions of the Laplacian consist of near a corner.

At a corner that opens by more than π, solutions of diffusion and wave equations behave like r^(π/ω), whatever the data:
their gradient is unbounded. A few such functions beside the neurons represent this part exactly. Derivatives
follow from z^α = r^α e^(iαθ) in the complex plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np

Array = np.ndarray
_CLOSEST = 1e-12  # nearer than this, unbounded derivatives are given as if at this distance


class Corner(NamedTuple):
    """A corner at ``(x, y)`` that opens counter-clockwise from the direction ``start`` by the angle ``opening``."""

    x: float
    y: float
    start: float
    opening: float


class SingularFunctions:
    """Functions r^(2j)·Re(e^(−iφ) z^α) of corners, z measured from the corner and its first edge.

    Parameters
    ----------
    table
        One row per function: x, y, start, opening, α, φ, j. Without j, which is then zero, the functions are harmonic.
    """

    def __init__(self, table: Array) -> None:
        given = np.array(table, dtype=float)
        given = given.reshape(-1, given.shape[-1] if given.ndim == 2 else 6)
        self.table = np.pad(given, ((0, 0), (0, 7 - given.shape[1])))
        self.table.flags.writeable = False

    @classmethod
    def of(
        cls,
        corners: Sequence[Corner],
        exponents: Sequence[float],
        phases: Sequence[float],
        highest: float | None = None,
    ) -> SingularFunctions:
        """Return r^(kα)·cos and sin, for multiples ``exponents`` of π over the opening of each corner.

        With ``highest``, those times r², r⁴, … up to this power of r, too: as eigenfunctions and solutions of
        Helmholtz' equation have them.
        """
        rows = [
            (*corner, power, phase, j)
            for corner in corners
            for power in (k * np.pi / corner.opening for k in exponents)
            for phase in phases
            if abs(power % 1.0) > 1e-9  # whole powers are smooth
            for j in range(1 if highest is None else max(1, int(np.floor((highest - power) / 2.0)) + 1))
        ]
        return cls(np.array(rows, dtype=float).reshape(-1, 7))

    def __len__(self) -> int:
        return len(self.table)

    def __call__(self, x: Array, alpha: tuple[int, ...], laps: int = 0) -> Array:
        """Return ∂^alpha Δ^laps of every function, shape (n, functions)."""
        out = np.zeros((len(x), len(self)))
        parts = _wirtinger(alpha, laps)
        for k, (x0, y0, start, opening, power, phase, j) in enumerate(self.table):
            z = (x[:, 0] - x0 + 1j * (x[:, 1] - y0)) * np.exp(-1j * start)
            r = np.maximum(np.abs(z), _CLOSEST)
            middle = opening / 2.0  # the branch cut lies opposite to it, outside the domain
            theta = np.angle(z * np.exp(-1j * middle)) + middle
            for (p, q), factor in parts.items():  # z^(α+j) z̄^j, differentiated p times by z and q times by z̄
                scale = factor * np.prod(power + j - np.arange(p)) * np.prod(j - np.arange(q))
                if scale:
                    turn = scale * np.exp(-1j * (start * (p - q) + phase))
                    out[:, k] += (turn * r ** (power + 2 * j - p - q) * np.exp(1j * (power - p + q) * theta)).real
        return out


def _wirtinger(alpha: tuple[int, ...], laps: int) -> dict[tuple[int, int], complex]:
    """Write ∂ₓᵃ∂ᵧᵇΔˡ in derivatives by z and z̄: ∂ₓ = ∂ + ∂̄, ∂ᵧ = i(∂ − ∂̄), Δ = 4∂∂̄."""
    a, b = alpha
    table: dict[tuple[int, int], complex] = {}
    for k in range(a + 1):
        for m in range(b + 1):
            key = (a - k + b - m + laps, k + m + laps)
            table[key] = table.get(key, 0.0) + 4.0**laps * comb(a, k) * comb(b, m) * (-1) ** m * 1j**b
    return table
