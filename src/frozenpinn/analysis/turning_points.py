"""Turning points: where a velocity changes its sign beside a small diffusivity, thin layers stand inside the domain.

In ε u″ + b u′ + …, b changes its sign at a place at which it has the slope b′ > 0: the solution changes there over the
length √(ε/b′), however gently ε and b vary.
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
    """Yield the turning points of the linear static equations of a problem, axis by axis."""
    for equation in problem.equations if problem.is_static else ():
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
