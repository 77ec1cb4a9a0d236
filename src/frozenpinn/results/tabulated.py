"""Solutions at very many places: at fixed times from tables on cells, at pairs of places and times as histories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from frozenpinn.basis import tables
from frozenpinn.basis.cells import NODES, Cells, evaluate
from frozenpinn.basis.hidden import Term
from frozenpinn.basis.protocol import Basis
from frozenpinn.results.history import History

Array = np.ndarray
_VARIABLES = 4  # up to which functions are tabulated
_WORTH = 3e8  # operations of a direct evaluation from which on a table is tried
_FEWEST = 4096  # the same in points
_COLUMNS = 32  # that are tabulated together
_BLOCK = 4_000_000  # numbers held at a time
_FEATURE = 25.0  # operations of one neuron


def fast_values(function: Snapshots | History) -> Array:
    """Return a function at its places, from tables where that pays, shape (n, columns)."""
    x = function.x
    if function.basis.is_broken or len(x) < _FEWEST or x.shape[1] > _VARIABLES or len(x) * function.costs[0] < _WORTH:
        return function.values()
    if isinstance(function, History):
        return function.by_spans() if function.is_separable else evaluate(function, function.places)
    return np.concatenate([evaluate(part, part.x) for part in function.parts()], axis=1)


@dataclass(frozen=True, eq=False)
class Snapshots:
    """Σ coefficient·D of functions of space with coefficients (r, m) and data (n_l, m) at places x (n, d)."""

    basis: Basis
    terms: Sequence[Term]
    coefficients: Array
    lifted: Array | None
    x: Array

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
        return tables.space_breaks(self.basis, self.x)

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


def _product_costs(sizes: Sequence[int], columns: int) -> tuple[float, float]:
    """Return the operations of a point and of a node of a product: at a node, mostly the sum over the last axis."""
    features = 2.0 * NODES * sum(sizes)  # from tables of the axes
    return features + 2.0 * prod(sizes) * columns, 2.0 * sizes[-1] * columns
