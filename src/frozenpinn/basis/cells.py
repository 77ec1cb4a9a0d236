"""Smooth functions at very many points: Chebyshev polynomials on cells, refined until they are exact to round-off.

A function of few variables that is smooth between given breaks is tabulated on cells and evaluated there by sums of
products of Chebyshev polynomials, which costs far less than the function itself. Cells whose polynomials have not
converged are halved along the variables that need it; where that no longer pays, the function itself is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

Array = np.ndarray
NODES = 16  #: Chebyshev nodes of a cell along each variable
LAST = 4  #: coefficients along each variable that tell whether polynomials have converged: …
_SHARP = 2e-14  # … their size at which they have, relative to the function …
_NOISY = 2.0  # … and in units of the function's round-off
_WRONG = 50.0  # how far beyond both a value may be off before the whole table is distrusted
_PROBED = 8  # cells that tell how fine the first ones should be …
_DEPTH = 12  # … in as many rounds
_DEEPEST = 32  # how often cells may be halved along all variables together
_CHECKED = 64  # points at which the function itself is evaluated, for its size and for a check
_BLOCK = 4_000_000  # numbers held at a time …
_NEAR = 500_000  # … and in the innermost sums, which stay near the cache


class Cells(NamedTuple):
    """Some cells of a grid: the ends (k, 2) of the intervals along each variable, and which make up each cell."""

    ends: tuple[Array, ...]
    choice: Array

    def nodes(self, axis: int) -> Array:
        """Return the nodes of the intervals along one variable, shape (k, NODES)."""
        low, high = self.ends[axis].T
        return low[:, None] + (high - low)[:, None] * (_nodes() + 1.0) / 2.0

    def part(self, chosen: Array) -> Cells:
        """Return some of the cells, with the intervals that these need."""
        ends, index = [], []
        for axis, own in enumerate(self.ends):
            distinct, inverse = np.unique(self.choice[chosen, axis], return_inverse=True)
            ends.append(own[distinct])
            index.append(inverse)
        return Cells(tuple(ends), np.stack(index, axis=1))


class Smooth(Protocol):
    """A function of few variables with one or more columns."""

    @property
    def breaks(self) -> Sequence[Array]:
        """Along each variable: the values between which the function is smooth, ascending."""

    @property
    def costs(self) -> tuple[float, float]:
        """What one point takes, and one node of a table, in the same unit."""

    @property
    def columns(self) -> int:
        """Number of columns."""

    def values(self, places: Array) -> Array:
        """Return the function itself at places (n, d), shape (n, columns)."""

    def tables(self, cells: Cells) -> Array:
        """Return the function at the nodes of cells, shape (k, NODES, …, NODES, columns)."""


def evaluate(function: Smooth, places: Array) -> Array:
    """Return a smooth function at many places (n, d), shape (n, columns)."""
    sample = np.linspace(0, len(places) - 1, _CHECKED).astype(int)
    known = function.values(places[sample])
    limit = round_off_limit(function.values, places[sample[::4]], function.breaks, known)
    if not np.all(np.isfinite(limit)):
        return function.values(places)
    out = _Evaluation(function, places, limit).run()
    wrong = np.abs(out[sample] - known) > _WRONG * limit
    return function.values(places) if np.any(wrong) else out


def round_off_limit(
    values: Callable[[Array], Array],
    places: Array,
    breaks: Sequence[Array],
    known: Array | None = None,
    sharp: float = _SHARP,
) -> Array:
    """Return what is taken for round-off in values, by the sixth differences at neighbouring places, shape (columns,).

    ``known`` are values that tell the size of the function, if those at the places are not enough; ``sharp`` is the
    part of it that is round-off in any case.
    """
    steps = np.arange(7)[:, None, None] * 1e-7
    range_ = np.array([b[-1] - b[0] for b in breaks])
    near = places + steps * np.where(places > places.mean(axis=0), -range_, range_)
    found = values(near.reshape(-1, places.shape[1])).reshape(7, len(places), -1)
    noise = np.max(np.abs(np.diff(found, 6, axis=0)[0]), axis=0) / np.sqrt(924.0)
    return np.asarray(sharp * np.max(np.abs(found[0] if known is None else known), axis=0) + _NOISY * noise)


class _Bucket(NamedTuple):
    """Points sorted by cell: the cells, where the points of each start, and which points they are."""

    cells: Cells
    starts: Array
    counts: Array
    points: Array
    local: Array  # coordinates in their cells, between −1 and 1, shape (d, n)


@dataclass(frozen=True, eq=False)
class _Evaluation:
    """One function at one set of places; ``limit`` is what the last coefficients of a cell may be, by column."""

    function: Smooth
    places: Array
    limit: Array

    def run(self) -> Array:
        """Fill cell by cell."""
        if np.all(self._is_few(self._sorted(np.arange(len(self.places)), self._whole).counts)):
            return self.function.values(self.places)
        out = np.empty((len(self.places), self.function.columns))
        queue = {tuple(self._first_levels()): [np.arange(len(self.places))]}
        directly = []
        while queue:
            levels = min(queue, key=lambda key: (sum(key), key))  # coarse ones first: their parts fall together
            bucket = self._sorted(np.concatenate(queue.pop(levels)), np.array(levels))
            few = self._is_few(bucket.counts) | (sum(levels) > _DEEPEST)
            directly.append(self._points_of(bucket, few))
            for block in self._blocks(np.flatnonzero(~few)):
                coefficients = _coefficients(self.function.tables(bucket.cells.part(block)))
                coarse = self._coarse(coefficients)
                fine = ~np.any(coarse, axis=1)
                _sum_up(self._cut(coefficients[fine]), bucket, block[fine], out)
                for halved in np.unique(coarse[~fine], axis=0):
                    rows = block[np.all(coarse == halved, axis=1)]
                    queue.setdefault(tuple(levels + halved), []).append(self._points_of(bucket, rows))
        rest = np.concatenate(directly)
        for start in range(0, len(rest), _BLOCK // 64):
            part = rest[start : start + _BLOCK // 64]
            out[part] = self.function.values(self.places[part])
        return out

    @property
    def _whole(self) -> Array:
        """The levels at which nothing is halved."""
        return np.zeros(self.places.shape[1], dtype=int)

    def _first_levels(self) -> Array:
        """Return how often the breaks' intervals are halved before most cells are fine enough."""
        some = np.linspace(0, len(self.places) - 1, _PROBED).astype(int)
        levels = self._whole
        for _ in range(_DEPTH):
            bucket = self._sorted(some, levels)
            coarse = self._coarse(_coefficients(self.function.tables(bucket.cells)))
            halved = 2 * np.sum(coarse, axis=0) > len(coarse)
            if not np.any(halved):
                break
            levels = levels + halved
        return levels

    def _coarse(self, coefficients: Array) -> Array:
        """Tell along which variables the polynomials of a cell have not converged, shape (k, d)."""
        dimension = coefficients.ndim - 2
        last = [
            np.max(np.abs(np.moveaxis(coefficients, axis + 1, 1)[:, -LAST:]), axis=tuple(range(1, dimension + 1)))
            for axis in range(dimension)
        ]
        return np.stack([np.any(~(tail <= self.limit), axis=1) for tail in last], axis=1)

    def _cut(self, coefficients: Array) -> Array:
        """Leave out the degrees that no cell needs."""
        large = np.any(np.abs(coefficients) > 0.1 * self.limit, axis=(0, -1))
        for axis in range(large.ndim):
            used = np.flatnonzero(np.any(large, axis=tuple(a for a in range(large.ndim) if a != axis)))
            count = max(2, used[-1] + 1 if len(used) else 0)
            coefficients = np.moveaxis(np.moveaxis(coefficients, axis + 1, 0)[:count], 0, axis + 1)
        return np.ascontiguousarray(coefficients)

    def _is_few(self, counts: Array) -> Array:
        """Tell in which cells a table does not pay."""
        point, node = self.function.costs
        return counts * point < NODES ** self.places.shape[1] * node

    def _blocks(self, cells: Array) -> Iterator[Array]:
        """Cut cells into blocks whose tables fit into memory."""
        size = max(1, _BLOCK // (NODES ** self.places.shape[1] * self.function.columns))
        return (cells[start : start + size] for start in range(0, len(cells), size))

    def _points_of(self, bucket: _Bucket, cells: Array) -> Array:
        mask = np.zeros(len(bucket.counts), dtype=bool)
        mask[cells] = True
        return bucket.points[np.repeat(mask, bucket.counts)]

    def _sorted(self, chosen: Array, levels: Array) -> _Bucket:
        """Sort points by cell."""
        key, ids = np.zeros(len(chosen), dtype=np.int64), []
        for axis, breaks in enumerate(self.function.breaks):
            own = _located(breaks, self.places[chosen, axis], 2 ** int(levels[axis]))
            key = key * ((len(breaks) - 1) << int(levels[axis])) + own
            ids.append(own)
        order = np.argsort(key, kind="stable")
        key = key[order]
        starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        points = chosen[order]
        ends, index = [], []
        local = np.empty((len(ids), len(chosen)))
        for axis, breaks in enumerate(self.function.breaks):
            cell = ids[axis][order]
            distinct, inverse = np.unique(cell[starts], return_inverse=True)
            own = _ends(breaks, distinct, 2 ** int(levels[axis]))
            ends.append(own)
            index.append(inverse)
            low, high = np.repeat(own[inverse], np.diff(starts, append=len(key)), axis=0).T
            local[axis] = (2.0 * self.places[points, axis] - low - high) / (high - low)
        cells = Cells(tuple(ends), np.stack(index, axis=1))
        return _Bucket(cells, starts, np.diff(starts, append=len(key)), points, local)


def _located(breaks: Array, x: Array, parts: int) -> Array:
    """Return the cell of each x, if the intervals between breaks are cut into so many parts."""
    root = np.clip(np.searchsorted(breaks, x, side="right") - 1, 0, len(breaks) - 2)
    if parts == 1:
        return root
    share = (x - breaks[root]) / (breaks[root + 1] - breaks[root])
    return root * parts + np.clip((share * parts).astype(np.int64), 0, parts - 1)


def _ends(breaks: Array, cells: Array, parts: int) -> Array:
    """Return where cells begin and end, shape (k, 2)."""
    root, part = np.divmod(cells, parts)
    length = (breaks[root + 1] - breaks[root]) / parts
    return np.stack([breaks[root] + part * length, breaks[root] + (part + 1) * length], axis=1)


# ---- polynomials ---------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _nodes(count: int = NODES) -> Array:
    return -np.cos((np.arange(count) + 0.5) * np.pi / count)


@lru_cache(maxsize=8)
def to_coefficients(count: int = NODES) -> Array:
    """Return the map from values at the nodes to Chebyshev coefficients."""
    matrix = np.polynomial.chebyshev.chebvander(_nodes(count), count - 1).T * (2.0 / count)
    matrix[0] /= 2.0
    return np.asarray(matrix)


def nodes_between(start: float | Array, end: float | Array, count: int = NODES) -> Array:
    """Return the nodes of an interval, or of several with ends (k, 1)."""
    return start + (end - start) * (_nodes(count) + 1.0) / 2.0


def _coefficients(tables: Array) -> Array:
    """Return the Chebyshev coefficients of tables (k, NODES, …, NODES, m), in the same shape."""
    shape = tables.shape
    for axis in range(1, len(shape) - 1):
        before = int(np.prod(shape[:axis]))
        tables = to_coefficients() @ tables.reshape(before, NODES, -1)
    return tables.reshape(shape)


def _sum_up(coefficients: Array, bucket: _Bucket, cells: Array, out: Array) -> None:
    """Evaluate the polynomials of some cells at their points."""
    if not len(cells):
        return
    counts = bucket.counts[cells]
    wide = int(2 ** np.clip(np.round(np.log2(np.mean(counts))), 2, 8))  # points of one cell that are taken together
    rows = -(-counts // wide)
    owner = np.repeat(np.arange(len(cells)), rows)
    first = np.arange(len(owner)) - np.repeat(np.cumsum(rows) - rows, rows)
    start = bucket.starts[cells][owner] + first * wide
    end = bucket.starts[cells][owner] + counts[owner]
    half = int(np.prod(coefficients.shape[1 : 1 + coefficients.ndim // 2 - 1 + (coefficients.ndim % 2)]))
    size = max(1, _NEAR // ((half + coefficients[0].size // half) * wide + coefficients[0].size))
    for k in range(0, len(owner), size):
        block = slice(k, k + size)
        place = np.minimum(start[block, None] + np.arange(wide), end[block, None] - 1)  # the last one is repeated
        out[bucket.points[place]] = _products(coefficients, owner[block], bucket.local[:, place])


def _products(coefficients: Array, owner: Array, local: Array) -> Array:
    """Return polynomials (k, degrees, …, m) at points of cells, local (d, rows, wide): (rows, wide, m)."""
    degrees = coefficients.shape[1:-1]
    half = (len(degrees) + 1) // 2  # as many variables go into one matrix product
    weights = _chebyshev(local[0], degrees[0])
    for s, count in zip(local[1:half], degrees[1:half], strict=True):
        weights = (weights[:, :, None] * _chebyshev(s, count)[:, None]).reshape(len(owner), -1, s.shape[1])
    table = coefficients.reshape(len(coefficients), weights.shape[1], -1)[owner]
    result = table.transpose(0, 2, 1) @ weights
    for s, count in zip(local[half:], degrees[half:], strict=True):
        result = np.einsum("kjcw,kjw->kcw", result.reshape(len(owner), count, -1, s.shape[1]), _chebyshev(s, count))
    return result.transpose(0, 2, 1)


def _chebyshev(s: Array, count: int) -> Array:
    """Return the first Chebyshev polynomials at s (rows, wide), shape (rows, count, wide)."""
    out = np.empty((len(s), count, s.shape[1]))
    out[:, 0], out[:, 1] = 1.0, s
    twice = 2.0 * s
    for j in range(2, count):
        np.multiply(twice, out[:, j - 1], out=out[:, j])
        out[:, j] -= out[:, j - 2]
    return out
