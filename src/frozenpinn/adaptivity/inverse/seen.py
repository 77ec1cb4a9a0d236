"""What sensors see of tangents, and of second derivatives, while these are integrated."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from frozenpinn.adaptivity.inverse.sensors import Sensor
from frozenpinn.assembly.curvature import Bend, Curvature
from frozenpinn.assembly.tangent import Tangent
from frozenpinn.results.solution import Solution
from frozenpinn.solvers.columns import Step

Array = np.ndarray


def jets_of(sensor: Sensor, solution: Solution) -> list[Array]:
    """Return the jets of a solution at the nodes of a sensor."""
    assert sensor.times is not None
    return [solution.paired_values(sensor.x, sensor.times, jet) for jet in sensor.jets]


class Interpolant:
    """A state between the nodes of steps."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps, self.starts = steps, [step.start for step in steps]

    def __call__(self, t: float) -> Array:
        """Return the state at a time."""
        step = self.steps[max(bisect_right(self.starts, t) - 1, 0)]
        shares = Step.shares(np.array([(t - step.start) / step.length]))[0]
        return np.asarray(sum(share * state for share, state in zip(shares, step.states, strict=True)))


class Seen:
    """The slopes of one sensor, filled step by step."""

    lifts = True  # whether boundary data are part of them

    def __init__(self, sensor: Sensor, tangent: Tangent, solution: Solution) -> None:
        assert sensor.times is not None
        problem = tangent.problem
        self.sensor, self.tangent, self.times = sensor, tangent, sensor.times
        jets = jets_of(sensor, solution)
        self.factors = sensor.factors(problem, jets)
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
        if not len(chosen):
            return
        shares = Step.shares((self.times[chosen] - step.start) / step.length)
        for index, order, layout, own, lift in self.rows:
            for k, state in enumerate(step.states):
                part = layout.split(state)[index][order]
                self.nodes[chosen] += shares[:, k : k + 1] * (own[chosen] @ part)
            for t in np.unique(self.times[chosen]) if self.lifts and self.tangent.space.groups[index].sides else ():
                same = chosen[self.times[chosen] == t]
                self.nodes[same] += lift[same] @ self.tangent.data(index, float(t), order)

    @property
    def slopes(self) -> Array:
        """What is measured of the tangents."""
        return self.sensor.gathered(self.nodes)


class SeenTwice(Seen):
    """The second derivatives of one sensor, filled step by step; data on the boundary have none."""

    lifts = False

    def __init__(self, sensor: Sensor, curvature: Curvature, solution: Solution) -> None:
        self.curvature = curvature
        super().__init__(sensor, curvature.tangent, solution)

    def _begun(self, jets: Sequence[Array]) -> Array:
        """Return what first derivatives add: Σ ∂²q/∂a∂b vᵢₐ vⱼ_b."""
        sensor, curvature, times = self.sensor, self.curvature, self.times
        total = np.zeros((len(sensor.x), curvature.size))
        bend = Bend(sensor.expression, [*sensor.symbols, *curvature.numbers])
        if not bend.partials:
            return total
        problem = curvature.tangent.problem
        values = sensor.computed(problem, bend.partials, jets)
        tables = curvature.tables(problem.domain.wrap(sensor.x), sensor.jets)
        for t in np.unique(times):
            same = np.flatnonzero(times == t)
            own = [(table[same], lift[same]) for table, lift in tables]
            changes = [*curvature.changes(sensor.jets, own, float(t)), *curvature.ones(len(same))]
            total[same] = bend.along(changes, [value[same] for value in values])
        return total
