"""Clouds of points: normals, simplices inside, thinning, what is refused."""

import numpy as np
import pytest
from domain_shapes import L_SHAPE, circle, sphere_mesh

from frozenpinn import ProblemError
from frozenpinn.geometry import Ball, Disk, PointCloud, Polygon


def l_cloud(n=120):
    shape = Polygon(L_SHAPE)
    corners = np.array(L_SHAPE, dtype=float)
    edges = [
        a + np.linspace(0, 1, 20, endpoint=False)[:, None] * (b - a)
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)
    ]
    inside = shape.sample(n, "sobol", rng=0).x
    inside = inside[shape.contains(inside, -0.02)]
    return inside, np.concatenate(edges)


def test_a_shape_that_is_not_convex():
    """The notch of the L is bridged by Delaunay triangles and must be cut out again."""
    domain = PointCloud(*l_cloud())
    assert domain.measure == pytest.approx(3, rel=0.01)
    assert domain.contains(np.array([[0.5, 0.5], [1.5, 1.5], [1.2, 1.2], [0.5, 1.5]])).tolist() == [
        True,
        False,
        False,
        True,
    ]
    points = domain.sample(1000)
    x, y = points.x.T
    assert points.weights @ (x * y) == pytest.approx(1.75, rel=0.02)  # ∫∫ xy over the L


def test_estimated_normals():
    angle_points = circle(100)
    domain = PointCloud(0.9 * Disk().sample(150, "sobol", rng=1).x, angle_points)
    np.testing.assert_allclose(domain.normals, angle_points, atol=1e-9)
    ball = PointCloud(0.8 * Ball().sample(200, "sobol", rng=1).x, sphere_mesh(3)[0])
    assert np.min(np.sum(ball.normals * ball.boundary, axis=1)) > 0.97
    assert ball.measure == pytest.approx(4 / 3 * np.pi, rel=0.05)


def test_given_normals_are_used():
    ring = circle(60)
    domain = PointCloud(0.5 * circle(10), ring, normals=3 * ring)
    np.testing.assert_allclose(domain.normals, ring, atol=1e-14)
    with pytest.raises(ProblemError, match="no simplex of the cloud is inside; do the given normals point outward"):
        PointCloud([[0.0, 0.0]], ring, normals=-ring)


def test_sides_and_thinning():
    ring = circle(100)
    domain = PointCloud(0.8 * circle(20), ring, sides={"top": np.flatnonzero(ring[:, 1] > 1e-9)})
    assert [side.name for side in domain.sides] == ["top", "boundary"]
    whole = domain.sample_side("top", 1000)
    assert len(whole) == 49
    assert np.all(whole.x[:, 1] > 0)
    few = domain.sample_side("top", 10)
    assert len(few) == 10
    assert few.weights.sum() == pytest.approx(whole.weights.sum())
    gaps = np.linalg.norm(few.x[:, None] - few.x[None], axis=2)
    assert np.min(gaps[gaps > 0]) > 0.15  # spread evenly, not at random
    random = domain.sample_side("top", 10, "random", rng=0)
    assert len(random) == 10
    assert len(np.unique(random.x, axis=0)) == 10


def test_weights_follow_the_spacing():
    """Points twice as far apart weigh twice as much."""
    angle = np.concatenate(
        [np.linspace(0, np.pi, 60, endpoint=False), np.linspace(np.pi, 2 * np.pi, 30, endpoint=False)]
    )
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    points = PointCloud(0.7 * circle(12), ring).sample_side("boundary", 1000)
    assert points.weights.sum() == pytest.approx(2 * np.pi, rel=2e-3)
    assert np.median(points.weights[points.x[:, 1] < -0.1]) == pytest.approx(
        2 * np.median(points.weights[points.x[:, 1] > 0.1]), rel=0.01
    )


def test_five_dimensions():
    inside = Ball(0, 0.95, dimension=5).sample(800, "sobol", rng=0).x
    ring = Ball(0, 1, dimension=5).sample_side("boundary", 800, "sobol", rng=0).x
    domain = PointCloud(inside, ring)
    assert np.mean(np.sum(domain.normals * ring, axis=1)) > 0.9
    points = domain.sample(100)
    assert len(points) == 100
    assert set(map(tuple, points.x)) <= set(map(tuple, inside))
    assert np.ptp(points.weights) == 0
    assert domain.contains(np.zeros((1, 5)))[0]
    assert not np.any(domain.contains(1.5 * ring[:50]))
    assert domain.measure == pytest.approx(8 * np.pi**2 / 15, rel=0.5)


# ---- boundary points that are found --------------------------------------------------------------


def test_the_boundary_is_found_in_the_plane():
    x = np.concatenate([0.93 * Disk().sample(300, "sobol", rng=0).x, circle(80)])
    domain = PointCloud(np.random.default_rng(0).permutation(x))
    assert repr(domain) == "PointCloud(300 points inside, 80 on the boundary, in 2-d)"
    assert domain.measure == pytest.approx(40 * np.sin(np.pi / 40), rel=1e-9)
    assert np.min(np.sum(domain.normals * domain.boundary, axis=1)) > 0.999
    edge = domain.sample_side("boundary", 1000)
    assert edge.weights.sum() == pytest.approx(160 * np.sin(np.pi / 80), rel=1e-9)
    hot = domain.with_sides(hot="y > 0")
    assert [side.name for side in hot.sides] == ["hot", "boundary"]


def test_the_boundary_is_found_in_space():
    x = np.concatenate([0.9 * Ball().sample(2000, "sobol", rng=0).x, sphere_mesh(3)[0]])
    domain = PointCloud(x)
    assert len(domain.boundary) == len(sphere_mesh(3)[0])
    assert np.min(np.sum(domain.normals * domain.boundary, axis=1)) > 0.99
    rule = domain.sample(3000)
    assert rule.weights @ rule.x[:, 0] ** 2 / domain.measure == pytest.approx(1 / 5, rel=0.02)
    assert np.all(domain.contains(rule.x))
    assert len(domain.sample(500, "sobol", rng=0)) == 500


def test_lattices():
    """A grid of points, with the boundary given or found: no gaps at flat cells, the right area."""
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 9)] * 3), axis=-1).reshape(-1, 3)
    inside = np.all((grid > 0) & (grid < 1), axis=1)
    for domain in (PointCloud(grid), PointCloud(grid[inside], grid[~inside])):
        assert len(domain.boundary) == np.sum(~inside)
        assert domain.measure == pytest.approx(1, rel=1e-7)
        assert domain.sample_side("boundary", 10_000).weights.sum() == pytest.approx(6, rel=1e-7)


@pytest.mark.parametrize(
    ("points", "extra", "words"),
    [
        (
            Disk().sample(50, "sobol", rng=0).x,
            {"normals": circle(5)},
            r"are for boundary points that are given \(boundary=",
        ),
        (Disk().sample(50, "sobol", rng=0).x, {"sides": {"a": [1]}}, r"use with_sides\(…\) to name parts"),
        (Disk().sample(50, "sobol", rng=0).x, {"alpha": -1}, "alpha is a positive length, got -1"),
        (Disk().sample(50, "sobol", rng=0).x, {"alpha": 1e-3}, r"alpha = 0\.001 is too small .* least alpha"),
        (np.random.default_rng(0).normal(size=(50, 4)), {}, "found in two and three dimensions; in 4-d give boundary="),
        (circle(3), {}, "in 2-d needs at least 4 points; got 3"),
        (
            sphere_mesh(2)[0],
            {"alpha": 1.01},
            r"all 66 points are on the boundary of their alpha shape \(alpha = 1\.01\)",
        ),
        (np.zeros((5, 2)), {}, "lie in a plane across an axis"),
        (np.outer(np.arange(6.0), [1, 1]), {}, "lie in a line or plane"),
    ],
)
def test_boundaries_that_are_not_found(points, extra, words):
    with pytest.raises(ProblemError, match=words):
        PointCloud(points, **extra)


def test_alpha_is_for_boundaries_that_are_found():
    with pytest.raises(ProblemError, match="but its boundary points are given; leave out one"):
        PointCloud([[0.0, 0.0]], circle(20), alpha=1.0)


RING = circle(20)


@pytest.mark.parametrize(
    ("points", "boundary", "extra", "words"),
    [
        ([[0.0, 0.0]], RING[:2], {}, "needs points inside and at least 3 on the boundary; got 1 and 2"),
        (np.empty((0, 2)), RING, {}, "needs points inside and at least 3 on the boundary; got 0 and 20"),
        ([[0.0, 0.0, 0.0]], RING, {}, r"the boundary points of a cloud have the shape \(n, 3\).*got shape \(20, 2\)"),
        ([[0.0], [1.0]], [[2.0], [3.0]], {}, r"at least two dimensions; use Interval\(a, b\) in one"),
        ([[0.0, 0.0], [0.0, 0.0]], RING, {}, r"has the point \(0, 0\) more than once"),
        ([[1.0, 0.0]], RING, {}, r"has the point \(1, 0\) more than once, inside or on the boundary"),
        ([[0.0, np.nan]], RING, {}, "must be finite; row 0"),
        ([[0.0, 0.0]], RING, {"normals": RING[:5]}, r"one normal per boundary point is needed \(20\), got 5"),
        ([[0.0, 0.0]], RING, {"normals": 0 * RING}, "the normal at boundary point 0 is zero"),
        ([[0.0, 0.0]], RING, {"sides": {"a": [20]}}, "goes beyond the boundary points, which are numbered 0 to 19"),
        ([[0.0, 0.0]], RING, {"sides": {"a": [1], "b": [1]}}, "boundary point 1 belongs to more than one side"),
        (
            [[0.0, 0.0]],
            RING,
            {"sides": {"a": "all"}},
            "needs a list of numbers of boundary points such as \\[0, 1\\], got 'all'",
        ),
        ([[0.0, 0.0]], RING, {"sides": {"boundary": [1]}}, "'boundary' is the name of points that have no other"),
        ([[0.5, 0.0]], [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], {}, "lie in a plane across an axis"),
        ([[0.5, 0.5]], [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], {}, "lie in a line or plane"),
    ],
)
def test_what_is_no_cloud(points, boundary, extra, words):
    with pytest.raises(ProblemError, match=words):
        PointCloud(points, boundary, **extra)
