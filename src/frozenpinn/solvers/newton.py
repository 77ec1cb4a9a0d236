"""Newton's method for a static problem in least squares, with a line search by what the linear model promises.

A least-squares solution never makes the residual zero. A step is as good as can be if it leaves what the linear model
said it would; asking for more would stall at the accuracy of the network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from frozenpinn.assembly.collocation import Collocation, Combination, Function, Linearisation
from frozenpinn.errors import ConvergenceError

Array = np.ndarray


@dataclass(frozen=True)
class NewtonRules:
    """When steps are taken, shortened and given up.

    Studies: ``frozenpinn bench bratu liouville nonlinear-helmholtz nonlinear-poisson minimal-surface``.
    """

    steps: int = 40  #: at most
    halvings: int = 8  #: of one step, at most
    decrease: float = 0.3  #: part of the promised decrease that a shortened step must bring
    promised: float = 3.0  #: multiple of what the linear model leaves that a full step may leave
    accuracy: float = 1e-13  #: relative change of the solution that is round-off
    flat: float = 0.9  #: decrease of the change at which steps are not worth while any more …
    close: float = 1e-6  #: … if the change is below this …
    coarse: float = 1e-2  #: … or this, where the network leaves what the linear model says it must


class Step(NamedTuple):
    """One step: its length, the relative change of the solution, and what was left before it, and after it.

    ``promised`` is what the linear model said would be left.
    """

    length: float
    change: float
    before: float
    after: float
    promised: float = 0.0


class Found(NamedTuple):
    """A solution, the steps that led there, and the last linearisation."""

    state: Combination
    steps: tuple[Step, ...]
    last: Linearisation


Correction = Callable[[Combination, Array], float]  #: the factor of a step from a state, in deflation


def newton(
    collocation: Collocation,
    start: Function,
    rules: NewtonRules,
    accuracy: float | None = None,
    correction: Correction | None = None,
) -> Found:
    """Solve a static problem from a start, which may be a function of another layer.

    Raises
    ------
    ConvergenceError
        If no step brings the residual down, or too many are needed.
    """
    if collocation.problem.is_linear:
        system = collocation.linearised(start)
        return Found(collocation.solved(system), (), system)
    wanted, steps, current = max(rules.accuracy, accuracy or 0.0), list[Step](), start
    for _ in range(rules.steps):
        system = collocation.linearised(current)
        state, step = _step(collocation, system, current, rules, correction)
        steps.append(step)
        if _is_done(steps, wanted, rules):
            return Found(state, tuple(steps), system)
        current = state
    if _is_settled(steps[-1], rules):  # slowly, as the network leaves too much; what it can't do is left for wider ones
        return Found(state, tuple(steps), system)
    raise ConvergenceError(
        f"Newton's method did not converge in {rules.steps} steps; the last one changed the solution by "
        f"{steps[-1].change:.2g} of its size."
    )


def _step(
    collocation: Collocation,
    system: Linearisation,
    current: Function,
    rules: NewtonRules,
    correction: Correction | None,
) -> tuple[Combination, Step]:
    """Take one step, as long as the residual does what the linear model says."""
    if not np.all(np.isfinite(system.rows)) or not np.all(np.isfinite(system.target)):
        raise ConvergenceError("the linearised equations are not finite: the guess has left what they are defined for.")
    full = collocation.solved(system)
    if correction is not None and isinstance(current, Combination):
        factor = correction(current, full.coefficients - current.coefficients)
        moved = current.moved(current.coefficients + factor * (full.coefficients - current.coefficients))
        return moved, Step(factor, _change(collocation, current, moved), system.left, system.left)
    promised, length, state = system.promised, 1.0, full
    left = collocation.misfit(full, system.scales)
    if left <= max(rules.promised * promised, (1.0 - rules.decrease) * system.left):
        return full, Step(1.0, _change(collocation, current, full), system.left, left, promised)
    own = current
    if not (isinstance(current, Combination) and current.hidden is collocation.hidden):
        own = fitted(collocation, current)
    assert isinstance(own, Combination)
    for _ in range(rules.halvings):
        length /= 2.0
        state = own.moved(own.coefficients + length * (full.coefficients - own.coefficients))
        left = collocation.misfit(state, system.scales)
        if left <= (1.0 - rules.decrease * length) * system.left + promised:
            return state, Step(length, _change(collocation, current, state), system.left, left)
    raise ConvergenceError(
        f"no step brings the residual down any more: it is {system.left:.2g}, and the shortest step leaves {left:.2g}."
    )


def _change(collocation: Collocation, before: Function, after: Function) -> float:
    """Return by how much a step changes the solution, relative to its size."""
    x, jets = collocation.points.x, [collocation.problem.jets.field(name) for name in collocation.problem.fields]
    one, other = np.array(before.jets(x, jets)), np.array(after.jets(x, jets))
    sizes = np.maximum(np.linalg.norm(other, axis=1), 1e-300)
    return float(np.max(np.linalg.norm(one - other, axis=1) / sizes))


def _is_done(steps: list[Step], wanted: float, rules: NewtonRules) -> bool:
    """Whether another step would change nothing that matters: changes are squared from step to step."""
    last = steps[-1]
    if last.length < 1.0:
        return False
    if last.change <= wanted:
        return True
    if len(steps) < 2 or steps[-2].length < 1.0:
        return False
    before = steps[-2].change
    if last.change > rules.flat * before and (last.change < rules.close or _is_settled(last, rules)):
        return True
    ratio = last.change / before**2
    return last.change < np.sqrt(rules.close) and ratio * last.change**2 <= wanted


def _is_settled(last: Step, rules: NewtonRules) -> bool:
    """Whether nothing is left but what this network can't do."""
    return last.length == 1.0 and last.change < rules.coarse and last.after <= rules.promised * last.promised


def fitted(collocation: Collocation, function: Function) -> Combination:
    """Return a function in the features of a layer, by least squares at the points."""
    from frozenpinn.basis.hidden import Derivative, Term
    from frozenpinn.operators import LeastSquares

    x, problem = collocation.points.x, collocation.problem
    features = collocation.hidden.operator(x, [Term("", Derivative((0,) * x.shape[1]))])
    values = function.jets(x, [problem.jets.field(name) for name in problem.fields])
    return collocation.state(LeastSquares.of(features).solve(np.stack(values, axis=1)).T.ravel())
