"""Implicit equations: spatial derivatives of the highest time derivative, on lines, boxes and shapes."""

import pickle

import numpy as np
import pytest

from frozenpinn import (
    Box,
    Disk,
    Interval,
    Problem,
    ProblemError,
    Settings,
    SettingsError,
    load,
    solve,
)
from frozenpinn.analysis.wellposedness import examine
from frozenpinn.integrators.modal import ModalTrajectory
from frozenpinn.integrators.scaling_and_squaring import ScalingAndSquaring

PERIOD = Interval(0, 2 * np.pi, periodic=True)
SOLITON = "1.5/cosh(k*(x - 1.5*t))**2"
SLOPE = 0.5 * np.sqrt(1 / 3)


def largest_error(solution, count=200):
    """Compare with the exact solution at points that no solve has seen."""
    problem = solution.problem
    x = problem.domain.sample(count, "random", 12345).x
    return max(
        float(np.max(np.abs(np.ravel(solution(x, t, field=name)) - problem.exact[name](x, t))))
        for name in problem.fields
        for t in np.linspace(*problem.time, 4)
    )


@pytest.mark.parametrize(
    ("equation", "domain", "initial", "boundary", "more", "exact"),
    [
        ("u_t - 0.1*u_xxt = u_xx", Interval(0, 1), "sin(pi*x)", "u = 0", {}, "sin(pi*x)*exp(-pi**2*t/(1 + 0.1*pi**2))"),
        (
            "dt(u - u_xx) = u_xx + 2*cos(x + t) + sin(x + t)",
            Interval(0, 1),
            "sin(x)",
            {"left": "u = sin(t)", "right": "u_n = cos(1 + t)"},
            {},
            "sin(x + t)",
        ),
        (
            "u_t - dx((1 + x**2)*u_xt) = u_xx + exp(-t)*(2*pi*x*cos(pi*x) - (1 + x**2*pi**2)*sin(pi*x))",
            Interval(0, 1),
            "sin(pi*x)",
            "u = 0",
            {},
            "exp(-t)*sin(pi*x)",
        ),
        ("u_tt - u_xxtt = u_xx", PERIOD, "sin(x)", None, {"initial_velocity": 0}, "sin(x)*cos(t/sqrt(2))"),
        ("dt(lap(u)) = 0.1*lap(u)", Interval(0, 1), "sin(pi*x)", "u = 0", {}, "sin(pi*x)*exp(0.1*t)"),
        (["u_t = v_xt + v", "v_t = u_xt"], PERIOD, ["sin(x)", "cos(x)"], None, {}, None),
        (
            "u_t - lap(u_t) = lap(u) + 3*cos(x + y + t) + 2*sin(x + y + t)",
            Box([0, 0], [1, 1]),
            "sin(x + y)",
            "u = sin(x + y + t)",
            {},
            "sin(x + y + t)",
        ),
        (
            "u_t - lap(u_t) = lap(u) + x**2*cos(t) - 2*cos(t) - 2*(1 + sin(t))",
            Disk(),
            "exp(x)*cos(y) + x**2",
            "u = exp(x)*cos(y) + x**2*(1 + sin(t))",
            {},
            "exp(x)*cos(y) + x**2*(1 + sin(t))",
        ),
    ],
)
def test_linear_ones_are_propagated_exactly(equation, domain, initial, boundary, more, exact):
    problem = Problem(equation, domain, (0, 1), initial, boundary, exact=exact, **more)
    solution = solve(problem, tol=1e-7)
    assert solution.verdict.status == "converged"
    assert isinstance(solution.pieces[0].trajectory, ModalTrajectory | ScalingAndSquaring)
    assert max(solution.residuals.pde.values()) < 1e-4
    if exact is not None:
        assert largest_error(solution) < 3e-7


def test_waves_on_periodic_boxes_are_divided_in_modes_of_the_axes():
    box = Box([0, 0], [2 * np.pi, 2 * np.pi], periodic=True)
    problem = Problem("u_t - lap(u_t) + u_x = 0", box, (0, 1), "sin(x + y)", exact="sin(x + y - t/3)")
    solution = solve(problem, tol=1e-8)
    assert isinstance(solution.pieces[0].trajectory, ModalTrajectory)
    assert largest_error(solution) < 1e-10


@pytest.fixture(scope="module")
def soliton():
    line = Interval(-50, 50, periodic=True)
    equation, parameters = "u_t + u_x + u*u_x - u_xxt = 0", {"k": SLOPE}
    return solve(
        Problem(equation, line, (0, 5), SOLITON.replace("1.5*t", "0"), parameters=parameters, exact=SOLITON), tol=1e-6
    )


def test_soliton_of_benjamin_bona_mahony(soliton):
    assert soliton.verdict.status == "converged"
    assert largest_error(soliton) < 1e-6


def test_implicit_solutions_are_stored(soliton, tmp_path):
    soliton.save(tmp_path / "bbm.fpinn")
    x = np.linspace(-10, 10, 7)
    assert load(tmp_path / "bbm.fpinn")(x, 1.0) == pytest.approx(soliton(x, 1.0), abs=1e-9)
    assert str(pickle.loads(pickle.dumps(soliton.problem)).equations[0]) == "u_t - u_xxt = -u*u_x - u_x"


def test_camassa_holm_keeps_its_energy():
    problem = Problem("u_t - u_xxt + 2*u_x + 3*u*u_x = 2*u_x*u_xx + u*u_xxx", PERIOD, (0, 1), "0.2*cos(x)")
    solution = solve(problem, tol=1e-7)
    x = np.arange(400) * 2 * np.pi / 400
    energy = [np.mean(solution(x, t) ** 2 + solution(x, t, derivative="x") ** 2) for t in (0.0, 0.4, 1.0)]
    assert energy == pytest.approx([energy[0]] * 3, rel=1e-7)


def test_symbol_of_the_left_hand_side_decides():
    with pytest.raises(ProblemError, match="ill posed"):
        solve(Problem("u_t - u_xxt = u_xxxx", PERIOD, (0, 1), "sin(x)"))
    problem = Problem("u_t - u_xxt = u_x", Interval(0, 1), (0, 1), "sin(pi*x)**2", ["u = 0", "u_n = 0"])
    texts = [finding.text for finding in examine(problem)]
    assert any("side 'left' has 2 condition(s) for 1 field(s), but the equations need 1" in text for text in texts)


def test_left_hand_sides_without_inverse():
    problem = Problem("dt(lap(u)) = lap(u)", Interval(0, 1), (0, 1), "cos(pi*x)", "u_n = 0")
    with pytest.raises(ProblemError, match=r"'u_xxt' can't be solved for the time derivative.*such as constants"):
        solve(problem)
    flat = Problem("dt(lap(u)) = lap(u)", Box([0, 0], [1, 1]), (0, 1), "cos(pi*x)*cos(pi*y)", "u_n = 0")
    with pytest.raises(ProblemError, match="Prescribe a value on some side"):
        solve(flat)


def vorticity(forcing, **more):
    """Plane flow in a periodic box, by its stream function; constants are no part of the flow."""
    return Problem(
        f"dt(lap(psi)) = 0.05*lap(lap(psi)) - dy(psi)*dx(lap(psi)) + dx(psi)*dy(lap(psi)) + {forcing}",
        Box([0, 0], [2 * np.pi, 2 * np.pi], periodic=True),
        (0, 1),
        **more,
    )


def test_a_mean_that_nothing_moves_stands_still():
    flow = "2 + sin(x)*cos(y + t) + cos(2*x - t)/4"
    balance = "dt(lap(g)) - 0.05*lap(lap(g)) + dy(g)*dx(lap(g)) - dx(g)*dy(lap(g))"
    start = "2 + sin(x)*cos(y) + cos(2*x)/4"
    problem = vorticity(f"({balance})", initial=start, parameters={"g": flow}, exact=flow)
    solution = solve(problem, tol=1e-6)
    assert solution.status == "converged"
    assert solution.error()["rel_l2"] < 1e-6


@pytest.mark.parametrize("forcing", ["1 + cos(y)", "psi**2", "psi_x**2", "integral(psi)"])
def test_a_mean_that_something_pushes_is_refused(forcing):
    with pytest.raises(ProblemError, match="can't be solved for the time derivative"):
        solve(vorticity(forcing, initial="sin(x)*sin(y)"))


def test_one_dimension_keeps_its_mean_too():
    problem = Problem("dt(u_xx) = u_xxxx", PERIOD, (0, 1), "3 + sin(x)", exact="3 + exp(-t)*sin(x)")
    assert solve(problem, tol=1e-8).error()["rel_l2"] < 1e-8


def test_soft_rows_are_refused():
    problem = Problem("u_t - u_xxt = u_xx", Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0")
    with pytest.raises(SettingsError, match=r"soft boundary rows \(boundary='augmented-ode'\) can't be used"):
        solve(problem, settings=Settings(boundary="augmented-ode"))
