"""Weights for given points that integrate polynomials exactly.

Integrals of polynomials over a solid follow from its surface (∫ ∂P/∂x = ∮ P n_x), where good rules are known. Points
that are spread evenly inside get the weights nearest to equal ones that reproduce these integrals, and so become a rule
of high degree in any shape, without cells that fit to it.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np

Array = np.ndarray
CHUNK = 20_000


@lru_cache(maxsize=64)
def exponents(dimension: int, degree: int) -> Array:
    """Return the degrees along each axis of all products of total degree at most ``degree``, the lower ones first."""
    found = [row for row in product(range(degree + 1), repeat=dimension) if sum(row) <= degree]
    return np.array(sorted(found, key=lambda row: (sum(row), row)))


def degree_for(n: int, dimension: int) -> int:
    """Return the degree that n points can afford."""
    highest = 10  # degree
    per_polynomial = 12  # points for each polynomial that is integrated exactly: fewer make weights uneven or negative
    degree = 0
    while degree < highest and per_polynomial * len(exponents(dimension, degree + 1)) <= n:
        degree += 1
    return degree


def _legendre(s: Array, degree: int) -> Array:
    """Return Legendre polynomials at s, of mean square one on [−1, 1], shape (n, degree + 1)."""
    found = np.empty((len(s), degree + 1))
    found[:, 0] = 1.0
    if degree:
        found[:, 1] = s
    for k in range(1, degree):
        found[:, k + 1] = ((2 * k + 1) * s * found[:, k] - k * found[:, k - 1]) / (k + 1)
    return found * np.sqrt(2.0 * np.arange(degree + 1) + 1.0)


def polynomials(x: Array, lower: Array, upper: Array, degree: int) -> Array:
    """Return the products of Legendre polynomials of a box at points, one column per row of :func:`exponents`."""
    scaled = (2.0 * x - lower - upper) / (upper - lower)
    factors = [_legendre(s, degree) for s in scaled.T]
    table = exponents(len(lower), degree)
    found = factors[0][:, table[:, 0]]
    for factor, powers in zip(factors[1:], table.T[1:], strict=True):
        found = found * factor[:, powers]
    return np.asarray(found)


def moments(x: Array, weights: Array, lower: Array, upper: Array, degree: int) -> Array:
    """Return the integrals of :func:`polynomials` by a rule."""
    total = np.zeros(len(exponents(len(lower), degree)))
    for start in range(0, len(x), CHUNK):
        rows = slice(start, start + CHUNK)
        total += weights[rows] @ polynomials(x[rows], lower, upper, degree)
    return total


def solid_moments(x: Array, normals: Array, weights: Array, lower: Array, upper: Array, degree: int) -> Array:
    """Return the integrals of :func:`polynomials` over the solid inside a surface, of which a rule is known.

    The antiderivative of the Legendre polynomial P_k is (P_{k+1} − P_{k−1}) / (2k + 1).
    """
    half = (upper[0] - lower[0]) / 2.0
    table = exponents(3, degree)
    found = np.zeros((degree + 1,) * 3)
    root = np.sqrt(2.0 * np.arange(degree + 2) + 1.0)
    for start in range(0, len(x), CHUNK):
        rows = slice(start, start + CHUNK)
        s = (2.0 * x[rows] - lower - upper) / (upper - lower)
        first = _legendre(s[:, 0], degree + 1) / root
        inner = np.empty((len(s), degree + 1))
        inner[:, 0] = first[:, 1]
        for k in range(1, degree + 1):
            inner[:, k] = (first[:, k + 1] - first[:, k - 1]) / root[k]
        inner *= (half * weights[rows] * normals[rows, 0])[:, None]
        pairs = inner[:, :, None] * _legendre(s[:, 1], degree)[:, None, :]
        found += (pairs.reshape(len(s), -1).T @ _legendre(s[:, 2], degree)).reshape(found.shape)
    return found[tuple(table.T)]


def fitted_weights(x: Array, exact: Array, lower: Array, upper: Array) -> Array:
    """Return positive weights at points, near to equal ones, that reproduce the integrals of polynomials.

    Parameters
    ----------
    x
        Points, shape (n, d).
    exact
        Integrals of the products of Legendre polynomials of the box; as many are used as the points can afford.
    lower, upper
        Corners of that box.

    Notes
    -----
    Where the least correction would make weights negative, a lower degree is taken.
    """
    d = len(lower)
    total = exact[0]
    equal = np.full(len(x), total / len(x))
    degree = degree_for(len(x), d)
    while degree > 0 and len(exponents(d, degree)) > len(exact):
        degree -= 1
    for k in range(degree, 0, -1):
        values = polynomials(x, lower, upper, k)
        count = values.shape[1]
        q, r = np.linalg.qr(values)
        u, s, vt = np.linalg.svd(r)  # on a surface some polynomials vanish
        kept = s > 1e-10 * s[0]
        gap = vt[kept] @ (exact[:count] - equal @ values) / s[kept]
        weights = equal + q @ (u[:, kept] @ gap)
        if np.min(weights) > 0.05 * total / len(x):
            return np.asarray(weights * (total / np.sum(weights)))
    return equal
