"""Points on the zeros of a level function, by Newton's method from points of a domain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from frozenpinn.runtime.round_off import TINY

Array = np.ndarray


class Reached(NamedTuple):
    """Points that Newton's method has reached, unit normals there, and what is left of the level as a distance."""

    x: Array
    normals: Array
    distance: Array


def reached(program: Callable[..., Sequence[Array]], x: Array) -> Reached:
    """Go from points (n, d) to the zeros of a level function; ``program`` returns it and its slopes at coordinates.

    Points at which it is not finite or has no slope are at an infinite distance.
    """
    steps = 60  # of Newton's method
    for _ in range(steps):
        value, slope = _level(program, x)
        with np.errstate(all="ignore"):
            square = np.maximum(np.sum(slope**2, axis=1), TINY)
            x = x - np.clip(value / square, -1e6, 1e6)[:, None] * slope
    value, slope = _level(program, x)
    length = np.linalg.norm(slope, axis=1)
    with np.errstate(all="ignore"):
        known = np.all(np.isfinite(x), axis=1) & (length > 0)
        return Reached(x, slope / length[:, None], np.where(known, np.abs(value) / length, np.inf))


def _level(program: Callable[..., Sequence[Array]], x: Array) -> tuple[Array, Array]:
    with np.errstate(all="ignore"):
        value, *slopes = program(*x.T)
    return np.broadcast_to(value, len(x)), np.stack([np.broadcast_to(s, len(x)) for s in slopes], axis=1)
