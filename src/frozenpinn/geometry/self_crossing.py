"""Where a triangulated surface crosses itself."""

from __future__ import annotations

import numpy as np

Array = np.ndarray
CELLS_PER_FACE = 20  # on average at most, in the grid that finds neighbours
TOUCHING = 1e-9  # depth of a crossing that counts, as a share of the edges
CHUNK = 500_000


def crossing_faces(points: Array, faces: Array) -> Array:
    """Return pairs of faces (n, 2) of which an edge of one passes through the other; those that touch don't count."""
    corners = points[faces]
    first, second = _neighbours(corners)
    found = [np.empty((0, 2), dtype=int)]
    for start in range(0, len(first), CHUNK):
        a, b = first[start : start + CHUNK], second[start : start + CHUNK]
        crossed = np.zeros(len(a), dtype=bool)
        for one, other in ((a, b), (b, a)):
            for i in range(3):
                crossed |= _passes(corners[one, i], corners[one, (i + 1) % 3], corners[other])
        found.append(np.column_stack([a[crossed], b[crossed]]))
    return np.concatenate(found)


def _neighbours(corners: Array) -> tuple[Array, Array]:
    """Return pairs of faces whose bounding boxes overlap, each pair once, by a grid of cells."""
    lower, upper = np.min(corners, axis=1), np.max(corners, axis=1)
    origin, extent = np.min(lower, axis=0), np.ptp(np.concatenate([lower, upper]), axis=0)
    count = len(corners)
    bins = int(2 * count**0.5) + 1
    while True:
        width = np.max(extent) / bins
        low, high = ((side - origin) // width for side in (lower, upper))
        low, spans = low.astype(np.int64), (high - low).astype(np.int64) + 1
        covered = np.prod(spans, axis=1)
        if bins == 1 or np.sum(covered) <= CELLS_PER_FACE * count:
            break
        bins = (bins + 1) // 2
    face = np.repeat(np.arange(count), covered)
    within = np.arange(len(face)) - np.repeat(np.cumsum(covered) - covered, covered)
    span = spans[face]
    offset = np.column_stack(
        [within // (span[:, 1] * span[:, 2]), within // span[:, 2] % span[:, 1], within % span[:, 2]]
    )
    key = (low[face] + offset) @ np.array([(bins + 1) ** 2, bins + 1, 1])
    order = np.argsort(key, kind="stable")
    key, face = key[order], face[order]
    pairs = [np.empty(0, dtype=np.int64)]
    for shift in range(1, len(face)):  # pairs in the same cell, by their distance in the list
        same = np.flatnonzero(key[shift:] == key[:-shift])
        if not len(same):
            break
        a, b = face[same], face[same + shift]
        overlap = np.all((lower[a] <= upper[b]) & (lower[b] <= upper[a]), axis=1)
        pairs.append(np.unique(np.minimum(a, b)[overlap] * count + np.maximum(a, b)[overlap]))
    found = np.unique(np.concatenate(pairs))
    return found // count, found % count


def _passes(start: Array, end: Array, triangle: Array) -> Array:
    """Tell for each segment whether it passes through its triangle, not only up to it."""
    a, b, c = triangle.transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    size = np.sqrt(np.linalg.norm(normal, axis=1)) + np.linalg.norm(end - start, axis=1)
    least = TOUCHING * size * np.linalg.norm(normal, axis=1)
    before, after = np.sum((start - a) * normal, axis=1), np.sum((end - a) * normal, axis=1)
    through = (np.minimum(before, after) < -least) & (np.maximum(before, after) > least)
    found = np.zeros(len(start), dtype=bool)
    rows = np.flatnonzero(through)
    share = before[rows] / (before[rows] - after[rows])
    x = start[rows] + share[:, None] * (end - start)[rows]
    inside = np.ones(len(rows), dtype=bool)
    for p, q in ((a, b), (b, c), (c, a)):
        side = np.sum(np.cross(q[rows] - p[rows], x - p[rows]) * normal[rows], axis=1)
        inside &= side > TOUCHING * np.sum(normal[rows] ** 2, axis=1)
    found[rows] = inside
    return found
