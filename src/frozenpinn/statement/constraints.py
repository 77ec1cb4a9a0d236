"""Constraints of static problems: the mean of a field, or its value or a derivative at a point.

With nothing but slopes prescribed, a solution is determined up to a constant; ``"mean(u) = 0"`` or ``"u(0, 0) = 1"``
picks one. Others are conditions at points, also of eigenproblems: ``"w(0.5, 0.5) = 0"`` holds a plate at a point, and
``"w_xy(0, 0) = 0"`` says that no force acts on its free corner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError, choices
from frozenpinn.language.parser import parse, parse_value
from frozenpinn.language.program import constant_value
from frozenpinn.statement.composites import Composites, flat

if TYPE_CHECKING:
    from frozenpinn.geometry import Domain
    from frozenpinn.language.scope import Scope
    from frozenpinn.statement.frames import Frame

Array = np.ndarray
_FORM = re.compile(r"\s*(?P<name>[^\W\d]\w*)\s*\((?P<inside>.*)\)\s*=(?P<value>[^=]+)")
_HELP = "write for example constraint='mean(u) = 0' or constraint='u(0, 0) = 1'"


@dataclass(frozen=True, eq=False)
class Constraint:
    """The mean of a field over the domain, or its value or a derivative at a point.

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
    alpha
        Of which derivative it is the value, by axis.
    """

    field: str
    point: Array | None
    value: float
    text: str
    alpha: tuple[int, ...]

    @property
    def picks(self) -> bool:
        """Whether it fixes a constant that may be added to the field."""
        return not any(self.alpha)


def read_constraints(
    given: str | Sequence[str] | None,
    composites: Composites,
    domain: Domain,
    scope: Scope,
    frame: Frame | None = None,
) -> tuple[Constraint, ...]:
    """Read constraints given as text; one of a complex field is one of each part."""
    if given is None:
        return ()
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise ProblemError(f"a constraint is text, got {given!r}; {_HELP}.")
    return tuple(constraint for text in texts for constraint in _read(text, composites, domain, scope, frame))


def _read(text: str, composites: Composites, domain: Domain, scope: Scope, frame: Frame | None) -> Iterator[Constraint]:
    form = _FORM.fullmatch(text)
    if form is None:
        raise ProblemError(f"the constraint '{text}' is not understood; {_HELP}.")
    name, inside = form["name"], form["inside"]
    if name == "mean":
        if frame is not None and not frame.is_cartesian:
            raise ProblemError(
                f"the mean of a field is not known in {frame.kind} coordinates; write the value at a point, such as "
                f"constraint='u({', '.join('1' for _ in frame.names)}) = 0'."
            )
        field, point = inside.strip(), None
    else:
        field, point = name, _point(inside, text, domain, scope, frame)
    field, alpha = _derivative(field, composites, scope, frame)
    known = [*composites.names, *composites.real]
    _check_field(field, list(dict.fromkeys(known)), text)
    value = parse_value(form["value"], scope)
    parts, values = composites.parts(field), flat(value)
    if field in composites.vectors or len(values) > len(parts):
        raise ProblemError(f"the constraint '{text}' has not one number for '{field}'; {_HELP}.")
    for part, number in zip(parts, [*values, sp.Integer(0)], strict=False):
        if not number.is_number:
            raise ProblemError(
                f"the constraint '{text}' has '{form['value'].strip()}' where a number is needed; {_HELP}."
            )
        yield Constraint(part, point, constant_value(number), text, alpha)


def _derivative(name: str, composites: Composites, scope: Scope, frame: Frame | None) -> tuple[str, tuple[int, ...]]:
    """Split ``w_xy`` into the field and its derivative; on boxes in other coordinates there are values only."""
    zero, jets = (0,) * scope.jets.dimension, scope.jets
    split = None if frame is not None and frame.is_called else jets.split_name(name)
    known = {*composites.names, *composites.real}
    if name in known or split is None or split[0] not in known or split[1].time:
        return name, zero
    return split[0], split[1].alpha


def _point(inside: str, text: str, domain: Domain, scope: Scope, frame: Frame | None) -> Array:
    """Read the point of a constraint, in the coordinates of the statement."""
    stated = domain if frame is None else frame.stated
    coordinates = [_number(part, scope, text) for part in inside.split(",")]
    if len(coordinates) != stated.dimension:
        raise ProblemError(
            f"the point of the constraint '{text}' has {len(coordinates)} coordinate(s); there are {stated.dimension}."
        )
    point = np.array([coordinates])
    if not stated.contains(point)[0]:
        raise ProblemError(f"the point of the constraint '{text}' lies outside the domain {stated!r}.")
    if frame is not None and frame.is_called:
        point = np.stack(frame.to_inner(*point.T), axis=1)
    point.flags.writeable = False
    return point


def _check_field(name: str, fields: Sequence[str], text: str) -> None:
    if name not in fields:
        raise ProblemError(f"the constraint '{text}' names '{name}'; the fields are {choices(fields)}. {_HELP}.")


def _number(text: str, scope: Scope, what: str) -> float:
    expression: sp.Expr = parse(text, scope)
    if not expression.is_number:
        raise ProblemError(f"the constraint '{what}' has '{text.strip()}' where a number is needed; {_HELP}.")
    return constant_value(expression)
