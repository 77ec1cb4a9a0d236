"""What is asked of an inference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError, SettingsError
from frozenpinn.inverse.field_basis import field_basis
from frozenpinn.inverse.rules import InverseRules
from frozenpinn.inverse.sensors import Data
from frozenpinn.inverse.unknowns import Numbers, beyond_tangents, check_present
from frozenpinn.runtime.arguments import is_whole, shown
from frozenpinn.search.settings import Settings, Task, Tolerances
from frozenpinn.solve import kind_of
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.unknowns import UnknownField

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

    @classmethod
    def asked(
        cls, who: str, problem: Problem, data: Any, seed: int, settings: Settings | None, rules: InverseRules | None
    ) -> Question:
        """Check what was given, and put it into one value."""
        if not isinstance(problem, Problem):
            raise SettingsError(f"{who}() takes a Problem, got {type(problem).__name__}.")
        if not problem.parameters.inferred:
            raise ProblemError(
                "the problem has no unknown: write one into it, such as parameters={'k': Unknown(1.0)}, or call "
                "solve(problem)."
            )
        check_present(problem)
        special = beyond_tangents(problem)
        if special and (problem.is_static or problem.parameters.unknown_fields):
            raise SettingsError(
                f"{who}() knows {special} in evolutions with unknown numbers only. Instead of a jump, write a smooth "
                "transition such as tanh((x - a)/w); instead of an unknown field, one with unknown numbers in it."
            )
        _check_frame(who, problem)
        settings = Settings() if settings is None else settings
        if not isinstance(settings, Settings):
            raise SettingsError(f"settings is a value such as fp.Settings(width=200), got {shown(settings)}.")
        if not is_whole(seed) or seed < 0:
            raise SettingsError(f"seed must be a whole number from 0 on, got {shown(seed)}.")
        if rules is not None and not isinstance(rules, InverseRules):
            raise SettingsError(
                f"rules is a value such as frozenpinn.inverse.rules.InverseRules(), got {shown(rules)}."
            )
        task = Task(settings, seed, Tolerances.of(None, settings.rtol, settings.rules.search), kind=kind_of(problem))
        return cls(Numbers(problem), Data.read(data, problem), task, InverseRules() if rules is None else rules)

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

    def with_bases(self, seed: int = 0) -> Question:
        """Give every unknown field functions that it is combined of."""
        problem, widths = self.numbers.problem, self.rules.field_width
        bases = tuple(field_basis(name, problem, widths, seed) for name in problem.parameters.unknown_fields)
        return replace(self, numbers=Numbers(problem, bases))

    def with_seed(self, further: int) -> Question:
        """Return the same question for other networks, of the solution and of fields."""
        seed = self.task.seed + further
        return replace(self, task=replace(self.task, seed=seed)).with_bases(seed)

    @cached_property
    def free(self) -> Array:
        """Which unknowns have no prior: numbers, and the mean of each field."""
        means = [own.start for _, own in self.numbers.parts()]
        return np.array([*range(len(self.numbers.names)), *means], dtype=int)

    @cached_property
    def free_names(self) -> tuple[str, ...]:
        """Their names."""
        return (*self.numbers.names, *(f"the mean of {basis.name}" for basis in self.numbers.fields))

    @cached_property
    def free_scales(self) -> Array:
        """Their sizes."""
        return np.concatenate([self.numbers.scales, np.ones(len(self.numbers.fields))])

    @property
    def accuracy(self) -> float:
        """The relative change of an unknown that is below the accuracy of solutions."""
        return 1e-11 if self.numbers.problem.is_static else max(1e-11, 0.1 * self.task.tolerances.time)


def _check_frame(who: str, problem: Problem) -> None:
    """Refuse unknown functions of coordinates that are not those of the solve."""
    frame = problem.frame
    if frame is None or not frame.is_called:
        return
    for name in problem.parameters.unknown_fields:
        value = problem.parameters.inferred[name]
        if isinstance(value, UnknownField) and value.of != ("t",):
            raise SettingsError(
                f"{who}() finds unknown numbers and functions of t in {frame.kind} coordinates, but '{name}' depends "
                "on the place. State the problem in Cartesian coordinates."
            )
