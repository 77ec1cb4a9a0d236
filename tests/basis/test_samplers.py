"""Samplers: reproducible to the bit, and each draws what its docstring says."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import frozenpinn as fp
from frozenpinn.basis.samplers import SAMPLERS, sampler_by_name
from frozenpinn.basis.samplers.swim import HALF, pair_neurons

SAMPLER_NAMES = sorted(SAMPLERS)
DIMENSIONS = [1, 2, 3, 5]
PAIRED = ("sines", "waves")  # sines of two phases each


def cloud(dimension, n=60):
    return fp.Box([-1.0] * dimension, [2.0] * dimension).sample(n, "latin-hypercube", 0)


def arrays(hidden):
    return hidden.weights, hidden.origins, hidden.offsets


# ---- reproducibility ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLER_NAMES)
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_same_seed_gives_bitwise_the_same_layer(name, dimension):
    sampler, points = sampler_by_name(name, 40), cloud(dimension)
    first, second = sampler.sample(points, 7), sampler.sample(points, np.random.default_rng(7))
    assert first.weights.shape == (40, dimension)
    for a, b in zip(arrays(first), arrays(second), strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", SAMPLER_NAMES)
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_different_seeds_give_different_layers(name, dimension):
    sampler, points = sampler_by_name(name, 40), cloud(dimension)
    first, second = sampler.sample(points, 0), sampler.sample(points, 1)
    assert not np.array_equal(first.weights, second.weights)
    assert not np.array_equal(first.biases, second.biases)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    name=st.sampled_from(SAMPLER_NAMES),
    dimension=st.integers(1, 6),
    width=st.integers(1, 90),
)
def test_any_layer_is_finite_and_reproducible(seed, name, dimension, width):
    sampler, points = sampler_by_name(name, width), cloud(dimension)
    first, second = sampler.sample(points, seed), sampler.sample(points, seed)
    assert first.width == (width + width % 2 if name in PAIRED else width)
    assert first.dimension == dimension
    for a, b in zip(arrays(first), arrays(second), strict=True):
        assert np.all(np.isfinite(a))
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", [name for name in SAMPLER_NAMES if name not in PAIRED])
@pytest.mark.parametrize("activation", ["tanh", "sin"])
def test_the_activation_is_handed_on(name, activation):
    assert SAMPLERS[name](5, activation=activation).sample(cloud(1), 0).activation == activation


# ---- ELM ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("eta", "scale"), [(1.0, 1.0), (3.0, 2.5), (0.1, 0.01)])
def test_elm_draws_normal_weights_and_uniform_biases(eta, scale):
    hidden = fp.samplers.ELM(5000, eta=eta, scale=scale).sample(cloud(2), 0)
    assert np.all(np.abs(hidden.biases) <= eta)
    assert stats.kstest(hidden.biases, "uniform", (-eta, 2 * eta)).pvalue > 0.01
    assert stats.kstest(hidden.weights.ravel(), "norm", (0.0, scale)).pvalue > 0.01
    assert abs(np.corrcoef(hidden.weights.T)[0, 1]) < 0.05


def test_elm_does_not_look_at_the_points():
    near, far = fp.Interval(0, 1).sample(20), fp.Interval(50, 90).sample(35)
    for a, b in zip(arrays(fp.samplers.ELM(9).sample(near, 3)), arrays(fp.samplers.ELM(9).sample(far, 3)), strict=True):
        np.testing.assert_array_equal(a, b)


# ---- SWIM -----------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(dimension=st.sampled_from([1, 2, 5]), seed=st.integers(0, 10_000), size=st.floats(1e-6, 1e6))
def test_a_pair_neuron_rises_from_minus_to_plus_one_half(dimension, seed, size):
    start, end = size * np.random.default_rng(seed).normal(size=(2, 6, dimension))
    hidden = pair_neurons(start, end)
    np.testing.assert_allclose(np.diag(hidden.features(start)), -0.5, atol=1e-12)
    np.testing.assert_allclose(np.diag(hidden.features(end)), 0.5, atol=1e-12)


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_swim_neurons_sit_between_two_points_of_the_cloud(dimension):
    points = cloud(dimension)
    hidden = fp.samplers.SWIM(50).sample(points, 0)
    far = hidden.origins + 2 * HALF * hidden.weights / np.sum(hidden.weights**2, axis=1, keepdims=True)
    for places in (hidden.origins, far):
        distance = np.linalg.norm(places[:, None] - points.x[None], axis=2).min(axis=1)
        assert np.all(distance < 1e-12)


@pytest.mark.parametrize(("n", "width"), [(2, 1), (2, 50), (7, 7), (7, 8), (30, 5)])
def test_swim_candidates_are_pairs_of_distinct_points(n, width):
    start, end = fp.samplers.SWIM(width).pairs(n, np.random.default_rng(0))
    assert len(start) == len(end) >= max(n, width)
    assert np.all(start != end)
    assert set(start) | set(end) <= set(range(n))


def test_supervised_swim_draws_only_pairs_across_a_jump():
    points = fp.Interval(0, 1).sample(80, "uniform")
    hidden = fp.samplers.SWIM(200, values=(points.x[:, 0] > 0.3).astype(float)).sample(points, 0)
    start = hidden.origins[:, 0]
    end = start + 2 * HALF / hidden.weights[:, 0]
    assert np.all((start - 0.3) * (end - 0.3) < 0)


def test_supervised_swim_prefers_steep_regions():
    points = fp.Interval(-1, 1).sample(400, "uniform")
    steep = fp.samplers.SWIM(2000, values=np.tanh(40 * points.x)).sample(points, 0)
    uniform = fp.samplers.SWIM(2000).sample(points, 0)

    def shares(hidden):
        start = hidden.origins[:, 0]
        end = start + 2 * HALF / hidden.weights[:, 0]
        return np.mean(start * end < 0), np.mean(np.minimum(np.abs(start), np.abs(end)) < 0.1)

    across, near = shares(uniform)
    assert across == pytest.approx(0.5, abs=0.05)
    assert shares(steep)[0] > 0.9
    assert shares(steep)[1] > 1.8 * near


def test_several_outputs_count_by_their_steepest():
    x = np.array([[0.0], [1.0], [3.0]])
    values = np.array([[0.0, 0.0], [1.0, 5.0], [1.0, 4.0]])
    density = fp.samplers.SWIM(1, values=values).density(x, np.array([0, 1, 0]), np.array([1, 2, 2]))
    slopes = np.array([5.0, 0.5, 4.0 / 3.0])
    np.testing.assert_allclose(density, slopes / slopes.sum(), rtol=1e-15)


def test_constant_values_fall_back_to_uniform_pairs():
    points = cloud(1)
    constant = fp.samplers.SWIM(20, values=np.full(len(points), 3.0))
    assert constant.density(points.x, np.array([0, 1]), np.array([1, 2])) is None
    for a, b in zip(arrays(constant.sample(points, 0)), arrays(fp.samplers.SWIM(20).sample(points, 0)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_swim_survives_points_that_coincide():
    """The reference implementation clips distances at 1e-10; a pair of equal points must not become NaN."""
    twice = SimpleNamespace(x=np.repeat(np.linspace(0, 1, 4), 2)[:, None], spacing=np.ones(1))
    assert np.all(np.isfinite(fp.samplers.SWIM(50).sample(twice, 0).weights))


# ---- multi-scale ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("margin", [0.0, 0.1, 0.5])
def test_multiscale_puts_one_centre_into_each_stratum(dimension, margin):
    lower, upper = np.array([-1.0, 5.0, 0.0])[:dimension], np.array([3.0, 5.5, 40.0])[:dimension]
    points = fp.Box(lower, upper).sample([9] * dimension, "uniform")
    hidden = fp.samplers.MultiScale(64, margin=margin).sample(points, 0)
    unit = (hidden.origins - lower + margin * (upper - lower)) / ((1 + 2 * margin) * (upper - lower))
    assert np.all((unit >= 0) & (unit <= 1))
    for axis in range(dimension):
        np.testing.assert_array_equal(np.sort(np.floor(64 * unit[:, axis])), np.arange(64))


@pytest.mark.parametrize(("dimension", "width"), [(1, 100), (2, 400), (3, 1000)])
def test_multiscale_lengths_follow_the_neuron_spacing(dimension, width):
    size = np.array([4.0, 0.5, 40.0])[:dimension]
    points = fp.Box(np.zeros(dimension), size).sample([{1: 5, 2: 60, 3: 30}[dimension]] * dimension, "uniform")
    hidden = fp.samplers.MultiScale(width, shortest=2, longest=5).sample(points, 0)
    lengths = 2 * HALF / np.linalg.norm(hidden.weights * size, axis=1)
    spacing = width ** (-1 / dimension)
    assert np.all((lengths >= 2 * spacing * (1 - 1e-12)) & (lengths <= 5 * spacing * (1 + 1e-12)))
    logs = np.log(lengths / spacing)
    assert stats.kstest(logs, "uniform", (np.log(2), np.log(2.5))).pvalue > 0.01


def test_multiscale_neurons_are_no_steeper_than_the_points_resolve():
    points = fp.Box([0, 0], [4.0, 0.5]).sample([10, 20], "uniform")
    hidden = fp.samplers.MultiScale(400).sample(points, 0)
    assert np.all(2 * HALF / np.linalg.norm(hidden.weights * points.spacing, axis=1) >= 4 * (1 - 1e-12))


def test_multiscale_lengths_of_few_neurons_stay_comparable_with_the_domain():
    points = fp.Interval(0, 3).sample(20, "uniform")
    lengths = 2 * HALF / np.abs(fp.samplers.MultiScale(2, shortest=6, longest=24).sample(points, 0).weights[:, 0])
    assert np.all((lengths >= 0.5 * 3) & (lengths <= 5 * 3))


def test_multiscale_neurons_are_centred_and_face_both_ways():
    hidden = fp.samplers.MultiScale(200).sample(cloud(1), 0)
    np.testing.assert_array_equal(hidden.offsets, 0)
    assert 60 < np.count_nonzero(hidden.weights > 0) < 140


# ---- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLER_NAMES)
@pytest.mark.parametrize("width", [0, -3, 2.5, "many", None])
def test_width_must_be_a_positive_whole_number(name, width):
    with pytest.raises(fp.SettingsError, match=r"width must be a positive whole number of neurons, got "):
        SAMPLERS[name](width)


@pytest.mark.parametrize("wrong", [{"eta": 0}, {"eta": -1}, {"scale": 0}, {"eta": float("nan")}])
def test_elm_refuses_bad_ranges(wrong):
    with pytest.raises(fp.SettingsError, match=r"ELM needs a positive number for (eta|scale), got "):
        fp.samplers.ELM(5, **wrong)


@pytest.mark.parametrize("wrong", [{"shortest": 0}, {"shortest": 3, "longest": 2}, {"margin": -0.1}])
def test_multiscale_refuses_bad_ranges(wrong):
    with pytest.raises(fp.SettingsError, match=r"MultiScale needs 0 < shortest <= longest and margin >= 0, got "):
        fp.samplers.MultiScale(5, **wrong)


def test_swim_needs_two_points():
    with pytest.raises(fp.SettingsError, match=r"SWIM needs at least 2 points to draw pairs from, got 1\."):
        fp.samplers.SWIM(5).sample(fp.Interval(0, 1).sample(1), 0)


def test_swim_needs_one_value_per_point():
    with pytest.raises(fp.SettingsError, match=r"SWIM got 3 function values for 60 points; give one per point\."):
        fp.samplers.SWIM(5, values=np.zeros(3)).sample(cloud(1), 0)


def test_unknown_sampler_lists_the_known_ones():
    with pytest.raises(
        fp.SettingsError, match=r"unknown sampler 'relu'; choose one of 'elm', 'multi-scale', 'orthogonal'"
    ):
        sampler_by_name("relu", 10)
