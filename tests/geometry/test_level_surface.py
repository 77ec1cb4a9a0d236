"""Curved triangles: how fast area, volume and normals converge, and edges between smooth parts."""

import numpy as np
import pytest

from frozenpinn.geometry.rare import level_surface
from frozenpinn.geometry.rare.predicates import CutLevel, LevelFunction

XYZ = ("x", "y", "z")
BALL = "x^2 + y^2 + z^2 - 1"
TORUS = "(sqrt(x^2 + y^2) - 1)^2 + z^2 - 0.16"
GYROID = "sin(x)*cos(y) + sin(y)*cos(z) + sin(z)*cos(x) - 0.3"


def level(text):
    return LevelFunction(text, XYZ, "the function")


def boundary(text, reach):
    box = (np.full(3, -reach), np.full(3, 1.03 * reach))
    return level_surface.level_boundary(level(text), *box, box)


def unit(slope):
    return slope / np.linalg.norm(slope, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("text", "volume", "area"),
    [(BALL, 4 / 3 * np.pi, 4 * np.pi), (TORUS, 2 * np.pi**2 * 0.16, 4 * np.pi**2 * 0.4)],
)
def test_the_order_of_rules(text, volume, area):
    """One, four and nine points per triangle: errors of area and volume fall by far more than the number grows."""
    surface = level_surface.level_surface(level(text).smooth_parts[0], np.full(3, -1.5), np.full(3, 1.6))
    errors = []
    for order in (1, 2, 3):
        x, slope, weights = surface.rule(order)
        found = weights @ np.sum(x * unit(slope), axis=1) / 3
        errors.append(max(abs(np.sum(weights) / area - 1), abs(found / volume - 1)))
    assert errors[0] < 5e-3
    assert errors[1] < errors[0] / 30
    assert errors[2] < errors[1] / 10
    assert errors[2] < 1e-6


def test_finer_grids(monkeypatch):
    """Four points per triangle: halving the cells divides the error by sixteen or so."""
    monkeypatch.setattr(level_surface, "STRIDES", (1,))
    errors = []
    for cells in (16, 32, 64):
        monkeypatch.setattr(level_surface, "CELLS", cells)
        monkeypatch.setattr(level_surface, "FEWEST", 4)
        surface = level_surface.level_surface(level(TORUS).smooth_parts[0], np.full(3, -1.5), np.full(3, 1.6))
        errors.append(abs(np.sum(surface.rule(2)[2]) / (4 * np.pi**2 * 0.4) - 1))
    slopes = np.diff(np.log2(errors))
    assert np.all(slopes < -3)


def test_points_and_normals_are_exact():
    found = boundary(TORUS, 1.5)
    for x, normals in (found.rule[:2], found.points(500, "random", np.random.default_rng(0)), found.spread(500)[:2]):
        ring = np.column_stack([x[:, :2] / np.hypot(x[:, 0], x[:, 1])[:, None], np.zeros(len(x))])
        np.testing.assert_allclose(np.linalg.norm(x - ring, axis=1), 0.4, atol=1e-12)
        np.testing.assert_allclose(normals, (x - ring) / 0.4, atol=1e-11)


def test_nodes_of_the_grid_on_the_surface():
    """Corners of several triangles fall together there; they count as one."""
    box = (np.full(3, -1.2), np.full(3, 1.2))
    found = level_surface.level_boundary(level(BALL), *box, box)
    assert found.area == pytest.approx(4 * np.pi, rel=1e-8)
    assert found.volumes == pytest.approx(4 / 3 * np.pi, rel=1e-8)


@pytest.mark.parametrize(
    ("text", "volume", "area"),
    [
        ("max(x^2 + y^2 + z^2 - 1, z - 0.5)", np.pi * (4 / 3 - 5 / 24), np.pi * 3.75),
        ("min(x^2 + y^2 + z^2 - 1, (x - 0.5)^2 + y^2 + z^2 - 1)", np.pi * (8 / 3 - 1.5**2 * 4.5 / 12 * 1), 5 * np.pi),
        ("max(x^2 + y^2 + z^2 - 1, 0.25 - x^2 - y^2)", 4 / 3 * np.pi * 0.75**1.5, 3**0.5 * 3 * np.pi),
        ("max(abs(x) - 1, max(abs(y) - 1, abs(z) - 1))", 8.0, 24.0),
    ],
    ids=["cap", "two balls", "drilled", "cube"],
)
def test_edges(text, volume, area):
    found = boundary(text, 1.7)
    assert found.area == pytest.approx(area, rel=4e-4)
    assert found.volumes == pytest.approx(volume, rel=4e-4)
    x, normals = found.points(800, "sobol", np.random.default_rng(0))
    whole = level(text)
    assert np.max(np.abs(whole(x))) < 1e-12
    assert np.all(whole(x + 1e-6 * normals) > 0)
    assert np.all(whole(x - 1e-6 * normals) < 0)


def test_a_gyroid_in_its_cell():
    """A period of the gyroid: the level −0.3 is the mirror image of 0.3, so both insides fill the cell."""
    volumes = []
    for sign in ("-", "+"):
        whole = CutLevel(level(GYROID.replace("- 0.3", f"{sign} 0.3")), np.full(3, -np.pi), np.full(3, np.pi))
        found = level_surface.level_boundary(whole, whole._lower, whole._upper, (np.full(3, -3.3), np.full(3, 3.3)))
        assert found.closed
        volumes.append(found.volumes[0])
    assert sum(volumes) == pytest.approx((2 * np.pi) ** 3, rel=5e-4)


def test_smooth_parts():
    assert len(level(BALL).smooth_parts) == 1
    assert level(BALL).smooth_parts[0].margin is None
    parts = level("max(x, min(y, max(z, x)))").smooth_parts
    x = np.array([[1.0, 2.0, 3.0]])
    assert sorted(float(part.level(x)[0]) for part in parts) == [1, 2, 3]


def test_a_part_that_bounds_nothing():
    found = boundary("max(x^2 + y^2 + z^2 - 1, x - 1.5)", 1.7)
    assert found.area == pytest.approx(4 * np.pi, rel=1e-7)
