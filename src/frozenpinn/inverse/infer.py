"""Unknown numbers and fields from measurements, with error bars: fit, refine, judge by a second network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from frozenpinn.basis.hidden import Derivative
from frozenpinn.errors import BudgetError, ConvergenceError, SettingsError, interruptible, warn
from frozenpinn.inverse.evolution import EvolutionForward
from frozenpinn.inverse.field_basis import FieldBasis
from frozenpinn.inverse.fit import Fit, found_fits, is_poor, refined, sharpened
from frozenpinn.inverse.model import Forward
from frozenpinn.inverse.objections import check_field_stays, check_seen, objection_to_rest, open_ends
from frozenpinn.inverse.ordinary import Ordinary, confirmed, ordinary_failure, ordinary_notes, widened
from frozenpinn.inverse.priors import Prior, deviations, prior_of
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.result import Estimate, Inferred, InferredField, Minimum
from frozenpinn.inverse.rules import InverseRules
from frozenpinn.inverse.static import StaticForward
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arguments import between, is_whole, shown, spelled
from frozenpinn.runtime.budget import Budget, OverrunError, deadline
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.runtime.stopwatch import Progress, Stopwatch, listening
from frozenpinn.runtime.threads import one_thread
from frozenpinn.search.settings import Settings
from frozenpinn.statement.measurements import Measurements
from frozenpinn.statement.problem import Problem

__all__ = ["infer"]
Array = np.ndarray


@interruptible
@spelled(SettingsError)
def infer(
    problem: Problem,
    data: Measurements | Sequence[Measurements],
    *,
    seed: int = 0,
    level: float = 0.95,
    starts: int | None = None,
    time_limit: float | None = None,
    progress: Progress | bool | None = None,
    settings: Settings | None = None,
    rules: InverseRules | None = None,
) -> Inferred:
    """Find the unknowns of a problem from measurements of its solution.

    The equation holds exactly: the unknowns are what makes its solution fit the measurements best, by Gauss–Newton
    with exact sensitivities.

    Parameters
    ----------
    problem
        With :class:`Unknown` or :class:`UnknownField` among its parameters.
    data
        Measurements; a list of them if several fields or derivatives were measured.
    seed
        Seed of the frozen layers; the same seed gives the same result, bit for bit.
    level
        Probability that an interval contains the truth.
    starts
        How many other starts are tried, spread over the bounds; by default some if the first fit is poor.
    time_limit
        Seconds that all may take; a :class:`BudgetError` says what was being done when they were over.
    progress
        Called with the name of each stage as it begins.
    settings
        Numerical choices that you want to make yourself.
    rules
        Tuned numbers that you want to replace.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem(
    ...     "u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": fp.Unknown(0.2)}
    ... )
    >>> data = fp.Measurements([0.5, 0.5], [0.61, 0.37], times=[0.5, 1.0], noise=0.01)
    >>> found = infer(problem, data)
    >>> print(found.parameters["k"])
    0.1005 ± 0.0021 (95 %: 0.0964 … 0.1046)
    """
    question = Question.asked("infer", problem, data, seed, settings, rules)
    if not between(level, 1e-12, 1.0 - 1e-12):
        raise SettingsError(f"level must lie between 0 and 1, got {shown(level)}; 0.95 is usual.")
    if starts is not None and (not is_whole(starts) or not 0 <= starts <= 100_000):
        raise SettingsError(f"starts is how many other starts are tried, from 0 to 100000; got {shown(starts)}.")
    question = replace(question, starts=starts, level=level)
    budget, stages = Budget(time_limit), ["the start"]
    with listening(progress) as heard, one_thread():  # many small factorisations, which lose by a second one

        def announce(stage: str) -> None:
            stages.append(stage)
            heard(stage)

        try:
            with deadline(time_limit):
                return inferred(question, Stopwatch(announce), budget)
        except OverrunError:
            raise BudgetError(
                f"the time limit of {time_limit:g} s was over during: {stages[-1]}. Give more time, or bounds and "
                "starts that are nearer."
            ) from None


def inferred(question: Question, watch: Stopwatch, budget: Budget | None = None) -> Inferred:
    """Find the unknown numbers and fields of a static or time-dependent problem."""
    question = question.with_bases()
    question.check()
    prior = prior_of(question)
    with watch.stage("choice of features"):
        forward: Forward = (StaticForward.begin if question.numbers.problem.is_static else EvolutionForward)(question)
    with watch.stage("fit"):
        fits = found_fits(forward.rough, prior, question.data.sigmas(question.rules))
    with watch.stage("refinement"):
        forward = forward.refined(fits[0])
        sigmas = deviations(prior, fits[0].prediction, fits[0].theta)
        fit, sigmas = refined(forward.fine, prior, sigmas, fits[0])
        fit = fit._replace(steps=(*fits[0].steps, *fit.steps), bend=fits[0].bend)
        fit, *others = sharpened(forward.fine, prior, sigmas, fit, fits)
    with watch.stage("second network"):
        second = _second_opinion(prior, forward, fit, sigmas)
    with watch.stage("ordinary solve"):
        seconds = 10.0 + 2.0 * sum(watch.seconds.values())
        if budget is not None and budget.seconds is not None:
            if budget.left <= 0:
                raise OverrunError
            seconds = min(seconds, 0.5 * budget.left)
        forward, fit, sigmas, ordinary = confirmed(forward, prior, fit, sigmas, seconds, watch.announce)
    with watch.stage("solution"):
        solution = ordinary.solution or forward.solution(fit)
    kept = Kept(prior, forward, fit, sigmas, second, solution, ordinary)
    found = _put_together(kept, prior, forward, [fit, *others], kept.weights(question), solution, watch)
    return replace(found, minima=_rivals(question, [fit, *others]))


@dataclass(frozen=True, eq=False)
class Kept:
    """What new data can be inferred with: models, the fit that all starts from, and what a second network makes of it.

    ``prior`` keeps its decompositions, and ``sigmas`` are the deviations of the fit.
    """

    prior: Prior
    forward: Forward
    fit: Fit
    sigmas: Array
    second: SecondOpinion
    solution: Solution
    ordinary: Ordinary

    def weights(self, question: Question) -> Array:
        """Return deviations for data at the same places or others: known ones with the distance of two networks."""
        data, same = question.data, question.data.has_places_of(self.prior.question.data)
        if not data.noise_is_known:
            return self.sigmas if same else data.sigmas(question.rules)
        known = data.sigmas(question.rules, self.fit.prediction.values if same else None)
        return np.hypot(known, self.second.blur)

    def again(self, given: Any) -> Inferred:
        """Infer from new data near the old fit, with what is factorised; numbers anew if that does not reach so far."""
        question, watch = self.prior.question.with_data(given), Stopwatch(None)
        question.check()
        prior, sigmas, same = self.prior.renewed(question), self.weights(question), self._has_places_of(question)
        noise = sigmas if question.data.noise_is_known else sigmas * self._unit
        with watch.stage("steps from the old fit"):
            forward, models = self.forward.renewed(question.data, self.fit, noise)
            known = self.fit.prediction if same else None
            for model in models:
                try:
                    fit, sigmas = refined(model, prior, sigmas, self.fit, known)
                    break
                except ConvergenceError:
                    if model is models[-1]:
                        raise
        if not question.numbers.fields and (not fit.settled or is_poor(fit, question)):
            return inferred(question, watch)
        return _put_together(self, prior, forward, [fit], sigmas, lambda: forward.solution(fit, self.solution), watch)

    def _has_places_of(self, question: Question) -> bool:
        return question.data.has_places_of(self.prior.question.data)

    @property
    def _unit(self) -> float:
        """By how much the noise differs from the deviations of the fit, if it is not given."""
        return float(np.sqrt(self.fit.squares / max(len(self.sigmas) - len(self.prior.question.free), 1)))


class SecondOpinion(NamedTuple):
    """By how much predictions, on average, unknowns, and slopes by free numbers differ on other networks."""

    blur: float
    gap: Array
    slopes: Array


def _second_opinion(prior: Prior, forward: Forward, fit: Fit, sigmas: Array) -> SecondOpinion:
    """Return what changes if networks of solution and fields are others."""
    mine, other = prior.question.numbers, prior.question.with_seed(1000)
    theta, count = other.numbers.start, len(mine.names)
    theta[:count] = fit.theta[:count]
    pairs = [(*a, *b, _places(a[0])) for a, b in zip(mine.parts(), other.numbers.parts(), strict=True)]
    for one, own, two, its, x in pairs:
        theta[its] = two.fitted(one.unknown.inner_start + one.at(x) @ fit.theta[own], x)
    model, twin = forward.twin(other, theta, fit, sigmas), prior_of(other)
    there = model.at(theta)
    rest = prior.posterior(fit.prediction, fit.theta, sigmas, covariance=False).mean - fit.theta
    found, gap = twin.posterior(there, theta, sigmas, covariance=False).mean, np.zeros(len(fit.theta))
    gap[:count] = found[:count] - fit.theta[:count]
    for one, own, two, its, x in pairs:
        gap[own] = one.fitted(two.unknown.inner_start + two.at(x) @ found[its], x) - fit.theta[own]
    slopes = fit.prediction.slopes[:, prior.question.free] - there.slopes[:, other.free]
    return SecondOpinion(float(np.sqrt(np.mean((there.values - fit.prediction.values) ** 2))), gap - rest, slopes)


@remembered
def _places(basis: FieldBasis) -> Array:
    """Return points at which two bases of a field are compared."""
    return basis.domain.sample(4 * basis.size, "random", int(Seed.UNKNOWN_FIELD)).x


def _put_together(
    kept: Kept,
    prior: Prior,
    forward: Forward,
    fits: list[Fit],
    sigmas: Array,
    solution: Solution | Callable[[], Solution],
    watch: Stopwatch,
) -> Inferred:
    """Return all that was found, with error bars that contain the noise and the distance of two networks."""
    question, fit = prior.question, fits[0]
    data, numbers, gap = question.data, question.numbers, kept.second.gap
    poor, predict = is_poor(fit, question), forward.predict(fit)
    same = data.has_places_of(kept.prior.question.data)
    doubt = kept.second.slopes if same else np.zeros((len(sigmas), len(question.free)))
    check_seen(question, fit, doubt, sigmas, poor)
    if poor and numbers.fields:
        check_field_stays(question, fit)
    noise_only, effective = prior.covariance(fit.prediction, fit.theta, sigmas)
    rest = prior.posterior(fit.prediction, fit.theta, sigmas, covariance=False).mean - fit.theta
    # the difference of two networks vanishes here and there, by chance: that of each unknown counts by itself, too
    covariance = noise_only + 0.5 * (np.outer(gap, gap) + np.diag(gap**2)) + np.outer(rest, rest)
    covariance = widened(covariance, prior, fit, sigmas, kept.ordinary)
    left = data.values - fit.prediction.values
    squares = float(np.sum((left / sigmas) ** 2))
    freedom = max(round(len(left) - len(question.free) - effective), 0)
    level = 0.5 + question.level / 2
    quantile = float(ndtri(level) if data.noise_is_known else stdtrit(max(freedom, 1), level))
    estimates = _estimates(question, fit.theta, covariance, quantile)
    fields = _fields(question, fit, covariance, effective)
    warned = [*_at_bounds(question, estimates, poor), *objection_to_rest(question, fit, squares, freedom, poor)]
    if not numbers.fields and fit is kept.fit:  # new data are not worth two solves
        warned += open_ends(question, fit, sigmas, noise_only, quantile, predict, poor)
    warned += ordinary_failure(kept.ordinary)
    for note in warned:
        warn(note)
    count = len(numbers.names)
    scale = 1.0 if data.noise_is_known else max(squares, 1e-300) / max(freedom, 1)  # of variances, if these are found
    return Inferred(
        numbers.problem,
        data.parts,
        estimates,
        covariance[:count, :count],
        solution,
        fit.prediction.values,
        sigmas * np.sqrt(scale),
        squares / scale,
        freedom,
        None if data.noise_is_known else float(np.sqrt(np.sum(left**2) / max(freedom, 1))),
        gap[:count],
        (),
        tuple((step[0] / scale, *step[1:]) for step in fit.steps),
        (*_notes_on_fields(question, fields, effective), *ordinary_notes(kept.ordinary, data.noise_is_known), *warned),
        dict(watch.seconds),
        fields,
        kept.again,
        None if numbers.fields else predict,
        kept.ordinary.distance,
    )


def _estimates(question: Question, theta: Array, covariance: Array, quantile: float) -> dict[str, Estimate]:
    """Return the unknown numbers with their error bars."""
    (lower, upper), found = question.numbers.bounds, {}
    for i, name in enumerate(question.numbers.names):
        value, std = float(theta[i]), float(np.sqrt(covariance[i, i]))
        width = upper[i] - lower[i] if np.isfinite(upper[i] - lower[i]) else question.numbers.scales[i]
        at = "lower" if value - lower[i] <= 1e-6 * width else ""
        at = "upper" if upper[i] - value <= 1e-6 * width else at
        low, high = np.clip([value - quantile * std, value + quantile * std], lower[i], upper[i])
        found[name] = Estimate(value, std, float(low), float(high), question.level, at)
    return found


def _at_bounds(question: Question, estimates: dict[str, Estimate], poor: bool) -> list[str]:
    notes = []
    for estimate, (name, *bounds) in zip(
        estimates.values(), zip(estimates, *question.numbers.bounds, strict=True), strict=True
    ):
        if estimate.at_bound:
            what = "no value between the bounds fits the data" if poor else "the data ask for a value beyond it"
            bound = bounds[estimate.at_bound == "upper"]
            notes.append(f"'{name}' lies at its {estimate.at_bound} bound {bound:g}: {what}. Widen the bounds.")
    return notes


def _rivals(question: Question, fits: list[Fit]) -> tuple[Minimum, ...]:
    """Return other minima, with χ² in units of the noise; warn of those that explain the data as well."""
    names, unit, first = question.numbers.names, 1.0, fits[0]
    if not question.data.noise_is_known:
        unit = max(first.squares / max(len(question.data.values) - len(names), 1), 1e-300)
    found = tuple(
        Minimum(dict(zip(names, map(float, fit.theta), strict=True)), fit.squares / unit) for fit in fits[1:6]
    )
    if found and found[0].chi_square <= first.squares / unit + 9.0:  # three deviations
        alike = [other for other in found if other.chi_square <= first.squares / unit + 9.0]
        texts = [", ".join(f"{name} = {value:.6g}" for name, value in other.values.items()) for other in alike]
        many = "by another set of values, too" if len(alike) == 1 else f"by {len(alike)} other sets of values, too"
        warn(
            f"the data are explained {many}: {'; '.join(texts)}. There may be more. Narrow the bounds, or measure "
            "elsewhere."
        )
    return found


def _fields(question: Question, fit: Fit, covariance: Array, effective: float) -> dict[str, InferredField]:
    """Return the unknown fields; one that changes as steeply as a jump has wider bars there."""
    found = {}
    for basis, own in question.numbers.parts():
        mean, domain = fit.theta[own], basis.domain
        values, *slopes = (table @ mean for table in _looks(basis))
        spread, length = float(np.ptp(values)), float(np.max(domain.lengths))
        steepest = float(np.max(np.sqrt(sum(slope**2 for slope in slopes))))
        is_steep = spread > 0.0 and question.rules.steep * length * steepest >= 0.5 * spread
        found[basis.name] = InferredField(
            basis.name,
            domain,
            basis.unknown.arguments(basis.jets),
            basis.at,
            basis.unknown.inner_start,
            mean,
            covariance[own, own],
            basis.unknown.positive,
            effective,
            question.level,
            length / max(2.0 * effective ** (1 / domain.dimension), 1.0) if is_steep else 0.0,
        )
    return found


@remembered
def _looks(basis: FieldBasis) -> tuple[Array, ...]:
    """Return the functions of a field, and their slopes along each axis, at random points."""
    d = basis.domain.dimension
    x = basis.domain.sample(400, "random", int(Seed.UNKNOWN_FIELD)).x
    orders = [(0,) * d, *(tuple(int(i == axis) for i in range(d)) for axis in range(d))]
    return tuple(basis.at(x, Derivative(order)) for order in orders)


def _notes_on_fields(question: Question, fields: dict[str, InferredField], effective: float) -> list[str]:
    notes = [
        f"'{name}' changes by half of its range within {question.rules.steep:.0%} of the domain: if it jumps there, "
        "values beside the jump are less certain than their bands say, which assume a smooth field."
        for name, field in fields.items()
        if field.steep
    ]
    if fields and effective < 5.0:
        notes.append(
            f"the data tell about {effective:.2g} degrees of freedom of the field only; the bars rest on the "
            "assumption that it is smooth."
        )
    return notes
