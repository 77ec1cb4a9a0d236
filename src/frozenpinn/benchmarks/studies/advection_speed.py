"""Advection at speeds from 0.01 to 10000: networks in space–time fail beyond 40, a frozen basis in space does not.

``best`` and ``paper`` are the recipes of the case ``advection-fast``, ``estimate`` is the program's own estimate of the
error of the former. The paper shows its errors in a figure and tells that they stay below 1e-4: ``published_paper`` is
that bound. The paper's recipe takes steps of a size that the speed dictates, RK45; ours integrates exactly.
"""

from __future__ import annotations

from frozenpinn.benchmarks import find_case
from frozenpinn.benchmarks.studies.attempts import attempts, estimate, median
from frozenpinn.benchmarks.studies.study import PUBLISHED, Announce, Row, Study

RECIPES = ("best", "paper")
FAST = 1e3  # from this speed on, the paper's recipe runs with the first seed only


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return median errors and seconds, one row per speed."""
    case = find_case("advection-fast")
    bound, table = case.published["high"].rel_l2, []
    for variant in case.variants:
        problem, beta = case.problem(**variant.problem), variant.problem["beta"]
        row: Row = {"beta": beta, "failures": []}
        for recipe in RECIPES:
            count = 1 if recipe == "paper" and beta >= FAST else seeds
            options = case.options(recipe, "high", variant)
            found = attempts(problem, options, count, announce, f"{variant.label}, {recipe}", row["failures"])
            row[recipe] = median(a.solution.error()["rel_l2"] for a in found)
            row[f"{recipe}_seconds"] = median(a.seconds for a in found)
            if recipe == "best":
                row["estimate"] = median(estimate(a.solution) for a in found)
        table.append(row | {PUBLISHED + "paper": bound})
    return table


STUDY = Study(
    "advection-speed",
    "advection: error against speed",
    "beta",
    ("best", "paper", "estimate", PUBLISHED + "paper"),
    rows,
    "relative L² error",
    ("best_seconds", "paper_seconds"),
    "seconds",
)
