"""Initial data as coefficients: fitted at the quadrature points, along the axes of a grid where that is enough."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from frozenpinn.assembly.spaces import Space
from frozenpinn.assembly.stage import Snapshot
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.basis.protocol import PointSet
from frozenpinn.language.functions import PointFunction
from frozenpinn.operators import Operator, ProductSum

Array = np.ndarray
_ON_GRIDS = 1_000_000  # points of a grid at which data are evaluated at once
_POINTS = 20_000  # at which data are evaluated at a time


def fitted(space: Space, projector: Operator, data: Mapping[str, Snapshot], order: int, t: float) -> Array:
    """Return the coefficients of values (order 0) or velocities (order 1) of the fields of a space at one time."""
    network, known = space.network, [data[name] for name in space.fields]
    if not network.lift_size and all(isinstance(d, PointFunction) and d.is_zero for d in known):
        return np.zeros(network.size)
    zero = Derivative((0,) * network.points.x.shape[1])
    targets = []
    for name, datum in zip(space.fields, known, strict=True):
        target = on_points(datum, network.points, t)
        if network.lift_size:
            target = target - network.lift_at_points([Term(name, zero)]) @ space.data(t, order)
        targets.append(target)
    return np.asarray(projector @ np.concatenate(targets))


def fitted_along_axes(space: Space, data: Mapping[str, Snapshot], t: float) -> ProductSum | None:
    """Fit a sum of products of functions of one coordinate each: no value on a grid is needed.

    None where data are none, or nothing is to be gained.
    """
    network = space.network
    if not isinstance(network, ProductNetwork) or network.lift_size:
        return None
    datum, axes = data[space.fields[0]], getattr(network.points, "axes", ())
    if not isinstance(datum, PointFunction):
        return None
    if datum.is_zero:
        return ProductSum.nothing(network.sizes)
    factors = datum.along_axes(axes, t) if len(axes) > 1 else None
    return None if factors is None else network.projected_products(factors)


def on_points(data: Snapshot, points: PointSet, t: float) -> Array:
    """Evaluate data, along the axes of a grid if possible, else some points at a time.

    Formulas need memory for every function in them.
    """
    x, axes = points.x, getattr(points, "axes", ())
    if len(axes) > 1 and isinstance(data, PointFunction) and len(x) <= _ON_GRIDS:
        return data.on_grid(axes, x, t)
    parts = (x[start : start + _POINTS] for start in range(0, len(x), _POINTS))
    return data(x, t) if len(x) <= _POINTS else np.concatenate([np.broadcast_to(data(p, t), len(p)) for p in parts])
