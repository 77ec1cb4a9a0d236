"""Radau IIA collocation with kept factors, for large stiff systems whose Jacobian is sparse.

On a step of length h the solution is a polynomial that obeys y' = f at s points, the last of which is the end of the
step. The stages Z = Y − y obey A⁻¹Z/h = F(Z). A⁻¹ is diagonalised, so that Newton's method solves one real and
(s − 1)/2 complex systems (γ/h − J) W = R in place of one that is s times as large. With constant coefficients it takes
one such solve, and nothing is factorised again as long as h stays: lengths of steps are the time over powers of two,
and are only raised if that saves more than new factors cost.

The methods are stiffly accurate and damp what is infinitely fast, of order 2s − 1 at the steps, and s between them. The
estimate of the error of a step, of order s, is that of Hairer and Wanner, Solving Ordinary Differential Equations II.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, Protocol, cast

import numpy as np
import scipy.linalg as sla
from scipy.sparse import csr_array

from frozenpinn.errors import IntegrationError, SettingsError
from frozenpinn.integrators.protocol import (
    NO_WORK,
    NOBODY,
    EvolvingSystem,
    Guard,
    Observer,
    Trajectory,
    Work,
    longest_step,
)
from frozenpinn.runtime.arguments import shown, spelled
from frozenpinn.runtime.arrays import read_only

Array = np.ndarray
STAGES = (3, 5, 7)  #: what the method can be had with
_FINEST = 60  # halvings of the time, at most
_FAR = 2  # halvings of a step: where it may be longer by more, it is at once
_DEARER = 10.0  # steps that take as long as the factors for a new length
_ITERATIONS = 10  # of Newton's method in one step
_CLOSE = 0.03  # share of the tolerance that they may leave
_SLOW = 0.15  # contraction beyond which the next step takes a new Jacobian


class Solver(Protocol):
    """(shift − J)⁻¹, factorised."""

    def solve(self, right: Array) -> Array:
        """Return its product with a real or complex vector."""


class Linearised(Protocol):
    """The Jacobian J of a system at one state."""

    def shifted(self, shift: complex) -> Solver:
        """Return the factors of shift − J; of a real shift they are real."""


@spelled(SettingsError)
@dataclass(frozen=True)
class RadauIIA:
    """Collocation at the points of Radau, with step control and factors that are kept.

    Parameters
    ----------
    rtol
        Error of a step, relative to the size of the solution.
    stages
        3, 5 or 7, for order 5, 9 or 13.
    parts
        Steps are the time over this number and powers of two. Solves that judge each other take different ones: with
        the same steps they would share the errors of them.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx - u**3", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> solution = fp.solve(rod, settings=fp.Settings(integrator=fp.integrators.RadauIIA(1e-8)))
    >>> round(float(solution(0.5, 0.1)), 6)
    0.360898
    """

    rtol: float = 1e-8
    stages: int = 5
    parts: int = 1

    def __post_init__(self) -> None:
        if self.stages not in STAGES:
            raise SettingsError(f"RadauIIA has 3, 5 or 7 stages, got {shown(self.stages)}.")

    @property
    def name(self) -> str:
        """How reports call it."""
        return f"radau-iia-{2 * self.stages - 1}"

    def integrate(self, system: EvolvingSystem, observer: Observer = NOBODY) -> Trajectory:
        """Integrate from start to end, or to where the observer stops it."""
        run = _Run(system, Guard(system, self.name, observer), method_of(self.stages), self.rtol, self.parts)
        try:
            run.to_the_end()
        except IntegrationError as error:
            error.trajectory = run.trajectory if len(run.times) > 1 else None
            raise
        return run.trajectory


# ---- the method -----------------------------------------------------------------------------------


class Method(NamedTuple):
    """Points, and what the stages are solved by.

    Attributes
    ----------
    points
        c, shape (s,).
    inverse
        A⁻¹, shape (s, s).
    values
        Its eigenvalues: the real one, and one of each complex pair.
    there, back
        From right-hand sides to those of the eigenvectors, (1 + pairs, s); and from their solutions, of which the
        real part is taken, to stages, (s, 1 + pairs).
    estimate
        e in the estimate f(y) + γ e·Z/h of the error, before (γ/h − J)⁻¹.
    """

    points: Array
    inverse: Array
    values: tuple[complex, ...]
    there: Array
    back: Array
    estimate: Array


@lru_cache(maxsize=8)
def method_of(stages: int) -> Method:
    """Return the Radau IIA method with some stages."""
    legendre = np.polynomial.legendre
    series = np.zeros(stages + 1)
    series[stages], series[stages - 1] = 1.0, -1.0
    points = (np.sort(legendre.legroots(series)) + 1.0) / 2.0
    points[-1] = 1.0
    powers = np.arange(1, stages + 1)
    values = points[:, None] ** (powers - 1)
    matrix = (points[:, None] ** powers / powers) @ np.linalg.inv(values)
    inverse = np.linalg.inv(matrix)
    found, vectors = np.linalg.eig(inverse)
    left = np.linalg.inv(vectors)
    real = int(np.argmin(np.abs(found.imag)))
    upper = [k for k in np.argsort(found.imag).tolist() if found[k].imag > 1e-8]
    chosen, factors = [real, *upper], np.array([1.0] + [2.0] * len(upper))
    gamma = float(found[real].real)
    weights = -np.linalg.solve(values.T, np.eye(stages)[0]) / gamma
    return Method(
        read_only(points),
        read_only(inverse),
        (gamma, *(complex(found[k]) for k in upper)),
        read_only(left[chosen]),
        read_only(vectors[:, chosen] * factors),
        read_only(inverse.T @ weights),
    )


# ---- systems whose Jacobian is a matrix -----------------------------------------------------------


class _Dense(NamedTuple):
    """A Jacobian that is a matrix."""

    matrix: Array

    def shifted(self, shift: complex) -> Solver:
        """Factorise it."""
        return _Factors(sla.lu_factor(shift * np.eye(len(self.matrix)) - self.matrix, check_finite=False))


class _Factors(NamedTuple):
    """Factors of a matrix."""

    factors: tuple[Array, Array]

    def solve(self, right: Array) -> Array:
        """Solve with them."""
        return np.asarray(sla.lu_solve(self.factors, right, check_finite=False))


def linearised(system: EvolvingSystem, t: float, y: Array, guard: Guard) -> Linearised:
    """Return the Jacobian at a state; systems with sparse factors of their own say so by a method ``linearised``."""
    own = getattr(system, "linearised", None)
    if own is None:
        return _Dense(guard.jacobian(t, y))
    guard.jacobian_calls += 1
    return cast(Linearised, own(t, y))


# ---- steps ----------------------------------------------------------------------------------------


class _Run:
    """One integration."""

    def __init__(self, system: EvolvingSystem, guard: Guard, method: Method, rtol: float, parts: int) -> None:
        self.system, self.guard, self.method, self.rtol = system, guard, method, rtol
        self.start, self.end = system.time
        self.parts, self.last = parts, parts * 2**_FINEST
        self.y = np.array(system.initial_state)
        self.times, self.states = [self.start], [self.y]
        self.is_constant = system.has_constant_coefficients
        self.place = 0  # of the time, in 2⁶⁰ parts of each part
        self._alike = 0  # steps of the present length
        self._jacobian: Linearised | None = None
        self._is_fresh = False
        self._solvers: dict[int, tuple[Solver, ...]] = {}
        self._last: tuple[int, Array] | None = None  # level and stages of the step before

    @property
    def trajectory(self) -> CollocationTrajectory:
        """What has been found so far."""
        points = self.method.points
        return CollocationTrajectory(
            np.array(self.times), np.array(self.states), points, self.guard.name, self.guard.work
        )

    def time_at(self, place: int) -> float:
        """Return a time from its place; places of the same time give the same bits."""
        return self.end if place == self.last else self.start + (self.end - self.start) * (place / self.last)

    def length(self, level: int) -> float:
        """Return the length of a step."""
        return float((self.end - self.start) / self.parts * 2.0**-level)

    def to_the_end(self) -> None:
        """Take steps until the end or until somebody says stop."""
        shortest = int(np.ceil(np.log2(max(self.length(0) / longest_step(self.system), 1.0)) - 1e-9))
        level, is_first = max(shortest, self._first_level()), True
        while self.place < self.last:
            stages = self._stages(level)
            if stages is None:  # Newton's method failed
                level = self._shorter(level, 1)
                continue
            error = self._error(level, stages)
            gain = 0.8 * max(error, 1e-12) ** (-1.0 / (len(stages) + 1.0))
            if error > 1.0 or not np.isfinite(error):
                by = max(1, int(np.ceil(-np.log2(gain)))) if gain > 0 else 4
                level = self._shorter(level, by + is_first)  # the first rates may be stiff: errors fall slowly
                continue
            longer = max(0, min(int(np.floor(np.log2(gain))), level - shortest))
            if is_first and longer > 2:  # begun too carefully: once more
                level, is_first = level - longer, False
                continue
            is_first = False
            if self._accept(level, stages):
                return
            level = self._longer(level, longer)

    def _first_level(self) -> int:
        """Return how often the time is halved at first."""
        slope = float(np.linalg.norm(self.guard.rhs(self.start, self.y)))
        if not (np.isfinite(slope) and slope > 0):
            return 6
        length = self.rtol ** (1.0 / (len(self.method.points) + 1.0)) * self.guard.scale / slope
        return int(np.clip(np.ceil(np.log2(self.length(0) / length)), 1, 30))

    def _shorter(self, level: int, by: int) -> int:
        level += min(by, 6)
        if level > _FINEST - 10:
            t = self.time_at(self.place)
            raise self.guard.failure(t, self.length(level), "the step size has shrunk to nothing")
        return level

    def _longer(self, level: int, by: int) -> int:
        """Return a level with longer steps if that fits the grid and saves more than new factors cost."""
        left = self.last - self.place
        while by and self.place % 2 ** (_FINEST - level + by):
            by -= 1
        saved = left / 2 ** (_FINEST - level) * (1.0 - 2.0**-by)
        pays = saved > _DEARER and (by > _FAR or self._alike > _DEARER)  # it may be raised by more soon
        if by and (pays or level - by in self._solvers):
            self._alike = 0
            return level - by
        return level

    def _accept(self, level: int, stages: Array) -> bool:
        self.place += 2 ** (_FINEST - level)
        self.states += [self.y + z for z in stages]
        self.y = self.states[-1]
        self.times.append(self.time_at(self.place))
        self._last, self._is_fresh, self._alike = (level, stages), False, self._alike + 1
        self.guard.kept += (len(stages) - 2.0) * self.y.nbytes
        return self.guard.accept(self.times[-1], self.y)

    # ---- one step -----------------------------------------------------------------------------------

    def _solvers_of(self, level: int) -> tuple[Solver, ...]:
        """Return the factors for a length of steps, those of the last two lengths being kept."""
        if self._jacobian is None:
            self._jacobian = linearised(self.system, self.time_at(self.place), self.y, self.guard)
            self._is_fresh = True
        found = self._solvers.pop(level, None)
        if found is None:
            h = self.length(level)
            found = tuple(self._jacobian.shifted(value / h) for value in self.method.values)
        self._solvers = {**dict(list(self._solvers.items())[-1:]), level: found}
        return found

    def _renew(self) -> None:
        self._jacobian, self._solvers = None, {}

    def _rates(self, times: Array, states: Array) -> Array:
        self.guard.rhs_calls += len(times)
        with np.errstate(all="ignore"):
            return self.system.rates(times, states)

    def _stages(self, level: int) -> Array | None:
        """Return the stages Z, shape (s, size); None if Newton's method fails."""
        h = self.length(level)
        times = self.time_at(self.place) + h * self.method.points
        if self.is_constant:
            rates = self._rates(times, np.tile(self.y, (len(times), 1)))
            return self._solved(level, rates)
        while True:
            stages = self._newton(level, times, h)
            if stages is not None or self._is_fresh:
                return stages
            self._renew()

    def _solved(self, level: int, right: Array) -> Array:
        """Return T (γ/h − J)⁻¹ T⁻¹ right."""
        solvers, columns = self._solvers_of(level), self.method.there @ right
        first = solvers[0].solve(np.ascontiguousarray(columns[0].real))
        found = np.real(self.method.back[:, :1]) * first
        for k, solver in enumerate(solvers[1:], start=1):
            found += np.real(np.outer(self.method.back[:, k], solver.solve(columns[k])))
        return np.asarray(found)

    def _newton(self, level: int, times: Array, h: float) -> Array | None:
        stages, scale = self._guess(level), self._scale
        before, contraction = np.inf, 0.0
        for _ in range(_ITERATIONS):
            rates = self._rates(times, self.y + stages)
            if not np.all(np.isfinite(rates)):
                return None
            change = self._solved(level, rates - self.method.inverse @ stages / h)
            size = float(np.max(np.linalg.norm(change, axis=1))) / scale
            stages = stages + change
            if np.isfinite(before):
                contraction = size / before
            if not np.isfinite(size) or contraction >= 1.0:
                return None
            left = contraction / (1.0 - contraction) * size if np.isfinite(before) else size
            if left <= _CLOSE:
                if contraction > _SLOW and np.isfinite(before) and not self._is_fresh:
                    self._renew()
                return stages
            before = max(size, 1e-300)
        return None

    def _guess(self, level: int) -> Array:
        """Return stages by extrapolation of the polynomial of the step before."""
        if self._last is None:
            return np.zeros((len(self.method.points), self.y.size))
        last, stages = self._last
        nodes = np.append(0.0, self.method.points)
        places = 1.0 + self.method.points * 2.0 ** (last - level)
        if places[-1] > 3.0:
            return np.zeros_like(stages)
        weights = lagrange(nodes, places)[:, 1:]
        return np.asarray(weights @ stages - stages[-1])

    @property
    def _scale(self) -> float:
        return self.rtol * (0.1 * self.guard.scale + float(np.linalg.norm(self.y)))

    def _error(self, level: int, stages: Array) -> float:
        """Return the estimated error of a step, relative to the tolerance."""
        rate = float(self.method.values[0].real) / self.length(level)
        t, solver = self.time_at(self.place), self._solvers_of(level)[0]
        combined = rate * (self.method.estimate @ stages)
        error = solver.solve(self._rates(np.array([t]), self.y[None])[0] + combined)
        size = float(np.linalg.norm(error)) / self._scale
        if size > 1.0 and np.isfinite(size):  # may be due to stiff parts of the rate alone
            error = solver.solve(self._rates(np.array([t]), (self.y + error)[None])[0] + combined)
            size = float(np.linalg.norm(error)) / self._scale
        return size


# ---- the trajectory ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class CollocationTrajectory:
    """A polynomial on each step, through its start and its stages.

    Attributes
    ----------
    times
        Accepted steps, shape (m + 1,).
    states
        The state at the start and at the stages of all steps, shape (1 + m·s, size).
    points
        Where stages lie in a step, from 0 to 1; the last is 1.
    name, work
        Which method has produced them, and what it took.
    """

    times: Array
    states: Array
    points: Array
    name: str = "radau-iia"
    work: Work = NO_WORK
    kind = "collocation"

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

    @cached_property
    def _nodes(self) -> Array:
        return np.append(0.0, self.points)

    def __call__(self, times: Array) -> Array:
        """Return the states at the given times, shape (m, size)."""
        return self._combine(times, 0)

    def rates(self, times: Array) -> Array:
        """Return the derivative of the polynomials."""
        return self._combine(times, 1)

    def _combine(self, times: Array, derivative: int) -> Array:
        times, count = np.asarray(times, dtype=float), len(self.points)
        k = np.clip(np.searchsorted(self.times, times) - 1, 0, len(self.times) - 2)
        lengths = np.diff(self.times)[k]
        weights = lagrange(self._nodes, (times - self.times[k]) / lengths, derivative) / lengths[:, None] ** derivative
        columns = (k * count)[:, None] + np.arange(count + 1)
        ends = np.arange(0, weights.size + 1, count + 1)
        table = csr_array((weights.ravel(), columns.ravel(), ends), shape=(len(times), len(self.states)))
        return np.asarray(table @ self.states)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that define it."""
        return {"times": self.times, "stages": self.states, "points": self.points}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> CollocationTrajectory:
        """Rebuild a stored trajectory."""
        return cls(arrays["times"], arrays["stages"], arrays["points"])


def lagrange(nodes: Sequence[float] | Array, places: Array, derivative: int = 0) -> Array:
    """Return values or first derivatives of the polynomials that are 1 at one of a few nodes, shape (places, nodes)."""
    powers = np.arange(len(nodes))
    coefficients = np.linalg.inv(np.asarray(nodes)[:, None] ** powers)
    places = np.asarray(places, dtype=float)[:, None]
    if derivative:
        return np.asarray((powers[1:] * places ** (powers[1:] - 1)) @ coefficients[1:])
    return np.asarray(places**powers @ coefficients)
