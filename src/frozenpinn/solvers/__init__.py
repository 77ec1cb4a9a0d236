"""Integrators of the semi-discrete system: one file each, one protocol, chosen by name or automatically."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from frozenpinn.errors import SettingsError, choices
from frozenpinn.solvers.cvode import CVODE
from frozenpinn.solvers.etd import ETD, has_real_modes
from frozenpinn.solvers.exact import ExactPropagator, can_propagate, is_diagonalisable, is_structured
from frozenpinn.solvers.exponential import ExponentialCollocation
from frozenpinn.solvers.hermite import HermiteTrajectory
from frozenpinn.solvers.protocol import Integrator, OdeSystem, Trajectory
from frozenpinn.solvers.scipy_ivp import SCIPY_METHODS, SciPy

__all__ = [
    "CVODE",
    "ETD",
    "INTEGRATORS",
    "ExactPropagator",
    "ExponentialCollocation",
    "HermiteTrajectory",
    "Integrator",
    "OdeSystem",
    "SciPy",
    "Trajectory",
    "choose_integrator",
]

INTEGRATORS: dict[str, Callable[[float], Integrator]] = {
    "exact": lambda tol: ExactPropagator(0.1 * tol),
    "exponential": ExponentialCollocation,
    "etd": ETD,
    "cvode": lambda tol: CVODE(rtol=tol),
    "cvode-adams": lambda tol: CVODE(rtol=tol, method="Adams"),
    **{name: (lambda tol, name=name: SciPy(name, rtol=tol)) for name in SCIPY_METHODS},  # type: ignore[misc]
}

_GENTLE = 300.0  # norm of the Jacobian × duration up to which explicit steps are cheapest
_EXPLICIT_LIMIT = 3e4  # the same, for oscillations
_OSCILLATORY = 3e3  # the same, if the linear part of a wave can be solved exactly
_CONTRACTION = 0.6  # of the iteration, for linear systems with coefficients in time
_SEMILINEAR_LIMIT = 150.0  # norm of the nonlinear part × duration up to which its iteration is cheapest


def choose_integrator(system: OdeSystem, wanted: str | Integrator | None, tolerance: float) -> Integrator:
    """Return the wanted integrator, or one that suits the structure of the system.

    Linear systems with constant coefficients are propagated exactly where possible. Nonlinear ones of first order whose
    linear part is symmetric take exponential Adams steps, which hand over to CVODE where a stiff rest and not the
    solution keeps them short. Other systems whose linear part is symmetric or skew-symmetric and whose rest is not too
    steep are collocated exponentially. Otherwise the Jacobian at the start decides: DOP853 for gentle or oscillatory
    systems, CVODE with BDF for stiff ones, and Radau where BDF gets stuck.
    """
    if isinstance(wanted, str):
        if wanted not in INTEGRATORS:
            raise SettingsError(f"unknown integrator '{wanted}'; choose one of {choices(INTEGRATORS)}.")
        return INTEGRATORS[wanted](tolerance)
    if wanted is not None:
        return wanted
    stiff = CVODE(rtol=tolerance, fallback=SciPy("radau", rtol=tolerance))
    if can_propagate(system):
        return ExactPropagator(0.1 * tolerance, fallback=stiff)
    if has_real_modes(system) and not system.is_linear:
        return ETD(tolerance, fallback=stiff)
    start, end = system.time
    duration = end - start
    # coefficients may vanish at the start: look at later times too, with the initial state
    jacobians = [system.jacobian(start + s * duration, system.initial_state) for s in (0.0, 0.3, 0.8)]
    if not all(np.all(np.isfinite(j)) for j in jacobians):
        return stiff
    jacobian = max(jacobians, key=_norm)
    radius = _norm(jacobian) * duration
    rest = _norm(jacobian - system.matrix)
    steepness = (np.sqrt(rest) if len(system.moving) else rest) * duration  # of z'' = n, or of z' = n
    # coefficients in time on a stiff operator: the iteration contracts by their ratio, whatever the stiffness
    contracts = system.is_linear and rest <= _CONTRACTION * _norm(system.matrix)
    # long steps of BDF damp what should oscillate for ever: waves are left to it only as a fallback
    diagonal = is_diagonalisable(system)
    waves = diagonal and (len(system.moving) > 0 or not _is_damped(system, jacobian))
    if diagonal and (steepness <= _SEMILINEAR_LIMIT or contracts or (waves and radius > _OSCILLATORY)):
        gentle = radius < _GENTLE and tolerance > 1e-9
        return SciPy("dop853", rtol=tolerance) if gentle else ExponentialCollocation(tolerance, fallback=stiff)
    if radius < _GENTLE:
        return SciPy("dop853", rtol=tolerance)
    if radius < _EXPLICIT_LIMIT and not _is_damped(system, jacobian):
        return SciPy("dop853", rtol=tolerance)
    return stiff


def _norm(matrix: np.ndarray, iterations: int = 8) -> float:
    """Estimate the spectral norm by a few power iterations."""
    vector: Any = np.random.default_rng(0).normal(size=matrix.shape[1])
    image = vector
    for _ in range(iterations):
        vector = vector / max(float(np.linalg.norm(vector)), 1e-300)
        image = matrix @ vector
        vector = matrix.T @ image
    return float(np.linalg.norm(image))


def _is_damped(system: OdeSystem, jacobian: np.ndarray) -> bool:
    """Whether decay dominates oscillation, from the structure or, failing that, the spectrum."""
    if is_structured(system) and len(system.moving) == 0:
        return system.structure == "symmetric"
    eigenvalues = np.linalg.eigvals(jacobian)
    return float(np.max(np.abs(eigenvalues.real))) > 0.1 * float(np.max(np.abs(eigenvalues.imag)))
