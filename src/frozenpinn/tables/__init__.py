"""Arrays, images and files as functions of the coordinates: splines through values on grids and at scattered points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frozenpinn.tables.table import Table

if TYPE_CHECKING:  # what __getattr__ finds
    from frozenpinn.tables.files import read_table

__all__ = ["Table", "read_table"]


def __getattr__(name: str) -> Any:
    """Import the readers of files when they are asked for."""
    if name != "read_table":
        raise AttributeError(f"module 'frozenpinn.tables' has no attribute '{name}'")
    from frozenpinn.tables.files import read_table

    return read_table
