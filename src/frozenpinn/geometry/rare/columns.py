"""Quadrature by columns, for regions of which little is known: where vertical lines are inside.

The first axis is cut where the pattern of inside intervals changes, then the next, and Gauss points are put on each
inside interval of the last axis. Between cuts the ends of intervals are usually smooth or have a square root (a disk
seen from the side); the substitution x = −cos θ makes both smooth, so convergence is fast if there are no kinks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np

from frozenpinn.geometry.points import gauss

Array = np.ndarray
BISECTIONS = 44


# ---- lines along the last axis --------------------------------------------------------------------


class Lines(Protocol):
    """What vertical lines know; a line is a point of the first d − 1 coordinates."""

    def count(self, base: Array) -> Array:
        """Return a number for the pattern of inside intervals of each line, such as their count; 0 for none."""
        ...

    def intervals(self, base: Array) -> tuple[Array, Array, Array]:
        """Return (line, start, end) of every inside interval."""
        ...


class ScannedLines:
    """Lines through a region that only knows ``contains``: scanned at equal steps, then bisected.

    If a level function of the region is given, negative inside, its values find the ends of intervals faster.
    """

    def __init__(
        self,
        contains: Callable[[Array], Array],
        lower: float,
        upper: float,
        steps: int = 97,
        level: Callable[[Array], Array] | None = None,
    ) -> None:
        self._contains, self._level = contains, level
        self._lower, self._upper = lower, upper
        self._heights = lower + (np.arange(steps) + 0.5) / steps * (upper - lower)

    def _grids(self, base: Array) -> Iterator[tuple[int, Array]]:
        """Yield the points of some lines at a time, and their number."""
        chunk = 2_000_000
        steps = len(self._heights)
        per_chunk = max(1, chunk // steps)
        for start in range(0, len(base), per_chunk):
            rows = base[start : start + per_chunk]
            yield len(rows), np.column_stack([np.repeat(rows, steps, axis=0), np.tile(self._heights, len(rows))])

    def _scan(self, base: Array) -> Array:
        """Return what is inside, shape (lines, steps)."""
        steps = len(self._heights)
        parts = [np.zeros((0, steps), dtype=bool)]
        parts += [self._contains(x).reshape(rows, steps) for rows, x in self._grids(base)]
        return np.concatenate(parts)

    def count(self, base: Array) -> Array:
        """Return the number of inside intervals of each line."""
        inside = self._scan(base)
        return np.asarray(inside[:, 0] + np.sum(inside[:, 1:] & ~inside[:, :-1], axis=1), dtype=np.int64)

    def intervals(self, base: Array) -> tuple[Array, Array, Array]:
        """Return (line, start, end) of every inside interval."""
        inside = self._scan(base)
        padded = np.pad(inside, ((0, 0), (1, 1)))
        ends = np.concatenate([[self._lower], self._heights, [self._upper]])
        line, up = np.nonzero(padded[:, 1:] & ~padded[:, :-1])
        _, down = np.nonzero(~padded[:, 1:] & padded[:, :-1])
        start = self._bisect(base[line], ends[up], ends[up + 1])
        end = self._bisect(base[line], ends[down + 1], ends[down])
        return line, start, end

    def _bisect(self, base: Array, outside: Array, inside: Array) -> Array:
        if self._level is not None and len(base):
            return self._approached(self._level, base, outside, inside)
        for _ in range(BISECTIONS):
            middle = (outside + inside) / 2.0
            within = self._contains(np.column_stack([base, middle])) if len(base) else np.zeros(0, dtype=bool)
            inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
        return inside

    def _approached(self, level: Callable[[Array], Array], base: Array, outside: Array, inside: Array) -> Array:
        """Return the zeros of a function between two heights (regula falsi, Illinois, with some bisections)."""
        x = np.column_stack([base, outside])
        above = level(x)
        x[:, -1] = inside
        below = level(x)
        enough = 1e-15 * (self._upper - self._lower)
        found = inside
        for step in range(BISECTIONS):
            before, gap = found, above - below
            share = np.where(gap > 0, above / np.where(gap > 0, gap, 1.0), 0.5) if step % 4 < 3 else 0.5
            found = outside + np.clip(share, 0.0, 1.0) * (inside - outside)
            x[:, -1] = found
            value = level(x)
            within = value < 0
            outside, inside = np.where(within, outside, found), np.where(within, found, inside)
            above, below = np.where(within, above / 2.0, value), np.where(within, value, below / 2.0)
            if np.max(np.abs(found - before)) <= enough or not np.any(value):
                break
        return np.asarray(found)


class CombinedLines:
    """Lines through a region that is made of others: where they cross each of these, and what is inside.

    Parameters
    ----------
    parts
        For each part, a function that returns (line, height) of its crossings.
    inside
        Takes rows of booleans, one per part, and returns what is inside.
    size
        Size of the region, for round-off.
    breaks
        Known kinks of the boundary along the first axis.
    """

    def __init__(
        self,
        parts: Sequence[Callable[[Array], tuple[Array, Array]]],
        inside: Callable[[Array], Array],
        size: float,
        breaks: Array,
    ) -> None:
        self._parts, self._inside, self._size = parts, inside, size
        self.breaks = np.unique(breaks)

    def _events(self, base: Array) -> tuple[Array, Array, Array, Array]:
        """Return (line, height, part, inside from here on) of all crossings, from below upwards."""
        found = [crossings(base) for crossings in self._parts]
        part = np.repeat(np.arange(len(found)), [len(line) for line, _ in found])
        line, height = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.lexsort((part, np.round(height / (1e-11 * self._size)), line))
        line, height, part = line[order], height[order], part[order]
        first = np.searchsorted(line, np.arange(len(base) + 1))
        states = np.empty((len(line), len(found)), dtype=bool)
        for i in range(len(found)):
            total = np.concatenate([[0], np.cumsum(part == i)])
            states[:, i] = (total[1:] - total[first[line]]) % 2 == 1
        return line, height, part, self._inside(states)

    def count(self, base: Array) -> Array:
        """Return a number for the order in which each line crosses the parts; 0 if it is never inside."""
        line, _, part, inside = self._events(base)
        rank = (np.arange(len(line)) - np.searchsorted(line, line)).astype(np.uint64) + np.uint64(1)
        mixed = (rank * np.uint64(0x9E3779B97F4A7C15)) ^ (
            (part.astype(np.uint64) + np.uint64(1)) * np.uint64(0xC2B2AE3D27D4EB4F)
        )
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        found = np.zeros(len(base), dtype=np.uint64)
        np.add.at(found, line, mixed)
        met = np.bincount(line, inside, minlength=len(base)) > 0
        return np.where(met, (found >> np.uint64(2)).astype(np.int64) | 1, 0)

    def intervals(self, base: Array) -> tuple[Array, Array, Array]:
        """Return (line, start, end) of every inside interval."""
        line, height, _, inside = self._events(base)
        begins = np.concatenate([[True], line[1:] != line[:-1]]) if len(line) else np.zeros(0, dtype=bool)
        before = np.concatenate([[False], inside[:-1]]) & ~begins if len(line) else inside
        changes = np.flatnonzero(inside != before)
        starts = (
            np.flatnonzero(inside[changes][:-1] & (line[changes][:-1] == line[changes][1:]))
            if len(changes)
            else changes
        )
        low, high = changes[starts], changes[starts + 1]
        kept = height[high] - height[low] > 1e-12 * self._size
        return line[low][kept], height[low][kept], height[high][kept]


# ---- rules ----------------------------------------------------------------------------------------


def column_lines(lines: Lines, lower: Array, upper: Array, spacing: Array) -> tuple[Array, Array]:
    """Return lines (m, d − 1) that meet the region, and weights that integrate over the first d − 1 axes."""
    prefixes, weights = np.empty((1, 0)), np.ones(1)
    last = len(lower) - 2
    for axis in range(last + 1):
        changes = lines.count if axis == last else _outline(lines, lower[axis + 1], upper[axis + 1])
        owner, start, end = _panels(changes, prefixes, lower[axis], upper[axis], 129 if last == 0 else 65)
        if axis == 0:
            owner, start, end = _cut(owner, start, end, getattr(lines, "breaks", np.empty(0)))
        if len(start) > 8 * len(prefixes) + len(prefixes) * (upper[axis] - lower[axis]) / spacing[axis]:
            owner, start, end = _joined(owner, start, end)  # a jagged boundary: its kinks are finer than the rule
        counts = np.maximum(np.ceil(1.3 * (end - start) / spacing[axis]).astype(int), 6 if last == 0 else 4)
        piece, theta, w = _gauss_pieces(counts)
        half = (end - start)[piece] / 2.0
        x = (start + end)[piece] / 2.0 - half * np.cos(np.pi * theta)
        w = w * np.pi * half * np.sin(np.pi * theta)
        prefixes = np.column_stack([prefixes[owner[piece]], x])
        weights = weights[owner[piece]] * w
    return prefixes, weights


def column_rule(lines: Lines, lower: Array, upper: Array, spacing: Array) -> tuple[Array, Array]:
    """Return points and weights in the region, about ``spacing`` apart along each axis."""
    base, base_weights = column_lines(lines, lower, upper, spacing)
    line, start, end = lines.intervals(base)
    lengths = end - start
    least = 1 if len(line) > 4 * len(base) else 3 if len(lower) == 2 else 2
    piece, s, w = _gauss_pieces(np.maximum(np.ceil(1.1 * lengths / spacing[-1]).astype(int), least))
    x = np.column_stack([base[line[piece]], start[piece] + lengths[piece] * s])
    return x, base_weights[line[piece]] * lengths[piece] * w


def scattered_columns(lines: Lines, lower: Array, upper: Array, unit: Array, count: int) -> tuple[Array, Array]:
    """Return points and weights on lines through points of the unit cube, ``count`` Gauss points on each interval."""
    base = lower[:-1] + unit * (upper - lower)[:-1]
    line, start, end = lines.intervals(base)
    s, w = gauss(count)
    height = start[:, None] + (end - start)[:, None] * s
    weights = np.prod((upper - lower)[:-1]) / len(unit) * (end - start)[:, None] * w
    return np.column_stack([np.repeat(base[line], count, axis=0), height.ravel()]), weights.ravel()


def column_measure(lines: Lines, lower: Array, upper: Array, n: int) -> float:
    """Return the measure of the region by a rule with about n points in its bounding box."""
    spacing = (upper - lower) / n ** (1.0 / len(lower))
    return float(np.sum(column_rule(lines, lower, upper, spacing)[1]))


def fitted_rule(lines: Lines, lower: Array, upper: Array, n: int, measure: float) -> tuple[Array, Array]:
    """Return a column rule of about n points, as far as its least number of points per column allows."""
    d = len(lower)
    spacing = (upper - lower) * (1.5 * measure / np.prod(upper - lower) / n) ** (
        1.0 / d
    )  # a thin region stays resolved
    before = np.inf
    for _ in range(3):
        x, weights = column_rule(lines, lower, upper, spacing)
        fits = not len(x) or abs(np.log(len(x) / n)) < 0.15
        if fits or (len(x) > n and len(x) > 0.9 * before) or bool(np.all(spacing > upper - lower)):
            break
        before = len(x) if len(x) > n else np.inf
        spacing = spacing * (len(x) / n) ** (1.0 / d)
    return x, weights


def _gauss_pieces(counts: Array) -> tuple[Array, Array, Array]:
    """Return (piece, node, weight) of Gauss rules on [0, 1] with the given numbers of points."""
    pieces, nodes, weights = [np.zeros(0, dtype=int)], [np.zeros(0)], [np.zeros(0)]
    for count in np.unique(counts):
        s, w = gauss(int(count))
        members = np.flatnonzero(counts == count)
        pieces.append(np.repeat(members, count))
        nodes.append(np.tile(s, len(members)))
        weights.append(np.tile(w, len(members)))
    return np.concatenate(pieces), np.concatenate(nodes), np.concatenate(weights)


def _outline(lines: Lines, lower: float, upper: float, steps: int = 65) -> Callable[[Array], Array]:
    """Return a function that classifies slices of a solid by how the number of intervals changes across them."""
    y = lower + (np.arange(steps) + 0.5) / steps * (upper - lower)

    def changes(base: Array) -> Array:
        counts = lines.count(np.column_stack([np.repeat(base, steps, axis=0), np.tile(y, len(base))]))
        table = counts.reshape(len(base), steps)
        return np.where(np.any(table, axis=1), pattern(table) | 1, 0)

    return changes


def _cut(owner: Array, start: Array, end: Array, breaks: Array) -> tuple[Array, Array, Array]:
    """Cut panels at known kinks, unless these are many: then each is weak or the panels would be too narrow."""
    most_breaks = 24  # known kinks of a boundary at which panels are cut
    if not 0 < len(breaks) <= most_breaks or not len(start):
        return owner, start, end
    narrow = 1e-9 * (np.max(end) - np.min(start))
    inner = [breaks[(breaks > a + narrow) & (breaks < b - narrow)] for a, b in zip(start, end, strict=True)]
    owners = np.repeat(owner, [len(cuts) + 1 for cuts in inner])
    starts = np.concatenate([np.concatenate([[a], cuts]) for a, cuts in zip(start, inner, strict=True)])
    ends = np.concatenate([np.concatenate([cuts, [b]]) for b, cuts in zip(end, inner, strict=True)])
    return owners, starts, ends


def _joined(owner: Array, start: Array, end: Array) -> tuple[Array, Array, Array]:
    """Join panels that touch."""
    apart = np.flatnonzero((owner[1:] != owner[:-1]) | (start[1:] - end[:-1] > 1e-9 * (np.max(end) - np.min(start))))
    first, last = np.concatenate([[0], apart + 1]), np.concatenate([apart, [len(owner) - 1]])
    return owner[first], start[first], end[last]


def pattern(states: Array) -> Array:
    """Return a number for the order in which states follow each other along each row, however long they last."""
    found = np.full(len(states), 7, dtype=np.uint64)
    before = np.zeros(len(states), dtype=np.uint64)
    for column in states.T.astype(np.uint64):
        mixed = (found ^ (column + np.uint64(0x9E3779B9))) * np.uint64(0x100000001B3)
        found, before = np.where(column != before, mixed, found), column
    return (found >> np.uint64(2)).astype(np.int64)


def _panels(
    changes: Callable[[Array], Array], prefixes: Array, lower: float, upper: float, steps: int
) -> tuple[Array, Array, Array]:
    """Return (prefix, start, end) of the pieces of an axis on which ``changes`` is constant and not zero."""
    m = len(prefixes)
    x = lower + (np.arange(steps) + 0.5) / steps * (upper - lower)
    base = np.column_stack([np.repeat(prefixes, steps, axis=0), np.tile(x, m)])
    state = changes(base).reshape(m, steps)
    padded = np.pad(state, ((0, 0), (1, 1)))
    ends = np.concatenate([[lower], x, [upper]])
    owner, step = np.nonzero(padded[:, 1:] != padded[:, :-1])
    cuts = _cuts(changes, prefixes, owner, ends[step], ends[step + 1], padded[owner, step], padded[owner, step + 1])
    owner, cut, after = (np.concatenate(column) for column in zip(*cuts, strict=True))
    order = np.lexsort((cut, owner))
    owner, cut, after = owner[order], cut[order], after[order]
    start = np.flatnonzero((owner[1:] == owner[:-1]) & (after[:-1] != 0))
    start = start[cut[start + 1] - cut[start] > 1e-10 * (upper - lower)]
    return owner[start], cut[start], cut[start + 1]


def _cuts(
    changes: Callable[[Array], Array],
    prefixes: Array,
    owner: Array,
    left: Array,
    right: Array,
    before: Array,
    after: Array,
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield (prefix, place, state above it) of all changes between places with the states ``before`` and ``after``.

    Bisection finds the first change; if the state above it is not yet the last one, there are more.
    """
    most_cuts = 4  # changes between neighbouring steps of a scan
    for _ in range(most_cuts):
        low, high = left, right
        for _ in range(BISECTIONS if len(prefixes) == 1 else 36):
            middle = (low + high) / 2.0
            same = changes(np.column_stack([prefixes[owner], middle])) == before
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        above = high + 1e-6 * (right - high)  # where boundaries meet, round-off changes the pattern more than once
        found = np.where(high == right, after, changes(np.column_stack([prefixes[owner], above])))
        yield owner, np.where(before == 0, high, low), found
        more = np.flatnonzero((found != after) & (found != before))
        if not len(more):
            return
        owner, left, right, before, after = owner[more], above[more], right[more], found[more], after[more]
    yield owner, right, after
