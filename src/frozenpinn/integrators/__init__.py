"""Integrators of the semi-discrete system: one file each, one protocol, chosen by name or automatically."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from frozenpinn.errors import SettingsError, choices
from frozenpinn.integrators.cvode import CVODE
from frozenpinn.integrators.duhamel import LoadTrajectory
from frozenpinn.integrators.etd import ETD
from frozenpinn.integrators.exact import ExactPropagator
from frozenpinn.integrators.exponential import ExponentialCollocation
from frozenpinn.integrators.hermite import HermiteTrajectory
from frozenpinn.integrators.modal import ModalTrajectory, of_axis_exponentials
from frozenpinn.integrators.protocol import NOBODY, Guard, Integrator, Observer, OdeSystem, Trajectory
from frozenpinn.integrators.radau import CollocationTrajectory, RadauIIA
from frozenpinn.integrators.scaling_and_squaring import ScalingAndSquaring
from frozenpinn.integrators.scipy_ivp import SCIPY_METHODS, SciPy
from frozenpinn.integrators.steady import SteadyState

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
    "RadauIIA",
    "SciPy",
    "Trajectory",
]

INTEGRATORS: dict[str, Callable[[float], Integrator]] = {
    "exact": ExactPropagator,
    "exponential": ExponentialCollocation,
    "etd": ETD,
    "cvode": lambda tol: CVODE(rtol=tol),
    "cvode-adams": lambda tol: CVODE(rtol=tol, method="Adams"),
    "radau-iia": RadauIIA,
    **{name: (lambda tol, name=name: SciPy(name, rtol=tol)) for name in SCIPY_METHODS},  # type: ignore[misc]
}


#: How a stored trajectory is rebuilt from its arrays.
TRAJECTORIES: dict[str, Callable[[Mapping[str, np.ndarray]], Trajectory]] = {
    "collocation": CollocationTrajectory.from_arrays,
    "hermite": HermiteTrajectory.from_arrays,
    "etd": LoadTrajectory.from_arrays,
    "modal": ModalTrajectory.from_arrays,
    "scaling-and-squaring": ScalingAndSquaring.from_arrays,
    "steady": SteadyState.from_arrays,
    # names in files of earlier versions
    "axis-exponentials": of_axis_exponentials,
    "axis-ladder": ScalingAndSquaring.from_arrays,
    "ladder": ScalingAndSquaring.from_arrays,
}


def integrator_by_name(name: str, rtol: float) -> Integrator:
    """Return an integrator with a relative tolerance."""
    if name not in INTEGRATORS:
        raise SettingsError(f"unknown integrator '{name}'; choose one of {choices(INTEGRATORS)}.")
    return INTEGRATORS[name](rtol)
