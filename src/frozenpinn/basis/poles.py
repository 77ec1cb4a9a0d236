"""Multipoles about some centres: in space derivatives of 1/r and r at a centre, in the plane powers and logarithms.

In space, the derivatives of ∂^β r^s are ∂^(β+α) r^s, its Laplacian is s(s+1) ∂^β r^(s−2),
and each is a sum of monomials times powers of r.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import factorial

import numpy as np

from frozenpinn.basis.corners import CLOSEST, LOG_R, PLAIN, Corner, Power, SingularFunctions
from frozenpinn.basis.hidden import SpecialFunctions

Array = np.ndarray


class SpacePoles:
    """Functions ∂^β r^s about centres in space, lengths in units of a radius.

    Parameters
    ----------
    table
        One row per function: x, y, z, radius, β (three numbers), s.

    Examples
    --------
    >>> poles = SpacePoles.of([(0.0, 0.0, 0.0)], [2.0], order=1)
    >>> poles(np.array([[4.0, 0.0, 0.0]]), (0, 0, 0)).round(3).tolist()
    [[0.5, 0.0, -0.25, 0.0]]
    """

    kind = "space"

    def __init__(self, table: Array) -> None:
        self.table = np.array(table, dtype=float).reshape(-1, 8)
        self.table.flags.writeable = False

    @classmethod
    def of(
        cls, centres: Sequence[Sequence[float]], radii: Sequence[float], order: int, powers: Sequence[int] = (-1,)
    ) -> SpacePoles:
        """Return the 2l + 1 independent derivatives of each order l of 1/r, and the same ones of other powers."""
        shapes = [(a, n - c - a, c) for n in range(order + 1) for c in range(min(n, 1) + 1) for a in range(n - c + 1)]
        rows = [
            (*centre, radius, *beta, power)
            for centre, radius in zip(centres, radii, strict=True)
            for power in powers
            for beta in shapes
        ]
        return cls(np.array(rows, dtype=float))

    def __len__(self) -> int:
        return len(self.table)

    def __call__(self, x: Array, alpha: tuple[int, ...], laps: int = 0) -> Array:
        """Return ∂^alpha Δ^laps of every function, shape (n, functions)."""
        out = np.zeros((len(x), len(self)))
        for k, row in enumerate(self.table):
            radius, power = row[3], row[7]
            y = (x - row[:3]) / radius
            beta = tuple(int(b) + a for b, a in zip(row[4:7], alpha, strict=True))
            factor = radius ** -(sum(alpha) + 2 * laps) / factorial(int(np.sum(row[4:7])))
            for _ in range(laps):
                factor, power = factor * power * (power + 1.0), power - 2.0
            if factor:
                out[:, k] = factor * _value(y, beta, power)
        return out


def _value(y: Array, beta: tuple[int, ...], power: float) -> Array:
    """Return ∂^β r^s."""
    r = np.maximum(np.linalg.norm(y, axis=1), CLOSEST)
    total = np.zeros(len(y))
    for (*monomial, s), factor in _terms(beta, power):
        total += factor * np.prod(y ** np.array(monomial), axis=1) * r**s
    return total


@lru_cache(maxsize=1024)
def _terms(beta: tuple[int, ...], power: float) -> tuple[tuple[tuple[float, ...], float], ...]:
    """Return ∂^β r^s as factors of (a, b, c, s), which means x^a y^b z^c r^s."""
    table: dict[tuple[float, ...], float] = {(0, 0, 0, power): 1.0}
    for axis, order in enumerate(beta):
        for _ in range(order):
            new: dict[tuple[float, ...], float] = {}
            for key, factor in table.items():
                for shift, r, share in ((-1, 0.0, key[axis]), (1, -2.0, key[3])):
                    if share:
                        moved = tuple(k + shift * (i == axis) for i, k in enumerate(key[:3]))
                        new[(*moved, key[3] + r)] = new.get((*moved, key[3] + r), 0.0) + share * factor
            table = new
    return tuple(table.items())


def poles_about(
    centres: Sequence[Sequence[float]], radii: Sequence[float], order: int, lower: bool
) -> SpecialFunctions:
    """Return the multipoles about some centres in the plane or in space."""
    if len(centres[0]) == 3:
        return SpacePoles.of(centres, radii, order, (-1, 1) if lower else (-1,))
    powers_of = [*_harmonic(order), *(_companions(order) if lower else ())]
    places = [(Corner(float(x), float(y), 0.0, 2.0 * np.pi), r) for (x, y), r in zip(centres, radii, strict=True)]
    return SingularFunctions.joined([SingularFunctions.at(place, powers_of, radius) for place, radius in places])


def _harmonic(order: int) -> list[Power]:
    waves = [Power(-float(k), 0.0, PLAIN, phase) for k in range(1, order + 1) for phase in (0.0, np.pi / 2)]
    return [Power(0.0, 0.0, LOG_R), *waves]


def _companions(order: int) -> list[Power]:
    """Return the functions whose Laplacians are those of :func:`_harmonic`."""
    first = [Power(1.0, 1.0, LOG_R), Power(1.0, 0.0, LOG_R), Power(1.0, 0.0, LOG_R, np.pi / 2)]
    return [*first, *(Power(1.0 - k, 1.0, PLAIN, phase) for k in range(2, order + 1) for phase in (0.0, np.pi / 2))]
