"""Solutions that satisfy their equations exactly are judged by their initial data."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.search.estimate import is_invariant, known_error
from frozenpinn.search.rules import EstimateRules

CIRCLES = fp.Box([0, 0], [2 * np.pi, 2 * np.pi], periodic=True)


@pytest.fixture(scope="module", params=[1e-3, 1e-6, 1e-9])
def transport(request):
    exact = "exp(2*cos(x - 3*t) + cos(y + t))"
    problem = fp.Problem("u_t + 3*u_x - u_y = 0", CIRCLES, (0, 2), "exp(2*cos(x) + cos(y))", exact=exact)
    return fp.solve(problem, tol=request.param)


def test_the_estimate_is_that_of_the_initial_data(transport):
    error = transport.error()["rel_l2"]
    assert transport.status == "converged"
    assert error / 2 < transport.error_estimate["u"] < max(4 * error, 1e-12)
    assert known_error(transport, EstimateRules()) == pytest.approx(error, rel=0.7)


def test_a_companion_may_be_coarser(transport):
    """The widths of attempts ascend, whichever was first; the answer is the finest."""
    widths = [np.max(width) for width, *_ in transport.verdict.attempts]
    assert widths == sorted(widths)
    assert np.max(transport.width) == widths[-1]
    assert np.max(transport.witness.width) < widths[-1]


@pytest.mark.parametrize(
    ("equation", "domain", "more"),
    [
        ("u_t = lap(u) + sin(x)", CIRCLES, {}),  # a source
        ("u_t = (2 + cos(x))*u_xx + u_yy", CIRCLES, {}),  # a coefficient
        ("u_t = lap(u) - u**3", CIRCLES, {}),
        ("u_t = lap(u)", fp.Box([0, 0], [2 * np.pi, 2 * np.pi], periodic=(True, False)), {"boundary": "u_n = 0"}),
    ],
)
def test_others_are_not_judged_like_this(equation, domain, more):
    problem = fp.Problem(equation, domain, (0, 0.1), "cos(x)*cos(y)", **more)
    solution = fp.solve(problem, settings=fp.Settings(width=12, subspace=None))
    assert not is_invariant(solution)
    assert known_error(solution, EstimateRules()) is None


def test_waves_of_second_order_and_systems_are_solved_exactly():
    for equations, more in (
        ("u_tt = lap(u) - u_t", {"initial_velocity": 0}),
        (["u_t = lap(v)", "v_t = -lap(u)"], {}),
    ):
        start = "cos(x)*cos(y)" if isinstance(equations, str) else {"u": "cos(x)*cos(y)", "v": "sin(x)"}
        problem = fp.Problem(equations, CIRCLES, (0, 0.1), start, **more)
        assert is_invariant(fp.solve(problem, settings=fp.Settings(width=8, subspace=None)))
