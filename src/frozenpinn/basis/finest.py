"""What the finest functions of an axis carry: the sign by which a lack of resolution is told.

An SVD layer on neurons of tanh orders its functions from smooth to rough, and the last tenth are the finest. On sines
it does not: most singular values are about equal, and their functions mixtures of all frequencies. There the finest
part of a function is its distance from the sines of the lowest nine tenths of the frequencies, and from the functions
that lift boundary data: what these have of high frequencies is taken away again by the others.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla

from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.svd_layer import compress

Array = np.ndarray
_TENTH = 0.1
_ORDERED = 10.0  # ratio of singular values up to which functions are single sines, in the order of their frequencies
_NOTHING = 1e-13  # what directions may be left out


def finest_part(
    hidden: HiddenLayer, x: Array, weights: Array, values: Array | None, singular: Array, lifting: Array
) -> Array:
    """Return the map from coefficients to those of the finest part, shape (k, r).

    Parameters
    ----------
    hidden, x, weights
        Neurons of one variable, quadrature points and weights.
    values
        The orthonormal functions at the points, times the roots of the weights; None if they are not known.
    singular
        Their singular values.
    lifting
        Raw coefficients of the lifting functions, shape (M + 1, n_l).
    """
    size = len(singular)
    last = np.eye(size)[-max(2, int(_TENTH * size)) :]
    if hidden.activation != "sin" or values is None or singular[0] <= _ORDERED * singular[-1]:
        return last
    turns, features = np.abs(hidden.weights[:, 0]), np.sqrt(weights)[:, None] * hidden.features(x)
    low = np.append(turns <= (1.0 - _TENTH) * np.max(turns), True)  # and the constant
    low = np.tile(low, features.shape[1] // len(low))  # once more on each part of an axis with cuts
    lifted = features @ lifting
    fewer = np.concatenate([features[:, low], lifted / np.linalg.norm(lifted, axis=0)], axis=1)
    smooth = compress(fewer, float(singular[-1] / singular[0])).values
    rest = values - smooth @ (smooth.T @ values)
    triangle, order = sla.qr(rest, mode="r", pivoting=True, check_finite=False)[-2:]
    kept = max(1, int(np.count_nonzero(np.abs(np.diagonal(triangle)) > _NOTHING)))
    found = np.empty((kept, size))
    found[:, order] = triangle[:kept]
    return found
