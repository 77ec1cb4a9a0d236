"""Solutions as functions that can be tabulated on cells: at fixed times, and as functions of space and time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from frozenpinn.basis import tables
from frozenpinn.basis.cells import LAST, NODES, Cells, evaluate, nodes_between, round_off_limit, to_polynomials
from frozenpinn.basis.hidden import Term
from frozenpinn.basis.protocol import Basis

Array = np.ndarray
_VARIABLES = 4  # up to which functions are tabulated
_WORTH = 3e8  # operations of a direct evaluation from which on a table is tried
_FEWEST = 4096  # the same in points
_COLUMNS = 32  # that are tabulated together
_MOMENTS = 10  # at which coefficients are looked at first: steps are short
_HALVINGS = 10  # of the time between two breaks
_BLOCK = 4_000_000  # numbers held at a time
_FEATURE = 25.0  # operations of one neuron


def fast_values(function: Snapshots | History) -> Array:
    """Return a function at its places, from tables where that pays, shape (n, columns)."""
    x = function.x
    if function.basis.is_broken or len(x) < _FEWEST or x.shape[1] > _VARIABLES or len(x) * function.costs[0] < _WORTH:
        return function.values()
    return np.concatenate([evaluate(part, part.places) for part in function.parts()], axis=1)


@dataclass(frozen=True, eq=False)
class Snapshots:
    """Σ coefficient·D of functions of space with coefficients (r, m) and data (n_l, m) at places x (n, d)."""

    basis: Basis
    terms: Sequence[Term]
    coefficients: Array
    lifted: Array | None
    x: Array

    @property
    def places(self) -> Array:
        """Where it is asked for."""
        return self.x

    def parts(self) -> Iterator[Snapshots]:
        """Cut many columns into blocks."""
        for start in range(0, self.columns, _COLUMNS):
            part = slice(start, start + _COLUMNS)
            lifted = None if self.lifted is None else self.lifted[:, part]
            yield replace(self, coefficients=self.coefficients[:, part], lifted=lifted)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.coefficients.shape[1])

    @cached_property
    def breaks(self) -> list[Array]:
        """The first cells."""
        return _space_breaks(self.basis, self.x)

    @cached_property
    def costs(self) -> tuple[float, float]:
        """Operations of a point and of a node."""
        if not self.basis.is_product:
            each = self.basis.width * (_FEATURE + 2.0 * min(self.columns, self.basis.size))
            return each, each
        return _product_costs(self._full.shape[:-1], self.columns)

    def values(self, places: Array | None = None) -> Array:
        """Evaluate the functions themselves."""
        places = self.x if places is None else places
        if len(places) < _FEWEST:
            return self.basis.combine(places, self.terms, self.coefficients, self.lifted)
        out = np.empty((len(places), self.columns))
        rows = max(64, _BLOCK // max(1, self.basis.size if self.columns > self.basis.size else self.columns))
        for start in range(0, len(places), rows):
            block = slice(start, start + rows)
            out[block] = self.basis.combine(places[block], self.terms, self.coefficients, self.lifted)
        return out

    @cached_property
    def _full(self) -> Array:
        return tables.tensor(self.basis, self.coefficients, self.lifted)

    def tables(self, cells: Cells) -> Array:
        """Tabulate: products axis by axis, other bases at all nodes."""
        shape = (len(cells.choice), *(NODES,) * cells.choice.shape[1], self.columns)
        if not self.basis.is_product:
            return self.values(tables.node_points(cells)).reshape(shape)
        first = self._full[None, None]
        parts = (tables.on_cells(self.basis, cells, s, first, 0) for s in tables.summands(self.basis, self.terms))
        return sum(parts, np.zeros(shape))


@dataclass(frozen=True, eq=False)
class History:
    """Σ coefficient·D of a solution as a function of t and space: places are (t, x, …).

    Attributes
    ----------
    basis, terms
        The functions of space.
    coefficients
        The map from times (m,) to coefficients (r, m) and data (n_l, m).
    breaks_in_time
        Times between which the coefficients are smooth.
    x, times
        The places (n, d) and the times (n,) at which it is asked for.
    """

    basis: Basis
    terms: Sequence[Term]
    coefficients: Callable[[Array], tuple[Array, Array | None]]
    breaks_in_time: Array
    x: Array
    times: Array
    columns = 1

    @cached_property
    def places(self) -> Array:
        """Where it is asked for."""
        return np.column_stack([self.times, self.x])

    def parts(self) -> Iterator[History]:
        """There is one column."""
        yield self

    @cached_property
    def breaks(self) -> list[Array]:
        """The first cells."""
        first, last = float(np.min(self.times)), float(np.max(self.times))
        inner = self.breaks_in_time[(self.breaks_in_time > first) & (self.breaks_in_time < last)]
        return [np.array([first, *inner, max(last, np.nextafter(first, np.inf))]), *_space_breaks(self.basis, self.x)]

    @cached_property
    def costs(self) -> tuple[float, float]:
        """Operations of a point and of a node."""
        if self.basis.is_product:
            sizes = tables.tensor(self.basis, np.zeros((self.basis.size, 1)), None).shape[:-1]
            # polynomials in time are shorter than a table's; coefficients at moments are needed for both
            return _product_costs(sizes, _MOMENTS)
        size = self.basis.size + self.basis.lift_size
        feature = self.basis.width * (_FEATURE + 2.0 * size)
        return feature + _FEATURE * size, 2.0 * size + (feature / NODES if self.x.shape[1] == 1 else feature / 4.0)

    def values(self, places: Array | None = None) -> Array:
        """Evaluate the functions themselves, from one break in time to the next."""
        places = self.places if places is None else places
        if not self.basis.is_product:
            return self._directly(places)
        out, order = np.empty((len(places), 1)), np.argsort(places[:, 0], kind="stable")
        inner = self.breaks[0][1:-1]
        bounds = [0, *np.searchsorted(places[order, 0], inner), len(order)]
        for (first, last), (start, end) in zip(pairwise(bounds), pairwise(self.breaks[0]), strict=True):
            if first < last:
                self._between(float(start), float(end), places, order[first:last], out)
        return out

    def _between(self, start: float, end: float, places: Array, chosen: Array, out: Array, depth: int = 0) -> None:
        """Fill in what lies between two times: polynomials in time, whose last coefficients are round-off."""
        if len(chosen) <= NODES or depth > _HALVINGS or self.basis.size * NODES > _BLOCK:
            return self._one_by_one(places, chosen, out)
        x = places[chosen, 1:]
        for moments in (_MOMENTS, NODES):
            values, data = self.coefficients(nodes_between(start, end, moments))
            c, lifted = to_polynomials(values), None if data is None else to_polynomials(data)
            some = Snapshots(self.basis, self.terms, c, lifted, x[:: max(1, len(x) // NODES)]).values()
            sizes = np.max(np.abs(some), axis=0)
            if np.max(sizes[-LAST:]) <= self.limit:
                break
        else:
            middle = (start + end) / 2
            early = places[chosen, 0] < middle
            self._between(start, middle, places, chosen[early], out, depth + 1)
            return self._between(middle, end, places, chosen[~early], out, depth + 1)
        large = np.flatnonzero(sizes > 0.1 * self.limit)
        count = max(2, int(large[-1]) + 1 if len(large) else 0)
        local = (2.0 * places[chosen, 0] - start - end) / (end - start)
        found = Snapshots(self.basis, self.terms, c[:, :count], None if lifted is None else lifted[:, :count], x)
        out[chosen, 0] = np.einsum("nk,nk->n", found.values(), chebvander(local, count - 1))
        return None

    @cached_property
    def limit(self) -> float:
        """What is taken for round-off of a value."""
        sample = self.places[np.linspace(0, len(self.places) - 1, NODES).astype(int)]
        return float(round_off_limit(self._directly, sample, self.breaks)[0])

    def _directly(self, places: Array) -> Array:
        out = np.empty((len(places), 1))
        self._one_by_one(places, np.arange(len(places)), out)
        return out

    def _one_by_one(self, places: Array, chosen: Array, out: Array) -> None:
        """Fill in a few points, or points at times that nothing smooth connects."""
        rows = max(64, _BLOCK // max(1, self.basis.size + self.basis.lift_size))
        for start in range(0, len(chosen), rows):
            part = chosen[start : start + rows]
            distinct, inverse = np.unique(places[part, 0], return_inverse=True)
            c, lifted = self.coefficients(distinct)
            x = places[part, 1:]
            found = np.einsum("ij,ij->i", self.basis.operator(x, self.terms), c.T[inverse])
            if lifted is not None:
                found += np.einsum("ij,ij->i", self.basis.lift_operator(x, self.terms), lifted.T[inverse])
            out[part, 0] = found

    def tables(self, cells: Cells) -> Array:
        """Tabulate: coefficients at the nodes in time, then products with the functions of space."""
        times = cells.nodes(0)
        full = tables.tensor(self.basis, *self.coefficients(times.ravel()))
        first = np.moveaxis(full, -1, 0).reshape(*times.shape, *full.shape[:-1], 1)
        shape = (len(cells.choice), *(NODES,) * cells.choice.shape[1], 1)
        parts = (tables.on_cells(self.basis, cells, s, first, 1) for s in tables.summands(self.basis, self.terms))
        return sum(parts, np.zeros(shape))


def _space_breaks(basis: Basis, x: Array) -> list[Array]:
    result: list[Array] = []
    low, high, axis = x.min(axis=0), x.max(axis=0), 0
    for group, size in enumerate(tables.group_sizes(basis, len(low))):
        result += tables.breaks(basis, group, low[axis : axis + size], high[axis : axis + size])
        axis += size
    return result


def _product_costs(sizes: Sequence[int], columns: int) -> tuple[float, float]:
    """Return the operations of a point and of a node of a product: at a node, mostly the sum over the last axis."""
    features = 2.0 * NODES * sum(sizes)  # from tables of the axes
    return features + 2.0 * prod(sizes) * columns, 2.0 * sizes[-1] * columns
