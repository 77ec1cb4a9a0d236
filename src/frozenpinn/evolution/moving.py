"""Which coordinates to take for the next window of time: those of the problem, or some that move with thin fronts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.assembly.initial_data import Snapshot, Stage
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.evolution.window_transfer import StateField, continue_from, state_slopes
from frozenpinn.search.grading import Slopes
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.moving_frame import MovingFrame, can_move

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Seen:
    """A field of a state in moving coordinates, as a function of the problem's own."""

    field: Snapshot
    frame: MovingFrame

    def __call__(self, x: Array, t: float) -> Array:
        """Return the values at points (n, 1)."""
        return self.field(self.frame.origin(x[:, 0], t)[:, None], t)


def handed_over(system: Discretisation, y: Array, t: float, end: float, frame: MovingFrame | None) -> Stage:
    """Return the stage that starts where another one stopped, in the coordinates of the problem."""
    stage = continue_from(system, y, t, end)
    if frame is None:
        return stage
    seen: Mapping[str, Snapshot] = {name: Seen(field, frame) for name, field in stage.values.items()}
    return stage._replace(values=seen)


def slopes_at(system: Discretisation, y: Array, t: float, frame: MovingFrame | None) -> list[Slopes]:
    """Return places and slopes of a state, in the coordinates of the problem."""
    slopes = state_slopes(system, y, t)
    if frame is None:
        return slopes
    (own,) = slopes
    stretch = frame.stretch(own.places, t)
    return [Slopes(frame.position(own.places, t), [size / stretch for size in own.sizes])]


class _Front(NamedTuple):
    place: float
    velocity: float
    width: float


def frame_for(
    problem: Problem, system: Discretisation, y: Array, t: float, frame: MovingFrame | None
) -> MovingFrame | None:
    """Return coordinates that follow the fronts of a state; None if there are none that are thin and travel far."""
    most = 3  # fronts
    thin = 0.02  # width of fronts, as part of the interval
    travels = 4.0  # widths in one window, at least
    if not can_move(problem):
        return None
    fronts = _fronts(system, y, t, frame)
    ends, left = (float(problem.domain.lower[0]), float(problem.domain.upper[0])), problem.time[1] - t
    if not 0 < len(fronts) <= most or max(f.width for f in fronts) > thin * (ends[1] - ends[0]):
        return None
    if not any(abs(f.velocity) * left > travels * f.width for f in fronts):
        return None
    knots = (ends[0], *(f.place for f in fronts), ends[1])
    found = MovingFrame(t, knots, (0.0, *(f.velocity for f in fronts), 0.0))
    far = any(abs(f.velocity) * min(found.longest, left) > travels * f.width for f in fronts)
    return found if far else None


def _fronts(system: Discretisation, y: Array, t: float, frame: MovingFrame | None) -> list[_Front]:
    """Return the places where a state is steep, and how fast they move; nothing if something else happens there."""
    steepness = 0.1  # part of the largest slope that makes a place a part of a front
    most_change = 0.3  # of shape, as part of what the motion changes
    (own,) = state_slopes(system, y, t)
    xi = own.places
    x, stretch, drift = xi, np.ones_like(xi), np.zeros_like(xi)
    if frame is not None:
        x, stretch = frame.position(xi, t), frame.stretch(xi, t)
        drift = frame.velocity(xi)
    rates = system.rates(np.array([t]), y[None])[0]
    slopes, changes = [], []
    for name, size in zip(system.problem.fields, own.sizes, strict=True):
        index, space = system.space_of(name)
        own_rates = system.layout.split(rates)[index][0]
        change = StateField(space, own_rates, (Term(name, Derivative((0,))),), 1)(xi[:, None], t)
        slope = size / stretch
        unit = float(np.max(np.abs(slope))) or 1.0
        slopes.append(slope / unit)
        changes.append((change - drift * slope) / unit)
    steep, moves = np.array(slopes), np.array(changes)
    fronts = []
    for low, high in _steep_parts(x, np.max(np.abs(steep), axis=0), steepness):
        part = slice(low, high)
        square = float(np.trapezoid(np.sum(steep[:, part] ** 2, axis=0), x[part]))
        velocity = -float(np.trapezoid(np.sum(steep[:, part] * moves[:, part], axis=0), x[part])) / square
        place = float(np.trapezoid(np.sum(steep[:, part] ** 2, axis=0) * x[part], x[part])) / square
        rest = float(np.trapezoid(np.sum((moves + velocity * steep)[:, part] ** 2, axis=0), x[part]))
        width = float(x[high - 1] - x[low])
        if rest > most_change**2 * velocity**2 * square and rest * (system.time[1] - t) ** 2 > square * width**2:
            return []
        fronts.append(_Front(place, velocity, width))
    return fronts


def _steep_parts(x: Array, size: Array, level: float) -> list[tuple[int, int]]:
    """Return ranges of places where something is above a level; close ones are one."""
    above = np.flatnonzero(size > level)
    parts: list[tuple[int, int]] = []
    for first in map(int, above):
        low, high = parts[-1] if parts else (-2, -2)
        if high == first or (parts and x[first] - x[high - 1] <= 2.0 * (x[high - 1] - x[low])):
            parts[-1] = (low, first + 1)
        else:
            parts.append((first, first + 1))
    return [(low, high) for low, high in parts if high - low > 2]
