import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.results.balance import balance

SQUARE = fp.Box([0, 0], [1, 1])


def test_heat_that_is_made_is_stored_or_flows_out():
    rod = fp.Problem("u_t = u_xx + x", fp.Interval(0, 1), (0, 1), "-x**2", {"left": "u_n = 0", "right": "u_n = -2"})
    own = fp.solve(rod, tol=1e-6).balances["u"]
    np.testing.assert_allclose(own.sources, 0.5)
    np.testing.assert_allclose(own.inflow, -2.0, rtol=1e-6)
    assert own.relative < 1e-6
    assert own.at_start == 0.0


@pytest.mark.filterwarnings("ignore::frozenpinn.FrozenPinnWarning")
def test_a_narrow_coefficient_that_is_missed_is_missing():
    def potential(width):
        text = f"u_xx - 1e5*exp(-((x - 0.4137)/{width})**2)*u = -1"
        return fp.Problem(text, fp.Interval(0, 1), boundary="u = 0")

    blind = fp.Settings(width=30, without=("narrow features",))
    missed = fp.solve(potential(1e-4), settings=blind).balances["u"]
    assert missed.relative > 0.1
    assert missed.unsure < 1e-6
    assert fp.solve(potential(3e-3), tol=1e-6).balances["u"].relative < 1e-5


def test_jumps_are_cut_and_the_report_says_what_is_missing():
    heated = fp.Problem("lap(u) = -where(x < 0.313, 3, 0)", SQUARE, boundary="u = 0")
    solution = fp.solve(fp.Problem("lap(u) = -1", fp.Disk(), boundary="u = 0"), tol=1e-6)
    assert "of what is stored, flows and is made is missing" in str(solution.report)
    assert solution.report.balances["u"]["missing"] < 1e-6
    assert fp.solve(heated, tol=1e-2).balances["u"].relative < 0.1


def test_there_is_no_balance_in_many_dimensions_or_of_points():
    many = fp.Problem("lap(u) = 1", fp.Ball([0.0] * 4, 1.0), boundary="u = 0")
    assert fp.solve(many, tol=1e-2).balances == {}


@pytest.mark.parametrize("text", ["u_t + u*u_x = 0.1*u_xx", "u_t = 0.1*u_xx + sin(2*pi*x)"])
def test_periodic_fields_keep_what_they_have(text):
    ring = fp.Problem(text, fp.Interval(0, 1, periodic=True), (0, 0.5), "1 + cos(2*pi*x)")
    own = balance(fp.solve(ring, tol=1e-5), "u")
    assert np.max(np.abs(own.missing)) < 1e-6
