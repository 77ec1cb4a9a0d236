"""Exponentials by scaling and squaring: an output time is reached by its binary digits, whatever the eigenvectors.

On products that is done axis by axis: exp((A⊗I + I⊗B)t) = exp(At) ⊗ exp(Bt). A dense matrix is a product of one axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import scipy.linalg as sla

from frozenpinn.errors import IntegrationError
from frozenpinn.integrators.protocol import NO_WORK, OdeSystem
from frozenpinn.operators import KroneckerSum, tensor

Array = np.ndarray
_HELD = 4_000_000  # numbers of states at different times that are carried together


def is_sum_over_axes(system: OdeSystem) -> bool:
    """Whether exponentials of each axis propagate a system, without time steps."""
    return system.has_constant_coefficients and _axis_matrices(system) is not None


def _axis_matrices(system: OdeSystem) -> tuple[Array, ...] | None:
    """Return the matrix of each axis; None if there are none, or if the forcing can't be carried along."""
    position, forcing = system.linear.position, system.forcing
    if system.linear.is_dense:
        return (system.linear.matrix,) if forcing.is_constant else None
    if system.linear.order != 1 or not isinstance(position, KroneckerSum):
        return None
    matrices = position.axis_matrices()
    forced = not forcing.is_constant or bool(np.any(forcing(system.time[0])))
    return None if matrices is None or forced else tuple(matrices)


@dataclass(frozen=True, eq=False)
class _Powers:
    """exp(A·T/2ʲ) for j = 0 … J; times are reached by their binary digits and a short Taylor series."""

    matrix: Array
    duration: float

    @cached_property
    def levels(self) -> int:
        """How often the time is halved."""
        norm = float(np.linalg.norm(self.matrix, 1)) * self.duration
        return max(0, int(np.ceil(np.log2(max(norm, 1.0)))))

    @cached_property
    def all(self) -> tuple[Array, ...]:
        """The exponentials, that of the whole time first."""
        found = [sla.expm(self.matrix * (self.duration / 2**self.levels))]
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(self.levels):
                found.append(found[-1] @ found[-1])
        return tuple(found[::-1])

    def carry(self, states: Array, tau: Array) -> Array:
        """Return exp(A τᵢ) applied to the i-th of some states, which stand in columns."""
        unit = self.duration / 2**self.levels
        ticks = np.clip(tau / unit, 0.0, 2.0**self.levels)
        whole = np.floor(ticks).astype(np.int64)
        states = states.copy()
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported by the caller
            for level, power in enumerate(self.all):
                chosen = (whole >> (self.levels - level)) & 1 == 1
                if np.any(chosen):
                    states[:, chosen] = power @ states[:, chosen]
        return self._taylor(states, (ticks - whole) * unit)

    def _taylor(self, states: Array, tau: Array) -> Array:
        """Apply exp(A τ) with |A τ| ≤ 1 to each column."""
        if not np.any(tau):
            return states
        term, total = states, states.copy()
        for k in range(1, 20):
            term = self.matrix @ term * (tau / k)
            total += term
        return total


@dataclass(frozen=True, eq=False, repr=False)
class ScalingAndSquaring:
    """y(t) = (exp(A₁t) ⊗ exp(A₂t) ⊗ …) y(start).

    Attributes
    ----------
    start, end
        The span of time.
    matrices
        One for each axis of the tensor of coefficients.
    state
        The coefficients at the start; where there are more than ``size``, a constant 1 carries the forcing.
    size
        Number of components of the system's own states.
    """

    start: float
    end: float
    matrices: tuple[Array, ...]
    state: Array
    size: int
    name = kind = "scaling-and-squaring"
    steps, work = 0, NO_WORK

    @classmethod
    def of(cls, system: OdeSystem) -> ScalingAndSquaring | None:
        """Return the solution of a linear system; None if it is no sum over axes, or forced in a way that is none."""
        matrices = _axis_matrices(system)
        if matrices is None:
            return None
        (start, end), state, b = system.time, system.initial_state, system.state_forcing(system.time[0])
        if np.any(b):  # one more component, constantly 1, carries the forcing
            matrices = (np.block([[matrices[0], b[:, None]], [np.zeros((1, len(b) + 1))]]),)
            state = np.append(state, 1.0)
        return cls(start, end, matrices, state, system.size)

    @cached_property
    def _powers(self) -> tuple[_Powers, ...]:
        return tuple(_Powers(m, self.end - self.start) for m in self.matrices)

    def __post_init__(self) -> None:
        if not all(np.all(np.isfinite(powers.all[0])) for powers in self._powers):
            raise IntegrationError(
                f"the matrix exponential overflows before t = {self.end:g}: the linear part has strongly growing "
                "modes. Check the signs of the equation (backward diffusion?) and the boundary conditions, "
                "or use a larger cutoff (1e-8)."
            )

    @property
    def breaks(self) -> Array:
        """Start and end: it is smooth between them."""
        return np.array([self.start, self.end])

    @property
    def _sizes(self) -> list[int]:
        return [len(m) for m in self.matrices]

    def __call__(self, times: Array) -> Array:
        """Return the states at the given times, shape (m, size)."""
        times = np.asarray(times, dtype=float)
        out = np.empty((len(times), self.size))
        step = max(1, _HELD // len(self.state))
        for first in range(0, len(times), step):
            out[first : first + step] = self._carried(times[first : first + step] - self.start)[:, : self.size]
        return out

    def _carried(self, tau: Array) -> Array:
        sizes = self._sizes
        x = np.repeat(self.state.reshape(*sizes, 1), len(tau), axis=-1)
        for axis, powers in enumerate(self._powers):
            moved = np.moveaxis(x, axis, 0)
            columns = moved.reshape(sizes[axis], -1)
            carried = powers.carry(columns, np.tile(tau, columns.shape[1] // max(1, len(tau))))
            x = np.moveaxis(carried.reshape(moved.shape), 0, axis)
        return x.reshape(prod(sizes), len(tau)).T

    def rates(self, times: Array) -> Array:
        """Return A y + b."""
        states, sizes = self(times), self._sizes
        full = np.concatenate([states, np.ones((len(states), len(self.state) - self.size))], axis=1).T
        rates = np.sum([tensor.along_axis(m, axis, full, sizes) for axis, m in enumerate(self.matrices)], axis=0)
        return np.ascontiguousarray(rates[: self.size].T)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that define the trajectory."""
        ends = {"start": np.array(self.start), "end": np.array(self.end), "state": self.state}
        matrices = {f"matrix/{axis}": matrix for axis, matrix in enumerate(self.matrices)}
        return {**ends, **matrices, "size": np.array(self.size)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> ScalingAndSquaring:
        """Rebuild a stored trajectory; earlier versions stored a single matrix by itself, and products without size."""
        count = sum(name.startswith("matrix/") for name in arrays)
        matrices = tuple(arrays[f"matrix/{axis}"] for axis in range(count)) or (arrays["matrix"],)
        ends, state = (float(arrays["start"]), float(arrays["end"])), arrays["state"]
        return cls(*ends, matrices, state, int(arrays.get("size", len(state))))
