"""Sines: pairs of neurons with evenly spread frequencies, periodic ones, and what they span."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.basis.samplers import Sines

quick = settings(max_examples=30)


def layer(width, low=0.0, high=1.0, count=60, rng=0, **options):
    return Sines(width, **options).sample(fp.Interval(low, high).sample(count), rng)


@quick
@given(width=st.integers(1, 40), low=st.floats(-100, 100), length=st.floats(1e-3, 1e3), extension=st.floats(1, 3))
def test_frequencies_come_in_pairs_and_fill_a_band_evenly(width, low, length, extension):
    hidden = layer(width, low, low + length, extension=extension)
    assert hidden.width == width + width % 2
    points = fp.Interval(low, low + length).sample(60).x
    unit = 2 * np.pi / (extension * (points.max() - points.min()))
    weights, phases = hidden.weights[:, 0].reshape(-1, 2), hidden.offsets.reshape(-1, 2)
    np.testing.assert_array_equal(weights[:, 0], weights[:, 1])
    np.testing.assert_array_equal(np.floor(weights[:, 0] / unit * (1 + 1e-12)), np.arange(len(weights)))
    np.testing.assert_allclose(phases[:, 1] - phases[:, 0], np.pi / 2, rtol=1e-12)


@quick
@given(width=st.integers(1, 30), low=st.floats(-50, 50), period=st.floats(1e-2, 1e2))
def test_periodic_sines_are_a_fourier_series(width, low, period):
    hidden = layer(width, low, low + period, period=period)
    assert hidden.repeats(period)
    assert not layer(width, low, low + period).repeats(period)
    pairs = hidden.width // 2
    np.testing.assert_allclose(hidden.weights[::2, 0], 2 * np.pi / period * np.arange(1, pairs + 1))
    x = fp.Interval(low, low + period, periodic=True).sample(3 * hidden.width + 4, "spectral")
    features = hidden.features(x.x)
    scale = 2 * np.pi * np.arange(1, pairs + 1) / period
    wave = np.concatenate([np.cos(np.outer(x.x[:, 0] - low, scale)), np.sin(np.outer(x.x[:, 0] - low, scale))], axis=1)
    misfit = wave - features @ np.linalg.lstsq(features, wave, rcond=None)[0]
    assert np.max(np.abs(misfit)) < 1e-10


def test_the_misfit_of_a_smooth_function_falls_exponentially():
    points = fp.Interval(-1, 2).sample(80)
    target = np.exp(points.x[:, 0]) * np.cos(3 * points.x[:, 0])
    misfits = []
    for width in (10, 18, 26):
        features = layer(width, -1, 2, 80).features(points.x)
        misfits.append(np.max(np.abs(features @ np.linalg.lstsq(features, target, rcond=1e-14)[0] - target)))
    assert misfits[1] < 1e-2 * misfits[0]
    assert misfits[2] < 1e-2 * misfits[1]


@pytest.mark.parametrize("dimension", [2, 3, 5])
def test_frequencies_lie_in_a_ball_in_several_dimensions(dimension):
    points = fp.Box([0.0] * dimension, [1.0, 10.0, 1.0, 1.0, 1.0][:dimension]).sample(200, "sobol", 0)
    hidden = Sines(40).sample(points, 0)
    assert hidden.weights.shape == (40, dimension)
    lengths = points.x.max(axis=0) - points.x.min(axis=0)
    radii = np.linalg.norm(hidden.weights * lengths, axis=1)
    largest = np.pi / 1.5 * 40 ** (1 / dimension)
    assert np.all(radii <= largest)
    assert radii.max() > 0.9 * largest
    assert np.ptp(np.abs(hidden.weights[:, 1])) < np.ptp(np.abs(hidden.weights[:, 0]))  # ten times as long


def test_the_same_seed_draws_the_same_neurons():
    one, same, other = (layer(12, rng=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.weights, same.weights)
    np.testing.assert_array_equal(one.offsets, same.offsets)
    assert not np.array_equal(one.offsets, other.offsets)


@pytest.mark.parametrize(
    "options", [{"extension": 0.9}, {"extension": np.inf}, {"extension": np.nan}, {"period": 0.0}, {"period": -1.0}]
)
def test_options_that_make_no_sense_are_refused(options):
    given_ = {"extension": 1.5, "period": None, **options}
    text = (
        rf"Sines needs extension >= 1 and a positive period or None, got {given_['extension']} and {given_['period']}\."
    )
    with pytest.raises(fp.SettingsError, match=text):
        Sines(10, **options)


@pytest.mark.parametrize("width", [0, -2, 1.5, "many"])
def test_widths_are_positive_whole_numbers(width):
    with pytest.raises(fp.SettingsError, match="width must be a positive whole number"):
        Sines(width)


def test_waves_that_repeat_by_themselves_are_all_kept():
    """Rows that match the ends would hold nothing but round-off, and remove functions at random."""
    ring = fp.Interval(0, 2 * np.pi, periodic=True)
    problem = fp.Problem("u_t = 0.01*u_xx", ring, (0, 1), "sin(20*x)", exact="exp(-4*t)*sin(20*x)")
    solution = fp.solve(problem, settings=fp.Settings(sampler=fp.samplers.Sines(128, period=2 * np.pi)))
    assert solution.report.rank == 129
    assert solution.error()["rel_l2"] < 1e-10
