"""Sines: neurons of sine activation, frequencies spread evenly over a band, phases at random.

On an interval of length L the frequencies lie about 2π/(extension·L) apart, each with two phases a quarter of a period
apart: a Fourier series on a longer interval, of which the SVD layer keeps what differs on this one. Nearly
all of its functions resolve: one and a half to half a wave at 1e-8, where neurons of tanh take seven
(``frozenpinn study half-waves``). On a periodic interval the frequencies are the multiples of 2π/L: every neuron is
periodic, and no condition is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.samplers.protocol import Cloud, check_width
from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import spelled

Array = np.ndarray


@spelled(SettingsError)
@dataclass(frozen=True)
class Sines:
    """Evenly spread frequencies in one dimension, in a ball in several.

    Parameters
    ----------
    width
        Number of neurons; an odd one is rounded up, as they come in pairs.
    extension
        Length of the Fourier series, in lengths of the domain.
    period
        Of all neurons, in one dimension; None for none.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> fp.samplers.Sines(20).sample(fp.Interval(0, 1).sample(50), rng=0).activation
    'sin'
    """

    width: int
    extension: float = 1.5
    period: float | None = None
    name: str = "sines"

    def __post_init__(self) -> None:
        check_width(self.width)
        if not 1.0 <= self.extension < np.inf or (self.period is not None and not 0.0 < self.period < np.inf):
            raise SettingsError(
                f"Sines needs extension >= 1 and a positive period or None, got {self.extension} and {self.period}."
            )

    def sample(self, points: Cloud, rng: int | np.random.Generator) -> HiddenLayer:
        """Draw frequencies and phases for the bounding box of the points."""
        generator, pairs = np.random.default_rng(rng), (self.width + 1) // 2
        lower, upper = points.x.min(axis=0), points.x.max(axis=0)
        dimension = len(lower)
        phases = generator.uniform(0.0, 2.0 * np.pi, pairs)
        if dimension > 1:
            weights = self._ball(pairs, dimension, generator) / (upper - lower)
        elif self.period is None:
            weights = 2.0 * np.pi * (np.arange(pairs) + generator.random(pairs))[:, None]
            weights = weights / (self.extension * (upper - lower))
        else:
            weights = 2.0 * np.pi / self.period * np.arange(1, pairs + 1)[:, None]
        origins = np.broadcast_to((lower + upper) / 2.0, (2 * pairs, dimension))
        return HiddenLayer(
            np.repeat(weights, 2, axis=0), origins, np.repeat(phases, 2) + np.tile([0.0, np.pi / 2], pairs), "sin"
        )

    def _ball(self, pairs: int, dimension: int, rng: np.random.Generator) -> Array:
        """Return frequencies in a ball: as many functions to a half-wave in each direction as in one dimension."""
        directions = rng.normal(size=(pairs, dimension))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        radii = ((np.arange(pairs) + rng.random(pairs)) / pairs) ** (1.0 / dimension)
        return np.asarray(np.pi / self.extension * (2 * pairs) ** (1.0 / dimension) * radii[:, None] * directions)
