"""What stands under a derivative and jumps: kept apart from the equation, as it must be continuous across the jump."""

from __future__ import annotations

from typing import NamedTuple

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from frozenpinn.language.jets import JetSpace

FLUX = sp.Function(
    "flux across a jump", real=True
)  #: of an axis and of what is differentiated along it; never evaluated
JUMPS = (sp.Heaviside, sp.sign, sp.Piecewise)


class Flux(NamedTuple):
    """What is differentiated along an axis, and the factor with which this derivative stands in the equation."""

    axis: int
    value: sp.Expr
    factor: sp.Expr


def jumps_along(expression: sp.Expr, jets: JetSpace, axis: int) -> list[sp.Expr]:
    """Return the parts of an expression of fields that jump along an axis, whatever the fields do."""
    if not jets.jets_in(expression):
        return []
    found = [j for j in expression.atoms(*JUMPS) if not jets.jets_in(j) and jets.x[axis] in j.free_symbols]
    return sorted(found, key=str)


def has_flux(expression: sp.Expr) -> bool:
    """Whether a part of an expression is the derivative of something that jumps."""
    return any(isinstance(f, AppliedUndef) and f.func == FLUX for f in expression.atoms(AppliedUndef))


def marked(expression: sp.Expr, axis: int) -> sp.Expr:
    """Return the mark that a derivative of an expression leaves next to its smooth part."""
    return FLUX(sp.Integer(axis), expression)


def without_deltas(expression: sp.Expr) -> sp.Expr:
    """Return the smooth part of a derivative."""
    return expression.xreplace({delta: sp.Integer(0) for delta in expression.atoms(sp.DiracDelta)})


def taken_out(residual: sp.Expr) -> tuple[sp.Expr, list[Flux]]:
    """Return an equation without marks, and the fluxes that they stand for."""
    marks = sorted((f for f in residual.atoms(AppliedUndef) if f.func == FLUX), key=str)
    if not marks:
        return residual, []
    names = {mark: sp.Dummy(real=True) for mark in marks}
    named = residual.xreplace(names)
    fluxes = [Flux(int(m.args[0]), m.args[1], sp.diff(named, names[m])) for m in marks]
    return named.xreplace(dict.fromkeys(names.values(), sp.Integer(0))), fluxes


def levels_of(expression: sp.Expr) -> list[sp.Expr]:
    """Return the functions at whose zeros an expression jumps."""
    found = [node.args[0] for node in expression.atoms(sp.Heaviside, sp.sign)]
    for piecewise in expression.atoms(sp.Piecewise):
        found += [r.lhs - r.rhs for _, condition in piecewise.args for r in condition.atoms(Relational)]
    return sorted(found, key=str)
