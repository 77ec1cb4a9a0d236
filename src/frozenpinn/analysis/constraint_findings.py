"""What can be said against linear constraints before a solve: fluxes, initial data, and values of multipliers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.errors import EvaluationError
from frozenpinn.geometry import FlatSide
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.findings import START, Finding
from frozenpinn.statement.multipliers import LinearConstraint, saddle

if TYPE_CHECKING:
    from frozenpinn.geometry import BoundaryPoints
    from frozenpinn.statement.conditions import LinearCondition
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
_VISIBLE = 1e-6  # of an imbalance relative to what it consists of


def constraint_findings(problem: Problem) -> tuple[Finding, ...]:
    """Return what contradicts a constraint, and what is taken of itself."""
    found = saddle(problem)
    constraints = () if found is None else found.constraints
    return tuple(finding for c in constraints for finding in _of_one(problem, c))


def _of_one(problem: Problem, constraint: LinearConstraint) -> Iterator[Finding]:
    name = constraint.multiplier
    own = [c for c in problem.conditions if name in c.fields]
    if constraint.is_gradient:
        yield from _flux(problem, constraint)
        yield from (f for c in own for f in _given_twice(problem, constraint, c))
    yield from _start(problem, constraint)
    fixed = own or any(name in law.fields for law in problem.laws)
    given = [c.text for c in problem.constraints if c.field == name]
    if not fixed and given in ([], [f"mean({name}) = 0"]):
        text = (
            f"'{name}' is determined up to a constant; its mean is taken to be 0 (constraint= asks for another value)."
        )
        yield Finding("structure", "note", text)


def _flux(problem: Problem, constraint: LinearConstraint) -> Iterator[Finding]:
    """Compare what flows in with what flows out, where that is given on all sides."""
    if not problem.domain.sides or constraint.given != 0:
        return
    method = "gauss" if problem.domain.dimension <= 3 else "sobol"
    for t in np.linspace(*problem.time, 5):
        net = total = 0.0
        for side in problem.domain.sides:
            points = problem.domain.sample_side(side, 64 ** min(problem.domain.dimension - 1, 2), method, 0)
            through = _through(problem, constraint, points, float(t))
            if through is None:
                return
            net += float(points.weights @ through)
            total += float(points.weights @ np.abs(through))
        if abs(net) > _VISIBLE * max(total, 1e-300):
            when = "" if problem.is_static else f" at t = {t:.3g}"
            text = (
                f"the fluxes through the sides are not balanced: {net:.4g} more leaves than enters{when}, of "
                f"{total:.4g} in all, and '{constraint.text(problem.jets)} = 0' allows for none. Change an inflow or "
                "outflow, or leave one side open, with a value of "
                f"'{constraint.multiplier}' instead of the velocity along the normal."
            )
            yield Finding("contradiction", "error", text)
            return


def _through(problem: Problem, constraint: LinearConstraint, points: BoundaryPoints, t: float) -> Array | None:
    """Return what passes through a side, where conditions give all that is needed; None where they do not."""
    values = {}
    for condition in problem.conditions:
        plain = len(condition.jets) == 1 and condition.jets[0].order == 0 and condition.coefficients[0].is_number
        if condition.side == points.side and plain and condition.jets[0].field in constraint.terms:
            try:
                own = np.broadcast_to(condition.value(points.x, t), len(points.x))
            except EvaluationError:
                return None
            values[condition.jets[0].field] = own / float(condition.coefficients[0])
    total = np.zeros(len(points.x))
    for name, operator in constraint.terms.items():
        ((alpha, factor),) = operator.items()
        normal = points.normals[:, alpha.index(1)]
        if not np.any(normal):
            continue
        if name not in values:
            return None
        total += factor * normal * values[name]
    return total


def _given_twice(problem: Problem, constraint: LinearConstraint, condition: LinearCondition) -> Iterator[Finding]:
    """Object to a side on which both the multiplier and what passes through are given."""
    if len(condition.jets) > 1 or condition.jets[0].order or not isinstance(condition.side, FlatSide):
        return
    points = problem.domain.sample_side(condition.side, 4, "gauss", 0)
    if _through(problem, constraint, points, problem.time[0]) is not None:
        text = (
            f"'{condition.side.name}' has both '{condition.text}' and a condition for what passes through: either "
            f"determines the other, and '{constraint.multiplier}' is over-determined. Leave one of them out."
        )
        yield Finding("contradiction", "error", text)


def _start(problem: Problem, constraint: LinearConstraint) -> Iterator[Finding]:
    """Say by how much initial data violate a constraint."""
    left = start_violation(problem, constraint)
    if left > _VISIBLE:
        names = ", ".join(f"'{name}'" for name in constraint.fields)
        text = (
            f"the initial values of {names} violate '{constraint.text(problem.jets)} = 0' by {left:.2g} of its terms. "
            "Give data that keep it, or have them projected onto what does, by "
            "settings=fp.Settings(without=('consistent start',))."
        )
        yield Finding(START, "error", text)


def start_violation(problem: Problem, constraint: LinearConstraint) -> float:
    """Return by how much initial data violate a constraint, relative to its terms; 0 of what is no formula."""
    if problem.is_static:
        return 0.0
    x = problem.domain.sample(200, "random", Seed.MEASURED_SIZES).x
    total, size = np.zeros(len(x)), np.zeros(len(x))
    for jet, c in constraint.jets():
        datum = problem.initial[jet.field]
        derivative = datum.derivative(jet)
        if derivative is None:
            return 0.0
        with np.errstate(all="ignore"):
            values = problem.compile([derivative])(*x.T, problem.time[0])[0]
        own = c * np.broadcast_to(np.asarray(values, dtype=float), len(x))
        total, size = total + own, size + np.abs(own)
    largest = float(np.max(size, initial=0.0))
    found = float(np.sqrt(np.mean(np.square(total))))
    return found / largest if largest > 0 and np.isfinite(found) else 0.0
