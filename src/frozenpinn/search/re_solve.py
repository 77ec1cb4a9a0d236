"""A problem solved again for other parameters, from the sizes that it has needed before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frozenpinn.analysis.wellposedness import check_well_posed
from frozenpinn.errors import Summarised
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.budget import Budget
from frozenpinn.search.search import Search
from frozenpinn.search.settings import First, Task
from frozenpinn.search.single import Knowledge, solve_once
from frozenpinn.search.tolerances import Tolerances


def solve_again(solution: Solution, task: Task, values: Mapping[str, Any]) -> Solution:
    """Solve the problem of a solution for other values of some parameters."""
    problem, settings = solution.problem.at(**values), task.settings
    tol, seed = task.tolerances.solution, task.seed if task.asked is None else task.asked
    tolerances = Tolerances.of(tol, settings.rtol, settings.rules.search)
    fresh = Task(settings, seed, tolerances, first=sizes_needed(solution), asked=seed)
    with Summarised():
        check_well_posed(problem)
        if tol is None:
            return solve_once(problem, fresh, Knowledge()).solution
        return Search(problem, fresh, Budget(), _nobody).solve()


def sizes_needed(solution: Solution) -> First | None:
    """Return the sizes with which a search would have met its tolerance at once; None if they are not known."""
    task = solution.provenance
    if not isinstance(task, Task) or task.first is None or solution.verdict is None or solution.subspace is not None:
        return None
    grown = len(solution.verdict.attempts) > 2
    return task.first.scaled(task.effort / task.rules.search.step) if grown else task.first


def _nobody(stage: str) -> None:
    """Listen to the progress of a solve."""
