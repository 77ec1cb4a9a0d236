"""What is known of unknowns before anything is measured: numbers lie within bounds, fields are smooth."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, Self

import numpy as np
import scipy.linalg as sla

from frozenpinn.inverse.evidence import Inversion, Posterior
from frozenpinn.inverse.field_basis import prior_root
from frozenpinn.inverse.model import Prediction
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.sensors import Judged

Array = np.ndarray


class Prior(Protocol):
    """How a linearised problem is solved."""

    @property
    def question(self) -> Question:
        """The unknowns and the data."""

    @property
    def settled(self) -> float:
        """The change for each degree of freedom, in deviations, that does not matter."""

    def posterior(self, prediction: Prediction, theta: Array, sigmas: Array, covariance: bool = True) -> Posterior:
        """Return what the linearised problem says, in the order of the unknowns."""

    def covariance(self, prediction: Prediction, theta: Array, sigmas: Array) -> tuple[Array, float]:
        """Return how sure the unknowns are, and how many degrees of freedom of fields the data tell about."""

    def renewed(self, question: Question) -> Self:
        """Return the same for other data."""


def prior_of(question: Question) -> Prior:
    """Return what is known of the unknowns of a question."""
    return Smooth(question) if question.numbers.fields else Bounded(question)


def deviations(prior: Prior, prediction: Prediction, theta: Array, start: Array | None = None) -> Array:
    """Return the standard deviations at a fit, unknown ones from what it leaves and from some start on."""
    data, rules = prior.question.data, prior.question.rules
    if data.noise_is_known:
        return data.sigmas(rules, prediction.values)

    def judged(sigmas: Array) -> Judged:
        """Judge what the linearised problem makes of the data with some weights."""
        found, slopes = prior.posterior(prediction, theta, sigmas), prediction.slopes / sigmas[:, None]
        left = (data.values - prediction.values) / sigmas - slopes @ (found.mean - theta)
        leverage = np.einsum("ij,jk,ik->i", slopes, found.covariance, slopes, optimize=True) / found.variance
        return Judged(left, np.minimum(leverage, 1.0), found.evidence - float(np.sum(np.log(sigmas))))

    start = data.sigmas(rules, prediction.values) if start is None else start
    return data.estimated(rules, prediction.values, start, judged)


@dataclass(frozen=True, eq=False)
class Bounded:
    """Unknown numbers, of which nothing but bounds is known."""

    question: Question
    settled = 1e-2

    def posterior(self, prediction: Prediction, theta: Array, sigmas: Array, covariance: bool = True) -> Posterior:
        """Return the step that fits the data best to first order, within the bounds."""
        data, scales = self.question.data, self.question.numbers.scales
        slopes, left = prediction.slopes * scales / sigmas[:, None], (data.values - prediction.values) / sigmas
        step = self._step(slopes, left, theta)
        rest, count = left - slopes @ (step / scales), len(left)
        mean = float(rest @ rest) / count
        variance = 1.0 if data.noise_is_known else mean * count / max(count - len(theta), 1)
        inverse = np.linalg.pinv(slopes) * scales[:, None] if covariance else np.zeros((len(theta), 0))
        evidence = -0.5 * count * float(np.log(max(mean, 1e-300)))
        return Posterior(theta + step, variance * (inverse @ inverse.T), 0.0, max(variance, 1e-300), evidence)

    def _step(self, slopes: Array, left: Array, theta: Array) -> Array:
        numbers = self.question.numbers
        scales, (lower, upper) = numbers.scales, numbers.bounds
        step = np.linalg.lstsq(slopes, left, rcond=1e-14)[0] * scales
        if np.all(theta + step >= lower) and np.all(theta + step <= upper):
            return np.asarray(step)
        from scipy.optimize import lsq_linear  # it takes a tenth of a second, which few need

        low, high = (lower - theta) / scales, (upper - theta) / scales
        found = lsq_linear(slopes, left, (np.minimum(low, -1e-300), np.maximum(high, 1e-300)))
        return np.asarray(np.clip(found.x * scales, lower - theta, upper - theta))

    def covariance(self, prediction: Prediction, theta: Array, sigmas: Array) -> tuple[Array, float]:
        """Return the covariance of a fit.

        With known noise it is (JᵀWJ)⁻¹. Otherwise each residual tells of its own noise, which need not be the same
        everywhere: the sandwich (JᵀJ)⁻¹ Jᵀ diag(r²/(1 − h)²) J (JᵀJ)⁻¹, with leverages h (MacKinnon & White 1985,
        HC3). That is itself uncertain, and too small where few data count: no deviation is smaller than noise that is
        the same everywhere would make it (Angrist & Pischke 2009, section 8.1).
        """
        weighted = prediction.slopes / sigmas[:, None]
        norms = np.linalg.norm(weighted, axis=0)
        norms = np.where(norms > 0, norms, 1.0)
        q, r = np.linalg.qr(weighted / norms)
        inverse = np.linalg.inv(r) / norms[:, None]
        if self.question.data.noise_is_known:
            return inverse @ inverse.T, 0.0
        left = (self.question.data.values - prediction.values) / sigmas
        leverage = np.minimum(np.einsum("ij,ij->i", q, q), 1.0 - 1e-6)
        meat = (q * (left / (1.0 - leverage))[:, None] ** 2).T @ q
        covariance = inverse @ meat @ inverse.T
        even = float(left @ left) / max(len(left) - len(theta), 1) * np.sum(inverse**2, axis=1)
        wider = np.sqrt(np.maximum(even / np.maximum(np.diag(covariance), 1e-300), 1.0))
        return covariance * wider * wider[:, None], 0.0

    def renewed(self, question: Question) -> Bounded:
        """Return the same for other data."""
        return Bounded(question)


@dataclass(frozen=True, eq=False)
class Smooth:
    """Unknown fields, which are expected to be smooth, and free numbers beside them.

    The decompositions of the last few slopes are kept: they serve other data, too.
    """

    question: Question
    _recent: list[tuple[Array, Array, Inversion]] = field(default_factory=list, repr=False)
    settled = 3e-2

    def posterior(self, prediction: Prediction, theta: Array, sigmas: Array, covariance: bool = True) -> Posterior:
        """Return the mean over all strengths, lengths and orders of smoothness."""
        free = self.question.free
        smooth = np.setdiff1d(np.arange(len(theta)), free)
        slopes = prediction.slopes / sigmas[:, None]
        y = (self.question.data.values - prediction.values) / sigmas + slopes @ theta
        norms = np.maximum(np.linalg.norm(slopes[:, free], axis=0), 1e-300)
        inversion = self._known(prediction.slopes, sigmas)
        if inversion is None:
            known, grid = self.question.data.noise_is_known, self.question.rules.prior
            direct = np.concatenate([np.full(s.count, not s.symbols) for s in self.question.data.sensors])
            inversion = Inversion(slopes[:, free] / norms, slopes[:, smooth], self._roots, grid, known, direct)
            self._recent[:] = [(prediction.slopes, sigmas, inversion), *self._recent[:3]]
        found = inversion.averaged(y, covariance=covariance)
        order = np.argsort(np.concatenate([free, smooth]))
        scale = np.concatenate([1.0 / norms, np.ones(len(smooth))])
        mean, spread = found.mean * scale, found.covariance * scale * scale[:, None]
        return found._replace(mean=mean[order], covariance=spread[np.ix_(order, order)])

    def _known(self, slopes: Array, sigmas: Array) -> Inversion | None:
        for old, its, known in self._recent:
            if old is slopes and np.array_equal(its, sigmas):
                return known
        return None

    @cached_property
    def _roots(self) -> list[Array]:
        fields, priors = self.question.numbers.fields, self.question.rules.prior.priors
        return [sla.block_diag(*(prior_root(basis, prior) for basis in fields)) for prior in priors]

    def covariance(self, prediction: Prediction, theta: Array, sigmas: Array) -> tuple[Array, float]:
        """Return the covariance, averaged likewise."""
        found = self.posterior(prediction, theta, sigmas)
        return found.covariance, found.effective

    def renewed(self, question: Question) -> Smooth:
        """Return the same for other data; what is decomposed serves them, unless only one noise is known."""
        same = question.data.noise_is_known == self.question.data.noise_is_known
        return Smooth(question, list(self._recent) if same else [])
