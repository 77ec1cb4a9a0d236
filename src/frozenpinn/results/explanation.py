"""What was chosen for a solve, and why, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution

_MISSED = 1e-6  # residual on the boundary from which on the conditions can't be said to be obeyed


def explain(solution: Solution) -> dict[str, str]:
    """Return one sentence on each choice, by topic."""
    told = {
        "verdict": verdict(solution),
        "width": growth(solution),
        "boundary": _boundary(solution),
        "basis in time": _windows(solution),
        "time": _time(solution),
        "scales": _scales(solution),
    }
    return {topic: text for topic, text in told.items() if text}


def verdict(solution: Solution) -> str:
    """Say whether the tolerance was met, and if not why."""
    found, estimate = solution.verdict, solution.error_estimate
    if found is None or estimate is None:
        return ""
    if found.status == "converged":
        return f"converged: the estimated error, {estimate.worst:.2g}, is within tol={found.tol:g}"
    if not np.isfinite(estimate.worst):
        return f"reached: {found.reason}"
    return f"reached: the estimated error, {estimate.worst:.2g}, is above tol={found.tol:g}, but {found.reason}"


def growth(solution: Solution) -> str:
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
    spaces = solution.system.spaces
    if not problem.conditions:
        return "periodic: built into the basis" if all(problem.domain.periodic) else ""
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
    count = len(solution.pieces)
    if count > 1:
        return f"the basis follows the solution: {count} windows, each with neurons where it is steep"
    if solution.problem.is_linear:
        return "one basis for all times, as the problem is linear"
    return "one basis for all times: it resolves the solution to the end"


def _time(solution: Solution) -> str:
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


def _scales(solution: Solution) -> str:
    return "; ".join(solution.notes)
