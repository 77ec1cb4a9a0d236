"""Fields without a time derivative in a solution: their coefficients at any time, from those of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from frozenpinn.assembly.determined import Determined
from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.integrators.protocol import Trajectory
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.memo import recent

Array = np.ndarray


class Following(Protocol):
    """The coefficients of determined fields in time."""

    def __call__(self, times: Array, index: int, order: int) -> Array:
        """Return those of one space, or their time derivatives, shape (m, r)."""


@dataclass(frozen=True, eq=False)
class Followed:
    """Coefficients that follow from a system and its trajectory."""

    system: Discretisation
    determined: Determined
    trajectory: Trajectory

    def __call__(self, times: Array, index: int, order: int) -> Array:
        """Return the coefficients of one space, or their first time derivatives."""
        found = recent(self, (times.tobytes(), order), lambda: read_only(self._all(times, order)))
        start = sum(space.network.size for space in self.determined.spaces[:index])
        return found[:, start : start + self.determined.spaces[index].network.size]

    def _all(self, times: Array, order: int) -> Array:
        z, states = self.determined, self.trajectory(times)
        if z.is_linear and not order:
            return z.batch(times, states)
        found = np.empty((len(times), z.size))
        rates = self.system.rates(times, states) if order else states
        for i in np.argsort(times, kind="stable"):
            t = float(times[i])
            self._near(t)
            value = z(t, states[i])
            found[i] = z.rate(t, states[i], value, rates[i]) if order else value
        return found

    def _near(self, t: float) -> None:
        """Let Newton's method start from what was found nearby."""
        z = self.determined
        if not z.is_explicit:
            moments, known = self._known
            z.last.z = known[min(int(np.searchsorted(moments, t)), len(known) - 1)]

    @cached_property
    def _known(self) -> tuple[Array, Array]:
        """The roots at the ends of the steps, followed from the start on."""
        z, moments = self.determined, self.trajectory.breaks
        z.last.z, z.last.factor = z.start, None
        states = self.trajectory(moments)
        return moments, np.array([z(float(t), y) for t, y in zip(moments, states, strict=True)])


@dataclass(frozen=True, eq=False)
class StoredFollowing:
    """Coefficients that were stored: a function of time, and of the order of a derivative, for each space."""

    functions: Sequence[Callable[[float, int], Array]]

    def __call__(self, times: Array, index: int, order: int) -> Array:
        """Return the coefficients of one space, or their first time derivatives."""
        return np.array([self.functions[index](float(t), order) for t in times])
