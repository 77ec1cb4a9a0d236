"""Dimension: the heat equation on a box, whose solution depends on the mean of the coordinates.

``default`` is a solve without any setting, which finds the one direction that matters. ``all_directions`` does not look
for it (subspace=None); it runs with the first seed only, as products in three dimensions take a minute. ``elm`` is our
reading of the paper's settings at low precision, which it calls fast and prints for 10 dimensions: 400 neurons, 16000
points, the augmented ODE with κ = 10⁵. ``elm_no_penalty`` is the same with κ = 0: the rates of boundary values are
given, and nothing pulls back what drifts away. The figures beside are those of the paper for 3, 5, 7 and 10 dimensions;
``published_accurate`` has 4000 neurons, too slow here (``frozenpinn-lab study paper --only "heat 5-d, elm"``).
"""

from __future__ import annotations

from collections.abc import Sequence

from frozenpinn.search.settings import Settings
from frozenpinn_lab.cases.high_dimension import box_points, heat, paper_heat
from frozenpinn_lab.studies.runs import literal, measure
from frozenpinn_lab.studies.study import PUBLISHED, Announce, Row, Study

DIMENSIONS = (2, 3, 5, 7, 10)
WAYS = {
    "default": Settings(),
    "all_directions": Settings(subspace=None),
    "elm": paper_heat(400, 1e-5, 1e-4),
    "elm_no_penalty": literal(paper_heat(400, 1e-5, 1e-4)),
}
ONCE = ("all_directions",)
#: Relative L² error and seconds of the paper by dimension: its fast and its accurate way.
FIGURES = {
    3: {"elm": (3.90e-6, 0.9), "accurate": (6.49e-8, 60.98)},
    5: {"elm": (3.74e-4, 1.2), "accurate": (7.5e-7, 102.95)},
    7: {"elm": (2.21e-5, 5.95), "accurate": (2.54e-6, 176.95)},
    10: {"elm": (4.46e-4, 2.07), "accurate": (2.28e-5, 182.91)},
}
BESIDE = ("elm", "accurate")


def rows(
    seeds: int, announce: Announce, dimensions: Sequence[int] = DIMENSIONS, ways: Sequence[str] = tuple(WAYS)
) -> list[Row]:
    """Return medians of error and seconds, one row per dimension."""
    table = []
    for dimension in dimensions:
        problem = heat(dimension)
        at = box_points(problem)
        row: Row = {"dimension": dimension, **dict.fromkeys((*WAYS, *map(_seconds, WAYS))), "failures": []}
        measure(problem, at, Settings(), 1, announce, f"{dimension} dimensions, warm-up")
        for name in ways:
            label = f"{dimension} dimensions, {name.replace('_', ' ')}"
            found = measure(problem, at, WAYS[name], 1 if name in ONCE else seeds, announce, label)
            row |= {name: found.error, _seconds(name): found.seconds}
            row["failures"] += found.failures
        for name in BESIDE:
            error, seconds = FIGURES.get(dimension, {}).get(name, (None, None))
            row |= {PUBLISHED + name: error, PUBLISHED + _seconds(name): seconds}
        table.append(row)
    return table


def _seconds(name: str) -> str:
    return f"{name}_seconds"


_ALL = (*WAYS, *(PUBLISHED + name for name in BESIDE))
STUDY = Study(
    "dimension",
    "heat equation in many dimensions",
    "dimension",
    _ALL,
    rows,
    "relative L² error",
    tuple(map(_seconds, _ALL)),
    "seconds",
)
