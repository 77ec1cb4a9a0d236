"""The report of a solve: what was done, how long it took, how well the result satisfies the problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.results.explanation import explain, subspace_text
from frozenpinn.results.residuals import Residuals, constraint_gaps
from frozenpinn.runtime.decisions import Decision, read_decisions
from frozenpinn.runtime.html import card, table
from frozenpinn.statement.problem import stated_equations

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution


@dataclass(frozen=True, repr=False)
class Report:
    """Numbers about a solve; shown as a table, ``as_dict`` gives them to programs.

    ``details`` are those of one kind of problem, in time or static; each is an attribute, too: ``report.width``.
    """

    problem: str
    seconds: dict[str, float]
    details: Mapping[str, Any]
    residuals: Residuals
    error_estimate: dict[str, float] | None
    error: dict[str, float] | None
    subspace: str | None = None
    status: str = "unchecked"
    tol: float | None = None
    choices: dict[str, str] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    absolute_estimate: dict[str, float] | None = None
    balances: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    constraints: Mapping[str, float] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("details", ()):
            return self.details[name]
        raise AttributeError(f"this report has no '{name}'.")

    def as_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists and numbers."""
        common = {own.name: getattr(self, own.name) for own in fields(self) if own.name != "details"}
        return finite({**common, **self.details, "residuals": self.residuals._asdict()})

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Report:
        """Read what :meth:`as_dict` has written."""
        names = {own.name for own in fields(cls)}
        common = {name: value for name, value in stored.items() if name in names}
        common["residuals"] = Residuals(**stored["residuals"])
        common["decisions"] = read_decisions(stored.get("decisions", ()))
        return cls(**common, details={name: value for name, value in stored.items() if name not in names})

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The table: names and texts."""
        rows = [("problem", self.problem), *self.choices.items()]
        if self.subspace is not None:
            rows.append(("subspace", self.subspace))
        rows += [("decision", f"{name}: {reason}") for name, reason in self.decisions]
        rows += [(stage, f"{1e3 * value:9.2f} ms") for stage, value in self.seconds.items()]
        rows.append(("total", f"{1e3 * sum(self.seconds.values()):9.2f} ms"))
        rows += _static_rows(self.details) if self.details.get("kind") == "static" else _evolution_rows(self.details)
        rows += [(f"PDE residual {name}", _number(value)) for name, value in self.residuals.pde.items()]
        rows.append(("boundary residual", _number(self.residuals.boundary)))
        rows += [(f"initial residual {name}", _number(value)) for name, value in self.residuals.initial.items()]
        rows += [(f"largest |{text}|", _number(value)) for text, value in self.constraints.items()]
        for name, own in self.balances.items():
            missing, unsure = _number(own["missing"]), _number(own["quadrature"])
            rows.append((f"balance {name}", f"{missing} of what is stored, flows and is made is missing (± {unsure})"))
        for name, value in (self.error_estimate or {}).items():
            absolute = (self.absolute_estimate or {}).get(name)
            rms = "" if absolute is None else f"{_number(absolute)} in its unit; "
            rows.append((f"estimated error {name}", f"{_number(value)} ({rms}by comparison with a second solution)"))
        rows += [(f"true error {name}", f"{value:.2e}") for name, value in (self.error or {}).items()]
        if self.error_estimate or self.error:
            rows.append(("", "errors are L², relative to how much a field varies"))
        return rows

    def __str__(self) -> str:
        return as_table(self.rows)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return card("Report", table(self.rows))


def make_report(solution: Solution) -> Report:
    """Collect the numbers of a solution; residuals are measured here, not during the solve."""
    exact, estimate = solution.problem.exact, solution.error_estimate
    return Report(
        problem="; ".join(stated_equations(solution.problem)),
        seconds=dict(solution.seconds),
        details=_evolution_details(solution) if solution.facts is None else _static_details(solution),
        residuals=solution.residuals,
        error_estimate=None if estimate is None else {name: float(value) for name, value in estimate.items()},
        error={name: solution.error(name)["relative"] for name in exact} if exact else None,
        subspace=subspace_text(solution),
        status=solution.status,
        tol=None if solution.verdict is None else solution.verdict.tol,
        choices=explain(solution),
        decisions=solution.decisions,
        absolute_estimate=estimate.absolute_errors() if estimate is not None and estimate.scales else None,
        constraints=constraint_gaps(solution),
        balances={n: {"missing": b.relative, "quadrature": b.unsure} for n, b in solution.balances.items()},
    )


def _evolution_details(solution: Solution) -> dict[str, Any]:
    last, estimate = solution.pieces[-1], solution.error_estimate
    networks = [expansion.basis for expansion in last.expansions]
    raw, system = sum(network.raw_size for network in networks), last.system
    singular = [network.singular_values for network in networks]
    return {
        "sampler": solution.sampler,
        "width": networks[0].width,
        "points": len(networks[0].points.x) or int(np.prod(solution.counts)),
        "rank": last.layout.coefficients,
        "compression": raw / max(1, last.layout.coefficients),
        "condition": float(max(s[0] / s[-1] for s in singular)),
        "structure": "by patches" if system is None else system.linear.structure,
        "spectral_abscissa": solution.abscissa,
        "integrator": solution.integrator,
        "steps": sum(piece.trajectory.steps for piece in solution.pieces),
        "windows": [
            {"start": p.start, "end": p.end, "rank": p.layout.coefficients, "loss": p.loss} for p in solution.pieces
        ],
        "rhs_evaluations": solution.work.rhs,
        "jacobian_evaluations": solution.work.jacobians,
        "error_curve": None if estimate is None else estimate.as_dict(),
    }


def _evolution_rows(own: Mapping[str, Any]) -> list[tuple[str, str]]:
    abscissa, windows = own["spectral_abscissa"], own["windows"]
    known = abscissa is not None and np.isfinite(abscissa)
    rate = f"fastest growth rate {abscissa:.2e} (spectral abscissa)" if known else "never written out"
    work = f"{own['rhs_evaluations']} right-hand sides, {own['jacobian_evaluations']} Jacobians"
    rows = [
        ("network", f"{own['sampler']}, width {own['width']}, {own['points']} points"),
        ("rank", f"{own['rank']} (compression {own['compression']:.2g}×, condition {own['condition']:.2g})"),
        ("linear part", f"{own['structure']}, {rate}"),
        ("integrator", own["integrator"] + (f", {own['steps']} steps, {work}" if own["steps"] else ", no time steps")),
    ]
    if len(windows) > 1:
        ends = ", ".join(f"{w['end']:.3g}" for w in windows[:-1])
        lost = max(w["loss"] for w in windows)
        rows.append(("windows", f"{len(windows)}, new bases at t = {ends}, largest projection loss {lost:.1e}"))
    return rows


def _static_details(solution: Solution) -> dict[str, Any]:
    facts = solution.facts
    assert facts is not None
    return {
        "kind": "static",
        "features": facts.features,
        "width": int(np.prod(solution.width)),
        "points": int(np.prod(solution.counts)),
        "method": solution.integrator,
        "singular": facts.singular,
        "steps": facts.steps,
    }


def _static_rows(own: Mapping[str, Any]) -> list[tuple[str, str]]:
    smallest, second = (float("nan") if s is None else s for s in own["singular"])
    return [
        ("network", f"{own['features']}, width {own['width']}, {own['points']} points"),
        ("method", own["method"] + (f", {len(own['steps'])} steps" if own["steps"] else "")),
        ("smallest |Lu|/|u|", f"{smallest:.3g}, then {second:.3g}: the distance from a singular problem"),
    ]


def as_table(rows: Sequence[tuple[str, str]]) -> str:
    """Write names and texts below each other."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)


def _number(value: float | None) -> str:
    """Format a number; a stored report has None for what JSON does not know."""
    return "not finite" if value is None else f"{value:.2e}"


def finite(value: Any) -> Any:
    """Replace numbers that JSON does not know by None."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
