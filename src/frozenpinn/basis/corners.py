"""Singular functions of the plane, which no sum of smooth neurons comes close to: powers and logarithms of distances.

At a corner solutions of diffusion and wave equations behave like r^(π/ω), whatever the data; where that power is whole,
like r^n log r. Around a hole they have parts of log r and r^(−k) cos kθ, which are smooth but far from any polynomial.
All are Re(e^(−iφ) z^p z̄^q Λ^m) with Λ = log z or log r, z measured from the corner or the centre. Derivatives follow
from ∂/∂z and ∂/∂z̄ of the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

Array = np.ndarray
_CLOSEST = 1e-12  # nearer than this, unbounded derivatives are given as if at this distance
_WHOLE = 1e-9  # powers as near to a whole number are whole
PLAIN, LOG, LOG_R = 0, 1, 2  #: without a logarithm, with log z, with log r
_LOG_SLOPES = {PLAIN: (0.0, 0.0), LOG: (1.0, 0.0), LOG_R: (0.5, 0.5)}  # of Λ by log z and by log z̄


class Corner(NamedTuple):
    """A corner at ``(x, y)`` that opens counter-clockwise from the direction ``start`` by the angle ``opening``."""

    x: float
    y: float
    start: float
    opening: float


class Power(NamedTuple):
    """Re(e^(−iφ) z^p z̄^q Λ^m): r^(p + q) times sines and cosines of (p − q)θ, with a logarithm or without."""

    p: float
    q: float = 0.0
    log: int = PLAIN
    phase: float = 0.0


class SingularFunctions:
    """Functions Re(e^(−iφ) z^p z̄^q Λ^m) of corners and holes.

    Parameters
    ----------
    table
        One row per function: x, y, start, opening and unit of length, then p, q, kind of logarithm and φ.
    """

    kind = "plane"

    def __init__(self, table: Array) -> None:
        self.table = np.array(table, dtype=float).reshape(-1, 9)
        self.table.flags.writeable = False

    @classmethod
    def of(cls, corners: Sequence[Corner], exponents: Sequence[float], phases: Sequence[float]) -> SingularFunctions:
        """Return r^(kα)·cos and sin, for multiples ``exponents`` of π over the opening of each corner."""
        rows = [
            (*corner, 1.0, k * np.pi / corner.opening, 0.0, PLAIN, phase)
            for corner in corners
            for k in exponents
            for phase in phases
            if not is_whole(k * np.pi / corner.opening)  # whole powers are smooth
        ]
        return cls(np.array(rows, dtype=float))

    @classmethod
    def at(cls, corner: Corner, powers: Sequence[Power], unit: float = 1.0) -> SingularFunctions:
        """Return functions of one corner or centre, lengths measured in a unit."""
        return cls(np.array([(*corner, unit, *power) for power in powers], dtype=float))

    @classmethod
    def joined(cls, parts: Sequence[SingularFunctions]) -> SingularFunctions:
        """Return the functions of several places as one."""
        return cls(np.concatenate([np.empty((0, 9)), *(part.table for part in parts)]))

    def __len__(self) -> int:
        return len(self.table)

    def __call__(self, x: Array, alpha: tuple[int, ...], laps: int = 0) -> Array:
        """Return ∂^alpha Δ^laps of every function, shape (n, functions)."""
        out = np.zeros((len(x), len(self)))
        places, which = np.unique(self.table[:, :5], axis=0, return_inverse=True)
        for k, (x0, y0, start, opening, unit) in enumerate(places):
            rows = np.flatnonzero(which.ravel() == k)
            turn = complex(np.exp(-1j * start)) / unit
            logs = _logarithm((x[:, 0] - x0 + 1j * (x[:, 1] - y0)) * turn, opening)
            out[:, rows] = _derivative(self.table[rows, 5:], logs, alpha, laps, turn)
        return out


def is_whole(power: float) -> bool:
    """Whether a power is a whole number, up to round-off."""
    return bool(abs(power - round(power)) <= _WHOLE)


def _logarithm(z: Array, opening: float) -> Array:
    """Return log z with the branch cut opposite to the middle of the opening, outside the domain."""
    middle = opening / 2.0
    theta = np.angle(z * np.exp(-1j * middle)) + middle
    return np.asarray(np.log(np.maximum(np.abs(z), _CLOSEST)) + 1j * theta)


def _derivative(table: Array, logs: Array, alpha: tuple[int, ...], laps: int, turn: complex) -> Array:
    """Return a derivative of functions of one place, from log z at all points."""
    found: dict[tuple[float, float], int] = {}
    entries: list[tuple[int, int, int, complex]] = []
    for k, (p, q, log, phase) in enumerate(table):
        for a, b, m, factor in _terms(p, q, log, alpha, laps, turn):
            entries.append((int(m * log), found.setdefault((a, b), len(found)), k, factor * np.exp(-1j * phase)))
    out = np.zeros((len(logs), len(table)))
    if not found:
        return out
    p, q = np.array(list(found)).T
    powers = np.exp(np.multiply.outer(logs, p) + np.multiply.outer(logs.conj(), q))  # shared by many functions
    for kind, log in ((PLAIN, None), (LOG, logs), (LOG_R, logs.real)):
        own = [entry for entry in entries if entry[0] == kind]
        if own:
            factors = np.zeros((len(found), len(table)), dtype=complex)
            for _, row, column, factor in own:
                factors[row, column] += factor
            values = powers if log is None else powers * log[:, None]
            out += values.real @ factors.real - values.imag @ factors.imag
    return out


@lru_cache(maxsize=4096)
def _terms(
    p: float, q: float, log: float, alpha: tuple[int, ...], laps: int, turn: complex
) -> tuple[tuple[float, float, int, complex], ...]:
    """Return ∂^alpha Δ^laps of z^p z̄^q Λ^m as terms (p, q, m, factor) of the same form."""
    ahead, behind = _LOG_SLOPES[int(log)]
    table: dict[tuple[float, float, int], complex] = {(p, q, int(log != PLAIN)): 1.0 + 0.0j}

    def by(
        holomorphic: bool, terms: dict[tuple[float, float, int], complex]
    ) -> dict[tuple[float, float, int], complex]:
        new: dict[tuple[float, float, int], complex] = {}
        for (a, b, m), factor in terms.items():
            key = (a - 1.0, b) if holomorphic else (a, b - 1.0)
            power, slope, scale = (a, ahead, turn) if holomorphic else (b, behind, turn.conjugate())
            new[(*key, m)] = new.get((*key, m), 0.0) + power * factor * scale
            if m:
                new[(*key, 0)] = new.get((*key, 0), 0.0) + slope * factor * scale
        return {key: factor for key, factor in new.items() if factor != 0.0}

    for _ in range(laps):
        table = {key: 4.0 * factor for key, factor in by(False, by(True, table)).items()}
    for axis, order in enumerate(alpha):
        for _ in range(order):
            one, other = by(True, table), by(False, table)
            sign = (1.0, 1.0) if axis == 0 else (1j, -1j)
            table = {
                key: sign[0] * one.get(key, 0.0) + sign[1] * other.get(key, 0.0)
                for key in dict.fromkeys((*one, *other))
            }
    return tuple((*key, factor) for key, factor in table.items())
