"""Weights that integrate polynomials exactly, and integrals over solids from their surfaces."""

import numpy as np
import pytest

from frozenpinn.geometry import Ball
from frozenpinn.geometry.rare.moments import degree_for, exponents, fitted_weights, moments, polynomials, solid_moments

BOX = (np.array([-1.1, -1.3, -1.2]), np.array([1.2, 1.1, 1.4]))


def test_exponents():
    assert exponents(2, 2).tolist() == [[0, 0], [0, 1], [1, 0], [0, 2], [1, 1], [2, 0]]
    assert len(exponents(3, 10)) == 286
    assert degree_for(4000, 3) == 10
    assert degree_for(1600, 3) == 7
    assert degree_for(10, 3) == 0


def test_polynomials_are_orthonormal():
    from frozenpinn.geometry import Box

    rule = Box(*BOX).sample((6, 6, 6))
    values = polynomials(rule.x, *BOX, 4)
    gram = values.T @ (values * rule.weights[:, None]) / np.prod(BOX[1] - BOX[0])
    np.testing.assert_allclose(gram, np.eye(35), atol=1e-12)


def test_solids_from_their_surfaces():
    edge, inside = Ball().sample_side("boundary", 2000), Ball().sample(4000)
    found = solid_moments(edge.x, edge.normals, edge.weights, *BOX, 8)
    np.testing.assert_allclose(found, moments(inside.x, inside.weights, *BOX, 8), atol=1e-11)


def test_fitted_weights():
    inside = Ball().sample(4000)
    exact = moments(inside.x, inside.weights, *BOX, 10)
    x = Ball().sample(4000, "sobol", rng=0).x
    weights = fitted_weights(x, exact, *BOX)
    assert np.all(weights > 0)
    np.testing.assert_allclose(weights @ polynomials(x, *BOX, 10), exact, atol=1e-11)
    wave = np.exp(np.sum(x, axis=1))
    reference = inside.weights @ np.exp(np.sum(inside.x, axis=1))
    assert weights @ wave == pytest.approx(reference, rel=1e-6)
    assert abs(np.mean(wave) * exact[0] / reference - 1) > 1e-5  # equal weights are far from that


def test_points_that_can_not_be_fitted_keep_equal_weights():
    """All points in one corner: no positive weights have the moments of the ball."""
    exact = moments(Ball().sample(1000).x, Ball().sample(1000).weights, *BOX, 4)
    x = 0.5 + 0.1 * Ball().sample(500, "sobol", rng=0).x
    weights = fitted_weights(x, exact, *BOX)
    assert np.ptp(weights) == 0
    assert weights.sum() == pytest.approx(exact[0])
