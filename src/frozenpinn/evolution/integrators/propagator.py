"""Exact propagation of linear autonomous systems y' = A y + b: no time steps, any output time.

Symmetric and skew-symmetric operators are diagonalised by ``eigh`` and propagated in closed form;
c'' = K c + b with symmetric K likewise, by cos ωt and sin ωt/ω. Everything else uses a ladder of matrix
exponentials exp(A·T/2ʲ): an output time is reached by its binary digits, without assuming that A has well
conditioned eigenvectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla

from frozenpinn.errors import IntegrationError, SettingsError
from frozenpinn.evolution.integrators.protocol import OdeSystem, Trajectory

Array = np.ndarray


@dataclass(frozen=True)
class ExactPropagator:
    """Closed-form or matrix-exponential solution of linear autonomous systems."""

    name: str = "exact"

    def integrate(self, system: OdeSystem) -> Trajectory:
        """Diagonalise or build the ladder; the trajectory evaluates at any time."""
        if not system.is_autonomous:
            raise SettingsError(
                "the exact propagator needs a linear equation whose coefficients, forcing and boundary data do "
                "not depend on t; use integrator='cvode' or leave the choice to the program."
            )
        moving, count = len(system.moving), system.coefficients
        if moving == 0 and system.structure != "general":
            return _diagonal(system)
        if moving == count and system.structure == "symmetric" and not np.any(system.velocity):
            return _oscillator(system)
        return _ladder(system)


def _check_finite(*arrays: Array) -> None:
    if not all(np.all(np.isfinite(a)) for a in arrays):
        raise IntegrationError("the operator or the initial data contain values that are not finite.")


def _diagonal(system: OdeSystem) -> Trajectory:
    a, y0, b = system.position, system.initial_state, system.forcing(system.time[0])
    _check_finite(a, y0, b)
    if system.structure == "symmetric":
        eigenvalues, vectors = sla.eigh(a, check_finite=False, driver="evd")
        return Modes(system.time[0], eigenvalues, vectors, vectors.T @ y0, vectors.T @ b)
    frequencies, complex_vectors = sla.eigh(1j * a, check_finite=False, driver="evd")
    adjoint = complex_vectors.conj().T
    return Modes(system.time[0], -1j * frequencies, complex_vectors, adjoint @ y0, adjoint @ b)


class Modes:
    """y(t) = V·(e^{λτ} a + (e^{λτ} − 1)/λ · b), τ = t − start."""

    name, steps = "modes", 0

    def __init__(self, start: float, eigenvalues: Array, vectors: Array, initial: Array, forcing: Array) -> None:
        self.start, self.eigenvalues, self.vectors = start, eigenvalues, vectors
        self.initial, self.forcing = initial, forcing

    def __call__(self, times: Array) -> Array:
        """Return the states at the given times, shape (m, size)."""
        tau = np.asarray(times, dtype=float)[:, None] - self.start
        z = tau * self.eigenvalues
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported by the caller
            modes = np.exp(z) * self.initial
            if np.any(self.forcing):
                modes = modes + _phi1(z) * tau * self.forcing
            return np.ascontiguousarray((modes @ self.vectors.T).real)

    def rates(self, times: Array) -> Array:
        """Return V·e^{λτ}·(λ a + b)."""
        tau = np.asarray(times, dtype=float)[:, None] - self.start
        modes = np.exp(tau * self.eigenvalues) * (self.eigenvalues * self.initial + self.forcing)
        return np.ascontiguousarray((modes @ self.vectors.T).real)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that define the trajectory."""
        return {
            "start": np.array(self.start),
            "eigenvalues": self.eigenvalues,
            "vectors": self.vectors,
            "initial": self.initial,
            "forcing": self.forcing,
        }


def _phi1(z: Array) -> Array:
    """Return (eᶻ − 1)/z, accurate near zero."""
    safe = np.where(z == 0, 1.0, z)
    return np.where(z == 0, 1.0, np.expm1(safe) / safe)


def _oscillator(system: OdeSystem) -> Trajectory:
    count = system.coefficients
    k, y0, b = system.position, system.initial_state, system.forcing(system.time[0])
    _check_finite(k, y0, b)
    eigenvalues, vectors = sla.eigh(k, check_finite=False, driver="evd")
    return Oscillators(
        system.time[0], eigenvalues, vectors, vectors.T @ y0[:count], vectors.T @ y0[count:], vectors.T @ b
    )


class Oscillators:
    """c'' = κ c + b per mode: cos ωτ, sin ωτ/ω with ω² = −κ; growing modes become cosh and sinh."""

    name, steps = "oscillators", 0

    def __init__(
        self, start: float, eigenvalues: Array, vectors: Array, initial: Array, velocity: Array, forcing: Array
    ) -> None:
        self.start, self.eigenvalues, self.vectors = start, eigenvalues, vectors
        self.initial, self.velocity, self.forcing = initial, velocity, forcing

    def __call__(self, times: Array) -> Array:
        """Return the states [c, c'] at the given times, shape (m, size)."""
        tau = np.asarray(times, dtype=float)[:, None] - self.start
        omega = np.sqrt(-self.eigenvalues.astype(complex))
        z = omega * tau
        cos = np.cos(z).real
        sinc = (np.where(z == 0, 1.0, np.sin(z) / np.where(z == 0, 1.0, z)) * tau).real
        half = (np.where(z == 0, 1.0, np.sin(z / 2) / np.where(z == 0, 1.0, z / 2)) ** 2).real * tau**2 / 2
        position = cos * self.initial + sinc * self.velocity + half * self.forcing
        velocity = self.eigenvalues * sinc * self.initial + cos * self.velocity + sinc * self.forcing
        return np.concatenate([position @ self.vectors.T, velocity @ self.vectors.T], axis=1)

    def rates(self, times: Array) -> Array:
        """Return [c', c''] = [c', K c + b]."""
        states = self(times)
        count = len(self.eigenvalues)
        acceleration = (states[:, :count] @ self.vectors * self.eigenvalues + self.forcing) @ self.vectors.T
        return np.concatenate([states[:, count:], acceleration], axis=1)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that define the trajectory."""
        names = ("eigenvalues", "vectors", "initial", "velocity", "forcing")
        return {"start": np.array(self.start)} | {name: getattr(self, name) for name in names}


def _ladder(system: OdeSystem) -> Trajectory:
    start, end = system.time
    b = system.state_forcing(start)
    matrix, state = system.matrix, system.initial_state
    if np.any(b):  # one more component, constantly 1, carries the forcing
        matrix = np.block([[matrix, b[:, None]], [np.zeros((1, len(b) + 1))]])
        state = np.append(state, 1.0)
    _check_finite(matrix, state)
    return Ladder(start, end, matrix, state, system.size)


class Ladder:
    """exp(A·T/2ʲ) for j = 0 … J; times are reached by their binary digits and a short Taylor series."""

    name, steps = "ladder", 0

    def __init__(self, start: float, end: float, matrix: Array, state: Array, size: int) -> None:
        self.start, self.end, self.matrix, self.state, self.size = start, end, matrix, state, int(size)
        duration = end - start
        norm = float(np.linalg.norm(matrix, 1)) * duration
        self.levels = max(0, int(np.ceil(np.log2(max(norm, 1.0)))))
        rungs = [sla.expm(matrix * (duration / 2**self.levels))]
        for _ in range(self.levels):
            rungs.append(rungs[-1] @ rungs[-1])
        self.rungs = rungs[::-1]
        if not np.all(np.isfinite(self.rungs[0])):
            raise IntegrationError(
                f"the matrix exponential overflows before t = {end:g}: the linear part has strongly growing modes. "
                "Check the signs of the equation (backward diffusion?) and the boundary conditions, "
                "or use a larger cutoff (1e-8)."
            )

    def __call__(self, times: Array) -> Array:
        """Return the states at the given times, shape (m, size)."""
        unit = (self.end - self.start) / 2**self.levels
        ticks = np.clip((np.asarray(times, dtype=float) - self.start) / unit, 0.0, 2.0**self.levels)
        whole = np.floor(ticks).astype(np.int64)
        states = np.repeat(self.state[:, None], len(ticks), axis=1)
        for level, rung in enumerate(self.rungs):
            chosen = (whole >> (self.levels - level)) & 1 == 1
            if np.any(chosen):
                states[:, chosen] = rung @ states[:, chosen]
        return np.ascontiguousarray(self._taylor(states, (ticks - whole) * unit)[: self.size].T)

    def rates(self, times: Array) -> Array:
        """Return A y + b."""
        states = self(times)
        full = np.concatenate([states, np.ones((len(states), len(self.state) - self.size))], axis=1)
        return np.ascontiguousarray((full @ self.matrix.T)[:, : self.size])

    def _taylor(self, states: Array, tau: Array) -> Array:
        """Apply exp(A τ) with |A τ| ≤ 1 to each column."""
        if not np.any(tau):
            return states
        term, total = states, states.copy()
        for k in range(1, 20):
            term = self.matrix @ term * (tau / k)
            total += term
        return total

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that define the trajectory."""
        return {
            "start": np.array(self.start),
            "end": np.array(self.end),
            "matrix": self.matrix,
            "state": self.state,
            "size": np.array(self.size),
        }


REBUILD: Mapping[str, Callable[[Mapping[str, Array]], Trajectory]] = {
    "modes": lambda a: Modes(float(a["start"]), a["eigenvalues"], a["vectors"], a["initial"], a["forcing"]),
    "oscillators": lambda a: Oscillators(
        float(a["start"]), a["eigenvalues"], a["vectors"], a["initial"], a["velocity"], a["forcing"]
    ),
    "ladder": lambda a: Ladder(float(a["start"]), float(a["end"]), a["matrix"], a["state"], int(a["size"])),
}
