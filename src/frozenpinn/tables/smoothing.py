"""Noisy values made smooth: least squares with a penalty on third differences, on grids in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from frozenpinn.tables.splines import Axis

Array = np.ndarray
_LEVELS = np.logspace(-6, 12, 73)  # penalties that are tried, in units of the mean spacing
_ORDER = 3  # of the differences that are penalised


class Smoothed(NamedTuple):
    """Smooth values, the standard deviation of the noise, and that of what is left of it in the smooth values."""

    values: Array
    noise: float
    error: float


def smoothed(axes: Sequence[Axis], values: Array, noise: float | None) -> Smoothed:
    """Return values without noise; how much there is, is given or found by generalised cross-validation."""
    bases, penalties = zip(*(_modes(axis) for axis in axes), strict=True)
    modes = _along(values, [basis.T for basis in bases])
    total = sum(np.reshape(p, [-1 if i == j else 1 for j in range(len(axes))]) for i, p in enumerate(penalties))
    count = values.size
    best, least = _LEVELS[0], np.inf
    for level in _LEVELS:
        kept = 1.0 / (1.0 + level * total)
        rest = float(np.sum(((1.0 - kept) * modes) ** 2))
        free = count - float(np.sum(kept))
        if noise is None:
            score = count * rest / free**2 if free > 0.01 * count else np.inf
        else:
            score = abs(np.log(max(rest, 1e-300) / max(free, 1e-3)) - 2.0 * np.log(noise))
        if score < least:
            best, least = level, score
    kept = 1.0 / (1.0 + best * total)
    free = max(count - float(np.sum(kept)), 1.0)
    sigma = float(np.sqrt(np.sum(((1.0 - kept) * modes) ** 2) / free)) if noise is None else noise
    result = _along(kept * modes, list(bases))
    return Smoothed(result, sigma, sigma * float(np.sqrt(np.sum(kept**2) / count)))


def _modes(axis: Axis) -> tuple[Array, Array]:
    """Return orthonormal vectors along an axis, and how rough each is."""
    n, order = len(axis.places), min(_ORDER, len(axis.places) - 1)
    if axis.period is not None:
        difference = np.eye(n)
        for _ in range(order):
            difference = np.roll(difference, -1, axis=0) - difference
    else:
        spacing = float(axis.places[-1] - axis.places[0]) / max(n - 1, 1)
        difference, x = np.eye(n), axis.places / spacing if spacing else axis.places
        for k in range(1, order + 1):
            difference = k * np.diff(difference, axis=0) / (x[k:] - x[:-k])[:, None]
    rough, basis = np.linalg.eigh(difference.T @ difference)
    return basis, np.maximum(rough, 0.0)


def _along(values: Array, matrices: Sequence[Array]) -> Array:
    for i, matrix in enumerate(matrices):
        values = np.moveaxis(np.tensordot(matrix, values, axes=(1, i)), 0, i)
    return values
