"""Solutions at very many pairs of places and times, each place with a time of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from frozenpinn.basis import tables
from frozenpinn.basis.along_axes import Summand
from frozenpinn.basis.cells import LAST, NODES, Cells, nodes_between, round_off_limit, to_coefficients
from frozenpinn.basis.hidden import Term
from frozenpinn.basis.local_sums import AxisFunctions, LocalSum
from frozenpinn.basis.protocol import Basis
from frozenpinn.runtime.threads import Crew

Array = np.ndarray
_MANY = 500  # pairs, from which on coefficients are looked at as functions of time
_LARGE = 100_000  # pairs of one or more spans for which the functions that matter are looked for
_TOGETHER = (1, 2, 4, 8)  # steps that may be one span …
_EVEN = 4.0  # … if their lengths differ by this factor at most …
_SHORT = 7  # … and polynomials in time have so many coefficients at most …
_SPARE = 3  # … beside as many more, as other spans may need one, …
_TAIL = 2  # … the last of which are small and tell that they are enough
_PROBED = 4  # spans that tell all this …
_STEPS = 12  # … if there are more steps
_LEFT_OUT = 0.1  # of what is taken for round-off: coefficients that are left out
_HALVINGS = 10  # of the time between two breaks
_BLOCK = 1_000_000  # numbers held at a time: memory that is reused, not asked for anew
_FEATURE = 25.0  # operations of one neuron
_SEEN = 256  # places at which polynomials in time are looked at, …
_SORTED = 20_000  # … among so many, …
_CHECKED = 32  # … and pairs at which values are checked, …
_TIMES = 4  # pairs at which round-off in the course of time is measured: coefficients cost more than functions
_SHARP = 1e-13  # of the field's size, which may be lost beside the round-off of direct evaluation
_WRONG = 50.0  # … which may be off by so many times what is taken for round-off


class _Span(NamedTuple):
    """The time between some breaks in a row, or a part of it, and which of the pairs lie there."""

    ends: Array
    chosen: Array
    depth: int = 0

    def local(self, times: Array) -> Array:
        """Return where times lie, between −1 and 1."""
        start, end = self.ends[0], self.ends[-1]
        return np.asarray((2.0 * times - start - end) / (end - start))

    def halves(self, times: Array) -> list[_Span]:
        """Cut it at a break if there is one inside, else in the middle."""
        cut = len(self.ends) // 2
        middle = self.ends[cut] if len(self.ends) > 2 else np.mean(self.ends)
        depth = self.depth + (len(self.ends) == 2)
        early, inner = times[self.chosen] < middle, self.ends[1:-1]
        return [
            _Span(np.array([self.ends[0], *inner[inner < middle], middle]), self.chosen[early], depth),
            _Span(np.array([middle, *inner[inner > middle], self.ends[-1]]), self.chosen[~early], depth),
        ]


class _Polynomials(NamedTuple):
    """Coefficients (k, m, r) and data (k, m, n_l) as polynomials in time on k spans; their sizes (k, m) as values."""

    coefficients: Array
    lifted: Array | None
    sizes: Array


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

    @cached_property
    def breaks(self) -> list[Array]:
        """The first cells."""
        first, last = float(np.min(self.times)), float(np.max(self.times))
        inner = self.breaks_in_time[(self.breaks_in_time > first) & (self.breaks_in_time < last)]
        ends = np.array([first, *inner, max(last, np.nextafter(first, np.inf))])
        return [ends, *tables.space_breaks(self.basis, self.x)]

    @property
    def is_separable(self) -> bool:
        """Whether it consists of functions of one variable each."""
        return self.basis.is_product or self.x.shape[1] == 1

    @property
    def costs(self) -> tuple[float, float]:
        """Operations of a point and of a node."""
        size = self.basis.size + self.basis.lift_size
        feature = self.basis.width * (_FEATURE + 2.0 * size)
        return feature + _FEATURE * size, 2.0 * size + (feature / NODES if self.x.shape[1] == 1 else feature / 4.0)

    def values(self, places: Array | None = None) -> Array:
        """Evaluate the functions themselves; those of products that are many, from one break in time to the next."""
        places = self.places if places is None else places
        return self.by_spans() if self.basis.is_product and places is self.places else self._directly(places)

    def tables(self, cells: Cells) -> Array:
        """Tabulate: coefficients at the nodes in time, then products with the functions of space."""
        times = cells.nodes(0)
        full = tables.tensor(self.basis, *self.coefficients(times.ravel()))
        first = np.moveaxis(full, -1, 0).reshape(*times.shape, *full.shape[:-1], 1)
        shape = (len(cells.choice), *(NODES,) * cells.choice.shape[1], 1)
        parts = (tables.on_cells(self.basis, cells, s, first, 1) for s in tables.summands(self.basis, self.terms))
        return sum(parts, np.zeros(shape))

    # ---- one pair after the other ----------------------------------------------------------------------------

    def _directly(self, places: Array) -> Array:
        """Evaluate a few pairs, or pairs at times that nothing smooth connects."""
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

    def _some(self, count: int) -> Array:
        return self.places[np.linspace(0, len(self.places) - 1, count).astype(int)]

    @cached_property
    def limit(self) -> float:
        """What is taken for round-off of a value, told by places next to each other, and by times."""
        few = self._some(_TIMES)

        def soon(t: Array) -> Array:
            return self._directly(np.column_stack([t, np.tile(few[:, 1:], (len(t) // len(few), 1))]))

        in_time = round_off_limit(soon, few[:, :1], self.breaks[:1], sharp=_SHARP)
        return max(self._round_off_at(self._some(NODES)), float(in_time[0]), _SHARP * self._size)

    @cached_property
    def _size(self) -> float:
        """The largest of values at more places, as fronts are thin, and few times."""
        (rows, lifting), (c, lifted) = self._sampled, self.coefficients(np.unique(self._some(_TIMES)[:, 0]))
        values = rows @ c if lifted is None else rows @ c + lifting @ lifted
        return float(np.max(np.abs(values)))

    def _round_off_at(self, places: Array) -> float:
        """Return what is taken for round-off of values at some places, told by those next to them at the same times."""

        def near(x: Array) -> Array:
            return self._directly(np.column_stack([np.tile(places[:, 0], len(x) // len(places)), x]))

        return float(round_off_limit(near, places[:, 1:], self.breaks[1:], sharp=_SHARP)[0])

    # ---- from one break in time to the next --------------------------------------------------------------------

    def by_spans(self) -> Array:
        """Evaluate all pairs of a separable function: polynomials in time, whose last coefficients are round-off."""
        out = self._from_polynomials() if len(self.places) >= _MANY else None
        return self._directly(self.places) if out is None else out

    def _from_polynomials(self) -> Array | None:
        """Evaluate span by span; None if polynomials are of no use."""
        out = np.empty((len(self.places), 1))
        with Crew() as crew:
            if not np.isfinite(self.limit):
                return None
            groups, moments = self._plan()
            pending = self._spans(groups)
            assert self._summands  # made here, not by the crew
            while pending:
                few = [s for s in pending if len(s.chosen) <= NODES or s.depth > _HALVINGS]
                if few:
                    chosen = np.concatenate([s.chosen for s in few])
                    out[chosen] = self._directly(self.places[chosen])
                many = [s for s in pending if len(s.chosen) > NODES and s.depth <= _HALVINGS]
                rough = list(self._smooth_filled(many, moments, out, crew))
                pending = rough if moments < NODES else [half for s in rough for half in s.halves(self.times)]
                moments = NODES
        return out if self._is_right(out) else None

    def _is_right(self, out: Array) -> bool:
        """Tell whether some of the values are the direct ones but for round-off, which may be larger at some times."""
        checked = np.linspace(0, len(out) - 1, _CHECKED).astype(int)
        off = np.abs(out[checked] - self._directly(self.places[checked]))[:, 0]
        far = off > _WRONG * self.limit
        return not np.any(far) or bool(np.max(off) <= _WRONG * self._round_off_at(self.places[checked[far]]))

    def _plan(self) -> tuple[list[Array], int]:
        """Return breaks of spans, as many steps as short polynomials pass through, and at how many moments to look."""
        groups: list[Array] = []
        needed = 0
        if len(self.breaks[0]) - 1 <= _STEPS:
            return list(_alike(self.breaks[0], 1)), NODES
        for together in _TOGETHER:
            longer = list(_alike(self.breaks[0], together))
            if len(longer) == len(groups):
                break
            some = [longer[k] for k in np.unique(np.linspace(0, len(longer) - 1, _PROBED).astype(int))]
            allowed = _LEFT_OUT * self.limit if groups else self.limit  # jumps at breaks have long tails
            large = np.max(self._polynomials(some, NODES).sizes, axis=0) > allowed
            count = int(np.max(np.flatnonzero(large), initial=-1)) + 1
            if not groups or count <= _SHORT:
                groups, needed = longer, count
            if count > _SHORT:
                break
        return groups, min(NODES, max(needed, 2) + _SPARE)

    def _spans(self, groups: list[Array]) -> list[_Span]:
        """Sort the pairs by the spans that have these breaks."""
        starts = np.array([ends[0] for ends in groups[1:]])
        own = np.searchsorted(starts, self.times, side="right").astype(np.min_scalar_type(len(groups)))
        order = np.argsort(own, kind="stable")
        bounds = np.searchsorted(own[order], np.arange(len(groups) + 1))
        return [_Span(groups[k], order[bounds[k] : bounds[k + 1]]) for k in np.flatnonzero(np.diff(bounds))]

    def _smooth_filled(self, spans: Sequence[_Span], moments: int, out: Array, crew: Crew) -> Iterator[_Span]:
        """Fill in spans on which so many moments tell the polynomials in time; yield the others."""
        tail = _TAIL if moments < NODES else LAST
        step = max(1, _BLOCK // (moments * (self.basis.size + self.basis.lift_size)))
        for start in range(0, len(spans), step):
            block = spans[start : start + step]
            found = self._polynomials([span.ends for span in block], moments)
            smooth = np.max(found.sizes[:, -tail:], axis=1) <= self.limit
            for k in _groups([len(span.chosen) if fine else 0 for span, fine in zip(block, smooth, strict=True)]):
                needed = np.flatnonzero(np.max(found.sizes[k], axis=0) > _LEFT_OUT * self.limit)
                full = self._tensors(found, k, max(2, int(np.max(needed, initial=-1)) + 1))
                crew.do(self._fill, [block[j] for j in k], full, out)
            yield from (span for span, fine in zip(block, smooth, strict=True) if not fine)

    def _tensors(self, found: _Polynomials, chosen: Sequence[int], count: int) -> Array:
        """Return polynomials of some spans as tensors over the axes, shape (k, count, R₁, R₂, …)."""
        c = found.coefficients[chosen, :count]
        lifted = None if found.lifted is None else found.lifted[chosen, :count]
        flat = None if lifted is None else lifted.reshape(-1, lifted.shape[-1]).T
        full = np.moveaxis(tables.tensor(self.basis, c.reshape(-1, c.shape[-1]).T, flat), -1, 0)
        return full.reshape(*c.shape[:2], *full.shape[1:])

    def _polynomials(self, spans: Sequence[Array], moments: int) -> _Polynomials:
        """Look at coefficients at the nodes of spans, given by their ends."""
        shape = (len(spans), moments, -1)
        nodes = np.concatenate([nodes_between(ends[0], ends[-1], moments) for ends in spans])
        values, data = self.coefficients(nodes)
        c = to_coefficients(moments) @ values.T.reshape(shape)
        rows, lifting = self._sampled
        seen = c.reshape(len(nodes), -1) @ rows.T
        lifted = None
        if data is not None:
            lifted = to_coefficients(moments) @ data.T.reshape(shape)
            seen += lifted.reshape(len(nodes), -1) @ lifting.T
        return _Polynomials(c, lifted, np.max(np.abs(seen), axis=1).reshape(shape[:2]))

    @cached_property
    def _sampled(self) -> tuple[Array, Array]:
        """The functions at some of the places, and those that lift data."""
        x = self._some(_SORTED)[:, 1:]
        count = int(np.clip(_BLOCK // self.basis.size, 8, _SEEN)) // x.shape[1]
        ranks = (len(x) - 1) * (1.0 - np.cos(np.linspace(0.0, np.pi, count + 2)[1:-1])) / 2.0  # dense near the sides
        x = np.concatenate([x[np.argsort(column, kind="stable")[ranks.astype(int)]] for column in x.T])
        return self.basis.operator(x, self.terms), self.basis.lift_operator(x, self.terms)

    @cached_property
    def _summands(self) -> list[tuple[Summand, tuple[AxisFunctions, ...]]]:
        """What is to be summed up, with the functions of the axes."""
        return [
            (
                summand,
                tuple(
                    AxisFunctions.of(tables.group_basis(self.basis, axis), own, self.x[:, axis])
                    for axis, own in enumerate(summand.terms)
                ),
            )
            for summand in tables.summands(self.basis, self.terms)
        ]

    def _fill(self, spans: Sequence[_Span], full: Array, out: Array) -> None:
        """Fill in some spans from polynomials in time with tensors (k, m, R₁, R₂, …)."""
        chosen = np.concatenate([span.chosen for span in spans])
        owner = np.repeat(np.arange(len(spans)), [len(span.chosen) for span in spans])
        times = np.concatenate([span.local(self.times[span.chosen]) for span in spans])
        places = [self.x[chosen, axis] for axis in range(self.x.shape[1])]
        sums = (LocalSum(s.scale * full, axes, self.limit).compressed() for s, axes in self._summands)
        out[chosen, 0] = sum((own.at(places, owner, times) for own in sums), np.zeros(len(chosen)))


def _groups(counts: Sequence[int]) -> Iterator[list[int]]:
    """Yield the numbers of spans with so many pairs, few ones together: they share their functions of space."""
    together: list[int] = []
    waiting = 0
    for k, count in enumerate(counts):
        if count:
            together.append(k)
            waiting += count
        if waiting >= _LARGE or (together and k == len(counts) - 1):
            yield together
            together, waiting = [], 0


def _alike(breaks: Array, together: int) -> Iterator[Array]:
    """Yield the breaks of so many steps in a row, or of fewer where their lengths differ too much."""
    lengths, start = np.diff(breaks).tolist(), 0
    for k in range(1, len(lengths) + 1):
        own = lengths[start : k + 1]
        if k == len(lengths) or len(own) > together or max(own) > _EVEN * min(own):
            yield breaks[start : k + 1]
            start = k
