"""Width of the hidden layer: the heat equation on boxes in 3, 5, 7 and 10 dimensions, by ELM and SWIM.

The paper shows this in a figure without naming the points; here there are ``POINTS`` inside and as many on the sides,
and its other settings at high precision, with RK45. As in the case ``heat-10d`` boundary rows have a penalty.
"""

from __future__ import annotations

from dataclasses import replace

from frozenpinn.basis.samplers import SWIM
from frozenpinn_lab.cases.high_dimension import box_points, heat, paper_heat
from frozenpinn_lab.studies.runs import measure
from frozenpinn_lab.studies.study import Announce, Row, Study

DIMENSIONS = (3, 5, 7, 10)
WIDTHS = (25, 50, 100, 200, 400)
POINTS = 2000
BUDGET = 20.0


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return median errors, one row per width."""
    problems = {d: heat(d) for d in DIMENSIONS}
    places = {d: box_points(problem) for d, problem in problems.items()}
    table = []
    for width in WIDTHS:
        row: Row = {"width": width, "failures": []}
        elm = paper_heat(width, 1e-10, 1e-6, points=POINTS)
        for name, settings in (("elm", elm), ("swim", replace(elm, sampler=SWIM(width)))):
            for d, problem in problems.items():
                label = f"{d} dimensions, {name}, width {width}"
                found = measure(problem, places[d], settings, seeds, announce, label, BUDGET)
                row[f"{name}_{d}d"] = found.error
                row["failures"] += found.failures
        table.append(row)
    return table


STUDY = Study(
    "width-heat",
    "width of the network, heat equation in many dimensions",
    "width",
    tuple(f"elm_{d}d" for d in DIMENSIONS),
    rows,
    "relative L² error",
    tuple(f"swim_{d}d" for d in DIMENSIONS),
    "relative L² error",
)
