"""Exponential Adams methods for z' = λ z + β(t, z), the modes of a symmetric operator with a load that is not stiff.

The load is interpolated through its last values, whatever the lengths of the steps between them; the linear part is
solved exactly against the polynomial (see duhamel.py). A step predicts, evaluates, corrects with one value more, and
evaluates again; the difference of two corrections is the error estimate (Shampine and Gordon's way for ordinary Adams
methods). Step lengths are taken from a geometric sequence, so that weights are computed once and kept.

Where the load itself is stiff but the solution slow (a shock at rest, a pattern that has formed), stability and not
accuracy keeps the steps short. An implicit method would then take steps in proportion to ‖y'‖/‖y''‖; if a fallback is
given and what remains would cost it less, it takes over.

The first values come from ETDRK4 in Krogstad's form, each step compared with two of half its length; the same is the
restart when steps are rejected again and again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice
from typing import NamedTuple

import numpy as np

from frozenpinn.errors import IntegrationError, SettingsError
from frozenpinn.integrators.decomposition import Decomposition, can_step, decompose
from frozenpinn.integrators.duhamel import PLACES, LoadTrajectory, lagrange, moments, phi_functions
from frozenpinn.integrators.protocol import NOBODY, Guard, Integrator, Observer, OdeSystem, Trajectory, longest_step
from frozenpinn.operators.eigen import Distinct
from frozenpinn.runtime.arguments import spelled
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.round_off import TINY

Array = np.ndarray
_ORDER = 7  # values that the predictor uses; the order of the corrector is one more, that of the estimate one less
_PLACES_AND_END = np.append(PLACES, 1.0)


@spelled(SettingsError)
@dataclass(frozen=True)
class ETD:
    """Exponential multistep predictor–corrector of order eight with step control.

    For equations of first order in time with a symmetric linear part: stiffness there costs nothing, and a step takes
    two evaluations of the rest.

    Parameters
    ----------
    rtol
        Relative accuracy of each step, per mode and, through the absolute tolerance, of the whole solution.
    fallback
        Integrator to use if the steps shrink to nothing or are kept short by a stiff load; None raises an error in the
        first case and goes on in the second.
    max_steps
        Steps after which to give up.
    per_octave
        Step lengths between h and 2h.
    patience
        Rejections in a row before a restart.
    block
        Steps after which the speed is measured.
    implicit_step
        Steps of the fallback as a part of ‖y'‖/‖y''‖, per sixth root of ``rtol``, as CVODE took them in a dozen
        problems.
    dearer
        What a step of the fallback costs, in steps of this method, with some reluctance to hand over.
    steepest, hopeless
        The load against the linear part on fast modes, and its rate there × a step of the fallback, above which the
        fallback takes over at once.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> front = fp.Problem("u_t = 0.1*u_xx + u - u**3", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0")
    >>> fp.solve(front, settings=fp.Settings(integrator=fp.integrators.ETD(rtol=1e-8))).integrator
    'etd'
    """

    rtol: float = 1e-10
    fallback: Integrator | None = None
    max_steps: int = 500_000
    per_octave: int = 3
    patience: int = 3
    block: int = 32
    implicit_step: float = 0.02 * 1e8 ** (1 / 6)
    dearer: float = 2.5
    steepest: float = 0.5
    hopeless: float = 20.0
    name: str = "etd"

    def integrate(self, system: OdeSystem, observer: Observer = NOBODY) -> Trajectory:
        """Step from start to end, keeping states and loads of every accepted step for dense output."""
        try:
            return self._march(system, observer)
        except (IntegrationError, _SluggishError):
            if self.fallback is None:
                raise
            return self.fallback.integrate(system, observer)  # whose name the report shows, or whose error is clearer

    def _march(self, system: OdeSystem, observer: Observer) -> Trajectory:
        parts = decompose(system, complete=False) if can_step(system) else None
        if parts is None:
            raise SettingsError(
                "integrator 'etd' needs equations of first order in time whose linear part is symmetric; "
                "use integrator='exponential' for waves and dispersion, 'cvode' for the rest, or leave the choice to "
                "the program."
            )
        return _March(system, parts, self, observer).run()


class _SluggishError(Exception):
    """Stability keeps the steps so short that the fallback is cheaper."""


class _Adams(NamedTuple):
    """Weights of one step after given ones."""

    decay: Array
    predictor: Array  # (values, modes)
    extrapolation: Array  # (values,): what the polynomial expects of the next load
    correction: Array  # (modes,): for the difference between that and the load found
    estimate: Array  # (modes,): the same, between two orders


@lru_cache(maxsize=4096)
def _polynomials(nodes: tuple[float, ...]) -> tuple[Array, Array]:
    """Return what loads before a step, in units of its length, stand for: at :data:`PLACES`, and at its end.

    First the polynomials of the loads, then those of the correction and of the estimate. Steps have few lengths, so
    these are needed again and again, also in other solves.
    """
    before = np.array(nodes)
    basis = lagrange(before, _PLACES_AND_END)
    lower = np.prod(PLACES[:, None] - before[:-1], axis=1) / np.prod(1.0 - before)
    full, lower = lower * (PLACES - before[-1]), lower * (PLACES - 1.0)
    return read_only(np.column_stack([basis[:-1], full, lower]).T), read_only(basis[-1])


class _Krogstad:
    """ETDRK4 for one length of step."""

    def __init__(self, distinct: Distinct, h: float) -> None:
        self.h, values = h, distinct.values
        self.whole, self.half = (distinct.spread(np.exp(length * values)) for length in (h, h / 2))
        one, two, three = h * distinct.spread(phi_functions(h * values, 3))
        first, second = h * distinct.spread(phi_functions(h / 2 * values, 2))
        self.a2 = first / 2
        self.a3 = (first / 2 - second, second)
        self.a4 = (one - 2 * two, 2 * two)
        self.b = (one - 3 * two + 4 * three, 2 * two - 4 * three, 4 * three - two)

    def step(self, load: Callable[[float, Array], Array], t: float, z: Array, n1: Array) -> Array:
        """Return the state after one step; ``n1`` is the load at its start."""
        h, halfway, wholly = self.h, self.half * z, self.whole * z
        n2 = load(t + h / 2, halfway + self.a2 * n1)
        n3 = load(t + h / 2, halfway + self.a3[0] * n1 + self.a3[1] * n2)
        n4 = load(t + h, wholly + self.a4[0] * n1 + self.a4[1] * n3)
        return np.asarray(wholly + self.b[0] * n1 + self.b[1] * (n2 + n3) + self.b[2] * n4)


class _March:
    """The state of an integration: time, modal state, recent loads, and all accepted steps."""

    def __init__(self, system: OdeSystem, parts: Decomposition, settings: ETD, observer: Observer = NOBODY) -> None:
        self.settings, self.guard = settings, Guard(system, settings.name, observer)
        self.start, self.end = system.time
        self.duration = self.end - self.start
        self.longest = longest_step(system)
        self.eigenvalues, self.vectors = parts.modes.eigenvalues, parts.vectors
        self.distinct = Distinct.of(self.eigenvalues)
        self.watched = observer.stop is not None
        self._load = system.modal_semilinear(parts.vectors, parts.left, parts.rest)
        self.t, self.z = self.start, np.asarray(parts.left @ system.initial_state)
        with np.errstate(all="ignore"):
            self.n = self.load(self.t, self.z)
        self.rtol = max(settings.rtol, 1e-14)
        self.atol = self.guard.absolute(settings.rtol)
        self.recent = np.zeros((_ORDER, len(self.z)), dtype=np.result_type(self.z, self.n))  # loads, the newest first
        self.count = 0  # how many of them there are
        self.gaps: deque[float] = deque(maxlen=_ORDER)  # steps between them
        self.times, self.states, self.loads = [self.t], [self.z], [self.n]
        self.kernels: dict[float, tuple[Array, Array]] = {}
        self.formulas: dict[tuple[float, ...], _Adams] = {}
        self.stopped = False
        rate = self.eigenvalues * self.z + self.n
        self.block = (self.t, self.z, rate)  # when the speed was measured last
        self.implicit = 40.0  # steps that an implicit method would have taken so far

    def load(self, t: float, z: Array) -> Array:
        """Return β(t, z)."""
        self.guard.rhs_calls += 1
        return self._load(t, z)

    def run(self) -> Trajectory:
        """March to the end; a failure keeps what was computed."""
        try:
            with np.errstate(all="ignore"):
                h = self._first_step()
                if self.settings.fallback is not None:
                    self._probe()
                h = self._start(h)
                while not self._finished():
                    h = self._attempt(h)
                    if self.settings.fallback is not None and len(self.times) % self.settings.block == 0:
                        self._compare()
        except IntegrationError as error:
            error.trajectory = self._trajectory() if len(self.times) > 1 else None
            raise
        return self._trajectory()

    def _finished(self) -> bool:
        return self.stopped or self.t >= self.end

    def _first_step(self) -> float:
        size, push = float(np.linalg.norm(self.z)), float(np.linalg.norm(self.n))
        if not np.isfinite(push):
            self.guard.not_finite += 1
            raise self.guard.failure(self.t, 0.0, "at the start")
        return min(self.duration / 20, 0.05 * max(size, self.guard.scale) / max(push, TINY))

    # ---- multistep --------------------------------------------------------------------------------------------

    def _attempt(self, h: float) -> float:
        """Step until one is accepted; return the length to try next."""
        rejected = 0
        while True:
            h = self._fit(self._quantise(h))
            formula = self._formula(h)
            history = self.recent
            t = self.t + h if self.end - self.t > 1.000001 * h else self.end
            z = formula.decay * self.z
            z += np.einsum("jm,jm->m", formula.predictor, history)
            gap = self.load(t, z) - formula.extrapolation @ history
            z += formula.correction * gap
            error = self._norm(formula.estimate * gap, z)
            if error <= 1.0:
                n = self.load(t, z)
                if _is_finite(n):
                    self._accept(h, t, z, n)
                    growth = (0.5 / max(error, 1e-12)) ** (1.0 / (_ORDER + 1))
                    return h * min(growth, 2.0) if growth > 1.0 or growth < 0.9 else h
                error = np.inf
            self._check(h, error)
            h *= max(0.25, min(0.8, 0.8 * error ** (-1.0 / (_ORDER + 1)))) if np.isfinite(error) else 0.25
            rejected += 1
            if rejected >= self.settings.patience:
                return self._start(2 * h)

    def _quantise(self, h: float) -> float:
        """Round a length down to the geometric sequence."""
        level = np.ceil(np.log2(self.duration / min(h, self.longest)) * self.settings.per_octave - 1e-9)
        return float(self.duration * 2.0 ** (-level / self.settings.per_octave))

    def _fit(self, h: float) -> float:
        """Reach the end without a last step that is far too short."""
        left = self.end - self.t
        if h >= 0.999999 * left:
            return left
        return left / 2 if 2 * h > left else h

    def _formula(self, h: float) -> _Adams:
        kept = 512  # formulas
        gaps = tuple(islice(self.gaps, _ORDER - 1))
        key = (h, *gaps)
        if key not in self.formulas:
            if len(self.formulas) >= kept:
                self.formulas.clear()
                self.kernels.clear()
            if h not in self.kernels:
                exponents = h * self.distinct.values
                self.kernels[h] = (self.distinct.spread(np.exp(exponents)), h * moments(exponents))
            decay, weights = self.kernels[h]
            polynomials, extrapolation = _polynomials((0.0, *(-gap / h for gap in accumulate(gaps))))
            combined = self.distinct.spread(polynomials @ weights)
            self.formulas[key] = _Adams(decay, combined[:-2], extrapolation, combined[-2], combined[-1])
        return self.formulas[key]

    def _probe(self) -> None:
        """Hand over to the fallback if the load is about as stiff as the linear part and too fast for the solution."""
        sizes = np.abs(self.eigenvalues)
        fast = np.argsort(sizes)[-max(1, len(sizes) // 4) :]
        nudge = np.zeros_like(self.z)
        nudge[fast] = np.random.default_rng(0).choice([-1.0, 1.0], len(fast)) / np.maximum(sizes[fast], TINY)
        effect = float(np.linalg.norm(self._derivative(nudge)))
        rate = self.eigenvalues * self.z + self.n
        acceleration = self.eigenvalues * rate + self._derivative(rate)
        step = self._implicit_step(float(np.linalg.norm(rate)), float(np.linalg.norm(acceleration)))
        as_stiff = effect > self.settings.steepest * float(np.linalg.norm(sizes * nudge))
        if as_stiff and effect * step > self.settings.hopeless * float(np.linalg.norm(nudge)):
            raise _SluggishError

    def _derivative(self, direction: Array) -> Array:
        """Return the change of the load in a direction, by a difference."""
        factor = 1e-6 * self.guard.scale / max(float(np.linalg.norm(direction)), TINY)
        return np.asarray((self.load(self.t, self.z + factor * direction) - self.n) / factor)

    def _implicit_step(self, rate: float, acceleration: float) -> float:
        """Return the step that an implicit method would take, from the norms of y' and y''."""
        if rate == 0.0:
            return self.duration
        return float(self.settings.implicit_step * self.rtol ** (1 / 6) * rate / max(acceleration, TINY))

    def _compare(self) -> None:
        """Hand over to the fallback if it would solve the whole problem with less work than remains.

        At the limit of stability fast modes jitter within the tolerance, and rates say nothing about the solution. An
        implicit method takes a step that changes the state by no more than the tolerance in any case.
        """
        before, state, rate = self.block
        self.block = (self.t, self.z, self.eigenvalues * self.z + self.n)
        span, change = self.t - before, float(np.linalg.norm(self.block[2] - rate))
        step = self._implicit_step(float(np.linalg.norm(self.block[2])), change / span)
        moved = max(float(np.linalg.norm(self.z - state)), TINY)
        step = min(self.duration, max(step, span * self.rtol * self.guard.scale / moved))
        self.implicit += span / step
        left = self.end - self.t
        if left / span * self.settings.block > self.settings.dearer * (self.implicit + left / step):
            raise _SluggishError

    # ---- one step ---------------------------------------------------------------------------------------------

    def _start(self, h: float) -> float:
        """Fill the history by ETDRK4, pairs of steps against one of double length; return the length to try next."""
        self.gaps.clear()
        self.recent[0], self.count = self.n, 1
        tries, steppers = 0, dict[float, _Krogstad]()
        while self.count < _ORDER and not self._finished():
            h = self._fit(self._quantise(h))
            half, t, end = h / 2, self.t, self.t + h if self.end - self.t > 1.000001 * h else self.end
            for length in (h, half):
                if length not in steppers:
                    steppers[length] = _Krogstad(self.distinct, length)
            coarse, fine = steppers[h].step(self.load, t, self.z, self.n), steppers[half]
            middle = fine.step(self.load, t, self.z, self.n)
            n = self.load(t + half, middle)
            z = fine.step(self.load, t + half, middle, n)
            error = self._norm((z - coarse) / 15.0, z)
            last = self.load(end, z)
            tries += 1
            if error <= 1.0 and _is_finite(last):
                if error < 1e-3 and len(self.times) == 1 and tries < 10 and h < self.duration / 20:
                    h *= 4.0  # the first guess was too careful: the history would be too short to be of use
                    continue
                self._accept(half, t + half, middle, n)
                if not self.stopped:
                    self._accept(half, end, z, last)
            else:
                self._check(h, error)
            scale = 0.8 * max(error, 1e-12) ** -0.2 if np.isfinite(error) else 0.0
            h *= max(0.1, min(1.5, scale))
        return h

    def _norm(self, error: Array, z: Array) -> float:
        """Return the root mean square of an error in units of the tolerance; infinite if it is not finite."""
        ratio = np.abs(error) / (self.rtol * np.maximum(np.abs(z), np.abs(self.z)) + self.atol)
        value = float(np.sqrt(ratio @ ratio / len(ratio)))
        return value if np.isfinite(value) else np.inf

    def _check(self, h: float, error: float) -> None:
        """Give up on steps that shrink to nothing."""
        shortest = 1e-13
        self.guard.not_finite += not np.isfinite(error)
        if h < max(shortest * self.duration, 8 * np.finfo(float).eps * abs(self.t)):
            raise self.guard.failure(self.t, h, "the step size has shrunk to nothing")

    def _accept(self, h: float, t: float, z: Array, n: Array) -> None:
        self.gaps.appendleft(h)
        self.recent[1:] = self.recent[:-1]
        self.recent[0] = n
        self.count += 1
        # eigenvectors are orthogonal: without a monitor only the norm is needed
        self.stopped = self.guard.accept(t, np.real(self.vectors @ z) if self.watched else z)
        self.t, self.z, self.n = t, z, n
        self.times.append(t)
        self.states.append(z)
        self.loads.append(n)
        if len(self.times) > self.settings.max_steps:
            raise self.guard.failure(t, self.gaps[0], f"more than {self.settings.max_steps} steps were needed")

    def _trajectory(self) -> LoadTrajectory:
        arrays = (np.array(self.times), np.array(self.states), np.array(self.loads))
        return LoadTrajectory(self.eigenvalues, self.vectors, *arrays, work=self.guard.work)


def _is_finite(load: Array) -> bool:
    return bool(np.isfinite(np.linalg.norm(load)))
