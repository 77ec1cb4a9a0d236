"""Constraints that make the solution of a static problem unique: its mean, or its value at a point.

With nothing but slopes prescribed, a solution is determined up to a constant; ``"mean(u) = 0"`` or ``"u(0, 0) = 1"``
picks one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError, choices
from frozenpinn.language.parser import parse
from frozenpinn.language.program import constant_value

if TYPE_CHECKING:
    from frozenpinn.geometry import Domain
    from frozenpinn.language.scope import Scope

Array = np.ndarray
_FORM = re.compile(r"\s*(?P<name>[^\W\d]\w*)\s*\((?P<inside>.*)\)\s*=(?P<value>[^=]+)")
_HELP = "write for example constraint='mean(u) = 0' or constraint='u(0, 0) = 1'"


@dataclass(frozen=True, eq=False)
class Constraint:
    """The mean of a field over the domain, or its value at a point.

    Attributes
    ----------
    field
        Which field.
    point
        Where its value is given, shape (1, d); None for the mean.
    value
        What it is.
    text
        As it was written.
    """

    field: str
    point: Array | None
    value: float
    text: str


def read_constraints(
    given: str | Sequence[str] | None, fields: Sequence[str], domain: Domain, scope: Scope
) -> tuple[Constraint, ...]:
    """Read constraints given as text."""
    if given is None:
        return ()
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise ProblemError(f"a constraint is text, got {given!r}; {_HELP}.")
    return tuple(_read(text, fields, domain, scope) for text in texts)


def _read(text: str, fields: Sequence[str], domain: Domain, scope: Scope) -> Constraint:
    form = _FORM.fullmatch(text)
    if form is None:
        raise ProblemError(f"the constraint '{text}' is not understood; {_HELP}.")
    value, name, inside = _number(form["value"], scope, text), form["name"], form["inside"]
    if name == "mean":
        field = inside.strip()
        _check_field(field, fields, text)
        return Constraint(field, None, value, text)
    _check_field(name, fields, text)
    coordinates = [_number(part, scope, text) for part in inside.split(",")]
    if len(coordinates) != domain.dimension:
        raise ProblemError(
            f"the point of the constraint '{text}' has {len(coordinates)} coordinate(s); there are {domain.dimension}."
        )
    point = np.array([coordinates])
    if not domain.contains(point)[0]:
        raise ProblemError(f"the point of the constraint '{text}' lies outside the domain {domain!r}.")
    point.flags.writeable = False
    return Constraint(name, point, value, text)


def _check_field(name: str, fields: Sequence[str], text: str) -> None:
    if name not in fields:
        raise ProblemError(f"the constraint '{text}' names '{name}'; the fields are {choices(fields)}. {_HELP}.")


def _number(text: str, scope: Scope, what: str) -> float:
    expression: sp.Expr = parse(text, scope)
    if not expression.is_number:
        raise ProblemError(f"the constraint '{what}' has '{text.strip()}' where a number is needed; {_HELP}.")
    return constant_value(expression)
