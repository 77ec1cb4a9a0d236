"""Sums over functions of axes and of time at very many places (x, t), each with its own time.

Between two breaks a solution is Σ F[i, k, j, …] ψᵢ(x) Tₖ(t) ψⱼ(y) …, with polynomials Tₖ in time. Of each axis it needs
fewer functions than there are, combinations that pivoted QR decompositions of F find (Tucker's form). On a piece of the
first axis they are short polynomials (see axis_tables.py): if that is less, the sum over i is done once for each piece,
and a place costs a sum over the degrees instead. What is left out, combinations and degrees, is a part of what is taken
for round-off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
import scipy.linalg as sla
from numpy.polynomial.chebyshev import chebvander

from frozenpinn.basis.along_axes import axis_table, functions_of, own_terms
from frozenpinn.basis.axis_tables import AxisTable
from frozenpinn.basis.hidden import Term
from frozenpinn.basis.network import Network
from frozenpinn.basis.protocol import Basis

Array = np.ndarray
_BLOCK = 4_000_000  # numbers held at a time
_LEFT_OUT = 0.1  # of what is taken for round-off: how much all that is left out along an axis may add up to


@dataclass(frozen=True, eq=False)
class AxisPlaces:
    """Derivatives of the functions of one axis at places x (n,) of it.

    ``table`` has them as polynomials on pieces; then ``piece`` (n,) is where each place lies, and ``local`` (n,) where
    in it, between −1 and 1. Functions that are too rough for a table have none.
    """

    basis: Basis
    terms: tuple[Term, ...]
    x: Array
    table: AxisTable | None
    piece: Array
    local: Array

    @classmethod
    def of(cls, basis: Basis, terms: Sequence[Term], x: Array) -> AxisPlaces:
        """Find the pieces."""
        own = own_terms(basis, terms)
        table = axis_table(basis, own) if isinstance(basis, Network) and not basis.is_broken else None
        if table is None or not table.covers(x):
            return cls(basis, own, x, None, np.zeros(len(x), dtype=np.uint8), x)
        edges = table.edges
        piece = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(edges) - 2)
        low, high = edges[piece], edges[piece + 1]
        kind = np.min_scalar_type(len(edges))  # small integers are sorted in no time
        return cls(basis, own, x, table, piece.astype(kind), (2.0 * x - low - high) / (high - low))

    def part(self, chosen: Array | slice) -> AxisPlaces:
        """Return some of the places."""
        return replace(self, x=self.x[chosen], piece=self.piece[chosen], local=self.local[chosen])

    def functions(self, table: AxisTable | None) -> Array:
        """Return the functions at all places, or their combinations in a table with the same pieces, shape (n, R)."""
        if table is None:
            return functions_of(self.basis, self.x[:, None], self.terms)
        order = np.argsort(self.piece, kind="stable")
        powers = chebvander(self.local[order], table.coefficients.shape[1] - 1)
        found = np.empty((len(order), table.coefficients.shape[2]))
        for piece, own in _runs(self.piece[order]):
            np.matmul(powers[own], table.coefficients[piece], out=found[own])
        out = np.empty_like(found)
        out[order] = found
        return out


@dataclass(frozen=True, eq=False)
class LocalSum:
    """One sum: ``core`` (R₁, m, R₂, …), with tables of the axes in this order, None for those that have none.

    ``limit`` is what is taken for round-off of a value.
    """

    core: Array
    tables: Sequence[AxisTable | None]
    limit: float

    def compressed(self) -> LocalSum:
        """Return the same sum in fewer combinations of the functions.

        Functions are scaled to at most one. Leaving out a part of the tensor then changes a value by about its norm
        where signs are mixed, and by √R times as much if all functions of an axis add up: the latter is allowed for.
        """
        core, found = self.core, list[AxisTable | None]()
        if any(table is None for table in self.tables):
            return self
        sizes = [np.maximum(table.sizes, 1e-300) for table in self.tables if table is not None]
        for axis, size in enumerate(sizes):
            core = core * size.reshape(-1, *(1,) * (core.ndim - 1 - _position(axis)))
        for axis, (table, size) in enumerate(zip(self.tables, sizes, strict=True)):
            assert table is not None
            place = _position(axis)
            unfolded = np.moveaxis(core, place, 0).reshape(len(size), -1)
            triangle = np.asarray(np.linalg.qr(unfolded.T, mode="r"))
            q, r, _ = sla.qr(triangle.T, mode="economic", pivoting=True, check_finite=False)
            tails = np.sqrt(np.cumsum(np.sum(r**2, axis=1)[::-1]))[::-1]
            allowed = _LEFT_OUT * self.limit / (len(sizes) * np.sqrt(len(size)))
            mixing = q[:, : max(1, int(np.sum(tails > allowed)))]
            core = np.moveaxis(np.tensordot(mixing, core, axes=(0, place)), 0, place)
            found.append(AxisTable(table.edges, table.coefficients @ (mixing / size[:, None])))
        return LocalSum(np.ascontiguousarray(core), found, self.limit)

    @cached_property
    def degrees(self) -> int:
        """The number of degrees along the first axis that matter."""
        first = self.tables[0]
        if first is None:
            return len(self.core)
        sums = np.abs(self.core).sum(axis=1)
        for table in self.tables[1:]:
            sums = np.tensordot(sums, np.ones(sums.shape[1]) if table is None else table.sizes, axes=(1, 0))
        behind = np.cumsum(np.max(np.abs(first.coefficients) @ sums, axis=0)[::-1])[::-1]
        return max(2, int(np.sum(behind > _LEFT_OUT * self.limit)))

    def at(self, places: Sequence[AxisPlaces], in_time: Array) -> Array:
        """Return the sum at places sorted by their pieces of the first axis; ``in_time`` is Tₖ there, (n, m)."""
        first, *others = places
        out = np.empty(len(in_time))
        rows = max(64, _BLOCK // (prod(self.core.shape[2:]) + self.core.shape[1] * len(self.core)))
        for start in range(0, len(out), rows):
            block = slice(start, start + rows)
            sums = self._along_first(first.part(block), in_time[block])
            pairs = zip(others, self.tables[1:], strict=True)
            out[block] = _contracted(sums, [one.part(block).functions(table) for one, table in pairs])
        return out

    def _along_first(self, first: AxisPlaces, in_time: Array) -> Array:
        """Sum over the first axis and time, shape (n, R₂·R₃·…)."""
        count = len(self.core)
        runs = list(_runs(first.piece))
        if len(runs) * self.degrees * count >= len(in_time) * (count - self.degrees):  # too few places
            return _with_time(first.functions(self.tables[0]), in_time, [(slice(None), self.core)], self.core.shape)
        tables = (
            (own, table)
            for pieces, block in self._on_pieces([piece for piece, _ in runs])
            for (_, own), table in zip(runs[pieces], block, strict=True)
        )
        powers = chebvander(first.local, self.degrees - 1)
        return _with_time(powers, in_time, tables, (self.degrees, *self.core.shape[1:]))

    def _on_pieces(self, pieces: list[int]) -> Iterator[tuple[slice, Array]]:
        """Yield the polynomials in the first axis on blocks of pieces, shape (k, degrees, m, R₂, …)."""
        assert self.tables[0] is not None
        step = max(1, _BLOCK // (self.degrees * self.core[0].size))
        for start in range(0, len(pieces), step):
            block = slice(start, start + step)
            polynomials = self.tables[0].coefficients[pieces[block], : self.degrees]
            tables = polynomials.reshape(-1, len(self.core)) @ self.core.reshape(len(self.core), -1)
            yield block, tables.reshape(len(polynomials), self.degrees, *self.core.shape[1:])


def summed(core: Array, functions: Sequence[Array], in_time: Array) -> Array:
    """Return the sum with a tensor (R₁, m, R₂, …) of functions (n, R) of each axis and of time (n, m), shape (n,)."""
    out = np.empty(len(in_time))
    rows = max(64, _BLOCK // (prod(core.shape[2:]) + core.shape[1] * len(core)))
    for start in range(0, len(out), rows):
        block = slice(start, start + rows)
        first, *others = (one[block] for one in functions)
        out[block] = _contracted(_with_time(first, in_time[block], [(slice(None), core)], core.shape), others)
    return out


def _with_time(functions: Array, in_time: Array, tables: Iterable[tuple[slice, Array]], shape: Sequence[int]) -> Array:
    """Sum over functions (n, R) and time (n, m) with tables (R, m, …), each for its own places, shape (n, …)."""
    count, moments, rest = shape[0], shape[1], prod(shape[2:])
    if rest * moments <= count * moments + rest:  # the sum over functions is short
        out = np.empty((len(in_time), moments, rest))
        for own, table in tables:
            np.matmul(functions[own], table.reshape(count, -1), out=out.reshape(len(out), -1)[own])
        return np.einsum("nkr,nk->nr", out, in_time)
    weights = (functions[:, :, None] * in_time[:, None]).reshape(len(in_time), -1)
    found = np.empty((len(in_time), rest))
    for own, table in tables:
        np.matmul(weights[own], table.reshape(count * moments, -1), out=found[own])
    return found


def _contracted(sums: Array, functions: Sequence[Array]) -> Array:
    """Sum (n, R₂·R₃·…) over the functions of the axes that are left, shape (n,)."""
    for one in functions:
        if one.shape[1] == sums.shape[1]:
            return np.einsum("ij,ij->i", sums, one)
        sums = (one[:, None] @ sums.reshape(*one.shape, -1))[:, 0]
    return sums[:, 0]


def _position(axis: int) -> int:
    """Return where an axis stands in the tensor: time comes second."""
    return axis + (axis > 0)


def _runs(values: Array) -> Iterator[tuple[int, slice]]:
    """Yield each value of a sorted array, and where it stands."""
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]])).tolist()
    for start, end in zip(starts, [*starts[1:], len(values)], strict=True):
        yield int(values[start]), slice(start, end)
