"""Errors that run away in front of an epidemic, told from a solution that does."""

import re
import warnings

import numpy as np
import pytest

import frozenpinn as fp

LINE = fp.Interval(0, 24)
SEED = "-15*(1 - cos(pi*x/24))"
FREE = ["s_n = 0", "i_n = 0"]


def failure(problem: fp.Problem) -> fp.IntegrationError:
    """Return the error that a rough solve ends with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(fp.IntegrationError) as caught:
            fp.solve(problem, settings=fp.Settings(width=48, windows=None))
    return caught.value


def test_a_negative_density_is_told_from_blow_up():
    equations = ["s_t = 0.1*s_xx - 2*i*s", "i_t = 0.1*i_xx + 2*i*s - 0.1*i + 1e-14"]  # a source has no logarithm
    error = failure(
        fp.Problem(equations, LINE, (0, 50), {"s": "1 - i0", "i": "i0"}, FREE, parameters={"i0": "exp(-x^2)"})
    )
    assert re.search(r"errors ran away. '[si]', which is nowhere negative at the start.* the logarithm of", str(error))
    assert "without bound" not in str(error)
    assert error.solution.problem.time[1] == pytest.approx(error.time, rel=0.05)


@pytest.mark.parametrize(
    ("equation", "initial"),
    [("u_t = u_xx + u^2", "1 + cos(pi*x/24)"), ("u_t = u_xx - u^2", "cos(pi*x/24)")],
    ids=["blow-up upwards", "negative from the start"],
)
def test_blow_up_stays_blow_up(equation, initial):
    assert "ran away" not in str(failure(fp.Problem(equation, LINE, (0, 50), initial, "u_n = 0")))


def test_the_logarithm_is_a_way_out():
    equations = ["s_t = 0.1*s_xx - 2*exp(w)*s", "w_t = 0.1*(w_xx + w_x^2) + 2*s - 0.1"]
    start = {"s": f"1 - exp({SEED})", "w": SEED}
    solution = fp.solve(fp.Problem(equations, LINE, (0, 40), start, ["s_n = 0", "w_n = 0"]), tol=1e-3)
    assert solution.verdict.status == "converged"
    infected = np.exp(solution(np.linspace(0, 24, 49), 20.0, field="w"))
    assert 0.0 < np.min(infected) < np.max(infected) < 1.0
