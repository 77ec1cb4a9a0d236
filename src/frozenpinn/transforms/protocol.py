"""What a transform is."""

from __future__ import annotations

from typing import Protocol

from frozenpinn.results.solution import Solution
from frozenpinn.statement.problem import Problem


class Transform(Protocol):
    """Another form of a problem that is easier to solve, and the way back."""

    def forward(self, problem: Problem) -> Problem:
        """Return the problem to solve instead."""

    def back(self, solution: Solution, problem: Problem) -> Solution:
        """Return the solution of the problem, given one of the other."""
