"""Errors of two solutions, estimated by their distance and by what both leave of equations, conditions and data.

Both solve the same problem, with other neurons, other points, and one has more of both and smaller tolerances in time.
Where their errors are independent, the distance is the error of the less accurate one (up to √2). Where they share a
bias that falls off slowly with the width, as at corners and jumps, one is so much wider that the distance is still a
good part of it. The error of the finer one is a part of the distance, and the ratio of residuals determines which:
residuals may exceed errors by orders of magnitude, but they do so for both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from frozenpinn.analysis.probing import Probe, grid_probe, probe
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.basis.protocol import Basis
from frozenpinn.geometry.points import grid_points
from frozenpinn.results.evaluation import LEAST_VARIATION
from frozenpinn.results.residuals import boundary_gap, field_sizes, imbalance, initial_misfits
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.search.rules import EstimateRules
from frozenpinn.search.settings import Settings
from frozenpinn.search.sizing import has_constant_coefficients
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms import KnownParts

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


def scales_of(
    problem: Problem,
    places: Probe,
    values: Mapping[str, Values],
    settings: Settings,
    sizes: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Return what errors of fields are relative to: what the user has named, or how much each varies.

    So a temperature in kelvin is judged as the same one in degrees Celsius. ``values`` are those at even times. A field
    whose size in ``sizes`` is not its own is judged by that.
    """
    varying: dict[str, float] = {}
    for name, (mine, theirs) in values.items():
        own = smaller_size(places.rms(mine), places.rms(theirs))
        spread = smaller_size(*(places.rms(each - np.mean(places.weights @ each)) for each in (mine, theirs)))
        varying[name] = max(spread, LEAST_VARIATION * own)
        if sizes is not None and sizes[name] != own:
            varying[name] = sizes[name]
    together = {name: [varying[part] for part in problem.composites.together(name)] for name in values}
    found = {name: float(np.linalg.norm(parts)) for name, parts in together.items()}  # a vanishing part: by the rest
    return found | settings.scales(problem)


def root_mean_square(values: Array, times: Array | None = None) -> float:
    """Return the root mean square over even times, or over given ones."""
    if times is None or len(times) == 1:
        return float(np.sqrt(np.mean(values**2)))
    return float(np.sqrt(np.trapezoid(values**2, times) / (times[-1] - times[0])))


# ---- what two solutions leave of the problem -----------------------------------------------------------------------


class LeftOver(NamedTuple):
    """What a solution leaves of equations, boundary conditions and initial data, relative to its size.

    Of equations that it solves exactly, nothing (None).
    """

    equations: float | None
    boundary: float
    initial: float


def residual_ratio(coarser: Solution, finer: Solution, distance: float, rules: EstimateRules) -> float:
    """Return what the finer solution leaves of the problem, relative to what the coarser one does.

    Residuals of equations have derivatives in them and fall off more slowly than errors; misfits of initial data have
    none, but are those of one time: the geometric mean of both ratios is taken. Boundary conditions that got better by
    less than that hold it up. Conditions and initial data count only if the coarser one's misfit is visible relative
    to the distance. Where the equations are solved exactly, initial data are all there is.
    """
    small = 0.1  # part of the distance: a misfit of data below it is not what is wrong
    a, b = coarser.reduced, finer.reduced
    if a is not None and b is not None and a.problem.domain.dimension == b.problem.domain.dimension:
        return residual_ratio(a, b, distance, rules)  # fewer coordinates, and fewer derivatives
    first, second = _left_over(coarser, rules), _left_over(finer, rules)
    if first.equations is None or second.equations is None:
        return _ratio(first.initial, second.initial)
    ratio, visible = _ratio(first.equations, second.equations), small * distance
    if first.initial > visible:
        ratio = math.sqrt(ratio * _ratio(first.initial, second.initial))
    return max(ratio, _ratio(first.boundary, second.boundary)) if first.boundary > visible else ratio


@remembered
def _left_over(solution: Solution, rules: EstimateRules) -> LeftOver:
    """Measure what a solution leaves, at places and times that all solutions share."""
    problem = solution.problem
    x, times = _where(problem, rules, all(solution.is_separable(name) for name in problem.fields))
    if is_invariant(solution):
        return LeftOver(None, 0.0, max(initial_misfits(solution, x).values(), default=0.0))
    equations = [imbalance(solution, equation, x, times, interpolated=True) for equation in problem.equations]
    bases = [e.basis for piece in solution.pieces for e in piece.expansions]
    # conditions are met to round-off at two ends, and by products with no data to lift
    obeys = problem.domain.dimension == 1 or all(basis.is_product and not basis.lift_size for basis in bases)
    return LeftOver(
        max(gap / scale if scale > 0 else gap for gap, scale in equations),
        0.0 if obeys else _boundary(solution, x, times),
        max(initial_misfits(solution, x).values(), default=0.0),
    )


@remembered
def _where(problem: Problem, rules: EstimateRules, on_axes: bool) -> tuple[Array, Array]:
    """Return places and times at which solutions are put into the equations."""
    rng, (start, end) = np.random.default_rng(Seed.RESIDUALS), problem.time
    x = _grid(problem, rules, rng) if on_axes else problem.domain.sample(rules.residual_points, "random", rng).x
    shares = (np.arange(rules.residual_times) + rng.random(rules.residual_times)) / rules.residual_times
    return read_only(x), read_only(start + (end - start) * (shares if end > start else shares[:1]))


def known_error(solution: Solution, rules: EstimateRules) -> float | None:
    """Return about how wrong a solution is, if its initial data alone determine that; None if they do not."""
    return _left_over(solution, rules).initial if is_invariant(solution) else None


@remembered
def is_invariant(solution: Solution) -> bool:
    """Whether the functions of a solution stay among themselves: waves on a periodic box, with constant coefficients.

    Then it solves its equations exactly, and residuals are round-off.
    """
    if solution.facts is not None:  # it is static
        return False
    problem, domain = solution.problem, solution.problem.domain
    if not (all(domain.periodic) and has_constant_coefficients(problem)) or problem.jets.quantities:
        return False
    if any(equation.forcing != 0 for equation in problem.equations):
        return False
    if solution.reduced is not None:
        return is_invariant(solution.reduced)
    return all(
        piece.view(KnownParts) is None and piece.trajectory.steps == 0 and _has_waves(expansion.basis, domain.lengths)
        for piece in solution.pieces
        for expansion in piece.expansions
    )


@remembered
def is_free(solution: Solution) -> bool:
    """Whether a solution on a product is left to itself: constant coefficients, no source, no data at the sides."""
    problem = solution.problem
    if not has_constant_coefficients(problem) or any(equation.forcing != 0 for equation in problem.equations):
        return False
    return all(
        isinstance(e.basis, ProductNetwork) and not e.basis.lift_size and not piece.trajectory.steps
        for piece in (solution.reduced or solution).pieces
        for e in piece.expansions
    )


def _has_waves(basis: Basis, lengths: Array) -> bool:
    """Whether a basis consists of products of waves that repeat."""
    if not isinstance(basis, ProductNetwork):
        return False
    return all(f.hidden.repeats(lengths[k : k + 1], (True,)) for k, f in enumerate(basis.factors))


def _grid(problem: Problem, rules: EstimateRules, rng: np.random.Generator) -> Array:
    """Return as many places as are asked for, about, that are the grid of places on the axes of a box."""
    domain = problem.domain
    count = max(2, round(rules.residual_points ** (1.0 / domain.dimension)))
    ends = zip(domain.lower, domain.lengths, strict=True)
    return grid_points([lower + length * (np.arange(count) + rng.random(count)) / count for lower, length in ends])


def _boundary(solution: Solution, x: Array, times: Array) -> float:
    """Return by how much boundary conditions are missed, relative to their terms."""
    rng = np.random.default_rng(Seed.RESIDUALS)
    return boundary_gap(solution, times, rng, field_sizes(solution, x, times))


def _ratio(coarser: float, finer: float) -> float:
    """Return the second over the first; one where that is undefined."""
    if not (math.isfinite(coarser) and math.isfinite(finer)) or coarser <= 0:
        return 1.0
    return finer / coarser
