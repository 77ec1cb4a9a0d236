"""Closed surfaces of flat facets (edges in 2-d, triangles in 3-d): what lies inside, above and near them.

A vertical line through a point crosses a closed surface below and above it; an odd number of crossings above means
inside. Facets are sorted into bins of the first d − 1 coordinates, so a line meets only a few of them. A line
through an edge or corner is treated as if it were moved by an infinitesimal (ε², −ε), so that it crosses the facets
that meet there an odd or even number of times, as it should. With edges that all point towards larger x, then larger
y, this means that a point on an edge belongs to its right.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from frozenpinn.runtime.memo import remembered

Array = np.ndarray
CHUNK = 200_000


class Facets:
    """A closed surface in two or three dimensions, given by the corners (f, d, d) of its facets."""

    def __init__(self, corners: Array) -> None:
        self.dimension = corners.shape[2]
        # ordered corners make shared edges bitwise equal in both facets
        keys = tuple(corners[:, :, axis] for axis in range(self.dimension - 1, -1, -1))
        order = np.lexsort(keys, axis=1)
        self.corners = np.take_along_axis(corners, order[:, :, None], axis=1)
        self.lower, self.upper = np.min(corners, axis=1), np.max(corners, axis=1)

    @cached_property
    def _edges(self) -> list[tuple[Array, Array]]:
        """For each edge of the projected triangles: start and direction, always towards larger x, then larger y."""
        found = []
        for i, j in ((0, 1), (1, 2), (0, 2)):
            start = self.corners[:, i, :2]
            found.append((start, self.corners[:, j, :2] - start))
        return found

    @cached_property
    def _slopes(self) -> Array:
        """Slopes of the planes of triangles; zero for vertical ones, which no line crosses."""
        a, b, c = self.corners.transpose(1, 0, 2)
        normal = np.cross(b - a, c - a)
        steep = np.abs(normal[:, 2]) <= 1e-14 * np.linalg.norm(normal, axis=1)
        return np.asarray(-normal[:, :2] / np.where(steep, np.inf, normal[:, 2])[:, None])

    @property
    def crowd(self) -> float:
        """How many facets are tested for a line, on average."""
        _, _, _, starts, members = self._sorted_into_bins(0.0)
        return len(members) / (len(starts) - 1)

    @remembered
    def _sorted_into_bins(self, pad: float) -> tuple[Array, Array, Array, Array, Array]:
        """Return origin, bin width, number of bins per axis, and the facets of each bin as (starts, members)."""
        k, f = self.dimension - 1, len(self.corners)
        lower, upper = self.lower[:, :k] - pad, self.upper[:, :k] + pad
        origin, extent = np.min(lower, axis=0), np.ptp(np.concatenate([lower, upper]), axis=0)
        bins = 2 * f if k == 1 else int(2 * f**0.5) + 1
        while True:
            shape = np.full(k, max(bins, 1))
            width = extent / shape
            first = np.clip(((lower - origin) / width).astype(np.int64), 0, shape - 1)
            last = np.clip(((upper - origin) / width).astype(np.int64), 0, shape - 1)
            spans = last - first + 1
            covered = np.prod(spans, axis=1)
            if bins <= 1 or np.sum(covered) <= 30 * f + 100_000:
                break
            bins //= 2
        facet = np.repeat(np.arange(f), covered)
        within = np.arange(len(facet)) - np.repeat(np.cumsum(covered) - covered, covered)
        if k == 1:
            key = first[facet, 0] + within
        else:
            key = (first[facet, 0] + within // spans[facet, 1]) * shape[1] + first[facet, 1] + within % spans[facet, 1]
        order = np.argsort(key, kind="stable")
        starts = np.searchsorted(key[order], np.arange(int(np.prod(shape)) + 1))
        return origin, width, shape, starts, facet[order]

    def _candidates(self, base: Array, pad: float = 0.0) -> tuple[Array, Array]:
        """Return pairs (number of the point, facet in the bin of its first d − 1 coordinates)."""
        origin, width, shape, starts, members = self._sorted_into_bins(pad)
        cell = np.clip(((base - origin) / width).astype(np.int64), 0, shape - 1)
        key = cell[:, 0] if self.dimension == 2 else cell[:, 0] * shape[1] + cell[:, 1]
        counts = starts[key + 1] - starts[key]
        point = np.repeat(np.arange(len(base)), counts)
        within = np.arange(len(point)) - np.repeat(np.cumsum(counts) - counts, counts)
        return point, members[starts[key][point] + within]

    def _crossed(self, base: Array) -> tuple[Array, Array, Array]:
        """Return (point, facet, height) of every crossing of the vertical lines through points of the base."""
        point, facet = self._candidates(base)
        if self.dimension == 2:
            x = base[point, 0]
            hit = (self.lower[facet, 0] <= x) & (x < self.upper[facet, 0])
        else:
            p = base[point]
            signs = []
            for start, along in self._edges:
                side = along[facet, 0] * (p[:, 1] - start[facet, 1]) - along[facet, 1] * (p[:, 0] - start[facet, 0])
                signs.append(side > 0.0)
            hit = (signs[0] == signs[1]) & (signs[0] != signs[2])
        point, facet = point[hit], facet[hit]
        start = self.corners[facet, 0]
        if self.dimension == 2:
            along = self.corners[facet, 1] - start
            height = start[:, 1] + (base[point, 0] - start[:, 0]) * (along[:, 1] / along[:, 0])
        else:
            height = start[:, 2] + np.sum((base[point] - start[:, :2]) * self._slopes[facet], axis=1)
        return point, facet, np.clip(height, self.lower[facet, -1], self.upper[facet, -1])

    def inside(self, x: Array) -> Array:
        """Return for each point whether it lies inside the surface."""
        found = np.zeros(len(x), dtype=bool)
        within = np.flatnonzero(np.all((x >= np.min(self.lower, axis=0)) & (x <= np.max(self.upper, axis=0)), axis=1))
        for start in range(0, len(within), CHUNK):
            rows = within[start : start + CHUNK]
            point, _, height = self._crossed(x[rows, :-1])
            above = point[height > x[rows, -1][point]]
            found[rows] = np.bincount(above, minlength=len(rows)) % 2 == 1
        return found

    def near(self, x: Array, margin: float) -> Array:
        """Return for each point whether it is at most ``margin`` away from the surface."""
        found = np.zeros(len(x), dtype=bool)
        low, high = np.min(self.lower, axis=0) - margin, np.max(self.upper, axis=0) + margin
        within = np.flatnonzero(np.all((x >= low) & (x <= high), axis=1))
        for start in range(0, len(within), CHUNK):
            rows = within[start : start + CHUNK]
            point, facet = self._candidates(x[rows, :-1], margin)
            p = x[rows]
            for axis in range(self.dimension - 1, -1, -1):
                c = p[point, axis]
                close = (c >= self.lower[facet, axis] - margin) & (c <= self.upper[facet, axis] + margin)
                point, facet = point[close], facet[close]
            distance = distances(p[point], self.corners[facet])
            found[rows[point[distance <= margin]]] = True
        return found

    def contains(self, x: Array, margin: float) -> Array:
        """Return what lies inside or at most ``margin`` outside; a negative margin asks for points deep inside."""
        inside = self.inside(x)
        if margin == 0.0:
            return inside
        rows = np.flatnonzero(~inside if margin > 0 else inside)
        inside[rows] = self.near(x[rows], abs(margin)) == (margin > 0)
        return inside

    def crossings(self, base: Array) -> tuple[Array, Array]:
        """Return (line, height) of every crossing of vertical lines."""
        lines, heights = [np.zeros(0, dtype=int)], [np.zeros(0)]
        for start in range(0, len(base), CHUNK):
            line, _, height = self._crossed(base[start : start + CHUNK])
            lines.append(line + start)
            heights.append(height)
        return np.concatenate(lines), np.concatenate(heights)

    def count(self, base: Array) -> Array:
        """Return the number of intervals in which each vertical line is inside."""
        return np.bincount(self.crossings(base)[0], minlength=len(base)) // 2

    def intervals(self, base: Array) -> tuple[Array, Array, Array]:
        """Return (line, start, end) of every interval in which a vertical line is inside."""
        line, height = self.crossings(base)
        order = np.lexsort((height, line))
        line, height = line[order], height[order]
        counts = np.bincount(line, minlength=len(base))
        rank = np.arange(len(line)) - np.repeat(np.cumsum(counts) - counts, counts)
        starts = np.flatnonzero((rank % 2 == 0) & (rank + 1 < counts[line]))
        return line[starts], height[starts], height[starts + 1]


def distances(x: Array, corners: Array) -> Array:
    """Return the distance of each point to its own segment or triangle, corners (n, 2 or 3, d)."""
    if corners.shape[1] == 2:
        return _to_segment(x, corners[:, 0], corners[:, 1])
    a, b, c = corners.transpose(1, 0, 2)
    found = np.minimum(np.minimum(_to_segment(x, a, b), _to_segment(x, b, c)), _to_segment(x, a, c))
    normal = np.cross(b - a, c - a)
    squared = np.sum(normal**2, axis=1)
    safe = np.where(squared > 0, squared, 1.0)
    v = np.sum(np.cross(x - a, c - a) * normal, axis=1) / safe
    w = np.sum(np.cross(b - a, x - a) * normal, axis=1) / safe
    over = (squared > 0) & (v >= 0) & (w >= 0) & (v + w <= 1)
    height = np.abs(np.sum((x - a) * normal, axis=1)) / np.sqrt(safe)
    return np.where(over, height, found)


def _to_segment(x: Array, a: Array, b: Array) -> Array:
    along = b - a
    squared = np.sum(along**2, axis=1)
    s = np.sum((x - a) * along, axis=1) / np.where(squared > 0, squared, 1.0)
    return np.asarray(np.linalg.norm(x - a - np.clip(s, 0.0, 1.0)[:, None] * along, axis=1))
