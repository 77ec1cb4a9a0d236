"""SymPy expressions of a user, rewritten over our jets: the same names mean the same as in a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.errors import ExpressionError, ProblemError, choices
from frozenpinn.language.algebra import bounded, checked, computed
from frozenpinn.language.calculus import resolve_function_derivatives
from frozenpinn.language.jets import TIME
from frozenpinn.language.scope import Scope, absolute, signum
from frozenpinn.language.values import IMAGINARY_UNIT, Arithmetic, Complex, Scalar, Value, each

_OURS: dict[Any, Callable[..., sp.Expr]] = {sp.Abs: absolute, sp.sign: signum}
_OF_COMPLEX = {sp.Abs: "abs", sp.conjugate: "conj", sp.re: "re", sp.im: "im", sp.arg: "arg"}


def value_from_sympy(expression: sp.Expr, scope: Scope, what: str) -> Scalar:
    """Replace symbols, functions and derivatives by what their names stand for, and check the result.

    Derivatives are taken last, by the chain rule over the jet: only then is it known that a symbol is
    a field or a parameter that depends on x.
    """
    try:
        if not expression.has(sp.I):
            bounded(expression, what)
        result = _Reader(scope, what).read(expression)
    except RecursionError:
        raise ExpressionError(f"{what} is nested too deep; use a Python function instead.") from None
    if isinstance(result, tuple):
        raise ExpressionError(f"{what} contains a vector; write equations of vectors as text.")
    if not isinstance(result, sp.Expr | Complex):
        raise ExpressionError(f"{what} must be a SymPy expression, got {type(expression).__name__}.")
    return cast(Scalar, each(lambda part: checked(part, what), result))


class _Reader:
    """One pass from the leaves to the root."""

    def __init__(self, scope: Scope, what: str) -> None:
        self.scope = scope
        self.what = what
        self.done: dict[sp.Basic, Any] = {}
        self.arithmetic = Arithmetic(lambda function, *arguments: computed(function, *arguments, what=what))

    def read(self, node: sp.Basic) -> Any:
        if node not in self.done:
            self.done[node] = self.translated(node)
        return self.done[node]

    def translated(self, node: sp.Basic) -> Any:
        if node is sp.I:
            return IMAGINARY_UNIT
        if self.scope.own_chart is not None and (node in self.scope.jets.x or node == self.scope.jets.t):
            return node  # an expression of our own, in the coordinates that are solved in
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
        if node.func in (sp.conjugate, sp.re, sp.im) or any(isinstance(argument, Complex) for argument in arguments):
            return self.complex(node, arguments)
        function = _OURS.get(node.func, node.func)
        if not isinstance(node, sp.Expr):  # conditions of a Piecewise
            return function(*arguments)
        return computed(function, *arguments, what=self.what)

    def complex(self, node: sp.Basic, arguments: list[Scalar]) -> Scalar:
        """Return a sum, product, power or function of complex numbers."""
        if isinstance(node, sp.Add):
            return self.arithmetic.add(*arguments)
        if isinstance(node, sp.Mul):
            return self.arithmetic.mul(*arguments)
        if isinstance(node, sp.Pow):
            return self.arithmetic.power(*arguments)
        word = _OF_COMPLEX.get(node.func, node.func.__name__)
        return self.arithmetic.apply(word, node.func, arguments)

    def function(self, node: AppliedUndef) -> Value:
        scope, name = self.scope, node.func.__name__
        if not any(name in known for known in (scope.fields, scope.composites, scope.functions)):
            raise ProblemError(f"unknown function '{name}' in {self.what}; add it to parameters={{…}}.")
        if name in scope.functions and node == scope.function(name):
            return node
        places = [str(argument) for argument in node.args]
        legal = [*scope.chart.names, TIME]
        if name in scope.functions:
            if len(places) != len(scope.functions[name]) or not set(places) <= set(legal):
                wanted = ", ".join(scope.functions[name])
                raise ProblemError(f"'{node}' in {self.what}: write the Python function as {name}({wanted}).")
            return scope.function(name, [scope.coordinate(place) for place in places])
        here = [*scope.chart.names, *([] if scope.static else [TIME])]
        if places != here:
            raise ProblemError(
                f"'{node}' in {self.what} takes the field '{name}' at another place; write {name}({', '.join(here)})."
            )
        value = scope.lookup(name)
        assert value is not None
        return value

    def derivative(self, node: sp.Derivative) -> Value:
        chart = self.scope.chart
        for variable in node.variables:
            if str(variable) not in (*chart.names, TIME):
                known = choices([*chart.names, TIME])
                raise ProblemError(f"'{node}' differentiates by '{variable}'; the coordinates are {known}.")
        result = self.read(node.expr)
        for variable in node.variables:
            axis = None if str(variable) == TIME else chart.axes[str(variable)]
            result = each(lambda part, a=axis: computed(chart.derivative, part, a, what=self.what), result)  # type: ignore[misc]
        return each(lambda part: resolve_function_derivatives(part, self.scope, ExpressionError), result)
