"""Solving on a subspace: restrict the problem, solve it, embed the solution, and check it in all coordinates.

A reduction is a guess until the check: the data may depend on few directions while the conditions on sides that are not
seen from there make the solution depend on more. A box then gets the axes of the sides where it went wrong.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.analysis.subspace import Subspace, find_subspace, with_axes
from frozenpinn.errors import EvaluationError, IntegrationError, SettingsError, warn
from frozenpinn.geometry import FlatSide
from frozenpinn.language.jets import Jet
from frozenpinn.results.residuals import imbalance
from frozenpinn.results.solution import Solution
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.embedding import embed
from frozenpinn.transforms.restriction import NotReducibleError, restrict

Array = np.ndarray
Run = Callable[[Problem], Solution]
_SMALL = 1e-6  # relative residuals below this are accepted, …
_SAME = 3.0  # … and those that are about as large at the same points of the subspace
_WORSE = 10.0  # a side sees errors inside the subspace, at single points, …
_LARGE = 0.1  # … but they must not be as large as this


class Misfit(NamedTuple):
    """The largest relative residual in all coordinates, what it is a residual of, and the axes of sides that fail."""

    size: float
    what: str
    axes: frozenset[int] = frozenset()


def read_subspace(given: Any, problem: Problem) -> Subspace:
    """Check directions that a user insists on."""
    d = problem.domain.dimension
    fix = f"write subspace=[[…], …] with less than {d} independent rows of {d} numbers, 'auto' or None"
    if isinstance(given, str):
        raise SettingsError(f"unknown subspace '{given}'; {fix}.")
    try:
        directions = np.atleast_2d(np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        raise SettingsError(f"a subspace is an array of directions, got {given!r}; {fix}.") from None
    if directions.ndim != 2 or directions.shape[1] != d or not 0 < len(directions) < d:
        raise SettingsError(f"the subspace has shape {directions.shape} in a problem of dimension {d}; {fix}.")
    if not np.all(np.isfinite(directions)):
        raise SettingsError(f"a direction of the subspace is not finite; {fix}.")
    if np.linalg.matrix_rank(directions) < len(directions):
        raise SettingsError(f"the {len(directions)} directions of the subspace are not independent; {fix}.")
    return Subspace.spanned_by(directions, problem.domain)


def solve_on(problem: Problem, subspace: Subspace, run: Run, tol: float) -> Solution:
    """Solve on a subspace that a user insists on; warn if the full problem disagrees."""
    try:
        reduced = restrict(problem, subspace)
    except NotReducibleError as reason:
        raise SettingsError(f"the problem can't be solved on this subspace: {reason}") from None
    solution = _embedded(run, reduced, problem, subspace)
    misfit = judge(solution, tol)
    if misfit is not None:
        directions = subspace.describe(problem.domain.coordinates)
        warn(
            f"the solution on the subspace {directions} does not satisfy {misfit.what} in all coordinates: "
            f"the relative residual is {misfit.size:.2g}. Use subspace='auto' or None."
        )
    return solution


def try_subspace(problem: Problem, run: Run, tol: float) -> Solution | None:
    """Look for a subspace, solve there, and return the solution if the full problem agrees."""
    subspace = find_subspace(problem)
    while subspace is not None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = _attempt(problem, subspace, run, tol)
        if isinstance(found, IntegrationError):
            raise found
        if isinstance(found, Solution):
            for warning in caught:
                warn(warning.message)
            return found
        wider = with_axes(problem, subspace, found.axes)
        subspace = None if wider is subspace else wider
    return None


def _attempt(problem: Problem, subspace: Subspace, run: Run, tol: float) -> Solution | IntegrationError | Misfit:
    """Return a solution that holds in all coordinates, the error of one that did until it failed, or the misfit."""
    try:
        reduced = restrict(problem, subspace)
        solution = _embedded(run, reduced, problem, subspace)
    except NotReducibleError as reason:
        return Misfit(np.inf, str(reason))
    except IntegrationError as error:
        until = error.solution
        return error if until is not None and judge(until, tol) is None else Misfit(np.inf, "anything")
    except (SettingsError, EvaluationError) as error:
        return Misfit(np.inf, str(error))
    misfit = judge(solution, tol)
    return solution if misfit is None else misfit


def _embedded(run: Run, reduced: Problem, problem: Problem, subspace: Subspace) -> Solution:
    try:
        return embed(run(reduced), problem, subspace)
    except IntegrationError as error:
        if error.solution is not None:
            error.solution = embed(error.solution, problem.during(error.solution.problem.time), subspace)
        raise


# ---- the check in all coordinates -----------------------------------------------------------------


def judge(solution: Solution, tol: float) -> Misfit | None:
    """Return what an embedded solution violates at random points, if anything.

    Residuals are compared with those on the subspace: a solution that is not well resolved there is no better in more
    dimensions.
    """
    reduced, subspace = solution.reduced, solution.subspace
    assert reduced is not None
    assert subspace is not None
    problem, rng = solution.problem, np.random.default_rng(4242)
    start, end = problem.time
    times = start + (end - start) * (np.arange(4) + rng.random(4)) / 4
    x = problem.domain.sample(60, "random", rng).x
    z = subspace.project(x)
    fine = max(_SMALL, 100.0 * tol)
    for name in problem.fields:
        value = _equation_residual(solution, name, x, times)
        if not (value <= fine or value <= _SAME * _equation_residual(reduced, name, z, times)):
            return Misfit(value, f"the equation of '{name}'")
        value = _initial_residual(solution, name, x)
        if not (value <= fine or value <= _SAME * _initial_residual(reduced, name, z)):
            return Misfit(value, f"the initial value of '{name}'")
    return _boundary_misfit(solution, x, times, fine, rng)


def _equation_residual(solution: Solution, name: str, x: Array, times: Array) -> float:
    """Return the L² residual of one equation, relative to its largest term."""
    gap, scale = imbalance(solution, solution.problem.equation(name), x, times)
    return gap / (scale or 1.0)


def _initial_residual(solution: Solution, name: str, x: Array) -> float:
    """Return the relative L² misfit of the initial value or the initial velocity, whichever is larger."""
    problem, start = solution.problem, np.array([solution.problem.time[0]])
    worst = 0.0
    for order, data in enumerate((problem.initial, problem.initial_velocity)):
        if name in data:
            wanted = data[name](x, float(start[0]))
            found = solution.jet_values(x, start, replace(problem.jets.field(name), time=order))[:, 0]
            worst = max(worst, float(np.linalg.norm(found - wanted)) / (float(np.linalg.norm(wanted)) or 1.0))
    return worst


def _boundary_misfit(
    solution: Solution, inside: Array, times: Array, fine: float, rng: np.random.Generator
) -> Misfit | None:
    """Measure all conditions at random points of all sides, relative to the size of their terms."""
    assert solution.reduced is not None
    domain = solution.problem.domain
    worst, axes = Misfit(0.0, ""), set()
    sizes: dict[Jet, float] = {}
    for alike in _alike(solution.problem.conditions):
        sides = [domain.sample_side(c.side, 12, "random", rng) for c in alike]
        x, first = np.concatenate([points.x for points in sides]), alike[0]
        wanted = np.stack([first.value(x, float(t)) for t in times], axis=1)
        total, scale = -wanted, float(np.max(np.abs(wanted)))
        terms = [dict(c.terms_at(points)) for c, points in zip(alike, sides, strict=True)]
        for jet in first.jets:
            factor = np.concatenate(
                [np.broadcast_to(np.asarray(t[jet], dtype=float), len(p)) for t, p in zip(terms, sides, strict=True)]
            )
            if jet not in sizes:
                sizes[jet] = _largest(solution, inside, times, jet)
            total = total + factor[:, None] * solution.jet_values(x, times, jet)
            scale = max(scale, float(np.max(np.abs(factor))) * sizes[jet])
        ends = np.cumsum([len(points) for points in sides])
        for condition, part in zip(alike, np.split(np.abs(total), ends[:-1]), strict=True):
            size = float(np.max(part)) / (scale or 1.0)
            if size <= fine or size <= min(_WORSE * _inaccuracy(solution.reduced, scale), _LARGE):
                continue
            if isinstance(condition.side, FlatSide):
                axes.add(condition.side.axis)
            worst = max(worst, Misfit(size, f"the condition '{condition.text}' on side '{condition.side.name}'"))
    return worst._replace(axes=frozenset(axes)) if worst.size else None


def _inaccuracy(reduced: Solution, scale: float) -> float:
    """Return how far a solution on a subspace is from its own conditions, on the boundary and at the start."""
    residuals = reduced.residuals
    return max(residuals.boundary / (scale or 1.0), *residuals.initial.values())


def _alike(conditions: Sequence[LinearCondition]) -> list[list[LinearCondition]]:
    """Group conditions that differ in nothing but their side, to evaluate them together."""
    groups: dict[object, list[LinearCondition]] = {}
    for condition in conditions:
        datum = condition.value
        given = id(datum) if datum.expression is None else datum.expression
        groups.setdefault((condition.jets, given), []).append(condition)
    return list(groups.values())


def _largest(solution: Solution, x: Array, times: Array, jet: Jet) -> float:
    """Return the size of a derivative in the domain, at least that of the field over the size of the domain."""
    value = float(np.max(np.abs(solution.jet_values(x, times, solution.problem.jets.field(jet.field)))))
    own = float(np.max(np.abs(solution.jet_values(x, times, jet)))) if jet.order else value
    return max(own, value / float(np.max(solution.problem.domain.lengths)) ** jet.order)
