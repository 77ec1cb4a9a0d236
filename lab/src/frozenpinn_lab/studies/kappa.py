"""Penalty κ of the augmented ODE: boundary loss, total loss and time (classical beam).

Settings are those of the case ``euler-bernoulli`` at high precision. ``boundary_rmse`` is the root mean square of u at
both ends, ``curvature_rmse`` that of u_xx, both of which should vanish.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from frozenpinn.assembly.strategies import AugmentedODE
from frozenpinn.results.solution import Solution
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.cases.case import Variant
from frozenpinn_lab.studies.attempts import attempts
from frozenpinn_lab.studies.study import Announce, Row, Study

MEASURED = ("boundary_rmse", "curvature_rmse", "total_rmse", "seconds")


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return medians over seeds, one row per κ."""
    case = find_case("euler-bernoulli")
    problem = case.problem()
    settings = case.choices("paper", "high", Variant())
    table = []
    for kappa in (1e3, 1e4, 3e4, 1e5, 3e5, 1e6, 1e7):
        row: Row = {"kappa": kappa, **dict.fromkeys(MEASURED), "failures": []}
        chosen = replace(settings, boundary=AugmentedODE(kappa))
        found = [
            (_at_ends(solution, ""), _at_ends(solution, "xx"), solution.error()["rmse"], seconds)
            for solution, seconds in attempts(problem, chosen, seeds, announce, f"kappa = {kappa:g}", row["failures"])
        ]
        if found:
            row |= dict(zip(MEASURED, np.median(found, axis=0).tolist(), strict=True))
        table.append(row)
    return table


def _at_ends(solution: Solution, derivative: str) -> float:
    """Return the root mean square of u or a derivative at both ends."""
    t = np.linspace(*solution.problem.time, 100)
    ends = np.array([solution.problem.domain.lower[0], solution.problem.domain.upper[0]])
    return float(np.sqrt(np.mean(np.square(solution(ends[:, None], t, derivative=derivative)))))


STUDY = Study(
    "kappa",
    "penalty of the augmented ODE, classical beam",
    "kappa",
    MEASURED,
    rows,
)
