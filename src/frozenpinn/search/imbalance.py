"""Conservation as a witness: what a solution misses of the balance of a field, as an error.

Solutions that are blind at the same spot agree, so their distance does not show it. The balance does, on points that
no solve has seen: what is missing there raises the estimate.
"""

from __future__ import annotations

import numpy as np

from frozenpinn.analysis.formula_scales import NOTHING, formula_scales
from frozenpinn.geometry import Box, Interval
from frozenpinn.results.balance import Balance, balance
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.memo import remembered
from frozenpinn.statement.jumps import jumps_of
from frozenpinn.statement.problem import Problem

Array = np.ndarray
IMBALANCE = "more is missing in the balance of storage, fluxes and sources"  #: why an estimate is raised
_ENOUGH = 1e-6  # part of all terms that rules of quadrature may be wrong by


def error_of_imbalance(solution: Solution, name: str, times: Array) -> Array:
    """Return the error of the mean of a field in time that its balance shows."""
    found, problem = _judged(solution, name), solution.problem
    if found is None:
        return np.zeros(len(times))
    rate, start = float(np.max(np.abs(found.certain))), abs(found.at_start)
    if not (rate > 0 or start > 0) or not problem.equation(name).order:
        return np.zeros(len(times))
    order, passed = problem.equation(name).order, times - times[0]
    decay = _decay(solution) if order == 1 and problem.is_linear else 0.0
    lasts = -np.expm1(-decay * passed) / decay if decay > 0 else passed**order / order
    return np.asarray((rate * lasts + start * np.exp(-decay * passed)) / float(problem.domain.measure))


def part_of_imbalance(solution: Solution, name: str) -> float:
    """Return which part of all that flows and is made is missing in a static solution."""
    found = _judged(solution, name)
    return 0.0 if found is None else float(np.max(np.abs(found.certain) / np.where(found.size > 0, found.size, 1.0)))


def _judged(solution: Solution, name: str) -> Balance | None:
    """Return the balance of a field; None where formulas hide nothing, or it is not known."""
    return balance(solution, name, _ENOUGH) if _may_hide(solution.problem) else None


@remembered
def _may_hide(problem: Problem) -> bool:
    """Whether formulas may hide something from all points, or areas be wrong on them."""
    if formula_scales(problem) is not NOTHING or bool(jumps_of(problem)):
        return True
    valued = any(jet.order == 0 and len(c.jets) == 1 for c in problem.conditions for jet in c.jets)
    return not (problem.is_static or valued or isinstance(problem.domain, Box | Interval))


def _decay(solution: Solution) -> float:
    """Return the rate at which all that is in a linear problem decays, zero if something stays."""
    rate = solution.abscissa
    return max(0.0, -rate) if np.isfinite(rate) else 0.0
