"""Features of formulas that both solves of a pair miss: no static solution is "converged" with them."""

import numpy as np
import pytest
from scipy.linalg import solve_banded
from scipy.special import erf

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
        solution = fp.solve(HIDDEN[name], tol=1e-6, settings=fp.Settings(width=40, without=("narrow features",)))
    assert solution.status == "reached"
    assert solution.error_estimate.worst > 1e-5
    assert any(decision.name == "unresolved features" for decision in solution.decisions)


def test_what_was_missed_is_named_with_its_place():
    with pytest.warns(fp.FrozenPinnWarning, match=r"a peak of exp.* at x = 0\.41\d* \(width 0\.0003\) is not resolved"):
        fp.solve(HIDDEN["potential"], tol=1e-6, settings=fp.Settings(width=40, without=("narrow features",)))


def test_a_feature_that_carries_nothing_does_not_forbid_convergence():
    weak = fp.Problem("u_xx - 1e-8*exp(-((x - 0.4137)/3e-4)^2)*u = -1", LINE, boundary="u = 0")
    assert fp.solve(weak, tol=1e-6).status == "converged"


def test_features_outside_a_shape_are_none_of_its_own():
    far = fp.Problem("lap(u) - 1e6*exp(-((x - 0.95)^2 + (y - 0.95)^2)/0.003^2)*u = -1", DISK, boundary="u = 0")
    assert fp.solve(far, tol=1e-6).status == "converged"


@pytest.mark.parametrize("size", [1e3, 1e5])
def test_points_and_neurons_lie_where_a_potential_is_narrow(size):
    a, w = 0.4137, 3e-4
    equation = f"u_xx - {size}*exp(-((x - {a})/{w})^2)*u = -1"
    solution = fp.solve(fp.Problem(equation, LINE, boundary="u = 0"), tol=1e-6)
    edges = np.unique(np.concatenate([np.linspace(0, 1, 2001), a + w * np.sinh(np.linspace(-9, 9, 6001)) / 10]))
    x = edges[(edges >= 0) & (edges <= 1)]
    h = np.diff(x)
    potential = size * np.exp(-(((x[1:-1] - a) / w) ** 2))
    middle = (h[1:] + h[:-1]) / 2
    bands = np.zeros((3, len(x) - 2))
    bands[0, 1:], bands[1], bands[2, :-1] = -1 / h[1:-1], 1 / h[1:] + 1 / h[:-1] + potential * middle, -1 / h[1:-1]
    wanted = solve_banded((1, 1), bands, middle)
    assert solution.status == "converged"
    np.testing.assert_allclose(solution(x[1:-1]), wanted, atol=2e-5 * np.max(wanted))


@pytest.mark.parametrize("eps", [1e-4, 1e-8])
def test_the_layer_of_a_turning_point_is_found(eps):
    sides = {"left": "u = -1", "right": "u = 1"}
    problem = fp.Problem(f"{eps}*u_xx + 2*x*u_x = 0", fp.Interval(-1, 1), boundary=sides)
    solution = fp.solve(problem, tol=1e-2)
    x = np.linspace(-1, 1, 501)
    assert solution.status == "converged"
    np.testing.assert_allclose(solution(x), erf(x / np.sqrt(eps)), atol=1e-2)


@pytest.mark.parametrize("tol", [0.1, 1e-2])
def test_residuals_that_do_not_fall_forbid_loose_tolerances_too(tol):
    equation = "u_xx + (sin(40*x) + 1/(x + 1e-7))*u_x = 0"
    hole = fp.Problem(equation, fp.Interval(1e-6, 1), boundary={"left": "u = 0", "right": "u = 1"})
    with pytest.warns(fp.FrozenPinnWarning, match="above tol"):
        solution = fp.solve(hole, tol=tol)
    x = np.geomspace(1e-6, 1, 20001)
    slope = np.exp(np.cos(40 * x) / 40) * x / (x + 1e-7)  # by ln x, up to a factor
    exact = np.concatenate([[0.0], np.cumsum(slope[1:] + slope[:-1])])
    error = np.sqrt(np.mean((solution(x) - exact / exact[-1])[x > 0.01] ** 2))
    assert error > 3 * tol
    assert solution.status == "reached"
    assert solution.error_estimate.worst > error / 10


def test_lengths_that_shrink_towards_an_end_are_resolved():
    hole = fp.Problem("u_xx + u_x/x = 0", fp.Interval(1e-6, 1), boundary={"left": "u = 0", "right": "u = 1"})
    solution, x = fp.solve(hole, tol=1e-2), np.linspace(0.01, 1, 200)
    assert solution.status == "converged"
    np.testing.assert_allclose(solution(x), 1 - np.log(x) / np.log(1e-6), atol=1e-5)
