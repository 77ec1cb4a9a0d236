"""SymPy expressions written in the language of equations, so that they can be stored and read again."""

from __future__ import annotations

import functools

import sympy as sp
from sympy.printing.str import StrPrinter

from frozenpinn.language.scope import FUNCTIONS

_INVERSES = {"coth": "tanh", "csch": "sinh", "cot": "tan", "sec": "cos", "csc": "sin"}


def as_text(expression: sp.Expr) -> str:
    """Return an expression as a text that reads back as the same; TypeError if the language can't say it."""
    return str(_Writer().doprint(expression))


class _Writer(StrPrinter):  # type: ignore[misc]
    """SymPy's own notation, with our names and with all digits."""

    def _print_Float(self, expr: sp.Float) -> str:  # noqa: N802
        return repr(float(expr))

    def _print_NumberSymbol(self, expr: sp.NumberSymbol) -> str:  # noqa: N802
        return "pi" if expr == sp.pi else repr(float(expr))

    _print_Pi = _print_Exp1 = _print_GoldenRatio = _print_EulerGamma = _print_Catalan = _print_NumberSymbol  # noqa: N815

    def _print_Function(self, expr: sp.Function) -> str:  # noqa: N802
        name = type(expr).__name__
        first = self._print(expr.args[0])
        if name in _INVERSES:
            return f"(1/{_INVERSES[name]}({first}))"
        if name.lower() not in FUNCTIONS:
            raise TypeError(f"'{name}' has no form as text")
        if name == "Heaviside":
            if expr.args[1:] != (sp.Rational(1, 2),):
                raise TypeError("a Heaviside function with another value at 0 has no form as text")
            return f"heaviside({first})"
        return f"{name.lower()}({', '.join(map(self._print, expr.args))})"

    _print_Abs = _print_sign = _print_Heaviside = _print_Function  # noqa: N815

    def _print_Max(self, expr: sp.Max) -> str:  # noqa: N802
        name = type(expr).__name__.lower()
        return functools.reduce(lambda a, b: f"{name}({a}, {b})", map(self._print, expr.args))

    _print_Min = _print_Max  # noqa: N815

    def _print_Piecewise(self, expr: sp.Piecewise) -> str:  # noqa: N802
        *cases, (last, condition) = expr.args
        if condition != sp.true:
            raise TypeError("a Piecewise without a value for all other cases has no form as text")
        text = self._print(last)
        for value, case in reversed(cases):
            text = f"where({self._print(case)}, {self._print(value)}, {text})"
        return text

    def _print_Relational(self, expr: sp.Rel) -> str:  # noqa: N802
        if expr.rel_op not in ("<", "<=", ">", ">="):
            raise TypeError(f"'{expr.rel_op}' has no form as text")
        return f"{self._print(expr.lhs)} {expr.rel_op} {self._print(expr.rhs)}"

    def _print_And(self, expr: sp.And) -> str:  # noqa: N802
        return "(" + " and ".join(map(self._print, expr.args)) + ")"

    def _print_Or(self, expr: sp.Or) -> str:  # noqa: N802
        return "(" + " or ".join(map(self._print, expr.args)) + ")"

    def emptyPrinter(self, expr: object) -> str:  # noqa: N802
        raise TypeError(f"'{type(expr).__name__}' has no form as text")

    def _refuse(self, expr: sp.Basic) -> str:
        return self.emptyPrinter(expr)

    _print_Derivative = _print_Subs = _print_Integral = _refuse  # noqa: N815
