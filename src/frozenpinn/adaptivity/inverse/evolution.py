"""What would be measured of an evolution, and exact slopes of that: sensitivities are further fields of a problem."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from frozenpinn.adaptivity.inverse.data import Data
from frozenpinn.adaptivity.inverse.model import Prediction
from frozenpinn.adaptivity.inverse.unknowns import Numbers
from frozenpinn.adaptivity.settings import Task
from frozenpinn.adaptivity.single import Knowledge, solve_once
from frozenpinn.errors import FrozenPinnWarning, IntegrationError
from frozenpinn.results.solution import Solution
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.sensitivities import sensitivity_field, with_sensitivities

Array = np.ndarray
_SHARE, _LEAST = 0.6, 40  # neurons on which slopes are computed, as a part of those of the solution, and at least
_STEP = 1e-4  # of a difference, relative to the size of an unknown


@dataclass(frozen=True, eq=False)
class EvolutionModel:
    """A time-dependent problem.

    Attributes
    ----------
    numbers
        The unknowns.
    data
        Where and when is measured.
    task
        With which settings and seed it is solved.
    """

    numbers: Numbers
    data: Data
    task: Task

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Solve the problem, and once more together with its sensitivities."""
        values, solution = self.values(theta)
        return Prediction(values, self._slopes(theta, solution), solution)

    def values(self, theta: Array) -> tuple[Array, Solution]:
        """Solve the problem alone."""
        solution = self._solved(self._fixed(theta), self.task)
        return self._measured(solution), solution

    def _fixed(self, theta: Array) -> Problem:
        """Return the problem alone, with numbers for the unknowns."""
        return with_sensitivities(self.numbers.problem, self.numbers.values(theta), ())

    def _slopes(self, theta: Array, solution: Solution) -> Array:
        """Return exact slopes, or differences where the sensitivities can't be integrated along.

        Each unknown has a problem of its own, on a narrower network: slopes need fewer digits than values.
        """
        fields, values = self.numbers.problem.fields, self.numbers.values(theta)
        settings = replace(self.task.settings, windows=None, subspace=None)
        if self.task.grows:
            settings = replace(settings, width=_narrower(solution.width))
        task, columns = replace(self.task, settings=settings), []
        try:
            for name in self.numbers.names:
                whole = self._solved(with_sensitivities(self.numbers.problem, values, (name,)), task)
                columns.append(self._measured(whole, {f: sensitivity_field(f, name) for f in fields}))
        except IntegrationError:
            return self._differences(theta)
        return np.stack(columns, axis=1)

    def _differences(self, theta: Array) -> Array:
        columns = []
        for i, scale in enumerate(self.numbers.scales):
            step = np.zeros(len(theta))
            step[i] = _STEP * max(abs(theta[i]), 1e-3 * scale)
            high, low = (self._measured(self._solved(self._fixed(theta + s * step), self.task)) for s in (1, -1))
            columns.append((high - low) / (2.0 * step[i]))
        return np.stack(columns, axis=1)

    def _solved(self, problem: Problem, task: Task) -> Solution:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FrozenPinnWarning)  # those of the solution at the end are told
            return solve_once(problem, task, Knowledge()).solution

    def _measured(self, solution: Solution, fields: Mapping[str, str] | None = None) -> Array:
        """Return what is measured of the fields, or of what stands for them."""
        found = []
        for part, jet in zip(self.data.parts, self.data.jets, strict=True):
            assert part.times is not None
            own = jet if fields is None else replace(jet, field=fields[jet.field])
            found.append(solution.paired_values(part.points, part.times, own))
        return np.concatenate(found)


def _narrower(width: int | tuple[int, ...]) -> int | tuple[int, ...]:
    """Return the width of the network on which slopes are computed."""
    if isinstance(width, tuple):
        return tuple(max(_LEAST, int(_SHARE * w)) for w in width)
    return max(_LEAST, int(_SHARE * width))
