"""Waves: neurons of sine activation with random frequencies in an ellipsoid.

M waves resolve about reach·M^(1/d)/π half-waves along each axis. A small reach makes smooth solutions accurate to
round-off with few neurons, a large one sees finer detail; which one a problem needs is found by a pilot
(static/families.py). On periodic axes frequencies are multiples of 2π/period.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.samplers.protocol import Cloud, check_width
from frozenpinn.errors import SettingsError

Array = np.ndarray


@dataclass(frozen=True)
class Waves:
    """Random frequencies in an ellipsoid, each with two phases a quarter of a period apart.

    Parameters
    ----------
    width
        Number of neurons; an odd one is rounded up, as they come in pairs.
    reach
        Radius of the ball of frequencies for a domain of size one, in units of width^(1/d).
    stretch
        Factors of the axes of the ellipsoid; None for a ball.
    periods
        Of each axis, None for those that are not periodic; empty for none at all.
    mixed
        Whether a third of the frequencies lies along the axes and a third in the planes of two axes: in many
        dimensions solutions are often sums of functions of few variables.
    """

    width: int
    reach: float = 1.0
    stretch: tuple[float, ...] | None = None
    periods: tuple[float | None, ...] = ()
    mixed: bool = False
    name: str = "waves"

    def __post_init__(self) -> None:
        check_width(self.width)
        if not 0.0 < self.reach < np.inf:
            raise SettingsError(f"Waves needs a positive reach, got {self.reach}.")

    def sample(self, points: Cloud, rng: int | np.random.Generator) -> HiddenLayer:
        """Draw frequencies and phases for the bounding box of the points."""
        generator, pairs = np.random.default_rng(rng), (self.width + 1) // 2
        lower, upper = points.x.min(axis=0), points.x.max(axis=0)
        dimension = len(lower)
        if len(self.periods) == dimension and None not in self.periods:
            weights = self._lattice(pairs, np.array(self.periods, dtype=float))
        else:
            weights = self._random(pairs, dimension, generator)
            weights = weights * (1.0 if self.stretch is None else np.array(self.stretch)) / (upper - lower)
            for axis, period in enumerate(self.periods):
                if period is not None:
                    step = 2.0 * np.pi / period
                    weights[:, axis] = step * np.round(weights[:, axis] / step)
        phases = generator.uniform(0.0, 2.0 * np.pi, pairs)
        origins = np.broadcast_to((lower + upper) / 2.0, (2 * pairs, dimension))
        offsets = np.repeat(phases, 2) + np.tile([0.0, np.pi / 2], pairs)
        return HiddenLayer(np.repeat(weights, 2, axis=0), origins, offsets, "sin")

    def _random(self, pairs: int, dimension: int, rng: np.random.Generator) -> Array:
        """Return frequencies in a ball, in units of one over the size of the domain."""
        if not self.mixed or dimension < 2:
            return self._ball(pairs, dimension, pairs, rng)
        out = np.zeros((pairs, dimension))
        planes = [(i, j) for i in range(dimension) for j in range(i)]
        groups: list[list[tuple[int, ...]]] = [[(i,) for i in range(dimension)], [*planes], [tuple(range(dimension))]]
        for rows, group in zip(np.array_split(np.arange(pairs), 3), groups, strict=True):
            for own, axes in zip(np.array_split(rows, len(group)), group, strict=True):
                out[own[:, None], np.array(axes)] = self._ball(len(own), len(axes), len(own), rng)
        return out

    def _ball(self, count: int, dimension: int, pairs: int, rng: np.random.Generator) -> Array:
        directions = rng.normal(size=(count, dimension))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        radii = ((np.arange(count) + rng.random(count)) / max(count, 1)) ** (1.0 / dimension)
        return np.asarray(self.reach * (2 * pairs) ** (1.0 / dimension) * radii[:, None] * directions)

    def _lattice(self, pairs: int, periods: Array) -> Array:
        """Return the slowest waves of a periodic box, one of each pair ±k."""
        stretch = np.ones(len(periods)) if self.stretch is None else np.array(self.stretch)
        bound = int(np.ceil(1.5 * (2 * pairs) ** (1.0 / len(periods)) * np.max(stretch))) + 1
        ranges = [range(-bound, bound + 1)] * (len(periods) - 1)
        k = np.array([(first, *rest) for first in range(bound + 1) for rest in product(*ranges)], dtype=float)
        size = np.linalg.norm(k / stretch, axis=1)
        order = np.lexsort((*k.T, size))
        half = [i for i in order if size[i] > 0 and next(c for c in k[i] if c) > 0]
        return 2.0 * np.pi * k[half[:pairs]] / periods
