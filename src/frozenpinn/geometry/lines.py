"""Lines along the last axis: where they are inside a region, from inside tests or from crossings of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np

Array = np.ndarray
CHUNK = 2_000_000
BISECTIONS = 44


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
        steps = len(self._heights)
        per_chunk = max(1, CHUNK // steps)
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
        Tells from rows of booleans, one per part, what is inside.
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
