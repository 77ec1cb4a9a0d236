"""Interfaces of a problem as rows on features: values and fluxes from both sides, at points beside each other.

Interfaces across the axes of a box need no rows there: products of networks are built on layers with cuts along their
axes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.basis.boundary_layer import Functional
from frozenpinn.basis.hidden import Derivative, HiddenLayer, SpecialFunctions, Term
from frozenpinn.basis.poles import poles_about
from frozenpinn.basis.special import joined
from frozenpinn.basis.subdomain_features import SubdomainFeatures
from frozenpinn.errors import ProblemError
from frozenpinn.geometry import Box, Interval, Points
from frozenpinn.geometry.points import tensor_grid
from frozenpinn.language.printer import as_text
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.round_off import TINY
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.interfaces import FluxTerm, Interfaces
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
    found, counts = np.unique(_signs(problem, x), axis=0, return_counts=True)
    order = [int(i) for i in np.argsort(-counts) if counts[i] >= least * len(x)]
    if len(order) > _MOST:
        raise ProblemError(
            f"jumps of coefficients cut the domain into {len(order)} parts; at most {_MOST} are possible."
        )
    return tuple(tuple(int(s) for s in found[i]) for i in order)


def _parts_of_line(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """Return the signs between the cuts of an interval, the longest part first, however short others are."""
    edges = _edges(problem)
    order = np.argsort(-np.diff(edges), kind="stable")
    signs = _signs(problem, np.array([[(a + b) / 2] for a, b in itertools.pairwise(edges)]))
    found = tuple(dict.fromkeys(tuple(int(s) for s in signs[i]) for i in order))
    if len(found) > _MOST:
        raise ProblemError(
            f"jumps of coefficients cut the domain into {len(found)} parts; at most {_MOST} are possible."
        )
    return found


def _edges(problem: Problem) -> list[float]:
    """Return the ends of an interval, and between them the places where it is cut."""
    cuts = sorted(float(c.x[i, 0]) for c in crossings(problem, 1) for i in range(len(c.x)))
    return [float(problem.domain.lower[0]), *cuts, float(problem.domain.upper[0])]


def with_parts(problem: Problem, hidden: HiddenLayer) -> HiddenLayer:
    """Return a layer whose neurons may differ on each part of the domain."""
    parts = parts_of(problem)
    if len(parts) < 2 or problem.interfaces is None:
        return hidden
    levels = [as_text(level) for level in problem.interfaces.levels]
    plain = replace(hidden, singular=None)
    broken = SubdomainFeatures.of(plain, levels, problem.jets.coordinates, parts, _poles(problem))
    return replace(hidden, singular=joined([broken, hidden.singular]))


@remembered
def _poles(problem: Problem) -> SpecialFunctions | None:
    """Return multipoles about parts that do not touch the boundary; what is around them falls off from there."""
    domain, d = problem.domain, problem.domain.dimension
    if d not in (2, 3) or not domain.sides:
        return None
    x = domain.sample(_SCANNED, "random", Seed.PROBE).x
    own = _signs(problem, x)
    edges = np.concatenate([domain.sample_side(side, 64, "random", 0).x for side in domain.sides])
    touching = {tuple(row) for row in _signs(problem, edges)}
    centres, radii = [], []
    for part in parts_of(problem):
        inside = np.all(own == np.array(part), axis=1)
        centre = x[inside].mean(axis=0)
        if part not in touching and tuple(_signs(problem, centre[None])[0]) == part:
            measure = domain.measure * float(np.mean(inside))
            centres.append(centre)
            radii.append(float(np.sqrt(measure / np.pi) if d == 2 else (0.75 * measure / np.pi) ** (1 / 3)))
    return poles_about(centres, radii, _POLES[d], lower=True) if centres else None


def _signs(problem: Problem, x: Array) -> Array:
    """Return the signs of the level functions at points, shape (n, levels)."""
    assert problem.interfaces is not None
    values = problem.compile(list(problem.interfaces.levels))(*x.T, 0.0)
    return np.stack([np.where(np.broadcast_to(v, len(x)) > 0, 1, -1) for v in values], axis=1)


def count_of_parts(problem: Problem) -> int:
    """Return the number of parts, 1 without interfaces."""
    return max(1, len(parts_of(problem)))


def interface_functionals(problem: Problem, fields: Sequence[str], count: int) -> list[Functional]:
    """Return rows that join the parts: values of fields, and fluxes through the interfaces."""
    interfaces = problem.interfaces
    if interfaces is None or len(parts_of(problem)) < 2:
        return []
    found, zero = [], Derivative((0,) * problem.domain.dimension)
    for crossing in crossings(problem, count):
        flux = [_flux(problem, interfaces, k, crossing) for k in range(len(interfaces.fluxes))]
        for name in (name for name in interfaces.fields if name in fields):
            below = [Term(name, zero, -1.0)]
            if interfaces.contact:
                own = next(i for i, group in enumerate(interfaces.groups()) if name in group)
                below += [t._replace(coefficient=-interfaces.contact * t.coefficient) for t in flux[own][1]]
            found.append(Functional(((crossing.above, (Term(name, zero, 1.0),)), (crossing.below, tuple(below)))))
        for k, group in enumerate(interfaces.groups()):
            if group <= set(fields):
                minus = tuple(t._replace(coefficient=-t.coefficient) for t in flux[k][1])
                found.append(Functional(((crossing.above, flux[k][0]), (crossing.below, minus))))
    return found


def joined_ends(problem: Problem, fields: Sequence[str], axis: int, high: Array, low: Array) -> list[Functional]:
    """Return rows that join the two ends of a periodic axis: values, and fluxes, as coefficients may jump there."""
    interfaces, zero = problem.interfaces, Derivative((0,) * problem.domain.dimension)
    assert interfaces is not None
    normals = np.tile(np.eye(problem.domain.dimension)[axis], (len(high), 1))
    found = [Functional(((high, (Term(n, zero, 1.0),)), (low, (Term(n, zero, -1.0),)))) for n in fields]
    for k, group in enumerate(interfaces.groups()):
        if group <= set(fields):
            above, below = _flux(problem, interfaces, k, Crossing(high, normals, high, low))
            minus = tuple(t._replace(coefficient=-t.coefficient) for t in below)
            found.append(Functional(((high, above), (low, minus))))
    return found


def _flux(problem: Problem, interfaces: Interfaces, k: int, crossing: Crossing) -> tuple[tuple[Term, ...], ...]:
    """Return a flux through an interface as terms above and below it, in units of its largest coefficient."""
    terms, sides = interfaces.fluxes[k], []
    program = problem.compile([term.coefficient for term in terms])
    for x in (crossing.above, crossing.below):
        values = [np.broadcast_to(np.asarray(v, dtype=float), len(x)) for v in program(*x.T, 0.0)]
        sides.append(
            [c if t.axis is None else c * crossing.normals[:, t.axis] for c, t in zip(values, terms, strict=True)]
        )
    slopes = [c for side in sides for c, t in zip(side, terms, strict=True) if t.jet.order]
    largest = max((float(np.max(np.abs(c))) for c in slopes), default=1.0) or 1.0
    scale = 1.0 if interfaces.contact else 1.0 / largest
    return tuple(
        tuple(
            Term(t.jet.field, Derivative(t.jet.alpha, t.jet.laps), scale * c) for t, c in zip(terms, side, strict=True)
        )
        for side in sides
    )


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
    edges, pieces = _edges(problem), []
    for a, b in itertools.pairwise(edges):
        share = (b - a) / (edges[-1] - edges[0])
        pieces.append(Interval(a, b).sample(max(12, round(count * (0.5 * share + 0.5 / (len(edges) - 1)))), "gauss"))
    x, weights = np.concatenate([p.x for p in pieces]), np.concatenate([p.weights for p in pieces])
    return Points(x, weights, np.array([(edges[-1] - edges[0]) / len(x)]), (x[:, 0],), (weights,))


_LOOKS = 40  # points of an interface at which its coefficients are compared


class Cut(NamedTuple):
    """A cut through an axis: above·u_n⁺ = below·u_n⁻ there, and u⁺ − u⁻ = contact·below·u_n⁻."""

    place: float
    above: float
    below: float
    contact: float = 0.0


@remembered
def axis_cuts(problem: Problem, field: str) -> tuple[tuple[Cut, ...], ...] | None:
    """Return the cuts through each axis of a box; None if an interface is no plane across an axis."""
    interfaces, domain = problem.interfaces, problem.domain
    if interfaces is None:
        return ((),) * domain.dimension
    if not isinstance(domain, Box) or any(len(group) != 1 for group in interfaces.groups()):
        return None
    fluxes = [f for f in interfaces.fluxes if f[0].jet.field == field]
    if len(fluxes) != 1 or any(sum(t.jet.alpha) != 1 or t.axis is None or t.jet.alpha[t.axis] != 1 for t in fluxes[0]):
        return None
    if interfaces.material and any(domain.periodic) and not _same_at_ends(problem, fluxes[0]):
        return None
    found: list[list[Cut]] = [[] for _ in range(domain.dimension)]
    for crossing in crossings(problem, _LOOKS):
        axis = int(np.argmax(np.abs(crossing.normals[0])))
        if np.min(np.abs(crossing.normals[:, axis])) < 1.0 - 1e-12:
            return None
        terms = [t for t in fluxes[0] if t.axis == axis]
        program = problem.compile([t.coefficient for t in terms])
        low, high = (crossing.below, crossing.above)
        if crossing.normals[0, axis] < 0:
            low, high = high, low
        sides = [sum(np.broadcast_to(v, len(x)) for v in program(*x.T, 0.0)) for x in (high, low)]
        for place in np.unique(np.round(crossing.x[:, axis] / domain.size, 10)) * domain.size:
            own = np.abs(crossing.x[:, axis] - place) <= 1e-8 * domain.size
            above, below = (np.asarray(side)[own] for side in sides)
            ratio = above / below
            if np.ptp(ratio) > 1e-12 * abs(ratio[0]) or (interfaces.contact and np.ptp(below) > 1e-12 * abs(below[0])):
                return None
            exact = float(crossing.x[own][0, axis])
            found[axis].append(Cut(exact, float(above[0]), float(below[0]), interfaces.contact))
    return tuple(tuple(sorted(cuts)) for cuts in found)


def _same_at_ends(problem: Problem, flux: Sequence[FluxTerm]) -> bool:
    """Whether the coefficients of a flux are the same at both ends of periodic axes."""
    domain = problem.domain
    x = domain.sample(_LOOKS, "random", Seed.PROBE).x
    for axis in (i for i, periodic in enumerate(domain.periodic) if periodic):
        low, high = x.copy(), x.copy()
        low[:, axis], high[:, axis] = domain.lower[axis], domain.upper[axis]
        program = problem.compile([t.coefficient for t in flux if t.axis == axis])
        both = zip(program(*low.T, 0.0), program(*high.T, 0.0), strict=True)
        if not all(np.allclose(a, b, rtol=1e-12, atol=0.0) for a, b in both):
            return False
    return True


def cut_layer(hidden: HiddenLayer, cuts: Sequence[Cut]) -> HiddenLayer:
    """Return neurons of one variable that may differ between the cuts."""
    if not cuts:
        return hidden
    levels = [f"x - {cut.place!r}" if cut.place >= 0 else f"x + {-cut.place!r}" for cut in cuts]
    signs = [[1 if k > i else -1 for i in range(len(cuts))] for k in range(len(cuts) + 1)]
    return replace(hidden, singular=SubdomainFeatures.of(hidden, levels, ("x",), signs))


def cut_functionals(cuts: Sequence[Cut], length: float) -> list[Functional]:
    """Return rows that join the layers of one axis."""
    value, slope, found = Derivative((0,)), Derivative((1,)), []
    for cut in cuts:
        high, low = (np.array([[cut.place + sign * beside(cut.place, length)]]) for sign in (1.0, -1.0))
        scale = 1.0 / max(abs(cut.above), abs(cut.below))
        down = [Term("u", value, -1.0)]
        if cut.contact:
            down.append(Term("u", slope, -cut.contact * cut.below))
        found.append(Functional(((high, (Term("u", value),)), (low, tuple(down)))))
        up, below = Term("u", slope, scale * cut.above), Term("u", slope, -scale * cut.below)
        found.append(Functional(((high, (up,)), (low, (below,)))))
    return found


def cut_grid(box: Box, counts: Sequence[int], method: str, cuts: Sequence[Sequence[Cut]]) -> Points:
    """Return a tensor grid whose axes have Gauss points between their cuts."""
    least = 12  # points of a layer
    whole = box.sample([max(4, n // 8) for n in counts], method)
    axes, weights = list(whole.axes), list(whole.axis_weights)
    for i, (n, own) in enumerate(zip(counts, cuts, strict=True)):
        if not own:
            line = Interval(float(box.lower[i]), float(box.upper[i]), periodic=box.periodic[i]).sample(n, method)
            axes[i], weights[i] = line.x[:, 0], line.weights
            continue
        edges = [float(box.lower[i]), *(cut.place for cut in own), float(box.upper[i])]
        each = max(least, n // (len(edges) - 1))
        lines = [Interval(a, b).sample(each, "gauss") for a, b in itertools.pairwise(edges)]
        axes[i] = np.concatenate([line.x[:, 0] for line in lines])
        weights[i] = np.concatenate([line.weights for line in lines])
    return tensor_grid(axes, weights, np.array(box.lengths) / np.array([len(a) for a in axes]))
