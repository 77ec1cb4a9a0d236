"""Features of formulas that both solves of a pair miss: no static solution is "converged" with them."""

import numpy as np
import pytest

import frozenpinn as fp

LINE, DISK = fp.Interval(0, 1), fp.Disk((0, 0), 1.0)
SPOT = "exp(-((x - 0.2137)^2 + (y - 0.1)^2)/0.003^2)"
HIDDEN = {
    "potential": fp.Problem("u_xx - 1e4*exp(-((x - 0.4137)/3e-4)^2)*u = -1", LINE, boundary="u = 0"),
    "resistance": fp.Problem("dx(u_x/(1 + 4e3*exp(-((x - 0.4137)/3e-4)^2))) = -1", LINE, boundary="u = 0"),
    "spot": fp.Problem(f"lap(u) - 4e5*{SPOT}*u = -1", DISK, boundary="u = 0"),
    "dip": fp.Problem(f"div((1 - 0.99*{SPOT})*grad(u)) = -1", DISK, boundary="u = 0"),
    "function": fp.Problem(
        "u_xx - k*u = -1",
        LINE,
        boundary="u = 0",
        parameters={"k": lambda x: 1e4 * np.exp(-(((x - 0.4137) / 3e-3) ** 2))},
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_no_pair_of_solves_agrees_on_what_both_miss(name):
    with pytest.warns(fp.FrozenPinnWarning, match="is not resolved|residual stalls"):
        solution = fp.solve(HIDDEN[name], tol=1e-6, settings=fp.Settings(width=40))
    assert solution.status == "reached"
    assert solution.error_estimate.worst > 1e-5
    assert any(decision.name == "unresolved features" for decision in solution.decisions)


def test_what_was_missed_is_named_with_its_place():
    with pytest.warns(fp.FrozenPinnWarning, match=r"a peak of exp.* at x = 0\.41\d* \(width 0\.0003\) is not resolved"):
        fp.solve(HIDDEN["potential"], tol=1e-6, settings=fp.Settings(width=40))


def test_a_feature_that_carries_nothing_does_not_forbid_convergence():
    weak = fp.Problem("u_xx - 1e-8*exp(-((x - 0.4137)/3e-4)^2)*u = -1", LINE, boundary="u = 0")
    assert fp.solve(weak, tol=1e-6).status == "converged"


def test_features_outside_a_shape_are_none_of_its_own():
    far = fp.Problem("lap(u) - 1e6*exp(-((x - 0.95)^2 + (y - 0.95)^2)/0.003^2)*u = -1", DISK, boundary="u = 0")
    assert fp.solve(far, tol=1e-6).status == "converged"
