"""Special functions that eigenfunctions consist of near corners and around holes.

For Laplacians, near a corner u = Σ J_α(√λ r) sin αθ = Σ r^α (1 − λr²/(4α + 4) + …) sin αθ, α = kπ/ω; around a hole
Bessel functions of the second kind join, which have r^(2j−m) cos mθ and r^(m+2j) log r cos mθ. Other equations and
systems have other powers, and combinations of all fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import sympy as sp

from frozenpinn.basis.corners import LOG_R, PLAIN, Corner, Power, SingularFunctions, is_whole
from frozenpinn.enrichments.corners import is_laplacian, step_and_phases, unbounded_beyond
from frozenpinn.enrichments.wedge_functions import Combinations, wedge_functions
from frozenpinn.enrichments.wedges import wedge_at
from frozenpinn.language.jets import Jet
from frozenpinn.runtime.memo import remembered
from frozenpinn.statement.eigenvalue import sides_of
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_FEW = 12  # corners up to which all have functions of their own; of more, those with unbounded gradients


@remembered
def mode_functions(problem: Problem, highest: float, order: int) -> SingularFunctions | None:
    """Return the functions of corners up to a power of the distance, and of holes up to an order; None without any."""
    if problem.domain.dimension != 2 or not all(is_laplacian(problem, equation) for equation in problem.equations):
        return None
    corners = [Corner(*corner) for corner in problem.domain.corners_beyond(0.0)]
    if len(corners) > _FEW:
        corners = [corner for corner in corners if corner.opening > unbounded_beyond(problem)]
    size = float(np.max(problem.domain.lengths))
    parts = [SingularFunctions.at(corner, list(_of_corner(problem, corner, highest)), size) for corner in corners]
    for hole in problem.domain.hole_circles:
        place = Corner(hole.center[0], hole.center[1], 0.0, 2.0 * np.pi)
        parts.append(SingularFunctions.at(place, list(_of_hole(order)), hole.radius))
    found = SingularFunctions.joined([part for part in parts if len(part)])
    return found if len(found) else None


@remembered
def mode_combinations(problem: Problem, highest: float) -> Combinations | None:
    """Return the functions of corners of equations and systems other than Laplacians; None if there are none."""
    if problem.domain.dimension != 2 or all(is_laplacian(problem, equation) for equation in problem.equations):
        return None
    rights = [sides_of(problem)[e.field].right for e in problem.equations] if problem.parameters.unknown else None
    order = max(map(problem.spatial_order, problem.fields))
    corners = [Corner(*corner) for corner in problem.domain.corners_beyond(0.0)]
    if (
        problem.interfaces is not None
        or len(corners) > _FEW
        or (rights and any(jet.order >= order for right in rights for jet in right))
    ):
        return None
    size, parts = float(np.max(problem.domain.lengths)), []
    for corner in corners:
        wedge = wedge_at(problem, corner, highest)
        if wedge is None:
            return None
        found = wedge_functions(corner, wedge, _mass(problem, rights, corner), highest, size)
        parts += [] if found is None else [found]
    return Combinations.joined(parts) if parts else None


def _mass(problem: Problem, rights: Sequence[Mapping[Jet, sp.Expr]] | None, corner: Corner) -> Array | None:
    """Return W at a corner, the identity without any; None if W contains derivatives."""
    if rights is None:
        return np.eye(len(problem.fields))
    if any(jet.order for right in rights for jet in right):
        return None
    found = np.zeros((len(problem.fields),) * 2)
    for i, right in enumerate(rights):
        values = problem.compile(list(right.values()))(corner.x, corner.y, 0.0)
        for jet, value in zip(right, values, strict=True):
            found[i, problem.fields.index(jet.field)] = float(value)
    return found


def _of_corner(problem: Problem, corner: Corner, highest: float) -> Iterator[Power]:
    step, phases = step_and_phases(problem)
    for k in np.arange(step, highest * corner.opening / np.pi, step):
        power = float(k * np.pi / corner.opening)
        if not is_whole(power):  # whole powers are smooth
            for j in range(max(1, int(np.floor((highest - power) / 2.0)) + 1)):
                yield from (Power(power + j, float(j), PLAIN, phase) for phase in phases)


def _of_hole(order: int) -> Iterator[Power]:
    """Yield the series of Bessel functions of the second kind."""
    for m in range(order + 1):
        for phase in (0.0, np.pi / 2) if m else (0.0,):
            yield from (Power(float(j - m), float(j), PLAIN, phase) for j in range(m))
            yield from (Power(float(j + m), float(j), LOG_R, phase) for j in range(3))
