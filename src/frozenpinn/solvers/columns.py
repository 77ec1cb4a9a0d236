"""Many columns of one linear system at once: Y' = A(t) Y + F(t) with Y of shape (n, p), by Radau IIA of order 5.

One factorisation of the three stages serves all columns, and, where A is constant, all steps of the same length. Steps
are halved and doubled only, by the embedded estimate of order 3 (Hairer & Wanner, Solving ODEs II, IV.8).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import scipy.linalg as sla

Array = np.ndarray
_S6 = 6**0.5
_NODES = np.array([(4 - _S6) / 10, (4 + _S6) / 10, 1.0])
_WEIGHTS = np.array(
    [
        [(88 - 7 * _S6) / 360, (296 - 169 * _S6) / 1800, (-2 + 3 * _S6) / 225],
        [(296 + 169 * _S6) / 1800, (88 + 7 * _S6) / 360, (-2 - 3 * _S6) / 225],
        [(16 - _S6) / 36, (16 + _S6) / 36, 1 / 9],
    ]
)
_ERROR = np.array([-13 - 7 * _S6, -13 + 7 * _S6, -1]) / 3
_REAL = 3 + 3 ** (2 / 3) - 3 ** (1 / 3)
_LONGEST, _SHORTEST = 4, 22  # steps are the time over powers of two between these
_DOUBLE = 0.03  # error, of what is allowed, up to which the next step is twice as long
_AHEAD = 16  # steps whose times are told in advance
_INTERPOLATION = np.linalg.inv(np.vander([0.0, *_NODES], increasing=True))  # values at the nodes to powers


class Columns(Protocol):
    """A linear system with many right-hand sides."""

    @property
    def has_constant_matrix(self) -> bool:
        """Whether A does not depend on time."""

    def matrix(self, t: float) -> Array:
        """Return A(t), shape (n, n)."""

    def forcing(self, t: float) -> Array:
        """Return F(t), shape (n, p)."""

    def prepare(self, times: Array) -> None:
        """Hear of times that will be asked for, so that what they need can be computed together."""


class Step(NamedTuple):
    """One step: its start and length, and the states at the start and at the three nodes."""

    start: float
    length: float
    states: tuple[Array, ...]

    @staticmethod
    def shares(part: Array) -> Array:
        """Return how states are weighted at parts (m,) of a step, shape (m, 4)."""
        return np.asarray(np.vander(part, 4, increasing=True) @ _INTERPOLATION)


def integrate_columns(
    system: Columns, start: Array, time: tuple[float, float], rtol: float, tell: Callable[[Step], None]
) -> Array:
    """Integrate all columns, tell every step, and return the end; errors are relative to the largest column."""
    (t0, t1), y, level, at = time, np.asarray(start, dtype=float), _LONGEST, 0.0
    factors, known, first = _Factors(system), 0.0, (system.matrix(t0), system.forcing(t0))
    largest = float(np.max(np.linalg.norm(y, axis=0), initial=0.0))
    told = -1
    while at < 1.0:
        h = (t1 - t0) * 2.0**-level
        t = t0 + at * (t1 - t0)
        if at >= known or level != told:
            known, told = min(1.0, at + _AHEAD * 2.0**-level), level
            starts = t + h * np.arange(round((known - at) * 2.0**level))
            system.prepare(np.ravel(starts[:, None] + h * _NODES))
        states, error, last = _tried(system, factors, t, h, y, first)
        sizes = np.linalg.norm(states[2], axis=0)
        reached = max(largest, float(np.max(sizes, initial=0.0)), 1e-300)
        ratio = float(np.max(error / (sizes + 0.1 * reached), initial=0.0)) / rtol
        if not ratio <= 1.0 and level < _SHORTEST:
            level += 1
            continue
        tell(Step(t, h, (y, *states)))
        y, first, largest, at = states[2], last, reached, at + 2.0**-level
        if ratio < _DOUBLE and level > _LONGEST and (at * 2.0 ** (level - 1)).is_integer():
            level -= 1
    return y


def _tried(
    system: Columns, factors: _Factors, t: float, h: float, y: Array, first: tuple[Array, Array]
) -> tuple[list[Array], Array, tuple[Array, Array]]:
    """Return the states at the nodes of a step, the error of each column, and matrix and load at the end."""
    n = len(y)
    times = t + h * _NODES
    matrices = [system.matrix(float(s)) for s in times]
    loads = [system.forcing(float(s)) for s in times]
    right = np.concatenate([y + h * sum(a * f for a, f in zip(row, loads, strict=True)) for row in _WEIGHTS])
    whole = sla.lu_solve(factors.stages(h, matrices), right, check_finite=False)
    states = [whole[i * n : (i + 1) * n] for i in range(3)]
    slope = first[0] @ y + first[1]
    defect = slope + sum(e * (z - y) for e, z in zip(_ERROR, states, strict=True)) / h
    error = sla.lu_solve(factors.filter(h, first[0]), defect, check_finite=False)
    return states, np.linalg.norm(error, axis=0), (matrices[2], loads[2])


class _Factors:
    """Factorisations of the stages; those of a constant matrix are kept by the length of the step."""

    def __init__(self, system: Columns) -> None:
        self.constant = system.has_constant_matrix
        self.kept: dict[tuple[str, float], tuple[Array, Array]] = {}

    def _get(self, key: tuple[str, float], make: Callable[[], Array]) -> tuple[Array, Array]:
        found = self.kept.get(key) if self.constant else None
        if found is None:
            found = sla.lu_factor(make(), overwrite_a=True, check_finite=False)
            if self.constant:
                self.kept[key] = found
        return found

    def stages(self, h: float, matrices: list[Array]) -> tuple[Array, Array]:
        """Return the factors of I - h (a_ij A_j)."""

        def make() -> Array:
            rows = [
                np.concatenate([-h * a * m for a, m in zip(row, matrices, strict=True)], axis=1) for row in _WEIGHTS
            ]
            whole = np.concatenate(rows)
            whole[np.diag_indices_from(whole)] += 1.0
            return whole

        return self._get(("stages", h), make)

    def filter(self, h: float, matrix: Array) -> tuple[Array, Array]:
        """Return the factors of what keeps stiff parts out of the estimate."""
        return self._get(("filter", h), lambda: _REAL / h * np.eye(len(matrix)) - matrix)
