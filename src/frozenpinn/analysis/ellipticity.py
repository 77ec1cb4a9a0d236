"""Is a static problem well posed?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frozenpinn.statement.consistency import further_contradictions
from frozenpinn.statement.findings import Finding

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem


def static_findings(problem: Problem) -> tuple[Finding, ...]:
    """Return what can be said against a static problem."""
    return tuple(further_contradictions(problem))
