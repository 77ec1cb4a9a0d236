"""Domains: boxes, polygons, balls, solids and clouds of points, and whatever is combined of them.

All give points inside and on their named sides, quadrature weights and outward normals. Shapes other than boxes are
imported when they are first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from frozenpinn.geometry.box import Box, Interval
from frozenpinn.geometry.domain import Domain
from frozenpinn.geometry.points import BoundaryPoints, FlatSide, Points, Side

if TYPE_CHECKING:  # what __getattr__ finds
    from frozenpinn.geometry.ball import Annulus, Ball, Disk, Ellipsoid, Shell
    from frozenpinn.geometry.rare.combination import Combination
    from frozenpinn.geometry.rare.implicit import Implicit
    from frozenpinn.geometry.rare.mesh_files import read_mesh
    from frozenpinn.geometry.rare.point_cloud import PointCloud
    from frozenpinn.geometry.rare.polygon import Polygon
    from frozenpinn.geometry.rare.relabelled import Parted, Renamed
    from frozenpinn.geometry.rare.simplicial import ConvexPolytope, Simplicial
    from frozenpinn.geometry.rare.solids import Extruded, Revolved
    from frozenpinn.geometry.rare.surface_mesh import SurfaceMesh

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

_HOMES = {
    "ball": "Annulus Ball Disk Ellipsoid Shell",
    "rare.combination": "Combination",
    "rare.implicit": "Implicit",
    "rare.mesh_files": "read_mesh",
    "rare.point_cloud": "PointCloud",
    "rare.polygon": "Polygon",
    "rare.relabelled": "Parted Renamed",
    "rare.simplicial": "ConvexPolytope Simplicial",
    "rare.solids": "Extruded Revolved",
    "rare.surface_mesh": "SurfaceMesh",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a shape when it is asked for."""
    if name not in _HOME:
        raise AttributeError(f"module 'frozenpinn.geometry' has no attribute '{name}'")
    found = getattr(import_module(f"frozenpinn.geometry.{_HOME[name]}"), name)
    globals()[name] = found
    return found
