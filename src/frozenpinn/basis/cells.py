"""Functions of few variables at very many points: Chebyshev polynomials on boxes, halved until exact to round-off.

Where a box holds too few points for its nodes to pay, the function itself is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from frozenpinn.basis.piecewise import HALVINGS, LAST, NODES, chebyshev, nodes_between, round_off, to_coefficients

Array = np.ndarray
_BLOCK = 4_000_000  # numbers held at a time
CHECKED = 64  #: places at which tables are compared with the function
WRONG = 50.0  #: times its round-off that they may be off there, before they are distrusted as a whole


def evaluate(values: Callable[[Array], Array], places: Array, parts: int = 1) -> Array:
    """Return a smooth function (n, d) → (n, columns) at many places, from boxes: first so many along each variable."""
    return trusted(values, places, lambda limit: _from_boxes(values, places, parts, limit))


def trusted(values: Callable[[Array], Array], places: Array, fast: Callable[[Array], Array]) -> Array:
    """Return what a fast way gives for a limit of round-off (columns,); or the values, where it is wrong."""
    sample = np.linspace(0, len(places) - 1, CHECKED).astype(int)
    known = values(places[sample])
    limit = round_off(values, places[sample[::4]], np.ptp(places, axis=0), known, 2e-14)
    if not np.all(np.isfinite(limit)):
        return values(places)
    out = fast(limit)
    return values(places) if np.any(np.abs(out[sample] - known) > WRONG * limit) else out


class _Box(NamedTuple):
    """A box and the points in it."""

    low: Array
    high: Array
    chosen: Array
    halvings: int = 0

    def cut(self, places: Array, parts: Array) -> Iterator[_Box]:
        """Cut it into so many parts along each variable, those with points in them."""
        lengths = (self.high - self.low) / parts
        which = np.clip(((places[self.chosen] - self.low) / lengths).astype(int), 0, parts - 1)
        key = np.ravel_multi_index(tuple(which.T), tuple(parts))
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        for own in np.split(order, starts[1:]):
            low = self.low + which[own[0]] * lengths
            yield _Box(low, low + lengths, self.chosen[own], self.halvings + 1)


def _from_boxes(values: Callable[[Array], Array], places: Array, parts: int, limit: Array) -> Array:
    low, high = places.min(axis=0), places.max(axis=0)
    high = np.where(high > low, high, np.nextafter(low, np.inf))
    whole = _Box(low, high, np.arange(len(places)))
    pending = list(whole.cut(places, np.full(len(low), parts)))
    out, directly = np.empty((len(places), len(limit))), [np.empty(0, dtype=int)]
    together = max(1, _BLOCK // (NODES ** len(low) * len(limit)))
    while pending:
        worthwhile = [box for box in pending if len(box.chosen) >= NODES ** len(low) and box.halvings <= HALVINGS]
        directly += [box.chosen for box in pending if len(box.chosen) < NODES ** len(low) or box.halvings > HALVINGS]
        pending = []
        for start in range(0, len(worthwhile), together):
            block = worthwhile[start : start + together]
            for box, table in zip(block, _polynomials(values, block), strict=True):
                last = [np.moveaxis(table, axis, 0)[-LAST:] for axis in range(len(low))]
                rough = np.array([not np.all(np.abs(own) <= limit) for own in last])
                if np.any(rough):
                    pending += box.cut(places, 1 + rough)
                else:
                    local = (2.0 * places[box.chosen] - box.low - box.high) / (box.high - box.low)
                    out[box.chosen] = _products(table, local)
    rest = np.concatenate(directly)
    if len(rest):
        out[rest] = values(places[rest])
    return out


def _polynomials(values: Callable[[Array], Array], boxes: Sequence[_Box]) -> Array:
    """Return the Chebyshev coefficients of a function on boxes, shape (k, NODES, …, NODES, columns)."""
    low, high = np.stack([box.low for box in boxes]), np.stack([box.high for box in boxes])
    k, d = low.shape
    nodes = nodes_between(low.ravel(), high.ravel()).reshape(k, d, NODES)
    columns = [nodes[:, a].reshape(k, *(NODES if b == a else 1 for b in range(d))) for a in range(d)]
    table = values(np.stack(np.broadcast_arrays(*columns), axis=-1).reshape(-1, d)).reshape(k, *(NODES,) * d, -1)
    for axis in range(1, d + 1):
        table = np.moveaxis(np.tensordot(to_coefficients(), table, axes=(1, axis)), 0, axis)
    return table


def _products(table: Array, local: Array) -> Array:
    """Return the polynomial with coefficients (NODES, …, NODES, columns) at points (n, d) between −1 and 1."""
    first, *others = (chebyshev(s, NODES) for s in local.T)
    found = first.T @ table.reshape(NODES, -1)
    for own in others:
        found = np.einsum("njr,jn->nr", found.reshape(len(local), NODES, -1), own)
    return found
