"""Domains cut into cells for pictures and files: lines, quadrilaterals and hexahedra of boxes, simplices of shapes.

Nothing is computed on these cells. Their vertices lie in the domain and on its boundary, so that a solution has values
there; edges cut across curved boundaries.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
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
_NEAR = 0.6  # of the spacing: points inside are at least so far from those on the boundary
_BEND = 0.25  # of the spacing by which an edge may leave the domain: a chord of a curved boundary


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
    return _simplices(domain, spacing)


def grid_cells(axes: Sequence[Array]) -> Cells:
    """Return the cells of a grid."""
    d, shape = len(axes), [len(a) for a in axes]
    index = np.arange(int(np.prod(shape))).reshape(shape)
    corners = [index[tuple(slice(c, n - 1 + c) for c, n in zip(corner, shape, strict=True))] for corner in _CORNERS[d]]
    kind = ("line", "quad", "hexahedron")[d - 1]
    return Cells(grid_points(axes), np.stack([c.ravel() for c in corners], axis=1), kind)


def _simplices(domain: Domain, spacing: float) -> Cells:
    """Join points of the boundary and of a lattice inside by Delaunay's rule; keep the simplices that lie inside."""
    from scipy.spatial import Delaunay, cKDTree

    boundary = _boundary(domain, spacing)
    lattice = _lattice(domain, spacing)
    inside = lattice[domain.contains(lattice, 0.0)]
    inside = inside[cKDTree(boundary).query(inside)[0] > _NEAR * spacing]
    x = np.concatenate([boundary, inside])
    simplices = Delaunay(x).simplices
    vertices = x[simplices]
    volumes = np.linalg.det(vertices[:, 1:] - vertices[:, :1])
    kept = np.abs(volumes) > 1e-6 * spacing**domain.dimension
    kept &= domain.contains(vertices.mean(axis=1), 0.0)
    for i, j in combinations(range(domain.dimension + 1), 2):
        kept &= domain.contains((vertices[:, i] + vertices[:, j]) / 2.0, _BEND * spacing / domain.size)
    simplices = np.where(volumes[:, None] < 0, simplices[:, [1, 0, *range(2, domain.dimension + 1)]], simplices)[kept]
    used, cells = np.unique(simplices, return_inverse=True)
    return Cells(x[used], cells.reshape(simplices.shape), ("triangle", "tetra")[domain.dimension - 2])


def _boundary(domain: Domain, spacing: float) -> Array:
    """Return points on all sides, about ``spacing`` from each other, and the corners; none of them twice."""
    parts = [np.asarray(domain._corners(), dtype=float).reshape(-1, domain.dimension)]
    parts[0] = parts[0][domain.contains(parts[0])] if len(parts[0]) else parts[0]
    for side in domain.sides:
        size = float(np.sum(domain.sample_side(side, 64).weights))
        count = int(np.clip(np.ceil(size / spacing ** (domain.dimension - 1)), 8, 200_000))
        parts.append(domain.sample_side(side, count).x)
    x = np.concatenate(parts)
    _, first = np.unique(np.round(x / (1e-3 * spacing)), axis=0, return_index=True)
    return x[np.sort(first)]


def _lattice(domain: Domain, spacing: float) -> Array:
    """Return a lattice over the bounding box: rows of points, every other shifted by half a step."""
    axes = [np.arange(a + spacing / 2, b, spacing) for a, b in zip(domain.lower, domain.upper, strict=True)]
    x = grid_points(
        [a if len(a) else np.array([(lo + hi) / 2]) for a, lo, hi in zip(axes, domain.lower, domain.upper, strict=True)]
    )
    rows = np.round((x[:, 1:] - domain.lower[1:]) / spacing - 0.5).astype(int).sum(axis=1)
    x[:, 0] += np.where(rows % 2, spacing / 4, -spacing / 4)
    return x
