"""Values at scattered points, brought to a grid by radial functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np

from frozenpinn.tables.splines import Axis, GridSpline

Array = np.ndarray
_ALL = 2000  # points up to which every one acts everywhere; …
_NEIGHBOURS = 80  # … beyond, so many
_FINER = 2.0  # places of the grid for each point, along an axis
_MOST = 40_000  # places of the grid
_LEVELS = np.logspace(-8, 2, 21)  # penalties that are tried to make noisy values smooth
_SEED = 0


class Gridded(NamedTuple):
    """A spline, what it misses at values that it was not made of, and the noise that was taken out."""

    spline: GridSpline
    error: float
    noise: float | None


def gridded(points: Array, values: Array, ends: Sequence[tuple[float, float]], smooth: bool | float) -> Gridded:
    """Return a cubic spline on a grid over a box."""
    low, high = np.array(ends, dtype=float).T
    unit = (points - low) / (high - low)
    halves = np.random.default_rng(_SEED).permutation(len(values))
    fit, test = halves[::2], halves[1::2]
    level, noise = 0.0, None
    if smooth is not False:
        level, noise = _level(unit, values, fit, test, smooth)
    half = _radial(unit[fit], values[fit], level)
    if noise is None:
        error = float(np.sqrt(np.mean((half(unit[test]) - values[test]) ** 2)))
    else:  # how much two smooth functions differ that are made of different values
        error = 0.5 * float(np.sqrt(np.mean((half(unit) - _radial(unit[test], values[test], level)(unit)) ** 2)))
    dimension = len(ends)
    count = int(np.clip(_FINER * len(values) ** (1 / dimension), 6, _MOST ** (1 / dimension)))
    places = np.linspace(0.0, 1.0, count)
    mesh = np.stack(np.meshgrid(*[places] * dimension, indexing="ij"), -1).reshape(-1, dimension)
    grid = _radial(unit, values, level)(mesh).reshape([count] * dimension)
    axes = [Axis.of(a + (b - a) * places, 3) for a, b in ends]
    return Gridded(GridSpline.through(axes, grid), error, noise)


def _radial(points: Array, values: Array, level: float) -> Callable[[Array], Array]:
    from scipy.interpolate import RBFInterpolator

    near = None if len(values) <= _ALL else _NEIGHBOURS
    return cast(
        Callable[[Array], Array],
        RBFInterpolator(points, values, neighbors=near, smoothing=level, kernel="cubic"),
    )


def _level(points: Array, values: Array, fit: Array, test: Array, smooth: bool | float) -> tuple[float, float]:
    """Return the penalty with which half of the values foretells the other half best, and the noise."""
    best, least = 0.0, np.inf
    for level in (0.0, *_LEVELS):
        found = _radial(points[fit], values[fit], level)
        missed = float(np.sqrt(np.mean((found(points[test]) - values[test]) ** 2)))
        if missed < least:
            best, least = float(level), missed
    return best, least if smooth is True else float(smooth)
