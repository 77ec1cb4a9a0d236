"""What would be measured of an evolution, and exact slopes of that: all tangents are integrated along the solution."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.basis.samplers import MultiScale, Waves
from frozenpinn.errors import FrozenPinnWarning, warn
from frozenpinn.geometry import Box
from frozenpinn.inverse.columns import Step, integrate_columns
from frozenpinn.inverse.curvature import Curvature
from frozenpinn.inverse.data import Data
from frozenpinn.inverse.model import Prediction
from frozenpinn.inverse.rules import TangentRules
from frozenpinn.inverse.seen import Seen, SeenTwice, jets_of
from frozenpinn.inverse.tangent import Tangent, TangentSpace, tangent_space
from frozenpinn.inverse.unknowns import Numbers, beyond_tangents
from frozenpinn.results.solution import Solution
from frozenpinn.search.settings import Task
from frozenpinn.search.single import Knowledge, solve_once
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class Run(NamedTuple):
    """A solution on the way, and what there would be to warn of if it were the last one."""

    solution: Solution
    warnings: tuple[Warning | str, ...]

    @classmethod
    def of(cls, problem: Problem, task: Task) -> Run:
        """Solve a problem without a word."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", FrozenPinnWarning)
            solution = solve_once(problem, task, Knowledge()).solution
        return cls(solution, tuple(w.message for w in caught if issubclass(w.category, FrozenPinnWarning)))

    def told(self, problem: Problem, warnings: bool = True) -> Solution:
        """Return the solution as one of a problem that states its values, and warn of what there is."""
        for message in self.warnings if warnings else ():
            warn(message)
        return replace(self.solution, problem=problem)


@dataclass(frozen=True, eq=False)
class EvolutionModel:
    """A time-dependent problem.

    Attributes
    ----------
    numbers
        The unknowns.
    data
        Where and when is measured.
    task
        With which settings and seed it is solved.
    rules
        Of the tangents.
    """

    numbers: Numbers
    data: Data
    task: Task
    rules: TangentRules

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Solve the problem, then all its tangents at once."""
        values, run = self.values(theta)
        return Prediction(values, self.slopes(theta, run), run)

    def values(self, theta: Array) -> tuple[Array, Run]:
        """Solve the problem alone."""
        problem = self._stated(theta)
        run = Run.of(problem, self.task)
        found = [s.values(problem, jets_of(s, run.solution)) for s in self.data.sensors]
        return np.concatenate(found), run

    def slopes(self, theta: Array, state: Run) -> Array:
        """Integrate the tangents along a solution, and return what the sensors see of them."""
        return self._differences(theta) if self._is_special else self._integrated(self._tangent(theta, state), state)[0]

    def bend(self, theta: Array, state: Run) -> tuple[Array, Array | None]:
        """Return the slopes, and how they change: second derivatives, one column for each pair of unknowns.

        The latter are None where they are not known: for functions, and numbers in coefficients of boundary conditions.
        """
        if self._is_special or self.numbers.fields or self.numbers.bends_conditions:
            return self.slopes(theta, state), None
        tangent = self._tangent(theta, state)
        return self._integrated(tangent, state, Curvature(tangent))

    def _tangent(self, theta: Array, state: Run) -> Tangent:
        problem = self.numbers.at(theta)
        return Tangent(problem, state.solution.jet_values, self._space(problem), self.numbers.directions)

    def _integrated(
        self, tangent: Tangent, state: Run, curvature: Curvature | None = None
    ) -> tuple[Array, Array | None]:
        """Integrate tangents, and second derivatives if wanted, and return what the sensors see of them."""
        jets = [jets_of(sensor, state.solution) for sensor in self.data.sensors]
        pairs = list(zip(self.data.sensors, jets, strict=True))
        first = [Seen(sensor, tangent, own) for sensor, own in pairs]
        second = [] if curvature is None else [SeenTwice(sensor, curvature, own) for sensor, own in pairs]

        def tell(step: Step) -> None:
            for one in (*first, *second):
                one.take(step)

        rules, time = self.rules, self.numbers.problem.time
        integrate_columns(tangent, tangent.initial, time, rules.rtol, tell, curvature, rules.looser)
        bends = np.concatenate([one.slopes for one in second]) if second else None
        return np.concatenate([one.slopes for one in first]), bends

    @property
    def _is_special(self) -> bool:
        """Whether slopes must be differences."""
        return bool(beyond_tangents(self.numbers.problem))

    def _stated(self, theta: Array) -> Problem:
        if self._is_special:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FrozenPinnWarning)  # of what a solve will tell again
                return self.numbers.problem.at(**self.numbers.values(theta))
        return self.numbers.at(theta)

    def _differences(self, theta: Array) -> Array:
        """Return slopes by differences, two solves for each number."""
        columns = []
        for i, scale in enumerate(self.numbers.scales):
            step = np.zeros(len(theta))
            step[i] = self.rules.difference * max(abs(theta[i]), 1e-3 * scale)
            high, low = (self.values(theta + sign * step)[0] for sign in (1, -1))
            columns.append((high - low) / (2.0 * step[i]))
        return np.stack(columns, axis=1)

    def _space(self, problem: Problem) -> TangentSpace:
        """Draw a network for the tangents."""
        domain, rules = problem.domain, self.rules
        d = domain.dimension
        width = rules.width[min(d, 4) - 1]
        count: Any = rules.points * width
        grid = isinstance(domain, Box) and d <= 3  # on grids, solutions that are products are evaluated axis by axis
        if grid and d > 1:
            count = [int(np.ceil(count ** (1 / d)))] * d
        points = domain.sample(count, "gauss" if grid else "sobol", self.task.seed)
        rng = np.random.default_rng(self.task.seed)
        if all(domain.periodic):
            hidden = Waves(width, rules.reach, periods=tuple(map(float, domain.lengths))).sample(points, rng)
        elif d == 1:
            hidden = MultiScale(width).sample(points, rng)
        else:
            hidden = Waves(width, rules.reach).sample(points, rng)
        per_side = 1 if d == 1 else max(8, int(rules.boundary * width / max(1, len(domain.sides))))
        return tangent_space(problem, hidden, points, rules.cutoff, per_side, self.numbers.directions)
