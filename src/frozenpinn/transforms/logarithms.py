"""A problem for the logarithm of a field, and the way back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from frozenpinn.results.solution import Solution
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.logarithm_problem import MARGIN, in_logarithms


@dataclass(frozen=True)
class Logarithm:
    """Solves for the logarithm of a positive field, with a floor so far below all that can become visible."""

    name: str
    margin: float = MARGIN

    def forward(self, problem: Problem) -> Problem:
        """Return the problem of the logarithm."""
        found = in_logarithms(problem, self.name, self.margin)
        assert found is not None
        return found

    def back(self, solution: Solution, problem: Problem) -> Solution:
        """Return the field itself."""
        note = f"errors of '{self.name}' ran away from an unstable state: it was solved for its logarithm"
        return replace(
            solution,
            problem=problem,
            pieces=tuple(replace(piece, logarithm=self.name) for piece in solution.pieces),
            notes=(*solution.notes, note),
        )
