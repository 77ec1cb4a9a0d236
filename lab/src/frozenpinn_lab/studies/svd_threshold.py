"""Cut-off of the SVD layer: error, functions kept and seconds for Burgers, nonlinear diffusion and 10 dimensions.

Settings are the paper's, as in the cases ``burgers``, ``nonlinear-diffusion`` (200 SWIM neurons, as it has them here)
and ``heat-10d`` at low precision (400 neurons instead of 4000), with LSODA for the second, which takes RK45 minutes.
The cut-off of the initial fit follows that of the layer. "No penalty" repeats the nonlinear diffusion with boundary
rows uₜ = gₜ alone, which blows up at large cut-offs, as the paper tells of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.basis.samplers import SWIM
from frozenpinn.cli.demo import burgers
from frozenpinn.search.settings import Settings
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.burgers import paper as burgers_paper
from frozenpinn_lab.cases.high_dimension import box_points, heat, paper_heat
from frozenpinn_lab.cases.nonlinear_diffusion import nonlinear_diffusion, tree_points
from frozenpinn_lab.cases.nonlinear_diffusion import paper as tree_paper
from frozenpinn_lab.studies.runs import literal, measure, stiff
from frozenpinn_lab.studies.study import COLOURS, MARKERS, Announce, Row, Study, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
CUTOFFS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14)
BUDGET = 10.0


def _grid(_: Problem) -> Array:
    return np.linspace(-1, 1, 256)[:, None]


#: The problem, where errors are measured, and the settings for a cut-off.
PROBLEMS: dict[str, tuple[Callable[[], Problem], Callable[[Problem], Array], Callable[[float], Settings]]] = {
    "burgers": (burgers, _grid, lambda cut: burgers_paper(450, 6000, 1000, cut, cut, 1e-8, 1e-8)),
    "nonlinear diffusion": (nonlinear_diffusion, tree_points, lambda cut: stiff(tree_paper(SWIM(200), cut))),
    "diffusion, no penalty": (nonlinear_diffusion, tree_points, lambda cut: literal(stiff(tree_paper(SWIM(200), cut)))),
    "heat 10d": (lambda: heat(10), box_points, lambda cut: paper_heat(400, cut, 1e-4)),
}


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return medians of error, functions kept and seconds, one row per problem and cut-off."""
    table = []
    for name, (build, place, settings) in PROBLEMS.items():
        problem = build()
        at = place(problem)
        measure(problem, at, settings(CUTOFFS[0]), 1, announce, f"{name}, warm-up", BUDGET)
        for cutoff in CUTOFFS:
            found = measure(problem, at, settings(cutoff), seeds, announce, f"{name}, cut-off {cutoff:g}", BUDGET)
            values = {"error": found.error, "kept": found.rank, "seconds": found.seconds, "failures": found.failures}
            table.append({"problem": name, "cutoff": cutoff, **values})
    return table


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw three pictures; a black triangle marks a cut-off at which all runs failed."""
    labels = {"error": "relative L² error", "kept": "functions kept", "seconds": "seconds"}
    for axis, (key, label) in zip(figure.subplots(1, 3), labels.items(), strict=True):
        for name, colour, marker in zip(PROBLEMS, COLOURS, MARKERS, strict=False):
            pairs = [(r["cutoff"], r[key]) for r in rows if r["problem"] == name and r[key] is not None]
            if pairs:
                axis.loglog(*zip(*pairs, strict=True), color=colour, marker=marker, label=name)
        failed = [r["cutoff"] for r in rows if r["error"] is None]
        if key == "error" and failed:
            height = 2 * max((r["error"] for r in rows if r["error"] is not None), default=1.0)
            axis.loglog(failed, [height] * len(failed), "k^", linestyle="", markersize=9, label="failed")
        finish(axis, xlabel="cut-off of the SVD layer", ylabel=label)


STUDY = Study(
    "svd-threshold",
    "cut-off of the SVD layer",
    "problem",
    ("error", "kept", "seconds"),
    rows,
    details=("cutoff",),
    draw=draw,
    size=(14, 4.6),
)
