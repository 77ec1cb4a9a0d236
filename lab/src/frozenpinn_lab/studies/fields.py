"""Error fields beside the truth: all cases in one dimension, and nonlinear diffusion on the tree at four times.

All are solved by the recipe "best" at high precision, with the first seed. ``error`` is the relative L² error on the
grid that is shown. The Kuramoto–Sivashinsky equation has a study of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.results.solution import Solution
from frozenpinn_lab.cases import find_case
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


def rows(_: int, announce: Announce) -> list[Row]:
    """Return one row per picture; one seed is all that is shown."""
    table: list[Row] = []
    for name in NAMES:
        solution, seconds = attempt(find_case(name), announce)
        shown = _over_time(solution) if solution.problem.domain.dimension == 1 else _in_plane(solution)
        table += [{"problem": name, "seconds": seconds, "failures": [], **row} for row in shown]
    return table


def _over_time(solution: Solution) -> Iterator[Row]:
    """Show x against t."""
    problem = solution.problem
    name, domain = problem.fields[0], problem.domain
    x, t = np.linspace(domain.lower[0], domain.upper[0], GRID[0]), np.linspace(*problem.time, GRID[1])
    exact = np.stack([problem.exact[name](x[:, None], float(s)) for s in t], axis=1)
    yield {"t": None, **picture(t, x, ("t", "x"), solution(x[:, None], t), exact)}


def _in_plane(solution: Solution) -> Iterator[Row]:
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
    titles = [row["problem"] + ("" if row["t"] is None else f", t = {row['t']:.2g}") for row in rows]
    draw_beside(rows, figure, titles)


STUDY = Study(
    "fields",
    "truth, solution and error",
    "problem",
    ("error", "largest_error"),
    rows,
    details=("t", "seconds"),
    draw=draw,
    size=(17, 15),
)
