"""Matrix exponentials axis by axis: exp((A⊗I + I⊗B)t) = exp(At) ⊗ exp(Bt), whatever the eigenvectors of A and B."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from frozenpinn.integrators.protocol import NO_WORK, OdeSystem, Trajectory
from frozenpinn.integrators.scaling_and_squaring import Ladder
from frozenpinn.operators import KroneckerSum, kronecker
from frozenpinn.operators.dense import Identity

Array = np.ndarray
_HELD = 4_000_000  # numbers of states at different times that are carried together


def axis_ladder(system: OdeSystem) -> Trajectory | None:
    """Return the solution of a linear system on a product without forcing; None if it is no Kronecker sum."""
    matrices = _axis_matrices(system)
    if matrices is None:
        return None
    start, end = system.time
    return AxisLadder(start, end, matrices, system.initial_state)


def has_axis_ladder(system: OdeSystem) -> bool:
    """Whether a system can be propagated axis by axis."""
    return system.has_constant_coefficients and _axis_matrices(system) is not None


def _axis_matrices(system: OdeSystem) -> tuple[Array, ...] | None:
    position = system.linear.position
    if system.linear.order != 1 or not isinstance(position, KroneckerSum):
        return None
    matrices = position.axis_matrices()
    forced = not system.forcing.is_constant or bool(np.any(system.forcing(system.time[0])))
    return None if matrices is None or forced else tuple(matrices)


@dataclass(frozen=True, eq=False, repr=False)
class AxisLadder:
    """One ladder of exponentials for each axis of a tensor of coefficients.

    Attributes
    ----------
    start, end
        The span of time.
    matrices
        Those of the axes.
    state
        The coefficients at the start.
    """

    start: float
    end: float
    matrices: tuple[Array, ...]
    state: Array
    name = kind = "axis-ladder"
    steps, work = 0, NO_WORK

    @cached_property
    def _ladders(self) -> tuple[Ladder, ...]:
        return tuple(Ladder(self.start, self.end, m, np.zeros(len(m)), len(m)) for m in self.matrices)

    def __post_init__(self) -> None:
        _ = self._ladders  # which refuse exponentials that overflow

    @property
    def breaks(self) -> Array:
        """Start and end: it is smooth between them."""
        return np.array([self.start, self.end])

    def __call__(self, times: Array) -> Array:
        """Return the states at the given times, shape (m, size)."""
        times = np.asarray(times, dtype=float)
        out = np.empty((len(times), len(self.state)))
        step = max(1, _HELD // len(self.state))
        for first in range(0, len(times), step):
            out[first : first + step] = self._carried(times[first : first + step])
        return out

    def _carried(self, times: Array) -> Array:
        sizes = [len(m) for m in self.matrices]
        x = np.repeat(self.state.reshape(*sizes, 1), len(times), axis=-1)
        for axis, ladder in enumerate(self._ladders):
            moved = np.moveaxis(x, axis, 0)
            columns = moved.reshape(sizes[axis], -1)
            carried = ladder.carry(columns, np.tile(times, columns.shape[1] // len(times)))
            x = np.moveaxis(carried.reshape(moved.shape), 0, axis)
        return np.ascontiguousarray(x.reshape(prod(sizes), len(times)).T)

    def rates(self, times: Array) -> Array:
        """Return A y."""
        states, sizes = self(times), [len(m) for m in self.matrices]
        out = np.zeros(states.shape)
        for axis, matrix in enumerate(self.matrices):
            factors = (matrix if k == axis else Identity(n) for k, n in enumerate(sizes))
            out += (kronecker(*factors) @ states.T).T
        return out

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that define the trajectory."""
        ends = {"start": np.array(self.start), "end": np.array(self.end), "state": self.state}
        return {**ends, **{f"matrix/{axis}": matrix for axis, matrix in enumerate(self.matrices)}}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> AxisLadder:
        """Rebuild a stored trajectory."""
        count = sum(name.startswith("matrix/") for name in arrays)
        matrices = tuple(arrays[f"matrix/{axis}"] for axis in range(count))
        return cls(float(arrays["start"]), float(arrays["end"]), matrices, arrays["state"])
