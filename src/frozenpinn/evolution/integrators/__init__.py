"""Integrators of the semi-discrete system: one file each, one protocol, chosen by name or automatically."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from frozenpinn.errors import SettingsError, choices
from frozenpinn.evolution.integrators.cvode import CVODE
from frozenpinn.evolution.integrators.propagator import ExactPropagator, can_propagate
from frozenpinn.evolution.integrators.protocol import Integrator, OdeSystem, Trajectory
from frozenpinn.evolution.integrators.scipy_ivp import SCIPY_METHODS, SciPy

__all__ = [
    "CVODE",
    "INTEGRATORS",
    "ExactPropagator",
    "Integrator",
    "OdeSystem",
    "SciPy",
    "Trajectory",
    "choose_integrator",
]

INTEGRATORS: dict[str, Callable[[float], Integrator]] = {
    "exact": lambda tol: ExactPropagator(0.1 * tol),
    "cvode": lambda tol: CVODE(rtol=tol),
    "cvode-adams": lambda tol: CVODE(rtol=tol, method="Adams"),
    **{name: (lambda tol, name=name: SciPy(name, rtol=tol)) for name in SCIPY_METHODS},  # type: ignore[misc]
}

_EXPLICIT_LIMIT = 3e4  # spectral radius × duration up to which explicit steps are cheaper


def choose_integrator(system: OdeSystem, wanted: str | Integrator | None, tolerance: float) -> Integrator:
    """Return the wanted integrator, or one that suits the structure of the system.

    Linear systems with constant coefficients are propagated exactly where possible. Otherwise the Jacobian at the
    start decides: with eigenvalues near the imaginary axis and not too many oscillations, DOP853; else CVODE with BDF.
    """
    if isinstance(wanted, str):
        if wanted not in INTEGRATORS:
            raise SettingsError(f"unknown integrator '{wanted}'; choose one of {choices(INTEGRATORS)}.")
        return INTEGRATORS[wanted](tolerance)
    if wanted is not None:
        return wanted
    if can_propagate(system):
        return ExactPropagator(0.1 * tolerance, fallback=CVODE(rtol=tolerance))
    start, end = system.time
    eigenvalues = np.linalg.eigvals(system.jacobian(start, system.initial_state))
    radius = float(np.max(np.abs(eigenvalues))) * (end - start)
    damped = float(np.max(np.abs(eigenvalues.real))) > 0.1 * float(np.max(np.abs(eigenvalues.imag)))
    if radius < 300 or (radius < _EXPLICIT_LIMIT and not damped):
        return SciPy("dop853", rtol=tolerance)
    return CVODE(rtol=tolerance)
