"""Domains: boxes, polygons, balls, solids and clouds of points, and whatever is combined of them.

All give points inside and on their named sides, quadrature weights and outward normals.
"""

from frozenpinn.problem.domain.ball import Annulus, Ball, Disk, Ellipsoid, Shell
from frozenpinn.problem.domain.box import Box, Interval
from frozenpinn.problem.domain.combination import Combination
from frozenpinn.problem.domain.domain import Domain
from frozenpinn.problem.domain.implicit import Implicit
from frozenpinn.problem.domain.mesh_files import read_mesh
from frozenpinn.problem.domain.parted import Parted, Renamed
from frozenpinn.problem.domain.point_cloud import PointCloud
from frozenpinn.problem.domain.points import BoundaryPoints, FlatSide, Points, Side
from frozenpinn.problem.domain.polygon import Polygon
from frozenpinn.problem.domain.polytope import ConvexPolytope
from frozenpinn.problem.domain.product import Extruded, Revolved
from frozenpinn.problem.domain.simplicial import Simplicial
from frozenpinn.problem.domain.surface_mesh import SurfaceMesh

__all__ = [
    "Annulus",
    "Ball",
    "BoundaryPoints",
    "Box",
    "Combination",
    "ConvexPolytope",
    "Disk",
    "Domain",
    "Ellipsoid",
    "Extruded",
    "FlatSide",
    "Implicit",
    "Interval",
    "Parted",
    "PointCloud",
    "Points",
    "Polygon",
    "Renamed",
    "Revolved",
    "Shell",
    "Side",
    "Simplicial",
    "SurfaceMesh",
    "read_mesh",
]
