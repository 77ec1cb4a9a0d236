"""Triangles from the signs on a grid: closed, and coarse grids that hide something."""

import numpy as np
import pytest

from frozenpinn.geometry.rare.level_surface import crossed_edges, shown, sign_table


def ball(radius, centre=(0.0, 0.0, 0.0)):
    return lambda x: np.sum((x - np.array(centre)) ** 2, axis=1) - radius**2


def torus(x):
    return (np.hypot(x[:, 0], x[:, 1]) - 1) ** 2 + x[:, 2] ** 2 - 0.16


def table(function, cells=32):
    return sign_table(function, np.full(3, -1.6), np.full(3, 1.6), np.full(3, cells))


@pytest.mark.parametrize(("function", "characteristic"), [(ball(1.2), 2), (torus, 0)])
def test_surfaces_are_closed(function, characteristic):
    """Each edge belongs to two triangles, and corners − edges + triangles is that of the surface."""
    inside, axes = table(function)
    inner, outer, faces = crossed_edges(inside)
    assert np.all(inside.ravel()[inner])
    assert not np.any(inside.ravel()[outer])
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    _, times = np.unique(edges, axis=0, return_counts=True)
    assert np.all(times == 2)
    assert len(inner) - len(times) + len(faces) == characteristic
    assert [len(axis) for axis in axes] == [33, 33, 33]


def test_what_a_coarse_grid_hides():
    assert shown(table(ball(1.2))[0], 4)
    small = ball(0.15, (0.1, 0.1, 0.1))  # between nodes of the coarse grid
    assert shown(table(small, 64)[0], 1)
    assert not shown(table(lambda x: np.minimum(ball(0.4, (1, 1, 1))(x), small(x)), 64)[0], 8)
    thin = lambda x: np.abs(x[:, 2] - 0.11) - 0.06 + 10 * np.maximum(np.max(np.abs(x), axis=1) - 1, 0)  # noqa: E731
    assert not shown(table(thin, 64)[0], 4)


def test_no_surface():
    inside, _ = table(lambda x: np.ones(len(x)))
    assert [len(part) for part in crossed_edges(inside)] == [0, 0, 0]
