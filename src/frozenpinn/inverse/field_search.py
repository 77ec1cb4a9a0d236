"""The search for unknown fields: Gauss–Newton steps with a smoothness prior, and what other networks make of a fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as sla

from frozenpinn.errors import ConvergenceError
from frozenpinn.inverse.evidence import Inversion, Posterior
from frozenpinn.inverse.field_basis import FieldBasis, field_basis, prior_root
from frozenpinn.inverse.fit import FAILURES, Fit
from frozenpinn.inverse.model import Model, Prediction, Shifted, StaticChord, extrapolated
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.sensors import Judged
from frozenpinn.inverse.unknowns import Numbers
from frozenpinn.runtime.seeds import Seed

Array = np.ndarray
_RECENT = 4  # decompositions that are kept
OTHER_SEED = 1000  # of the second network, beyond the first


class Step(NamedTuple):
    """Where the unknowns are, what they predict, and the posterior of the linearisation there.

    The last step but those that change nothing has shown how far the first order reaches: ``bend`` is what it missed,
    relative to the square of the step, in units of the noise.
    """

    theta: Array
    prediction: Prediction
    posterior: Posterior
    squares: float
    bend: float = np.inf


@dataclass(frozen=True, eq=False)
class FieldInference:
    """One problem with unknown fields, and numbers beside them."""

    question: Question
    _recent: list[tuple[Array, Array, Inversion]] = field(default_factory=list, repr=False)

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

    def posterior(self, prediction: Prediction, theta: Array, sigmas: Array, covariance: bool = True) -> Posterior:
        """Return what the linearised problem says, in the order of the unknowns."""
        free, smooth = self.columns
        slopes = prediction.slopes / sigmas[:, None]
        y = (self.question.data.values - prediction.values) / sigmas + slopes @ theta
        norms = np.maximum(np.linalg.norm(slopes[:, free], axis=0), 1e-300)
        found = self._inversion(prediction.slopes, sigmas, slopes, norms).averaged(y, covariance=covariance)
        order = np.argsort(np.concatenate([free, smooth]))
        scale = np.concatenate([1.0 / norms, np.ones(len(smooth))])
        mean, spread = found.mean * scale, found.covariance * scale * scale[:, None]
        return found._replace(mean=mean[order], covariance=spread[np.ix_(order, order)])

    def judged(self, fit: Fit, sigmas: Array) -> Judged:
        """Judge what the linearised problem makes of the data with some weights."""
        prediction = fit.prediction
        found = self.posterior(prediction, fit.theta, sigmas)
        slopes = prediction.slopes / sigmas[:, None]
        left = (self.question.data.values - prediction.values) / sigmas - slopes @ (found.mean - fit.theta)
        leverage = np.einsum("ij,jk,ik->i", slopes, found.covariance, slopes, optimize=True) / found.variance
        return Judged(left, np.minimum(leverage, 1.0), found.evidence - float(np.sum(np.log(sigmas))))

    def sigmas(self, fit: Fit, start: Array | None = None) -> Array:
        """Return the standard deviations, relative and unknown ones from a fit."""
        return self.question.sigmas(fit, start, self.judged)

    def suits(self, fit: Fit, sigmas: Array) -> bool:
        """Whether what a fit with some deviations leaves does not speak clearly for others."""
        return self.question.data.suits(self.question.rules, fit.prediction.values, sigmas)

    def _inversion(self, slopes: Array, sigmas: Array, weighted: Array, norms: Array) -> Inversion:
        """Decompose slopes, unless they are those of the last few times."""
        for old, its, known in self._recent:
            if old is slopes and np.array_equal(its, sigmas):
                return known
        (free, smooth), grid = self.columns, self.question.rules.prior
        told = self.question.data.noise_is_known
        direct = np.concatenate([np.full(s.count, not s.symbols) for s in self.question.data.sensors])
        found = Inversion(weighted[:, free] / norms, weighted[:, smooth], self._roots, grid, told, direct)
        self._recent[:] = [(slopes, sigmas, found), *self._recent[: _RECENT - 1]]
        return found

    @cached_property
    def _roots(self) -> list[Array]:
        return [
            sla.block_diag(*(prior_root(basis, prior) for basis in self.numbers.fields))
            for prior in self.question.rules.prior.priors
        ]

    def renewed(self, question: Question) -> FieldInference:
        """Return the same for other data; what is decomposed serves them, unless only one noise is known."""
        same = question.data.noise_is_known == self.question.data.noise_is_known
        return FieldInference(question, list(self._recent) if same else [])

    def step(self, model: Model, theta: Array, sigmas: Array, near: Any, known: Prediction | None = None) -> Step:
        """Return where a model is with values of the unknowns; what it predicts may be known."""
        with np.errstate(all="ignore"):  # what is not finite is refused
            prediction = model.at(theta, near) if known is None else known
        left = (self.question.data.values - prediction.values) / sigmas
        squares = float(left @ left)
        if not (np.isfinite(squares) and np.all(np.isfinite(prediction.slopes))):
            raise ConvergenceError("what would be measured is not finite")
        return Step(theta, prediction, self.posterior(prediction, theta, sigmas, covariance=False), squares)

    def descend(
        self, model: Model, theta: Array, sigmas: Array, most: int, known: Prediction | None = None
    ) -> tuple[Step, list[tuple[float, ...]]]:
        """Take Gauss–Newton steps until nothing changes beside the noise."""
        rules, steps, before, stalls = self.question.rules, list[tuple[float, ...]](), np.inf, False
        current = self.step(model, theta, sigmas, None, known)
        for _ in range(most):
            steps.append((current.squares, *map(float, current.theta[: len(self.numbers.names)])))
            change = current.posterior.mean - current.theta
            size = float(np.linalg.norm(current.prediction.slopes @ change / sigmas))
            noise = np.sqrt(current.posterior.variance * max(current.posterior.effective, 1.0))
            if size <= rules.field_settled * noise or (stalls and size > rules.field_slow * before):
                break
            if isinstance(model, Shifted | StaticChord) and self._is_last(model, current, change, size, before):
                left = extrapolated(current.prediction, change)
                squares = float(np.sum(((self.question.data.values - left.values) / sigmas) ** 2))
                current = current._replace(theta=current.theta + change, prediction=left, squares=squares)
                break
            before = size
            following = self._shortened(model, current, change, sigmas)
            if following is None or following.squares >= current.squares:
                following = self._tempered(model, current, sigmas) or following
            if following is None:
                break
            stalls = following.squares >= (1.0 - rules.field_stalls) * current.squares
            current = following._replace(bend=_bend(current, following, sigmas))
        return current, steps

    def _is_last(self, model: Shifted | StaticChord, current: Step, change: Array, size: float, before: float) -> bool:
        """Whether a step is so small that its first order is enough, and ends within the bounds."""
        rules, (lower, upper), posterior = self.question.rules, self.numbers.bounds, current.posterior
        numbers, spread = (current.theta + change)[: len(lower)], np.sqrt(max(posterior.effective, 1.0))
        if not np.all((numbers >= lower) & (numbers <= upper)):
            return False
        own = size / np.sqrt(posterior.variance)
        if isinstance(model, Shifted) and rules.field_bend * model.bend * own**2 <= rules.field_settled * spread:
            return True
        return own <= rules.field_last * spread and size <= rules.field_fast * before

    def _shortened(self, model: Model, current: Step, change: Array, sigmas: Array) -> Step | None:
        """Return the state after a step that is short enough not to raise the misfit; None if there is none."""
        rules, (lower, upper) = self.question.rules, self.numbers.bounds
        count, length = len(sigmas), self._stride(change)
        for _ in range(rules.field_halvings):
            theta = current.theta + length * change
            theta[: len(lower)] = np.clip(theta[: len(lower)], lower, upper)
            try:
                following = self.step(model, theta, sigmas, current.prediction.state)
            except FAILURES:
                length /= 2.0
                continue
            if following.squares <= rules.worse * current.squares + count * current.posterior.variance:
                return following
            length /= 2.0
        return None

    def _tempered(self, model: Model, current: Step, sigmas: Array) -> Step | None:
        """Return the state after a step for data as noisy as what is left of them; None if that brings nothing.

        Far from a fit, what the first order misses is no less than that, and would be taken for a rough field.
        """
        rules, excess = self.question.rules, np.sqrt(current.squares / (len(sigmas) * current.posterior.variance))
        for share in rules.field_tempers if excess**2 > rules.poor else ():
            softer = sigmas * max(share * excess, 1.0)
            change = self.posterior(current.prediction, current.theta, softer, covariance=False).mean - current.theta
            following = self._shortened(model, current, change, sigmas)
            if following is not None and following.squares < current.squares:
                return following
        return None

    def _stride(self, change: Array) -> float:
        """Return which part of a step to try first: logarithms must not change so much that the field overflows."""
        sizes = [float(np.linalg.norm(change[own])) for basis, own in self.numbers.parts() if basis.unknown.positive]
        return min(1.0, self.question.rules.field_stride / max(sizes, default=1e-300))


def _bend(before: Step, after: Step, sigmas: Array) -> float:
    """Return what the first order has missed in a step, relative to its square, in units of the noise."""
    straight = before.prediction.slopes @ (after.theta - before.theta)
    missed = after.prediction.values - before.prediction.values - straight
    size = float(np.sum((straight / sigmas) ** 2))
    return float(np.linalg.norm(missed / sigmas) / max(size, 1e-300) * np.sqrt(after.posterior.variance))


def with_bases(question: Question, seed: int = 0) -> Question:
    """Give every unknown field functions that it is combined of."""
    problem, rules = question.numbers.problem, question.rules
    bases = tuple(field_basis(name, problem, rules.field, seed) for name in problem.parameters.unknown_fields)
    return replace(question, numbers=Numbers(problem, bases))


class SecondOpinion(NamedTuple):
    """By how much predictions, on average, unknowns, and slopes by free numbers differ on other networks."""

    blur: float
    gap: Array
    slopes: Array


def second_opinion(
    question: Question, fit: Fit, sigmas: Array, made: Callable[[Numbers, Array], Model]
) -> SecondOpinion:
    """Return what changes if networks of solution and fields are others."""
    mine = question.numbers
    other = with_bases(question, question.task.seed + OTHER_SEED)
    theta, count = other.numbers.start, len(mine.names)
    theta[:count] = fit.theta[:count]
    pairs = [(*a, *b, _places(a[0])) for a, b in zip(mine.parts(), other.numbers.parts(), strict=True)]
    for one, own, two, its, x in pairs:
        theta[its] = two.fitted(one.unknown.inner_start + one.at(x) @ fit.theta[own], x)
    twin = FieldInference(other)
    first = twin.step(made(other.numbers, theta), theta, sigmas, None)
    found, gap = first.posterior.mean, np.zeros(len(fit.theta))
    gap[:count] = found[:count] - fit.theta[:count]
    for one, own, two, its, x in pairs:
        gap[own] = one.fitted(two.unknown.inner_start + two.at(x) @ found[its], x) - fit.theta[own]
    slopes = fit.prediction.slopes[:, FieldInference(question).columns[0]] - first.prediction.slopes[:, twin.columns[0]]
    return SecondOpinion(float(np.sqrt(np.mean((first.prediction.values - fit.prediction.values) ** 2))), gap, slopes)


def _places(basis: FieldBasis) -> Array:
    """Return points at which two bases of a field are compared."""
    return basis.domain.sample(4 * basis.size, "random", int(Seed.UNKNOWN_FIELD)).x
