"""What a function leaves of a static problem at places that it was not fitted at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from frozenpinn.adaptivity.static.rules import StaticRules
from frozenpinn.assembly.collocation import Function, slopes_of
from frozenpinn.language.jets import Jet
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class HeldOut(NamedTuple):
    """Places that no solve is fitted at."""

    inside: Array
    sides: tuple[tuple[int, object], ...]


@remembered
def held_out(problem: Problem, boundary: int = 0, inside: int = 400) -> HeldOut:
    """Return random points of the domain and of the sides of all conditions."""
    rng = np.random.default_rng(Seed.RESIDUALS + 1)
    x = problem.domain.sample(inside, "random", rng).x
    each = max(4, boundary // max(1, len(problem.domain.sides)))
    sides = (
        tuple(
            (k, problem.domain.sample_side(c.side, 1 if problem.domain.dimension == 1 else each, "random", rng))
            for k, c in enumerate(problem.conditions)
        )
        if boundary
        else ()
    )
    return HeldOut(x, sides)


def _smooth_sizes(
    problem: Problem, function: Function, x: Array, jets: Sequence[Jet], partials: Sequence[Array]
) -> list[float]:
    """Return how large the terms of an equation would be for a function as large that varies over the whole domain."""
    values = {name: float(np.std(function.jets(x, [problem.jets.field(name)])[0])) for name in problem.fields}
    length = float(np.max(problem.domain.lengths))
    return [
        float(np.sqrt(np.mean(np.square(p)))) * values[jet.field] / length**jet.order
        for jet, p in zip(jets, partials, strict=True)
    ]


def left_over(problem: Problem, function: Function, rules: StaticRules) -> float:
    """Return what a function leaves of equations and conditions at held-out points, relative to their terms."""
    places = held_out(problem, rules.held_out_boundary, rules.held_out)
    x, worst = places.inside, 0.0
    for equation in problem.equations:
        slopes = slopes_of(problem, equation.field)
        values = function.jets(x, slopes.jets)
        with np.errstate(all="ignore"):
            value = np.broadcast_to(slopes.value(*x.T, 0.0, *values)[0], len(x))
            partials = slopes.partials(*x.T, 0.0, *values)
            zero = slopes.value(*x.T, 0.0, *(np.zeros(len(x)) for _ in values))[0]
            terms = [float(np.sqrt(np.mean((p * v) ** 2))) for p, v in zip(partials, values, strict=True)]
        source = float(np.sqrt(np.mean(np.square(zero))))
        smooth = _smooth_sizes(problem, function, x, slopes.jets, partials)  # Δu = 0 has one term, which is the residual
        size = max([t for t in (*terms, source, *smooth) if np.isfinite(t)], default=0.0) or 1.0
        worst = max(worst, float(np.sqrt(np.mean(value**2))) / size)
    for k, points in places.sides:
        condition = problem.conditions[k]
        values = function.jets(points.x, condition.jets)
        terms = [
            np.broadcast_to(c * v, len(points.x)) for (_, c), v in zip(condition.terms_at(points), values, strict=True)
        ]
        wanted = np.broadcast_to(condition.value(points.x, 0.0), len(points.x))
        size = max(float(np.max(np.abs(t))) for t in (*terms, wanted))
        field_size = max(
            float(np.max(np.abs(v))) for v in function.jets(x[:64], [problem.jets.field(f) for f in condition.fields])
        )
        order = min(jet.order for jet in condition.jets)
        size = max(size, field_size / float(np.max(problem.domain.lengths)) ** order) or 1.0
        gap = float(np.sqrt(np.mean((sum(terms) - wanted) ** 2)))
        worst = max(worst, rules.conditions * gap / size)
    return worst if np.isfinite(worst) else np.inf
