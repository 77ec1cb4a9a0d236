"""Spatial domains: points inside, points on named sides, outward normals, quadrature weights."""

from frozenpinn.problem.domain.box import Box, Interval
from frozenpinn.problem.domain.points import BoundaryPoints, Points, Side

__all__ = ["BoundaryPoints", "Box", "Interval", "Points", "Side"]
