"""Equations as balances: what is stored, what flows across the boundary, what sources make.

Every equation is ∂ₜᵐ u = div F + s, with fluxes F that are made of the fields and their derivatives, and a rest s. The
more is in the fluxes, the more is known of the whole domain from its boundary alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.language.algebra import expanded
from frozenpinn.language.fluxes import levels_of
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.runtime.memo import remembered

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem


class Law(NamedTuple):
    """∂ₜᵐ u = div F + s: what is stored, the fluxes along the axes, and the rest, all times the volume element."""

    stored: sp.Expr
    fluxes: tuple[sp.Expr, ...]
    rest: sp.Expr


@remembered
def balance_law(problem: Problem, name: str) -> Law:
    """Write the equation of a field as a balance, with as much as possible in the fluxes."""
    equation, jets = problem.equation(name), problem.jets
    weight = sp.S.One if problem.frame is None else problem.frame.weight(jets)
    left = {jet: c * weight * jets.symbol(jet) for jet, c in equation.left_side(jets).items()}
    stored = sp.Add(*(term for jet, term in left.items() if not jet.order))
    moving = sp.Add(*(term for jet, term in left.items() if jet.order))
    joined = problem.interfaces is not None and problem.interfaces.material
    return Law(stored, *_divided(weight * equation.right_side - moving, jets, joined))


def _divided(expression: sp.Expr, jets: JetSpace, joined: bool) -> tuple[tuple[sp.Expr, ...], sp.Expr]:
    """Write an expression over the jet as div F + s.

    A derivative ∂ᵢv that stands there linearly, c ∂ᵢv, is ∂ᵢ∫c dv but for terms of lower order, those of highest order
    first. Coefficients that jump have to stand below derivatives: ``joined`` says that fluxes are continuous there.
    """
    fluxes, tried = [sp.S.Zero] * jets.dimension, set[sp.Symbol]()
    rest = expanded(_along_axes(expression, jets))
    while (found := _next(rest, jets, tried)) is not None:
        symbol, axis, inner = found
        tried.add(symbol)
        coefficient = rest.coeff(symbol, 1)
        if not joined and levels_of(coefficient):
            continue
        flux = _integrated(coefficient, inner)
        if flux is None:
            continue
        slope = jets.total_derivative(flux, axis, deltas=True)
        left = expanded(rest - (slope.xreplace(dict.fromkeys(slope.atoms(sp.DiracDelta), sp.S.Zero))))
        if symbol not in left.free_symbols and not left.has(sp.Derivative):  # of a Python function
            rest = left
            fluxes[axis] += flux
    return tuple(fluxes), rest


def _along_axes(expression: sp.Expr, jets: JetSpace) -> sp.Expr:
    """Write Laplacians as sums of derivatives along the axes."""
    while laplacians := {s: jet for s, jet in jets.jets_in(expression).items() if jet.laps}:
        table = {}
        for symbol, jet in laplacians.items():
            inner = replace(jet, laps=jet.laps - 1)
            twice = [jets.shifted(jets.shifted(inner, axis), axis) for axis in range(jets.dimension)]
            table[symbol] = sp.Add(*map(jets.symbol, twice))
        expression = expression.xreplace(table)
    return expression


def _next(rest: sp.Expr, jets: JetSpace, tried: set[sp.Symbol]) -> tuple[sp.Symbol, int, sp.Symbol] | None:
    """Return the derivative ∂ᵢv of highest order that was not tried, the axis, and v."""
    found = [(s, jet) for s, jet in jets.jets_in(rest).items() if jet.order and s not in tried]
    found = [(s, jet) for s, jet in found if jet.field not in jets.quantities]
    if not found:
        return None
    symbol, jet = min(found, key=lambda own: (-own[1].order, own[1]))
    axis = int(np.argmax(jet.alpha))
    return symbol, axis, jets.symbol(_lower(jet, axis))


def _lower(jet: Jet, axis: int) -> Jet:
    return replace(jet, alpha=tuple(a - (i == axis) for i, a in enumerate(jet.alpha)))


def _integrated(coefficient: sp.Expr, inner: sp.Symbol) -> sp.Expr | None:
    """Return ∫c dv; None if it is not simple."""
    if inner not in coefficient.free_symbols:
        return coefficient * inner
    whole = coefficient.as_poly(inner)
    return None if whole is None else whole.integrate().as_expr()
