"""Domains of flat pieces: bounded by edges or triangles, filled by triangles or tetrahedra or by columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError
from frozenpinn.geometry.array_arguments import frozen, numbers, place
from frozenpinn.geometry.domain import Domain
from frozenpinn.geometry.points import Points, Side, check_sides
from frozenpinn.geometry.rare.curves import Curve, Segment
from frozenpinn.geometry.rare.facets import Facets
from frozenpinn.geometry.rare.moments import exponents, solid_moments
from frozenpinn.geometry.rare.simplices import conical_rule, scattered, simplex_rule, systematic, volumes
from frozenpinn.runtime.arguments import unmasked
from frozenpinn.runtime.memo import remembered

Array = np.ndarray
ORDERS = {0.3: 4, 0.1: 3, 0.03: 2}  # Gauss points per direction that suffice on facets up to this part of the box


class Faceted(Domain):
    """A domain in two or three dimensions whose boundary is made of edges or triangles.

    Subclasses set the vertices, the facets with outward normals, and the number of the side of each facet.
    """

    vertices: Array
    facets: Array
    facet_normals: Array
    crosses = False  # whether facets pass through each other; then what an odd number of sheets encloses is inside

    def _boundary(
        self, vertices: Array, facets: Array, normals: Array, sides: Sequence[Side], side_of_facet: Array
    ) -> None:
        self.vertices, self.facets, self.facet_normals = frozen(vertices), frozen(facets, int), frozen(normals)
        used = vertices[np.unique(facets)]
        self._bounds(np.min(used, axis=0), np.max(used, axis=0))
        self._sides = tuple(sides)
        self._side_of_facet = side_of_facet
        self._surface = Facets(self.vertices[self.facets])

    @property
    def sides(self) -> tuple[Side, ...]:
        """The named parts of the boundary."""
        return self._sides

    @cached_property
    def measure(self) -> float:
        """Area or volume, exact: ∮ x·n / d; by many lines if the boundary crosses itself."""
        if self.crosses:
            return float(self._inner_moments(0)[0])
        return self._enclosed

    @property
    def _enclosed(self) -> float:
        corners = self.vertices[self.facets]
        heights = np.sum((corners[:, 0] - (self.lower + self.upper) / 2.0) * self.facet_normals, axis=1)
        return float(np.sum(heights * volumes(corners)) / self.dimension)

    def contains(self, x: Array, tolerance: float = 1e-9) -> Array:
        """Return for each point (n, d) whether it lies in the closed domain, up to a fraction of its size."""
        return self._surface.contains(np.asarray(x, dtype=float), tolerance * self.size)

    @property
    def _lines(self) -> Facets:
        return self._surface

    def _crossings(self, base: Array) -> tuple[Array, Array]:
        return self._surface.crossings(base)

    def outline(self) -> tuple[Curve, ...] | None:
        """Return the edges of a plane domain; None if they pass through each other."""
        if self.dimension != 2 or self.crosses:
            return None
        found = list[Curve]()
        for (a, b), normal, side in zip(
            self.vertices[self.facets], self.facet_normals, self._side_of_facet, strict=True
        ):
            right = (b - a)[1] * normal[0] - (b - a)[0] * normal[1] > 0  # the outside, if one goes from a to b
            found.append(Segment(self._sides[int(side)].name, *((a, b) if right else (b, a))))
        return tuple(found)

    def _corners(self) -> Array:
        return np.asarray(self.vertices[np.unique(self.facets)])

    @property
    def _intricate(self) -> bool:
        few_facets = 64  # up to so many, columns through a solid are a good rule
        return self.dimension == 3 and len(self.facets) > few_facets

    @remembered
    def _inner_moments(self, degree: int) -> Array:
        """Return integrals of polynomials: of solids by flow through the facets, exact but for small facets."""
        if self.dimension != 3 or self.crosses:
            return super()._inner_moments(degree)
        corners = self.vertices[self.facets]
        lengths = np.max(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2), axis=1) / np.min(self.lengths)
        orders = np.full(len(corners), degree // 2 + 1)
        for length, order in ORDERS.items():
            orders[lengths <= length] = np.minimum(orders[lengths <= length], order)
        total = np.zeros(len(exponents(3, degree)))
        for order in np.unique(orders):
            rows = np.flatnonzero(orders == order)
            nodes, weights = conical_rule(2, int(order))
            x = np.einsum("qv,mvd->mqd", nodes, corners[rows]).reshape(-1, 3)
            normals = np.repeat(self.facet_normals[rows], len(nodes), axis=0)
            areas = np.outer(volumes(corners[rows]), weights).ravel()
            total = total + solid_moments(x, normals, areas, self.lower, self.upper, degree)
        return total

    def _rule(self, n: int) -> Points:
        return self._rule_by_points(n) if self._intricate else self._rule_by_lines(self._surface, n)

    def _side_points(self, side: Side, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        own = np.flatnonzero((self._side_of_facet == self._sides.index(side)) & (self._areas > 0))
        corners = self.vertices[self.facets[own]]
        if method != "gauss":
            x, facet = scattered(corners, n, method, rng)
        elif len(own) > max(n, self._least_facets):
            x, facet = systematic(corners, n)
        else:
            x, weights, facet = simplex_rule(corners, n)
            return x, self._outward(x, self.facet_normals[own[facet]]), weights
        return x, self._outward(x, self.facet_normals[own[facet]]), np.full(len(x), np.sum(volumes(corners)) / len(x))

    def _outward(self, x: Array, normals: Array) -> Array:
        """Turn normals that point inward, as some do where the boundary crosses itself."""
        probe = 1e-7  # distance from a facet, as a part of the size, at which it is seen which side is inside
        if not self.crosses:
            return normals
        inward = self._surface.inside(x + probe * self.size * normals)
        return np.where(inward[:, None], -normals, normals)

    @cached_property
    def _areas(self) -> Array:
        """The areas of the facets; those of facets without area are zero, not round-off."""
        found = volumes(self.vertices[self.facets])
        return np.where(found > 1e-14 * self.size ** (self.dimension - 1), found, 0.0)

    _least_facets = 0  # up to this many facets of a side, each gets points, even if these are more than asked for


class Simplicial(Faceted):
    """A mesh of triangles (2-d) or tetrahedra (3-d) as a domain; its cells carry the quadrature.

    Parameters
    ----------
    vertices
        Coordinates, shape (v, d).
    cells
        Numbers of the d + 1 vertices of each cell, shape (m, d + 1). Cells must not overlap.
    sides
        Names of parts of the boundary: each name with its facets, as rows of d vertex numbers. What is not named
        belongs to the side ``rest``.

    Examples
    --------
    >>> square = Simplicial([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]], {"floor": [[0, 1]]})
    >>> square.measure, [side.name for side in square.sides]
    (1.0, ['floor', 'boundary'])
    """

    def __init__(
        self,
        vertices: Any,
        cells: Any,
        sides: Mapping[Any, Any] | None = None,
        rest: str | Side = "boundary",
    ) -> None:
        points = numbers(vertices, None, "the vertices of a mesh")
        d = points.shape[1]
        if d not in (2, 3):
            raise ProblemError(f"meshes have two or three dimensions, got vertices with {d} coordinates.")
        table = indices(cells, d + 1, len(points), "the cells of a mesh")
        corners = points[table]
        sizes = volumes(corners)
        flat = sizes <= 1e-13 * np.max(np.ptp(corners, axis=1), axis=1) ** d
        if np.any(flat):
            bad = int(np.argmax(flat))
            raise ProblemError(
                f"cell {bad} of the mesh is flat: its corners are {', '.join(map(place, corners[bad]))}."
            )
        facets, opposite = _outer_facets(table, len(points))
        if not len(facets):
            raise ProblemError("the mesh has no boundary: each of its facets belongs to two cells.")
        self.cells = frozen(table, int)
        names, side_of_facet = _named_facets(facets, check_sides(sides, "facets"), rest, len(points))
        self._boundary(points, facets, outward_normals(points[facets], points[opposite]), names, side_of_facet)
        self._refuse_overlap(points[table])

    def _refuse_overlap(self, corners: Array) -> None:
        """Refuse cells that lie upon each other: their volumes are not what the boundary encloses."""
        enclosed, few = self._enclosed, corners[:: max(1, len(corners) // 1000)]
        if abs(enclosed - self.measure) > 1e-6 * self.measure or not np.all(self.contains(np.mean(few, axis=1), 1e-6)):
            raise ProblemError(
                f"cells of the mesh lie upon each other: together they measure {self.measure:g}, and the boundary "
                f"encloses {enclosed:g}."
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.vertices)} vertices, {len(self.cells)} cells)"

    @cached_property
    def measure(self) -> float:
        """Area or volume."""
        return float(np.sum(volumes(self.vertices[self.cells])))

    def _rule(self, n: int) -> Points:
        if len(self.cells) * 2**self.dimension > 2 * n:  # too many cells for two points per direction in each
            return super()._rule(n)
        return self._points(*simplex_rule(self.vertices[self.cells], n)[:2])

    def _scatter(self, n: int, method: str, rng: np.random.Generator) -> Array:
        return scattered(self.vertices[self.cells], n, method, rng)[0]


def indices(given: Any, columns: int, count: int, what: str) -> Array:
    """Return a table of vertex numbers, or say what is wrong with it."""
    given = unmasked(given, f"{what} are rows of {columns} vertex numbers", ProblemError)
    try:
        table: Array = np.asarray([] if isinstance(given, range) else given)  # a range may be endless
    except ValueError:
        raise ProblemError(f"{what} are rows of {columns} vertex numbers, all of the same length.") from None
    if table.ndim != 2 or table.shape[1] != columns or not len(table) or table.dtype.kind not in "iu":
        raise ProblemError(
            f"{what} are rows of {columns} vertex numbers; got shape {table.shape} with {table.dtype} entries."
        )
    if np.min(table) < 0 or np.max(table) >= count:
        raise ProblemError(
            f"{what} name the vertices {np.min(table)} to {np.max(table)}, but they are numbered 0 to {count - 1}."
        )
    return table.astype(np.int64)


def facet_keys(facets: Array, count: int) -> Array:
    """Return one number for each set of d vertices out of ``count``, whatever their order."""
    ordered = np.sort(facets, axis=1)
    key = np.zeros(len(facets), dtype=np.int64)
    for column in ordered.T:  # 2 000 000 vertices cubed fit into 63 bits
        key = key * count + column
    return key


def _outer_facets(cells: Array, count: int) -> tuple[Array, Array]:
    """Return the facets that belong to one cell only, and the vertex of that cell opposite to each."""
    corners = cells.shape[1]
    facets = np.concatenate([np.delete(cells, i, axis=1) for i in range(corners)])
    opposite = np.concatenate([cells[:, i] for i in range(corners)])
    _, first, times = np.unique(facet_keys(facets, count), return_index=True, return_counts=True)
    if np.max(times) > 2:
        raise ProblemError(
            f"the mesh has {np.sum(times > 2)} facets that belong to more than two cells; cells must not overlap."
        )
    single = np.sort(first[times == 1])
    return facets[single], opposite[single]


def outward_normals(corners: Array, inner: Array) -> Array:
    """Return unit normals of facets (f, d, d) that point away from an inner point of each."""
    if corners.shape[2] == 2:
        along = corners[:, 1] - corners[:, 0]
        normals = np.column_stack([along[:, 1], -along[:, 0]])
    else:
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    flip = np.sum((inner - corners[:, 0]) * normals, axis=1) > 0
    return np.where(flip[:, None], -normals, normals)


def _named_facets(facets: Array, sides: Mapping[Any, Any], rest: str | Side, count: int) -> tuple[list[Side], Array]:
    """Return the sides of a mesh and the number of the side of each outer facet."""
    keys = facet_keys(facets, count)
    order = np.argsort(keys)
    side_of_facet = np.full(len(facets), -1)
    found: list[Side] = []
    for given, members in sides.items():
        side = given if isinstance(given, Side) else Side(str(given))
        rows = indices(members, facets.shape[1], count, f"the facets of side '{side.name}'")
        wanted = facet_keys(rows, count)
        at = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
        if np.any(keys[at] != wanted):
            bad = rows[int(np.argmax(keys[at] != wanted))]
            raise ProblemError(f"the facet {bad.tolist()} of side '{side.name}' is not on the boundary of the mesh.")
        side_of_facet[at] = len(found)
        found.append(side)
    if np.any(side_of_facet < 0):
        side_of_facet[side_of_facet < 0] = len(found)
        found.append(rest if isinstance(rest, Side) else Side(rest))
    empty = [side.name for i, side in enumerate(found) if not np.any(side_of_facet == i)]
    if empty:
        raise ProblemError(f"the side '{empty[0]}' has no facets: all of its facets were named again later.")
    return found, side_of_facet


class ConvexPolytope(Simplicial):
    """The convex hull of points in two or three dimensions, with one side ``boundary``.

    Examples
    --------
    >>> ConvexPolytope([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    ConvexPolytope(4 corners in 3-d, measure 0.166667)
    """

    def __init__(self, points: Any) -> None:
        from scipy.spatial import ConvexHull, QhullError

        given = numbers(points, None, "the points of a polytope")
        d = given.shape[1]
        if d not in (2, 3):
            raise ProblemError(f"convex polytopes have two or three dimensions, got points with {d} coordinates.")
        if len(given) <= d:
            raise ProblemError(f"a convex polytope in {d}-d needs at least {d + 1} points, got {len(given)}.")
        flat = ProblemError(
            f"the points of the polytope lie in a {'line' if d == 2 else 'plane'}: its measure is zero."
        )
        try:
            hull = ConvexHull(given)
        except QhullError:
            raise flat from None
        if hull.volume <= 1e-13 * float(np.max(np.ptp(given, axis=0))) ** d:
            raise flat
        corners = given[hull.vertices]
        number = np.full(len(given), -1)
        number[hull.vertices] = np.arange(len(corners))
        facets = number[hull.simplices]
        centre = np.full((len(facets), 1), len(corners))
        self.corners = frozen(corners)
        self._planes = frozen(hull.equations)
        super().__init__(np.concatenate([corners, [np.mean(corners, axis=0)]]), np.column_stack([facets, centre]))

    def __repr__(self) -> str:
        return f"ConvexPolytope({len(self.corners)} corners in {self.dimension}-d, measure {self.measure:g})"

    def contains(self, x: Array, tolerance: float = 1e-9) -> Array:
        """Return for each point (n, d) whether it lies in the closed domain, up to a fraction of its size."""
        x = np.asarray(x, dtype=float)
        found = np.ones(len(x), dtype=bool)
        for plane in np.unique(np.round(self._planes, 12), axis=0):
            found &= x @ plane[:-1] + plane[-1] <= tolerance * self.size
        return found

    def _shape(self) -> Any:
        from frozenpinn.geometry.rare.polygon import shapely_or_none

        shapely = shapely_or_none()
        return shapely.Polygon(self.corners) if shapely and self.dimension == 2 else None
