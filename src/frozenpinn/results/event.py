"""Events: when a condition such as ``max(u) > 1`` first holds, found on a solution to its accuracy, with an error."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError, SettingsError, choices, suggestion
from frozenpinn.geometry.box import Box
from frozenpinn.language.jets import Jet
from frozenpinn.language.parser import parse
from frozenpinn.language.program import constant_value
from frozenpinn.results.expressions import Expression
from frozenpinn.results.integrals import SAFETY, Number, measured
from frozenpinn.results.quantity import KINDS, Goal, Quantity
from frozenpinn.runtime.arguments import shown

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
Measure = Callable[["Solution", Array, bool], Array]  #: numbers at some times, roughly or as well as possible
Condition = Callable[[float, "Moment"], float]  #: of a time and a state, positive where to stop
EXTREMES = ("max", "min")
_CALL = re.compile(r"\s*([^\W\d]\w*)\s*\((.*)\)\s*", re.S)
_EXAMPLE = 'write for example stop="max(u) > 1" or stop="integral(u^2) < 0.1"'
_TIMES = 256  # parts of the time, in each of which a condition begins to hold at most once
_PLACES = {1: 1025, 2: 1024}  # where extremes are looked for first; 4096 beyond
_FINEST = 1e-13  # part of the time to which a root is found


class Moment:
    """A solution at one time, called like a static one: ``state(x)``, ``state("u_x", x)``, ``state.integral("u")``."""

    def __init__(self, solution: Solution, t: float) -> None:
        self.solution, self.t = solution, float(t)

    def __repr__(self) -> str:
        return f"Moment(t = {self.t:g} of {self.solution!r})"

    def __call__(self, *where: Any, **options: Any) -> Array:
        """Evaluate a field, a derivative or an expression at places."""
        return np.asarray(self.solution(*where, self.t, **options))

    def integral(self, expression: Any = None, **options: Any) -> Any:
        """Integrate over the domain, a part, a side or a curve."""
        return self.solution.integral(expression, t=self.t, **options)

    def mean(self, expression: Any = None, **options: Any) -> Any:
        """Return the mean over the domain, a part, a side or a curve."""
        return self.solution.mean(expression, t=self.t, **options)


@dataclass(frozen=True, eq=False)
class Stop:
    """A condition that ends a solve when it first holds: where ``measure`` is positive.

    Attributes
    ----------
    text
        How it was written.
    measure
        What is positive where it holds.
    left, sense, right
        The number that is compared, how (1 for >, −1 for <), and with what; nothing for Python functions.
    """

    text: str
    measure: Measure
    left: str = ""
    sense: float = 1.0
    right: float = 0.0

    @classmethod
    def read(cls, given: Any, problem: Problem) -> Stop:
        """Read a text such as ``max(u) > 1``, or a Python function of a time and a state."""
        if callable(given):
            return cls(getattr(given, "__name__", "the function"), _of_function(given))
        if not isinstance(given, str):
            raise SettingsError(f"stop is a condition; {_EXAMPLE}. Got {shown(given)}.")
        pieces = _compared(given)
        if len(pieces) != 3:
            raise SettingsError(f"stop='{given}' is not one comparison; {_EXAMPLE}.")
        left, sign, right = (piece.strip() for piece in pieces)
        sense = 1.0 if sign == ">" else -1.0
        limit, measure = _limit(given, right, problem), _number(given, left, problem)

        def above(solution: Solution, times: Array, fine: bool) -> Array:
            return np.asarray(sense * (measure(solution, times, fine) - limit))

        return cls(given, above, left, sense, limit)

    def refuse_start(self, problem: Problem) -> None:
        """Refuse a condition that holds at the start already, as far as initial data alone tell."""
        try:
            start = self.measure(_Start(problem), np.array([problem.time[0]]), True)[0]  # type: ignore[arg-type]
        except _UnknownError:
            return
        if start > 0:
            raise self._at_start(start, problem)

    def _at_start(self, start: float, problem: Problem) -> SettingsError:
        known = f": {self.left} is {self.right + self.sense * start:.6g} there" if self.left else ""
        return SettingsError(f"stop='{self.text}' holds at the start already, at t = {problem.time[0]:g}{known}.")

    def first(self, solution: Solution) -> float | None:
        """Return when it first holds; None if it never does."""
        from scipy.optimize import brentq

        problem = solution.problem
        times = np.linspace(*problem.time, _TIMES + 1)
        values = self._checked(solution, times, False)
        if self.fine(solution, times[0]) > _FINEST * max(1.0, float(np.ptp(values))) and values[0] > 0:
            raise self._at_start(values[0], problem)
        bracket = self._bracket(solution, times, values)
        if bracket is None:
            return None
        before, after = bracket
        if self.fine(solution, before) >= 0:
            return float(before)
        tolerance = _FINEST * (problem.time[1] - problem.time[0])
        return float(brentq(lambda t: self.fine(solution, t), before, after, xtol=tolerance, rtol=1e-15))

    def fine(self, solution: Solution, t: float) -> float:
        """Return the measure at a time as well as possible."""
        return float(self._checked(solution, np.array([t]), True)[0])

    def _checked(self, solution: Solution, times: Array, fine: bool) -> Array:
        values = self.measure(solution, times, fine)
        if not np.all(np.isfinite(values)):
            t = times[int(np.argmax(~np.isfinite(values)))]
            raise EvaluationError(f"stop='{self.text}' is not a finite number at t = {t:g}.")
        return values

    def _bracket(self, solution: Solution, times: Array, values: Array) -> tuple[float, float] | None:
        """Return times between which it begins to hold: also where it holds between two times only."""
        nearly = 0.05  # part of its range below which a maximum between two times may be positive
        from scipy.optimize import minimize_scalar

        near = nearly * float(np.ptp(values))
        for k in range(1, len(times)):
            if self._holds(solution, times[k], values[k], near):
                start = k - 1
                while start > 0 and self.fine(solution, times[start]) > 0:
                    start -= 1
                return float(times[start]), float(times[k])
            inner = k - 1 > 0 and values[k - 1] >= max(values[k - 2], values[k]) and values[k - 1] > -near
            if inner:
                found = minimize_scalar(
                    lambda t: -self.fine(solution, t), bounds=(times[k - 2], times[k]), method="bounded"
                )
                if found.fun < 0:
                    return float(times[k - 2]), float(found.x)
        return None

    def _holds(self, solution: Solution, t: float, rough: float, near: float) -> bool:
        """Whether it holds at a time; rough extremes are a little too small, or too large for minima."""
        return bool(rough > -1e-3 * near and self.fine(solution, t) > 0)

    def of(self, solution: Solution, rtol: float = 1e-9) -> Goal | None:
        """Return when it first holds, with an error from the second solution; None if it never does."""
        t = self.first(solution)
        if t is None:
            return None
        other = None if solution.witness is None else self.first(solution.witness)
        start, end = solution.problem.time
        error = float("nan")
        if solution.witness is not None:
            error = float("inf") if other is None else SAFETY * abs(t - other) + _FINEST * (end - start)
        return Goal(f"the time of {self.text}", Number.of(t, error), max(abs(t), t - start), beside=True)

    def missed(self, solution: Solution) -> str:
        """Say how near a condition that never holds has come."""
        times = np.linspace(*solution.problem.time, _TIMES + 1)
        values = self.measure(solution, times, False)
        at = int(np.argmax(values))
        extreme = "largest" if self.sense > 0 else "smallest"
        value = self.right + self.sense * values[at]
        known = f"; the {extreme} value of {self.left} is {value:.6g}, at t = {times[at]:.6g}"
        return f"'{self.text}' never holds until t = {times[-1]:g}{known if self.left else ''}."


# ---- what is compared -------------------------------------------------------------------------------------


def _compared(text: str) -> list[str]:
    """Split a comparison outside of parentheses and quotes into its two sides and the sign between them."""
    parts, depth, quote = [""], 0, ""
    for c in text:
        quote = "" if c == quote else c if c in "'\"" and not quote else quote
        depth += 0 if quote else {"(": 1, "[": 1, ")": -1, "]": -1}.get(c, 0)
        if c in "<>" and not depth and not quote:
            parts += [c, ""]
        elif not (c == "=" and len(parts) > 1 and not parts[-1]):
            parts[-1] += c
    return parts


def _limit(text: str, right: str, problem: Problem) -> float:
    parameters = problem.parameters
    value = parse(right, parameters.scope(problem.jets)).subs(dict(parameters.constants))
    if not value.is_number:
        raise SettingsError(f"stop='{text}': the right-hand side, {right}, is no number; {_EXAMPLE}.")
    return float(constant_value(value))


def _number(text: str, left: str, problem: Problem) -> Measure:
    """Return what the left-hand side of a comparison stands for."""
    call, known = _CALL.fullmatch(left), (*EXTREMES, *KINDS)
    if call is None:
        raise SettingsError(
            f"stop='{text}' compares {left}, which is no single number; {_EXAMPLE}, or with one of {choices(known)}."
        )
    if call[1] not in known:
        raise SettingsError(
            f"stop='{text}': '{call[1]}' is not one of {choices(known)}; {_EXAMPLE}.{suggestion(call[1], known)}"
        )
    if call[1] in EXTREMES:
        expression = Expression.read(problem, call[2])
        if expression.shape or expression.is_complex:
            raise SettingsError(f"stop='{text}' takes the {call[1]} of what is no real number; take abs(…) of it.")
        return _extreme(expression, 1.0 if call[1] == "max" else -1.0)
    quantity = Quantity.read(left, problem)
    if quantity.t is not None:
        raise SettingsError(f"stop='{text}': leave t= out; when the condition holds is what is looked for.")
    kind = "mean" if quantity.kind == "mean" else "integral"

    def measure(solution: Solution, times: Array, fine: bool) -> Array:
        found, _ = measured(
            solution, quantity.expression, quantity.rules(solution), times, 1e-11 if fine else 1e-6, kind
        )
        return np.real(found.values)

    return measure


def _of_function(function: Callable[[float, Moment], Any]) -> Measure:
    def measure(solution: Solution, times: Array, fine: bool) -> Array:
        found = []
        for t in times:
            value = function(float(t), Moment(solution, t))
            if np.ndim(value) or isinstance(value, str) or np.iscomplexobj(value):
                raise SettingsError(
                    "stop is a function of (t, state) that returns a number, positive where to stop; it returned "
                    f"{shown(value)}."
                )
            found.append(float(value))
        return np.array(found)

    return measure


def _extreme(expression: Expression, sign: float) -> Measure:
    """Return the largest or smallest value over the domain."""

    def measure(solution: Solution, times: Array, fine: bool) -> Array:
        places = _places(solution.problem)
        values = sign * expression.outer(solution, places, times)
        if not fine:
            return np.asarray(sign * np.max(values, axis=0))
        return np.array(
            [
                sign * _refined(solution, expression, sign, places, own, t)
                for own, t in zip(values.T, times, strict=True)
            ]
        )

    return measure


def _places(problem: Problem) -> Array:
    domain = problem.domain
    if domain.dimension == 1:
        return np.linspace(domain.lower[0], domain.upper[0], _PLACES[1])[:, None]
    sides = [domain.sample_side(side, 64).x for side in domain.sides]
    return np.concatenate([domain.sample(_PLACES.get(domain.dimension, 4096), "sobol", 0).x, *sides])


def _refined(solution: Solution, expression: Expression, sign: float, places: Array, values: Array, t: float) -> float:
    """Return the largest value near the best of many places."""
    from scipy.optimize import minimize, minimize_scalar

    domain, best = solution.problem.domain, int(np.argmax(values))

    def lost(x: Array) -> float:
        x = np.clip(x, domain.lower, domain.upper)
        if not isinstance(domain, Box) and not domain.contains(x[None])[0]:
            return float("inf")
        return -sign * float(expression.outer(solution, x[None], np.array([t]))[0, 0])

    if domain.dimension == 1:
        low, high = places[max(best - 1, 0), 0], places[min(best + 1, len(places) - 1), 0]
        found = minimize_scalar(
            lambda x: lost(np.array([x])), bounds=(low, high), method="bounded", options={"xatol": 1e-9 * (high - low)}
        )
        return max(float(values[best]), -float(found.fun))
    spacing = domain.lengths / len(places) ** (1.0 / domain.dimension)
    simplex = places[best] + np.vstack([np.zeros(domain.dimension), np.diag(spacing)])
    options = {
        "initial_simplex": simplex,
        "xatol": 1e-8 * float(np.max(domain.lengths)),
        "fatol": 1e-15,
        "maxiter": 200,
    }
    return max(float(values[best]), -float(minimize(lost, places[best], method="Nelder-Mead", options=options).fun))


class _UnknownError(Exception):
    """A start does not tell what is asked for."""


class _Start:
    """The initial data of a problem, as far as conditions ask for them."""

    witness = None
    error_estimate = None

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def jet_values(self, x: Array, times: Array, jet: Jet) -> Array:
        """Return a field at points; its derivatives are not known."""
        if jet.order or jet.time or jet.field not in self.problem.initial:
            raise _UnknownError
        return self.problem.initial[jet.field](x, float(times[0]))[:, None]

    def __call__(self, *where: Any, **options: Any) -> Array:
        raise _UnknownError

    integral = mean = __call__
