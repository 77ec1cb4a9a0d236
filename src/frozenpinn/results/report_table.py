"""What reports of all kinds have in common: their table, and numbers that JSON knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.runtime.decisions import Decision

if TYPE_CHECKING:
    from frozenpinn.results.residuals import Residuals
    from frozenpinn.results.solution import Solution


class Told:
    """A report as a table: choices, seconds, what a kind of report has to say, residuals, errors."""

    problem: str
    seconds: dict[str, float]
    residuals: Residuals
    error_estimate: dict[str, float] | None
    error: dict[str, float] | None
    subspace: str | None
    choices: dict[str, str]
    decisions: tuple[Decision, ...]

    def _middle(self) -> list[tuple[str, str]]:
        raise NotImplementedError

    def __str__(self) -> str:
        rows = [("problem", self.problem), *self.choices.items()]
        if self.subspace is not None:
            rows.append(("subspace", self.subspace))
        rows += [("decision", f"{name}: {reason}") for name, reason in self.decisions]
        rows += [(stage, f"{1e3 * value:9.2f} ms") for stage, value in self.seconds.items()]
        rows.append(("total", f"{1e3 * sum(self.seconds.values()):9.2f} ms"))
        rows += self._middle()
        rows += [(f"PDE residual {name}", number(value)) for name, value in self.residuals.pde.items()]
        rows.append(("boundary residual", number(self.residuals.boundary)))
        rows += [(f"initial residual {name}", number(value)) for name, value in self.residuals.initial.items()]
        for name, value in (self.error_estimate or {}).items():
            told = f"{number(value)} (relative L², by comparison with a second solution)"
            rows.append((f"estimated error {name}", told))
        rows += [(f"true error {name}", f"{value:.2e} (relative L²)") for name, value in (self.error or {}).items()]
        width = max(len(label) for label, _ in rows)
        return "\n".join(f"{label:<{width}}  {value}" for label, value in rows)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from frozenpinn.output.rich import report_html

        return report_html(self)


def subspace_text(solution: Solution) -> str | None:
    """Say on which directions the solution depends, if it was found on a subspace."""
    subspace, problem = solution.subspace, solution.problem
    if subspace is None:
        return None
    who = " and ".join(problem.fields) + (" depends" if len(problem.fields) == 1 else " depend")
    count = f"{subspace.size} direction{'s' * (subspace.size > 1)} of {subspace.dimension}"
    return f"{who} on {count}: {subspace.describe(problem.domain.coordinates)}"


def number(value: float | None) -> str:
    """Format a number; a stored report has None for what JSON does not know."""
    return "not finite" if value is None else f"{value:.2e}"


def finite(value: Any) -> Any:
    """Replace numbers that JSON does not know by None."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
