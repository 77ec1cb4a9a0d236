"""Sums over functions of axes and of time at very many places (x, t), each with its own time.

Between two breaks a solution is Σ F[k, i, j, …] Tₖ(t) ψᵢ(x) ψⱼ(y) …, with polynomials Tₖ in time. Of each axis it needs
fewer functions than there are, combinations that pivoted QR decompositions of F find (Tucker's form). On a piece of the
first axis they are short polynomials (see axis_tables.py): where that is less, the sum over i is done once for each
piece, and a place costs a sum over the degrees instead, high ones beside the first polynomials in time alone. What is
left out, combinations and degrees, is a part of what is taken for round-off. Places stand last in all arrays, in blocks
that stay near the processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np
import scipy.linalg as sla

from frozenpinn.basis.along_axes import axis_table, functions_of, own_terms
from frozenpinn.basis.axis_tables import AxisTable, chebyshev
from frozenpinn.basis.cells import LAST
from frozenpinn.basis.hidden import Term
from frozenpinn.basis.network import Network
from frozenpinn.basis.protocol import Basis

Array = np.ndarray
_NEAR = 400_000  # numbers in the innermost sums: with fewer, calls take longer than sums
_MANY = 16_000  # places at which functions without pieces are tabulated together
_LEFT_OUT = 0.1  # of what is taken for round-off: how much all degrees that are left out may add up to, …
_MIXED = 0.5  # … and the norm of all combinations that are
_NOISE = 32 * np.finfo(float).eps  # of all that is summed up: what the round-off of polynomials may add up to
_CALL = 30_000.0  # multiply-adds in the time of a call …
_PASS = 10.0  # … and in the time in which a number is written and read


@dataclass(frozen=True, eq=False)
class AxisFunctions:
    """Derivatives of the functions of one axis: those of a basis, or combinations of them in a table.

    Functions that are too rough for a table have none.
    """

    basis: Basis | None
    terms: tuple[Term, ...]
    table: AxisTable | None

    @classmethod
    def of(cls, basis: Basis, terms: Sequence[Term], x: Array) -> AxisFunctions:
        """Tabulate them, if the table covers some places."""
        own = own_terms(basis, terms)
        table = axis_table(basis, own) if isinstance(basis, Network) and not basis.is_broken else None
        return cls(basis, own, table if table is not None and table.covers(x) else None)

    def at(self, x: Array) -> Array:
        """Return the functions at places (n,), shape (R, n)."""
        if self.table is not None:
            return self.table.rows(x)
        assert self.basis is not None
        return functions_of(self.basis, x[:, None], self.terms).T


class _Way(NamedTuple):
    """How a sum is done: the polynomials of the first axis if it goes by pieces, what it takes, and numbers a place.

    ``counts`` tells how many of the polynomials, or functions, go with each polynomial in time.
    """

    first: AxisTable | None
    counts: list[int]
    cost: float
    numbers: int

    def weights(self, first: Array, in_time: Array) -> Array:
        """Return products of those of the first axis (degrees, n) with those in time, (K, n)."""
        polynomials = chebyshev(in_time, len(self.counts))
        out, end = np.empty((sum(self.counts), len(in_time))), 0
        for count, own in zip(self.counts, polynomials, strict=True):
            start, end = end, end + count
            np.multiply(first[:count], own, out=out[start:end])
        return out


@dataclass(frozen=True, eq=False)
class LocalSum:
    """Sums on some spans of time: ``core`` (spans, m, R₁, R₂, …), with the functions of the axes in this order.

    ``limit`` is what is taken for round-off of a value.
    """

    core: Array
    axes: tuple[AxisFunctions, ...]
    limit: float

    def compressed(self) -> LocalSum:
        """Return the same sums in fewer combinations of the functions, the most of them along the first axis.

        Functions are scaled to at most one. Leaving out a part of the tensor then changes a value by about its norm, as
        signs are mixed.
        """
        tables = [own.table for own in self.axes if own.table is not None]
        if len(tables) < len(self.axes):
            return self
        core, found = self.core, []
        sizes = [np.maximum(table.sizes, 1e-300) for table in tables]
        for axis, size in enumerate(sizes):
            core = core * size.reshape(-1, *(1,) * (len(sizes) - 1 - axis))
        for axis, (own, table, size) in enumerate(zip(self.axes, tables, sizes, strict=True)):
            unfolded = np.moveaxis(core, axis + 2, 0).reshape(len(size), -1)
            triangle = np.asarray(np.linalg.qr(unfolded.T, mode="r"))
            q, r, _ = sla.qr(triangle.T, mode="economic", pivoting=True, check_finite=False)
            tails = np.sqrt(np.cumsum(np.sum(r**2, axis=1)[::-1]))[::-1]
            allowed = _MIXED * self.limit / len(sizes)
            mixing = q[:, : max(1, int(np.sum(tails > allowed)))]
            core = np.moveaxis(np.tensordot(mixing, core, axes=(0, axis + 2)), 0, axis + 2)
            combined = AxisTable(table.edges, table.coefficients @ (mixing / size[:, None]))
            found.append(replace(own, table=combined))
        return LocalSum(core, tuple(found), self.limit)

    @cached_property
    def order(self) -> list[int]:
        """The axes, those with the most functions first, and those without a table last."""
        counts = self.core.shape[2:]
        return sorted(range(len(counts)), key=lambda a: (self.axes[a].table is None, -counts[a]))

    @cached_property
    def polynomials(self) -> list[list[AxisTable]]:
        """Those of each axis of the degrees that matter, on fewer and fewer pieces; none of axes without a table."""
        return [self._coarser(axis) for axis in range(len(self.axes))]

    @cached_property
    def _sums(self) -> list[Array]:
        """How much each function of an axis may add up to beside each polynomial in time, (spans, m, R) for each."""
        result = []
        for axis in range(len(self.axes)):
            sums = np.moveaxis(np.abs(self.core), axis + 2, 2)
            for own in (self.axes[a] for a in range(len(self.axes)) if a != axis):
                sums = np.tensordot(sums, np.ones(sums.shape[3]) if own.table is None else own.table.sizes, axes=(3, 0))
            result.append(sums)
        return result

    def _coarser(self, axis: int) -> list[AxisTable]:
        whole = table = self.axes[axis].table
        sums = np.max(self._sums[axis].sum(axis=1), axis=0)
        found: list[AxisTable] = []
        while whole is not None:
            behind = np.cumsum(np.max(np.abs(whole.coefficients) @ sums, axis=0)[::-1])[::-1]
            noise = _NOISE * behind[0]
            if whole is not table and not behind[-LAST] <= max(self.limit, noise):
                break
            found.append(whole.cut(max(2, int(np.sum(behind > max(_LEFT_OUT * self.limit, noise))))))
            whole = whole.merged() if len(whole.coefficients) > 1 else None
        return found

    def _best_way(self, count: int) -> _Way:
        """Choose whether to go by pieces of the first axis, and how many of them."""
        first: list[AxisTable | None] = [None, *self.polynomials[self.order[0]]]
        return min((self._way(table, count) for table in first), key=lambda way: way.cost)

    def _way(self, first: AxisTable | None, count: int) -> _Way:
        """Tell what a way takes at so many places."""
        spans, moments, *_ = self.core.shape
        size, *others = (self.core.shape[axis + 2] for axis in self.order)
        rest, pieces, build = prod(others), 1, count * _PASS * 3.0 * size
        if first is not None:
            pieces, degrees = first.coefficients.shape[:2]
            build = spans * pieces * moments * degrees * size * rest
        counts = self._counts(first)
        numbers = sum(counts) + 2 * rest + sum(others)
        cost = count * (sum(counts) * rest + _PASS * numbers) + build + _CALL * min(count, spans * pieces)
        return _Way(first, counts, float(cost), numbers)

    def _counts(self, first: AxisTable | None) -> list[int]:
        """Return how many polynomials, or functions, of the first axis matter beside each polynomial in time."""
        own, sums = self.axes[self.order[0]].table, np.max(self._sums[self.order[0]], axis=0).T
        if first is not None:
            bounds = np.max(np.abs(first.coefficients) @ sums, axis=0)
        elif own is not None:
            bounds = sums * own.sizes[:, None]
        else:
            return [len(sums)] * sums.shape[1]
        ranks = np.argsort(bounds, axis=None, kind="stable")
        added = np.cumsum(bounds.ravel()[ranks])
        large = np.empty(bounds.shape, dtype=bool)
        large.ravel()[ranks] = added > max(_LEFT_OUT * self.limit, _NOISE * added[-1])
        large[0, 0] = True
        return [int(np.max(np.flatnonzero(column), initial=-1)) + 1 for column in large.T]

    def at(self, places: Sequence[Array], span: Array, in_time: Array) -> Array:
        """Return the sums at places, given by their coordinates (n,) along each axis.

        Each lies in a span, at a time between −1 and 1.
        """
        way = self._best_way(len(in_time))
        x = [places[axis] for axis in self.order]
        functions = [replace(self.axes[axis], table=self._cheapest(axis, len(span))) for axis in self.order]
        piece = span if way.first is None else way.first.located(x[0])
        cell = span if way.first is None else piece + span * len(way.first.coefficients)
        order = _sorted(cell)
        tables = _CellTables(self.core.transpose(0, self.order[0] + 2, 1, *(a + 2 for a in self.order[1:])), way)
        out = np.empty(len(order))
        rows = max(64, _NEAR // way.numbers)
        for many in (order[start : start + _MANY] for start in range(0, len(order), _MANY)):
            front = functions[0].at(x[0][many]) if way.first is None else np.empty((0, len(many)))
            others = [own.at(c[many]) for own, c in zip(functions[1:], x[1:], strict=True)]
            for start in range(0, len(many), rows):
                part = slice(start, start + rows)
                chosen = many[part]
                first = front[:, part] if way.first is None else way.first.powers(x[0][chosen], piece[chosen])
                weights = way.weights(first, in_time[chosen])
                out[chosen] = _summed(tables, cell[chosen], weights, [own[:, part] for own in others])
        return out

    def _cheapest(self, axis: int, count: int) -> AxisTable | None:
        """Return the polynomials that are soonest at so many places."""
        if self.axes[axis].table is None:
            return None
        calls = _CALL * max(1.0, count / _MANY)
        return min(
            self.polynomials[axis], key=lambda t: calls * len(t.coefficients) + float(count * t.coefficients[0].size)
        )


class _CellTables:
    """The sums over the functions of the first axis on its pieces, in one span of time after the other.

    ``core`` is (spans, R₁, m, R₂, …). Those that were asked for last are kept.
    """

    def __init__(self, core: Array, way: _Way) -> None:
        self._core = np.ascontiguousarray(core).reshape(*core.shape[:3], -1)
        self._first = None if way.first is None else way.first.coefficients
        self._rows = np.concatenate([np.arange(count) for count in way.counts])  # as the weights of a way
        self._moments = np.repeat(np.arange(len(way.counts)), way.counts)
        self._last = (-1, -1)
        self._kept = self._core[:0]

    def __getitem__(self, cell: int) -> Array:
        """Return the table of a cell, (what matters of the first axis and time) × (what is left of the other axes)."""
        _, size, moments, rest = self._core.shape
        if self._first is None:
            return np.asarray(self._core[cell][self._rows, self._moments])
        pieces, degrees, _ = self._first.shape
        together = max(1, _NEAR // (degrees * moments * rest))
        span, piece = divmod(cell, pieces)
        block, own = divmod(piece, together)
        if (span, block) != self._last:
            polynomials = self._first[block * together : (block + 1) * together]
            found = polynomials.reshape(-1, size) @ self._core[span].reshape(size, -1)
            found = found.reshape(len(polynomials), degrees, moments, rest)
            self._last, self._kept = (span, block), found[:, self._rows, self._moments]
        return np.asarray(self._kept[own])


def _summed(tables: _CellTables, cell: Array, weights: Array, others: Sequence[Array]) -> Array:
    """Sum over weights (K, n) of the first axis and time and over functions (R, n) of the others; shape (n,)."""
    sums = np.empty((prod(len(own) for own in others), len(cell)))
    starts = np.flatnonzero(np.diff(cell, prepend=-1)).tolist()
    for start, end in zip(starts, [*starts[1:], len(cell)], strict=True):
        np.matmul(tables[int(cell[start])].T, weights[:, start:end], out=sums[:, start:end])
    for one in others:
        sums = np.einsum("jrn,jn->rn", sums.reshape(len(one), -1, len(cell)), one)
    return np.asarray(sums[0])


def _sorted(cell: Array) -> Array:
    """Return the order of cells; integers of 16 bits are sorted in no time."""
    largest = int(np.max(cell, initial=0))
    order = np.argsort((cell & 0xFFFF).astype(np.uint16), kind="stable")
    if largest < 2**16:
        return order
    return order[np.argsort((cell >> 16).astype(np.min_scalar_type(largest >> 16))[order], kind="stable")]
