"""Functions of the coordinates as users give them: numbers, text, SymPy or Python functions, read and checked alike."""

from __future__ import annotations

import inspect
import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Number
from typing import Any, TypeAlias, cast

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.errors import EvaluationError, FrozenPinnError, ProblemError, choices
from frozenpinn.language.jets import TIME
from frozenpinn.language.lexer import shortened
from frozenpinn.language.parser import parse_value
from frozenpinn.language.program import Program
from frozenpinn.language.scope import POINT, Scope
from frozenpinn.language.sympy_input import value_from_sympy
from frozenpinn.language.values import Complex, Value, kind_of, pair
from frozenpinn.runtime.arguments import unmasked
from frozenpinn.runtime.arrays import is_finite

Array = np.ndarray
Given: TypeAlias = float | str | sp.Expr | Callable[..., Any]
Place: TypeAlias = Callable[[int], str]  # describes the point with a given index, for error messages
POINTS = "points"  # the name of an argument that takes all coordinates as one array


def read_given(given: Given, scope: Scope, what: str) -> sp.Expr | None:
    """Read a real number, text or SymPy expression into a checked expression; None means a Python function."""
    value = read_value(given, scope, what)
    if isinstance(value, Complex):
        raise ProblemError(
            f"{what} is complex, and a real number is needed here; write re(…), im(…) or abs2(…). A field is complex "
            "if its equation or its data are, or if complex=(…,) names it."
        )
    if isinstance(value, tuple):
        raise ProblemError(f"{what} is {kind_of(value)}, and a number is needed here.")
    return value


def read_value(given: Any, scope: Scope, what: str) -> Value | None:
    """Read a number, text, SymPy expression or a list of them into a checked value; None means a Python function."""
    if isinstance(given, str):
        return parse_value(given, scope)
    if isinstance(given, sp.Basic):
        return value_from_sympy(given, scope, what)
    if isinstance(given, complex | np.complexfloating):
        if not np.isfinite(given):
            raise ProblemError(f"{what} is {given}; it must be a finite number.")
        return pair(_number(float(given.real)), _number(float(given.imag)))
    number = real_number(given)
    if number is not None:
        if not math.isfinite(number):
            raise ProblemError(f"{what} is {number}; it must be a finite number.")
        return _number(number)
    if callable(given):
        return None
    raise ProblemError(
        f"{what} must be a finite number, text, a SymPy expression, an array or a function of "
        f"{', '.join(scope.legal)}; got {type(given).__name__}: {shortened(repr(given))}."
    )


def _number(number: float) -> sp.Expr:
    """Return a float as a SymPy number, whole numbers exactly."""
    return sp.Integer(int(number)) if number == int(number) and abs(number) < 1e15 else sp.Float(number)


def real_number(value: object) -> float | None:
    """Return a scalar of any numerical type as a float (NaN and ±inf too), or None for everything else."""
    if isinstance(value, bool | complex | np.complexfloating) or np.ma.is_masked(value):
        return None
    if not isinstance(value, Number | np.generic | np.ndarray):
        return None
    try:
        array = np.asarray(value)
        return float(value) if array.ndim == 0 and array.dtype.kind in "iufO" else None  # type: ignore[arg-type]
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return None


# ---- Python functions -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class UserFunction:
    """A Python function of a user: how messages call it, and with which of the coordinates it is called."""

    function: Callable[..., Any]
    what: str
    coordinates: tuple[str, ...]
    arguments: tuple[str, ...]

    @classmethod
    def read(
        cls,
        function: Callable[..., Any],
        coordinates: Sequence[str],
        what: str,
        fields: Sequence[str] = (),
        static: bool = False,
    ) -> UserFunction:
        """Find out how a function is called."""
        arguments = callable_arguments(function, coordinates, what, fields, static)
        return cls(function, what, tuple(coordinates), arguments)

    @property
    def names(self) -> tuple[str, ...]:
        """The coordinates it depends on."""
        whole = {POINTS: self.coordinates}
        return tuple(name for argument in self.arguments for name in whole.get(argument, (argument,)))

    def at(self, x: Array, t: float) -> Array:
        """Return the values at points (n, d) and one time."""
        table: dict[str, Any] = {c: x[:, i] for i, c in enumerate(self.coordinates)} | {TIME: t, POINTS: x}
        return self._called([table[name] for name in self.arguments], len(x), place_of(x, t))

    def on_grid(self, axes: Sequence[Array], x: Array, t: float) -> Array:
        """Return the values of a table at all points ``x`` of the grid of some axes, computed axis by axis."""
        given = dict(zip(self.coordinates, axes, strict=True)) | {TIME: np.array([t])}
        own = self.function.on_grid(given)  # type: ignore[attr-defined]
        order = sorted(range(own.ndim), key=lambda i: (*self.coordinates, TIME).index(self.names[i]))
        shape = [len(given[c]) if c in self.names else 1 for c in self.coordinates]
        whole = np.broadcast_to(own.transpose(order).reshape(shape), tuple(map(len, axes))).reshape(-1)
        return checked_values(whole, len(x), self.what, place_of(x, t))

    def __call__(self, *values: Any) -> Array:
        """Return the values for one number or array per name, as compiled programs ask for them."""
        n = max(np.size(value) for value in values)
        stacked = POINTS in self.arguments
        count = len(self.coordinates) if stacked else 0
        points = [np.stack([np.broadcast_to(column, n) for column in values[:count]], axis=1)] if stacked else []

        def where(i: int) -> str:
            place = [f"{np.broadcast_to(value, n)[i]:g}" for value in values]
            if stacked:
                return f"x = ({', '.join(place[:count])})"
            return ", ".join(f"{name} = {value}" for name, value in zip(self.names, place, strict=True))

        return self._called([*points, *values[count:]], n, where)

    def _called(self, arguments: Sequence[Any], n: int, where: Place) -> Array:
        try:
            value = self.function(*arguments)
        except (FrozenPinnError, Warning):
            raise
        except Exception as error:
            raise EvaluationError(
                f"{self.what} failed for an array of {n} points with {type(error).__name__}: {error}. "
                "It is called with whole arrays: use NumPy functions such as np.sin."
            ) from error
        return checked_values(value, n, self.what, where)

    def __deepcopy__(self, memo: object) -> UserFunction:
        return self

    def __getstate__(self) -> dict[str, Any]:
        try:
            pickle.dumps(self.function)
        except (pickle.PicklingError, AttributeError, TypeError):
            raise ProblemError(
                f"{self.what} is a Python function that can't be pickled (a lambda or a local function); "
                "define it at the top level of a module or write it as text."
            ) from None
        return self.__dict__


def callable_arguments(
    function: Callable[..., Any],
    coordinates: Sequence[str],
    what: str,
    fields: Sequence[str] = (),
    static: bool = False,
) -> tuple[str, ...]:
    """Decide with which coordinates a user's function is called, from its signature.

    Parameter names that are coordinates are taken literally: ``f(t)``, ``f(x, t)``, ``f(y)``. Otherwise
    the count decides: all coordinates and t, or all coordinates. ``("points",)`` and
    ``("points", "t")`` stand for the whole (n, d) array, used for ``f(points)`` and ``f(points, t)``,
    and in several dimensions for ``f(anything, t)``. There is no t where ``static``.
    """
    legal = tuple(coordinates) if static else (*coordinates, TIME)
    own = getattr(function, "coordinate_names", None)  # of a table
    if own is not None and all(name in legal for name in own):
        return tuple(own)
    told = _required(function)
    names, count = told or [], getattr(function, "nin", len(legal)) if told is None else len(told)
    if static and TIME in names:
        raise ProblemError(f"{what} depends on t, but the problem has no time; its arguments are {choices(legal)}.")
    if names and all(name in legal for name in names):
        return tuple(names)
    if names in ([POINTS], [POINTS, TIME]):
        return tuple(names)
    if len(coordinates) > 1 and len(names) == 2 and names[1] == TIME and names[0] not in (*legal, *fields):
        return (POINTS, TIME)
    if any(name in fields for name in names):
        raise ProblemError(
            f"{what} is a function of the unknown {choices(name for name in names if name in fields)}; "
            f"Python functions take the coordinates {choices(legal)} only. Write other dependence in the equation."
        )
    library = str(getattr(function, "__module__", "")).startswith("numpy")  # np.ones_like has names of its own
    if len(legal) == 2 > len(coordinates) and len(names) == 1 and not library:  # only the name distinguishes x from t
        raise ProblemError(f"{what} is a function of '{names[0]}'; call the argument {' or '.join(map(repr, legal))}.")
    if count == len(legal):
        return legal
    if count == len(coordinates):
        return tuple(coordinates)
    if len(coordinates) > 1 and count in ((1,) if static else (1, 2)):
        return (POINTS, TIME)[:count]
    raise ProblemError(
        f"{what} is a function of {count} arguments; write it with arguments named after {choices(legal)}, "
        f"for example `lambda {', '.join(legal)}: …`."
    )


def _required(function: Callable[..., Any]) -> list[str] | None:
    """Return the names of the required arguments of a function; None if it has no signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # NumPy ufuncs and other builtins have no signature
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in positional and p.default is p.empty]


@dataclass(frozen=True, eq=False)
class ChartedFunction:
    """A Python function of the coordinates of a text, called with those that are solved in."""

    own: UserFunction
    places: Program

    def __call__(self, points: Array, t: float = 0.0) -> Array:
        """Return the values at points (n, d)."""
        with np.errstate(all="ignore"):
            columns = [np.broadcast_to(column, len(points)) for column in self.places(*points.T)]
        return self.own.at(np.stack(columns, axis=1), t)


def _charted(function: UserFunction, scope: Scope) -> UserFunction:
    places = Program([scope.coordinate(name) for name in scope.chart.names], scope.jets.x)
    arguments = (POINTS, TIME) if TIME in function.arguments else (POINTS,)
    return UserFunction(ChartedFunction(function, places), function.what, scope.jets.coordinates, arguments)


# ---- both alike -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, init=False, repr=False)
class PointFunction:
    """A scalar function of space and time with one calling convention, ``function(x, t) -> (n,)``.

    Parameters
    ----------
    given
        Number, text, SymPy expression or Python function.
    scope
        Names that a text may use (parameters, coordinates).
    functions
        Python functions for the names in ``scope.functions``, and numbers for parameters that stay symbols.
    what
        How error messages call this function, e.g. ``"the initial value of u"``.
    """

    what: str
    expression: sp.Expr | None
    function: UserFunction | None
    _scope: Scope
    _functions: Mapping[str, Any]

    def __init__(self, given: Given, scope: Scope, functions: Mapping[str, Any], what: str = "the value") -> None:
        expression = read_given(given, scope, what)
        function = None
        if isinstance(given, UserFunction):
            function = given
        elif expression is None:
            own = cast(Callable[..., Any], given)
            function = UserFunction.read(own, scope.chart.names, what, static=scope.static)
            if scope.own_chart is not None:
                function = _charted(function, scope)
        elif any(f.func == POINT for f in expression.atoms(AppliedUndef)):
            raise ProblemError(
                f"{what} contains delta(…), which stands in equations only, as a source; write a narrow Gaussian."
            )
        elif jets := scope.jets.jets_in(expression):
            raise ProblemError(f"{what} must not contain the unknown '{next(iter(jets))}'.")
        vars(self).update(what=what, expression=expression, function=function, _scope=scope, _functions=functions)

    @cached_property
    def _program(self) -> Program:
        return Program([self.expression], [*self._scope.jets.x, self._scope.jets.t], self._functions)

    @cached_property
    def is_formula(self) -> bool:
        """Whether no Python function is called."""
        return self.expression is not None and not self.expression.atoms(AppliedUndef)

    @property
    def scope(self) -> Scope:
        """The names that its text may use."""
        return self._scope

    @property
    def functions(self) -> Mapping[str, Any]:
        """Python functions and numbers behind the names in it."""
        return self._functions

    @property
    def source(self) -> object:
        """The expression or the Python function: equal for what was given alike."""
        return self.expression if self.function is None else self.function.function

    @cached_property
    def depends_on_time(self) -> bool:
        """Whether the value may change in time."""
        if self.expression is not None:
            return self._scope.jets.t in self.expression.free_symbols
        return self.function is not None and TIME in self.function.arguments

    @property
    def is_zero(self) -> bool:
        """Whether the value is identically zero."""
        return self.expression is not None and self.expression == 0

    def __call__(self, x: Array, t: float = 0.0) -> Array:
        """Evaluate at points ``x`` of shape (n, d) and one time."""
        x = np.asarray(x, dtype=float)
        with np.errstate(all="ignore"):
            if self.function is not None:
                return self.function.at(x, t)
            values = np.asarray(self._program(*x.T, t)[0])
            values = values[0] if values.shape == (1,) else values  # of a Python function of time alone
            return checked_values(values, len(x), self.what, place_of(x, t))

    def on_grid(self, axes: Sequence[Array], x: Array, t: float = 0.0) -> Array:
        """Evaluate at all points ``x`` of the grid of some axes; parts of one coordinate are computed along it."""
        if self.function is not None and hasattr(self.function.function, "on_grid"):
            return self.function.on_grid(axes, x, t)
        if not self.is_formula:
            return self(x, t)  # Python functions may rely on getting one value for each point
        mesh = np.meshgrid(*axes, indexing="ij", sparse=True)
        with np.errstate(all="ignore"):
            values = self._program(*mesh, t)[0]
        whole = np.broadcast_to(values, tuple(map(len, axes))).reshape(-1)
        return checked_values(whole, len(x), self.what, place_of(x, t))


# ---- values ---------------------------------------------------------------------------------------


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
    if not is_finite(array):
        bad = int(np.argmin(np.isfinite(array)))
        raise EvaluationError(f"{what} is {array[bad]} at {where(bad)}; it must be finite everywhere.")
    return array


def _real_array(value: Any, n: int, what: str) -> Array:
    value = unmasked(value, f"{what} returns a number for each point", EvaluationError)
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
