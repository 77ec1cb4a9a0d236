"""Steady states and stability of evolutions whose rates are not the plain ones: refused, never wrong."""

import numpy as np
import pytest

import frozenpinn as fp

LINE, SQUARE = fp.Interval(0, 1), fp.Box([0, 0], [1, 1])


def test_nonlocal_terms_at_rest():
    problem = fp.Problem("u_t = u_xx + mean(u) + 1", LINE, (0, 1), 0, "u = 0")
    assert np.isclose(fp.steady(problem)(0.5), 12 / 88, atol=1e-9)  # (1 + m)*x*(1 - x)/2 with its mean m = 1/11
    with pytest.raises(fp.ProblemError, match=r"stability\(\) is for equations without nonlocal terms; 'mean\(u\)'"):
        fp.stability(problem)


def test_stability_refuses_what_it_would_get_wrong():
    implicit = fp.Problem("u_t - u_xxt = u_xx", LINE, (0, 0.1), "sin(pi*x)", "u = 0")
    with pytest.raises(fp.ProblemError, match="can't treat derivatives in space of the highest time derivative"):
        fp.stability(implicit)
    k = {"k": "1 + heaviside(x - 0.5)"}
    plate = fp.Problem("u_t = div(k*grad(u))", SQUARE, (0, 0.1), "sin(pi*x)*sin(pi*y)", "u = 0", parameters=k)
    with pytest.raises(fp.ProblemError, match="coefficients that jump on intervals only"):
        fp.stability(plate)
