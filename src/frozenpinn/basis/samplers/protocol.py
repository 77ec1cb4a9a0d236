"""What a sampler is."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.errors import SettingsError


class Cloud(Protocol):
    """The points a sampler looks at: coordinates and typical spacing per axis."""

    @property
    def x(self) -> np.ndarray:
        """Coordinates, shape (n, d)."""

    @property
    def spacing(self) -> np.ndarray:
        """Distance between neighbours, shape (d,)."""


class Sampler(Protocol):
    """Draws the neurons of a hidden layer; same generator state, same layer, bit for bit."""

    @property
    def width(self) -> int:
        """Number of neurons."""

    @property
    def name(self) -> str:
        """How reports call this sampler."""

    def sample(self, points: Cloud, rng: int | np.random.Generator) -> HiddenLayer:
        """Draw the layer for a set of points."""


def check_width(width: int) -> None:
    """Refuse a width that is not a positive whole number."""
    if isinstance(width, bool) or not isinstance(width, int | np.integer) or width < 1:
        raise SettingsError(f"width must be a positive whole number of neurons, got {width!r}.")
