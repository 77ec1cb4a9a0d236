"""The boundary of a solid given by a level function that may be the largest or smallest of several smooth ones.

Each smooth function has its own surface, and a margin that is positive where this bounds the solid. Triangles across an
edge of the solid are cut into four twice, then along the straight line on which the margin vanishes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from frozenpinn.errors import SettingsError
from frozenpinn.geometry.level_surface import LevelSurface, level_surface
from frozenpinn.geometry.moments import degree_for, fitted_weights, moments, solid_moments
from frozenpinn.geometry.points import SCATTERED_RULES
from frozenpinn.geometry.predicates import LevelFunction
from frozenpinn.geometry.simplices import lattice, place_in_simplices, volumes
from frozenpinn.runtime.memo import remembered

Array = np.ndarray
QUARTERS = 2  # times that triangles across an edge are cut into four
FIRST_LOOK, LATER_LOOK = 4, 2  # parts of the edges of triangles at whose ends it is seen what crosses them
MOST_POINTS = 160_000  # of the rule that measures the boundary
HIGHEST_ORDER = 3  # Gauss points per direction on each triangle
CLOSED = 5e-4  # how far the volumes along three axes may differ if moments are taken from the surface


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
        total = sum(len(piece.corners) for piece in self.pieces if not piece.order)
        order = int(np.clip((MOST_POINTS / max(total, 1)) ** 0.5, 1, HIGHEST_ORDER))
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
        return bool(np.ptp(self.volumes) <= CLOSED * abs(np.mean(self.volumes)))

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
    if surface.margin is None:
        return (surface,)
    nodes = lattice(FIRST_LOOK)
    x = np.einsum("qv,mvd->qmd", nodes, surface.corners).reshape(-1, 3)  # near the surface
    within = surface.margins(x).reshape(len(nodes), -1) > 0
    whole, some = np.all(within, axis=0), np.any(within, axis=0)
    parts = [surface.chosen(np.flatnonzero(whole))]
    rest = surface.quartered(np.flatnonzero(some & ~whole))
    nodes = lattice(LATER_LOOK)
    corner = np.argmax(nodes, axis=0)
    for step in range(QUARTERS):
        count = len(rest.corners)
        x, _, _ = rest.at(np.tile(np.arange(count), len(nodes)), np.repeat(nodes, count, axis=0))
        margins = rest.margins(x).reshape(len(nodes), count)
        whole, some = np.all(margins > 0, axis=0), np.any(margins > 0, axis=0)
        parts.append(replace(rest.chosen(np.flatnonzero(whole)), order=1))
        across = np.flatnonzero(some & ~whole)
        if step == QUARTERS - 1:
            parts.append(replace(rest.cut(across, margins[corner][:, across].T), order=1))
        else:
            rest = rest.quartered(across)
    return tuple(part for part in parts if len(part.corners))
