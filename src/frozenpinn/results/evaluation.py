"""Where solutions are evaluated and how errors are measured: the same for frozen networks and for their peers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.errors import EvaluationError, choices, suggestion
from frozenpinn.geometry import Box, Domain
from frozenpinn.geometry.points import grid_points
from frozenpinn.runtime.arguments import is_whole, reals, shown
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_LARGE = 4096  # values of a coordinate from which on repetition is looked for


MAX_VALUES = 10**8  #: of a grid of :meth:`Solution.grid`


def arranged(
    where: Sequence[Any], problem: Problem, named: Mapping[str, Any] | None = None
) -> tuple[list[Array], Array]:
    """Return the coordinate arrays and the times of ``solution(x, t)``, and check that they broadcast.

    A static solution is called without t.
    """
    d = problem.stated.dimension
    known = (*problem.stated.coordinates, *(() if problem.is_static else ("t",)))
    where = _in_order(where, named, known) if named else where
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
    for what, n in (("points", points), ("times", times)):
        if not is_whole(n) or n < 1:  # type: ignore[operator]
            raise EvaluationError(f"{what} is a positive whole number, got {shown(n)}.")
    size = points**dimension * times  # type: ignore[operator]
    if size > MAX_VALUES:
        raise EvaluationError(
            f"a grid of {points} points per axis and {times} times has {shown(size, 20)} values, more than "
            f"{MAX_VALUES}; take fewer, or evaluate the solution part by part."
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
    if array.size < _LARGE:
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


def unseen_points(problem: Problem, points: int, times: int) -> tuple[Array, Array]:
    """Return uniform test points (random ones beyond two dimensions) and uniform times."""
    check_grid_size(points, times, 1)
    t = np.zeros(1) if problem.is_static else np.linspace(*problem.time, times)
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


def relative_error(found: Array, exact: Array) -> dict[str, float]:
    """Return the relative L² error and the root mean square error of values."""
    norm = float(np.linalg.norm(exact))
    return {
        "rel_l2": float(np.linalg.norm(found - exact)) / (norm or 1.0),
        "rmse": float(np.sqrt(np.mean((found - exact) ** 2))),
    }
