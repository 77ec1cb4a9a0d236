"""Sums of products, Σ c_ij… f_i(x) g_j(y) …, at points: as a tensor where the points are one, else point by point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

Array = np.ndarray
#: Functions of one axis at places (n,): a table (n, k).
Table = Callable[[Array], Array]
_BLOCK = 2000  # points at a time


def evaluate(tables: Sequence[Table], states: Iterable[Array], x: Array) -> Array:
    """Return the real part of the sums at points (n, d), shape (n, m).

    Parameters
    ----------
    tables
        One per axis.
    states
        The m coefficient tensors, one after the other.
    x
        The points. If they lie on a grid that is not much larger than they are many, the sums are done axis by axis.
    """
    places, indices = zip(*(np.unique(column, return_inverse=True) for column in x.T), strict=True)
    if np.prod([len(place) for place in places]) <= 4 * len(x):
        factors = [table(place) for table, place in zip(tables, places, strict=True)]
        columns = [_on_grid(factors, state)[indices] for state in states]
        return np.stack(columns, axis=1) if columns else np.empty((len(x), 0))
    blocks = [
        [table(column) for table, column in zip(tables, x[first : first + _BLOCK].T, strict=True)]
        for first in range(0, len(x), _BLOCK)
    ]
    columns = [np.concatenate([_scattered(block, state) for block in blocks]) for state in states]
    return np.stack(columns, axis=1) if columns else np.empty((len(x), 0))


def _on_grid(factors: Sequence[Array], state: Array) -> Array:
    """Sum over one axis after the other."""
    for factor in factors:
        state = np.tensordot(state, factor, axes=(0, 1))  # the new axis goes last: after all, the order is the old one
    return np.asarray(state.real)


def _scattered(factors: Sequence[Array], state: Array) -> Array:
    """Sum over the first axis for all points, then over the others point by point; negligible ends are left out."""
    sizes = _significant(state)
    state = state[np.ix_(*sizes)]
    first, *others = [factor[:, size] for factor, size in zip(factors, sizes, strict=True)]
    values = (first @ state.reshape(len(state), -1)).reshape(len(first), *state.shape[1:])
    for factor in others:
        values = np.einsum("nk,nk...->n...", factor, values)
    return np.asarray(values.real)


def _significant(state: Array) -> list[Array]:
    """Return the indices along each axis of which some coefficient is not round-off."""
    size = np.abs(state)
    floor = 1e-15 * float(size.max(initial=0.0))
    axes = range(state.ndim)
    kept = [np.flatnonzero(size.max(axis=tuple(b for b in axes if b != a)) > floor) for a in axes]
    return [np.arange(n) if not len(k) else k for k, n in zip(kept, state.shape, strict=True)]
