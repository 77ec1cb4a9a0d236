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
    """One step: its start and length, and the states at the start and at the three nodes, all columns."""

    start: float
    length: float
    states: tuple[Array, ...]

    @staticmethod
    def shares(part: Array) -> Array:
        """Return how states are weighted at parts (m,) of a step, shape (m, 4)."""
        return np.asarray(np.vander(part, 4, increasing=True) @ _INTERPOLATION)


def integrate_columns(
    system: Columns, start: Array, time: tuple[float, float], rtol: float, take: Callable[[Step], None]
) -> None:
    """Integrate all columns, and hand on every step; errors are relative to the largest column.

    Steps are the time over powers of two. Times are announced sixteen steps ahead.
    """
    (t0, t1), level, at, announced, known = time, _LONGEST, 0.0, -1, 0.0
    state, factors, matrix, load = start, _Factors(system), system.matrix(t0), system.forcing(t0)
    largest = float(np.max(np.linalg.norm(state, axis=0), initial=0.0))
    while at < 1.0:
        h = (t1 - t0) * 2.0**-level
        t = t0 + at * (t1 - t0)
        if at >= known or level != announced:
            known, announced = min(1.0, at + 16 * 2.0**-level), level
            starts = t + h * np.arange(round((known - at) * 2.0**level))
            system.prepare(np.ravel(starts[:, None] + h * _NODES))
        times = [float(s) for s in t + h * _NODES]
        matrices, loads = [system.matrix(s) for s in times], [system.forcing(s) for s in times]
        factors.begin()
        states = factors.stages(h, matrices, state, loads)
        slope = matrix @ state + load
        defect = slope + sum(e * (z - state) for e, z in zip(_ERROR, states, strict=True)) / h
        error, sizes = factors.filtered(h, matrix, defect), np.linalg.norm(states[2], axis=0)
        reached = max(largest, float(np.max(sizes, initial=0.0)), 1e-300)
        ratio = float(np.max(np.linalg.norm(error, axis=0) / (sizes + 0.1 * reached), initial=0.0)) / rtol
        if not ratio <= 1.0 and level < _SHORTEST:
            level += 1
            continue
        take(Step(t, h, (state, *states)))
        state, load, largest, matrix = states[2], loads[2], reached, matrices[2]
        at += 2.0**-level
        if ratio < 0.03 and level > _LONGEST and (at * 2.0 ** (level - 1)).is_integer():
            level -= 1


class _Factors:
    """Factorisations of the stages; those of a constant matrix are kept by the length of the step."""

    def __init__(self, system: Columns) -> None:
        self.constant = system.has_constant_matrix
        self.kept: dict[tuple[str, float], tuple[Array, Array]] = {}

    def begin(self) -> None:
        """Forget what belongs to matrices that have changed."""
        if not self.constant:
            self.kept.clear()

    def _get(self, key: tuple[str, float], make: Callable[[], Array]) -> tuple[Array, Array]:
        if key not in self.kept:
            self.kept[key] = sla.lu_factor(make(), overwrite_a=True, check_finite=False)
        return self.kept[key]

    def stages(self, h: float, matrices: list[Array], state: Array, loads: list[Array]) -> list[Array]:
        """Return the states at the nodes: I - h (a_ij A_j) times these are the state and the loads."""

        def make() -> Array:
            rows = [
                np.concatenate([-h * a * m for a, m in zip(row, matrices, strict=True)], axis=1) for row in _WEIGHTS
            ]
            whole = np.concatenate(rows)
            whole[np.diag_indices_from(whole)] += 1.0
            return whole

        right = np.concatenate([state + h * sum(a * f for a, f in zip(row, loads, strict=True)) for row in _WEIGHTS])
        return np.split(sla.lu_solve(self._get(("stages", h), make), right, check_finite=False), 3)

    def filtered(self, h: float, matrix: Array, defect: Array) -> Array:
        """Return the error of a step, without what is stiff."""
        factors = self._get(("filter", h), lambda: _REAL / h * np.eye(len(matrix)) - matrix)
        return np.asarray(sla.lu_solve(factors, defect, check_finite=False))
