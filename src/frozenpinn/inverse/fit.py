"""Weighted nonlinear least squares: one Gauss–Newton method, and a search from several starts for numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.errors import ConvergenceError, EvaluationError, FrozenPinnError, IntegrationError
from frozenpinn.inverse.model import Model, Prediction, TwoStages
from frozenpinn.inverse.priors import Posterior, Prior, deviations
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.unknowns import Numbers

Array = np.ndarray
FARTHEST = 1e15  #: sizes of its start that a number without bounds may reach
FAILURES = (ConvergenceError, EvaluationError, IntegrationError)  #: of values at which an equation has no solution


class Fit(NamedTuple):
    """Where the unknowns are, what they predict, the weighted sum of squares that this leaves, and the steps so far.

    Attributes
    ----------
    theta, prediction, squares, posterior
        As above, and what the linearised problem says there.
    steps
        χ² and the values of the numbers, step by step.
    bend
        What the first order has missed in a step that it described, relative to the square of what it said.
    exact
        Whether slopes are those of this place.
    settled
        Whether nothing changes any more.
    """

    theta: Array
    prediction: Prediction
    squares: float
    posterior: Posterior
    steps: tuple[tuple[float, ...], ...] = ()
    bend: float = np.inf
    exact: bool = True
    settled: bool = True


# ---- one descent --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Descent:
    """Gauss–Newton steps on a model with some deviations; one that raises the misfit is halved.

    Where slopes cost as much as values do, they are computed at the start and at the end. On the way each step of
    numbers corrects them by what it has shown (Broyden 1965), unless that is much.
    """

    model: Model
    prior: Prior
    sigmas: Array

    @property
    def _numbers(self) -> Numbers:
        return self.prior.question.numbers

    def from_start(self, theta: Array, most: int, known: Prediction | None = None, bend: float = np.inf) -> Fit:
        """Step until changes are small relative to the noise; what the start predicts may be known, and its bend."""
        found = self._stepped(theta, most, known, bend)
        if found.exact or not isinstance(self.model, TwoStages):
            return found
        slopes = self.model.slopes(found.theta, found.prediction.state)
        return found._replace(prediction=found.prediction._replace(slopes=slopes), exact=True)

    def _stepped(self, theta: Array, most: int, known: Prediction | None, bend: float) -> Fit:
        steps, before, stalls = list[tuple[float, ...]](), np.inf, False
        start = self._at(theta, None, known)
        assert start is not None  # as there is no limit
        current = start._replace(bend=bend)
        for _ in range(most):
            steps.append((current.squares, *map(float, current.theta[: len(self._numbers.names)])))
            current, posterior = current._replace(steps=tuple(steps)), current.posterior
            change = posterior.mean - current.theta
            straight = current.prediction.slopes @ change / self.sigmas
            size = float(np.linalg.norm(straight))
            noise = np.sqrt(posterior.variance * max(posterior.effective, 1.0))
            if self._is_negligible(current.theta, change):
                return self._after(current, change, current.prediction.state)
            if self._is_settled(current.theta, change, size / noise) or (stalls and size > 0.7 * before):
                return current
            if self.model.follows and self._is_last(current, change, size / noise, size / before):
                return self._after(current, change)
            least = -np.inf
            if size > noise and not self._numbers.fields:
                left = (self.prior.question.data.values - current.prediction.values) / self.sigmas
                least = 0.2 * float(2.0 * left @ straight - size**2)
            before, following = size, self._shortened(current, change, posterior.variance, least)
            if following is None or following.squares >= current.squares:
                if not self._numbers.fields:  # solutions are not accurate enough to improve the fit
                    return current._replace(settled=following is not None and size <= noise)
                following = self._tempered(current, posterior.variance) or following
            if following is None:
                break
            stalls = following.squares >= 0.99 * current.squares
            current = following
        return current._replace(steps=tuple(steps), settled=False)

    def _at(
        self, theta: Array, before: Fit | None, known: Prediction | None = None, limit: float = np.inf
    ) -> Fit | None:
        """Return where the model is with values of the unknowns, after a step; None if that leaves too much."""
        question = self.prior.question
        if np.max(np.abs(theta[: len(self._numbers.names)]) / self._numbers.scales, initial=0.0) > FARTHEST:
            raise ConvergenceError("the unknowns are beyond all bounds")
        with np.errstate(all="ignore"):  # what is not finite is refused
            if known is None and isinstance(self.model, TwoStages):
                values, state = self.model.values(theta)
                prediction = Prediction(values, np.zeros((len(values), 0)), state)
            else:
                prediction = known or self.model.at(theta, None if before is None else before.prediction.state)
        squares = float(np.sum(((question.data.values - prediction.values) / self.sigmas) ** 2))
        if squares > limit:
            return None
        corrected, bend = (None, np.inf) if before is None else self._secant(theta, prediction, before)
        seen, exact = prediction.slopes, True
        if isinstance(self.model, TwoStages) and known is None:
            exact = before is None or corrected is None or squares > before.squares / 4.0
            seen = self.model.slopes(theta, prediction.state) if exact or corrected is None else corrected
            prediction = prediction._replace(slopes=seen)
        elif before is not None and corrected is not None and prediction.slopes is before.prediction.slopes:
            seen = corrected
        if not (np.isfinite(squares) and np.all(np.isfinite(seen))):
            raise ConvergenceError("what would be measured is not finite")
        posterior = self.prior.posterior(prediction._replace(slopes=seen), theta, self.sigmas, covariance=False)
        return Fit(theta, prediction, squares, posterior, bend=bend, exact=exact)

    def _secant(self, theta: Array, prediction: Prediction, before: Fit) -> tuple[Array | None, float]:
        """Return slopes of numbers that explain a step with the least change, if it is small, and the bend of it."""
        slopes, step = before.prediction.slopes, theta - before.theta
        straight, change = slopes @ step, prediction.values - before.prediction.values
        missed = change - straight
        if not np.linalg.norm(missed / self.sigmas) <= 0.3 * np.linalg.norm(change / self.sigmas):
            return None, before.bend
        bend = min(before.bend, float(np.linalg.norm(missed) / max(straight @ straight, 1e-300)))
        if self._numbers.fields:
            return None, bend
        along = step / self._numbers.scales**2
        return slopes + np.outer(missed, along) / max(float(step @ along), 1e-300), bend

    def _is_negligible(self, theta: Array, change: Array) -> bool:
        """Whether a step of numbers is below the accuracy of solutions."""
        if self._numbers.fields:
            return False
        relative = np.abs(change) / np.maximum(np.abs(theta), 1e-12 * self._numbers.scales)
        return bool(np.max(relative) <= self.prior.question.accuracy)

    def _is_settled(self, theta: Array, change: Array, size: float) -> bool:
        """Whether a step is small relative to the noise; but one to a bound is taken, however small."""
        (lower, upper), count = self._numbers.bounds, len(self._numbers.names)
        mean, step = (theta + change)[:count], change[:count]
        meets = ((mean <= lower) | (mean >= upper)) & (np.abs(step) > 1e-14 * self._numbers.scales)
        return size <= self.prior.settled and (bool(self._numbers.fields) or not np.any(meets))

    def _is_last(self, current: Fit, change: Array, size: float, share: float) -> bool:
        """Whether the step after this one would be small relative to the noise, and this one ends within the bounds.

        The step before shows that, of which this one is a share; of the first one, by what the first order has
        missed on the way to the start.
        """
        lower, upper = self._numbers.bounds
        numbers = (current.theta + change)[: len(lower)]
        if not np.all((numbers >= lower) & (numbers <= upper)):
            return False
        if share == 0.0:
            share = 3.0 * current.bend * float(np.linalg.norm(current.prediction.slopes @ change))
        return size * share <= self.prior.settled

    def _after(self, current: Fit, change: Array, state: Any = None) -> Fit:
        """Return where a step leads to first order; a state may serve there, too."""
        prediction = current.prediction.after(change)
        prediction = prediction._replace(state=prediction.state or state)
        squares = float(np.sum(((self.prior.question.data.values - prediction.values) / self.sigmas) ** 2))
        return current._replace(theta=current.theta + change, prediction=prediction, squares=squares)

    def _shortened(self, current: Fit, change: Array, variance: float, least: float = -np.inf) -> Fit | None:
        """Return the state after a step that is short enough not to raise the misfit; None if there is none.

        Or short enough to bring it down by ``least``, times the part of the step: a fifth of what the first order says
        (Armijo 1966), without which numbers run away. These change by three times their size at most; so do
        logarithms of positive fields, on average, lest the field overflow.
        """
        numbers, (lower, upper) = self._numbers, self._numbers.bounds
        sizes = [float(np.linalg.norm(change[own])) for basis, own in numbers.parts() if basis.unknown.positive]
        if not numbers.is_affine:
            count = len(lower)
            scales = np.maximum(np.abs(current.theta[:count]), numbers.scales)
            sizes += list(np.abs(change[:count]) / scales)
        length = min(1.0, 3.0 / max(sizes, default=1e-300))
        for _ in range(6):
            theta = current.theta + length * change
            theta[: len(lower)] = np.clip(theta[: len(lower)], lower, upper)
            limit = 1.5 * current.squares + len(self.sigmas) * variance
            try:
                found = self._at(theta, current, limit=min(limit, current.squares - length * least))
            except FAILURES:
                found = None
            if found is not None:
                return found
            length /= 2.0
        return None

    def _tempered(self, current: Fit, variance: float) -> Fit | None:
        """Return the state after a step for data as noisy as what is left of them; None if that brings nothing.

        Far from a fit, what the first order misses is no less than that, and would be taken for a rough field.
        """
        rules, excess = self.prior.question.rules, np.sqrt(current.squares / (len(self.sigmas) * variance))
        for share in rules.tempers if excess**2 > rules.poor and self._numbers.fields else ():
            softer = self.sigmas * max(share * excess, 1.0)
            mean = self.prior.posterior(current.prediction, current.theta, softer, covariance=False).mean
            following = self._shortened(current, mean - current.theta, variance)
            if following is not None and following.squares < current.squares:
                return following
        return None


def refined(
    model: Model, prior: Prior, sigmas: Array, start: Fit, known: Prediction | None = None
) -> tuple[Fit, Array]:
    """Take the last steps from a fit, once more if what they leave asks for other weights."""
    data, rules = prior.question.data, prior.question.rules
    best = Descent(model, prior, sigmas).from_start(start.theta, rules.steps, known, start.bend)
    if known is not None and not data.noise_is_known and data.suits(rules, best.prediction.values, sigmas):
        return best, sigmas
    others = deviations(prior, best.prediction, best.theta, sigmas)
    if data.has_weights(rules, others, sigmas):
        return best, sigmas
    more = Descent(model, prior, others).from_start(best.theta, rules.steps, best.prediction, best.bend)
    return more._replace(steps=(*best.steps, *more.steps)), others


# ---- a search for numbers -----------------------------------------------------------------------------


def found_fits(model: Model, prior: Prior, sigmas: Array) -> list[Fit]:
    """Return all minima, the best first: of fields one; of numbers, others from further starts if the first is poor."""
    question = prior.question
    if question.numbers.fields:
        return [Descent(model, prior, sigmas).from_start(question.numbers.start, question.rules.steps)]
    return _fits_of_numbers(Descent(model, prior, sigmas))


def is_poor(found: Fit, question: Question) -> bool:
    """Whether a fit leaves more than noise."""
    data, rules = question.data, question.rules
    count = len(data.values)
    if data.noise_is_known:
        return found.squares > rules.poor * (max(1, count - len(question.numbers.names)) + np.sqrt(2.0 * count))
    spread = float(np.std(data.values)) or 1.0
    return float(np.sqrt(np.mean((found.prediction.values - data.values) ** 2))) > 0.1 * spread


def _fits_of_numbers(descent: Descent) -> list[Fit]:
    """Fit from the start, and from others over the bounds if that is poor or asked for; the best comes first."""
    question = descent.prior.question
    numbers, rules, starts = question.numbers, question.rules, question.starts
    fits, failure = list[Fit](), None
    try:
        fits.append(descent.from_start(numbers.start, 2 * rules.steps))
    except FrozenPinnError as error:
        failure = error
    count = starts if starts is not None else 0
    if starts is None and (failure is not None or is_poor(fits[0], question)):
        count = min(rules.starts * len(numbers.names), 2 * rules.starts)
    others = _other_starts(numbers, count, question.task.seed) if count else []
    if starts is None and others:
        others = _promising(descent.model, question, descent.sigmas, others)
    elif starts is None and fits:
        others = _rivals_within(descent, fits[0])
    for start in others:
        try:
            fits.append(descent.from_start(start, 2 * rules.steps))
        except FrozenPinnError:
            continue
    if not fits:
        tried = f", nor at {count} others that were tried" if count else ""
        raise ConvergenceError(
            f"the problem has no solution at the start of the unknowns, {numbers.shown_start}{tried}: {failure} Start "
            "elsewhere: Unknown(start=…)."
        ) from failure
    return distinct(fits, numbers)


def _other_starts(numbers: Numbers, count: int, seed: int) -> list[Array]:
    """Return starts spread over the bounds, in the logarithm where a bound is positive and far from the other.

    Where there is no bound, they spread over some powers of ten about the size of the first guess, with its sign.
    """
    lower, upper = _ranges(numbers)
    signs = np.where(upper <= 0, -1.0, 1.0)  # those below zero are drawn as their opposites
    lower, upper = np.where(signs < 0, -upper, lower), np.where(signs < 0, -lower, upper)
    from scipy.stats import qmc  # slow to import, rarely needed

    unit = qmc.Halton(len(lower), seed=seed).random(count)
    wide = (lower > 0) & (upper > 10.0 * lower)
    low, high = (np.where(wide, np.log(np.where(wide, end, 1.0)), end) for end in (lower, upper))
    spread = low + unit * (high - low)
    return list(signs * np.where(wide, np.exp(np.where(wide, spread, 0.0)), spread))


def _ranges(numbers: Numbers) -> tuple[Array, Array]:
    """Return where other starts are looked for: between the bounds, or within a factor of 10⁴ of the first guess."""
    ends = []
    for unknown, size in zip(numbers.table.values(), numbers.scales, strict=True):
        low, high = unknown.bounds
        near, far = size / 1e4, size * 1e4
        reach = (-far, -near) if unknown.start < 0 else (near, far) if unknown.start > 0 else (-size, size)
        low = low if np.isfinite(low) else min(reach[0], high - size if np.isfinite(high) else np.inf)
        high = high if np.isfinite(high) else max(reach[1], low + size)
        ends.append((low, high))
    return np.array([e[0] for e in ends]), np.array([e[1] for e in ends])


def _rivals_within(descent: Descent, fit: Fit) -> list[Array]:
    """Return starts from which another minimum may be found beside a good one, between bounds that are both given.

    Solves are few: some for each number, most of them without slopes. Those whose values the first order at the fit
    explains belong to its minimum.
    """
    question, model = descent.prior.question, descent.model
    numbers, rules = question.numbers, question.rules
    bounded = np.isfinite(numbers.bounds[0]) & np.isfinite(numbers.bounds[1])
    if numbers.is_affine or not np.any(bounded):
        return []
    drawn = _other_starts(numbers, rules.looks * min(int(np.sum(bounded)), 2), question.task.seed)

    def is_apart(theta: Array, values: Array) -> bool:
        change = (values - fit.prediction.values) / descent.sigmas
        straight = fit.prediction.slopes @ (theta - fit.theta) / descent.sigmas
        return bool(np.linalg.norm(change - straight) > 0.3 * np.linalg.norm(change))

    starts = [np.where(bounded, start, fit.theta) for start in drawn]
    return _promising(model, question, descent.sigmas, starts, is_apart)


def _promising(
    model: Model,
    question: Question,
    sigmas: Array,
    starts: Sequence[Array],
    counts: Callable[[Array, Array], bool] = lambda theta, values: True,
) -> list[Array]:
    """Return the three starts that leave least of the data, among those that count, without fitting from any."""
    found = []
    for start in starts:
        try:
            values = model.values(start)[0] if isinstance(model, TwoStages) else model.at(start).values
        except FrozenPinnError:
            continue
        left = (values - question.data.values) / sigmas
        if np.isfinite(squares := float(left @ left)) and counts(start, values):
            found.append((squares, start))
    return [start for _, start in sorted(found, key=lambda pair: pair[0])[:3]]


def sharpened(model: Model, prior: Prior, sigmas: Array, best: Fit, others: Sequence[Fit]) -> list[Fit]:
    """Return all minima with those that explain the data about as well fitted on a model on which the best was.

    ``best`` is the first of them there; the first of ``others`` is the same on the model of all others.
    """
    first, *rest = others
    if not rest:
        return [best]
    data, found = prior.question.data, [best]
    unit = 1.0 if data.noise_is_known else first.squares / max(len(sigmas) - len(prior.question.numbers.names), 1)
    for other in rest:
        if other.squares > 4.0 * first.squares + 9.0 * unit:
            found.append(other)
            continue
        try:
            found.append(Descent(model, prior, sigmas).from_start(other.theta, prior.question.rules.steps))
        except FrozenPinnError:
            continue
    return distinct(found, prior.question.numbers)


def distinct(fits: Sequence[Fit], numbers: Numbers) -> list[Fit]:
    """Return the fits that are different minima, the best first; of those that are as good, the first one."""
    kept: list[Fit] = []
    alike = 1.01 * min(f.squares for f in fits)
    for found in sorted(fits, key=lambda f: max(f.squares, alike)):
        sizes = np.maximum(np.abs(found.theta), 1e-3 * numbers.scales)
        if all(np.max(np.abs(found.theta - other.theta) / sizes) > 1e-3 for other in kept):
            kept.append(found)
    return kept
