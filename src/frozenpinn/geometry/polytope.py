"""Convex polygons and polyhedra: the convex hull of points, without any optional library."""

from __future__ import annotations

from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError
from frozenpinn.geometry.array_arguments import frozen, numbers
from frozenpinn.geometry.simplicial import Simplicial

Array = np.ndarray


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
        """Tell for each point (n, d) whether it lies in the closed domain, up to a fraction of its size."""
        x = np.asarray(x, dtype=float)
        found = np.ones(len(x), dtype=bool)
        for plane in np.unique(np.round(self._planes, 12), axis=0):
            found &= x @ plane[:-1] + plane[-1] <= tolerance * self.size
        return found

    def _shape(self) -> Any:
        from frozenpinn.geometry.polygon import shapely_or_none

        shapely = shapely_or_none()
        return shapely.Polygon(self.corners) if shapely and self.dimension == 2 else None
