"""Sample where it matters (Bolager et al. 2023): neurons between pairs of points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.samplers.protocol import Cloud, check_width
from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import as_functions, check_flag, columns, is_whole, shown, spelled

Array = np.ndarray
#: tanh(±HALF) = ±½, so that a neuron rises from −½ to ½ between the points of its pair.
HALF = float(np.log(3.0) / 2.0)
_SUPERVISOR = "supervising function"


def pair_neurons(start: Array, end: Array, activation: str = "tanh") -> HiddenLayer:
    """Return the neurons with tanh = −½ at ``start`` and +½ at ``end`` (both (M, d)).

    w = 2·HALF·(end − start)/|end − start|², b = −w·start − HALF.
    """
    closest = 1e-10  # points nearer than this make a flat neuron instead of a division by zero
    difference = end - start
    squared = np.maximum(np.sum(difference**2, axis=1, keepdims=True), closest**2)
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
    functions
        Functions of the points (n, d) whose values supervise the density: an initial value, outer functions. Each has
        its own part in the maximum |Δf| and is scaled to size one.
    candidates
        How many pairs are drawn for each neuron, of which the density chooses; None draws one, and at least one for
        each point.

    Examples
    --------
    Uniform pairs place as many neurons everywhere; supervised ones lie where a function is steep:

    >>> import numpy as np, frozenpinn as fp
    >>> points = fp.Interval(0, 1).sample(200, "uniform")
    >>> def share(sampler):  # of neurons whose middle is near 0.7
    ...     hidden = sampler.sample(points, rng=0)
    ...     return float(np.mean(abs(-hidden.biases / hidden.weights[:, 0] - 0.7) < 0.1))
    >>> supervised = fp.samplers.SWIM(400, functions=[lambda x: np.tanh(50 * (x[:, 0] - 0.7))], candidates=10)
    >>> share(supervised) > 2 * share(fp.samplers.SWIM(400))
    True
    """

    width: int
    values: Array | None = field(default=None, repr=False)
    activation: str = "tanh"
    name: str = "swim"
    minimal_distance: float = 1e-10
    pool: int | None = None
    supervised: bool = False
    functions: Sequence[Callable[[Array], Array]] = ()
    candidates: int | None = None

    def __post_init__(self) -> None:
        check_width(self.width)
        object.__setattr__(self, "functions", as_functions(self.functions, _SUPERVISOR))
        check_flag("supervised", self.supervised)
        if self.functions and self.values is not None:
            raise SettingsError("SWIM takes function values or functions to supervise it, not both.")
        if self.candidates is not None and not (is_whole(self.candidates) and self.candidates >= 1):
            raise SettingsError(
                f"candidates is how many pairs are drawn for each neuron, at least one; got {shown(self.candidates)}."
            )
        if self.pool is not None and not (is_whole(self.pool) and self.pool >= 2):
            raise SettingsError(f"pool is how many points pairs are drawn from, at least two; got {shown(self.pool)}.")

    def informed(self, values: Array) -> SWIM:
        """Return the sampler that knows function values at its points, if it is to make use of them."""
        return replace(self, values=values) if self.supervised else self

    def sample(self, points: Cloud, rng: int | np.random.Generator) -> HiddenLayer:
        """Draw pairs and place one neuron between the points of each."""
        x, generator = points.x, np.random.default_rng(rng)
        start, end = self.pairs(len(x), generator)
        chosen = generator.choice(len(start), self.width, replace=True, p=self.density(x, start, end))
        return pair_neurons(x[start[chosen]], x[end[chosen]], self.activation)

    def pairs(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw ordered pairs of distinct points, of which the density chooses."""
        if n < 2:
            raise SettingsError(f"SWIM needs at least 2 points to draw pairs from, got {n}.")
        count = n * max(1, -(-self.width // n)) if self.candidates is None else self.candidates * self.width
        start = rng.integers(0, n, count)
        return start, (start + rng.integers(1, n, count)) % n

    def _supervision(self, x: Array) -> Array | None:
        """Return what supervises the density, shape (n, k); None if nothing does."""
        if not self.functions:
            return None if self.values is None else np.asarray(self.values, dtype=float).reshape(len(self.values), -1)
        values = columns(self.functions, x, _SUPERVISOR)
        return np.asarray(values / np.max(np.abs(values), axis=0))

    def density(self, x: Array, start: Array, end: Array) -> Array | None:
        """Return the probability of each candidate pair; None means uniform."""
        values = self._supervision(x)
        if values is None:
            return None
        if len(values) != len(x):
            raise SettingsError(f"SWIM got {len(values)} function values for {len(x)} points; give one per point.")
        distance = np.maximum(np.linalg.norm(x[end] - x[start], axis=1), self.minimal_distance)
        slope = np.max(np.abs(values[end] - values[start]), axis=1) / distance
        total = np.sum(slope)
        return slope / total if total >= self.minimal_distance else None
