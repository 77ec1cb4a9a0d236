"""The SVD layer: an orthonormal basis of the span of the features, in a weighted inner product."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg as sla

from frozenpinn.errors import SettingsError

Array = np.ndarray


class Compression(NamedTuple):
    """features ≈ values · diag(singular) · …, with ``features @ mixing = values``."""

    values: Array
    mixing: Array
    singular: Array
    all_singular: Array


def compress(features: Array, cutoff: float) -> Compression:
    """Orthonormalise weighted features (rows already scaled by √weight) by a truncated SVD.

    A QR factorisation first makes the SVD act on a small square matrix; it pays when there
    are clearly more points than features.
    """
    if not isinstance(cutoff, int | float | np.number) or not 0 < cutoff < 1:
        raise SettingsError(f"the SVD cut-off must lie between 0 and 1, got {cutoff!r}.")
    if not np.all(np.isfinite(features)):
        raise SettingsError("the hidden layer has values that are not finite; its weights are too large.")
    n, m = features.shape
    if n > 1.2 * m:
        q, r = sla.qr(features, mode="economic", overwrite_a=True, check_finite=False)
        u, s, vt = sla.svd(r, overwrite_a=True, check_finite=False)
    else:
        q = None
        u, s, vt = sla.svd(features, full_matrices=False, overwrite_a=True, check_finite=False)
    rank = int(np.count_nonzero(s > cutoff * s[0]))
    values = u[:, :rank] if q is None else q @ u[:, :rank]
    return Compression(values, vt[:rank].T / s[:rank], s[:rank], s)
