"""The zero level of a function in three dimensions as curved triangles: points of any number, normals and weights.

The corners of flat triangles (marching tetrahedra) lie on the surface. A point p of a flat triangle is moved along
d(p), the normals at the corners interpolated linearly, onto the surface: x = p + s d, f(x) = 0. As d is
continuous from triangle to triangle, the curved ones cover the surface without gaps, and the stretch of area,

    |x_u × x_v| / |p_u × p_v|,   x_u = p_u + s_u d + s d_u,   s_u = −∇f·(p_u + s d_u) / ∇f·d,

is known exactly. So a Gauss rule on the flat triangles becomes a rule of the same order on the surface.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from frozenpinn.geometry.marching import crossed_edges, shown, sign_table
from frozenpinn.geometry.points import grid_points
from frozenpinn.geometry.predicates import LevelFunction, SmoothPart
from frozenpinn.geometry.simplices import along_curve, conical_rule, volumes

Array = np.ndarray
CELLS = 96  # of the grid along the longest axis: what is narrower than one may be missed
FEWEST = 32  # along the shortest axis
STRIDES = (4, 2, 1)  # of the grid that makes the triangles, the coarsest first
LOST = 1e-3  # share of points that may fail to reach the surface before a finer grid is taken
STRETCH = 1.05  # of the area, exceeded by one of a hundred triangles before a finer grid is taken
AT_NODE = 1e-6  # share of an edge within which the surface passes through its end
SMOOTH = 0.7  # cosine between the gradient and the mean normal of triangles, which is taken at kinks
GROWTHS = 12  # of an interval in search of the surface


@dataclass(frozen=True, eq=False)
class LevelSurface:
    """Curved triangles on the surface f = 0.

    Attributes
    ----------
    level
        The function.
    size
        Of the domain; sets the step of differences if the function is no text.
    corners, directions
        Corners of the flat triangles and the directions of projection there, shape (m, 3, 3).
    reach
        How far a point may move onto the surface.
    margin
        Positive where the surface bounds the solid, if it does not everywhere.
    order
        Gauss points per direction on each triangle; 0 leaves the choice to the boundary as a whole.
    """

    level: LevelFunction
    size: float
    corners: Array
    directions: Array
    reach: float
    margin: Callable[[Array], Array] | None = None
    order: int = 0

    def margins(self, x: Array) -> Array:
        """Return the margin at points, infinite where there are no edges."""
        return np.full(len(x), np.inf) if self.margin is None else self.margin(x)

    def at(self, triangle: Array, nodes: Array) -> tuple[Array, Array, Array]:
        """Return surface points above flat triangles, the gradient, and the stretch of area, 0 if none is found.

        Parameters
        ----------
        triangle
            Numbers of the triangles, shape (n,).
        nodes
            Barycentric coordinates, shape (n, 3).
        """
        corners, directions = self.corners[triangle], self.directions[triangle]
        p = np.einsum("nv,nvd->nd", nodes, corners)
        d = np.einsum("nv,nvd->nd", nodes, directions)
        s, lost = self._heights(p, d)
        x = p + s[:, None] * d
        slope = self.level.gradient(x, self.size)
        flat, turned = (table[:, 1:] - table[:, :1] for table in (corners, directions))
        moved = flat + s[:, None, None] * turned
        across = np.sum(slope * d, axis=1)
        lost |= ~(across > 0)
        climb = -np.einsum("nd,nud->nu", slope, moved) / np.where(lost, 1.0, across)[:, None]
        tangents = moved + climb[:, :, None] * d[:, None, :]
        before, after = (np.linalg.norm(np.cross(t[:, 0], t[:, 1]), axis=1) for t in (flat, tangents))
        return x, slope, np.where(lost | (before == 0), 0.0, after / np.where(before > 0, before, 1.0))

    def _heights(self, p: Array, d: Array) -> tuple[Array, Array]:
        """Return s with f(p + s d) = 0, and where none was found within reach."""
        from scipy.optimize import elementwise

        columns = (*p.T, *d.T)
        start, step = self.level(p), 1e-3 * self.reach
        slope = (self._beyond(np.full(len(p), step), *columns) - start) / step
        way = np.where(start < 0, 1.0, -1.0)  # outward from inside
        guess = 1.5 * np.abs(start) / np.where(slope > 0, slope, np.inf)
        end = way * np.clip(guess, 1e-9 * self.reach, self.reach)
        missing = np.arange(len(p))
        for _ in range(GROWTHS):
            beyond = self._beyond(end[missing], *(column[missing] for column in columns))
            missing = missing[(beyond < 0) == (start[missing] < 0)]
            if not len(missing):
                break
            end[missing] = way[missing] * np.minimum(3.0 * np.abs(end[missing]) + 1e-4 * self.reach, self.reach)
        s, lost = np.zeros(len(p)), np.zeros(len(p), dtype=bool)
        lost[missing] = True
        kept = np.flatnonzero(~lost)
        ends = (np.minimum(end, 0.0)[kept], np.maximum(end, 0.0)[kept])
        given, enough = tuple(column[kept] for column in columns), {"xatol": 1e-15 * self.size}
        s[kept] = elementwise.find_root(self._beyond, ends, args=given, tolerances=enough).x
        return s, lost

    def _beyond(self, s: Array, *columns: Array) -> Array:
        """Return the function at p + s d, given s and the columns of p and d."""
        return self.level(np.column_stack([a + s * b for a, b in zip(columns[:3], columns[3:], strict=True)]))

    def rule(self, order: int) -> tuple[Array, Array, Array]:
        """Return points, the gradient there and weights, ``order``² on each triangle; weights may be zero."""
        nodes, weights = conical_rule(2, order)
        triangle = np.repeat(np.arange(len(self.corners)), len(weights))
        x, slope, stretch = self.at(triangle, np.tile(nodes, (len(self.corners), 1)))
        return x, slope, np.outer(volumes(self.corners), weights).ravel() * stretch

    def chosen(self, rows: Array) -> LevelSurface:
        """Return some of the triangles, ordered along a space-filling curve."""
        corners, directions = self.corners[rows], self.directions[rows]
        order = along_curve(np.mean(corners, axis=1))
        return replace(self, corners=corners[order], directions=directions[order])

    def quartered(self, rows: Array) -> LevelSurface:
        """Return some of the triangles, each cut into four; the curved ones stay what they are."""
        parts = []
        for table in (self.corners[rows], self.directions[rows]):
            a, b, c = table.transpose(1, 0, 2)
            ab, bc, ca = (a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0
            pieces = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (bc, ca, ab)]
            parts.append(np.concatenate([np.stack(piece, axis=1) for piece in pieces]))
        return replace(self, corners=parts[0], directions=parts[1])

    def cut(self, rows: Array, margins: Array) -> LevelSurface:
        """Return the parts of some triangles on which margins (m, 3), given at the corners, are positive."""
        count = np.sum(margins > 0, axis=1)
        alone = np.where(count == 1, np.argmax(margins, axis=1), np.argmin(margins, axis=1))
        after, last = (alone + 1) % 3, (alone + 2) % 3
        at = np.arange(len(rows))
        gaps = [margins[at, alone] - margins[at, other] for other in (after, last)]
        shares = [margins[at, alone] / np.where(gap == 0, 1.0, gap) for gap in gaps]
        tables = []
        for table in (self.corners[rows], self.directions[rows]):
            tip = table[at, alone]
            p, q = (_along(table, alone, other, s) for other, s in zip((after, last), shares, strict=True))
            b, c = table[at, after], table[at, last]
            one, two, all_of_it = count == 1, count == 2, count == 3
            pieces = [np.stack(corners, axis=1) for corners in ((tip, p, q), (p, b, c), (p, c, q))]
            tables.append(np.concatenate([pieces[0][one], pieces[1][two], pieces[2][two], table[all_of_it]]))
        return replace(self, corners=tables[0], directions=tables[1]).chosen(np.arange(len(tables[0])))


def _unit(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


def _along(table: Array, start: Array, end: Array, share: Array) -> Array:
    """Return what lies between two corners of each row of a table (m, 3, 3)."""
    rows = np.arange(len(table))
    a, b = table[rows, start], table[rows, end]
    return np.asarray(a + share[:, None] * (b - a))


def level_surface(part: SmoothPart, lower: Array, upper: Array) -> LevelSurface:
    """Return the surface where a smooth function changes its sign within a box.

    The coarsest of three grids is taken that shows what the finest shows.
    """
    lengths = upper - lower
    steps = 4 * np.maximum(np.ceil(CELLS * lengths / np.max(lengths) / 4), FEWEST // 4).astype(int)
    inside, axes = sign_table(part.level, lower, upper, steps)
    for stride in STRIDES:
        if stride > 1 and not shown(inside, stride):
            continue
        coarse, nodes = inside[::stride, ::stride, ::stride], [axis[::stride] for axis in axes]
        surface = _triangulated(part, float(np.max(lengths)), coarse, nodes)
        if stride == 1 or not len(surface.corners):
            break
        few = np.arange(0, len(surface.corners), 1 + len(surface.corners) // 4000)
        stretch = surface.at(few, np.full((len(few), 3), 1.0 / 3.0))[2]
        if np.mean(stretch == 0) <= LOST and np.mean(stretch > STRETCH) <= 0.01:
            break
    return surface


def _triangulated(part: SmoothPart, size: float, inside: Array, axes: list[Array]) -> LevelSurface:
    from scipy.optimize import elementwise

    inner, outer, faces = crossed_edges(inside)
    nodes = grid_points(axes)
    start, along = nodes[inner], nodes[outer] - nodes[inner]
    empty = np.empty((0, 3, 3))
    reach = float(np.linalg.norm([axis[1] - axis[0] for axis in axes]))
    surface = LevelSurface(part.level, size, empty, empty, reach, part.margin)
    if not len(faces):
        return surface
    ends = (np.zeros(len(start)), np.ones(len(start)))
    share = elementwise.find_root(surface._beyond, ends, args=(*start.T, *along.T), tolerances={"xatol": 1e-14}).x
    x = start + share[:, None] * along
    faces = _joined(share, inner, outer, faces)
    corners = x[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.sum(normals * np.sum(along[faces], axis=1), axis=1) < 0
    normals[inward] *= -1.0
    mean = np.zeros_like(x)
    for corner in faces.T:
        np.add.at(mean, corner, normals)
    mean, slope = _unit(mean), _unit(part.level.gradient(x, size))
    smooth = np.sum(mean * slope, axis=1, keepdims=True) > SMOOTH
    directions = np.where(smooth, slope, mean)
    return replace(surface, corners=corners, directions=directions[faces]).chosen(np.arange(len(faces)))


def _joined(share: Array, inner: Array, outer: Array, faces: Array) -> Array:
    """Join the corners of triangles that lie at the same node of the grid, and leave out triangles without area."""
    edge = np.arange(len(share)) + 1 + max(np.max(inner), np.max(outer))
    place = np.where(share < AT_NODE, inner, np.where(share > 1.0 - AT_NODE, outer, edge))
    _, first, same = np.unique(place, return_index=True, return_inverse=True)
    faces = first[same][faces]
    proper = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 0] != faces[:, 2])
    return np.asarray(faces[proper])
