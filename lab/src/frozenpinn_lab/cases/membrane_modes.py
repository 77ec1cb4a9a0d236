"""Modes of membranes: eigenvalues of the Laplacian that are known.

    −Δu = λ u,  u = 0 on the boundary

The first ten of the unit square are π²(m² + n²). Of the L-shape, [−1, 1]² without its lower right quarter, three are
asked for; the third is 2π², the others have been computed to fourteen digits (L. N. Trefethen and T. Betcke,
Computed eigenmodes of planar regions, 2006). The first two functions have unbounded derivatives at the corner.
"""

from __future__ import annotations

import numpy as np

from frozenpinn.geometry import Box, Polygon
from frozenpinn.search.settings import Settings
from frozenpinn.statement.eigenvalue import Eigenvalue
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.case import Case, Variant

CORNERS = [(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)]


def membrane(bent: bool = False) -> Problem:
    """Return the vibrating square, or the L-shape."""
    domain = Polygon(CORNERS) if bent else Box([0, 0], [1, 1])
    return Problem("-lap(u) = lam*u", domain, boundary="u = 0", parameters={"lam": Eigenvalue()})


def eigenvalues(bent: bool = False) -> tuple[float, ...]:
    """Return those that are asked for."""
    if bent:
        return (9.639723844021941, 15.19725192645434, 2 * np.pi**2)
    squares = sorted(m**2 + n**2 for m in range(1, 8) for n in range(1, 8))
    return tuple(float(np.pi**2 * s) for s in squares[:10])


CASES = (
    Case(
        "membrane-modes",
        "modes of membranes",
        membrane,
        {("best", "high"): Settings(), ("best", "low"): Settings()},
        variants=(Variant("square"), Variant("L-shape", {"bent": True})),
        is_static=True,
        values=eigenvalues,
    ),
)
