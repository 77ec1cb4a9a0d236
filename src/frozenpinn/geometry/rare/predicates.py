"""Texts and functions of the coordinates alone: comparisons that choose points, and level functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    def smooth_parts(self) -> tuple[SmoothPart, ...]:
        """The functions of which a text takes the largest or smallest; else the function itself."""
        whole = self._values.expression
        leaves = _leaves(whole)
        if len(leaves) < 2:
            return (SmoothPart(self, None),)
        found = []
        for leaf in leaves:
            least, most = (_with_leaf(whole, leaf, value) for value in (-sp.oo, sp.oo))
            margin = self._same(sp.Min(-least, most))
            found.append(SmoothPart(self._same(leaf), margin))
        return tuple(found)

    def _same(self, expression: Any) -> LevelFunction:
        return LevelFunction(expression, self._coordinates, self._what)

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


class CutLevel(LevelFunction):
    """A level function within a box: the largest of it and of the distances beyond the faces of the box."""

    def __init__(self, inner: LevelFunction, lower: Array, upper: Array) -> None:
        self._inner, self._lower, self._upper = inner, lower, upper
        self._coordinates, self._what = inner._coordinates, inner._what

    def __call__(self, x: Array) -> Array:
        """Return the values at points (n, d)."""
        return np.maximum(self._inner(x), np.max(self._beyond(x), axis=1))

    def _beyond(self, x: Array) -> Array:
        """Return the distances beyond each of the lower faces, then the upper ones; negative within."""
        return np.column_stack([self._lower - x, x - self._upper])

    @cached_property
    def smooth_parts(self) -> tuple[SmoothPart, ...]:
        """Those of the function, and the faces."""
        found = [SmoothPart(part.level, CutMargin(self, part.margin, None)) for part in self._inner.smooth_parts]
        ends = (*(f"{low!r} - {name}" for name, low in zip(self._coordinates, self._lower.tolist(), strict=True)),)
        ends += (*(f"{name} - ({high!r})" for name, high in zip(self._coordinates, self._upper.tolist(), strict=True)),)
        for number, face in enumerate(ends):
            found.append(SmoothPart(self._same(face), CutMargin(self, None, number)))
        return tuple(found)

    def gradient(self, x: Array, size: float) -> Array:
        """Return the gradient (n, d) of the largest part."""
        found = self._inner.gradient(x, size)
        beyond = self._beyond(x)
        face = np.argmax(beyond, axis=1)
        d = x.shape[1]
        rows = np.flatnonzero(beyond[np.arange(len(x)), face] > self._inner(x))
        found[rows] = np.where(face[rows] < d, -1.0, 1.0)[:, None] * np.eye(d)[face[rows] % d]
        return found


@dataclass(frozen=True)
class SmoothPart:
    """One of the smooth functions that make a level function.

    Attributes
    ----------
    level
        The function.
    margin
        Positive where its zero level bounds the region, negative beyond; None if it does everywhere.
    """

    level: LevelFunction
    margin: Callable[[Array], Array] | None


@dataclass(frozen=True)
class CutMargin:
    """Where the level of a part, or a face of the box, bounds a region that is cut by a box."""

    cut: CutLevel
    margin: Callable[[Array], Array] | None
    face: int | None

    def __call__(self, x: Array) -> Array:
        """Return the margin at points (n, d)."""
        beyond = self.cut._beyond(x)
        if self.face is None:
            within = -np.max(beyond, axis=1)
            return within if self.margin is None else np.minimum(within, self.margin(x))
        others = np.max(np.delete(beyond, self.face, axis=1), axis=1)
        return -np.maximum(others, self.cut._inner(x))


def _with_leaf(expression: Any, leaf: Any, value: Any) -> Any:
    """Return outer maxima and minima with one operand replaced."""
    if expression == leaf:
        return value
    if not isinstance(expression, sp.Max | sp.Min):
        return expression
    return expression.func(*(_with_leaf(operand, leaf, value) for operand in expression.args))


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
        self.given = given  # the last: a function explains why it can't be pickled

    def _chain(self, text: str, coordinates: Sequence[str]) -> list[tuple[LevelFunction, str, LevelFunction]]:
        signs = _COMPARE.findall(text)
        if not signs:
            raise ExpressionError(
                f"{self._what} is '{shortened(text.strip())}', which compares nothing; write for example 'x < 0.1'."
            )
        values = [LevelFunction(part, coordinates, self._what) for part in _COMPARE.split(text)]
        return [(values[i], sign, values[i + 1]) for i, sign in enumerate(signs)]

    def __call__(self, x: Array) -> Array:
        """Return for each point (n, d) whether it is chosen."""
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
