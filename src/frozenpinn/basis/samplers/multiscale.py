"""Multi-scale neurons: centres spread evenly, lengths tied to the spacing of neurons.

A neuron rises from −½ to ½ over its length ℓ. With M neurons on an axis of length L, lengths between
``shortest`` and ``longest`` neuron spacings L/M make neighbouring neurons overlap: short enough that
the SVD layer keeps many functions, long enough that the quadrature points resolve every one. Wider
networks therefore see finer detail. Centres reach a little beyond the domain, so that functions
near a boundary have neurons on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.samplers.grading import Grading
from frozenpinn.basis.samplers.protocol import Cloud, check_width
from frozenpinn.basis.samplers.swim import HALF
from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import spelled

Array = np.ndarray


@spelled(SettingsError)
@dataclass(frozen=True)
class MultiScale:
    """Stratified centres, random directions, log-uniform lengths.

    Parameters
    ----------
    width
        Number of neurons.
    shortest, longest
        Range of lengths in units of the neuron spacing.
    margin
        How far centres reach beyond the domain, as a fraction of its size.
    grading
        In one dimension, where to put more and shorter neurons; None spreads them evenly.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> fp.solve(rod, settings=fp.Settings(sampler=fp.samplers.MultiScale(30))).report.sampler
    'multi-scale'
    """

    width: int
    shortest: float = 6.0
    longest: float = 24.0
    margin: float = 0.1
    activation: str = "tanh"
    name: str = "multi-scale"
    grading: Grading | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_width(self.width)
        if not (0 < self.shortest <= self.longest < np.inf and 0 <= self.margin < np.inf):
            raise SettingsError(
                f"MultiScale needs 0 < shortest <= longest and margin >= 0, "
                f"got {self.shortest}, {self.longest}, {self.margin}."
            )

    def sample(self, points: Cloud, rng: int | np.random.Generator) -> HiddenLayer:
        """Draw centres, directions and lengths for the bounding box of the points."""
        fewest = 4.0  # spacings of points over which a neuron rises, at least; most rise over ten
        generator = np.random.default_rng(rng)
        x = points.x
        lower, upper = x.min(axis=0), x.max(axis=0)
        size, dimension = upper - lower, x.shape[1]
        if self.grading is not None:
            return self._graded(self.grading, generator)
        centres = lower - self.margin * size + (1 + 2 * self.margin) * size * self.strata(dimension, generator)
        per_axis = self.width ** (1.0 / dimension)
        low, high = (np.log(min(k / per_axis, 4.0)) for k in (self.shortest, self.longest))
        lengths = np.exp(generator.uniform(low, high, self.width))
        directions = self.directions(dimension, generator) / size
        weights = 2.0 * HALF * directions / lengths[:, None]
        if dimension > 1:  # a neuron that rises between two points is one that the quadrature does not see
            steps = np.linalg.norm(weights * points.spacing, axis=1) / (2.0 * HALF)
            weights /= np.maximum(1.0, fewest * steps)[:, None]
        return HiddenLayer(weights, centres, np.zeros(self.width), self.activation)

    def graded(self, grading: Grading) -> MultiScale:
        """Return the sampler that puts more and shorter neurons where a grading is dense."""
        return replace(self, grading=grading)

    def _graded(self, grading: Grading, rng: np.random.Generator) -> HiddenLayer:
        """Draw neurons evenly in the coordinate s of a grading; lengths follow the map."""
        centres = grading.place((1 + 2 * self.margin) * self.strata(1, rng)[:, 0] - self.margin)
        low, high = (np.log(min(k / self.width, 4.0)) for k in (self.shortest, self.longest))
        lengths = np.exp(rng.uniform(low, high, self.width)) * grading.stretch(centres)
        weights = 2.0 * HALF * self.directions(1, rng)[:, 0] / lengths
        return HiddenLayer(weights[:, None], centres[:, None], np.zeros(self.width), self.activation)

    def strata(self, dimension: int, rng: np.random.Generator) -> Array:
        """Return one centre per stratum of every axis (a Latin hypercube) in the unit cube."""
        cells = np.stack([rng.permutation(self.width) for _ in range(dimension)], axis=1)
        return (cells + rng.random((self.width, dimension))) / self.width

    def directions(self, dimension: int, rng: np.random.Generator) -> Array:
        """Return random unit vectors."""
        vectors = rng.normal(size=(self.width, dimension))
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
