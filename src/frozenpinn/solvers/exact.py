"""Exact propagation of linear systems with constant coefficients: no time steps, any output time.

Symmetric and skew-symmetric operators are diagonalised by ``eigh`` and solved mode by mode in closed form, also under
forcing and boundary data that depend on time (see modal.py); c'' = K c + δ c' + b with symmetric K likewise, and
general operators whose eigenvectors are well conditioned. Everything else that does not depend on time uses a ladder of
matrix exponentials exp(A·T/2ʲ): an output time is reached by its binary digits, without assuming anything of A.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg as sla

from frozenpinn.errors import IntegrationError, SettingsError, warn
from frozenpinn.solvers.duhamel import LoadTrajectory
from frozenpinn.solvers.interpolation import (
    DEGREE,
    FEW,
    MANY,
    TooManyWindowsError,
    Window,
    interpolate,
)
from frozenpinn.solvers.modal import ModalTrajectory, Modes, forced, unforced
from frozenpinn.solvers.protocol import Integrator, OdeSystem, Trajectory

Array = np.ndarray
WELL_CONDITIONED = 1e6  # eigenvectors up to here cost at most six digits of round-off


@dataclass(frozen=True)
class ExactPropagator:
    """Closed-form or matrix-exponential solution of linear systems with constant coefficients.

    Parameters
    ----------
    rtol
        Relative accuracy of the interpolation of forcing and boundary data in time.
    fallback
        Used, with a warning, if these data can't be interpolated; None raises an error instead.
    """

    rtol: float = 1e-11
    fallback: Integrator | None = None
    name: str = "exact"

    def integrate(self, system: OdeSystem) -> Trajectory:
        """Diagonalise or build the ladder; the trajectory evaluates at any time."""
        if not system.has_constant_coefficients:
            raise SettingsError(
                "the exact propagator needs a linear equation whose coefficients do not depend on t; "
                "use integrator='cvode' or leave the choice to the program."
            )
        _check_finite(system.matrix, system.initial_state)
        parts = decompose(system)
        if parts is not None:
            return self._modal(system, parts)
        if system.is_autonomous:
            return _ladder(system)
        raise SettingsError(
            "the operator's eigenvectors are too ill conditioned for time-dependent forcing in closed form; "
            "use integrator='cvode' or leave the choice to the program."
        )

    def _modal(self, system: OdeSystem, parts: Decomposition) -> Trajectory:
        start, end = system.time
        modes, vectors, left = parts
        state = left @ system.initial_state.reshape(modes.order, -1).T
        if system.is_autonomous:
            b = left @ system.forcing(start)
            if not np.any(b):
                return unforced(modes, vectors, state.T, start, end)
            constant = np.zeros((DEGREE + 1, len(b)), dtype=b.dtype)
            constant[0] = b
            return forced(modes, vectors, state.T, [Window(start, end - start, constant)])
        try:
            probes = MANY if system.forcing_is_separable else FEW
            windows = interpolate(system.forcings, start, end, max(self.rtol, 1e-14), probes)
        except TooManyWindowsError:
            text = "forcing or boundary data vary too rapidly in time to be interpolated"
            if self.fallback is None:
                raise IntegrationError(f"{text}; use integrator='cvode'.") from None
            warn(f"{text}; {self.fallback.name} is used instead.")
            return self.fallback.integrate(system)
        # few coefficients are mapped to the modes, instead of the many values they were found from
        return forced(modes, vectors, state.T, [Window(w.start, w.length, w.coefficients @ left.T) for w in windows])


class Decomposition(NamedTuple):
    """Modes, their vectors (right) and the map from states to modal coordinates (left)."""

    modes: Modes
    vectors: Array
    left: Array


def can_propagate(system: OdeSystem) -> bool:
    """Whether the exact propagator can solve a system."""
    if not system.has_constant_coefficients:
        return False
    return system.is_autonomous or is_structured(system) or _is_well_conditioned(system)


def is_structured(system: OdeSystem) -> bool:
    """Whether the linear part is diagonalised by orthogonal eigenvectors."""
    if len(system.moving) == 0:
        return system.structure in ("symmetric", "skew-symmetric")
    whole = len(system.moving) == system.coefficients
    return whole and system.structure == "symmetric" and _uniform_damping(system.velocity) is not None


def is_diagonalisable(system: OdeSystem) -> bool:
    """Whether the linear part is diagonalised by eigenvectors that are orthogonal, or nearly so."""
    return is_structured(system) or (system.structure == "split" and _is_well_conditioned(system))


def _is_well_conditioned(system: OdeSystem) -> bool:
    return len(system.moving) == 0 and system.eigensystem[2] <= WELL_CONDITIONED


def decompose(system: OdeSystem) -> Decomposition | None:
    """Diagonalise the operator if its structure, or the condition of its eigenvectors, allows it."""
    if is_structured(system) and system.structure == "symmetric":
        start, end = system.time
        eigenvalues, vectors = symmetric_modes(system.position, (end - start) ** -(2 if len(system.moving) else 1))
        modes = (
            Modes(eigenvalues, 2, _uniform_damping(system.velocity) or 0.0)
            if len(system.moving)
            else Modes(eigenvalues)
        )
        return Decomposition(modes, vectors, vectors.T)
    if is_structured(system):
        frequencies, rotations = sla.eigh(1j * system.position, check_finite=False, driver="evd")
        return Decomposition(Modes(-1j * frequencies), rotations, rotations.conj().T)
    if not system.is_autonomous and _is_well_conditioned(system):
        eigenvalues, vectors, _ = system.eigensystem
        return Decomposition(Modes(eigenvalues), vectors, np.linalg.inv(vectors))
    return None


def symmetric_modes(matrix: Array, rate: float) -> tuple[Array, Array]:
    """Return eigenvalues and eigenvectors of a symmetric matrix, accurate where the eigenvalues are small.

    Computed from A itself, every eigenvalue is wrong by round-off of the largest: with fourth derivatives, which reach
    1e7 and more, that costs the smooth modes, which carry the solution, several digits. From (s − A)⁻¹, with s just
    beyond the spectrum, these are accurate to the last digit, and the largest ones follow from Rayleigh quotients.

    ``rate`` is what eigenvalues must reach to matter: 1/T, or 1/T² for equations of second order.
    """
    identity = np.eye(len(matrix))
    for shift in rate * 10.0 ** np.arange(7):
        shifted = shift * identity - matrix
        factor, info = sla.lapack.dpotrf(shifted, lower=1, clean=0)
        if info:  # eigenvalues beyond the shift: the equation grows
            continue
        lower, _ = sla.lapack.dpotri(factor, lower=1)
        inverses, vectors = sla.eigh(lower, lower=True, check_finite=False, driver="evd")
        if not inverses[-1] * shift <= 1e2 or inverses[0] <= 0:  # too near to an eigenvalue, or too wide a spectrum
            continue
        eigenvalues = shift - 1.0 / inverses
        quotients = np.einsum("ij,ij->j", vectors, matrix @ vectors)
        large = np.abs(eigenvalues) > np.sqrt(shift / inverses[0])
        return np.where(large, quotients, eigenvalues), vectors
    eigenvalues, vectors = sla.eigh(matrix, check_finite=False, driver="evd")
    return eigenvalues, vectors


def _uniform_damping(velocity: Array) -> float | None:
    """Return δ if the velocities enter as δ·c', None if in any other way."""
    if not velocity.size or not np.any(velocity):
        return 0.0
    if velocity.shape[0] != velocity.shape[1]:
        return None
    delta = float(np.median(np.diag(velocity)))
    gap = np.max(np.abs(velocity - delta * np.eye(len(velocity))))
    return delta if gap <= 1e-9 * abs(delta) else None


def _check_finite(*arrays: Array) -> None:
    if not all(np.all(np.isfinite(a)) for a in arrays):
        raise IntegrationError("the operator or the initial data contain values that are not finite.")


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
        with np.errstate(over="ignore", invalid="ignore"):
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
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported by the caller
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
    "modal": ModalTrajectory.from_arrays,
    "etd": LoadTrajectory.from_arrays,
    "ladder": lambda a: Ladder(float(a["start"]), float(a["end"]), a["matrix"], a["state"], int(a["size"])),
}
