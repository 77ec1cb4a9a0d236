"""A part of an evolution: when it starts and ends, and from what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from frozenpinn.statement.problem import Problem

Array = np.ndarray
Snapshot: TypeAlias = Callable[[Array, float], Array]  #: from points (n, d) and a time to values (n,)


class Stage(NamedTuple):
    """A part of an evolution: start and end, and the values and velocities of the fields at the start.

    ``state`` are the coefficients at the start if they are known already, and ``shortest`` is the shortest time in
    which formulas of the problem change during the stage.
    """

    time: tuple[float, float]
    values: Mapping[str, Snapshot]
    velocities: Mapping[str, Snapshot]
    state: Array | None = None
    shortest: float = np.inf

    @classmethod
    def whole(cls, problem: Problem) -> Stage:
        """Return all of a problem's time."""
        return cls(problem.time, problem.initial, problem.initial_velocity)
