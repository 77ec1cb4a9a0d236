"""Tables of numbers that users give: read, checked, and kept from changing."""

from __future__ import annotations

from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError
from frozenpinn.runtime.arguments import reals, shown

Array = np.ndarray
SMALLEST, LARGEST = 1e-50, 1e50  # lengths of which volumes are floating point numbers


def frozen(values: Any, dtype: type = float) -> Array:
    """Return a read-only copy as an array."""
    array: Array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


def numbers(given: Any, columns: int | None, what: str) -> Array:
    """Return a table of finite numbers with one row per point, or say what is wrong with it."""
    array = np.array(reals(given, f"{what} are rows of numbers, all of the same length", ProblemError))
    if array.ndim != 2 or (columns is not None and array.shape[1] != columns):
        wanted = f"(n, {columns})" if columns else "(n, d)"
        raise ProblemError(f"{what} have the shape {wanted}, one row per point; got shape {array.shape}.")
    if not np.all(np.isfinite(array)):
        row = int(np.argmin(np.all(np.isfinite(array), axis=1)))
        raise ProblemError(f"{what} must be finite; row {row} is {place(array[row])}.")
    size = float(np.max(np.abs(array), initial=0.0))
    if size > LARGEST or 0 < size < SMALLEST:
        raise ProblemError(f"{what} reach {size:g}; lengths between {SMALLEST:g} and {LARGEST:g} can be computed with.")
    array[np.abs(array) < 1e-200 * size] = 0.0  # numbers of few digits near the end of their range
    return array


def check_dimension(dimension: object) -> None:
    """Refuse a number of coordinates that is none, or that no volume can be computed in."""
    max_dimension = 400  # beyond, the unit ball has no volume in floating point numbers
    whole = isinstance(dimension, int | np.integer) and not isinstance(dimension, bool)
    if not whole or not 1 <= dimension <= max_dimension:  # type: ignore[operator]
        raise ProblemError(f"a domain has 1 to {max_dimension} dimensions, a whole number; got {shown(dimension)}.")


def place(x: Array) -> str:
    """Return a point as text for messages."""
    return f"({', '.join(f'{c:.6g}' for c in np.atleast_1d(x))})"
