"""Cut-off of the least-squares fit of the initial value: error of that value and of the solution (advection).

The problem and the network are those of the case ``advection``. ``paper`` is its recipe, where the cut-off belongs to
the fit of the outer functions, and so to the initial value, one of them. ``ours`` is the recipe best: after an SVD
layer the functions are orthonormal, and nothing is left to cut. ``ours_without_svd`` has no such layer, so that the
cut-off is what stands between the initial value and the round-off; from 1e-12 on its system explodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.basis.samplers import SWIM
from frozenpinn.results.solution import Solution
from frozenpinn.search.settings import Settings
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.cases.advection import BEST, paper
from frozenpinn_lab.studies.attempts import attempts, median, relative
from frozenpinn_lab.studies.study import COLOURS, MARKERS, Announce, Row, Study, curves, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CUTOFFS = tuple(10.0**-k for k in range(1, 18))
WAYS: dict[str, Callable[[float], Settings]] = {
    "paper": lambda rcond: replace(paper(SWIM(380), 14, rcond, 1e-8), rcond=rcond),
    "ours": lambda rcond: replace(BEST, rcond=rcond),
    "ours_without_svd": lambda rcond: replace(BEST, rcond=rcond, cutoff=None),
}


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return median errors, one row per cut-off."""
    problem, table = find_case("advection").problem(), []
    for rcond in CUTOFFS:
        row: Row = {"rcond": rcond, "failures": []}
        for name, settings in WAYS.items():
            found = attempts(problem, settings(rcond), seeds, announce, f"rcond {rcond:g}, {name}", row["failures"])
            row[name] = median(a.solution.error()["rel_l2"] for a in found)
            row[f"{name}_initial"] = median(_initial(a.solution) for a in found)
        table.append(row)
    return table


def _initial(solution: Solution) -> float:
    x = np.linspace(0, 2 * np.pi, 257)
    return relative(solution(x, 0.0), np.sin(x))


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw errors over the cut-off, and over the error of the initial value."""
    left, right = figure.subplots(1, 2)
    curves(left, "rcond", tuple(WAYS), [row | {"failures": []} for row in rows])
    finish(left, ylabel="relative L² error of the solution")
    ends = [1e-14, 1.0]
    right.loglog(ends, ends, color="0.6", linewidth=1, label="no growth")
    for name, colour, marker in zip(WAYS, COLOURS, MARKERS, strict=False):
        pairs = [(row[f"{name}_initial"], row[name]) for row in rows if row[name] is not None]
        if pairs:
            label = name.replace("_", " ")
            right.loglog(*zip(*pairs, strict=True), color=colour, marker=marker, linestyle="", label=label)
    finish(right, xlabel="relative L² error of the initial value", ylabel="relative L² error of the solution")


STUDY = Study(
    "rcond",
    "cut-off of the initial fit, advection at speed 40",
    "rcond",
    tuple(WAYS),
    rows,
    details=tuple(f"{name}_initial" for name in WAYS),
    draw=draw,
    size=(11, 4.6),
)
