"""Whether a solution keeps the balance of each field: storage, fluxes through the boundary, and sources.

The integral of an equation over the domain is looked at with rules of quadrature that the solve has not seen: cut where
formulas jump, dense where they are narrow. What is missing is heat, mass or charge that a solution has too much or too
little of, wherever that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.analysis.conservation import balance_law
from frozenpinn.analysis.formula_scales import formula_scales
from frozenpinn.assembly.cut_points import rule_between_jumps
from frozenpinn.geometry import Box
from frozenpinn.geometry.points import BoundaryPoints, Points, grid_points
from frozenpinn.results.residuals import field_sizes, initial_values, over_times
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.round_off import ROUND_OFF
from frozenpinn.statement.jumps import jumps_of, zeros_of
from frozenpinn.transforms import KnownParts, MovingFrame

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
_CUT = {1: 1e-12, 2: 3e-4, 3: 1e-2}  # part of an integral that a rule cut at jumps may miss, by dimension
_FIRST, _MOST = {1: 256, 2: 900, 3: 3000}, {1: 4000, 2: 15000, 3: 12000}  # points of rules inside
_TIMES = 5
_SAFETY = 3.0  # times the distance of two rules of quadrature
_SIGNS = np.array([[-1.0], [1.0], [1.0]])  # of storage, inflow and sources


class Balance(NamedTuple):
    """The balance of one field at some times, as rates of the whole domain.

    Attributes
    ----------
    times
        When.
    stored, inflow, sources
        What is stored, what comes in through the boundary, and what sources make.
    size
        The integral of the sizes of all terms.
    uncertainty
        By how much the rules of quadrature may be wrong.
    at_start
        What is missing of the initial data.
    """

    times: Array
    stored: Array
    inflow: Array
    sources: Array
    size: Array
    uncertainty: Array
    at_start: float = 0.0

    @property
    def missing(self) -> Array:
        """What comes in and is made, but is not stored."""
        return np.asarray(self.inflow + self.sources - self.stored)

    @property
    def certain(self) -> Array:
        """What of that is no error of quadrature, with its sign."""
        return np.asarray(np.sign(self.missing) * np.maximum(np.abs(self.missing) - self.uncertainty, 0.0))

    @property
    def relative(self) -> float:
        """The largest part of all terms that is missing."""
        return float(np.max(np.abs(self.missing))) / (float(np.max(self.size)) or 1.0)

    @property
    def unsure(self) -> float:
        """The largest part of all terms by which the rules of quadrature may be wrong."""
        return float(np.max(self.uncertainty)) / (float(np.max(self.size)) or 1.0)


def balances(solution: Solution) -> dict[str, Balance]:
    """Return the balance of each field for which it can be made."""
    found = {name: balance(solution, name) for name in solution.problem.fields}
    return {name: own for name, own in found.items() if own is not None}


@remembered
def balance(solution: Solution, name: str, enough: float = 1e-8) -> Balance | None:
    """Return the balance of a field; None where rules of quadrature or the equation do not allow for one.

    Rules are refined until they agree to ``enough``, a part of the size of all terms, or have too many points.
    """
    problem = solution.problem
    if not _is_known(solution) or not (problem.is_static or name in problem.initial):
        return None
    times = _times(problem)
    inside, n = None, _FIRST[problem.domain.dimension]
    before = after = None
    while after is None or (_apart(before, after) > enough and n <= _MOST[problem.domain.dimension]):
        inside = _inside(problem, n)
        if inside is None:
            return None
        before, after = after, _Sums.of(solution, name, inside.points, _boundary(problem, n), times)
        n *= 4
    assert inside is not None
    if not np.all(np.isfinite(after.terms)):
        return None
    size = np.maximum(after.size, _natural_size(solution, name, inside.points, times))
    gap = _SAFETY * float(np.max(_gaps(before, after))) if before is not None else 0.0  # they may agree by chance
    stored, inflow, sources = after.terms
    at_start = _missing_at_start(solution, name, inside)
    return Balance(times, stored, inflow, sources, size, gap + (inside.uncertainty + 1e-13) * size, at_start)


def _natural_size(solution: Solution, name: str, inside: Points, times: Array) -> float:
    """Return the integral of the largest term with slopes of fields that vary over the whole domain: all may vanish."""
    problem, length = solution.problem, float(np.max(solution.problem.domain.lengths))
    linear = {jet: c for jet, c in problem.equation(name).linear.items() if jet.order and jet.field in problem.fields}
    sizes = field_sizes(solution, inside.x[:: max(1, len(inside.x) // 100)], times)
    factors = problem.compile(list(linear.values()))(*inside.x.T, float(times[0])) if linear else []
    whole = [float(np.abs(inside.weights) @ np.broadcast_to(np.abs(f), len(inside.x))) for f in factors]
    return max((w * sizes[j.field] / length**j.order for w, j in zip(whole, linear, strict=True)), default=0.0)


def _missing_at_start(solution: Solution, name: str, inside: _Rule) -> float:
    """Return what a solution has less of a field at the start than the initial data."""
    problem, points = solution.problem, inside.points
    if name not in problem.initial or problem.frame is not None:
        return 0.0
    now = np.array([problem.time[0]])
    found = solution.jet_values(points.x, now, problem.jets.field(name))[:, 0]
    wanted = initial_values(problem, name, 0, points.x)
    missing = float(points.weights @ (wanted - found))
    ignored = max(inside.uncertainty, 1e-9) * float(np.abs(points.weights) @ np.abs(wanted))
    return float(np.sign(missing)) * max(0.0, abs(missing) - ignored)


def _is_known(solution: Solution) -> bool:
    problem, domain = solution.problem, solution.problem.domain
    split = any(p.view(KnownParts) is not None or p.view(MovingFrame) is not None for p in solution.pieces)
    return domain.dimension <= 3 and not (split or problem.points or problem.parameters.unknown)


def _times(problem: Problem) -> Array:
    start, end = problem.time
    return np.array([start]) if problem.is_static else start + (end - start) * np.linspace(0.02, 1.0, _TIMES)


class _Sums(NamedTuple):
    """Storage, inflow and sources as rows, over times, and the integral of their sizes."""

    terms: Array
    size: Array

    @classmethod
    def of(cls, solution: Solution, name: str, inside: Points, sides: Sequence[BoundaryPoints], times: Array) -> _Sums:
        """Integrate all terms of the equation of a field."""
        law = balance_law(solution.problem, name)
        terms, size = np.zeros((3, len(times))), np.zeros(len(times))
        for row, expression in ((0, law.stored), (2, law.rest)):
            if expression != 0:
                values = _values(solution, [expression], inside.x, times)[0]
                terms[row], size = inside.weights @ values, size + np.abs(inside.weights) @ np.abs(values)
        axes = [axis for axis, flux in enumerate(law.fluxes) if flux != 0]
        for points in sides if axes else ():
            along = _values(solution, [law.fluxes[axis] for axis in axes], points.x, times)
            through = np.sum([points.normals[:, [axis]] * f for axis, f in zip(axes, along, strict=True)], axis=0)
            terms[1] += points.weights @ through
            size = size + np.abs(points.weights) @ np.abs(through)
        return cls(terms, size)


def _apart(before: _Sums | None, after: _Sums) -> float:
    if before is None:
        return np.inf
    return float(np.max(_gaps(before, after))) / (float(np.max(after.size)) or 1.0)


def _gaps(before: _Sums, after: _Sums) -> Array:
    return np.abs(np.sum((after.terms - before.terms) * _SIGNS, axis=0))


def _values(solution: Solution, expressions: list[sp.Expr], x: Array, times: Array) -> list[Array]:
    """Return expressions over the jet at points and times, (n, m) each; rates are those that the equation gives."""
    problem = solution.problem
    jets = list(dict.fromkeys(jet for e in expressions for jet in problem.jets.jets_in(e).values()))
    values = [solution.jet_values(x, times, jet) for jet in jets]
    return over_times(problem, expressions, jets, x, times, values)


# ---- rules of quadrature ----------------------------------------------------------------------------------


class _Rule(NamedTuple):
    """Points, and the part of an integral that they may miss without another rule showing it."""

    points: Points
    uncertainty: float = 0.0


def _boundary(problem: Problem, n: int) -> list[BoundaryPoints]:
    """Return points on all sides, inside by round-off: a coefficient that jumps where the domain ends counts there."""
    domain = problem.domain
    each = 1 if domain.dimension == 1 else round(1.5 * n ** (1.0 - 1.0 / domain.dimension))
    sides = [domain.sample_side(side, each) for side in domain.sides]
    return [replace(side, x=side.x - ROUND_OFF * domain.size * side.normals) for side in sides]


def _inside(problem: Problem, n: int) -> _Rule | None:
    """Return a rule of about n points inside; None where formulas are narrower than a rule can be made for."""
    domain = problem.domain
    narrow = any(any(f.narrow[:-1]) and f.kind != "jump" for f in formula_scales(problem).features)
    if domain.dimension == 1 or (narrow and isinstance(domain, Box) and domain.dimension == 2):
        return _Rule(_on_panels(problem, n))
    if narrow:
        return None
    cut = rule_between_jumps(problem)
    return _Rule(domain.sample(n)) if cut is None else _Rule(cut, _CUT[domain.dimension])


def _on_panels(problem: Problem, n: int) -> Points:
    """Return products of rules on panels that are short where formulas are narrow, and end where they jump."""
    domain = problem.domain
    each = max(4, round(n ** (1.0 / domain.dimension) / 16))
    rules = [_line(_edges(problem, axis), each) for axis in range(domain.dimension)]
    x = grid_points([rule[0] for rule in rules])
    weights = rules[0][1]
    for _, own in rules[1:]:
        weights = np.multiply.outer(weights, own)
    return Points(x, weights.ravel(), domain.lengths)


def _line(edges: Array, count: int) -> tuple[Array, Array]:
    """Return Gauss' rule on each of many panels."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    half = np.diff(edges)[:, None] / 2.0
    return (edges[:-1, None] + half * (nodes + 1.0)).ravel(), (half * weights).ravel()


def _edges(problem: Problem, axis: int) -> Array:
    """Return where the panels of an axis begin and end."""
    domain, away = problem.domain, np.array([0.0, 1.0, 3.0, 10.0, 30.0])
    low, high = float(domain.lower[axis]), float(domain.upper[axis])
    found = [np.linspace(low, high, 9)]
    for feature in formula_scales(problem).features:
        for stretch in feature.stretches(axis):
            found += [stretch.low - away * stretch.width, stretch.high + away * stretch.width]
    if domain.dimension == 1:
        found += [zeros_of(problem, level).x[:, 0] for level in jumps_of(problem)]
    inside = np.unique(np.concatenate(found))
    inside = inside[(inside > low) & (inside < high)]
    kept = inside[np.diff(inside, prepend=low) > 1e-13 * (high - low)]
    return np.concatenate([[low], kept, [high]])
