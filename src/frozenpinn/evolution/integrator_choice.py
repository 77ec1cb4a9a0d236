"""Which integrator suits a system, from its structure and its Jacobian at the start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from frozenpinn.integrators import (
    CVODE,
    ETD,
    ExactPropagator,
    ExponentialCollocation,
    Integrator,
    OdeSystem,
    SciPy,
    integrator_by_name,
)
from frozenpinn.integrators.decomposition import can_propagate, can_step, decompose, is_diagonalisable, is_structured
from frozenpinn.operators import Block, Composition, Dense, KroneckerSum, Operator
from frozenpinn.search.rules import IntegratorRules


def choose_integrator(
    system: OdeSystem, wanted: str | Integrator | None, tolerance: float, rules: IntegratorRules | None = None
) -> Integrator:
    """Return the wanted integrator, or one that suits the structure of the system.

    Linear systems with constant coefficients are propagated exactly where possible. Nonlinear ones of first order whose
    linear part is symmetric take exponential Adams steps, which hand over to CVODE where a stiff rest and not the
    solution keeps them short. Other systems whose linear part is symmetric or skew-symmetric and whose rest is not too
    steep are collocated exponentially. Otherwise the Jacobian at the start decides: DOP853 for gentle or oscillatory
    systems, CVODE with BDF for stiff ones, and Radau where BDF gets stuck.
    """
    oscillatory = 3e3  # norm of the Jacobian × duration up to which explicit steps do for waves
    contraction = 0.6  # of the iteration with coefficients in time
    semilinear = 150.0  # norm of the nonlinear part × duration up to which its iteration is cheapest
    coarse = 1e-9  # accuracy beyond which gentle systems with a closed linear part are collocated
    if isinstance(wanted, str):
        return integrator_by_name(wanted, tolerance)
    if wanted is not None:
        return wanted
    rules = IntegratorRules() if rules is None else rules
    if not isinstance(system.linear.position, Dense):
        return _for_products(system, tolerance, rules)
    stiff = CVODE(rtol=tolerance, fallback=SciPy("radau", rtol=tolerance))
    if can_propagate(system):
        return ExactPropagator(tolerance, fallback=stiff)
    if can_step(system) and not system.is_linear:
        return ETD(tolerance, fallback=stiff)
    start, end = system.time
    duration = end - start
    # coefficients may vanish at the start: evaluate at later times too, with the initial state
    jacobians = [system.jacobian(start + s * duration, system.initial_state) for s in _shares(system)]
    if not all(np.all(np.isfinite(j)) for j in jacobians):
        return stiff
    jacobian, linear = max(jacobians, key=_norm), system.linear
    radius = _norm(jacobian) * duration
    rest = _norm(jacobian - linear.matrix)
    steepness = (rest if linear.order == 1 else np.sqrt(rest)) * duration  # of z' = n, or of z'' = n
    # coefficients in time on a stiff operator: the iteration contracts by their ratio, whatever the stiffness
    contracts = system.is_linear and rest <= contraction * _norm(linear.matrix)
    # long steps of BDF damp what should oscillate for ever: waves are left to it only as a fallback
    diagonal = is_diagonalisable(system)
    waves = diagonal and (linear.order != 1 or not _is_damped(system, jacobian))
    if diagonal and (steepness <= semilinear or contracts or (waves and radius > oscillatory)):
        gentle = radius < rules.gentle and tolerance > coarse
        return SciPy("dop853", rtol=tolerance) if gentle else ExponentialCollocation(tolerance, fallback=stiff)
    if radius < rules.gentle:
        return SciPy("dop853", rtol=tolerance)
    if radius < rules.explicit and not _is_damped(system, jacobian):
        return SciPy("dop853", rtol=tolerance)
    return stiff


def _for_products(system: OdeSystem, tolerance: float, rules: IntegratorRules) -> Integrator:
    """Return the integrator of a system on products, whose matrices are never written out (if they are not small).

    What is diagonalised axis by axis is solved exactly. If that is the fast part, the rest takes exponential steps;
    otherwise the Jacobian at the start decides between explicit steps and CVODE with GMRES.
    """
    pays = 30.0  # fastest rate that is solved exactly × duration
    leading = 0.3  # part of the norm of the Jacobian that this rate must be
    dearer = 50.0  # cost of a CVODE step in FFT-based ETD steps
    if can_propagate(system):
        return ExactPropagator(tolerance, fallback=CVODE(rtol=tolerance))
    stiff = CVODE(rtol=tolerance)
    start, end = system.time
    radius = _radius(system) * (end - start)
    if not np.isfinite(radius):
        return stiff
    parts = decompose(system, complete=False)
    if parts is not None:
        fast = float(np.max(parts.modes.rates)) * (end - start)
        if parts.modes.order == 2:
            return ExponentialCollocation(tolerance, fallback=SciPy("dop853", rtol=tolerance))
        if fast > pays and fast > leading * radius:
            own = ETD(tolerance, fallback=stiff)
            return replace(own, dearer=dearer) if _has_one_axis(parts.vectors) else own
    explicit = SciPy("dop853", rtol=tolerance)
    if radius < rules.gentle or (radius < rules.explicit and not _decays(system)):
        return explicit
    return stiff if system.linear.order == 1 else explicit


def _has_one_axis(vectors: Operator) -> bool:
    """Whether modes are those of a single axis, of a periodic interval: its steps take fast transforms."""
    while isinstance(vectors, Composition | Block):
        inner = vectors.outer if isinstance(vectors, Composition) else vectors.rows[0][0]
        if inner is None:
            return False
        vectors = inner
    return isinstance(vectors, KroneckerSum) and len(vectors.products[0].factors) == 1


def _shares(system: OdeSystem) -> tuple[float, ...]:
    """Return at which shares of the time to look; at more of them where coefficients are known to have a pulse."""
    return (0.0, 0.3, 0.8) if np.isinf(system.shortest) else (0.0, 0.25, 0.4, 0.5, 0.6, 0.75)


def _radius(system: OdeSystem) -> float:
    """Estimate the norm of the Jacobian at the initial state by a few products with it, at early and later times."""
    start, end = system.time
    found = []
    for s in _shares(system):
        jacobian = system.jacobian_operator(start + s * (end - start), system.initial_state)
        vector = np.random.default_rng(0).normal(size=system.size)
        size = 0.0
        for _ in range(8):
            vector = jacobian @ (vector / max(float(np.linalg.norm(vector)), 1e-300))
            size = float(np.linalg.norm(vector))
        found.append(size)
    return max(found)


def _decays(system: OdeSystem) -> bool:
    """Whether rough functions decay rather than oscillate: mean zᵀJz over random z, relative to mean |z| |Jz|."""
    jacobian = system.jacobian_operator(system.time[0], system.initial_state)
    vectors = np.random.default_rng(0).normal(size=(system.size, 4))
    images = np.stack([jacobian @ v for v in vectors.T], axis=1)
    inner = float(np.mean(np.sum(vectors * images, axis=0)))
    return -inner > 0.1 * float(np.mean(np.linalg.norm(images, axis=0) * np.linalg.norm(vectors, axis=0)))


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
    damped = 0.1  # real against imaginary parts of eigenvalues, beyond which decay dominates
    if is_structured(system) and system.linear.order == 1:
        return system.linear.structure == "symmetric"
    eigenvalues = np.linalg.eigvals(jacobian)
    return float(np.max(np.abs(eigenvalues.real))) > damped * float(np.max(np.abs(eigenvalues.imag)))
