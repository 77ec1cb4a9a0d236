"""The functions of one axis at very many places: Chebyshev polynomials on pieces of the axis, exact to round-off.

A neuron costs an exponential or a sine for each place, and each function is a sum over all neurons. Tabulated once, all
functions of an axis follow from one short matrix product for each piece, ten times as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from frozenpinn.basis.cells import LAST, NODES, nodes_between, round_off_limit, to_coefficients

Array = np.ndarray
_NEURONS = 10  # of an axis that lie in one piece, before it is halved
_HALVINGS = 14
_PIECES = 400  # at most
_KEPT = 0.5  # of what is taken for round-off: the size of coefficients that are kept
_MERGED = 24  # nodes of pieces that are merged
_PROBED = 32  # places at which the round-off is measured


@dataclass(frozen=True, eq=False)
class AxisTable:
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

    def cut(self, degrees: int) -> AxisTable:
        """Return the first degrees alone."""
        return AxisTable(self.edges, np.ascontiguousarray(self.coefficients[:, :degrees]))

    def merged(self) -> AxisTable:
        """Return polynomials on half as many pieces; whether these are enough is told by their last coefficients."""
        edges = np.append(self.edges[:-1:2], self.edges[-1])
        return AxisTable(edges, _polynomials(self, np.stack([edges[:-1], edges[1:]], axis=1), _MERGED))

    def located(self, x: Array) -> Array:
        """Return the piece of each place (n,)."""
        found = np.searchsorted(self.edges[1:-1], x, side="right")
        return found.astype(np.min_scalar_type(len(self.edges)))  # small integers are sorted in no time

    def powers(self, x: Array, piece: Array) -> Array:
        """Return the Chebyshev polynomials of the pieces at places in them, shape (degrees, n)."""
        low, high = self.edges[piece], self.edges[piece + 1]
        return chebyshev((2.0 * x - low - high) / (high - low), self.coefficients.shape[1])

    def rows(self, x: Array) -> Array:
        """Return all functions at places (n,), shape (R, n)."""
        own = self.located(x)
        order = np.argsort(own, kind="stable")
        own = own[order]
        powers = self.powers(x[order], own)
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


def axis_breaks(origins: Array, low: float, high: float) -> Array:
    """Return where the first pieces of an axis begin and end: few neurons lie in each."""
    inner = np.sort(origins)[_NEURONS // 2 :: _NEURONS]
    margin = 1e-6 * (high - low)
    inner = inner[(inner > low + margin) & (inner < high - margin)]
    apart = np.diff(inner, prepend=low) > margin
    return np.concatenate([[low], inner[apart], [high]])


def tabulated(values: Callable[[Array], Array], breaks: Array) -> AxisTable | None:
    """Tabulate functions (n, R) of one variable; None if they are too rough for it.

    Breaks are dense where neurons are, and so are the places that tell the size of functions and their round-off: a
    function that is large in a front alone would else seem small, and never exact enough.
    """
    places = np.interp(np.linspace(0, len(breaks) - 1, 2 * _PROBED + 1)[1::2], np.arange(len(breaks)), breaks)
    known = values(nodes_between(breaks[:-1, None], breaks[1:, None]).ravel())
    limit = round_off_limit(lambda x: values(x[:, 0]), places[:, None], [breaks], known)
    if not np.all(np.isfinite(limit)):
        return None
    pending, edges = np.stack([breaks[:-1], breaks[1:]], axis=1), [breaks]
    for _ in range(_HALVINGS):
        fine = np.all(np.abs(_polynomials(values, pending)[:, -LAST:]) <= limit, axis=(1, 2))
        middle = np.mean(pending, axis=1)
        edges.append(middle)  # also of what is fine: round-off is not the same everywhere, and may cancel in sums
        low, high = pending[~fine].T
        pending = np.stack([[low, middle[~fine]], [middle[~fine], high]]).transpose(0, 2, 1).reshape(-1, 2)
        if not len(pending) or len(pending) > _PIECES:
            break
    if len(pending):
        return None
    whole = np.sort(np.concatenate(edges))
    found = _polynomials(values, np.stack([whole[:-1], whole[1:]], axis=1))
    needed = np.flatnonzero(np.any(np.max(np.abs(found), axis=0) > _KEPT * limit, axis=1))
    return AxisTable(whole, np.ascontiguousarray(found[:, : max(2, int(np.max(needed, initial=0)) + 1)]))


def _polynomials(values: Callable[[Array], Array], pieces: Array, count: int = NODES) -> Array:
    """Return the Chebyshev coefficients of functions on pieces (k, 2), shape (k, count, R)."""
    nodes = nodes_between(pieces[:, :1], pieces[:, 1:], count)
    return np.asarray(to_coefficients(count) @ values(nodes.ravel()).reshape(len(pieces), count, -1))
