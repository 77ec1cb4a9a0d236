"""A basis that follows the solution: windows in time, each with points and neurons placed by the solution's slope.

A frozen basis is good for as long as the solution stays as smooth as the basis is fine. The functions are ordered from
smooth to rough by the SVD layer, so the last tenth of the coefficients tells when that ends: a :class:`Watch` asks the
integrator to stop there. The solution at that moment gives a :class:`Grading` of the interval,

    density = floor/L + (1 − floor)·|uₓ| / ∫|uₓ|,

by which new points and neurons are placed; the solution is projected onto the new basis and goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from frozenpinn.assembly.discretisation import Stage, System
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.samplers.grading import Grading
from frozenpinn.errors import SettingsError
from frozenpinn.geometry import Points
from frozenpinn.geometry.points import gauss
from frozenpinn.solvers import Trajectory
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Slopes = tuple[Array, list[Array]]  #: places in increasing order, and non-negative functions there
_PER_CELL = 8  # Gauss points in each cell of a graded interval
_FIRST_GRID = 4001  # places at which initial data are looked at
_NEGLIGIBLE = 1e-4  # a field this small beside another one need not be resolved for itself
_SPREAD = 0.3  # part of the interval on which a solution that changes everywhere is steep
_BETWEEN = 0.02  # part of the variation of initial data that may fall between the points


@dataclass(frozen=True)
class Windows:
    """How a basis is renewed in time (one dimension).

    Parameters
    ----------
    count
        Number of windows of equal length, each with a new basis; None renews the basis when, and only when, it stops
        resolving the solution.
    floor
        Share of points and neurons that is spread evenly; the rest follows |uₓ|.
    threshold
        Share of the solution that the finest tenth of the basis may carry; None takes ``tol`` of the solve. Only for
        ``count=None``.
    widest
        How far the number of neurons may grow, as a multiple of the first, if a new basis of the same size does not
        do. Only for ``count=None``.
    """

    count: int | None = None
    floor: float = 0.3
    threshold: float | None = None
    widest: float = 3.0

    def __post_init__(self) -> None:
        whole = self.count is None or (isinstance(self.count, int | np.integer) and not isinstance(self.count, bool))
        if not whole or (self.count is not None and self.count < 1):
            raise SettingsError(f"windows must be a positive whole number, or None to adapt; got {self.count!r}.")
        if not 0 < self.floor <= 1:
            raise SettingsError(f"the floor of the density of points must lie between 0 and 1, got {self.floor!r}.")
        if self.threshold is not None and not 0 < self.threshold < 1:
            raise SettingsError(f"the threshold of windows must lie between 0 and 1, got {self.threshold!r}.")
        if not self.widest >= 1:
            raise SettingsError(f"widest is a multiple of the width and at least 1, got {self.widest!r}.")


class Watch:
    """Tells when a basis no longer resolves the solution: its finest tenth carries more than ``limit`` of it."""

    def __init__(self, system: System, threshold: float) -> None:
        self._system = system
        self._counts = [max(2, s.network.size // 10) if s.network.is_orthonormal else 0 for s in system.spaces]
        self.first = self.share(system.initial_state)
        self.limit = max(threshold, 3.0 * self.first)

    def __call__(self, t: float, y: Array) -> bool:
        """Return whether the integrator shall stop."""
        return self.share(y) > self.limit

    def until(self, trajectory: Trajectory, start: float) -> float:
        """Return up to when a trajectory is resolved: steps may be long, and the last one has gone too far."""
        low, high = start, trajectory.end
        for count in (32, 8, 8):
            times = np.linspace(low, high, count + 1)[1:]
            beyond = [self.share(y) > self.limit for y in trajectory(times)]
            if not any(beyond):
                break
            first = int(np.argmax(beyond))
            low, high = (low if first == 0 else float(times[first - 1])), float(times[first])
        return high

    def share(self, y: Array) -> float:
        """Return the share of the solution in the finest tenth, the largest of all fields."""
        parts = [orders[0] for orders in self._system.split(y)]
        sizes = [float(np.linalg.norm(c)) for c in parts]
        floor = _NEGLIGIBLE * max(sizes)
        tails = [float(np.linalg.norm(c[-n:])) if n else 0.0 for c, n in zip(parts, self._counts, strict=True)]
        return max(tail / max(size, floor) if floor else 0.0 for tail, size in zip(tails, sizes, strict=True))


# ---- from a solution to a grading ------------------------------------------------------------------


def grade(places: Array, slopes: Sequence[Array], floor: float, width: int) -> Grading:
    """Return the grading by the slopes of all fields at increasing places, ends included."""
    sizes = [(np.abs(slope), float(np.trapezoid(np.abs(slope), places))) for slope in slopes]
    parts = [size / total for size, total in sizes if total > 0 and np.isfinite(total)]
    uneven = np.max(parts, axis=0) if parts else np.zeros_like(places)
    density = floor / (places[-1] - places[0]) + (1.0 - floor) * uneven
    return Grading(places, density, steepest=width / 40.0)  # a tenth longer over four neighbours


def initial_slopes(problem: Problem) -> Slopes:
    """Return places and the slopes of the initial values and velocities there, by differences."""
    x, values = _initial_values(problem)
    return x, [np.gradient(v, x) for v in values]


def _initial_values(problem: Problem) -> Slopes:
    x = np.linspace(float(problem.domain.lower[0]), float(problem.domain.upper[0]), _FIRST_GRID)
    data = [*problem.initial.values(), *problem.initial_velocity.values()]
    return x, [np.broadcast_to(datum(x[:, None], problem.time[0]), x.shape) for datum in data]


def falls_between(problem: Problem, system: System) -> bool:
    """Whether the points of a basis miss something of the initial data, such as a peak between two of them."""
    if problem.domain.dimension > 1:
        return False
    x, values = _initial_values(problem)
    nearest = np.unique(np.concatenate([[0, len(x) - 1], np.searchsorted(x, np.sort(system.points.x[:, 0]))]))
    nearest = np.clip(nearest, 0, len(x) - 1)
    for v in values:
        variation = float(np.sum(np.abs(np.diff(v))))
        seen = float(np.sum(np.abs(np.diff(v[nearest]))))
        if variation - seen > _BETWEEN * variation and variation > 1e-6 * float(np.max(np.abs(v))):
            return True
    return False


def state_slopes(system: System, y: Array, t: float) -> Slopes:
    """Return places and the slopes of all fields of a state there."""
    lower, upper = system.problem.domain.lower[0], system.problem.domain.upper[0]
    x = np.concatenate([[lower], np.sort(system.points.x[:, 0]), [upper]])
    return x, [_field(system, y, name, (1,))(x[:, None], t) for name in system.problem.fields]


def is_spread_out(slopes: Slopes) -> bool:
    """Whether a solution is about as steep everywhere, so that a finer basis helps and a graded one does not.

    The measure is the part of the interval that |uₓ| takes up, (∫|uₓ|)² / (L ∫uₓ²): 0.8 for a sine, small for a front.
    """
    places, sizes = slopes
    length = float(places[-1] - places[0])
    parts = []
    for size in sizes:
        square = float(np.trapezoid(size**2, places))
        if square > 0:
            parts.append(float(np.trapezoid(np.abs(size), places)) ** 2 / (length * square))
    return not parts or min(parts) > _SPREAD


def graded_points(grading: Grading, n: int, method: str, rng: np.random.Generator) -> Points:
    """Place about n quadrature points: Gauss points in cells of equal share, or evenly or at random in s."""
    if method == "gauss":
        edges = grading.place(np.linspace(0.0, 1.0, max(1, round(n / _PER_CELL)) + 1))
        nodes, shares = gauss(_PER_CELL)
        lengths = np.diff(edges)[:, None]
        x, weights = (edges[:-1, None] + lengths * nodes).ravel(), (lengths * shares).ravel()
    else:
        s = (np.arange(n) + 0.5) / n if method == "uniform" else np.sort(rng.random(n))
        x = grading.place(s)
        weights = grading.stretch(x) / n
    return Points(x[:, None], weights, np.array([float(np.min(np.diff(x)))]))


# ---- from one basis to the next ----------------------------------------------------------------------


def continue_from(system: System, y: Array, t: float, end: float) -> Stage:
    """Return the stage that starts where another one stopped."""
    problem = system.problem
    moving = [name for name in problem.fields if problem.equation(name).order == 2]
    return Stage(
        (t, end),
        {name: _field(system, y, name, (0,)) for name in problem.fields},
        {name: _field(system, y, name, (0,), order=1) for name in moving},
    )


def _field(system: System, y: Array, name: str, alpha: tuple[int, ...], order: int = 0) -> Callable[..., Array]:
    """Return a field, a derivative or the velocity of a state as a function of points and time."""
    index, space = system.space_of(name)
    terms = [Term(name, Derivative(alpha))]
    coefficients = system.split(y)[index][order]

    def values(x: Array, t: float) -> Array:
        lifted = space.data(t, order)[:, None] if space.network.lift_size else None
        return space.network.combine(x, terms, coefficients[:, None], lifted)[:, 0]

    return values


def with_errors(slopes: Slopes, system: System) -> Slopes:
    """Add to the slopes by which a basis was placed where it fails to represent the start of its stage.

    Corners and jumps are found like this: neurons gather around them, round by round.
    """
    places, sizes = slopes
    own = system.points.x[:, 0]
    finer = np.unique(np.concatenate([places, own, (own[1:] + own[:-1]) / 2]))
    errors = [np.abs(found - exact) for _, found, exact in _comparisons(system, finer)]
    return finer, [*(np.interp(finer, places, size) for size in sizes), *errors]


def _comparisons(system: System, x: Array) -> Iterator[tuple[int, Array, Array]]:
    """Yield (order, found, wanted) of each field: values at the start of a stage, and velocities at the very start.

    Later on, what a velocity has in detail is in the values too, and with less noise.
    """
    start = system.time[0]
    first = start == system.problem.time[0]
    for order, wanted in enumerate((system.stage.values, system.stage.velocities)[: 2 if first else 1]):
        for name in (n for n in system.problem.fields if n in wanted):
            found = _field(system, system.initial_state, name, (0,), order)(x[:, None], start)
            yield order, found, np.broadcast_to(wanted[name](x[:, None], start), x.shape)


def projection_loss(system: System, grading: Grading) -> float:
    """Return the relative L² misfit of the start of a stage, at places that are no points of its basis."""
    s = (np.arange(200) + 0.5 + 0.3 * np.sin(np.arange(200))) / 200  # between the points, as dense as they are
    start, end = system.problem.time
    gaps, sizes = np.zeros(2), np.zeros(2)
    for order, found, exact in _comparisons(system, grading.place(s)):
        gaps[order] += float(np.sum((found - exact) ** 2))
        sizes[order] += float(np.sum(exact**2))
    sizes[1] = max(sizes[1], sizes[0] / (end - start) ** 2)
    return float(np.sqrt(np.max(gaps / np.where(sizes > 0, sizes, 1.0))))
