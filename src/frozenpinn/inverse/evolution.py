"""What would be measured of an evolution, and exact slopes of that: all tangents are integrated along the solution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.basis.samplers import MultiScale, Waves
from frozenpinn.errors import FrozenPinnWarning, noted, warn
from frozenpinn.geometry import Box
from frozenpinn.inverse.fit import Fit
from frozenpinn.inverse.model import Chord, Model, Prediction, Shifted, Straight
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.rules import InverseRules
from frozenpinn.inverse.sensitivity import Directions
from frozenpinn.inverse.sensors import Data, Sensor
from frozenpinn.inverse.tangent import Step, Tangent, TangentSpace, integrate_tangents, tangent_space
from frozenpinn.inverse.unknowns import Numbers, beyond_tangents
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.memo import remembered
from frozenpinn.search.kind import Hints
from frozenpinn.search.settings import Task
from frozenpinn.search.single import solve_once
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class Run(NamedTuple):
    """A solution on the way, and what there would be to warn of if it were the last one."""

    solution: Solution
    warnings: tuple[Warning | str, ...]

    @classmethod
    def of(cls, problem: Problem, task: Task) -> Run:
        """Solve a problem without a word."""
        with noted() as caught:
            solution = solve_once(problem, task, Hints()).solution
        return cls(solution, tuple(w.message for w in caught if issubclass(w.category, FrozenPinnWarning)))

    def after(self, step: Array) -> None:
        """Return nothing: the solution after a small step is computed when it is asked for."""


@dataclass(frozen=True, eq=False)
class EvolutionModel:
    """A time-dependent problem.

    Attributes
    ----------
    numbers
        The unknowns.
    data
        Where and when is measured.
    task
        With which settings and seed it is solved.
    rules
        The width and the steps in time of the tangents.
    """

    numbers: Numbers
    data: Data
    task: Task
    rules: InverseRules
    follows = False

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Solve the problem, then all its tangents at once."""
        values, run = self.values(theta)
        return Prediction(values, self.slopes(theta, run), run)

    def values(self, theta: Array) -> tuple[Array, Run]:
        """Solve the problem alone."""
        problem = self.numbers.solved_at(theta)
        run = Run.of(problem, self.task)
        found = [s.values(problem, jets_of(s, run.solution)) for s in self.data.sensors]
        return np.concatenate(found), run

    def slopes(self, theta: Array, state: Run) -> Array:
        """Integrate the tangents along a solution, and return what the sensors see of them."""
        return self._differences(theta) if self._is_special else self._integrated(self._tangent(theta, state), state)

    def _tangent(self, theta: Array, state: Run) -> Tangent:
        problem = self.numbers.at(theta)
        return Tangent(problem, state.solution.jet_values, self._space(problem), self.numbers.directions)

    def _integrated(self, tangent: Tangent, state: Run) -> Array:
        """Integrate tangents, and return what the sensors see of them."""
        seen = [SensorJacobian(s, tangent, jets_of(s, state.solution)) for s in self.data.sensors]

        def take(step: Step) -> None:
            for one in seen:
                one.take(step)

        integrate_tangents(tangent, self.rules.tangent_rtol, take)
        return np.concatenate([one.slopes for one in seen])

    @property
    def _is_special(self) -> bool:
        """Whether slopes must be differences."""
        return bool(beyond_tangents(self.numbers.problem))

    def _differences(self, theta: Array) -> Array:
        """Return slopes by differences, two solves for each number."""
        columns = []
        for i, scale in enumerate(self.numbers.scales):
            step = np.zeros(len(theta))
            step[i] = 1e-4 * max(abs(theta[i]), 1e-3 * scale)
            high, low = (self.values(theta + sign * step)[0] for sign in (1, -1))
            columns.append((high - low) / (2.0 * step[i]))
        return np.stack(columns, axis=1)

    def _space(self, problem: Problem) -> TangentSpace:
        width = self.rules.tangent_width[min(problem.domain.dimension, 4) - 1]
        return drawn_space(problem, width, 1e-7, self.task.seed, self.numbers.directions)


def drawn_space(
    problem: Problem, width: int, cutoff: float, seed: int, directions: Sequence[Directions]
) -> TangentSpace:
    """Draw a network for the tangents."""
    domain = problem.domain
    reach = 1.4  # slopes by a field are true to 0.6 %, with 1.0 to 5 %
    d = domain.dimension
    count: Any = (2 if d == 1 else 4) * width
    grid = isinstance(domain, Box) and d <= 3  # on grids, solutions that are products are evaluated axis by axis
    if grid and d > 1:
        count = [int(np.ceil(count ** (1 / d)))] * d
    points = domain.sample(count, "gauss" if grid else "sobol", seed)
    rng = np.random.default_rng(seed)
    if all(domain.periodic):
        hidden = Waves(width, reach, periods=tuple(map(float, domain.lengths))).sample(points, rng)
    elif d == 1:
        hidden = MultiScale(width).sample(points, rng)
    else:
        hidden = Waves(width, reach).sample(points, rng)
    per_side = 1 if d == 1 else max(8, int(0.8 * width / max(1, len(domain.sides))))
    return tangent_space(problem, hidden, points, cutoff, per_side, directions)


def jets_of(sensor: Sensor, solution: Solution) -> list[Array]:
    """Return the jets of a solution at the nodes of a sensor."""
    assert sensor.times is not None
    return [solution.paired_values(sensor.x, sensor.times, jet) for jet in sensor.jets]


class SensorJacobian:
    """The slopes of one sensor, filled step by step."""

    def __init__(self, sensor: Sensor, tangent: Tangent, jets: Sequence[Array]) -> None:
        assert sensor.times is not None
        problem = tangent.problem
        self.sensor, self.tangent, self.times = sensor, tangent, sensor.times
        self.factors = sensor.factors(problem, jets)
        direct = sensor.direct(problem, jets, tangent.unknowns)
        self.nodes = np.zeros((len(sensor.x), tangent.size)) if direct is None else direct
        self.end = problem.time[1]
        wrapped = problem.domain.wrap(sensor.x)
        layout, space = tangent.layout, tangent.space
        self.rows = []
        for jet, factor in zip(sensor.jets, self.factors, strict=True):
            index = space.group_of(jet.field)
            own, lift = space.groups[index].tables(wrapped, jet)
            self.rows.append((index, jet.time, layout, factor[:, None] * own, factor[:, None] * lift))

    def take(self, step: Step) -> None:
        """Add what the states of a step say at the times within it."""
        last = step.start + step.length
        inside = (self.times >= step.start) & ((self.times < last) | (last >= self.end * (1 - 1e-14)))
        chosen = np.flatnonzero(inside & (self.times <= last * (1 + 1e-14) + 1e-300))
        if len(chosen):
            self._add(step, chosen, Step.shares((self.times[chosen] - step.start) / step.length))

    def _add(self, step: Step, chosen: Array, shares: Array) -> None:
        for index, order, layout, own, lift in self.rows:
            for k, state in enumerate(step.states):
                part = layout.split(state)[index][order]
                self.nodes[chosen] += shares[:, k : k + 1] * (own[chosen] @ part)
            for t in np.unique(self.times[chosen]) if self.tangent.space.groups[index].sides else ():
                same = chosen[self.times[chosen] == t]
                self.nodes[same] += lift[same] @ self.tangent.data(index, float(t), order)

    @property
    def slopes(self) -> Array:
        """What is measured of the tangents."""
        return self.sensor.gathered(self.nodes)


@dataclass(frozen=True, eq=False)
class EvolutionForward:
    """Models of one time-dependent problem: a rough one, and one with slopes from a rough fit."""

    question: Question
    found: Fit | None = None

    @cached_property
    def _model(self) -> EvolutionModel:
        question = self.question
        return EvolutionModel(question.numbers, question.data, question.task, question.rules)

    @cached_property
    def _quick(self) -> EvolutionModel:
        """The model with fewer digits, and on a line with few neurons; in more dimensions widths are found."""
        task, rules = self.question.task, self.question.rules
        tolerances = replace(task.tolerances, time=max(task.tolerances.time, rules.quick_rtol))
        is_line = self.question.numbers.problem.domain.dimension == 1
        width = rules.quick_width if is_line and task.settings.width is None else task.settings.width
        return replace(
            self._model, task=replace(task, tolerances=tolerances, settings=replace(task.settings, width=width))
        )

    @property
    def rough(self) -> Model:
        """The model with fewer digits; of fields that enter linearly, slopes are the same everywhere."""
        quick, numbers = self._quick, self.question.numbers
        if numbers.fields and numbers.is_affine:
            return Chord(quick.values, quick.at(numbers.start).slopes)
        return quick

    @property
    def fine(self) -> Model:
        """The model with all digits, and slopes from the rough fit."""
        assert self.found is not None
        return Chord(self._model.values, self.found.prediction.slopes)

    def refined(self, fit: Fit) -> EvolutionForward:
        """Return the models with slopes from a rough fit."""
        return replace(self, found=fit)

    def twin(self, question: Question, theta: Array, fit: Fit, sigmas: Array) -> Model:
        """Return the model on other networks; slopes by numbers are computed anew only where they hardly differ."""
        task, rules, slopes = question.task, question.rules, fit.prediction.slopes
        task = replace(task, tolerances=replace(task.tolerances, time=10.0 * task.tolerances.time))
        other = EvolutionModel(question.numbers, question.data, task, rules)
        singular = np.linalg.svd(slopes[:, question.free] * question.free_scales / sigmas[:, None], compute_uv=False)
        doubtful = singular[-1] < 1e-3 * singular[0]
        return other if question.numbers.fields or doubtful else Chord(other.values, slopes)

    def solution(self, fit: Fit, known: Solution | None = None) -> Solution:
        """Return the solution at a fit; what a field's can't resolve is seen by the second network."""
        run = fit.prediction.state or self._model.values(fit.theta)[1]
        numbers = self.question.numbers
        for message in () if numbers.fields else run.warnings:
            warn(message)
        return replace(run.solution, problem=numbers.stated(fit.theta))

    def predict(self, fit: Fit) -> Callable[[Array], Array]:
        """Return the function from unknowns to what would be measured."""
        return lambda theta: self._model.values(theta)[0]

    def renewed(self, data: Data, fit: Fit, noise: Array) -> tuple[EvolutionForward, list[Model]]:
        """Return the models for new data: quick solves for the change near an old fit, whole ones farther away."""
        other = replace(self, question=replace(self.question, data=data))
        if not data.has_places_of(self.question.data):
            model = other._model
            return other, [Chord(model.values, model.at(fit.theta).slopes)]
        near: Model = Straight(fit.theta, fit.prediction)
        if not self.question.numbers.is_affine:
            place, reach = tuple(map(float, fit.theta)), self.question.rules.quick_reach
            near = Shifted(self._quick.values, lambda: _quick_values(self, place), fit.prediction, noise, reach)
        return other, [near, self.fine]


@remembered
def _quick_values(forward: EvolutionForward, theta: tuple[float, ...]) -> Array:
    """Return the values of a quick solve at a fit; to first order, if the rough fit is near."""
    found = forward.found
    assert found is not None
    step = np.array(theta) - found.theta
    straight = found.prediction.slopes @ step
    if not np.any(step) or 1e2 * found.bend * float(np.linalg.norm(straight)) <= 1.0:
        return np.asarray(found.prediction.values + straight)
    return forward._quick.values(np.array(theta))[0]
