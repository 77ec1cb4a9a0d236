"""Narrow features that a solution has missed: there, what it leaves of the equations is as large as their terms.

Two solutions that miss the same feature agree, so their distance does not tell. The equations do, at places and times
that are read from the formulas.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frozenpinn.analysis.formula_scales import formula_scales
from frozenpinn.analysis.narrow import Feature
from frozenpinn.results.residuals import imbalance
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.search.rules import EstimateRules
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_FEATURES = 12  # that are looked at, the narrowest first
_CELLS, _PLACES, _TIMES = 5, 12, 3  # of each


class Missed(NamedTuple):
    """A feature that was missed: from when on, and the error that it causes in each field at the end."""

    text: str
    start: float
    errors: dict[str, float]


def missed_features(solution: Solution, name: str, times: Array, rules: EstimateRules) -> Array:
    """Return the error of a field that missed features cause, over time."""
    errors = np.zeros(len(times))
    for missed in features_missed(solution, rules):
        errors += np.where(times >= missed.start, missed.errors.get(name, 0.0), 0.0)
    return errors


@remembered
def features_missed(solution: Solution, rules: EstimateRules) -> tuple[Missed, ...]:
    """Find the features of the formulas of a problem that a solution has missed."""
    problem = solution.problem
    features = [f for f in formula_scales(problem).features if f.lasting][:_FEATURES]
    return tuple(found for f in features if (found := _missed(solution, f, rules)) is not None)


def _missed(solution: Solution, feature: Feature, rules: EstimateRules) -> Missed | None:
    problem, rng = solution.problem, np.random.default_rng(Seed.FORMULA_SCALES)
    rows = rng.choice(len(feature.low), min(_CELLS, len(feature.low)), replace=False)
    start, end = problem.time
    found: dict[str, float] = {}
    since = end
    for row in rows:
        x, times = _looks(problem, feature, int(row), rng)
        if not len(x):
            continue
        for equation in problem.equations:
            gap, scale = imbalance(solution, equation, x, times, interpolated=True)
            if not np.isfinite(gap) or gap <= rules.ignored * scale or scale == 0:
                continue
            size = gap / np.sqrt(len(x) * len(times)) if np.isfinite(gap) else np.inf
            lasts = _share(feature, problem, range(len(feature.narrow) - 1, len(feature.narrow))) * (end - start)
            error = size * np.sqrt(_share(feature, problem, range(problem.domain.dimension))) * lasts
            error *= (end - start) ** (equation.order - 1)
            found[equation.field] = max(found.get(equation.field, 0.0), error)
            since = min(since, float(feature.low[row, -1]))
    if not found:
        return None
    names = (*problem.domain.coordinates, "t")
    return Missed(f"{feature.describe(names)} is not resolved", since, found)


def _looks(problem: Problem, feature: Feature, row: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return places and times in a cell of a feature: along axes on which it is not narrow, all over."""
    d = problem.domain.dimension
    low, high = feature.low[row], feature.high[row]
    x = problem.domain.sample(_PLACES, "random", rng).x.copy()
    for axis in (i for i in range(d) if feature.narrow[i]):
        x[:, axis] = low[axis] + (high[axis] - low[axis]) * rng.random(len(x))
    inside = problem.domain.contains(x)
    times = low[-1] + (high[-1] - low[-1]) * (np.arange(_TIMES) + rng.random(_TIMES)) / _TIMES
    return x[inside], times


def _share(feature: Feature, problem: Problem, axes: range) -> float:
    """Return which part of some axes a feature takes up."""
    lengths = [*map(float, problem.domain.lengths), problem.time[1] - problem.time[0]]
    share = 1.0
    for axis in (i for i in axes if feature.narrow[i]):
        total = sum(s.high - s.low + 2 * s.width for s in feature.stretches(axis))
        share *= min(1.0, total / lengths[axis])
    return share
