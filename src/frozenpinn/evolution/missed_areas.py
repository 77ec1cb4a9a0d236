"""Errors of integrals of data that jump, by the points of a solution: solutions of all widths may share them.

A source, a coefficient or initial data that jump have a wrong integral on points that know nothing of the jump; what is
narrow may lie between all of them. The true integrals are known from a rule that is cut at the jumps. The difference
is heat, mass or charge that a solution has too much or too little of.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from frozenpinn.assembly.cut_points import rule_between_jumps
from frozenpinn.geometry import Points
from frozenpinn.results.solution import Solution
from frozenpinn.statement.equation import Equation
from frozenpinn.transforms import KnownParts
from frozenpinn.transforms.moving_frame import MovingFrame

Array = np.ndarray
_IGNORED = {1: 1e-10, 2: 3e-4, 3: 1e-2}  # part of an integral that the rule itself may miss, by dimension
_TIMES = 9


def missed_areas(solution: Solution, name: str, times: Array) -> Array:
    """Return the error of the mean of a field, over time, that wrong integrals of its data cause."""
    problem, nothing = solution.problem, np.zeros(len(times))
    rule = rule_between_jumps(problem)
    own = None if rule is None else _points(solution)
    if rule is None or own is None:
        return nothing
    equation, passed = problem.equation(name), times - times[0]
    rate = _missed_source(solution, equation, rule, own)
    start = _missed_at_start(solution, name, rule, own)
    if not (rate > 0 or start > 0):
        return nothing
    decay = _decay(solution) if equation.order == 1 else 0.0
    lasts = -np.expm1(-decay * passed) / decay if decay > 0 else passed**equation.order / equation.order
    return np.asarray(rate * lasts + start * np.exp(-decay * passed))


def _missed_at_start(solution: Solution, name: str, rule: Points, own: Points) -> float:
    """Return the error of the mean of a field at the start."""
    known = getattr(solution.problem.initial.get(name), "expression", None)
    return 0.0 if known is None else _gap(solution, known, rule, own, solution.problem.time[0])


def _missed_source(solution: Solution, equation: Equation, rule: Points, own: Points) -> float:
    """Return the largest error of the mean of the source and of terms with the fields themselves."""
    problem = solution.problem
    gaps = [_gap(solution, equation.forcing, rule, own, t) for t in np.linspace(*problem.time, _TIMES)]
    found = max(gaps)
    for jet, coefficient in equation.linear.items():
        if jet.order == 0 and coefficient.free_symbols:
            values = solution.jet_values(own.x[:: max(1, len(own.x) // 200)], np.array(problem.time), jet)
            found += _gap(solution, coefficient, rule, own, problem.time[0]) * float(np.sqrt(np.mean(values**2)))
    return found


def _gap(solution: Solution, formula: sp.Expr, rule: Points, own: Points, t: float) -> float:
    """Return by how much the mean of a formula is wrong on the points of a solution."""
    if not formula.free_symbols:
        return 0.0
    program, problem = solution.problem.compile([formula]), solution.problem
    with np.errstate(all="ignore"):
        seen, wanted = (np.broadcast_to(program(*p.x.T, t)[0], len(p.x)) for p in (own, rule))
    size = float(rule.weights @ np.abs(wanted))
    gap = abs(float(own.weights @ seen) - float(rule.weights @ wanted)) - _IGNORED[rule.x.shape[1]] * size
    return max(0.0, gap) / float(problem.domain.measure) if np.isfinite(gap) else 0.0


def _decay(solution: Solution) -> float:
    """Return the rate at which all that is in a linear problem decays, zero if something stays."""
    if not solution.problem.is_linear:
        return 0.0
    rate = float(np.real(solution.system.linear.abscissa))
    return max(0.0, -rate) if np.isfinite(rate) else 0.0


def _points(solution: Solution) -> Points | None:
    """Return the quadrature points of the first basis; None in other coordinates, or if what jumps was split off."""
    first = solution.pieces[0]
    if solution.reduced is not None or first.view(KnownParts) is not None or first.view(MovingFrame) is not None:
        return None
    points = first.expansions[0].basis.points
    x, domain = points.x, solution.problem.domain
    if x.shape[1] != domain.dimension or not len(x):
        return None
    whole = float(np.sum(points.weights))
    if not abs(whole - domain.measure) <= 1e-6 * domain.measure:
        return None
    return Points(x, points.weights, domain.lengths)
