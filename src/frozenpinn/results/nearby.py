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
