"""Least squares by kept reflectors."""

import numpy as np
import pytest

from frozenpinn.errors import SettingsError
from frozenpinn.operators import LeastSquares, least_squares


def test_agrees_with_lapack():
    rng = np.random.default_rng(0)
    matrix, right = rng.normal(size=(30, 7)), rng.normal(size=(30, 3))
    found = LeastSquares.of(matrix).solve(right)
    assert np.allclose(found, np.linalg.lstsq(matrix, right, rcond=None)[0], atol=1e-12)
    assert np.allclose(LeastSquares.of(matrix).solve(right[:, 0]), found[:, 0], rtol=1e-13)


def test_redundant_columns_get_a_small_solution():
    column = np.linspace(1.0, 2.0, 20)
    found = LeastSquares.of(np.stack([column, column, column], axis=1)).solve(6.0 * column)
    assert found == pytest.approx([2.0, 2.0, 2.0], abs=1e-3)


def test_digits_survive_where_normal_equations_lose_them():
    x = np.linspace(0, 1, 60)
    matrix = np.vander(x, 14)
    exact = np.ones(14)
    found = LeastSquares.of(matrix).solve(matrix @ exact)
    assert np.linalg.norm(matrix @ (found - exact)) <= 1e-12 * np.linalg.norm(matrix @ exact)


def test_the_factor_is_that_of_the_matrix():
    matrix = np.random.default_rng(1).normal(size=(12, 4))
    triangle = np.triu(LeastSquares.of(matrix).triangle)
    assert np.allclose(triangle.T @ triangle, matrix.T @ matrix)


def test_not_finite():
    with pytest.raises(SettingsError, match="the rows of a least-squares problem are not finite"):
        LeastSquares.of(np.array([[1.0], [np.nan]]))


def test_panels_of_wide_matrices_give_the_same_factors(monkeypatch):
    matrix, data = np.random.default_rng(4).normal(size=(70, 40)), np.arange(70.0)
    whole = LeastSquares.of(matrix)
    monkeypatch.setattr(least_squares, "_WHOLE", 12)
    monkeypatch.setattr(least_squares, "_PANEL", 7)
    panels = LeastSquares.of(matrix)
    assert panels.solve(data) == pytest.approx(whole.solve(data), rel=1e-12)
    assert np.triu(panels.triangle) == pytest.approx(np.triu(whole.triangle), abs=1e-12)
