"""Problems with known solutions on which estimates of the error are compared with true errors."""

from __future__ import annotations

from frozenpinn.benchmarks.calibration.collection import collection
from frozenpinn.benchmarks.calibration.entry import GROUPS, Entry
from frozenpinn.benchmarks.calibration.generated import SEEDS, describe, draft, manufactured

__all__ = ["GROUPS", "SEEDS", "Entry", "collection", "describe", "draft", "manufactured"]
