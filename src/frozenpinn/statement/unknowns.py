"""Parameters that are to be found from measurements: numbers and fields, as symbols of a problem."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError, choices
from frozenpinn.language.functions import POINTS, UserFunction, real_number
from frozenpinn.language.jets import TIME, Jet, JetSpace
from frozenpinn.runtime.arguments import spelled

Array = np.ndarray


@spelled(ProblemError)
@dataclass(frozen=True)
class Unknown:
    """A number to be found from measurements by :func:`frozenpinn.infer`.

    Parameters
    ----------
    start
        A first guess.
    lower, upper
        What it lies between; None where nothing is known.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem("k*u_xx = -1", fp.Interval(0, 1), boundary="u = 0", parameters={"k": Unknown(1.0)})
    >>> data = fp.Measurements([0.25, 0.5, 0.75], [0.0470, 0.0624, 0.0468], noise=1e-4)
    >>> print(fp.infer(problem, data).parameters["k"])
    2.0009 ± 0.0022 (95 %: 1.9966 … 2.0052)
    """

    start: float
    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        for name in ("start", "lower", "upper"):
            given = getattr(self, name)
            if given is None and name != "start":
                continue
            number = real_number(given)
            if number is None or not math.isfinite(number):
                raise ProblemError(f"{name} of an Unknown must be a finite number, got {given!r}.")
            object.__setattr__(self, name, number)
        low, high = self.bounds
        if not low < high:
            raise ProblemError(f"an Unknown needs lower < upper, got lower={low:g} and upper={high:g}.")
        if not low <= self.start <= high:
            raise ProblemError(
                f"the start {self.start:g} of an Unknown lies outside its bounds {low:g} … {high:g}; write one between."
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """Both bounds, infinite where there is none."""
        return (-math.inf if self.lower is None else self.lower, math.inf if self.upper is None else self.upper)


@spelled(ProblemError)
@dataclass(frozen=True)
class UnknownField:
    """A function to be found from measurements by :func:`frozenpinn.infer`.

    Parameters
    ----------
    start
        A first guess, one number for all places.
    positive
        Whether it is positive everywhere; its logarithm is then looked for.
    of
        What it is a function of: ``"t"``, ``"x"`` or ``("x", "t")``; all coordinates of space if it is left out.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem(
    ...     "u_t = u_xx", fp.Interval(0, 1), (0, 1), 0, {"left": "u_n = q", "right": "u = 0"},
    ...     parameters={"q": UnknownField(of="t")},
    ... )
    >>> problem.parameters.unknown_fields
    ('q',)
    """

    start: float = 0.0
    positive: bool = False
    of: str | tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        own = (self.of,) if isinstance(self.of, str) else self.of
        fits = own is None or (
            isinstance(own, list | tuple) and own and all(isinstance(c, str) for c in own) and len(set(own)) == len(own)
        )
        if not fits:
            raise ProblemError(f"of= of an UnknownField is 't', 'x' or ('x', 't'), got {self.of!r}.")
        object.__setattr__(self, "of", None if own is None else tuple(own))
        number = real_number(self.start)
        if number is None or not math.isfinite(number):
            raise ProblemError(f"start of an UnknownField must be a finite number, got {self.start!r}.")
        object.__setattr__(self, "start", number)
        if self.positive and number <= 0:
            raise ProblemError(
                f"a positive UnknownField starts at a positive number, got start={number:g}; write UnknownField(1.0, "
                "positive=True) or another guess of its size."
            )

    @property
    def inner_start(self) -> float:
        """The first guess of what is looked for: the field or its logarithm."""
        return math.log(self.start) if self.positive else self.start

    def arguments(self, jets: JetSpace) -> tuple[str, ...]:
        """Return what it is a function of."""
        return jets.coordinates if self.of is None else tuple(self.of)


Inferable: TypeAlias = Unknown | UnknownField


@dataclass(frozen=True)
class Constant:
    """The same number at all points."""

    value: float

    def __call__(self, points: Array) -> Array:
        """Return the number once for each point."""
        return np.full(len(points), self.value)


@dataclass(frozen=True)
class Stacked:
    """A function of points, called with a column for each argument."""

    function: Callable[[Array], Array]

    def __call__(self, *columns: Array | float) -> Array:
        """Return the values; one number stands for all points."""
        return self.function(np.stack(np.broadcast_arrays(*map(np.atleast_1d, columns)), axis=1))


def inner_name(name: str, unknown: UnknownField) -> str:
    """Return the name of the function that is looked for: the field, or its logarithm if it is positive."""
    return f"log{name}" if unknown.positive else name


def field_words(name: str, unknown: UnknownField, jets: JetSpace) -> dict[str, tuple[int, ...]]:
    """Return the names of an unknown function and of its derivatives, with the order by each of its arguments."""
    field_order = 2  # highest derivative of an unknown field that equations may contain
    arguments, found = unknown.arguments(jets), {}
    for word in arguments:
        if word not in (*jets.coordinates, TIME):
            raise ProblemError(
                f"the unknown field '{name}' is a function of '{word}'; it may be one of "
                f"{choices((*jets.coordinates, TIME))}."
            )
    orders = [a for a in product(range(field_order + 1), repeat=len(arguments)) if sum(a) <= field_order]
    for order in sorted(orders, key=lambda a: (sum(a), a)):
        by = dict(zip(arguments, order, strict=True))
        jet = Jet(inner_name(name, unknown), tuple(by.get(c, 0) for c in jets.coordinates), 0, by.get(TIME, 0))
        found[jets.name(jet)] = order
    return found


def field_functions(name: str, unknown: UnknownField, jets: JetSpace) -> dict[str, UserFunction]:
    """Return the function that stands for a field at its start, and those for its derivatives."""
    return {
        word: as_function(Constant(0.0 if any(order) else unknown.inner_start), name, unknown, jets)
        for word, order in field_words(name, unknown, jets).items()
    }


def as_function(function: Callable[[Array], Array], name: str, unknown: UnknownField, jets: JetSpace) -> UserFunction:
    """Return a function of points, a column for each argument, in the form in which problems keep Python functions."""
    arguments = unknown.arguments(jets)
    if arguments == jets.coordinates:
        return UserFunction(function, f"the field '{name}'", jets.coordinates, (POINTS,))
    return UserFunction(Stacked(function), f"the field '{name}'", jets.coordinates, arguments)


def atoms(name: str, unknown: UnknownField, jets: JetSpace) -> list[sp.Expr]:
    """Return what stands for an unknown function and its derivatives in expressions."""
    symbols = {TIME: jets.t} | dict(zip(jets.coordinates, jets.x, strict=True))
    places = [symbols[word] for word in unknown.arguments(jets)]
    return [sp.Function(word, real=True)(*places) for word in field_words(name, unknown, jets)]


def field_expression(name: str, unknown: UnknownField, jets: JetSpace) -> sp.Expr:
    """Return what stands for a field in all texts."""
    inner = atoms(name, unknown, jets)[0]
    return sp.exp(inner) if unknown.positive else inner


def read_unknown(value: object, what: str) -> object:
    """Return an unknown that is written as a table, as problem files do: ``k = {start = 1.0, lower = 0.1}``.

    With ``field = true`` it is a field, which may be ``positive`` or a function ``of = "t"``. Anything else is
    returned as it is.
    """
    if not isinstance(value, Mapping) or not value:
        return value
    is_field = bool(value.get("field", False))
    known = ("start", "positive", "of") if is_field else ("start", "lower", "upper")
    for key in value:
        if key not in (*known, "field"):
            raise ProblemError(f"{what} is an unknown with '{key}'; it may have {choices(known)}, and field = true.")
    given = {key: value[key] for key in known if key in value}
    if isinstance(given.get("of"), list):
        given["of"] = tuple(given["of"])
    if "start" not in given:
        raise ProblemError(f"{what} is an unknown without a start; write for example {{start = 1.0}}.")
    return UnknownField(**given) if is_field else Unknown(**given)


def listed(inferred: Mapping[str, Inferable]) -> str:
    """Return the names of all unknowns for a message."""
    return ", ".join(f"'{name}'" for name in inferred)


def with_named(given: Mapping[str, object]) -> dict[str, object]:
    """Give unknowns that stand directly in initial data the names of parameters: ``initial=UnknownField()``."""
    found, parameters = dict(given), dict(given["parameters"])  # type: ignore[call-overload]
    for kind in ("initial", "initial_velocity"):
        value = found.get(kind)
        if isinstance(value, Mapping) and not _is_table(value):
            found[kind] = {f: _named(v, f"{kind}_{f}", parameters) for f, v in value.items()}
        elif isinstance(value, list | tuple):
            found[kind] = [_named(v, f"{kind}_{i + 1}", parameters) for i, v in enumerate(value)]
        else:
            found[kind] = _named(value, kind, parameters)
    return found | {"parameters": parameters}


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping) and "start" in value and set(value) <= {"start", "positive", "of", "field"}


def _named(value: object, name: str, parameters: dict[str, object]) -> object:
    value = read_unknown(value, name) if _is_table(value) else value
    if not isinstance(value, Unknown | UnknownField):
        return value
    if name in parameters:
        raise ProblemError(
            f"the unknown of {name.replace('_', ' ')} is called '{name}', which is a parameter already; rename that."
        )
    parameters[name] = value
    return name
