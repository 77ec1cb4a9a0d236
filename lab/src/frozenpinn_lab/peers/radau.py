"""Implicit time steps by Radau IIA collocation, of order 1 (backward Euler), 3 or 5, for M u' = R(u, t).

Radau methods are L-stable. Their stages are accurate to order s + 1, which is what is left of the order where boundary
data change in time: 3 of 3 with two stages, about 4 of 5 with three.

The stages uᵢ = u + zᵢ obey Σⱼ (A⁻¹)ᵢⱼ M zⱼ = h R(uᵢ, t + cᵢh). Newton's method takes the exact Jacobian at the start of
a step; the eigenvectors of A⁻¹ then split its linear system in one real or complex system per stage or pair of stages
(Hairer and Wanner, Solving Ordinary Differential Equations II, IV.8). Jacobian and factors are kept as long as few
iterations suffice; if many do not, the Jacobian is renewed in each. Steps are equal, or, with three stages, adaptive.
Between steps, the collocation polynomial holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from frozenpinn.errors import IntegrationError, SettingsError
from frozenpinn_lab.peers.quasilinear import Semidiscrete
from frozenpinn_lab.peers.score import Deadline

Array = np.ndarray
_QUICK = 4  # iterations up to which an old Jacobian is good enough
_MOST = 15
_FEWEST_DIGITS = 1e-11  # relative accuracy of Newton's method with equal steps


@dataclass(frozen=True)
class Tableau:
    """Nodes c, A⁻¹ = V diag(λ) V⁻¹, and the Lagrange polynomials to 0, c₁, …, cₛ."""

    nodes: Array
    inverse: Array
    eigenvalues: Array
    vectors: Array
    shapes: tuple[Polynomial, ...]


@lru_cache(maxsize=4)
def tableau(stages: int) -> Tableau:
    """Return the method with 1, 2 or 3 stages."""
    if stages not in (1, 2, 3):
        raise SettingsError(f"stages must be 1 (backward Euler, order 1), 2 (order 3) or 3 (order 5), got {stages!r}.")
    legendre = [np.polynomial.Legendre.basis(k, domain=[0, 1]).convert(kind=Polynomial) for k in (stages, stages - 1)]
    nodes = np.sort((legendre[0] - legendre[1]).roots().real)
    nodes[-1] = 1.0
    matrix = np.array([[_lagrange(nodes, j).integ()(c) for j in range(stages)] for c in nodes])
    inverse = np.linalg.inv(matrix)
    eigenvalues, vectors = np.linalg.eig(inverse)
    ends = np.concatenate([[0.0], nodes])
    shapes = tuple(_lagrange(ends, j) for j in range(stages + 1))
    return Tableau(nodes, inverse, eigenvalues, vectors, shapes)


def _lagrange(nodes: Array, j: int) -> Polynomial:
    """Return the polynomial that is 1 at node j and 0 at the others."""
    others = np.delete(nodes, j)
    return Polynomial.fromroots(others) / np.prod(nodes[j] - others) if len(others) else Polynomial([1.0])


class RadauTrajectory:
    """Coefficients between steps: polynomials through the start and the stages of each step."""

    def __init__(self, method: Tableau, starts: Array, lengths: Array, values: Array) -> None:
        self.method, self.starts, self.lengths, self.values = method, starts, lengths, values

    def __call__(self, times: Array) -> Array:
        """Return the coefficients at times, shape (m, N)."""
        times = np.asarray(times, dtype=float)
        index = np.clip(np.searchsorted(self.starts, times, side="right") - 1, 0, len(self.starts) - 1)
        s = (times - self.starts[index]) / self.lengths[index]
        weights = np.stack([shape(s) for shape in self.method.shapes], axis=1)
        return np.asarray(np.einsum("mk,mkn->mn", weights, self.values[index]))


class RadauStepper:
    """One step of the method, with what is worth keeping from the last."""

    def __init__(self, system: Semidiscrete, stages: int, tolerance: float, budget: Deadline) -> None:
        self.system, self.method, self.tolerance, self.budget = system, tableau(stages), tolerance, budget
        self.factors: list[Any] | None = None
        self.jacobian: Array | None = None
        self.step = 0.0

    def prepare(self, u: Array, t: float, step: float, fresh: bool) -> None:
        """Factorise again if the step has changed or a new Jacobian is wanted."""
        if fresh or self.jacobian is None:
            self.jacobian = self.system.jacobian(u, t)
        elif self.step == step and self.factors is not None:
            return
        self.step = step
        if not np.all(np.isfinite(self.jacobian)):
            raise IntegrationError(f"the linear system of a time step is not finite at t = {t:.4g}.", t)
        upper = self.method.eigenvalues[self.method.eigenvalues.imag >= 0]
        self.factors = []
        for z in upper:
            self.budget.check(t)
            try:
                self.factors.append(self.system.factorised(z.real if z.imag == 0 else z, step, self.jacobian))
            except RuntimeError:  # exactly singular
                raise IntegrationError(f"the linear system of a time step is singular at t = {t:.4g}.", t) from None

    def correction(self, defect: Array) -> Array:
        """Solve (A⁻¹⊗M − h I⊗J) Δ = defect by the eigenvectors of A⁻¹; conjugate parts are not solved twice."""
        assert self.factors is not None
        method = self.method
        modal = np.linalg.solve(method.vectors, defect)
        result = np.zeros_like(defect)
        upper = np.flatnonzero(method.eigenvalues.imag >= 0)
        for k, factor in zip(upper, self.factors, strict=True):
            real = method.eigenvalues[k].imag == 0
            part = factor.solve(np.ascontiguousarray(modal[k].real if real else modal[k]))
            result += (1 if real else 2) * np.outer(method.vectors[:, k], part).real
        return result

    def newton(self, u: Array, t: float, step: float, guess: Array, renew: bool = False) -> tuple[Array, int]:
        """Return the increments z of all stages, shape (s, N), and the number of iterations (−1: no convergence).

        With ``renew``, each iteration takes the Jacobian at the mean of the stages.
        """
        system, method = self.system, self.method
        z, free = guess.copy(), system.free
        for i, c in enumerate(method.nodes):
            z[i, system.fixed] = system.given(t + c * step) - u[system.fixed]
        scale = float(np.max(np.abs(u))) or 1.0
        before = np.inf
        for iteration in range(1, _MOST + 1):
            if renew:
                try:
                    self.prepare(u + z.mean(axis=0), t + step * float(np.mean(method.nodes)), step, fresh=True)
                except IntegrationError:  # too far from the solution
                    self.budget.check(t)
                    return z, -1
            self.budget.check(t)
            right = np.stack([system.residual(u + z[i], t + c * step) for i, c in enumerate(method.nodes)])
            defect = step * right - method.inverse @ (system.mass_rows @ z.T).T
            change = self.correction(defect)
            z[:, free] += change
            size = float(np.max(np.abs(change))) / scale if len(free) else 0.0
            rate = size / before if iteration > 1 else 1.0
            if not np.isfinite(size) or (iteration > 2 + 2 * renew and rate > 0.9 and size > 1e3 * self.tolerance):
                return z, -1
            if size * min(1.0, rate / max(1 - rate, 0.1)) < self.tolerance or size < 1e-15:
                return z, iteration
            before = size
        return z, -1

    def error(self, u: Array, t: float, z: Array) -> float:
        """Return the estimated relative error of a step with three stages (Hairer and Wanner, IV.8.20)."""
        assert self.factors is not None
        root = np.sqrt(6.0)
        weights = np.array([-13 - 7 * root, -13 + 7 * root, -1]) / 3
        right = self.step * self.system.residual(u, t) + self.system.mass_rows @ (weights @ z)
        upper = self.method.eigenvalues[self.method.eigenvalues.imag >= 0]
        factor = self.factors[int(np.argmin(np.abs(upper.imag)))]
        estimate = factor.solve(right)
        return float(np.sqrt(np.mean(estimate**2)) / (np.sqrt(np.mean(u**2)) or 1.0))


def integrate(
    system: Semidiscrete, time: tuple[float, float], state: Array, stages: int, steps: int, budget: Deadline
) -> RadauTrajectory:
    """Take equal steps."""
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise SettingsError(f"steps must be a positive whole number, got {steps!r}.")
    _check_finite(state, time[0])
    stepper = RadauStepper(system, stages, _FEWEST_DIGITS, budget)
    ends = np.linspace(*time, steps + 1)
    step = (time[1] - time[0]) / steps
    values = np.empty((steps, stages + 1, len(state)))
    guess, fresh = np.zeros((stages, len(state))), True
    for k, t in enumerate(ends[:-1]):
        budget.check(t)
        stepper.prepare(state, t, step, fresh)
        z, count = stepper.newton(state, t, step, guess)
        if count < 0:  # once more, with nothing from before
            z, count = stepper.newton(state, t, step, np.zeros_like(guess), renew=True)
        if count < 0:
            raise IntegrationError(f"Newton's method failed at t = {t:.4g}; take more than {steps} steps.", t)
        fresh = count > _QUICK
        values[k, 0], values[k, 1:] = state, state + z
        state = values[k, -1]
        _check_finite(state, t + step)
        guess = _extrapolated(stepper.method, values[k], 1.0)
    return RadauTrajectory(stepper.method, ends[:-1], np.full(steps, step), values)


def integrate_adaptively(
    system: Semidiscrete, time: tuple[float, float], state: Array, rtol: float, budget: Deadline
) -> RadauTrajectory:
    """Take steps of three stages whose estimated error is below ``rtol`` times the size of the solution."""
    if not 1e-14 < rtol < 1:
        raise SettingsError(f"rtol must lie between 1e-14 and 1, got {rtol!r}.")
    _check_finite(state, time[0])
    stepper = RadauStepper(system, 3, max(1e-2 * rtol, 1e-14), budget)
    t, end = time
    step = (end - t) * min(1e-3, 0.1 * rtol**0.25)
    starts, lengths, values = [], [], []
    guess, fresh = np.zeros((3, len(state))), True
    smallest = 1e-13 * (end - t)
    while end - t > smallest:
        budget.check(t)
        step = min(step, end - t)
        if step < smallest:
            raise IntegrationError(f"the time step became too small at t = {t:.4g}.", t)
        stepper.prepare(state, t, step, fresh)
        z, count = stepper.newton(state, t, step, guess)
        if count < 0:
            step, fresh = (step / 2, True) if fresh else (step, True)
            guess = np.zeros_like(guess)
            continue
        error = stepper.error(state, t, z) / rtol
        if not np.isfinite(error):
            step, guess, fresh = step / 2, np.zeros_like(guess), True
            continue
        factor = float(np.clip(0.9 * max(error, 1e-10) ** -0.25, 0.2, 5.0))
        if error > 1:
            step, guess, fresh = step * min(factor, 0.9), np.zeros_like(guess), False
            continue
        starts.append(t)
        lengths.append(step)
        values.append(np.vstack([state, state + z]))
        t, state = t + step, values[-1][-1]
        _check_finite(state, t)
        fresh = count > _QUICK
        ratio = factor if fresh or not 1.0 <= factor < 1.2 else 1.0
        guess = _extrapolated(stepper.method, values[-1], ratio)
        step *= ratio
    return RadauTrajectory(stepper.method, np.array(starts), np.array(lengths), np.array(values))


def _check_finite(state: Array, t: float) -> None:
    if not np.all(np.isfinite(state)):
        raise IntegrationError(f"the solution is not finite at t = {t:.4g}.", t)


def _extrapolated(method: Tableau, values: Array, ratio: float) -> Array:
    """Continue the polynomial of a step over the next one, which is ``ratio`` times as long; return increments."""
    weights = np.stack([shape(1 + ratio * method.nodes) for shape in method.shapes], axis=1)
    return np.asarray(weights @ values - values[-1])
