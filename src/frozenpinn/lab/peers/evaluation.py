"""Where baselines are evaluated: coordinates and times that broadcast, as those of ``frozenpinn.Solution`` do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.errors import EvaluationError, choices
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class Places(NamedTuple):
    """Points (n, d) and times (n,), one of each per value, and the shape that the values get."""

    x: Array
    t: Array
    shape: tuple[int, ...]


def arranged(problem: Problem, where: Sequence[Any]) -> Places:
    """Read (x, t), (x, y, t), … that broadcast against each other, or points (n, d) and t; refuse what lies outside."""
    d = problem.domain.dimension
    arrays = [np.asarray(w, dtype=float) for w in where]
    shapes = ", ".join(str(a.shape) for a in arrays)
    if len(arrays) == 2 and d > 1 and arrays[0].ndim == 2 and arrays[0].shape[1] == d:
        arrays = [*arrays[0].T, arrays[1]]
    names = ", ".join((*problem.domain.coordinates, "t"))
    if len(arrays) != d + 1:
        raise EvaluationError(
            f"expected ({names}), or (points, t) with points of shape (n, {d}); got {len(arrays)} argument(s) of shape "
            f"{shapes or 'none'}."
        )
    try:
        grid = np.broadcast_arrays(*arrays)
    except ValueError:
        raise EvaluationError(
            f"the shapes {shapes} do not broadcast; for a grid give each coordinate as x[:, None], and t[None, :]."
        ) from None
    x, t = np.stack([a.ravel() for a in grid[:-1]], axis=1), grid[-1].ravel()
    start, end = problem.time
    if not problem.domain.contains(x).all() or not np.all((start <= t) & (t <= end)):
        raise EvaluationError(f"a point or a time lies outside {problem.domain!r} × [{start:g}, {end:g}].")
    return Places(problem.domain.wrap(x), t, grid[0].shape)


def field_of(problem: Problem, field: str | None) -> str:
    """Return the name of a field; it may be left out if there is only one."""
    if field is None and len(problem.fields) == 1:
        return problem.fields[0]
    if field not in problem.fields:
        raise EvaluationError(f"say which field: {choices(problem.fields)}; got {field!r}.")
    return field
