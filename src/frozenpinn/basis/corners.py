"""Singular functions of corners: r^α cos(αθ) and r^α sin(αθ), which no sum of smooth neurons comes close to.

At a corner that opens by more than π, solutions of diffusion and wave equations behave like r^(π/ω), whatever the data:
their gradient is unbounded. A few such functions beside the neurons represent this part exactly. They are harmonic, and
derivatives follow from z^α = r^α e^(iαθ) in the complex plane.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """Functions Re(e^(−iφ) z^α) of corners, z measured from the corner and its first edge.

    Parameters
    ----------
    table
        One row per function: x, y, start, opening, α, φ.
    """

    def __init__(self, table: Array) -> None:
        self.table = np.array(table, dtype=float).reshape(-1, 6)
        self.table.flags.writeable = False

    @classmethod
    def of(cls, corners: Sequence[Corner], exponents: Sequence[float], phases: Sequence[float]) -> SingularFunctions:
        """Return r^(kα)·cos and sin, for multiples ``exponents`` of π over the opening of each corner."""
        rows = [
            (*corner, k * np.pi / corner.opening, phase)
            for corner in corners
            for k in exponents
            for phase in phases
            if abs(k * np.pi / corner.opening % 1.0) > 1e-9  # whole powers are smooth
        ]
        return cls(np.array(rows, dtype=float))

    def __len__(self) -> int:
        return len(self.table)

    def __call__(self, x: Array, alpha: tuple[int, ...], laps: int = 0) -> Array:
        """Return ∂^alpha Δ^laps of every function, shape (n, functions)."""
        out = np.zeros((len(x), len(self)))
        if laps:
            return out
        order = sum(alpha)
        for k, (x0, y0, start, opening, power, phase) in enumerate(self.table):
            z = (x[:, 0] - x0 + 1j * (x[:, 1] - y0)) * np.exp(-1j * start)
            r = np.maximum(np.abs(z), _CLOSEST)
            middle = opening / 2.0  # the branch cut lies opposite to it, outside the domain
            theta = np.angle(z * np.exp(-1j * middle)) + middle
            factor = np.prod(power - np.arange(order)) * 1j ** alpha[1] * np.exp(-1j * (start * order + phase))
            out[:, k] = (factor * r ** (power - order) * np.exp(1j * (power - order) * theta)).real
        return out
