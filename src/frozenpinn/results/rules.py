"""Where expressions are integrated: the domain, a part of it, a side, a curve; as rules of quadrature to be refined."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from frozenpinn.errors import EvaluationError, ProblemError, choices
from frozenpinn.geometry.box import Box
from frozenpinn.geometry.domain import Domain
from frozenpinn.geometry.points import BoundaryPoints, Points, Side
from frozenpinn.language.jets import JetSpace
from frozenpinn.language.parser import parse
from frozenpinn.language.program import Program
from frozenpinn.language.scope import Scope
from frozenpinn.runtime.arguments import reals, shown

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
Rule = Callable[[int], list[Points | BoundaryPoints]]
_COMPARE, _OR, _AND = re.compile(r"(<=|>=|<|>)"), re.compile(r"\bor\b"), re.compile(r"\band\b")
_CUTS = {1: 0.0, 2: 1e-8, 3: 1e-6}  # uncertainty of conditions by dimension, as seen on parts of known size


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules of quadrature of about n points.

    Attributes
    ----------
    make
        Returns the points and weights.
    dimension
        Of what is integrated over: 1 of a curve.
    with_normals
        Whether derivatives along a normal are known: on sides, and beside curves in the plane.
    weighted
        Whether weights are those of the coordinates that are solved in, and the volume element is still missing.
    uncertainty
        Part of an integral of |…| that all rules may miss alike: kinks of a cut are found up to that.
    """

    make: Rule
    dimension: int
    with_normals: bool = False
    weighted: bool = True
    uncertainty: float = 0.0


def rules_of(solution: Solution, side: Any, where: Any, along: Any) -> Rules:
    """Return rules for the whole domain, or for the one part that is named."""
    problem = solution.problem
    given = [name for name, value in (("side", side), ("where", where), ("along", along)) if value is not None]
    if len(given) > 1:
        raise EvaluationError(f"{' and '.join(given)} are given; an integral is over one of them.")
    _refuse_frame(problem, given)
    domain = problem.domain
    if side is not None:
        return Rules(_of_side(domain, side), max(1, domain.dimension - 1), with_normals=True, weighted=False)
    if where is not None:
        cut = _CUTS.get(domain.dimension, 1e-3) if isinstance(where, str) else 0.0
        return Rules(_of_part(problem, where), domain.dimension, uncertainty=cut)
    if along is not None:
        return Rules(_of_curve(problem, along), 1, with_normals=domain.dimension == 2, weighted=False)
    return Rules(_of_domain(domain), domain.dimension)


def _refuse_frame(problem: Problem, given: Sequence[str]) -> None:
    frame = problem.frame
    if frame is None or frame.is_cartesian or not given or given == ["where"]:
        return
    what = "sides" if given == ["side"] else "curves"
    raise EvaluationError(
        f"integrals over {what} are not known in {frame.kind} coordinates; evaluate the solution there."
    )


# ---- domains and sides ------------------------------------------------------------------------------


def _of_domain(domain: Domain) -> Rule:
    if domain.dimension > 1:
        return lambda n: [domain.sample(n)]
    return lambda n: [_panels([(domain.lower[0], domain.upper[0])], n)]


def _of_side(domain: Domain, side: Any) -> Rule:
    if side == "all":
        if not domain.sides:
            raise EvaluationError("the domain is periodic along all axes: it has no boundary to integrate over.")
        return lambda n: [domain.sample_side(own, max(8, n // len(domain.sides))) for own in domain.sides]
    names = [own.name for own in domain.sides]
    if not isinstance(side, str) or not any(side == own.name or side in own.aliases for own in domain.sides):
        raise EvaluationError(f"unknown side {shown(side)}; the sides are {choices(names)}, or 'all' for all of them.")
    return lambda n: [domain.sample_side(side, n)]


def _panels(intervals: Sequence[tuple[float, float]], n: int) -> Points:
    """Return Gauss' rule of 16 points on each of many parts of intervals: fronts are narrow."""
    per_panel = 16  # points of Gauss' rule
    nodes, weights = np.polynomial.legendre.leggauss(per_panel)
    each = max(1, n // (per_panel * len(intervals)))
    edges = [np.linspace(a, b, each + 1) for a, b in intervals]
    start = np.concatenate([e[:-1] for e in edges])
    half = np.concatenate([np.diff(e) / 2.0 for e in edges])
    x = start[:, None] + half[:, None] * (nodes + 1.0)
    return Points(x.reshape(-1, 1), (half[:, None] * weights).ravel(), half[:1])


# ---- parts of the domain ----------------------------------------------------------------------------


def _of_part(problem: Problem, where: Any) -> Rule:
    if isinstance(where, Domain):
        return _of_region(problem, where)
    if not isinstance(where, str):
        raise EvaluationError(f"where is a domain or a condition such as 'x < 0.5', got {shown(where)}.")
    groups, domain = _conditions(problem, where), problem.domain
    if domain.dimension == 1:
        level = reduce(sp.Min, (reduce(sp.Max, group) for group in groups))
        intervals = _intervals(Program([level], problem.jets.x), domain)
        if not intervals:
            raise _nowhere(where, problem)
        return lambda n: [_panels(intervals, n)]
    parts = [part for group in groups if (part := _part_where(problem, group)) is not None]
    if not parts:
        raise _nowhere(where, problem)
    return partial(_by_columns, reduce(or_, parts))


def _by_columns(region: Domain, n: int) -> list[Points | BoundaryPoints]:
    """Return a rule whose weights sum up to what it finds of the measure: two of them show how well that is."""
    if region.dimension > 3:
        return [region.sample(n)]
    from frozenpinn.geometry.rare.columns import column_rule

    spacing = region.lengths / n ** (1.0 / region.dimension)
    return [Points(*column_rule(region._lines, region.lower, region.upper, spacing), spacing)]


def _part_where(problem: Problem, levels: Sequence[sp.Expr]) -> Domain | None:
    """Return the part of a domain where all functions are negative; None if there is none.

    Each is a region of its own, cut by a box around the domain: rules of quadrature find where they cross each other.
    """
    from frozenpinn.geometry.rare.implicit import Implicit

    domain = problem.domain
    box = Box(domain.lower, domain.upper)
    part: Domain = box if isinstance(domain, Box) else domain
    beyond, names = 0.1 * domain.lengths, dict(zip(problem.jets.x, JetSpace(box.coordinates).x, strict=True))
    try:
        for level in levels:
            own = Implicit(level.xreplace(names), domain.lower - beyond, domain.upper + beyond, cut=True)
            part = part & own
    except ProblemError:
        return None
    return part


def _nowhere(where: str, problem: Problem) -> EvaluationError:
    return EvaluationError(f"where='{where}' holds nowhere in the domain {problem.stated!r}.")


def _of_region(problem: Problem, region: Domain) -> Rule:
    domain = problem.stated
    if problem.frame is not None and problem.frame.is_called:
        raise EvaluationError(
            f"in {problem.frame.kind} coordinates a part of the domain is a condition such as "
            f"where='{problem.frame.names[0]} < 0.5'."
        )
    if region.dimension != domain.dimension:
        raise EvaluationError(
            f"where={region!r} has {region.dimension} dimension(s), and the domain has {domain.dimension}."
        )
    probes = np.concatenate([region.sample(512, "random", 0).x, *(region.sample_side(s, 64).x for s in region.sides)])
    outside = ~domain.contains(domain.wrap(probes))
    if np.any(outside):
        place = ", ".join(f"{c:g}" for c in probes[np.argmax(outside)])
        raise EvaluationError(
            f"where={region!r} reaches outside the domain {domain!r}, for example at ({place}); "
            "write domain & region for the part inside."
        )
    return _of_domain(region)


def _conditions(problem: Problem, where: str) -> list[list[sp.Expr]]:
    """Return functions of the coordinates: a condition holds where all of one group are negative."""
    scope = problem.parameters.scope(problem.jets) if hasattr(problem, "parameters") else Scope(problem.jets)
    return [_all_of(part, where, scope) for part in _OR.split(where)]


def _all_of(text: str, where: str, scope: Scope) -> list[sp.Expr]:
    found = []
    for part in _AND.split(text):
        pieces = _COMPARE.split(part)
        if len(pieces) < 3:
            raise EvaluationError(f"where='{where}': '{part.strip()}' compares nothing; write for example 'x < 0.5'.")
        sides, signs = [parse(piece, replace(scope, static=True)) for piece in pieces[::2]], pieces[1::2]
        if any(scope.jets.t in s.free_symbols for s in sides):
            raise EvaluationError(f"where='{where}' depends on t; a part of the domain is a condition on coordinates.")
        found += [a - b if sign[0] == "<" else b - a for a, sign, b in zip(sides, signs, sides[1:], strict=False)]
    return found


def _intervals(level: Program, domain: Domain) -> list[tuple[float, float]]:
    """Return where a function is negative on an interval."""
    scanned = 4001  # places of an interval between which a condition changes at most once
    from scipy.optimize import brentq

    def value(x: float) -> float:
        return float(np.asarray(level(np.array([x]))[0]).ravel()[0])

    grid = np.linspace(domain.lower[0], domain.upper[0], scanned)
    inside = np.broadcast_to(level(grid)[0], len(grid)) < 0
    changes = np.flatnonzero(inside[1:] != inside[:-1])
    cuts = [brentq(value, grid[k], grid[k + 1], xtol=1e-15) if value(grid[k]) != 0 else grid[k] for k in changes]
    ends = [*([grid[0]] if inside[0] else []), *cuts, *([grid[-1]] if inside[-1] else [])]
    return [(float(a), float(b)) for a, b in zip(ends[::2], ends[1::2], strict=True) if b > a]


# ---- curves -----------------------------------------------------------------------------------------


def _of_curve(problem: Problem, along: Any) -> Rule:
    """Return rules on a polygonal line through given points, or on a curve given by texts in s from 0 to 1."""
    d = problem.domain.dimension
    if isinstance(along, list | tuple) and along and all(isinstance(entry, str) for entry in along):
        if len(along) != d:
            raise EvaluationError(f"along={shown(along)} has {len(along)} coordinates, and the domain has {d}.")
        return partial(_on_text, problem, _curve(along))
    wanted = f"along is a list of points with {d} coordinate(s) each, or of texts in s from 0 to 1"
    points = reals(along, wanted, EvaluationError)
    if points.ndim != 2 or points.shape[1] != d or len(points) < 2:
        raise EvaluationError(f"{wanted}; got shape {points.shape}.")
    legs = np.diff(points, axis=0)
    if np.any(np.linalg.norm(legs, axis=1) == 0):
        raise EvaluationError("along goes twice through the same point in a row.")
    return partial(_on_line, problem, points)


def _curve(texts: Sequence[str]) -> Program:
    """Return places and velocities as functions of s."""
    space = JetSpace(["s"])
    places = [parse(text, Scope(space, static=True)) for text in texts]
    return Program([*places, *(sp.diff(p, space.x[0]) for p in places)], space.x)


def _on_text(problem: Problem, curve: Program, n: int) -> list[Points | BoundaryPoints]:
    rule, d = _panels([(0.0, 1.0)], n), problem.domain.dimension
    with np.errstate(all="ignore"):
        found = np.stack([np.broadcast_to(c, len(rule)) for c in curve(rule.x[:, 0])], axis=1)
    return _along(problem, found[:, :d], found[:, d:], rule.weights)


def _on_line(problem: Problem, points: Array, n: int) -> list[Points | BoundaryPoints]:
    rule = _panels([(k, k + 1.0) for k in range(len(points) - 1)], n)
    leg = np.clip(rule.x[:, 0].astype(int), 0, len(points) - 2)
    velocity = np.diff(points, axis=0)[leg]
    return _along(problem, points[leg] + (rule.x - leg[:, None]) * velocity, velocity, rule.weights)


def _along(problem: Problem, x: Array, velocity: Array, weights: Array) -> list[Points | BoundaryPoints]:
    """Return points of a curve with their lengths; normals point to the right."""
    speed = np.linalg.norm(velocity, axis=1)
    outside = ~np.all(np.isfinite(x), axis=1) | ~np.isfinite(speed)
    outside[~outside] = ~problem.domain.contains(problem.domain.wrap(x[~outside]))
    if np.any(outside):
        place = ", ".join(f"{c:g}" for c in x[np.argmax(outside)])
        raise EvaluationError(f"the curve leaves the domain {problem.domain!r}, for example at ({place}).")
    if x.shape[1] != 2:
        return [Points(x, weights * speed, speed[:1])]
    right = np.stack([velocity[:, 1], -velocity[:, 0]], axis=1) / np.maximum(speed, 1e-300)[:, None]
    return [BoundaryPoints(x, right, weights * speed, Side("curve"))]
