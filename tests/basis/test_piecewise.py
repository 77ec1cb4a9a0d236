"""Functions of one axis from tables: the same values to round-off, and nothing where tables are of no use."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.basis import along_axes
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.piecewise import axis_breaks, tabulated

X = np.random.default_rng(0).uniform(-1, 1, 5000)


def waves(x):
    return np.stack([np.sin(k * x + k) for k in range(1, 40, 4)], axis=1)


def test_smooth_functions_are_exact_to_round_off():
    table = tabulated(waves, np.linspace(-1, 1, 5))
    np.testing.assert_allclose(table(X), waves(X), rtol=0, atol=2e-14)
    ends = np.array([-1.0, 1.0, *table.edges])
    np.testing.assert_allclose(table(ends), waves(ends), rtol=0, atol=2e-14)


def test_steep_functions_get_more_pieces():
    table = tabulated(lambda x: np.tanh(x[:, None] * [1.0, 200.0]), np.array([-1.0, 1.0]))
    np.testing.assert_allclose(table(X), np.tanh(X[:, None] * [1.0, 200.0]), rtol=0, atol=1e-13)
    lengths = np.diff(table.edges)
    assert np.min(lengths) < np.max(lengths) / 8


def test_functions_of_a_thin_front_are_as_large_as_they_are_there():
    """Evenly spread places would all miss it, take the function for tiny, and never find it exact."""
    front = np.array([-1.0, -0.1, -0.01, -0.002, 0.0, 0.002, 0.01, 0.1, 1.0])
    x = np.concatenate([X, X / 500])
    table = tabulated(lambda x: np.exp(-((x[:, None] / 1e-3) ** 2)), front)
    np.testing.assert_allclose(table(x)[:, 0], np.exp(-((x / 1e-3) ** 2)), rtol=0, atol=1e-13)


@pytest.mark.parametrize("function", [np.abs, np.sign, lambda x: np.sqrt(np.abs(x - 0.123)), lambda x: x * np.nan])
def test_functions_with_kinks_are_not_tabulated(function):
    assert tabulated(lambda x: function(x)[:, None], np.array([-1.0, 0.9])) is None


def test_few_neurons_lie_between_breaks():
    origins = np.random.default_rng(1).normal(size=200)
    breaks = axis_breaks(origins, -1.0, 1.0)
    assert (breaks[0], breaks[-1]) == (-1.0, 1.0)
    assert np.max(np.histogram(origins, breaks)[0]) <= 10
    assert axis_breaks(np.full(50, 0.3), 0.0, 1.0).tolist() == [0.0, 0.3, 1.0]


@pytest.mark.parametrize("order", [0, 2])
def test_functions_of_an_axis(order, monkeypatch):
    sides = {"left": "u = y*(2 - y)", "right": "u = 0", "bottom": "u = 0", "top": "u = 0"}
    start = "(1 - x)*y*(2 - y)"
    plate = fp.Problem("u_t = lap(u)", fp.Box([0, 0], [1, 2]), (0, 1), start, sides)
    factor = fp.solve(plate, settings=fp.Settings(width=12)).pieces[0].expansions[0].basis.factors[0]
    terms, x = [Term("u", Derivative((order,)))], (X[:, None] + 1) / 2
    found = along_axes.functions_of(factor, x, terms)
    monkeypatch.setattr(along_axes, "_MANY", 10**9)
    expected, moved = (along_axes.functions_of(factor, places, terms) for places in (x, np.nextafter(x, 0.5)))
    assert found.shape == expected.shape == (5000, factor.size + factor.lift_size)
    noise, sizes = np.max(np.abs(moved - expected), axis=0), np.max(np.abs(expected), axis=0)
    assert np.all(np.max(np.abs(found - expected), axis=0) <= 1e-13 * sizes + 5 * noise)
    beyond = np.append(x, [[1.5]], axis=0)  # outside the table
    direct = along_axes.functions_of(factor, beyond, terms)
    monkeypatch.undo()
    np.testing.assert_array_equal(along_axes.functions_of(factor, beyond, terms), direct)
