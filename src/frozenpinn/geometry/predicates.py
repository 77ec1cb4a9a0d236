"""Texts and functions of the coordinates alone: comparisons that choose points, and level functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from frozenpinn.errors import EvaluationError, ExpressionError, ProblemError
from frozenpinn.language.functions import PointFunction, UserFunction
from frozenpinn.language.jets import TIME, JetSpace
from frozenpinn.language.lexer import shortened
from frozenpinn.language.program import Program
from frozenpinn.language.scope import Scope

Array = np.ndarray
_AND = re.compile(r"&&?|\band\b")
_COMPARE = re.compile(r"<=|>=|<|>")
_COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


class LevelFunction:
    """A scalar function of points with its gradient, from text or a NumPy function of the coordinates."""

    def __init__(self, given: Any, coordinates: Sequence[str], what: str) -> None:
        scope = Scope(JetSpace(coordinates))
        self._coordinates, self._what = tuple(coordinates), what
        self._values = PointFunction(given, scope, {}, what)
        if self._values.depends_on_time:
            raise ProblemError(f"{what} depends on t, but domains don't move in time; use the coordinates only.")
        self._gradient: Program | None = None
        if self._values.expression is not None:
            slopes = [sp.diff(self._values.expression, x) for x in scope.jets.x]
            self._gradient = Program(slopes, [*scope.jets.x, scope.jets.t])

    def __call__(self, x: Array) -> Array:
        """Return the values at points (n, d)."""
        return self._values(x, 0.0)

    @cached_property
    def smooth_parts(self) -> tuple[LevelFunction, ...]:
        """The functions of which a text takes the largest or smallest; the function itself if it is not of that form."""
        leaves = _leaves(self._values.expression)
        if len(leaves) < 2:
            return (self,)
        return tuple(LevelFunction(leaf, self._coordinates, self._what) for leaf in leaves)

    def gradient(self, x: Array, size: float) -> Array:
        """Return the gradient (n, d): of the formula, or by central differences with steps of 1e-5 of ``size``."""
        if self._gradient is not None:
            with np.errstate(all="ignore"):
                return np.column_stack([np.broadcast_to(g, len(x)) for g in self._gradient(*x.T, 0.0)]).astype(float)
        step = 1e-5 * size
        columns = []
        for shift in step * np.eye(x.shape[1]):
            columns.append((self(x + shift) - self(x - shift)) / (2.0 * step))
        return np.column_stack(columns)


def _leaves(expression: Any) -> list[Any]:
    """Return the operands of all outer maxima and minima, each once."""
    if not isinstance(expression, sp.Max | sp.Min):
        return [expression]
    found = [leaf for operand in expression.args for leaf in _leaves(operand)]
    return sorted(dict.fromkeys(found), key=sp.default_sort_key)


class Comparison:
    """A choice of points: text such as ``"0 < x < 1 and y >= 2"``, or a function that returns booleans."""

    def __init__(self, given: Any, coordinates: Sequence[str], what: str) -> None:
        self._what = what
        self._tests: list[tuple[LevelFunction, str, LevelFunction]] = []
        self._function: UserFunction | None = None
        if callable(given):
            self._function = UserFunction.read(given, coordinates, what)
            if TIME in self._function.arguments:
                raise ProblemError(f"{what} depends on t, but sides don't move in time; use the coordinates only.")
        elif isinstance(given, str):
            self._tests = [test for part in _AND.split(given) for test in self._chain(part, coordinates)]
        else:
            raise ProblemError(
                f"{what} is a comparison such as 'x < 0.1' or a function of the coordinates, "
                f"got {type(given).__name__}: {shortened(repr(given))}."
            )
        self.given = given  # the last: a function that can't be pickled says so before

    def _chain(self, text: str, coordinates: Sequence[str]) -> list[tuple[LevelFunction, str, LevelFunction]]:
        signs = _COMPARE.findall(text)
        if not signs:
            raise ExpressionError(
                f"{self._what} is '{shortened(text.strip())}', which compares nothing; write for example 'x < 0.1'."
            )
        values = [LevelFunction(part, coordinates, self._what) for part in _COMPARE.split(text)]
        return [(values[i], sign, values[i + 1]) for i, sign in enumerate(signs)]

    def __call__(self, x: Array) -> Array:
        """Tell for each point (n, d) whether it is chosen."""
        if self._function is not None:
            return self._chosen(self._function.at(x, 0.0))
        found = np.ones(len(x), dtype=bool)
        for left, sign, right in self._tests:
            found &= _COMPARISONS[sign](left(x), right(x))
        return found

    def _chosen(self, values: Array) -> Array:
        if not np.all((values == 0) | (values == 1)):
            bad = values[int(np.argmax((values != 0) & (values != 1)))]
            raise EvaluationError(f"{self._what} returned {bad:g}; it must return True or False for each point.")
        return values.astype(bool)
