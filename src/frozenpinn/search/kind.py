"""What the search asks of a kind of question, and the values that they exchange."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from frozenpinn.analysis.scales import Scales
from frozenpinn.analysis.subspace import Subspace
from frozenpinn.errors import BudgetError, ConvergenceError, IntegrationError
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.stopwatch import Stopwatch
from frozenpinn.search.rules import EstimateRules, Rules
from frozenpinn.statement.problem import Problem

if TYPE_CHECKING:
    from frozenpinn.results.quantity import Goal
    from frozenpinn.search.settings import Task


class Cost(Protocol):
    """What a plan knows of a solve before it is begun."""

    @property
    def operations(self) -> float:
        """About how many floating point operations it takes."""

    @property
    def bytes(self) -> float:
        """About how much memory it takes."""


class Lesson(Protocol):
    """What a solve teaches the next one of its search; the rest is known to the kind alone."""

    @property
    def cost(self) -> Cost:
        """What the solve was planned to take."""


class Unknown:
    """Stands for what no solve has found out yet."""


UNKNOWN = Unknown()


@dataclass(frozen=True, eq=False)
class Hints:
    """What earlier solves of a search have found out.

    Attributes
    ----------
    subspace
        The directions that carry everything; None if there are none.
    settled
        Whether a solution on them has been shown to hold in all coordinates as accurately as can be asked.
    scales
        Units of the fields; None if they are of similar size.
    lesson
        What the last solve has taught; None before there is one, or after one in other coordinates.
    logarithm
        The field that is solved for by its logarithm, as its errors run away otherwise.
    """

    subspace: Subspace | Unknown | None = UNKNOWN
    settled: bool = False
    scales: Scales | Unknown | None = UNKNOWN
    lesson: Any = None
    logarithm: str | None = None


@dataclass(frozen=True, eq=False)
class Failure:
    """A solve that has found no solution.

    Attributes
    ----------
    error
        What is raised, if nothing else helps.
    time
        Where a solve in time has stopped; not a number for others.
    solution
        What was found until then; None if there is nothing.
    runaway
        Fields whose errors have run away from an unstable state, first ones first.
    widest
        By how much a wider network is worth a trial: as a multiple of the width, infinite for any.
    final
        Whether no other network would do better.
    """

    error: IntegrationError | ConvergenceError | BudgetError
    time: float = float("nan")
    solution: Solution | None = None
    runaway: tuple[str, ...] = ()
    widest: float = 1.0
    final: bool = False

    def noting(self, *decisions: Decision) -> Failure:
        """Return the failure, which no decision has prevented."""
        return self

    @property
    def is_lost(self) -> bool:
        """Whether a solve in time has stopped without reporting when."""
        return isinstance(self.error, IntegrationError) and not np.isfinite(self.time)

    @property
    def is_coarse(self) -> bool:
        """Whether a wider network may well succeed."""
        return self.widest == float("inf")

    def raised(self) -> IntegrationError | ConvergenceError | BudgetError:
        """Return the error with what was found until then."""
        if isinstance(self.error, IntegrationError):
            self.error.solution = self.solution
        return self.error


class Outcome(NamedTuple):
    """A solution, and what is known now."""

    solution: Solution
    hints: Hints

    def noting(self, *decisions: Decision) -> Outcome:
        """Return the outcome with decisions that were made before all others."""
        own = (*decisions, *self.solution.decisions)
        return self._replace(solution=replace(self.solution, decisions=own))


class Pair(NamedTuple):
    """The errors of two solutions, each estimated by the other.

    Attributes
    ----------
    coarser, finer
        The estimated errors of both; for the coarser one it is the distance.
    ratio
        What the finer one leaves of equations and data, relative to what the coarser one does.
    steps
        What errors of time steps contribute to the error of the finer one.
    """

    coarser: ErrorEstimate
    finer: ErrorEstimate
    ratio: float
    steps: float = 0.0


@dataclass(frozen=True, eq=False)
class Attempt:
    """One solve of a search: what it cost, what it warned of, what its error was found to be, and by which other one.

    Solutions that will not be returned are forgotten. ``left`` is what it leaves of its equations at held-out points,
    not a number if that was not measured; ``steps`` the part of the error that is due to steps in time; ``goal`` the
    number that is asked for. ``local`` says that it was solved on patches: residuals of one network and of many are
    not compared.
    """

    task: Task
    width: int | tuple[int, ...]
    seconds: float
    warnings: tuple[warnings.WarningMessage, ...]
    solution: Solution | None
    estimate: ErrorEstimate | None = None
    witness: Solution | None = None
    left: float = float("nan")
    steps: float = 0.0
    goal: Goal | None = None
    local: bool = False

    @property
    def error(self) -> float:
        """The estimated error, of the number if one is asked for; infinite if it is not known."""
        worst = float("nan") if self.estimate is None else self.estimate.worst
        of_fields = worst if np.isfinite(worst) else float("inf")
        if self.goal is None:
            return of_fields
        return max(self.goal.error, of_fields) if self.goal.beside else self.goal.error


class Kind(Protocol):
    """A kind of question, as the search for a tolerance sees it: problems in time, static ones."""

    def check(self, problem: Problem, task: Task) -> None:
        """Refuse settings that make no sense, and warn about those that do not fit together."""

    def attempt(self, problem: Problem, task: Task, lesson: Any, watch: Stopwatch) -> tuple[Solution, Lesson] | Failure:
        """Solve a problem once, with what an earlier solve has taught, and return what this one teaches."""

    def cost(self, problem: Problem, task: Task, lesson: Any) -> Cost:
        """Return what a solve would take."""

    def sizes(self, solution: Solution) -> dict[str, float]:
        """Return how large the fields of a solution are, to choose their units."""

    def compare(self, solution: Solution, finer: Solution, task: Task) -> ErrorEstimate:
        """Estimate the error of a solution by its distance from one that is at least as accurate."""

    def judge(self, coarser: Solution, finer: Solution, task: Task, tol: float) -> Pair:
        """Estimate the errors of two solutions, each by the other."""

    def alone(self, solution: Solution, rules: EstimateRules) -> ErrorEstimate:
        """Estimate the error of a solution without a second one, as far as it is known."""

    def remarks(self, solution: Solution, rules: EstimateRules) -> list[str]:
        """Say why a solution may be worse than was asked for."""

    def warn(self, solution: Solution, rules: Rules) -> None:
        """Warn about what is suspicious in a solution whose error is not known."""
