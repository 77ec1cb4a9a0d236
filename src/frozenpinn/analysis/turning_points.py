"""Turning points and degenerate ends: where the coefficients of static equations make a solution vary fast.

In ε u″ + b u′ + …, b changes its sign at a place at which it has the slope b′ > 0: the solution changes there over the
length √(ε/b′), however gently ε and b vary. Where |ε/b| or √|ε/c| falls towards an end of an axis, as in u″ + u′/x from
x = 1e-6 on, the solution varies on all lengths from the least of these on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.errors import FrozenPinnError
from frozenpinn.language.jets import Jet
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.problem import Problem

_PLACES = 4001  # of an axis at which signs are compared


class TurningPoint(NamedTuple):
    """Where a velocity along an axis changes its sign, and the width of the layer there."""

    velocity: str
    axis: int
    place: float
    width: float


def turning_points(problem: Problem) -> Iterator[TurningPoint]:
    """Yield the turning points of the linear equations of a static problem, axis by axis."""
    for equation in problem.equations:
        for axis, symbol in enumerate(problem.jets.x):
            pair = _along(problem, equation, axis)
            if pair is None or not pair[1].free_symbols or not (pair[0] + pair[1]).free_symbols <= {symbol}:
                continue
            x = np.linspace(float(problem.domain.lower[axis]), float(problem.domain.upper[axis]), _PLACES)
            yield from _changes(problem, pair, axis, x)


def _along(problem: Problem, equation: Equation, axis: int) -> tuple[sp.Expr, sp.Expr] | None:
    """Return the diffusivity and the velocity of an equation along an axis; None without one of them."""
    shape = [0] * problem.domain.dimension
    shape[axis] = 1
    first = equation.linear.get(Jet(equation.field, tuple(shape)))
    shape[axis] = 2
    zero = (0,) * problem.domain.dimension
    second = [equation.linear.get(Jet(equation.field, tuple(shape))), equation.linear.get(Jet(equation.field, zero, 1))]
    found = [c for c in second if c is not None]
    return (sp.Add(*found), first) if found and first is not None else None


def _changes(problem: Problem, pair: tuple[sp.Expr, sp.Expr], axis: int, x: np.ndarray) -> Iterator[TurningPoint]:
    places = np.tile(problem.domain.lower.astype(float), (len(x), 1))
    places[:, axis] = x
    try:
        with np.errstate(all="ignore"):
            diffusivity, velocity = (np.broadcast_to(v, len(x)) for v in problem.compile(list(pair))(*places.T, 0.0))
    except FrozenPinnError:  # the solve reports the error
        return
    signs = np.sign(velocity) * np.sign(diffusivity)
    for k in np.flatnonzero((signs[:-1] < 0) & (signs[1:] >= 0) & np.isfinite(velocity[:-1] + velocity[1:])):
        slope = (velocity[k + 1] - velocity[k]) / (x[k + 1] - x[k])
        if slope != 0:
            place = float(x[k] - velocity[k] / slope)
            yield TurningPoint(str(pair[1]), axis, place, float(np.sqrt(abs(diffusivity[k] / slope))))


class Octave(NamedTuple):
    """A part of an axis, four times as far from one end at its far edge as at its near one; whether it is the last."""

    what: str
    axis: int
    low: float
    high: float
    is_last: bool


def degenerate_ends(problem: Problem) -> Iterator[Octave]:
    """Yield parts of axes towards ends at which the natural length of a linear equation falls, in a static problem."""
    flags = problem.domain.periodic
    for equation in problem.equations:
        varying = set().union(*(c.free_symbols for c in equation.linear.values()))
        for axis in (i for i, x in enumerate(problem.jets.x) if x in varying and not flags[i]):
            for side in (0, 1):
                yield from _towards(problem, equation, axis, side)


def _towards(problem: Problem, equation: Equation, axis: int, side: int) -> Iterator[Octave]:
    narrow, smallest, ratio, factor = 2.0**-8, 1e-13, 2.0, 4.0
    lower, upper = float(problem.domain.lower[axis]), float(problem.domain.upper[axis])
    whole = upper - lower
    start, inwards = (lower, 1.0) if side == 0 else (upper, -1.0)
    least, further = _lengths(problem, equation, axis, np.array([start, start + inwards * narrow * whole]))
    if not (smallest * whole <= least <= narrow * whole / ratio and further >= ratio * least):
        return
    what, reach = f"the coefficients beside {problem.jets.x[axis]} = {start:g}", 0.0
    edge = least
    while reach < narrow * whole:
        ends = sorted((start + inwards * reach, start + inwards * edge))
        yield Octave(what, axis, ends[0], ends[1], edge >= narrow * whole)
        reach, edge = edge, factor * edge


def _lengths(problem: Problem, equation: Equation, axis: int, places: np.ndarray) -> np.ndarray:
    """Return the length on which solutions of an equation vary along an axis, at places of it; infinite if unknown."""
    dimension, lengths = problem.domain.dimension, problem.domain.lengths
    x = np.tile((problem.domain.lower + problem.domain.upper) / 2.0, (len(places), 1))
    x[:, axis] = places
    jets = [jet for jet in equation.linear if jet.field == equation.field and not jet.time and jet.order <= 2]
    try:
        with np.errstate(all="ignore"):
            values = problem.compile([equation.linear[jet] for jet in jets])(*x.T, 0.0) if jets else []
    except FrozenPinnError:  # the solve reports the error
        return np.full(len(places), np.inf)
    sizes = np.zeros((3, len(places)))  # of what stands with the second, the first and no derivative along the axis
    for jet, value in zip(jets, values, strict=True):
        if jet.laps:
            sizes[2] += np.abs(value)
            continue
        others = np.prod([lengths[i] ** -jet.alpha[i] for i in range(dimension) if i != axis])
        sizes[jet.alpha[axis]] += np.abs(value) * others
    with np.errstate(all="ignore"):
        found = np.fmin(sizes[2] / sizes[1], np.sqrt(sizes[2] / sizes[0]))
    return np.asarray(np.where(np.isfinite(found), found, np.inf))
