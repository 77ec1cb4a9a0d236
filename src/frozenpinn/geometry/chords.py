"""Isotropic chords: uniform points on the boundary of any region, and its measure, from inside tests alone.

The number of crossings of uniform random lines with a surface is proportional to its area, wherever and however it
lies (Cauchy–Crofton). A line through a ball crosses its sphere twice, which fixes the constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from frozenpinn.errors import SettingsError
from frozenpinn.geometry.points import SCATTERED_RULES
from frozenpinn.geometry.spheres import normal_points, sphere_measure

Array = np.ndarray
BISECTIONS = 46


@dataclass(frozen=True)
class Chords:
    """Chords of the ball around ``center`` with radius ``radius``, uniform among all lines that meet it.

    Attributes
    ----------
    middle
        Middle points of the chords, shape (n, d).
    direction
        Unit directions, shape (n, d).
    half
        Half lengths, shape (n,).
    """

    middle: Array
    direction: Array
    half: Array


def uniform_chords(n: int, center: Array, radius: float, method: str, rng: np.random.Generator) -> Chords:
    """Return n chords: a uniform direction and, across it, a uniform point of the disk of d − 1 dimensions."""
    d = len(center)
    if d == 2:
        unit = SCATTERED_RULES[method](n, 2, rng)
        angle = np.pi * unit[:, 0]
        direction = np.column_stack([np.cos(angle), np.sin(angle)])
        offset = 2.0 * unit[:, 1] - 1.0
        across = np.column_stack([-direction[:, 1], direction[:, 0]]) * offset[:, None]
    else:
        unit = SCATTERED_RULES[method](n, 2 * d + 1, rng)
        direction = normal_points(unit[:, :d])
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        across = normal_points(unit[:, d : 2 * d])
        across -= np.sum(across * direction, axis=1, keepdims=True) * direction
        across *= (unit[:, -1] ** (1.0 / (d - 1)) / np.linalg.norm(across, axis=1))[:, None]
    half = radius * np.sqrt(np.maximum(1.0 - np.sum(across**2, axis=1), 0.0))
    return Chords(center + radius * across, direction, half)


def crossings(contains: Callable[[Array], Array], chords: Chords, steps: int = 96) -> Array:
    """Return the points (m, d) where chords cross the boundary, found at ``steps`` equal steps and by bisection."""
    s = np.linspace(-1.0, 1.0, steps + 1)
    n, d = chords.middle.shape
    inside = np.empty((n, steps + 1), dtype=bool)
    per_chunk = max(1, 2_000_000 // steps)
    for start in range(0, n, per_chunk):
        rows = slice(start, start + per_chunk)
        reach = chords.half[rows, None] * s
        x = chords.middle[rows, None, :] + reach[:, :, None] * chords.direction[rows, None, :]
        inside[rows] = contains(x.reshape(-1, d)).reshape(-1, steps + 1)
    row, step = np.nonzero(inside[:, 1:] != inside[:, :-1])
    low, high = chords.half[row] * s[step], chords.half[row] * s[step + 1]
    first = inside[row, step]
    middle, direction = chords.middle[row], chords.direction[row]
    for _ in range(BISECTIONS):
        half = (low + high) / 2.0
        same = contains(middle + half[:, None] * direction) == first if len(row) else first
        low, high = np.where(same, half, low), np.where(same, high, half)
    return np.asarray(middle + ((low + high) / 2.0)[:, None] * direction)


def boundary_measure(
    contains: Callable[[Array], Array], center: Array, radius: float, chords: int = 2**14, steps: int = 96
) -> float:
    """Return the measure of the boundary by Crofton's formula, with quasi-random chords."""
    lines = uniform_chords(chords, center, radius, "sobol", np.random.default_rng(0))
    found = len(crossings(contains, lines, steps))
    return found / chords / 2.0 * sphere_measure(len(center)) * radius ** (len(center) - 1)


def boundary_points(
    contains: Callable[[Array], Array], center: Array, radius: float, n: int, method: str, rng: np.random.Generator
) -> Array:
    """Return n uniformly distributed points on the boundary."""
    kept: list[Array] = []
    have, lines = 0, n + 16
    for _ in range(60):
        kept.append(crossings(contains, uniform_chords(lines, center, radius, method, rng)))
        have += len(kept[-1])
        if have >= n:
            return np.concatenate(kept)[:n]
        rate = max(len(kept[-1]) / lines, 1e-4)
        lines = int(min(1.1 * (n - have) / rate + 16, 500_000))
    raise SettingsError(f"found only {have} of {n} points on the boundary; it is too small for its bounding box.")
