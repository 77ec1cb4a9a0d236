"""Where solutions are evaluated and how errors are measured: the same for frozen networks and for their peers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frozenpinn.errors import EvaluationError, choices, suggestion
from frozenpinn.geometry import Box, Domain
from frozenpinn.geometry.points import grid_points
from frozenpinn.language.jets import TIME, Jet
from frozenpinn.language.program import Program
from frozenpinn.runtime.arguments import is_whole, reals, shown
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.problem import Problem

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution
    from frozenpinn.statement.frames import Frame

Array = np.ndarray
_NEIGHBOURS = 16  # points around a point at which its error is looked at …
_NEAR = 0.02  # … in a neighbourhood of this part of the domain


LEAST_VARIATION = 1e-3  #: part of the size of a field: what varies less is judged as if it varied as much


def arranged(
    where: Sequence[Any], problem: Problem, named: Mapping[str, Any] | None = None
) -> tuple[list[Array], Array]:
    """Return the coordinate arrays and the times of ``solution(x, t)``, and check that they broadcast.

    A static solution is called without t.
    """
    d = problem.stated.dimension
    where = _in_order(where, named, arguments_of(problem)) if named else where
    arrays = [reals(w, "coordinates and times are real numbers, or arrays of them", EvaluationError) for w in where]
    if problem.is_static:
        arrays = [*_without_time(arrays, problem), np.zeros(())]
    if len(arrays) == 2 and d > 1 and arrays[0].ndim == 2 and arrays[0].shape[1] == d:
        arrays = [*arrays[0].T, arrays[1]]
    shapes = ", ".join(str(a.shape) for a in arrays)
    if len(arrays) != d + 1:
        names = ", ".join((*problem.stated.coordinates, "t"))
        raise EvaluationError(
            f"expected solution({names}), or solution(points, t) with points of shape (n, {d}); "
            f"got {len(arrays)} argument(s) of shape {shapes}."
        )
    try:
        np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        raise EvaluationError(
            f"the shapes {shapes} do not broadcast; for a grid write solution(x[:, None], t[None, :])."
        ) from None
    return arrays[:-1], arrays[-1]


def _without_time(arrays: list[Array], problem: Problem) -> list[Array]:
    """Check the arguments of a static solution: d coordinates, or points of shape (n, d)."""
    d = problem.stated.dimension
    points = d > 1 and bool(arrays) and arrays[0].ndim == 2 and arrays[0].shape[1] == d
    timed = points and len(arrays) == 2 and arrays[1].ndim == 0  # solution(points, t): not x and one y for all
    if (len(arrays) == d and not timed) or (points and len(arrays) == 1):
        return arrays
    names = ", ".join(problem.stated.coordinates)
    more = " It has no time: leave t out." if len(arrays) == d + 1 or (d > 1 and len(arrays) == 2) else ""
    raise EvaluationError(
        f"expected solution({names}), or solution(points) with points of shape (n, {d}); "
        f"got {len(arrays)} argument(s) of shape {', '.join(str(a.shape) for a in arrays)}.{more}"
    )


def _in_order(where: Sequence[Any], named: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    """Return coordinates and time in their order, some of them given by name."""
    for name in named:
        if name not in names:
            known = [*names, "derivative", "field"]
            hint = " It has no time: leave t out." if name == "t" else suggestion(name, known)
            raise EvaluationError(f"solution() has no argument '{name}'.{hint} It takes {choices(known)}.")
    if len(where) == 1 and set(named) == {"t"}:
        return [*where, named["t"]]  # points, or the only coordinate
    rest = [name for name in names if name not in named]
    if len(where) != len(rest):
        raise EvaluationError(f"with {choices(named)} by name, {choices(rest)} are left, got {len(where)} more.")
    given = dict(zip(rest, where, strict=True)) | dict(named)
    return [given[name] for name in names]


def check_grid_size(points: object, times: object, dimension: int) -> None:
    """Refuse numbers of a grid that are none, and grids that fill the memory."""
    max_values = 10**8  # of a grid of :meth:`Solution.grid`
    for what, n in (("points", points), ("times", times)):
        if not is_whole(n) or n < 1:  # type: ignore[operator]
            raise EvaluationError(f"{what} is a positive whole number, got {shown(n)}.")
    size = points**dimension * times  # type: ignore[operator]
    if size > max_values:
        raise EvaluationError(
            f"a grid of {points} points per axis and {times} times has {shown(size, 20)} values, more than "
            f"{max_values}; take fewer, or evaluate the solution part by part."
        )


class Arrangement(NamedTuple):
    """Arrays that vary along axes of their own: these axes, in the order of the arrays, and their lengths."""

    order: tuple[int, ...]
    sizes: tuple[int, ...]

    def laid_out(self, values: Array, shape: tuple[int, ...]) -> Array:
        """Return values (n₁, n₂, …), one axis for each array, in the shape that the arrays broadcast to."""
        return values.reshape(self.sizes).transpose(np.argsort(self.order)).reshape(shape)


def without_repetition(array: Array) -> Array:
    """Return a large array with axes of length one where nothing changes along them: those of ``np.meshgrid``."""
    large = 4096  # values of a coordinate from which on repetition is looked for
    if array.size < large:
        return array
    for axis in (a for a, length in enumerate(array.shape) if length > 1):
        first = array.take([0], axis)
        if array.strides[axis] == 0 or (np.all(array.take([-1], axis) == first) and np.all(array == first)):
            array = first
    return array


def arrangement(shapes: Sequence[tuple[int, ...]]) -> Arrangement | None:
    """Return how arrays of the same rank span a grid; None if two of them vary along the same axis."""
    varying = [(axis, length) for shape in shapes for axis, length in enumerate(shape) if length > 1]
    order = tuple(axis for axis, _ in varying)
    return None if len(set(order)) < len(order) else Arrangement(order, tuple(length for _, length in varying))


def check_grid_inside(problem: Problem, axes: Sequence[Array], times: Array) -> None:
    """Refuse grids with points outside the domain: of a box axis by axis."""
    if isinstance(problem.domain, Box):
        for axis, own in enumerate(axes):
            columns = [own if k == axis else np.full(len(own), c[0]) for k, c in enumerate(axes)]
            check_inside(problem, np.stack(columns, axis=1), times)
    else:
        check_inside(problem, grid_points(axes), times)


def check_inside(problem: Problem, x: Array, times: Array, domain: Domain | None = None) -> None:
    """Refuse points outside the domain, of the solve if no other is given, and times that were not solved for."""
    domain = problem.domain if domain is None else domain
    start, end = problem.time
    slack = 1e-9 * (end - start)
    if times.size and (np.min(times) < start - slack or np.max(times) > end + slack or not np.all(np.isfinite(times))):
        worst = float(np.ravel(times)[np.argmax(np.abs(np.ravel(times) - (start + end) / 2))])
        raise EvaluationError(f"t = {worst:g} lies outside the solved interval [{start:g}, {end:g}].")
    if x.ndim != 2 or x.shape[1] != domain.dimension:
        raise EvaluationError(f"points have the shape (n, {domain.dimension}); got shape {x.shape}.")
    outside = ~(domain.contains(x) & np.all(np.isfinite(x), axis=1))
    if np.any(outside):
        place = ", ".join(f"{c:g}" for c in x[np.argmax(outside)])
        raise EvaluationError(f"the point ({place}) lies outside the domain {domain!r}.")


def arguments_of(problem: Problem) -> tuple[str, ...]:
    """Return what fields are functions of: the coordinates as stated, and the time unless the problem is static."""
    return problem.stated.coordinates if problem.is_static else (*problem.stated.coordinates, TIME)


def moments(problem: Problem, count: int) -> Array:
    """Return equispaced times from start to end; a static problem has one, zero."""
    return np.linspace(*problem.time, 1 if problem.is_static else count)


def unseen_points(problem: Problem, points: int, times: int) -> tuple[Array, Array]:
    """Return uniform test points (random ones beyond two dimensions) and uniform times."""
    check_grid_size(points, times, 1)
    t = moments(problem, times)
    d = problem.domain.dimension
    if d == 1:
        return problem.domain.sample(points, "uniform").x, t
    if d == 2 and isinstance(problem.domain, Box):
        each = max(2, int(np.ceil(np.sqrt(points)))) * 2
        return problem.domain.sample([each, each], "uniform").x, t
    return problem.domain.sample(max(points, 1000), "random", Seed.TEST_POINTS).x, t


def exact_values(problem: Problem, name: str, x: Array, times: Array) -> Array:
    """Return the exact solution at all points and all times, shape (n, m)."""
    if name not in problem.exact:
        raise EvaluationError("the problem has no exact solution; give Problem(…, exact=…).")
    if not len(x):
        raise EvaluationError("there is no error at no points; give at least one.")
    return np.stack([problem.exact[name](x, float(t)) for t in times], axis=1)


def relative_error(found: Array, exact: Array, scale: float | None = None) -> dict[str, float]:
    """Return errors of values (n, m), or of those of the parts of a field (p, n, m).

    ``scale`` is what the error of all parts together is relative to; how much they vary if it is not given.
    """
    norm, gap = float(np.linalg.norm(exact)), float(np.linalg.norm(found - exact))
    apart, places = exact if exact.ndim == 3 else exact[None], exact.shape[-2] * exact.shape[-1]
    return {
        "rel_l2": gap / (norm or 1.0),
        "relative": gap / np.sqrt(places) / (variation(apart) if scale is None else scale),
        "rmse": float(np.sqrt(np.mean((found - exact) ** 2))),
    }


def variation(values: Array) -> float:
    """Return how much a field varies: values of its parts (p, n, m), root mean square of the sum over parts."""
    apart = values - np.mean(values, axis=(1, 2), keepdims=True)
    size, spread = (float(np.sqrt(np.mean(np.sum(v**2, axis=0)))) for v in (values, apart))
    return max(spread, LEAST_VARIATION * size) or 1.0


def distance_nearby(mine: Solution, other: Solution, x: Array, times: Array, jet: Jet) -> Array:
    """Return the root mean square of the distance in a small neighbourhood of points (n, d) at times (n,)."""
    domain, rng = mine.problem.domain, np.random.default_rng(Seed.NEIGHBOURHOOD)
    offsets = rng.uniform(-_NEAR, _NEAR, (_NEIGHBOURS, domain.dimension)) * domain.lengths
    offsets[0] = 0.0
    total, count = np.zeros(len(x)), np.zeros(len(x))
    for offset in offsets:
        near = domain.wrap(x + offset)
        inside = domain.contains(near)
        if np.any(inside):
            a, b = (s.paired_values(near[inside], times[inside], jet) for s in (mine, other))
            total[inside] += (a - b) ** 2
            count[inside] += 1
    return np.sqrt(total / np.maximum(count, 1))


def relative_distance(a: Solution, b: Solution) -> float:
    """Return the L² distance of two static solutions of one problem, relative to the larger one; the worst field."""
    problem = a.problem
    points = problem.domain.sample(256, "sobol" if problem.domain.dimension > 1 else "uniform", 0)
    now, worst = np.zeros(1), 0.0
    for name in problem.fields:
        one, other = (s.jet_values(points.x, now, problem.jets.field(name)) for s in (a, b))
        size = max(float(np.linalg.norm(one)), float(np.linalg.norm(other)))
        worst = max(worst, float(np.linalg.norm(one - other)) / size if size else 0.0)
    return worst


# ---- in the coordinates of the statement -----------------------------------------------------------


def frame_of(problem: Problem) -> Frame | None:
    """Return the frame whose coordinates solutions are called with, if it is not that of the solve."""
    frame = problem.frame
    return frame if frame is not None and frame.is_called else None


def charted(solution: Solution, coordinates: Sequence[Array], t: Array, jet: Jet) -> Array:
    """Evaluate a derivative in coordinates of the statement, given as arrays of the same rank that broadcast."""
    problem = solution.problem
    assert problem.frame is not None
    shape = np.broadcast_shapes(*(c.shape for c in coordinates), t.shape)
    places = np.stack(
        [np.broadcast_to(c, np.broadcast_shapes(*(c.shape for c in coordinates))).ravel() for c in coordinates], axis=1
    )
    check_inside(problem, places, t, problem.stated)
    jets = problem.jets
    expression = problem.frame.chart(jets).differentiated(jet.field, jet)
    inner = problem.frame.to_inner(*(problem.frame.off_axis(coordinates) if any(jet.alpha) else coordinates))
    found = jets.affine(expression)
    assert found is not None
    terms, _ = found
    program = Program(tuple(terms.values()), jets.x)
    spread = [np.broadcast_to(c, np.broadcast_shapes(*(c.shape for c in inner))) for c in inner]
    with np.errstate(all="ignore"):
        factors = program(*spread)
    total = np.zeros(shape)
    for own, factor in zip(terms, factors, strict=True):
        total += factor * solution._broadcast(spread, t, shape, own)
    return total
