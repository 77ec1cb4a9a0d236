"""Solutions at very many places, at given times or each at a time of its own.

Along each axis, basis functions come from piecewise Chebyshev polynomials (basis/piecewise.py). Of them a sum needs
fewer combinations, which pivoted QR decompositions find (Tucker's form). Bases that are no products are tabulated on
boxes (basis/cells.py). Between two steps, coefficients are polynomials in time. What is left out is a part of what is
taken for round-off, and some of the values are compared with direct ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import prod
from typing import NamedTuple

import numpy as np
import scipy.linalg as sla

from frozenpinn.basis.along_axes import Summand, axis_summands, axis_table, functions_of, own_terms
from frozenpinn.basis.cells import CHECKED, WRONG, evaluate, trusted
from frozenpinn.basis.hidden import Term
from frozenpinn.basis.network import Network
from frozenpinn.basis.piecewise import (
    HALVINGS,
    LAST,
    NODES,
    Piecewise,
    chebyshev,
    nodes_between,
    round_off,
    to_coefficients,
)
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.basis.protocol import Basis
from frozenpinn.runtime.threads import ThreadPool

Array = np.ndarray
_FEWEST = 4096  # points, below which there are no tables
_FEWEST_PAIRS = 500  # of products, whose coefficients cost more than their functions
_WORTH = 3e8  # operations of a direct evaluation, below which there are no tables
_FEATURE = 25.0  # operations of one neuron
_COLUMNS = 32  # evaluated together
_BLOCK = 1_000_000  # numbers held at a time: memory that is reused, not asked for anew
_NEAR = 400_000  # numbers in the innermost sums: with fewer, calls take longer than sums
_TABULATED = 50_000  # places at which functions are looked up together
_TOGETHER = 30_000  # pairs for which combinations of functions are sought


def fast_values(function: Snapshots | History) -> Array:
    """Return a function at its places, from tables where that pays, shape (n, columns)."""
    variables = 4  # of functions on boxes, at most
    count, dimension = function.x.shape
    if isinstance(function, History) and function.basis.is_product:
        return function.from_tables() if count >= _FEWEST_PAIRS else function.values()
    pays = count >= _FEWEST and count * function.cost >= _WORTH
    pays = pays and not function.basis.is_broken and (_is_separable(function) or dimension <= variables)
    return function.from_tables() if pays else function.values()


# ---- sums of products of functions of axes ---------------------------------------------------------------------


def _factors(basis: Basis) -> Sequence[Basis]:
    return basis.factors if isinstance(basis, ProductNetwork) else [basis]


def _summands(basis: Basis, terms: Sequence[Term]) -> Sequence[Summand]:
    """Write Σ coefficient·D as a sum of products over the factors of a basis."""
    return axis_summands(terms) if isinstance(basis, ProductNetwork) else [Summand((tuple(terms),))]


def _is_separable(function: Snapshots | History) -> bool:
    """Whether it consists of functions of one variable each."""
    return function.basis.is_product or function.x.shape[1] == 1


def tensor(basis: Basis, coefficients: Array, lifted: Array | None) -> Array:
    """Return coefficients (r, m) and data (n_l, m) as one tensor over the factors, shape (m, R₁, R₂, …)."""
    if isinstance(basis, ProductNetwork):
        full = basis.tensor(coefficients, lifted)
    elif basis.lift_size:
        data = np.zeros((basis.lift_size, coefficients.shape[1])) if lifted is None else lifted
        full = np.concatenate([coefficients, data])
    else:
        full = coefficients
    return np.moveaxis(full, -1, 0)


@dataclass(frozen=True, eq=False)
class AxisFunctions:
    """Derivatives of the functions of one axis, or combinations of them, in a table.

    Functions that are too rough for a table have none.
    """

    basis: Basis | None
    terms: tuple[Term, ...]
    table: Piecewise | None

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


@dataclass(frozen=True, eq=False)
class ProductSums:
    """Σ core[s, q, m, i, j, …] Tₘ(t) ψᵢ(x) ψⱼ(y) … in some spans s of time, for some columns q."""

    core: Array
    axes: tuple[AxisFunctions, ...]

    def compressed(self, limit: float) -> ProductSums:
        """Return the same sums but for a limit, in fewer combinations of the functions.

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
        for axis, (own, table, size) in enumerate(zip(self.axes, tables, sizes, strict=True), 3):
            mixing = spanning(np.moveaxis(core, axis, 0).reshape(len(size), -1), 0.5 * limit / len(sizes))
            core = np.moveaxis(np.tensordot(mixing, core, axes=(0, axis)), 0, axis)
            combined = Piecewise(table.edges, table.coefficients @ (mixing / size[:, None]))
            found.append(replace(own, table=combined))
        return ProductSums(core, tuple(found))

    def at(self, x: Array, times: Array, bounds: Array) -> Array:
        """Return the sums at points (n, d), shape (q, n).

        Those of span s stand between ``bounds[s]`` and the next, with times between −1 and 1.
        """
        sizes = self.core.shape[2:]  # of time and of the axes
        factors = range(len(sizes))
        subsets = (own for count in factors for own in combinations(factors, count + 1))
        together = min(
            subsets, key=lambda own: prod(sizes[f] for f in own) + prod(sizes[f] for f in factors if f not in own)
        )
        others = [f for f in factors if f not in together]
        core = self.core.transpose(0, 1, *(f + 2 for f in (*others, *together)))
        core = core.reshape(*core.shape[:2], -1, prod(sizes[f] for f in together))
        core = np.ascontiguousarray(core).reshape(len(core), -1, core.shape[-1])
        rows = max(64, _NEAR // sum(core.shape[1:]))
        out = np.empty((self.core.shape[1], len(x)))
        for start in range(0, len(x), _TABULATED):
            near = slice(start, start + _TABULATED)
            functions = [
                chebyshev(times[near], sizes[0]),
                *(own.at(c) for own, c in zip(self.axes, x[near].T, strict=True)),
            ]
            edges = np.clip(bounds - start, 0, functions[0].shape[1])
            for span in np.flatnonzero(np.diff(edges)).tolist():
                for k in range(edges[span], edges[span + 1], rows):
                    part = slice(k, min(k + rows, edges[span + 1]))
                    weights = functions[together[0]][:, part]
                    for f in together[1:]:
                        weights = (weights[:, None] * functions[f][:, part]).reshape(-1, weights.shape[1])
                    sums = core[span] @ weights
                    for f in reversed(others):
                        sums = np.einsum("jrn,rn->jn", sums.reshape(-1, sizes[f], sums.shape[1]), functions[f][:, part])
                    out[:, start:][:, part] = sums
        return out


def spanning(rows: Array, allowed: float) -> Array:
    """Return orthonormal columns that span rows (R, …) of a tensor but for a part of this norm."""
    triangle = np.asarray(np.linalg.qr(rows.T, mode="r"))
    q, r, _ = sla.qr(triangle.T, mode="economic", pivoting=True, check_finite=False)
    tails = np.sqrt(np.cumsum(np.sum(r**2, axis=1)[::-1]))[::-1]
    return np.asarray(q[:, : max(1, int(np.sum(tails > allowed)))])


# ---- at given times ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Snapshots:
    """Σ coefficient·D of functions of space with coefficients (r, m) and data (n_l, m) at places x (n, d)."""

    basis: Basis
    terms: Sequence[Term]
    coefficients: Array
    lifted: Array | None
    x: Array

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.coefficients.shape[1])

    @property
    def cost(self) -> float:
        """Operations of a point."""
        if self.basis.is_product:
            return 2.0 * NODES * sum(self.basis.sizes) + 2.0 * self.basis.size * self.columns
        return self.basis.width * (_FEATURE + 2.0 * min(self.columns, self.basis.size))

    def values(self, places: Array | None = None) -> Array:
        """Evaluate the functions themselves."""
        places = self.x if places is None else places
        if len(places) < _FEWEST:
            return self.basis.combine(places, self.terms, self.coefficients, self.lifted)
        out = np.empty((len(places), self.columns))
        rows = max(64, 4 * _BLOCK // max(1, self.basis.size if self.columns > self.basis.size else self.columns))
        for start in range(0, len(places), rows):
            block = slice(start, start + rows)
            out[block] = self.basis.combine(places[block], self.terms, self.coefficients, self.lifted)
        return out

    def part(self, chosen: slice) -> Snapshots:
        """Return some of the columns."""
        lifted = None if self.lifted is None else self.lifted[:, chosen]
        return replace(self, coefficients=self.coefficients[:, chosen], lifted=lifted)

    def from_tables(self) -> Array:
        """Evaluate few columns at a time."""
        if self.columns > _COLUMNS:
            parts = [self.part(slice(start, start + _COLUMNS)) for start in range(0, self.columns, _COLUMNS)]
            return np.concatenate([part.from_tables() for part in parts], axis=1)
        if _is_separable(self):
            return trusted(self.values, self.x, self._sums)
        return evaluate(self.values, self.x, max(1, int(2.0 * self.basis.size ** (1.0 / self.x.shape[1]) / NODES)))

    def _sums(self, limit: Array) -> Array:
        """Sum up products of tabulated functions; limits of the columns become one."""
        scale = np.maximum(limit, 1e-300)
        full = tensor(self.basis, self.coefficients / scale, None if self.lifted is None else self.lifted / scale)
        out = np.zeros((len(self.x), self.columns))
        for own in _product_sums(self.basis, self.terms, full[None, :, None], self.x):
            out += own.compressed(1.0).at(self.x, np.zeros(len(self.x)), np.array([0, len(self.x)])).T
        return out * scale


def _product_sums(basis: Basis, terms: Sequence[Term], full: Array, x: Array) -> Iterator[ProductSums]:
    """Yield the sums of products that tensors (s, q, m, R₁, R₂, …) stand for, with the functions of the axes."""
    for summand in _summands(basis, terms):
        triples = enumerate(zip(_factors(basis), summand.terms, strict=True))
        axes = tuple(AxisFunctions.of(factor, own, x[:, axis]) for axis, (factor, own) in triples)
        yield ProductSums(full if summand.scale == 1.0 else summand.scale * full, axes)


# ---- each at its own time ------------------------------------------------------------------------------------------


class _Spans(NamedTuple):
    """Some spans of time: their ends (k, 2), and the pairs in them, (k, 2) as bounds among those sorted by time."""

    ends: Array
    bounds: Array

    @classmethod
    def between(cls, ends: Array, times: Array) -> _Spans:
        """Return the spans with these ends that contain some of the times."""
        bounds = np.searchsorted(times, ends)
        bounds[ends[:, 1] >= times[-1], 1] = len(times)
        kept = bounds[:, 1] > bounds[:, 0]
        return cls(ends[kept], bounds[kept])

    @classmethod
    def joined(cls, some: Sequence[_Spans]) -> _Spans:
        """Return several sets of spans as one."""
        return cls(*(np.concatenate(own) for own in zip(*some, strict=True)))

    def part(self, chosen: Array | slice) -> _Spans:
        """Return some of them."""
        return _Spans(self.ends[chosen], self.bounds[chosen])

    @property
    def counts(self) -> Array:
        """How many pairs lie in each."""
        return self.bounds[:, 1] - self.bounds[:, 0]

    @property
    def chosen(self) -> Array:
        """The pairs, one span after the other."""
        return np.concatenate([np.empty(0, dtype=int), *(np.arange(*own) for own in self.bounds)])

    def groups(self, numbers: Array) -> Sequence[Array]:
        """Return some of the spans, many pairs together: they share their functions of space."""
        which = np.cumsum(self.counts[numbers]) // _TOGETHER
        return np.split(numbers, np.flatnonzero(np.diff(which)) + 1) if len(numbers) else []

    def local(self, times: Array) -> Array:
        """Return where the times of all pairs lie in their spans, between −1 and 1."""
        start, end = np.repeat(self.ends, self.counts, axis=0).T
        return np.asarray((2.0 * times - start - end) / (end - start))

    def halves(self, times: Array) -> _Spans:
        """Cut them in the middle."""
        middle = np.mean(self.ends, axis=1)
        return _Spans.between(
            np.stack([self.ends[:, 0], middle, middle, self.ends[:, 1]], axis=1).reshape(-1, 2), times
        )


@dataclass(frozen=True, eq=False)
class History:
    """Σ coefficient·D of a solution as a function of t and space.

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

    @property
    def cost(self) -> float:
        """Operations of a point."""
        size = self.basis.size + self.basis.lift_size
        return self.basis.width * (_FEATURE + 2.0 * size) + _FEATURE * size

    def values(self, chosen: Array | None = None) -> Array:
        """Evaluate the functions themselves at all pairs or some."""
        places = np.column_stack([self.times, self.x])
        return self._directly(places if chosen is None else places[chosen])

    def _directly(self, places: Array) -> Array:
        """Evaluate pairs (t, x, …)."""
        out, order = np.empty((len(places), 1)), np.argsort(places[:, 0], kind="stable")  # each time in one block
        rows = max(4, _BLOCK // max(1, self.basis.size + self.basis.lift_size))
        for start in range(0, len(places), rows):
            part = order[start : start + rows]
            distinct, inverse = np.unique(places[part, 0], return_inverse=True)
            c, lifted = self.coefficients(distinct)
            x = places[part, 1:]
            found = np.einsum("ij,ij->i", self.basis.operator(x, self.terms), c.T[inverse])
            if lifted is not None:
                found += np.einsum("ij,ij->i", self.basis.lift_operator(x, self.terms), lifted.T[inverse])
            out[part, 0] = found
        return out

    def from_tables(self) -> Array:
        """Evaluate all pairs from polynomials in time on spans; few pairs, and rough times, directly."""
        sample = np.linspace(0, len(self.x) - 1, CHECKED).astype(int)
        known = self.values(sample)
        limit = self._limit(sample[::8], known)
        if not np.isfinite(limit):
            return self.values()
        order = np.argsort(self.times, kind="stable")
        own = replace(self, x=self.x[order], times=self.times[order])
        out = np.empty((len(order), 1))
        out[order] = own._from_spans(limit)
        return self.values() if np.any(np.abs(out[sample] - known) > WRONG * limit) else out

    def _from_spans(self, limit: float) -> Array:
        """Evaluate pairs that are sorted by time."""
        inner = self.breaks_in_time[(self.breaks_in_time > self.times[0]) & (self.breaks_in_time < self.times[-1])]
        breaks = np.array([self.times[0], *inner, max(self.times[-1], np.nextafter(self.times[0], np.inf))])
        pending = _Spans.between(np.stack([breaks[:-1], breaks[1:]], axis=1), self.times)
        size = max(1, _BLOCK // (NODES * (self.basis.size + self.basis.lift_size)))
        out, directly, smooth = np.empty((len(self.x), 1)), [], []
        with ThreadPool() as crew:
            for depth in range(HALVINGS + 1):
                few = (pending.counts <= NODES) | (depth == HALVINGS)
                directly.append(pending.part(few).chosen)
                many, rough = pending.part(~few), [pending.part(slice(0))]
                for start in range(0, len(many.ends), size):
                    spans = many.part(slice(start, start + size))
                    full, fine = self._polynomials(spans.ends, limit)
                    rough.append(spans.part(~fine))
                    if not _is_separable(self):
                        smooth.append((spans.part(fine), full[fine]))
                        continue
                    for k in spans.groups(np.flatnonzero(fine)):
                        crew.do(self._fill, spans.part(k), full[k], limit, out)
                pending = _Spans.joined(rough).halves(self.times)
        chosen = np.concatenate(directly)
        if len(chosen):
            out[chosen] = self.values(chosen)
        if smooth:
            self._fill_from_boxes(smooth, limit, out)
        return out

    def _limit(self, chosen: Array, known: Array) -> float:
        """Return what is taken for round-off of a value, told by places and times next to some of the pairs."""
        places = np.column_stack([self.times, self.x])
        rows, lifting = self._sampled
        c, lifted = self.coefficients(np.unique(self.times[chosen]))
        values = rows @ c if lifted is None else rows @ c + lifting @ lifted
        everywhere = np.concatenate([known, values.reshape(-1, 1)])  # fronts are thin
        return float(round_off(self._directly, places[chosen], np.ptp(places, axis=0), everywhere, 1e-13)[0])

    @cached_property
    def _sampled(self) -> tuple[Array, Array]:
        """The functions at some of the places, and those that lift data."""
        x = self.x[np.linspace(0, len(self.x) - 1, 20_000).astype(int)]
        count = int(np.clip(_BLOCK // self.basis.size, 8, 256)) // x.shape[1]
        ranks = (len(x) - 1) * (1.0 - np.cos(np.linspace(0.0, np.pi, count + 2)[1:-1])) / 2.0  # dense near the sides
        x = np.concatenate([x[np.argsort(column, kind="stable")[ranks.astype(int)]] for column in x.T])
        return self.basis.operator(x, self.terms), self.basis.lift_operator(x, self.terms)

    def _polynomials(self, ends: Array, limit: float) -> tuple[Array, Array]:
        """Return coefficients as polynomials in time, (k, m, R₁, R₂, …), and in which spans these are exact."""
        c, lifted = self.coefficients(nodes_between(*ends.T).ravel())
        rows, lifting = self._sampled
        seen = rows @ c if lifted is None else rows @ c + lifting @ lifted
        sizes = np.max(np.abs(seen.reshape(len(rows), -1, NODES) @ to_coefficients().T), axis=0)
        fine = np.max(sizes[:, -LAST:], axis=1) <= limit
        needed = np.flatnonzero(np.max(sizes[fine], axis=0, initial=0.0) > 0.1 * limit)
        maps = to_coefficients()[: max(2, int(np.max(needed, initial=-1)) + 1)]
        full = tensor(self.basis, c, lifted)
        return np.moveaxis(np.tensordot(maps, full.reshape(-1, NODES, *full.shape[1:]), axes=(1, 1)), 0, 1), fine

    def _fill(self, spans: _Spans, full: Array, limit: float, out: Array) -> None:
        """Fill in the pairs of some spans."""
        chosen, starts = spans.chosen, np.append(0, np.cumsum(spans.counts))
        x, times = self.x[chosen], spans.local(self.times[chosen])
        sums = (own.compressed(limit) for own in _product_sums(self.basis, self.terms, full[:, None], x))
        out[chosen, 0] = sum(own.at(x, times, starts)[0] for own in sums)

    def _fill_from_boxes(self, found: Sequence[tuple[_Spans, Array]], limit: float, out: Array) -> None:
        """Fill in pairs with combinations of functions of all variables, which are tabulated on boxes."""
        rows = np.concatenate(self._sampled, axis=1)
        sizes = np.maximum(np.max(np.abs(rows), axis=0), 1e-300)
        count = max(full.shape[1] for _, full in found)
        core = np.concatenate([np.pad(full, [(0, 0), (0, count - full.shape[1]), (0, 0)]) for _, full in found])
        mixing = spanning((core * sizes).reshape(-1, len(sizes)).T, 0.5 * limit)
        core, mixing = (core * sizes) @ mixing, mixing / sizes[:, None]
        spans = _Spans.joined([own for own, _ in found])
        chosen, which = spans.chosen, np.repeat(np.arange(len(spans.ends)), spans.counts)
        times = spans.local(self.times[chosen])
        coefficients, lifted = np.split(mixing, [self.basis.size])
        combined = Snapshots(self.basis, self.terms, coefficients, lifted, self.x[chosen])
        total = np.zeros(len(chosen))
        for start in range(0, mixing.shape[1], _COLUMNS):
            some = slice(start, start + _COLUMNS)
            values = combined.part(some).from_tables()
            for part in (slice(k, k + _TABULATED) for k in range(0, len(chosen), _TABULATED)):
                in_time = chebyshev(times[part], count)
                total[part] += np.einsum("mn,nmq,nq->n", in_time, core[which[part], :, some], values[part])
        out[chosen, 0] = total
