"""Whether what a file holds can be what a solve has stored: numbers that are finite, in order, and fit each other.

Checksums find damage. They have no key, so whoever makes up a file can make them up, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from frozenpinn.errors import StorageError
from frozenpinn.runtime.arguments import between, is_whole

Array = np.ndarray
_INCREASING = ("times", "starts", "ends")
_ALIKE = (("times", "states", "rates"), ("starts", "ends"), ("starts", "lengths", "coefficients"))  # of one length
_COLLOCATION = ("stages", "times", "points")


def check_arrays(arrays: Mapping[str, Array]) -> None:
    """Refuse arrays with entries that are not finite, times that do not increase, and lengths that differ."""
    for path, array in arrays.items():
        name = path.rpartition("/")[2]
        if array.dtype.kind in "fc" and not np.all(np.isfinite(array)):
            raise StorageError(f"the array '{path}' has entries that are not finite")
        if name in _INCREASING and (array.ndim != 1 or np.any(np.diff(array) <= 0)):
            raise StorageError(f"the array '{path}' does not increase")
        if name == "lengths" and np.any(array <= 0):
            raise StorageError(f"the array '{path}' has lengths that are not positive")
    for folder in {path.rpartition("/")[0] for path in arrays}:
        for names in _ALIKE:
            own = [arrays[f"{folder}/{name}"] for name in names if f"{folder}/{name}" in arrays]
            if len({len(array) if array.ndim else -1 for array in own}) > 1:
                raise StorageError(f"the arrays {', '.join(names)} of '{folder}' have different lengths")
        if f"{folder}/stages" in arrays and not _are_stages(*(arrays.get(f"{folder}/{n}") for n in _COLLOCATION)):
            raise StorageError(f"the stages of '{folder}' are not those of its steps")


def _are_stages(stages: Array | None, times: Array | None, points: Array | None) -> bool:
    """Whether stages belong to steps that are divided by points from 0 to 1."""
    if stages is None or times is None or points is None or points.ndim != 1 or not len(points):
        return False
    rising = bool(np.all(np.diff(points, prepend=0.0) > 0)) and points[-1] == 1.0
    return rising and len(stages) == 1 + (len(times) - 1) * len(points)


def check_pieces(pieces: Sequence[Mapping[str, Any]], time: Sequence[float], stopped: bool = False) -> None:
    """Refuse windows in time that leave gaps, or that do not cover the time of the problem, and impossible orders.

    Where an event has stopped a solution, its last window may reach beyond.
    """
    most_orders = 8  # time derivatives of one field
    ends = [(piece["start"], piece["end"]) for piece in pieces]
    if not ends or not all(between(t, -1e300, 1e300) for t in (*time, *(t for own in ends for t in own))):
        raise StorageError("the windows in time have no start and end")
    slack = 1e-6 * abs(time[1] - time[0])
    within = [(before[1], after[0]) for before, after in pairwise(ends)]
    end = max(ends[-1][1], time[1]) if stopped else time[1]
    joints = [(time[0], ends[0][0]), *within, (ends[-1][1], end)]
    if any(abs(a - b) > slack for a, b in joints) or any(start > end for start, end in ends):
        raise StorageError("the windows in time do not cover the time of the problem")
    for piece in pieces:
        for about in piece["expansions"]:
            if not is_whole(about["order"]) or not 0 <= about["order"] <= most_orders:
                raise StorageError(f"a field has time derivatives of order {str(about['order'])[:20]}")
