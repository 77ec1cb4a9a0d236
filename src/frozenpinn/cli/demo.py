"""The command ``frozenpinn demo``: the viscous Burgers equation, in which a shock forms.

    uₜ + u uₓ = ν uₓₓ,  ν = 0.01/π,  x ∈ [−1, 1],  u(x, 0) = −sin πx,  u(±1, t) = 0

The sine steepens into a layer of width about ν, which stands at the origin. The exact solution is the Cole–Hopf
transformation, its two integrals by Gauss–Hermite quadrature.
"""

from __future__ import annotations

import numpy as np

from frozenpinn.geometry import Interval
from frozenpinn.statement.conditions import Dirichlet
from frozenpinn.statement.problem import Problem

VISCOSITY = 0.01 / np.pi


def cole_hopf(x: np.ndarray, t: float, nu: float = VISCOSITY, nodes: int = 160) -> np.ndarray:
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
