"""Orthogonal blocks of antithetic neurons, for isotropic functions of many variables.

A block is a random orthogonal matrix Q times a slope s: d directions that see every part of space equally. Each
direction carries two neurons, σ(±w·x + b) with one b. Their sum is even and their difference odd, and to second order

    Σᵢ σ(wᵢ·x + bᵢ) + σ(−wᵢ·x + bᵢ) = const + Σᵢ σ''(bᵢ) (wᵢ·x)²,

so that with suitable output weights one block of 2d neurons is |x|² up to O(s²), where independent Gaussian directions
need about d²/2 neurons. Slopes differ from block to block, and biases from pair to pair. Functions that are not
isotropic need many directions more than both signs of each: ``antithetic=False``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.samplers.protocol import Cloud, check_width
from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import spelled

Array = np.ndarray


@spelled(SettingsError)
@dataclass(frozen=True)
class Orthogonal:
    """Blocks s·Q with random orthogonal Q, by default each direction with both signs and one bias.

    Parameters
    ----------
    width
        Number of neurons; a block has 2d (or d), the last one what is left.
    scale
        Slope of a block, |w| times the typical distance of points from the middle along one direction: a number, or
        a range from which each block takes its own, log-uniformly. The default was chosen by fits of |x|², |x|⁴, cos|x|
        and a Gaussian in five and ten dimensions; functions with detail need steeper ones.
    biases
        Biases are uniform in [0, biases·max(1, slope)]: flat neurons are bent, and steep ones spread over the points.
        The other sign would span the same functions.
    antithetic
        Whether each direction carries two neurons, of both signs.

    Examples
    --------
    >>> from frozenpinn import Box
    >>> layer = Orthogonal(width=20, scale=0.5).sample(Box([0] * 5, [1] * 5).sample(100, "sobol", 0), rng=0)
    >>> bool(np.allclose(layer.weights[::2], -layer.weights[1::2]))
    True
    """

    width: int
    scale: float | tuple[float, float] = (0.1, 0.5)
    biases: float = 1.0
    antithetic: bool = True
    activation: str = "tanh"
    name: str = "orthogonal"

    def __post_init__(self) -> None:
        check_width(self.width)
        low, high = self._range()
        if not 0 < low <= high < np.inf:
            raise SettingsError(f"Orthogonal needs a positive scale or a range (low, high) of it, got {self.scale!r}.")
        if not isinstance(self.biases, int | float | np.number) or not 0 < self.biases < np.inf:
            raise SettingsError(f"Orthogonal needs a positive number for biases, got {self.biases!r}.")

    def _range(self) -> tuple[float, float]:
        try:
            low, high = np.broadcast_to(np.asarray(self.scale, dtype=float), 2)
        except (TypeError, ValueError):
            return np.nan, np.nan
        return float(low), float(high)

    def rescaled(self, scale: float, antithetic: bool = True) -> Orthogonal:
        """Return the sampler with other slopes, with or without pairs of both signs."""
        return replace(self, scale=scale, antithetic=antithetic)

    def sample(self, points: Cloud, rng: int | np.random.Generator) -> HiddenLayer:
        """Draw blocks around the middle of the points."""
        generator = np.random.default_rng(rng)
        x = points.x
        d = x.shape[1]
        middle = (x.min(axis=0) + x.max(axis=0)) / 2.0
        spread = float(np.sqrt(np.mean((x - middle) ** 2))) or 1.0
        low, high = np.log(self._range())
        weights, offsets = [], []
        copies = 2 if self.antithetic else 1
        for _ in range(-(-self.width // (copies * d))):
            slope = float(np.exp(generator.uniform(low, high)))
            weights.append(np.repeat(slope / spread * random_rotation(d, generator), copies, axis=0))
            offsets.append(np.repeat(generator.uniform(0.0, self.biases * max(1.0, slope), d), copies))
        stacked = np.concatenate(weights)
        if self.antithetic:
            stacked[1::2] *= -1.0
        origins = np.tile(middle, (self.width, 1))
        return HiddenLayer(stacked[: self.width], origins, np.concatenate(offsets)[: self.width], self.activation)


def random_rotation(dimension: int, rng: np.random.Generator) -> Array:
    """Return an orthogonal matrix, uniformly distributed (reflections included)."""
    q, r = np.linalg.qr(rng.normal(size=(dimension, dimension)))
    return np.asarray(q * np.where(np.diag(r) < 0, -1.0, 1.0))
