"""Solving a problem in another form: forward, solve, and the view back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from frozenpinn.errors import IntegrationError
from frozenpinn.results.solution import Solution
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.views import Transform

T = TypeVar("T")


def solve_through(
    transform: Transform, problem: Problem, solve: Callable[[Problem], tuple[Solution, T]]
) -> tuple[Solution, T]:
    """Solve a problem in another form, and return what else the solve returns.

    What a solve that fails has found until then comes back as well.
    """
    view, note = transform.view(problem), transform.note
    try:
        solution, rest = solve(transform.forward(problem))
    except IntegrationError as error:
        if error.solution is not None:
            error.solution = error.solution.seen_through(view, problem.during(error.solution.problem.time), note)
        raise
    return solution.seen_through(view, problem, note), rest
