"""Where a solution is steep: gradings of the axes of a box by which points and neurons are placed.

    density = floor/L + (1 − floor)·|uₓ| / ∫|uₓ|

In several dimensions every axis has a grading of its own, by the largest |∂u| across the other axes. The solution is
then projected onto the new basis and goes on (see window_transfer.py and time_windows.py).

An interval is graded always. On boxes the first basis is a product of sine networks, which resolve most where a
solution is about as steep everywhere and can't be graded: an axis along which it is keeps them, any other one takes
neurons of tanh and composite Gauss points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.basis.samplers import MultiScale, Sampler, adapted, with_width
from frozenpinn.basis.samplers.grading import Grading
from frozenpinn.geometry import Box, Points
from frozenpinn.geometry.points import grid_points, tensor_grid
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.memo import remembered
from frozenpinn.search.grading import Slopes, grade, graded_points
from frozenpinn.search.sizing import Plan
from frozenpinn.statement.problem import Problem

Array = np.ndarray


def steepest(table: Array) -> Array:
    """Return for each place of an axis (first index) the value of largest size across the others, with its sign."""
    flat = table.reshape(len(table), -1)
    return np.take_along_axis(flat, np.argmax(np.abs(flat), axis=1)[:, None], axis=1)[:, 0]


def lines_along(axes: Sequence[Array], axis: int, values: Array) -> Array:
    """Return values at all points of a tensor grid as lines along one axis, shape (places, lines)."""
    return np.moveaxis(values.reshape([len(own) for own in axes]), axis, 0).reshape(len(axes[axis]), -1)


def initial_slopes(problem: Problem) -> list[Slopes]:
    """Return places on each axis and the slopes of the initial values and velocities there, by differences."""
    return [Slopes(x, [steepest(np.gradient(v, x, axis=0)) for v in values]) for x, values in _initial_values(problem)]


@remembered
def _initial_values(problem: Problem) -> tuple[tuple[Array, list[Array]], ...]:
    """Return for each axis places on it and the initial data there, on some lines: shape (places, lines)."""
    across = (33, 12)  # lines in each other direction, in two and three dimensions
    on_products = 1001  # places on each axis
    on_line = 4001  # places
    domain, d = problem.domain, problem.domain.dimension
    data = [*problem.initial.values(), *problem.initial_velocity.values()]
    lines = across[d - 2] if d > 1 else 1
    middles = [a + n * (np.arange(lines) + 0.5) / lines for a, n in zip(domain.lower, domain.lengths, strict=True)]
    found = []
    for axis in range(d):
        x = np.linspace(float(domain.lower[axis]), float(domain.upper[axis]), on_line if d == 1 else on_products)
        axes = [x if k == axis else middle for k, middle in enumerate(middles)]
        points = grid_points(axes)
        tables = [np.broadcast_to(datum(points, problem.time[0]), len(points)) for datum in data]
        found.append((read_only(x), [read_only(lines_along(axes, axis, table)) for table in tables]))
    return tuple(found)


def falls_between(system: Discretisation) -> bool:
    """Whether the points of a basis miss something of the initial data, such as a peak between two of them."""
    between = 0.02  # part of the variation
    for axis, (x, values) in enumerate(_initial_values(system.problem)):
        own = np.unique(system.points.x[:, axis])
        nearest = np.unique(np.concatenate([[0, len(x) - 1], np.searchsorted(x, own)]))
        nearest = np.clip(nearest, 0, len(x) - 1)
        for v in values:
            variation = np.sum(np.abs(np.diff(v, axis=0)), axis=0)
            seen = np.sum(np.abs(np.diff(v[nearest], axis=0)), axis=0)
            whole = float(np.max(variation))
            missed = float(np.max(variation - seen)) > between * whole
            if missed and whole > 1e-6 * float(np.max(np.abs(v))):
                return True
    return False


def total_slope(slopes: Slopes) -> float:
    """Return the largest ∫|∂u| of all fields along an axis."""
    return max((float(np.trapezoid(np.abs(size), slopes.places)) for size in slopes.sizes), default=0.0)


def is_spread_out(slopes: Slopes) -> bool:
    """Whether a solution is about as steep everywhere, so that a finer basis helps and a graded one does not.

    The measure is the part of the interval that |uₓ| takes up, (∫|uₓ|)² / (L ∫uₓ²): 0.8 for a sine, small for a front.
    """
    spread = 0.3  # part of the axis
    places = slopes.places
    length = float(places[-1] - places[0])
    parts = []
    for size in slopes.sizes:
        square = float(np.trapezoid(size**2, places))
        if square > 0:
            parts.append(float(np.trapezoid(np.abs(size), places)) ** 2 / (length * square))
    return not parts or min(parts) > spread


# ---- new neurons and points for a new window -----------------------------------------------------------------------


class Placed(NamedTuple):
    """Samplers and gradings of all axes, the points, and those that neurons are drawn from if these are others."""

    samplers: tuple[Sampler, ...]
    gradings: tuple[Grading, ...]
    cloud: Points
    pool: Points | None = None


def place(
    problem: Problem,
    plan: Plan,
    slopes: Sequence[Slopes],
    widths: Sequence[int],
    floor: float,
    rng: np.random.Generator,
) -> Placed:
    """Choose samplers of given widths and points by the slopes along each axis."""
    if not plan.frame.product:
        return _place_on_line(plan, slopes[0], widths[0], floor, rng)
    box, rules = cast(Box, problem.domain), plan.task.rules
    samplers, gradings, axes = [], [], []
    for axis, even in enumerate(even_axes(plan, slopes)):
        own, (places, sizes, errors), width = plan.samplers[axis], slopes[axis], widths[axis]
        grading = grade(places, [] if even else [*sizes, *errors], floor, width)
        if even:
            n = round(plan.counts[axis] * width / own.width)
            samplers.append(with_width(own, width))
            axes.append(box.axis(axis).sample(n, plan.frame.method))
        else:
            per_neuron = rules.sizing.points_on_lines
            n = round((per_neuron if plan.task.settings.points is None else plan.counts[axis] / own.width) * width)
            samplers.append(MultiScale(width).graded(grading))
            axes.append(graded_points(grading, n, "gauss", rng, rules.windows.per_cell))
        gradings.append(grading)
    cloud = tensor_grid([a.x[:, 0] for a in axes], [a.weights for a in axes], [float(a.spacing[0]) for a in axes])
    return Placed(tuple(samplers), tuple(gradings), cloud)


def even_axes(plan: Plan, slopes: Sequence[Slopes]) -> list[bool]:
    """Return for each axis of a product whether the solution is about equally steep all along it, or hardly varies."""
    rules = plan.task.rules.windows
    least = rules.negligible * max(map(total_slope, slopes))
    return [total_slope(axis) <= least or is_spread_out(axis) for axis in slopes]


def _place_on_line(plan: Plan, slopes: Slopes, width: int, floor: float, rng: np.random.Generator) -> Placed:
    """Do the same on an interval, with any sampler."""
    grading = grade(slopes.places, [*slopes.sizes, *slopes.errors], floor, width)
    sampler = adapted(with_width(plan.sampler, width), "graded", grading)
    n = round(plan.counts[0] * width / plan.sampler.width)
    cloud = graded_points(grading, n, plan.frame.method, rng, plan.task.rules.windows.per_cell)
    pool = getattr(sampler, "pool", None)
    return Placed((sampler,), (grading,), cloud, graded_points(grading, pool, "random", rng) if pool else None)
