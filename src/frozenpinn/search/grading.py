"""Graded axes: places and densities on an axis, and the points and gradings that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from frozenpinn.analysis.formula_scales import Stretch
from frozenpinn.basis.samplers.grading import Grading
from frozenpinn.geometry import Points
from frozenpinn.geometry.points import gauss
from frozenpinn.runtime.memo import remembered
from frozenpinn.search.unresolved import judged_features
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class Slopes(NamedTuple):
    """What happens along an axis: places in increasing order, slopes there, and errors of a basis if it has failed."""

    places: Array
    sizes: Sequence[Array]
    errors: Sequence[Array] = ()


def grade(places: Array, slopes: Sequence[Array], floor: float, width: int) -> Grading:
    """Return the grading by the slopes of all fields at increasing places, ends included."""
    sizes = [(np.abs(slope), float(np.trapezoid(np.abs(slope), places))) for slope in slopes]
    parts = [size / total for size, total in sizes if total > 0 and np.isfinite(total)]
    uneven = np.max(parts, axis=0) if parts else np.zeros_like(places)
    density = floor / (places[-1] - places[0]) + (1.0 - floor) * uneven
    return Grading(places, density, steepest=width / 40.0)  # a tenth longer over four neighbours


def graded_points(grading: Grading, n: int, method: str, rng: np.random.Generator, per_cell: int = 8) -> Points:
    """Place about n quadrature points: Gauss points in cells of equal share, or evenly or at random in s."""
    if method == "gauss":
        edges = grading.place(np.linspace(0.0, 1.0, max(1, round(n / per_cell)) + 1))
        nodes, shares = gauss(per_cell)
        lengths = np.diff(edges)[:, None]
        x, weights = (edges[:-1, None] + lengths * nodes).ravel(), (lengths * shares).ravel()
    else:
        s = (np.arange(n) + 0.5) / n if method == "uniform" else np.sort(rng.random(n))
        x = grading.place(s)
        weights = grading.stretch(x) / n
    return Points(x[:, None], weights, np.array([float(np.min(np.diff(x)))]))


def widened(stretch: Stretch, start: float, end: float) -> Stretch:
    """Return a stretch with what is around it, within an interval."""
    around = 6.0  # widths on both sides of a feature that belong to it
    reach = around * stretch.width
    return Stretch(max(start, stretch.low - reach), min(end, stretch.high + reach), stretch.width)


def places_on(stretches: list[Stretch], lower: float, upper: float) -> Slopes:
    """Return places on an axis with features at some stretches; without any it is even."""
    per_feature = 33
    places = 2001  # evenly spaced, at which a density is given, in addition to those of the features
    own = [widened(s, lower, upper) for s in stretches]
    parts = [np.linspace(s.low, s.high, min(4001, per_feature + int(4 * (s.high - s.low) / s.width))) for s in own]
    x = np.unique(np.concatenate([np.linspace(lower, upper, places), *parts]))
    return Slopes(x, [_density(x, s) for s in stretches])


def _density(x: Array, stretch: Stretch) -> Array:
    """Return a density that is even on a stretch and falls off over some widths outside it."""
    outside = np.maximum(0.0, np.maximum(stretch.low - x, x - stretch.high)) / (2.0 * stretch.width)
    return np.asarray(np.exp(-(outside**2)))


@remembered
def places_at_rest(problem: Problem) -> tuple[Slopes, ...] | None:
    """Return places on each axis of a static problem by which points and neurons are graded; None if none is narrow."""
    features, d = judged_features(problem), problem.domain.dimension
    stretches = [sorted(s for f in features for s in f.stretches(axis)) for axis in range(d)]
    if not any(stretches):
        return None
    ends = zip(problem.domain.lower.tolist(), problem.domain.upper.tolist(), strict=True)
    return tuple(places_on(own, lower, upper) for own, (lower, upper) in zip(stretches, ends, strict=True))
