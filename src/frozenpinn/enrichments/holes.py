"""Multipoles of holes: parts of a solution that fall off from a hole, smooth but far from any polynomial or wave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frozenpinn.basis.corners import LOG_R, PLAIN, Corner, Power, SingularFunctions
from frozenpinn.basis.hidden import SpecialFunctions
from frozenpinn.basis.poles import SpacePoles
from frozenpinn.enrichments.corners import is_laplacian
from frozenpinn.runtime.memo import remembered
from frozenpinn.statement.problem import Problem


@remembered
def multipoles(problem: Problem, order: int) -> SpecialFunctions | None:
    """Return log r, r^(−k) cos kθ, r^(−k) sin kθ of each hole, in space 1/r and its derivatives; None without holes.

    Where an equation has terms of lower order, the next functions of their series are added: r² log r, r^(2−k) cos kθ,
    in space r and its derivatives.
    """
    holes = problem.domain.hole_circles if problem.domain.dimension in (2, 3) else ()
    if not holes:
        return None
    return poles_about([hole.center for hole in holes], [hole.radius for hole in holes], order, _has_lower(problem))


def _has_lower(problem: Problem) -> bool:
    """Whether equations have terms of lower order, derivatives in time, or other leading ones than Laplacians."""
    jets = [jet for e in problem.equations for jet in problem.jets.jets_in(e.right_side).values()]
    plane = problem.domain.dimension == 2
    others = plane and not all(is_laplacian(problem, equation) for equation in problem.equations)
    return others or any(jet.order < 2 for jet in jets)


def poles_about(
    centres: Sequence[Sequence[float]], radii: Sequence[float], order: int, lower: bool
) -> SpecialFunctions:
    """Return the multipoles about some centres in the plane or in space."""
    if len(centres[0]) == 3:
        return SpacePoles.of(centres, radii, order, (-1, 1) if lower else (-1,))
    powers_of = [*_harmonic(order), *(_companions(order) if lower else ())]
    places = [(Corner(float(x), float(y), 0.0, 2.0 * np.pi), r) for (x, y), r in zip(centres, radii, strict=True)]
    return SingularFunctions.joined([SingularFunctions.at(place, powers_of, radius) for place, radius in places])


def _harmonic(order: int) -> list[Power]:
    waves = [Power(-float(k), 0.0, PLAIN, phase) for k in range(1, order + 1) for phase in (0.0, np.pi / 2)]
    return [Power(0.0, 0.0, LOG_R), *waves]


def _companions(order: int) -> list[Power]:
    """Return the functions whose Laplacians are those of :func:`_harmonic`."""
    first = [Power(1.0, 1.0, LOG_R), Power(1.0, 0.0, LOG_R), Power(1.0, 0.0, LOG_R, np.pi / 2)]
    return [*first, *(Power(1.0 - k, 1.0, PLAIN, phase) for k in range(2, order + 1) for phase in (0.0, np.pi / 2))]
