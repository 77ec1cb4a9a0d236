"""Random waves."""

import numpy as np
import pytest

from frozenpinn import Box, Interval
from frozenpinn.basis.samplers import Waves
from frozenpinn.errors import SettingsError

SQUARE = Box([0, -1], [2, 1])


def test_frequencies_lie_in_a_ball():
    layer = Waves(200, reach=1.5).sample(SQUARE.sample([8, 8], "gauss"), 0)
    x = SQUARE.sample([8, 8], "gauss").x
    lengths = x.max(axis=0) - x.min(axis=0)
    radii = np.linalg.norm(layer.weights * lengths, axis=1)
    assert radii.max() <= 1.5 * np.sqrt(200)
    assert np.mean(radii < 0.5 * 1.5 * np.sqrt(200)) == pytest.approx(0.25, abs=0.02)
    assert layer.activation == "sin"
    assert layer.width == 200


def test_each_frequency_has_two_phases():
    layer = Waves(51).sample(SQUARE.sample(64, "sobol", 0), 1)
    assert layer.width == 52
    assert np.array_equal(layer.weights[::2], layer.weights[1::2])
    assert layer.offsets[1::2] - layer.offsets[::2] == pytest.approx(np.pi / 2)


def test_stretched():
    layer = Waves(400, stretch=(2.0, 0.5)).sample(SQUARE.sample(64, "sobol", 0), 0)
    spread = np.std(layer.weights, axis=0)
    assert spread[0] / spread[1] == pytest.approx(4.0, rel=0.2)


def test_mixed_directions():
    layer = Waves(240, mixed=True).sample(Box([0] * 4, [1] * 4).sample(64, "sobol", 0), 0)
    counts = np.bincount(np.count_nonzero(layer.weights, axis=1), minlength=5)
    assert counts.tolist() == [0, 80, 80, 0, 80]


def test_periodic_boxes_have_the_slowest_waves_once_each():
    ring = Box([0, 0], [1, 2], periodic=True)
    layer = Waves(24, periods=(1.0, 2.0)).sample(ring.sample([8, 8], "uniform"), 0)
    turns = np.round(layer.weights[::2] * [1.0, 2.0] / (2 * np.pi)).astype(int)
    assert layer.weights[::2] * [1.0, 2.0] / (2 * np.pi) == pytest.approx(turns)
    found = {tuple(k) for k in turns} | {tuple(-k) for k in turns}
    assert len(found) == 24
    assert {(0, 1), (1, 0), (1, 1), (1, -1), (0, 2), (2, 0)} <= found


def test_partly_periodic():
    layer = Waves(50, periods=(1.0, None)).sample(Box([0, 0], [1, 1]).sample(64, "sobol", 0), 0)
    turns = layer.weights[:, 0] / (2 * np.pi)
    assert turns == pytest.approx(np.round(turns))


def test_the_same_seed_gives_the_same_layer():
    points = Interval(0, 1).sample(20, "gauss")
    one, other = (Waves(30).sample(points, 3) for _ in range(2))
    assert np.array_equal(one.weights, other.weights)


def test_bad_reach():
    with pytest.raises(SettingsError, match="Waves needs a positive reach, got -1"):
        Waves(10, reach=-1)
