"""What integrators need from a system and what they give back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from frozenpinn.assembly.linear_part import LinearPart
from frozenpinn.errors import BudgetError, IntegrationError
from frozenpinn.operators import Operator
from frozenpinn.runtime.budget import amount
from frozenpinn.runtime.round_off import TINY

Array = np.ndarray


class Load(Protocol):
    """b(t), the part of the highest time derivatives that does not depend on the state."""

    @property
    def is_constant(self) -> bool:
        """Whether b does not depend on time."""

    @property
    def is_separable(self) -> bool:
        """Whether b is a sum of fixed vectors times functions of time: many values cost little."""

    def __call__(self, t: float) -> Array:
        """Return b(t), shape (coefficients,)."""

    def batch(self, times: Array) -> Array:
        """Return b at several times, shape (m, coefficients)."""


class Growth(Protocol):
    """What is known of a linear part: how fast its fastest mode grows."""

    @property
    def abscissa(self) -> float:
        """The largest real part of its eigenvalues; not a number if nobody knows."""


class EvolvingSystem(Protocol):
    """y' = f(t, y): what steps need of any system.

    Those whose Jacobian has sparse factors offer a method ``linearised(t, y)`` beside (radau.py); others a matrix.
    """

    @property
    def time(self) -> tuple[float, float]:
        """Start and end."""

    @property
    def shortest(self) -> float:
        """The shortest time in which the system is known to change; infinite if nothing is known."""

    @property
    def size(self) -> int:
        """Number of components of a state."""

    @property
    def initial_state(self) -> Array:
        """The state at the start."""

    @property
    def linear(self) -> Growth:
        """The linear part."""

    @property
    def forcing(self) -> Load:
        """The forcing b(t) of the highest derivatives."""

    @property
    def has_constant_coefficients(self) -> bool:
        """Whether the system is linear with constant coefficients; forcing may depend on time."""

    def rhs(self, t: float, y: Array) -> Array:
        """Return the right-hand side."""

    def rates(self, times: Array, states: Array) -> Array:
        """Return the right-hand side at several times, shape (m, size)."""

    def jacobian(self, t: float, y: Array) -> Array:
        """Return the derivative of the right-hand side by y, as a matrix."""


class OdeSystem(EvolvingSystem, Protocol):
    """y' = A y + b(t) + n(t, y)."""

    @property
    def linear(self) -> LinearPart:
        """A, with its structure."""

    @property
    def is_linear(self) -> bool:
        """Whether the system is linear; coefficients may depend on time."""

    def state_forcing(self, t: float) -> Array:
        """Return the forcing b(t) of the state."""

    def semilinear(self, times: Array, states: Array) -> Array:
        """Return b(t) + n(t, y), the highest derivatives without their linear part, shape (m, coefficients)."""

    def modal_semilinear(
        self, vectors: Operator, left: Operator, rest: Operator | None = None
    ) -> Callable[[float, Array], Array]:
        """Return (t, z) → left·(rest·y + b(t) + n(t, y)) with y = vectors·z, as a function made for many calls."""

    def mean_linear(self, t: float, y: Array) -> LinearPart:
        """Return a linear part like the Jacobian at a state, but with constant coefficients: the mean."""

    def jacobian_operator(self, t: float, y: Array) -> Operator:
        """Return the same as products with vectors, for systems whose matrix would be too large."""


@dataclass(frozen=True)
class Observer:
    """What looks on while a system is integrated.

    Attributes
    ----------
    stop
        Asked after every accepted step, with time and state, whether to stop there.
    announce
        Told the time of every accepted step.
    reference_size
        Size of the solution in an earlier stage, against which growth is judged; None takes the initial state.
    room
        Bytes that states and their derivatives at the steps may take.
    fitting
        Tells the width of which states take a part of what they take now.
    """

    stop: Callable[[float, Array], bool] | None = None
    announce: Callable[[float], None] | None = None
    reference_size: float | None = None
    room: float = np.inf
    fitting: Callable[[float], str] | None = None


NOBODY = Observer()


class Work(NamedTuple):
    """Evaluations of the right-hand side and of its Jacobian."""

    rhs: int = 0
    jacobians: int = 0


NO_WORK = Work()


class Trajectory(Protocol):
    """The state as a function of time, anywhere between start and end."""

    @property
    def name(self) -> str:
        """Which kind of trajectory it is."""

    @property
    def steps(self) -> int:
        """Number of accepted time steps; 0 for closed forms."""

    @property
    def work(self) -> Work:
        """What it took."""

    @property
    def end(self) -> float:
        """Up to which time it reaches."""

    @property
    def breaks(self) -> Array:
        """Start, end, and the times between which it is smooth, ascending."""

    def __call__(self, times: Array) -> Array:
        """Return the states at the given times, shape (m, size)."""

    def rates(self, times: Array) -> Array:
        """Return the time derivatives of the states, shape (m, size)."""

    @property
    def kind(self) -> str:
        """Under which name its class is registered in :data:`frozenpinn.integrators.TRAJECTORIES`."""

    def arrays(self) -> dict[str, Array]:
        """Return what is needed to rebuild the trajectory, for storage."""


def states_and_rates(trajectory: Trajectory, times: Array) -> tuple[Array, Array]:
    """Return states and their time derivatives; trajectories that have both at once say so by a method ``both``."""
    both: Callable[[Array], tuple[Array, Array]] | None = getattr(trajectory, "both", None)
    return (trajectory(times), trajectory.rates(times)) if both is None else both(times)


def kept_bytes(trajectory: Trajectory) -> float:
    """Return how much memory a trajectory takes."""
    return float(sum(np.asarray(array).nbytes for array in trajectory.arrays().values()))


class Integrator(Protocol):
    """Turns a system into a trajectory."""

    @property
    def name(self) -> str:
        """How reports call it."""

    def integrate(self, system: OdeSystem, observer: Observer = NOBODY) -> Trajectory:
        """Integrate from start to end, or to where the observer stops it."""


class Guard:
    """Watches an integration: raises an error that says why as soon as values blow up or are not finite."""

    def __init__(self, system: EvolvingSystem, name: str, observer: Observer = NOBODY) -> None:
        self.system, self.observer = system, observer
        self.name = name
        self.rhs_calls = self.jacobian_calls = 0
        self.start, self.end = system.time
        self.scale = typical_size(system)
        self.last_time, self.last_size = self.start, self.scale
        self.tiny_steps = 0
        self.not_finite = 0
        self.kept = 0.0

    def rhs(self, t: float, y: Array) -> Array:
        """Evaluate the right-hand side.

        A trial step that is too long may overflow; the method then shortens it. Only values that stay not finite
        for many evaluations in a row are a failure.
        """
        self.rhs_calls += 1
        with np.errstate(all="ignore"):
            value = self.system.rhs(t, y)
            finite = np.isfinite(value @ value)
        self.not_finite += not finite
        if self.not_finite > 100:
            raise self.failure(t, 0.0, "the right-hand side is not finite")
        return value

    def jacobian(self, t: float, y: Array) -> Array:
        """Evaluate the Jacobian; like the right-hand side, it may overflow in a trial step."""
        self.jacobian_calls += 1
        with np.errstate(all="ignore"):
            return self.system.jacobian(t, y)

    @property
    def work(self) -> Work:
        """What was evaluated so far."""
        return Work(self.rhs_calls, self.jacobian_calls)

    def absolute(self, rtol: float) -> float:
        """Return the absolute tolerance of each component that belongs to a relative one of the whole solution."""
        return max(0.1 * rtol * self.scale / np.sqrt(self.system.size), TINY)

    def accept(self, t: float, y: Array) -> bool:
        """Check an accepted step; return whether the observer wants to stop here."""
        step, size = t - self.last_time, float(np.linalg.norm(y))
        if not np.isfinite(size):
            raise self.failure(t, step, "the solution is not finite")
        rate = np.log(max(size, TINY) / max(self.last_size, TINY)) / step if step > 0 else 0.0
        if size > 1e10 * (self.observer.reference_size or self.scale) and rate * (self.end - self.start) > 1e3:
            raise self.failure(t, step, f"the solution grows without bound (norm {size:.3g})")
        if step > 1e-10 * (self.end - self.start):
            self.not_finite = 0
        self.tiny_steps = self.tiny_steps + 1 if step < 1e-14 * (self.end - self.start) else 0
        if self.tiny_steps > 30:
            raise self.failure(t, step, "the step size has shrunk to nothing")
        self.last_time, self.last_size = t, size
        self._check_room(t, y)
        if self.observer.announce is not None:
            self.observer.announce(t)
        return self.observer.stop is not None and self.observer.stop(t, y)

    def _check_room(self, t: float, y: Array) -> None:
        """Break off before the states of all steps fill the memory."""
        self.kept += 2.0 * y.nbytes
        if self.kept > self.observer.room:
            needed = self.kept * (self.end - self.start) / max(t - self.start, TINY)
            smaller = "a smaller width"
            if self.observer.fitting is not None:
                smaller = f"{self.observer.fitting(self.observer.room / needed)} (if it takes as many steps)"
            raise BudgetError(
                f"the states at the steps of {self.name} up to t = {t:.6g} (of {self.end:g}) take {amount(self.kept)}, "
                f"all of the memory that is left; about {amount(needed)} would be needed. Take {smaller}, or a shorter "
                "time, and go on from there with initial=solution."
            )

    def failure(self, t: float, step: float, reason: str, trajectory: object = None) -> IntegrationError:
        """Compose the error: where, how small the step, what the spectrum says, what to try."""
        abscissa = self.system.linear.abscissa
        if self.not_finite:
            reason = f"the right-hand side is not finite beyond this time ({reason})"
        if abscissa * (self.end - self.start) > 30:
            hint = (
                "The linear part has growing modes: check the signs of the equation (backward diffusion?) and the "
                "boundary conditions, or use a larger cutoff (1e-8) or more points."
            )
        else:
            hint = (
                "The solution may blow up in finite time or form a shock that this width can't resolve: "
                "try a shorter time, a larger width, or a larger cutoff (1e-8)."
            )
        return IntegrationError(
            f"{self.name} stopped at t = {t:.6g} (of {self.end:g}): {reason}. "
            f"Last step {step:.3g}, spectral abscissa of the linear part {abscissa:.3g}. {hint}",
            time=t,
            trajectory=trajectory,
        )


def longest_step(system: EvolvingSystem) -> float:
    """Return half the shortest time in which the system changes, so that no step passes over a pulse of it."""
    known = 0.5 * system.shortest
    if system.forcing.is_constant:
        return known
    start, end = system.time
    count = _probes(system, 4097 if system.forcing.is_separable else 257)
    with np.errstate(all="ignore"):
        values = system.forcing.batch(np.linspace(start, end, count))
    largest = float(np.max(np.linalg.norm(values, axis=1)))
    change = float(np.max(np.linalg.norm(np.diff(values, axis=0), axis=1)))
    if not (np.isfinite(largest) and change > 0):
        return known
    return min(known, max(2.0, 0.5 * largest / change) * (end - start) / (count - 1))


def _probes(system: EvolvingSystem, wanted: int) -> int:
    """Return at how many times a forcing is evaluated: fewer if it is large."""
    return max(65, min(wanted, 4_000_000 // max(1, system.size)))


def typical_size(system: EvolvingSystem) -> float:
    """Return a magnitude of the state, also when it starts from zero."""
    y, (start, end) = system.initial_state, system.time
    size = float(np.linalg.norm(y))
    with np.errstate(all="ignore"):
        rates = [float(np.linalg.norm(system.rhs(t, y))) for t in np.linspace(start, end, 5)]
    if not np.all(np.isfinite(rates)):
        return size or 1.0
    driven = max(rates) * (end - start)
    if system.forcing.is_separable and not system.forcing.is_constant:  # cheap enough to see pulses
        with np.errstate(all="ignore"):
            pushes = np.linalg.norm(system.forcing.batch(np.linspace(start, end, _probes(system, 1025))), axis=1)
        driven = max(driven, float(np.mean(pushes)) * (end - start)) if np.all(np.isfinite(pushes)) else driven
    return size if size > 1e-8 * driven else max(driven, TINY)  # a fit of zero is round-off, not a size
