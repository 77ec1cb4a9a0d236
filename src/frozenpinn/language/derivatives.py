"""Derivatives after the chain rule: of Python functions by name, and second ones merged to Laplacians."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import sympy as sp

from frozenpinn.errors import ExpressionError
from frozenpinn.language.algebra import expanded
from frozenpinn.language.jets import TIME, Jet, JetSpace
from frozenpinn.language.scope import Scope


def resolve_function_derivatives(expression: sp.Expr, scope: Scope, fail: Callable[[str], ExpressionError]) -> sp.Expr:
    """Replace k'(x) of a Python function k by what the name k_x stands for, or ask for it."""
    found = expression.atoms(sp.Derivative)
    # one pass that does not look inside what it has replaced: k'' contains k and must not become (k_x)'
    return expression.xreplace({d: _named_derivative(d, scope, fail) for d in found}) if found else expression


def _named_derivative(derivative: sp.Derivative, scope: Scope, fail: Callable[[str], ExpressionError]) -> sp.Expr:
    """Find the parameter that stands for one derivative of a Python function."""
    jets, function = scope.jets, derivative.expr
    base = function.func.__name__
    if base not in scope.functions:
        raise fail(f"the derivative of '{base}' is not known; give it as text or SymPy.")
    if function != scope.function(base):
        raise fail(f"'{function}' can't be differentiated; write '{base}' at the current point only.")
    root, jet = base, jets.field(base)
    split = jets.split_name(base)
    if split is not None and split[0] in scope.functions:  # k_x is itself a derivative, of k
        root, jet = split
    for variable, count in derivative.variable_count:
        for _ in range(int(count)):
            jet = jets.shifted(jet, None if variable.name == TIME else jets.axes[variable.name])
    for name in (*scope.functions, *scope.parameters):
        if jets.split_name(name) == (root, jet):  # k_xy and k_yx are the same
            value = scope.lookup(name)
            if isinstance(value, sp.Expr):
                return value
    name = jets.name(jet)
    raise fail(
        f"this needs the derivative {name} of the Python function '{root}'. "
        f"Give '{root}' as text or SymPy, or add parameters={{'{name}': …}}."
    )


def merge_laplacians(expression: sp.Expr, jets: JetSpace) -> sp.Expr:
    """Write k·u_xx + k·u_yy + … as k·lap(u): one operator instead of one per axis."""
    if jets.dimension == 1:
        return expression
    result = expanded(expression)
    second: dict[Jet, list[sp.Symbol]] = {}
    for symbol, jet in jets.jets_in(result).items():
        for axis, count in enumerate(jet.alpha):
            if count >= 2:
                alpha = tuple(c - 2 * (i == axis) for i, c in enumerate(jet.alpha))
                second.setdefault(replace(jet, alpha=alpha), []).append(symbol)
    for base, symbols in second.items():
        if len(symbols) != jets.dimension:
            continue
        coefficients = {result.coeff(s, 1) for s in symbols}
        if len(coefficients) == 1 and not any(result.coeff(s, 2) for s in symbols):
            coefficient = coefficients.pop()
            lap = jets.symbol(replace(base, laps=base.laps + 1))
            result = expanded(result - coefficient * sum(symbols)) + coefficient * lap
    return result
