"""Special functions of a static problem: those that it can't do without, and those that a pilot has to ask for.

Where gradients are unbounded, at re-entrant corners and where values meet slopes, least squares on smooth features
alone converges to a wrong function. Functions of such corners are always there. Those of other corners, at which only
higher derivatives are unbounded, and multipoles of holes join if a pilot leaves less with them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from frozenpinn.assembly.collocation import Function
from frozenpinn.basis.boxed import BoxFunctions
from frozenpinn.basis.corners import SingularFunctions
from frozenpinn.basis.hidden import SpecialFunctions
from frozenpinn.basis.layers import LayerFunctions
from frozenpinn.basis.poles import SpacePoles
from frozenpinn.basis.special import parts_of
from frozenpinn.enrichments import boundary_layers, corners, narrow_sources
from frozenpinn.enrichments.corners import CornerFunctions, corner_functions, is_laplacian
from frozenpinn.enrichments.features import Enrichment, Features, Pilot
from frozenpinn.enrichments.holes import multipoles
from frozenpinn.runtime.decisions import Decision
from frozenpinn.statement.problem import Problem
from frozenpinn.static.plan import StaticPlan

#: THE LIST: each entry is the function ``offer`` of one file; they are tried in this order.
ENRICHMENTS: tuple[Enrichment, ...] = (narrow_sources.offer, boundary_layers.offer, corners.offer)


def needed(plan: StaticPlan) -> SpecialFunctions | None:
    """Return the functions of corners at which gradients are unbounded; None if there are none."""
    found = None if "corners" in plan.task.settings.without else _corners(plan)
    return found.strong if found is not None and len(found.strong) else None


def helpful(plan: StaticPlan, found: Function, detailed: bool) -> Iterator[Features]:
    """Yield special functions that may help a pilot."""
    if not isinstance(plan.task.settings.sampler, str | None):
        return
    without, in_space = plan.task.settings.without, plan.problem.domain.dimension == 3
    order = 3 if in_space else 10  # of the highest multipoles of a hole
    holes = None if "holes" in without else multipoles(plan.problem, order)
    of_corners = None if "corners" in without else _corners(plan)
    weak = of_corners.weak if of_corners is not None and len(of_corners.weak) else None
    pilot = Pilot(plan, found, detailed, needed(plan), weak, holes)
    for enrichment in ENRICHMENTS:
        for features in enrichment(pilot):
            if features.decision is None or features.decision.name not in without:
                yield features


def _corners(plan: StaticPlan) -> CornerFunctions | None:
    if not isinstance(plan.task.settings.sampler, str | None):
        return None
    wedges = "wedges" not in plan.task.settings.without
    highest, share = 8.0, 0.75  # power of the distance, and functions of each kind for each neuron
    return corner_functions(plan.problem, highest, int(share * plan.width), wedges)


def enrichments_of(problem: Problem, special: SpecialFunctions | None) -> tuple[Decision, ...]:
    """Return which kinds of special functions stand among the features, and why."""
    found = dict[str, str]()
    for part in parts_of(special):
        if isinstance(part, SingularFunctions):
            centres = [hole.center for hole in problem.domain.hole_circles]
            of_holes = [any(np.allclose(row[:2], centre) for centre in centres) for row in part.table]
            if any(of_holes):
                found["holes"] = _HOLES
            if not all(of_holes) and all(is_laplacian(problem, equation) for equation in problem.equations):
                found["corners"] = "derivatives of some order are unbounded at corners"
            elif not all(of_holes):
                found["wedges"] = "other equations than Laplacians have other powers of the distance at corners"
        elif isinstance(part, SpacePoles):
            found["holes"] = _HOLES
        elif isinstance(part, LayerFunctions):
            found["boundary layers"] = "the equations have thin layers at the boundary"
        elif isinstance(part, BoxFunctions):
            found["narrow sources"] = "sources have more detail than a pilot resolves"
    return tuple(Decision(name, why) for name, why in found.items())


_HOLES = "parts of the solution fall off from holes"
