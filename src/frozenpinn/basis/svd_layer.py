"""The SVD layer: an orthonormal basis of the span of the features, in a weighted inner product.

Four ways to the same result, the cheapest that is safe: features that are orthogonal already are only scaled, and keep
their order; the SVD itself; a QR factorisation first, where there are
clearly more points than features; and, where many features span few dimensions, a randomised range finder (Halko,
Martinsson and Tropp 2011, algorithm 4.2) that stops only when what it leaves out is round-off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.linalg as sla

from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import between, check_flag, is_whole, shown, spelled
from frozenpinn.runtime.round_off import SUMMED

Array = np.ndarray
LARGE = 800  # from this number of features on, it pays to look for a smaller range first
_PROBES = 8


@spelled(SettingsError)
@dataclass(frozen=True)
class SVDLayer:
    """The SVD layer in detail, for ``Settings(cutoff=…)``; a number there means ``SVDLayer(number)``.

    Parameters
    ----------
    cutoff
        Functions whose singular value is below this part of the largest are left out.
    rank
        How many functions are kept instead; None leaves it to the cut-off.
    orthonormal
        Whether the functions are divided by their singular values, as A_r = Σ_r⁻¹ V_rᵀ A. The paper keeps
        A_r = V_rᵀ A: its functions are orthogonal, but as small as their singular values, and their coefficients are
        as large.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> layer = fp.stages.SVDLayer(rank=12, orthonormal=False)
    >>> solution = fp.solve(rod, settings=fp.Settings(width=40, cutoff=layer))
    >>> solution.pieces[0].expansions[0].basis.size, round(float(solution(0.5, 0.1)), 5)
    (12, 0.37271)
    """

    cutoff: float = 1e-12
    rank: int | None = None
    orthonormal: bool = True

    def __post_init__(self) -> None:
        if not between(self.cutoff, 5e-324, 1 - 2**-53):
            raise SettingsError(f"the SVD cut-off must lie between 0 and 1, got {shown(self.cutoff)}.")
        if self.rank is not None and not (is_whole(self.rank) and self.rank > 0):
            raise SettingsError(f"the rank of the SVD layer is a positive whole number, got {shown(self.rank)}.")
        check_flag("orthonormal", self.orthonormal)

    def apply(self, features: Array) -> Compression:
        """Return the functions that are kept of weighted features, at most ``rank`` of them."""
        if self.rank is None and self.orthonormal:
            return compress(features, self.cutoff)
        if self.rank is not None and self.rank > min(features.shape):
            raise SettingsError(
                f"the SVD layer can't have rank {self.rank}: {features.shape[1]} functions obey the conditions, at "
                f"{features.shape[0]} points; use a smaller rank or a larger width."
            )
        u, s, vt = sla.svd(features, full_matrices=False, overwrite_a=True)
        rank = int(np.count_nonzero(s > self.cutoff * s[0])) if self.rank is None else self.rank
        scale = s[:rank] if self.orthonormal else np.ones(rank)
        return Compression(u[:, :rank] * (s[:rank] / scale), vt[:rank].T / scale, s[:rank], s)


#: of an SVD layer: a cut-off, the layer in detail, or None without one
Truncation: TypeAlias = float | SVDLayer | None


class Compression(NamedTuple):
    """features ≈ values · diag(singular) · …, with ``features @ mixing = values``."""

    values: Array
    mixing: Array
    singular: Array
    all_singular: Array


def compress(features: Array, cutoff: float | SVDLayer) -> Compression:
    """Orthonormalise weighted features (rows already scaled by √weight) by a truncated SVD.

    The features may be overwritten.
    """
    if isinstance(cutoff, SVDLayer):
        return cutoff.apply(features)
    if not isinstance(cutoff, int | float | np.number) or not 0 < cutoff < 1:
        raise SettingsError(f"the SVD cut-off must lie between 0 and 1, got {cutoff!r}.")
    if not np.all(np.isfinite(features)):
        raise SettingsError("the hidden layer has values that are not finite; its weights are too large.")
    n, m = features.shape
    if (scaled := _orthogonal(features)) is not None:
        return scaled
    q = find_range(features) if min(n, m) >= LARGE else None
    if q is not None:
        u, s, vt = sla.svd(q.T @ features, full_matrices=False, overwrite_a=True, check_finite=False)
    elif n > 1.2 * m:
        q, u, s, vt = _by_triangle(features)
    else:
        u, s, vt = sla.svd(features, full_matrices=False, overwrite_a=True, check_finite=False)
    rank = int(np.count_nonzero(s > cutoff * s[0]))
    values = u[:, :rank] if q is None else q @ u[:, :rank]
    return Compression(values, vt[:rank].T / s[:rank], s[:rank], s)


def pseudo_inverse(matrix: Array, cutoff: float) -> tuple[Array, int]:
    """Return the pseudo-inverse with a relative cut-off, and the rank."""
    try:
        return sla.pinv(matrix, rtol=cutoff, return_rank=True)
    except np.linalg.LinAlgError:  # LAPACK's fast way to singular values gives up on some matrices
        q, r = sla.qr(matrix, mode="economic")
    try:
        u, s, vt = sla.svd(r, full_matrices=False)  # the same values, another matrix
    except np.linalg.LinAlgError:
        u, s, vt = sla.svd(r, full_matrices=False, lapack_driver="gesvd")
    rank = int(np.count_nonzero(s > cutoff * s[0]))
    return (vt[:rank].T / s[:rank]) @ (q @ u[:, :rank]).T, rank


def _by_triangle(features: Array) -> tuple[Array, Array, Array, Array]:
    """Return Q and the singular value decomposition of R, features = Q R; few features take LAPACK as it is."""
    few = 64  # features up to which what SciPy does before and after LAPACK takes as long as LAPACK
    m = features.shape[1]
    if m > few:
        q, r = sla.qr(features, mode="economic", overwrite_a=True, check_finite=False)
        return (q, *sla.svd(r, overwrite_a=True, check_finite=False))
    reflectors, tau, _, _ = sla.lapack.dgeqrf(features, overwrite_a=1)
    u, s, vt, info = sla.lapack.dgesdd(np.triu(reflectors[:m]), full_matrices=0, overwrite_a=1)
    if info:
        raise np.linalg.LinAlgError("the singular values of the features do not converge.")
    return sla.lapack.dorgqr(reflectors, tau, overwrite_a=1)[0], u, s, vt


def _orthogonal(features: Array) -> Compression | None:
    """Scale features that are orthogonal to each other, larger ones first; None if they are not."""
    first, last = features[:, 0], features[:, -1]
    if (first @ last) ** 2 > SUMMED**2 * (first @ first) * (last @ last):
        return None  # one pair decides, mostly
    sizes = np.linalg.norm(features, axis=0)
    if not np.min(sizes) > 0.1 * np.max(sizes):
        return None
    order = np.argsort(-np.round(sizes / np.max(sizes), 9), kind="stable")
    sizes = sizes[order]
    values = features[:, order] / sizes
    if np.max(np.abs(values.T @ values - np.eye(len(sizes)))) > SUMMED:
        return None
    mixing = np.zeros((len(sizes), len(sizes)))
    mixing[order, np.arange(len(sizes))] = 1.0 / sizes
    return Compression(values, mixing, sizes, sizes)


def find_range(features: Array) -> Array | None:
    """Return an orthonormal basis of the column space up to round-off; None if it is not much smaller than it looks.

    A sample of the features shows what to expect. The basis is accepted if random combinations of the features, other
    than those it was made from, have no part outside it beyond round-off.
    """
    round_off = 1e-14
    n, m = features.shape
    rng = np.random.default_rng(0)
    few = m // 3
    block = features[np.ix_(rng.choice(n, min(n, 2 * few), replace=False), rng.choice(m, few, replace=False))]
    s = sla.svd(block, compute_uv=False, overwrite_a=True, check_finite=False)
    expected = int(np.count_nonzero(s > round_off * s[0]))
    if expected > 0.7 * few:
        return None
    count = min(int(1.2 * expected) + 2 * _PROBES, m // 2)
    sketch = features @ rng.normal(size=(m, count))
    q = sla.qr(sketch, mode="economic", overwrite_a=True, check_finite=False)[0]
    probes = features @ rng.normal(size=(m, _PROBES))
    outside = probes - q @ (q.T @ probes)
    size = np.max(np.linalg.norm(probes, axis=0))
    return q if np.max(np.linalg.norm(outside, axis=0)) <= round_off * np.sqrt(m) * size else None
