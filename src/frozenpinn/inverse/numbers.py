"""Unknown numbers from measurements: fit, refine, judge by a second network, and put together what was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.errors import ProblemError, warn
from frozenpinn.inverse.evolution import EvolutionModel
from frozenpinn.inverse.fit import Fit, fit_from_many, is_poor
from frozenpinn.inverse.local import Local, local_fit
from frozenpinn.inverse.model import Chord, Model, Prediction
from frozenpinn.inverse.profile import open_ends, refuse_unseen
from frozenpinn.inverse.question import Question, estimates_of, told
from frozenpinn.inverse.result import Estimate, Inferred, Minimum
from frozenpinn.inverse.rules import InverseRules
from frozenpinn.inverse.static import Network, StaticInference, chord_steps, gauss_newton_step, refine
from frozenpinn.inverse.uncertainty import Spread, check_seen, noise_objection, relative_sight, spread_of
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.stopwatch import Stopwatch

Array = np.ndarray
_OTHER_SEED = 1000  # of the second network, beyond the first


def infer_numbers(question: Question, watch: Stopwatch) -> Inferred:
    """Find the unknown numbers of a static or time-dependent problem."""
    question.check()
    if question.numbers.problem.is_static:
        return _static(question, watch)
    return _evolution(question, watch)


# ---- static problems --------------------------------------------------------------------------------


def _static(question: Question, watch: Stopwatch) -> Inferred:
    numbers, data, rules = question.numbers, question.data, question.rules
    inference = StaticInference(numbers, question.task, rules)
    with watch.stage("choice of features"):
        coarse = inference.coarse(data)
    with watch.stage("fit"):
        fits = _fits(coarse.model, question)
    sigmas = question.sigmas(fits[0])
    with watch.stage("fine network"):
        fine = inference.fine(fits[0], coarse, data)
        best, sigmas = _refined(question, fine.model, fits[0].theta, sigmas, rules)
    with watch.stage("second network"):
        other = inference.fine(best, coarse._replace(family=fine.family), data, _OTHER_SEED)
        second = other.model.at(best.theta)

    with watch.stage("solution"):
        solution = inference.solution(fine, best.prediction)
    kept = Kept(fine, other, best, second, solution)

    def predict(theta: Array) -> Array:
        return fine.model.at(theta, best.prediction.state).values

    found = _put_together(
        question, fits, best, sigmas, second, solution, watch, lambda given: _again(question, kept, given), predict
    )
    return replace(found, _predict=predict)


def _fits(model: Model, question: Question) -> list[Fit]:
    """Return all minima, the best first."""
    numbers, data, rules, seed = question.numbers, question.data, question.rules, question.task.seed
    return fit_from_many(model, data, question.sigmas(), numbers, rules, question.starts, seed)


def _refined(question: Question, model: Model, theta: Array, sigmas: Array, rules: InverseRules) -> tuple[Fit, Array]:
    """Refine a fit, once more if what it leaves asks for other weights."""
    best, _ = refine(model, question.data, sigmas, question.numbers, theta, rules)
    others = question.sigmas(best)
    if question.has_weights(others, sigmas):
        return best, sigmas
    again, _ = refine(model, question.data, others, question.numbers, best.theta, rules, best.prediction)
    return again._replace(steps=(*best.steps, *again.steps)), others


class Kept(NamedTuple):
    """What new data can be inferred with: two networks, the old fit on both, and its solution."""

    fine: Network
    other: Network
    old: Fit
    second: Prediction
    solution: Solution


def _again(question: Question, kept: Kept, given: Any) -> Inferred:
    """Infer from new data with old factorisations: steps of the solution and the unknowns at once."""
    numbers, watch = question.numbers, Stopwatch(None)
    question = question.with_data(given)
    question.check()
    with watch.stage("steps with an old factorisation"):
        model = kept.fine.model.measuring(question.data)
        old = kept.old.prediction.state
        seen = model.observed(kept.old.theta, old.state.coefficients, old.sensitivities)
        before = question.sigmas(kept.old._replace(prediction=Prediction(*seen, old)))
        best = chord_steps(question, model, kept.old, before, kept.old)
        sigmas = before if best is None else question.sigmas(best)
        if best is not None and not question.has_weights(sigmas, before):
            best = chord_steps(question, model, kept.old, sigmas, best)
    if best is None:
        return infer_numbers(question, watch)
    second = kept.second.state
    twin = kept.other.model.measuring(question.data)
    there = twin.observed(kept.old.theta, second.state.coefficients, second.sensitivities)
    twins = Prediction(best.prediction.values + there[0] - seen[0], there[1], None)
    inference, facts = StaticInference(numbers, question.task, question.rules), kept.solution.facts
    assert facts is not None

    def solution() -> Solution:
        return inference.solution(kept.fine, best.prediction, facts.singular)

    found = _put_together(
        question, [best], best, sigmas, twins, solution, watch, lambda more: _again(question, kept, more)
    )
    return replace(found, _predict=lambda theta: model.at(theta, best.prediction.state).values)


# ---- evolutions -------------------------------------------------------------------------------------


def _evolution(question: Question, watch: Stopwatch) -> Inferred:
    numbers, data, rules, task = question.numbers, question.data, question.rules, question.task
    model = EvolutionModel(numbers, data, task, rules.tangent)
    with watch.stage("fit"):
        fits = _fits(
            EvolutionModel(numbers, data, question.quick_task, rules.tangent),
            replace(question, rules=replace(rules, settled=rules.quick_settled)),
        )
    with watch.stage("refinement"):
        slopes, sigmas = fits[0].prediction.slopes, question.sigmas(fits[0])
        exact = replace(rules, fine_settled=max(rules.fine_settled, 0.1 * task.tolerances.time))
        best, sigmas = _refined(question, Chord(model.values, slopes), fits[0].theta, sigmas, exact)
    with watch.stage("second network"):
        tolerances = replace(task.tolerances, time=rules.looser * task.tolerances.time)
        other = replace(model, task=replace(task, seed=task.seed + _OTHER_SEED, tolerances=tolerances))
        second = Chord(other.values, slopes).at(best.theta)
        if relative_sight(slopes, sigmas, numbers.scales) < rules.doubtful:
            second = second._replace(slopes=other.slopes(best.theta, second.state))
    solution = best.prediction.state.told(numbers.stated(best.theta))
    kept = KeptInTime(question, model, best, second, Local.moved(fits[0], best))

    def predict(theta: Array) -> Array:
        return model.values(theta)[0]

    found = _put_together(question, fits, best, sigmas, second, solution, watch, kept.again, predict)
    return replace(found, _predict=predict)


@dataclass(frozen=True, eq=False)
class KeptInTime:
    """What new data of an evolution can be inferred with: the old fit, and what a second network makes of it.

    ``local`` tells what is measured near the fit; None if second derivatives are not known.
    """

    question: Question
    model: EvolutionModel
    fit: Fit
    second: Prediction
    local: Local | None

    def again(self, given: Any) -> Inferred:
        """Infer from new data near the old fit: by polynomials, by solves with old slopes, or anew."""
        question, watch, fit = self.question.with_data(given), Stopwatch(None), self.fit
        question.check()
        if not question.data.has_places_of(self.question.data):
            return infer_numbers(replace(question, numbers=question.numbers.started(fit.theta)), watch)
        with watch.stage("local model"):
            best, sigmas = self._nearby(question)
        settled = True
        if best is None:
            with watch.stage("refinement"):
                sigmas, chord = question.sigmas(fit), Chord(self.model.values, fit.prediction.slopes)
                best, settled = refine(
                    chord, question.data, sigmas, question.numbers, fit.theta, question.rules, fit.prediction
                )
        if not settled or is_poor(best, question.data, question.numbers, question.rules):
            return infer_numbers(question, watch)
        apart = self.second.values - fit.prediction.values  # of two networks, which have the same slopes
        twin = best.prediction._replace(values=best.prediction.values + apart)
        return replace(
            _put_together(question, [best], best, sigmas, twin, lambda: self._solved(best), watch, self.again),
            _predict=lambda theta: self.model.values(theta)[0],
        )

    def _nearby(self, question: Question) -> tuple[Fit | None, Array]:
        """Fit by polynomials, twice, as what is known of the noise may depend on the fit."""
        sigmas = question.sigmas(self.fit)
        if self.local is None:
            return None, sigmas
        first = local_fit(self.local, question, sigmas, self.fit.theta)
        if first is None:
            return None, sigmas
        sigmas = question.sigmas(first)
        return local_fit(self.local, question, sigmas, first.theta), sigmas

    def _solved(self, fit: Fit) -> Solution:
        run = fit.prediction.state or self.model.values(fit.theta)[1]
        solution: Solution = run.told(self.question.numbers.stated(fit.theta))
        return solution


# ---- both -------------------------------------------------------------------------------------------


def _put_together(
    question: Question,
    fits: list[Fit],
    best: Fit,
    sigmas: Array,
    second: Prediction,
    solution: Solution | Callable[[], Solution],
    watch: Stopwatch,
    renew: Callable[[Any], Inferred],
    predict: Callable[[Array], Array] | None = None,
) -> Inferred:
    """Return all that was found, with error bars that contain the noise and the distance of two networks.

    With ``predict``, which tells what would be measured elsewhere, the ends of wide intervals are looked at.
    """
    numbers, data = question.numbers, question.data
    slopes, blind = best.prediction.slopes, question.rules.blind[not numbers.problem.is_static]
    poor = is_poor(best, data, numbers, question.rules)
    try:
        check_seen(slopes, slopes - second.slopes, sigmas, numbers.names, numbers.scales, blind)
    except ProblemError as objection:
        refuse_unseen(question, best.theta, poor, objection)
    blur = float(np.sqrt(np.mean((second.values - best.prediction.values) ** 2)))
    if data.noise_is_known:
        sigmas = np.sqrt(sigmas**2 + blur**2)
    residuals = data.values - best.prediction.values
    spread = spread_of(residuals, slopes, sigmas, data.noise_is_known, question.level)
    rest, there = (
        gauss_newton_step(prediction, data.values, sigmas, numbers, best.theta)
        for prediction in (best.prediction, second)
    )
    gap = there - rest
    covariance = spread.covariance + np.outer(gap, gap) + np.outer(rest, rest)
    estimates = estimates_of(question, best.theta, covariance, spread.quantile)
    ends = [] if predict is None else open_ends(question, best, sigmas, spread, predict, poor)
    notes = told([*_notes(question, poor, estimates, spread), *ends])
    return Inferred(
        numbers.problem,
        data.parts,
        estimates,
        covariance,
        solution,
        best.prediction.values,
        sigmas,
        spread.chi_square,
        spread.freedom,
        spread.noise,
        gap,
        _rivals(question, fits, spread),
        (*fits[0].steps, *(best.steps if best is not fits[0] else ())),
        notes,
        dict(watch.seconds),
        _renew=renew,
    )


def _notes(question: Question, poor: bool, estimates: dict[str, Estimate], spread: Spread) -> list[str]:
    """Return what to beware of."""
    notes = []
    bounds = dict(zip(question.numbers.names, zip(*question.numbers.bounds, strict=True), strict=True))
    for name, estimate in estimates.items():
        if estimate.at_bound:
            bound = bounds[name][estimate.at_bound == "upper"]
            what = "no value between the bounds fits the data" if poor else "the data ask for a value beyond it"
            notes.append(f"'{name}' lies at its {estimate.at_bound} bound {bound:g}: {what}. Widen the bounds.")
    objection = None
    if question.data.noise_is_known:
        objection = noise_objection(spread.chi_square, spread.freedom, question.rules)
        if objection and poor:
            objection += " Or a better minimum was missed: give bounds, and starts=100."
    elif poor:
        objection = (
            f"the fit leaves {spread.noise:.2g} of data that vary by {np.std(question.data.values):.2g}: the equation "
            "does not describe them, or a better minimum was missed. Give bounds, Unknown(1.0, lower=0.1, upper=10), "
            "and starts=20."
        )
    return [*notes, objection] if objection else notes


def _rivals(question: Question, fits: list[Fit], spread: Spread) -> tuple[Minimum, ...]:
    """Return other minima, with χ² in units of the noise; warn of those that explain the data as well."""
    names, unit = question.numbers.names, 1.0
    if not question.data.noise_is_known:
        unit = max(spread.chi_square / max(spread.freedom, 1), 1e-300)
    found = tuple(
        Minimum(dict(zip(names, map(float, fit.theta), strict=True)), fit.squares / unit) for fit in fits[1:6]
    )
    if found and found[0].chi_square <= fits[0].squares / unit + question.rules.rivals:
        values = ", ".join(f"{name} = {value:.6g}" for name, value in found[0].values.items())
        warn(
            f"the data are explained by another set of values, too: {values}. Narrow the bounds, or measure elsewhere."
        )
    return found
