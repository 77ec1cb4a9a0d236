"""Equations solved for their highest time derivative and split by what each term needs.

∂ₜᵐ u = Σ aⱼ(x)·jetⱼ  +  Σ bⱼ(x, t)·jetⱼ  +  f(x, t)  +  N(x, t, jets)
        linear          linear in time       forcing     nonlinear

Of an equation without a time derivative, m = 0, the left-hand side is nothing: 0 = Σ aⱼ(x)·jetⱼ + f(x) + N(x, jets). Of
an implicit one it is Σ mⱼ(x)·∂ₜᵐ jetⱼ, where spatial derivatives act on the highest time derivative: u_t - u_xxt = …
(Benjamin–Bona–Mahony, Camassa–Holm, pseudo-parabolic equations). The left-hand side stays an operator M: the
discretisation has its matrix, and divides by it (assembly/projection.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as default
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.errors import ProblemError, choices
from frozenpinn.language.algebra import checked, expanded, vanishes
from frozenpinn.language.chart import Chart
from frozenpinn.language.jets import TIME, Jet, JetSpace, coordinate_names, maximal_time_order
from frozenpinn.language.lexer import shortened
from frozenpinn.language.parser import parse_sides, refuse_other_notations
from frozenpinn.language.quantities import Quantity
from frozenpinn.language.scope import Scope, check_name
from frozenpinn.language.sympy_input import value_from_sympy
from frozenpinn.language.unknowns import fields_in, unknowns_in
from frozenpinn.language.values import Value
from frozenpinn.runtime.arguments import shown
from frozenpinn.statement.structure import match

if TYPE_CHECKING:
    from frozenpinn.geometry import Domain
    from frozenpinn.language.jets import Jet, JetSpace

Array = np.ndarray
EquationText: TypeAlias = str | sp.Eq | sp.Expr
Equations: TypeAlias = EquationText | Sequence[EquationText] | Mapping[str, EquationText]
ZERO = sp.Integer(0)
Mass: TypeAlias = dict["Jet", sp.Expr]


@dataclass(frozen=True)
class Equation:
    """One field's evolution, ``∂ₜ^order field = right_side``, or one without time, ``0 = right_side``, with its parts.

    ``linear`` has coefficients that depend on x only, ``linear_in_time`` on x and t. ``mass`` has those of the
    left-hand side of an implicit equation; it is empty where that is ``∂ₜ^order field`` alone.
    ``nonlocal_linear`` has those of integrals and the like that are linear in the fields.
    """

    field: str
    order: int
    right_side: sp.Expr
    linear: Mapping[Jet, sp.Expr] = default(default_factory=dict)
    linear_in_time: Mapping[Jet, sp.Expr] = default(default_factory=dict)
    forcing: sp.Expr = ZERO
    nonlinear: sp.Expr = ZERO
    mass: Mapping[Jet, sp.Expr] = default(default_factory=dict)
    nonlocal_linear: Mapping[Jet, sp.Expr] = default(default_factory=dict)

    def left_side(self, jets: JetSpace) -> Mapping[Jet, sp.Expr]:
        """Return the terms of the left-hand side; none of a static equation."""
        if self.mass or not self.order:
            return self.mass
        return {replace(jets.field(self.field), time=self.order): sp.Integer(1)}

    @property
    def is_linear(self) -> bool:
        """Whether the equation is linear in all fields."""
        return self.nonlinear is sp.S.Zero or bool(self.nonlinear.is_Number and self.nonlinear == 0)

    def __str__(self) -> str:
        if self.mass:
            jets = JetSpace(coordinate_names(len(next(iter(self.mass)).alpha)))
            return f"{sp.Add(*(c * jets.symbol(jet) for jet, c in self.mass.items()))} = {self.right_side}"
        return f"{self.field}_{TIME * self.order} = {self.right_side}" if self.order else f"{self.right_side} = 0"


def field_names(
    equations: Sequence[EquationText], jets: Chart, excluded: Sequence[str], static: bool = False
) -> list[str]:
    """Find the unknowns of text or SymPy equations: what carries a time derivative, in static ones any derivative."""
    found: dict[str, None] = {}
    texts = [equation for equation in equations if isinstance(equation, str)]
    for equation in equations:
        if isinstance(equation, str):
            names = unknowns_in(texts, jets, excluded) if static else fields_in([equation], jets, excluded)
        elif isinstance(equation, sp.Basic):
            names = sympy_fields(equation, jets, excluded, static)
        else:
            raise ProblemError(f"an equation is text or SymPy, got {type(equation).__name__}: {equation!r}")
        found.update(dict.fromkeys(names))
    if not found:
        for text in texts:
            refuse_other_notations(text, jets, excluded, "" if static else "time ")
    for name in found:
        check_name(name, "field", jets, [other for other in found if other != name])
    return list(found)


def sympy_fields(equation: sp.Basic, jets: Chart, excluded: Sequence[str], static: bool) -> list[str]:
    """Return what is differentiated in a SymPy equation: by anything, or in time."""
    names = []
    for derivative in equation.atoms(sp.Derivative):
        counts = static or any(str(v) == TIME for v in derivative.variables)
        if counts and isinstance(derivative.expr, AppliedUndef):
            names.append(derivative.expr.func.__name__)
    for symbol in equation.free_symbols:
        split = jets.split_name(symbol.name)
        if split is not None and (static or split[1].time):
            names.append(split[0])
    return sorted({name for name in names if name not in excluded})


def read_residual(equation: EquationText, scope: Scope) -> Value:
    """Turn text or SymPy into what must vanish: a real or complex expression over the jet, or a vector of them."""
    if isinstance(equation, str):
        return parse_sides(equation, scope)
    what = f"'{shortened(str(equation))}'"
    if isinstance(equation, sp.Eq):
        equation = sp.Add(equation.lhs, -equation.rhs, evaluate=False)
    return value_from_sympy(equation, scope, what)


def solve_for_time_derivatives(
    residuals: Sequence[sp.Expr], fields: Sequence[str], jets: JetSpace, x: Array
) -> list[Equation]:
    """Solve the residuals for the highest time derivative of each field and split the result.

    Equations without time derivatives, and fields that they determine, have order 0. ``x`` are points all over the
    domain, where the coefficients of those derivatives must not all vanish.
    """
    found = (jet for residual in residuals for jet in jets.jets_in(residual).values())
    occurring = {jet for jet in found if jet.field not in jets.quantities}
    orders = {name: maximal_time_order(occurring, name) for name in fields}
    _check_solvable(residuals, fields, orders, occurring)
    if min(orders.values()) < 1 or any(not _moves(residual, jets) for residual in residuals):
        return _beside_evolution(residuals, fields, jets, x)
    return _solved(residuals, fields, jets, x)


def _solved(residuals: Sequence[sp.Expr], fields: Sequence[str], jets: JetSpace, x: Array) -> list[Equation]:
    """Solve equations for the highest time derivatives of as many fields; others may occur."""
    occurring = {jet for residual in residuals for jet in jets.jets_in(residual).values()}
    orders = {name: maximal_time_order(occurring, name) for name in fields}
    orders |= {jet.field: maximal_time_order(occurring, jet.field) for jet in occurring if jet.time}
    top = [jet for jet in occurring if jet.time and jet.time == orders[jet.field]]
    if any(jet.order or jet.field not in fields for jet in top):
        return _implicit(residuals, fields, orders, jets)
    highest = [jets.symbol(Jet(name, (0,) * jets.dimension, 0, orders[name])) for name in fields]
    mass = sp.Matrix([[sp.diff(residual, h) for h in highest] for residual in residuals])
    if any(entry.free_symbols & set(highest) for entry in mass):
        raise ProblemError(
            f"the equation is not linear in its highest time derivative {choices(map(str, highest))}; "
            "solve it for that derivative and write 'u_t = …'."
        )
    if vanishes(mass.det(), dict(zip(jets.x, x.T, strict=True))):
        raise ProblemError(
            f"the equations can't be solved for {choices(map(str, highest))}: "
            "the matrix of their coefficients is singular. Each field needs its own time derivative."
        )
    rest = sp.Matrix([residual.xreplace(dict.fromkeys(highest, ZERO)) for residual in residuals])
    right_sides = -(mass.LUsolve(rest)) if len(fields) > 1 else -rest / mass[0, 0]
    return [split_right_side(name, orders[name], right_sides[i], jets) for i, name in enumerate(fields)]


def without_poles(residual: sp.Expr, jets: JetSpace, domain: Domain) -> sp.Expr:
    """Multiply a static equation by powers of coordinates that begin near zero, as r of u_rr + u_r/r on r > 1e-6.

    Where 1/r is 10⁶, nothing else would count: equations are weighted by their largest coefficients.
    """
    near = 0.01  # lower end of an axis over its upper one
    for x, low, high in zip(jets.x, domain.lower, domain.upper, strict=True):
        if 0.0 < low < near * high:
            powers = [-p.exp for p in residual.atoms(sp.Pow) if p.base == x and p.exp.is_Integer and p.exp < 0]
            residual = expanded(residual * x ** max(powers)) if powers else residual
    return residual


def _moves(residual: sp.Expr, jets: JetSpace) -> bool:
    """Whether an equation contains a time derivative."""
    return any(jet.time for jet in jets.jets_in(residual).values())


def _beside_evolution(residuals: Sequence[sp.Expr], fields: Sequence[str], jets: JetSpace, x: Array) -> list[Equation]:
    """Split equations of which some determine a field at each moment, or keep a constraint."""
    matching = match(residuals, fields, jets)
    rows = dict(zip(fields, matching.rows, strict=True))
    evolving = [name for name, order in zip(fields, matching.orders, strict=True) if order]
    others = [name for name in fields if name not in evolving]
    if not evolving:
        raise ProblemError(
            f"the time derivatives of {choices(fields)} cancel, so nothing evolves; for a static problem leave out "
            "time= and initial=."
        )
    split = _solved([residuals[rows[name]] for name in evolving], evolving, jets, x)
    known = {equation.field: equation for equation in split}
    split += [split_right_side(name, 0, _at_a_moment(residuals[rows[name]], known, jets), jets) for name in others]
    return [next(e for e in split if e.field == name) for name in fields]


def _at_a_moment(residual: sp.Expr, known: Mapping[str, Equation], jets: JetSpace) -> sp.Expr:
    """Insert what equations say about the highest time derivatives in an equation that determines another field."""
    table = {}
    for symbol, jet in jets.jets_in(residual).items():
        if jet.time and (jet.field not in known or known[jet.field].mass or jet.time > known[jet.field].order):
            raise ProblemError(
                f"'{symbol}' stands in '{residual} = 0', which determines a field without a time derivative, and the "
                f"equation for the time derivative of '{jet.field}' is not solved for it; write one that is."
            )
        if jet.time and jet.time == known[jet.field].order:
            value = known[jet.field].right_side
            for axis, times in enumerate(jet.alpha):
                for _ in range(times):
                    value = jets.total_derivative(value, axis)
            for _ in range(jet.laps):
                value = jets.laplacian(value)
            table[symbol] = value
    return residual.xreplace(table)


def static_equations(residuals: Sequence[sp.Expr], fields: Sequence[str], jets: JetSpace) -> list[Equation]:
    """Split equations without time derivatives, each under the name of the field that it determines most."""
    if len(residuals) != len(fields):
        known = f"The unknowns are what is differentiated: {choices(fields)}."
        raise ProblemError(
            f"{len(residuals)} equation(s) for {len(fields)} unknown(s); one equation per unknown is needed. {known} "
            "Functions and constants of your own go into parameters={…}."
        )
    for residual in residuals:
        found = jets.jets_in(residual).values()
        timed = sorted(jets.name(jet) for jet in found if jet.time)
        if timed or jets.t in residual.free_symbols:
            raise ProblemError(
                f"'{timed[0] if timed else TIME}' stands in a problem without time; write fp.Problem(…, time=(0, 1), "
                "initial=…), or leave the time out of the equation."
            )
        if not found:
            raise ProblemError(f"the equation '{residual} = 0' contains none of the unknowns {choices(fields)}.")
    return [
        split_right_side(name, 0, residuals[row], jets)
        for row, name in zip(rows_of(residuals, fields, jets), fields, strict=True)
    ]


def rows_of(residuals: Sequence[sp.Expr], fields: Sequence[str], jets: JetSpace) -> list[int]:
    """Return the equation for each field: the sum of the orders of their derivatives is the largest."""
    from scipy.optimize import linear_sum_assignment

    orders = np.full((len(fields), len(residuals)), -100.0)
    for row, residual in enumerate(residuals):
        for jet in (jet for jet in jets.jets_in(residual).values() if jet.field in fields):
            i = fields.index(jet.field)
            orders[i, row] = max(orders[i, row], jet.order)
    return [int(row) for row in linear_sum_assignment(-orders)[1]]


def _check_solvable(
    residuals: Sequence[sp.Expr],
    fields: Sequence[str],
    orders: Mapping[str, int],
    occurring: set[Jet],
) -> None:
    if len(residuals) != len(fields):
        raise ProblemError(
            f"{len(residuals)} equation(s) for {len(fields)} field(s) ({choices(fields)}); one equation per field is "
            "needed. Fields are what has a time derivative and, if there are further equations without one, names "
            "in these that mean nothing else; functions and constants of your own go into parameters={…}."
        )
    if max(orders.values()) < 1:
        raise ProblemError(
            f"the time derivative of {choices(fields)} cancels, so nothing tells how it evolves; "
            f"write '{fields[0]}_t = …' with all other terms on the right."
        )
    for jet in sorted(occurring):
        if orders[jet.field] > 2:
            raise ProblemError(
                f"'{jet.field}' has a time derivative of order {orders[jet.field]}; orders 1 and 2 are supported. "
                f"Write it as a system, for example with w = {jet.field}_t."
            )


def _implicit(
    residuals: Sequence[sp.Expr], fields: Sequence[str], orders: Mapping[str, int], jets: JetSpace
) -> list[Equation]:
    """Split equations with spatial derivatives of their highest time derivatives; those without become explicit."""
    split = [split_mass(residual, orders, jets) for residual in residuals]
    equations = []
    for name, row in zip(fields, rows_by_field([mass for mass, _ in split], fields), strict=True):
        mass, right = split[row]
        own = replace(jets.field(name), time=orders[name])
        if set(mass) == {own}:
            mass, right = {}, right / mass[own]
        equations.append(replace(split_right_side(name, orders[name], right, jets), mass=mass))
    return equations


def split_right_side(name: str, order: int, right_side: sp.Expr, jets: JetSpace) -> Equation:
    """Sort the terms of a right-hand side by how they depend on the jet and on time."""
    parts = _Parts(jets)
    what = f"the equation of '{name}'"
    for term in sp.Add.make_args(checked(expanded(right_side), what)):
        parts.sort(term)
    return Equation(
        name,
        order,
        right_side,
        {jet: c for jet, c in parts.linear.items() if c != 0},
        {jet: c for jet, c in parts.in_time.items() if c != 0},
        sp.Add(*parts.forcing),
        sp.Add(*parts.nonlinear),
        nonlocal_linear={jet: c for jet, c in parts.nonlocal_linear.items() if c != 0},
    )


class _Parts:
    """Collects the terms of one equation."""

    def __init__(self, jets: JetSpace) -> None:
        self.jets = jets
        self.linear: dict[Jet, sp.Expr] = {}
        self.in_time: dict[Jet, sp.Expr] = {}
        self.forcing: list[sp.Expr] = []
        self.nonlinear: list[sp.Expr] = []
        self.nonlocal_linear: dict[Jet, sp.Expr] = {}

    def sort(self, term: sp.Expr) -> None:
        split = self.jets.affine(term)
        quantities = self.jets.quantities_in(term)
        if quantities and self._sort_nonlocal(split, quantities):
            return
        if split is None or quantities:
            self.nonlinear.append(term)
            return
        coefficients, rest = split
        self.forcing.append(rest)
        for jet, coefficient in coefficients.items():
            part = self.in_time if self.jets.t in coefficient.free_symbols else self.linear
            part[jet] = part.get(jet, ZERO) + coefficient

    def _sort_nonlocal(
        self, split: tuple[dict[Jet, sp.Expr], sp.Expr] | None, quantities: Mapping[Jet, Quantity]
    ) -> bool:
        """Take a term that is a multiple of a linear quantity; return whether it is one."""
        if split is None or split[1] != 0 or set(split[0]) != set(quantities):
            return False
        affine = [self.jets.affine(quantity.inner) for quantity in quantities.values()]
        linear = all(q.is_linear(self.jets) for q in quantities.values()) and all(a and a[1] == 0 for a in affine)
        if not linear or any(self.jets.t in c.free_symbols for c in split[0].values()):
            return False
        for jet, coefficient in split[0].items():
            self.nonlocal_linear[jet] = self.nonlocal_linear.get(jet, ZERO) + coefficient
        return True


def no_unknown(texts: str, static: bool, coordinates: Sequence[str]) -> str:
    """Say that no unknown was found, and how one is written."""
    if static:
        x = coordinates[0]
        return (
            f"no derivative in {texts}: the unknown must be differentiated, as in lap(u) = 1 or u_{x}{x} = u. The "
            f"coordinates are {', '.join(coordinates)}."
        )
    return (
        f"no time derivative in {texts}: the unknown must appear as u_t or u_tt. For a static problem leave out time= "
        "and initial=: fp.Problem('lap(u) = f', domain, boundary='u = 0')."
    )


def as_equations(given: Equations, static: bool = False) -> list[EquationText]:
    """Return equations given as one, a list or a dict; in a dict, a text without ``=`` is a right-hand side."""
    max_equations = 1000
    if isinstance(given, Mapping):
        texts: list[EquationText] = []
        for name, text in given.items():
            right_side = isinstance(text, str) and "=" not in text
            texts.append(f"{name}_{TIME} = {text}" if right_side and not static else text)
        return texts
    if isinstance(given, str | sp.Basic):
        return [given]
    if isinstance(given, Sequence) and 0 < len(given) <= max_equations:
        return list(given)
    raise ProblemError(f"an equation is text, SymPy, a list or a dict of them; got {shown(given)}.")


# ---- implicit equations ---------------------------------------------------------------------------


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
    """Return the equation for each field: one with its time derivative, the best choice for all together."""
    from scipy.optimize import linear_sum_assignment

    never = -1e6  # what it costs to give a field an equation without its time derivative
    table = np.full((len(fields), len(masses)), never)
    for row, mass in enumerate(masses):
        for jet in (jet for jet in mass if jet.field in fields):  # a derivative that stands alone counts most
            i = fields.index(jet.field)
            table[i, row] = max(table[i, row], 1.0 / (1.0 + jet.order) + float(len({j.field for j in mass}) == 1))
    rows = linear_sum_assignment(-table)[1]
    if np.min(table[np.arange(len(fields)), rows]) == never:
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
