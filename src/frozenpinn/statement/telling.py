"""Equations as their reader knows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem


def equations_told(problem: Problem) -> tuple[str, ...]:
    """Return texts of the equations: as they were stated, where they are solved for other fields or coordinates.

    >>> import frozenpinn as fp
    >>> line = fp.Interval(0, 1)
    >>> equations_told(fp.Problem("psi_t = I*psi_xx", line, (0, 1), "sin(pi*x)", "psi = 0"))
    ('psi_t = I*psi_xx',)
    >>> equations_told(fp.Problem("u_t = k*u_xx", line, (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 2}))
    ('u_t = 2*u_xx',)
    """
    texts = stated_texts(problem)
    changed = problem.frame is not None or problem.composites.real != problem.composites.names
    return texts if changed and texts else tuple(str(equation) for equation in problem.equations)


def stated_texts(problem: Problem) -> tuple[str, ...]:
    """Return the equations as they were given; nothing if they were not given as texts."""
    stated = problem.given.get("equation") if problem.given else None
    if isinstance(stated, Mapping):
        stated = list(stated.values())
    parts = tuple(stated) if isinstance(stated, list | tuple) else (stated,)
    return parts if all(isinstance(part, str) for part in parts) else ()
