"""Initial data as coefficients: fitted at the quadrature points, along the axes of a grid where that is enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.protocol import PointSet
from frozenpinn.language.functions import PointFunction
from frozenpinn.language.separation import factors_along_axes, on_grid
from frozenpinn.operators import Operator, ProductSum
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Snapshot: TypeAlias = Callable[[Array, float], Array]  #: from points (n, d) and a time to values (n,)


class Stage(NamedTuple):
    """A part of an evolution: start and end, and the values and velocities of the fields at the start.

    ``state`` are the coefficients at the start if they are known already, and ``shortest`` is the shortest time in
    which formulas of the problem change during the stage.
    """

    time: tuple[float, float]
    values: Mapping[str, Snapshot]
    velocities: Mapping[str, Snapshot]
    state: Array | None = None
    shortest: float = np.inf

    @classmethod
    def whole(cls, problem: Problem) -> Stage:
        """Return all of a problem's time."""
        return cls(problem.time, problem.initial, problem.initial_velocity)


Data: TypeAlias = Mapping[int, Mapping[str, Snapshot]]  #: by order in time, then by field


def fitted(space: Space, projector: Operator, data: Data, t: float) -> list[Array]:
    """Return the coefficients of values (order 0) and velocities (order 1) of the fields of a space at one time."""
    network, zero = space.network, Derivative((0,) * space.network.points.x.shape[1])
    targets = dict.fromkeys(data, np.zeros(0))
    for name in space.fields:
        values = on_points([own[name] for own in data.values()], network.points, t)
        for order, own in zip(data, values, strict=True):
            lifted = network.lift_at_points([Term(name, zero)]) @ space.data(t, order) if network.lift_size else 0.0
            targets[order] = np.concatenate([targets[order], own - lifted])
    return [np.asarray(projector @ target) for target in targets.values()]


def fitted_along_axes(space: Space, data: Data, t: float) -> list[ProductSum | None]:
    """Fit sums of products of functions of one coordinate each: no value on a grid is needed.

    None stands for other data, and where nothing is to be gained.
    """
    network, known = space.network, [own[space.fields[0]] for own in data.values()]
    formulas = [f for f in known if isinstance(f, PointFunction)]
    if network.lift_size or len(formulas) < len(known):
        return [None] * len(known)
    axes, others = network.points.axes, [f for f in formulas if not f.is_zero]
    factors = factors_along_axes(others, axes, t) if len(axes) == len(network.sizes) > 1 else None
    fits = iter([None] * len(others) if factors is None else map(network.projected_products, factors))
    return [ProductSum.nothing(network.sizes) if f.is_zero else next(fits) for f in formulas]


def on_points(data: Sequence[Snapshot], points: PointSet, t: float) -> list[Array]:
    """Evaluate data, along the axes of a grid if possible, else some points at a time.

    Formulas need memory for every function in them.
    """
    most = 1_000_000  # points of a grid at which data are evaluated at once
    x, axes = points.x, points.axes
    formulas = [f for f in data if isinstance(f, PointFunction)]
    if len(axes) > 1 and len(formulas) == len(data) and len(x) <= most:
        return on_grid(formulas, axes, x, t)
    return [_in_parts(own, x, t) for own in data]


def _in_parts(data: Snapshot, x: Array, t: float) -> Array:
    at_once = 20_000  # at which data are evaluated at a time
    parts = (x[start : start + at_once] for start in range(0, len(x), at_once))
    return data(x, t) if len(x) <= at_once else np.concatenate([np.broadcast_to(data(p, t), len(p)) for p in parts])
