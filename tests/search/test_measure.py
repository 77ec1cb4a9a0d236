"""What errors are relative to: how much a field varies, or what the user says."""

import time

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.errors import BudgetError, FrozenPinnWarning, SettingsError
from frozenpinn.results.error_estimate import UNKNOWN_ERROR, ErrorEstimate
from frozenpinn.results.evaluation import variation
from frozenpinn.solve import kind_of

ROD = fp.Interval(0, 1)
SPOT = "exp(-((x - 0.4)/0.05)**2)"


def heated(offset):
    return fp.Problem("T_t = 0.01*T_xx", ROD, (0, 1), f"{offset} + 100*{SPOT}", f"T = {offset}")


def bar(offset):
    exact = f"{offset} + 100*(sin(pi*x) + x)"
    return fp.Problem(
        "T_xx = -100*pi**2*sin(pi*x)",
        ROD,
        boundary={"left": f"T = {offset}", "right": f"T = {offset + 100}"},
        exact=exact,
    )


def plate(offset):
    exact = f"{offset} + 100*exp(-2*pi**2*0.01*t)*sin(pi*x)*sin(pi*y)"
    initial = f"{offset} + 100*sin(pi*x)*sin(pi*y)"
    return fp.Problem("T_t = 0.01*lap(T)", fp.Box((0, 0), (1, 1)), (0, 1), initial, f"T = {offset}", exact=exact)


@pytest.mark.parametrize("problem", [heated, bar, plate])
def test_kelvin_and_celsius_get_the_same_verdict(problem):
    celsius, kelvin = (fp.solve(problem(offset), tol=1e-4) for offset in (0, 300))
    assert celsius.status == kelvin.status == "converged"
    scales = [solution.error_estimate.scales["T"] for solution in (celsius, kelvin)]
    assert scales[0] == pytest.approx(scales[1], rel=1e-2)
    assert scales[1] < 50


def test_true_errors_have_the_measure_of_estimates():
    solution = fp.solve(plate(300), tol=1e-6)
    error = solution.error()
    assert error["relative"] == pytest.approx(error["rmse"] / solution.error_estimate.scales["T"])
    assert error["relative"] > 5 * error["rel_l2"]
    assert error["rmse"] <= 10 * solution.error_estimate.absolute("T")


def test_a_field_that_does_not_vary_has_a_thousandth_of_its_size():
    assert variation(np.full((1, 9, 4), 300.0)) == pytest.approx(0.3)
    assert variation(np.zeros((1, 9, 4))) == 1.0
    solution = fp.solve(fp.Problem("u_t = u_xx", ROD, (0, 0.1), 300, "u_n = 0"), tol=1e-4)
    assert solution.status == "converged"
    assert solution.error_estimate.scales["u"] == pytest.approx(0.3)


def test_the_user_says_what_errors_are_relative_to():
    problem = heated(300)
    by_variation = fp.solve(problem, tol=1e-4).error_estimate
    named = fp.solve(problem, tol=1e-4, settings=fp.Settings(relative_to={"T": 100})).error_estimate
    assert named.scales["T"] == 100
    assert named["T"] == pytest.approx(by_variation["T"] * by_variation.scales["T"] / 100)
    assert named.absolute("T") == pytest.approx(by_variation.absolute("T"))
    assert fp.Settings(relative_to=100).scales(problem) == {"T": 100.0}


def test_vectors_are_judged_as_a_whole(tmp_path):
    initial = {"U": ("sin(pi*x)*sin(pi*y)", 0)}
    problem = fp.Problem("U_t = 0.1*lap(U)", fp.Box((0, 0), (1, 1)), (0, 0.1), initial, "U = 0", vectors="U")
    solution = fp.solve(problem, tol=1e-6)
    estimate = solution.error_estimate
    assert estimate.scales["Ux"] == estimate.scales["Uy"] > 0
    solution.save(tmp_path / "s.fpinn")
    assert fp.load(tmp_path / "s.fpinn").error_estimate.scales == pytest.approx(dict(estimate.scales))
    assert fp.Settings(relative_to={"U": 2}).scales(problem) == {"Ux": 2.0, "Uy": 2.0}


@pytest.mark.parametrize("given", [0, -1, "much", {"T": 0}, {"T": float("nan")}])
def test_what_errors_can_not_be_relative_to(given):
    with pytest.raises(
        SettingsError, match=r"relative_to is a positive number, or one for each field as in relative_to"
    ):
        fp.Settings(relative_to=given)


def test_errors_relative_to_a_field_that_there_is_not():
    with pytest.raises(SettingsError, match="relative_to has 'S', which is no field; the fields are 'T'"):
        fp.solve(heated(0), settings=fp.Settings(relative_to={"S": 1}))


@pytest.mark.parametrize("problem", [heated(0), bar(0)])
def test_a_solution_without_an_estimate_has_a_status_of_its_own(problem, monkeypatch):
    def over(*_):
        raise BudgetError("the time limit is over")

    kind = type(kind_of(problem))
    monkeypatch.setattr(kind, "judge", over)
    monkeypatch.setattr(kind, "alone", lambda self, solution, rules: ErrorEstimate.unknown(solution.problem))
    with pytest.warns(FrozenPinnWarning, match="the error can't be estimated"):
        solution = fp.solve(problem, tol=1e-4, time_limit=60)
    assert solution.status == UNKNOWN_ERROR == "error unknown"
    assert not solution.error_estimate.worst <= 1e300


def test_stages_add_up_to_the_whole_call():
    started = time.perf_counter()
    solution = fp.solve(heated(0), tol=1e-4)
    elapsed = time.perf_counter() - started
    assert sum(solution.seconds.values()) <= elapsed
    assert solution.seconds["other"] > 0


def test_residuals_of_a_constant_and_of_large_moduli_are_small():
    """Round-off is no residual of 100 %, and large coefficients do not make large residuals."""
    still = fp.solve(fp.Problem("u_t = u_xx", ROD, (0, 1), 3, "u_n = 0"), tol=1e-6)
    assert still.residuals.pde["u"] < 1e-6
    problem = fp.Problem("2e11*u_xx = -7.7e4", ROD, boundary={"left": "u = 0", "right": "2e11*u_x = 1e6"})
    stiff = fp.solve(problem, tol=1e-6)
    assert stiff.residuals.boundary < 1e-6
