"""Duhamel's integral against polynomials, mode by mode, and trajectories made of it.

A mode z' = λ z + β(t) whose load β is a polynomial p(s), s = τ/h, on a step of length h, follows

    z(h) = e^{λh} z(0) + h ∫₀¹ e^{(1−s)λh} p(s) ds.

The integral is a sum over nine Gauss nodes of weights that depend on λh alone, exact for degrees up to eight. For
|λh| ≤ 40 these weights come from a finer Gauss rule that resolves the exponential: sums of products without
cancellation, unlike the recurrence of the φ-functions. Beyond, repeated integration by parts is a short sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from math import factorial

import numpy as np
from numpy.polynomial import legendre

from frozenpinn.integrators.protocol import NO_WORK, Work
from frozenpinn.operators import Operator, operator_arrays, operator_from_arrays
from frozenpinn.operators.eigen import Distinct

Array = np.ndarray
_COUNT = 9
_FAST = 40.0
_CHUNK = 3000  # exponents at a time: the weights of as many stay near the cache


def _gauss(count: int) -> tuple[Array, Array]:
    """Return Gauss nodes and weights on [0, 1]; for few nodes NumPy's are a digit more accurate than SciPy's."""
    x, w = legendre.leggauss(count)
    return (x + 1) / 2, w / 2


PLACES, _ = _gauss(_COUNT)  #: Gauss nodes on [0, 1] at which polynomials are given
_PLACES_AND_END = np.append(PLACES, 1.0)


def _values_to_legendre() -> Array:
    x, w = legendre.leggauss(_COUNT)
    degrees = np.arange(_COUNT)
    return np.asarray((legendre.legvander(x, _COUNT - 1) * w[:, None] * (2 * degrees + 1) / 2).T)


@cache
def _derivatives(place: float) -> Array:
    """Return the derivatives by s at one place of the polynomial through given values, shape (order, values)."""
    coefficients, rows = _values_to_legendre(), []
    for order in range(_COUNT):
        rows.append(legendre.legval(2 * place - 1, coefficients) * 2.0**order)
        coefficients = legendre.legder(coefficients)
    return np.array(rows)


def _finer(count: int) -> tuple[Array, Array]:
    """Return 1 − s at the nodes of a Gauss rule, and the map from integrands there to weights at :data:`PLACES`."""
    nodes, weights = _gauss(count)
    return 1.0 - nodes, ((legendre.legvander(2 * nodes - 1, _COUNT - 1) @ _values_to_legendre()) * weights[:, None]).T


@cache
def _rules() -> tuple[tuple[float, Array, Array], ...]:
    """Return up to which |z| a rule resolves the exponential to round-off, and that rule."""
    return tuple((bound, *_finer(count)) for bound, count in ((3.0, 12), (10.0, 16), (20.0, 20), (_FAST, 28)))


def moments(z: Array) -> Array:
    """Return the weights of ∫₀¹ e^{(1−s)z} p(s) ds in the values of p at :data:`PLACES`, shape (9, len(z))."""
    out = np.empty((_COUNT, len(z)), dtype=z.dtype)
    sizes = np.abs(z)
    fast, below = sizes > _FAST, -1.0
    for bound, nodes, weights in _rules():
        own = (sizes > below) & (sizes <= bound)
        if np.any(own):
            out[:, own] = weights @ np.exp(np.outer(nodes, z[own]))
        below = bound
    if np.any(fast):
        powers = (1.0 / z[fast]) ** np.arange(1, _COUNT + 1)[:, None]
        with np.errstate(over="ignore"):
            out[:, fast] = np.exp(z[fast]) * (_derivatives(0.0).T @ powers) - _derivatives(1.0).T @ powers
    return out


def phi_functions(z: Array, count: int) -> Array:
    """Return φ₁ … φ_count, φₖ(z) = ∫₀¹ e^{(1−s)z} sᵏ⁻¹/(k−1)! ds, shape (count, len(z)); count ≤ 9."""
    monomials = np.stack([PLACES**k / factorial(k) for k in range(count)])
    return np.asarray(monomials @ moments(z))


def lagrange(nodes: Array, places: Array) -> Array:
    """Return the Lagrange polynomials of ``nodes`` (…, k), sorted, at ``places`` (…, m), shape (…, m, k)."""
    if nodes.shape[-1] == 1:
        return np.ones((*places.shape, 1))
    unit = np.abs(nodes[..., :1] - nodes[..., -1:])  # lest products of tiny numbers vanish
    gaps = (nodes[..., :, None] - nodes[..., None, :]) / unit[..., None] + np.eye(nodes.shape[-1])
    factors = (places[..., :, None] - nodes[..., None, :]) / unit[..., None]
    found = np.ones_like(factors)  # of the factors before each, times those behind
    np.cumprod(factors[..., :-1], axis=-1, out=found[..., 1:])
    found[..., :-1] *= np.cumprod(factors[..., :0:-1], axis=-1)[..., ::-1]
    return np.asarray(found / np.prod(gaps, axis=-1)[..., None, :])


def _alike(tau: Array, latest: float) -> list[Array]:
    """Sort times since the last step into groups that differ by the round-off of the times only."""
    round_off = 2.0**-51  # of a time, relative to the latest
    order = np.argsort(tau, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(tau[order]) > round_off * latest) + 1)


@dataclass(frozen=True, eq=False, repr=False)
class LoadTrajectory:
    """States at the steps, and between them Duhamel's integral of the interpolated loads.

    Attributes
    ----------
    eigenvalues, vectors
        The modes, and the map from modal coordinates to states.
    times, states, loads
        Steps, and states and loads there in modal coordinates.
    work
        What it took.
    """

    eigenvalues: Array
    vectors: Operator
    times: Array
    states: Array
    loads: Array
    work: Work = NO_WORK
    name = kind = "etd"

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
        """Times between which it is smooth: the steps."""
        return self.times

    def __call__(self, times: Array) -> Array:
        """Return the states at the given times, shape (m, size)."""
        return self._physical(self._modal(times)[0])

    def rates(self, times: Array) -> Array:
        """Return the time derivatives of the states, shape (m, size)."""
        states, loads = self._modal(times)
        return self._physical(self.eigenvalues * states + loads)

    def both(self, times: Array) -> tuple[Array, Array]:
        """Return states and rates, for little more than one of them."""
        states, loads = self._modal(times)
        return self._physical(states), self._physical(self.eigenvalues * states + loads)

    def _physical(self, modal: Array) -> Array:
        return np.real(self.vectors @ modal.T).T

    @cached_property
    def _distinct(self) -> Distinct:
        return Distinct.of(self.eigenvalues)

    def _modal(self, times: Array) -> tuple[Array, Array]:
        """Return states and loads of the modes at some times, shape (m, modes) each."""
        times = np.asarray(times, dtype=float)
        anchor = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.times) - 1)
        tau = times - self.times[anchor]
        step = max(1, _CHUNK // max(1, len(self.eigenvalues)))
        found = np.empty((2, len(times), len(self.eigenvalues)), dtype=np.result_type(self.states, self.loads))
        found[0], found[1] = self.states[anchor], self.loads[anchor]
        between = np.flatnonzero(tau)  # elsewhere it is known
        alike = _alike(tau[between], float(np.max(np.abs(times), initial=0.0)))
        if 2 * len(alike) <= len(between):  # most steps have one of a few lengths
            for group in (between[own] for own in alike):
                weights = self._weights(tau[group[:1]])
                for first in range(0, len(group), step):
                    chunk = group[first : first + step]
                    found[:, chunk] = self._modal_chunk(anchor[chunk], tau[chunk], *weights)
        else:
            for first in range(0, len(between), step):
                chunk = between[first : first + step]
                found[:, chunk] = self._modal_chunk(anchor[chunk], tau[chunk], *self._weights(tau[chunk]))
        return found[0], found[1]

    def _weights(self, tau: Array) -> tuple[Array, Array]:
        """Return the weights of loads (9, m, modes) and the factors of states (m, modes) after times tau of a step."""
        exponents = tau[:, None] * self._distinct.values
        weights = self._distinct.spread(moments(exponents.ravel()).reshape(_COUNT, *exponents.shape))
        with np.errstate(over="ignore", invalid="ignore"):
            return tau[:, None] * weights, self._distinct.spread(np.exp(exponents))

    def _modal_chunk(self, anchor: Array, tau: Array, weights: Array, factors: Array) -> tuple[Array, Array]:
        around = 8  # loads that a polynomial passes through
        last = len(self.times) - 1
        count = min(around, last + 1)
        chosen = np.clip(anchor - count // 2 + 1, 0, last + 1 - count)[:, None] + np.arange(count)
        places = self.times[anchor][:, None] + tau[:, None] * _PLACES_AND_END
        loads = lagrange(self.times[chosen], places) @ self.loads[chosen]  # (m, places, modes)
        with np.errstate(over="ignore", invalid="ignore"):
            integral = np.sum(weights.transpose(1, 0, 2) * loads[:, :-1], axis=1)
            return factors * self.states[anchor] + integral, loads[:, -1]

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that define the trajectory."""
        names = ("eigenvalues", "times", "states", "loads")
        return {**{name: getattr(self, name) for name in names}, **operator_arrays(self.vectors, "vectors")}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> LoadTrajectory:
        """Rebuild a stored trajectory."""
        eigenvalues, vectors = arrays["eigenvalues"], operator_from_arrays(arrays, "vectors")
        return cls(eigenvalues, vectors, arrays["times"], arrays["states"], arrays["loads"])
