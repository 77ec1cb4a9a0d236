"""Sample where it matters (Bolager et al. 2023): neurons between pairs of points."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.samplers.protocol import Cloud, check_width
from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import spelled

Array = np.ndarray
#: tanh(±HALF) = ±½, so that a neuron rises from −½ to ½ between the points of its pair.
HALF = float(np.log(3.0) / 2.0)
_CLOSEST = 1e-10  # points nearer than this make a flat neuron instead of a division by zero


def pair_neurons(start: Array, end: Array, activation: str = "tanh") -> HiddenLayer:
    """Return the neurons with tanh = −½ at ``start`` and +½ at ``end`` (both (M, d)).

    w = 2·HALF·(end − start)/|end − start|², b = −w·start − HALF.
    """
    difference = end - start
    squared = np.maximum(np.sum(difference**2, axis=1, keepdims=True), _CLOSEST**2)
    weights = 2.0 * HALF * difference / squared
    return HiddenLayer(weights, start.copy(), np.full(len(start), -HALF), activation)


@spelled(SettingsError)
@dataclass(frozen=True)
class SWIM:
    """Weights and biases from pairs of points, uniform or with density |Δf| / |Δx|.

    Parameters
    ----------
    width
        Number of neurons.
    values
        Function values at the points, shape (n,) or (n, k), for the supervised density; None for
        uniform pairs (the paper's default, as the solution is not known in advance).
    pool
        In windows that follow the solution, how many points to draw pairs from, placed at random by its slope; None
        takes the quadrature points.
    supervised
        In such windows, take the solution's values at these points for the density.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> fp.samplers.SWIM(20).sample(fp.Interval(0, 1).sample(50), rng=0).width
    20
    """

    width: int
    values: Array | None = field(default=None, repr=False)
    activation: str = "tanh"
    name: str = "swim"
    minimal_distance: float = 1e-10
    pool: int | None = None
    supervised: bool = False

    def __post_init__(self) -> None:
        check_width(self.width)

    def informed(self, values: Array) -> SWIM:
        """Return the sampler that knows function values at its points, if it is to make use of them."""
        return replace(self, values=values) if self.supervised else self

    def sample(self, points: Cloud, rng: int | np.random.Generator) -> HiddenLayer:
        """Draw pairs and place one neuron between the points of each."""
        x, generator = points.x, np.random.default_rng(rng)
        start, end = self.candidates(len(x), generator)
        chosen = generator.choice(len(start), self.width, replace=True, p=self.density(x, start, end))
        return pair_neurons(x[start[chosen]], x[end[chosen]], self.activation)

    def candidates(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw as many ordered pairs of distinct points as needed, at least n of them."""
        if n < 2:
            raise SettingsError(f"SWIM needs at least 2 points to draw pairs from, got {n}.")
        count = n * max(1, -(-self.width // n))
        start = rng.integers(0, n, count)
        return start, (start + rng.integers(1, n, count)) % n

    def density(self, x: Array, start: Array, end: Array) -> Array | None:
        """Return the probability of each candidate pair; None means uniform."""
        if self.values is None:
            return None
        values = np.asarray(self.values, dtype=float).reshape(len(self.values), -1)
        if len(values) != len(x):
            raise SettingsError(f"SWIM got {len(values)} function values for {len(x)} points; give one per point.")
        distance = np.maximum(np.linalg.norm(x[end] - x[start], axis=1), self.minimal_distance)
        slope = np.max(np.abs(values[end] - values[start]), axis=1) / distance
        total = np.sum(slope)
        return slope / total if total >= self.minimal_distance else None
