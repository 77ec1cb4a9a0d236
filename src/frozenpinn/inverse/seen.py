"""What sensors see of tangents, and of second derivatives, while these are integrated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frozenpinn.inverse.columns import Step
from frozenpinn.inverse.curvature import Bend, Curvature
from frozenpinn.inverse.sensors import Sensor
from frozenpinn.inverse.tangent import Tangent
from frozenpinn.results.solution import Solution

Array = np.ndarray


def jets_of(sensor: Sensor, solution: Solution) -> list[Array]:
    """Return the jets of a solution at the nodes of a sensor."""
    assert sensor.times is not None
    return [solution.paired_values(sensor.x, sensor.times, jet) for jet in sensor.jets]


class Seen:
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


class SeenTwice(Seen):
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
