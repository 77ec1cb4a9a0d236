"""Graded intervals: a map from [0, 1] that is slow where much happens, so that equal steps become unequal ones."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


class Grading:
    """A monotone map s ↦ x of [0, 1] onto an interval, with dx/ds small where a density is large.

    Parameters
    ----------
    x
        Places in increasing order, from one end of the interval to the other.
    density
        Positive values there, up to a factor: how densely points and neurons are to stand.
    steepest
        Bound of the change of dx/ds from place to place (its derivative by x): neighbouring neurons must not differ
        too much in length, however abruptly the density changes.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 2001)
    >>> grading = Grading(x, 0.1 + np.exp(-((x / 0.05) ** 2)))
    >>> grading.place(np.array([0.25, 0.5, 0.75])).round(3) + 0.0
    array([-0.278,  0.   ,  0.278])
    """

    def __init__(self, x: Array, density: Array, steepest: float = np.inf) -> None:
        gaps = np.diff(x)
        stretch = _limited(np.trapezoid(density, x) / density, gaps, steepest)
        cumulative = np.concatenate([[0.0], np.cumsum((1 / stretch[1:] + 1 / stretch[:-1]) / 2 * gaps)])
        self._x = x
        self._s = cumulative / cumulative[-1]
        self._stretch = stretch * cumulative[-1]

    def place(self, s: Array) -> Array:
        """Return x(s); beyond [0, 1] the map goes on straight."""
        inside = np.interp(s, self._s, self._x)
        before, after = np.minimum(s, 0.0), np.maximum(s - 1.0, 0.0)
        return np.asarray(inside + before * self._stretch[0] + after * self._stretch[-1])

    def stretch(self, x: Array) -> Array:
        """Return dx/ds at x: how far a unit step of s reaches."""
        return np.interp(x, self._x, self._stretch)


def _limited(lengths: Array, gaps: Array, steepest: float) -> Array:
    """Return the largest function below ``lengths`` that changes by at most ``steepest`` per unit of x."""
    if not np.isfinite(steepest):
        return lengths
    # min over y of l(y) + steepest·|x − y|: running minima from both sides
    ramp = steepest * np.concatenate([[0.0], np.cumsum(gaps)])
    from_left = np.minimum.accumulate(lengths - ramp) + ramp
    from_right = np.minimum.accumulate((lengths + ramp)[::-1])[::-1] - ramp
    return np.minimum(from_left, from_right)
