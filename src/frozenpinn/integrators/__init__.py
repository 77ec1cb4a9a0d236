"""Integrators of the semi-discrete system: one file each, one protocol, chosen by name or automatically."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from frozenpinn.errors import SettingsError, choices
from frozenpinn.integrators.axis_exponentials import AxisExponentials
from frozenpinn.integrators.cvode import CVODE
from frozenpinn.integrators.duhamel import LoadTrajectory
from frozenpinn.integrators.etd import ETD
from frozenpinn.integrators.exact import ExactPropagator
from frozenpinn.integrators.exponential import ExponentialCollocation
from frozenpinn.integrators.hermite import HermiteTrajectory
from frozenpinn.integrators.modal import ModalTrajectory
from frozenpinn.integrators.protocol import NOBODY, Guard, Integrator, Observer, OdeSystem, Trajectory
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
    "SciPy",
    "Trajectory",
]

INTEGRATORS: dict[str, Callable[[float], Integrator]] = {
    "exact": ExactPropagator,
    "exponential": ExponentialCollocation,
    "etd": ETD,
    "cvode": lambda tol: CVODE(rtol=tol),
    "cvode-adams": lambda tol: CVODE(rtol=tol, method="Adams"),
    **{name: (lambda tol, name=name: SciPy(name, rtol=tol)) for name in SCIPY_METHODS},  # type: ignore[misc]
}


class TrajectoryKind(Protocol):
    """A class of trajectories that can be rebuilt from its arrays."""

    def from_arrays(self, arrays: Mapping[str, np.ndarray]) -> Trajectory:
        """Rebuild a stored trajectory."""


TRAJECTORIES: dict[str, TrajectoryKind] = {
    **{
        cls.kind: cls
        for cls in (
            *(AxisExponentials, HermiteTrajectory, LoadTrajectory),
            *(ModalTrajectory, ScalingAndSquaring, SteadyState),
        )
    },
    **dict.fromkeys(("ladder", "axis-ladder"), ScalingAndSquaring),  # names in files of earlier versions
}


def integrator_by_name(name: str, rtol: float) -> Integrator:
    """Return an integrator with a relative tolerance."""
    if name not in INTEGRATORS:
        raise SettingsError(f"unknown integrator '{name}'; choose one of {choices(INTEGRATORS)}.")
    return INTEGRATORS[name](rtol)
