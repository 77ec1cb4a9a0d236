"""Many columns of one linear system at once: Y' = A(t) Y + F(t) with Y of shape (n, p), by Radau IIA of order 5.

Further columns may follow, which the first ones drive.
One factorisation of the three stages serves all columns, and, where A is constant, all steps of the same length. Steps
are halved and doubled only, by the embedded estimate of order 3 (Hairer & Wanner, Solving ODEs II, IV.8).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

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


class Following(Protocol):
    """Further columns Z of the same matrix, driven by those before: Z' = A(t) Z + G(t, Y)."""

    @property
    def initial(self) -> Array:
        """Return Z at the start, shape (n, q)."""

    def forcing(self, t: float, state: Array) -> Array:
        """Return G(t, Y), shape (n, q)."""


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
    system: Columns,
    start: Array,
    time: tuple[float, float],
    rtol: float,
    tell: Callable[[Step], None],
    following: Following | None = None,
    looser: float = 1.0,
) -> Array:
    """Integrate all columns, tell every step, and return the end; errors are relative to the largest column.

    Columns that follow stand behind the others; their errors are relative to the largest among them, and may be
    ``looser`` times as large.
    """
    (t0, t1), level, at, told, known = time, _LONGEST, 0.0, -1, 0.0
    blocks = [np.asarray(start, dtype=float)] + ([] if following is None else [following.initial])
    tried = _Tried(system, following, t0, blocks, looser)
    while at < 1.0:
        h = (t1 - t0) * 2.0**-level
        t = t0 + at * (t1 - t0)
        if at >= known or level != told:
            known, told = min(1.0, at + _AHEAD * 2.0**-level), level
            starts = t + h * np.arange(round((known - at) * 2.0**level))
            system.prepare(np.ravel(starts[:, None] + h * _NODES))
        ratio = tried.attempt(t, h) / rtol
        if not ratio <= 1.0 and level < _SHORTEST:
            level += 1
            continue
        tell(tried.accept())
        at += 2.0**-level
        if ratio < _DOUBLE and level > _LONGEST and (at * 2.0 ** (level - 1)).is_integer():
            level -= 1
    return tried.state


class _Tried:
    """Where an integration is: blocks of columns, each driven by those before, and the step that was tried last."""

    def __init__(
        self, system: Columns, following: Following | None, t: float, blocks: list[Array], looser: float
    ) -> None:
        self.system, self.following, self.blocks, self.allowed = system, following, blocks, (1.0, looser)
        self.factors, self.matrix = _Factors(system), system.matrix(t)
        self.loads = [self._load(k, t, blocks[0]) for k in range(len(blocks))]
        self.largest = [float(np.max(np.linalg.norm(y, axis=0), initial=0.0)) for y in blocks]
        self._new: Any = None

    @property
    def state(self) -> Array:
        """All columns."""
        return np.concatenate(self.blocks, axis=1)

    def _load(self, block: int, t: float, first: Array) -> Array:
        if block == 0:
            return self.system.forcing(t)
        assert self.following is not None
        return self.following.forcing(t, first)

    def attempt(self, t: float, h: float) -> float:
        """Try a step, and return its error."""
        n, times = len(self.matrix), [float(s) for s in t + h * _NODES]
        matrices = [self.system.matrix(s) for s in times]
        self.factors.begin()
        stages, ends, largest, ratio = list[list[Array]](), [], [], 0.0
        for k, (y, old) in enumerate(zip(self.blocks, self.loads, strict=True)):
            firsts = stages[0] if stages else [y] * 3
            loads = [self._load(k, s, first) for s, first in zip(times, firsts, strict=True)]
            right = np.concatenate([y + h * sum(a * f for a, f in zip(row, loads, strict=True)) for row in _WEIGHTS])
            whole = sla.lu_solve(self.factors.stages(h, matrices), right, check_finite=False)
            states = [whole[i * n : (i + 1) * n] for i in range(3)]
            slope = self.matrix @ y + old
            defect = slope + sum(e * (z - y) for e, z in zip(_ERROR, states, strict=True)) / h
            error = sla.lu_solve(self.factors.filter(h, self.matrix), defect, check_finite=False)
            sizes = np.linalg.norm(states[2], axis=0)
            reached = max(self.largest[k], float(np.max(sizes, initial=0.0)), 1e-300)
            own = float(np.max(np.linalg.norm(error, axis=0) / (sizes + 0.1 * reached), initial=0.0)) / self.allowed[k]
            ratio = own if not own <= ratio else ratio  # which keeps what is not a number
            stages.append(states)
            ends.append(loads[2])
            largest.append(reached)
        self._new = (t, h, stages, ends, largest, matrices[2])
        return ratio

    def accept(self) -> Step:
        """Take the step that was tried last."""
        t, h, stages, self.loads, self.largest, self.matrix = self._new
        whole = [np.concatenate([states[i] for states in stages], axis=1) for i in range(3)]
        step = Step(t, h, (self.state, *whole))
        self.blocks = [states[2] for states in stages]
        return step


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
