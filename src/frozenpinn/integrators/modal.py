"""Closed-form solution mode by mode, also under forcing that depends on time (Duhamel's principle).

In the eigenvectors of the operator a linear system falls apart into scalar equations

    z' = λ z + β(t)     or     z'' = κ z + δ z' + β(t).

β is interpolated in time by polynomials on windows. On a window the equation has a polynomial particular
solution p, so z = (exact homogeneous solution) + p: no time steps, no stability limit, and the cost does not
depend on how stiff or oscillatory the modes are, only on how smooth the forcing is.

For modes that are fast on a window (|λ|h ≥ 30), p solves (d/dt − λ) p = β in the space of polynomials of the degree of
β; that triangular system is well conditioned there. For slow modes, p is the solution with p = 0 at the start of the
window, expanded to degree 40, from the well-conditioned integral form r − λ∫r = β, p = ∫r.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from math import prod, sqrt

import numpy as np
from numpy.polynomial import chebyshev

from frozenpinn.integrators.interpolation import DEGREE, Window
from frozenpinn.integrators.protocol import NO_WORK, Work
from frozenpinn.operators import Operator, kronecker, operator_arrays, operator_from_arrays, tensor
from frozenpinn.operators.eigen import Distinct
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.memo import Same, recent, remembered
from frozenpinn.runtime.round_off import TINY

Array = np.ndarray
SLOW_DEGREE = 40  #: of particular solutions of slow modes
_FAST = 30.0


@dataclass(frozen=True)
class Modes:
    """Scalar equations of first order (``order=1``) or second order with constant damping δ."""

    eigenvalues: Array
    order: int = 1
    damping: float = 0.0

    @property
    def rates(self) -> Array:
        """How fast each mode is: |λ|, or the smaller modulus of the two roots."""
        return np.abs(self.eigenvalues if self.order == 1 else self.roots[0])

    @property
    def roots(self) -> tuple[Array, Array]:
        """The roots of r² = κ + δ r, the smaller first (from the product −κ: no cancellation)."""
        half = self.damping / 2.0
        far = half + (1 if half >= 0 else -1) * np.sqrt((self.eigenvalues + half**2).astype(complex))
        return -self.eigenvalues / np.where(far == 0, 1.0, far), far

    def propagate(self, state: Array, tau: Array) -> Array:
        """Return the homogeneous solution after times τ (m,): (order, modes) → (m, order, modes)."""
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported by the caller
            if self.order == 1:
                return self._decay(tau)[:, None, :] * state
            half, t = self.damping / 2.0, tau[:, None]
            waves = self.eigenvalues.real < -(half**2)
            if np.isrealobj(self.eigenvalues) and np.isrealobj(state) and np.any(waves):
                out = self._oscillate(state, t)
                if not np.all(waves):
                    others = replace(self, eigenvalues=self.eigenvalues[~waves])
                    out[:, :, ~waves] = others.propagate(state[:, ~waves], tau)
                return out
            root = np.sqrt((self.eigenvalues + half**2).astype(complex))
            up, down = np.exp((half + root) * t), np.exp((half - root) * t)
            cosh = (up + down) / 2
            small = np.abs(root * t) < 1e-4
            safe = np.where(root == 0, 1.0, root)
            sinh = np.where(small, np.exp(half * t) * t * (1 + (root * t) ** 2 / 6), (up - down) / (2 * safe))
            z, v = state
            position = (cosh - half * sinh) * z + sinh * v
            velocity = self.eigenvalues * sinh * z + (cosh + half * sinh) * v
            return np.stack([position.real, velocity.real], axis=1)

    def _decay(self, tau: Array) -> Array:
        """Return exp(λτ) for times τ (m,), shape (m, modes)."""
        if np.isrealobj(self.distinct.values):  # also where the imaginary parts are round-off
            return self.distinct.spread(np.exp(tau[:, None] * self.distinct.values))
        return np.exp(tau[:, None] * self.eigenvalues)

    def _oscillate(self, state: Array, t: Array) -> Array:
        """Return the homogeneous solution of modes that oscillate, in real numbers; of others it is not right."""
        half, eigenvalues, spread = self.damping / 2.0, self.distinct.values, self.distinct.spread
        cosine, sine = self._waves(t)
        z, v = state
        out = np.empty((len(t), 2, len(z)))
        np.multiply(spread(cosine - half * sine), z, out=out[:, 0])
        np.multiply(spread(eigenvalues * sine), z, out=out[:, 1])
        if np.any(v):
            out[:, 0] += spread(sine) * v
            out[:, 1] += spread(cosine + half * sine) * v
        return out

    def _waves(self, t: Array) -> tuple[Array, Array]:
        """Return exp(δt/2)·cos(ωt) and exp(δt/2)·sin(ωt)/ω of the eigenvalues that differ."""
        half = self.damping / 2.0
        frequencies = np.sqrt(np.maximum(-self.distinct.values - half**2, TINY))
        decay, angles = np.exp(half * t), frequencies * t
        return decay * np.cos(angles), decay * (np.sin(angles) / frequencies)

    def positions(self, state: Array, tau: Array) -> Array:
        """Return the first part of :meth:`propagate`, (order, modes) → (modes, m)."""
        if self.order == 1 or np.iscomplexobj(self.eigenvalues) or np.iscomplexobj(state):
            return self.propagate(state, tau)[:, 0].T
        cosine, sine = (self.distinct.spread(wave) for wave in self._waves(tau[:, None]))
        found = (cosine - self.damping / 2.0 * sine) * state[0] + sine * state[1]
        still = self.eigenvalues >= -((self.damping / 2.0) ** 2)
        if np.any(still):
            found[:, still] = replace(self, eigenvalues=self.eigenvalues[still]).propagate(state[:, still], tau)[:, 0]
        return found.T

    @cached_property
    def distinct(self) -> Distinct:
        """The eigenvalues that differ."""
        return Distinct.of(self.eigenvalues)

    def largest(self, state: Array, duration: float) -> Array | None:
        """Return bounds of |z|, and of |z'| at second order, for a time without forcing; None if modes may grow."""
        if self._frequencies is None or self.damping > 0:
            return None
        sizes = np.abs(state)
        if self.order == 1:
            return sizes
        (z, v), frequencies = sizes, self._frequencies
        found = np.empty_like(sizes)
        np.multiply(frequencies, z, out=found[1])
        if not np.any(v):
            found[0] = z
            return found
        found[1] += v  # a bound of the energy, which never grows
        np.fmin(found[1] * self._periods, z + duration * found[1], out=found[0])
        return found

    @cached_property
    def _frequencies(self) -> Array | None:
        """√|κ| of modes that do not grow; None if there are others."""
        return None if np.max(self.eigenvalues.real, initial=0.0) > 0 else np.sqrt(np.abs(self.eigenvalues))

    @cached_property
    def _periods(self) -> Array:
        """1/√|κ|; not a number where κ = 0."""
        frequencies = self._frequencies
        assert frequencies is not None, "of modes that do not grow"
        return 1.0 / np.where(frequencies == 0, np.nan, frequencies)

    def particular(self, length: float) -> tuple[Array, Array]:
        """Return the maps from β to p on windows of one length, for fast and for slow modes.

        Shapes (fast, DEGREE + 1, DEGREE + 1) and (slow, SLOW_DEGREE + 1, DEGREE + 1), on Chebyshev coefficients.
        """
        fast = self.is_fast(length)
        derivative = differentiation(DEGREE) * (2.0 / length)
        operator = derivative if self.order == 1 else derivative @ derivative - self.damping * derivative
        shifted = operator - self.eigenvalues[fast, None, None] * np.eye(DEGREE + 1)
        fast_map = np.linalg.inv(shifted)
        integral = _integration(SLOW_DEGREE) * (length / 2.0)
        twice = integral if self.order == 1 else integral @ integral
        matrix = np.eye(SLOW_DEGREE + 1) - self.eigenvalues[~fast, None, None] * twice
        if self.order == 2:
            matrix = matrix - self.damping * integral
        unit = np.eye(SLOW_DEGREE + 1, DEGREE + 1)
        slow_map = twice @ np.linalg.solve(matrix, np.broadcast_to(unit, (len(matrix), *unit.shape)))
        if self.order == 2:  # overdamped: (d/dt − near)(d/dt − far) p = β, one factor after the other
            near, far = (root[~fast].real for root in self.roots)
            stiff = np.abs(self.roots[1][~fast]) * length >= _FAST
            inner = np.linalg.inv(derivative - far[stiff, None, None] * np.eye(DEGREE + 1))
            outer = integral @ np.linalg.solve(
                np.eye(SLOW_DEGREE + 1) - near[stiff, None, None] * integral,
                np.broadcast_to(unit, (len(inner), *unit.shape)),
            )
            slow_map[stiff] = outer @ inner
        return fast_map, slow_map

    def is_fast(self, length: float) -> Array:
        """Tell which modes are fast on a window."""
        return self.rates * length >= _FAST


@lru_cache(maxsize=8)
def differentiation(degree: int) -> Array:
    """Return the matrix of d/ds on Chebyshev coefficients."""
    matrix = np.zeros((degree + 1, degree + 1))
    matrix[:-1] = chebyshev.chebder(np.eye(degree + 1))
    return matrix


@lru_cache(maxsize=8)
def _integration(degree: int) -> Array:
    """Return the matrix of ∫ from −1 on Chebyshev coefficients, cut at the degree."""
    return np.asarray(chebyshev.chebint(np.eye(degree + 1), lbnd=-1)[: degree + 1])


_NEGLIGIBLE = np.finfo(float).eps * np.array([1 / 16, 1.0])  # parts of the largest mode, and of the fastest


@dataclass(frozen=True, eq=False, repr=False)
class ModalTrajectory:
    """y(t) = V·(homogeneous + particular), window by window.

    Attributes
    ----------
    modes, vectors
        The scalar equations, and V.
    starts, ends
        The windows.
    states
        Homogeneous part at the start of each window, shape (windows, order, modes).
    polynomials
        Chebyshev coefficients of the particular part, shape (windows, degree + 1, modes).
    steps, work
        Closed forms take none; iterations on windows count theirs.
    """

    modes: Modes
    vectors: Operator
    starts: Array
    ends: Array
    states: Array
    polynomials: Array
    steps: int = 0
    work: Work = NO_WORK
    name = kind = "modal"

    @property
    def end(self) -> float:
        """Up to which time it reaches."""
        return float(self.ends[-1])

    @property
    def breaks(self) -> Array:
        """Times between which it is smooth: the windows."""
        return np.append(self.starts, self.ends[-1])

    def __call__(self, times: Array) -> Array:
        """Return the states at the given times, shape (m, size)."""
        return self._evaluate(times, 0)

    def rates(self, times: Array) -> Array:
        """Return the time derivatives of the states, shape (m, size)."""
        return self._evaluate(times, 1)

    def mapped(self, times: Array, maps: Sequence[tensor.AxisFactor], derivative: int = 0) -> Array:
        """Return (M₁ ⊗ M₂ ⊗ …) of positions, or of a time derivative of them, shape (m, k₁k₂…)."""
        vectors, order = self.vectors, self.modes.order
        if vectors.axis_factors is None or len(self.starts) > 1:
            found = self._evaluate(times, int(derivative >= order)).reshape(len(times), order, -1)
            return tensor.along_axes(maps, found[:, min(derivative, order - 1)].T).T
        times = np.asarray(times, dtype=float)
        factors = [tensor.multiplied(m, f) for m, f in zip(maps, vectors.axis_factors, strict=True)]
        return np.real(tensor.along_axes(factors, self._derivative(times, derivative))).T

    def _derivative(self, times: Array, derivative: int) -> Array:
        """Return positions of the modes in the first window, or a derivative of them by time, shape (modes, m)."""
        modes = self.modes
        if not self.polynomials.shape[1] and (not derivative or (derivative == modes.order and not modes.damping)):
            found = self._kept("positions", times, self._positions)
            return modes.eigenvalues[:, None] * found if derivative else found
        modal = self._modal(0, times)
        if derivative >= modes.order:
            modal = self._rate(0, times, modal)
        return modal[:, min(derivative, modes.order - 1)].T

    def _positions(self, tau: Array) -> Array:
        modes, state, present = self._present
        if len(present) == len(self.modes.eigenvalues):
            return modes.positions(state, tau)
        out = np.zeros((len(self.modes.eigenvalues), len(tau)), dtype=state.dtype)
        out[present] = modes.positions(state, tau)
        return out

    @cached_property
    def _present(self) -> tuple[Modes, Array, Array]:
        """The modes that are not zero, their state at the start, and which they are."""
        most = 0.7  # part of the modes, up to which those that are zero are left out
        present = np.flatnonzero(self._is_present)
        if len(present) > most * len(self.modes.eigenvalues):
            return self.modes, self.states[0], np.arange(len(self.modes.eigenvalues))
        return replace(self.modes, eigenvalues=self.modes.eigenvalues[present]), self.states[0][:, present], present

    @property
    def _is_present(self) -> Array:
        """Which modes are more than round-off of the largest, at some time."""
        state, vectors, order = self.states[0], self.vectors, self.modes.order
        found = self.modes.largest(state, float(self.ends[-1] - self.starts[0]))
        if found is None or vectors.axis_factors is None:
            return np.any(state, axis=0)
        found = found.reshape(order, -1)
        return np.any(found > _NEGLIGIBLE[:order, None] * np.max(found, axis=1, keepdims=True), axis=0)

    def bounds(self, times: Array, maps: Sequence[Array]) -> tuple[Array, Array] | None:
        """Return bounds of the norms of the states (1,) and of images of positions under maps of axes (1, axes).

        They hold at all times. None if there is forcing, if modes grow, or if the vectors are no product over axes.
        """
        factors = self.vectors.axis_factors
        if self.polynomials.shape[1] or factors is None:
            return None
        found = self.modes.largest(self.states[0], float(self.ends[-1] - self.starts[0]))
        if found is None:
            return None
        norms = _norms(self.vectors)
        sizes, stretch = [f.shape[1] for f in factors], prod(norms)
        images = []
        for axis, (own, factor, norm) in enumerate(zip(maps, factors, norms, strict=False)):
            mixed = _sizes(Same(own), Same(factor))
            image = tensor.along_axis(mixed, axis, found.reshape(self.modes.order, -1)[0], sizes)
            images.append(sqrt(np.vdot(image, image)) * stretch / norm)
        return np.array([stretch * sqrt(np.vdot(found, found))]), np.array([images])

    def _evaluate(self, times: Array, derivative: int) -> Array:
        times = np.asarray(times, dtype=float)
        window = np.clip(np.searchsorted(self.starts, times, side="right") - 1, 0, len(self.starts) - 1)
        order, size = self.modes.order, self.vectors.shape[0]
        out = np.empty((len(times), order * size))
        for w in np.unique(window):
            chosen = window == w
            modal = self._modal(int(w), times[chosen])
            if derivative:
                modal = self._rate(int(w), times[chosen], modal)
            with np.errstate(over="ignore", invalid="ignore"):
                parts = [np.real(self.vectors @ modal[:, k].T).T for k in range(order)]
            out[chosen] = np.concatenate(parts, axis=1)
        return out

    def _particular(self, w: int, times: Array, derivative: int) -> Array:
        length = self.ends[w] - self.starts[w]
        coefficients = self.polynomials[w]
        degree = len(coefficients) - 1
        values = chebyshev.chebvander(2.0 * (times - self.starts[w]) / length - 1.0, degree)
        for _ in range(derivative):
            values = values @ differentiation(degree) * (2.0 / length)
        return np.asarray(values @ coefficients)

    def _modal(self, w: int, times: Array) -> Array:
        """Return [z] or [z, z'], shape (m, order, modes)."""
        homogeneous = self._homogeneous(w, times)
        if not self.polynomials.shape[1]:
            return homogeneous
        parts = [self._particular(w, times, k) for k in range(self.modes.order)]
        return homogeneous + np.stack(parts, axis=1)

    def _homogeneous(self, w: int, times: Array) -> Array:
        """Return the homogeneous part of [z] or [z, z']."""
        return self._kept("both", times, lambda tau: self.modes.propagate(self.states[w], tau), w)

    def _kept(self, what: str, times: Array, compute: Callable[[Array], Array], w: int = 0) -> Array:
        """Return a function of the time since the start of a window; that of the last few times is kept."""
        many = 4_000_000  # numbers that are not kept
        tau = times - self.starts[w]
        if len(times) * self.states[w].size > many:
            return compute(tau)
        return recent(self, (what, w, times.tobytes()), lambda: read_only(compute(tau)))

    def _rate(self, w: int, times: Array, modal: Array) -> Array:
        """Return the time derivative of [z] or [z, z'] from the equation of the homogeneous part."""
        homogeneous = self._homogeneous(w, times)
        last = self.modes.eigenvalues * homogeneous[:, 0]
        if self.modes.order == 2:
            last = last + self.modes.damping * homogeneous[:, 1]
        if self.polynomials.shape[1]:
            last = last + self._particular(w, times, self.modes.order)
        return np.concatenate([modal[:, 1:], last[:, None]], axis=1)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that define the trajectory."""
        return {
            "eigenvalues": self.modes.eigenvalues,
            "order": np.array(self.modes.order),
            "damping": np.array(self.modes.damping),
            **operator_arrays(self.vectors, "vectors"),
            "starts": self.starts,
            "ends": self.ends,
            "states": self.states,
            "polynomials": self.polynomials,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> ModalTrajectory:
        """Rebuild a stored trajectory."""
        modes = Modes(arrays["eigenvalues"], int(arrays["order"]), float(arrays["damping"]))
        vectors, starts, ends = operator_from_arrays(arrays, "vectors"), arrays["starts"], arrays["ends"]
        return cls(modes, vectors, starts, ends, arrays["states"], arrays["polynomials"])


def of_axis_exponentials(arrays: Mapping[str, Array]) -> ModalTrajectory:
    """Rebuild what earlier versions stored as exponentials of axes that are diagonalised, and of a constant."""
    axes = range(sum(name.startswith("eigenvalues/") for name in arrays))
    eigenvalues = reduce(np.add.outer, [arrays[f"eigenvalues/{axis}"] for axis in axes]).ravel() + arrays["constant"]
    vectors, left = (kronecker(*(arrays[f"{name}/{axis}"] for axis in axes)) for name in ("vectors", "left"))
    state = left @ arrays["state"]
    return unforced(Modes(eigenvalues), vectors, state[None], float(arrays["start"]), float(arrays["end"]))


@remembered
def _norms(vectors: Operator) -> tuple[float, ...]:
    """Return the spectral norms of the factors of a product."""
    return tuple(map(tensor.spectral_norm, vectors.axis_factors or ()))


@lru_cache(maxsize=8)
def _sizes(image: Same[Array], vectors: Same[tensor.AxisFactor]) -> Array:
    """Return |M V| of an axis, of which every solve on the same axes asks for the same."""
    return read_only(np.abs(np.asarray(tensor.multiplied(image.value, vectors.value))))


def unforced(modes: Modes, vectors: Operator, state: Array, start: float, end: float) -> ModalTrajectory:
    """Return the trajectory without forcing: one window, no polynomial."""
    none = np.zeros((1, 0, len(modes.eigenvalues)))
    return ModalTrajectory(modes, vectors, np.array([start]), np.array([end]), state[None], none)


def forced(modes: Modes, vectors: Operator, state: Array, windows: Sequence[Window]) -> ModalTrajectory:
    """March from window to window; ``windows`` hold the forcing in modal coordinates."""
    at_once = 2048  # whose maps are held at a time
    count, degree = len(modes.eigenvalues), SLOW_DEGREE
    dtype = np.result_type(modes.eigenvalues, state, *(w.coefficients for w in windows[:1]))
    polynomials = np.zeros((len(windows), degree + 1, count), dtype=dtype)
    states = np.zeros((len(windows), modes.order, count), dtype=dtype)
    for first in range(0, count, at_once):  # the maps of all modes at once may not fit into memory
        part = slice(first, first + at_once)
        own = replace(modes, eigenvalues=modes.eigenvalues[part])
        loads = [Window(w.start, w.length, w.coefficients[:, part]) for w in windows]
        _march(own, state[:, part], loads, states[:, :, part], polynomials[:, :, part])
    starts = np.array([w.start for w in windows])
    return ModalTrajectory(modes, vectors, starts, starts + np.array([w.length for w in windows]), states, polynomials)


def _march(modes: Modes, state: Array, windows: Sequence[Window], states: Array, polynomials: Array) -> None:
    """Fill in the homogeneous and the particular parts of some modes, window by window."""
    degree = polynomials.shape[1] - 1
    maps: dict[float, tuple[Array, Array]] = {}
    signs = (-1.0) ** np.arange(degree + 1)
    for k, window in enumerate(windows):
        if window.length not in maps:
            maps[window.length] = modes.particular(window.length)
        fast_map, slow_map = maps[window.length]
        fast = modes.is_fast(window.length)
        beta = window.coefficients.T  # (modes, DEGREE + 1)
        p = np.zeros((len(fast), degree + 1), dtype=polynomials.dtype)
        p[fast, : DEGREE + 1] = np.einsum("mij,mj->mi", fast_map, beta[fast])
        p[~fast] = np.einsum("mij,mj->mi", slow_map, beta[~fast])
        polynomials[k] = p.T
        slopes = [p.T] if modes.order == 1 else [p.T, (2.0 / window.length) * (differentiation(degree) @ p.T)]
        at_start = np.stack([signs @ c for c in slopes])
        at_end = np.stack([c.sum(axis=0) for c in slopes])
        states[k] = state - at_start
        state = modes.propagate(states[k], np.array([window.length]))[0] + at_end
