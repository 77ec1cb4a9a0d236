"""Advection at speed 1 for 1000 time units: how the error grows with time.

``best`` and ``paper`` are the recipes of the case ``advection-long``; every error is the relative L² error in space at
one time, and ``estimate`` the program's own at that time. ``published_paper`` is the bound that the paper gives for the
whole time.
"""

from __future__ import annotations

import numpy as np

from frozenpinn_lab.cases import find_case
from frozenpinn_lab.cases.case import Variant
from frozenpinn_lab.studies.attempts import TimedSolution, attempts, estimate, median, relative
from frozenpinn_lab.studies.study import PUBLISHED, Announce, Row, Study

RECIPES = ("best", "paper")
TIMES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 125.0, 250.0, 500.0, 1000.0)


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return median errors, one row per time."""
    case = find_case("advection-long")
    problem, failures = case.problem(), list[str]()
    found = {
        recipe: attempts(problem, case.choices(recipe, "high", Variant()), seeds, announce, recipe, failures)
        for recipe in RECIPES
    }
    estimates, bound = [estimate(a.solution) for a in found["best"]], case.published["high"].rel_l2
    table: list[Row] = [
        {"t": t, **_at(t, found), "estimate": median(float(e.at(t)) for e in estimates), PUBLISHED + "paper": bound}
        for t in TIMES
    ]
    seconds = {f"{recipe}_seconds": median(a.seconds for a in found[recipe]) for recipe in RECIPES}
    return [row | seconds | {"failures": failures if place == 0 else []} for place, row in enumerate(table)]


def _at(t: float, found: dict[str, list[TimedSolution]]) -> Row:
    x = np.linspace(0, 2 * np.pi, 128, endpoint=False)
    exact = np.sin(x - t)
    return {name: median(relative(a.solution(x, t), exact) for a in each) for name, each in found.items()}


STUDY = Study(
    "advection-long",
    "advection at speed 1: error against time",
    "t",
    (*RECIPES, "estimate", PUBLISHED + "paper"),
    rows,
    "relative L² error",
    details=("best_seconds", "paper_seconds"),
)
