"""Inverse cases: what their data are, and that the truth is found from them."""

import warnings

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.errors import SettingsError
from frozenpinn.inverse.paper import Alternating, Scan
from frozenpinn_lab.cases import find_case
from frozenpinn_lab.cases.inverse import CASES
from frozenpinn_lab.runner import run_case
from frozenpinn_lab.studies.inverse import covered, error_of


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


def test_a_scan_finds_the_minimum_between_its_values():
    case = CASES["inverse-poisson"]
    told = []
    guess = Scan(count=4, width=300, points=1000)(case.problem(), case.data(0, noisy=False)[0], 0, told.append)
    assert told[:4] == ["alpha = 0", "alpha = 0.666667", "alpha = 1.33333", "alpha = 2"]
    assert abs(guess.numbers["alpha"] - 1.0) < 0.02  # no value of the scan is nearer than 0.33


def test_alternating_least_squares_reach_the_published_error():
    (record,) = run_case(find_case("inverse-helmholtz"), "paper", "high", [0])
    assert record["status"] == "ok", record["reason"]
    assert record["rel_l2"]["mean"] < record["paper"]["rel_l2"]
    assert record["width"] == 400


def test_with_equal_weights_alternating_least_squares_run_away():
    case = CASES["inverse-helmholtz"]
    guess = Alternating(weight=1.0)(case.problem(), case.data(0, noisy=False)[0], 0, lambda stage: None)
    assert case.error({}, guess.function, case.problem().domain)["rel_l2"] > 0.5


def test_the_bench_infers_from_exact_data():
    (record,) = run_case(find_case("inverse-poisson"), "best", "high", [0])
    assert record["status"] == "ok", record["reason"]
    assert record["rel_l2"]["mean"] < 1e-7
    assert record["estimate"]["values"][0] < 1e-6
    assert record["paper"] == {"rel_l2": 3e-3, "seconds": 2.85}


@pytest.mark.parametrize(("name", "recipe"), [("inverse-poisson", "auto"), ("inverse-burgers", "paper")])
def test_recipes_that_an_inverse_case_does_not_have(name, recipe):
    case = find_case(name)
    assert not case.can_run("frozen-pinn", recipe, "high")
    with pytest.raises(SettingsError, match=f"case '{name}' has no settings for '{recipe}/high', only for 'best/high'"):
        run_case(case, recipe, "high", [0])
