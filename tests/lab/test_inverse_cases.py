"""Inverse cases: what their data are, and that the truth is found from them."""

import warnings

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.lab.cases.inverse import CASES
from frozenpinn.lab.studies.inverse import covered, error_of


@pytest.mark.parametrize("name", ["inverse-poisson", "inverse-burgers-fourier"])
def test_the_truth_is_found(name):
    case = CASES[name]
    found = fp.infer(case.problem(), case.data(0, noisy=False))
    assert error_of(case, found) < 1e-7


def test_intervals_of_noisy_data_contain_the_truth_of_an_independent_solver():
    case = CASES["inverse-burgers-fourier"]
    found = fp.infer(case.problem(), case.data(0, noisy=True))
    assert covered(case, found) == [1.0]
    assert 0 < found.parameters["nu"].std < 0.02 * case.truth["nu"]


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_data_are_reproducible_and_finite(case):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, two = (case.data(3, noisy=True)[0] for _ in range(2))
    assert np.array_equal(one.values, two.values)
    assert len(one) == case.count
