"""Advection at speeds from 0.01 to 10000: networks in space–time fail beyond 40, a frozen basis in space does not.

``best`` and ``paper`` are the recipes of the case ``advection-fast``, ``estimate`` is the program's own estimate of the
error of the former. The paper shows its errors in a figure and tells that they stay below 1e-4: ``published_paper`` is
that bound. The paper's recipe takes steps of a size that the speed dictates, RK45; ours integrates exactly.

Beside them are, with the first seed, splines (``iga``) and random features of space and time at the paper's settings
(``spacetime_elm``, ``spacetime_swim``), the latter up to the speed of 100, beyond which it has none.
"""

from __future__ import annotations

import time
from typing import Any

from frozenpinn.errors import FrozenPinnError
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.studies.attempts import attempts, estimate, median
from frozenpinn_lab.studies.study import PUBLISHED, Announce, Row, Study

CASE = "advection-fast"
RECIPES = ("best", "paper")
OTHERS = {"iga": "iga", "spacetime_elm": "spacetime-elm", "spacetime_swim": "spacetime-swim"}
FAST = 1e3  # from this speed on, the paper's recipe runs with the first seed only
_BUDGET = 40.0


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return median errors and seconds, one row per speed."""
    case = find_case(CASE)
    bound, table = case.published["high"].rel_l2, []
    for variant in case.variants:
        problem, beta = case.problem(**variant.problem), variant.problem["beta"]
        row: Row = {"beta": beta, "failures": []}
        for recipe in RECIPES:
            count = 1 if recipe == "paper" and beta >= FAST else seeds
            settings = case.choices(recipe, "high", variant)
            found = attempts(problem, settings, count, announce, f"{variant.label}, {recipe}", row["failures"])
            row[recipe] = median(a.solution.error()["rel_l2"] for a in found)
            row[_seconds(recipe)] = median(a.seconds for a in found)
            if recipe == "best":
                row["estimate"] = median(estimate(a.solution).worst for a in found)
        for name in OTHERS:
            announce(f"{variant.label}, {name}")
            row |= _other(name, problem, beta, row["failures"])
        table.append(row | {PUBLISHED + "paper": bound})
    return table


def _other(name: str, problem: Problem, beta: float, failures: list[str]) -> Row:
    """Solve by another method."""
    method = OTHERS[name]
    from frozenpinn_lab.cases.peer_settings import ADVECTION_POINTS, SETTINGS
    from frozenpinn_lab.peers.methods import solve_baseline

    options: dict[str, Any] = dict(SETTINGS[CASE][method].settings)
    if name != "iga":
        if beta not in ADVECTION_POINTS:
            return {name: None, _seconds(name): None}
        options["interior"] = ADVECTION_POINTS[beta]
    start = time.perf_counter()
    try:
        solution = solve_baseline(method, problem, seconds=_BUDGET, **options)
    except FrozenPinnError as error:
        failures.append(f"beta={beta:g}, {name}: {error}")
        return {name: None, _seconds(name): None}
    elapsed = time.perf_counter() - start
    return {name: solution.error()["rel_l2"], _seconds(name): elapsed}


def _seconds(name: str) -> str:
    return f"{name}_seconds"


STUDY = Study(
    "advection-speed",
    "advection: error against speed",
    "beta",
    (*RECIPES, *OTHERS, "estimate", PUBLISHED + "paper"),
    rows,
    "relative L² error",
    tuple(map(_seconds, (*RECIPES, *OTHERS))),
    "seconds",
)
