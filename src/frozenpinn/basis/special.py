"""The classes of special functions by name, for storage."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from frozenpinn.basis.broken import Broken
from frozenpinn.basis.corners import SingularFunctions
from frozenpinn.basis.hidden import SpecialFunctions
from frozenpinn.basis.layers import LayerFunctions
from frozenpinn.basis.poles import SpacePoles

#: What a stored table is read by.
SPECIAL: Mapping[str, Callable[[np.ndarray], SpecialFunctions]] = {
    SingularFunctions.kind: SingularFunctions,
    SpacePoles.kind: SpacePoles,
    LayerFunctions.kind: LayerFunctions,
    Broken.kind: Broken,
}
