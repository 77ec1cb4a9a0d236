"""How far two solutions are from each other around points, rather than at points, where they may cross by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.language.jets import Jet
from frozenpinn.runtime.seeds import Seed

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution

Array = np.ndarray
_NEIGHBOURS = 16  # points around a point at which its error is looked at …
_NEAR = 0.02  # … in a neighbourhood of this part of the domain


def distance_nearby(mine: Solution, other: Solution, x: Array, times: Array, jet: Jet) -> Array:
    """Return the root mean square of the distance in a small neighbourhood of points (n, d) at times (n,)."""
    domain, rng = mine.problem.domain, np.random.default_rng(Seed.NEIGHBOURHOOD)
    offsets = rng.uniform(-_NEAR, _NEAR, (_NEIGHBOURS, domain.dimension)) * domain.lengths
    offsets[0] = 0.0
    total, count = np.zeros(len(x)), np.zeros(len(x))
    for offset in offsets:
        near = domain.wrap(x + offset)
        inside = domain.contains(near)
        if np.any(inside):
            a, b = (s.paired_values(near[inside], times[inside], jet) for s in (mine, other))
            total[inside] += (a - b) ** 2
            count[inside] += 1
    return np.sqrt(total / np.maximum(count, 1))


def relative_distance(a: Solution, b: Solution) -> float:
    """Return the L² distance of two static solutions of one problem, relative to the larger one; the worst field."""
    problem = a.problem
    points = problem.domain.sample(256, "sobol" if problem.domain.dimension > 1 else "uniform", 0)
    now, worst = np.zeros(1), 0.0
    for name in problem.fields:
        one, other = (s.jet_values(points.x, now, problem.jets.field(name)) for s in (a, b))
        size = max(float(np.linalg.norm(one)), float(np.linalg.norm(other)))
        worst = max(worst, float(np.linalg.norm(one - other)) / size if size else 0.0)
    return worst
