"""Triangles on the zero level of a function in three dimensions, from its signs on a grid (marching tetrahedra).

Each cube of the grid is cut into six tetrahedra along its main diagonal, in the same way in every cube, so that the
triangles of neighbours fit together. A tetrahedron with one corner on the other side of the surface holds a triangle,
one with two holds two.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np

from frozenpinn.geometry.points import grid_points

Array = np.ndarray
OFFSETS = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)])  # corners of a cube
TETRAHEDRA = np.array(
    [[0, *np.cumsum([4 >> axis for axis in order])] for order in permutations(range(3))]
)  # from corner 0 to corner 7, one axis after the other
HIDDEN = 0.05  # share of crossed edges of a coarse grid that a finer one may cross more than once


def sign_table(
    function: Callable[[Array], Array], lower: Array, upper: Array, steps: Array
) -> tuple[Array, list[Array]]:
    """Return what is inside (negative) on a grid with the given numbers of cells, and the nodes of its axes."""
    axes = [np.linspace(a, b, int(m) + 1) for a, b, m in zip(lower, upper, steps, strict=True)]
    x = grid_points(axes)
    return np.reshape(function(x) < 0, [len(axis) for axis in axes]), axes


def shown(inside: Array, stride: int) -> bool:
    """Tell whether every ``stride``-th node of a grid shows what all of its nodes show.

    Edges of the coarse grid on which the sign changes more than once are few (a smooth surface touches some), and no
    node is far from the surface of the coarse grid and on its other side.
    """
    crossed, twice = 0, 0
    for axis in range(3):
        lines = np.moveaxis(inside[tuple(slice(None, None, 1 if a == axis else stride) for a in range(3))], axis, 0)
        changes = lines[1:] != lines[:-1]
        per_edge = np.sum(changes.reshape(-1, stride, *changes.shape[1:]), axis=1)
        crossed, twice = crossed + int(np.sum(per_edge > 0)), twice + int(np.sum(per_edge > 1))
    if twice > HIDDEN * crossed:
        return False
    corners = _corners(inside[::stride, ::stride, ::stride])
    alone = ~_widened(np.any(corners != corners[:1], axis=0))
    cubes = inside[:-1, :-1, :-1].reshape(*(n for cells in alone.shape for n in (cells, stride)))
    sums = np.sum(cubes, axis=(1, 3, 5), dtype=np.int64)
    return not np.any(alone & (sums > 0) & (sums < stride**3))


def _widened(cubes: Array) -> Array:
    """Add the neighbours of marked cubes, along axes and diagonals."""
    for axis in range(3):
        moved = np.moveaxis(np.pad(cubes, [(1, 1) if a == axis else (0, 0) for a in range(3)]), axis, 0)
        cubes = np.moveaxis(moved[:-2] | moved[1:-1] | moved[2:], 0, axis)
    return cubes


def _corners(table: Array) -> Array:
    """Return the values at the eight corners of each cube, shape (8, …)."""
    cells = [size - 1 for size in table.shape]
    return np.stack([table[tuple(slice(o, o + c) for o, c in zip(offset, cells, strict=True))] for offset in OFFSETS])


def crossed_edges(inside: Array) -> tuple[Array, Array, Array]:
    """Return the crossed edges as pairs of nodes (inside, outside), and triangles as rows of edge numbers.

    Nodes are numbered in C order. Triangles are ordered along the cubes.

    Returns
    -------
    inner, outer, faces
        Node inside and node outside of each edge; rows of three edges, in any orientation.
    """
    corners = _corners(inside)
    cubes = np.argwhere(np.any(corners != corners[:1], axis=0))
    shape = np.array(inside.shape)
    strides = np.array([shape[1] * shape[2], shape[2], 1])
    nodes = (cubes @ strides)[:, None] + OFFSETS @ strides
    cells = nodes[:, TETRAHEDRA].reshape(-1, 4)
    signs = inside.ravel()[cells]
    count = np.sum(signs, axis=1)
    mixed = np.flatnonzero((count > 0) & (count < 4))
    order = np.argsort(~signs[mixed], axis=1, kind="stable")  # inside corners first
    cells, count = np.take_along_axis(cells[mixed], order, axis=1), count[mixed]
    patterns = {
        1: [[(0, 1), (0, 2), (0, 3)]],
        3: [[(0, 3), (1, 3), (2, 3)]],
        2: [[(0, 2), (0, 3), (1, 3)], [(0, 2), (1, 3), (1, 2)]],
    }
    found, origin = [], []
    for number, pieces in patterns.items():
        rows = np.flatnonzero(count == number)
        for piece in pieces:
            found.append(np.stack([cells[rows][:, list(edge)] for edge in piece], axis=1))
            origin.append(rows)
    pairs = np.concatenate(found)[np.argsort(np.concatenate(origin), kind="stable")]
    total = int(np.prod(shape))
    key, faces = np.unique(pairs[:, :, 0] * total + pairs[:, :, 1], return_inverse=True)
    return key // total, key % total, np.reshape(faces, (-1, 3))
