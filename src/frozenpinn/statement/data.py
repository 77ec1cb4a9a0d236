"""Data of a problem (initial values, boundary values, exact solutions) as functions of points and time.

A datum is given as a number, text, a SymPy expression or a Python function; all four become the same
object, which can be evaluated at points, knows whether it changes in time, and can be differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

import numpy as np
import sympy as sp

from frozenpinn.errors import ExpressionError, FrozenPinnError, ProblemError, choices, warn
from frozenpinn.language.calculus import resolve_function_derivatives
from frozenpinn.language.functions import PointFunction, checked_values, place_of, real_number
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Program
from frozenpinn.language.steps import at_first, settled, switches_of
from frozenpinn.runtime.memo import remembered
from frozenpinn.tables import Table

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem


Array = np.ndarray


@dataclass(frozen=True)
class Multiple:
    """A multiple of a Python function."""

    factor: float
    function: Callable[..., Any]

    def __call__(self, *where: Any) -> Array:
        """Return the values."""
        return self.factor * np.asarray(self.function(*where))


@remembered
def _program(datum: Datum, expression: sp.Expr) -> Program:
    """Return a part of the expression of a datum, compiled."""
    return Program([expression], [*datum._scope.jets.x, datum._scope.jets.t], datum._functions)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Datum(PointFunction):
    """A function of space and time that belongs to a problem, and its derivatives."""

    def scaled(self, factor: sp.Number) -> Datum:
        """Return a multiple of this datum."""
        if self.function is None:
            return Datum(factor * self.expression, self._scope, self._functions, self.what)
        function = replace(self.function, function=Multiple(float(factor), self.function.function))
        return Datum(function, self._scope, self._functions, self.what)

    @property
    def time_symbol(self) -> sp.Symbol:
        """How time is called in the expression."""
        return self._scope.jets.t

    @property
    def coordinates(self) -> tuple[sp.Symbol, ...]:
        """How the coordinates are called in the expression."""
        return tuple(self._scope.jets.x)

    def part(self, expression: sp.Expr, x: Array) -> Array:
        """Evaluate a part of the expression that does not depend on time."""
        with np.errstate(all="ignore"):
            found = _program(self, expression)(*x.T, 0.0)[0]
            return checked_values(found, len(x), self.what, place_of(x, 0.0))

    def size_of_terms(self, x: Array, t: float) -> float:
        """Return how large the terms of a sum are, which leave round-off where they cancel; 0 for Python functions."""
        if self.expression is None:
            return 0.0
        try:
            parts = [self.part(term.subs(self.time_symbol, t), x) for term in sp.Add.make_args(self.expression)]
        except FrozenPinnError:
            return 0.0
        return float(np.max(np.sum(np.abs(parts), axis=0)))

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
        """Return ∂ₜ^order: exact for symbolic data and splines, by nine-point differences for Python functions."""
        if order == 0:
            return self(x, t)
        if not self.depends_on_time:
            return np.zeros(len(x))
        if self.function is not None and isinstance(self.function.function, Table):
            return replace(self.function, function=self.function.function.derivative(t=order)).at(x, t)
        symbolic = self._differentiated(order)
        if symbolic is not None:
            return symbolic(x, t)
        return _difference(lambda s: self(x, s), order, t, interval, self.what)

    @property
    def may_switch(self) -> bool:
        """Whether the value may jump or bend at certain times."""
        if self.expression is None:
            return self.depends_on_time
        return bool(switches_of(self.expression, self.time_symbol))

    def during(self, time: tuple[float, float]) -> Datum:
        """Return the same without steps in time, as it is while nothing switches."""
        if self.expression is None or not self.may_switch:
            return self
        return Datum(settled(self.expression, self.time_symbol, time), self._scope, self._functions, self.what)

    def soon(self, x: Array, time: tuple[float, float]) -> Array:
        """Return the values right after the start, whatever they are at that very moment."""
        if self.expression is None or not self.may_switch:
            return self(x, time[0])
        first = at_first(self.expression, self.time_symbol, time)
        return Datum(first, self._scope, self._functions, self.what)(x, time[0])

    @remembered
    def _differentiated(self, order: int) -> Datum | None:
        """Return the symbolic time derivative, or None for Python functions."""
        derivative = self.derivative(replace(self._scope.jets.field("u"), time=order))
        if derivative is None:
            return None
        if derivative.has(sp.DiracDelta):
            raise ProblemError(
                f"{self.what} jumps in time, at times that change from place to place or are too many, and its time "
                "derivative is needed; write a short smooth transition instead, such as (1 + tanh((t - x)/0.01))/2."
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


def probe_data(problem: Problem) -> None:
    """Call user functions once, so that mistakes in them show up here and not inside a solve."""
    x, start = problem.domain.sample(7, "random", rng=0).x, problem.time[0]
    for datum in (*problem.initial_data, *problem.exact.values()):
        datum(x, start)
    for condition in problem.conditions:
        condition.value(problem.domain.sample_side(condition.side, 3, "random", rng=0).x, start)
    for datum in problem.initial_data:
        if datum.depends_on_time and datum.expression is not None:
            raise ProblemError(f"{datum.what} depends on t; write it at t = {start:g}.")
    if problem.is_static:
        for datum in (*problem.exact.values(), *(condition.value for condition in problem.conditions)):
            if datum.depends_on_time:
                raise ProblemError(f"{datum.what} depends on t, but the problem has no time; write time=(0, 1).")


# ---- data from a solution -------------------------------------------------------------------------


class Solved(Protocol):
    """What is asked of a solution."""

    problem: Any

    def jet_values(self, x: Array, times: Array, jet: Jet) -> Array:
        """Return a derivative at points (n, d) and times (m,)."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One field of a solution, or its time derivative, at one time."""

    solution: Solved
    jet: Jet
    time: float

    def __call__(self, points: Array) -> Array:
        """Return the values at points (n, d)."""
        inside = self.solution.problem.domain.contains(points)
        if not np.all(inside):
            place = ", ".join(f"{c:g}" for c in points[int(np.argmin(inside))])
            raise ProblemError(
                f"the solution that the initial value is taken from does not reach ({place}): its domain is "
                f"{self.solution.problem.domain!r}."
            )
        return self.solution.jet_values(points, np.array([self.time]), self.jet)[:, 0]


def is_solved(given: object) -> TypeGuard[Solved]:
    """Whether something is a solution."""
    return callable(getattr(given, "jet_values", None)) and hasattr(given, "problem")


def continued(given: Any, fields: tuple[str, ...], second: tuple[str, ...]) -> tuple[Any, Mapping[str, Any] | None]:
    """Return initial values and velocities as functions if a solution is given for the first ones.

    Anything else is returned as it is, without velocities.
    """
    solution, time = _read(given)
    if solution is None:
        return given, None
    known = solution.problem.fields
    missing = [name for name in fields if name not in known]
    if missing:
        raise ProblemError(
            f"the initial value is a solution of {choices(known)}, which has no {choices(missing)}; write a dict by "
            "field, with functions such as lambda x: solution(x, 1.0, field='u')."
        )
    jets = solution.problem.jets
    values = {name: Snapshot(solution, jets.field(name), time) for name in fields}
    orders = {name: solution.problem.equation(name).order for name in second}
    if any(order < 1 for order in orders.values()):
        return values, None
    velocities = {name: Snapshot(solution, Jet(name, (0,) * jets.dimension, 0, 1), time) for name in second}
    return values, velocities or None


def _read(given: Any) -> tuple[Solved | None, float]:
    if is_solved(given):
        return given, float(given.problem.time[1])
    if isinstance(given, tuple | list) and len(given) == 2 and is_solved(given[0]):
        start, end = given[0].problem.time
        time = real_number(given[1])
        if time is None or not start <= time <= end:
            raise ProblemError(
                f"initial=(solution, t) needs a time between {start:g} and {end:g}, which the solution covers; got "
                f"{given[1]!r}."
            )
        return given[0], time
    return None, 0.0
