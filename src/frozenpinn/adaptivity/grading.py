"""Where a solution is steep: gradings of an interval by which points and neurons are placed.

    density = floor/L + (1 − floor)·|uₓ| / ∫|uₓ|

The solution is then projected onto the new basis and goes on (see time_windows.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from frozenpinn.adaptivity.rules import WindowRules
from frozenpinn.assembly.discretisation import Discretisation, Stage
from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.samplers.grading import Grading
from frozenpinn.geometry import Points
from frozenpinn.geometry.points import gauss
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Slopes = tuple[Array, list[Array]]  #: places in increasing order, and non-negative functions there


# ---- from a solution to a grading ------------------------------------------------------------------


def grade(places: Array, slopes: Sequence[Array], floor: float, width: int) -> Grading:
    """Return the grading by the slopes of all fields at increasing places, ends included."""
    sizes = [(np.abs(slope), float(np.trapezoid(np.abs(slope), places))) for slope in slopes]
    parts = [size / total for size, total in sizes if total > 0 and np.isfinite(total)]
    uneven = np.max(parts, axis=0) if parts else np.zeros_like(places)
    density = floor / (places[-1] - places[0]) + (1.0 - floor) * uneven
    return Grading(places, density, steepest=width / 40.0)  # a tenth longer over four neighbours


def initial_slopes(problem: Problem, rules: WindowRules) -> Slopes:
    """Return places and the slopes of the initial values and velocities there, by differences."""
    x, values = _initial_values(problem, rules.places)
    return x, [np.gradient(v, x) for v in values]


def _initial_values(problem: Problem, places: int) -> Slopes:
    x = np.linspace(float(problem.domain.lower[0]), float(problem.domain.upper[0]), places)
    data = [*problem.initial.values(), *problem.initial_velocity.values()]
    return x, [np.broadcast_to(datum(x[:, None], problem.time[0]), x.shape) for datum in data]


def falls_between(system: Discretisation, rules: WindowRules) -> bool:
    """Whether the points of a basis miss something of the initial data, such as a peak between two of them."""
    problem = system.problem
    if problem.domain.dimension > 1:
        return False
    x, values = _initial_values(problem, rules.places)
    nearest = np.unique(np.concatenate([[0, len(x) - 1], np.searchsorted(x, np.sort(system.points.x[:, 0]))]))
    nearest = np.clip(nearest, 0, len(x) - 1)
    for v in values:
        variation = float(np.sum(np.abs(np.diff(v))))
        seen = float(np.sum(np.abs(np.diff(v[nearest]))))
        if variation - seen > rules.between * variation and variation > 1e-6 * float(np.max(np.abs(v))):
            return True
    return False


def state_slopes(system: Discretisation, y: Array, t: float) -> Slopes:
    """Return places and the slopes of all fields of a state there."""
    lower, upper = system.problem.domain.lower[0], system.problem.domain.upper[0]
    x = np.concatenate([[lower], np.sort(system.points.x[:, 0]), [upper]])
    return x, [_field(system, y, name, (1,))(x[:, None], t) for name in system.problem.fields]


def is_spread_out(slopes: Slopes, rules: WindowRules) -> bool:
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
    return not parts or min(parts) > rules.spread


def graded_points(grading: Grading, n: int, method: str, rng: np.random.Generator, per_cell: int = 8) -> Points:
    """Place about n quadrature points: Gauss points in cells of equal share, or evenly or at random in s."""
    if method == "gauss":
        edges = grading.place(np.linspace(0.0, 1.0, max(1, round(n / per_cell)) + 1))
        nodes, shares = gauss(per_cell)
        lengths = np.diff(edges)[:, None]
        x, weights = (edges[:-1, None] + lengths * nodes).ravel(), (lengths * shares).ravel()
    else:
        s = (np.arange(n) + 0.5) / n if method == "uniform" else np.sort(rng.random(n))
        x = grading.place(s)
        weights = grading.stretch(x) / n
    return Points(x[:, None], weights, np.array([float(np.min(np.diff(x)))]))


# ---- from one basis to the next ----------------------------------------------------------------------


def continue_from(system: Discretisation, y: Array, t: float, end: float) -> Stage:
    """Return the stage that starts where another one stopped."""
    problem = system.problem
    moving = [name for name in problem.fields if problem.equation(name).order == 2]
    return Stage(
        (t, end),
        {name: _field(system, y, name, (0,)) for name in problem.fields},
        {name: _field(system, y, name, (0,), order=1) for name in moving},
    )


@dataclass(frozen=True, eq=False)
class StateField:
    """A field, a derivative or the velocity of a state as a function of points and time."""

    space: Space
    coefficients: Array
    terms: tuple[Term, ...]
    order: int = 0

    def __call__(self, x: Array, t: float) -> Array:
        """Return the values at points (n, d)."""
        basis = self.space.network
        lifted = self.space.data(t, self.order)[:, None] if basis.lift_size else None
        return basis.combine(x, self.terms, self.coefficients[:, None], lifted)[:, 0]


def _field(system: Discretisation, y: Array, name: str, alpha: tuple[int, ...], order: int = 0) -> StateField:
    index, space = system.space_of(name)
    return StateField(space, system.layout.split(y)[index][order], (Term(name, Derivative(alpha)),), order)


def with_errors(slopes: Slopes, system: Discretisation) -> Slopes:
    """Add to the slopes by which a basis was placed where it fails to represent the start of its stage.

    Corners and jumps are found like this: neurons gather around them, round by round.
    """
    places, sizes = slopes
    own = system.points.x[:, 0]
    finer = np.unique(np.concatenate([places, own, (own[1:] + own[:-1]) / 2]))
    errors = [np.abs(found - exact) for _, found, exact in _comparisons(system, finer)]
    return finer, [*(np.interp(finer, places, size) for size in sizes), *errors]


def _comparisons(system: Discretisation, x: Array) -> Iterator[tuple[int, Array, Array]]:
    """Yield (order, found, wanted) of each field: values at the start of a stage, and velocities at the very start.

    Later on, what a velocity has in detail is in the values too, and with less noise.
    """
    start = system.time[0]
    first = start == system.problem.time[0]
    for order, wanted in enumerate((system.stage.values, system.stage.velocities)[: 2 if first else 1]):
        for name in (n for n in system.problem.fields if n in wanted):
            found = _field(system, system.initial_state, name, (0,), order)(x[:, None], start)
            yield order, found, np.broadcast_to(wanted[name](x[:, None], start), x.shape)


def projection_loss(system: Discretisation, grading: Grading) -> float:
    """Return the relative L² misfit of the start of a stage, at places that are no points of its basis."""
    s = (np.arange(200) + 0.5 + 0.3 * np.sin(np.arange(200))) / 200  # between the points, as dense as they are
    start, end = system.problem.time
    gaps, sizes = np.zeros(2), np.zeros(2)
    for order, found, exact in _comparisons(system, grading.place(s)):
        gaps[order] += float(np.sum((found - exact) ** 2))
        sizes[order] += float(np.sum(exact**2))
    sizes[1] = max(sizes[1], sizes[0] / (end - start) ** 2)
    return float(np.sqrt(np.max(gaps / np.where(sizes > 0, sizes, 1.0))))
