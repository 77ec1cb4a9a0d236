"""What would be measured of a static solution, and exact slopes of that, which come from its factorisation.

A fit is found on a coarse network, refined on a fine one, and judged by a second one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.assembly.collocation import Collocation, Combination, Function, Linearisation, smallest_values
from frozenpinn.errors import ConvergenceError
from frozenpinn.geometry import Points
from frozenpinn.inverse.fit import Fit
from frozenpinn.inverse.model import Model, Prediction
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.sensitivity import Directions, jet_rows, sensitivity_rows
from frozenpinn.inverse.sensors import Data, Sensor
from frozenpinn.inverse.unknowns import Numbers
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arrays import fixed
from frozenpinn.runtime.threads import REFLECTIONS, blas_threads
from frozenpinn.search.rules import NewtonRules
from frozenpinn.statement.problem import Problem
from frozenpinn.static.families import Family, Pilot, best_family, promised, with_special_functions
from frozenpinn.static.newton import Found, newton
from frozenpinn.static.plan import StaticPlan, static_plan
from frozenpinn.static.solve import begin, made_solution

Array = np.ndarray


class Solved(NamedTuple):
    """A static solution with its sensitivities, and the factorisation both came from."""

    state: Combination
    sensitivities: Array
    last: Linearisation
    theta: Array

    def after(self, step: Array) -> Solved:
        """Return the solution after a small change of the unknowns, to first order."""
        c = self.state.coefficients + self.sensitivities @ step
        return self._replace(state=self.state.moved(c), theta=self.theta + step)


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
    accuracy: float
    start: Function
    follows = True

    def observed(self, theta: Array, coefficients: Array, sensitivities: Array) -> tuple[Array, Array]:
        """Return what is measured of a state, and its slopes."""
        return self.sensors.of_state(self.numbers.at(theta), coefficients, sensitivities, self.numbers.directions)

    def collocation(self, theta: Array) -> Collocation:
        """Return the rows of the problem with values of the unknowns."""
        return self.base.of(self.numbers.at(theta), self.numbers.conditions_are_known)

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Solve the problem and its sensitivities with one factorisation."""
        collocation = self.collocation(theta)
        start = self.start if near is None else near.after(theta - near.theta).state
        found = newton(collocation, start, self.rules, self.accuracy)
        right = sensitivity_rows(collocation, found.state, found.last.scales, self.numbers.directions)
        sensitivities = np.asarray(found.last.factor.solve(right))
        solved = Solved(found.state, sensitivities, found.last, np.array(theta))
        return Prediction(*self.observed(theta, found.state.coefficients, sensitivities), solved)


@dataclass(frozen=True, eq=False)
class StaticChord:
    """A static model near a known prediction, with the factorisation and, at the same places, the slopes of that.

    Attributes
    ----------
    model, known
        The model, and what it has predicted at one place.
    same
        Whether it measures what was measured there.
    noise
        What a prediction may be wrong by, and more.
    """

    model: StaticModel
    known: Prediction
    same: bool
    noise: Array
    follows = True

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Correct the linear prediction twice; if the second time it is not much smaller, this is too far away."""
        solved: Solved = self.known.state
        moved, collocation, sizes = solved.after(theta - solved.theta), self.model.collocation(theta), list[float]()
        values = self.model.sensors.values(collocation.problem, moved.state.coefficients)
        for _ in range(2):
            left = collocation.residual(moved.state, solved.last.scales) - solved.last.unreachable
            c = moved.state.coefficients - solved.last.factor.solve(left)
            before, moved = values, moved._replace(state=moved.state.moved(c))
            values = self.model.sensors.values(collocation.problem, c)
            sizes.append(float(np.sqrt(np.mean((values - before) ** 2))))
        unit = float(np.sqrt(np.mean(self.noise**2)))
        if not sizes[1] <= max(0.1 * sizes[0], 1e-3 * unit):
            raise ConvergenceError("an old factorisation does not reach so far")
        slopes = self.known.slopes if self.same else self.model.observed(theta, c, solved.sensitivities)[1]
        return Prediction(values, slopes, moved)


class Network(NamedTuple):
    """A static model with all it was made of."""

    model: StaticModel
    plan: StaticPlan
    family: Family
    points: Points


@dataclass(frozen=True, eq=False)
class StaticForward:
    """Networks for one static problem: a coarse one, and a fine one where the coarse fit has led to."""

    question: Question
    coarse: Network
    network: Network

    @classmethod
    def begin(cls, question: Question) -> StaticForward:
        """Choose features at the start, and return the coarse network, where any fit can be looked for."""
        numbers, task, rules = question.numbers, question.task, question.rules
        whole = static_plan(numbers.at(numbers.start), replace(task, settings=replace(task.settings, subspace=None)))
        plan = whole.narrower(rules.coarse, task.rules.static.pilot_least, rules.coarse_most)
        try:
            family, state = begin(plan)
        except ConvergenceError as error:
            raise ConvergenceError(
                f"the problem has no solution at the start of the unknowns, {numbers.shown_start}: {error} "
                "Start elsewhere: Unknown(start=…)."
            ) from error
        coarse = _network(question, plan, family, state, 1e-9)
        return cls(question, coarse, coarse)

    @property
    def rough(self) -> Model:
        """The model on the coarse network."""
        return self.coarse.model

    @property
    def fine(self) -> Model:
        """The model on the fine network."""
        return self.network.model

    def refined(self, fit: Fit) -> StaticForward:
        """Choose features where the coarse fit has led to, and return the fine network.

        Special functions are tried here, if it would leave much: where unknowns are wrong, data and sources do not suit
        each other, and solutions are rough at the boundary.
        """
        question, coarse = self.question, self.coarse
        problem, state = question.numbers.at(fit.theta), fit.prediction.state.state
        plan = static_plan(problem, question.task)
        narrow = StaticPlan(problem, coarse.plan.task, coarse.plan.width, coarse.plan.count, coarse.plan.boundary)
        pilot = best_family(narrow, state, coarse.family)
        if pilot is not None and promised(plan, pilot) > question.task.rules.static.special_from:
            pilot = with_special_functions(narrow, pilot)
        family = coarse.family if pilot is None else pilot.family
        return replace(self, network=_network(question, plan, family, state, 1e-11))

    def twin(self, question: Question, theta: Array, fit: Fit, sigmas: Array) -> Model:
        """Return the model on other networks, with the same family of functions."""
        plan = static_plan(question.numbers.at(theta), question.task)
        return _network(question, plan, self.network.family, fit.prediction.state.state, 1e-11).model

    def solution(self, fit: Fit, known: Solution | None = None) -> Solution:
        """Return the solution at a fit; its conditioning is that of one near it."""
        network, solved = self.network, fit.prediction.state
        plan = replace(network.plan, problem=self.question.numbers.stated(solved.theta))
        found = Found(solved.state, (), solved.last)
        if known is not None and known.facts is not None:
            singular = known.facts.singular
        else:
            with blas_threads(plan.operations, REFLECTIONS):
                singular = smallest_values(network.model.collocation(solved.theta), solved.last)
        return made_solution(
            plan, Pilot(network.family, found, float("nan")), found, network.points, singular, "the fit"
        )

    def predict(self, fit: Fit) -> Callable[[Array], Array]:
        """Return the function from unknowns to what would be measured near a fit."""
        return lambda theta: self.network.model.at(theta, fit.prediction.state).values

    def renewed(self, data: Data, fit: Fit, noise: Array) -> tuple[StaticForward, list[Model]]:
        """Return the networks for new data: near an old fit its factorisation serves, farther away its solution."""
        model, same = self.network.model, data.has_places_of(self.question.data)
        sensors = model.sensors if same else Observation.of(data, model.base)
        model = replace(model, sensors=sensors, start=fit.prediction.state.state)
        other = replace(self, question=replace(self.question, data=data), network=self.network._replace(model=model))
        return other, [StaticChord(model, fit.prediction, same, noise), model]


def _network(question: Question, plan: StaticPlan, family: Family, start: Function, accuracy: float) -> Network:
    """Draw features and points of a plan."""
    plan = plan.with_special(family.count, family.sites)
    points = plan.place_points()
    points = replace(points, x=fixed(points.x))  # so that layers keep their features there
    base = plan.collocation(family.layer(plan, points), points)
    rules, sensors = question.task.rules.static.newton, Observation.of(question.data, base)
    return Network(StaticModel(question.numbers, base, sensors, rules, accuracy, start), plan, family, points)
