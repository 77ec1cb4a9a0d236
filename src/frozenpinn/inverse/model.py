"""What would be measured for given values of the unknowns, and how that changes with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from frozenpinn.assembly.collocation import Collocation, Combination, Function, Linearisation
from frozenpinn.errors import ConvergenceError
from frozenpinn.inverse.sensitivity import Directions, jet_rows, sensitivity_rows
from frozenpinn.inverse.sensors import Data, Sensor
from frozenpinn.inverse.unknowns import Numbers
from frozenpinn.search.static_rules import NewtonRules
from frozenpinn.statement.problem import Problem
from frozenpinn.static.newton import newton

Array = np.ndarray
_FAST = 0.1  # part of a first correction by an old factorisation that a second one may be, …
_SMALL = 1e-3  # … unless that is this part of the noise


class Prediction(NamedTuple):
    """What would be measured, shape (m,), its derivatives by the unknowns, (m, p), and what led there.

    Second derivatives, one column for each pair of unknowns, may be known, too.
    """

    values: Array
    slopes: Array
    state: Any
    bends: Array | None = None


class Model(Protocol):
    """A problem, discretised, with sensors."""

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Return what would be measured; ``near`` is the state of an earlier prediction."""


@runtime_checkable
class TwoStages(Protocol):
    """A model whose slopes cost as much as its values do, and can be left out."""

    def values(self, theta: Array) -> tuple[Array, Any]:
        """Return what would be measured, and what led there."""

    def slopes(self, theta: Array, state: Any) -> Array:
        """Return the derivatives of that."""

    def bend(self, theta: Array, state: Any) -> tuple[Array, Array | None]:
        """Return these and second derivatives, as far as they are known."""


class Solved(NamedTuple):
    """A static solution with its sensitivities, and the factorisation both came from."""

    state: Combination
    sensitivities: Array
    last: Linearisation
    theta: Array


@dataclass(frozen=True, eq=False)
class Observation:
    """Sensors, each with rows that take coefficients to the jets it needs."""

    sensors: tuple[Sensor, ...]
    tables: tuple[tuple[Array, ...], ...]

    @classmethod
    def of(cls, data: Data, base: Collocation) -> Observation:
        """Evaluate the features of a network at the sensors."""
        tables = tuple(tuple(jet_rows(base, s.x, jet) for jet in s.jets) for s in data.sensors)
        return cls(data.sensors, tables)

    def of_state(
        self, problem: Problem, coefficients: Array, sensitivities: Array, unknowns: Sequence[Directions]
    ) -> tuple[Array, Array]:
        """Return what is measured, and its slopes by all unknowns."""
        slopes = []
        for sensor, tables in zip(self.sensors, self.tables, strict=True):
            jets = [table @ coefficients for table in tables]
            total = np.zeros((sensor.count, sensitivities.shape[1]))
            if tables:
                pairs = zip(sensor.factors(problem, jets), tables, strict=True)
                rows = sum(factor[:, None] * table for factor, table in pairs)
                total += sensor.gathered(np.asarray(rows)) @ sensitivities
            direct = sensor.direct(problem, jets, unknowns)
            slopes.append(total if direct is None else total + sensor.gathered(direct))
        return self.values(problem, coefficients), np.concatenate(slopes)

    def values(self, problem: Problem, coefficients: Array) -> Array:
        """Return what is measured."""
        pairs = zip(self.sensors, self.tables, strict=True)
        return np.concatenate([s.values(problem, [table @ coefficients for table in tables]) for s, tables in pairs])


@dataclass(frozen=True, eq=False)
class StaticModel:
    """A static problem on one network.

    Attributes
    ----------
    numbers
        The unknowns.
    base
        The collocation of the problem at the start.
    sensors
        What is measured, with the features there.
    rules, accuracy, start
        Of Newton's method.
    """

    numbers: Numbers
    base: Collocation
    sensors: Observation
    rules: NewtonRules
    accuracy: float | None = None
    start: Function | None = None

    @classmethod
    def of(
        cls,
        numbers: Numbers,
        base: Collocation,
        data: Data,
        rules: NewtonRules,
        start: Function,
        accuracy: float | None = None,
    ) -> StaticModel:
        """Return the model for data."""
        return cls(numbers, base, Observation.of(data, base), rules, accuracy, start)

    def measuring(self, data: Data) -> StaticModel:
        """Return the model with other sensors."""
        return replace(self, sensors=Observation.of(data, self.base))

    def observed(self, theta: Array, coefficients: Array, sensitivities: Array) -> tuple[Array, Array]:
        """Return what is measured of a state, and its slopes."""
        return self.sensors.of_state(self.numbers.at(theta), coefficients, sensitivities, self.numbers.directions)

    def collocation(self, theta: Array) -> Collocation:
        """Return the rows of the problem with values of the unknowns."""
        return self.base.of(self.numbers.at(theta), self.numbers.conditions_are_known)

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Solve the problem and its sensitivities with one factorisation."""
        collocation, start = self.collocation(theta), self.start
        if near is not None:
            start = near.state.moved(near.state.coefficients + near.sensitivities @ (theta - near.theta))
        assert start is not None
        found = newton(collocation, start, self.rules, self.accuracy)
        right = sensitivity_rows(collocation, found.state, found.last.scales, self.numbers.directions)
        sensitivities = np.asarray(found.last.factor.solve(right))
        solved = Solved(found.state, sensitivities, found.last, np.array(theta))
        return Prediction(*self.observed(theta, found.state.coefficients, sensitivities), solved)

    def corrected(self, collocation: Collocation, solved: Solved, coefficients: Array) -> Array:
        """Return coefficients improved by an old factorisation."""
        state = solved.state.moved(coefficients)
        left = collocation.residual(state, solved.last.scales) - solved.last.unreachable
        return np.asarray(coefficients - solved.last.factor.solve(left))


def extrapolated(prediction: Prediction, step: Array) -> Prediction:
    """Return a prediction, and its static state, after a step so small that the first order is all there is."""
    solved = prediction.state
    if isinstance(solved, Solved):
        c = solved.state.coefficients + solved.sensitivities @ step
        solved = solved._replace(state=solved.state.moved(c), theta=solved.theta + step)
    return Prediction(prediction.values + prediction.slopes @ step, prediction.slopes, solved)


@dataclass(frozen=True, eq=False)
class Chord:
    """A model whose slopes are taken from elsewhere: near a fit they need not be exact."""

    values: Callable[[Array], tuple[Array, Any]]
    slopes: Array

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Return what would be measured, with the old slopes."""
        values, state = self.values(theta)
        return Prediction(values, self.slopes, state)


@dataclass(frozen=True, eq=False)
class Straight:
    """A model that is linear in all unknowns."""

    centre: Array
    known: Prediction

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Return what would be measured; there is no solution to it."""
        return Prediction(self.known.values + self.known.slopes @ (theta - self.centre), self.known.slopes, None)


@dataclass(frozen=True, eq=False)
class Shifted:
    """A model near a known prediction: a quicker one tells by how much that changes.

    Attributes
    ----------
    quick, base
        Returns what would be measured with fewer digits, and did so at the known place, whose errors cancel.
    known
        The prediction, whose slopes are taken.
    sigmas, reach
        The noise, and how many times as large changes may be.
    bend
        What first orders have missed on the way to the known place, relative to the square of a step, all in units of
        the noise.
    """

    quick: Callable[[Array], tuple[Array, Any]]
    base: Array
    known: Prediction
    sigmas: Array
    reach: float
    bend: float = np.inf

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Return what would be measured; there is no solution to it."""
        change = self.quick(theta)[0] - self.base
        if not np.sqrt(np.mean((change / self.sigmas) ** 2)) <= self.reach:
            raise ConvergenceError("a quick solve does not tell so large a change")
        return Prediction(self.known.values + change, self.known.slopes, None)


@dataclass(frozen=True, eq=False)
class StaticChord:
    """A static model near a known prediction, with the factorisation and, at the same places, the slopes of that.

    Attributes
    ----------
    model, known
        The model, and what it has predicted at one place.
    same
        Whether it measures what was measured there.
    sigmas
        What a prediction may be wrong by, and more.
    """

    model: StaticModel
    known: Prediction
    same: bool
    sigmas: Array

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Correct the linear prediction twice; if the second time it is not much smaller, this is too far away."""
        solved: Solved = self.known.state
        step, collocation, sizes = theta - solved.theta, self.model.collocation(theta), list[float]()
        c = solved.state.coefficients + solved.sensitivities @ step
        values = self.model.sensors.values(collocation.problem, c)
        for _ in range(2):
            before, c = values, self.model.corrected(collocation, solved, c)
            values = self.model.sensors.values(collocation.problem, c)
            sizes.append(float(np.sqrt(np.mean((values - before) ** 2))))
        unit = float(np.sqrt(np.mean(self.sigmas**2)))
        if not sizes[1] <= max(_FAST * sizes[0], _SMALL * unit):
            raise ConvergenceError("an old factorisation does not reach so far")
        moved = solved._replace(state=solved.state.moved(c), theta=np.array(theta))
        slopes = self.known.slopes if self.same else self.model.observed(theta, c, solved.sensitivities)[1]
        return Prediction(values, slopes, moved)
