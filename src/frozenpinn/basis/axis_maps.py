"""What one axis of a product needs at its points: tables of its functions, their projections, fits of values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import scipy.linalg as sla

from frozenpinn.basis.network import Network
from frozenpinn.operators import Selection
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.memo import remembered

Array = np.ndarray
SMALL = 50_000  #: entries of a table of an axis, which then is kept, with its projection, …
LOW = 2  #: … of derivatives up to this order: they are evaluated together
_APART = 1e-6  # part of lifting functions outside the basis that can be told from round-off


def keeps_tables(factor: Network) -> bool:
    """Whether tables of an axis are so small that they may be kept."""
    return len(factor.points.weights) * factor.size <= SMALL


def inverse_of(basis: Array, others: Array) -> Array:
    """Return the pseudo-inverse of the columns of an orthonormal basis and some others, from what these add to it."""
    along = basis.T @ others
    rest = others - basis @ along
    again = basis.T @ rest  # the first pass loses digits
    rest -= basis @ again
    along += again
    if not others.shape[1]:
        return basis.T
    r, inverse, info = sla.lapack.dgels(rest, np.eye(len(rest)))
    if info or not np.min(np.abs(np.diagonal(r))) > _APART * np.max(np.abs(others)):
        return np.asarray(sla.pinv(np.concatenate([basis, others], axis=1), rtol=1e-13))
    below = inverse[: others.shape[1]]
    return np.concatenate([basis.T - along @ below, below])


@lru_cache(maxsize=16)
def with_lifts(sizes: tuple[int, ...], lifts: tuple[int, ...]) -> Selection:
    """Return the entries of a tensor of basis and lifting functions that belong to one of the latter at least."""
    outer = [(0, own) for own in lifts]
    chosen = np.argwhere(~np.pad(np.ones(sizes, dtype=bool), outer))
    return Selection(read_only(chosen), tuple(size + own for size, own in zip(sizes, lifts, strict=True)))


@remembered
def projected_table(factor: Network, order: int) -> Array:
    """Return the projection of a derivative of basis and lifting functions of one axis onto the basis."""
    return read_only(axis_projector(factor) @ axis_table(factor, order))


@remembered
def _low_tables(factor: Network) -> tuple[Array, ...]:
    """Return basis and lifting functions of one axis and their first two derivatives at its points."""
    return _tables(factor, range(LOW + 1))


def _tables(factor: Network, orders: Sequence[int]) -> tuple[Array, ...]:
    found = factor.derivatives(factor.points.x, orders)
    if orders[0] == 0:
        found[0][:, : factor.size] = factor.point_values(factor.fields[0])  # as accurate as they are known
    return tuple(map(read_only, found))


@remembered
def axis_table(factor: Network, order: int) -> Array:
    """Return a derivative of basis and lifting functions of one axis at its points."""
    return _low_tables(factor)[order] if order <= LOW and keeps_tables(factor) else _tables(factor, [order])[0]


@remembered
def axis_projector(factor: Network) -> Array:
    """Return the map from values at the points of an axis to coefficients."""
    return read_only(factor.projector().dense())


@remembered
def axis_fit(factor: Network) -> Array:
    """Return the map from values at the points of an axis to coefficients of its basis and lifting functions."""
    weight = np.sqrt(factor.points.weights)
    table = weight[:, None] * axis_table(factor, 0)
    return read_only(inverse_of(table[:, : factor.size], table[:, factor.size :]) * weight)


@remembered
def compliance(factor: Network) -> Array:
    """Return the map of coefficients of an axis that replaces lifting functions by their best fit in the basis."""
    size = factor.size
    out = np.eye(size + factor.lift_size)
    out[:size, size:] = axis_projector(factor) @ axis_table(factor, 0)[:, size:]
    out[size:] = 0.0
    return read_only(out)
