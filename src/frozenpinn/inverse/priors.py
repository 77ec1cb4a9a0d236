"""What is known of unknowns before anything is measured: numbers lie within bounds, fields are smooth.

Fields are linear inversions averaged over strength, length and order of smoothness by their evidence. For y = J_f f +
J a + noise, free numbers f are projected out, a ~ N(0, τ² C) with the covariance C of a length and an order. One
singular value decomposition for each C gives the evidence of all strengths τ. Where the noise is not known, its level
is integrated out too. Averaging covers better than the best strength alone, much better than the discrepancy principle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol, Self

import numpy as np
import scipy.linalg as sla

from frozenpinn.errors import ConvergenceError
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
        """Return how sure the unknowns are, and how many degrees of freedom of fields the data determine."""

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

        With known noise it is (JᵀWJ)⁻¹. Otherwise each residual shows its own noise, which need not be the same
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
    """Unknown fields, which are expected to be smooth, together with free numbers.

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
            known, share = self.question.data.noise_is_known, self.question.rules.prior.direct
            direct = np.concatenate([np.full(s.count, not s.symbols) for s in self.question.data.sensors])
            inversion = Inversion(slopes[:, free] / norms, slopes[:, smooth], self._roots, known, direct, share)
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
        fields, priors = self.question.numbers.fields, self.question.rules.prior.all
        return [sla.block_diag(*(prior_root(basis, prior) for basis in fields)) for prior in priors]

    def covariance(self, prediction: Prediction, theta: Array, sigmas: Array) -> tuple[Array, float]:
        """Return the covariance, averaged likewise."""
        found = self.posterior(prediction, theta, sigmas)
        return found.covariance, found.effective

    def renewed(self, question: Question) -> Smooth:
        """Return the same for other data; what is decomposed serves them, unless only one noise is known."""
        same = question.data.noise_is_known == self.question.data.noise_is_known
        return Smooth(question, list(self._recent) if same else [])


class Posterior(NamedTuple):
    """Mean and covariance of everything, effective degrees of freedom, variance of the noise.

    The evidence is that of the best prior, as a logarithm.
    """

    mean: Array
    covariance: Array
    effective: float
    variance: float
    evidence: float


class _Spectrum(NamedTuple):
    """The singular value decomposition of whitened slopes for one smoothness, and what takes whitened ones back."""

    left: Array
    singular: Array
    right: Array
    back: Array


class _Member(NamedTuple):
    """One smoothness and strength: the evidence, and all that its posterior is made of."""

    evidence: float
    spectrum: _Spectrum
    along: Array
    gain: Array
    variance: float
    strength: float

    @property
    def effective(self) -> float:
        """How many coefficients the data determine."""
        return float(np.sum(1.0 - 1.0 / self.gain))

    @property
    def mean(self) -> Array:
        """The coefficients."""
        s = self.spectrum
        return np.asarray(s.back @ (s.right.T @ (self.strength**2 * s.singular / self.gain * self.along)))

    @property
    def covariance(self) -> Array:
        """τ² B (I − V diag(1 − 1/gain) Vᵀ) Bᵀ, written as a square."""
        back, right = self.spectrum.back, self.spectrum.right
        factor = self.strength * (back - back @ (right.T * (1.0 - 1.0 / np.sqrt(self.gain))) @ right)
        return np.asarray(self.variance * (factor @ factor.T))


@dataclass(frozen=True, eq=False)
class Inversion:
    """Slopes, decomposed for all priors: data come and go.

    Attributes
    ----------
    free, slopes
        Derivatives by free numbers and by coefficients, all divided by the standard deviations, or by a size if these
        are not known.
    roots
        One matrix for each smoothness: B such that B Bᵀ is the covariance of the coefficients.
    known
        Whether the noise is.
    direct, direct_share
        Which rows measure a field itself. Such places are chosen, often along the boundary, and show less of how the
        field varies elsewhere: this share of their evidence is left out.
    """

    free: Array
    slopes: Array
    roots: Sequence[Array]
    known: bool
    direct: Array | None = None
    direct_share: float = 0.0

    @cached_property
    def _part(self) -> Inversion | None:
        """The same for direct measurements alone; None if there are none or nothing else, or if noise is unknown."""
        if not self.known or self.direct is None or not np.any(self.direct) or np.all(self.direct):
            return None
        own = self.direct
        return Inversion(self.free[own], self.slopes[own], self.roots, self.known)

    @cached_property
    def _projected(self) -> Array:
        """An orthonormal basis of what free numbers explain."""
        return np.linalg.qr(self.free)[0] if self.free.shape[1] else np.zeros((len(self.slopes), 0))

    @cached_property
    def _spectra(self) -> list[_Spectrum]:
        found, triangle = [], self._reduced[1]
        for back in self.roots:
            u, s, vt = np.linalg.svd(triangle @ back, full_matrices=False)
            found.append(_Spectrum(u, s, vt, back))
        return found

    @cached_property
    def _reduced(self) -> tuple[Array, Array]:
        """Slopes that free numbers do not explain, as Q R: data are many, and only what they say along Q matters."""
        q = self._projected
        return sla.qr(self.slopes - q @ (q.T @ self.slopes), mode="economic", check_finite=False)

    def averaged(self, y: Array, *, covariance: bool = True) -> Posterior:
        """Return the posterior of free numbers and coefficients, in this order, for weighted data.

        Without ``covariance``, which takes longest, that is zero.
        """
        members = self._all_members(y)
        if self._part is not None:
            assert self.direct is not None
            less = [self.direct_share * m.evidence for m in self._part._all_members(y[self.direct])]
            members = [m._replace(evidence=m.evidence - gone) for m, gone in zip(members, less, strict=True)]
        members = [m for m in members if np.isfinite(m.evidence)]
        if not members:
            raise ConvergenceError("the slopes of what is measured are beyond the range of floating point numbers")
        best = max(m.evidence for m in members)
        members = [m for m in members if m.evidence >= best + np.log(1e-3)]  # others don't count
        weights = np.exp([m.evidence - best for m in members])
        weights /= np.sum(weights)
        means = [m.mean for m in members]
        mean = sum(w * own for w, own in zip(weights, means, strict=True))
        spread = np.zeros((len(mean), len(mean)))
        for w, m, own in zip(weights, members, means, strict=True) if covariance else ():
            spread += w * (m.covariance + np.outer(own - mean, own - mean))
        variance = float(sum(w * m.variance for w, m in zip(weights, members, strict=True)))
        effective = float(sum(w * m.effective for w, m in zip(weights, members, strict=True)))
        whole, spread = _with_free(y, self.free, self.slopes, mean, spread, variance)
        return Posterior(whole, spread, effective, variance, float(best))

    def _all_members(self, y: Array) -> list[_Member]:
        q = self._projected
        left = y - q @ (q.T @ y)
        along = self._reduced[0].T @ left
        rest = float(np.sum((left - self._reduced[0] @ along) ** 2))
        return [m for spectrum in self._spectra for m in self._members(along, rest, len(left), spectrum)]

    def _members(self, seen: Array, outside: float, size: int, spectrum: _Spectrum) -> list[_Member]:
        """Return the posteriors of one prior for all strengths; no coefficient explains the squares ``outside``."""
        s, known = spectrum.singular, self.known
        along = spectrum.left.T @ seen
        rest, count = max(float(seen @ seen - along @ along), 0.0) + outside, size - self._projected.shape[1]
        reach = 1.0 if known else 1e10  # the strength is relative to the noise if that is not known
        strengths = np.geomspace(1e-3, 1e3 * reach, 37 if known else 111)
        gains = 1.0 + (strengths[:, None] * s) ** 2
        quadratic = np.sum(along**2 / gains, axis=1) + rest
        misfits = quadratic if known else count * np.log(np.maximum(quadratic, 1e-300))
        evidence = -0.5 * np.sum(np.log(gains), axis=1) - 0.5 * misfits
        variances = np.ones(len(strengths)) if known else quadratic / max(count, 1)
        return [
            _Member(float(evidence[i]), spectrum, along, gains[i], float(variances[i]), float(strengths[i]))
            for i in range(len(strengths))
        ]


def _with_free(
    y: Array, free: Array, slopes: Array, mean: Array, covariance: Array, variance: float
) -> tuple[Array, Array]:
    """Return mean and covariance with those of the free numbers before them."""
    f = free.shape[1]
    if not f:
        return mean, covariance
    pseudo = np.linalg.pinv(free)
    own, cross = pseudo @ (y - slopes @ mean), -pseudo @ slopes
    whole = np.zeros((f + len(mean), f + len(mean)))
    whole[f:, f:] = covariance
    whole[:f, f:] = cross @ covariance
    whole[f:, :f] = whole[:f, f:].T
    whole[:f, :f] = cross @ covariance @ cross.T + variance * (pseudo @ pseudo.T)
    return np.concatenate([own, mean]), whole
