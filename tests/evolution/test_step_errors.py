"""Errors of time steps: they are told where two solves share them, and multiplied as the problem does."""

import warnings

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.evolution.step_errors import step_errors

RELAPSE = "u_t = 0.1*u_xx + (160*(t - 0.5) + 0.1*pi**2)*u"  # decays to 2e-9 of itself, and comes back


def quietly(problem, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.FrozenPinnWarning)
        return fp.solve(problem, **more)


@pytest.fixture(scope="module")
def relapse():
    exact = "sin(pi*x)*exp(80*(t**2 - t))"
    return fp.Problem(RELAPSE, fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", exact=exact)


def test_what_decays_and_grows_again_is_solved_with_smaller_tolerances_in_time(relapse):
    solution = quietly(relapse, tol=1e-3)
    error = solution.error()["rel_l2"]
    assert solution.status == "converged"
    assert error <= 1e-3
    assert error / 10 <= solution.error_estimate["u"]


def test_factor_and_size_of_what_loose_steps_leave(relapse):
    loose = quietly(relapse, settings=fp.Settings(width=60, rtol=1e-3))
    found = step_errors(loose)
    assert np.log10(found.factor) == pytest.approx(20.0 / np.log(10), abs=1.5)
    true = loose.error()["rmse"]
    assert 0.1 * true <= found.whole("u") <= 10 * true


def test_steps_of_several_fields_are_told_one_by_one():
    equations = ["u_t = 0.1*u_xx - 20*(u**2 + v**2)*v", "v_t = 0.1*v_xx + 20*(u**2 + v**2)*u"]
    problem = fp.Problem(
        equations, fp.Interval(0, 1), (0, 1), [1, 0], ["u_n = 0", "v_n = 0"], exact=["cos(20*t)", "sin(20*t)"]
    )
    solution = quietly(problem, settings=fp.Settings(width=40, rtol=1e-3))
    found = step_errors(solution)
    for name in ("u", "v"):
        true = solution.error(name)["rmse"]
        assert 0.1 * true <= found.whole(name) <= 10 * true


@pytest.mark.parametrize("rtol", [1e-5, 1e-7])
def test_phases_that_add_up_over_many_turns(rtol):
    equations = ["u_t = 0.1*u_xx - 90*(u**2 + v**2)*v", "v_t = 0.1*v_xx + 90*(u**2 + v**2)*u"]
    problem = fp.Problem(
        equations, fp.Interval(0, 1), (0, 1), [1, 0], ["u_n = 0", "v_n = 0"], exact=["cos(90*t)", "sin(90*t)"]
    )
    solution = quietly(problem, settings=fp.Settings(width=40, integrator=fp.integrators.CVODE(rtol=rtol)))
    true = solution.error("u")["rmse"]
    assert 0.5 * true <= step_errors(solution).whole("u") <= 2 * true


def test_long_steps_on_which_states_turn_far_are_divided():
    problem = fp.Problem(
        "u_tt = u_xx - 100*u**3", fp.Interval(0, 1), (0, 10), 1, "u_n = 0", initial_velocity=0
    )  # swings 13 times, on long steps of high degree; following them from end to end multiplied errors by 1e8
    solution = quietly(problem, tol=1e-4)
    assert solution.status == "converged"
    assert step_errors(solution).factor < 1e4


def test_steps_of_what_is_solved_on_a_line_in_the_plane():
    """The solution depends on 3x + y alone; others leave it like exp(12 t), and two solves shared errors of steps."""
    u = "exp(-t)*(2 + sin(3*x + y))/3"
    f = "0.05*10*exp(-t)*sin(3*x + y)/3"
    g = f"-2*({u})^2 - 0.05*20*((exp(-t)*cos(3*x + y)/3)^2 - ({u})*exp(-t)*sin(3*x + y)/3)"
    problem = fp.Problem(
        [f"u_t = 0.05*lap(u) + {f} - u", f"v_t = 0.05*lap(v) + 12*(v - u^2) + {g}"],
        fp.Box([0, 0], [1, 1]), (0, 1), [u.replace("-t", "0"), f"({u})^2".replace("-t", "0")],
        ["u = p", "v = q"], parameters={"p": u, "q": f"({u})^2"}, exact=[u, f"({u})^2"],
    )  # fmt: skip
    solution = quietly(problem, tol=1e-3)
    error = solution.error("v")["rel_l2"]
    assert step_errors(solution) is not None
    assert error <= 3e-3
    assert solution.error_estimate["v"] >= 0.1 * error


def test_few_directions_on_a_large_product_see_what_grows():
    """A look at few directions must see exp((20 - 0.1 pi^2) t) in a square, whatever functions come first."""
    problem = fp.Problem(
        "u_t = 0.05*lap(u) + 20*(u - u^3) + f", fp.Box([0, 0], [1, 1]), (0, 1), "0.01*sin(2*pi*x)*sin(pi*y)", "u = 0",
        parameters={"f": "0.01*((0.25*pi^2 - 20)*sin(2*pi*x)*sin(pi*y) + 0.002*(sin(2*pi*x)*sin(pi*y))^3)"},
    )  # fmt: skip
    solution = quietly(problem, settings=fp.Settings(width=(30, 30), rtol=1e-5))
    assert solution.pieces[0].layout.size > 400
    assert np.log(step_errors(solution).factor) == pytest.approx(20 - 0.1 * np.pi**2, abs=1.2)


def test_closed_forms_have_no_steps():
    problem = fp.Problem("u_t = 0.1*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0")
    assert step_errors(fp.solve(problem)) is None
