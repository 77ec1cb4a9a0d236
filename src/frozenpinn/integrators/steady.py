"""The trajectory of a static solution: one state for all times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from frozenpinn.integrators.protocol import NO_WORK, Work

Array = np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class SteadyState:
    """Coefficients that do not depend on time.

    Attributes
    ----------
    state
        The coefficients.
    name, work
        How it was found, and what that took.
    """

    state: Array
    name: str = "least squares"
    work: Work = NO_WORK
    kind = "steady"
    steps = 0
    end = 0.0

    @property
    def breaks(self) -> Array:
        """The one time there is."""
        return np.zeros(2)

    def __call__(self, times: Array) -> Array:
        """Return the state once for each time, shape (m, size)."""
        return np.tile(self.state, (len(np.asarray(times)), 1))

    def rates(self, times: Array) -> Array:
        """Return zeros."""
        return np.zeros((len(np.asarray(times)), len(self.state)))

    def arrays(self) -> dict[str, Array]:
        """Return the array that defines it."""
        return {"state": self.state}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> SteadyState:
        """Rebuild a stored state."""
        return cls(arrays["state"])
