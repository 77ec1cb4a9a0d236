"""Problems as the galleries of others have them, with parameters of our own.

Some of these galleries' problems can't be stated: noise in space or time (py-pde's stochastic equations), flows of
incompressible fluids in time, level sets, moving interfaces, contact and wells of logarithmic potentials. Eigenvalues
and unknown coefficients have studies of their own.
"""

from __future__ import annotations

from frozenpinn_lab.studies.gallery_problems import (
    diffusion,
    lines,
    reactions,
    shapes,
    statements,
    statics,
    transport,
    waves,
)
from frozenpinn_lab.studies.gallery_problems.entry import GalleryProblem

GALLERY: dict[str, GalleryProblem] = {
    problem.name: problem
    for room in (diffusion, transport, waves, reactions, lines, statics, shapes, statements)
    for problem in room.PROBLEMS
}

__all__ = ["GALLERY", "GalleryProblem"]
