"""What narrower networks would miss along an axis, and the width that is needed for a tolerance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.evolution.first_width import first_sizes
from frozenpinn.search.axis_misfit import SHARES, narrower_misfits, needed_width
from frozenpinn.search.settings import Settings, Task, Tolerances

SQUARE = fp.Box([0, 0], [1, 1])


def misfits(initial, boundary, width=36, box=SQUARE):
    problem = fp.Problem("u_t = 0*lap(u)", box, (0, 1), initial, boundary)
    system = fp.solve(problem, settings=fp.Settings(width=width, subspace=None)).system
    return narrower_misfits(system.spaces[0], system.initial_state, 0.0)


@pytest.mark.filterwarnings("ignore::frozenpinn.errors.FrozenPinnWarning")
@pytest.mark.parametrize("boundary", ["u = 0", "u = sin(20*pi*x)*sin(pi*y)"])
def test_ten_waves_need_more_neurons_than_half_a_wave(boundary):
    along, across = misfits("sin(20*pi*x)*sin(pi*y)", boundary, (48, 36))
    assert along[0] > 0.1  # 24 neurons do not see ten waves, …
    assert along[2] < 1e-4  # … and 38 do
    assert np.all(across < 1e-6)
    assert np.all(np.diff(along) < 0)


def test_waves_on_periodic_axes_are_seen_from_their_frequency_on():
    found = misfits("cos(12*pi*x)*(2 + cos(2*pi*y))", None, 20, fp.Box([0, 0], [1, 1], periodic=True))
    np.testing.assert_allclose(found[0], [1.0, 0.0, 0.0], atol=1e-12)  # six waves, of five, six and eight
    np.testing.assert_allclose(found[1], 0.0, atol=1e-12)


def test_nothing_is_missed_of_nothing():
    np.testing.assert_array_equal(misfits("0", "u = 0"), np.zeros((2, len(SHARES))))


@settings(max_examples=50)
@given(rate=st.floats(0.25, 2.0), start=st.floats(-3, 0), wanted=st.floats(-12, -1), width=st.integers(10, 80))
def test_an_exponential_is_continued(rate, start, wanted, width):
    at = width * np.array(SHARES)
    values = 10.0 ** (start - rate * (at - at[0]))
    found = needed_width(values, width, 10.0**wanted, 0.25, 1e-3)
    assert found == pytest.approx(at[0] + (start - wanted) / rate, abs=1e-6 * width + 1e-6)


def test_a_floor_is_no_reason_for_more_neurons():
    assert needed_width((1e-5, 1e-5, 1e-5), 36, 1e-5, 0.25, 1e-3) == pytest.approx(18.0)
    assert needed_width((1e-2, 1e-5, 1e-5), 40, 1e-8, 0.25, 1e-3) == pytest.approx(26.0 + 3.0 / 0.5)
    assert needed_width((1e-5, 2e-5, 1.5e-5), 36, 1e-8, 0.25, 1e-3) == pytest.approx(18.0 + 3.0 / 0.25)


def test_what_is_not_resolved_falls_as_slowly_as_it_does():
    slow = needed_width((0.1, 0.05, 0.025), 40, 1e-4, 0.25, 1e-3)
    assert slow == pytest.approx(32.0 + 6.0 * np.log2(0.025 / 1e-4))
    assert needed_width((0.1, 0.1, 0.1), 40, 1e-4, 0.25, 1e-3) == np.inf


def test_nonlinear_problems_get_what_their_waves_need():
    problem = fp.Problem("u_t = lap(u)/1000 + u - u**3", SQUARE, (0, 0.5), "sin(20*pi*x)*sin(pi*y)", "u = 0")
    along, _ = first_sizes(problem, Task(Settings(), 0, Tolerances(1e-4, 1e-5))).width
    assert 30 <= along <= 60
