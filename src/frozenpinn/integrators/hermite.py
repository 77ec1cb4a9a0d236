"""Dense output from accepted steps: piecewise quintic Hermite interpolation of states and rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from frozenpinn.integrators.protocol import NO_WORK, Work

Array = np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class HermiteTrajectory:
    """Interpolates (t, y, y') at three neighbouring steps by a polynomial of degree five.

    Its error is O(h⁶), below that of the fifth-order methods that produced the steps.

    Attributes
    ----------
    times, states, slopes
        Accepted steps, y and y' there.
    name, work
        Which method has produced them, and what it took.
    """

    times: Array
    states: Array
    slopes: Array
    name: str = "hermite"
    work: Work = NO_WORK
    kind = "hermite"

    @property
    def steps(self) -> int:
        """Number of accepted steps."""
        return len(self.times) - 1

    @property
    def end(self) -> float:
        """Up to which time it reaches."""
        return float(self.times[-1])

    @property
    def breaks(self) -> Array:
        """Times between which it is smooth: half-way between steps, where it goes over to other neighbours."""
        return np.concatenate([self.times[:1], (self.times[1:-2] + self.times[2:-1]) / 2.0, self.times[-1:]])

    def __call__(self, times: Array) -> Array:
        """Return the states at the given times, shape (m, size)."""
        return self._combine(times, _hermite_weights)

    def rates(self, times: Array) -> Array:
        """Return the derivative of the interpolant."""
        return self._combine(times, _hermite_slopes)

    def _combine(self, times: Array, weights: Callable[[Array, Array], tuple[Array, Array]]) -> Array:
        times = np.asarray(times, dtype=float)
        count = min(3, len(self.times))
        right = np.clip(np.searchsorted(self.times, times), 1, len(self.times) - 1)
        nearer_left = np.abs(times - self.times[right - 1]) < np.abs(self.times[right] - times)
        first = np.clip(right - 1 - nearer_left, 0, len(self.times) - count)
        nodes = self.times[first[:, None] + np.arange(count)]
        value, slope = weights(nodes, times)
        shape = (len(times), len(self.times))
        ends, columns = np.arange(0, value.size + 1, count), (first[:, None] + np.arange(count)).ravel()
        of_values, of_slopes = (csr_array((w.ravel(), columns, ends), shape=shape) for w in (value, slope))
        return np.asarray(of_values @ self.states + of_slopes @ self.slopes)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that define the trajectory."""
        return {"times": self.times, "states": self.states, "rates": self.slopes}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> HermiteTrajectory:
        """Rebuild a stored trajectory."""
        return cls(arrays["times"], arrays["states"], arrays["rates"])


def _hermite_weights(nodes: Array, t: Array) -> tuple[Array, Array]:
    """Return the weights of values and slopes at ``nodes`` (m, k) for interpolation at ``t`` (m,)."""
    count = nodes.shape[1]
    lagrange = np.ones_like(nodes)
    derivative = np.zeros_like(nodes)
    for i in range(count):
        for j in range(count):
            if i != j:
                gap = nodes[:, i] - nodes[:, j]
                lagrange[:, i] *= (t - nodes[:, j]) / gap
                derivative[:, i] += 1.0 / gap
    offset = t[:, None] - nodes
    square = lagrange**2
    return (1.0 - 2.0 * offset * derivative) * square, offset * square


def _hermite_slopes(nodes: Array, t: Array) -> tuple[Array, Array]:
    """Return the weights of the interpolant's derivative, by a complex step (exact to round-off)."""
    step = 1e-30
    value, slope = _hermite_weights(nodes.astype(complex), t + 1j * step)
    return value.imag / step, slope.imag / step
