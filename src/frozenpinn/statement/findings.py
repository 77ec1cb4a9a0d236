"""What is found out about a problem before it is solved: errors, warnings and notes, each with a text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem

Severity: TypeAlias = Literal["error", "warning", "note"]
COUNT = "count"  #: the kind of findings about numbers of conditions
SEAM = "seam"  #: the kind of findings about coefficients that jump across the seam of a periodic axis
START = "start"  #: the kind of findings about initial data that violate a constraint
INSISTED = {
    COUNT: "condition count",
    SEAM: "seams",
    START: "consistent start",
}  #: refusals that a user can switch off, and their names
SLIGHT = 1e-3  #: contradictions of data that matter to strict tolerances only, relative to the data
UNDERFLOW = float(np.finfo(float).tiny)  #: below this, numbers have few digits: no difference means anything


@dataclass(frozen=True)
class Finding:
    """One objection to a problem.

    Attributes
    ----------
    kind
        ``"ill-posed"``, ``"count"`` (surplus or missing conditions), ``"conditions"`` (others), ``"contradiction"``,
        ``"seam"`` (coefficients that jump where a periodic axis closes),
        ``"exact"`` (an exact solution that is none), ``"jump"``, ``"noise"``, ``"corner"`` (rough data), ``"data"``
        (how well arrays are known between their values), ``"unused"`` (a parameter), ``"free"`` (a field without
        conditions on a side), ``"start"`` (initial data that violate a constraint), ``"structure"`` (what an equation
        without a time derivative determines) or ``"scales"``.
    severity
        ``"error"``: :func:`frozenpinn.solve` refuses; ``"warning"``: it solves and warns; ``"note"``: good to know.
    text
        What was found, how large it is, and what to write instead.
    size
        How large a contradiction of initial and boundary data is, relative to how much the initial data vary. Those
        up to ``SLIGHT`` are warnings only for solves whose tolerance is below them.
    """

    kind: str
    severity: Severity
    text: str
    size: float = 1.0

    def __str__(self) -> str:
        return f"{self.severity} ({self.kind}): {self.text}"


def miscounted(where: str, given: int, needed: int, what: str, problem: Problem, is_certain: bool) -> Finding:
    """Return the objection to a wrong number of conditions, an error where the analysis is certain."""
    names = problem.composites.names
    hint = "Free() imposes nothing" if given > needed else f"add a condition such as '{names[0]} = 0'"
    insist = " To solve it as it stands, pass settings=fp.Settings(without=('condition count',))." if is_certain else ""
    text = (
        f"{where} {given} condition(s) for {len(problem.fields)} field(s), but the equations need {needed}; that is "
        f"{what}. ({hint}.){insist}"
    )
    return Finding(COUNT, "error" if is_certain else "warning", text)


@dataclass(frozen=True)
class Findings:
    """All objections to a problem; false if there are none.

    Examples
    --------
    >>> print(Findings())
    no objections
    >>> print(Findings((Finding("jump", "warning", "the initial value jumps."),)))
    warning (jump): the initial value jumps.
    """

    entries: tuple[Finding, ...] = ()

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __str__(self) -> str:
        return "\n".join(map(str, self.entries)) or "no objections"

    def _repr_html_(self) -> str:
        from frozenpinn.statement.rich import findings_html

        return findings_html(self)

    def of(self, *severities: Severity) -> tuple[Finding, ...]:
        """Return the findings of some severities, in order."""
        return tuple(entry for entry in self.entries if entry.severity in severities)
