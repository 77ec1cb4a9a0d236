"""What a user may choose of the numerics; everything that is left open is chosen from the problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from frozenpinn.adaptivity.grading import Windows
from frozenpinn.assembly.spaces import BoundaryStrategy
from frozenpinn.basis.samplers import Sampler
from frozenpinn.solvers import Integrator

Directions: TypeAlias = Sequence[Sequence[float]] | np.ndarray


@dataclass(frozen=True)
class Settings:
    """Numerical choices of a solve; each has a default that suits most problems.

    Parameters
    ----------
    width
        Number of neurons (per axis on boxes in two and three dimensions).
    points
        Number of quadrature points (per axis on boxes in two and three dimensions, or a tuple).
    sampler
        ``"multi-scale"``, ``"elm"``, ``"swim"``, ``"orthogonal"`` (isotropic functions of many variables),
        ``"projected-swim"`` (pairs along the gradients of the initial value) or a sampler object, which then also sets
        the width.
    point_method
        ``"gauss"``, ``"uniform"``, ``"sobol"``, ``"latin-hypercube"``, ``"random"`` or ``"auto"``.
    boundary_points
        Number of points on the whole boundary in several dimensions, evenly shared by the sides; by default enough to
        see every feature.
    boundary
        ``"null-space"``, ``"outer-basis"``, ``"augmented-ode"``, or an object of these kinds. By default the null space
        up to three dimensions, the augmented ODE beyond.
    cutoff
        Relative cut-off of the SVD layer; ``"auto"`` takes the finest that is stable, None leaves the layer out.
    rcond
        Relative cut-off of the least-squares fit of the initial data; None follows the SVD layer.
    integrator
        ``"exact"``, ``"exponential"``, ``"etd"``, ``"cvode"``, ``"cvode-adams"``, ``"rk45"``, ``"rk23"``,
        ``"dop853"``, ``"lsoda"``, ``"radau"``, ``"bdf"``, an integrator object, or None for a choice by structure.
    rtol
        Relative accuracy of the time integration, and of the basis where it follows the solution. By default it follows
        ``tol``; 1e-8 without.
    windows
        How the basis is renewed in time (one dimension): ``"auto"`` renews it when it stops resolving the solution of
        a nonlinear problem (unless sampler, boundary strategy or an integrator object are given that can't follow),
        ``"adaptive"`` insists on that, a number gives as many equal windows, None or 1 keeps one basis,
        :class:`Windows` sets the details.
    subspace
        Directions (k, d) on which the solution depends; it is then solved in these k coordinates, which the settings
        above refer to. ``"auto"`` looks whether one to three directions are enough on boxes and balls, unless width,
        points, sampler or boundary strategy are given, and checks the result in all coordinates; None does not look.
    """

    width: int | None = None
    points: int | tuple[int, ...] | None = None
    sampler: str | Sampler | None = None
    point_method: str = "auto"
    boundary_points: int | None = None
    boundary: str | BoundaryStrategy | None = None
    cutoff: float | Literal["auto"] | None = "auto"
    rcond: float | None = None
    integrator: str | Integrator | None = None
    rtol: float | None = None
    windows: int | str | Windows | None = "auto"
    subspace: Literal["auto"] | Directions | None = "auto"
