"""Data of a problem (initial values, boundary values, parameters) as functions of points and time.

A datum is given as a number, text, a SymPy expression or a Python function; all four become the same
object, which can be evaluated at points, knows whether it changes in time, and can be differentiated.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from numbers import Number
from typing import Any, TypeAlias, cast

import numpy as np
import sympy as sp

from frozenpinn.errors import (
    EvaluationError,
    ExpressionError,
    FrozenPinnError,
    ProblemError,
    choices,
    warn,
)
from frozenpinn.language.derivatives import resolve_function_derivatives
from frozenpinn.language.jets import TIME, Jet
from frozenpinn.language.lexer import shortened
from frozenpinn.language.parser import parse
from frozenpinn.language.program import Program
from frozenpinn.language.scope import Scope
from frozenpinn.language.sympy_input import from_sympy

Array = np.ndarray
Given: TypeAlias = float | str | sp.Expr | Callable[..., Any]
Place: TypeAlias = Callable[[int], str]  # describes the point with a given index, for error messages


def callable_arguments(
    function: Callable[..., Any], coordinates: Sequence[str], what: str, fields: Sequence[str] = ()
) -> tuple[str, ...]:
    """Decide with which coordinates a user's function is called, from its signature.

    Parameter names that are coordinates are taken literally: ``f(t)``, ``f(x, t)``, ``f(y)``. Otherwise
    the count decides: all coordinates and t, or all coordinates. ``("points",)`` and
    ``("points", "t")`` stand for the whole (n, d) array, used for ``f(points)`` and ``f(points, t)``,
    and in several dimensions for ``f(anything, t)``.
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
    if names in (["points"], ["points", TIME]):
        return tuple(names)
    if len(coordinates) > 1 and len(names) == 2 and names[1] == TIME and names[0] not in (*legal, *fields):
        return ("points", TIME)
    if any(name in fields for name in names):
        raise ProblemError(
            f"{what} is a function of the unknown {choices(name for name in names if name in fields)}; "
            f"Python functions take the coordinates {choices(legal)} only. Write other dependence in the equation."
        )
    library = str(getattr(function, "__module__", "")).startswith("numpy")  # np.ones_like has names of its own
    if len(legal) == 2 and len(names) == 1 and not library:  # x or t? Only the name can tell
        raise ProblemError(f"{what} is a function of '{names[0]}'; call the argument {' or '.join(map(repr, legal))}.")
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


def real_number(value: object) -> float | None:
    """Return a scalar of any numerical type as a float (NaN and ±inf too), or None for everything else."""
    if isinstance(value, complex | np.complexfloating) or not isinstance(value, Number | np.generic | np.ndarray):
        return None
    try:
        array = np.asarray(value)
        return float(value) if array.ndim == 0 and array.dtype.kind in "biufO" else None  # type: ignore[arg-type]
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return None


def called(function: Callable[..., Any], arguments: Sequence[Any], n: int, what: str, where: Place) -> Array:
    """Call a user's function for n points and check what it returns."""
    try:
        value = function(*arguments)
    except (FrozenPinnError, Warning):
        raise
    except Exception as error:
        raise EvaluationError(
            f"{what} failed for an array of {n} points with {type(error).__name__}: {error}. "
            "It is called with whole arrays: use NumPy functions such as np.sin."
        ) from error
    return checked_values(value, n, what, where)


def checked_values(value: Any, n: int, what: str, where: Place) -> Array:
    """Return ``value`` as n finite numbers or explain what a user's function did wrong."""
    array = _real_array(value, n, what)
    if array.ndim == 2 and array.shape == (n, 1):
        array = array[:, 0]
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.shape != (n,):
        raise EvaluationError(
            f"{what} returned an array of shape {array.shape} for {n} points; "
            f"expected shape ({n},) or one number. Use NumPy functions that work on arrays."
        )
    finite = np.isfinite(array)
    if not finite.all():
        bad = int(np.argmin(finite))
        raise EvaluationError(f"{what} is {array[bad]} at {where(bad)}; it must be finite everywhere.")
    return array


def _real_array(value: Any, n: int, what: str) -> Array:
    try:
        array = np.asarray(value)
        if array.dtype.kind in "biuf":
            return array.astype(float, copy=False)
        kind = "complex numbers" if array.dtype.kind == "c" else f"{type(value).__name__} with {array.dtype} entries"
        if array.dtype.kind == "O":  # Fraction, Decimal, large whole numbers
            return array.astype(float)
    except (TypeError, ValueError):
        kind = f"{type(value).__name__}: {shortened(repr(value))}"
    raise EvaluationError(f"{what} returned {kind}; expected {n} real numbers as a NumPy array.")


def place_of(x: Array, t: float) -> Place:
    """Return how error messages call the points of an array."""
    return lambda i: f"x = ({', '.join(f'{c:g}' for c in x[i])}), t = {t:g}"


def read_given(given: Given, scope: Scope, what: str) -> sp.Expr | None:
    """Read a number, text or SymPy expression into a checked expression; None means a Python function."""
    if isinstance(given, str):
        return parse(given, scope)
    if isinstance(given, sp.Basic):
        return from_sympy(given, scope, what)
    number = real_number(given)
    if number is not None:
        if not math.isfinite(number):
            raise ProblemError(f"{what} is {number}; it must be a finite number.")
        return sp.Integer(int(number)) if number == int(number) and abs(number) < 1e15 else sp.Float(number)
    if callable(given):
        return None
    raise ProblemError(
        f"{what} must be a finite number, text, a SymPy expression or a function of "
        f"{', '.join((*scope.jets.coordinates, TIME))}; got {type(given).__name__}: {shortened(repr(given))}."
    )


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
        value = read_given(given, scope, what)
        if value is None:
            self._callable = cast(Callable[..., Any], given)
            self._arguments = callable_arguments(self._callable, scope.jets.coordinates, what)
        else:
            self.expression = value
        if self.expression is not None:
            jets = scope.jets.jets_in(self.expression)
            if jets:
                raise ProblemError(f"{what} must not contain the unknown '{next(iter(jets))}'.")
            self._program = Program([self.expression], [*scope.jets.x, scope.jets.t], functions)

    @cached_property
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
        x = np.asarray(x, dtype=float)
        with np.errstate(all="ignore"):
            if self._callable is None:
                return checked_values(self._program(*x.T, t)[0], len(x), self.what, place_of(x, t))
            table: dict[str, Any] = {c: x[:, i] for i, c in enumerate(self._scope.jets.coordinates)}
            table |= {TIME: t, "points": x}
            arguments = [table[name] for name in self._arguments]
            return called(self._callable, arguments, len(x), self.what, place_of(x, t))

    def scaled(self, factor: sp.Number) -> Datum:
        """Return a multiple of this datum."""
        if self.expression is not None:
            return Datum(factor * self.expression, self._scope, self._functions, self.what)
        scaled, function, number = copy(self), cast(Callable[..., Any], self._callable), float(factor)
        scaled._callable = lambda *where: number * np.asarray(function(*where))
        scaled.given, scaled._derivatives = scaled._callable, {}
        return scaled

    @property
    def time_symbol(self) -> sp.Symbol:
        """How time is called in the expression."""
        return self._scope.jets.t

    def part(self, expression: sp.Expr, x: Array) -> Array:
        """Evaluate a part of the expression that does not depend on time."""
        program = Program([expression], [*self._scope.jets.x, self._scope.jets.t], self._functions)
        with np.errstate(all="ignore"):
            return checked_values(program(*x.T, 0.0)[0], len(x), self.what, place_of(x, 0.0))

    def derivative(self, jet: Jet) -> sp.Expr | None:
        """Return a derivative as an expression, or None if it is that of an unknown Python function."""
        if self.expression is None:
            return None
        derivative = self._scope.jets.differentiate(self.expression, jet)
        try:
            return resolve_function_derivatives(derivative, self._scope, ExpressionError)
        except ExpressionError:
            return None

    def time_derivative(self, order: int, x: Array, t: float, interval: tuple[float, float]) -> Array:
        """Return ∂ₜ^order: exact for symbolic data, by nine-point differences for Python functions."""
        if order == 0:
            return self(x, t)
        if not self.depends_on_time:
            return np.zeros(len(x))
        if order not in self._derivatives:
            self._derivatives[order] = self._differentiated(order)
        symbolic = self._derivatives[order]
        if symbolic is not None:
            return symbolic(x, t)
        return _difference(lambda s: self(x, s), order, t, interval, self.what)

    def _differentiated(self, order: int) -> Datum | None:
        """Return the symbolic time derivative, or None for Python functions."""
        derivative = self.derivative(replace(self._scope.jets.field("u"), time=order))
        if derivative is None:
            return None
        if derivative.has(sp.DiracDelta):
            raise ProblemError(
                f"{self.what} jumps in time, and its time derivative is needed; write a short smooth transition "
                "instead, such as (1 + tanh((t - 0.3)/0.01))/2."
            )
        return Datum(derivative, self._scope, self._functions, f"∂ₜ of {self.what}")


def _difference(
    function: Callable[[float], Array], order: int, t: float, interval: tuple[float, float], what: str
) -> Array:
    """Differentiate a function of time, with the widest stencil that resolves it.

    Stencils of decreasing width are compared until two agree; rapid data need a narrow one, smooth data a wide one,
    which suffers less from round-off.
    """
    duration = interval[1] - interval[0]
    widths = [duration * (2e-2 if order == 1 else 6e-2) / 4**k for k in range(5)]
    best, gap = _stencil(function, order, t, interval, widths[0]), np.inf
    wider = best
    for width in widths[1:]:
        narrower = _stencil(function, order, t, interval, width)
        change = float(np.max(np.abs(narrower - wider), initial=0.0))
        if change < gap:
            best, gap = wider, change
        if change <= 1e-9 * float(np.max(np.abs(wider), initial=0.0)):
            break
        wider = narrower
    typical = max(float(np.max(np.abs(function(s)), initial=0.0)) for s in (*interval, t)) / duration**order
    if gap > 1e-2 * max(float(np.max(np.abs(best), initial=0.0)), typical):
        warn(f"the time derivative of {what} is not resolved near t = {t:g} (a jump?); make it smooth or text.")
    return best


def _stencil(
    function: Callable[[float], Array], order: int, t: float, interval: tuple[float, float], width: float
) -> Array:
    """Differentiate by nine points of a given width that stay inside the interval."""
    start, end = interval
    first = min(max(t - width / 2, start), end - width)
    nodes = first + width * (1 - np.cos(np.pi * np.arange(9) / 8)) / 2
    values = np.stack([function(float(s)) for s in nodes])
    scaled = (nodes - t) / width
    vandermonde = scaled[None, :] ** np.arange(9)[:, None]
    moments = np.zeros(9)
    moments[order] = float(np.prod(np.arange(1, order + 1))) / width**order
    return np.asarray(np.linalg.solve(vandermonde, moments) @ values)
