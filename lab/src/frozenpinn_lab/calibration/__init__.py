"""Problems with known solutions on which estimates of the error are compared with true errors."""

from __future__ import annotations

from frozenpinn_lab.calibration.collection import collection, static_collection
from frozenpinn_lab.calibration.entry import GROUPS, Entry
from frozenpinn_lab.calibration.generated import SEEDS, describe, draft, manufactured
from frozenpinn_lab.calibration.static_generated import static_describe, static_draft, static_manufactured

__all__ = [
    "GROUPS",
    "SEEDS",
    "Entry",
    "collection",
    "describe",
    "draft",
    "manufactured",
    "static_collection",
    "static_describe",
    "static_draft",
    "static_manufactured",
]
