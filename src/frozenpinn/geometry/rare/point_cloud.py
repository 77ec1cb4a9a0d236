"""Domains known by points only: some inside, some on the boundary."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError
from frozenpinn.geometry.array_arguments import frozen, numbers, place
from frozenpinn.geometry.domain import Domain
from frozenpinn.geometry.points import Points, Side, check_sides, member_rows
from frozenpinn.geometry.rare.simplices import volumes
from frozenpinn.geometry.rare.simplicial import Simplicial

Array = np.ndarray


class PointCloud(Domain):
    """A domain given by points: inside and on its boundary, or all of them together.

    Up to three dimensions all points are joined to simplices (Delaunay), those outside are dropped, and the rest
    carries the quadrature. Beyond, the points themselves are used, with equal weights.

    Parameters
    ----------
    points
        Points inside, shape (n, d); those on the boundary as well if these are to be found.
    boundary
        Points on the boundary, shape (m, d), close enough to each other to show its shape. If missing, they are the
        corners of the alpha shape of all points.
    normals
        Outward normals at the boundary points; estimated from neighbours if missing.
    sides
        Names with the numbers of their boundary points; the others belong to ``boundary``.
    alpha
        Largest radius of a simplex of the alpha shape: gaps and dents that are wider stay open. Without it, a little
        more than the least that keeps all points together, and only gaps inside that are much wider stay open.

    Examples
    --------
    >>> angle = np.arange(40) * 2 * np.pi / 40
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> PointCloud(0.5 * circle[::4], circle)
    PointCloud(10 points inside, 40 on the boundary, in 2-d)
    >>> PointCloud(np.concatenate([0.5 * circle[::4], circle]))
    PointCloud(10 points inside, 40 on the boundary, in 2-d)
    """

    def __init__(
        self,
        points: Any,
        boundary: Any = None,
        normals: Any = None,
        sides: Mapping[str, Any] | None = None,
        alpha: float | None = None,
    ) -> None:
        inner = numbers(points, None, "the points of a cloud")
        d = inner.shape[1]
        if d < 2:
            raise ProblemError("a point cloud has at least two dimensions; use Interval(a, b) in one.")
        if boundary is None:
            self._find_boundary(inner, normals, sides, alpha)
            return
        if alpha is not None:
            raise ProblemError("alpha finds the boundary of a cloud, but its boundary points are given; leave out one.")
        self.alpha: float | None = None
        outer = numbers(boundary, d, "the boundary points of a cloud")
        if len(inner) < 1 or len(outer) < d + 1:
            raise ProblemError(
                f"a cloud in {d}-d needs points inside and at least {d + 1} on the boundary; "
                f"got {len(inner)} and {len(outer)}."
            )
        self.points, self.boundary = frozen(inner), frozen(outer)
        together = np.concatenate([inner, outer])
        self._measure_up(together)
        self.normals = frozen(self._estimated() if normals is None else _unit(normals, outer.shape))
        self._members = _members(check_sides(sides, "boundary points"), len(outer))
        self._mesh = self._simplices(together) if d <= 3 else None

    def __repr__(self) -> str:
        return (
            f"PointCloud({len(self.points)} points inside, {len(self.boundary)} on the boundary, in {self.dimension}-d)"
        )

    # ---- construction ---------------------------------------------------------------------------

    def _measure_up(self, together: Array) -> None:
        self._bounds(np.min(together, axis=0), np.max(together, axis=0))
        if np.any(self.lengths <= 0):
            raise ProblemError("all points of the cloud lie in a plane across an axis; leave out that coordinate.")
        self._refuse_duplicates(together)

    def _find_boundary(self, x: Array, normals: Any, sides: Mapping[str, Any] | None, alpha: Any) -> None:
        """Separate points inside from those on the boundary by the alpha shape of all."""
        d = x.shape[1]
        if d > 3:
            raise ProblemError(f"boundary points are found in two and three dimensions; in {d}-d give boundary=.")
        if normals is not None or sides:
            raise ProblemError(
                "normals and sides are for boundary points that are given (boundary=); "
                "where they are found, use with_sides(…) to name parts of the boundary."
            )
        if alpha is not None and (not isinstance(alpha, int | float) or not 0 < alpha < np.inf):
            raise ProblemError(f"alpha is a positive length, got {alpha!r}.")
        if len(x) < d + 2:
            raise ProblemError(f"the alpha shape of a cloud in {d}-d needs at least {d + 2} points; got {len(x)}.")
        self._measure_up(x)
        cells, moved, radius = alpha_shape(x, alpha)
        outer = np.unique(Simplicial(moved, cells).facets)
        inner = np.setdiff1d(np.arange(len(x)), outer)
        if not len(inner):
            raise ProblemError(
                f"all {len(x)} points are on the boundary of their alpha shape (alpha = {radius:.4g}). For points on a "
                "surface, read its mesh, or give them as boundary=, with points inside."
            )
        order = np.concatenate([inner, outer])
        place_of = np.argsort(order)
        self.alpha, self._given = radius, (frozen(x), alpha)
        self.points, self.boundary = frozen(x[inner]), frozen(x[outer])
        self._mesh = mesh = Simplicial(moved[order], place_of[cells])
        self.normals = frozen(_mean_normals(mesh)[len(inner) :])
        self._members = _members({}, len(outer))

    def _refuse_duplicates(self, together: Array) -> None:
        distance, _ = _tree(together).query(together, k=2)
        closest = int(np.argmin(distance[:, 1]))
        if distance[closest, 1] <= 1e-12 * self.size:
            raise ProblemError(
                f"the cloud has the point {place(together[closest])} more than once, inside or on the boundary; "
                "give each point once."
            )

    def _estimated(self) -> Array:
        """Return normals: the direction of least spread of the nearest boundary points, away from those inside."""
        d = self.dimension
        k = min(len(self.boundary), {2: 3, 3: 7}.get(d, 2 * d + 1))
        _, near = _tree(self.boundary).query(self.boundary, k=k)
        spread = self.boundary[near] - np.mean(self.boundary[near], axis=1, keepdims=True)
        normals = np.linalg.svd(spread, full_matrices=True)[2][:, -1]
        _, inside = _tree(self.points).query(self.boundary, k=min(len(self.points), 3))
        inward = np.mean(self.points[np.reshape(inside, (len(self.boundary), -1))], axis=1) - self.boundary
        return np.asarray(np.where(np.sum(normals * inward, axis=1, keepdims=True) > 0, -normals, normals))

    def _simplices(self, together: Array) -> Simplicial:
        """Join all points to simplices; drop those beyond the tangent plane of the nearest boundary point."""
        least_volume = 1e-6  # volume of cells on the boundary that are left out, as a part of the usual one
        cells, neighbours, together = delaunay(together)
        centres = np.mean(together[cells], axis=1)
        _, nearest = _tree(self.boundary).query(centres)
        beyond = np.sum((centres - self.boundary[nearest]) * self.normals[nearest], axis=1) > 0
        on_boundary = np.sum(cells >= len(self.points), axis=1) >= self.dimension
        sizes = volumes(together[cells])
        sliver = least_volume * float(np.median(sizes))
        dropped = (beyond & on_boundary) | (sizes <= sliver)
        dropped &= ~enclosed(dropped, neighbours, sizes, sliver)
        kept = cells[~dropped & ~flat(together[cells])]
        if not len(kept):
            raise ProblemError("no simplex of the cloud is inside; do the given normals point outward?")
        return Simplicial(together, kept)

    # ---- the domain -----------------------------------------------------------------------------

    @cached_property
    def measure(self) -> float:
        """Area or volume of the kept simplices; beyond three dimensions by quasi-random points."""
        if self._mesh is not None:
            return self._mesh.measure
        return max(self._share_inside(2**14), 1e-4) * float(np.prod(self.lengths))

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """The named groups of boundary points."""
        return tuple(Side(name) for name in self._members)

    def contains(self, x: Array, tolerance: float = 1e-9) -> Array:
        """Return for each point (n, d) whether it lies in the closed domain, up to a fraction of its size.

        Beyond three dimensions: whether it is within the tangent plane of the nearest boundary point.
        """
        x = np.asarray(x, dtype=float)
        if self._mesh is not None:
            return self._mesh.contains(x, tolerance)
        margin = tolerance * self.size
        found = np.all((x >= self.lower - margin) & (x <= self.upper + margin), axis=1)
        rows = np.flatnonzero(found)
        _, nearest = self._boundary_tree.query(x[rows], workers=-1)
        beyond = np.sum((x[rows] - self.boundary[nearest]) * self.normals[nearest], axis=1)
        found[rows] = beyond <= margin
        return found

    @cached_property
    def _boundary_tree(self) -> Any:
        return _tree(self.boundary)

    def _rule(self, n: int) -> Points:
        if self._mesh is not None:
            return self._mesh._rule(n)
        x = self.points[_spread(self.points, n)]
        return self._points(x, np.full(len(x), self.measure / len(x)))

    def _scatter(self, n: int, method: str, rng: np.random.Generator) -> Array:
        return super()._scatter(n, method, rng) if self._mesh is None else self._mesh._scatter(n, method, rng)

    # ---- boundary -------------------------------------------------------------------------------

    @cached_property
    def _weights(self) -> Array:
        """The area that belongs to each boundary point.

        Facets of the simplices share theirs among their corners; where there are none, (distance to neighbours)^(d−1).
        """
        count = len(self.boundary)
        distance, _ = self._boundary_tree.query(self.boundary, k=2)
        spacing = distance[:, 1] ** (self.dimension - 1)
        if self._mesh is None:
            return np.asarray(spacing)
        shares = np.zeros(len(self.points) + count)
        areas = volumes(self._mesh.vertices[self._mesh.facets]) / self.dimension
        np.add.at(shares, self._mesh.facets, areas[:, None])
        own = shares[len(self.points) :]
        return np.where(own > 0, own, spacing)

    def _side_points(self, side: Side, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        members = self._members[side.name]
        if method == "gauss" or n >= len(members):
            chosen = members[_spread(self.boundary[members], n)]
        else:
            chosen = np.sort(rng.choice(members, n, replace=False))
        _, owner = _tree(self.boundary[chosen]).query(self.boundary[members])
        weights = np.bincount(owner, self._weights[members], minlength=len(chosen))
        return self.boundary[chosen], self.normals[chosen], weights


def _tree(x: Array) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(x)


def _mean_normals(mesh: Simplicial) -> Array:
    """Return the mean normals of the facets that meet at each vertex."""
    found = np.zeros(mesh.vertices.shape)
    weighted = mesh.facet_normals * volumes(mesh.vertices[mesh.facets])[:, None]
    for corner in mesh.facets.T:
        np.add.at(found, corner, weighted)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.where(lengths > 0, lengths, 1.0))


def _spread(x: Array, n: int) -> Array:
    """Return the numbers of at most n points that are spread evenly: each new one is farthest from those before."""
    if n >= len(x):
        return np.arange(len(x))
    chosen = np.empty(n, dtype=int)
    distance = np.sum((x - np.mean(x, axis=0)) ** 2, axis=1)
    for i in range(n):
        chosen[i] = np.argmax(distance)
        new = np.sum((x - x[chosen[i]]) ** 2, axis=1)
        distance = new if i == 0 else np.minimum(distance, new)
    return np.sort(chosen)


def _unit(given: Any, shape: tuple[int, ...]) -> Array:
    normals = numbers(given, shape[1], "the normals of a cloud")
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    if normals.shape != shape:
        raise ProblemError(f"one normal per boundary point is needed ({shape[0]}), got {len(normals)}.")
    if np.any(lengths == 0):
        raise ProblemError(f"the normal at boundary point {int(np.argmin(lengths))} is zero.")
    return normals if np.all(np.abs(lengths - 1.0) < 1e-12) else np.asarray(normals / lengths)


def _members(sides: Mapping[str, Any], count: int) -> dict[str, Array]:
    found: dict[str, Array] = {}
    taken = np.zeros(count, dtype=bool)
    for name, given in sides.items():
        rows = member_rows(given, name, "boundary points")
        if np.min(rows) < 0 or np.max(rows) >= count:
            raise ProblemError(
                f"the side '{name}' goes beyond the boundary points, which are numbered 0 to {count - 1}."
            )
        if np.any(taken[rows]):
            again = int(rows[np.argmax(taken[rows])])
            raise ProblemError(f"boundary point {again} belongs to more than one side; choose one.")
        taken[rows] = True
        found[str(name)] = frozen(np.unique(rows), int)
    if not np.all(taken):
        if "boundary" in found:
            raise ProblemError("'boundary' is the name of points that have no other; choose another name.")
        found["boundary"] = frozen(np.flatnonzero(~taken), int)
    return found


# ---- alpha shapes ---------------------------------------------------------------------------------


def delaunay(points: Array) -> tuple[Array, Array, Array]:
    """Return Delaunay cells, the neighbours of each, and the points, moved a little if they are on a lattice."""
    from scipy.spatial import Delaunay, QhullError

    shift = 1e-9  # of points on a lattice, as a part of the size: cells between them must not be flat
    size = float(np.max(np.ptp(points, axis=0)))
    try:
        found = Delaunay(points)
        if np.any(flat(points[found.simplices])):
            points = points + shift * size * np.random.default_rng(0).uniform(-1.0, 1.0, points.shape)
            found = Delaunay(points)
    except QhullError:
        raise ProblemError("the points of the cloud lie in a line or plane; its measure is zero.") from None
    return np.asarray(found.simplices), np.asarray(found.neighbors), points


def flat(corners: Array) -> Array:
    """Return which simplices (m, d + 1, d) have no volume."""
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
    cavity = 2.5  # in units of alpha: the radius of a gap inside that stays open
    margin = 2.0  # of the least alpha that reaches all points
    growth = 1.25  # of alpha while the body falls apart
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
    alpha = margin * least
    while not _connected(cells[radii <= alpha], len(points)):
        alpha *= growth
    gaps = enclosed(radii > alpha, neighbours, radii, cavity * alpha)
    return cells[(radii <= alpha) | (gaps & np.isfinite(radii))], moved, alpha


def enclosed(dropped: Array, neighbours: Array, sizes: Array, most: float) -> Array:
    """Return which dropped cells belong to gaps inside in which no cell has more than a size."""
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
    """Return whether cells hang together by their corners."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, rest = np.repeat(cells[:, :1], cells.shape[1] - 1, axis=1), cells[:, 1:]
    graph: Any = coo_array((np.ones(rest.size), (first.ravel(), rest.ravel())), shape=(count, count))
    _, component = connected_components(graph, directed=False)
    return len(np.unique(component[np.unique(cells)])) == 1
