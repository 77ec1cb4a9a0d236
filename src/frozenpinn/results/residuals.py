"""Residuals on points and times that the solve never saw: PDE, boundary and initial conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.geometry import BoundaryPoints, FlatSide
from frozenpinn.language.jets import Jet
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.memo import recent
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.laws import BoundaryLaw
from frozenpinn.statement.multipliers import saddle

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution
    from frozenpinn.statement.equation import Equation
    from frozenpinn.statement.problem import Problem

Array = np.ndarray


class Residuals(NamedTuple):
    """L² residual of each equation, largest residual of a boundary condition, L² error of the initial fit.

    Each is relative to the largest term, or to that of a field of the same size that varies over the whole domain.
    """

    pde: dict[str, float]
    boundary: float
    initial: dict[str, float]


def measure_residuals(solution: Solution, points: int = 200, times: int = 12) -> Residuals:
    """Measure how well a solution satisfies what it was asked to satisfy, at held-out points."""
    rng = np.random.default_rng(Seed.RESIDUALS)
    x = solution.problem.domain.sample(points, "random", rng).x
    start, end = solution.problem.time
    t = start + (end - start) * (np.arange(times) + rng.random(times)) / times
    t = t[:1] if solution.problem.is_static else t
    sizes = field_sizes(solution, x, t)
    return Residuals(_pde(solution, x, t, sizes), boundary_gap(solution, t, rng, sizes), initial_misfits(solution, x))


def field_sizes(solution: Solution, x: Array, t: Array) -> dict[str, float]:
    """Return the root mean square of each field at points and times."""
    problem = solution.problem
    return {name: _rms(solution.jet_values(x, t, problem.jets.field(name))) for name in problem.fields}


# ---- initial data --------------------------------------------------------------------------------


class InitialGap(NamedTuple):
    """The start of a field (or of its velocity, ``order`` 1) as found and as wanted at some points."""

    name: str
    order: int
    found: Array
    wanted: Array

    @property
    def label(self) -> str:
        """How reports call it."""
        return self.name + "_t" * self.order


def initial_gaps(solution: Solution, x: Array) -> Iterator[InitialGap]:
    """Yield values and velocities at the start, as found and as wanted at places of the domain, field by field."""
    problem, first = solution.problem, solution.pieces[0]
    for name in problem.initial:
        for order, found in enumerate(first.at_start(x, name).T):
            yield InitialGap(name, order, found, initial_values(problem, name, order, x))


def constraint_gaps(solution: Solution, points: int = 200, times: int = 5) -> dict[str, float]:
    """Return by how much linear constraints with multipliers are missed, at most, by their texts: max |div U|."""
    problem, found = solution.problem, saddle(solution.problem)
    x, t = problem.domain.sample(points, "random", Seed.TEST_POINTS).x, np.linspace(*problem.time, times)
    gaps = {}
    for constraint in () if found is None else found.constraints:
        total = sum((c * solution.jet_values(x, t, jet) for jet, c in constraint.jets()), np.zeros((len(x), len(t))))
        given = problem.compile([constraint.given])
        wanted = np.stack([np.broadcast_to(given(*x.T, float(s))[0], len(x)) for s in t], axis=1)
        gaps[constraint.text(problem.jets)] = float(np.max(np.abs(total - wanted)))
    return gaps


def initial_values(problem: Problem, name: str, order: int, x: Array) -> Array:
    """Return the initial values of a field at points, or its velocities (order 1); those asked for last are kept."""
    kept = 4000  # places at which initial data are remembered
    datum, start = (problem.initial, problem.initial_velocity)[order][name], problem.time[0]
    if len(x) > kept:
        return np.broadcast_to(datum(x, start), len(x))
    key = ("initial values", name, order, x.tobytes())
    return recent(problem, key, lambda: read_only(np.array(np.broadcast_to(datum(x, start), len(x)))))


def initial_misfits(solution: Solution, x: Array) -> dict[str, float]:
    """Return the relative L² misfit of initial values ("u") and, of second-order fields, velocities ("u_t")."""
    start, end = solution.problem.time
    result, size = {}, 0.0
    for gap in initial_gaps(solution, x):
        # a velocity is small if it moves little of the field over the whole time
        missed = gap.found - gap.wanted
        size = max(sqrt(gap.wanted @ gap.wanted), size / (end - start) if gap.order else 0.0)
        result[gap.label] = sqrt(missed @ missed) / (size or 1.0)
    return result


# ---- boundary conditions -------------------------------------------------------------------------


class ConditionGap(NamedTuple):
    """By how much conditions are missed at points and times, (n, m), what they ask for, and their terms."""

    total: Array
    wanted: Array
    terms: Mapping[Jet, tuple[Array, Array]]  # factor (n,) and values (n, m)


def condition_gap(
    solution: Solution, alike: Sequence[LinearCondition], sides: Sequence[BoundaryPoints], times: Array
) -> ConditionGap:
    """Evaluate conditions that differ in nothing but their side, at points of each, all in one go."""
    x, first = np.concatenate([points.x for points in sides]), alike[0]
    wanted = np.stack([first.value(x, float(t)) for t in times], axis=1)
    each = [dict(c.terms_at(points)) for c, points in zip(alike, sides, strict=True)]
    total, terms = -wanted, {}
    for jet in first.jets:
        parts = [np.broadcast_to(np.asarray(t[jet], dtype=float), len(p)) for t, p in zip(each, sides, strict=True)]
        factor, values = np.concatenate(parts), solution.jet_values(x, times, jet)
        terms[jet] = (factor, values)
        total = total + factor[:, None] * values
    return ConditionGap(total, wanted, terms)


def law_gap(solution: Solution, law: BoundaryLaw, points: BoundaryPoints, times: Array) -> tuple[Array, float]:
    """Return what is left of a boundary law at points and times, (n, m), and the size of its largest term."""
    values = [solution.jet_values(points.x, times, jet) for jet in law.jets_in()]
    gaps = [law.values(points, float(t), [v[:, k] for v in values]) for k, t in enumerate(times)]
    terms = law.compile(sp.Add.make_args(sp.expand(law.residual)), law.jets_in())
    with np.errstate(all="ignore"):
        own = (terms(*points.x.T, *points.normals.T, float(t), *(v[:, k] for v in values)) for k, t in enumerate(times))
        sizes = [float(np.max(np.abs(term))) for found in own for term in found]
    return np.stack(gaps, axis=1), max((size for size in sizes if np.isfinite(size)), default=0.0)


def boundary_gap(solution: Solution, t: Array, rng: np.random.Generator, sizes: Mapping[str, float]) -> float:
    """Return by how much conditions are missed at random points of the boundary, at most, relative to their terms.

    These are taken to be as large at least as for fields of given sizes that vary over the whole domain.
    """
    problem, worst, length = solution.problem, 0.0, float(np.max(solution.problem.domain.lengths))
    for condition in problem.conditions:
        points = problem.domain.sample_side(condition.side, 20, "random", rng)
        gap = condition_gap(solution, [condition], [points], t)
        scale = float(np.max(np.abs(gap.wanted)))
        for jet, (factor, values) in gap.terms.items():
            natural = sizes[jet.field] / length**jet.order
            scale = max(scale, float(np.max(np.abs(factor))) * max(natural, float(np.max(np.abs(values)))))
        worst = max(worst, float(np.max(np.abs(gap.total))) / (scale or 1.0))
    for law in problem.laws:
        points = problem.domain.sample_side(law.side, 20, "random", rng)
        gaps, scale = law_gap(solution, law, points, t)
        worst = max(worst, float(np.max(np.abs(gaps))) / (scale or 1.0))
    for axis in (i for i, periodic in enumerate(problem.domain.periodic) if periodic):
        low = problem.domain.sample_side(FlatSide("", (), axis, 0), 20, "random", rng).x
        high = low.copy()
        high[:, axis] = problem.domain.upper[axis]
        for name in problem.fields:
            jet = problem.jets.field(name)
            apart = solution.jet_values(low, t, jet) - solution.jet_values(high, t, jet)
            worst = max(worst, float(np.max(np.abs(apart))) / (sizes[name] or 1.0))
    return worst


# ---- equations -----------------------------------------------------------------------------------


def _pde(solution: Solution, x: Array, t: Array, sizes: Mapping[str, float]) -> dict[str, float]:
    result, values = {}, sqrt(len(x) * len(t))  # the norm of as many ones
    for equation in solution.problem.equations:
        size = values * sizes[equation.field]
        per_time = size / float(t[-1] - t[0]) ** equation.order if equation.order else 0.0
        gap, scale = imbalance(solution, equation, x, t, interpolated=True)
        natural = values * _natural(solution.problem, equation, x, t, sizes)
        result[equation.field] = gap / max(scale, per_time, natural, 1e-300)
    return result


def _natural(problem: Problem, equation: Equation, x: Array, t: Array, sizes: Mapping[str, float]) -> float:
    """Return the size of the largest linear term for fields that vary over the whole domain."""
    jets, length = [jet for jet in equation.linear if jet.field in sizes], float(np.max(problem.domain.lengths))
    factors = problem.compile([equation.linear[jet] for jet in jets])(*x.T, float(t[0]))
    with np.errstate(all="ignore"):
        own = [_rms(np.asarray(f)) * sizes[jet.field] / length**jet.order for jet, f in zip(jets, factors, strict=True)]
    return max((size for size in own if np.isfinite(size)), default=0.0)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values, dtype=float))))


def imbalance(
    solution: Solution, equation: Equation, x: Array, t: Array, interpolated: bool = False
) -> tuple[float, float]:
    """Return the L² difference of the two sides of an equation, and the size of its largest term."""
    if (factors := _numbers(equation)) is not None:
        parts = [factor * solution.jet_values(x, t, jet) for jet, factor in factors.items()]
        rate = solution.jet_values(
            x, t, replace(solution.problem.jets.field(equation.field), time=equation.order), interpolated=interpolated
        )
        sizes = [float(np.linalg.norm(part)) for part in (rate, *parts)]
        return float(np.linalg.norm(rate - sum(parts))), max(sizes)
    left, right, values = _both_sides(solution, equation, x, t, interpolated)
    sizes = [float(np.linalg.norm(side)) for side in (left, right)]
    return float(np.linalg.norm(left - right)), max(*sizes, _largest_term(solution.problem, equation, x, t, values))


def _numbers(equation: Equation) -> dict[Jet, float] | None:
    """Return the factors of an evolution that consists of linear terms with numbers before them; None of others."""
    others = (equation.linear_in_time, equation.mass, equation.nonlocal_linear)
    if not equation.order or any(others) or equation.nonlinear != 0 or equation.forcing != 0:
        return None
    known = {jet: float(c) for jet, c in equation.linear.items() if c.is_number}
    return known if len(known) == len(equation.linear) else None


def residual_values(solution: Solution, field: str, x: Array, t: Array) -> Array:
    """Return what the solution leaves of the equation of a field at points (n, d) and times (m,), shape (n, m)."""
    left, right, _ = _both_sides(solution, solution.problem.equation(field), x, t, interpolated=True)
    return left - right


def _both_sides(
    solution: Solution, equation: Equation, x: Array, t: Array, interpolated: bool
) -> tuple[Array, Array, list[Array]]:
    """Return the two sides of an equation, and the values of the jets of its right-hand side."""
    problem = solution.problem
    jets = list(problem.jets.jets_in(equation.right_side).values())
    values = [solution.jet_values(x, t, jet) for jet in jets]
    left = np.zeros((len(x), len(t)))
    left_side = equation.left_side(problem.jets)
    for jet, factor in zip(left_side, problem.compile(list(left_side.values()))(*x.T, 0.0), strict=True):
        left += np.reshape(factor, (-1, 1)) * solution.jet_values(x, t, jet, interpolated=interpolated)
    (right,) = over_times(problem, [equation.right_side], jets, x, t, values)
    return left, right, values


def over_times(
    problem: Problem, expressions: Sequence[sp.Expr], jets: Sequence[Jet], x: Array, times: Array, values: list[Array]
) -> list[Array]:
    """Return expressions at points (n, d) and times (m,), (n, m) each, from the values of their jets, (n, m) each."""
    program, shape = problem.compile(list(expressions), list(jets)), (len(x), len(times))
    with np.errstate(all="ignore"):
        if all(_is_steady(e, problem.jets.t) for e in expressions):  # then all times are one call
            tables = program(*np.repeat(x, len(times), axis=0).T, float(times[0]), *(v.ravel() for v in values))
            return [np.broadcast_to(table, len(x) * len(times)).reshape(shape) for table in tables]
        found = [program(*x.T, float(t), *(v[:, k] for v in values)) for k, t in enumerate(times)]
    return [np.stack([np.broadcast_to(table[i], len(x)) for table in found], axis=1) for i in range(len(expressions))]


@lru_cache(maxsize=256)
def _is_steady(expression: sp.Expr, t: sp.Symbol) -> bool:
    """Whether an expression contains neither the time nor functions that may look at it."""
    return not expression.has(t, AppliedUndef)


def _largest_term(problem: Problem, equation: Equation, x: Array, times: Array, values: list[Array]) -> float:
    """Return the size of the largest linear term, or of the sum of the others: a steady balance is judged against them.

    ``values`` are those of the jets of the right-hand side, in their order, shape (n, m) each.
    """
    jets = list(problem.jets.jets_in(equation.right_side).values())
    linear = [jet for jet in jets if jet in equation.linear]
    expressions = [*(equation.linear[jet] for jet in linear), equation.nonlinear, equation.forcing]
    largest = 0.0
    for i, factor in enumerate(over_times(problem, expressions, jets, x, times, values)):
        size = float(np.linalg.norm(factor * values[jets.index(linear[i])] if i < len(linear) else factor))
        largest = max(largest, size if np.isfinite(size) else 0.0)
    return largest
