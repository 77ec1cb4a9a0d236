"""Problems as plain data: the same dictionary serves TOML files, JSON in stored solutions, and tests.

equation = "u_t + u*u_x = nu*u_xx"        # text, or a list, or a table by field
time = [0, 1]                             # left out, with initial, for a static problem
initial = "-sin(pi*x)"                    # number or text, or a table by field
boundary = "u = 0"                        # text, a list of texts, or a table by side

[domain]                                  # a box, or another shape by its kind: kind = "disk", radius = 2
lower = [-1]
upper = [1]
periodic = [false]

[parameters]
nu = 0.0031830988618

An eigenvalue problem names its unknown number: eigenvalue = "lam".
Values in a file, whose path begins at the folder of the document: initial = {file = "start.csv", smooth = true}.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, NoReturn

import numpy as np
import sympy as sp

from frozenpinn.errors import EvaluationError, ProblemError, choices, suggestion
from frozenpinn.geometry import Domain
from frozenpinn.geometry.documents import domain_from_dict, domain_to_dict
from frozenpinn.language.jets import JetSpace
from frozenpinn.language.printer import as_text
from frozenpinn.runtime.arguments import shown
from frozenpinn.statement.composites import Composites
from frozenpinn.statement.conditions import Condition, Dirichlet, Free, Neumann, Periodic, Robin
from frozenpinn.statement.eigenvalue import Eigenvalue
from frozenpinn.statement.frames import Frame
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.tables import is_table_document, table_from_dict, table_to_dict
from frozenpinn.tables import Table

__all__ = ["domain_from_dict", "domain_to_dict", "problem_from_dict", "problem_to_dict"]
Array = np.ndarray
KEYS = (
    "equation",
    "domain",
    "time",
    "initial",
    "boundary",
    "initial_velocity",
    "parameters",
    "exact",
    "constraint",
    "coordinates",
    "complex",
    "vectors",
    "eigenvalue",
    "regions",
    "contact",
)
CONDITIONS: dict[str, type[Condition]] = {
    "dirichlet": Dirichlet,
    "neumann": Neumann,
    "robin": Robin,
    "free": Free,
    "periodic": Periodic,
}


def problem_from_dict(
    document: Mapping[str, Any], arrays: Mapping[str, Array] | None = None, folder: str = ""
) -> Problem:
    """Build a problem from plain data; every unknown or missing key is named.

    ``arrays`` are those of stored tables; the paths of tables in files begin at ``folder``.
    """
    document = {key: _with_tables(value, arrays or {}, folder) for key, value in document.items()}
    for key in document:
        if key not in KEYS:
            raise ProblemError(f"unknown key '{key}'; the keys are {choices(KEYS)}.{suggestion(key, KEYS)}")
    for key in ("equation", "domain"):
        if key not in document:
            raise ProblemError(f"the key '{key}' is missing.")
    if ("time" in document) != ("initial" in document):
        missing = "initial" if "time" in document else "time"
        raise ProblemError(f"the key '{missing}' is missing; a static problem has neither 'time' nor 'initial'.")
    boundary = document.get("boundary")
    return Problem(
        document["equation"],
        domain_from_dict(document["domain"]),
        document.get("time"),
        document.get("initial"),
        None if boundary is None else _read_boundary(boundary),
        document.get("initial_velocity"),
        _parameters(document),
        document.get("exact"),
        document.get("constraint"),
        document.get("coordinates"),
        document.get("complex"),
        document.get("vectors"),
        _read_regions(document.get("regions")),
        document.get("contact"),
    )


def _with_tables(value: Any, arrays: Mapping[str, Array], folder: str) -> Any:
    """Return a part of a document with the tables that it names."""
    if is_table_document(value) and "kind" not in value:
        return table_from_dict(value, arrays, folder)
    if isinstance(value, Mapping):
        return {key: _with_tables(entry, arrays, folder) for key, entry in value.items()}
    return [_with_tables(entry, arrays, folder) for entry in value] if isinstance(value, list) else value


def problem_to_dict(problem: Problem, arrays: dict[str, Array] | None = None) -> dict[str, Any] | None:
    """Return a problem as plain data, or None if it contains Python functions or is in other units.

    Tables need a place for their arrays; without it, they count as Python functions.
    """
    if not problem.given:
        return None
    try:
        given = {key: _plain(_known(value), arrays) for key, value in problem.given.items() if value is not None}
        domain = domain_to_dict(problem.stated)
    except TypeError:
        return None
    unknown = problem.parameters.unknown
    timed = {} if problem.is_static else {"time": list(problem.time)}
    return {**given, "domain": domain} | ({"eigenvalue": unknown[0]} if unknown else {}) | timed


def plain_or_reason(problem: Problem) -> str:
    """Say which part of a problem has no form as plain data; nothing if all have one."""
    if not problem.given:
        return "it is in other units."
    for key, value in problem.given.items():
        entries = value.items() if isinstance(value, Mapping) else [("", value)]
        for name, entry in entries:
            try:
                _plain(_known({name: entry}), {})
            except TypeError as error:
                what = f"'{name}' of {key}" if name else key
                return f"{what} is a Python object ({error}); write it as text, or as a table of values."
    try:
        domain_to_dict(problem.stated)
    except TypeError as error:
        return f"its domain has none ({error})."
    return ""


def _parameters(document: Mapping[str, Any]) -> Any:
    """Return the parameters, with the eigenvalue among them."""
    given, name = document.get("parameters"), document.get("eigenvalue")
    if name is None:
        return given
    if not isinstance(name, str):
        raise ProblemError(
            f"'eigenvalue' is the name of the unknown number, such as eigenvalue = \"lam\"; got {name!r}."
        )
    if name in (given or {}):
        raise ProblemError(
            f"'{name}' is the eigenvalue and has a value under [parameters], too; leave one of them out."
        )
    return {**(given or {}), name: Eigenvalue()}


def _read_regions(given: Any) -> Any:
    """Return regions, of which some may be shapes."""
    if not isinstance(given, Mapping):
        return given
    return {name: domain_from_dict(value) if isinstance(value, Mapping) else value for name, value in given.items()}


def _known(value: Any) -> Any:
    """Return a table without eigenvalues, which are written by their name."""
    return {k: v for k, v in value.items() if not isinstance(v, Eigenvalue)} if isinstance(value, Mapping) else value


def _read_boundary(given: Any) -> Any:
    if isinstance(given, str):
        return Periodic() if given == "periodic" else Free() if given == "free" else given
    if isinstance(given, Mapping):
        return _condition(given) if "kind" in given else {side: _read_boundary(value) for side, value in given.items()}
    if isinstance(given, Sequence):
        return [_read_boundary(value) for value in given]
    raise ProblemError(f"a boundary condition is text such as 'u = 0', a list or a table by side; got {given!r}.")


def _condition(given: Mapping[str, Any]) -> Condition:
    kind = given["kind"]
    if not isinstance(kind, str) or kind not in CONDITIONS:
        raise ProblemError(f"unknown kind of boundary condition {shown(kind)}; choose one of {choices(CONDITIONS)}.")
    names = [f.name for f in fields(CONDITIONS[kind])]
    for key in given:
        if key not in ("kind", *names):
            close = suggestion(key, names)
            raise ProblemError(f"unknown key '{key}' of a {kind} condition; the keys are {choices(names)}.{close}")
    try:
        return CONDITIONS[kind](**{key: value for key, value in given.items() if key != "kind"})
    except TypeError:
        raise ProblemError(
            f"a {kind} condition needs more than {dict(given)!r}; the keys are {choices(names)}."
        ) from None


def _plain(value: Any, arrays: dict[str, Array] | None = None) -> Any:
    """Return numbers, texts, lists and dictionaries only; TypeError for Python functions."""
    if isinstance(value, np.generic):  # first: NumPy's floats are Python's, too
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, sp.Eq):
        return f"{_plain(value.lhs)} = {_plain(value.rhs)}"
    if isinstance(value, sp.Basic):
        return as_text(value)
    if isinstance(value, Domain):
        return domain_to_dict(value)
    if isinstance(value, Table) and arrays is not None:
        return table_to_dict(value, arrays)
    if isinstance(value, Condition):
        kind = next(name for name, cls in CONDITIONS.items() if type(value) is cls)
        own = {f.name: getattr(value, f.name) for f in fields(value)}
        return {"kind": kind, **{name: _plain(v, arrays) for name, v in own.items() if v is not None}}
    if isinstance(value, Mapping):
        return {str(key): _plain(v, arrays) for key, v in value.items()}
    if isinstance(value, Sequence):
        return [_plain(v, arrays) for v in value]
    raise TypeError(f"{type(value).__name__} has no plain form")


# ---- what remains of a problem whose data were Python functions -----------------------------------


class TimeOrder(NamedTuple):
    """All that is known of an equation."""

    order: int


@dataclass(frozen=True)
class Outline:
    """Domain, time, fields and time orders of a problem: enough to evaluate its solution."""

    domain: Domain
    time: tuple[float, float]
    fields: tuple[str, ...]
    orders: Mapping[str, int]
    composites: Composites
    exact: Mapping[str, Any] = field(default_factory=dict)
    frame: Frame | None = None

    @property
    def stated(self) -> Domain:
        """The domain in the coordinates of the statement."""
        return self.domain if self.frame is None else self.frame.stated

    @property
    def jets(self) -> JetSpace:
        """How derivatives are called."""
        return JetSpace(self.domain.coordinates)

    def equation(self, name: str) -> TimeOrder:
        """Return the time order of a field, as its equation would give it."""
        return TimeOrder(self.orders[name])

    @property
    def is_static(self) -> bool:
        """Whether nothing depends on time."""
        return not any(self.orders.values())

    @property
    def equations(self) -> NoReturn:
        """Not stored."""
        raise EvaluationError("this solution was stored without its equations, as they contain Python functions.")
