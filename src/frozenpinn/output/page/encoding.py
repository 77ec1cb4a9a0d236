"""Arrays as text."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np


def encoded(array: np.ndarray, kind: str = "<f8") -> dict[str, Any]:
    """Return an array as text, with its shape."""
    data = np.ascontiguousarray(array, dtype=kind)
    return {"shape": list(data.shape), "type": kind[1:], "data": base64.b64encode(data.tobytes()).decode("ascii")}
