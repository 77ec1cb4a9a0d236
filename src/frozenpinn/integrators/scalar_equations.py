"""Scalar equations z' = λ z + β(t) and z'' = κ z + δ z' + β(t) in closed form; modal.py says how they are used.

For modes that are fast on a window (|λ|h ≥ 30), the particular solution p solves (d/dt − λ) p = β in the space of
polynomials of the degree of β; that triangular system is well conditioned there. For slow modes, p is the solution with
p = 0 at the start of the window, expanded to degree 40, from the well-conditioned integral form r − λ∫r = β, p = ∫r.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.polynomial import chebyshev

from frozenpinn.integrators.distinct import Distinct
from frozenpinn.integrators.interpolation import DEGREE

Array = np.ndarray
SLOW_DEGREE = 40  #: of particular solutions of slow modes
_FAST = 30.0
_TINY = 1e-300  # in place of squares of frequencies that are none


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
        frequencies = np.sqrt(np.maximum(-self.distinct.values - half**2, _TINY))
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
