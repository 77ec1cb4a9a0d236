"""The time of a problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError
from frozenpinn.runtime.arguments import reals, shown


def read_span(time: Any) -> tuple[float, float]:
    """Return start and end of the time of a problem."""
    ends = reals(time, "time must be (start, end)", ProblemError)
    if ends.shape != (2,):
        raise ProblemError(f"time must be (start, end), got {shown(time)}.")
    start, end = map(float, ends)
    if not (np.isfinite(start) and np.isfinite(end) and end > start):
        raise ProblemError(f"time must run forward between finite values, got ({start:g}, {end:g}).")
    return start, end
