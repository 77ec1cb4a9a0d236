"""Simplices (segments, triangles, tetrahedra): refinement, quadrature of any degree, uniform points.

A set of m simplices of dimension k in R^d is an array of corners of shape (m, k + 1, d).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import factorial

import numpy as np

from frozenpinn.geometry.points import SCATTERED_RULES, gauss, gauss_power

Array = np.ndarray
HIGHEST = {2: 8, 3: 6}  # points per direction beyond which simplices are bisected instead


def volumes(corners: Array) -> Array:
    """Return lengths, areas or volumes."""
    edges = corners[:, 1:] - corners[:, :1]
    k, d = edges.shape[1:]
    if k == 1:
        return np.asarray(np.linalg.norm(edges[:, 0], axis=1))
    if k == d:
        return np.asarray(np.abs(np.linalg.det(edges)) / factorial(k))
    if (k, d) == (2, 3):
        return np.asarray(np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / 2.0)
    gram = edges @ edges.transpose(0, 2, 1)
    return np.asarray(np.sqrt(np.maximum(np.linalg.det(gram), 0.0)) / factorial(k))


@lru_cache(maxsize=64)
def conical_rule(k: int, q: int) -> tuple[Array, Array]:
    """Return a rule with q^k points on the k-simplex, exact up to degree 2q − 1: barycentric nodes, weights of sum 1.

    The simplex is a cube with one face after the other drawn together (Stroud's conical product); the
    Jacobian s^(k−1) of each step is the weight of a Gauss–Jacobi rule, so all weights are positive.
    """
    rest, weights, nodes = np.ones(1), np.ones(1), np.empty((1, 0))
    for power in range(k - 1, -1, -1):
        s, w = gauss_power(q, float(power)) if power else gauss(q)
        grown = np.repeat(nodes, q, axis=0)
        scale = np.repeat(rest, q)
        s, w = np.tile(s, len(nodes)), np.tile(w, len(nodes))
        nodes = np.column_stack([grown, scale * (1.0 - s)])
        rest, weights = scale * s, np.repeat(weights, q) * w
    return np.column_stack([nodes, rest]), weights * factorial(k)


def refined(corners: Array, count: int) -> tuple[Array, Array]:
    """Bisect the simplices with the longest edges until there are ``count``; return them and their origins."""
    origin = np.arange(len(corners))
    pairs = np.array(list(combinations(range(corners.shape[1]), 2)))
    while len(corners) < count:
        lengths = np.linalg.norm(corners[:, pairs[:, 0]] - corners[:, pairs[:, 1]], axis=2)
        longest = np.max(lengths, axis=1)
        number = min(count - len(corners), int(np.sum(longest > 0.7 * np.max(longest))))
        chosen = np.argsort(-longest, kind="stable")[:number]
        split = pairs[np.argmax(lengths[chosen], axis=1)]
        rows = np.arange(number)
        parents = corners[chosen]
        middle = (parents[rows, split[:, 0]] + parents[rows, split[:, 1]]) / 2.0
        first, second = parents.copy(), parents.copy()
        first[rows, split[:, 0]] = middle
        second[rows, split[:, 1]] = middle
        corners = np.concatenate([np.delete(corners, chosen, axis=0), first, second])
        origin = np.concatenate([np.delete(origin, chosen), origin[chosen], origin[chosen]])
    return corners, origin


def points_per_direction(n: int, cells: int, k: int) -> int:
    """Return q so that cells·q^k comes closest to n in ratio, at least 1."""
    exact = max(n / cells, 1.0) ** (1.0 / k)
    low = int(exact)
    return low + 1 if exact**2 > low * (low + 1) else low


def simplex_rule(corners: Array, n: int) -> tuple[Array, Array, Array]:
    """Return about n points on a union of simplices, their weights, and the number of the simplex of each.

    Few simplices of high order are preferred to many of low order, if n allows it.
    """
    k = corners.shape[1] - 1
    if k == 1:
        return _segment_rule(corners, n)
    owner = np.arange(len(corners))
    if points_per_direction(n, len(corners), k) > HIGHEST[k]:
        corners, owner = refined(corners, round(n / HIGHEST[k] ** k))
    nodes, weights = conical_rule(k, points_per_direction(n, len(corners), k))
    x = np.einsum("qv,mvd->mqd", nodes, corners).reshape(-1, corners.shape[2])
    return x, np.outer(volumes(corners), weights).ravel(), np.repeat(owner, len(weights))


def _segment_rule(corners: Array, n: int) -> tuple[Array, Array, Array]:
    """Return Gauss points on segments, in proportion to their length, at least two on each."""
    lengths = volumes(corners)
    counts = np.maximum(np.round(n * lengths / np.sum(lengths)).astype(int), 2)
    owner = np.repeat(np.arange(len(corners)), counts)
    s, w = (np.concatenate(parts) for parts in zip(*(gauss(int(count)) for count in counts), strict=True))
    ends = corners[owner]
    return ends[:, 0] * (1.0 - s[:, None]) + ends[:, 1] * s[:, None], lengths[owner] * w, owner


def scattered(corners: Array, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return n points of uniform density on a union of simplices, and the number of the simplex of each."""
    k = corners.shape[1] - 1
    unit = SCATTERED_RULES[method](n, k + 1, rng)
    total = np.cumsum(volumes(corners))
    owner = np.minimum(np.searchsorted(total, unit[:, 0] * total[-1], side="right"), len(corners) - 1)
    nodes = place_in_simplices(unit[:, 1:])
    return np.einsum("nv,nvd->nd", nodes, corners[owner]), owner


@lru_cache(maxsize=16)
def lattice(parts: int) -> Array:
    """Return barycentric coordinates of a triangle in steps of 1/parts, shape (n, 3)."""
    nodes = np.array([(i, j, parts - i - j) for i in range(parts + 1) for j in range(parts + 1 - i)]) / parts
    nodes.flags.writeable = False
    return nodes


def place_in_simplices(unit: Array) -> Array:
    """Return barycentric coordinates, uniform in the simplex, of points that are uniform in the unit cube (n, k)."""
    n, k = unit.shape
    rest = np.ones(n)
    nodes = np.empty((n, k + 1))
    for i in range(k):
        s = unit[:, i] ** (1.0 / (k - i))  # density s^(k−1−i), as in the conical product
        nodes[:, i] = rest * (1.0 - s)
        rest = rest * s
    nodes[:, k] = rest
    return nodes


def systematic(corners: Array, n: int) -> tuple[Array, Array]:
    """Return n centroids spread evenly over a set of many simplices by measure, and the numbers of their simplices.

    The simplices are ordered along a space-filling curve, and every (total/n)-th of their measure is taken.
    """
    centres = np.mean(corners, axis=1)
    order = along_curve(centres)
    total = np.cumsum(volumes(corners)[order])
    picked = order[np.searchsorted(total, (np.arange(n) + 0.5) / n * total[-1])]
    return centres[picked], picked


def along_curve(x: Array) -> Array:
    """Order points along a Z-curve."""
    if not len(x):
        return np.zeros(0, dtype=int)
    lower, lengths = np.min(x, axis=0), np.ptp(x, axis=0)
    cells = ((x - lower) / np.where(lengths > 0, lengths, 1.0) * 1023).astype(np.int64)
    key = np.zeros(len(x), dtype=np.int64)
    for bit in range(10):
        for axis in range(x.shape[1]):
            key |= ((cells[:, axis] >> bit) & 1) << (bit * x.shape[1] + axis)
    return np.argsort(key, kind="stable")
