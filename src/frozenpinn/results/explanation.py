"""What was chosen for a solve, and why, in words."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.analysis.formula_scales import formula_scales
from frozenpinn.statement.tables import tables_of
from frozenpinn.transforms import MovingFrame

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution

_MISSED = 1e-6  # residual on the boundary from which on the conditions can't be said to be obeyed


def explain(solution: Solution) -> dict[str, str]:
    """Return one sentence on each choice, by topic."""
    first = {"verdict": _verdict(solution), "event": _event(solution), "width": _growth(solution)}
    if solution.facts is None:
        own = {
            "boundary": _boundary(solution),
            "basis in time": _windows(solution),
            "time": _time(solution),
            "data": _given_values(solution),
            "scales": "; ".join([*solution.notes, *_scales(solution)]),
        }
    else:
        facts = solution.facts
        own = {
            "features": facts.features
            if isnan(facts.pilot)
            else f"{facts.features}: of all kinds that were tried, a narrow network of these left least at "
            f"held-out points, {facts.pilot:.1e} of the equations' terms",
            "start": f"Newton's method started from {facts.start}" if facts.start else "",
            "data": _given_values(solution),
            "notes": "; ".join(solution.notes),
        }
    return {topic: text for topic, text in {**first, **own}.items() if text}


def subspace_text(solution: Solution) -> str | None:
    """Say on which directions the solution depends, if it was found on a subspace."""
    subspace, problem = solution.subspace, solution.problem
    if subspace is None:
        return None
    who = " and ".join(problem.fields) + (" depends" if len(problem.fields) == 1 else " depend")
    count = f"{subspace.size} direction{'s' * (subspace.size > 1)} of {subspace.dimension}"
    return f"{who} on {count}: {subspace.describe(problem.domain.coordinates)}"


def _verdict(solution: Solution) -> str:
    """Say whether the tolerance was met, and if not why."""
    found, estimate = solution.verdict, solution.error_estimate
    if found is None or estimate is None:
        return ""
    if found.goal is not None:
        judged = f"{found.goal.text} = {found.goal.number!r}, a relative error of {found.goal.error:.2g}"
        if found.goal.beside:
            judged += f", as that of the fields, {estimate.worst:.2g}"
        if found.status == "converged":
            return f"converged: {judged}, is within tol={found.tol:g}"
        return f"reached: {judged}, is above tol={found.tol:g}, but {found.reason}"
    if found.status == "converged":
        return f"converged: the estimated error, {estimate.worst:.2g}, is within tol={found.tol:g}{_early(solution)}"
    if not np.isfinite(estimate.worst):
        return f"{found.status}: {found.reason}"
    return f"reached: the estimated error, {estimate.worst:.2g}, is above tol={found.tol:g}, but {found.reason}"


def _event(solution: Solution) -> str:
    """Say when and why a solve has stopped."""
    found = solution.stopped
    return "" if found is None else f"it stops at {found.text}, t = {found.number!r}"


def _early(solution: Solution) -> str:
    """Say from when on a solution is within its tolerance at every time, if it is not so from the start."""
    found, estimate = solution.verdict, solution.error_estimate
    assert found is not None
    assert estimate is not None
    since, (start, end) = estimate.holds_from(found.tol), solution.problem.time
    if not start < since < end:
        return ""
    most = max(float(np.max(curve)) for curve in estimate.curves.values())
    return f" over space and time, and at every time from t = {since:.3g} on; before, it is up to {most:.2g}"


def _growth(solution: Solution) -> str:
    """Say which widths were tried, and what their errors were."""
    if solution.verdict is None:
        return ""
    judged = [f"{width} neurons → {error:.1e}" for width, error, _ in solution.verdict.attempts if np.isfinite(error)]
    last = (
        f"{solution.width} are the answer, compared with {solution.witness.width if solution.witness else 'no others'}"
    )
    start = "the first width comes from a fit of the data, judged at held-out points"
    if solution.facts is not None:
        return "; ".join([", ".join(judged), last])
    return "; ".join([", ".join(judged), last, start]) if judged else start


def _boundary(solution: Solution) -> str:
    problem = solution.problem
    if not problem.conditions:
        return "periodic: built into the basis" if all(problem.domain.periodic) else ""
    if solution.pieces[-1].system is None:
        return "conditions are met weakly, by jumps that cost much where values are prescribed"
    spaces = solution.system.spaces
    if not all(space.obeys_conditions for space in spaces):
        why = ", as no basis in many dimensions obeys them" if problem.domain.dimension > 3 else ""
        return f"conditions are met in least squares while the solution evolves{why}"
    if spaces[0].network.is_product:
        return "the basis is a product of functions of one variable that obey the conditions"
    missed = solution.residuals.boundary
    if missed > _MISSED:
        return f"the basis obeys the conditions at points of the boundary; between them they are missed by {missed:.2g}"
    return "every function of the basis obeys the conditions; data are lifted by functions of their own"


def _windows(solution: Solution) -> str:
    count = len({id(piece.expansions[0].basis) for piece in solution.pieces})
    if count > 1:
        moving = sum(piece.view(MovingFrame) is not None for piece in solution.pieces)
        also = f"; in {moving} of them coordinates move with thin fronts" if moving else ""
        return f"the basis follows the solution: {count} windows, each with neurons where it is steep{also}"
    if solution.problem.is_linear:
        return "one basis for all times, as the problem is linear"
    return "one basis for all times: it resolves the solution to the end"


def _time(solution: Solution) -> str:
    if any(piece.view(MovingFrame) is not None for piece in solution.pieces):
        return f"nonlinear, in moving coordinates: {solution.integrator}"
    if solution.pieces[-1].system is None:
        kind = "linear" if solution.problem.is_linear else "nonlinear"
        return f"{kind}, on patches: {solution.integrator}, with sparse factors that are kept"
    linear, steps = solution.system.linear, sum(piece.trajectory.steps for piece in solution.pieces)
    kind = {"symmetric": "diffusion-like", "skew-symmetric": "wave-like"}.get(linear.structure, "of no symmetry")
    if not steps:
        return f"linear, {kind}: in closed form ({solution.integrator}), without time steps"
    if not solution.problem.is_linear:
        why = "nonlinear"
    else:
        why = (
            "linear" if solution.system.is_autonomous else "linear, but with coefficients or loads that depend on time"
        )
    return f"{why}, linear part {kind}: {solution.integrator}"


def _given_values(solution: Solution) -> str:
    """Say how well arrays among the data are known between their values."""
    return "; ".join(f"{what} is {table.describe()}" for what, table in tables_of(solution.problem))


def _scales(solution: Solution) -> list[str]:
    """Say what is narrow in the formulas of a problem."""
    named = 4  # features that are named
    problem = solution.problem
    scales, names = formula_scales(problem), (*problem.domain.coordinates, "t")
    said = [f"the formulas have {feature.describe(names)}" for feature in scales.features[:named]]
    if len(scales.features) > named:
        said.append(f"and {len(scales.features) - named} more")
    if scales.breaks:
        times = ", ".join(f"{t:.6g}" for t in scales.breaks[:named])
        said.append(
            f"steps end at t = {times}{', …' if len(scales.breaks) > named else ''}, where formulas jump or bend"
        )
    if scales.undecided:
        said.append(f"nothing is known of how fast {', '.join(scales.undecided[:named])} changes")
    return said
