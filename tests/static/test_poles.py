"""Coordinates that begin near zero: what is of size 1e6 there must not hide everything else."""

import numpy as np
import pytest

import frozenpinn as fp


@pytest.mark.parametrize("start", [1e-3, 1e-6])
@pytest.mark.parametrize("equation", ["u_xx + u_x/x = 0", "x*u_xx + u_x = 0"])
def test_a_logarithm_is_found_however_the_equation_is_written(start, equation):
    problem = fp.Problem(equation, fp.Interval(start, 1), boundary="u = g", parameters={"g": "log(x)"}, exact="log(x)")
    solution = fp.solve(problem, tol=1e-2)
    assert solution.status == "converged"
    assert solution.error()["relative"] < 1e-3


def test_equations_away_from_zero_stay_as_they_are():
    assert "u_x/x" in str(fp.Problem("u_xx + u_x/x = 0", fp.Interval(0.1, 1), boundary="u = 0").equations[0])


def test_a_turning_point_of_any_width_is_found():
    for diffusion in (1e-3, 1e-5):
        solution = fp.solve(
            fp.Problem(f"{diffusion}*u_xx + 2*x*u_x = 0", fp.Interval(-1, 1), boundary="u = x"), tol=1e-2
        )
        assert solution.status == "converged"
        assert float(solution(2 * np.sqrt(diffusion))) == pytest.approx(0.99532, abs=1e-3)
