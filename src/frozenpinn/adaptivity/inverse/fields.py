"""Unknown fields: Gauss–Newton with the equation exact, and a smoothness prior averaged over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as sla
from scipy.special import ndtri, stdtrit

from frozenpinn.adaptivity.inverse.data import Data
from frozenpinn.adaptivity.inverse.evidence import Posterior, averaged
from frozenpinn.adaptivity.inverse.evolution import EvolutionModel
from frozenpinn.adaptivity.inverse.field_basis import FieldBasis, field_basis
from frozenpinn.adaptivity.inverse.fit import Fit
from frozenpinn.adaptivity.inverse.model import Chord, Model, Prediction
from frozenpinn.adaptivity.inverse.question import Question, estimates_of, told
from frozenpinn.adaptivity.inverse.rules import InverseRules
from frozenpinn.adaptivity.inverse.static import StaticInference
from frozenpinn.adaptivity.inverse.uncertainty import check_seen, noise_objection
from frozenpinn.adaptivity.inverse.unknowns import Numbers
from frozenpinn.errors import ConvergenceError, IntegrationError
from frozenpinn.results.inferred import Inferred
from frozenpinn.results.inferred_field import InferredField
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.seeds import Seed
from frozenpinn.runtime.stopwatch import Stopwatch

Array = np.ndarray
_SEEN = 400  # points at which a field is looked at
_OTHER_SEED = 1000  # of the second network, beyond the first


class Step(NamedTuple):
    """Where the unknowns are, what they predict, and the posterior of the linearisation there."""

    theta: Array
    prediction: Prediction
    posterior: Posterior
    squares: float


@dataclass(frozen=True, eq=False)
class FieldInference:
    """One problem with unknown fields, and numbers beside them."""

    question: Question

    @property
    def numbers(self) -> Numbers:
        """All unknowns as one vector."""
        return self.question.numbers

    @cached_property
    def columns(self) -> tuple[Array, Array]:
        """Which unknowns have no prior (numbers, and the mean of each field), and which have one."""
        size = len(self.numbers.start)
        free = [*range(len(self.numbers.names)), *(own.start for _, own in self.numbers.parts())]
        return np.array(free, dtype=int), np.setdiff1d(np.arange(size), free)

    def posterior(self, prediction: Prediction, theta: Array, sigmas: Array) -> Posterior:
        """Return what the linearised problem says, in the order of the unknowns."""
        free, smooth = self.columns
        data, grid = self.question.data, self.question.rules.prior
        slopes = prediction.slopes / sigmas[:, None]
        y = (data.values - prediction.values) / sigmas + slopes @ theta
        norms = np.maximum(np.linalg.norm(slopes[:, free], axis=0), 1e-300)
        matrices = [sla.block_diag(*(b.roughness(length) for b in self.numbers.fields)) for length in grid.lengths]
        found = averaged(y, slopes[:, free] / norms, slopes[:, smooth], matrices, grid, data.noise_is_known)
        order = np.argsort(np.concatenate([free, smooth]))
        scale = np.concatenate([1.0 / norms, np.ones(len(smooth))])
        mean, covariance = found.mean * scale, found.covariance * scale * scale[:, None]
        return found._replace(mean=mean[order], covariance=covariance[np.ix_(order, order)])

    def step(self, model: Model, theta: Array, sigmas: Array, near: Any, known: Prediction | None = None) -> Step:
        """Return where a model is with values of the unknowns; what it predicts may be known."""
        prediction = model.at(theta, near) if known is None else known
        left = (self.question.data.values - prediction.values) / sigmas
        return Step(theta, prediction, self.posterior(prediction, theta, sigmas), float(left @ left))

    def descend(
        self, model: Model, theta: Array, sigmas: Array, most: int, known: Prediction | None = None
    ) -> tuple[Step, list[tuple[float, ...]]]:
        """Take Gauss–Newton steps until nothing changes beside the noise."""
        rules, steps, before, stalls = self.question.rules, list[tuple[float, ...]](), np.inf, False
        current = self.step(model, theta, sigmas, None, known)
        for _ in range(most):
            steps.append((current.squares, *map(float, current.theta[: len(self.numbers.names)])))
            change = current.posterior.mean - current.theta
            seen = current.prediction.slopes @ change / sigmas
            noise = np.sqrt(current.posterior.variance)
            size = float(np.sqrt(np.mean(seen**2)))
            if size <= rules.field_settled * noise or (stalls and size > rules.field_slow * before):
                break
            before = size
            following = self._shortened(model, current, change, sigmas)
            if following is None:
                break
            stalls = following.squares >= (1.0 - rules.field_stalls) * current.squares
            current = following
        return current, steps

    def _shortened(self, model: Model, current: Step, change: Array, sigmas: Array) -> Step | None:
        """Return the state after a step that is short enough not to raise the misfit; None if there is none."""
        rules, (lower, upper) = self.question.rules, self.numbers.bounds
        count, length = len(sigmas), 1.0
        for _ in range(rules.field_halvings):
            theta = current.theta + length * change
            theta[: len(lower)] = np.clip(theta[: len(lower)], lower, upper)
            try:
                following = self.step(model, theta, sigmas, current.prediction.state)
            except (ConvergenceError, IntegrationError):
                length /= 2.0
                continue
            if following.squares <= rules.worse * current.squares + count * current.posterior.variance:
                return following
            length /= 2.0
        return None


def with_bases(question: Question, seed: int = 0) -> Question:
    """Give every unknown field functions that it is combined of."""
    problem, rules = question.numbers.problem, question.rules
    bases = tuple(field_basis(name, problem, rules.field, seed) for name in problem.parameters.unknown_fields)
    return replace(question, numbers=Numbers(problem, bases))


def second_opinion(question: Question, fit: Fit, made: Callable[[Numbers, Array], Model]) -> tuple[Array, Array]:
    """Return by how much predictions and unknowns differ if both networks, of solution and fields, are others."""
    mine = question.numbers
    other = with_bases(question, question.task.seed + _OTHER_SEED)
    theta, count = other.numbers.start, len(mine.names)
    theta[:count] = fit.theta[:count]
    pairs = [(*a, *b, _places(a[0])) for a, b in zip(mine.parts(), other.numbers.parts(), strict=True)]
    for one, own, two, its, x in pairs:
        theta[its] = two.fitted(one.unknown.inner_start + one.at(x) @ fit.theta[own], x)
    first = FieldInference(other).step(made(other.numbers, theta), theta, question.sigmas(fit), None)
    found, gap = first.posterior.mean, np.zeros(len(fit.theta))
    gap[:count] = found[:count] - fit.theta[:count]
    for one, own, two, its, x in pairs:
        gap[own] = one.fitted(two.unknown.inner_start + two.at(x) @ found[its], x) - fit.theta[own]
    return first.prediction.values - fit.prediction.values, gap


def _places(basis: FieldBasis) -> Array:
    """Return points at which two bases of a field are compared."""
    return basis.domain.sample(4 * basis.size, "random", int(Seed.UNKNOWN_FIELD)).x


class Kept(NamedTuple):
    """What new data can be inferred with: a model, the old fit, how a solution is made, and how networks differ."""

    question: Question
    model: Callable[[Data], Model]
    solve: Callable[[Fit], Solution]
    fit: Fit
    sigmas: Array
    blur: Array
    gap: Array
    solution: Solution


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
        sigmas = question.sigmas(fit)
        best, more = search.descend(fine.model, first.theta, sigmas, rules.fine_steps)
    fit = Fit(best.theta, best.prediction, best.squares, (*steps, *more))

    def other(numbers: Numbers, theta: Array) -> Model:
        twin = StaticInference(numbers, question.task, rules)
        return twin.fine(fit._replace(theta=theta), coarse._replace(family=fine.family), data, _OTHER_SEED).model

    with watch.stage("second network"):
        blur, gap = second_opinion(question, fit, other)
    with watch.stage("solution"):
        solution = inference.solution(fine, best.prediction)
    facts = solution.facts
    assert facts is not None

    def model(given: Data) -> Model:
        return replace(fine.model.measuring(given), start=fit.prediction.state.state)

    def solve(found: Fit) -> Solution:
        return inference.solution(fine, found.prediction, facts.singular)

    return _put_together(search, Kept(question, model, solve, fit, sigmas, blur, gap, solution), watch)


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
        sigmas, chord = question.sigmas(fit), Chord(model.values, first.prediction.slopes)
        best, more = search.descend(chord, first.theta, sigmas, rules.fine_steps)
        fit = Fit(best.theta, best.prediction, best.squares, (*steps, *more))

    def other(twins: Numbers, theta: Array) -> Model:
        return EvolutionModel(twins, data, replace(task, seed=task.seed + _OTHER_SEED), rules.tangent)

    with watch.stage("second network"):
        blur, gap = second_opinion(question, fit, other)

    def solve(found: Fit) -> Solution:  # what it can't resolve is seen by the second network
        return found.prediction.state.told(numbers.stated(found.theta), warnings=False)

    solution = solve(fit)

    def renewed(given: Data) -> Model:
        if given.has_places_of(data):
            return chord
        other_places = replace(model, data=given)
        return Chord(other_places.values, other_places.at(fit.theta).slopes)

    return _put_together(search, Kept(question, renewed, solve, fit, sigmas, blur, gap, solution), watch)


def _linear(model: EvolutionModel, theta: Array) -> Model:
    """Return the model with slopes from one place: they are the same everywhere."""
    return Chord(model.values, model.at(theta).slopes)


def _again(kept: Kept, given: Any) -> Inferred:
    """Infer from new data with what is factorised, from the old fit on."""
    question, watch = kept.question.with_data(given), Stopwatch(None)
    question.check()
    with watch.stage("fine network"):
        same = question.data.has_places_of(kept.question.data)
        search = FieldInference(question)
        sigmas = question.sigmas(kept.fit if same else None)
        known = kept.fit.prediction if same else None
        model = kept.model(question.data)
        best, steps = search.descend(model, kept.fit.theta, sigmas, question.rules.fine_steps, known)
    fit = Fit(best.theta, best.prediction, best.squares, tuple(steps))
    blur = np.full(len(question.data.values), np.sqrt(np.mean(kept.blur**2)))
    return _put_together(
        search, kept._replace(question=question, fit=fit, sigmas=sigmas, blur=blur, solution=kept.solve(fit)), watch
    )


def _put_together(search: FieldInference, kept: Kept, watch: Stopwatch) -> Inferred:
    """Return all that was found."""
    question, data, numbers, fit = search.question, search.question.data, search.numbers, kept.fit
    sigmas, free = kept.sigmas, search.columns[0]
    if data.noise_is_known:
        sigmas = np.sqrt(sigmas**2 + np.mean(kept.blur**2))
    slopes = fit.prediction.slopes[:, free]
    names = (*numbers.names, *(f"the mean of {basis.name}" for basis in numbers.fields))
    check_seen(slopes, np.zeros_like(slopes), sigmas, names, np.ones(len(free)), question.rules.blind[0])
    posterior = search.posterior(fit.prediction, fit.theta, sigmas)
    # the difference of two networks vanishes here and there, by chance: that of each coefficient counts by itself, too
    covariance = posterior.covariance + 0.5 * (np.outer(kept.gap, kept.gap) + np.diag(kept.gap**2))
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
        kept.solution,
        fit.prediction.values,
        sigmas,
        squares,
        freedom,
        None if data.noise_is_known else float(np.sqrt(np.sum(left**2) / max(freedom, 1))),
        kept.gap[:count],
        (),
        fit.steps,
        _notes(question, posterior, squares, freedom, fields),
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
    return {name: _judged(field, question.rules) for name, field in found.items()}


def _judged(field: InferredField, rules: InverseRules) -> InferredField:
    """Return a field that changes as steeply as a jump would, with what that means for its deviations."""
    x = field.domain.sample(_SEEN, "random", int(Seed.UNKNOWN_FIELD)).x
    values, length = field.functions(x) @ field.mean, float(np.max(field.domain.lengths))
    spread = float(np.ptp(values))
    if spread == 0.0 or rules.steep * length * float(np.max(field.slope(x))) < 0.5 * spread:
        return field
    return replace(field, steep=length / max(2.0 * field.effective ** (1 / field.domain.dimension), 1.0))


def _notes(
    question: Question, posterior: Posterior, squares: float, freedom: int, fields: Mapping[str, InferredField]
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
    objection = noise_objection(squares, freedom, question.rules) if question.data.noise_is_known else None
    return (*notes, *told([objection] if objection else []))
