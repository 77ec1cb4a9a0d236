"""What a statement leaves out: parameters that nothing uses, fields that nothing is imposed on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import sympy as sp

from frozenpinn.errors import choices
from frozenpinn.language.scope import spelled_out
from frozenpinn.statement.findings import Finding
from frozenpinn.statement.multipliers import multipliers

if TYPE_CHECKING:
    from frozenpinn.statement.conditions import LinearCondition
    from frozenpinn.statement.laws import BoundaryLaw
    from frozenpinn.statement.problem import Problem


def unused_parameters(problem: Problem) -> tuple[Finding, ...]:
    """Return a finding for the parameters whose names occur in no text.

    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"nu": 0.1})
    >>> print(unused_parameters(rod)[0])
    note (unused): the parameter 'nu' is used nowhere: is its name in the equation another one?
    """
    given = problem.given.get("parameters", {}) if problem.given else {}
    used = {spelled_out(word) for part in problem.given.values() for word in _words(part)} if given else set()
    unused = [name for name in given if spelled_out(name) not in used]
    if not unused:
        return ()
    many = len(unused) > 1
    text = (
        f"the parameter{'s' if many else ''} {choices(unused)} {'are' if many else 'is'} used nowhere: "
        f"{'are their names' if many else 'is its name'} in the equation {'others' if many else 'another one'}?"
    )
    return (Finding("unused", "note", text),)


def _words(given: Any) -> Iterator[str]:
    """Return all names that occur in what was given: in texts, SymPy, conditions, lists and tables of these."""
    if isinstance(given, str):
        yield from re.findall(r"[^\W\d]\w*", given)
        yield from (part for word in re.findall(r"[^\W\d]\w*", given) for part in word.split("_")[:1])
    elif isinstance(given, sp.Basic):
        yield from _words(str(given))
    elif isinstance(given, Mapping):
        yield from (word for value in given.values() for word in _words(value))
    elif isinstance(given, tuple | list):
        yield from (word for value in given for word in _words(value))
    elif is_dataclass(given):
        yield from (word for part in fields(given) for word in _words(getattr(given, part.name, None)))


def free_fields(problem: Problem) -> tuple[Finding, ...]:
    """Return a note for each field of a system that nothing is imposed on while other fields have conditions.

    >>> import frozenpinn as fp
    >>> tube = fp.Problem(["p_t = -v_x", "v_t = -p_x"], fp.Interval(0, 1), (0, 1), ["exp(-x**2)", 0], "v = 0")
    >>> print(free_fields(tube)[0])
    note (free): nothing is imposed on 'p' on the sides 'left', 'right'.
    """
    given: list[LinearCondition | BoundaryLaw] = [*problem.conditions, *problem.laws]
    keeping = multipliers(problem)  # of which nothing is asked
    spread = [name for name in problem.fields if problem.spatial_order(name) and name not in keeping]
    found = []
    for name in spread if len(spread) + len(keeping) > 1 else ():
        sides = [
            side.name
            for side in problem.domain.sides
            if not any(condition.side == side and name in condition.fields for condition in given)
        ]
        if sides:
            found.append(Finding("free", "note", f"nothing is imposed on '{name}' on the sides {choices(sides)}."))
    return tuple(found)
