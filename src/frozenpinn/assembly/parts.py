"""The parts into which interfaces cut a domain: where they are, points on the interfaces, and points in them."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.basis.hidden import SpecialFunctions
from frozenpinn.basis.poles import poles_about
from frozenpinn.errors import ProblemError
from frozenpinn.geometry import Interval, Points
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.round_off import TINY
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_SCANNED = 20_000  # points among which parts are looked for
_MOST = 12  # parts
_POLES = {2: 10, 3: 3}  # highest order of the multipoles of a part inside, in the plane and in space


class Crossing(NamedTuple):
    """Points on an interface, unit normals there, and the points beside them on both sides."""

    x: Array
    normals: Array
    above: Array
    below: Array


@remembered
def parts_of(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """Return the signs of the level functions on each part of the domain, the largest part first; () without any."""
    least = 1e-3  # share of them that a part must have
    if problem.interfaces is None:
        return ()
    if problem.domain.dimension == 1:
        return _parts_of_line(problem)
    x = problem.domain.sample(_SCANNED, "random", Seed.PROBE).x
    found, counts = np.unique(signs_at(problem, x), axis=0, return_counts=True)
    order = [int(i) for i in np.argsort(-counts) if counts[i] >= least * len(x)]
    if len(order) > _MOST:
        raise ProblemError(
            f"jumps of coefficients cut the domain into {len(order)} parts; at most {_MOST} are possible."
        )
    return tuple(tuple(int(s) for s in found[i]) for i in order)


def _parts_of_line(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """Return the signs between the cuts of an interval, the longest part first, however short others are."""
    edges = edges_of_line(problem)
    order = np.argsort(-np.diff(edges), kind="stable")
    signs = signs_at(problem, np.array([[(a + b) / 2] for a, b in itertools.pairwise(edges)]))
    found = tuple(dict.fromkeys(tuple(int(s) for s in signs[i]) for i in order))
    if len(found) > _MOST:
        raise ProblemError(
            f"jumps of coefficients cut the domain into {len(found)} parts; at most {_MOST} are possible."
        )
    return found


def edges_of_line(problem: Problem) -> list[float]:
    """Return the ends of an interval, and between them the places where it is cut."""
    cuts = sorted(float(c.x[i, 0]) for c in crossings(problem, 1) for i in range(len(c.x)))
    return [float(problem.domain.lower[0]), *cuts, float(problem.domain.upper[0])]


def count_of_parts(problem: Problem) -> int:
    """Return the number of parts, 1 without interfaces."""
    return max(1, len(parts_of(problem)))


@remembered
def poles_of_parts(problem: Problem) -> SpecialFunctions | None:
    """Return multipoles about parts that do not touch the boundary; what is around them falls off from there."""
    domain, d = problem.domain, problem.domain.dimension
    if d not in (2, 3) or not domain.sides:
        return None
    x = domain.sample(_SCANNED, "random", Seed.PROBE).x
    own = signs_at(problem, x)
    edges = np.concatenate([domain.sample_side(side, 64, "random", 0).x for side in domain.sides])
    touching = {tuple(row) for row in signs_at(problem, edges)}
    centres, radii = [], []
    for part in parts_of(problem):
        inside = np.all(own == np.array(part), axis=1)
        centre = x[inside].mean(axis=0)
        if part not in touching and tuple(signs_at(problem, centre[None])[0]) == part:
            measure = domain.measure * float(np.mean(inside))
            centres.append(centre)
            radii.append(float(np.sqrt(measure / np.pi) if d == 2 else (0.75 * measure / np.pi) ** (1 / 3)))
    return poles_about(centres, radii, _POLES[d], lower=True) if centres else None


def signs_at(problem: Problem, x: Array) -> Array:
    """Return the signs of the level functions at points, shape (n, levels)."""
    assert problem.interfaces is not None
    values = problem.compile(list(problem.interfaces.levels))(*x.T, 0.0)
    return np.stack([np.where(np.broadcast_to(v, len(x)) > 0, 1, -1) for v in values], axis=1)


@remembered
def crossings(problem: Problem, count: int) -> tuple[Crossing, ...]:
    """Return points on each interface, spread over it; one for each place where an interval is cut."""
    assert problem.interfaces is not None
    return tuple(c for level in problem.interfaces.levels if len((c := _crossing(problem, level, count)).x))


def _crossing(problem: Problem, level: sp.Expr, count: int) -> Crossing:
    steps = 60  # of Newton's method towards an interface
    domain, d = problem.domain, problem.domain.dimension
    program = problem.compile([level, *(sp.diff(level, x) for x in problem.jets.x)])
    many = 400 if d == 1 else 24 * count
    x = domain.sample(many, "sobol" if d > 1 else "uniform", Seed.PROBE).x
    for _ in range(steps):
        value, slope = _level(program, x)
        square = np.maximum(np.sum(slope**2, axis=1), TINY)
        x = x - np.clip(value / square, -1e6, 1e6)[:, None] * slope
    value, slope = _level(program, x)
    length = np.linalg.norm(slope, axis=1)
    finite = np.all(np.isfinite(x), axis=1)
    near = finite & (length > 0) & (np.abs(value) <= max(1e-11 * domain.size, beside(x[finite], 0.0)) * length)
    x, normals = x[near], slope[near] / length[near][:, None]
    if d == 1:
        _, first = np.unique(np.round(x[:, 0] / (1e-9 * domain.size)), return_index=True)
        x, normals = x[first], normals[first]
    step = beside(x, domain.size)
    above, below = x + step * normals, x - step * normals
    inside = domain.contains(x, 0.0) & domain.contains(above, 0.0) & domain.contains(below, 0.0)
    x, normals, above, below = x[inside], normals[inside], above[inside], below[inside]
    if d > 1 and len(x) > count:
        chosen = _spread(x, count)
        x, normals, above, below = x[chosen], normals[chosen], above[chosen], below[chosen]
    return Crossing(x, normals, above, below)


def beside(x: Array | float, size: float) -> float:
    """Return how far points beside a cut are away from it: the least distance of different numbers of their size."""
    ulps = 16.0  # least distance of such points, in spacings of floating point numbers there
    share = 1e-12  # part of the domain between an interface and the points on its two sides
    return max(share * size, ulps * float(np.spacing(np.max(np.abs(x), initial=0.0))))


def _level(program: object, x: Array) -> tuple[Array, Array]:
    with np.errstate(all="ignore"):
        value, *slopes = program(*x.T, 0.0)  # type: ignore[operator]
    return np.broadcast_to(value, len(x)), np.stack([np.broadcast_to(s, len(x)) for s in slopes], axis=1)


def _spread(x: Array, count: int) -> Array:
    """Choose points that are far from each other, one after the other."""
    chosen = [0]
    distance = np.linalg.norm(x - x[0], axis=1)
    for _ in range(count - 1):
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(x - x[chosen[-1]], axis=1))
    return np.array(sorted(chosen))


def points_on_parts(problem: Problem, count: int) -> Points | None:
    """Return Gauss points on each part of an interval; None without interfaces or in several dimensions."""
    if problem.domain.dimension != 1 or len(parts_of(problem)) < 2:
        return None
    edges, pieces = edges_of_line(problem), []
    for a, b in itertools.pairwise(edges):
        share = (b - a) / (edges[-1] - edges[0])
        pieces.append(Interval(a, b).sample(max(12, round(count * (0.5 * share + 0.5 / (len(edges) - 1)))), "gauss"))
    x, weights = np.concatenate([p.x for p in pieces]), np.concatenate([p.weights for p in pieces])
    return Points(x, weights, np.array([(edges[-1] - edges[0]) / len(x)]), (x[:, 0],), (weights,))
