"""Hostile inputs of five kinds, 600 each: none may end in a raw error, take ten seconds or 2 GB, or be taken wrongly.

The inputs follow from seeds; each seed makes others. What is printed as failed can be tried again: its label is the
call, the text or the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frozenpinn_lab.fuzzing import KINDS, outcome_of
from frozenpinn_lab.studies.study import COLOURS, Announce, Row, Study, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNT = 600  #: inputs of each kind, per seed
BAD = ("raw", "slow", "memory", "wrong")


def rows(seeds: int, announce: Announce, count: int = COUNT) -> list[Row]:
    """Return how many inputs were refused and accepted, and what went wrong, one row per kind."""
    table = []
    for kind, generate in KINDS.items():
        found = []
        for seed in range(seeds):
            for i, trial in enumerate(generate(np.random.default_rng(seed), count)):
                if i % 100 == 0:
                    announce(f"{kind}, seed {seed}, {i} of {count}")
                found.append(outcome_of(trial))
        row: Row = {"kind": kind, "inputs": len(found)}
        row |= {name: sum(o.verdict == name for o in found) for name in ("refused", "accepted", *BAD)}
        row["slowest_seconds"] = max(o.seconds for o in found)
        row["failures"] = [f"{kind}, {o.verdict}: {o.label}: {o.text}" for o in found if not o.good]
        table.append(row)
    return table


def draw(rows: list[Row], figure: Figure) -> None:
    """Draw what became of the inputs as bars."""
    axis = figure.subplots()
    left = np.zeros(len(rows))
    for name, colour in zip(("refused", "accepted", *BAD), COLOURS, strict=False):
        counts = np.array([row[name] for row in rows])
        axis.barh([row["kind"] for row in rows], counts, left=left, color=colour, label=name)
        left += counts
    finish(axis, xlabel="inputs")


STUDY = Study(
    "fuzz",
    "hostile texts, calls and files",
    "kind",
    ("refused", "accepted"),
    rows,
    details=("inputs", *BAD, "slowest_seconds"),
    draw=draw,
)
