"""Width of the hidden layer: Burgers by our reading of the paper's settings, with its figures beside.

Settings are those of the case ``burgers`` at high precision. The paper's table has an error of 2.27e-7 at a width of
550, its list of settings the same error at 450.
"""

from __future__ import annotations

import numpy as np

from frozenpinn.cli.demo import burgers
from frozenpinn_lab.cases.burgers import paper
from frozenpinn_lab.studies.runs import measure
from frozenpinn_lab.studies.study import PUBLISHED, Announce, Row, Study

FIGURES: dict[int, float | None] = {240: 4.27e-4, 450: None, 550: 2.27e-7, 800: 2.78e-6, 1200: 1.54e-6}
BUDGET = 20.0


def rows(seeds: int, announce: Announce) -> list[Row]:
    """Return medians of error and seconds, one row per width."""
    problem, at, table = burgers(), np.linspace(-1, 1, 256)[:, None], []
    for width, published in FIGURES.items():
        settings = paper(width, 6000, 1000, 5e-11, 1e-13, 1e-8, 1e-8)
        found = measure(problem, at, settings, seeds, announce, f"width {width}", BUDGET)
        row: Row = {"width": width, "kept": found.rank, "swim": found.error, PUBLISHED + "swim": published}
        table.append(row | {"seconds": found.seconds, "failures": found.failures})
    return table


STUDY = Study(
    "width-burgers",
    "width of the network, Burgers",
    "width",
    ("swim", PUBLISHED + "swim"),
    rows,
    "relative L² error",
    ("seconds",),
    "seconds",
    ("kept",),
)
