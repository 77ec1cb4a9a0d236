"""From one basis to the next: what is handed over at the end of a window of time, and what gets lost on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from frozenpinn.assembly.discretisation import Discretisation, discretise
from frozenpinn.assembly.initial_data import Stage
from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.samplers.grading import Grading
from frozenpinn.evolution.grading import lines_along, steepest
from frozenpinn.geometry.points import grid_points
from frozenpinn.runtime.arrays import read_only
from frozenpinn.search.grading import Slopes

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class StateField:
    """A field, a derivative or the velocity of a state as a function of points and time."""

    space: Space
    coefficients: Array
    terms: tuple[Term, ...]
    order: int = 0

    def __call__(self, x: Array, t: float) -> Array:
        """Return the values at points (n, d); on whole tensor grids axis by axis."""
        basis = self.space.network
        lifted = self.space.data(t, self.order)[:, None] if basis.lift_size else None
        return basis.combine(x, self.terms, self.coefficients[:, None], lifted)[:, 0]


def continue_from(system: Discretisation, y: Array, t: float, end: float) -> Stage:
    """Return the stage that starts where another one stopped."""
    problem = system.problem
    moving = [name for name in system.fields if problem.equation(name).order == 2]
    return Stage(
        (t, end),
        {name: _field(system, y, name) for name in system.fields},
        {name: _field(system, y, name, order=1) for name in moving},
    )


def continued(system: Discretisation, y: Array, time: tuple[float, float], shortest: float) -> Discretisation:
    """Return the same system from a state on, with everything that is known of it.

    Where boundary data jump, the state is fitted again: the field goes on from what it was, its lifting changes.
    """
    spaces = tuple(space.during(time) for space in system.spaces)
    switched = any(new is not old for new, old in zip(spaces, system.spaces, strict=True))
    state = None if switched and jumps(system.spaces, spaces, time[0]) else read_only(y)
    stage = continue_from(system, y, *time)._replace(state=state, shortest=shortest)
    if system.elimination is not None:
        others = [space.during(time) for space in system.elimination.determined.spaces]
        return discretise(system.problem, [*spaces, *others], system.rcond, stage)
    lawful = any(space.laws for space in spaces)
    other = replace(system, spaces=spaces, stage=stage, judged=None if switched and lawful else system.linear)
    kept: tuple[str, ...] = ("layout", "singular_values", "linear", "_drift", "forcing", "pointwise")
    if switched:
        kept = ("layout", "singular_values") if lawful else ("layout", "singular_values", "linear", "_drift")
    vars(other).update({name: vars(system)[name] for name in kept if name in vars(system)})
    return other


def jumps(before: Sequence[Space], after: Sequence[Space], t: float) -> bool:
    """Whether boundary data or laws of two parts of the time differ where one ends and the other begins."""
    same = 1e-8  # largest difference of boundary data before and after some time, relative to their size
    for old, new in zip(before, after, strict=True):
        if any(a.residual != b.residual for (a, _), (b, _) in zip(old.laws, new.laws, strict=True)):
            return True
        if old.data is new.data:
            continue
        for order in range(max(1, old.order)):
            a, b = old.data(t, order), new.data(t, order)
            if np.max(np.abs(a - b), initial=0.0) > same * max(np.max(np.abs(v), initial=0.0) for v in (a, b)):
                return True
    return False


def _field(system: Discretisation, y: Array, name: str, axis: int | None = None, order: int = 0) -> StateField:
    """Return a field of a state, or its derivative along an axis."""
    index, space = system.space_of(name)
    alpha = tuple(int(k == axis) for k in range(system.problem.domain.dimension))
    return StateField(space, system.layout.split(y)[index][order], (Term(name, Derivative(alpha)),), order)


def state_slopes(system: Discretisation, y: Array, t: float) -> list[Slopes]:
    """Return places on each axis and the slopes of all fields of a state there."""
    domain, own = system.problem.domain, _own_axes(system)
    found = []
    for axis, points in enumerate(own):
        x = np.concatenate([[domain.lower[axis]], points, [domain.upper[axis]]])
        x = x[np.concatenate([[True], np.diff(x) > 0])]  # the lattice of a periodic axis has the lower end already
        axes = [*own[:axis], x, *own[axis + 1 :]]
        tables = [_field(system, y, name, axis)(grid_points(axes), t) for name in system.fields]
        found.append(Slopes(x, [steepest(lines_along(axes, axis, table)) for table in tables]))
    return found


def _own_axes(system: Discretisation) -> list[Array]:
    """Return the coordinates of the points of a basis on each axis."""
    if system.problem.domain.dimension == 1:
        return [np.sort(system.points.x[:, 0])]
    return [np.unique(c) for c in system.points.x.T]


def with_errors(slopes: Sequence[Slopes], system: Discretisation) -> list[Slopes]:
    """Add to the slopes by which a basis was placed where it fails to represent the start of its stage.

    Corners and jumps are found like this: neurons gather around them, round by round.
    """
    own, result = _own_axes(system), []
    for axis, (places, sizes, errors) in enumerate(slopes):
        points = own[axis]
        finer = np.unique(np.concatenate([places, points, (points[1:] + points[:-1]) / 2]))
        axes = [*own[:axis], finer, *own[axis + 1 :]]
        compared = _comparisons(system, grid_points(axes))
        gaps = [lines_along(axes, axis, np.abs(found - exact)) for _, found, exact in compared]
        slope, before = ([np.interp(finer, places, size) for size in known] for known in (sizes, errors))
        result.append(Slopes(finer, slope, [*before, *map(steepest, gaps)]))
    return result


def _comparisons(system: Discretisation, x: Array) -> Iterator[tuple[int, Array, Array]]:
    """Yield (order, found, wanted) of each field: values at the start of a stage, and velocities at the very start.

    Later on, what a velocity has in detail is in the values too, and with less noise.
    """
    start = system.time[0]
    first = start == system.problem.time[0]
    for order, wanted in enumerate((system.stage.values, system.stage.velocities)[: 2 if first else 1]):
        for name in (n for n in system.fields if n in wanted):
            found = _field(system, system.initial_state, name, order=order)(x, start)
            yield order, found, np.broadcast_to(wanted[name](x, start), len(x))


def projection_loss(system: Discretisation, gradings: Sequence[Grading]) -> float:
    """Return the relative L² misfit of the start of a stage, at places that are no points of its basis."""
    between = (200, 100, 30)  # places on each axis at which a loss is measured, by the number of axes
    count = between[len(gradings) - 1]
    s = (np.arange(count) + 0.5 + 0.3 * np.sin(np.arange(count))) / count  # between the points, as dense as they are
    start, end = system.problem.time
    gaps, sizes = np.zeros(2), np.zeros(2)
    for order, found, exact in _comparisons(system, grid_points([grading.place(s) for grading in gradings])):
        gaps[order] += float(np.sum((found - exact) ** 2))
        sizes[order] += float(np.sum(exact**2))
    sizes[1] = max(sizes[1], sizes[0] / (end - start) ** 2)
    return float(np.sqrt(np.max(gaps / np.where(sizes > 0, sizes, 1.0))))
