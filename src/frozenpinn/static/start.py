"""Where Newton's method starts: the extension of the boundary data, then a homotopy, or what the user gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from frozenpinn.assembly.collocation import Collocation, Function, Nothing, smallest_values
from frozenpinn.errors import ConvergenceError, SettingsError
from frozenpinn.language.jets import Jet
from frozenpinn.search.rules import NewtonRules
from frozenpinn.statement.data import Datum
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.problem import Problem
from frozenpinn.static.newton import Found, newton
from frozenpinn.static.plan import StaticPlan

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class GivenStart:
    """A start given as numbers, text or Python functions; derivatives of functions are taken to be zero."""

    problem: Problem
    data: Mapping[str, Datum]

    def jets(self, x: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives of the start."""
        return [self._jet(x, jet) for jet in jets]

    def _jet(self, x: Array, jet: Jet) -> Array:
        datum = self.data[jet.field]
        if jet.order == 0:
            return np.array(np.broadcast_to(datum(x, 0.0), len(x)), dtype=float)
        derivative = datum.derivative(jet)
        if derivative is None:
            return np.zeros(len(x))
        with np.errstate(all="ignore"):
            return np.array(np.broadcast_to(self.problem.compile([derivative])(*x.T, 0.0)[0], len(x)), dtype=float)


@dataclass(frozen=True, eq=False)
class SolutionStart:
    """Another solution, static or at one time, as a function at rest."""

    evaluate: Callable[[Array, Array, Jet], Array]
    time: float = 0.0

    def jets(self, x: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives of the solution."""
        now = np.array([self.time])
        return [np.zeros(len(x)) if jet.time else self.evaluate(x, now, jet)[:, 0] for jet in jets]


def read_start(given: Any, problem: Problem) -> Function | None:
    """Read ``solve(problem, start=…)``: None, a number, text, a function, a dict by field, or a solution."""
    if given is None:
        return None
    if hasattr(given, "jet_values"):
        _check_alike(given.problem, problem)
        return SolutionStart(given.jet_values, given.problem.time[1])
    if hasattr(given, "jets"):  # a function of ours, whose derivatives are known
        return given
    if isinstance(given, np.ndarray | list | tuple) and len(problem.fields) == 1:
        raise SettingsError(
            f"start is a function, text, a number or a solution, got an array of shape {np.shape(given)}; a start must "
            "be known everywhere in the domain."
        )
    data = problem.read_data(given, "the start")
    for datum in data.values():
        if datum.depends_on_time:
            raise SettingsError(f"{datum.what} depends on t, but the problem has no time; leave t out.")
    return GivenStart(problem, data)


def _check_alike(other: Problem, problem: Problem) -> None:
    if other.domain.dimension != problem.domain.dimension or set(other.fields) != set(problem.fields):
        raise SettingsError(
            f"the start is a solution for {', '.join(other.fields)} in {other.domain.dimension} dimension(s); the "
            f"problem has {', '.join(problem.fields)} in {problem.domain.dimension}."
        )


def extension(problem: Problem) -> Problem:
    """Return the problem whose solution extends the boundary data smoothly: Δu = 0, Δ²u = 0 for higher orders."""
    jets, equations = problem.jets, []
    d = problem.domain.dimension
    for equation in problem.equations:
        order = max(
            2,
            max((j.order for j in jets.jets_in(equation.right_side).values() if j.field == equation.field), default=2),
        )
        laps = max(1, order // 2)
        jet = Jet(equation.field, (2 * laps,)) if d == 1 else Jet(equation.field, (0,) * d, laps)
        share = 1e-6 if _is_pinned(problem, equation.field) else 1.0  # slopes alone leave a constant open
        small = sp.Float((-1.0) ** laps * share / float(np.max(problem.domain.lengths)) ** (2 * laps))
        linear = {jet: sp.Integer(1), jets.field(equation.field): small}
        right = sum((c * jets.symbol(j) for j, c in linear.items()), sp.Integer(0))
        equations.append(Equation(equation.field, 0, right, linear))
    return problem.replaced(equations=tuple(equations), laws=tuple(law.towards(0.0) for law in problem.laws))


def _is_pinned(problem: Problem, field: str) -> bool:
    """Whether a condition contains the value of a field itself, not its derivatives alone."""
    return any(jet.field == field and jet.order == 0 for condition in problem.conditions for jet in condition.jets)


def homotopy(problem: Problem, share: float) -> Problem:
    """Return (1 − s)·Δu + s·F(u) = 0, or, with derivatives in the linear part, that part with s times the others."""
    jets, equations = problem.jets, []
    simple = extension(problem)
    for equation, start in zip(problem.equations, simple.equations, strict=True):
        leads = any(jet.order >= 2 for jet in equation.linear) and _is_pinned(problem, equation.field)
        s = sp.Float(share)
        if leads:
            linear = sum((c * jets.symbol(j) for j, c in equation.linear.items()), sp.Integer(0))
            right = linear + s * (equation.forcing + equation.nonlinear)
        else:
            right = s * equation.right_side + (1 - s) * start.right_side
        equations.append(replace(equation, right_side=right, nonlinear=equation.nonlinear))
    return problem.replaced(equations=tuple(equations), laws=tuple(law.towards(share) for law in problem.laws))


def extended(collocation: Collocation, problem: Problem) -> Function:
    """Return the extension of the boundary data in the features of a layer."""
    return newton(collocation.of(extension(problem), same_conditions=True), Nothing(), NewtonRules()).state


def by_homotopy(plan: StaticPlan, collocation: Collocation) -> Found:
    """Follow the solution from a simple equation to the one that is asked for; raise where the path ends."""
    problem, rules = plan.problem, plan.task.rules.static
    current: Function = extended(collocation, problem)
    reached, step = 0.0, 0.25
    careful, first, last = replace(rules.newton, steps=15), float("inf"), float("inf")
    most, shortest = 24, 1e-3  # steps, and length of one at which the homotopy ends
    for _ in range(most):
        share = min(1.0, reached + step)
        stage = collocation.of(problem if share == 1.0 else homotopy(problem, share), same_conditions=True)
        try:
            found = newton(stage, current, careful)
        except ConvergenceError:
            step /= 2.0
            if step < shortest:
                break
            continue
        current, reached, step = found.state, share, min(1.5 * step, 0.5)
        if reached == 1.0:
            return found
        last = smallest_values(stage, found.last)[0]
        first = last if np.isinf(first) else first
    fold = 0.3  # part to which the smallest |Lu|/|u| falls on the way to a fold
    raise _end_of_homotopy(reached, first, last, fold)


def _end_of_homotopy(reached: float, first: float, last: float, fold: float) -> ConvergenceError:
    """Say where a homotopy ends, and whether that is a fold: there the linearisation gets singular."""
    where = (
        "no solution was found: the extension of the boundary data is too far from one for Newton's method, and a "
        f"homotopy from the linear equation ends at {100 * reached:.1f} % of the nonlinear terms"
    )
    if not np.isfinite(first):
        return ConvergenceError(
            "no solution was found: the extension of the boundary data is too far from one for Newton's method, and a "
            "homotopy from the linear equation does not get away from it: the equations are not finite there, as √u or "
            "log(u) of negative values, or change too fast. Give a start= at which they are defined."
        )
    if last < fold * first:
        return ConvergenceError(
            f"{where}, probably past a fold: there the smallest |Lu|/|u| of the linearisation has fallen from "
            f"{first:.2g} to {last:.2g}. Beyond a fold there may be no solution; give another start=, or other "
            "parameters. follow(problem, …) shows where folds are.",
            at_fold=True,
        )
    return ConvergenceError(
        f"{where}, but not at a fold, as the linearisation is not singular there: the smallest |Lu|/|u| is {last:.2g} "
        f"after {first:.2g}. The solution may be too steep for the network, or not exist; give another start=, or "
        "follow(problem, …) it from parameters for which there is one."
    )
