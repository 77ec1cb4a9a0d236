"""Advection at speed 10: the error falls exponentially with the width of the hidden layer.

``best`` and ``swim`` are the recipes of the case ``advection-convergence``, ``elm`` is the latter with the other
sampler; ``estimate`` is the program's own. ``exponential`` is a line through the logarithms of ``best`` where that lies
between ``ROUGH`` and ``FLOOR``. The recipes of the paper end at the tolerance of its integrator, 1e-8.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.basis.samplers import ELM, SWIM, MultiScale
from frozenpinn.search.settings import Settings
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.cases.advection import WIDTHS, paper
from frozenpinn_lab.studies.attempts import attempts, estimate, exponential, median
from frozenpinn_lab.studies.study import Announce, Row, Study, curves, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROUGH, FLOOR = 0.3, 1e-10
WAYS: dict[str, Callable[[int], Settings]] = {
    "best": lambda width: Settings(sampler=MultiScale(width), points=200),
    "swim": lambda width: paper(SWIM(width), 2, 1e-10, 1e-8),
    "elm": lambda width: paper(ELM(width, eta=4), 2, 1e-10, 1e-8),
}


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return median errors, one row per width."""
    problem, table = find_case("advection-convergence").problem(), []
    for width in WIDTHS:
        row: Row = {"width": width, "failures": []}
        for name, settings in WAYS.items():
            found = attempts(problem, settings(width), seeds, announce, f"width {width}, {name}", row["failures"])
            row[name] = median(a.solution.error()["rel_l2"] for a in found)
            if name == "best":
                row["estimate"] = median(estimate(a.solution).worst for a in found)
        table.append(row)
    return _with_line(table)


def _with_line(table: list[Row]) -> list[Row]:
    """Add the exponential and its rate; None where there is nothing to fit, or where the line is below the floor."""
    steep = [row for row in table if row["best"] is not None and FLOOR < row["best"] < ROUGH]
    if len(steep) < 2:
        return [row | {"exponential": None, "rate": None} for row in table]
    a, rate = exponential(*(np.array([row[key] for row in steep]) for key in ("width", "best")))
    line = [a * np.exp(rate * row["width"]) for row in table]
    return [
        row | {"exponential": value if value > FLOOR / 10 else None, "rate": rate}
        for row, value in zip(table, line, strict=True)
    ]


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw errors over the width; on this scale an exponential is a straight line."""
    axis = figure.subplots()
    curves(axis, "width", (*WAYS, "estimate"), rows)
    line = [(row["width"], row["exponential"]) for row in rows if row["exponential"] is not None]
    if line:
        label = f"exp({rows[0]['rate']:.2f} width)"
        axis.plot(*zip(*line, strict=True), color="0.4", linestyle=":", linewidth=2, label=label)
    axis.set_xscale("linear")
    axis.set_xticks(range(0, int(max((row["width"] for row in rows), default=0)) + 1, 20))
    finish(axis, xlabel="width", ylabel="relative L² error")


STUDY = Study(
    "advection-convergence",
    "advection at speed 10: error against width",
    "width",
    (*WAYS, "estimate", "exponential"),
    rows,
    draw=draw,
)
