"""What is asked of an inference, and how its numbers are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError, warn
from frozenpinn.inverse.fit import Fit
from frozenpinn.inverse.result import Estimate
from frozenpinn.inverse.rules import InverseRules
from frozenpinn.inverse.sensors import Data, Judged, judged_numbers
from frozenpinn.inverse.unknowns import Numbers
from frozenpinn.search.settings import Task

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked: unknowns, data, how to compute, how many starts, and the probability of an interval."""

    numbers: Numbers
    data: Data
    task: Task
    rules: InverseRules
    starts: int | None = None
    level: float = 0.95

    def check(self) -> None:
        """Refuse fewer data than unknowns."""
        size, count = len(self.numbers.names), len(self.data.values)
        least = size if self.data.noise_is_known else size + 1
        if count < least:
            more = "" if self.data.noise_is_known else " and the noise, which is to be estimated,"
            raise ProblemError(
                f"{count} measurement(s) can't tell {size} unknown(s){more} apart; at least {least} are needed."
            )

    def with_data(self, given: Any) -> Question:
        """Return the same question for other data."""
        return replace(self, data=Data.read(given, self.numbers.problem))

    @property
    def quick_task(self) -> Task:
        """How an evolution is solved while its fit is looked for."""
        task, rules = self.task, self.rules
        tolerances = replace(task.tolerances, time=max(task.tolerances.time, rules.quick_rtol))
        is_line = self.numbers.problem.domain.dimension == 1  # in more dimensions widths are found
        width = rules.quick_width if is_line and task.settings.width is None else task.settings.width
        return replace(task, tolerances=tolerances, settings=replace(task.settings, width=width))

    def sigmas(
        self,
        fit: Fit | None = None,
        start: Array | None = None,
        judge: Callable[[Fit, Array], Judged] | None = None,
    ) -> Array:
        """Return the standard deviations, relative and unknown ones from a fit, the latter from some start on."""
        if fit is None or self.data.noise_is_known:
            return self.data.sigmas(self.rules, None if fit is None else fit.prediction.values)
        predicted, slopes = fit.prediction.values, fit.prediction.slopes

        def judged(sigmas: Array) -> Judged:
            if judge is None:
                return judged_numbers(self.data.values - predicted, slopes, sigmas)
            return judge(fit, sigmas)

        start = self.data.sigmas(self.rules, predicted) if start is None else start
        return self.data.estimated(self.rules, predicted, start, judged)

    def has_weights(self, sigmas: Array, others: Array) -> bool:
        """Whether deviations are in about the same proportions as others."""
        return bool(np.ptp(np.log(others / sigmas)) <= self.rules.reweigh)


def estimates_of(question: Question, theta: Array, covariance: Array, quantile: float) -> dict[str, Estimate]:
    """Return the unknown numbers with their error bars."""
    (lower, upper), rules, found = question.numbers.bounds, question.rules, {}
    for i, name in enumerate(question.numbers.names):
        value, std = float(theta[i]), float(np.sqrt(covariance[i, i]))
        width = upper[i] - lower[i] if np.isfinite(upper[i] - lower[i]) else question.numbers.scales[i]
        at = "lower" if value - lower[i] <= rules.at_bound * width else ""
        at = "upper" if upper[i] - value <= rules.at_bound * width else at
        low, high = np.clip([value - quantile * std, value + quantile * std], lower[i], upper[i])
        found[name] = Estimate(value, std, float(low), float(high), question.level, at)
    return found


def told(notes: Sequence[str]) -> tuple[str, ...]:
    """Warn of everything there is to beware of."""
    for note in notes:
        warn(note)
    return tuple(notes)
