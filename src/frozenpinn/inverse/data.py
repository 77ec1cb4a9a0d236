"""All measurements as one vector, with weights from what is known of their noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from frozenpinn.errors import ProblemError, SettingsError
from frozenpinn.inverse.rules import InverseRules
from frozenpinn.inverse.sensors import Sensor
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
        """Return the standard deviations as they are given, or the size of the values of each part if they are not.

        Relative ones are parts of what a fit predicts.
        """
        found = []
        for part, (equal, relative) in zip(self.parts, self._sizes(rules, predicted), strict=True):
            own = relative * part.noise.part if isinstance(part.noise, Relative) else part.noise
            found.append(equal if own is None else np.broadcast_to(own, len(part)))
        return np.concatenate(found)

    def estimated(
        self, rules: InverseRules, predicted: Array, start: Array, judged: Callable[[Array], Judged]
    ) -> Array:
        """Return standard deviations that are not given, up to a factor, from what a fit leaves.

        They are the same for all values of a part, or in proportion to these where that is clearly more likely. Several
        parts have noise of different sizes, which are found from some start. ``judged`` makes a fit with some
        deviations and judges it.
        """
        sizes = self._sizes(rules, predicted)
        pairs = zip(sizes, self._split(start), strict=True)
        found = np.concatenate([_as_large(equal, own) for (equal, _), own in pairs])
        for _ in range(rules.noise_rounds if len(self.parts) > 1 else 0):
            before, found = found, self._rescaled(found, sizes, judged(found), rules)
            if np.max(np.abs(np.log(found / before))) <= rules.reweigh / 2:
                break
        best = judged(found).likelihood
        for k, (_, relative) in enumerate(sizes):
            others = self._split(found)
            others[k] = _as_large(relative, others[k])
            sigmas = np.concatenate(others)
            sigmas = self._rescaled(sigmas, sizes, judged(sigmas), rules) if len(self.parts) > 1 else sigmas
            likelihood = judged(sigmas).likelihood
            if likelihood > best + rules.clearly:
                found, best = sigmas, likelihood
        return found

    def suits(self, rules: InverseRules, predicted: Array, sigmas: Array) -> bool:
        """Whether residuals do not speak clearly against the proportions of deviations within each part."""
        parts = zip(
            self._split(self.values - predicted), self._split(sigmas), self._sizes(rules, predicted), strict=True
        )
        return not any(
            _likelihood(left, other) > _likelihood(left, own) + rules.clearly
            for left, own, others in parts
            for other in others
        )

    def _rescaled(
        self, sigmas: Array, sizes: Sequence[tuple[Array, Array]], judged: Judged, rules: InverseRules
    ) -> Array:
        """Return deviations that are in each part as large as what a fit with them leaves there.

        Parts that the fit follows too closely to tell have the noise of all. Relative to the values, the noise of a
        part is at least a share of that of the noisiest: none at all would make the fit go through all values.
        """
        squares, free = judged.left**2, np.maximum(1.0 - judged.leverage, 0.0)
        common = max(float(np.sum(squares)), 1e-300) / max(float(np.sum(free)), 1.0)
        found = []
        for own, left, rest in zip(self._split(sigmas), self._split(squares), self._split(free), strict=True):
            tells = float(np.sum(rest)) >= rules.own_noise
            found.append(own * np.sqrt(np.sum(left) / np.sum(rest) if tells else common))
        levels = [float(np.sqrt(np.mean(own**2))) / equal[0] for own, (equal, _) in zip(found, sizes, strict=True)]
        least = rules.least_noise * max(levels)
        return np.concatenate([own * max(1.0, least / max(r, 1e-300)) for own, r in zip(found, levels, strict=True)])

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


def _likelihood(left: Array, sizes: Array) -> float:
    """Return the logarithm of the likelihood of residuals whose deviations are a multiple of some."""
    return -0.5 * len(left) * np.log(max(float(np.mean((left / sizes) ** 2)), 1e-300)) - float(np.sum(np.log(sizes)))


def _as_large(sizes: Array, others: Array) -> Array:
    """Return sizes in the same proportions, on average as large as others."""
    return np.asarray(sizes * np.exp(np.mean(np.log(others / sizes))))


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
    return Judged(own, np.sum(q**2, axis=1), _likelihood(own * sigmas, sigmas))
