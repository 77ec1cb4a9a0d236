"""A path of solutions in one parameter, step by step: pseudo-arclength continuation, and its folds.

A step goes along the tangent and comes back onto the path in the plane across it, by Newton's method for the fields and
the parameter together. At a fold the parameter turns round: its rate along the path is zero. The rate is computed with
every point, so a fold is a zero of a known function of one variable; as the parameter is stationary there, an error of
1e-5 along the path leaves one of 1e-10 in its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from frozenpinn.assembly.collocation import Combination, Function
from frozenpinn.errors import ConvergenceError
from frozenpinn.language.jets import Jet
from frozenpinn.search.static_rules import ContinuationRules
from frozenpinn.static.bordered import Bordered, Direction, Metric

Array = np.ndarray


class Point(NamedTuple):
    """A point of a path: a solution, the value of the parameter, where the path goes, how many iterations it took."""

    state: Combination
    value: float
    direction: Direction
    iterations: int = 0


class Shifted(NamedTuple):
    """u + s·v, where u and v may belong to different layers."""

    base: Function
    change: Function
    length: float

    def jets(self, x: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives."""
        pairs = zip(self.base.jets(x, jets), self.change.jets(x, jets), strict=True)
        return [a + self.length * b for a, b in pairs]


def metric_of(bordered: Bordered, point: Point, least: Metric) -> Metric:
    """Return the sizes by which the next step is measured: those of the solution, at least those at the start."""
    values = bordered.values(point.state)
    sizes = np.sqrt(np.sum(bordered.weights * values**2, axis=1))
    return Metric(tuple(float(max(a, b)) for a, b in zip(sizes, least.fields, strict=True)), least.parameter)


def unit(bordered: Bordered, direction: Direction, metric: Metric) -> Direction:
    """Return a direction of length one."""
    values = bordered.values(direction.state)
    length = np.sqrt(bordered.inner(values, values, metric) + (direction.rate / metric.parameter) ** 2)
    return Direction(direction.state.moved(direction.state.coefficients / length), direction.rate / float(length))


def corrected(bordered: Bordered, base: Point, length: float, metric: Metric, rules: ContinuationRules) -> Point:
    """Return the point of the path in the plane across the direction of another one, at a distance from it.

    Raises
    ------
    ConvergenceError
        If Newton's method does not converge.
    """
    ahead = bordered.values(base.direction.state)
    origin = bordered.inner(ahead, bordered.values(base.state), metric)
    rate = base.direction.rate
    guess: Function = Shifted(base.state, base.direction.state, length)
    value, changes = base.value + length * rate, list[float]()
    for count in range(1, rules.iterations + 1):
        wanted = length + origin - rate * (value - base.value) / metric.parameter**2
        system = bordered.system(guess, value, (ahead, rate, wanted), metric)
        state, step = bordered.solved(system)
        gap = bordered.values(state) - bordered.values(guess)
        changes.append(float(np.sqrt(bordered.inner(gap, gap, metric) + (step / metric.parameter) ** 2)))
        guess, value = state, value + step
        if not np.isfinite(changes[-1]) or changes[-1] > 10.0 or (count > 1 and changes[-1] > 2.0 * changes[-2] > 1e-3):
            break
        if _is_done(changes, rules):
            tangent = unit(bordered, Direction(*bordered.solved(system, system.ahead)), metric)
            return Point(state, value, tangent, sum(change > rules.visible for change in changes) + 1)
    raise ConvergenceError(f"Newton's method for a step of a path did not converge: its changes were {changes}.")


def reverse(direction: Direction) -> Direction:
    """Return the opposite direction."""
    return Direction(direction.state.moved(-direction.state.coefficients), -direction.rate)


def cosine(bordered: Bordered, a: Direction, b: Direction, metric: Metric) -> float:
    """Return the cosine of the angle between two directions of length one."""
    own = bordered.inner(bordered.values(a.state), bordered.values(b.state), metric)
    return own + a.rate * b.rate / metric.parameter**2


def _is_done(changes: list[float], rules: ContinuationRules) -> bool:
    """Whether another iteration would change nothing that matters: changes are squared from one to the next."""
    last = changes[-1]
    if last <= rules.accuracy or len(changes) < 2:
        return last <= rules.accuracy
    before = changes[-2]
    if last < rules.close and last > rules.flat * before:  # the floor of this network
        return True
    return last < np.sqrt(rules.close) and last**3 / before**2 <= rules.accuracy


def find_fold(
    bordered: Bordered, base: Point, lengths: tuple[float, float], metric: Metric, rules: ContinuationRules
) -> Point:
    """Return the point near another one at which the parameter turns round, by the secant method for its rate.

    ``lengths`` are two distances from the base; the fold lies between them, or near.
    """
    tried = [(length, corrected(bordered, base, length, metric, rules)) for length in lengths]
    span = abs(lengths[1] - lengths[0])
    for _ in range(rules.fold_steps):
        (a, p), (b, q) = tried[-2:]
        if abs(q.direction.rate) <= rules.fold * metric.parameter or p.direction.rate == q.direction.rate:
            break
        length = b - q.direction.rate * (b - a) / (q.direction.rate - p.direction.rate)
        length = float(np.clip(length, min(lengths) - span, max(lengths) + span))
        if length == b:
            break
        tried.append((length, corrected(bordered, base, length, metric, rules)))
    return min((point for _, point in tried), key=lambda point: abs(point.direction.rate))
