"""Domains: boxes, polygons, balls, solids and clouds of points, and whatever is combined of them.

All give points inside and on their named sides, quadrature weights and outward normals.
"""

from frozenpinn.geometry.ball import Annulus, Ball, Disk, Ellipsoid, Shell
from frozenpinn.geometry.box import Box, Interval
from frozenpinn.geometry.combination import Combination
from frozenpinn.geometry.domain import Domain
from frozenpinn.geometry.implicit import Implicit
from frozenpinn.geometry.mesh_files import read_mesh
from frozenpinn.geometry.point_cloud import PointCloud
from frozenpinn.geometry.points import BoundaryPoints, FlatSide, Points, Side
from frozenpinn.geometry.polygon import Polygon
from frozenpinn.geometry.polytope import ConvexPolytope
from frozenpinn.geometry.relabelled import Parted, Renamed
from frozenpinn.geometry.simplicial import Simplicial
from frozenpinn.geometry.solids import Extruded, Revolved
from frozenpinn.geometry.surface_mesh import SurfaceMesh

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
