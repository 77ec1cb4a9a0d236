"""What would be measured for given values of the unknowns, and how that changes with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from frozenpinn.adaptivity.inverse.data import Data
from frozenpinn.adaptivity.inverse.unknowns import Numbers
from frozenpinn.assembly.collocation import Collocation, Combination, Function, Linearisation
from frozenpinn.assembly.sensitivity import sensitivity_rows, sensor_rows
from frozenpinn.operators import LeastSquares
from frozenpinn.solvers.newton import NewtonRules, newton

Array = np.ndarray


class Prediction(NamedTuple):
    """What would be measured, shape (m,), its derivatives by the unknowns, (m, p), and what led there."""

    values: Array
    slopes: Array
    state: Any


class Model(Protocol):
    """A problem, discretised, with sensors."""

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Return what would be measured; ``near`` is the state of an earlier prediction."""


class Solved(NamedTuple):
    """A static solution with its sensitivities, and the factorisation both came from."""

    state: Combination
    sensitivities: Array
    last: Linearisation
    theta: Array


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
        Rows that take coefficients to what is measured.
    rules, accuracy
        Of Newton's method.
    """

    numbers: Numbers
    base: Collocation
    sensors: Array
    rules: NewtonRules
    accuracy: float | None = None
    start: Function | None = None

    @classmethod
    def of(
        cls, numbers: Numbers, base: Collocation, data: Data, rules: NewtonRules, start: Function, accuracy: float | None = None
    ) -> StaticModel:
        """Return the model for data."""
        return cls(numbers, base, _sensors(base, data), rules, accuracy, start)

    def with_sensors(self, data: Data) -> Array:
        """Return the rows of other sensors."""
        return _sensors(self.base, data)

    def collocation(self, theta: Array) -> Collocation:
        """Return the rows of the problem with values of the unknowns."""
        problem, base = self.numbers.at(theta), self.base
        sides = tuple((c, points) for c, (_, points) in zip(problem.conditions, base.sides, strict=True))
        return Collocation(problem, base.hidden, base.points, sides, base.per_side, base.boundary_weight, base.mixing)

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
        return Prediction(self.sensors @ found.state.coefficients, self.sensors @ sensitivities, solved)

    def corrected(self, theta: Array, solved: Solved, coefficients: Array) -> Combination:
        """Return a state improved by an old factorisation."""
        collocation = self.collocation(theta)
        state = solved.state.moved(coefficients)
        left = collocation.residual(state, solved.last.scales) - solved.last.unreachable
        factor: LeastSquares = solved.last.factor
        return state.moved(coefficients - factor.solve(left))


def _sensors(base: Collocation, data: Data) -> Array:
    return sensor_rows(base, [(part.points, jet) for part, jet in zip(data.parts, data.jets, strict=True)])
