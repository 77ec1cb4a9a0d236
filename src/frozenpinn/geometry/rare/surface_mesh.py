"""Solids inside closed triangulated surfaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError, warn
from frozenpinn.geometry.array_arguments import frozen, numbers, place
from frozenpinn.geometry.points import Side, check_sides, member_rows
from frozenpinn.geometry.rare.facets import Facets
from frozenpinn.geometry.rare.simplicial import Faceted, indices

Array = np.ndarray
NO_VOLUME = "the surface encloses no volume; its faces lie in a plane or cancel each other."


class SurfaceMesh(Faceted):
    """The inside of a closed triangulated surface in three dimensions; cavities are surfaces inside others.

    Parameters
    ----------
    vertices
        Coordinates, shape (v, 3). Vertices at the same place are merged.
    faces
        Rows of three vertex numbers. Their orientation is made consistent and outward.
    sides
        Names with the numbers of their faces; the others belong to ``boundary``.
    crossing
        Whether the surface may cross itself without a warning.

    Attributes
    ----------
    repairs
        What was mended, as sentences: vertices merged, faces turned or left out.
    crosses
        Whether faces pass through each other. Then what an odd number of sheets encloses is inside, normals point out
        of that, and volumes are good to about three digits.

    Notes
    -----
    Each edge must belong to exactly two faces.

    Examples
    --------
    >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> SurfaceMesh(corners, [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]])
    SurfaceMesh(4 vertices, 4 faces, volume 0.166667)
    """

    def __init__(
        self, vertices: Any, faces: Any, sides: Mapping[str, Any] | None = None, crossing: bool = False
    ) -> None:
        points = numbers(vertices, 3, "the vertices of a surface")
        table = indices(faces, 3, len(points), "the faces of a surface")
        names, side_of_facet = _named_faces(check_sides(sides, "faces"), len(table))
        given = len(np.unique(table))
        points, table = merged(points, table)
        whole = (table[:, 0] != table[:, 1]) & (table[:, 1] != table[:, 2]) & (table[:, 0] != table[:, 2])
        table, side_of_facet = table[whole], side_of_facet[whole]  # merging may leave faces of two corners
        if not len(table) or not np.all(np.ptp(points, axis=0) > 0):
            raise ProblemError(NO_VOLUME)
        _check_closed(points, table)
        before, table = table, _oriented(points, table)
        turned = int(np.sum(np.any(before != table, axis=1)))
        self.repairs = _repairs(given - len(points), int(np.sum(~whole)), turned)
        pairs = crossing_faces(points, table)
        if len(pairs):
            self.crosses = True
            if not crossing:
                _warn_of_crossings(points, table, pairs)
        corners = points[table]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        self._boundary(points, table, normals / np.where(lengths > 0, lengths, 1.0), names, side_of_facet)
        if not self.measure > 1e-12 * float(np.prod(np.maximum(self.lengths, 1e-300))):
            raise ProblemError(NO_VOLUME)

    def __repr__(self) -> str:
        return f"SurfaceMesh({len(self.vertices)} vertices, {len(self.facets)} faces, volume {self.measure:g})"


def _repairs(merged_vertices: int, dropped: int, turned: int) -> tuple[str, ...]:
    """Return what was mended, in sentences."""
    found = []
    if merged_vertices:
        found.append(f"{merged_vertices} vertices were merged with others at the same place.")
    if dropped:
        found.append(f"{dropped} faces were left out: two of their corners are at the same place.")
    if turned:
        found.append(f"{turned} faces were turned, so that all normals point outward.")
    return tuple(found)


def _warn_of_crossings(points: Array, faces: Array, pairs: Array) -> None:
    where = np.mean(points[faces[pairs[0]]], axis=(0, 1))
    warn(
        f"the surface crosses itself: {len(pairs)} pairs of faces do, the first near {place(where)}. What an odd "
        "number of sheets encloses is taken as inside, so parts that overlap leave a hole there. If they are "
        "meant as one solid, join them in the program that made them; crossing=True accepts the surface as it is."
    )


def merged(points: Array, cells: Array) -> tuple[Array, Array]:
    """Merge vertices that are closer than 1e-10 of the size, and drop those that no cell uses."""
    scale = float(np.max(np.ptp(points, axis=0))) or 1.0
    _, first, inverse = np.unique(
        np.round((points - points[0]) / (1e-10 * scale)), axis=0, return_index=True, return_inverse=True
    )
    order = np.argsort(first)  # keep the order of vertices
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    cells = rank[np.ravel(inverse)][cells]
    used, compact = np.unique(cells, return_inverse=True)
    return points[first[order]][used], np.reshape(compact, cells.shape)


def _named_faces(sides: Mapping[str, Any], count: int) -> tuple[list[Side], Array]:
    side_of_facet = np.full(count, -1)
    found: list[Side] = []
    for name, members in sides.items():
        rows = member_rows(members, name, "faces")
        if np.min(rows) < 0 or np.max(rows) >= count:
            raise ProblemError(
                f"the side '{name}' names face {np.max(np.abs(rows))}; faces are numbered 0 to {count - 1}."
            )
        side_of_facet[rows] = len(found)
        found.append(Side(str(name)))
    if np.any(side_of_facet < 0):
        side_of_facet[side_of_facet < 0] = len(found)
        found.append(Side("boundary"))
    return found, side_of_facet


def _edges(faces: Array) -> tuple[Array, Array]:
    """Return the directed edges (3f, 2) of faces and the face of each."""
    return np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), np.tile(np.arange(len(faces)), 3)


def _check_closed(points: Array, faces: Array) -> None:
    edges, _ = _edges(faces)
    ordered = np.sort(edges, axis=1)
    key = ordered[:, 0] * len(points) + ordered[:, 1]
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    bad = np.flatnonzero(times != 2)
    if len(bad):
        a, b = points[edges[first[bad[0]]]]
        raise ProblemError(
            f"the surface is not closed: {len(bad)} edges don't belong to two faces; the first, from {place(a)} to "
            f"{place(b)}, belongs to {times[bad[0]]}. Close the surface in the program that made it."
        )


def _oriented(points: Array, faces: Array) -> Array:
    """Turn faces so that neighbours agree, then whole components so that their normals point out of the solid."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    edges, owner = _edges(faces)
    ordered = np.sort(edges, axis=1)
    order = np.argsort(ordered[:, 0] * len(points) + ordered[:, 1], kind="stable")
    first, second = order[0::2], order[1::2]  # the two faces of each edge
    left, right = owner[first], owner[second]
    same_way = edges[first, 0] == edges[second, 0]  # then one of both must be turned
    f = len(faces)
    graph = coo_array((np.ones(len(left)), (left, right)), shape=(f, f)).tocsr()
    count, component = connected_components(graph, directed=False)
    flip = np.zeros(f, dtype=bool)
    if np.any(same_way):
        ways = coo_array(
            (
                np.where(same_way, 2.0, 1.0).repeat(2),
                (np.column_stack([left, right]).ravel(), np.column_stack([right, left]).ravel()),
            ),
            shape=(f, f),
        ).tocsr()
        for k in range(count):
            start = int(np.argmax(component == k))
            visited, parent = breadth_first_order(graph, start, directed=False)
            before, after = parent[visited[1:]], visited[1:]
            turns = np.asarray(ways[before, after]).ravel() == 2.0
            for first_face, face, turn in zip(before.tolist(), after.tolist(), turns.tolist(), strict=True):
                flip[face] = flip[first_face] ^ turn
        if np.any(flip[left] ^ flip[right] ^ same_way):
            raise ProblemError("the surface can't be oriented: it has one side only, like a Möbius strip.")
    faces = np.where(flip[:, None], faces[:, ::-1], faces)
    corners = points[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    surface = Facets(corners)
    size = float(np.max(np.ptp(points, axis=0)))
    for k in range(count):
        largest = int(np.argmax(np.where(component == k, np.sum(normals**2, axis=1), -1.0)))
        normal = normals[largest] / np.linalg.norm(normals[largest])
        probe = np.mean(corners[largest], axis=0) + 1e-7 * size * normal
        if surface.inside(probe[None])[0]:
            faces[component == k] = faces[component == k][:, ::-1]
    return frozen(faces, int)


# ---- where the surface crosses itself -------------------------------------------------------------


def crossing_faces(points: Array, faces: Array) -> Array:
    """Return pairs of faces (n, 2) of which an edge of one passes through the other; those that touch don't count."""
    chunk = 500_000
    corners = points[faces]
    first, second = _neighbours(corners)
    found = [np.empty((0, 2), dtype=int)]
    for start in range(0, len(first), chunk):
        a, b = first[start : start + chunk], second[start : start + chunk]
        crossed = np.zeros(len(a), dtype=bool)
        for one, other in ((a, b), (b, a)):
            for i in range(3):
                crossed |= _passes(corners[one, i], corners[one, (i + 1) % 3], corners[other])
        found.append(np.column_stack([a[crossed], b[crossed]]))
    return np.concatenate(found)


def _neighbours(corners: Array) -> tuple[Array, Array]:
    """Return pairs of faces whose bounding boxes overlap, each pair once, by a grid of cells."""
    cells_per_face = 20  # on average at most, in the grid that finds neighbours
    lower, upper = np.min(corners, axis=1), np.max(corners, axis=1)
    origin, extent = np.min(lower, axis=0), np.ptp(np.concatenate([lower, upper]), axis=0)
    count = len(corners)
    bins = int(2 * count**0.5) + 1
    while True:
        width = np.max(extent) / bins
        low, high = ((side - origin) // width for side in (lower, upper))
        low, spans = low.astype(np.int64), (high - low).astype(np.int64) + 1
        covered = np.prod(spans, axis=1)
        if bins == 1 or np.sum(covered) <= cells_per_face * count:
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
    """Return for each segment whether it passes through its triangle, not only up to it."""
    touching = 1e-9  # depth of a crossing that counts, as a share of the edges
    a, b, c = triangle.transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    size = np.sqrt(np.linalg.norm(normal, axis=1)) + np.linalg.norm(end - start, axis=1)
    least = touching * size * np.linalg.norm(normal, axis=1)
    before, after = np.sum((start - a) * normal, axis=1), np.sum((end - a) * normal, axis=1)
    through = (np.minimum(before, after) < -least) & (np.maximum(before, after) > least)
    found = np.zeros(len(start), dtype=bool)
    rows = np.flatnonzero(through)
    share = before[rows] / (before[rows] - after[rows])
    x = start[rows] + share[:, None] * (end - start)[rows]
    inside = np.ones(len(rows), dtype=bool)
    for p, q in ((a, b), (b, c), (c, a)):
        side = np.sum(np.cross(q[rows] - p[rows], x - p[rows]) * normal[rows], axis=1)
        inside &= side > touching * np.sum(normal[rows] ** 2, axis=1)
    found[rows] = inside
    return found
