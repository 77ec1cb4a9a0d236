"""Functions from given derivatives of them."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.basis.hidden import Derivative
from frozenpinn.basis.recovery import recovery


def gradient(d):
    return [{tuple(int(i == k) for i in range(d)): 1.0} for k in range(d)]


def smooth(x):
    return np.sin(1.3 * x[:, 0] + 0.2) * np.cos(0.9 * x[:, 1])


def slopes(x):
    first = 1.3 * np.cos(1.3 * x[:, 0] + 0.2) * np.cos(0.9 * x[:, 1])
    second = -0.9 * np.sin(1.3 * x[:, 0] + 0.2) * np.sin(0.9 * x[:, 1])
    return [first, second, np.zeros(len(x))]


@pytest.mark.parametrize(
    ("domain", "accuracy"),
    [
        (fp.Box([-1, 0], [1, 2]), 1e-12),
        (fp.Box([0] * 3, [1] * 3), 1e-11),
        (fp.Disk([0, 0], 1), 1e-6),
        (fp.Polygon([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]), 1e-6),
    ],
)
def test_gradients_are_integrated(domain, accuracy):
    d = domain.dimension
    rule = recovery(domain, gradient(d))
    images = [own[:, None] for own in slopes(rule.points.x)[:d]]
    coefficients = rule.coefficients(images)
    x = domain.sample(200, "random", 1).x
    found, exact = rule.values(x, Derivative((0,) * d), coefficients)[:, 0], smooth(x)
    assert np.ptp(found - exact) <= accuracy * np.ptp(exact)
    weights = rule.points.weights
    assert abs(weights @ rule.values(rule.points.x, Derivative((0,) * d), coefficients)[:, 0]) <= 1e-9 * np.sum(weights)
    along_x = rule.values(x, Derivative((1,) + (0,) * (d - 1)), coefficients)[:, 0]
    assert np.max(np.abs(along_x - slopes(x)[0])) <= 100 * accuracy


def test_waves_are_integrated_on_periodic_boxes_with_factors():
    box = fp.Box([0, 0], [2 * np.pi, 1], periodic=True)
    rule = recovery(box, [{(1, 0): 2.0}, {(0, 1): 3.0}])
    x, y = rule.points.x.T
    images = [2 * np.cos(x) * np.sin(2 * np.pi * y), 3 * 2 * np.pi * np.sin(x) * np.cos(2 * np.pi * y)]
    coefficients = rule.coefficients([own[:, None] for own in images])
    axes = (np.linspace(0, 6, 5), np.linspace(0, 1, 4))
    found = rule.on_grid(axes, Derivative((0, 0)), coefficients)[..., 0]
    exact = np.sin(axes[0])[:, None] * np.sin(2 * np.pi * axes[1])
    np.testing.assert_allclose(found, exact, atol=1e-13)
    lap = rule.on_grid(axes, Derivative((0, 0), 1), coefficients)[..., 0]
    np.testing.assert_allclose(lap, -(1 + 4 * np.pi**2) * exact, atol=1e-11)


def test_what_is_no_gradient_gives_the_nearest_function():
    rule = recovery(fp.Box([0, 0], [1, 1]), gradient(2))
    x, y = rule.points.x.T - 0.5  # a rotation is orthogonal to gradients where it does not pass the boundary
    images = [(x**2 - 0.25) ** 2 * 4 * y * (y**2 - 0.25), -((y**2 - 0.25) ** 2) * 4 * x * (x**2 - 0.25)]
    found = rule.coefficients([own[:, None] for own in images])
    assert np.max(np.abs(found)) <= 1e-12
