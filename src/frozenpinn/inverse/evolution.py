"""What would be measured of an evolution, and exact slopes of that: all tangents are integrated along the solution."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from frozenpinn.basis.samplers import MultiScale, Waves
from frozenpinn.errors import FrozenPinnWarning, warn
from frozenpinn.geometry import Box
from frozenpinn.inverse.columns import Step, integrate_columns
from frozenpinn.inverse.curvature import Bend, Curvature
from frozenpinn.inverse.model import Prediction
from frozenpinn.inverse.rules import TangentRules
from frozenpinn.inverse.sensors import Data, Sensor
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
        first = [SensorJacobian(sensor, tangent, own) for sensor, own in pairs]
        second = [] if curvature is None else [SensorHessian(sensor, curvature, own) for sensor, own in pairs]

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


def jets_of(sensor: Sensor, solution: Solution) -> list[Array]:
    """Return the jets of a solution at the nodes of a sensor."""
    assert sensor.times is not None
    return [solution.paired_values(sensor.x, sensor.times, jet) for jet in sensor.jets]


class SensorJacobian:
    """The slopes of one sensor, filled step by step."""

    lifts = True  # whether boundary data are part of them

    def __init__(self, sensor: Sensor, tangent: Tangent, jets: Sequence[Array]) -> None:
        assert sensor.times is not None
        problem = tangent.problem
        self.sensor, self.tangent, self.times = sensor, tangent, sensor.times
        self.factors = sensor.factors(problem, jets)
        self.columns = slice(0, tangent.size)
        self.nodes = self._begun(jets)
        self.end = problem.time[1]
        wrapped = problem.domain.wrap(sensor.x)
        layout, space = tangent.layout, tangent.space
        self.rows = []
        for jet, factor in zip(sensor.jets, self.factors, strict=True):
            index = space.group_of(jet.field)
            own, lift = space.groups[index].tables(wrapped, jet)
            self.rows.append((index, jet.time, layout, factor[:, None] * own, factor[:, None] * lift))

    def _begun(self, jets: Sequence[Array]) -> Array:
        """Return what the unknowns do to the sensor by themselves."""
        direct = self.sensor.direct(self.tangent.problem, jets, self.tangent.unknowns)
        return np.zeros((len(self.sensor.x), self.tangent.size)) if direct is None else direct

    def take(self, step: Step) -> None:
        """Add what the states of a step say at the times within it."""
        last = step.start + step.length
        inside = (self.times >= step.start) & ((self.times < last) | (last >= self.end * (1 - 1e-14)))
        chosen = np.flatnonzero(inside & (self.times <= last * (1 + 1e-14) + 1e-300))
        if len(chosen):
            self._add(step, chosen, Step.shares((self.times[chosen] - step.start) / step.length))

    def _add(self, step: Step, chosen: Array, shares: Array) -> None:
        for index, order, layout, own, lift in self.rows:
            for k, state in enumerate(step.states):
                part = layout.split(state[:, self.columns])[index][order]
                self.nodes[chosen] += shares[:, k : k + 1] * (own[chosen] @ part)
            for t in np.unique(self.times[chosen]) if self.lifts and self.tangent.space.groups[index].sides else ():
                same = chosen[self.times[chosen] == t]
                self.nodes[same] += lift[same] @ self.tangent.data(index, float(t), order)

    @property
    def slopes(self) -> Array:
        """What is measured of the tangents."""
        return self.sensor.gathered(self.nodes)


class SensorHessian(SensorJacobian):
    """The second derivatives of one sensor, filled step by step; data on the boundary have none."""

    lifts = False

    def __init__(self, sensor: Sensor, curvature: Curvature, jets: Sequence[Array]) -> None:
        self.curvature = curvature
        super().__init__(sensor, curvature.tangent, jets)
        self.columns = slice(curvature.tangent.size, None)
        problem = curvature.tangent.problem
        self.bend = Bend(sensor.expression, [*sensor.symbols, *curvature.numbers])
        self.values = sensor.computed(problem, self.bend.partials, jets) if self.bend.partials else []
        self.tables = curvature.tables(problem.domain.wrap(sensor.x), sensor.jets) if self.bend.partials else []

    def _begun(self, jets: Sequence[Array]) -> Array:
        return np.zeros((len(self.sensor.x), self.curvature.size))

    def _add(self, step: Step, chosen: Array, shares: Array) -> None:
        """Add what first derivatives add, too: Σ ∂²q/∂a∂b vᵢₐ vⱼ_b."""
        super()._add(step, chosen, shares)
        if not self.bend.partials:
            return
        curvature, first = self.curvature, slice(0, self.tangent.size)
        for t, k in zip(*np.unique(self.times[chosen], return_index=True), strict=True):
            same = chosen[self.times[chosen] == t]
            state = sum(share * own[:, first] for share, own in zip(shares[k], step.states, strict=True))
            own = [(table[same], lift[same]) for table, lift in self.tables]
            changes = curvature.changes(self.sensor.jets, own, float(t), np.asarray(state))
            values = [value[same] for value in self.values]
            self.nodes[same] += self.bend.along([*changes, *curvature.ones(len(same))], values)
