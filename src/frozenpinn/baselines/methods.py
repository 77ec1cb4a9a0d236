"""All baselines by name."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from frozenpinn.errors import SettingsError, choices
from frozenpinn.problem.problem import Problem

BASELINES = ("iga", "fem", "spacetime-elm", "spacetime-swim")


class BaselineSolution(Protocol):
    """What all baselines return."""

    size: int

    def error(
        self, field: str | None = None, points: int = 256, times: int = 100, at: np.ndarray | None = None
    ) -> dict[str, float]:
        """Return relative L² error and RMSE, as ``Solution.error`` does."""


def solve_baseline(
    method: str, problem: Problem, *, seed: int = 0, seconds: float | None = None, **options: Any
) -> BaselineSolution:
    """Solve a problem by a baseline; the seed matters for random features only.

    Linear problems in one dimension are integrated by DOP853 in IGA unless ``integrator`` says otherwise.
    """
    if method in ("spacetime-elm", "spacetime-swim"):
        from frozenpinn.baselines.spacetime import solve_spacetime

        sampler = method.removeprefix("spacetime-")
        return solve_spacetime(problem, sampler=sampler, seed=seed, seconds=seconds, **options)
    if method == "fem":
        from frozenpinn.baselines.fem import solve_fem

        return solve_fem(problem, seconds=seconds, **options)
    if method != "iga":
        raise SettingsError(f"unknown baseline '{method}'; choose one of {choices(BASELINES)}.")
    if problem.is_linear:
        from frozenpinn.baselines.iga import solve_iga

        return solve_iga(problem, seconds=seconds, **{"integrator": "dop853", **options})
    from frozenpinn.baselines.iga_nonlinear import solve_nonlinear_iga

    return solve_nonlinear_iga(problem, seconds=seconds, **options)
