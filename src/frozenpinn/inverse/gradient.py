"""How one number changes with parameters: slopes of integrals, means and values by the tangents of a solution.

Q = Σ w q(x, t, jets of u, θ) over the nodes of a rule of quadrature has dQ/dθ = Σ w (Σ ∂q/∂jet · jet(∂u/∂θ) + ∂q/∂θ).
The tangents ∂u/∂θ of a static problem come from the factorisation of its solve, those of an evolution from one linear
system for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from frozenpinn.assembly.collocation import Collocation, Function, Linearisation
from frozenpinn.errors import EvaluationError, warn
from frozenpinn.geometry.points import BoundaryPoints
from frozenpinn.inverse.evolution import drawn_space
from frozenpinn.inverse.sensitivity import Directions, jet_rows, sensitivity_rows
from frozenpinn.inverse.sensors import Sensor, without_normals
from frozenpinn.inverse.tangent import Step, Tangent, integrate_tangents
from frozenpinn.language.jets import Jet
from frozenpinn.results.expressions import Expression
from frozenpinn.results.integrals import size_of
from frozenpinn.results.quantity import Goal, Quantity
from frozenpinn.results.solution import Solution
from frozenpinn.statement.composites import flat
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Moved = Callable[[Array, Jet], Array]  #: a derivative of all tangents at points (n, d), shape (n, p)
LAST = (400, 520, 640, 640)  #: of the last one


@dataclass(frozen=True, eq=False)
class Counted:
    """A number of a solution, and the nodes that its slopes are summed up over.

    Attributes
    ----------
    problem
        With symbols for the parameters, which have the values of the solution.
    solution
        At these values.
    sensor
        The nodes.
    share
        What weights are multiplied by: one over the size of a domain for means.
    """

    problem: Problem
    solution: Solution
    sensor: Sensor
    share: float

    @classmethod
    def of(cls, problem: Problem, solution: Solution, quantity: Quantity, goal: Goal) -> Counted:
        """Take the nodes of the last rule that the number was found with."""
        rules, times = quantity.rules(solution), quantity.times(problem)
        expression = Expression.read(problem, quantity.expression, rules.with_normals, rules.weighted)
        if expression.is_complex:
            raise EvaluationError(f"'{quantity.text}' is a complex number; take its real part, re(…), or abs2(…).")
        parts = rules.make(goal.points)
        x, weights = (np.concatenate([getattr(part, name) for part in parts]) for name in ("x", "weights"))
        normals = [p.normals if isinstance(p, BoundaryPoints) else np.zeros(p.x.shape) for p in parts]
        value = without_normals(next(iter(flat(expression.value))), problem)
        moments = None if problem.is_static else np.full(len(x), times[0])
        owner, jets = np.zeros(len(x), dtype=int), problem.jets.jets_in(value)
        sensor = Sensor(value, jets, x, moments, np.concatenate(normals), owner, weights, 1)
        share = 1.0 / size_of(solution, rules) if quantity.kind == "mean" else 1.0
        return cls(problem, solution, sensor, share)

    def slopes(self, directions: Sequence[Directions], moved: Moved) -> Array:
        """Return the derivatives of the number, from those of the solution."""
        total = np.zeros(sum(d.size for d in directions))
        for part in self._blocks():
            times = np.zeros(1) if part.times is None else part.times[:1]
            jets = [self.solution.jet_values(part.x, times, jet)[:, 0] for jet in part.jets]
            for jet, factor in zip(part.jets, part.factors(self.problem, jets), strict=True):
                total += (part.weights * factor) @ moved(part.x, jet)
            direct = part.direct(self.problem, jets, directions)
            total += 0.0 if direct is None else part.weights @ direct
        return self.share * total

    def _blocks(self) -> Iterator[Sensor]:
        block = 4096  # points at a time
        whole = self.sensor
        for start in range(0, len(whole.x), block):
            some = slice(start, start + block)
            times = None if whole.times is None else whole.times[some]
            own = {name: getattr(whole, name)[some] for name in ("x", "normals", "owner", "weights")}
            yield replace(whole, times=times, **own)


def static_slopes(
    counted: Counted,
    collocation: Collocation,
    state: Function,
    last: Linearisation,
    directions: Sequence[Directions],
) -> Array:
    """Return the slopes of a number of a static solution, by the factorisation that it came from."""
    right = sensitivity_rows(collocation, state, last.scales, directions)
    sensitivities = np.asarray(last.factor.solve(right))
    return counted.slopes(directions, lambda x, jet: jet_rows(collocation, x, jet) @ sensitivities)


def evolution_slopes(
    counted: Counted, directions: Sequence[Directions], seed: int, sizes: Array, scale: float, text: str
) -> Array:
    """Return the slopes of a number of an evolution: all tangents are integrated along it, until its time.

    This is done on ever wider networks until two of them agree; ``sizes`` are those of the parameters, and ``scale`` is
    that of the number.
    """
    small = 1e-2  # of the number: slopes that change it by less, if a parameter is doubled, count as that
    doubt = 1e-3  # difference of the last two that is told
    agree = 1e-5  # difference of slopes on two networks, the finer of which is then taken
    rough, fine = 1e-4, 2e-5  # estimated error of a step, on the first network and later: 100 times that of slopes
    wider = 1.6  # neurons of the next network, as a multiple of those of one
    first = (60, 200, 400, 500)  # neurons of a first network, by dimension (4: more)
    cutoff = 1e-10  # singular values of the functions that tangents are made of
    solution, (start, end) = counted.solution, counted.problem.time
    moments = counted.sensor.times
    assert moments is not None
    until = float(moments[0])
    problem = counted.problem if until in (start, end) else counted.problem.during((start, until))
    index = min(problem.domain.dimension, 4) - 1
    width, before, rtol = first[index], None, rough
    while True:
        space = drawn_space(problem, width, cutoff, seed, directions)
        tangents = Tangents.at(Tangent(problem, solution.jet_values, space, directions), until, rtol)
        slopes = counted.slopes(directions, tangents.moved)
        if before is not None:
            change = float(np.max(np.abs(slopes - before) * sizes / np.maximum(np.abs(slopes) * sizes, small * scale)))
            if change <= agree:
                return slopes
            if wider * width > LAST[index]:
                break
        width, before, rtol = int(wider * width), slopes, fine
    if change > doubt:
        warn(f"the slopes of '{text}' are known to about {change:.1g} only: two networks do not agree on them.")
    return slopes


@dataclass(frozen=True, eq=False)
class Tangents:
    """The derivatives of an evolution by parameters at one time."""

    system: Tangent
    time: float
    positions: Sequence[Sequence[Array]]
    rates: Sequence[Sequence[Array]]

    @classmethod
    def at(cls, system: Tangent, until: float, rtol: float) -> Tangents:
        """Integrate them until a time."""
        state = [system.initial]

        def take(step: Step) -> None:
            state[:] = step.states[-1:]

        if until > system.problem.time[0]:
            integrate_tangents(system, rtol, take)
        rate = system.matrix(until) @ state[0] + system.forcing(until)
        return cls(system, until, system.layout.split(state[0]), system.layout.split(rate))

    def moved(self, x: Array, jet: Jet) -> Array:
        """Return a derivative of them at points."""
        space = self.system.space
        index = space.group_of(jet.field)
        group = space.groups[index]
        own, lift = group.tables(self.system.problem.domain.wrap(x), replace(jet, time=0))
        part = self.positions[index][jet.time] if jet.time < group.order else self.rates[index][-1]
        lifted = lift @ self.system.data(index, self.time, jet.time) if group.sides else 0.0
        return np.asarray(own @ part + lifted)
