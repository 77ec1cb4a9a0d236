"""Directions in which errors of time steps are followed: smooth functions, and those that the solution is made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.basis.protocol import Basis
from frozenpinn.search.rules import Effort

Array = np.ndarray


def directions(system: Discretisation, states: Sequence[Array], effort: Effort) -> Array:
    """Return orthonormal directions in which errors are followed, as columns; velocities have the same ones."""
    layout, n = system.layout, system.layout.coefficients
    columns = []
    for block, space in zip(layout.blocks, system.spaces, strict=True):
        for k in _smoothest(space.network.sizes, max(effort.each, effort.smooth // len(system.spaces))):
            columns.append(np.eye(1, n, block.start + k)[0])
        smooth = [_bubble(system, space.network)] if space.network.is_product else []
        for part in (*smooth, *(state[:n][block] for state in states)):
            own = np.zeros(n)
            own[block] = part
            size = float(np.linalg.norm(own))
            if size > 0:
                columns.append(own / size)
    left, values, _ = np.linalg.svd(np.stack(columns, axis=1), full_matrices=False)
    kept = left[:, values > 1e-6 * values[0]]
    if not len(layout.moving):
        return kept
    zero = np.zeros((len(layout.moving), kept.shape[1]))
    return np.block([[kept, np.zeros_like(kept)], [zero, kept[layout.moving]]])


def _smoothest(sizes: tuple[int, ...], count: int) -> Array:
    """Return the indices of the smoothest functions of a basis, which go from smooth to rough along each axis."""
    if len(sizes) == 1:
        return np.arange(min(count, sizes[0]))
    few = [min(n, count) for n in sizes]
    index = np.indices(few).reshape(len(few), -1)
    first = np.argsort(index.sum(axis=0), kind="stable")[:count]
    return np.asarray(np.ravel_multi_index(tuple(index[:, first]), sizes))


def _bubble(system: Discretisation, network: Basis) -> Array:
    """Return the coefficients of a function with one hump in a box: what grows most is smooth.

    The first functions of a product need not be, as sines are sorted by how well they can be told apart.
    """
    domain = system.problem.domain
    s = (system.points.x - domain.lower) / domain.lengths
    return np.asarray(network.projector() @ np.prod(4.0 * s * (1.0 - s), axis=1))
