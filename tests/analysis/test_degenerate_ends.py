from itertools import pairwise

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.analysis.turning_points import degenerate_ends


def on(equation, start, left, right):
    return fp.Problem(equation, fp.Interval(start, 1), boundary={"left": left, "right": right})


def test_parts_of_an_axis_grow_from_the_least_length():
    parts = list(degenerate_ends(on("u_xx + u_x/x = 0", 1e-6, "u = 1", "u = 0")))
    assert parts[0].low == 1e-6
    assert parts[0].high == pytest.approx(2e-6)
    assert parts[-1].high > 2.0**-8
    assert [part.is_last for part in parts] == [False] * (len(parts) - 1) + [True]
    assert all(a.high == pytest.approx(b.low) for a, b in pairwise(parts))


def test_ends_at_which_nothing_falls_have_none():
    assert not list(degenerate_ends(on("1e-6*u_xx + u_x = 1", 0, "u = 0", "u = 0")))
    assert not list(degenerate_ends(on("u_xx + u_x/x = 0", 0.1, "u = 1", "u = 0")))
    assert not list(degenerate_ends(on("u_xx = u", 0, "u = 1", "u = 0")))


@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_a_logarithm_about_a_tiny_hole_is_resolved(tol):
    solution = fp.solve(on("x*u_xx + u_x = 0", 1e-6, "u = 1", "u = 0"), tol=tol)
    x = np.geomspace(1e-6, 1, 50)
    assert solution.status == "converged"
    assert np.allclose(solution(x), np.log(x) / np.log(1e-6), atol=tol)


@pytest.mark.filterwarnings("ignore::frozenpinn.FrozenPinnWarning")
def test_one_that_is_missed_is_told():
    box = fp.Box((1e-6, 0), (1, 2 * np.pi), periodic=(False, True))
    hole = fp.Problem("x**2*u_xx + x*u_x + u_yy = 0", box, boundary={"left": "u = 1", "right": "u = cos(y)"})
    solution = fp.solve(hole, tol=1e-1)
    assert solution.status == "reached"
    assert "the coefficients beside x = 1e-06" in solution.verdict.reason
