"""Exact propagation of linear systems with constant coefficients: no time steps, any output time.

Symmetric and skew-symmetric operators are diagonalised by ``eigh`` and solved mode by mode in closed form, also under
forcing and boundary data that depend on time (see modal.py); c'' = K c + δ c' + b with symmetric K likewise, and
general operators whose eigenvectors are well conditioned. Everything else that does not depend on time uses a ladder of
matrix exponentials exp(A·T/2ʲ): an output time is reached by its binary digits, without assuming anything of A.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as sla

from frozenpinn.errors import IntegrationError, SettingsError, warn
from frozenpinn.solvers.decomposition import Decomposition, decompose
from frozenpinn.solvers.interpolation import (
    DEGREE,
    FEW_PROBES,
    MANY_PROBES,
    TooManyWindowsError,
    Window,
    interpolate,
)
from frozenpinn.solvers.modal import forced, unforced
from frozenpinn.solvers.protocol import NO_WORK, NOBODY, Integrator, Observer, OdeSystem, Trajectory

Array = np.ndarray


@dataclass(frozen=True)
class ExactPropagator:
    """Closed-form or matrix-exponential solution of linear systems with constant coefficients.

    Parameters
    ----------
    rtol
        Relative accuracy asked of the solution.
    margin
        Part of that which the interpolation of forcing and boundary data in time may take.
    fallback
        Used, with a warning, if these data can't be interpolated; None raises an error instead.
    """

    rtol: float = 1e-10
    margin: float = 0.1
    fallback: Integrator | None = None
    name: str = "exact"

    def integrate(self, system: OdeSystem, observer: Observer = NOBODY) -> Trajectory:
        """Diagonalise or build the ladder; the trajectory evaluates at any time."""
        if not system.has_constant_coefficients:
            raise SettingsError(
                "the exact propagator needs a linear equation whose coefficients do not depend on t; "
                "use integrator='cvode' or leave the choice to the program."
            )
        _check_finite(system.linear.matrix, system.initial_state)
        parts = decompose(system)
        if parts is not None:
            return self._modal(system, parts, observer)
        if system.forcing.is_constant:
            return _ladder(system)
        raise SettingsError(
            "the operator's eigenvectors are too ill conditioned for time-dependent forcing in closed form; "
            "use integrator='cvode' or leave the choice to the program."
        )

    def _modal(self, system: OdeSystem, parts: Decomposition, observer: Observer) -> Trajectory:
        start, end = system.time
        modes, vectors, left = parts
        state = left @ system.initial_state.reshape(modes.order, -1).T
        if system.forcing.is_constant:
            b = left @ system.forcing(start)
            if not np.any(b):
                return unforced(modes, vectors, state.T, start, end)
            constant = np.zeros((DEGREE + 1, len(b)), dtype=b.dtype)
            constant[0] = b
            return forced(modes, vectors, state.T, [Window(start, end - start, constant)])
        try:
            probes = MANY_PROBES if system.forcing.is_separable else FEW_PROBES
            windows = interpolate(system.forcing.batch, start, end, max(self.margin * self.rtol, 1e-14), probes)
        except TooManyWindowsError:
            text = "forcing or boundary data vary too rapidly in time to be interpolated"
            if self.fallback is None:
                raise IntegrationError(f"{text}; use integrator='cvode'.") from None
            warn(f"{text}; {self.fallback.name} is used instead.")
            return self.fallback.integrate(system, observer)
        # few coefficients are mapped to the modes, instead of the many values they were found from
        return forced(modes, vectors, state.T, [Window(w.start, w.length, w.coefficients @ left.T) for w in windows])


def _check_finite(*arrays: Array) -> None:
    if not all(np.all(np.isfinite(a)) for a in arrays):
        raise IntegrationError("the operator or the initial data contain values that are not finite.")


def _ladder(system: OdeSystem) -> Trajectory:
    start, end = system.time
    b = system.state_forcing(start)
    matrix, state = system.linear.matrix, system.initial_state
    if np.any(b):  # one more component, constantly 1, carries the forcing
        matrix = np.block([[matrix, b[:, None]], [np.zeros((1, len(b) + 1))]])
        state = np.append(state, 1.0)
    _check_finite(matrix, state)
    return Ladder(start, end, matrix, state, system.size)


@dataclass(frozen=True, eq=False, repr=False)
class Ladder:
    """exp(A·T/2ʲ) for j = 0 … J; times are reached by their binary digits and a short Taylor series.

    Attributes
    ----------
    start, end
        The span of time.
    matrix, state
        A, and the state at the start; where they are larger than ``size``, a constant 1 carries the forcing.
    size
        Number of components of the system's own states.
    """

    start: float
    end: float
    matrix: Array
    state: Array
    size: int
    name = kind = "ladder"
    steps, work = 0, NO_WORK

    def __post_init__(self) -> None:
        if not np.all(np.isfinite(self.rungs[0])):
            raise IntegrationError(
                f"the matrix exponential overflows before t = {self.end:g}: the linear part has strongly growing "
                "modes. Check the signs of the equation (backward diffusion?) and the boundary conditions, "
                "or use a larger cutoff (1e-8)."
            )

    @cached_property
    def levels(self) -> int:
        """How often the time is halved."""
        norm = float(np.linalg.norm(self.matrix, 1)) * (self.end - self.start)
        return max(0, int(np.ceil(np.log2(max(norm, 1.0)))))

    @cached_property
    def rungs(self) -> tuple[Array, ...]:
        """The exponentials, that of the whole time first."""
        rungs = [sla.expm(self.matrix * ((self.end - self.start) / 2**self.levels))]
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(self.levels):
                rungs.append(rungs[-1] @ rungs[-1])
        return tuple(rungs[::-1])

    @property
    def breaks(self) -> Array:
        """Start and end: it is smooth between them."""
        return np.array([self.start, self.end])

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

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Ladder:
        """Rebuild a stored trajectory."""
        start, end, size = float(arrays["start"]), float(arrays["end"]), int(arrays["size"])
        return cls(start, end, arrays["matrix"], arrays["state"], size)
