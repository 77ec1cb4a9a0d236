"""What a solve checks before it returns, and warns of."""

from __future__ import annotations

from math import hypot

import numpy as np

from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.basis.protocol import PointSet
from frozenpinn.errors import IntegrationError, ResolutionWarning, warn
from frozenpinn.evolution.grading import falls_between
from frozenpinn.evolution.narrow_features import beside_jumps
from frozenpinn.integrators.protocol import typical_size
from frozenpinn.results.expansion import Piece, looked_up
from frozenpinn.results.residuals import condition_gap, initial_misfits, law_gap
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.search.rules import CheckRules, Rules
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_TELLING = 20  # fewest functions (of an axis) whose finest tenth measures the resolution


def not_finite(solution: Solution, rules: CheckRules) -> IntegrationError | None:
    """Return what to say of a solution that is not finite; None if it is."""
    if _is_quiet(solution, rules) or np.all(np.isfinite(_all_norms(solution))):
        return None
    end = solution.problem.time[1]
    return IntegrationError(f"the solution is not finite at t = {end:g}: {_growth(solution)}", end)


def _all_norms(solution: Solution) -> Array:
    """Return the sizes of the states at start, middle and end of all windows: in L², whatever the basis."""
    states = (looked_up(piece.trajectory, _three_times(piece)) for piece in solution.pieces)
    with np.errstate(over="ignore"):
        return np.concatenate([np.linalg.norm(own, axis=1) for own in states])


def warn_if_missed(solution: Solution, rules: CheckRules) -> None:
    """Warn about conditions that are not met: the only check that an error estimate does not replace."""
    if solution.problem.domain.dimension > 1:
        _warn_if_boundary_is_missed(solution, rules)
        _warn_if_laws_are_missed(solution, rules)


def warn_if_suspicious(solution: Solution, rules: Rules) -> None:
    """Warn about a basis that can't represent the initial data, or a solution that has exploded."""
    quiet = _is_quiet(solution, rules.checks)
    norms = np.zeros(1) if quiet else _all_norms(solution)
    problem, first = solution.problem, _system(solution.pieces[0])
    misfits = initial_misfits(solution, _places(problem))
    for name, error in misfits.items():
        if error > rules.checks.initial:
            warn(
                f"the network represents the initial value of {name} only to {error:.2g} (relative L²); "
                "the solution can't be better. Use a larger width, or steeper neurons (MultiScale(width, shortest=2)).",
                ResolutionWarning,
            )
    line = problem.domain.dimension == 1
    if line and max(misfits.values()) <= rules.checks.initial and falls_between(first):
        warn(
            "the initial data have details between the points of the basis, which the solution does not contain. Use a "
            "larger width."
        )
    if not quiet:
        _warn_if_unresolved(solution, rules.checks)
    _warn_if_boundary_is_missed(solution, rules.checks)
    _warn_if_laws_are_missed(solution, rules.checks)
    growth = float(norms.max() / max(norms[0], 1e-300))
    if growth > rules.checks.growth:  # suspicious, unless the solution starts from zero and is driven
        growth = float(norms.max() / max(typical_size(_system(piece)) for piece in solution.pieces))
    if growth > rules.checks.growth:
        warn(
            f"the solution has grown by a factor {growth:.2g}; the spectral abscissa of the linear part is "
            f"{solution.system.linear.abscissa:.3g}. If the equation itself does not grow like this, the basis is "
            "unstable: use more points, a larger cutoff (1e-8), or check the boundary conditions.",
            ResolutionWarning,
        )


@remembered
def _places(problem: Problem) -> Array:
    """Return where the initial data are checked."""
    return read_only(problem.domain.sample(60, "random", Seed.INITIAL_CHECK).x)


def _growth(solution: Solution) -> str:
    """Name the cause of unbounded growth: modes of the equation, or of a basis that is too coarse."""
    rate, (start, end) = solution.system.linear.abscissa, solution.problem.time
    if solution.problem.is_linear or rate * (end - start) > 1.0:
        return (
            f"the linear part has modes that grow like exp({rate:.3g}·t). Is the highest derivative of the right sign? "
            "If so, ripples that this width does not resolve are what grows: use a larger one, or a shorter time."
        )
    return "its linear part does not grow, so ripples that this width does not resolve do: use a larger one."


def _is_quiet(solution: Solution, rules: CheckRules) -> bool:
    """Whether bounds show that a solution on a product stays finite, does not grow much and is resolved."""
    piece = solution.pieces[0]
    system, trajectory = _system(piece), piece.trajectory
    network, bounds = system.spaces[0].network, getattr(trajectory, "bounds", None)
    if bounds is None or len(solution.pieces) > 1 or len(system.spaces) > 1 or network.lift_size:
        return False
    if not isinstance(network, ProductNetwork):
        return False
    telling = min(network.sizes) >= _TELLING
    found = bounds(_three_times(piece), [f.finest for f in network.factors] if telling else [])
    if found is None:
        return False
    size, speed = system.initial_norms
    limits = (rules.growth * hypot(size, speed), rules.unresolved * size)
    return all(bound <= limit for own, limit in zip(found, limits, strict=True) for bound in own.ravel().tolist())


def _system(piece: Piece) -> Discretisation:
    assert piece.system is not None, "solutions are checked when they are made"
    return piece.system


def _three_times(piece: Piece) -> Array:
    return np.array([piece.start, (piece.start + piece.end) / 2, piece.end])


def _warn_if_unresolved(solution: Solution, rules: CheckRules) -> None:
    """Warn if the finest tenth of the basis carries a visible part of the solution: the next finer would too."""
    piece = solution.pieces[-1]
    system, times = _system(piece), _three_times(piece)
    states = looked_up(piece.trajectory, times)
    scale = max(float(np.max(np.linalg.norm(states[:, block], axis=1))) for block in system.layout.blocks)
    scale = max(scale, *(_lifted_size(space, system.points, times) for space in system.spaces))
    for block, space in zip(system.layout.blocks, system.spaces, strict=True):
        basis = space.network
        if min(basis.sizes) < _TELLING or scale == 0:
            continue
        share = max(max(basis.shares(c)) for c in states[:, block]) / scale
        if share > rules.unresolved:
            times = np.linspace(piece.start, piece.end, 129)
            lost = [max(basis.shares(c)) > rules.unresolved * scale for c in piece.trajectory(times)[:, block]]
            advice = ", or windows='adaptive' if it is parallel to an axis" if basis.is_product else ""
            since = float(times[np.argmax(lost)]) if np.any(lost) else piece.end
            always = since <= solution.problem.time[0]
            begin, end = ("", "") if always else (f"from t = {since:.3g} on ", "; before, the solution can be used")
            warn(
                f"{begin}the basis does not resolve {' and '.join(space.fields)}: its finest tenth carries {share:.2g} "
                f"of the solution, and an error of that size must be expected{end}. Use a larger width than "
                f"{space.network.width}, a shorter time, or, if a shock is forming, some viscosity{advice}.",
                ResolutionWarning,
            )


def _warn_if_boundary_is_missed(solution: Solution, rules: CheckRules) -> None:
    """Warn about conditions that are not met; where they are met by construction there is nothing to check."""
    softly = 2e-2  # misfit of conditions that are met in least squares, about as well as the equation
    problem, system = solution.problem, _system(solution.pieces[0])
    if problem.domain.dimension == 1 or any(space.network.is_product for space in system.spaces):
        return
    soft = not all(space.obeys_conditions for space in system.spaces)
    start, end = problem.time
    times = beside_jumps(problem, np.array([start + 0.3 * (end - start), end]))
    rng = np.random.default_rng(Seed.BOUNDARY_CHECK)
    inside = problem.domain.sample(40, "random", rng).x
    sizes = {
        name: float(np.max(np.abs(solution.jet_values(inside, times, problem.jets.field(name)))))
        for name in problem.fields
    }
    size = float(np.max(problem.domain.lengths))
    for condition in problem.conditions:
        points = problem.domain.sample_side(condition.side, 20, "random", rng)
        gap = condition_gap(solution, [condition], [points], times)
        scale = max(float(np.max(np.abs(gap.wanted))), 1e-300)
        for jet, (factor, values) in gap.terms.items():
            part = float(np.max(np.abs(factor[:, None] * values)))
            scale = max(scale, part, sizes[jet.field] / size**jet.order)
        missed = float(np.max(np.abs(gap.total)))
        if missed > (softly if soft else rules.missed) * scale:
            warn(
                f"the solution misses the condition '{condition.text}' on side '{condition.side.name}' by up to "
                f"{missed / scale:.2g} of its terms. Use a larger width or more boundary points; a corner where "
                "conditions of two kinds meet, or one that points inwards, makes solutions singular."
            )


def _warn_if_laws_are_missed(solution: Solution, rules: CheckRules) -> None:
    """Warn about nonlinear or changing conditions that are not met."""
    problem, (start, end) = solution.problem, solution.problem.time
    times = beside_jumps(problem, np.array([start + 0.3 * (end - start), end])) if problem.laws else np.zeros(0)
    for law in problem.laws:
        points = problem.domain.sample_side(law.side, 20, "random", np.random.default_rng(Seed.BOUNDARY_CHECK))
        gaps, scale = law_gap(solution, law, points, times)
        missed = float(np.max(np.abs(gaps))) / (scale or 1.0)
        if missed > rules.missed:
            warn(
                f"the solution misses the condition '{law.text}' on side '{law.side.name}' by up to "
                f"{missed:.2g} of its terms. Use a larger width or a smaller tolerance in time."
            )


def _lifted_size(space: Space, points: PointSet, times: Array) -> float:
    """Return the largest L² norm of the part of the solution that boundary data lift."""
    if not space.network.lift_size:
        return 0.0
    root = np.sqrt(points.weights)
    zero = Derivative((0,) * points.x.shape[1])
    values = [space.network.lift_at_points([Term(name, zero)]) for name in space.fields]
    return max(float(np.linalg.norm(root * (v @ space.data(float(t))))) for v in values for t in times)
