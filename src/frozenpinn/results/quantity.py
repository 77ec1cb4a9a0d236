"""One number that a solve is for: an integral, a mean, or a value at a place, as text; with its error."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.errors import EvaluationError, SettingsError, choices, suggestion
from frozenpinn.geometry.points import Points
from frozenpinn.language.jets import TIME
from frozenpinn.results.evaluation import check_inside, frame_of
from frozenpinn.results.expressions import Expression
from frozenpinn.results.integrals import ComplexNumber, Number, measured
from frozenpinn.results.rules import Rules, rules_of
from frozenpinn.runtime.arguments import shown

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
KINDS = ("integral", "mean", "value")
_PARTS = ("side", "where", "along")
_CALL = re.compile(r"\s*([^\W\d]\w*)\s*\((.*)\)\s*", re.S)
_NAMED = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)(.*)", re.S)
_SMALL = 1e-2  # part of ∫|…| below which a number is compared with that part
_EXAMPLE = 'write for example "integral(k*u_n, side=\'right\')", "mean(u, where=\'x < 0.5\', t=1)" or "value(u, x=0.5)"'


@dataclass(frozen=True)
class Goal:
    """A number that a solve was for.

    Attributes
    ----------
    text
        How it was asked for.
    number
        What was found, with its estimated error.
    scale
        The size that the error is compared with: that of the number, or a hundredth of the integral of the absolute
        value, if that is larger.
    points
        About how many points the rule of quadrature had.
    beside
        Whether the fields have to meet the tolerance as well.
    """

    text: str
    number: Number | ComplexNumber
    scale: float
    points: int = 0
    beside: bool = False

    @property
    def error(self) -> float:
        """The relative error; infinite if it is not known."""
        found = self.number.error / (self.scale or 1.0)
        return found if np.isfinite(found) else float("inf")

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers and texts."""
        value = complex(self.number)
        return {"text": self.text, "value": [value.real, value.imag], "error": self.number.error, "scale": self.scale}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Goal:
        """Read what :meth:`as_dict` has written."""
        re_part, im_part = stored["value"]
        error = float("nan") if stored["error"] is None else stored["error"]
        number = ComplexNumber.of(complex(re_part, im_part), error) if im_part else Number.of(re_part, error)
        return cls(stored["text"], number, stored["scale"])


@dataclass(frozen=True)
class Quantity:
    """A number that is asked for: what is integrated, averaged or evaluated, and where.

    Attributes
    ----------
    text
        How it was written.
    kind
        ``"integral"``, ``"mean"`` or ``"value"``.
    expression
        What of.
    part
        ``side``, ``where`` or ``along`` with what was given; empty for the whole domain.
    place
        Coordinates of a value.
    t
        The time; the end if it is None.
    """

    text: str
    kind: str
    expression: str
    part: Mapping[str, Any]
    place: tuple[float, ...] = ()
    t: float | None = None

    @classmethod
    def read(cls, text: Any, problem: Problem) -> Quantity:
        """Read a text such as ``integral(k*u_n, side='hot')``, and check that it fits a problem."""
        if not isinstance(text, str):
            raise SettingsError(f"quantity is text; {_EXAMPLE}. Got {shown(text)}.")
        call = _CALL.fullmatch(text)
        if call is None or call[1] not in KINDS:
            close = suggestion(call[1], KINDS) if call else ""
            raise SettingsError(f"quantity='{text}' is not one of {choices(KINDS)}; {_EXAMPLE}.{close}")
        first, *more = _split(call[2])
        known = (*problem.stated.coordinates,) if call[1] == "value" else _PARTS
        given = _options(more, (*known, *(() if problem.is_static else (TIME,))), text)
        t = given.pop(TIME, None)
        found = cls(text, call[1], first.strip(), given, t=None if t is None else _number(t, text))
        if call[1] == "value":
            missing = [name for name in known if name not in given]
            if missing:
                raise SettingsError(f"quantity='{text}' is a value at a place, and lacks {choices(missing)}.")
            place = tuple(_number(given[name], text) for name in known)
            found = cls(text, call[1], first.strip(), {}, place, found.t)
        found.check(problem)
        return found

    def check(self, problem: Problem) -> None:
        """Refuse what is unknown to a problem, or outside its domain."""
        stub = _Stub(problem)
        rules = self.rules(stub)
        expression = Expression.read(problem, self.expression, rules.with_normals, rules.weighted)
        if expression.shape:
            raise EvaluationError(f"quantity='{self.text}' is of a vector; write a component, such as (…)[0].")
        check_inside(problem, np.empty((0, problem.domain.dimension)), self.times(problem))
        rules.make(64)

    def of(self, solution: Solution, rtol: float = 1e-9) -> Goal:
        """Return the number, its error and its scale; ``rtol`` is asked of quadrature."""
        times, rules = self.times(solution.problem), self.rules(solution)
        kind = "mean" if self.kind == "mean" else "integral"
        found, size = measured(solution, self.expression, rules, times, rtol, kind)
        number = found.single()
        return Goal(self.text, number, max(abs(number), _SMALL * size), found.points)

    def times(self, problem: Problem) -> Array:
        """Return the time, as an array; zero for static problems."""
        return np.zeros(1) if problem.is_static else np.array([problem.time[1] if self.t is None else self.t])

    def rules(self, solution: Any) -> Rules:
        """Return rules of quadrature for where it is taken."""
        if self.kind != "value":
            return rules_of(solution, *(self.part.get(name) for name in _PARTS))
        problem, place = solution.problem, np.array([self.place])
        check_inside(problem, place, np.empty(0), problem.stated)
        frame = frame_of(problem)
        x = place if frame is None else np.array([[float(c) for c in frame.to_inner(*place[0])]])
        return Rules(lambda n: [Points(x, np.ones(1), problem.domain.lengths)], 1, weighted=False)


class _Stub:
    """What rules of quadrature ask of a solution that is not there yet."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem


def _split(text: str) -> list[str]:
    """Split at commas that stand in no parentheses, brackets or quotes."""
    parts, depth, quote = [""], 0, ""
    for c in text:
        quote = "" if c == quote else c if c in "'\"" and not quote else quote
        depth += 0 if quote else {"(": 1, "[": 1, ")": -1, "]": -1}.get(c, 0)
        if c == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def _options(parts: list[str], known: tuple[str, ...], text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in parts:
        named = _NAMED.fullmatch(part)
        if named is None or named[1] not in known:
            word = named[1] if named else part.strip()
            raise SettingsError(
                f"quantity='{text}' has no '{word}'; after the expression it takes {choices(known)}, as in t=1."
                f"{suggestion(word, known)}"
            )
        found[named[1]] = _literal(named[2].strip(), text)
    return found


def _literal(text: str, whole: str) -> Any:
    """Read a number, a quoted text, or a list of them."""
    try:
        return json.loads(text.replace("'", '"'))
    except ValueError:
        raise SettingsError(
            f"quantity='{whole}': {text} is no number, quoted text or list; write for example t=1, side='left' or "
            "along=[[0, 0], [1, 1]]."
        ) from None


def _number(value: Any, text: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SettingsError(f"quantity='{text}': {shown(value)} is no number; coordinates and times are.")
    return float(value)
