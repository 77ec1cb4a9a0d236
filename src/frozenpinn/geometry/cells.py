"""Domains cut into cells for pictures and files: lines, quadrilaterals and hexahedra of boxes, simplices of shapes.

Nothing is computed on these cells. Their vertices lie in the domain, so that a solution has values there; edges cut
across curved boundaries.

Triangles and tetrahedra that fill a domain, for pictures and files: a grid, cut where the boundary crosses it.

Nothing is solved on them. Only membership is asked of the domain, so every domain can be meshed. A simplex that the
boundary crosses is cut at points found by bisection, which lie inside. Corners are cut off by less than one cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from frozenpinn.errors import EvaluationError
from frozenpinn.geometry.box import Box
from frozenpinn.geometry.domain import Domain
from frozenpinn.geometry.points import grid_points

Array = np.ndarray
_CORNERS = {  # of a cell of a grid, in the order of VTK
    1: ((0,), (1,)),
    2: ((0, 0), (1, 0), (1, 1), (0, 1)),
    3: ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)),
}
_CELLS = 140


# ---- simplices that fill a domain -----------------------------------------------------------------


class Mesh(NamedTuple):
    """Points (n, d), simplices (k, d + 1) as rows of indices, and the faces (s, d) of the boundary."""

    points: Array
    simplices: Array
    boundary: Array


def fill(inside: Callable[[Array], Array], lower: Array, upper: Array, cells: int) -> Mesh:
    """Fill the part of a box where ``inside`` holds with simplices, in two or three dimensions.

    Parameters
    ----------
    inside
        Takes points (n, d) and returns which of them belong to the region.
    lower, upper
        Corners of the box.
    cells
        How many cells the longest edge of the box is divided into.

    Examples
    --------
    >>> disk = fill(lambda x: np.sum(x**2, axis=1) <= 1, np.array([-1.0, -1.0]), np.array([1.0, 1.0]), 40)
    >>> a, b, c = disk.points[disk.simplices].transpose(1, 2, 0)
    >>> area = np.abs((b - a)[0] * (c - a)[1] - (b - a)[1] * (c - a)[0]).sum() / 2
    >>> bool(abs(area - np.pi) < 0.01)
    True
    """
    lengths = np.asarray(upper, dtype=float) - lower
    counts = [max(2, round(cells * edge)) for edge in lengths / np.max(lengths)]
    nodes = grid_points([np.linspace(a, b, n + 1) for a, b, n in zip(lower, upper, counts, strict=True)])
    flags = np.asarray(inside(nodes), dtype=bool)
    simplices = _of_grid(counts)
    kept = np.sum(flags[simplices], axis=1)
    whole = simplices[kept == simplices.shape[1]]
    points, cut = _cut(inside, nodes, flags, simplices[(kept > 0) & (kept < simplices.shape[1])])
    every = np.concatenate([whole, cut])
    used, numbers = np.unique(every, return_inverse=True)
    every = numbers.reshape(every.shape)
    return Mesh(points[used], every, _outer_faces(every))


def _of_grid(counts: Sequence[int]) -> Array:
    """Return the simplices of a grid: each cell along all monotone ways from one corner to the opposite one."""
    strides = np.cumprod([1, *(n + 1 for n in counts[:0:-1])])[::-1]
    first = grid_points([np.arange(n, dtype=float) for n in counts]).astype(int) @ strides
    ways = [np.cumsum([0, *(strides[axis] for axis in order)]) for order in permutations(range(len(counts)))]
    return np.concatenate([first[:, None] + way for way in ways])


def _cut(inside: Callable[[Array], Array], nodes: Array, flags: Array, crossed: Array) -> tuple[Array, Array]:
    """Return all points, those on cut edges after the nodes, and the parts of crossed simplices that are inside."""
    halvings = 30  # of a crossed edge
    if not len(crossed):
        return nodes, crossed
    size = crossed.shape[1]
    crossed = np.sort(crossed, axis=1)
    inner_first = np.argsort(~flags[crossed], axis=1, kind="stable")
    crossed = np.take_along_axis(crossed, inner_first, axis=1)
    kept = np.sum(flags[crossed], axis=1)
    edges = np.concatenate([crossed[kept > i][:, [i, o]] for i in range(size - 1) for o in range(i + 1, size)])
    edges = np.unique(edges[flags[edges[:, 0]] & ~flags[edges[:, 1]]], axis=0)
    inner, outer = nodes[edges[:, 0]], nodes[edges[:, 1]]
    for _ in range(halvings):
        middle = (inner + outer) / 2.0
        within = np.asarray(inside(middle), dtype=bool)[:, None]
        inner, outer = np.where(within, middle, inner), np.where(within, outer, middle)
    numbers = edges[:, 0] * len(nodes) + edges[:, 1]  # sorted, as edges are

    def on(i: Array, o: Array) -> Array:
        return len(nodes) + np.searchsorted(numbers, i * len(nodes) + o)

    parts = []
    for count in range(1, size):
        rows = crossed[kept == count]
        own, rest = rows[:, :count].T, rows[:, count:].T
        if count == 1:
            parts.append(np.stack([own[0], *(on(own[0], o) for o in rest)], axis=1))
        else:  # a prism: what belongs to the inner vertices, each with its cuts where several are outside
            parts += _prism(own, rest, on)
    return np.concatenate([nodes, inner]), np.concatenate(parts)


def _prism(own: Array, rest: Array, on: Callable[[Array, Array], Array]) -> list[Array]:
    """Divide prisms so that neighbours agree: diagonals go from a lower inner vertex to a cut of a higher one."""
    if len(rest) == 1:
        top, bottom = list(own), [on(i, rest[0]) for i in own]
    else:
        top, bottom = ([i, *(on(i, o) for o in rest)] for i in own)
    return [np.stack([*top[: k + 1], *bottom[k:]], axis=1) for k in range(len(top))]


def _outer_faces(simplices: Array) -> Array:
    """Return the faces that belong to one simplex alone."""
    size = simplices.shape[1]
    faces = np.concatenate([np.delete(simplices, k, axis=1) for k in range(size)])
    _, first, counts = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[first[counts == 1]]


# ---- cells of a domain ----------------------------------------------------------------------------


class Cells(NamedTuple):
    """Vertices (n, d) and cells (m, k), rows of indices of vertices.

    ``kind`` is ``"line"``, ``"quad"``, ``"hexahedron"``, ``"triangle"`` or ``"tetra"``, as meshio calls them.
    """

    points: Array
    cells: Array
    kind: str


def cells_of(domain: Domain, points: int) -> Cells:
    """Cut a domain of up to three dimensions into cells, about ``points`` along its longest edge."""
    if domain.dimension > 3:
        raise EvaluationError(
            f"cells have at most three dimensions, the domain has {domain.dimension}; evaluate the solution on a slice."
        )
    spacing = domain.size / max(points - 1, 1)
    if isinstance(domain, Box):
        counts = [max(2, round(length / spacing) + 1) for length in domain.lengths]
        return grid_cells([np.linspace(a, b, n) for a, b, n in zip(domain.lower, domain.upper, counts, strict=True)])
    return _simplices(domain, points)


def grid_cells(axes: Sequence[Array]) -> Cells:
    """Return the cells of a grid."""
    d, shape = len(axes), [len(a) for a in axes]
    index = np.arange(int(np.prod(shape))).reshape(shape)
    corners = [index[tuple(slice(c, n - 1 + c) for c, n in zip(corner, shape, strict=True))] for corner in _CORNERS[d]]
    kind = ("line", "quad", "hexahedron")[d - 1]
    return Cells(grid_points(axes), np.stack([c.ravel() for c in corners], axis=1), kind)


def _simplices(domain: Domain, points: int) -> Cells:
    """Return a grid cut where the boundary crosses it, with vertices at the corners that the domain knows."""
    flat = 1e-6  # of the largest volume: smaller simplices are left out
    x, simplices, boundary = fill(domain.contains, domain.lower, domain.upper, max(points - 1, 2))
    x = _with_corners(x, simplices, np.unique(boundary), domain)
    volumes = _volumes(x, simplices)
    turned = np.where(volumes[:, None] < 0, simplices[:, [1, 0, *range(2, domain.dimension + 1)]], simplices)
    kept = turned[np.abs(volumes) > flat * np.max(np.abs(volumes))]
    used, cells = np.unique(kept, return_inverse=True)
    return Cells(x[used], cells.reshape(kept.shape), ("triangle", "tetra")[domain.dimension - 2])


def _with_corners(x: Array, simplices: Array, boundary: Array, domain: Domain) -> Array:
    """Move the vertex of the boundary that is nearest to each corner to it, unless that turns a simplex over."""
    corners = np.asarray(domain._corners(), dtype=float).reshape(-1, domain.dimension)
    corners = corners[domain.contains(corners)] if len(corners) else corners
    for corner in corners:
        nearest = boundary[np.argmin(np.sum((x[boundary] - corner) ** 2, axis=1))]
        moved = x.copy()
        moved[nearest] = corner
        touched = simplices[np.any(simplices == nearest, axis=1)]
        if np.all(_volumes(moved, touched) * np.sign(_volumes(x, touched)) >= 0):
            x = moved
    return x


def _volumes(x: Array, simplices: Array) -> Array:
    """Return the signed volumes of simplices, times the factorial of the dimension."""
    vertices = x[simplices]
    return np.asarray(np.linalg.det(vertices[:, 1:] - vertices[:, :1]))


# ---- outlines -------------------------------------------------------------------------------------


def loops(domain: Domain, cells: int = _CELLS) -> list[Array]:
    """Return the boundary of a plane domain as polygons, holes among them; a box has one."""
    if isinstance(domain, Box):
        (a, c), (b, d) = domain.lower[:2], domain.upper[:2]
        return [np.array([[a, c], [b, c], [b, d], [a, d]])]
    mesh = fill(domain.contains, domain.lower, domain.upper, cells)
    following: dict[int, list[int]] = {}
    for i, j in mesh.boundary.tolist():
        following.setdefault(i, []).append(j)
        following.setdefault(j, []).append(i)
    found, left = [], set(following)
    while left:
        here = first = min(left)
        loop, previous = [], -1
        while here in left:
            left.discard(here)
            loop.append(here)
            ahead = [k for k in following[here] if k != previous and (k in left or k == first)]
            previous, here = here, ahead[0] if ahead else first
        found.append(mesh.points[loop])
    return [_straightened(loop) for loop in found if len(loop) > 2]


def _straightened(loop: Array) -> Array:
    """Return a polygon without points between which it goes straight on."""
    before, after = loop - np.roll(loop, 1, axis=0), np.roll(loop, -1, axis=0) - loop
    turn = np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0])
    bent = turn > 1e-6 * np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    return loop[bent] if np.sum(bent) > 2 else loop
