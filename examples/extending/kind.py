"""A kind of question of your own: the solution that comes back after one period of its forcing.

    uₜ = uₓₓ + f(x, t) with f(x, t + 1) = f(x, t):  u(x, 1) = u(x, 0) instead of an initial value

``Periodic`` solves as ``Evolution`` does, again and again, each time from where the last solve has ended. Search and
estimate are those of all problems in time. A line in ``kind_of`` (solve.py) chooses it.
"""

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np

import frozenpinn as fp
from frozenpinn.errors import ConvergenceError
from frozenpinn.evolution.kind import Evolution
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.stopwatch import Stopwatch
from frozenpinn.search.kind import Failure
from frozenpinn.search.settings import Task


@dataclass(frozen=True)
class Periodic(Evolution):
    """Solutions on an interval with the period of their problem's time; its initial value is the first guess."""

    most: int = 30  #: periods

    def attempt(
        self, problem: fp.Problem, task: Task, lesson: Any, watch: Stopwatch
    ) -> tuple[fp.Solution, Any] | Failure:
        """Solve for one period after the other, until nothing changes."""
        enough = 0.1 * (task.tolerances.solution or 1e-6)
        x = problem.domain.sample(50, "uniform").x[:, 0]
        for count in range(1, self.most + 1):
            found = super().attempt(problem, task, lesson, watch)
            if isinstance(found, Failure):
                return found
            solution, lesson = found
            start, end = (solution(x, t) for t in problem.time)
            if np.linalg.norm(end - start) <= enough * np.linalg.norm(end):
                why = Decision("periods", f"the solution comes back after {count} of them")
                return replace(solution, decisions=(*solution.decisions, why)), lesson
            problem = problem.replaced(initial=problem.read_data(at_end(solution), "initial"))
        return Failure(ConvergenceError(f"the solution has not come back after {self.most} periods."))


def at_end(solution: fp.Solution) -> Any:
    """Return the values at the end as a function."""
    return lambda x: solution(x, solution.problem.time[1])


def main() -> None:
    f = "sin(pi*x)*(pi**2*cos(2*pi*t) - 2*pi*sin(2*pi*t)) + 2*pi*x*(1 - x)*cos(2*pi*t) + 2*sin(2*pi*t)"
    problem = fp.Problem("u_t = u_xx + f", fp.Interval(0, 1), (0, 1), "0", "u = 0", parameters={"f": f})
    home = import_module("frozenpinn.solve")
    with patch.object(home, "kind_of", lambda problem: Periodic()):  # as a line there would do
        solution = fp.solve(problem, tol=1e-8)
    print(solution.report)

    x, t = np.linspace(0, 1, 50)[:, None], np.linspace(0, 1, 11)
    true = np.sin(np.pi * x) * np.cos(2 * np.pi * t) + x * (1 - x) * np.sin(2 * np.pi * t)
    error = np.linalg.norm(solution(x, t) - true) / np.linalg.norm(true)
    print(f"error {error:.1e} of sin(πx) cos 2πt + x(1 − x) sin 2πt")
    assert error < 1e-8


if __name__ == "__main__":
    main()
