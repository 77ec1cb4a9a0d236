"""Equations solved for their highest time derivative and split by what each term needs.

∂ₜᵐ u = Σ aⱼ(x)·jetⱼ  +  Σ bⱼ(x, t)·jetⱼ  +  f(x, t)  +  N(x, t, jets)
        linear          linear in time       forcing     nonlinear
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as default
from typing import TypeAlias

import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.errors import ExpressionError, ProblemError, choices
from frozenpinn.problem.data import normalised
from frozenpinn.problem.expression import Scope, fields_in, parse_equation, resolve_function_derivatives
from frozenpinn.problem.jet import TIME, Jet, JetSpace, maximal_time_order

EquationText: TypeAlias = str | sp.Eq | sp.Expr
ZERO = sp.Integer(0)


@dataclass(frozen=True)
class Equation:
    """One field's evolution, ``∂ₜ^order field = right_side``, with its parts.

    ``linear`` has coefficients that depend on x only, ``linear_in_time`` on x and t.
    """

    field: str
    order: int
    right_side: sp.Expr
    linear: Mapping[Jet, sp.Expr] = default(default_factory=dict)
    linear_in_time: Mapping[Jet, sp.Expr] = default(default_factory=dict)
    forcing: sp.Expr = ZERO
    nonlinear: sp.Expr = ZERO

    @property
    def is_linear(self) -> bool:
        """Whether the equation is linear in all fields."""
        return self.nonlinear == 0

    def __str__(self) -> str:
        return f"{self.field}_{TIME * self.order} = {self.right_side}"


def field_names(equations: Sequence[EquationText], jets: JetSpace, excluded: Sequence[str]) -> list[str]:
    """Find the unknowns of text or SymPy equations: what carries a time derivative."""
    found: dict[str, None] = {}
    for equation in equations:
        if isinstance(equation, str):
            names = fields_in([equation], jets, excluded)
        elif isinstance(equation, sp.Basic):
            names = _sympy_fields(equation, jets, excluded)
        else:
            raise ProblemError(f"an equation is text or SymPy, got {type(equation).__name__}: {equation!r}")
        found.update(dict.fromkeys(names))
    return list(found)


def _sympy_fields(equation: sp.Basic, jets: JetSpace, excluded: Sequence[str]) -> list[str]:
    names = []
    for derivative in equation.atoms(sp.Derivative):
        if any(str(v) == TIME for v in derivative.variables) and isinstance(derivative.expr, AppliedUndef):
            names.append(derivative.expr.func.__name__)
    for symbol in equation.free_symbols:
        split = jets.split_name(symbol.name)
        if split is not None and split[1].time:
            names.append(split[0])
    return sorted({name for name in names if name not in excluded})


def read_residual(equation: EquationText, scope: Scope) -> sp.Expr:
    """Turn text or SymPy into one expression over the jet that must vanish."""
    if isinstance(equation, str):
        return parse_equation(equation, scope)
    residual = equation.lhs - equation.rhs if isinstance(equation, sp.Eq) else equation
    return _from_sympy(residual, scope)


def _from_sympy(expression: sp.Expr, scope: Scope) -> sp.Expr:
    """Replace u(x, t) and its derivatives by jets, and symbols by ours."""
    jets = scope.jets
    expression = expression.doit()
    table: dict[sp.Basic, sp.Expr] = {}
    for derivative in expression.atoms(sp.Derivative):
        inner = derivative.expr
        if isinstance(inner, AppliedUndef) and inner.func.__name__ in scope.fields:
            jet = jets.field(inner.func.__name__)
            for variable, count in derivative.variable_count:
                axis = None if str(variable) == TIME else jets.axes.get(str(variable), -1)
                if axis == -1:
                    known = choices([*jets.coordinates, TIME])
                    raise ProblemError(f"'{derivative}' differentiates by '{variable}'; the coordinates are {known}.")
                for _ in range(int(count)):
                    jet = jets.shifted(jet, axis)
            table[derivative] = jets.symbol(jet)
    for function in expression.atoms(AppliedUndef):
        name = function.func.__name__
        if name in scope.fields:
            table[function] = jets.symbol(jets.field(name))
        elif name not in scope.functions:
            raise ProblemError(f"unknown function '{name}' in '{expression}'; add it to parameters={{…}}.")
        else:
            table[function] = sp.Function(name, real=True)(*(normalised(a, scope) for a in function.args))
    placeholders = {key: sp.Dummy(real=True) for key in table}
    plain = expression.subs(sorted(placeholders.items(), key=lambda p: -sp.count_ops(p[0])))
    symbols = {symbol for symbol in plain.free_symbols if not isinstance(symbol, sp.Dummy)}
    ours = {symbol: normalised(symbol, scope) for symbol in symbols}
    back = {placeholders[key]: value for key, value in table.items()}
    result = plain.subs(ours, simultaneous=True).subs(back, simultaneous=True)
    return resolve_function_derivatives(result, scope, ExpressionError)


def solve_for_time_derivatives(residuals: Sequence[sp.Expr], fields: Sequence[str], jets: JetSpace) -> list[Equation]:
    """Solve the residuals for the highest time derivative of each field and split the result."""
    occurring = {jet for residual in residuals for jet in jets.jets_in(residual).values()}
    orders = {name: maximal_time_order(occurring, name) for name in fields}
    _check_solvable(residuals, fields, orders, occurring, jets)
    highest = [jets.symbol(Jet(name, (0,) * jets.dimension, 0, orders[name])) for name in fields]
    mass = sp.Matrix([[sp.diff(residual, h) for h in highest] for residual in residuals])
    if any(entry.free_symbols & set(highest) for entry in mass):
        raise ProblemError(
            f"the equation is not linear in its highest time derivative {choices(map(str, highest))}; "
            "solve it for that derivative and write 'u_t = …'."
        )
    if sp.simplify(mass.det()) == 0:
        raise ProblemError(
            f"the equations can't be solved for {choices(map(str, highest))}: "
            "the matrix of their coefficients is singular. Each field needs its own time derivative."
        )
    rest = sp.Matrix([residual.subs(dict.fromkeys(highest, 0)) for residual in residuals])
    right_sides = -(mass.LUsolve(rest)) if len(fields) > 1 else -rest / mass[0, 0]
    return [_split(name, orders[name], right_sides[i], jets) for i, name in enumerate(fields)]


def _check_solvable(
    residuals: Sequence[sp.Expr],
    fields: Sequence[str],
    orders: Mapping[str, int],
    occurring: set[Jet],
    jets: JetSpace,
) -> None:
    if len(residuals) != len(fields):
        raise ProblemError(
            f"{len(residuals)} equation(s) for {len(fields)} field(s) with a time derivative ({choices(fields)}); "
            "one equation per field is needed. An auxiliary quantity without a time derivative goes into "
            "parameters={'mu': 'u**3 - u'} as text."
        )
    for jet in sorted(occurring):
        if jet.time == orders[jet.field] and jet.order:
            raise ProblemError(
                f"'{jets.name(jet)}' mixes the highest time derivative with a spatial one; "
                "such equations are not solvable pointwise for it. Write a first-order system without it."
            )
        if orders[jet.field] > 2:
            raise ProblemError(
                f"'{jet.field}' has a time derivative of order {orders[jet.field]}; orders 1 and 2 are supported. "
                f"Write it as a system, for example with w = {jet.field}_t."
            )


def _split(name: str, order: int, right_side: sp.Expr, jets: JetSpace) -> Equation:
    """Sort the terms of a right-hand side by how they depend on the jet and on time."""
    linear: dict[Jet, sp.Expr] = {}
    in_time: dict[Jet, sp.Expr] = {}
    forcing, nonlinear = sp.Integer(0), sp.Integer(0)
    expanded = sp.expand(right_side, power_base=False, power_exp=False, log=False, trig=False)
    for term in sp.Add.make_args(expanded):
        found = jets.jets_in(term)
        if not found:
            forcing += term
            continue
        symbol, jet = next(iter(found.items()))
        coefficient = term / symbol
        if len(found) > 1 or jets.jets_in(coefficient):
            nonlinear += term
        else:
            part = in_time if jets.t in coefficient.free_symbols else linear
            part[jet] = part.get(jet, sp.Integer(0)) + coefficient
    return Equation(
        name,
        order,
        right_side,
        {jet: c for jet, c in linear.items() if c != 0},
        {jet: c for jet, c in in_time.items() if c != 0},
        forcing,
        nonlinear,
    )
