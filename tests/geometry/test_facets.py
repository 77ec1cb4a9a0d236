"""Closed surfaces of facets: inside tests on every kind of degenerate line, distances, crossings."""

import numpy as np
import pytest
from domain_shapes import CUBE, L_SHAPE, circle, sphere_mesh, square_mesh
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from frozenpinn.geometry import Polygon, Simplicial, SurfaceMesh
from frozenpinn.geometry.rare.facets import Facets, distances


def ring(vertices):
    x = np.asarray(vertices, dtype=float)
    return np.stack([x, np.roll(x, -1, axis=0)], axis=1)


def test_points_on_lines_through_corners():
    """A comb of points at the coordinates of the corners, where every line meets vertices and vertical edges."""
    surface = Facets(ring(L_SHAPE))
    grid = np.stack(np.meshgrid(np.linspace(-0.5, 2.5, 13), np.linspace(-0.5, 2.5, 13)), axis=2).reshape(-1, 2)
    x, y = grid.T
    strictly = (x > 0) & (y > 0) & (x < 2) & (y < 2) & ((x < 1) | (y < 1))
    closed = (x >= 0) & (y >= 0) & (x <= 2) & (y <= 2) & ((x <= 1) | (y <= 1))
    assert np.array_equal(surface.contains(grid, 1e-9), closed)
    assert np.array_equal(surface.contains(grid, -1e-9), strictly)
    inside = surface.inside(grid)
    assert np.all(inside[strictly])
    assert not np.any(inside[~closed])


def test_points_on_lines_through_corners_and_edges_of_a_solid():
    """Lines through vertices, through edges and along the diagonals of the faces of a cube made of smaller ones."""
    steps = np.linspace(0, 1, 4)
    grid = np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=2).reshape(-1, 2)
    _, faces = square_mesh(3)
    points, table = [], []
    for axis in range(3):
        for end in (0.0, 1.0):
            table.append(faces + 16 * len(points))
            points.append(np.insert(grid, axis, end, axis=1))
    solid = SurfaceMesh(np.concatenate(points), np.concatenate(table))
    assert solid.measure == pytest.approx(1.0, rel=1e-14)
    axis = np.linspace(-1 / 3, 4 / 3, 11)
    x = np.stack(np.meshgrid(axis, axis, axis), axis=3).reshape(-1, 3)
    margin = np.min(np.minimum(x, 1 - x), axis=1)
    assert np.array_equal(solid.contains(x), margin > -1e-9)
    assert np.array_equal(solid.contains(x, -1e-8), margin > 1e-9)
    assert np.all(solid.contains(x, 0.0)[margin > 1e-9])
    assert not np.any(solid.contains(x, 0.0)[margin < -1e-9])


@pytest.mark.parametrize("turn", [0, 1, 2])
def test_lines_through_the_tips_of_octahedra(turn):
    """Vertices above each other, edges seen as points of a plane, faces in four directions."""
    tips = np.concatenate([np.eye(3), -np.eye(3)])
    skewed = tips @ np.array(
        [np.eye(3), [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 0], [-1, 0, 0.25], [0, 0, 1]]][turn]
    )
    solid = SurfaceMesh(skewed, ConvexHull(tips).simplices)
    axis = np.linspace(-1.25, 1.25, 11)
    local = np.stack(np.meshgrid(axis, axis, axis), axis=3).reshape(-1, 3)
    x = local @ np.linalg.lstsq(tips, skewed, rcond=None)[0]
    x = np.round(x * 16) / 16 if turn == 0 else x
    norm = np.sum(np.abs(np.linalg.solve(skewed[:3].T, x.T)), axis=0)
    assert np.all(solid.contains(x, 0.0)[norm < 1 - 1e-9])
    assert not np.any(solid.contains(x, 0.0)[norm > 1 + 1e-9])
    assert np.all(solid.contains(skewed))


@given(st.integers(3, 40), st.integers(0, 10_000))
@settings(max_examples=60)
def test_stars_agree_with_shapely(corners, seed):
    import shapely

    rng = np.random.default_rng(seed)
    star = circle(corners) * rng.uniform(0.2, 1.0, (corners, 1))
    star = np.round(star, 2 if corners < 12 else 6)  # coordinates that coincide
    polygon = shapely.Polygon(star)
    if not polygon.is_valid or polygon.area < 1e-3 or len(np.unique(star, axis=0)) < corners:
        return
    domain = Polygon(star)
    x = np.concatenate([rng.uniform(-1, 1, (500, 2)), np.round(rng.uniform(-1, 1, (500, 2)), 2), star])
    near = shapely.distance(polygon.boundary, shapely.points(x)) < 1e-8
    exact = shapely.contains_xy(polygon, x)
    assert np.array_equal(domain.contains(x, 0.0)[~near], exact[~near])
    assert np.array_equal(domain.contains(x, 1e-9), exact | (shapely.distance(polygon, shapely.points(x)) < 1e-9))
    assert domain.measure == pytest.approx(polygon.area, rel=1e-12)


def test_distances_to_triangles():
    """Above a face, beyond each edge, and beyond each corner, against brute force."""
    rng = np.random.default_rng(0)
    corners = rng.normal(size=(40, 3, 3))
    x = rng.normal(size=(40, 3)) * 2
    s, t = np.meshgrid(np.linspace(0, 1, 200), np.linspace(0, 1, 200))
    s, t = s[s + t <= 1 + 1e-12], t[s + t <= 1 + 1e-12]
    for p, (a, b, c) in zip(x, corners, strict=True):
        brute = np.min(np.linalg.norm(a + s[:, None] * (b - a) + t[:, None] * (c - a) - p, axis=1))
        exact = distances(p[None], np.stack([a, b, c])[None])[0]
        assert exact <= brute + 1e-12
        assert exact == pytest.approx(brute, abs=0.03)
    flat = np.array([[[0, 0, 0], [1, 0, 0], [2, 0, 0]]], dtype=float)
    assert distances(np.array([[3.0, 1.0, 0.0]]), flat)[0] == pytest.approx(2**0.5)


def test_near_points():
    sphere = Facets(ConvexHull(CUBE).points[ConvexHull(CUBE).simplices])
    x = np.array([[0.5, 0.5, 1.05], [0.5, 0.5, 0.95], [1.05, 1.05, 1.05], [0.5, 0.5, 0.5], [1.05, 0.5, 0.5]])
    assert sphere.near(x, 0.06).tolist() == [True, True, False, False, True]
    assert sphere.contains(x, 0.06).tolist() == [True, True, False, True, True]
    assert sphere.contains(x, -0.06).tolist() == [False, False, False, True, False]


def test_intervals_of_lines():
    surface = Facets(np.concatenate([ring([[0, 0], [4, 0], [4, 4], [0, 4]]), ring([[1, 1], [3, 1], [3, 2], [1, 2]])]))
    line, start, end = surface.intervals(np.array([[0.5], [2.0], [5.0], [3.5]]))
    assert line.tolist() == [0, 1, 1, 3]
    assert start.tolist() == [0, 0, 2, 0]
    assert end.tolist() == [4, 1, 4, 4]
    assert surface.count(np.array([[0.5], [2.0], [5.0]])).tolist() == [1, 2, 0]


def test_large_meshes_are_fast_enough_to_be_tested():
    """A million points in a solid of 8192 faces; the bound is generous, the naive test would take hours."""
    import time

    solid = SurfaceMesh(*sphere_mesh(5))
    x = np.random.default_rng(0).uniform(-1, 1, (1_000_000, 3))
    start = time.process_time()
    inside = solid.contains(x)
    assert time.process_time() - start < 30
    assert np.mean(inside) * 8 == pytest.approx(solid.measure, rel=0.005)
    radius = np.linalg.norm(x, axis=1)
    assert np.all(inside[radius < 0.99])
    assert not np.any(inside[radius > 1.0])


def test_meshes_agree_with_their_triangles():
    x, cells = square_mesh(6)
    domain = Simplicial(x, cells[3:])  # a square with a notch
    points = np.random.default_rng(1).uniform(-0.2, 1.2, (2000, 2))
    inside = np.zeros(len(points), dtype=bool)
    for a, b, c in x[cells[3:]]:
        bary = np.linalg.solve(np.column_stack([b - a, c - a]), (points - a).T)
        inside |= np.all(bary >= 0, axis=0) & (bary.sum(axis=0) <= 1)
    assert np.array_equal(domain.contains(points, 0.0), inside)
