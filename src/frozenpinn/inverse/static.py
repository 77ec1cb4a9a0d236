"""Unknown numbers of static problems: found on a coarse network, refined on a fine one, judged by a second one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.assembly.collocation import Function, smallest_values
from frozenpinn.errors import ConvergenceError
from frozenpinn.geometry import Points
from frozenpinn.inverse.fit import FAILURES, Fit, corrected_slopes
from frozenpinn.inverse.model import Model, Prediction, StaticModel, extrapolated
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.rules import InverseRules
from frozenpinn.inverse.sensors import Data
from frozenpinn.inverse.uncertainty import spread_of
from frozenpinn.inverse.unknowns import Numbers
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arrays import fixed
from frozenpinn.runtime.threads import REFLECTIONS, blas_threads
from frozenpinn.search.settings import Task
from frozenpinn.static.families import Family, Pilot, best_family, promised, with_special_functions
from frozenpinn.static.newton import Found
from frozenpinn.static.plan import StaticPlan, static_plan
from frozenpinn.static.solve import begin, made_solution

Array = np.ndarray


class Network(NamedTuple):
    """A static model with all it was made of."""

    model: StaticModel
    plan: StaticPlan
    family: Family
    points: Points


@dataclass(frozen=True, eq=False)
class StaticInference:
    """Networks for one problem with unknown numbers."""

    numbers: Numbers
    task: Task
    rules: InverseRules

    def coarse(self, data: Data) -> Network:
        """Choose features at the start, and return the coarse network, where any fit can be looked for."""
        problem = self.numbers.at(self.numbers.start)
        plan = self._narrow(
            static_plan(problem, replace(self.task, settings=replace(self.task.settings, subspace=None)))
        )
        try:
            family, state = begin(plan)
        except ConvergenceError as error:
            raise ConvergenceError(
                f"the problem has no solution at the start of the unknowns, {self.numbers.shown_start}: {error} "
                "Start elsewhere: Unknown(start=…)."
            ) from error
        return self.network(plan, family, data, state, 1e-9)

    def _narrow(self, plan: StaticPlan) -> StaticPlan:
        rules = self.task.rules.static
        return plan.narrower(self.rules.coarse, rules.pilot_least, self.rules.coarse_most)

    def network(
        self, plan: StaticPlan, family: Family, data: Data, start: Function, accuracy: float | None = None
    ) -> Network:
        """Draw features and points of a plan."""
        plan = plan.with_special(family.count, family.sites)
        points = plan.place_points()
        points = replace(points, x=fixed(points.x))  # so that layers keep their features there
        collocation = plan.collocation(family.layer(plan, points), points)
        newton = self.task.rules.static.newton
        return Network(StaticModel.of(self.numbers, collocation, data, newton, start, accuracy), plan, family, points)

    def fine(self, found: Fit, coarse: Network, data: Data, seed: int = 0) -> Network:
        """Choose features where the coarse fit has led to, and return the fine network.

        Special functions are tried here, if it would leave much: where unknowns are wrong, data and sources do not suit
        each other, and solutions are rough at the boundary.
        """
        problem = self.numbers.at(found.theta)
        plan = static_plan(problem, replace(self.task, seed=self.task.seed + seed))
        state = found.prediction.state.state
        narrow = StaticPlan(problem, coarse.plan.task, coarse.plan.width, coarse.plan.count, coarse.plan.boundary)
        pilot = best_family(narrow, state, coarse.family) if seed == 0 else None
        if pilot is not None and promised(plan, pilot) > self.task.rules.static.special_from:
            pilot = with_special_functions(narrow, pilot)
        return self.network(
            plan, coarse.family if pilot is None else pilot.family, data, state, self.rules.fine_accuracy
        )

    def solution(
        self, network: Network, prediction: Prediction, singular: tuple[float, float] | None = None
    ) -> Solution:
        """Return the solution at the estimate; its conditioning may be known."""
        solved = prediction.state
        plan = replace(network.plan, problem=self.numbers.stated(solved.theta))
        found = Found(solved.state, (), solved.last)
        pilot = Pilot(network.family, found, float("nan"))
        if singular is None:
            with blas_threads(plan.operations, REFLECTIONS):
                singular = smallest_values(network.model.collocation(solved.theta), solved.last)
        return made_solution(plan, pilot, found, network.points, singular, "the fit")


def chord_steps(question: Question, model: StaticModel, known: Fit, sigmas: Array, start: Fit) -> Fit | None:
    """Step with the factorisation of a known fit, of the solution and the unknowns at once; None if that leads nowhere.

    It ends where nothing changes beside the noise. Start is the known fit, or where such steps have led to.
    """
    data, numbers, rules = question.data, question.numbers, question.rules
    solved, reached = known.prediction.state, start.prediction.state
    theta, c, before, steps = reached.theta, reached.state.coefficients, np.inf, list[tuple[float, ...]]()
    for _ in range(rules.again):
        prediction = Prediction(*model.observed(theta, c, solved.sensitivities), solved)
        left = (data.values - prediction.values) / sigmas
        steps.append((float(left @ left), *map(float, theta)))
        step = gauss_newton_step(prediction, data.values, sigmas, numbers, theta)
        bars = spread_of(left * sigmas, prediction.slopes, sigmas, data.noise_is_known, question.level).covariance
        size = float(np.max(np.abs(step) / numbers.scales))
        small = bool(np.all(np.abs(step) <= rules.noise_settled * np.sqrt(np.diag(bars))))
        small = small and len(steps) > 1 and not meets_bound(theta, step, numbers)
        if size <= rules.fine_settled or small:
            moved = solved._replace(state=solved.state.moved(c), theta=theta)
            return Fit(theta, prediction._replace(state=moved), steps[-1][0], tuple(steps))
        if size > rules.contraction * before:
            return None
        theta, before = theta + step, size
        c = model.corrected(model.collocation(theta), solved, c + solved.sensitivities @ step)
    return None


def refine(
    model: Model,
    data: Data,
    sigmas: Array,
    numbers: Numbers,
    theta: Array,
    rules: InverseRules,
    known: Prediction | None = None,
) -> tuple[Fit, bool]:
    """Take Gauss–Newton steps until they change nothing any more; the start is close, and may be known.

    Tell whether that was reached: steps that grow are not taken.
    """
    near: Any = None
    steps: list[tuple[float, ...]] = []
    best: Fit | None = None
    before, step = np.inf, np.zeros(len(theta))
    for _ in range(rules.fine_steps):
        try:
            prediction = model.at(theta, near) if known is None else known
        except FAILURES:
            if best is None:
                raise
            break
        known = None
        left = (data.values - prediction.values) / sigmas
        squares = float(left @ left)
        if best is not None and before > rules.far and not squares <= best.squares:
            break  # where slopes nearly vanish, a step may lead anywhere
        steps.append((squares, *map(float, theta)))
        seen = prediction if best is None else with_last_step(prediction, best.prediction, step, numbers.scales)
        best = Fit(theta, prediction, squares, tuple(steps))
        step = gauss_newton_step(seen, data.values, sigmas, numbers, theta)
        deviations = 1.0 / np.maximum(np.linalg.norm(prediction.slopes / sigmas[:, None], axis=0), 1e-300)
        change = float(np.max(np.abs(step) / np.maximum(np.abs(theta), 1e-12 * numbers.scales)))
        noise = 1.0 if data.noise_is_known else np.sqrt(squares / max(len(left) - len(theta), 1))
        small = np.max(np.abs(step) / deviations) <= rules.noise_settled * noise
        if change <= rules.fine_last and isinstance(model, StaticModel):  # which may end at a bound
            return Fit(theta + step, extrapolated(prediction, step), squares, tuple(steps)), True
        if change <= rules.fine_settled or (small and not meets_bound(theta, step, numbers)):
            return best, True
        if change > before:
            break
        before, near, theta = change, prediction.state, theta + step
        if np.max(np.abs(theta) / numbers.scales, initial=0.0) > rules.farthest:
            break
    assert best is not None
    return best, False


def with_last_step(prediction: Prediction, before: Prediction, step: Array, scales: Array) -> Prediction:
    """Return a prediction whose slopes, if they are old ones, explain the last step."""
    if prediction.slopes is not before.slopes:
        return prediction
    missed = prediction.values - before.values - before.slopes @ step
    return prediction._replace(slopes=corrected_slopes(before.slopes, missed, step, scales))


def meets_bound(theta: Array, step: Array, numbers: Numbers) -> bool:
    """Whether a step ends at a bound: however small it is, it should be taken, so that this is told."""
    lower, upper = numbers.bounds
    there = (theta + step <= lower) | (theta + step >= upper)
    return bool(np.any(there & (np.abs(step) > 1e-14 * numbers.scales)))


def gauss_newton_step(prediction: Prediction, values: Array, sigmas: Array, numbers: Numbers, theta: Array) -> Array:
    """Return the step that fits the data best to first order, within the bounds."""
    from scipy.optimize import lsq_linear  # it takes a tenth of a second, which few need

    scales, (lower, upper) = numbers.scales, numbers.bounds
    weighted = prediction.slopes * scales / sigmas[:, None]
    left = (values - prediction.values) / sigmas
    step = np.linalg.lstsq(weighted, left, rcond=1e-14)[0] * scales
    if np.all(theta + step >= lower) and np.all(theta + step <= upper):
        return np.asarray(step)
    low, high = (lower - theta) / scales, (upper - theta) / scales
    found = lsq_linear(weighted, left, (np.minimum(low, -1e-300), np.maximum(high, 1e-300)))
    return np.asarray(np.clip(found.x * scales, lower - theta, upper - theta))
