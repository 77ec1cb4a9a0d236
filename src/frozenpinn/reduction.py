"""Solving on a subspace: restrict the problem, solve it, embed the solution, and check it in all coordinates.

A reduction is a guess until the check: the data may depend on few directions while the conditions on sides that are not
seen from there make the solution depend on more. A box then gets the axes of the sides where it went wrong.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.diagnostics import Residuals
from frozenpinn.embedding import embed
from frozenpinn.errors import EvaluationError, FrozenPinnWarning, IntegrationError, SettingsError
from frozenpinn.problem.domain import FlatSide
from frozenpinn.problem.problem import Problem
from frozenpinn.problem.restriction import NotReducibleError, restrict
from frozenpinn.problem.subspace import Subspace, find_subspace, with_axes
from frozenpinn.solution import Solution

Array = np.ndarray
Run = Callable[[Problem], Solution]
_SMALL = 1e-6  # relative residuals below this are accepted, …
_WORSE = 10.0  # … and those that are not much larger than on the subspace itself, …
_LARGE = 1e-2  # … unless they are as large as this


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
        warnings.warn(
            f"the solution on the subspace {subspace.describe(problem.domain.coordinates)} does not satisfy {misfit.what} "
            f"in all coordinates: the relative residual is {misfit.size:.2g}. Use subspace='auto' or None.",
            FrozenPinnWarning,
            stacklevel=3,
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
                warnings.warn(warning.message, stacklevel=3)
            return found
        wider = with_axes(problem, subspace, set(found.axes))
        subspace = None if wider is subspace else wider
    return None


def _attempt(problem: Problem, subspace: Subspace, run: Run, tol: float) -> Solution | IntegrationError | Misfit:
    """Return a solution that holds in all coordinates, the error of one that did until it failed, or the misfit."""
    try:
        solution = _embedded(run, restrict(problem, subspace), problem, subspace)
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
            shorter = copy(problem)
            shorter.time = error.solution.problem.time
            error.solution = embed(error.solution, shorter, subspace)
        raise


# ---- the check in all coordinates -----------------------------------------------------------------


def judge(solution: Solution, tol: float) -> Misfit | None:
    """Return what an embedded solution violates, if anything, compared with what it violates on its subspace."""
    assert solution.reduced is not None
    full, own = solution.residuals, solution.reduced.residuals
    fine = max(_SMALL, 100.0 * tol)
    for name in solution.problem.fields:
        if not _is_fine(full.pde[name], own.pde[name], fine):
            return Misfit(full.pde[name], f"the equation of {name}")
    for label, value in full.initial.items():
        if not _is_fine(value, own.initial[label], fine):
            return Misfit(value, f"the initial value of {label}")
    return _boundary_misfit(solution, own, fine)


def _is_fine(value: float, own: float, fine: float) -> bool:
    return bool(value <= max(fine, min(_WORSE * own, _LARGE)))


def _boundary_misfit(solution: Solution, own: Residuals, fine: float) -> Misfit | None:
    """Measure all conditions at random points of all sides, relative to the size of their terms."""
    problem, rng = solution.problem, np.random.default_rng(4242)
    start, end = problem.time
    times = start + (end - start) * (np.arange(9) + rng.random(9)) / 9
    inside = problem.domain.sample(60, "random", rng).x
    worst, axes = Misfit(0.0, ""), set()
    for condition in problem.conditions:
        points = problem.domain.sample_side(condition.side, 40, "random", rng)
        wanted = np.stack([condition.value(points.x, float(t)) for t in times], axis=1)
        total, sizes = -wanted, [float(np.max(np.abs(wanted)))]
        for jet, coefficient in condition.terms_at(points):
            factor = np.broadcast_to(np.asarray(coefficient, dtype=float), len(points.x))[:, None]
            total = total + factor * solution.jet_values(points.x, times, jet)
            sizes.append(float(np.max(np.abs(factor))) * _largest(solution, inside, times, jet))
        size = float(np.max(np.abs(total))) / (max(sizes) or 1.0)
        if not _is_fine(size, own.boundary / (max(sizes) or 1.0), fine):
            if isinstance(condition.side, FlatSide):
                axes.add(condition.side.axis)
            worst = max(worst, Misfit(size, f"the condition '{condition.text}' on side '{condition.side.name}'"))
    return worst._replace(axes=frozenset(axes)) if worst.size else None


def _largest(solution: Solution, x: Array, times: Array, jet: Any) -> float:
    """Return the size of a derivative in the domain; of order one it is at least that of the field over the domain."""
    value = float(np.max(np.abs(solution.jet_values(x, times, solution.problem.jets.field(jet.field)))))
    lengths: Sequence[float] = solution.problem.domain.lengths
    own = float(np.max(np.abs(solution.jet_values(x, times, jet)))) if jet.order else value
    return max(own, value / float(np.max(lengths)) ** jet.order)
