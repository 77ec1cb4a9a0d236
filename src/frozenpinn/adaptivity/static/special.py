"""Special functions of a static problem: those that it can't do without, and those that a pilot has to ask for.

Where gradients are unbounded, at re-entrant corners and where values meet slopes, least squares on smooth features alone
converges to a wrong function. Functions of such corners are always there. Those of other corners, at which only
higher derivatives are unbounded, and multipoles of holes join if a pilot leaves less with them.
"""

from __future__ import annotations

from frozenpinn.adaptivity.static.plan import StaticPlan
from frozenpinn.assembly.corners import CornerFunctions, corner_functions
from frozenpinn.assembly.holes import multipoles
from frozenpinn.basis.corners import SingularFunctions
from frozenpinn.basis.hidden import SpecialFunctions


def needed(plan: StaticPlan) -> SpecialFunctions | None:
    """Return the functions of corners at which gradients are unbounded; None if there are none."""
    corners = _corners(plan)
    return corners.strong if corners is not None and len(corners.strong) else None


def helpful(plan: StaticPlan) -> SpecialFunctions | None:
    """Return all special functions that may help; None if there are none beside those that are needed."""
    if not isinstance(plan.task.settings.sampler, str | None):
        return None
    rules, corners = plan.task.rules.static, _corners(plan)
    in_space = plan.problem.domain.dimension == 3
    poles = multipoles(plan.problem, rules.multipoles_in_space if in_space else rules.multipoles)
    if corners is None:
        return poles
    parts = [corners.strong, corners.weak, *([poles] if isinstance(poles, SingularFunctions) else [])]
    found = SingularFunctions.joined(parts)
    return found if len(found) > len(corners.strong) else None


def _corners(plan: StaticPlan) -> CornerFunctions | None:
    if not isinstance(plan.task.settings.sampler, str | None):
        return None
    rules = plan.task.rules.static
    return corner_functions(plan.problem, rules.corner_power, int(rules.most_special * plan.width))
