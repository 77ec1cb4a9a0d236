"""Where baselines are evaluated: coordinates and times that broadcast, as those of ``frozenpinn.Solution`` do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.errors import EvaluationError, choices
from frozenpinn.results.evaluation import arranged as read
from frozenpinn.results.evaluation import check_inside
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class Places(NamedTuple):
    """Points (n, d) and times (n,), one of each per value, and the shape that the values get."""

    x: Array
    t: Array
    shape: tuple[int, ...]


def arranged(problem: Problem, where: Sequence[Any]) -> Places:
    """Read (x, t), (x, y, t), … that broadcast against each other, or points (n, d) and t; refuse what lies outside."""
    coordinates, times = read(where, problem)
    *grid, t = np.broadcast_arrays(*coordinates, times)
    x = np.stack([a.ravel() for a in grid], axis=1)
    check_inside(problem, x, t.ravel())
    return Places(problem.domain.wrap(x), t.ravel(), t.shape)


def field_of(problem: Problem, field: str | None) -> str:
    """Return the name of a field; it may be left out if there is only one."""
    if field is None and len(problem.fields) == 1:
        return problem.fields[0]
    if field not in problem.fields:
        raise EvaluationError(f"say which field: {choices(problem.fields)}; got {field!r}.")
    return field
