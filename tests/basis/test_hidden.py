"""The hidden layer: features and operators of any multi-index, biases, chunked evaluation."""

from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.basis import hidden as hidden_module
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term

DERIVATIVES = [
    Derivative((0,)),
    Derivative((1,)),
    Derivative((4,)),
    Derivative((1,), 1),
    Derivative((0, 0)),
    Derivative((0, 3)),
    Derivative((2, 1)),
    Derivative((0, 0), 1),
    Derivative((1, 0), 1),
    Derivative((0, 0), 2),
    Derivative((0, 0, 1, 0, 0)),
    Derivative((1, 0, 0, 2, 0)),
    Derivative((0, 0, 0, 0, 0), 1),
    Derivative((0, 1, 0, 0, 0), 1),
]


def layer(dimension, width=4, seed=0, activation="tanh"):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(width, dimension))
    return HiddenLayer(weights, rng.uniform(-1, 1, weights.shape), rng.normal(size=width), activation)


def reference(hidden, x, derivative):
    """Differentiate σ(w·x + b) numerically with 40 digits, neuron by neuron."""
    function = {"tanh": mpmath.tanh, "sin": mpmath.sin}[hidden.activation]
    dimension = hidden.dimension
    out = np.zeros((len(x), hidden.width))
    with mpmath.workdps(40):
        for j, (weight, bias) in enumerate(zip(hidden.weights.tolist(), hidden.biases.tolist(), strict=True)):

            def neuron(*z, weight=weight, bias=bias):
                return function(sum(w * a for w, a in zip(weight, z, strict=True)) + bias)

            for i, point in enumerate(x.tolist()):
                for axes in product(range(dimension), repeat=derivative.laps):
                    alpha = [a + 2 * axes.count(axis) for axis, a in enumerate(derivative.alpha)]
                    out[i, j] += float(mpmath.diff(neuron, tuple(map(mpmath.mpf, point)), tuple(alpha)))
    return out


@pytest.mark.parametrize("activation", ["tanh", "sin"])
@pytest.mark.parametrize("derivative", DERIVATIVES, ids=str)
def test_derivatives_agree_with_arbitrary_precision(derivative, activation):
    hidden = layer(len(derivative.alpha), 2, activation=activation)
    x = np.random.default_rng(1).uniform(-1, 1, (2, hidden.dimension))
    found = hidden.operator(x, [Term("u", derivative)])
    assert found.shape == (2, 3)
    np.testing.assert_allclose(found[:, :-1], reference(hidden, x, derivative), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found[:, -1], 1.0 if derivative.order == 0 else 0.0)


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_operator_is_the_sum_of_its_terms(dimension):
    hidden = layer(dimension, 30)
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, (17, dimension))
    zero = (0,) * dimension
    first = (1, *zero[1:])
    derivatives = [Derivative(zero), Derivative(zero), Derivative(first), Derivative(zero, 1), Derivative(first, 1)]
    coefficients = [2.5, rng.normal(size=17), rng.normal(size=17), -0.7, rng.normal(size=17)]
    terms = [Term("u", d, c) for d, c in zip(derivatives, coefficients, strict=True)]
    expected = sum(
        np.reshape(c, (-1, 1)) * hidden.operator(x, [Term("u", d)])
        for c, d in zip(coefficients, derivatives, strict=True)
    )
    np.testing.assert_allclose(hidden.operator(x, terms), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("dimension", [1, 2, 5])
@pytest.mark.parametrize("activation", ["tanh", "sin"])
def test_features_are_the_activation_and_a_constant(dimension, activation):
    hidden = layer(dimension, 20, activation=activation)
    x = np.random.default_rng(3).uniform(-1, 1, (9, dimension))
    features = hidden.features(x)
    assert features.shape == (9, hidden.size) == (9, 21)
    np.testing.assert_allclose(
        features[:, :-1], getattr(np, activation)(x @ hidden.weights.T + hidden.biases), atol=1e-13
    )
    np.testing.assert_array_equal(features[:, -1], 1.0)
    np.testing.assert_allclose(features, hidden.operator(x, [Term("u", Derivative((0,) * dimension))]), atol=1e-15)


def test_evaluation_does_not_change_the_points():
    hidden, x = layer(1), np.linspace(-1, 1, 5)[:, None]
    kept = x.copy()
    hidden.features(x)
    hidden.operator(x, [Term("u", Derivative((0,))), Term("u", Derivative((1,)), x[:, 0])])
    np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_biases_belong_to_the_usual_form(dimension):
    hidden = layer(dimension, 20)
    x = np.random.default_rng(3).uniform(-1, 1, (9, dimension))
    np.testing.assert_allclose(hidden.pre_activation(x), x @ hidden.weights.T + hidden.biases, rtol=0, atol=1e-13)


@settings(max_examples=30)
@given(shift=st.floats(-1e3, 1e3), dimension=st.sampled_from([1, 2, 5]))
def test_moving_origins_and_points_together_changes_nothing(shift, dimension):
    hidden = layer(dimension, 10)
    moved = HiddenLayer(hidden.weights.copy(), hidden.origins + shift, hidden.offsets.copy())
    x = np.random.default_rng(4).uniform(-1, 1, (8, dimension))
    np.testing.assert_allclose(moved.features(x + shift), hidden.features(x), atol=1e-11)


def test_origins_keep_the_digits_that_biases_lose():
    steep, middle = 1e12, 1.0
    x = middle + np.arange(-8, 9)[:, None] * 2.0**-44
    hidden = HiddenLayer(np.array([[steep]]), np.array([[middle]]), np.zeros(1))
    expected = np.array([float(mpmath.tanh(steep * (float(p) - middle))) for p in x[:, 0]])
    np.testing.assert_allclose(hidden.features(x)[:, 0], expected, rtol=1e-14)
    assert np.max(np.abs(np.tanh(steep * x[:, 0] + hidden.biases) - expected)) > 1e-6


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("points", [10, 64, 65, 257, 1000])
def test_mixed_rows_do_not_depend_on_the_chunks(monkeypatch, dimension, points):
    hidden = layer(dimension, 15)
    rng = np.random.default_rng(5)
    x, mixing = rng.uniform(-1, 1, (points, dimension)), rng.normal(size=(hidden.size, 6))
    zero = (0,) * dimension
    terms = [Term("u", Derivative(zero), rng.normal(size=points)), Term("u", Derivative(zero, 1), 0.3)]
    expected = hidden.operator(x, terms) @ mixing
    monkeypatch.setattr(hidden_module, "_CHUNK", 1)
    np.testing.assert_allclose(hidden.mixed(x, terms, mixing), expected, rtol=0, atol=1e-13)


def test_the_layer_is_frozen():
    hidden = layer(2)
    for array in (hidden.weights, hidden.origins, hidden.offsets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_unknown_activation_is_refused_at_construction():
    with pytest.raises(fp.SettingsError, match="unknown activation 'gelu'"):
        HiddenLayer(np.ones((1, 1)), np.zeros((1, 1)), np.zeros(1), "gelu")
