"""Functions of one variable at very many places: piecewise Chebyshev polynomials, exact to round-off.

A neuron costs an exponential or a sine for each place, and each function is a sum over all neurons. Tabulated once, all
functions of an axis follow from one short matrix product for each piece, ten times as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

Array = np.ndarray
NODES = 16  #: Chebyshev nodes of a piece
LAST = 4  #: coefficients of a piece that are round-off once its polynomial has converged
HALVINGS = 14  #: of a piece, before the function has a kink there


@lru_cache(maxsize=1)
def _nodes() -> Array:
    return -np.cos((np.arange(NODES) + 0.5) * np.pi / NODES)


@lru_cache(maxsize=1)
def to_coefficients() -> Array:
    """Return the map from values at the nodes to Chebyshev coefficients."""
    matrix = np.polynomial.chebyshev.chebvander(_nodes(), NODES - 1).T * (2.0 / NODES)
    matrix[0] /= 2.0
    return np.asarray(matrix)


def nodes_between(start: Array, end: Array) -> Array:
    """Return the nodes of intervals (k,), shape (k, NODES)."""
    return start[:, None] + (end - start)[:, None] * (_nodes() + 1.0) / 2.0


def chebyshev(s: Array, count: int) -> Array:
    """Return the first Chebyshev polynomials at s (n,), shape (count, n)."""
    out = np.empty((count, len(s)))
    out[0] = 1.0
    if count > 1:
        out[1] = s
        twice = 2.0 * s
    for j in range(2, count):
        np.multiply(twice, out[j - 1], out=out[j])
        out[j] -= out[j - 2]
    return out


def round_off(values: Callable[[Array], Array], places: Array, ranges: Array, known: Array, sharp: float) -> Array:
    """Return what is taken for round-off in values: their sixth differences at neighbouring places, shape (columns,).

    ``known`` are values that tell the size of the function; ``sharp`` is the part of it that is round-off in any case.
    """
    steps = np.arange(7)[:, None, None] * 1e-7
    near = places + steps * np.where(places > places.mean(axis=0), -ranges, ranges)
    found = values(near.reshape(-1, places.shape[1])).reshape(7, len(places), -1)
    noise = np.max(np.abs(np.diff(found, 6, axis=0)[0]), axis=0) / np.sqrt(924.0)  # the norm of their weights
    return np.asarray(sharp * np.max(np.abs(known), axis=0) + 2.0 * noise)


@dataclass(frozen=True, eq=False)
class Piecewise:
    """Polynomials (k, degrees, R) between ``edges`` (k + 1,)."""

    edges: Array
    coefficients: Array

    @cached_property
    def sizes(self) -> Array:
        """How large each function may be at most, shape (R,)."""
        return np.asarray(np.max(np.sum(np.abs(self.coefficients), axis=1), axis=0))

    def covers(self, x: Array) -> bool:
        """Whether all places lie where the functions are tabulated."""
        return bool(np.min(x) >= self.edges[0] and np.max(x) <= self.edges[-1])

    def rows(self, x: Array) -> Array:
        """Return all functions at places (n,), shape (R, n)."""
        own = np.searchsorted(self.edges[1:-1], x, side="right")
        own = own.astype(np.min_scalar_type(len(self.edges)))  # small integers are sorted in no time
        order = np.argsort(own, kind="stable")
        own = own[order]
        low, high = self.edges[own], self.edges[own + 1]
        powers = chebyshev((2.0 * x[order] - low - high) / (high - low), self.coefficients.shape[1])
        bounds = np.searchsorted(own, np.arange(len(self.coefficients) + 1))
        found = np.empty((self.coefficients.shape[2], len(x)))
        for k in np.flatnonzero(np.diff(bounds)).tolist():
            part = slice(bounds[k], bounds[k + 1])
            np.matmul(self.coefficients[k].T, powers[:, part], out=found[:, part])
        out = np.empty_like(found)
        out[:, order] = found
        return out

    def __call__(self, x: Array) -> Array:
        """Return all functions at places (n,), shape (n, R)."""
        return self.rows(x).T


def axis_breaks(origins: Array, low: float, high: float) -> Array:
    """Return where the first pieces of an axis begin and end: few neurons lie in each."""
    neurons = 10  # of an axis that lie in one piece, before it is halved
    inner = np.sort(origins)[neurons // 2 :: neurons]
    margin = 1e-6 * (high - low)
    inner = inner[(inner > low + margin) & (inner < high - margin)]
    apart = np.diff(inner, prepend=low) > margin
    return np.concatenate([[low], inner[apart], [high]])


def tabulated(values: Callable[[Array], Array], breaks: Array) -> Piecewise | None:
    """Tabulate functions (n, R) of one variable; None if they are too rough for it.

    Breaks are dense where neurons are, and so are the places that tell the size of functions and their round-off: a
    function that is large in a front alone would else seem small, and never exact enough.
    """
    most_pieces = 400
    places = np.interp(np.linspace(0, len(breaks) - 1, 65)[1::2], np.arange(len(breaks)), breaks)[:, None]
    known = values(nodes_between(breaks[:-1], breaks[1:]).ravel())
    limit = round_off(lambda x: values(x[:, 0]), places, breaks[-1:] - breaks[0], known, 2e-14)
    if not np.all(np.isfinite(limit)):
        return None
    pending, edges = np.stack([breaks[:-1], breaks[1:]], axis=1), [breaks]
    for _ in range(HALVINGS):
        fine = np.all(np.abs(_polynomials(values, pending)[:, -LAST:]) <= limit, axis=(1, 2))
        middle = np.mean(pending, axis=1)
        edges.append(middle)  # also of what is fine: round-off is not the same everywhere, and may cancel in sums
        low, high = pending[~fine].T
        pending = np.stack([[low, middle[~fine]], [middle[~fine], high]]).transpose(0, 2, 1).reshape(-1, 2)
        if not len(pending) or len(pending) > most_pieces:
            break
    if len(pending):
        return None
    whole = np.sort(np.concatenate(edges))
    found = _polynomials(values, np.stack([whole[:-1], whole[1:]], axis=1))
    needed = np.flatnonzero(np.any(np.max(np.abs(found), axis=0) > 0.5 * limit, axis=1))
    return Piecewise(whole, np.ascontiguousarray(found[:, : max(2, int(np.max(needed, initial=0)) + 1)]))


def _polynomials(values: Callable[[Array], Array], pieces: Array) -> Array:
    """Return the Chebyshev coefficients of functions on pieces (k, 2), shape (k, NODES, R)."""
    return np.asarray(to_coefficients() @ values(nodes_between(*pieces.T).ravel()).reshape(len(pieces), NODES, -1))
