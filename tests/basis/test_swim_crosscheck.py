"""SWIM against ``swimnetworks``, the implementation of its authors: the same formulas, the same densities."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.basis.samplers.swim import pair_neurons

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    swimnetworks = pytest.importorskip("swimnetworks")


def points(dimension, n=90):
    return np.random.default_rng(dimension).uniform(-2, 3, (n, dimension))


def values(x, outputs=1):
    return np.stack([np.tanh((k + 2) * x[:, 0]) + k * x[:, -1] ** 2 for k in range(outputs)], axis=1)


def reference(x, y=None, width=40, seed=5):
    layer = swimnetworks.Dense(
        layer_width=width, activation="tanh", parameter_sampler="tanh", sample_uniformly=y is None, random_seed=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return layer.fit(x, y)


@pytest.mark.parametrize("dimension", [1, 2, 5])
@pytest.mark.parametrize("supervised", [False, True])
def test_pair_neurons_have_the_reference_weights_and_biases(dimension, supervised):
    x = points(dimension)
    layer = reference(x, values(x) if supervised else None)
    ours = pair_neurons(x[layer.idx_from], x[layer.idx_to])
    np.testing.assert_allclose(ours.weights, layer.weights.T, rtol=1e-13)
    np.testing.assert_allclose(ours.biases, layer.biases[0], rtol=1e-12, atol=1e-13 * np.abs(layer.biases).max())


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_features_agree_with_the_reference_layer(dimension):
    x = points(dimension)
    layer = reference(x)
    ours = pair_neurons(x[layer.idx_from], x[layer.idx_to])
    test = points(dimension, 30) + 0.1
    np.testing.assert_allclose(ours.features(test)[:, :-1], layer.transform(test), rtol=0, atol=1e-10)


@pytest.mark.parametrize("dimension", [1, 2, 5])
@pytest.mark.parametrize("outputs", [1, 3])
def test_density_equals_the_reference_probabilities(dimension, outputs):
    x = points(dimension)
    y = values(x, outputs)
    start, end = fp.samplers.SWIM(40).pairs(len(x), np.random.default_rng(0))
    layer = reference(x, y)
    expected = layer.weight_probabilities(y[end] - y[start], np.linalg.norm(x[end] - x[start], axis=1, keepdims=True))
    np.testing.assert_allclose(fp.samplers.SWIM(40, values=y).density(x, start, end), expected, rtol=1e-13)


@pytest.mark.parametrize("dimension", [1, 2, 5])
@pytest.mark.parametrize("width", [40, 200])
def test_supervised_sampling_draws_the_very_same_pairs(dimension, width):
    x = points(dimension)
    layer = reference(x, values(x), width)
    cloud = SimpleNamespace(x=x, spacing=np.ones(dimension))
    ours = fp.samplers.SWIM(width, values=values(x)).sample(cloud, 5)
    np.testing.assert_array_equal(ours.origins, x[layer.idx_from])
    np.testing.assert_allclose(ours.weights, layer.weights.T, rtol=1e-13)
