"""Fourier pseudo-spectral reference with ETDRK4 in time (Kassam and Trefethen 2005), NumPy only.

    uₜ = L(∂ₓ) u + r(u) + ∂ₓ f(u),   x periodic on [lower, upper]

The linear part is diagonal in Fourier space and solved exactly; reaction r and flux f are evaluated at equispaced
points, and enter by a Runge–Kutta scheme of order four whose coefficients are means over a circle around each
eigenvalue, free of cancellation. Coefficients of the initial data are integrals, not sums over the grid: data
with a corner where the interval closes are not aliased.

Steps are equal. A time between two of them is reached by one shorter step from the one before, so that there is no
interpolation in time. Nothing is computed before a value is asked for, and every twentieth state is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Array = np.ndarray
Pointwise = Callable[[Array], Array]
_STRIDE = 20  # steps between states that are kept


class FourierReference:
    """A solution ``(x, t) -> values``, as ``Problem(exact=…)`` takes it.

    Parameters
    ----------
    lower, upper
        The period.
    linear
        L as a function of the derivative, which is iκ on the wave of number κ: ``lambda d: nu*d**2`` for ν uₓₓ.
    initial
        u at the start.
    modes
        Number of grid points; a multiple of two.
    step
        Time step.
    reaction, flux
        The functions r and f of the values of u.
    keep
        Fraction of the wave numbers that is kept, to suppress aliasing: 2/3 for quadratic, 1/2 for cubic terms.
    start
        Initial time.

    Examples
    --------
    >>> heat = FourierReference(0, 2 * np.pi, lambda d: d**2, np.sin, modes=16, step=0.1)
    >>> bool(abs(heat(np.array([1.0]), 0.73)[0] - np.exp(-0.73) * np.sin(1.0)) < 1e-14)
    True
    """

    def __init__(
        self,
        lower: float,
        upper: float,
        linear: Callable[[Array], Array],
        initial: Pointwise,
        *,
        modes: int,
        step: float,
        reaction: Pointwise | None = None,
        flux: Pointwise | None = None,
        keep: float = 2 / 3,
        start: float = 0.0,
    ) -> None:
        if modes < 4 or modes % 2 or not step > 0 or not 0 < keep <= 1 or not upper > lower:
            raise ValueError("a Fourier reference needs upper > lower, an even number of modes, step > 0, 0 < keep ≤ 1")
        self.lower, self.upper, self.initial = lower, upper, initial
        self.modes, self.step, self.start = modes, step, start
        self._kept = int(np.ceil(keep * (modes // 2)))  # the wave of shortest length is left out
        self._derivative = 2j * np.pi / (upper - lower) * np.arange(self._kept)
        self._eigenvalues = np.asarray(linear(self._derivative), dtype=complex)
        self._reaction, self._flux = reaction, flux
        self._states: list[Array] = []
        self._at: dict[float, Array] = {}
        self._whole: Coefficients | None = None

    def __call__(self, x: Array, t: float) -> Array:
        """Return the values at points x of any shape and one time."""
        x = np.asarray(x, dtype=float)
        if t == self.start:
            return np.asarray(self.initial(x), dtype=float)
        spectrum = self.spectrum(t)
        waves = np.exp(np.multiply.outer(x - self.lower, self._derivative))
        twice = np.where(np.arange(self._kept) == 0, 1.0, 2.0)
        return np.asarray((waves @ (twice * spectrum)).real)

    def spectrum(self, t: float) -> Array:
        """Return the coefficients of exp(iκ(x − lower)) for κ ≥ 0 at one time."""
        t = float(t)
        if not t >= self.start:
            raise ValueError(f"t = {t:g} lies before the start, {self.start:g}")
        if t not in self._at:
            index = int(np.floor((t - self.start) / self.step * (1 + 1e-14)))
            state = self._state(index)
            rest = t - self.start - index * self.step
            if rest > 1e-12 * self.step:
                state = self._advance(state, coefficients(self._eigenvalues, rest))
            self._at[t] = state
        return self._at[t]

    def _state(self, index: int) -> Array:
        """Return the spectrum after a number of whole steps, from the last kept one before it."""
        if self._whole is None:
            whole = fourier_coefficients(self.initial, self.lower, self.upper, self.modes)
            self._states.append(whole[: self._kept])
            self._whole = coefficients(self._eigenvalues, self.step)
        while len(self._states) <= index // _STRIDE:
            self._states.append(self._walk(self._states[-1], _STRIDE))
            if not np.all(np.isfinite(self._states[-1])):
                raise FloatingPointError(f"not finite after {_STRIDE * (len(self._states) - 1)} steps")
        return self._walk(self._states[index // _STRIDE], index % _STRIDE)

    def _walk(self, state: Array, steps: int) -> Array:
        assert self._whole is not None
        for _ in range(steps):
            state = self._advance(state, self._whole)
        return state

    def _advance(self, v: Array, c: Coefficients) -> Array:
        """Take one step of ETDRK4."""
        nv = self._nonlinear(v)
        free = c.half * v
        a = free + c.stage * nv
        na = self._nonlinear(a)
        nb = self._nonlinear(free + c.stage * na)
        end = c.half * a + c.stage * (2 * nb - nv)
        return np.asarray(c.full * v + c.first * nv + c.middle * (na + nb) + c.last * self._nonlinear(end))

    def _nonlinear(self, spectrum: Array) -> Array:
        u = np.fft.irfft(spectrum, self.modes, norm="forward")
        total: Array | float = 0.0
        if self._reaction is not None:
            total = np.fft.rfft(self._reaction(u), norm="forward")[: self._kept]
        if self._flux is not None:
            total = total + self._derivative * np.fft.rfft(self._flux(u), norm="forward")[: self._kept]
        return np.asarray(total)


class Coefficients(NamedTuple):
    """Of one step of ETDRK4, for every wave number."""

    full: Array
    half: Array
    stage: Array
    first: Array
    middle: Array
    last: Array


def coefficients(eigenvalues: Array, step: float, nodes: int = 32) -> Coefficients:
    """Return the coefficients of a step, as means over a unit circle around each eigenvalue times step."""
    circle = np.exp(2j * np.pi * (np.arange(nodes) + 0.5) / nodes)
    z = step * eigenvalues[:, None] + circle
    half, full = np.exp(z / 2), np.exp(z)
    return Coefficients(
        np.exp(step * eigenvalues),
        np.exp(step * eigenvalues / 2),
        step * np.mean((half - 1) / z, axis=1),
        step * np.mean((-4 - z + full * (4 - 3 * z + z**2)) / z**3, axis=1),
        2 * step * np.mean((2 + z + full * (z - 2)) / z**3, axis=1),
        step * np.mean((-4 - 3 * z - z**2 + full * (4 - z)) / z**3, axis=1),
    )


def fourier_coefficients(function: Pointwise, lower: float, upper: float, modes: int, nodes: int = 8) -> Array:
    """Return the Fourier coefficients of numbers 0 … modes/2 by Gauss quadrature on as many panels as modes.

    A panel holds at most half a wave, so eight nodes integrate to round-off whatever happens at the ends of the
    interval; the sum over panels is a fast Fourier transform.
    """
    abscissae, weights = np.polynomial.legendre.leggauss(nodes)
    panels, inner = np.arange(modes), (abscissae + 1) / 2
    values = function(lower + (upper - lower) * (panels[:, None] + inner) / modes)
    numbers = np.arange(modes // 2 + 1)
    phases = np.exp(-2j * np.pi * np.multiply.outer(numbers, inner) / modes)
    return np.asarray(np.fft.fft(values, axis=0)[numbers] * phases @ (weights / 2) / modes)
