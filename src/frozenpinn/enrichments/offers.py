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
from frozenpinn.basis.special import joined, parts_of
from frozenpinn.enrichments.boundary_layers import MorePoints, find_sites
from frozenpinn.enrichments.corners import CornerFunctions, corner_functions, is_laplacian
from frozenpinn.enrichments.holes import multipoles
from frozenpinn.enrichments.narrow_sources import particular
from frozenpinn.runtime.decisions import Decision
from frozenpinn.statement.problem import Problem
from frozenpinn.static.plan import StaticPlan


def needed(plan: StaticPlan) -> SpecialFunctions | None:
    """Return the functions of corners at which gradients are unbounded; None if there are none."""
    corners = _corners(plan)
    if "corners" in plan.task.settings.without:
        return None
    return corners.strong if corners is not None and len(corners.strong) else None


def helpful(plan: StaticPlan, about: Function, detailed: bool) -> Iterator[tuple[SpecialFunctions, MorePoints | None]]:
    """Yield special functions that may help beside those that are needed, some with places for points.

    ``about`` is what a pilot finds without them, ``detailed`` tells whether sources may have too much detail for it.
    """
    if not isinstance(plan.task.settings.sampler, str | None):
        return
    rules, corners, without = plan.task.rules.static, _corners(plan), plan.task.settings.without
    corners = None if "corners" in without else corners
    in_space, always = plan.problem.domain.dimension == 3, needed(plan)
    order = 3 if in_space else 10  # of the highest multipoles of a hole
    poles = None if "holes" in without else multipoles(plan.problem, order)
    whole = plan.problem.interfaces is None
    detail = particular(plan) if detailed and whole and "narrow sources" not in without else None
    if detail is not None:
        yield _with(detail[0], always, poles), detail[1]
        if corners is not None and len(corners.weak):
            yield _with(detail[0], always, poles, corners.weak), detail[1]
    sites = find_sites(plan.problem, about, rules) if whole and "boundary layers" not in without else None
    share = 0.75  # exponentials in layers, as a multiple of the neurons
    if sites is not None:
        count = max(4, int(share * plan.width))
        yield _with(sites.functions(count, rules, np.random.default_rng(plan.task.seed)), always), sites
    if corners is None:
        if poles is not None:
            yield poles, None
        return
    found = joined([corners.strong, corners.weak, poles])
    if found is not None and len(found) > len(corners.strong):
        yield found, None


def _with(functions: SpecialFunctions, *others: SpecialFunctions | None) -> SpecialFunctions:
    """Return functions with other ones beside them."""
    return joined([functions, *others]) or functions


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
