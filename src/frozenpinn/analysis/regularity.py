"""Is a function smooth along a line? Jumps, corners and noise are told apart by its differences.

Fourth differences D over the distance h tell: D ~ h⁴ for smooth functions, h where a slope jumps, independent of h
where the value jumps, and the same at all places and distances for noise. What looks like a jump is looked at more and
more closely: narrow but smooth transitions then turn out to be smooth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from frozenpinn.statement.findings import UNDERFLOW

Array = np.ndarray
POINTS = 4096  #: on a line
VISIBLE = 1e-6  #: of the size of the data: smaller jumps and fainter noise are left alone
_STRIDES = 2 ** np.arange(9)  # distances of differences, in spacings
_FLAT = 0.25  # mean slopes of log₂ D below this, and single ones below twice this, count as none
_CANDIDATES = 3  # places that are looked at closely
_CLOSER = 64  # how much closer each look is, …
_LOOKS = 5  # … and how many there are: a jump is one over 1e-12 of the line


@dataclass(frozen=True)
class Line:
    """A function along a line: its values at equispaced places, and how to get more of them.

    Attributes
    ----------
    of
        Values at places s between 0 and 1.
    place
        How messages call a place s.
    points
        How many values are looked at first.
    """

    of: Callable[[Array], Array]
    place: Callable[[float], str]
    points: int = POINTS


class Roughness(NamedTuple):
    """What is rough along a line: ``kind`` "jump", "corner" or "noise", where, between which values, how much of it."""

    kind: str
    where: str = ""
    before: float = 0.0
    after: float = 0.0
    level: float = 0.0


def classify(line: Line, least: float = 0.0) -> Roughness | None:
    """Return what is rough along a line, None if it is smooth, or nothing but round-off below ``least``.

    Examples
    --------
    >>> classify(Line(lambda s: np.sign(s - 0.3), lambda s: f"x = {s:.3g}"))
    Roughness(kind='jump', where='x = 0.3', before=-1.0, after=1.0, level=0.0)
    """
    s = np.linspace(0.0, 1.0, line.points + 1)
    values = np.asarray(line.of(s), dtype=float)
    size = float(np.max(np.abs(values)))
    if not np.isfinite(size) or size < max(UNDERFLOW, least):
        return None
    finest = np.abs(fourth_differences(values, 1))
    if float(np.max(finest)) <= VISIBLE * size:
        return None
    level = noise_level(values)
    if level > VISIBLE * size:
        return Roughness("noise", level=level / size)
    peaks = [(float(s[i]), float(s[i + 4])) for i in _peaks(finest)]
    jumps = (_find_jump(line, *peak, size) for peak in peaks)
    corners = (_find_corner(line, *peak) for peak in peaks)
    return next((found for found in (*jumps, *corners) if found is not None), None)


def fourth_differences(values: Array, stride: int) -> Array:
    """Return f(x) − 4 f(x + h) + 6 f(x + 2h) − 4 f(x + 3h) + f(x + 4h)."""
    a, b, c, d, e = (values[k * stride : len(values) - (4 - k) * stride or None] for k in range(5))
    return a - 4 * b + 6 * c - 4 * d + e


def noise_level(values: Array) -> float:
    """Return the standard deviation of noise, 0 if there is none.

    Noise has differences of the same size at all distances (or at all beyond that of the samples it was given at), at
    most places and not at a few.
    """
    strides = _STRIDES[: int(np.log2(len(values))) - 3]
    differences = [fourth_differences(values, int(stride)) for stride in strides]
    sizes = np.array([float(np.sqrt(np.mean(d**2))) for d in differences])
    slopes = np.diff(np.log2(np.maximum(sizes, 1e-300)))
    if slopes[0] > 2.5:  # whatever it is, it is smooth
        return 0.0
    for k in range(len(slopes) - 2):
        everywhere = float(np.median(np.abs(differences[k]))) > 0.4 * sizes[k]
        flat = abs(float(np.mean(slopes[k : k + 3]))) < _FLAT and np.all(np.abs(slopes[k : k + 3]) < 2 * _FLAT)
        if flat and everywhere:
            return float(sizes[k] / np.sqrt(70.0))  # the sum of the squares of 1, 4, 6, 4, 1
    return 0.0


def _peaks(differences: Array) -> list[int]:
    """Return where differences are largest, at places that do not touch each other."""
    left, found = differences.copy(), []
    for _ in range(_CANDIDATES):
        at = int(np.argmax(left))
        if left[at] <= 0.1 * float(np.max(differences)):
            break
        found.append(at)
        left[max(0, at - 8) : at + 9] = 0.0
    return found


def _find_jump(line: Line, start: float, end: float, size: float) -> Roughness | None:
    """Follow the largest step into ever smaller surroundings: a jump stays as large, all else vanishes."""
    first = None
    for _ in range(_LOOKS):
        s = np.linspace(start, end, _CLOSER + 1)
        values = np.asarray(line.of(s), dtype=float)
        steps = np.diff(values)
        excess = np.abs(steps - np.median(steps))
        at = int(np.argmax(excess))
        first = float(excess[at]) if first is None else first
        if excess[at] <= max(0.3 * first, VISIBLE * size):
            return None
        start, end = float(s[max(0, at - 1)]), float(s[min(_CLOSER, at + 2)])
    return Roughness("jump", line.place((start + end) / 2), _tidy(values[0], size), _tidy(values[-1], size))


def _find_corner(line: Line, start: float, end: float) -> Roughness | None:
    """Follow the largest second difference: near a corner it grows like the distance, however close one looks."""
    middle = 0.0
    for _ in range(3):
        s = np.linspace(start, end, _CLOSER + 1)
        values = np.asarray(line.of(s), dtype=float)
        bends = [np.abs(values[2 * k :] - 2 * values[k:-k] + values[: -2 * k]) for k in (4, 8, 16)]
        sizes = [float(np.max(bend)) for bend in bends]
        if sizes[0] == 0 or not all(0.2 < np.log2(b / a) < 1.4 for a, b in pairwise(sizes)):
            return None
        middle, width = float(s[int(np.argmax(bends[0])) + 4]), (end - start) / 8
        start, end = max(0.0, middle - width / 2), min(1.0, middle + width / 2)
    return Roughness("corner", line.place(middle))


def _tidy(value: float, size: float) -> float:
    """Round a value for a message."""
    return round(float(value), 5 - int(np.floor(np.log10(size)))) + 0.0
