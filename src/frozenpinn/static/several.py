"""Every solution that deflation finds: on a coarse network from many starts, then each one refined to the tolerance.

Newton's method keeps away from solutions that are known (Farrell, Birkisson and Funke 2015). F(u)/|u − v|² + F(u) has
the zeros of F but v. Its Newton step is a multiple of that of F, so nothing has to be assembled or factorised for it:
with m = 1/|u − v|² + 1 for each known v, the factor is 1/(1 − Σ m′(u)δ/m).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as sla

from frozenpinn.assembly.collocation import Collocation, Combination, Function, Nothing
from frozenpinn.basis.samplers import Waves
from frozenpinn.errors import ConvergenceError, noted, repeat
from frozenpinn.language.jets import Jet
from frozenpinn.results.evaluation import relative_distance
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.threads import REFLECTIONS, blas_threads
from frozenpinn.search.rules import NewtonRules
from frozenpinn.search.settings import Task
from frozenpinn.statement.problem import Problem
from frozenpinn.static.families import best_features, families
from frozenpinn.static.judging import held_out_residual
from frozenpinn.static.newton import Found, fitted, newton
from frozenpinn.static.plan import StaticPlan, boundary_count, static_plan
from frozenpinn.static.start import by_homotopy, extended, read_start

Array = np.ndarray
_SAME = 1e-3  # relative L² distance below which two solutions are one
_LEFT = 0.2  # part of the equations that a solution may leave on the coarse network


class Candidate(NamedTuple):
    """A solution on the coarse network, its values at the points, and what it was found from."""

    state: Combination
    values: Array
    start: str


def coarse_solutions(problem: Problem, task: Task) -> list[Candidate]:
    """Return the solutions that deflated Newton's method finds on a coarse network; at least one, or an error."""
    plan = _plan(problem, task)
    with blas_threads(plan.operations, REFLECTIONS):
        collocation, first = _first(plan)
        return _all(plan, collocation, first)


def _plan(problem: Problem, task: Task) -> StaticPlan:
    rules, plan = task.rules.static, static_plan(problem, task)
    if not task.grows:
        return plan
    widths = (60, 200, 320, 320)  # neurons in one, two, three, more dimensions
    width = widths[min(problem.domain.dimension, 4) - 1]
    count = int(rules.points * width) + 8
    return StaticPlan(problem, task, width, count, boundary_count(problem, count))


def _first(plan: StaticPlan) -> tuple[Collocation, Candidate]:
    """Return the first solution, on the features that suit it best."""
    problem, rules = plan.problem, plan.task.rules.static
    points = plan.place_points()
    kinds = families(plan)
    collocation = plan.collocation(kinds[1 % len(kinds)].layer(plan, points), points)
    given = read_start(plan.task.start, problem)
    how = "the start that was given" if given is not None else "the extension of the boundary data"
    try:
        state = newton(collocation, given or extended(collocation, problem), rules.newton).state
    except ConvergenceError:
        how, state = "a homotopy from the linear equation", by_homotopy(plan, collocation).state
    pilot = best_features(plan.for_pilots(), state)
    if pilot is not None:
        own = plan.with_special(pilot.family.count, pilot.family.sites)
        points = own.place_points()
        other = own.collocation(pilot.family.layer(own, points), points)
        with suppress(ConvergenceError):  # the first features do as well
            state, collocation = newton(other, state, rules.newton).state, other
    return collocation, Candidate(state, values_of(collocation, state), how)


def _all(plan: StaticPlan, collocation: Collocation, first: Candidate) -> list[Candidate]:
    """Go on from each start until it leads to nothing new; every solution gives all a new chance, and more starts."""
    found = [first]
    starts = [*_own_starts(plan, collocation, first), *_derived(plan, collocation, first, 1)]
    failed_at = dict[str, int]()
    rounds, most = 3, 12  # over all starts, and solutions
    for _ in range(rounds):
        before = len(found)
        for name, start in starts:  # grows on the way
            while len(found) < most and failed_at.get(name) != len(found):
                other = _another(plan, collocation, start, found)
                if other is None:
                    failed_at[name] = len(found)
                    break
                found.append(Candidate(other, values_of(collocation, other), name))
                starts += _derived(plan, collocation, found[-1], len(found))
        if len(found) == before:
            break
    return found


def _another(plan: StaticPlan, collocation: Collocation, start: Function, found: list[Candidate]) -> Combination | None:
    """Return a solution that is not yet known; None if a start leads to none."""
    rules, known = plan.task.rules.static, [candidate.values for candidate in found]
    try:
        other = deflated_newton(collocation, start, known, rules.newton).state
    except ConvergenceError:
        return None
    return other if held_out_residual(plan.problem, other) <= _LEFT else None  # or a mere minimum


def _own_starts(plan: StaticPlan, collocation: Collocation, first: Candidate) -> Iterator[tuple[str, Function]]:
    """Yield starts that need no further solution: what is given, boundary data, zero, random smooth functions."""
    given = read_start(plan.task.start, plan.problem)
    if given is not None:
        yield "the start that was given", given
    yield "the extension of the boundary data", extended(collocation, plan.problem)
    yield "zero", Nothing()
    size = size_of(collocation, first.values) or 1.0
    sizes = (1.0, 4.0)  # of random functions, relative to what is known
    for k in range(8):
        yield f"random function {k + 1}", _random(plan, sizes[k % len(sizes)] * size, k)


def _derived(
    plan: StaticPlan, collocation: Collocation, candidate: Candidate, number: int
) -> Iterator[tuple[str, Function]]:
    """Yield starts made of a solution: along directions in which it is least determined, mirror images, multiples."""
    domain, state = plan.problem.domain, candidate.state
    size = size_of(collocation, candidate.values)
    directions = 4  # in which the linearisation is smallest
    for k, soft in enumerate(soft_directions(collocation, state, directions), 1):
        for sign in (1.0, -1.0):
            moved = state.moved(state.coefficients + sign * (size or 1.0) * soft.coefficients)
            yield f"find {number} {'+' if sign > 0 else '−'} its soft direction {k}", moved
    if size == 0.0:
        return
    for axis, name in enumerate(domain.coordinates):
        middle = float(domain.lower[axis] + domain.upper[axis]) / 2.0
        yield f"find {number} mirrored in {name}", Mirrored(state, axis, middle)
    for multiple in (2.0, -1.0, 5.0, 25.0):
        yield f"{multiple:g} times find {number}", scaled(state, multiple)


class Mirrored(NamedTuple):
    """The mirror image of a function across the middle of an axis."""

    base: Function
    axis: int
    middle: float

    def jets(self, x: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives."""
        image = x.copy()
        image[:, self.axis] = 2.0 * self.middle - x[:, self.axis]
        values = self.base.jets(image, jets)
        return [(-1.0) ** jet.alpha[self.axis] * value for jet, value in zip(jets, values, strict=True)]


def _random(plan: StaticPlan, size: float, k: int) -> Combination:
    """Return a smooth random function of a given size: a few slow waves, faster ones from one to the next."""
    problem, rng = plan.problem, np.random.default_rng([plan.task.seed, k])
    points = plan.place_points()
    faster = 1.0 + 0.25 * k
    hidden = Waves(8 * problem.domain.dimension, faster).sample(points, rng)
    coefficients = rng.normal(size=(len(problem.fields), hidden.size))
    values = hidden.features(points.x) @ coefficients.T
    scale = np.sqrt(np.mean(values**2, axis=0))[:, None]
    return Combination(hidden, problem.fields, (size * coefficients / scale).ravel())


def refined(candidates: list[Candidate], solve: Callable[[Any], Solution]) -> tuple[Solution, ...]:
    """Refine solutions of a coarse network; leave out those that are none, or the same as another. Small ones first."""
    found: list[tuple[Solution, str]] = []
    lost = 0
    for number, candidate in enumerate(candidates, 1):
        with noted() as caught:
            try:
                solution = solve(candidate.state)
            except ConvergenceError:
                lost += 1
                continue
        estimate = solution.error_estimate
        if estimate is not None and not estimate.worst < _LEFT:
            lost += 1
            continue
        if all(relative_distance(solution, other) > _SAME for other, _ in found):
            found.append((solution, f"(find {number}), from {candidate.start}"))
            repeat(caught)
    if not found:
        raise ConvergenceError("no solution was found: what a coarse network has found does not last on finer ones.")
    found.sort(key=lambda pair: _norm(pair[0]))
    count = len(found)
    more = f"; {lost} more on a coarse network did not last on finer ones" if lost else ""
    return tuple(
        replace(s, notes=(*s.notes, f"solution {k} of {count} found by deflation {start}; there may be more{more}"))
        for k, (s, start) in enumerate(found, 1)
    )


def _norm(solution: Solution) -> float:
    problem, now = solution.problem, np.zeros(1)
    x = problem.domain.sample(256, "random", 0).x
    return float(sum(np.linalg.norm(solution.jet_values(x, now, problem.jets.field(f))) for f in problem.fields))


# ---- deflation --------------------------------------------------------------------------------------


def size_of(collocation: Collocation, values: Array) -> float:
    """Return the root mean square of values at the points."""
    weights = collocation.points.weights / np.sum(collocation.points.weights)
    return float(np.sqrt(np.sum(weights * values**2)))


def values_of(collocation: Collocation, function: Function) -> Array:
    """Return the fields of a function at the points, shape (fields, n)."""
    fields = [collocation.problem.jets.field(name) for name in collocation.problem.fields]
    return np.array(function.jets(collocation.points.x, fields))


def factor(collocation: Collocation, values: Array, change: Array, known: Sequence[Array], unit: float) -> float:
    """Return the factor by which deflation changes a Newton step."""
    weights, total = collocation.points.weights / np.sum(collocation.points.weights), 0.0
    for other in known:
        gap = (values - other) / unit
        square = float(np.sum(weights * gap**2)) or 1e-300
        total += -2.0 * float(np.sum(weights * gap * change / unit)) / (square * (1.0 + square))
    return 1.0 / (1.0 - total) if total != 1.0 else 1.0


def deflated_newton(
    collocation: Collocation,
    start: Function,
    known: Sequence[Array],
    rules: NewtonRules,
) -> Found:
    """Find a solution other than those whose values at the points are known.

    Raises
    ------
    ConvergenceError
        If none is found from this start.
    """
    with np.errstate(all="ignore"):  # steps may leave what the equations are defined for, and end there
        return _deflated(collocation, start, known, rules)


def _deflated(
    collocation: Collocation,
    start: Function,
    known: Sequence[Array],
    rules: NewtonRules,
) -> Found:
    unit = max((size_of(collocation, v) for v in known), default=0.0) or 1.0
    state = fitted(collocation, start)
    values = values_of(collocation, state)
    steps = 30  # from one start, at most
    near = 0.05  # relative change at which the ordinary method takes over
    longest = 2.0  # step, relative to the size of the solution
    for _ in range(steps):
        system = collocation.linearised(state)
        if not np.all(np.isfinite(system.rows)) or not np.all(np.isfinite(system.target)):
            break
        full = collocation.solved(system)
        change = values_of(collocation, full) - values
        size, length = max(size_of(collocation, values), unit), size_of(collocation, change)
        if not np.isfinite(length):
            break
        if length < near * size and _is_new(collocation, values, known):
            found = newton(collocation, full, rules)
            if _is_new(collocation, values_of(collocation, found.state), known):
                return found
        share = factor(collocation, values, change, known, unit)
        if abs(share) * length > longest * size:
            share *= longest * size / (abs(share) * length)
        state = state.moved(state.coefficients + share * (full.coefficients - state.coefficients))
        values = values_of(collocation, state)
    raise ConvergenceError("deflated Newton's method finds no other solution from this start.")


def _is_new(collocation: Collocation, values: Array, known: Sequence[Array]) -> bool:
    sizes = [max(size_of(collocation, values), size_of(collocation, other)) for other in known]
    return all(size_of(collocation, values - other) > _SAME * size for other, size in zip(known, sizes, strict=True))


def soft_directions(collocation: Collocation, state: Combination, count: int) -> list[Combination]:
    """Return functions of size one that the linearisation about a solution makes smallest: others are likely that way.

    With A = Q R, they are R⁻¹ times the first right singular vectors of Φ R⁻¹, where Φ are the features at the points.
    """
    system, points, fields = collocation.linearised(state), collocation.points, len(collocation.problem.fields)
    features = collocation.hidden.features(points.x) * np.sqrt(points.weights / np.sum(points.weights))[:, None]
    inverse = sla.solve_triangular(system.factor.triangle, np.eye(system.factor.size), check_finite=False)
    mapped = np.concatenate([features @ part for part in np.split(inverse, fields)])
    _, sizes, vectors = np.linalg.svd(mapped, full_matrices=False)
    return [collocation.state(inverse @ v / s) for v, s in zip(vectors[:count], sizes[:count], strict=True)]


def scaled(state: Combination, multiple: float) -> Combination:
    """Return a multiple of a function."""
    return state.moved(multiple * state.coefficients)
