"""Implicit equations: Σ mⱼ(x)·∂ₜᵐ jetⱼ = right-hand side, where spatial derivatives act on the highest time derivative.

``u_t - u_xxt = …`` is one (Benjamin–Bona–Mahony, Camassa–Holm, pseudo-parabolic equations). The left-hand side stays an
operator M: the discretisation has its matrix, and divides by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError, choices
from frozenpinn.language.algebra import expanded

if TYPE_CHECKING:
    from frozenpinn.language.jets import Jet, JetSpace

Mass: TypeAlias = dict["Jet", sp.Expr]
_NEVER = -1e6  # what it costs to give a field an equation without its time derivative


def highest_jets(residual: sp.Expr, orders: Mapping[str, int], jets: JetSpace) -> list[Jet]:
    """Return the highest time derivatives of all fields in an equation, differentiated in space or not."""
    return [jet for jet in jets.jets_in(residual).values() if jet.time == orders.get(jet.field, -1)]


def split_mass(residual: sp.Expr, orders: Mapping[str, int], jets: JetSpace) -> tuple[Mass, sp.Expr]:
    """Return the coefficients of the highest time derivatives, and the right-hand side."""
    residual = expanded(residual)
    mass: Mass = {}
    for jet in highest_jets(residual, orders, jets):
        coefficient = expanded(sp.diff(residual, jets.symbol(jet)))
        _check(coefficient, jet, jets)
        mass[jet] = coefficient
    rest = residual.xreplace({jets.symbol(jet): sp.Integer(0) for jet in mass})
    return {jet: c for jet, c in mass.items() if c != 0}, -rest


def _check(coefficient: sp.Expr, jet: Jet, jets: JetSpace) -> None:
    """Refuse what is not a fixed operator on the highest time derivative."""
    what = f"the coefficient '{coefficient}' of '{jets.name(jet)}'"
    unknown = jets.jets_in(coefficient)
    if unknown:
        raise ProblemError(
            f"{what} contains {choices(map(str, unknown))}: where spatial derivatives of the highest time derivative "
            "occur, these must enter linearly, with coefficients that depend on the coordinates only."
        )
    if jets.t in coefficient.free_symbols:
        raise ProblemError(
            f"{what} depends on t: an equation with spatial derivatives of its highest time derivative needs "
            "coefficients of these that depend on the coordinates only."
        )


def rows_by_field(masses: Sequence[Mass], fields: Sequence[str]) -> list[int]:
    """Return which equation goes under the name of each field: one with its time derivative, all in all."""
    from scipy.optimize import linear_sum_assignment

    table = np.full((len(fields), len(masses)), _NEVER)
    for row, mass in enumerate(masses):
        for jet in mass:  # most of all a derivative that stands alone
            i = fields.index(jet.field)
            table[i, row] = max(table[i, row], 1.0 / (1.0 + jet.order) + float(len({j.field for j in mass}) == 1))
    rows = linear_sum_assignment(-table)[1]
    if np.min(table[np.arange(len(fields)), rows]) == _NEVER:
        raise ProblemError(
            f"the equations can't be solved for the highest time derivatives of {choices(fields)}: "
            "each field needs an equation with its own time derivative."
        )
    return [int(row) for row in rows]


def is_divergence(expression: sp.Expr, jets: JetSpace) -> bool:
    """Whether the integral of an expression over a periodic domain is zero, whatever the fields.

    That is so just if Euler's operator, Σ (−∂)^α ∂/∂u_α for each field, takes it to zero (Olver 1993, theorem 4.7).
    """
    found = jets.jets_in(expression)
    if any(jet.field in jets.quantities for jet in found.values()):
        return False
    for field in {jet.field for jet in found.values()}:
        total = sp.Integer(0)
        for symbol, jet in found.items():
            if jet.field == field:
                total += _adjoint(sp.diff(expression, symbol), jet, jets)
        if expanded(_without_laplacians(total, jets)) != 0:
            return False
    return True


def _adjoint(expression: sp.Expr, jet: Jet, jets: JetSpace) -> sp.Expr:
    """Apply the adjoint of the derivative that a jet names."""
    for axis, times in enumerate(jet.alpha):
        for _ in range(times):
            expression = -jets.total_derivative(expression, axis)
    for _ in range(jet.laps):
        expression = jets.laplacian(expression)
    return expression


def _without_laplacians(expression: sp.Expr, jets: JetSpace) -> sp.Expr:
    """Write Laplacians of fields as sums of second derivatives, so that terms can cancel."""
    while True:
        table = {}
        for symbol, jet in jets.jets_in(expression).items():
            if jet.laps:
                lower = replace(jet, laps=jet.laps - 1)
                twice = [jets.shifted(jets.shifted(lower, axis), axis) for axis in range(jets.dimension)]
                table[symbol] = sp.Add(*map(jets.symbol, twice))
        if not table:
            return expression
        expression = expression.xreplace(table)
