"""Extruded and revolved domains."""

import numpy as np
import pytest

from frozenpinn import ProblemError
from frozenpinn.geometry import Annulus, Ball, Box, Disk, Extruded, Interval, Polygon, Revolved


def names(domain):
    return [side.name for side in domain.sides]


def test_names_of_sides():
    assert names(Extruded(Disk(name="wall"), 0, 1)) == ["wall", "front", "back"]
    assert Extruded(Disk(), 0, 1).side("z+").name == "back"
    assert names(Extruded(Interval(0, 1), 0, 2)) == ["left", "right", "bottom", "top"]
    assert names(Extruded(Box([0, 0], [1, 1]), 0, 1)) == ["left", "right", "bottom", "top", "front", "back"]
    assert names(Extruded(Disk(name="back"), 0, 1)) == ["back", "front", "back 2"]
    assert names(Extruded(Ball(), 0, 1)) == ["boundary", "x4-", "x4+"]
    assert names(Extruded(Annulus(1, 2), 0, 1)) == ["inner", "outer", "front", "back"]
    assert names(Revolved(Polygon([[0, 0], [1, 0], [0, 2]], sides={"floor": [0], "axis": [2]}))) == ["floor", "outer"]
    assert names(Revolved(Box([1, 0], [2, 1]))) == ["left", "right", "bottom", "top"]


def test_ends_and_walls_of_a_cylinder():
    domain = Extruded(Disk(radius=2, name="wall"), -1, 3)
    front, wall = domain.sample_side("front", 200), domain.sample_side("wall", 300)
    assert np.all(front.x[:, 2] == -1)
    assert np.all(front.normals == [0, 0, -1])
    assert front.weights.sum() == pytest.approx(4 * np.pi)
    assert wall.weights.sum() == pytest.approx(16 * np.pi)
    np.testing.assert_allclose(wall.normals[:, :2], wall.x[:, :2] / 2, atol=1e-14)
    assert 150 < len(wall) < 600


def test_moments_of_a_cylinder():
    points = Extruded(Disk(), 0, 2).sample(1500)
    x, y, z = points.x.T
    assert points.weights @ (x**2 * z**3) == pytest.approx(np.pi / 4 * 4, rel=1e-12)
    assert points.weights @ (x**2 * y**2 * z) == pytest.approx(np.pi / 24 * 2, rel=1e-12)
    assert 1000 < len(points) < 2200


@pytest.mark.parametrize("height", [0.01, 1.0, 100.0])
def test_thin_and_long_solids_have_points_across(height):
    """Neurons are stretched to the domain, so points are."""
    points = Extruded(Disk(), 0, height).sample(2000)
    assert 10 < len(np.unique(np.round(points.x[:, 2] / height, 9))) < 20
    assert points.spacing[2] == pytest.approx(height * np.pi / 2 / 13, rel=0.2)


def test_moments_of_a_ball_that_was_revolved():
    half = Revolved(Disk([0, 0], 1) & Box([0, -2], [2, 2]))
    assert half.measure == pytest.approx(4 / 3 * np.pi, rel=1e-6)
    points = half.sample(3000)
    x, y, z = points.x.T
    for power in (x**2, y**2, z**2):
        assert points.weights @ power == pytest.approx(4 * np.pi / 15, rel=1e-4)
    assert abs(points.weights @ (x * y)) < 1e-10
    assert names(half) == ["boundary"]
    around = half.sample_side("boundary", 800)
    np.testing.assert_allclose(around.normals, around.x, atol=1e-9)
    assert around.weights.sum() == pytest.approx(4 * np.pi, rel=0.02)


def test_the_axis_is_inside():
    cylinder = Revolved(Box([0, 0], [1, 3]))
    assert np.all(cylinder.contains(np.array([[0, 0, 1], [0, 0, 0], [0.6, 0.6, 3.0]])))
    assert not np.any(cylinder.contains(np.array([[0.8, 0.8, 1], [0, 0, 3.1]])))
    assert cylinder.lower.tolist() == [-1, -1, 0]
    pipe = Revolved(Box([1, 0], [2, 1]))
    assert not pipe.contains(np.array([[0.0, 0.0, 0.5]]))[0]
    inner = pipe.sample_side("left", 100)
    np.testing.assert_allclose(inner.normals[:, :2], -inner.x[:, :2], atol=1e-12)


def test_few_points_near_the_axis():
    x = Revolved(Box([0, 0], [1, 1])).sample(4000).x
    near = np.mean(np.hypot(x[:, 0], x[:, 1]) < 0.2)
    assert near < 0.16  # 4 % of the volume


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Extruded(Disk(), 1, 0), "axis 0 runs from 1 to 0"),
        (lambda: Extruded("disk", 0, 1), r"the base of an extruded domain is a domain such as Disk\(\), got 'disk'"),
        (lambda: Extruded(Interval(0, 1, periodic=True), 0, 1), "has periodic axes"),
        (lambda: Revolved(Disk()), "the profile reaches r = -1; its first coordinate is the distance from the axis"),
        (lambda: Revolved(Ball()), "a profile is a domain in the plane of r and z"),
        (lambda: Revolved(3), "a profile is a domain in the plane of r and z"),
    ],
)
def test_what_is_no_solid(build, words):
    with pytest.raises(ProblemError, match=words):
        build()
