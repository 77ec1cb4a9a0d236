"""Linear inversion with a smoothness prior, averaged over its strength and length by their evidence.

For y = J_f f + J a + noise, free numbers f are projected out, a ~ N(0, τ² R_ℓ⁻¹) with the roughness R_ℓ. One singular
value decomposition for each length gives the evidence of all strengths. Where the noise is not known, its level is
integrated out too. Averaging covers better than the best strength alone, much better than the discrepancy principle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg as sla

Array = np.ndarray
_KEPT = 1e-3  # evidence relative to the best from which on a prior counts


class Posterior(NamedTuple):
    """Mean and covariance of everything, effective degrees of freedom, variance of the noise, strength and length."""

    mean: Array
    covariance: Array
    effective: float
    variance: float
    strength: float
    length: float


@dataclass(frozen=True)
class PriorGrid:
    """The strengths and lengths that are averaged over, the latter in units of the domain."""

    lengths: tuple[float, ...] = (0.03, 0.06, 0.12, 0.25, 0.5)
    weakest: float = 1e-3
    strongest: float = 1e3
    strengths: int = 37


class _Member(NamedTuple):
    evidence: float
    mean: Array
    back: Array
    right: Array
    gain: Array
    variance: float
    strength: float
    length: float

    @property
    def effective(self) -> float:
        """How many coefficients the data tell about."""
        return float(np.sum(1.0 - 1.0 / self.gain))

    @property
    def covariance(self) -> Array:
        """τ² B (I − V diag(1 − 1/gain) Vᵀ) Bᵀ, written as a square."""
        factor = self.strength * (
            self.back - self.back @ (self.right.T * (1.0 - 1.0 / np.sqrt(self.gain))) @ self.right
        )
        return np.asarray(self.variance * (factor @ factor.T))


def averaged(y: Array, free: Array, slopes: Array, roughness: list[Array], grid: PriorGrid, known: bool) -> Posterior:
    """Return the posterior of free numbers and coefficients, in this order.

    Parameters
    ----------
    y, free, slopes
        Data and derivatives, all divided by the standard deviations, or by a size if these are not known.
    roughness
        One matrix for each length of the grid.
    """
    q = np.linalg.qr(free)[0] if free.shape[1] else np.zeros((len(y), 0))
    left, seen = y - q @ (q.T @ y), slopes - q @ (q.T @ slopes)
    members = [
        m
        for matrix, length in zip(roughness, grid.lengths, strict=True)
        for m in _members(left, seen, matrix, length, q.shape[1], grid, known)
    ]
    best = max(m.evidence for m in members)
    members = [m for m in members if m.evidence > best + np.log(_KEPT)]
    weights = np.exp([m.evidence - best for m in members])
    weights /= np.sum(weights)
    mean = sum(w * m.mean for w, m in zip(weights, members, strict=True))
    covariance = np.zeros((len(mean), len(mean)))
    for w, m in zip(weights, members, strict=True):
        covariance += w * (m.covariance + np.outer(m.mean - mean, m.mean - mean))
    top = members[int(np.argmax(weights))]
    variance = float(sum(w * m.variance for w, m in zip(weights, members, strict=True)))
    effective = float(sum(w * m.effective for w, m in zip(weights, members, strict=True)))
    whole, spread = _with_free(y, free, slopes, mean, covariance, variance)
    return Posterior(whole, spread, effective, variance, top.strength, top.length)


def _members(
    left: Array, seen: Array, roughness: Array, length: float, lost: int, grid: PriorGrid, known: bool
) -> list[_Member]:
    """Return the posteriors of one length for all strengths."""
    root = sla.cholesky(roughness + 1e-12 * np.trace(roughness) / len(roughness) * np.eye(len(roughness)), lower=True)
    whitened = sla.solve_triangular(root, seen.T, lower=True).T
    u, s, vt = np.linalg.svd(whitened, full_matrices=False)
    back = sla.solve_triangular(root, np.eye(len(root)), lower=True).T
    along = u.T @ left
    rest, count = max(float(left @ left - along @ along), 0.0), len(left) - lost
    found = []
    reach = 1.0 if known else 1e10  # the strength is relative to the noise if that is not known
    for strength in np.geomspace(grid.weakest, grid.strongest * reach, grid.strengths * (1 if known else 3)):
        gain = 1.0 + (strength * s) ** 2
        quadratic = float(np.sum(along**2 / gain)) + rest
        evidence = -0.5 * float(np.sum(np.log(gain)))
        evidence -= 0.5 * quadratic if known else 0.5 * count * np.log(max(quadratic, 1e-300))
        shrunk = strength**2 * s / gain
        mean = back @ (vt.T @ (shrunk * along))
        variance = 1.0 if known else quadratic / max(count, 1)
        found.append(_Member(evidence, mean, back, vt, gain, variance, float(strength), length))
    return found


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
