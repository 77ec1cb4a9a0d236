"""Penalty κ of the augmented ODE: boundary loss, total loss and time (classical beam)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from frozenpinn.assembly.strategies import AugmentedODE
from frozenpinn.results.solution import Solution
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.cases.case import Variant
from frozenpinn_lab.studies.attempts import attempts
from frozenpinn_lab.studies.study import Announce, Row, Study


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return medians over seeds, one row per κ."""
    case = find_case("euler-bernoulli")
    problem = case.problem()
    settings = case.choices("paper", "high", Variant())
    table = []
    for kappa in (1e3, 1e4, 3e4, 1e5, 3e5, 1e6, 1e7):
        row: Row = {"kappa": kappa, "boundary_rmse": None, "total_rmse": None, "seconds": None, "failures": []}
        chosen = replace(settings, boundary=AugmentedODE(kappa))
        found = [
            (_boundary_rmse(solution), solution.error()["rmse"], seconds)
            for solution, seconds in attempts(problem, chosen, seeds, announce, f"kappa = {kappa:g}", row["failures"])
        ]
        if found:
            row |= dict(zip(("boundary_rmse", "total_rmse", "seconds"), np.median(found, axis=0).tolist(), strict=True))
        table.append(row)
    return table


def _boundary_rmse(solution: Solution) -> float:
    """Root mean square of u and u_xx at both ends, which should vanish."""
    t = np.linspace(*solution.problem.time, 100)
    ends = np.array([solution.problem.domain.lower[0], solution.problem.domain.upper[0]])
    values = [solution(ends[:, None], t, derivative=d) for d in ("", "xx")]
    return float(np.sqrt(np.mean(np.square(values))))


STUDY = Study(
    "kappa",
    "penalty of the augmented ODE, classical beam",
    "kappa",
    ("boundary_rmse", "total_rmse", "seconds"),
    rows,
)
