"""Alpha shapes: which simplices between points belong to the body that the points fill."""

from __future__ import annotations

from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError
from frozenpinn.geometry.simplices import volumes

Array = np.ndarray
GROWTH = 1.25  # of alpha while the body falls apart
MARGIN = 2.0  # of the least alpha that reaches all points
CAVITY = 2.5  # in units of alpha: the radius of a gap inside that stays open
SHIFT = 1e-9  # of points on a lattice, as a part of the size: cells between them must not be flat


def delaunay(points: Array) -> tuple[Array, Array, Array]:
    """Return Delaunay cells, the neighbours of each, and the points, moved a little if they are on a lattice."""
    from scipy.spatial import Delaunay, QhullError

    size = float(np.max(np.ptp(points, axis=0)))
    try:
        found = Delaunay(points)
        if np.any(flat(points[found.simplices])):
            points = points + SHIFT * size * np.random.default_rng(0).uniform(-1.0, 1.0, points.shape)
            found = Delaunay(points)
    except QhullError:
        raise ProblemError("the points of the cloud lie in a line or plane; its measure is zero.") from None
    return np.asarray(found.simplices), np.asarray(found.neighbors), points


def flat(corners: Array) -> Array:
    """Tell which simplices (m, d + 1, d) have no volume."""
    d = corners.shape[2]
    return np.asarray(volumes(corners) <= 1e-12 * np.max(np.ptp(corners, axis=1), axis=1) ** d)


def circumradii(corners: Array) -> Array:
    """Return the radii of the spheres through the corners (m, d + 1, d) of simplices; infinite for flat ones."""
    radii = np.full(len(corners), np.inf)
    good = np.flatnonzero(~flat(corners))
    edges = corners[good, 1:] - corners[good, :1]
    squares = np.sum(edges**2, axis=2) / 2.0
    radii[good] = np.linalg.norm(np.linalg.solve(edges, squares[:, :, None])[:, :, 0], axis=1)
    return radii


def alpha_shape(points: Array, alpha: float | None) -> tuple[Array, Array, float]:
    """Return the cells whose circumscribed spheres have at most the radius alpha, the points, and alpha.

    Without alpha, it is a little more than the least that keeps each point in a cell and all cells together, and
    gaps inside are filled unless they are much wider.
    """
    cells, neighbours, moved = delaunay(points)
    radii = circumradii(moved[cells])
    least = _reaching(cells, radii, len(points))
    if alpha is not None:
        kept = cells[radii <= alpha]
        missing = len(points) - len(np.unique(kept))
        if missing:
            raise ProblemError(
                f"alpha = {alpha:g} is too small for the cloud: {missing} of its {len(points)} points belong to no "
                f"simplex; the least alpha that reaches all of them is {least:.4g}."
            )
        return kept, moved, float(alpha)
    alpha = MARGIN * least
    while not _connected(cells[radii <= alpha], len(points)):
        alpha *= GROWTH
    gaps = enclosed(radii > alpha, neighbours, radii, CAVITY * alpha)
    return cells[(radii <= alpha) | (gaps & np.isfinite(radii))], moved, alpha


def enclosed(dropped: Array, neighbours: Array, sizes: Array, most: float) -> Array:
    """Tell which dropped cells belong to gaps inside in which no cell has more than a size."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(dropped)
    cell, side = np.nonzero(dropped[:, None] & (neighbours >= 0) & dropped[neighbours])
    graph: Any = coo_array((np.ones(len(cell)), (cell, neighbours[cell, side])), shape=(count, count))
    number, gap = connected_components(graph, directed=False)
    largest = np.zeros(number)
    np.maximum.at(largest, gap[dropped], sizes[dropped])
    largest[gap[dropped & np.any(neighbours < 0, axis=1)]] = np.inf  # open to the outside
    return np.asarray(dropped & (largest[gap] <= most))


def _reaching(cells: Array, radii: Array, count: int) -> float:
    """Return the least alpha for which each point belongs to a cell."""
    least = np.full(count, np.inf)
    np.minimum.at(least, cells, radii[:, None])
    return float(np.max(least[np.isfinite(least)]))


def _connected(cells: Array, count: int) -> bool:
    """Tell whether cells hang together by their corners."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, rest = np.repeat(cells[:, :1], cells.shape[1] - 1, axis=1), cells[:, 1:]
    graph: Any = coo_array((np.ones(rest.size), (first.ravel(), rest.ravel())), shape=(count, count))
    _, component = connected_components(graph, directed=False)
    return len(np.unique(component[np.unique(cells)])) == 1
