"""Scales of Python functions: sampled along lines, and bisected where two samples differ much.

Nothing bounds what a Python function does between samples. So many are taken, half of them at random; where the values
of neighbours differ by a good part of the range, the place is bisected until the change is smooth, or a jump.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from frozenpinn.errors import FrozenPinnError
from frozenpinn.language.functions import UserFunction
from frozenpinn.language.jets import TIME
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.problem import Problem
from frozenpinn.tables import Table

Array = np.ndarray
LOOKS = 512  #: evenly spread samples along a line; as many are random
_MOST_LOOKS = 200_000
_LINES = 2  # along each axis
_CHANGE = 0.2  # part of its range by which a function may change from one sample to the next
_SHORTEST = 2.0**-40  # part of an axis below which a change is a jump
_FINE = 2.0**-9  # part of an axis: arrays with larger spacings have nothing narrow
_MOST = 64  # places that are bisected on a line


class Change(NamedTuple):
    """Where a function changes fast along an axis, between two places; a jump if they are next to each other."""

    what: str
    axis: int
    low: Array
    high: Array
    is_jump: bool
    lasting: bool


def function_changes(problem: Problem) -> Iterator[Change]:
    """Yield fast changes of all Python functions of a problem along its axes."""
    for function, lasting in _functions(problem):
        for axis, name in enumerate((*problem.domain.coordinates, TIME)):
            if name in function.names and (lasting or name != TIME) and not _is_coarse(problem, function, axis):
                try:
                    yield from _along(problem, function, axis, lasting)
                except FrozenPinnError:  # a solve says what is wrong with it
                    return


def bends_in_time(problem: Problem) -> set[float]:
    """Return the times at which the slopes of arrays that depend on time jump."""
    tables = [f.function for f, lasting in _functions(problem) if lasting and isinstance(f.function, Table)]
    return {float(t) for table in tables if TIME in table.coordinates for t in table.joints(TIME)}


def _functions(problem: Problem) -> Iterator[tuple[UserFunction, bool]]:
    """Yield the Python functions, and whether they belong to equations or conditions."""
    for given in problem.parameters.functions.values():
        if isinstance(given, UserFunction):
            yield given, True
    for condition in problem.conditions:
        if condition.value.function is not None:
            yield condition.value.function, True
    for datum in problem.initial_data:
        if datum.function is not None:
            yield datum.function, False


def _is_coarse(problem: Problem, function: UserFunction, axis: int) -> bool:
    """Whether a function is an array that can't change fast along an axis, or a derivative of one."""
    table = function.function
    if not isinstance(table, Table):
        return False
    lengths = (*problem.domain.lengths, problem.time[1] - problem.time[0])
    places = np.sort(table.coordinates[(*problem.domain.coordinates, TIME)[axis]])
    return any(table.orders) or table.is_scattered or float(np.min(np.diff(places))) > _FINE * float(lengths[axis])


def _along(problem: Problem, function: UserFunction, axis: int, lasting: bool) -> Iterator[Change]:
    rng, d = np.random.default_rng(Seed.FORMULA_SCALES), problem.domain.dimension
    start, end = problem.time
    a, b = (start, end) if axis == d else (float(problem.domain.lower[axis]), float(problem.domain.upper[axis]))
    lines = 1 if function.names == ((*problem.domain.coordinates, TIME)[axis],) else _LINES
    for x in problem.domain.sample(lines, "random", rng).x:
        t = start + (end - start) * float(rng.random())
        values = _on_line(function, x, t, axis)
        looks = _looks(problem)
        even = a + (b - a) * (np.arange(looks) + 0.5) / looks
        places = np.unique(np.concatenate([even, a + (b - a) * rng.random(looks)]))
        found = values(places)
        most = float(np.ptp(found))
        steep = np.flatnonzero(np.abs(np.diff(found)) > _CHANGE * most) if most > 0 else np.empty(0, dtype=int)
        for k in steep[:_MOST]:
            low, high, is_jump = _bisected(values, places[k], places[k + 1], _CHANGE * most, _SHORTEST * (b - a))
            cell_low, cell_high = np.append(problem.domain.lower, start), np.append(problem.domain.upper, end)
            cell_low[axis], cell_high[axis] = low, high
            yield Change(function.what, axis, cell_low.astype(float), cell_high.astype(float), is_jump, lasting)


def _looks(problem: Problem) -> int:
    """Return how many even samples a line has: two for the smallest scale that a user has named."""
    return LOOKS if problem.smallest is None else int(min(max(2.0 / problem.smallest, LOOKS), _MOST_LOOKS))


def _on_line(function: UserFunction, x: Array, t: float, axis: int) -> Callable[[Array], Array]:
    """Return a function of places along an axis, through a point."""
    if axis == len(x):
        return lambda s: np.array([function.at(x[None, :], float(when))[0] for when in s])

    def along(s: Array) -> Array:
        places = np.tile(x, (len(s), 1))
        places[:, axis] = s
        return function.at(places, t)

    return along


def _bisected(
    values: Callable[[Array], Array], low: float, high: float, change: float, shortest: float
) -> tuple[float, float, bool]:
    """Halve an interval towards the larger change until it is a smooth part of it; whether it is a jump."""
    f_low, f_high = values(np.array([low, high]))
    while abs(f_high - f_low) > change:
        middle = (low + high) / 2
        if high - low < shortest or not low < middle < high:
            return low, high, True
        f_middle = float(values(np.array([middle]))[0])
        if abs(f_middle - f_low) > abs(f_high - f_middle):
            high, f_high = middle, f_middle
        else:
            low, f_low = middle, f_middle
    return low, high, False
