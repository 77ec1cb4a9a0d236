"""Functions that are evaluated together have the values that they have by themselves."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.language.separation import factors_along_axes, on_grid, split_by_axes

BOX = fp.Box([0, 0, 0], [1, 2, 3])
AXES = tuple(np.linspace(0, b, n) for b, n in ((1, 4), (2, 5), (3, 6)))
POINTS = np.stack([x.ravel() for x in np.meshgrid(*AXES, indexing="ij")], axis=1)


def data(values, velocities):
    problem = fp.Problem("u_tt = -u", BOX, (0, 1), values, initial_velocity=velocities)
    return [problem.initial["u"], problem.initial_velocity["u"]]


@pytest.mark.parametrize(
    ("values", "velocities"),
    [
        ("exp(cos(x + 2*y - z))", "sin(x + 2*y - z)*exp(cos(x + 2*y - z))"),
        ("x*y*z", "3"),
        ("sqrt(1 + x*y)", lambda x, y, z: x - y * z),
    ],
)
def test_values_on_a_grid(values, velocities):
    both = data(values, velocities)
    for function, found in zip(both, on_grid(both, AXES, POINTS, 0.0), strict=True):
        np.testing.assert_allclose(found, function(POINTS, 0.0), rtol=1e-13, atol=1e-14)


def test_values_that_are_not_finite_are_refused_by_name():
    with pytest.raises(fp.EvaluationError, match="the initial velocity of u is nan at x = "):
        on_grid(data("x", "sqrt(y - 1)"), AXES, POINTS, 0.0)


def test_factors_of_two_functions():
    both = data("sin(x + y - z) + 2", "exp(x - y)*z")
    factors = factors_along_axes(both, AXES, 0.0)
    for function, own in zip(both, factors, strict=True):
        total = np.einsum("ik,jk,lk->ijl", *own).ravel()
        np.testing.assert_allclose(total, function(POINTS, 0.0), atol=1e-13)


def test_no_factors_of_functions_that_are_no_products():
    assert factors_along_axes(data("x", "sqrt(1 + x*y)"), AXES, 0.0) is None
    assert factors_along_axes(data("x", lambda x, y, z: x), AXES, 0.0) is None


@given(st.lists(st.integers(-3, 3), min_size=3, max_size=3), st.sampled_from([sp.sin, sp.cos]))
def test_waves_of_sums_are_split(numbers, wave):
    x, y, z = symbols = sp.symbols("x y z", real=True)
    node = sp.exp(wave(numbers[0] * x + numbers[1] * y**2 + numbers[2] * z + 0.3))
    split = split_by_axes(node, symbols)
    waves = split.atoms(sp.sin, sp.cos)
    assert all(len(own.free_symbols) <= 1 for own in waves)
    at = dict(zip(symbols, (0.7, -1.1, 2.3), strict=True))
    assert float(split.subs(at)) == pytest.approx(float(node.subs(at)), rel=1e-13)


def test_waves_of_other_functions_are_left():
    x, y = symbols = sp.symbols("x y", real=True)
    assert split_by_axes(sp.sin(x * y), symbols) == sp.sin(x * y)
