"""Activations: derivatives of every order against arbitrary-precision arithmetic."""

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.basis.activation import ACTIVATIONS, activation, tanh_polynomial

ORDERS = range(9)
REFERENCE = {"tanh": mpmath.tanh, "sin": mpmath.sin}
#: Round-off of Horner's scheme grows with the coefficients of the polynomial, so the tolerance does too.
SCALE = {
    "tanh": [float(np.sum(np.abs(tanh_polynomial(k)))) for k in ORDERS],
    "sin": [1.0 for _ in ORDERS],
}


def exact(name, order, z):
    with mpmath.workdps(60):
        return float(mpmath.diff(REFERENCE[name], mpmath.mpf(z), order))


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("order", ORDERS)
def test_derivatives_agree_with_mpmath(name, order):
    z = np.random.default_rng(order).uniform(-6, 6, 25)
    found = activation(name)(z.copy(), [order])[0]
    expected = [exact(name, order, value) for value in z]
    np.testing.assert_allclose(found, expected, rtol=0, atol=4e-16 * SCALE[name][order])


@settings(max_examples=60)
@given(
    name=st.sampled_from(sorted(ACTIVATIONS)),
    order=st.integers(0, 8),
    z=st.floats(-40, 40, allow_subnormal=False),
)
def test_derivatives_at_any_point(name, order, z):
    found = activation(name)(np.array([z]), [order])[0][0]
    assert abs(found - exact(name, order, z)) <= 1e-15 * SCALE[name][order]


@pytest.mark.parametrize("order", ORDERS)
def test_tanh_polynomials_agree_with_sympy(order):
    s = sp.Symbol("s")
    expected = s
    for _ in range(order):
        expected = sp.expand((1 - s**2) * sp.diff(expected, s))
    coefficients = [float(c) for c in reversed(sp.Poly(expected, s).all_coeffs())]
    assert list(tanh_polynomial(order)) == coefficients


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_many_orders_at_once_in_any_sequence(name):
    z = np.linspace(-3, 3, 11)
    together = activation(name)(z.copy(), [3, 0, 1, 8])
    alone = [activation(name)(z.copy(), [k])[0] for k in (3, 0, 1, 8)]
    for a, b in zip(together, alone, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_values_can_be_written_into_an_array(name):
    z, out = np.linspace(-3, 3, 11), np.empty(11)
    found = activation(name)(z.copy(), [0], out=out)[0]
    assert found is out
    np.testing.assert_allclose(out, getattr(np, name)(z), rtol=0, atol=3e-16)


def test_sines_where_the_half_angle_has_no_tangent():
    z = np.pi * np.arange(-9.0, 10.0)
    sine, cosine = activation("sin")(z.copy(), [0, 1])
    np.testing.assert_allclose(sine, 0.0, atol=1e-14)
    np.testing.assert_allclose(cosine, (-1.0) ** np.arange(-9, 10), rtol=1e-15)


def test_saturated_tanh_stays_finite():
    for value in activation("tanh")(np.array([-1e300, -800.0, 800.0, 1e300]), list(ORDERS))[1:]:
        np.testing.assert_array_equal(value, np.zeros(4))


def test_unknown_activation_lists_the_known_ones():
    with pytest.raises(fp.SettingsError, match=r"unknown activation 'relu'; choose one of 'sin', 'tanh'\."):
        activation("relu")
