"""The distance of two solutions, which tells their errors: places and values that both kinds of questions compare.

Both solve the same problem, with other neurons, other points, and one has more of both and smaller tolerances in time.
Where their errors are independent, the distance is the error of the less accurate one (up to √2). Where they share a
bias that falls off slowly with the width, as at corners and jumps, one is so much wider that the distance is still a
good part of it. The error of the finer one is a part of the distance: as large as what it leaves of the equations is
beside what the other leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frozenpinn.analysis.probing import Probe, grid_probe, probe
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.seeds import Seed

Array = np.ndarray


def largest_values(solution: Solution) -> dict[str, float]:
    """Return the largest value of each field at some points and times."""
    problem = solution.problem
    x = problem.domain.sample(60, "random", Seed.MEASURED_SIZES).x
    times = np.linspace(*problem.time, 9)
    values = {name: solution.jet_values(x, times, problem.jets.field(name)) for name in problem.fields}
    return {name: float(np.max(np.abs(own))) for name, own in values.items()}


class Values(NamedTuple):
    """A field of two solutions at the places and times of a comparison, shape (n, m) each."""

    mine: Array
    theirs: Array


def places_of(solution: Solution, witness: Solution) -> Probe:
    """Return where two solutions are compared: on a grid if both are evaluated axis by axis."""
    problem = solution.problem
    several = problem.domain.dimension > 1
    on_axes = several and all(s.is_separable(name) for s in (solution, witness) for name in problem.fields)
    return grid_probe(problem) if on_axes else probe(problem)


def values_at(solution: Solution, witness: Solution, places: Probe, times: Array) -> dict[str, Values]:
    """Return all fields of two solutions where they are compared."""
    problem = solution.problem
    return {
        name: Values(*(s.jet_values(places.x, times, problem.jets.field(name)) for s in (solution, witness)))
        for name in problem.fields
    }


def smaller_size(mine: Array, theirs: Array) -> float:
    """Return the size of the smaller of two solutions: one that explodes must not be judged by its own size."""
    least = 0.1  # part of the larger size, if one of them explodes
    sizes = root_mean_square(mine), root_mean_square(theirs)
    return min(sizes[1], max(sizes[0], least * sizes[1])) if np.isfinite(sizes[0]) else sizes[1]


def root_mean_square(values: Array, times: Array | None = None) -> float:
    """Return the root mean square over even times, or over given ones."""
    if times is None or len(times) == 1:
        return float(np.sqrt(np.mean(values**2)))
    return float(np.sqrt(np.trapezoid(values**2, times) / (times[-1] - times[0])))
