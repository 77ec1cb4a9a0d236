"""Whether a basis still resolves the solution, by its last functions: they are ordered from smooth to rough."""

from __future__ import annotations

import numpy as np

from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.integrators import Trajectory
from frozenpinn.search.rules import WindowRules

Array = np.ndarray


class Watch:
    """Detects when a basis no longer resolves the solution: its finest tenth carries more than ``limit`` of it.

    ``least`` is the smallest size shares refer to: what remains after a known part is subtracted may begin at zero.
    """

    def __init__(self, system: Discretisation, threshold: float, rules: WindowRules, least: float = 0.0) -> None:
        self._least = least
        self._layout, self._negligible = system.layout, rules.negligible
        self._bases = [space.network for space in system.spaces]
        self.first = self.share(system.initial_state)
        self.limit = max(threshold, rules.slack * self.first)

    def __call__(self, t: float, y: Array) -> bool:
        """Return whether the integrator must stop."""
        return self.share(y) > self.limit

    def until(self, trajectory: Trajectory, start: float) -> float:
        """Return up to when a trajectory is resolved: steps may be long, and the last one has gone too far."""
        low, high = start, trajectory.end
        for count in (32, 8, 8):
            times = np.linspace(low, high, count + 1)[1:]
            beyond = [self.share(y) > self.limit for y in trajectory(times)]
            if not any(beyond):
                break
            first = int(np.argmax(beyond))
            low, high = (low if first == 0 else float(times[first - 1])), float(times[first])
        return high

    def share(self, y: Array) -> float:
        """Return the share of the solution in the finest tenth, the largest of all fields and axes."""
        return max(self.shares(y))

    def shares(self, y: Array) -> tuple[float, ...]:
        """Return for each axis the share of the solution in its finest tenth, the largest of all fields."""
        parts = [orders[0] for orders in self._layout.split(y)]
        sizes = [float(np.linalg.norm(c)) for c in parts]
        floor = max(self._negligible * max(sizes), self._least)
        tails = [basis.shares(c) for c, basis in zip(parts, self._bases, strict=True)]
        return tuple(
            max(tail / max(size, floor) if floor else 0.0 for tail, size in zip(axis, sizes, strict=True))
            for axis in zip(*tails, strict=True)
        )
