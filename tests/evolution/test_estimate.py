"""Initial data that two solutions miss alike, on made-up numbers."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.analysis.probing import probe
from frozenpinn.evolution.estimate import _initial_gap


def rod(initial):
    return fp.Problem("u_t = u_xx", domain=fp.Interval(0, 1), time=(0, 1), initial=initial, boundary="u = 0")


@pytest.mark.parametrize(
    ("initial", "error", "distance", "missed"),
    [
        ("sin(pi*x)", 1e-2, 1e-4, 1e-2),  # both solutions share it
        ("sin(pi*x)", 1e-2, 1e-2, 0.0),  # their distance shows it
        ("sin(pi*x)", 1e-12, 0.0, 0.0),  # round-off
        ("0", 1e-16, 0.0, 0.0),  # round-off about nothing
    ],
)
def test_an_initial_error_that_both_solutions_share_is_missed_data(initial, error, distance, missed):
    problem = rod(initial)
    places = probe(problem)
    exact = np.sin(np.pi * places.x[:, 0]) if initial != "0" else np.zeros(len(places.x))
    gap, shared = _initial_gap(problem, places, "u", exact + error, distance)
    assert gap == pytest.approx(error, rel=1e-3)
    assert shared == pytest.approx(missed, rel=1e-3)
