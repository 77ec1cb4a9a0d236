"""Grids of places at which solutions on boxes are compared."""

import numpy as np

import frozenpinn as fp
from frozenpinn.analysis.probing import grid_probe
from frozenpinn.geometry.points import axes_of


def test_a_grid_adds_up_to_means_and_has_the_peak_of_the_data():
    box = fp.Box([0, -1], [2, 1])
    problem = fp.Problem("u_t = lap(u)", box, (0, 1), "exp(-2000*((x - 0.7)**2 + (y - 0.4)**2))", "u = 0")
    places = grid_probe(problem)
    axes = axes_of(places.x)
    assert axes is not None
    assert np.min(np.hypot(places.x[:, 0] - 0.7, places.x[:, 1] - 0.4)) < 0.05
    np.testing.assert_allclose(places.weights.sum(), 1.0, rtol=1e-12)
    np.testing.assert_allclose(places.rms(places.x[:, 1]), np.sqrt(1 / 3), rtol=1e-2)


def test_scattered_points_and_other_orders_are_no_grid():
    x = np.random.default_rng(0).random((12, 2))
    assert axes_of(x) is None
    grid = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # the first coordinate varies fastest
    assert axes_of(grid) is None
    assert axes_of(np.zeros((0, 2))) is None
    assert [a.tolist() for a in axes_of(grid[[0, 2, 1, 3]])] == [[0.0, 1.0], [0.0, 1.0]]


def test_values_on_a_grid_are_those_at_its_points():
    box = fp.Box([0, 0], [1, 1], periodic=True)
    axes = [np.linspace(0, 1, 4), np.linspace(0.1, 0.9, 3)]
    x = np.array([[a, b] for a in axes[0] for b in axes[1]])

    def wave(x):
        return np.sin(2 * np.pi * x)

    for text in ("exp(sin(2*pi*x))*cos(2*pi*y)", "f(x)*cos(2*pi*y)"):
        given = fp.Problem("u_t = lap(u)", box, (0, 1), text, parameters={"f": wave}).initial["u"]
        np.testing.assert_allclose(given.on_grid(axes, x), given(x), atol=1e-15)
