"""The report of a static solve: what was chosen, how well the result satisfies the problem, how sharp it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.results.report_table import Told, finite, subspace_text
from frozenpinn.results.residuals import Residuals
from frozenpinn.runtime.decisions import Decision
from frozenpinn.statement.problem import equations_told

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution


@dataclass(frozen=True, repr=False)
class StaticReport(Told):
    """Numbers about a static solve; shown as a table, ``as_dict`` gives them to programs."""

    problem: str
    seconds: dict[str, float]
    features: str
    width: int
    points: int
    method: str
    singular: tuple[float, float]
    steps: tuple[float, ...]
    residuals: Residuals
    error_estimate: dict[str, float] | None
    error: dict[str, float] | None
    subspace: str | None = None
    status: str = "unchecked"
    tol: float | None = None
    choices: dict[str, str] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists and numbers."""
        return finite({**asdict(self), "residuals": self.residuals._asdict(), "kind": "static"})

    def _middle(self) -> list[tuple[str, str]]:
        smallest, second = (float("nan") if s is None else s for s in self.singular)
        return [
            ("network", f"{self.features}, width {self.width}, {self.points} points"),
            ("method", self.method + (f", {len(self.steps)} steps" if self.steps else "")),
            ("smallest |Lu|/|u|", f"{smallest:.3g}, then {second:.3g}: the distance from a singular problem"),
        ]


def make_static_report(solution: Solution) -> StaticReport:
    """Collect the numbers of a static solution; residuals are measured here, not during the solve."""
    facts, estimate, problem = solution.facts, solution.error_estimate, solution.problem
    assert facts is not None
    return StaticReport(
        problem="; ".join(equations_told(problem)),
        seconds=dict(solution.seconds),
        features=facts.features,
        width=int(np.prod(solution.width)),
        points=int(np.prod(solution.counts)),
        method=solution.integrator,
        singular=facts.singular,
        steps=facts.steps,
        residuals=solution.residuals,
        error_estimate=None if estimate is None else {name: float(value) for name, value in estimate.items()},
        error={name: solution.error(name)["rel_l2"] for name in problem.exact} if problem.exact else None,
        subspace=subspace_text(solution),
        status=solution.status,
        tol=None if solution.verdict is None else solution.verdict.tol,
        choices=_choices(solution),
        decisions=solution.decisions,
    )


def _choices(solution: Solution) -> dict[str, str]:
    """Return one sentence on each choice, by topic."""
    from frozenpinn.results.explanation import given_values, growth, verdict

    facts = solution.facts
    assert facts is not None
    told = {
        "verdict": verdict(solution),
        "width": growth(solution),
        "features": f"{facts.features}: of all kinds that were tried, a narrow network of these left least at held-out "
        f"points, {facts.pilot:.1e} of the equations' terms",
        "start": f"Newton's method started from {facts.start}" if facts.start else "",
        "data": given_values(solution),
        "notes": "; ".join(solution.notes),
    }
    return {topic: text for topic, text in told.items() if text}
