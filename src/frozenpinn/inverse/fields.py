"""Unknown fields: found by Gauss–Newton with the equation exact, judged by a second network, and put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from frozenpinn.basis.hidden import Derivative
from frozenpinn.errors import ConvergenceError, ProblemError
from frozenpinn.inverse.evidence import Posterior
from frozenpinn.inverse.evolution import EvolutionModel
from frozenpinn.inverse.field_basis import FieldBasis
from frozenpinn.inverse.field_search import (
    OTHER_SEED,
    FieldInference,
    SecondOpinion,
    Step,
    second_opinion,
    with_bases,
)
from frozenpinn.inverse.fit import Fit, is_poor
from frozenpinn.inverse.model import Chord, Model, Prediction, Shifted, StaticChord, Straight
from frozenpinn.inverse.profile import refuse_unseen, runaway
from frozenpinn.inverse.question import Question, estimates_of, told
from frozenpinn.inverse.result import Inferred, InferredField
from frozenpinn.inverse.rules import InverseRules
from frozenpinn.inverse.sensors import Data
from frozenpinn.inverse.static import StaticInference
from frozenpinn.inverse.uncertainty import check_seen, noise_objection
from frozenpinn.inverse.unknowns import Numbers
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.runtime.stopwatch import Stopwatch

Array = np.ndarray
_SEEN = 400  # points at which a field is looked at


class Kept(NamedTuple):
    """What new data can be inferred with: models, a search with its decompositions, and the fit that all started from.

    ``near`` predicts near that fit with what is factorised there, ``model`` everywhere.
    """

    search: FieldInference
    near: Callable[[Data], Model]
    model: Callable[[Data], Model]
    solve: Callable[[Fit], Solution]
    fit: Fit
    sigmas: Array
    second: SecondOpinion

    def weights(self, question: Question, same: bool = True) -> Array:
        """Return deviations for data at the same places or others: known ones with the distance of two networks."""
        if question.data.noise_is_known:
            return np.sqrt(question.sigmas(self.fit if same else None) ** 2 + self.second.blur**2)
        return self.sigmas if same else question.sigmas()


def infer_fields(question: Question, watch: Stopwatch) -> Inferred:
    """Find unknown fields, and unknown numbers beside them."""
    question = with_bases(question)
    question.check()
    return (_static if question.numbers.problem.is_static else _evolution)(question, watch)


def _static(question: Question, watch: Stopwatch) -> Inferred:
    search, data, rules = FieldInference(question), question.data, question.rules
    inference = StaticInference(question.numbers, question.task, rules)
    with watch.stage("choice of features"):
        coarse = inference.coarse(data)
    with watch.stage("fit"):
        first, steps = search.descend(coarse.model, question.numbers.start, question.sigmas(), rules.field_steps)
        fit = Fit(first.theta, first.prediction, first.squares, tuple(steps))
    with watch.stage("fine network"):
        fine = inference.fine(fit, coarse, data)
        sigmas = search.sigmas(fit)
        best, more, sigmas = _refined(search, fine.model, first.theta, sigmas)
    fit = Fit(best.theta, best.prediction, best.squares, (*steps, *more))

    def other(numbers: Numbers, theta: Array) -> Model:
        twin = StaticInference(numbers, question.task, rules)
        return twin.fine(fit._replace(theta=theta), coarse._replace(family=fine.family), data, OTHER_SEED).model

    with watch.stage("second network"):
        second = second_opinion(question, fit, sigmas, other)
    with watch.stage("solution"):
        solution = inference.solution(fine, best.prediction)
    facts = solution.facts
    assert facts is not None

    def near(given: Data) -> Model:
        same = given.has_places_of(data)
        return StaticChord(fine.model if same else fine.model.measuring(given), best.prediction, same, sigmas)

    def model(given: Data) -> Model:
        return replace(fine.model.measuring(given), start=fit.prediction.state.state)

    def solve(found: Fit) -> Solution:
        return inference.solution(fine, found.prediction, facts.singular)

    kept = Kept(search, near, model, solve, fit, sigmas, second)
    return _put_together(kept, search, fit, kept.weights(question), solution, watch)


def _evolution(question: Question, watch: Stopwatch) -> Inferred:
    search, data, rules, task, numbers = (
        FieldInference(question),
        question.data,
        question.rules,
        question.task,
        question.numbers,
    )
    quick = replace(task, tolerances=replace(task.tolerances, time=max(task.tolerances.time, rules.quick_rtol)))
    rough = EvolutionModel(numbers, data, quick, rules.tangent)
    with watch.stage("fit"):
        start: Model = _linear(rough, numbers.start) if numbers.is_affine else rough
        first, steps = search.descend(start, numbers.start, question.sigmas(), rules.field_steps)
        fit = Fit(first.theta, first.prediction, first.squares, tuple(steps))
    model = EvolutionModel(numbers, data, task, rules.tangent)
    with watch.stage("refinement"):
        sigmas, chord = search.sigmas(fit), Chord(model.values, first.prediction.slopes)
        best, more, sigmas = _refined(search, chord, first.theta, sigmas)
        fit = Fit(best.theta, best.prediction, best.squares, (*steps, *more))

    def other(twins: Numbers, theta: Array) -> Model:
        return EvolutionModel(twins, data, replace(task, seed=task.seed + OTHER_SEED), rules.tangent)

    with watch.stage("second network"):
        second = second_opinion(question, fit, sigmas, other)

    def solve(found: Fit) -> Solution:  # what it can't resolve is seen by the second network
        run = found.prediction.state or model.values(found.theta)[1]
        solution: Solution = run.told(numbers.stated(found.theta), warnings=False)
        return solution

    def renewed(given: Data) -> Model:
        if given.has_places_of(data):
            return chord
        other_places = replace(model, data=given)
        return Chord(other_places.values, other_places.at(fit.theta).slopes)

    base = first.prediction.values
    if not numbers.is_affine and not np.array_equal(first.theta, fit.theta):
        base = rough.values(fit.theta)[0]
    noise = sigmas * np.sqrt(best.posterior.variance)

    def near(given: Data) -> Model:
        if not given.has_places_of(data):
            return renewed(given)
        if numbers.is_affine:
            return Straight(fit.theta, fit.prediction)
        return Shifted(rough.values, base, fit.prediction, noise, rules.quick_reach, first.bend)

    kept = Kept(search, near, renewed, solve, fit, sigmas, second)
    return _put_together(kept, search, fit, kept.weights(question), solve(fit), watch)


def _linear(model: EvolutionModel, theta: Array) -> Model:
    """Return the model with slopes from one place: they are the same everywhere."""
    return Chord(model.values, model.at(theta).slopes)


def _again(kept: Kept, given: Any) -> Inferred:
    """Infer from new data with what is factorised, from the old fit on."""
    question, watch = kept.search.question.with_data(given), Stopwatch(None)
    question.check()
    with watch.stage("steps from the old fit"):
        same = question.data.has_places_of(kept.search.question.data)
        search, known = kept.search.renewed(question), kept.fit.prediction if same else None
        sigmas = kept.weights(question, same)
        try:
            best, steps, sigmas = _refined(search, kept.near(question.data), kept.fit.theta, sigmas, known)
        except ConvergenceError:
            best, steps, sigmas = _refined(search, kept.model(question.data), kept.fit.theta, sigmas, known)
    fit = Fit(best.theta, best.prediction, best.squares, tuple(steps))
    return _put_together(kept, search, fit, sigmas, lambda: kept.solve(fit), watch)


def _refined(
    search: FieldInference, model: Model, theta: Array, sigmas: Array, known: Prediction | None = None
) -> tuple[Step, list[tuple[float, ...]], Array]:
    """Take the last steps, once more if what they leave asks for other weights."""
    question = search.question
    best, steps = search.descend(model, theta, sigmas, question.rules.fine_steps, known)
    fit = Fit(best.theta, best.prediction, best.squares, ())
    if question.data.noise_is_known or (known is not None and search.suits(fit, sigmas)):
        return best, steps, sigmas
    others = search.sigmas(fit, sigmas)
    if question.has_weights(others, sigmas):
        return best, steps, sigmas
    best, more = search.descend(model, best.theta, others, question.rules.fine_steps, best.prediction)
    return best, [*steps, *more], others


def _put_together(
    kept: Kept,
    search: FieldInference,
    fit: Fit,
    sigmas: Array,
    solution: Solution | Callable[[], Solution],
    watch: Stopwatch,
) -> Inferred:
    """Return all that was found with some deviations, which contain the distance of two networks."""
    question, data, numbers = search.question, search.question.data, search.numbers
    free = search.columns[0]
    slopes = fit.prediction.slopes[:, free]
    names = (*numbers.names, *(f"the mean of {basis.name}" for basis in numbers.fields))
    same = data.has_places_of(kept.search.question.data)
    doubt = kept.second.slopes if same else np.zeros_like(slopes)
    poor = is_poor(fit, data, numbers, question.rules)
    try:
        check_seen(slopes, doubt, sigmas, names, np.ones(len(free)), question.rules.blind[0])
    except ProblemError as objection:
        refuse_unseen(question, fit.theta, poor, objection)
    away = runaway(question, fit.theta) if poor else None
    if away is not None:
        raise ConvergenceError(
            f"the data push {away}, and are not explained there: the equation does not describe them. Look for "
            "outliers, give the noise, or start elsewhere."
        )
    posterior = search.posterior(fit.prediction, fit.theta, sigmas)
    gap = kept.second.gap
    # the difference of two networks vanishes here and there, by chance: that of each coefficient counts by itself, too
    covariance = posterior.covariance + 0.5 * (np.outer(gap, gap) + np.diag(gap**2))
    left = data.values - fit.prediction.values
    squares = float(np.sum((left / sigmas) ** 2))
    freedom = max(round(len(left) - len(free) - posterior.effective), 0)
    level = 0.5 + question.level / 2
    quantile = float(ndtri(level) if data.noise_is_known else stdtrit(max(freedom, 1), level))
    count = len(numbers.names)
    fields = _fields(question, fit, covariance, posterior.effective)
    return Inferred(
        numbers.problem,
        data.parts,
        estimates_of(question, fit.theta, covariance, quantile),
        covariance[:count, :count],
        solution,
        fit.prediction.values,
        sigmas,
        squares,
        freedom,
        None if data.noise_is_known else float(np.sqrt(np.sum(left**2) / max(freedom, 1))),
        gap[:count],
        (),
        fit.steps,
        _notes(question, posterior, squares, freedom, fields, left),
        dict(watch.seconds),
        fields,
        lambda given: _again(kept, given),
    )


def _fields(question: Question, fit: Fit, covariance: Array, effective: float) -> dict[str, InferredField]:
    found = {
        basis.name: InferredField(
            basis.name,
            basis.domain,
            basis.unknown.arguments(basis.jets),
            basis.at,
            basis.unknown.inner_start,
            fit.theta[own],
            covariance[own, own],
            basis.unknown.positive,
            effective,
            question.level,
        )
        for basis, own in question.numbers.parts()
    }
    return {basis.name: _judged(found[basis.name], basis, question.rules) for basis in question.numbers.fields}


@remembered
def _looks(basis: FieldBasis) -> tuple[Array, ...]:
    """Return the functions of a field, and their slopes along each axis, at random points."""
    d = basis.domain.dimension
    x = basis.domain.sample(_SEEN, "random", int(Seed.UNKNOWN_FIELD)).x
    orders = [(0,) * d, *(tuple(int(i == axis) for i in range(d)) for axis in range(d))]
    return tuple(basis.at(x, Derivative(order)) for order in orders)


def _judged(field: InferredField, basis: FieldBasis, rules: InverseRules) -> InferredField:
    """Return a field that changes as steeply as a jump would, with what that means for its deviations."""
    values, *slopes = (table @ field.mean for table in _looks(basis))
    spread, length = float(np.ptp(values)), float(np.max(field.domain.lengths))
    steepest = float(np.max(np.sqrt(sum(slope**2 for slope in slopes))))
    if spread == 0.0 or rules.steep * length * steepest < 0.5 * spread:
        return field
    return replace(field, steep=length / max(2.0 * field.effective ** (1 / field.domain.dimension), 1.0))


def _notes(
    question: Question,
    posterior: Posterior,
    squares: float,
    freedom: int,
    fields: Mapping[str, InferredField],
    left: Array,
) -> tuple[str, ...]:
    notes = [
        f"'{name}' changes by half of its range within {question.rules.steep:.0%} of the domain: if it jumps there, "
        "values beside the jump are less certain than their bands say, which assume a smooth field."
        for name, field in fields.items()
        if field.steep
    ]
    if posterior.effective < question.rules.few:
        notes.append(
            f"the data tell about {posterior.effective:.2g} degrees of freedom of the field only; the bars rest on the "
            "assumption that it is smooth."
        )
    return (*notes, *told(_objections(question, squares, freedom, left)))


def _objections(question: Question, squares: float, freedom: int, left: Array) -> list[str]:
    """Return what speaks against the noise as given, or against the equation if it is not."""
    if question.data.noise_is_known:
        objection = noise_objection(squares, freedom, question.rules)
        return [objection] if objection else []
    rest, spread = float(np.sqrt(np.mean(left**2))), float(np.std(question.data.values))
    if rest <= question.rules.field_unexplained * spread:
        return []
    return [
        f"the fit leaves {rest:.2g} of data that vary by {spread:.2g}: they are mostly noise, or the equation does not "
        "describe them. Look for outliers, or give the noise."
    ]
