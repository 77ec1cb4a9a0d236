"""Error fields beside the truth: all cases in one dimension, and nonlinear diffusion on the tree at four times.

All are solved by the recipe "best", by our reading of the paper's settings where there is one, and by splines or finite
elements, at high precision and with the first seed; by trained networks, too, if ``--time-limit`` gives them some
seconds each. ``error`` is the relative L² error on the grid that is shown. The Kuramoto–Sivashinsky equation has a
study of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.cases.case import FROZEN_PINN, Case
from frozenpinn_lab.cases.peers import solve_peer
from frozenpinn_lab.runner import FAILURES, timed
from frozenpinn_lab.studies.attempts import attempt
from frozenpinn_lab.studies.pictures import draw_beside, picture
from frozenpinn_lab.studies.study import Announce, Row, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = (
    "advection",
    "euler-bernoulli",
    "euler-bernoulli-winkler",
    "wave",
    "wave-multiscale",
    "burgers",
    "allen-cahn",
    "korteweg-de-vries",
    "nonlinear-diffusion",
)
TIMES = (0.0, 1 / 3, 2 / 3, 1.0)
GRID = 101, 61  # points and times
PLANE = 70, 90
RECIPES = ("best", "paper")
MESHES = ("iga", "fem")
TRAINED = ("pinn-lbfgs", "causal-pinn")


def rows(_: int, announce: Announce, time_limit: float | None = None) -> list[Row]:
    """Return one row per picture; one seed is all that is shown."""
    table: list[Row] = []
    for name in NAMES:
        case = find_case(name)
        ways = [recipe for recipe in RECIPES if case.can_run(FROZEN_PINN, recipe, "high")]
        ways += [method for method in MESHES if case.can_run(method, "", "high")]
        ways += [method for method in TRAINED if time_limit is not None and case.can_run(method, "", "high")]
        for way in ways:
            head: Row = {"problem": name, "way": way, "failures": []}
            try:
                solution, seconds = _solved(case, way, time_limit, announce)
            except FAILURES as error:
                nothing = dict.fromkeys(("t", "seconds", "error", "largest_error", "picture"))
                table.append({**head, **nothing, "failures": [str(error)]})
                continue
            shown = _over_time(solution) if solution.problem.domain.dimension == 1 else _in_plane(solution)
            table += [{**head, "seconds": seconds, **row} for row in shown]
    return table


def _solved(case: Case, way: str, seconds: float | None, announce: Announce) -> tuple[Any, float]:
    """Solve a case by a recipe or by another method; seconds are a limit for networks that are trained."""
    if way in RECIPES:
        return attempt(case, announce, way)
    announce(f"{case.name}, {way}")
    variant = case.variants[0]
    settings = {**case.baseline(way, "high").settings, **variant.peers.get(way, {})}
    limit = seconds if way in TRAINED else None
    return timed(solve_peer, way, case.problem(**variant.problem), settings, 0, limit)


def _over_time(solution: Any) -> Iterator[Row]:
    """Show x against t."""
    problem: Problem = solution.problem
    name, domain = problem.fields[0], problem.domain
    x, t = np.linspace(domain.lower[0], domain.upper[0], GRID[0]), np.linspace(*problem.time, GRID[1])
    exact = np.stack([problem.exact[name](x[:, None], float(s)) for s in t], axis=1)
    yield {"t": None, **picture(t, x, ("t", "x"), solution(x[:, None], t), exact)}


def _in_plane(solution: Any) -> Iterator[Row]:
    """Show y against x, inside the domain, at several times."""
    problem = solution.problem
    domain = problem.domain
    x, y = (np.linspace(a, b, n) for a, b, n in zip(domain.lower, domain.upper, PLANE, strict=True))
    points = np.stack([g.ravel() for g in np.meshgrid(x, y)], axis=1)
    inside = domain.contains(points)
    for t in TIMES:
        found, exact = np.full((2, len(points)), np.nan)
        found[inside] = solution(points[inside], t)
        exact[inside] = problem.exact[problem.fields[0]](points[inside], t)
        shape = len(y), len(x)
        yield {"t": t, **picture(x, y, ("x", "y"), found.reshape(shape), exact.reshape(shape))}


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw two blocks of truth, solution and error."""
    shown = [row for row in rows if row["picture"] is not None]
    times = ["" if row["t"] is None else f", t = {row['t']:.2g}" for row in shown]
    titles = [f"{row['problem']}, {row['way']}{time}" for row, time in zip(shown, times, strict=True)]
    draw_beside(shown, figure, titles)


STUDY = Study(
    "fields",
    "truth, solution and error",
    "problem",
    ("error", "largest_error"),
    rows,
    details=("way", "t", "seconds"),
    draw=draw,
    size=(17, 32),
    options=("time_limit",),
)
