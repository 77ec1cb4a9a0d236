"""Newton's method for a static problem in least squares, damped by the corrections that it would make next.

Residuals are a poor guide where a solution hangs on little, such as the place of a front: a step that moves it to where
it belongs may leave a larger residual. The criterion is the simplified correction, that of the new function with the
old factorisation: a step is taken if it makes that smaller (P. Deuflhard, Newton Methods for Nonlinear Problems, 2004,
section 3.3). It costs no factorisation, and as long as it shrinks fast, it is a step of its own. What least squares
leaves of the linear equations can't be corrected, and is not counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frozenpinn.assembly.collocation import Collocation, Combination, Function, Linearisation
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.errors import ConvergenceError
from frozenpinn.operators import LeastSquares
from frozenpinn.search.rules import NewtonRules

Array = np.ndarray
_TINY = 1e-5  # size of a field relative to others, or to the start, below which its own size does not matter


class Step(NamedTuple):
    """One step: its length, the relative change of the solution, and that of the correction that would come next."""

    length: float
    change: float
    following: float


class Floor(NamedTuple):
    """Below which sizes fields are not measured by their own: that of the start, and shares of the largest field."""

    start: float
    shares: Array

    def sizes(self, values: Array) -> Array:
        """Return the size of each field, (fields, points); what is tiny relative to others is measured by those."""
        own = np.linalg.norm(values, axis=1)
        return np.maximum(own, np.maximum(max(self.start, 1e-300), self.shares * float(np.max(own))))


class Found(NamedTuple):
    """A solution, the steps that led there, and the last linearisation."""

    state: Combination
    steps: tuple[Step, ...]
    last: Linearisation


def newton(
    collocation: Collocation,
    start: Function,
    rules: NewtonRules,
    accuracy: float | None = None,
) -> Found:
    """Solve a static problem from a start, which may be a function of another layer.

    Parameters
    ----------
    collocation
        The equations and the features.
    start
        Where to begin.
    rules
        When to stop.
    accuracy
        Relative change of the solution that need not be smaller; round-off if it is left out.

    Raises
    ------
    ConvergenceError
        If corrections do not get smaller, or too many are needed.
    """
    if collocation.problem.is_linear:
        system = collocation.linearised(start)
        return Found(collocation.solved(system), (), system)
    wanted, steps, current = max(rules.accuracy, accuracy or 0.0), list[Step](), start
    first = _TINY * float(np.max(np.linalg.norm(_values(collocation, start), axis=1)))
    floor = Floor(first, np.full(len(collocation.problem.fields), _TINY))
    for _ in range(rules.steps):
        collocation.announce()
        system = collocation.linearised(current)
        _check_finite(system)
        floor = Floor(first, _shares(collocation, system)) if not steps else floor
        full = collocation.solved(system)
        state, step = _damped(collocation, system, current, full, rules, floor)
        if step.length == 1.0:
            state, step = _simplified(collocation, system, state, step, wanted, floor)
        steps.append(step)
        if _is_done(steps, wanted, rules):
            return Found(_or_zero(collocation, system, state, floor), tuple(steps), system)
        current = state
    raise ConvergenceError(
        f"Newton's method did not converge in {rules.steps} steps; the last one changed the solution by "
        f"{steps[-1].change:.2g} of its size."
    )


def _or_zero(collocation: Collocation, system: Linearisation, state: Combination, floor: Floor) -> Combination:
    """Return zero where Newton's method tends to it: zero is a solution, and this one is tiny relative to the start."""
    if np.max(np.linalg.norm(_values(collocation, state), axis=1)) > floor.start:
        return state
    zero = state.moved(np.zeros_like(state.coefficients))
    return state if np.any(collocation.residual(zero, system.scales)) else zero


def _check_finite(system: Linearisation) -> None:
    if not np.all(np.isfinite(system.rows)) or not np.all(np.isfinite(system.target)):
        raise ConvergenceError("the linearised equations are not finite: the guess has left what they are defined for.")


def _damped(
    collocation: Collocation,
    system: Linearisation,
    current: Function,
    full: Combination,
    rules: NewtonRules,
    floor: Floor,
) -> tuple[Combination, Step]:
    """Take a step that is short enough for the next correction to be smaller than this one."""
    change, length, own = _distance(collocation, current, full, floor), 1.0, current
    halvings = 10  # of one step, at most
    contraction = 0.25  # part of its length by which a step must shrink the next correction
    for halving in range(halvings + 1):
        if halving == 1 and not (isinstance(current, Combination) and current.hidden is collocation.hidden):
            own = fitted(collocation, current)
        state = full if length == 1.0 else _between(own, full, length)
        following = _size(collocation, _correction(collocation, system, state), state, floor)
        if following <= max((1.0 - contraction * length) * change, rules.accuracy) or change < rules.close:
            return state, Step(length, length * change, following)
        length /= 2.0
    raise ConvergenceError(
        f"no step of Newton's method makes the next correction smaller: a full one changes the solution by "
        f"{change:.2g} of its size, and after the shortest the next would be {following:.2g}."
    )


def _simplified(
    collocation: Collocation,
    system: Linearisation,
    state: Combination,
    step: Step,
    wanted: float,
    floor: Floor,
) -> tuple[Combination, Step]:
    """Go on with the same factorisation while corrections shrink fast."""
    change, following = step.change, step.following
    fast = 0.2  # ratio of two corrections up to which the old factorisation is used again
    while wanted < following <= fast * change:
        moved = state.moved(state.coefficients + _correction(collocation, system, state).coefficients)
        change, following = following, _size(collocation, _correction(collocation, system, moved), moved, floor)
        if following > change:
            return state, Step(1.0, step.change, change)
        state = moved
    return state, Step(1.0, step.change, following)


def _correction(collocation: Collocation, system: Linearisation, state: Combination) -> Combination:
    """Return what the old factorisation would add to a function."""
    left = collocation.residual(state, system.scales) - system.unreachable
    if not np.all(np.isfinite(left)):
        return state.moved(np.full(len(state.coefficients), np.inf))
    return collocation.solved(system, -left)


def _between(one: Function, other: Combination, share: float) -> Combination:
    assert isinstance(one, Combination)
    return other.moved(one.coefficients + share * (other.coefficients - one.coefficients))


def _values(collocation: Collocation, function: Function) -> Array:
    jets = [collocation.problem.jets.field(name) for name in collocation.problem.fields]
    return np.array(function.jets(collocation.points.x, jets))


def _size(collocation: Collocation, function: Combination, beside: Function, floor: Floor) -> float:
    """Return the size of a correction, relative to what it corrects: that of the field where it is largest."""
    if not np.all(np.isfinite(function.coefficients)):
        return float("inf")
    sizes = floor.sizes(_values(collocation, beside))
    return float(np.max(np.linalg.norm(_values(collocation, function), axis=1) / sizes))


def _shares(collocation: Collocation, system: Linearisation) -> Array:
    """Return the least size by which each field is measured, as a part of the largest field.

    A pressure may vanish where a viscosity of 1e5 multiplies the velocities in its equation: all that is left of it is
    their round-off. The equation in which others are least counts, as that one determines a field best.
    """
    count, each = len(collocation.problem.fields), len(collocation.points.x)
    if count == 1:
        return np.array([_TINY])
    rows = [np.split(block, count, axis=1) for block in np.split(system.rows[: count * each], count)]
    weights = np.array([[max(float(np.max(b)), -float(np.min(b))) for b in blocks] for blocks in rows])
    factors = np.full((count, count), np.inf)
    for j in range(count):
        others = np.max(np.delete(weights, j, axis=1), axis=1)
        np.divide(others, weights[:, j], out=factors[:, j], where=weights[:, j] > 0)
    least = np.min(factors, axis=0)
    driven = 1e-7  # part of what others could drive a field to, below which its own size does not matter
    return np.maximum(_TINY, np.where(np.isfinite(least), driven * least, _TINY))


def _distance(collocation: Collocation, before: Function, after: Combination, floor: Floor) -> float:
    """Return by how much a step changes the solution, relative to its size."""
    one, other = _values(collocation, before), _values(collocation, after)
    sizes = floor.sizes(other)
    return float(np.max(np.linalg.norm(one - other, axis=1) / sizes))


def _is_done(steps: list[Step], wanted: float, rules: NewtonRules) -> bool:
    """Whether another step would change nothing that matters."""
    last = steps[-1]
    if last.length < 1.0:
        return False
    if last.following <= wanted:
        return True
    before = steps[-2].change if len(steps) > 1 else float("inf")
    flat = 0.7  # ratio of two changes beyond which steps are not worth while any more
    stalls = last.following > flat * last.change or last.change > flat * before
    many, coarse = 12, 1e-3  # steps after which a network is too coarse for changes below the second
    return stalls and last.change < (rules.close if len(steps) < many else coarse)


def fitted(collocation: Collocation, function: Function) -> Combination:
    """Return a function in the features of a layer, by least squares at the points."""
    x = collocation.points.x
    features = collocation.hidden.operator(x, [Term("", Derivative((0,) * x.shape[1]))])
    return collocation.state(LeastSquares.of(features).solve(_values(collocation, function).T).T.ravel())
