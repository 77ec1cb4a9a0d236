"""Domains: boxes so far; all give points inside and on their sides, and outward normals."""

from frozenpinn.problem.domain.box import Box, Interval
from frozenpinn.problem.domain.domain import Domain
from frozenpinn.problem.domain.points import BoundaryPoints, FlatSide, Points, Side

__all__ = ["BoundaryPoints", "Box", "Domain", "FlatSide", "Interval", "Points", "Side"]
