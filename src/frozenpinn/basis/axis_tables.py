"""The functions of one axis at very many places: Chebyshev polynomials on pieces of the axis, exact to round-off.

A neuron costs an exponential or a sine for each place, and each function is a sum over all neurons. Tabulated once, all
functions of an axis follow from one short matrix product for each piece, ten times as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from frozenpinn.basis.cells import LAST, NODES, nodes_between, round_off_limit, to_polynomials

Array = np.ndarray
_NEURONS = 10  # of an axis that lie in one piece, before it is halved
_HALVINGS = 14
_PIECES = 400  # at most
_KEPT = 0.5  # of what is taken for round-off: the size of coefficients that are kept
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

    def __call__(self, x: Array) -> Array:
        """Return all functions at places (n,), shape (n, R)."""
        pieces = len(self.coefficients)
        own = np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, pieces - 1)
        low, high = self.edges[own], self.edges[own + 1]
        powers = chebvander((2.0 * x - low - high) / (high - low), self.coefficients.shape[1] - 1)
        order = np.argsort(own, kind="stable")
        powers = powers[order]
        bounds = np.searchsorted(own[order], np.arange(pieces + 1))
        found = np.empty((len(x), self.coefficients.shape[2]))
        for k in np.flatnonzero(np.diff(bounds)):
            found[bounds[k] : bounds[k + 1]] = powers[bounds[k] : bounds[k + 1]] @ self.coefficients[k]
        out = np.empty_like(found)
        out[order] = found
        return out


def axis_breaks(origins: Array, low: float, high: float) -> Array:
    """Return where the first pieces of an axis begin and end: few neurons lie in each."""
    inner = np.sort(origins)[_NEURONS // 2 :: _NEURONS]
    margin = 1e-6 * (high - low)
    inner = inner[(inner > low + margin) & (inner < high - margin)]
    apart = np.diff(inner, prepend=low) > margin
    return np.concatenate([[low], inner[apart], [high]])


def tabulated(values: Callable[[Array], Array], breaks: Array) -> AxisTable | None:
    """Tabulate functions (n, R) of one variable; None if they are too rough for it."""
    places = breaks[0] + (breaks[-1] - breaks[0]) * (np.arange(_PROBED) + 0.5) / _PROBED
    limit = round_off_limit(lambda x: values(x[:, 0]), places[:, None], [breaks])
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


def _polynomials(values: Callable[[Array], Array], pieces: Array) -> Array:
    """Return the Chebyshev coefficients of functions on pieces (k, 2), shape (k, NODES, R)."""
    nodes = np.stack([nodes_between(a, b) for a, b in pieces])
    table = values(nodes.ravel()).reshape(len(pieces), NODES, -1)
    return np.ascontiguousarray(np.swapaxes(to_polynomials(np.swapaxes(table, 1, 2)), 1, 2))
