"""Singular functions of the plane, which no sum of smooth neurons comes close to: powers and logarithms of distances.

At a corner solutions of diffusion and wave equations behave like r^(π/ω), whatever the data; where that power is whole,
like r^n log r. Around a hole they have parts of log r and r^(−k) cos kθ, which are smooth but far from any polynomial.
All are Re(e^(−iφ) z^p z̄^q Λ^m) with Λ = log z or log r, z measured from the corner or the centre. Derivatives follow
from ∂/∂z and ∂/∂z̄ of the product. Of equations other than the Laplacian, z = x + ρ y with other ρ than i, and systems
have complex p and q.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from frozenpinn.runtime.round_off import ALIKE

Array = np.ndarray
CLOSEST = 1e-12  #: nearer than this, unbounded derivatives are given as if at this distance
PLAIN, LOG, LOG_R = 0, 1, 2  #: without a logarithm, with log z, with log r
_COLUMNS, _USUAL = 12, (0.0, 0.0, 1.0)  # of a table, and the last three of them for Laplacians
_LOG_SLOPES = {PLAIN: (0.0, 0.0), LOG: (1.0, 0.0), LOG_R: (0.5, 0.5)}  # of Λ by log z and by log z̄


_Terms = dict[tuple[complex, float, int], complex]  # p, q and whether there is a logarithm, with a factor


class Corner(NamedTuple):
    """A corner at ``(x, y)`` that opens counter-clockwise from the direction ``start`` by the angle ``opening``."""

    x: float
    y: float
    start: float
    opening: float


class Power(NamedTuple):
    """Re(e^(−iφ) z^p z̄^q Λ^m): r^(p + q) times sines and cosines of (p − q)θ, with a logarithm or without."""

    p: complex
    q: float = 0.0
    log: int = PLAIN
    phase: float = 0.0
    root: complex = 1j


class SingularFunctions:
    """Functions Re(e^(−iφ) z^p z̄^q Λ^m) of corners and holes.

    Parameters
    ----------
    table
        One row per function: x, y, start, opening and unit of length, then Re p, q, kind of logarithm and φ, then
        Im p, Re ρ and Im ρ, which may be left out together. Start and opening are angles in the plane of z.
    """

    kind = "plane"

    def __init__(self, table: Array) -> None:
        rows = np.array(table, dtype=float)
        rows = rows.reshape(-1, rows.shape[-1] if rows.ndim == 2 and rows.size else _COLUMNS)
        usual = np.tile(_USUAL, (len(rows), 1))
        self.table = np.concatenate([rows, usual[:, rows.shape[1] - _COLUMNS + 3 :]], axis=1)
        self.table.flags.writeable = False

    @classmethod
    def of(cls, corners: Sequence[Corner], exponents: Sequence[float], phases: Sequence[float]) -> SingularFunctions:
        """Return r^(kα)·cos and sin, for multiples ``exponents`` of π over the opening of each corner."""
        rows = [
            (*corner, 1.0, k * np.pi / corner.opening, 0.0, PLAIN, phase, *_USUAL)
            for corner in corners
            for k in exponents
            for phase in phases
            if not is_whole(k * np.pi / corner.opening)  # whole powers are smooth
        ]
        return cls(np.array(rows, dtype=float).reshape(-1, _COLUMNS))

    @classmethod
    def at(cls, corner: Corner, powers: Sequence[Power], unit: float = 1.0) -> SingularFunctions:
        """Return functions of one corner or centre, lengths measured in a unit."""
        rows = []
        for p, q, log, phase, root in powers:
            place = corner if root == 1j else Corner(corner.x, corner.y, *_mapped(corner, root))
            rows.append((*place, unit, complex(p).real, q, log, phase, complex(p).imag, root.real, root.imag))
        return cls(np.array(rows, dtype=float).reshape(-1, _COLUMNS))

    @classmethod
    def joined(cls, parts: Sequence[SingularFunctions]) -> SingularFunctions:
        """Return the functions of several places as one."""
        return cls(np.concatenate([np.empty((0, _COLUMNS)), *(part.table for part in parts)]))

    def __len__(self) -> int:
        return len(self.table)

    def __call__(self, x: Array, alpha: tuple[int, ...], laps: int = 0) -> Array:
        """Return ∂^alpha Δ^laps of every function, shape (n, functions)."""
        out = np.zeros((len(x), len(self)))
        places, which = np.unique(self.table[:, [0, 1, 2, 3, 4, 10, 11]], axis=0, return_inverse=True)
        for k, (x0, y0, start, opening, unit, real, imaginary) in enumerate(places):
            rows = np.flatnonzero(which.ravel() == k)
            turn, root = complex(np.exp(-1j * start)) / unit, complex(real, imaginary)
            logs = _logarithm((x[:, 0] - x0 + root * (x[:, 1] - y0)) * turn, opening)
            out[:, rows] = _derivative(self.table[rows, 5:10], logs, alpha, laps, (turn, root * turn))
        return out


def is_whole(power: float, within: float = ALIKE) -> bool:
    """Whether a power is a whole number, up to round-off."""
    return bool(abs(power - round(power)) <= within)


def _logarithm(z: Array, opening: float) -> Array:
    """Return log z with the branch cut opposite to the middle of the opening, outside the domain."""
    middle = opening / 2.0
    theta = np.angle(z * np.exp(-1j * middle)) + middle
    return np.asarray(np.log(np.maximum(np.abs(z), CLOSEST)) + 1j * theta)


def _mapped(corner: Corner, root: complex) -> tuple[float, float]:
    """Return where a corner starts, and by how much it opens, in the plane of z = x + ρ y."""
    angles = corner.start + corner.opening * np.linspace(0.0, 1.0, 65)
    mapped = np.unwrap(np.angle(np.cos(angles) + root * np.sin(angles)))
    return float(mapped[0]), float(mapped[-1] - mapped[0])


def _derivative(table: Array, logs: Array, alpha: tuple[int, ...], laps: int, slopes: tuple[complex, complex]) -> Array:
    """Return a derivative of functions of one place, from log z at all points and the slopes of z."""
    found: dict[tuple[complex, float], int] = {}
    entries: list[tuple[int, int, int, complex]] = []
    for k, (p, q, log, phase, imaginary) in enumerate(table):
        for a, b, m, factor in _terms(complex(p, imaginary), q, log, alpha, laps, slopes):
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
    p: complex, q: float, log: float, alpha: tuple[int, ...], laps: int, slopes: tuple[complex, complex]
) -> tuple[tuple[complex, float, int, complex], ...]:
    """Return ∂^alpha Δ^laps of z^p z̄^q Λ^m as terms (p, q, m, factor) of the same form."""
    ahead, behind = _LOG_SLOPES[int(log)]

    def by(holomorphic: bool, terms: _Terms) -> _Terms:
        new: _Terms = {}
        for (a, b, m), factor in terms.items():
            key = (a - 1.0, b) if holomorphic else (a, b - 1.0)
            power, slope = (a, ahead) if holomorphic else (b, behind)
            new[(*key, m)] = new.get((*key, m), 0.0) + power * factor
            if m:
                new[(*key, 0)] = new.get((*key, 0), 0.0) + slope * factor
        return new

    table: _Terms = {(p, q, int(log != PLAIN)): 1.0 + 0.0j}
    size = abs(slopes[0]) ** 2 + abs(slopes[1]) ** 2
    square = slopes[0] ** 2 + slopes[1] ** 2
    square = square if abs(square) > 1e-14 * size else 0.0  # there is none where z̄ is the conjugate of x + i y
    for _ in range(laps):
        one, other = by(True, table), by(False, table)
        table = _summed(
            ((square, by(True, one)), (2.0 * size, by(False, one)), (complex(square).conjugate(), by(False, other)))
        )
    for axis, order in enumerate(alpha):
        for _ in range(order):
            table = _summed(((slopes[axis], by(True, table)), (slopes[axis].conjugate(), by(False, table))))
    return tuple((*key, factor) for key, factor in table.items())


def _summed(parts: Sequence[tuple[complex, _Terms]]) -> _Terms:
    """Return a sum of terms with factors, without those that are zero."""
    new: _Terms = {}
    for scale, terms in parts:
        for key, factor in terms.items():
            new[key] = new.get(key, 0.0) + scale * factor
    return {key: factor for key, factor in new.items() if factor != 0.0}
