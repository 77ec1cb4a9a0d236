"""SymPy expressions of a user, rewritten over our jets: the same names mean the same as in a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.errors import ExpressionError, ProblemError, choices
from frozenpinn.language.algebra import bounded, checked, computed
from frozenpinn.language.derivatives import resolve_function_derivatives
from frozenpinn.language.jets import TIME
from frozenpinn.language.scope import Scope, absolute, signum

_OURS: dict[Any, Callable[..., sp.Expr]] = {sp.Abs: absolute, sp.sign: signum}


def from_sympy(expression: sp.Expr, scope: Scope, what: str) -> sp.Expr:
    """Replace symbols, functions and derivatives by what their names stand for, and check the result.

    Derivatives are taken last, by the chain rule over the jet: only then is it known that a symbol is
    a field or a parameter that depends on x.
    """
    try:
        bounded(expression, what)
        result = _Reader(scope, what).read(expression)
    except RecursionError:
        raise ExpressionError(f"{what} is nested too deep; use a Python function instead.") from None
    if not isinstance(result, sp.Expr):
        raise ExpressionError(f"{what} must be a SymPy expression, got {type(expression).__name__}.")
    return checked(result, what)


class _Reader:
    """One pass from the leaves to the root."""

    def __init__(self, scope: Scope, what: str) -> None:
        self.scope = scope
        self.what = what
        self.done: dict[sp.Basic, sp.Basic] = {}

    def read(self, node: sp.Basic) -> sp.Basic:
        if node not in self.done:
            self.done[node] = self.translated(node)
        return self.done[node]

    def translated(self, node: sp.Basic) -> sp.Basic:
        if isinstance(node, sp.Symbol):
            value = self.scope.lookup(node.name)
            if value is None:
                raise ExpressionError(self.scope.unknown(node.name))
            return value
        if isinstance(node, AppliedUndef):
            return self.function(node)
        if isinstance(node, sp.Derivative):
            return self.derivative(node)
        if isinstance(node, sp.Subs):
            done = node.doit()
            if isinstance(done, sp.Subs):
                raise ExpressionError(f"'{node}' in {self.what} is not understood; write the derivative out.")
            return self.read(done)
        if not node.args:
            return node
        arguments = [self.read(argument) for argument in node.args]
        function = _OURS.get(node.func, node.func)
        if not isinstance(node, sp.Expr):  # conditions of a Piecewise
            return function(*arguments)
        return computed(function, *arguments, what=self.what)

    def function(self, node: AppliedUndef) -> sp.Expr:
        scope, name = self.scope, node.func.__name__
        if name not in scope.fields and name not in scope.functions:
            raise ProblemError(f"unknown function '{name}' in {self.what}; add it to parameters={{…}}.")
        places = [str(argument) for argument in node.args]
        legal = [*scope.jets.coordinates, TIME]
        if name in scope.functions:
            if len(places) != len(scope.functions[name]) or not set(places) <= set(legal):
                wanted = ", ".join(scope.functions[name])
                raise ProblemError(f"'{node}' in {self.what}: write the Python function as {name}({wanted}).")
            return scope.function(name, [scope.coordinate(place) for place in places])
        here = [str(place) for place in scope.place]
        if places != here:
            raise ProblemError(
                f"'{node}' in {self.what} takes the field '{name}' at another place; write {name}({', '.join(here)})."
            )
        return scope.jets.symbol(scope.jets.field(name))

    def derivative(self, node: sp.Derivative) -> sp.Expr:
        jets = self.scope.jets
        for variable in node.variables:
            if str(variable) not in (*jets.coordinates, TIME):
                known = choices([*jets.coordinates, TIME])
                raise ProblemError(f"'{node}' differentiates by '{variable}'; the coordinates are {known}.")
        result = self.read(node.expr)
        for variable in node.variables:
            axis = None if str(variable) == TIME else jets.axes[str(variable)]
            result = computed(jets.total_derivative, result, axis, what=self.what)
        return resolve_function_derivatives(result, self.scope, ExpressionError)
