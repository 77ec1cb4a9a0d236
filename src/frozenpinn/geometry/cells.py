"""Domains cut into cells for pictures and files: lines, quadrilaterals and hexahedra of boxes, simplices of shapes.

Nothing is computed on these cells. Their vertices lie in the domain, so that a solution has values there; edges cut
across curved boundaries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from frozenpinn.errors import EvaluationError
from frozenpinn.geometry.box import Box
from frozenpinn.geometry.domain import Domain
from frozenpinn.geometry.meshing import fill
from frozenpinn.geometry.points import grid_points

Array = np.ndarray
_CORNERS = {  # of a cell of a grid, in the order of VTK
    1: ((0,), (1,)),
    2: ((0, 0), (1, 0), (1, 1), (0, 1)),
    3: ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)),
}
_FLAT = 1e-6  # of the largest volume: smaller simplices are left out


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
    x, simplices, boundary = fill(domain.contains, domain.lower, domain.upper, max(points - 1, 2))
    x = _with_corners(x, simplices, np.unique(boundary), domain)
    volumes = _volumes(x, simplices)
    turned = np.where(volumes[:, None] < 0, simplices[:, [1, 0, *range(2, domain.dimension + 1)]], simplices)
    kept = turned[np.abs(volumes) > _FLAT * np.max(np.abs(volumes))]
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
