"""What the static cases share."""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

from frozenpinn.search.settings import Settings
from frozenpinn_lab.cases.case import Case

Width: TypeAlias = int | tuple[int, ...]
static_case = partial(Case, is_static=True)


def widths(high: Width, low: Width, sampler: str | None = None) -> dict[tuple[str, str], Settings]:
    """Return settings of the recipe "best" at both precisions: widths, everything else is left open.

    A rule that does not look at the exact solution: the smallest width of the ladder 20, 30, 40, 60, 80, 120, 160, 240,
    320, 480, 640, 960, 1280, 1920 for which ``fp.estimate_error`` is at most 1e-10 (2e-9 for u₂ in solids, 1e-4 at low
    precision); where none is, that with the least estimate of those that take less than about ten seconds. Pairs are
    widths of the axes of a product, from the ladder 10, 20, 30, 40, 50, 60, where that is the faster of the two.
    """
    return {
        ("best", "high"): Settings(width=high, sampler=sampler),
        ("best", "low"): Settings(width=low, sampler=sampler),
    }
