"""Arrays that belong to a value that never changes."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

Array = np.ndarray


def is_finite(values: Any) -> bool:
    """Whether all numbers are finite, by one call for their sum of squares unless that overflows.

    Examples
    --------
    >>> is_finite(np.array([1.0, 2.0])), is_finite(np.array([1e200, -np.inf])), is_finite(np.array([1e200]))
    (True, False, True)
    """
    return isfinite(np.vdot(values, values).real) or bool(np.all(np.isfinite(values)))


def read_only(array: Array) -> Array:
    """Return an array that can be handed out: the same numbers, without a copy, but nobody can write into them.

    Examples
    --------
    >>> read_only(np.zeros(2))[0] = 1.0
    Traceback (most recent call last):
    ValueError: assignment destination is read-only
    """
    view = array.view()
    view.flags.writeable = False
    return view


def fixed(array: Array) -> Array:
    """Return a copy that nobody can change, not even through the original, so that results from it may be cached.

    Examples
    --------
    >>> fixed(np.zeros(2)).base is None
    True
    """
    copy = np.array(array)
    copy.flags.writeable = False
    return copy
