"""Exponentials of axes that are diagonalised: exp((A⊗I + I⊗B)t) = exp(At) ⊗ exp(Bt), with exp(At) = V exp(λt) V⁻¹.

The exponentials are small and real also where the modes are complex, as on periodic axes; nothing is transformed before
a state is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

from frozenpinn.integrators.protocol import NO_WORK
from frozenpinn.operators import tensor
from frozenpinn.operators.eigen import Eigensystem
from frozenpinn.operators.tensor import AxisFactor
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.memo import Same

Array = np.ndarray
_HELD = 4_000_000  # numbers of states at different times that are carried together


@dataclass(frozen=True, eq=False, repr=False)
class AxisExponentials:
    """y(t) = exp(constant·t) · (exp(A₁t) ⊗ exp(A₂t) ⊗ …) y(start).

    Attributes
    ----------
    start, end
        The span of time.
    axes
        Eigenvalues and eigenvectors of each axis.
    state
        The coefficients at the start.
    constant
        What is added to all eigenvalues.
    """

    start: float
    end: float
    axes: tuple[Eigensystem, ...]
    state: Array
    constant: float = 0.0
    name, kind = "modal", "axis-exponentials"
    steps, work = 0, NO_WORK

    @property
    def breaks(self) -> Array:
        """Start and end: it is smooth between them."""
        return np.array([self.start, self.end])

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of the tensor of coefficients."""
        return tuple(len(e.eigenvalues) for e in self.axes)

    def exponentials(self, axis: int, tau: Array, image: AxisFactor | None = None, derivative: int = 0) -> Array:
        """Return M exp(A τ) of one axis, shape (m, k, r), or M A exp(A τ); the constant belongs to the first axis.

        Without an image M, it is the identity. Products go from the few rows of M on, not from exp(A τ).
        """
        return _exponentials(self.axes[axis], tau, image, self.constant if axis == 0 else 0.0, derivative)

    def __call__(self, times: Array) -> Array:
        """Return the states at the given times, shape (m, size)."""
        times = np.asarray(times, dtype=float)
        out = np.empty((len(times), len(self.state)))
        step = max(1, _HELD // len(self.state))
        with np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, len(times), step):
                out[first : first + step] = self._carried(times[first : first + step] - self.start)
        return out

    def _carried(self, tau: Array) -> Array:
        return self._contracted([self.exponentials(axis, tau) for axis in range(len(self.axes))])

    def _contracted(self, factors: Sequence[Array]) -> Array:
        """Apply matrices (m, k, r) to the axes of the state, each at its time, shape (m, k₁k₂…)."""
        sizes, m = self.sizes, len(factors[0])
        x = (factors[0].reshape(-1, sizes[0]) @ self.state.reshape(sizes[0], -1)).reshape(m, factors[0].shape[1], -1)
        for axis, own in enumerate(factors[1:], start=1):
            before = x.shape[1]
            if axis == len(sizes) - 1:
                x = x.reshape(m, -1, sizes[axis]) @ own.transpose(0, 2, 1)
            else:
                x = own[:, None] @ x.reshape(m, before, sizes[axis], -1)
            x = x.reshape(m, before * own.shape[1], -1)
        return np.asarray(x.reshape(m, -1))

    def mapped(self, times: Array, maps: Sequence[AxisFactor], derivative: int = 0) -> Array:
        """Return (M₁ ⊗ M₂ ⊗ …) of the states, or of their time derivatives, shape (m, k₁k₂…): cheap for small maps.

        Maps to more numbers than they are given are applied last.
        """
        tau = np.asarray(times, dtype=float) - self.start
        out = np.empty((len(tau), prod(m.shape[0] for m in maps)))
        small = [m if m.shape[0] <= m.shape[1] else None for m in maps]
        step = max(1, _HELD // len(self.state))
        for first in range(0, len(tau), step):
            part = tau[first : first + step]
            carried = [self.exponentials(axis, part, m) for axis, m in enumerate(small)]
            total = self._contracted(carried) * (self.constant if derivative else 1.0)
            for axis, m in enumerate(small if derivative else []):
                own = self.exponentials(axis, part, m, derivative=1)
                total += self._contracted([*carried[:axis], own, *carried[axis + 1 :]])
            found = total.reshape(len(part), *(own.shape[1] for own in carried))
            for axis, m in enumerate(maps):
                if small[axis] is None and isinstance(m, np.ndarray):
                    found = np.moveaxis(np.tensordot(found, m, axes=(axis + 1, 1)), -1, axis + 1)
            out[first : first + step] = found.reshape(len(part), -1)
        return out

    def rates(self, times: Array) -> Array:
        """Return A y."""
        states = self(times)
        out = self.constant * states
        for axis, (eigenvalues, vectors, left, _) in enumerate(self.axes):
            matrix = np.real((vectors * eigenvalues) @ left)
            out += tensor.along_axis(matrix, axis, states.T, self.sizes).reshape(states.T.shape).T
        return out

    def bounds(self, times: Array, maps: Sequence[Array]) -> tuple[Array, Array]:
        """Return bounds of the norms of the states (m,) and of their images under a map of each axis (m, axes).

        Only one axis is carried for each of them: the others can stretch a state by no more than the norms of their
        exponentials.
        """
        tau, sizes = np.asarray(times, dtype=float) - self.start, self.sizes
        images = np.empty((len(tau), len(maps)))
        rates, stretch = [e.abscissa for e in self.axes], prod(e.condition for e in self.axes)
        rates[0] += self.constant
        with np.errstate(over="ignore", invalid="ignore"):
            for axis, own in enumerate(maps):
                constant = self.constant if axis == 0 else 0.0
                carried = _known_exponentials(Same(self.axes[axis]), tau.tobytes(), Same(own), constant)
                moved = tensor.along_axis(carried.reshape(-1, sizes[axis]), axis, self.state, sizes)
                moved = moved.reshape(prod(sizes[:axis]), len(tau), -1)
                others = np.exp(tau * (sum(rates) - rates[axis])) * (stretch / self.axes[axis].condition)
                images[:, axis] = others * np.sqrt(np.einsum("ijk,ijk->j", moved, moved))
            return np.exp(tau * sum(rates)) * (stretch * float(np.linalg.norm(self.state))), images

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that define the trajectory."""
        found = {"start": np.array(self.start), "end": np.array(self.end), "state": self.state}
        found["constant"] = np.array(self.constant)
        for axis, own in enumerate(self.axes):
            found |= {f"{name}/{axis}": np.asarray(value) for name, value in own._asdict().items()}
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> AxisExponentials:
        """Rebuild a stored trajectory."""
        count = sum(name.startswith("eigenvalues/") for name in arrays)
        axes = []
        for axis in range(count):
            eigenvalues, vectors, left = (arrays[f"{name}/{axis}"] for name in Eigensystem._fields[:3])
            axes.append(Eigensystem(eigenvalues, vectors, left, float(arrays[f"condition/{axis}"])))
        ends = float(arrays["start"]), float(arrays["end"])
        return cls(*ends, tuple(axes), arrays["state"], float(arrays["constant"]))


def _exponentials(
    axis: Eigensystem, tau: Array, image: AxisFactor | None, constant: float, derivative: int = 0
) -> Array:
    """Return M exp((A + constant) τ) of an axis, or M A exp(…)."""
    eigenvalues, vectors, left, _ = axis
    rates = eigenvalues + constant if constant else eigenvalues
    rows = vectors if image is None else np.asarray(tensor.multiplied(image, vectors))
    rows = rows * eigenvalues if derivative else rows
    found = rows * np.exp(tau[:, None, None] * rates)
    if not np.iscomplexobj(found):
        return np.asarray(found @ left)
    return np.asarray(found.real @ left.real - found.imag @ left.imag)


@lru_cache(maxsize=8)
def _known_exponentials(axis: Same[Eigensystem], tau: bytes, image: Same[Array], constant: float) -> Array:
    """Return the same of few rows, of which every solve on the same axes asks for the same."""
    return read_only(_exponentials(axis.value, np.frombuffer(tau), image.value, constant))
