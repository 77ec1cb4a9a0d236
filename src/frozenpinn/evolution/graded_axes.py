"""New neurons and points for a new window: each axis is graded by the slopes along it, or stays as it was.

An interval is graded always. On boxes the first basis is a product of sine networks, which resolve most where a
solution is about as steep everywhere and can't be graded: an axis along which it is keeps them, any other one takes
neurons of tanh and composite Gauss points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from frozenpinn.basis.samplers import MultiScale, Sampler, adapted, with_width
from frozenpinn.basis.samplers.grading import Grading
from frozenpinn.evolution.grading import Slopes, grade, graded_points, is_spread_out, total_slope
from frozenpinn.geometry import Box, Points
from frozenpinn.geometry.points import tensor_grid
from frozenpinn.search.sizing import Plan
from frozenpinn.statement.problem import Problem


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
    """Tell for each axis of a product whether the solution is about as steep everywhere along it, or hardly varies."""
    rules = plan.task.rules.windows
    least = rules.negligible * max(map(total_slope, slopes))
    return [total_slope(axis) <= least or is_spread_out(axis, rules) for axis in slopes]


def _place_on_line(plan: Plan, slopes: Slopes, width: int, floor: float, rng: np.random.Generator) -> Placed:
    """Do the same on an interval, with any sampler."""
    grading = grade(slopes.places, [*slopes.sizes, *slopes.errors], floor, width)
    sampler = adapted(with_width(plan.sampler, width), "graded", grading)
    n = round(plan.counts[0] * width / plan.sampler.width)
    cloud = graded_points(grading, n, plan.frame.method, rng, plan.task.rules.windows.per_cell)
    pool = getattr(sampler, "pool", None)
    return Placed((sampler,), (grading,), cloud, graded_points(grading, pool, "random", rng) if pool else None)
