"""Eigenvalues that are alike up to round-off are found, and no others."""

import numpy as np

from frozenpinn.operators.eigen import Distinct


def test_what_is_computed_once_is_spread_out():
    eigenvalues = -np.repeat(np.arange(1.0, 6.0) ** 2, 4) * (1 + 4e-16 * (np.arange(20) % 3))
    found = Distinct.of(eigenvalues)
    assert len(found.values) == 5
    np.testing.assert_allclose(found.spread(np.exp(found.values)), np.exp(eigenvalues), rtol=1e-13)
    table = found.spread(np.stack([found.values, 2 * found.values]))
    np.testing.assert_allclose(table, np.stack([eigenvalues, 2 * eigenvalues]), rtol=1e-13)


def test_complex_ones_are_told_apart_by_both_parts():
    eigenvalues = np.array([1j, -1j, 1.0, -1.0, 1 + 1j] * 3)
    found = Distinct.of(eigenvalues)
    assert len(found.values) == 5
    np.testing.assert_array_equal(found.spread(found.values), eigenvalues)


def test_nothing_is_gathered_where_nearly_all_differ():
    eigenvalues = -np.linspace(1.0, 2.0, 50)
    found = Distinct.of(eigenvalues)
    assert found.inverse is None
    assert found.spread(eigenvalues) is eigenvalues


def test_values_that_differ_visibly_stay_apart():
    assert len(Distinct.of(np.repeat([1.0, 1.0 + 1e-12], 5)).values) == 2


def test_imaginary_parts_that_are_round_off_do_not_tell_them_apart():
    eigenvalues = -np.repeat(np.arange(1.0, 6.0), 4) + 1e-16j * np.arange(20) / 20
    found = Distinct.of(eigenvalues)
    assert found.values.tolist() == [-5, -4, -3, -2, -1]
    assert np.iscomplexobj(Distinct.of(eigenvalues + 1e-12j).values)
