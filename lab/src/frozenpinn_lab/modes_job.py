"""Eigenvalue cases for the bench: the error is the largest relative one of the eigenvalues asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from frozenpinn.errors import ConvergenceError
from frozenpinn.modes.modes import modes
from frozenpinn.modes.result import Modes
from frozenpinn.runtime.budget import Progress
from frozenpinn.statement.problem import Problem


@dataclass(frozen=True, eq=False)
class JudgedModes:
    """Modes beside the values that are known."""

    modes: Modes
    exact: tuple[float, ...]

    def error(self, field: str | None = None, **where: Any) -> dict[str, float]:
        """Return the largest relative error of the eigenvalues, and the root mean square of their errors."""
        gaps = np.abs(np.sort(np.real(self.modes.values)) - np.array(self.exact))
        return {"rel_l2": float(np.max(gaps / np.abs(self.exact))), "rmse": float(np.sqrt(np.mean(gaps**2)))}

    @property
    def estimate(self) -> float:
        """The program's own estimate of the largest relative error."""
        return float(np.max(self.modes.errors / np.abs(self.modes.values)))

    @property
    def sizes(self) -> dict[str, Any]:
        """What a record says of the solve."""
        report = self.modes.report
        return {"width": report.width, "sampler": report.features, "verdict": self.modes.status}


def judged_modes(
    problem: Problem, exact: Sequence[float], seed: int, progress: Progress, **options: Any
) -> JudgedModes:
    """Find as many eigenvalues as are known."""
    found = modes(problem, len(exact), seed=seed, progress=progress, **options)
    if len(found) < len(exact):
        raise ConvergenceError(f"{len(found)} of {len(exact)} eigenvalues were found.")
    return JudgedModes(found, tuple(exact))
