"""The report of a solve: what was done, how long it took, how well the result satisfies the problem."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.results.explanation import explain
from frozenpinn.results.report_table import Told, finite, subspace_text
from frozenpinn.results.residuals import Residuals
from frozenpinn.results.static_report import StaticReport, make_static_report
from frozenpinn.runtime.decisions import Decision
from frozenpinn.statement.problem import equations_told

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution


@dataclass(frozen=True, repr=False)
class Report(Told):
    """Numbers about a solve; shown as a table, ``as_dict`` gives them to programs."""

    problem: str
    seconds: dict[str, float]
    sampler: str
    width: int
    points: int
    rank: int
    compression: float
    condition: float
    structure: str
    spectral_abscissa: float | None
    integrator: str
    steps: int
    windows: list[dict[str, float]]
    rhs_evaluations: int
    jacobian_evaluations: int
    residuals: Residuals
    error_estimate: dict[str, float] | None
    error: dict[str, float] | None
    subspace: str | None = None
    status: str = "unchecked"
    tol: float | None = None
    choices: dict[str, str] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    error_curve: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists and numbers."""
        return finite({**asdict(self), "residuals": self.residuals._asdict()})

    def _middle(self) -> list[tuple[str, str]]:
        known = self.spectral_abscissa is not None and np.isfinite(self.spectral_abscissa)
        growth = (
            f"fastest growth rate {self.spectral_abscissa:.2e} (spectral abscissa)" if known else "never written out"
        )
        work = f", {self.steps} steps, {self.rhs_evaluations} right-hand sides, {self.jacobian_evaluations} Jacobians"
        rows = [
            ("network", f"{self.sampler}, width {self.width}, {self.points} points"),
            ("rank", f"{self.rank} (compression {self.compression:.2g}×, condition {self.condition:.2g})"),
            ("linear part", f"{self.structure}, {growth}"),
            ("integrator", self.integrator + (work if self.steps else ", no time steps")),
        ]
        if len(self.windows) > 1:
            ends = ", ".join(f"{w['end']:.3g}" for w in self.windows[:-1])
            lost = max(w["loss"] for w in self.windows)
            rows.append(
                ("windows", f"{len(self.windows)}, new bases at t = {ends}, largest projection loss {lost:.1e}")
            )
        return rows


def make_report(solution: Solution) -> Report | StaticReport:
    """Collect the numbers of a solution; residuals are measured here, not during the solve."""
    if solution.facts is not None:
        return make_static_report(solution)
    last = solution.pieces[-1]
    networks = [expansion.basis for expansion in last.expansions]
    raw, linear = sum(network.raw_size for network in networks), solution.system.linear
    singular = [network.singular_values for network in networks]
    exact, estimate = solution.problem.exact, solution.error_estimate
    return Report(
        problem="; ".join(equations_told(solution.problem)),
        seconds=dict(solution.seconds),
        sampler=solution.sampler,
        width=networks[0].width,
        points=len(networks[0].points.x),
        rank=last.layout.coefficients,
        compression=raw / max(1, last.layout.coefficients),
        condition=float(max(s[0] / s[-1] for s in singular)),
        structure=linear.structure,
        spectral_abscissa=float(np.real(linear.abscissa)),
        integrator=solution.integrator,
        steps=sum(piece.trajectory.steps for piece in solution.pieces),
        windows=[
            {"start": p.start, "end": p.end, "rank": p.layout.coefficients, "loss": p.loss} for p in solution.pieces
        ],
        rhs_evaluations=solution.work.rhs,
        jacobian_evaluations=solution.work.jacobians,
        residuals=solution.residuals,
        error_estimate=None if estimate is None else {name: float(value) for name, value in estimate.items()},
        error={name: solution.error(name)["rel_l2"] for name in exact} if exact else None,
        subspace=subspace_text(solution),
        status=solution.status,
        tol=None if solution.verdict is None else solution.verdict.tol,
        choices=explain(solution),
        decisions=solution.decisions,
        error_curve=None if estimate is None else estimate.as_dict(),
    )
