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
from frozenpinn.solvers.protocol import NOBODY, Guard

__all__ = [
    "CVODE",
    "ETD",
    "NOBODY",
    "ExactPropagator",
    "ExponentialCollocation",
    "Guard",
    "HermiteTrajectory",
    "Integrator",
    "Observer",
    "OdeSystem",
    "SciPy",
    "Trajectory",
]
