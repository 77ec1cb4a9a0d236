"""Narrow features of formulas that a solution has missed, of whatever kind it is.

Two solutions that miss the same feature agree, so their distance does not show it. The equations do, at places and
times that are read from the formulas and that no solve is fitted at: there, what a solution leaves of them is as large
as their terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from frozenpinn.analysis.formula_scales import END, NOTHING, Feature, formula_scales
from frozenpinn.results.residuals import imbalance
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.problem import Problem

Array = np.ndarray
UNRESOLVED = "where formulas are narrow, as much is left as their terms are large"  #: why an estimate is raised
_FEATURES = 12  # whose equations are checked, the narrowest first
_CELLS, _PLACES_IN_CELL, _TIMES_IN_CELL = 5, 12, 3  # cells of a feature in time; places and times in each
_CELLS_AT_REST, _PLACES_AT_REST = 48, 3  # cells of a feature of a static problem, and places in each


class Missed(NamedTuple):
    """A feature that was missed: from when on, and the error that it causes in each field at the end."""

    text: str
    start: float
    errors: dict[str, float]


def missed_features(solution: Solution, name: str, times: Array) -> Array:
    """Return the error of a field that missed features cause, over time."""
    errors = np.zeros(len(times))
    for missed in () if formula_scales(solution.problem) is NOTHING else features_missed(solution):
        errors += np.where(times >= missed.start, missed.errors.get(name, 0.0), 0.0)
    return errors


@remembered
def features_missed(solution: Solution) -> tuple[Missed, ...]:
    """Find the features of the formulas of a problem that a solution has missed."""
    return tuple(found for f in judged_features(solution.problem) if (found := _missed(solution, f)) is not None)


def judged_features(problem: Problem) -> list[Feature]:
    """Return the features at which solutions are judged: those of equations and conditions."""
    return [feature for feature in formula_scales(problem).features if feature.lasting][:_FEATURES]


def _missed(solution: Solution, feature: Feature) -> Missed | None:
    ignored = 0.3  # part of the terms up to which an imbalance is ignored
    problem, (start, end) = solution.problem, solution.problem.time
    found: dict[str, float] = {}
    since = end
    for x, times, first in _looks(problem, feature):
        for equation in problem.equations if len(x) else ():
            gap, scale = imbalance(solution, equation, x, times, interpolated=True)
            if not np.isfinite(gap) or gap <= ignored * scale or scale == 0:
                continue
            size = gap / np.sqrt(len(x) * len(times))
            share = 1.0 if feature.kind == END else share_of(feature, problem)
            if problem.is_static:
                error = _error_at_rest(solution, equation, size * share)
            else:
                size *= np.sqrt(share)
                lasts = _share(feature, problem, range(len(feature.narrow) - 1, len(feature.narrow))) * (end - start)
                error = size * lasts * (end - start) ** (equation.order - 1)
            found[equation.field] = max(found.get(equation.field, 0.0), error)
            since = min(since, first)
    if not found:
        return None
    names = (*problem.domain.coordinates, "t")
    return Missed(f"{feature.describe(names)} is not resolved", since, found)


def _looks(problem: Problem, feature: Feature) -> Iterator[tuple[Array, Array, float]]:
    """Yield places and times in cells of a feature, and when each cell begins; all places together without time."""
    rng = np.random.default_rng(Seed.FORMULA_SCALES)
    if problem.is_static:
        yield places_in(problem, feature, rng), np.array([problem.time[0]]), problem.time[0]
        return
    for row in rng.choice(len(feature.low), min(_CELLS, len(feature.low)), replace=False):
        low, high = feature.low[row, -1], feature.high[row, -1]
        x = _in_cell(problem, feature, int(row), _PLACES_IN_CELL, rng)
        times = low + (high - low) * (np.arange(_TIMES_IN_CELL) + rng.random(_TIMES_IN_CELL)) / _TIMES_IN_CELL
        yield x, times, float(low)


def places_in(problem: Problem, feature: Feature, rng: np.random.Generator) -> Array:
    """Return places of the domain in the cells of a feature."""
    rows = rng.choice(len(feature.low), min(_CELLS_AT_REST, len(feature.low)), replace=False)
    return np.concatenate([_in_cell(problem, feature, int(row), _PLACES_AT_REST, rng) for row in rows])


def _in_cell(problem: Problem, feature: Feature, row: int, count: int, rng: np.random.Generator) -> Array:
    """Return places in a cell of a feature; along axes on which it is not narrow, anywhere."""
    low, high = feature.low[row], feature.high[row]
    x = problem.domain.sample(count, "random", rng).x.copy()
    for axis in (i for i in range(problem.domain.dimension) if feature.narrow[i]):
        x[:, axis] = low[axis] + (high[axis] - low[axis]) * rng.random(len(x))
    return np.asarray(x[problem.domain.contains(x)])


def _error_at_rest(solution: Solution, equation: Equation, missed: float) -> float:
    """Return the error in a field that a missed load causes: as a part of the field, its part of all loads.

    A load is the mean of the size of what stands in an equation. That of a field which varies over the domain counts,
    too, where all others vanish.
    """
    most = 2.0  # times the field itself
    problem, now = solution.problem, np.array([solution.problem.time[0]])
    x = problem.domain.sample(128, "random", np.random.default_rng(Seed.RESIDUALS)).x
    _, terms = imbalance(solution, equation, x, now)
    values = solution.jet_values(x, now, problem.jets.field(equation.field))
    size = float(np.sqrt(np.mean(values**2)))
    highest = {jet: c for jet, c in equation.linear.items() if jet.order == problem.spatial_order(equation.field)}
    with np.errstate(all="ignore"):
        factors = problem.compile(list(highest.values()))(*x.T, float(now[0])) if highest else []
    leading = max((float(np.median(np.abs(f))) for f in factors), default=0.0)
    length = float(np.max(problem.domain.lengths))
    natural = leading * size / length ** problem.spatial_order(equation.field)
    loads = max(terms / np.sqrt(len(x)) if np.isfinite(terms) else 0.0, natural)
    return size * min(most, missed / loads) if loads > 0 else most * size


def share_of(feature: Feature, problem: Problem) -> float:
    """Return which part of the domain a feature takes up."""
    return _share(feature, problem, range(problem.domain.dimension))


def _share(feature: Feature, problem: Problem, axes: range) -> float:
    """Return which part of some axes a feature takes up."""
    lengths = [*map(float, problem.domain.lengths), problem.time[1] - problem.time[0]]
    share = 1.0
    for axis in (i for i in axes if feature.narrow[i]):
        total = sum(s.high - s.low + 2 * s.width for s in feature.stretches(axis))
        share *= min(1.0, total / lengths[axis])
    return share
