"""What a sampler is."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import Any, Protocol

import numpy as np

from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import is_whole, shown


class Cloud(Protocol):
    """The points given to a sampler: coordinates and typical spacing per axis."""

    @property
    def x(self) -> np.ndarray:
        """Coordinates, shape (n, d)."""

    @property
    def spacing(self) -> np.ndarray:
        """Distance between neighbours, shape (d,)."""


class Sampler(Protocol):
    """Draws the neurons of a hidden layer; same generator state, same layer, bit for bit.

    A sampler may have further methods, each of which returns another sampler that knows more of the problem:
    ``graded(grading)`` places neurons where a solution is steep, so that the basis can follow it; ``informed(values)``
    knows the solution at its points; ``oriented(gradient)`` knows a function that returns gradients of the data;
    ``rescaled(scale, antithetic)`` has other slopes. What a sampler does not have is left out.
    """

    @property
    def width(self) -> int:
        """Number of neurons."""

    @property
    def name(self) -> str:
        """How reports call this sampler."""

    def sample(self, points: Cloud, rng: int | np.random.Generator) -> HiddenLayer:
        """Draw the layer for a set of points."""


def with_width(sampler: Sampler, width: int) -> Sampler:
    """Return a sampler of another width."""
    if width == sampler.width:
        return sampler
    if not is_dataclass(sampler):
        raise SettingsError(
            f"the sampler '{sampler.name}' has {sampler.width} neurons and can't be given {width}; make its class a "
            "dataclass with a field 'width'."
        )
    return replace(sampler, width=width)


def check_width(width: int) -> None:
    """Refuse a width that is not a positive whole number."""
    max_width = 10**12  # beyond, sizes are no whole numbers in floating point; the memory ends long before
    if not is_whole(width) or not 1 <= width <= max_width:
        most = f" up to {max_width}" if is_whole(width) and width > max_width else ""
        raise SettingsError(f"width must be a positive whole number of neurons{most}, got {shown(width)}.")


def adapted(sampler: Sampler, method: str, *known: Any) -> Sampler:
    """Return a sampler that makes use of something known, if it has a method for that; else the sampler itself."""
    return getattr(sampler, method)(*known) if hasattr(sampler, method) else sampler
