"""Arrays, images and files as functions of the coordinates: splines through values on grids and at scattered points."""

from frozenpinn.tables.files import read_table
from frozenpinn.tables.table import Table

__all__ = ["Table", "read_table"]
