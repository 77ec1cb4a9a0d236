"""Dense eigenvalue problems by inverses."""

from __future__ import annotations

import numpy as np
import pytest

from frozenpinn.errors import ConvergenceError
from frozenpinn.modes.eigen import by_distance, eigenpairs

RNG = np.random.default_rng(0)


def symmetric(values):
    q = np.linalg.qr(RNG.normal(size=(len(values), len(values))))[0]
    matrix = q @ np.diag(values) @ q.T
    return (matrix + matrix.T) / 2


def test_small_eigenvalues_beside_large_ones():
    exact = np.array([1.0, 2.0, 5.0, 1e3, 1e6, 1e9])
    found = eigenpairs(np.diag(exact), None, np.ones(6))
    assert found.symmetric
    assert found.values == pytest.approx(exact, rel=1e-12)


def test_nearest_come_first():
    matrix = symmetric(np.arange(1.0, 9.0))
    assert eigenpairs(matrix, None, np.ones(8), 5.2).values[:3] == pytest.approx([5, 6, 4], rel=1e-10)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_definite_mass(sign):
    left, mass = symmetric(np.arange(1.0, 6.0)), sign * symmetric(np.array([1.0, 2, 3, 2, 1]))
    found = eigenpairs(left, mass, np.ones(5))
    assert found.symmetric
    assert left @ found.vectors == pytest.approx(mass @ found.vectors * found.values, abs=1e-9)


def test_infinite_eigenvalues_are_left_out():
    left, mass = symmetric(np.arange(1.0, 6.0)), np.diag([1.0, 1.0, 1.0, 0.0, 0.0])
    assert len(eigenpairs(left, mass, np.ones(5)).values) == 3


def test_complex_pairs():
    found = eigenpairs(np.array([[1.0, 2.0], [-2.0, 1.0]]), None, np.ones(2))
    assert found.values == pytest.approx([1 + 2j, 1 - 2j])
    assert not found.symmetric


def test_zero_is_an_eigenvalue():
    assert eigenpairs(np.diag([0.0, 1.0, 2.0]), None, np.ones(3)).values == pytest.approx([0, 1, 2], abs=1e-12)


def test_order_of_equal_distances():
    values = np.array([5 - 2j, 5 + 2j, 1.0, 5.0000000000001 + 2j])
    assert list(by_distance(values)) == [2, 1, 3, 0]


def test_matrices_that_determine_nothing():
    with pytest.raises(ConvergenceError, match="the equations of the eigenvalue problem determine nothing"):
        eigenpairs(np.zeros((2, 2)), np.zeros((2, 2)), np.ones(2))
