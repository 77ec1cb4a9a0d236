"""Problems with known solutions on which estimates of the error are compared with true errors."""

from __future__ import annotations

from frozenpinn.lab.calibration.collection import collection
from frozenpinn.lab.calibration.entry import GROUPS, Entry
from frozenpinn.lab.calibration.generated import SEEDS, describe, draft, manufactured

__all__ = ["GROUPS", "SEEDS", "Entry", "collection", "describe", "draft", "manufactured"]
