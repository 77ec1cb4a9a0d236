"""Two-dimensional problems as the galleries of py-pde, FiPy and PINNacle have them, with parameters of our own.

Some of these galleries' problems can't be stated: noise in space or time (py-pde's stochastic equations), integrals of
the solution (py-pde's nonlocal example), constraints without a time derivative (incompressible flow, electrostatics,
FiPy's Stokes cavity, PINNacle's Navier–Stokes), level sets, fields that jump, and wells of logarithmic potentials.
Those on disks and around holes are stated on other domains than boxes and are not asked for here.
"""

from __future__ import annotations

from frozenpinn.lab.studies.gallery_problems import diffusion, reactions, transport, waves
from frozenpinn.lab.studies.gallery_problems.entry import GalleryProblem

GALLERY: dict[str, GalleryProblem] = {
    problem.name: problem
    for problem in (*diffusion.PROBLEMS, *transport.PROBLEMS, *waves.PROBLEMS, *reactions.PROBLEMS)
}

__all__ = ["GALLERY", "GalleryProblem"]
