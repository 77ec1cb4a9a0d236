"""Parameters that are to be found from measurements: numbers and fields, as symbols of a problem."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError, choices
from frozenpinn.language.functions import POINTS, UserFunction, real_number
from frozenpinn.language.jets import Jet, JetSpace

Array = np.ndarray
FIELD_ORDER = 2  #: highest derivative of an unknown field that equations may contain


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

    @property
    def is_bounded(self) -> bool:
        """Whether it has both bounds."""
        return self.lower is not None and self.upper is not None


@dataclass(frozen=True)
class UnknownField:
    """A function of the coordinates to be found from measurements by :func:`frozenpinn.infer`.

    Parameters
    ----------
    start
        A first guess, one number for all places.
    positive
        Whether it is positive everywhere; its logarithm is then looked for.
    """

    start: float = 0.0
    positive: bool = False

    def __post_init__(self) -> None:
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


Inferable: TypeAlias = Unknown | UnknownField


@dataclass(frozen=True)
class Constant:
    """The same number at all points."""

    value: float

    def __call__(self, points: Array) -> Array:
        """Return the number once for each point."""
        return np.full(len(points), self.value)


def inner_name(name: str, unknown: UnknownField) -> str:
    """Return the name of the function that is looked for: the field, or its logarithm if it is positive."""
    return f"log{name}" if unknown.positive else name


def field_jets(name: str, jets: JetSpace) -> dict[str, Jet]:
    """Return the names of a function of the coordinates and of its derivatives."""
    orders = [a for a in product(range(FIELD_ORDER + 1), repeat=jets.dimension) if sum(a) <= FIELD_ORDER]
    found = [Jet(name, alpha) for alpha in sorted(orders, key=lambda a: (sum(a), a))]
    return {jets.name(jet): jet for jet in found}


def field_functions(name: str, unknown: UnknownField, jets: JetSpace) -> dict[str, UserFunction]:
    """Return the function that stands for a field at its start, and those for its derivatives."""
    inner = inner_name(name, unknown)
    return {
        word: as_function(Constant(0.0 if jet.order else unknown.inner_start), name, jets)
        for word, jet in field_jets(inner, jets).items()
    }


def as_function(function: object, name: str, jets: JetSpace) -> UserFunction:
    """Return a function of points (n, d) in the form in which problems keep Python functions."""
    return UserFunction(function, f"the field '{name}'", jets.coordinates, (POINTS,))  # type: ignore[arg-type]


def field_expression(name: str, unknown: UnknownField, jets: JetSpace) -> sp.Expr:
    """Return what stands for a field in all texts."""
    inner = sp.Function(inner_name(name, unknown), real=True)(*jets.x)
    return sp.exp(inner) if unknown.positive else inner


def read_unknown(value: object, what: str) -> object:
    """Return an unknown that is written as a table, as problem files do: ``k = {start = 1.0, lower = 0.1}``.

    With ``field = true`` it is a field, which may be ``positive``. Anything else is returned as it is.
    """
    if not isinstance(value, Mapping) or not value:
        return value
    is_field = bool(value.get("field", False))
    known = ("start", "positive") if is_field else ("start", "lower", "upper")
    for key in value:
        if key not in (*known, "field"):
            raise ProblemError(f"{what} is an unknown with '{key}'; it may have {choices(known)}, and field = true.")
    given = {key: value[key] for key in known if key in value}
    if "start" not in given:
        raise ProblemError(f"{what} is an unknown without a start; write for example {{start = 1.0}}.")
    return UnknownField(**given) if is_field else Unknown(**given)


def listed(inferred: Mapping[str, Inferable]) -> str:
    """Return the names of all unknowns for a message."""
    return ", ".join(f"'{name}'" for name in inferred)
