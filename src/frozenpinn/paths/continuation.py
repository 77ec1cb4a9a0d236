"""A path of solutions in one parameter, step by step: pseudo-arclength continuation, and its folds.

A step goes along the tangent and comes back onto the path in the plane across it, by Newton's method for the fields and
the parameter together. At a fold the parameter turns round: its rate along the path is zero. The rate is computed with
every point, so a fold is a zero of a known function of one variable; as the parameter is stationary there, an error of
1e-5 along the path leaves one of 1e-10 in its value.

The parameter is one more column of the linearised equations, ∂F/∂λ, and there is one more row, which measures how far
one has come along the path: with it the equations are not singular at a fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.assembly.collocation import BOUNDARY, Collocation, Combination, Function, slopes_of
from frozenpinn.basis.svd_layer import compress
from frozenpinn.errors import ConvergenceError
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Program
from frozenpinn.operators import LeastSquares
from frozenpinn.statement.conditions import normal_symbols
from frozenpinn.statement.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class OneParameter:
    """A problem as a function of one of its constants.

    Attributes
    ----------
    problem
        The problem, with the constant left as a symbol.
    name
        Of the constant.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> bratu = fp.Problem("u_xx + lam*exp(u) = 0", fp.Interval(0, 1), boundary="u = 0", parameters={"lam": 1})
    >>> OneParameter.of(bratu, "lam").at(2.5).parameters.constants
    {'lam': 2.5}
    """

    problem: Problem
    name: str

    @classmethod
    def of(cls, problem: Problem, name: str) -> OneParameter:
        """Leave a constant of a problem as a symbol."""
        return cls(problem.with_symbols([name]), name)

    @property
    def symbol(self) -> sp.Symbol:
        """The constant in expressions."""
        return sp.Symbol(self.name, real=True)

    @property
    def matters(self) -> bool:
        """Whether anything depends on it."""
        return self.in_conditions or any(self.symbol in e.right_side.free_symbols for e in self.problem.equations)

    @cached_property
    def in_conditions(self) -> bool:
        """Whether boundary conditions depend on it."""
        expressions = [e for c in self.problem.conditions for e in (*c.coefficients, c.value.expression)]
        return any(e is not None and self.symbol in e.free_symbols for e in expressions)

    def at(self, value: float) -> Problem:
        """Return the problem at a value, the constant still being a symbol."""
        problem = self.problem
        given = {**problem.given, "parameters": {**problem.given["parameters"], self.name: float(value)}}
        if self.in_conditions:
            return problem.replaced(given=given).with_symbols([self.name])
        functions = {**problem.parameters.functions, self.name: float(value)}
        return problem.replaced(given=given, parameters=replace(problem.parameters, functions=functions))


class Direction(NamedTuple):
    """Where a path goes: the change of the fields and that of the parameter, per length of way."""

    state: Combination
    rate: float


@dataclass(frozen=True)
class Metric:
    """Sizes by which changes of the fields and of the parameter are measured."""

    fields: tuple[float, ...]
    parameter: float


class BorderedSystem(NamedTuple):
    """The factorised equations for new coefficients and the change of the parameter.

    Attributes
    ----------
    factor, target
        Of the rows, and what they are to give.
    ahead
        The right-hand side for which the solution is the tangent.
    unit
        Of the change of the parameter.
    """

    factor: LeastSquares
    target: Array
    ahead: Array
    unit: float


@dataclass(frozen=True, eq=False)
class Bordered:
    """Equations and conditions of a problem with an unknown parameter, at points, on the features of one layer."""

    collocation: Collocation
    parameter: OneParameter

    def at(self, value: float) -> Collocation:
        """Return the equations at a value of the parameter."""
        problem = self.parameter.at(value)
        if self.parameter.in_conditions:
            sides = tuple((c, p) for c, (_, p) in zip(problem.conditions, self.collocation.sides, strict=True))
            return replace(self.collocation, problem=problem, sides=sides)
        other = replace(self.collocation, problem=problem)
        vars(other)["conditions"] = self.collocation.conditions  # the same rows
        return other

    @cached_property
    def weights(self) -> Array:
        """Weights of the points, with sum one."""
        return np.asarray(self.collocation.points.weights / np.sum(self.collocation.points.weights))

    @cached_property
    def features(self) -> Array:
        """Values of the features at the points."""
        return self.collocation.hidden.features(self.collocation.points.x)

    def values(self, function: Function) -> Array:
        """Return the fields of a function at the points, shape (fields, n)."""
        problem = self.collocation.problem
        if isinstance(function, Combination) and function.hidden is self.collocation.hidden:
            return np.asarray(function.coefficients.reshape(len(problem.fields), -1) @ self.features.T)
        return np.array(function.jets(self.collocation.points.x, [problem.jets.field(f) for f in problem.fields]))

    def inner(self, a: Array, b: Array, metric: Metric) -> float:
        """Return the product of values of two functions."""
        sizes = np.array(metric.fields)[:, None]
        return float(np.sum(self.weights * (a / sizes) * (b / sizes)))

    def system(
        self, about: Function, value: float, along: tuple[Array, float, float], metric: Metric
    ) -> BorderedSystem:
        """Return the equations linearised about a function and a value.

        ``along`` has the direction's values at the points, its rate, and where the row is to lead:
        ⟨direction, u⟩ + rate·(change of the parameter).
        """
        collocation = self.at(value)
        linear = collocation.linearised(about)
        column = self._column(collocation, about, linear.scales)
        direction, rate, wanted = along
        sizes = np.array(metric.fields)[:, None]
        row = np.concatenate([(self.weights * d) @ self.features for d in direction / sizes**2])
        last = rate / metric.parameter**2
        weight = BOUNDARY / (max(float(np.max(np.abs(row))), abs(last) * metric.parameter) or 1.0)
        rows = np.concatenate([linear.rows, weight * row[None]])
        column = np.append(column, weight * last)
        largest = np.sqrt(np.max(np.einsum("ij,ij->j", rows, rows)))
        unit = float(largest / (np.linalg.norm(column) or 1.0))
        rows = np.concatenate([rows, unit * column[:, None]], axis=1)
        if not np.all(np.isfinite(rows)) or not np.all(np.isfinite(linear.target)):
            raise ConvergenceError(
                "the linearised equations are not finite: the path has left what they are defined for."
            )
        ahead = np.append(np.zeros(len(linear.target)), weight)
        return BorderedSystem(LeastSquares.of(rows), np.append(linear.target, weight * wanted), ahead, unit)

    def _column(self, collocation: Collocation, about: Function, scales: tuple[float, ...]) -> Array:
        """Return the derivative of weighted equations and conditions by the parameter."""
        problem, x, symbol = collocation.problem, collocation.points.x, self.parameter.symbol
        parts = []
        for equation, scale in zip(problem.equations, scales, strict=False):
            slopes = slopes_of(problem, equation.field)
            program = problem.compile([sp.diff(equation.right_side, symbol)], slopes.jets)
            with np.errstate(all="ignore"):
                value = program(*x.T, 0.0, *about.jets(x, slopes.jets))[0]
            parts.append(scale * np.sqrt(self.weights) * np.broadcast_to(value, len(x)))
        data = collocation.conditions[1]
        own = scales[len(problem.equations) :]
        for k, (values, scale) in enumerate(zip(data, own, strict=True)):
            change = self._condition_change(collocation, about, k) if k < len(collocation.sides) else 0.0
            parts.append(scale * np.broadcast_to(change, len(values)))
        return np.concatenate(parts)

    def _condition_change(self, collocation: Collocation, about: Function, k: int) -> Array | float:
        """Return the derivative of a condition B u − g by the parameter, weighted as its rows are."""
        if not self.parameter.in_conditions:
            return 0.0
        condition, points = collocation.sides[k]
        problem, symbol, datum = collocation.problem, self.parameter.symbol, condition.value
        changes = [sp.diff(c, symbol) for c in condition.coefficients]
        normals = normal_symbols(problem.domain.dimension)
        program = Program(changes, [*problem.jets.x, *normals], problem.parameters.functions)
        total = np.zeros(len(points.x))
        for change, own in zip(
            program(*points.x.T, *points.normals.T), about.jets(points.x, condition.jets), strict=True
        ):
            total += change * own
        if datum.expression is not None:
            total -= datum.part(sp.diff(datum.expression, symbol), points.x)
        return np.asarray(total * np.sqrt(points.weights / np.sum(points.weights)))

    def solved(self, system: BorderedSystem, right_side: Array | None = None) -> tuple[Combination, float]:
        """Return the function and the change of the parameter that solve a system."""
        found = system.factor.solve(system.target if right_side is None else right_side)
        return self.collocation.state(found[:-1]), float(found[-1] * system.unit)

    @cached_property
    def _trial(self) -> Array:
        """Combinations of features that obey the conditions without data, orthonormal at the points."""
        fields = len(self.collocation.problem.fields)
        cutoff = 1e-6  # of the basis on which determinants are taken
        mixing = compress(self.features * np.sqrt(self.weights)[:, None], cutoff).mixing
        every = np.kron(np.eye(fields), mixing)
        rows, _, scales = self.collocation.conditions
        if not rows:
            return every
        _, singular, right = np.linalg.svd(
            np.concatenate([scale * r for r, scale in zip(rows, scales, strict=True)]) @ every, full_matrices=True
        )
        free = 1e-4  # relative size of a condition that one of these functions may violate
        rank = int(np.count_nonzero(singular > free * singular[0]))
        return np.asarray(every @ right[rank:].T)

    def sign(self, about: Function, value: float) -> float:
        """Return the sign of the determinant of the linearisation, on functions that obey the conditions.

        It changes where the linearisation is singular: at folds, and where other paths cross. Its value by itself means
        nothing, as it depends on the number of functions.
        """
        collocation, fields = self.at(value), len(self.collocation.problem.fields)
        count = len(self.weights) * fields
        rows = collocation.linearised(about).rows[:count] @ self._trial
        tests = np.kron(np.eye(fields), self.features * np.sqrt(self.weights)[:, None]) @ self._trial
        return float(np.linalg.slogdet(tests.T @ rows)[0])


class Point(NamedTuple):
    """A point of a path: a solution, the value of the parameter, where the path goes, how many iterations it took."""

    state: Combination
    value: float
    direction: Direction
    iterations: int = 0


class Shifted(NamedTuple):
    """u + s·v, where u and v may belong to different layers."""

    base: Function
    change: Function
    length: float

    def jets(self, x: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives."""
        pairs = zip(self.base.jets(x, jets), self.change.jets(x, jets), strict=True)
        return [a + self.length * b for a, b in pairs]


def metric_of(bordered: Bordered, point: Point, least: Metric) -> Metric:
    """Return the sizes by which the next step is measured: those of the solution, at least those at the start."""
    values = bordered.values(point.state)
    sizes = np.sqrt(np.sum(bordered.weights * values**2, axis=1))
    return Metric(tuple(float(max(a, b)) for a, b in zip(sizes, least.fields, strict=True)), least.parameter)


def unit(bordered: Bordered, direction: Direction, metric: Metric) -> Direction:
    """Return a direction of length one."""
    values = bordered.values(direction.state)
    length = np.sqrt(bordered.inner(values, values, metric) + (direction.rate / metric.parameter) ** 2)
    return Direction(direction.state.moved(direction.state.coefficients / length), direction.rate / float(length))


def corrected(bordered: Bordered, base: Point, length: float, metric: Metric) -> Point:
    """Return the point of the path in the plane across the direction of another one, at a distance from it.

    Raises
    ------
    ConvergenceError
        If Newton's method does not converge.
    """
    ahead = bordered.values(base.direction.state)
    origin = bordered.inner(ahead, bordered.values(base.state), metric)
    rate = base.direction.rate
    guess: Function = Shifted(base.state, base.direction.state, length)
    value, changes = base.value + length * rate, list[float]()
    visible = 1e-5  # change that counts as an iteration of Newton's method
    for count in range(1, 13):
        wanted = length + origin - rate * (value - base.value) / metric.parameter**2
        system = bordered.system(guess, value, (ahead, rate, wanted), metric)
        state, step = bordered.solved(system)
        gap = bordered.values(state) - bordered.values(guess)
        changes.append(float(np.sqrt(bordered.inner(gap, gap, metric) + (step / metric.parameter) ** 2)))
        guess, value = state, value + step
        if not np.isfinite(changes[-1]) or changes[-1] > 10.0 or (count > 1 and changes[-1] > 2.0 * changes[-2] > 1e-3):
            break
        if _is_done(changes):
            tangent = unit(bordered, Direction(*bordered.solved(system, system.ahead)), metric)
            return Point(state, value, tangent, sum(change > visible for change in changes) + 1)
    raise ConvergenceError(f"Newton's method for a step of a path did not converge: its changes were {changes}.")


def reverse(direction: Direction) -> Direction:
    """Return the opposite direction."""
    return Direction(direction.state.moved(-direction.state.coefficients), -direction.rate)


def cosine(bordered: Bordered, a: Direction, b: Direction, metric: Metric) -> float:
    """Return the cosine of the angle between two directions of length one."""
    own = bordered.inner(bordered.values(a.state), bordered.values(b.state), metric)
    return own + a.rate * b.rate / metric.parameter**2


def _is_done(changes: list[float]) -> bool:
    """Whether another iteration would change nothing that matters: changes are squared from one to the next."""
    last = changes[-1]
    accuracy = 1e-11  # relative change that is round-off
    if last <= accuracy or len(changes) < 2:
        return last <= accuracy
    before = changes[-2]
    close, flat = 1e-6, 0.05  # below the first change, Newton's method may gain less than the second factor
    if last < close and last > flat * before:  # the floor of this network
        return True
    return last < np.sqrt(close) and last**3 / before**2 <= accuracy


def find_fold(bordered: Bordered, base: Point, lengths: tuple[float, float], metric: Metric) -> Point:
    """Return the point near another one at which the parameter turns round, by the secant method for its rate.

    ``lengths`` are two distances from the base; the fold lies between them, or near.
    """
    tried = [(length, corrected(bordered, base, length, metric)) for length in lengths]
    span = abs(lengths[1] - lengths[0])
    flat = 1e-8  # rate of the parameter at a fold
    for _ in range(12):
        (a, p), (b, q) = tried[-2:]
        if abs(q.direction.rate) <= flat * metric.parameter or p.direction.rate == q.direction.rate:
            break
        length = b - q.direction.rate * (b - a) / (q.direction.rate - p.direction.rate)
        length = float(np.clip(length, min(lengths) - span, max(lengths) + span))
        if length == b:
            break
        tried.append((length, corrected(bordered, base, length, metric)))
    return min((point for _, point in tried), key=lambda point: abs(point.direction.rate))
