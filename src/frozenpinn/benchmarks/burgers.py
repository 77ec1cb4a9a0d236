"""Viscous Burgers equation with a shock at x = 0.

    uₜ + u uₓ = ν uₓₓ,  ν = 0.01/π,  x ∈ [−1, 1],  u(x, 0) = −sin πx,  u(±1, t) = 0

The sine steepens into a layer of width about ν, which stands at the origin. The reference is the Cole–Hopf
transformation, its two integrals by Gauss–Hermite quadrature.
"""

from __future__ import annotations

import numpy as np

from frozenpinn.benchmarks.case import Case, Published
from frozenpinn.network.sampling import MultiScale
from frozenpinn.problem.conditions import Dirichlet
from frozenpinn.problem.domain import Interval
from frozenpinn.problem.problem import Problem

Array = np.ndarray
VISCOSITY = 0.01 / np.pi


def cole_hopf(x: Array, t: float, nu: float = VISCOSITY, nodes: int = 160) -> Array:
    """Return the exact solution at time t."""
    if t == 0:
        return np.asarray(-np.sin(np.pi * x))
    z, weights = np.polynomial.hermite.hermgauss(nodes)
    y = x[:, None] - np.sqrt(4 * nu * t) * z
    exponent = -np.cos(np.pi * y) / (2 * np.pi * nu)
    f = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    return np.asarray(-(np.sin(np.pi * y) * f) @ weights / (f @ weights))


def burgers(nu: float = VISCOSITY) -> Problem:
    """Return the problem for a viscosity ν."""
    return Problem(
        "u_t + u*u_x = nu*u_xx",
        domain=Interval(-1, 1),
        time=(0, 1),
        initial="-sin(pi*x)",
        boundary=Dirichlet(0),
        parameters={"nu": nu},
        exact=lambda x, t: cole_hopf(x, t, nu),
    )


CASES = (
    Case(
        "burgers",
        "viscous Burgers equation with a shock, one basis for all times",
        burgers,
        {
            ("best", "high"): {"sampler": MultiScale(1000, 3, 12, 0.05), "points": 2000, "cutoff": 1e-10, "tol": 1e-7},
            ("best", "low"): {"sampler": MultiScale(400, 3, 12, 0.05), "points": 800, "cutoff": 1e-9, "tol": 1e-4},
        },
        {"low": Published(1.00e-3, 0.52), "high": Published(2.27e-7, 5.25)},
    ),
)
