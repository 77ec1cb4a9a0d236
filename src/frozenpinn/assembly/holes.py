"""Multipoles of holes: parts of a solution that fall off from a hole, smooth but far from any polynomial or wave."""

from __future__ import annotations

import numpy as np

from frozenpinn.basis.corners import LOG_R, PLAIN, Corner, Power, SingularFunctions
from frozenpinn.basis.hidden import SpecialFunctions
from frozenpinn.basis.poles import SpacePoles
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
    lower = any(
        jet.order < 2 for equation in problem.equations for jet in problem.jets.jets_in(equation.right_side).values()
    )
    if problem.domain.dimension == 3:
        powers = (-1, 1) if lower else (-1,)
        return SpacePoles.of([hole.center for hole in holes], [hole.radius for hole in holes], order, powers)
    powers_of = [*_harmonic(order), *(_companions(order) if lower else ())]
    places = [(Corner(hole.center[0], hole.center[1], 0.0, 2.0 * np.pi), hole.radius) for hole in holes]
    return SingularFunctions.joined([SingularFunctions.at(place, powers_of, radius) for place, radius in places])


def _harmonic(order: int) -> list[Power]:
    waves = [Power(-float(k), 0.0, PLAIN, phase) for k in range(1, order + 1) for phase in (0.0, np.pi / 2)]
    return [Power(0.0, 0.0, LOG_R), *waves]


def _companions(order: int) -> list[Power]:
    """Return the functions whose Laplacians are those of :func:`_harmonic`."""
    first = [Power(1.0, 1.0, LOG_R), Power(1.0, 0.0, LOG_R), Power(1.0, 0.0, LOG_R, np.pi / 2)]
    return [*first, *(Power(1.0 - k, 1.0, PLAIN, phase) for k in range(2, order + 1) for phase in (0.0, np.pi / 2))]
