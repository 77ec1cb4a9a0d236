"""The zero level of a function in three dimensions as curved triangles: points of any number, normals and weights.

The corners of flat triangles (marching tetrahedra) lie on the surface. A point p of a flat triangle is moved along
d(p), the normals at the corners interpolated linearly, onto the surface: x = p + s d, f(x) = 0. As d is
continuous from triangle to triangle, the curved ones cover the surface without gaps, and the stretch of area,

    |x_u × x_v| / |p_u × p_v|,   x_u = p_u + s_u d + s d_u,   s_u = −∇f·(p_u + s d_u) / ∇f·d,

is known exactly. So a Gauss rule on the flat triangles becomes a rule of the same order on the surface.

Triangles on the zero level of a function in three dimensions, from its signs on a grid (marching tetrahedra).

Each cube of the grid is cut into six tetrahedra along its main diagonal, in the same way in every cube, so that the
triangles of neighbours fit together. A tetrahedron with one corner on the other side of the surface holds a triangle,
one with two holds two.

The boundary of a solid given by a level function that may be the largest or smallest of several smooth ones.

Each smooth function has its own surface, and a margin that is positive where this bounds the solid. Triangles across an
edge of the solid are cut into four twice, then along the straight line on which the margin vanishes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations

import numpy as np

from frozenpinn.errors import SettingsError
from frozenpinn.geometry.points import SCATTERED_RULES, grid_points
from frozenpinn.geometry.rare.moments import degree_for, fitted_weights, moments, solid_moments
from frozenpinn.geometry.rare.predicates import LevelFunction, SmoothPart
from frozenpinn.geometry.rare.simplices import along_curve, conical_rule, lattice, place_in_simplices, volumes
from frozenpinn.runtime.memo import remembered

Array = np.ndarray
CELLS = 96  # of the grid along the longest axis: what is narrower than one may be missed
FEWEST = 32  # along the shortest axis
STRIDES = (4, 2, 1)  # of the grid that makes the triangles, the coarsest first
OFFSETS = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)])  # corners of a cube
TETRAHEDRA = np.array(
    [[0, *np.cumsum([4 >> axis for axis in order])] for order in permutations(range(3))]
)  # from corner 0 to corner 7, one axis after the other


# ---- marching tetrahedra --------------------------------------------------------------------------


def sign_table(
    function: Callable[[Array], Array], lower: Array, upper: Array, steps: Array
) -> tuple[Array, list[Array]]:
    """Return what is inside (negative) on a grid with the given numbers of cells, and the nodes of its axes."""
    axes = [np.linspace(a, b, int(m) + 1) for a, b, m in zip(lower, upper, steps, strict=True)]
    x = grid_points(axes)
    return np.reshape(function(x) < 0, [len(axis) for axis in axes]), axes


def shown(inside: Array, stride: int) -> bool:
    """Return whether every ``stride``-th node of a grid shows what all of its nodes show.

    Edges of the coarse grid on which the sign changes more than once are few (a smooth surface touches some), and no
    node is far from the surface of the coarse grid and on its other side.
    """
    hidden = 0.05  # share of crossed edges of a coarse grid that a finer one may cross more than once
    crossed, twice = 0, 0
    for axis in range(3):
        lines = np.moveaxis(inside[tuple(slice(None, None, 1 if a == axis else stride) for a in range(3))], axis, 0)
        changes = lines[1:] != lines[:-1]
        per_edge = np.sum(changes.reshape(-1, stride, *changes.shape[1:]), axis=1)
        crossed, twice = crossed + int(np.sum(per_edge > 0)), twice + int(np.sum(per_edge > 1))
    if twice > hidden * crossed:
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


# ---- the surface of one smooth function -----------------------------------------------------------


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

        growths = 12  # of an interval in search of the surface
        columns = (*p.T, *d.T)
        start, step = self.level(p), 1e-3 * self.reach
        slope = (self._beyond(np.full(len(p), step), *columns) - start) / step
        way = np.where(start < 0, 1.0, -1.0)  # outward from inside
        guess = 1.5 * np.abs(start) / np.where(slope > 0, slope, np.inf)
        end = way * np.clip(guess, 1e-9 * self.reach, self.reach)
        missing = np.arange(len(p))
        for _ in range(growths):
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
    most_stretch = 1.05  # of the area, exceeded by one of a hundred triangles before a finer grid is taken
    lost = 1e-3  # share of points that may fail to reach the surface before a finer grid is taken
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
        if np.mean(stretch == 0) <= lost and np.mean(stretch > most_stretch) <= 0.01:
            break
    return surface


def _triangulated(part: SmoothPart, size: float, inside: Array, axes: list[Array]) -> LevelSurface:
    from scipy.optimize import elementwise

    least_cosine = 0.7  # cosine between the gradient and the mean normal of triangles, which is taken at kinks
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
    smooth = np.sum(mean * slope, axis=1, keepdims=True) > least_cosine
    directions = np.where(smooth, slope, mean)
    return replace(surface, corners=corners, directions=directions[faces]).chosen(np.arange(len(faces)))


def _joined(share: Array, inner: Array, outer: Array, faces: Array) -> Array:
    """Join the corners of triangles that lie at the same node of the grid, and leave out triangles without area."""
    at_node = 1e-6  # share of an edge within which the surface passes through its end
    edge = np.arange(len(share)) + 1 + max(np.max(inner), np.max(outer))
    place = np.where(share < at_node, inner, np.where(share > 1.0 - at_node, outer, edge))
    _, first, same = np.unique(place, return_index=True, return_inverse=True)
    faces = first[same][faces]
    proper = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 0] != faces[:, 2])
    return np.asarray(faces[proper])


# ---- the boundary of a solid ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LevelBoundary:
    """The boundary of a solid as pieces of smooth surfaces.

    Attributes
    ----------
    pieces
        Surfaces of its smooth parts, as far as they bound the solid.
    lower, upper
        Corners of the bounding box.
    """

    pieces: tuple[LevelSurface, ...]
    lower: Array
    upper: Array

    @property
    def size(self) -> float:
        """Longest edge of the bounding box."""
        return float(np.max(self.upper - self.lower))

    # ---- rules ----------------------------------------------------------------------------------

    @cached_property
    def rule(self) -> tuple[Array, Array, Array]:
        """Points, outward normals and weights of a fine rule."""
        highest_order = 3  # Gauss points per direction on each triangle
        most_points = 160_000  # of the rule that measures the boundary
        total = sum(len(piece.corners) for piece in self.pieces if not piece.order)
        order = int(np.clip((most_points / max(total, 1)) ** 0.5, 1, highest_order))
        parts = [piece.rule(piece.order or order) for piece in self.pieces]
        x, slope, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
        kept = weights > 0
        x, slope, weights = x[kept], slope[kept], weights[kept]
        return x, slope / np.linalg.norm(slope, axis=1, keepdims=True), weights

    @cached_property
    def area(self) -> float:
        """Area of the boundary."""
        return float(np.sum(self.rule[2]))

    @cached_property
    def volumes(self) -> Array:
        """The volume inside, by flow along each of the three axes: ∮ xᵢ nᵢ."""
        x, normals, weights = self.rule
        return np.asarray(weights @ ((x - (self.lower + self.upper) / 2.0) * normals))

    @property
    def closed(self) -> bool:
        """Whether the pieces fit together well enough to know integrals over the inside."""
        largest_gap = 5e-4  # how far the volumes along three axes may differ if moments are taken from the surface
        return bool(np.ptp(self.volumes) <= largest_gap * abs(np.mean(self.volumes)))

    @remembered
    def solid_moments(self, degree: int) -> Array:
        """Return integrals of polynomials of the bounding box over the inside."""
        return solid_moments(*self.rule, self.lower, self.upper, degree)

    def points(self, n: int, method: str, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return n points of uniform density on the boundary, and outward normals."""
        found: list[Array] = []
        slopes: list[Array] = []
        have = 0
        for _ in range(20):
            unit = SCATTERED_RULES[method](int(1.02 * (n - have)) + 8 if have else n, 3, rng)
            x, slope = self._placed(unit)
            found.append(x)
            slopes.append(slope)
            have += len(x)
            if have >= n:
                x, slope = np.concatenate(found)[:n], np.concatenate(slopes)[:n]
                return x, slope / np.linalg.norm(slope, axis=1, keepdims=True)
        raise SettingsError(f"found only {have} of {n} points on the boundary; it is too small for its bounding box.")

    @cached_property
    def _sizes(self) -> tuple[Array, Array]:
        """The number of the piece of each triangle, and sums of the areas of the curved triangles up to each."""
        owner = np.repeat(np.arange(len(self.pieces)), [len(piece.corners) for piece in self.pieces])
        centre = np.full((1, 3), 1.0 / 3.0)
        areas = []
        for piece in self.pieces:
            count = len(piece.corners)
            stretch = piece.at(np.arange(count), np.tile(centre, (count, 1)))[2]
            areas.append(volumes(piece.corners) * stretch)
        return owner, np.cumsum(np.concatenate(areas))

    def _placed(self, unit: Array) -> tuple[Array, Array]:
        """Return the points of the boundary that belong to points of the unit cube, and gradients; some have none."""
        owner, sums = self._sizes
        triangle = np.minimum(np.searchsorted(sums, unit[:, 0] * sums[-1], side="right"), len(sums) - 1)
        nodes = place_in_simplices(unit[:, 1:])
        x, slope, good = np.empty((len(unit), 3)), np.empty((len(unit), 3)), np.zeros(len(unit), dtype=bool)
        for number, piece in enumerate(self.pieces):
            rows = np.flatnonzero(owner[triangle] == number)
            first = int(np.searchsorted(owner, number))
            x[rows], slope[rows], stretch = piece.at(triangle[rows] - first, nodes[rows])
            good[rows] = (stretch > 0) & (piece.margins(x[rows]) >= 0)
        return x[good], slope[good]

    def spread(self, n: int) -> tuple[Array, Array, Array]:
        """Return n points with outward normals, and weights that integrate polynomials as the fine rule does."""
        unit = SCATTERED_RULES["sobol"](n, 3, np.random.default_rng(0))
        unit[:, 0] = (np.arange(n) + 0.5) / n  # triangles are ordered along a curve: equal shares of the area
        x, slope = self._placed(unit)
        weights = fitted_weights(x, self._moments(degree_for(len(x), 3)), self.lower, self.upper)
        return x, slope / np.linalg.norm(slope, axis=1, keepdims=True), weights

    @remembered
    def _moments(self, degree: int) -> Array:
        """Return integrals of polynomials over the boundary."""
        return moments(self.rule[0], self.rule[2], self.lower, self.upper, degree)


def level_boundary(whole: LevelFunction, lower: Array, upper: Array, grid: tuple[Array, Array]) -> LevelBoundary:
    """Return the boundary of the solid where a function is negative, found on a grid that it does not touch."""
    pieces = [piece for part in whole.smooth_parts for piece in clipped(level_surface(part, *grid))]
    return LevelBoundary(tuple(pieces), lower, upper)


def clipped(surface: LevelSurface) -> tuple[LevelSurface, ...]:
    """Return the triangles that bound the solid, smaller ones near edges of it, and parts of those across an edge."""
    first_look, later_look = 4, 2  # parts of the edges of triangles, tested at their ends for crossings
    quarters = 2  # times that triangles across an edge are cut into four
    if surface.margin is None:
        return (surface,)
    nodes = lattice(first_look)
    x = np.einsum("qv,mvd->qmd", nodes, surface.corners).reshape(-1, 3)  # near the surface
    within = surface.margins(x).reshape(len(nodes), -1) > 0
    whole, some = np.all(within, axis=0), np.any(within, axis=0)
    parts = [surface.chosen(np.flatnonzero(whole))]
    rest = surface.quartered(np.flatnonzero(some & ~whole))
    nodes = lattice(later_look)
    corner = np.argmax(nodes, axis=0)
    for step in range(quarters):
        count = len(rest.corners)
        x, _, _ = rest.at(np.tile(np.arange(count), len(nodes)), np.repeat(nodes, count, axis=0))
        margins = rest.margins(x).reshape(len(nodes), count)
        whole, some = np.all(margins > 0, axis=0), np.any(margins > 0, axis=0)
        parts.append(replace(rest.chosen(np.flatnonzero(whole)), order=1))
        across = np.flatnonzero(some & ~whole)
        if step == quarters - 1:
            parts.append(replace(rest.cut(across, margins[corner][:, across].T), order=1))
        else:
            rest = rest.quartered(across)
    return tuple(part for part in parts if len(part.corners))
