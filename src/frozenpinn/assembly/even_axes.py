"""Points and neurons of products that do not look at the solution, remembered by what they are made from.

Such an axis is a pure function of few numbers: its ends, its neurons and points, the seed. Everything that is built on
it (its network, tables, projected derivatives, eigenvectors) is remembered by the identity of what stands here, so that
a sweep over parameters, initial data or other equations builds each axis once. What is kept is bounded in number and
size, and nothing but time depends on it.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from frozenpinn.assembly.products import SMALL
from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.samplers import Sines
from frozenpinn.geometry import Box, Points
from frozenpinn.runtime.arrays import read_only


def even_grid(box: Box, counts: tuple[int, ...], method: str) -> Points:
    """Return the tensor grid of a box; that of a small one is always the same object."""
    if prod(counts) > SMALL:
        return box.sample(counts, method)
    return _grid(tuple(box.lower.tolist()), tuple(box.upper.tolist()), tuple(box.periodic), counts, method)


@lru_cache(maxsize=8)
def _grid(
    lower: tuple[float, ...], upper: tuple[float, ...], periodic: tuple[bool, ...], counts: tuple[int, ...], method: str
) -> Points:
    found = Box(lower, upper, periodic=periodic).sample(counts, method)
    axes, weights = (tuple(map(read_only, arrays)) for arrays in (found.axes, found.axis_weights))
    grid = Points(read_only(found.x), read_only(found.weights), read_only(found.spacing), axes, weights)
    vars(grid)["_along"] = tuple(
        _line(nodes.tobytes(), own.tobytes(), float(gap))
        for nodes, own, gap in zip(axes, weights, grid.spacing, strict=True)
    )
    return grid


@lru_cache(maxsize=64)
def _line(nodes: bytes, weights: bytes, spacing: float) -> Points:
    own, sizes = (read_only(np.frombuffer(data).copy()) for data in (nodes, weights))
    return Points(own[:, None], sizes, np.array([spacing]))


@lru_cache(maxsize=64)
def even_layer(sampler: Sines, points: Points, seed: int) -> HiddenLayer:
    """Draw the neurons of an axis; axes that are alike have the same, so that squares and cubes build one network."""
    return sampler.sample(points, np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,))))
