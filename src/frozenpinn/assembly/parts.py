"""The parts into which interfaces cut a domain: where they are, points on the interfaces, and points in them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.basis.hidden import SpecialFunctions
from frozenpinn.basis.poles import poles_about
from frozenpinn.errors import ProblemError
from frozenpinn.geometry import Interval, Points
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.level_sets import Reached, reached
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_MOST = 12  # parts
_AROUND = 4096  # points from which interfaces are reached, in search of small parts
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
    scanned = 20_000  # points among which parts are looked for
    least = 1e-3  # share of them that a part must have
    if problem.interfaces is None:
        return ()
    if problem.domain.dimension == 1:
        return _parts_of_line(problem)
    x = problem.domain.sample(scanned, "random", Seed.PROBE).x
    found, counts = np.unique(signs_at(problem, x), axis=0, return_counts=True)
    order = [int(i) for i in np.argsort(-counts) if counts[i] >= least * len(x)]
    parts = [tuple(int(s) for s in found[i]) for i in order]
    parts += [part for part in _beside_interfaces(problem) if part not in parts]
    if len(parts) > _MOST:
        raise ProblemError(
            f"jumps of coefficients cut the domain into {len(parts)} parts; at most {_MOST} are possible."
        )
    return tuple(parts)


@remembered
def _beside_interfaces(problem: Problem) -> Mapping[tuple[int, ...], Array]:
    """Return points beside the interfaces by the part in which they lie: in parts that random points miss, too."""
    least = 4  # points that a part must have
    assert problem.interfaces is not None
    reached = [_reached(problem, level, _AROUND) for level in problem.interfaces.levels]
    sides = (side for crossing in reached for side in (crossing.above, crossing.below))
    x = np.concatenate([*sides, _corners(problem)])
    if not len(x):
        return {}
    found, which, counts = np.unique(signs_at(problem, x), axis=0, return_inverse=True, return_counts=True)
    order = [int(i) for i in np.argsort(-counts, kind="stable") if counts[i] >= least]
    return {tuple(int(s) for s in found[i]): x[which.ravel() == i] for i in order}


def _corners(problem: Problem) -> Array:
    """Return points around the places at which interfaces cross each other: small parts may have nothing else."""
    starts, rounds = 32, 12
    assert problem.interfaces is not None
    levels, found = problem.interfaces.levels, [np.empty((0, problem.domain.dimension))]
    for one, other in itertools.combinations(levels, 2):
        x = problem.domain.sample(starts, "sobol", Seed.PROBE).x
        for _ in range(rounds):
            first = _from(problem, one, x)
            second = _from(problem, other, first.x)
            x = second.x
        near = (np.linalg.norm(first.x - x, axis=1) <= 1e-9 * problem.domain.size) & np.all(np.isfinite(x), axis=1)
        step = 1e-6 * problem.domain.size
        for a, b in itertools.product((-step, step), repeat=2):
            around = x[near] + a * first.normals[near] + b * second.normals[near]
            found.append(around[problem.domain.contains(around, 0.0)])
    return np.concatenate(found)


def _from(problem: Problem, level: sp.Expr, x: Array) -> Reached:
    """Return what Newton's method reaches of an interface from given points."""
    program = problem.compile([level, *(sp.diff(level, x) for x in problem.jets.x)])
    return reached(lambda *x: program(*x, 0.0), x)


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
    edges = np.concatenate([domain.sample_side(side, 64, "random", 0).x for side in domain.sides])
    touching = {tuple(row) for row in signs_at(problem, edges)}
    centres, radii = [], []
    for part in parts_of(problem):
        star = None if part in touching else star_of(problem, part)
        if star is not None:
            centres.append(star.centre.tolist())
            measure = star.measure
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
    reached = _reached(problem, level, 400 if problem.domain.dimension == 1 else 24 * count)
    if problem.domain.dimension > 1 and len(reached.x) > count:
        chosen = _spread(reached.x, count)
        return Crossing(*(own[chosen] for own in reached))
    return reached


def _reached(problem: Problem, level: sp.Expr, many: int) -> Crossing:
    """Return all points of an interface that Newton's method reaches from points of the domain."""
    domain, d = problem.domain, problem.domain.dimension
    program = problem.compile([level, *(sp.diff(level, x) for x in problem.jets.x)])
    start = domain.sample(many, "sobol" if d > 1 else "uniform", Seed.PROBE).x
    x, normals, distance = reached(lambda *x: program(*x, 0.0), start)
    near = distance <= max(1e-11 * domain.size, beside(x[np.isfinite(distance)], 0.0))
    x, normals = x[near], normals[near]
    if d == 1:
        _, first = np.unique(np.round(x[:, 0] / (1e-9 * domain.size)), return_index=True)
        x, normals = x[first], normals[first]
    step = beside(x, domain.size)
    above, below = x + step * normals, x - step * normals
    inside = domain.contains(x, 0.0) & domain.contains(above, 0.0) & domain.contains(below, 0.0)
    return Crossing(x[inside], normals[inside], above[inside], below[inside])


def beside(x: Array | float, size: float) -> float:
    """Return how far points beside a cut are away from it: the least distance of different numbers of their size."""
    ulps = 16.0  # least distance of such points, in spacings of floating point numbers there
    share = 1e-12  # part of the domain between an interface and the points on its two sides
    return max(share * size, ulps * float(np.spacing(np.max(np.abs(x), initial=0.0))))


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


# ---- points in small parts ------------------------------------------------------------------------


class Star(NamedTuple):
    """A part that is seen as a whole from its centre: unit directions, their shares of all, the radius in each."""

    centre: Array
    directions: Array
    shares: Array
    radii: Array

    @property
    def measure(self) -> float:
        """Its area or volume."""
        d = len(self.centre)
        return float((np.pi if d == 2 else 4.0 * np.pi / 3.0) * np.sum(self.shares * self.radii**d))

    def points(self, count: int) -> tuple[Array, Array]:
        """Return about as many points in it as wanted, and the weights of a quadrature rule."""
        d = len(self.centre)
        depth = max(3, round((count / (8.0 if d == 3 else 4.0)) ** (1.0 / d)))  # points along each ray
        each = max(1, len(self.radii) * depth // max(count, 1))  # of which rays some may be left out
        nodes, weights = np.polynomial.legendre.leggauss(depth)
        s, w = (nodes + 1.0) / 2.0, weights / 2.0
        rays = slice(None, None, each) if d == 2 else slice(None)
        own, radii, shares = self.directions[rays], self.radii[rays], self.shares[rays]
        shares = shares / np.sum(shares)
        x = self.centre + (own * radii[:, None])[:, None, :] * s[None, :, None]
        whole = 2.0 * np.pi if d == 2 else 4.0 * np.pi
        mass = whole * (shares * radii**d)[:, None] * (w * s ** (d - 1))[None, :]
        return x.reshape(-1, d), mass.ravel()


@remembered
def star_of(problem: Problem, part: tuple[int, ...]) -> Star | None:
    """Return a part in the plane or in space as a star; None if it has no place from which all of it is seen."""
    d, near = problem.domain.dimension, _beside_interfaces(problem).get(part)
    if d not in _POLES or near is None:
        return None
    centre = near.mean(axis=0)
    if not _is_in(problem, part, centre[None])[0]:
        return None
    directions, shares = _directions(d)
    reach = 1.5 * float(np.max(np.linalg.norm(near - centre, axis=1)))
    looks = np.linspace(0.0, reach, 65)[1:]
    rays = centre + directions[:, None, :] * looks[None, :, None]
    flags = _is_in(problem, part, rays.reshape(-1, d)).reshape(len(directions), -1)
    first = np.argmin(flags, axis=1)  # the first place outside
    if np.any(np.all(flags, axis=1)) or np.any(flags & (np.arange(len(looks)) > first[:, None])):
        return None
    high, low = looks[first], looks[first] - looks[0]
    for _ in range(50):
        middle = (low + high) / 2.0
        inside = _is_in(problem, part, centre + directions * middle[:, None])
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return Star(centre, directions, shares, low)


def _is_in(problem: Problem, part: tuple[int, ...], x: Array) -> Array:
    return np.asarray(np.all(signs_at(problem, x) == np.array(part), axis=1) & problem.domain.contains(x, 0.0))


def _directions(dimension: int) -> tuple[Array, Array]:
    """Return directions all around, and the share of all of them that each stands for."""
    if dimension == 2:
        angles = 2.0 * np.pi * (np.arange(96) + 0.5) / 96
        return np.stack([np.cos(angles), np.sin(angles)], axis=1), np.full(96, 1.0 / 96)
    heights, weights = np.polynomial.legendre.leggauss(10)
    angles = 2.0 * np.pi * (np.arange(20) + 0.5) / 20
    flat = np.sqrt(1.0 - heights**2)
    x, y = np.outer(flat, np.cos(angles)), np.outer(flat, np.sin(angles))
    z = np.repeat(heights[:, None], 20, axis=1)
    return np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1), np.repeat(weights / 40.0, 20)


def with_small_parts(problem: Problem, points: Points) -> Points:
    """Return points of which each small part has as many of its own as if all parts were of one size."""
    small = 0.05  # share of the points below which a part is small
    parts = parts_of(problem)
    if len(parts) < 2 or problem.domain.dimension not in _POLES:
        return points
    own, x, weights = signs_at(problem, points.x), points.x, points.weights
    added = []
    for part in parts[1:]:
        inside = np.all(own == np.array(part), axis=1)
        star = star_of(problem, part) if np.mean(inside) < small else None
        if star is not None:
            own, x, weights = own[~inside], x[~inside], weights[~inside]
            added.append(star.points(max(60, len(points.x) // len(parts))))
    if not added:
        return points
    return Points(
        np.concatenate([x, *(a for a, _ in added)]), np.concatenate([weights, *(w for _, w in added)]), points.spacing
    )
