"""Initial data from a solution: ``initial=solution`` goes on from its end, ``initial=(solution, t)`` from a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

import numpy as np

from frozenpinn.errors import ProblemError, choices
from frozenpinn.language.functions import real_number
from frozenpinn.language.jets import Jet

Array = np.ndarray


class Solved(Protocol):
    """What is asked of a solution."""

    problem: Any

    def jet_values(self, x: Array, times: Array, jet: Jet) -> Array:
        """Return a derivative at points (n, d) and times (m,)."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One field of a solution, or its time derivative, at one time."""

    solution: Solved
    jet: Jet
    time: float

    def __call__(self, points: Array) -> Array:
        """Return the values at points (n, d)."""
        inside = self.solution.problem.domain.contains(points)
        if not np.all(inside):
            place = ", ".join(f"{c:g}" for c in points[int(np.argmin(inside))])
            raise ProblemError(
                f"the solution that the initial value is taken from does not reach ({place}): its domain is "
                f"{self.solution.problem.domain!r}."
            )
        return self.solution.jet_values(points, np.array([self.time]), self.jet)[:, 0]


def is_solved(given: object) -> TypeGuard[Solved]:
    """Whether something is a solution."""
    return callable(getattr(given, "jet_values", None)) and hasattr(given, "problem")


def continued(given: Any, fields: tuple[str, ...], second: tuple[str, ...]) -> tuple[Any, Mapping[str, Any] | None]:
    """Return initial values and velocities as functions if a solution is given for the first ones.

    Anything else is returned as it is, without velocities.
    """
    solution, time = _read(given)
    if solution is None:
        return given, None
    known = solution.problem.fields
    missing = [name for name in fields if name not in known]
    if missing:
        raise ProblemError(
            f"the initial value is a solution of {choices(known)}, which has no {choices(missing)}; write a dict by "
            "field, with functions such as lambda x: solution(x, 1.0, field='u')."
        )
    jets = solution.problem.jets
    values = {name: Snapshot(solution, jets.field(name), time) for name in fields}
    orders = {name: solution.problem.equation(name).order for name in second}
    if any(order < 1 for order in orders.values()):
        return values, None
    velocities = {name: Snapshot(solution, Jet(name, (0,) * jets.dimension, 0, 1), time) for name in second}
    return values, velocities or None


def _read(given: Any) -> tuple[Solved | None, float]:
    if is_solved(given):
        return given, float(given.problem.time[1])
    if isinstance(given, tuple | list) and len(given) == 2 and is_solved(given[0]):
        start, end = given[0].problem.time
        time = real_number(given[1])
        if time is None or not start <= time <= end:
            raise ProblemError(
                f"initial=(solution, t) needs a time between {start:g} and {end:g}, which the solution covers; got "
                f"{given[1]!r}."
            )
        return given[0], time
    return None, 0.0
