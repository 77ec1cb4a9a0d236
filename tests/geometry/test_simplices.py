"""Segments, triangles, tetrahedra: rules of any degree, bisection, uniform points."""

from itertools import product
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenpinn.geometry.rare.simplices import (
    conical_rule,
    points_per_direction,
    refined,
    scattered,
    simplex_rule,
    systematic,
    volumes,
)

TETRAHEDRON = np.array([[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]], dtype=float)
TRIANGLE = TETRAHEDRON[:, :3, :2]


def monomial(powers):
    """Return ∫ Π xᵢ^pᵢ over the unit simplex: Π pᵢ! / (d + Σ pᵢ)!."""
    return np.prod([float(factorial(p)) for p in powers]) / factorial(len(powers) + sum(powers))


@pytest.mark.parametrize("q", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("corners", [TRIANGLE, TETRAHEDRON], ids=["triangle", "tetrahedron"])
def test_a_rule_is_exact_up_to_its_degree_and_not_beyond(corners, q):
    k = corners.shape[2]
    nodes, weights = conical_rule(k, q)
    assert len(weights) == q**k
    assert np.all(weights > 0)
    assert np.all(nodes > 0)
    np.testing.assert_allclose(nodes.sum(axis=1), 1.0, rtol=1e-14)
    x = nodes @ corners[0]
    for powers in product(range(2 * q), repeat=k):
        if sum(powers) <= 2 * q - 1:
            found = weights @ np.prod(x ** np.array(powers), axis=1) / factorial(k)
            assert found == pytest.approx(monomial(powers), rel=1e-12)
    beyond = [2 * q, *[0] * (k - 1)]
    found = weights @ np.prod(x ** np.array(beyond), axis=1) / factorial(k)
    assert found != pytest.approx(monomial(beyond), rel=1e-12)


@pytest.mark.parametrize("count", [1, 2, 7, 100])
@pytest.mark.parametrize("corners", [TRIANGLE, TETRAHEDRON], ids=["triangle", "tetrahedron"])
def test_bisection_keeps_the_measure_and_the_shape(corners, count):
    many, origin = refined(corners, count)
    assert len(many) == len(origin) == count
    assert volumes(many).sum() == pytest.approx(volumes(corners).sum(), rel=1e-13)
    if count == 100:
        diameter = np.max(np.linalg.norm(many[:, :, None] - many[:, None], axis=3), axis=(1, 2))
        assert np.max(diameter) < 2.5 * np.min(diameter)


def test_bisection_remembers_where_parts_come_from():
    both = np.concatenate([TRIANGLE, TRIANGLE + 10])
    many, origin = refined(both, 20)
    np.testing.assert_array_equal(origin == 1, many[:, 0, 0] > 5)


@given(st.integers(1, 20_000), st.integers(1, 300), st.sampled_from([2, 3]))
def test_the_number_of_points_comes_close(n, cells, k):
    q = points_per_direction(n, cells, k)
    assert q >= 1
    gap = abs(np.log(cells * q**k / n))
    assert all(gap <= abs(np.log(cells * other**k / n)) + 1e-9 for other in (q - 1, q + 1) if other >= 1)


def test_few_triangles_of_high_order_are_preferred():
    x, weights, _ = simplex_rule(TRIANGLE, 300)
    assert abs(len(x) - 300) < 50
    for powers in product(range(16), repeat=2):
        if sum(powers) <= 15:
            assert weights @ np.prod(x ** np.array(powers), axis=1) == pytest.approx(monomial(powers), rel=1e-12)


def test_segments_get_points_by_length():
    corners = np.array([[[0, 0], [3, 0]], [[3, 0], [3, 1]], [[3, 1], [3, 1.001]]], dtype=float)
    x, weights, owner = simplex_rule(corners, 40)
    assert np.bincount(owner).tolist() == [30, 10, 2]
    assert weights.sum() == pytest.approx(4.001, rel=1e-14)
    for corner in corners.reshape(-1, 2):
        assert np.min(np.linalg.norm(x - corner, axis=1)) > 1e-5


def test_measures_of_simplices_in_more_dimensions():
    triangle = np.array([[[0, 0, 0], [1, 0, 0], [0, 3, 4]]], dtype=float)
    assert volumes(triangle)[0] == pytest.approx(2.5)
    assert volumes(np.pad(triangle, ((0, 0), (0, 0), (0, 2))))[0] == pytest.approx(2.5)
    assert volumes(triangle[:, :2])[0] == 1.0
    assert volumes(TETRAHEDRON)[0] == pytest.approx(1 / 6)


@pytest.mark.parametrize("method", ["random", "latin-hypercube", "sobol"])
def test_points_in_simplices_are_uniform(method):
    both = np.concatenate([TETRAHEDRON, 5 + 2 * TETRAHEDRON])
    x, owner = scattered(both, 20_000, method, np.random.default_rng(0))
    assert np.mean(owner) == pytest.approx(8 / 9, abs=0.01)
    local = np.where(owner[:, None] == 1, (x - 5) / 2, x)
    assert np.all(local >= 0)
    assert np.all(local.sum(axis=1) <= 1 + 1e-12)
    for powers in product(range(3), repeat=3):
        found = np.mean(np.prod(local ** np.array(powers), axis=1)) / 6
        assert found == pytest.approx(monomial(powers), rel=0.1, abs=2e-4)


def test_many_simplices_are_thinned_by_measure():
    many, _ = refined(TRIANGLE, 5000)
    x, picked = systematic(many, 200)
    assert x.shape == (200, 2)
    assert len(set(picked.tolist())) == 200
    assert np.mean(x[:, 0]) == pytest.approx(1 / 3, abs=0.01)
    assert np.mean(x[:, 0] * x[:, 1]) == pytest.approx(1 / 12, abs=0.005)
