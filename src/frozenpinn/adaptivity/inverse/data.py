"""All measurements as one vector, with weights from what is known of their noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from frozenpinn.adaptivity.inverse.rules import InverseRules
from frozenpinn.adaptivity.inverse.sensors import Sensor
from frozenpinn.errors import ProblemError, SettingsError
from frozenpinn.statement.measurements import Measurements, Relative
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_LEAST = 1e-9  # noise of a part, relative to its values, below which there is none


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
        """Return the standard deviations as they are given, or the size of the values of each part if they are not.

        Relative ones are parts of what a fit predicts.
        """
        found = []
        for part, (equal, relative) in zip(self.parts, self._sizes(rules, predicted), strict=True):
            own = relative * part.noise.part if isinstance(part.noise, Relative) else part.noise
            found.append(equal if own is None else np.broadcast_to(own, len(part)))
        return np.concatenate(found)

    def estimated(self, rules: InverseRules, predicted: Array, judged: Callable[[Array], Judged]) -> Array:
        """Return standard deviations that are not given, up to a factor, from what a fit leaves.

        They are the same for all values of a part, or in proportion to these where that is clearly more likely.
        ``judged`` makes a fit with some deviations and judges it.
        """
        sizes = self._sizes(rules, predicted)

        def scaled(sigmas: Sequence[Array]) -> tuple[Array, float]:
            whole = np.concatenate(sigmas)
            if len(self.parts) > 1:
                whole = whole * self._scales(judged(whole), rules)
            return whole, judged(whole).likelihood

        chosen = [equal for equal, _ in sizes]
        found, best = scaled(chosen)
        for k, (_, relative) in enumerate(sizes):
            others = [*chosen[:k], relative, *chosen[k + 1 :]]
            sigmas, likelihood = scaled(others)
            if likelihood > best + rules.clearly:
                chosen, found, best = others, sigmas, likelihood
        return found

    def _scales(self, judged: Judged, rules: InverseRules) -> Array:
        """Return for each value how large the noise of its part is, in units of the deviations of a fit.

        Parts that a fit follows too closely to tell have the noise of all.
        """
        squares, free = judged.left**2, 1.0 - judged.leverage
        common = max(float(np.sum(squares)) / max(float(np.sum(free)), 1.0), _LEAST**2)
        found = []
        for own, rest in zip(self._split(squares), self._split(free), strict=True):
            tells = float(np.sum(rest)) >= rules.own_noise
            found.append(np.full(len(own), max(np.sum(own) / np.sum(rest), _LEAST**2) if tells else common))
        return np.sqrt(np.concatenate(found))

    def _sizes(self, rules: InverseRules, predicted: Array | None) -> list[tuple[Array, Array]]:
        """Return for each part the size of its values, as an array, and that of each value, but for the smallest."""
        found = []
        for level in self._split(np.abs(self.values if predicted is None else predicted)):
            size = float(np.sqrt(np.mean(level**2))) or 1.0
            found.append((np.full(len(level), size), np.maximum(level, rules.reach * size)))
        return found

    def _split(self, values: Array) -> list[Array]:
        """Return the values of each part."""
        return np.split(values, np.cumsum([len(part) for part in self.parts])[:-1])


class Judged(NamedTuple):
    """A fit with some weights: weighted residuals, how closely each value is followed, and the log likelihood."""

    left: Array
    leverage: Array
    likelihood: float


def judged_numbers(left: Array, slopes: Array, sigmas: Array) -> Judged:
    """Judge the best fit of numbers with some weights, near one that leaves residuals."""
    q = np.linalg.qr(slopes / sigmas[:, None])[0]
    own = left / sigmas
    own = own - q @ (q.T @ own)
    spread = max(float(np.mean(own**2)), 1e-300)
    return Judged(own, np.sum(q**2, axis=1), -0.5 * len(own) * np.log(spread) - float(np.sum(np.log(sigmas))))
