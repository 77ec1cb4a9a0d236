"""Polygons with holes, by shapely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from frozenpinn.errors import MissingExtraError, ProblemError
from frozenpinn.geometry.array_arguments import frozen, numbers, place
from frozenpinn.geometry.points import Hole, Side, check_sides, member_rows
from frozenpinn.geometry.rare.simplicial import Simplicial
from frozenpinn.runtime.arguments import shown
from frozenpinn.runtime.memo import remembered

Array = np.ndarray


def shapely_or_none() -> Any:
    """Return shapely if it is installed."""
    try:
        import shapely
    except ImportError:
        return None
    return shapely


def need_shapely(what: str) -> Any:
    """Return shapely, or say how to install it."""
    shapely = shapely_or_none()
    if shapely is None:
        raise MissingExtraError.of(f"{what} need", "shapely", "geometry")
    return shapely


class Polygon(Simplicial):
    """A polygon, with holes or without.

    Parameters
    ----------
    vertices
        Corners of the outer ring in order, either way round, shape (n, 2). The first is not repeated at the end.
    holes
        Rings of corners, one per hole.
    sides
        Names with the numbers of their edges on the outer ring; edge 0 runs from vertex 0 to vertex 1. Edges that
        are not named belong to ``outer``. Holes are ``hole 1``, ``hole 2``, …

    Examples
    --------
    >>> channel = Polygon([[0, 0], [3, 0], [3, 1], [0, 1]], sides={"inlet": [3], "outlet": [1]})
    >>> [side.name for side in channel.sides]
    ['inlet', 'outlet', 'outer']
    """

    _least_facets = 200

    def __init__(
        self, vertices: Any, holes: Sequence[Any] = (), sides: Mapping[str, Sequence[int]] | None = None
    ) -> None:
        shapely = need_shapely("polygons")
        self.ring = frozen(_ring(vertices, "the polygon"))
        self.holes = tuple(frozen(_ring(hole, f"hole {i + 1}")) for i, hole in enumerate(_rings(holes)))
        self.edges = _edges(check_sides(sides, "edges"), len(self.ring))
        points = np.concatenate([self.ring, *self.holes])
        shape = _checked(shapely, self.ring, self.holes)
        cells = _triangulated(shapely, shape, points)
        taken = {edge for members in self.edges.values() for edge in members}
        rest = tuple(edge for edge in range(len(self.ring)) if edge not in taken)
        outer = {**self.edges, "outer": rest} if rest else self.edges
        named = {Side(name): [(i, (i + 1) % len(self.ring)) for i in members] for name, members in outer.items()}
        start = len(self.ring)
        for number, hole in enumerate(self.holes):
            count = len(hole)
            aliases = ("hole",) if len(self.holes) == 1 and "hole" not in self.edges else ()
            side = Side(f"hole {number + 1}", aliases)
            named[side] = [(start + i, start + (i + 1) % count) for i in range(count)]
            start += count
        super().__init__(points, cells, named)

    def __repr__(self) -> str:
        holes = f", {len(self.holes)} hole{'s' if len(self.holes) > 1 else ''}" if self.holes else ""
        return f"Polygon({len(self.ring)} vertices{holes}, area {self.measure:g})"

    def contains(self, x: Array, tolerance: float = 1e-9) -> Array:
        """Return for each point (n, d) whether it lies in the closed domain, up to a fraction of its size."""
        crowded = 60.0  # facets per vertical line, beyond which the index of shapely is faster
        if self._surface.crowd < crowded:
            return super().contains(x, tolerance)
        shapely = need_shapely("polygons")
        return np.asarray(shapely.intersects_xy(self._widened(tolerance), np.asarray(x, dtype=float)))

    @remembered
    def _widened(self, tolerance: float) -> Any:
        shape = self._shape().buffer(tolerance * self.size, join_style="mitre")
        need_shapely("polygons").prepare(shape)
        return shape

    def _shape(self) -> Any:
        return need_shapely("polygons").Polygon(self.ring, self.holes)


def polygons_of(shape: Any) -> list[Any]:
    """Return the polygons of any shapely geometry, without points and lines that it may contain."""
    if shape.geom_type == "Polygon":
        return [shape] if shape.area > 0 else []
    return [polygon for part in getattr(shape, "geoms", ()) for polygon in polygons_of(part)]


def triangles_of(shape: Any) -> Array:
    """Return the triangles (m, 3, 2) of a constrained Delaunay triangulation."""
    shapely = need_shapely("polygons")
    parts = [shapely.constrained_delaunay_triangles(polygon) for polygon in polygons_of(shape)]
    corners = np.concatenate([shapely.get_coordinates(part).reshape(-1, 4, 2)[:, :3] for part in parts])
    return np.asarray(corners)


def _rings(holes: Any) -> Sequence[Any]:
    table = isinstance(holes, np.ndarray) and holes.ndim > 0
    if not table and (isinstance(holes, str) or not isinstance(holes, Sequence)):
        raise ProblemError(f"holes are a list of rings of corners, one per hole; got {shown(holes)}.")
    return holes


def _ring(given: Any, what: str) -> Array:
    ring = numbers(given, 2, f"the vertices of {what}")
    if len(ring) > 1 and np.array_equal(ring[0], ring[-1]):
        raise ProblemError(f"{what} repeats its first vertex {place(ring[0])} at the end; leave the last one out.")
    if len(ring) < 3:
        raise ProblemError(f"{what} needs at least 3 vertices, got {len(ring)}.")
    _, first, times = np.unique(ring, axis=0, return_index=True, return_counts=True)
    if np.max(times) > 1:
        again = ring[first[int(np.argmax(times > 1))]]
        raise ProblemError(f"{what} has the vertex {place(again)} more than once; give each corner once.")
    return ring


def _edges(sides: Mapping[str, Sequence[int]], count: int) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    seen: dict[int, str] = {}
    for name, members in sides.items():
        rows = member_rows(members, name, "edges")
        for edge in rows.tolist():
            if not 0 <= edge < count:
                raise ProblemError(f"the side '{name}' names edge {edge}; the edges are numbered 0 to {count - 1}.")
            if edge in seen:
                raise ProblemError(f"edge {edge} belongs to the sides '{seen[edge]}' and '{name}'; choose one.")
            seen[edge] = name
        found[str(name)] = tuple(rows.tolist())
    if "outer" in found and len(seen) < count:
        raise ProblemError(
            "'outer' is the name of the edges that have no other; choose another name or name all edges."
        )
    return found


def _checked(shapely: Any, ring: Array, holes: Sequence[Array]) -> Any:
    """Return the polygon, or name the place where it is none."""
    outer = shapely.Polygon(ring)
    scale = float(np.max(np.ptp(ring, axis=0)))
    if not outer.is_valid:
        raise ProblemError(f"the outer ring crosses or touches itself: {_reason(shapely, outer)}.")
    if outer.area <= 1e-14 * scale**2:
        raise ProblemError("the polygon has no area: all of its vertices lie on a line.")
    rings = [shapely.Polygon(hole) for hole in holes]
    for i, hole in enumerate(rings):
        if not hole.is_valid or hole.area <= 1e-14 * scale**2:
            reason = _reason(shapely, hole) if not hole.is_valid else "it has no area"
            raise ProblemError(f"hole {i + 1} crosses or touches itself: {reason}.")
        if not outer.contains_properly(hole):
            raise ProblemError(
                f"hole {i + 1} is not inside the outer ring, or touches it; move it or cut it out with -."
            )
        for j in range(i):
            if hole.intersects(rings[j]):
                raise ProblemError(f"the holes {j + 1} and {i + 1} touch or overlap; make one hole of them.")
    return shapely.Polygon(ring, holes)


def _reason(shapely: Any, shape: Any) -> str:
    return str(shapely.is_valid_reason(shape)).replace("[", " at (").replace("]", ")")


def _triangulated(shapely: Any, shape: Any, points: Array) -> Array:
    """Return the triangles as rows of vertex numbers."""
    corners = triangles_of(shape).reshape(-1, 2)
    numbers_of = {tuple(point): i for i, point in enumerate(points.tolist())}
    return np.array([numbers_of[tuple(corner)] for corner in corners.tolist()]).reshape(-1, 3)


def corners_of(shape: Any, least: float) -> tuple[tuple[float, float, float, float], ...]:
    """Return the corners of a shapely polygon that open by more than an angle: x, y, direction of an edge, opening."""
    shapely = need_shapely("polygons")
    found = []
    for part in getattr(shape, "geoms", [shape]):
        oriented = shapely.geometry.polygon.orient(part)  # the inside lies to the left of every edge
        for ring in (oriented.exterior, *oriented.interiors):
            x = np.asarray(ring.coords)[:-1]
            ahead = np.roll(x, -1, axis=0) - x
            behind = np.roll(x, 1, axis=0) - x
            start = np.arctan2(ahead[:, 1], ahead[:, 0])
            opening = np.mod(np.arctan2(behind[:, 1], behind[:, 0]) - start, 2.0 * np.pi)
            for k in np.flatnonzero(opening > least + STRAIGHT):
                found.append((float(x[k, 0]), float(x[k, 1]), float(start[k]), float(opening[k])))
    return tuple(found)


def holes_of(shape: Any) -> tuple[Hole, ...]:
    """Return the holes of a shapely polygon, each with its centroid or another point inside."""
    shapely = need_shapely("polygons")
    found = []
    for part in getattr(shape, "geoms", [shape]):
        for ring in part.interiors:
            hole = shapely.Polygon(ring)
            middle = hole.centroid if hole.contains(hole.centroid) else hole.representative_point()
            found.append(Hole((float(middle.x), float(middle.y)), float(middle.distance(ring))))
    return tuple(found)


STRAIGHT = 0.02  # corners that open by little more have little effect
