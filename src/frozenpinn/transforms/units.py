"""Every field in units of its own size: fields that share matrices and tolerances should be of similar size."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from frozenpinn.analysis.scales import Scales, nondimensional
from frozenpinn.results.expansion import InUnits
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.problem import Problem


@dataclass(frozen=True)
class Units:
    """Measures every field in a unit of its own."""

    scales: Scales

    def forward(self, problem: Problem) -> Problem:
        """Return the problem in these units; coordinates and time stay."""
        return nondimensional(problem, self.scales)

    def back(self, solution: Solution, problem: Problem) -> Solution:
        """Return the solution in the user's units."""
        pullback = InUnits({name: self.scales.unit(name) for name in problem.fields})
        return replace(
            solution,
            problem=problem,
            pieces=tuple(piece.seen_through(pullback) for piece in solution.pieces),
            notes=(*solution.notes, f"fields of very different sizes: while solving, {self.scales}"),
        )


def units_of(solution: Solution) -> Scales | None:
    """Return the units in which a solution was found; None if they are those of the problem."""
    pullbacks = solution.pieces[0].expansions[0].pullbacks
    units = [pullback.units for pullback in pullbacks if isinstance(pullback, InUnits)]
    return Scales({name: round(np.log10(unit)) for name, unit in units[0].items()}) if units else None


def measured_sizes(solution: Solution) -> dict[str, float]:
    """Return the largest value of each field at some points and times."""
    problem = solution.problem
    x = problem.domain.sample(60, "random", Seed.MEASURED_SIZES).x
    times = np.linspace(*problem.time, 9)
    return {
        name: float(np.max(np.abs(solution.jet_values(x, times, problem.jets.field(name))))) for name in problem.fields
    }
