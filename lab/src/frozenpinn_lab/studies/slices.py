"""Slices through solutions in 5, 10 and 100 dimensions, beside the truth.

The planes are those of the paper: one coordinate against time for the heat equation, with the others in the middle,
and the first two coordinates at four times for the reaction, with the others in the middle. "Diagonal" is the line
through the middle along which all coordinates are equal; there the heat equation varies most. All are solved by the
recipe "best" at high precision, with the first seed; ``error`` is the relative L² error on the grid that is shown.
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

Array = np.ndarray
#: Coordinates that are shown against time.
LINES = {"heat-10d": (3, 5, 7), "heat-100d": (1, 21, 100)}
PLANES = ("reaction-diffusion-5d",)
TIMES = (0.0, 1 / 3, 2 / 3, 1.0)
GRID = 61, 41


def rows(_: int, announce: Announce) -> list[Row]:
    """Return one row per slice; one seed is all that is shown."""
    table: list[Row] = []
    for name in (*LINES, *PLANES):
        solution, seconds = attempt(find_case(name), announce)
        shown = _against_time(solution, LINES[name]) if name in LINES else _first_two(solution)
        table += [{"problem": name, "seconds": seconds, "failures": [], **row} for row in shown]
    return table


def _against_time(solution: Solution, coordinates: tuple[int, ...]) -> Iterator[Row]:
    problem = solution.problem
    dimension, reach = problem.domain.dimension, np.linspace(-1, 1, GRID[0])
    t = np.linspace(*problem.time, GRID[1])
    directions = {f"x{k}": np.eye(dimension)[k - 1] for k in coordinates}
    on_boundary = 1.0 if problem.domain.contains(np.ones((1, dimension))).all() else dimension**-0.5
    directions["diagonal"] = np.full(dimension, on_boundary)
    for label, direction in directions.items():
        x = np.outer(reach, direction)
        found = solution(*x.T[:, :, None], t)
        exact = np.stack([problem.exact["u"](x, float(s)) for s in t], axis=1)
        yield {"slice": label, "t": None, **picture(t, reach, ("t", label), found, exact)}


def _first_two(solution: Solution) -> Iterator[Row]:
    problem, reach = solution.problem, np.linspace(-1, 1, GRID[0])
    x = np.zeros((len(reach) ** 2, problem.domain.dimension))
    x[:, 0], x[:, 1] = (g.ravel() for g in np.meshgrid(reach, reach))
    for t in TIMES:
        found, exact = (v.reshape(len(reach), -1) for v in (solution(x, t), problem.exact["u"](x, t)))
        yield {"slice": "x1, x2", "t": t, **picture(reach, reach, ("x1", "x2"), found, exact)}


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw two blocks of truth, solution and error."""
    titles = [f"{r['problem']}, " + (r["slice"] if r["t"] is None else f"t = {r['t']:.2g}") for r in rows]
    draw_beside(rows, figure, titles)


STUDY = Study(
    "slices",
    "slices through many dimensions: truth, solution and error",
    "problem",
    ("error", "largest_error"),
    rows,
    details=("slice", "t", "seconds"),
    draw=draw,
    size=(17, 15),
)
