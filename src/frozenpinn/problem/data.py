"""Data of a problem (initial values, boundary values, parameters) as functions of points and time.

A datum is given as a number, text, a SymPy expression or a Python function; all four become the same
object, which can be evaluated at points, knows whether it changes in time, and can be differentiated.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.errors import EvaluationError, ProblemError, choices
from frozenpinn.problem.expression import Scope, parse
from frozenpinn.problem.jet import TIME
from frozenpinn.problem.program import Program

Array = np.ndarray
Given: TypeAlias = float | str | sp.Expr | Callable[..., Any]


def callable_arguments(function: Callable[..., Any], coordinates: Sequence[str], what: str) -> tuple[str, ...]:
    """Decide with which coordinates a user's function is called, from its signature.

    Parameter names that are coordinates are taken literally: ``f(t)``, ``f(x, t)``, ``f(y)``. Otherwise
    the count decides: all coordinates and t, or all coordinates. ``("points",)`` and
    ``("points", "t")`` stand for the whole (n, d) array, used for ``f(points)`` and ``f(points, t)``.
    """
    legal = (*coordinates, TIME)
    try:
        parameters = [
            p
            for p in inspect.signature(function).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
        ]
    except (TypeError, ValueError):  # NumPy ufuncs and other builtins have no signature
        count = getattr(function, "nin", len(legal))
        parameters = []
    else:
        count = len(parameters)
    names = [p.name for p in parameters]
    if names and all(name in legal for name in names):
        return tuple(names)
    if count == len(legal):
        return legal
    if count == len(coordinates):
        return tuple(coordinates)
    if len(coordinates) > 1 and count in (1, 2):
        return ("points", TIME)[:count]
    raise ProblemError(
        f"{what} is a function of {count} arguments; write it with arguments named after {choices(legal)}, "
        f"for example `lambda {', '.join(legal)}: …`."
    )


def checked_values(value: Any, n: int, what: str, x: Array, t: float) -> Array:
    """Return ``value`` as n finite numbers or explain what a user's function did wrong."""
    array = np.asarray(value, dtype=float)
    if array.ndim == 2 and array.shape == (n, 1):
        array = array[:, 0]
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.shape != (n,):
        raise EvaluationError(
            f"{what} returned an array of shape {array.shape} for {n} points; "
            f"expected shape ({n},) or one number. Use NumPy functions that work on arrays."
        )
    if not np.all(np.isfinite(array)):
        bad = int(np.argmax(~np.isfinite(array)))
        place = ", ".join(f"{c:g}" for c in x[bad])
        raise EvaluationError(f"{what} is {array[bad]} at x = ({place}), t = {t:g}; it must be finite everywhere.")
    return array


class Datum:
    """A scalar function of space and time with one calling convention, ``datum(x, t) -> (n,)``.

    Parameters
    ----------
    given
        Number, text, SymPy expression or Python function.
    scope
        Names that a text may use (parameters, coordinates).
    functions
        Python functions for the names in ``scope.functions``.
    what
        How error messages call this datum, e.g. ``"the initial value of u"``.
    """

    def __init__(
        self, given: Given, scope: Scope, functions: Mapping[str, Callable[..., Any]], what: str = "the value"
    ) -> None:
        self.given = given
        self.what = what
        self._scope = scope
        self._functions = functions
        self._derivatives: dict[int, Datum | None] = {}
        self.expression: sp.Expr | None = None
        self._callable: Callable[..., Any] | None = None
        if isinstance(given, str):
            self.expression = parse(given, scope)
        elif isinstance(given, sp.Basic):
            self.expression = normalised(sp.sympify(given), scope)
        elif callable(given):
            self._callable = given
            self._arguments = callable_arguments(given, scope.jets.coordinates, what)
        elif np.ndim(given) == 0 and np.isreal(given):
            if not np.isfinite(float(given)):
                raise ProblemError(f"{what} is {given}; it must be a finite number.")
            self.expression = sp.Float(float(given)) if float(given) else sp.Integer(0)
        else:
            raise ProblemError(
                f"{what} must be a number, text, a SymPy expression or a function, got {type(given).__name__}."
            )
        if self.expression is not None:
            jets = scope.jets.jets_in(self.expression)
            if jets:
                raise ProblemError(f"{what} must not contain the unknown '{next(iter(jets))}'.")
            self._program = Program([self.expression], [*scope.jets.x, scope.jets.t], functions)

    @property
    def depends_on_time(self) -> bool:
        """Whether the datum may change in time."""
        if self.expression is not None:
            return self._scope.jets.t in self.expression.free_symbols
        return TIME in self._arguments

    @property
    def is_zero(self) -> bool:
        """Whether the datum is identically zero."""
        return self.expression is not None and self.expression == 0

    def __call__(self, x: Array, t: float = 0.0) -> Array:
        """Evaluate at points ``x`` of shape (n, d) and one time."""
        n = len(x)
        with np.errstate(all="ignore"):
            value = self._program(*x.T, t)[0] if self.expression is not None else self._call(x, t)
        return checked_values(value, n, self.what, x, t)

    def _call(self, x: Array, t: float) -> Any:
        assert self._callable is not None
        table: dict[str, Any] = {c: x[:, i] for i, c in enumerate(self._scope.jets.coordinates)}
        table |= {TIME: t, "points": x}
        return self._callable(*(table[name] for name in self._arguments))

    def time_derivative(self, order: int, x: Array, t: float, interval: tuple[float, float]) -> Array:
        """Return ∂ₜ^order: exact for symbolic data, by nine-point differences for Python functions."""
        if order == 0:
            return self(x, t)
        if not self.depends_on_time:
            return np.zeros(len(x))
        if order not in self._derivatives:
            self._derivatives[order] = self._differentiated(order)
        symbolic = self._derivatives[order]
        return _difference(lambda s: self(x, s), order, t, interval) if symbolic is None else symbolic(x, t)

    def _differentiated(self, order: int) -> Datum | None:
        """Return the symbolic time derivative, or None for Python functions."""
        if self.expression is None:
            return None
        derivative = sp.diff(self.expression, self._scope.jets.t, order)
        if derivative.has(sp.Derivative, sp.Subs):
            return None
        return Datum(derivative, self._scope, self._functions, f"∂ₜ of {self.what}")


def _difference(function: Callable[[float], Array], order: int, t: float, interval: tuple[float, float]) -> Array:
    """Differentiate a function of time by a nine-point stencil that stays inside the interval."""
    start, end = interval
    width = (end - start) * (2e-2 if order == 1 else 6e-2)
    first = min(max(t - width / 2, start), end - width)
    nodes = first + width * (1 - np.cos(np.pi * np.arange(9) / 8)) / 2
    values = np.stack([function(float(s)) for s in nodes])
    scaled = (nodes - t) / width
    vandermonde = scaled[None, :] ** np.arange(9)[:, None]
    moments = np.zeros(9)
    moments[order] = float(np.prod(np.arange(1, order + 1))) / width**order
    return np.asarray(np.linalg.solve(vandermonde, moments) @ values)


def normalised(expression: sp.Expr, scope: Scope) -> sp.Expr:
    """Identify the symbols of a user's SymPy expression with ours by name, as text would be."""
    table = {symbol: parse(symbol.name, scope) for symbol in expression.free_symbols}
    return expression.subs(table, simultaneous=True)
