"""Ablations of trained networks: width, interior points and depth, by L-BFGS, with the paper's figures beside.

Advection with speeds 10 (tables of the paper's lines 1894, 1983 and 1999) and 40 (1931), and nonlinear diffusion (2690
and 2706), with the settings of the cases ``advection`` and ``nonlinear-diffusion`` but for what varies. The figures of
ten and twenty layers are those of its rate 0.1; ours is set by a line search. The paper trains for 5000 epochs (20 000
with ten and twenty layers), which takes minutes here: a training is cut after ``--time-limit`` seconds, 20 by default,
so that errors are larger than published where it is. ``cut`` counts the seeds whose training was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.cases.advection import advection
from frozenpinn_lab.cases.case import Case
from frozenpinn_lab.cases.peers import solve_peer
from frozenpinn_lab.cases.pinn_settings import SETTINGS
from frozenpinn_lab.runner import FAILURES, timed, worst_error
from frozenpinn_lab.studies.attempts import median
from frozenpinn_lab.studies.study import PUBLISHED, Announce, Row, Study

SECONDS = 20.0
METHOD = "pinn-lbfgs"
#: Published errors by problem, by what varies, and by its value.
FIGURES: dict[str, dict[str, dict[int, float]]] = {
    "advection, speed 10": {
        "width": {10: 1.76e-3, 20: 9.22e-4, 30: 5.23e-4, 40: 5.46e-4},
        "interior": {500: 5.80e-4, 1000: 5.27e-4, 1500: 8.03e-4, 2000: 5.23e-4},
        "layers": {10: 8.51e-4, 20: 1.74e-2},
    },
    "advection, speed 40": {"layers": {10: 4.37e-3, 20: 2.17e1}},
    "nonlinear-diffusion": {
        "width": {10: 1.50e-2, 20: 1.37e-2, 30: 1.34e-2, 40: 1.37e-2},
        "interior": {600: 1.37e-2, 1200: 1.28e-2, 2390: 1.22e-2},
    },
}
SPEED, DEEP = 10.0, 20_000  # that of most tables, the other one is that of the case; iterations of deep networks


def rows(seeds: int, announce: Announce, time_limit: float | None = None) -> list[Row]:
    """Return medians of errors and seconds, one row for each value of what varies."""
    limit = SECONDS if time_limit is None else time_limit
    return [
        row
        for name, varied in FIGURES.items()
        for option, figures in varied.items()
        for value, published in figures.items()
        for row in _trained(name, option, value, published, seeds, announce, limit)
    ]


def _posed(name: str) -> tuple[Case, Problem]:
    """Return the case that has the settings, and the problem."""
    case = find_case(name.partition(",")[0])
    return case, advection(SPEED) if name == "advection, speed 10" else case.problem()


def _trained(
    name: str, option: str, value: int, published: float, seeds: int, announce: Announce, seconds: float
) -> Iterator[Row]:
    (case, problem), label = _posed(name), f"{name}, {option} {value}"
    place = case.test_points
    at = {} if place is None else {"at": place(problem)}
    changed: dict[str, Any] = {option: value}
    settings = replace(SETTINGS[case.name][METHOD].settings, **changed)
    settings = replace(settings, lbfgs_steps=DEEP) if option == "layers" else settings
    errors, spent, cut, failures = [], [], 0, []
    for seed in range(seeds):
        announce(f"{label}, seed {seed}")
        try:
            solution, took = timed(solve_peer, METHOD, problem, vars(settings), seed, seconds)
        except FAILURES as error:
            failures.append(f"{label}, seed {seed}: {error}")
            continue
        errors.append(worst_error(solution, problem, **at)["rel_l2"])
        spent.append(took)
        cut += bool(solution.stopped)
    row: Row = {"problem": name, "varied": option, "value": str(value), PUBLISHED + "error": published}
    yield {**row, "error": median(errors), "seconds": median(spent), "cut": str(cut), "failures": failures}


STUDY = Study(
    "pinn-ablation",
    "trained networks: width, points and depth",
    "problem",
    ("error", PUBLISHED + "error"),
    rows,
    "relative L² error",
    details=("varied", "value", "seconds", "cut"),
    options=("time_limit",),
)
