"""A problem without the fronts that spread from its jumps, and the way back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from frozenpinn.results.added import Added
from frozenpinn.results.solution import Solution
from frozenpinn.statement.fronts import Fronts
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.remainder import known_parts, without_fronts


@dataclass(frozen=True, eq=False)
class WithoutFronts:
    """Solves for what remains of a solution after known fronts are subtracted."""

    fronts: Fronts

    def forward(self, problem: Problem) -> Problem:
        """Return the problem of what remains."""
        return without_fronts(problem, self.fronts)

    def back(self, solution: Solution, problem: Problem) -> Solution:
        """Add the fronts."""
        added = Added(known_parts(problem, self.fronts), problem.jets.coordinates)
        note = "what spreads from jumps of the data is known in closed form, and added to what the network has found"
        return replace(
            solution,
            problem=problem,
            pieces=tuple(replace(piece, added=added) for piece in solution.pieces),
            notes=(*solution.notes, note),
        )
