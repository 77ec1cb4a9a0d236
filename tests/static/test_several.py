"""Several solutions of one problem, and none."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipk

import frozenpinn as fp


def bratu(lam):
    return fp.Problem("u_xx + lam*exp(u) = 0", fp.Interval(0, 1), boundary="u = 0", parameters={"lam": lam})


def middle(lam, start):
    """Return u(1/2) = 2 log cosh θ, where θ = √(λ/8) cosh θ, by Newton's method."""
    theta = start
    for _ in range(60):
        gap = theta - np.sqrt(lam / 8) * np.cosh(theta)
        theta -= gap / (1 - np.sqrt(lam / 8) * np.sinh(theta))
    return 2 * np.log(np.cosh(theta))


@pytest.mark.parametrize("lam", [1.0, 3.0])
def test_both_solutions_of_bratu(lam):
    low, high = fp.solve(bratu(lam), tol=1e-8, all=True)
    assert float(low(0.5)) == pytest.approx(middle(lam, 0.1), abs=1e-8)
    assert float(high(0.5)) == pytest.approx(middle(lam, 4.0), abs=1e-8)
    assert low.status == high.status == "converged"
    assert low.notes[-1].startswith(
        "solution 1 of 2 found by deflation (find 1), from the extension of the boundary data"
    )
    assert high.notes[-1].endswith("there may be more")


def test_steady_states_of_allen_cahn():
    problem = fp.Problem("eps*u_xx + u - u**3 = 0", fp.Interval(0, 1), boundary="u = 0", parameters={"eps": 0.05})
    found = fp.solve(problem, tol=1e-6, all=True)
    # u = A sn(x/√(ε(1 + m)) | m), A² = 2m/(1 + m), with half a period on the interval
    m = brentq(lambda m: 2 * ellipk(m) * np.sqrt(0.05 * (1 + m)) - 1, 1e-9, 1 - 1e-9)
    top = np.sqrt(2 * m / (1 + m))
    assert sorted(float(s(0.5)) for s in found) == pytest.approx([-top, 0.0, top], abs=1e-6)


def test_a_linear_problem_has_one_solution():
    (only,) = fp.solve(fp.Problem("u_xx = 1", fp.Interval(0, 1), boundary="u = 0"), tol=1e-8, all=True)
    assert only.notes[-1] == "the problem is linear, so there is no other solution to look for"


def test_all_is_for_static_problems():
    heat = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0")
    with pytest.raises(fp.SettingsError, match="all=True is for static problems"):
        fp.solve(heat, all=True)


def test_far_past_a_fold_nothing_is_taken_for_a_solution():
    problem = fp.Problem("lap(u) + 20*exp(u) = 0", fp.Box([0, 0], [1, 1]), boundary="u = 0")
    with pytest.raises(fp.ConvergenceError, match="probably past a fold"):
        fp.solve(problem, tol=1e-5)


@pytest.mark.parametrize("everything", [False, True])
def test_past_a_fold_there_is_nothing(everything):
    with pytest.raises(fp.ConvergenceError, match=r"ends at 97\.\d % of the nonlinear terms, probably past a fold"):
        fp.solve(bratu(3.6), tol=1e-6, all=everything)
