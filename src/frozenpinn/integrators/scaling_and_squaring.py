"""A ladder of matrix exponentials: an output time is reached by its binary digits, whatever the eigenvectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as sla

from frozenpinn.errors import IntegrationError
from frozenpinn.integrators.protocol import NO_WORK

Array = np.ndarray


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
        return np.ascontiguousarray(
            self.carry(np.repeat(self.state[:, None], len(times), axis=1), times)[: self.size].T
        )

    def carry(self, states: Array, times: Array) -> Array:
        """Return exp(A (tᵢ − start)) applied to the i-th of some states, which stand in columns."""
        unit = (self.end - self.start) / 2**self.levels
        ticks = np.clip((np.asarray(times, dtype=float) - self.start) / unit, 0.0, 2.0**self.levels)
        whole = np.floor(ticks).astype(np.int64)
        states = states.copy()
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported by the caller
            for level, rung in enumerate(self.rungs):
                chosen = (whole >> (self.levels - level)) & 1 == 1
                if np.any(chosen):
                    states[:, chosen] = rung @ states[:, chosen]
        return self._taylor(states, (ticks - whole) * unit)

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
