"""Whether a basis on a box should follow the solution, from what a solve with one basis has shown.

Width along one axis is cheap on products. So a front is followed only if an axis that has many neurons already would
have to be much wider to resolve it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frozenpinn.evolution.grading import is_spread_out
from frozenpinn.evolution.resolution import Watch
from frozenpinn.evolution.window_transfer import state_slopes
from frozenpinn.results.solution import Solution
from frozenpinn.search.axis_misfit import SHARES
from frozenpinn.search.rules import WindowRules
from frozenpinn.search.settings import Task


def fronts_to_follow(solution: Solution, misfits: Sequence[float], widths: Sequence[int], task: Task) -> list[bool]:
    """Tell for each axis whether there is a front along it that a basis should follow.

    Parameters
    ----------
    solution
        Found with one basis.
    misfits, widths
        What narrower networks miss along each axis, and its neurons.
    task
        What was asked.
    """
    rules, asked, d = task.rules.sizing, task.tolerances.solution, len(widths)
    assert asked is not None
    least, worth = rules.follows_from[d - 2], rules.worth[d - 2]
    wanted = SHARES[-1] * np.log(rules.trial_margin * asked)  # as if misfits fell exponentially with the width
    lacking = [w >= least and wanted < worth * np.log(min(m, 0.9)) for w, m in zip(widths, misfits, strict=True)]
    if not any(lacking):
        return lacking
    return [a and b for a, b in zip(lacking, _fronts(solution, task.rules.windows), strict=True)]


def _fronts(solution: Solution, rules: WindowRules) -> list[bool]:
    """Tell for each axis whether the solution is steep on a small part of it, as long as it can be trusted."""
    piece = solution.pieces[-1]
    system, times = solution.system, np.linspace(piece.start, piece.end, 33)
    watch, states = Watch(system, 1.0, rules), piece.trajectory(times)
    shares = np.array([watch.share(y) for y in states])
    worst = int(np.argmax(np.where(shares <= rules.trusted, shares, 0.0)))
    return [not is_spread_out(axis, rules) for axis in state_slopes(system, states[worst], float(times[worst]))]
