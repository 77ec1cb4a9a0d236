"""Whether solutions can be trusted that know what they leave of their equations at held-out points: it must fall.

Without functions of a corner at which gradients are unbounded, least squares converges to a wrong function. Two
solutions agree more and more, and no distance shows it. What they leave of the equations does: it stays as it is. Where
that was not measured it is not a number, and nothing is doubted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frozenpinn.results.static_facts import StaticFacts
from frozenpinn.search.rules import StaticRules

History = Sequence[tuple[float, float]]  #: effort of each solve so far, and what it has left of the equations


def doubt(effort: float, left: float, history: History, rules: StaticRules, projected: bool = False) -> float | None:
    """Return what a solve leaves if that is too much, or does not fall with the width; None if it can be trusted.

    Projections, as those on products, do not trade values for residuals: they are trusted as long as these fall.

    Examples
    --------
    >>> rules = StaticRules()
    >>> doubt(4.0, 0.23, [(1.0, 0.3), (4.0, 0.23)], rules), doubt(1.25, 0.05, [(1.0, 0.05)], rules)
    (0.23, 0.05)
    >>> doubt(4.0, 0.01, [(1.0, 0.3), (4.0, 0.01)], rules) is None
    True
    """
    if left > rules.untrusted and not projected:
        return left
    return left if left > rules.doubtful and _flat(effort, left, history, rules) else None


def _flat(effort: float, left: float, history: History, rules: StaticRules) -> bool:
    """Whether narrower networks have left about as little, as far as their widths differ."""
    falls = 0.85  # to this part of what a network has left that is narrower by the factor of the rules, at least
    nearest = 1.2  # ratio of two widths that can be compared at all: a first solve and its witness
    before = [(effort / narrower, other) for narrower, other in history if nearest * narrower <= effort]
    parts = [(falls ** (np.log(growth) / np.log(rules.wider)), other) for growth, other in before]
    return any(left > part * other for part, other in (parts[:1] + parts[-1:]))


def stalls_for_good(history: History, rules: StaticRules) -> bool:
    """Whether the last solves leave too much for a trusted estimate, and growing on does not help."""
    if len(history) < 3:
        return False
    growth = 16.0 if history[-1][1] > rules.blind else rules.hopeless
    if history[-1][0] < growth * history[0][0]:
        return False
    return all(left > rules.doubtful and _flat(effort, left, history, rules) for effort, left in history[-2:])


def stall_reason(left: float, changes: Sequence[float] = ()) -> str:
    """Say what is wrong; `changes` are the relative changes of the steps of Newton's method, if there were any."""
    share = f"{100 * left:.0f}" if left > 0.01 else f"{100 * left:.2g}"
    unfinished = 1e-3  # change of the last step above which it is Newton's method that failed, not the features
    if changes and changes[-1] > unfinished:
        return (
            f"Newton's method has not converged: its last step changed the solution by {100 * changes[-1]:.2g} %, and "
            f"the residual is {share} %. Start nearer to the solution (start=…), or follow it from a value of a "
            "parameter where it is easy: fp.follow(problem, 'name', (easy, wanted))"
        )
    return (
        f"the residual stalls at {share} %: the solution has a singularity that the features do not have "
        "(a corner?) or a layer that they do not resolve, or it does not exist, as data contradict each other"
    )


def stays_singular(last: Sequence[StaticFacts | None], rules: StaticRules) -> bool:
    """Whether all of the last solves of a linear problem say that an eigenvalue is hit: wider networks do not help."""
    found = [facts for facts in last if facts is not None and not facts.steps]
    return 1 < len(found) == len(last) and all(
        facts.singular[0] <= rules.singular * facts.singular[1] for facts in found
    )
