"""Solving a problem in another form: forward, solve, back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from frozenpinn.errors import IntegrationError
from frozenpinn.results.solution import Solution
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.protocol import Transform

T = TypeVar("T")


def solve_through(
    transform: Transform, problem: Problem, solve: Callable[[Problem], tuple[Solution, T]]
) -> tuple[Solution, T]:
    """Solve a problem in another form, and return what else the solve returns.

    What a solve that fails has found until then comes back as well.
    """
    try:
        solution, rest = solve(transform.forward(problem))
    except IntegrationError as error:
        if error.solution is not None:
            error.solution = transform.back(error.solution, problem.during(error.solution.problem.time))
        raise
    return transform.back(solution, problem), rest
