"""Extreme learning machine: random weights, uniform biases (Huang et al. 2006)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.samplers.protocol import Cloud, check_width
from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import check_flag, shown, spelled


@spelled(SettingsError)
@dataclass(frozen=True)
class ELM:
    """Random weights and biases, whatever the data.

    Parameters
    ----------
    width
        Number of neurons.
    eta
        Biases are uniform in [−eta, eta].
    scale
        Standard deviation of the weights, or the end of their range.
    weights
        ``"gaussian"``: from N(0, scale²); ``"uniform"``: in [−scale, scale].
    unit
        Whether coordinates are measured from the middle of the points, in units of half their extent, rather than as
        they are: far from the origin, or on long intervals, neurons would all lie elsewhere.

    Examples
    --------
    The paper's way, and its "parameter range [−r, r]", the same for weights and biases:

    >>> import frozenpinn as fp
    >>> points = fp.Interval(0, 1).sample(10)
    >>> fp.samplers.ELM(width=50, eta=4).sample(points, rng=0).weights.shape
    (50, 1)
    >>> narrow = fp.samplers.ELM(50, eta=0.05, scale=0.05, weights="uniform").sample(points, rng=0)
    >>> bool(abs(narrow.weights).max() <= 0.05)
    True
    """

    width: int
    eta: float = 1.0
    scale: float = 1.0
    weights: str = "gaussian"
    unit: bool = False
    activation: str = "tanh"
    name: str = "elm"

    def __post_init__(self) -> None:
        check_width(self.width)
        for name in ("eta", "scale"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
                raise SettingsError(f"ELM needs a positive number for {name}, got {value!r}.")
        if self.weights not in ("gaussian", "uniform"):
            raise SettingsError(f"the weights of an ELM are 'gaussian' or 'uniform', got {shown(self.weights)}.")
        check_flag("unit", self.unit)

    def sample(self, points: Cloud, rng: int | np.random.Generator) -> HiddenLayer:
        """Draw weights and biases."""
        generator = np.random.default_rng(rng)
        shape = (self.width, points.x.shape[1])
        if self.weights == "uniform":
            weights = generator.uniform(-self.scale, self.scale, shape)
        else:
            weights = generator.normal(0.0, self.scale, shape)
        biases = generator.uniform(-self.eta, self.eta, self.width)
        if not self.unit:
            return HiddenLayer(weights, np.zeros_like(weights), biases, self.activation)
        lower, upper = points.x.min(axis=0), points.x.max(axis=0)
        origins = np.broadcast_to((lower + upper) / 2.0, shape).copy()
        return HiddenLayer(2.0 * weights / (upper - lower), origins, biases, self.activation)
