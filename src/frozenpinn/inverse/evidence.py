"""Linear inversion with a smoothness prior, averaged over its strength, length and order by their evidence.

For y = J_f f + J a + noise, free numbers f are projected out, a ~ N(0, τ² C) with the covariance C of a length and an
order. One singular value decomposition for each C gives the evidence of all strengths. Where the noise is not known,
its level is integrated out too. Averaging covers better than the best strength alone, much better than the discrepancy
principle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.linalg as sla

from frozenpinn.errors import ConvergenceError

Array = np.ndarray
_KEPT = 1e-3  # evidence relative to the best from which on a prior counts


class Prior(NamedTuple):
    """What is expected of a field: how many derivatives it has, and over which part of the domain it varies."""

    smoothness: int
    length: float


class Posterior(NamedTuple):
    """Mean and covariance of everything, effective degrees of freedom, variance of the noise.

    The evidence is that of the best prior, as a logarithm.
    """

    mean: Array
    covariance: Array
    effective: float
    variance: float
    evidence: float


@dataclass(frozen=True)
class PriorGrid:
    """The smoothness, lengths and strengths that are averaged over, lengths in units of the domain."""

    smoothness: tuple[int, ...] = (1, 3)  #: how many derivatives a field has
    lengths: tuple[float, ...] = (0.06, 0.12, 0.25, 0.5, 1.0)
    weakest: float = 1e-3
    strongest: float = 1e3
    strengths: int = 37
    direct: float = 0.4  #: part of the evidence of values of the field itself that is left out

    @property
    def priors(self) -> list[Prior]:
        """All that is averaged over but the strength."""
        return [Prior(own, length) for own in self.smoothness for length in self.lengths]


class _Spectrum(NamedTuple):
    """The singular value decomposition of whitened slopes for one prior, and what takes whitened ones back."""

    prior: Prior
    left: Array
    singular: Array
    right: Array
    back: Array


class _Member(NamedTuple):
    """One prior: its evidence, and all that its posterior is made of."""

    evidence: float
    spectrum: _Spectrum
    along: Array
    gain: Array
    variance: float
    strength: float

    @property
    def effective(self) -> float:
        """How many coefficients the data tell about."""
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
        One matrix for each prior of the grid: B such that B Bᵀ is the covariance of the coefficients.
    grid, known
        The priors that are averaged over, and whether the noise is known.
    direct
        Which rows measure a field itself. Such places are chosen, often along the boundary, and tell less of how the
        field varies elsewhere: evidence counts them in part.
    """

    free: Array
    slopes: Array
    roots: Sequence[Array]
    grid: PriorGrid
    known: bool
    direct: Array | None = None

    @cached_property
    def _part(self) -> Inversion | None:
        """The same for direct measurements alone; None if there are none or nothing else, or if noise is unknown."""
        if not self.known or self.direct is None or not np.any(self.direct) or np.all(self.direct):
            return None
        own = self.direct
        return Inversion(self.free[own], self.slopes[own], self.roots, self.grid, self.known)

    @cached_property
    def _projected(self) -> Array:
        """An orthonormal basis of what free numbers explain."""
        return np.linalg.qr(self.free)[0] if self.free.shape[1] else np.zeros((len(self.slopes), 0))

    @cached_property
    def _spectra(self) -> list[_Spectrum]:
        found, triangle = [], self._reduced[1]
        for back, prior in zip(self.roots, self.grid.priors, strict=True):
            u, s, vt = np.linalg.svd(triangle @ back, full_matrices=False)
            found.append(_Spectrum(prior, u, s, vt, back))
        return found

    @cached_property
    def _reduced(self) -> tuple[Array, Array]:
        """Slopes beside the free numbers as Q R: data are many, and only what they say along Q matters."""
        q = self._projected
        return sla.qr(self.slopes - q @ (q.T @ self.slopes), mode="economic", check_finite=False)

    def averaged(self, y: Array, *, covariance: bool = True) -> Posterior:
        """Return the posterior of free numbers and coefficients, in this order, for weighted data.

        Without ``covariance``, which takes longest, that is zero.
        """
        members = self._all_members(y)
        if self._part is not None:
            assert self.direct is not None
            less = [self.grid.direct * m.evidence for m in self._part._all_members(y[self.direct])]
            members = [m._replace(evidence=m.evidence - gone) for m, gone in zip(members, less, strict=True)]
        members = [m for m in members if np.isfinite(m.evidence)]
        if not members:
            raise ConvergenceError("the slopes of what is measured are beyond the range of floating point numbers")
        best = max(m.evidence for m in members)
        members = [m for m in members if m.evidence >= best + np.log(_KEPT)]
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

    def _members(self, seen: Array, beside: float, size: int, spectrum: _Spectrum) -> list[_Member]:
        """Return the posteriors of one prior for all strengths; no coefficient explains the squares ``beside``."""
        s, grid, known = spectrum.singular, self.grid, self.known
        along = spectrum.left.T @ seen
        rest, count = max(float(seen @ seen - along @ along), 0.0) + beside, size - self._projected.shape[1]
        reach = 1.0 if known else 1e10  # the strength is relative to the noise if that is not known
        strengths = np.geomspace(grid.weakest, grid.strongest * reach, grid.strengths * (1 if known else 3))
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
