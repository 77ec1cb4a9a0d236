"""Multipoles of holes: parts of a solution that fall off from a hole, smooth but far from any polynomial or wave."""

from __future__ import annotations

from frozenpinn.basis.hidden import SpecialFunctions
from frozenpinn.basis.poles import poles_about
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
