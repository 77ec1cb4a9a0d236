"""Unknown fields of static problems: Gauss–Newton with the equation exact, and a smoothness prior averaged over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as sla
from scipy import stats

from frozenpinn.adaptivity.inverse.evidence import Posterior, averaged
from frozenpinn.adaptivity.inverse.field_basis import field_basis
from frozenpinn.adaptivity.inverse.fit import Fit
from frozenpinn.adaptivity.inverse.model import Model, Prediction
from frozenpinn.adaptivity.inverse.question import Question, estimates_of, told
from frozenpinn.adaptivity.inverse.static import Network, StaticInference
from frozenpinn.adaptivity.inverse.uncertainty import check_seen, noise_objection
from frozenpinn.adaptivity.inverse.unknowns import Numbers
from frozenpinn.errors import ConvergenceError, SettingsError
from frozenpinn.results.inferred import Inferred
from frozenpinn.results.inferred_field import InferredField
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.seeds import Seed
from frozenpinn.runtime.stopwatch import Stopwatch
from frozenpinn.statement.unknowns import UnknownField

Array = np.ndarray
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

    def _columns(self) -> tuple[Array, Array]:
        """Return which unknowns have no prior (numbers, and the mean of each field), and which have one."""
        size = len(self.numbers.start)
        free = [*range(len(self.numbers.names)), *(own.start for _, own in self.numbers.parts())]
        return np.array(free, dtype=int), np.setdiff1d(np.arange(size), free)

    def posterior(self, prediction: Prediction, theta: Array, sigmas: Array) -> Posterior:
        """Return what the linearised problem says, in the order of the unknowns."""
        free, smooth = self._columns()
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

    def _step(self, model: Model, theta: Array, sigmas: Array, near: Any) -> Step:
        prediction = model.at(theta, near)
        left = (self.question.data.values - prediction.values) / sigmas
        return Step(theta, prediction, self.posterior(prediction, theta, sigmas), float(left @ left))

    def descend(self, model: Model, theta: Array, sigmas: Array, most: int) -> tuple[Step, list[tuple[float, ...]]]:
        """Take Gauss–Newton steps until nothing changes beside the noise."""
        rules, steps = self.question.rules, list[tuple[float, ...]]()
        current = self._step(model, theta, sigmas, None)
        for _ in range(most):
            steps.append((current.squares, *map(float, current.theta[: len(self.numbers.names)])))
            change = current.posterior.mean - current.theta
            seen = current.prediction.slopes @ change / sigmas
            noise = np.sqrt(current.posterior.variance)
            if np.sqrt(np.mean(seen**2)) <= rules.field_settled * noise:
                break
            following = self._shortened(model, current, change, sigmas)
            if following is None:
                break
            stalls = following.squares >= (1.0 - rules.field_stalls) * current.squares
            current = following
            if stalls:
                break
        return current, steps

    def _shortened(self, model: Model, current: Step, change: Array, sigmas: Array) -> Step | None:
        """Return the state after a step that is short enough not to raise the misfit; None if there is none."""
        rules, (lower, upper) = self.question.rules, self.numbers.bounds
        count, length = len(sigmas), 1.0
        for _ in range(rules.field_halvings):
            theta = current.theta + length * change
            theta[: len(lower)] = np.clip(theta[: len(lower)], lower, upper)
            try:
                following = self._step(model, theta, sigmas, current.prediction.state)
            except ConvergenceError:
                length /= 2.0
                continue
            if following.squares <= rules.worse * current.squares + count * current.posterior.variance:
                return following
            length /= 2.0
        return None


def with_bases(question: Question, seed: int = 0) -> Question:
    """Give every unknown field functions that it is combined of."""
    problem, rules = question.numbers.problem, question.rules
    if not problem.is_static:
        raise SettingsError(
            "unknown fields are inferred in static problems only; in time, write the field with unknown numbers, such "
            "as 'a + b*x' with Unknown a and b."
        )
    size = (rules.field_width[min(problem.domain.dimension, 4) - 1], rules.field_reach, rules.field_cutoff)
    bases = tuple(
        field_basis(name, unknown, problem.domain, problem.jets, size, seed)
        for name, unknown in problem.parameters.inferred.items()
        if isinstance(unknown, UnknownField)
    )
    return replace(question, numbers=Numbers(problem, bases))


def second_opinion(question: Question, inference: StaticInference, fit: Fit, network: Network) -> tuple[Array, Array]:
    """Return by how much predictions and unknowns differ if both networks, of solution and fields, are others."""
    mine, data = question.numbers, question.data
    other = with_bases(question, question.task.seed + _OTHER_SEED)
    x = mine.problem.domain.sample(4 * max(b.size for b in mine.fields), "random", int(Seed.UNKNOWN_FIELD)).x
    theta, count = other.numbers.start, len(mine.names)
    theta[:count] = fit.theta[:count]
    for (one, own), (two, its) in zip(mine.parts(), other.numbers.parts(), strict=True):
        theta[its] = two.fitted(one.unknown.inner_start + one.at(x) @ fit.theta[own], x)
    twin = StaticInference(other.numbers, question.task, question.rules)
    model = twin.fine(fit._replace(theta=theta), network, data, _OTHER_SEED).model
    sigmas = question.sigmas(fit)
    search = FieldInference(other)
    first = search._step(model, theta, sigmas, None)
    found, gap = first.posterior.mean, np.zeros(len(fit.theta))
    gap[:count] = found[:count] - fit.theta[:count]
    for (one, own), (two, its) in zip(mine.parts(), other.numbers.parts(), strict=True):
        gap[own] = one.fitted(two.unknown.inner_start + two.at(x) @ found[its], x) - fit.theta[own]
    return first.prediction.values - fit.prediction.values, gap


def infer_fields(question: Question, watch: Stopwatch) -> Inferred:
    """Find unknown fields, and unknown numbers beside them, of a static problem."""
    question = with_bases(question)
    question.check()
    search, data = FieldInference(question), question.data
    inference = StaticInference(question.numbers, question.task, question.rules)
    with watch.stage("choice of features"):
        coarse = inference.coarse(data)
    with watch.stage("fit"):
        first, steps = search.descend(coarse.model, question.numbers.start, question.sigmas(), question.rules.field_steps)
        fit = Fit(first.theta, first.prediction, first.squares, tuple(steps))
    with watch.stage("fine network"):
        fine = inference.fine(fit, coarse, data)
        sigmas = question.sigmas(fit)
        best, more = search.descend(fine.model, first.theta, sigmas, question.rules.fine_steps)
    fit = Fit(best.theta, best.prediction, best.squares, (*steps, *more))
    with watch.stage("second network"):
        blur, gap = second_opinion(question, inference, fit, coarse._replace(family=fine.family))
    with watch.stage("solution"):
        solution = inference.solution(fine, best.prediction)
    return _put_together(search, best, fit, blur, gap, solution, watch)


def _put_together(
    search: FieldInference, best: Step, fit: Fit, blur: Array, gap: Array, solution: Solution, watch: Stopwatch
) -> Inferred:
    question, data, numbers = search.question, search.question.data, search.numbers
    sigmas = question.sigmas(fit)
    if data.noise_is_known:
        sigmas = np.sqrt(sigmas**2 + np.mean(blur**2))
    free, _ = search._columns()
    slopes, names = best.prediction.slopes[:, free], (*numbers.names, *(f"the mean of {b.name}" for b in numbers.fields))
    check_seen(slopes, np.zeros_like(slopes), sigmas, names, np.ones(len(free)), question.rules.blind[0])
    posterior = search.posterior(best.prediction, best.theta, sigmas)
    covariance = posterior.covariance + np.outer(gap, gap) + np.diag(gap**2)  # one gap vanishes here and there
    left = data.values - best.prediction.values
    squares = float(np.sum((left / sigmas) ** 2))
    freedom = max(round(len(left) - len(free) - posterior.effective), 0)
    noise = None if data.noise_is_known else float(np.sqrt(np.sum(left**2) / max(freedom, 1)))
    count = len(numbers.names)
    level = question.level
    fields = {
        basis.name: InferredField(
            basis.name,
            numbers.problem.domain,
            basis.at,
            basis.unknown.inner_start,
            best.theta[own],
            covariance[own, own],
            basis.unknown.positive,
            posterior.effective,
            level,
        )
        for basis, own in numbers.parts()
    }
    notes = []
    if posterior.effective < question.rules.few:
        notes.append(
            f"the data tell about {posterior.effective:.2g} degrees of freedom of the field only; the bars rest on the "
            "assumption that it is smooth."
        )
    objection = noise_objection(squares, freedom, question.rules) if data.noise_is_known else None
    notes += [objection] if objection else []
    quantile = float(stats.norm.ppf(0.5 + level / 2)) if data.noise_is_known else float(stats.t.ppf(0.5 + level / 2, max(freedom, 1)))
    return Inferred(
        numbers.problem,
        data.parts,
        estimates_of(question, best.theta, covariance, quantile),
        covariance[:count, :count],
        solution,
        best.prediction.values,
        sigmas,
        squares,
        freedom,
        noise,
        gap[:count],
        (),
        fit.steps,
        told(notes),
        dict(watch.seconds),
        fields=fields,
        _renew=lambda given: infer_fields(question.with_data(given), Stopwatch(None)),
    )
