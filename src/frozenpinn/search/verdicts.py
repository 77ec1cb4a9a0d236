"""What is said about a solution that is not within its tolerance."""

from __future__ import annotations

import numpy as np

from frozenpinn.evolution.narrow_features import features_missed
from frozenpinn.evolution.step_errors import step_errors
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.results.solution import Solution
from frozenpinn.search.axis_misfit import axis_misfits
from frozenpinn.search.rules import EstimateRules

_GROWTH = 5.0  # rate × time from which on it is worth telling


def complaint(solution: Solution, tol: float, reason: str) -> str:
    """Say how far the solution is from what was asked for."""
    estimate = solution.error_estimate
    assert estimate is not None
    if not np.isfinite(estimate.worst):
        return f"the error can't be estimated: {reason}."
    first = f"the estimated error is {estimate.worst:.2g}, above tol={tol:g}: {reason}."
    return " ".join([first, *filter(None, (_until(solution, estimate, tol), _lacking(solution)))])


def limits(solution: Solution, rules: EstimateRules) -> list[str]:
    """Say what a solution has missed, and whether the problem multiplies errors."""
    if solution.problem.is_static:
        return []
    told = [missed.text for missed in features_missed(solution, rules)]
    start, end = solution.problem.time
    rate = float(np.real(solution.system.linear.abscissa)) if solution.problem.is_linear else 0.0
    if np.isfinite(rate) and rate * (end - start) > _GROWTH:
        told.append(f"errors at the start are multiplied by {10 ** (rate * (end - start) / np.log(10)):.0e}")
    elif (steps := step_errors(solution, rules=rules.step_errors)) is not None and steps.factor > np.exp(_GROWTH):
        told.append(f"errors are multiplied by up to {steps.factor:.0e} on the way")
    return told


def _until(solution: Solution, estimate: ErrorEstimate, tol: float) -> str:
    """Say until when the tolerance holds."""
    start, end = solution.problem.time
    until = estimate.holds_until(tol)
    if estimate.growth is not None:
        return (
            f"Errors grow like exp({estimate.growth:.3g}·t), as in chaos: the solution is within tol until "
            f"t = {until:.3g}, and from t = {estimate.holds_until(0.1):.3g} on only its statistics mean something."
        )
    since = estimate.holds_from(tol)
    if since < start + 0.5 * (end - start):
        return f"It is within tol from t = {since:.3g} on."
    return f"It is within tol until t = {until:.3g}." if start < until < end else ""


def _lacking(solution: Solution) -> str:
    """Name the axis that lacks resolution most, if the basis is a product of functions of its axes."""
    misfits, names = axis_misfits(solution), solution.problem.domain.coordinates
    if len(misfits) < 2 or solution.reduced is not None:
        return ""
    axis = int(np.argmax(misfits))
    return (
        f"The axis {names[axis]} lacks resolution most: its fastest neurons carry {misfits[axis]:.2g} of the solution."
    )


def duration(seconds: float) -> str:
    """Write a time for people."""
    if seconds < 120:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.2g} min" if seconds < 7200 else f"{seconds / 3600:.2g} h"
