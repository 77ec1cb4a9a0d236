"""What a function leaves of a static problem at places that no solve is fitted at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.assembly.collocation import Function, slopes_of
from frozenpinn.assembly.nonlocal_terms import jets_at
from frozenpinn.assembly.parts import beside, edges_of_line
from frozenpinn.errors import warn
from frozenpinn.geometry import BoundaryPoints
from frozenpinn.geometry.array_arguments import frozen
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Bound
from frozenpinn.runtime.memo import Same, remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.search.rules import StaticRules
from frozenpinn.search.unresolved import judged_features, places_in
from frozenpinn.statement.laws import BoundaryLaw
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class HeldOut(NamedTuple):
    """Points of the domain, and of the side of each condition and nonlinear one; those of all sides in one array.

    ``narrow`` has points in the cells of each narrow feature of the formulas.
    """

    inside: Array
    sides: tuple[BoundaryPoints, ...]
    laws: tuple[BoundaryPoints, ...]
    around: Array
    narrow: tuple[Array, ...] = ()


class Once:
    """A function of which each derivative is evaluated once at held-out places, and on all sides together."""

    def __init__(self, function: Function, places: HeldOut) -> None:
        self._function, self._places = function, places
        sides = [points.x for points in (*places.sides, *places.laws)]
        ends = np.cumsum([0, *map(len, sides)])
        self._parts = {Same(x): slice(a, b) for x, a, b in zip(sides, ends, ends[1:], strict=False)}
        self._known: dict[Same[Array], dict[Jet, Array]] = {}

    def jets(self, x: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives of the function."""
        part = self._parts.get(Same(x))
        if part is None and x is not self._places.inside and not any(x is own for own in self._places.narrow):
            return self._function.jets(x, jets)
        where = x if part is None else self._places.around
        known = self._known.setdefault(Same(where), {})
        sums = {jet: laplacian_parts(jet, x.shape[1]) for jet in jets if jet not in known} if part is None else {}
        wanted = dict.fromkeys(own for jet in jets for own in (sums.get(jet) or (jet,)))
        missing = [jet for jet in wanted if jet not in known]
        if missing:
            known |= zip(missing, self._function.jets(where, missing), strict=True)
        for jet, parts in sums.items():
            if parts:  # which are asked for too, inside
                known[jet] = np.sum([known[own] for own in parts], axis=0)
        return [known[jet] if part is None else known[jet][part] for jet in jets]


@remembered
def held_out(problem: Problem) -> HeldOut:
    """Return random places that all solves of a problem share: 400 inside, about 200 on the boundary."""
    rng, domain = np.random.default_rng(Seed.STATIC_RESIDUALS), problem.domain
    x = frozen(domain.sample(400, "random", rng).x)
    each = 1 if domain.dimension == 1 else max(4, 200 // max(1, len(domain.sides)))
    where = [*(c.side for c in problem.conditions), *(law.side for law in problem.laws)]
    drawn = [domain.sample_side(side, each, "random", rng) for side in where]
    sides = [replace(points, x=frozen(points.x)) for points in drawn]
    around = frozen(np.concatenate([points.x for points in sides])) if sides else x[:0]
    own = (frozen(places_in(problem, feature, rng)) for feature in judged_features(problem))
    narrow = tuple(places for places in own if len(places))
    return HeldOut(x, tuple(sides[: len(problem.conditions)]), tuple(sides[len(problem.conditions) :]), around, narrow)


@remembered
def may_vanish(problem: Problem) -> tuple[str, ...]:
    """Return the fields of a static problem that nothing drives: zero satisfies their equations and conditions."""
    found = []
    for name in problem.fields if problem.is_static and len(problem.fields) > 1 else ():
        right = problem.equation(name).right_side
        own = {problem.jets.symbol(j): 0 for j in problem.jets.jets_in(right).values() if j.field == name}
        conditions = [c for c in problem.conditions if name in c.fields]
        driven = any(c.fields != (name,) or c.value.expression != 0 for c in conditions) or bool(problem.laws)
        if not driven and right.subs(own) == 0 and not any(c.field == name and c.picks for c in problem.constraints):
            found.append(name)
    return tuple(found)


def judged_sizes(problem: Problem, sizes: Mapping[str, float], round_off: float = 1e-10) -> dict[str, float]:
    """Return sizes of fields by which errors are judged: a field that vanishes but for round-off has that of others."""
    largest = max(sizes.values(), default=0.0)
    tiny = 1e-5  # part of other fields below which one is taken to vanish if it may
    gone = {name: largest for name in may_vanish(problem) if sizes.get(name, 1.0) < tiny * largest}
    found = {**sizes, **gone}
    for _ in problem.fields if len(sizes) > 1 else ():  # what drives one field may vanish itself
        for name, driven in _driven(problem).items():
            could = max((factor * found.get(other, 0.0) for other, factor in driven.items()), default=0.0)
            if name in sizes and name not in gone and sizes[name] < round_off * could:
                found[name] = max(found[name], could)
    return found


@remembered
def _driven(problem: Problem) -> dict[str, dict[str, float]]:
    """Return how large each other field may make one by its equation: factors of their sizes, in whatever units.

    A field that does not stand in its own equation, as a pressure, is driven by the other equations: the least counts.
    """
    several = problem.is_static and len(problem.fields) > 1
    weights = {name: _weights(problem, name) for name in problem.fields} if several else {}
    found: dict[str, dict[str, float]] = {}
    for name, own in weights.items():
        tables = [own] if own.get(name) else [table for table in weights.values() if table.get(name)]
        factors = [{f: w / table[name] for f, w in table.items() if f != name and w > 0.0} for table in tables]
        found[name] = min(factors, key=lambda table: max(table.values(), default=0.0), default={})
    return found


def _weights(problem: Problem, name: str) -> dict[str, float]:
    """Return how large the terms of each field are in an equation, for fields of size one that vary over the domain."""
    slopes, x, length = slopes_of(problem, name), held_out(problem).inside, float(np.max(problem.domain.lengths))
    with np.errstate(all="ignore"):
        partials = slopes.partials(*x.T, 0.0, *(np.zeros(len(x)) for _ in slopes.jets))
    weights: dict[str, float] = {}
    for jet, partial in zip(slopes.jets, partials, strict=True):
        size = _rms(np.asarray(partial)) / length**jet.order
        weights[jet.field] = max(weights.get(jet.field, 0.0), size if np.isfinite(size) else 0.0)
    return weights


def held_out_residual(problem: Problem, function: Function) -> float:
    """Return what a function leaves of equations and conditions at held-out places, relative to their terms."""
    places = held_out(problem)
    return left_at(problem, Once(function, places), places)


def left_at(problem: Problem, function: Function, places: HeldOut) -> float:
    """Return what a function leaves at given places, which live as long as the problem."""
    sizes = _sizes(problem, function, places.inside)
    where = (places.inside, *places.narrow)
    gaps = [_equation_gap(problem, name, function, x, sizes) for name in problem.fields for x in where]
    weight = 10.0  # of a misfit of conditions, compared with one of equations
    for k, points in enumerate(places.sides):
        gaps.append(weight * _condition_gap(problem, k, points, function, sizes))
    for law, points in zip(problem.laws, places.laws, strict=True):
        gaps.append(weight * _law_gap(law, points, function))
    worst = max(gaps)
    return worst if np.isfinite(worst) else float("inf")


def _equation_gap(problem: Problem, field: str, function: Function, x: Array, own: Mapping[str, float]) -> float:
    """Return what is left of an equation, relative to its largest term.

    Terms may all vanish, as for a linear function: they are taken to be as large as those of one that varies over the
    whole domain.
    """
    slopes, (value, derivatives) = slopes_of(problem, field), _programs_at(problem, field, Same(x))
    values = jets_at(problem, function, x, slopes.jets)
    with np.errstate(all="ignore"):
        left, partials = value(*values)[0], derivatives(*values)
        terms = [p * v for p, v in zip(partials, values, strict=True)]
        terms += _cancelling(function, x, slopes.jets, partials)
        sizes = [_source(problem, field, Same(x)), *map(_rms, terms)]
        sizes += _natural(problem, own, slopes.jets, partials)
    return _rms(left) / (max((size for size in sizes if np.isfinite(size)), default=0.0) or 1.0)


@remembered
def _programs_at(problem: Problem, field: str, places: Same[Array]) -> tuple[Bound, Bound]:
    """Return programs from jets to an equation and its derivatives, at places that live as long as the problem."""
    slopes, x = slopes_of(problem, field), places.value
    return Bound(slopes.value, *x.T, 0.0), Bound(slopes.partials, *x.T, 0.0)


@remembered
def _source(problem: Problem, field: str, places: Same[Array]) -> float:
    """Return the size of what an equation has without any field."""
    value, _ = _programs_at(problem, field, places)
    with np.errstate(all="ignore"):
        return _rms(value(*(np.zeros(len(places.value)) for _ in slopes_of(problem, field).jets))[0])


def _natural(problem: Problem, own: Mapping[str, float], jets: Sequence[Jet], partials: Sequence[Array]) -> list[float]:
    """Return the size of each term for fields that vary over the length of the domain."""
    length = float(np.max(problem.domain.lengths))
    local = [(jet, partial) for jet, partial in zip(jets, partials, strict=True) if jet.field in problem.fields]
    return [_rms(p) * own[jet.field] / length**jet.order for jet, p in local]


def _cancelling(function: Function, x: Array, jets: Sequence[Jet], partials: Sequence[Array]) -> list[Array]:
    """Return the second derivatives along each axis of which Laplacians are sums: Δu = 0 has no other large terms."""
    pairs = zip(jets, partials, strict=True)
    return [partial * v for jet, partial in pairs for v in function.jets(x, laplacian_parts(jet, x.shape[1]))]


@lru_cache(maxsize=256)
def laplacian_parts(jet: Jet, dimension: int) -> tuple[Jet, ...]:
    """Return the second derivatives of which a Laplacian is the sum; none of other jets."""
    if jet.laps != 1 or dimension == 1:
        return ()
    shifted = [tuple(a + 2 * (i == k) for i, a in enumerate(jet.alpha)) for k in range(dimension)]
    return tuple(replace(jet, alpha=alpha, laps=0) for alpha in shifted)


def _condition_gap(
    problem: Problem, index: int, points: BoundaryPoints, function: Function, fields: Mapping[str, float]
) -> float:
    """Return what is left of a condition, relative to its largest term and to the size of the field inside."""
    condition = problem.conditions[index]
    factors, wanted, size, length = _asked(problem, index, Same(points))
    terms = [f * value for f, value in zip(factors, function.jets(points.x, condition.jets), strict=True)]
    sizes = [size, *map(_rms, terms), max(fields[name] for name in condition.fields) / length]
    return _rms(sum(terms[1:], terms[0]) - wanted) / (max(sizes) or 1.0)


@remembered
def _asked(
    problem: Problem, index: int, places: Same[BoundaryPoints]
) -> tuple[tuple[Array | float, ...], Array, float, float]:
    """Return factors of a condition, its value and that one's size, and what turns a field into such a derivative."""
    condition, x = problem.conditions[index], places.value.x
    wanted = frozen(np.array(np.broadcast_to(condition.value(x, 0.0), len(x))))
    order, length = min(jet.order for jet in condition.jets), float(np.max(problem.domain.lengths))
    return tuple(factor for _, factor in condition.terms_at(places.value)), wanted, _rms(wanted), length**order


def _law_gap(law: BoundaryLaw, points: BoundaryPoints, function: Function) -> float:
    """Return what is left of a nonlinear condition, relative to its largest term."""
    values = function.jets(points.x, law.jets_in())
    terms = law.compile(sp.Add.make_args(sp.expand(law.residual)), law.jets_in())
    with np.errstate(all="ignore"):
        sizes = [_rms(np.asarray(v)) for v in terms(*points.x.T, *points.normals.T, 0.0, *values)]
    return _rms(law.values(points, 0.0, values)) / (max(sizes) or 1.0)


def least_errors(problem: Problem, function: Function, smallest: float) -> dict[str, float]:
    """Return what errors must be at least, by field, relative to its size, whatever another solution says.

    Two solves may be blind at the same spot. What a solution misses of prescribed values is an error of about that
    size, and what it leaves of an equation is one of a part of that over the smallest |L u| / |u|: a small part, as
    residuals vary faster than errors.
    """
    places = held_out(problem)
    function = Once(function, places)
    sizes = _sizes(problem, function, places.inside)
    missed = dict.fromkeys(problem.fields, _joints(problem))
    of_values = 0.3  # part of a misfit of prescribed values that is an error at least
    for condition, points in zip(problem.conditions, places.sides, strict=True):
        if len(condition.jets) == 1 and condition.jets[0].order == 0:
            ((_, factor),) = condition.terms_at(points)
            gap = function.jets(points.x, condition.jets)[0] - condition.value(points.x, 0.0) / factor
            name = condition.fields[0]
            missed[name] = max(missed[name], of_values * _rms(gap) / (sizes[name] or 1.0))
    size = max(sizes.values()) or 1.0
    of_residuals = 1e-4  # part of a residual of second order over the smallest |Lu|/|u| that is an error at least
    for name in problem.fields:
        value, _ = _programs_at(problem, name, Same(places.inside))
        with np.errstate(all="ignore"):
            left = value(*jets_at(problem, function, places.inside, slopes_of(problem, name).jets))[0]
        part = of_residuals ** (max(2, problem.spatial_order(name)) / 2)
        implied = part * _rms(np.broadcast_to(left, len(places.inside))) / smallest
        missed[name] = max(missed[name], implied / (sizes[name] or size))
    return missed


def _joints(problem: Problem) -> float:
    """Return the error of joining parts of a domain at points next to the cuts, which all solves share."""
    if problem.interfaces is None:
        return 0.0
    corners, size = np.array([problem.domain.lower, problem.domain.upper]), problem.domain.size
    factor = 3.0  # error where parts of a domain are joined, in units of the distance of points from the cut
    least = float(np.min(np.diff(edges_of_line(problem)))) if problem.domain.dimension == 1 else size
    return factor * beside(corners, size) / least


def _sizes(problem: Problem, function: Function, x: Array) -> dict[str, float]:
    """Return the sizes of all fields by which errors are judged: what is known of them in closed form counts."""
    values = function.jets(x, [problem.jets.field(name) for name in problem.fields])
    sizes = dict(zip(problem.fields, map(_rms, values), strict=True))
    for name, known in problem.known.items():
        sizes[name] = max(sizes[name], _rms(problem.compile([known])(*x.T, problem.time[0])[0]))
    return judged_sizes(problem, sizes)


def _rms(values: Array | float) -> float:
    return sqrt(np.vdot(values, values) / np.size(values))


def warn_if_singular(singular: tuple[float, float], problem: Problem, rules: StaticRules) -> None:
    """Say that the problem is near one without a unique solution."""
    smallest, second = singular
    what = "operator" if problem.is_linear else "linearisation about the solution"
    resonance = 1e-4  # smallest over second smallest singular value that is near resonance
    if not problem.is_linear and smallest <= resonance * second:
        warn(
            f"a fold or a branch point is near: the {what} takes a function of size 1 to {smallest:.2g}, the next to "
            f"{second:.2g}. Another solution is close; solve(problem, all=True) looks for it."
        )
    elif smallest <= rules.singular * second:
        warn(
            f"the solution is not unique, or does not exist: the {what} takes a function of size 1 to {smallest:.2g}, "
            f"the next one to {second:.2g}. An eigenvalue is hit (resonance), or a condition is missing."
        )
    elif smallest <= resonance * second:
        warn(
            f"near resonance: the {what} takes a function of size 1 to {smallest:.2g}, the next to {second:.2g}, so "
            f"errors of equations and data are multiplied by up to {1.0 / smallest:.2g}."
        )
