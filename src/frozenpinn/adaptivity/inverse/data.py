"""All measurements as one vector, with weights from what is known of their noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from frozenpinn.adaptivity.inverse.rules import InverseRules
from frozenpinn.adaptivity.inverse.sensors import Sensor
from frozenpinn.errors import ProblemError, SettingsError
from frozenpinn.statement.measurements import Measurements, Relative
from frozenpinn.statement.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Data:
    """Measurements of one problem.

    Attributes
    ----------
    parts
        As they were given.
    sensors
        What each part measures, and where.
    """

    parts: tuple[Measurements, ...]
    sensors: tuple[Sensor, ...]

    @classmethod
    def read(cls, given: Measurements | Sequence[Measurements], problem: Problem) -> Data:
        """Check that measurements fit a problem."""
        parts = (given,) if isinstance(given, Measurements) else given
        if not isinstance(parts, Sequence) or not parts or not all(isinstance(p, Measurements) for p in parts):
            got = "an empty list" if isinstance(parts, Sequence) and not parts else type(given).__name__
            raise SettingsError(f"infer() takes Measurements or a list of them, got {got}.")
        own = [part.within(problem) for part in parts]
        for part in own:
            part.check(problem)
        known = [part.noise is not None for part in parts]
        if any(known) != all(known):
            raise ProblemError(
                "the noise of some measurements is given and that of others is not; give all of them, or none."
            )
        return cls(tuple(parts), tuple(Sensor.of(part, problem) for part in own))

    @cached_property
    def values(self) -> Array:
        """Everything that was measured."""
        return np.concatenate([part.values for part in self.parts])

    def slices(self) -> list[tuple[Sensor, slice]]:
        """Return each sensor, and where its values stand among all."""
        ends = np.cumsum([0, *map(len, self.parts)])
        return [(s, slice(int(a), int(b))) for s, (a, b) in zip(self.sensors, pairwise(ends), strict=True)]

    def has_places_of(self, other: Data) -> bool:
        """Whether the same was measured at the same places and times."""
        pairs = list(zip(self.sensors, other.sensors, strict=False))
        return len(self.sensors) == len(other.sensors) and all(
            a.expression == b.expression
            and a.count == b.count
            and np.array_equal(a.x, b.x)
            and np.array_equal(a.weights, b.weights)
            and (a.times is b.times or np.array_equal(a.times, b.times))  # type: ignore[arg-type]
            for a, b in pairs
        )

    @property
    def noise_is_known(self) -> bool:
        """Whether standard deviations were given."""
        return self.parts[0].noise is not None

    def sigmas(self, rules: InverseRules, predicted: Array | None = None) -> Array:
        """Return the standard deviations, or multiples of them where they are to be estimated.

        Noise that is not given is the same everywhere, unless what a fit leaves says clearly that it is relative.
        """
        found, at = [], 0
        for part in self.parts:
            n = len(part)
            level = np.abs(part.values if predicted is None else predicted[at : at + n])
            at += n
            size = float(np.sqrt(np.mean(level**2))) or 1.0
            if isinstance(part.noise, Relative):
                found.append(part.noise.part * np.maximum(level, rules.reach * size))
            elif part.noise is None:
                own = np.maximum(level, rules.reach * size)
                left = None if predicted is None else part.values - predicted[at - n : at]
                found.append(own if left is not None and _is_relative(left, own, rules) else np.full(n, size))
            else:
                found.append(np.broadcast_to(part.noise, n))
        return np.concatenate(found)


def _is_relative(left: Array, sizes: Array, rules: InverseRules) -> bool:
    """Whether residuals in proportion to the values are much more likely than equal ones."""
    count = len(left)
    equal = 0.5 * count * np.log(max(float(np.mean(left**2)), 1e-300))
    relative = 0.5 * count * np.log(max(float(np.mean((left / sizes) ** 2)), 1e-300)) + float(np.sum(np.log(sizes)))
    return equal - relative > rules.clearly
