"""How sharply a static problem determines its solution: the smallest |L u| / |u| of functions that obey the conditions.

For a linear problem this is the distance of its operator from a singular one. Near resonance, with a missing condition,
or where a front hangs on little, it is small, and errors of equations and data are multiplied by its inverse.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla

from frozenpinn.assembly.collocation import Collocation, Linearisation

Array = np.ndarray
_VECTORS = 6
_APART = 100.0  # ratio from which on two values are not those of the same eigenvalue, which may be a double one
_ROUNDS = 12
_SETTLED = 1e-3  # relative change of both values twice in a row, after which no more is iterated


def smallest_values(collocation: Collocation, system: Linearisation) -> tuple[float, float]:
    """Return the smallest |L u| / |u| and the next other one, about, by subspace iteration with the factorisation.

    With A = Q R, they are one over the largest singular values of Φ R⁻¹, where Φ are the features at the points.
    """
    fields, points = len(collocation.problem.fields), collocation.points
    weights = np.sqrt(points.weights / np.sum(points.weights))
    features = collocation.hidden.features(points.x) * weights[:, None]
    if collocation.mixing is not None:
        features = features @ collocation.mixing
    triangle = np.asfortranarray(system.factor.triangle)

    def mapped(block: Array) -> Array:
        """Apply Φ R⁻¹ field by field, one field below the other."""
        found = sla.solve_triangular(triangle, block, check_finite=False)
        return np.concatenate([features @ part for part in np.split(found, fields)])

    def transposed(block: Array) -> Array:
        found = np.concatenate([features.T @ part for part in np.split(block, fields)])
        return np.asarray(sla.solve_triangular(triangle, found, trans="T", check_finite=False))

    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(len(triangle), min(_VECTORS, len(triangle)))))[0]
    squares, settled = np.zeros(2), False
    for _ in range(_ROUNDS):
        vectors, triangular = np.linalg.qr(transposed(mapped(vectors)))
        before, squares = squares, np.abs(np.diag(triangular)[:2])
        if np.all(np.abs(squares - before) <= _SETTLED * squares):
            if settled:
                break
            settled = True
    values = np.linalg.svd(mapped(vectors), compute_uv=False)
    scale = float(np.exp(np.mean(np.log(system.scales[:fields]))))
    return lowest(1.0 / (scale * np.maximum(values, 1e-300)))


def lowest(values: Array) -> tuple[float, float]:
    """Return the smallest of some values and the next one, past others that are about as close to zero.

    Symmetric domains have double eigenvalues: where one of them is hit, two values vanish.

    Examples
    --------
    >>> lowest(np.array([3.0, 1.0, 4.0])), lowest(np.array([1e-9, 2e-9, 4.0]))
    ((1.0, 3.0), (1e-09, 4.0))
    """
    ordered = np.sort(np.abs(values))[:_VECTORS]
    apart = ordered[ordered > _APART * ordered[0]]
    following = apart[0] if len(apart) else ordered[min(1, len(ordered) - 1)]
    return float(ordered[0]), float(following)
