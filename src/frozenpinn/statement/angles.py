"""Values that jump along the sides of a rectangle: in static problems led by a Laplacian, those of an angle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from frozenpinn.geometry import FlatSide
from frozenpinn.language.steps import in_steps

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem


def crossed_plane(problem: Problem, argument: sp.Expr) -> tuple[int, float, int] | None:
    """Return axis, place and direction of a step across one axis, inside the domain."""
    jets, domain = problem.jets, problem.domain
    own = [i for i, x in enumerate(jets.x) if x in argument.free_symbols]
    if len(own) != 1 or argument.free_symbols != {jets.x[own[0]]}:
        return None
    slope = sp.diff(argument, jets.x[own[0]])
    if not slope.is_number or slope == 0:
        return None
    place = float(-argument.xreplace({jets.x[own[0]]: sp.Integer(0)}) / slope)
    if not float(domain.lower[own[0]]) < place < float(domain.upper[own[0]]):
        return None
    return own[0], place, 1 if float(slope) > 0 else -1


def angles(problem: Problem) -> dict[str, sp.Expr]:
    """Find values that jump along the sides of a rectangle, in static problems led by a Laplacian."""
    jets, domain, parts = problem.jets, problem.domain, dict[str, sp.Expr]()
    if domain.dimension != 2:
        return parts
    for condition in problem.conditions:
        side, name = condition.side, condition.fields[0]
        second = [jet for jet in problem.equation(name).linear if jet.order == 2 and jet.field == name]
        simple = [jet for jet in second if jet.laps == 1] == second and len(second) == 1
        value = condition.value.expression
        if condition.jets != (jets.field(name),) or not isinstance(side, FlatSide) or value is None:
            continue
        if not simple or condition.coefficients[0] != 1 or not value.has(sp.Heaviside, sp.sign, sp.Piecewise):
            continue
        along = jets.x[1 - side.axis]
        place = float((domain.lower, domain.upper)[side.end][side.axis])
        inward = (jets.x[side.axis] - sp.Float(place)) * (1, -1)[side.end]
        written = in_steps(value)
        for step in sorted(written.atoms(sp.Heaviside), key=str):
            where = crossed_plane(problem, step.args[0])
            name_of = sp.Dummy(real=True)
            factor = sp.diff(written.xreplace({step: name_of}), name_of)
            if where is None or where[0] == side.axis or name_of in factor.free_symbols:
                continue
            size = factor.xreplace({along: sp.Float(where[1]), jets.x[side.axis]: sp.Float(place)})
            angle = sp.atan2(inward, (along - sp.Float(where[1])) * where[2])
            parts[name] = parts.get(name, sp.Integer(0)) + size * (1 - angle / sp.pi)
    return parts
