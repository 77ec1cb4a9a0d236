"""Number of interior points: the reaction in 5 dimensions with 400 neurons from projected pairs.

The paper's table has 1000, 2000 and 20000 points, and its figures, which hardly change, stand beside ours. The boundary
gets the same number of points in every row here, so that it weighs less and less. ``error`` takes the paper at its
word, with boundary rows uₜ = gₜ; ``error_penalty`` has rows that pull back what drifts away (``runs.PENALTY``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from frozenpinn.basis.samplers import ProjectedSWIM
from frozenpinn_lab.cases.high_dimension import PROJECTED
from frozenpinn_lab.studies.runs import literal, measure, posed, stiff, with_penalty
from frozenpinn_lab.studies.study import Announce, Row, Study

WIDTH = 400
POINTS = (1000, 2000, 4000, 20000)
PUBLISHED = {1000: (9.99e-5, 12.43), 2000: (9.90e-5, 102.74), 20000: (9.87e-5, 689.81)}


def rows(seeds: int, announce: Announce, points: Sequence[int] = POINTS, width: int = WIDTH) -> list[Row]:
    """Return medians of error and seconds, one row per number of points."""
    (problem, at), table = posed("reaction-diffusion-5d"), []
    plain = literal(stiff(replace(PROJECTED, sampler=ProjectedSWIM(width))))
    measure(problem, at, plain, 1, announce, "warm-up")
    for count in points:
        row: Row = {"points": count, "failures": []}
        for suffix, settings in (("", plain), ("_penalty", with_penalty(plain))):
            label = f"{count} points{suffix.replace('_', ', ')}"
            found = measure(problem, at, replace(settings, points=count), seeds, announce, label)
            row |= {f"error{suffix}": found.error, f"seconds{suffix}": found.seconds}
            row["failures"] += found.failures
        row["published_error"], row["published_seconds"] = PUBLISHED.get(count, (None, None))
        table.append(row)
    return table


STUDY = Study(
    "interior-points",
    "interior points, reaction and diffusion in 5 dimensions",
    "points",
    ("error", "error_penalty", "published_error"),
    rows,
    "relative L² error",
    ("seconds", "seconds_penalty", "published_seconds"),
    "seconds",
)
