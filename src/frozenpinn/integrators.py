"""What carries the coefficients through time, for ``Settings(integrator=…)``; what one of your own needs."""

from frozenpinn.solvers import (
    CVODE,
    ETD,
    ExactPropagator,
    ExponentialCollocation,
    HermiteTrajectory,
    Integrator,
    Observer,
    OdeSystem,
    SciPy,
    Trajectory,
)

__all__ = [
    "CVODE",
    "ETD",
    "ExactPropagator",
    "ExponentialCollocation",
    "HermiteTrajectory",
    "Integrator",
    "Observer",
    "OdeSystem",
    "SciPy",
    "Trajectory",
]
