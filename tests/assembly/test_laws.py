"""Boundary laws: nonlinear conditions, coefficients in time, absorbing and dynamic ones, against independent solves."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from frozenpinn import (
    Box,
    Disk,
    FrozenPinnWarning,
    Interval,
    Problem,
    ProblemError,
    Robin,
    Settings,
    check,
    follow,
    load,
    solve,
    stability,
    steady,
)
from frozenpinn.assembly.constrained_discretisation import ConstrainedDiscretisation
from frozenpinn.integrators.scaling_and_squaring import ScalingAndSquaring

LINE = Interval(0, 1)
ROD = {"f": "0.2*cos(x + t) + 0.2*sin(x + t)"}


def largest_error(solution, count=200):
    """Compare with the exact solution at points that no solve has seen."""
    problem = solution.problem
    x = problem.domain.sample(count, "random", 12345).x
    times = [0.0] if problem.is_static else np.linspace(*problem.time, 4)
    return max(
        float(
            np.max(
                np.abs(np.ravel(solution(x, t) if not problem.is_static else solution(x)) - problem.exact["u"](x, t))
            )
        )
        for t in times
    )


@pytest.mark.parametrize(
    ("condition", "data"),
    [
        ("u_n = 1 - u**4 + g", "0.2*cos(1 + t) - 1 + (1 + 0.2*sin(1 + t))**4"),
        ("u_n = -2*u/(0.5 + u) + g", "0.2*cos(1 + t) + 2*(1 + 0.2*sin(1 + t))/(1.5 + 0.2*sin(1 + t))"),
        ("u_n + (1 + t)*u = g", "0.2*cos(1 + t) + (1 + t)*(1 + 0.2*sin(1 + t))"),
        (Robin("1 + t", 1, "g"), "0.2*cos(1 + t) + (1 + t)*(1 + 0.2*sin(1 + t))"),
        ("u_t = -u_n + g", "0.4*cos(1 + t)"),
        ("u**2 = g", "(1 + 0.2*sin(1 + t))**2"),
    ],
)
def test_laws_at_the_end_of_a_rod(condition, data):
    boundary = {"left": "u_n = -0.2*cos(t)", "right": condition}
    parameters = {**ROD, "g": data}
    exact = "1 + 0.2*sin(x + t)"
    solution = solve(
        Problem("u_t = u_xx + f", LINE, (0, 1), "1 + 0.2*sin(x)", boundary, parameters=parameters, exact=exact),
        tol=1e-7,
    )
    assert solution.verdict.status == "converged"
    assert largest_error(solution) < 1e-7
    assert solution.residuals.boundary < 1e-6


def chebyshev(n):
    """Return points and the matrix of derivatives on [0, 1]."""
    x = np.cos(np.pi * np.arange(n + 1) / n)
    c = np.r_[2.0, np.ones(n - 1), 2.0] * (-1.0) ** np.arange(n + 1)
    gaps = x[:, None] - x
    d = np.outer(c, 1 / c) / (gaps + np.eye(n + 1))
    return (1 - x) / 2, -2 * (d - np.diag(d.sum(axis=1)))


def radiating_rod(start, times, n=24):
    """Solve u_t = u_xx, u_n = 0 left, u_n = 1 - u⁴ right by collocation, the ends from a nonlinear equation."""
    x, d = chebyshev(n)

    def whole(inner):
        """Return all values: the left one from the slope, the right one by bisection."""

        def with_end(end):
            u = np.r_[0.0, inner, end]
            u[0] = -(d[0, 1:] @ u[1:]) / d[0, 0]
            return u

        return with_end(brentq(lambda e: d[-1] @ with_end(e) - 1 + e**4, 0.1, 3.0, xtol=1e-15, rtol=1e-14))

    found = solve_ivp(
        lambda _, y: (d @ d @ whole(y))[1:-1], (0, 1), start(x)[1:-1], "Radau", times, rtol=1e-9, atol=1e-11
    )
    return x, np.array([whole(y) for y in found.y.T])


@pytest.fixture(scope="module")
def radiation():
    boundary = {"left": "u_n = 0", "right": "u_n = 1 - u**4"}
    return solve(Problem("u_t = u_xx", LINE, (0, 1), "2 + 15*x**2*(1 - x)", boundary), tol=1e-7)


def test_radiation_against_collocation(radiation):
    times = [0.02, 0.1, 0.5, 1.0]
    x, values = radiating_rod(lambda x: 2 + 15 * x**2 * (1 - x), times)
    assert max(np.max(np.abs(radiation(x, t) - u)) for t, u in zip(times, values, strict=True)) < 1e-7


def test_solutions_with_laws_are_stored(radiation, tmp_path):
    radiation.save(tmp_path / "radiation.fpinn")
    x = np.linspace(0, 1, 7)
    assert load(tmp_path / "radiation.fpinn")(x, 0.7) == pytest.approx(radiation(x, 0.7), abs=1e-9)


def test_steady_states_with_laws(radiation):
    rest = steady(
        Problem("u_t = u_xx", LINE, (0, 1), "2 + 15*x**2*(1 - x)", radiation.problem.given["boundary"]), start=2
    )
    assert rest(np.array([0.0, 0.4, 1.0])) == pytest.approx(np.ones(3), abs=1e-9)


def test_dynamic_conditions_are_propagated_exactly():
    k = brentq(lambda k: np.tan(k) + k, 1.6, 3.0, xtol=1e-15)
    boundary = {"left": "u_n = 0", "right": "u_t = -u_n"}
    exact, parameters = "exp(-k**2*t)*cos(k*x)", {"k": k}
    solution = solve(
        Problem("u_t = u_xx", LINE, (0, 1), "cos(k*x)", boundary, parameters=parameters, exact=exact), tol=1e-8
    )
    assert isinstance(solution.pieces[0].trajectory, ScalingAndSquaring)
    assert largest_error(solution) < 1e-9


def test_pulses_leave_through_absorbing_sides():
    pulse = "(exp(-60*(x - t)**2) + exp(-60*(x + t)**2))/2"
    problem = Problem(
        "u_tt = u_xx", Interval(-1, 1), (0, 2), "exp(-60*x**2)", "u_t + u_n = 0", initial_velocity=0, exact=pulse
    )
    solution = solve(problem, tol=1e-6)
    assert largest_error(solution) < 1e-6
    assert np.max(np.abs(solution(np.linspace(-1, 1, 50), 2.0))) < 1e-6


@pytest.mark.parametrize(
    ("domain", "boundary", "parameters"),
    [
        (
            Disk(),
            "u_n = 1 - u**4 + g",
            {"g": "0.2*(x*cos(x + t)*cos(y) - y*sin(x + t)*sin(y)) - 1 + (1 + 0.2*sin(x + t)*cos(y))**4"},
        ),
        (
            Box([0, 0], [1, 1]),
            {
                "left": "u = e",
                "top": "u = e",
                "bottom": "u_n = 0",
                "right": "u_n + (1 + t)*u = 0.2*cos(1 + t)*cos(y) + (1 + t)*e",
            },
            {"e": "1 + 0.2*sin(x + t)*cos(y)"},
        ),
    ],
)
def test_laws_in_the_plane(domain, boundary, parameters):
    source = {"f": "0.2*cos(x + t)*cos(y) + 0.4*sin(x + t)*cos(y)"}
    exact = "1 + 0.2*sin(x + t)*cos(y)"
    problem = Problem(
        "u_t = lap(u) + f",
        domain,
        (0, 0.3),
        "1 + 0.2*sin(x)*cos(y)",
        boundary,
        parameters=parameters | source,
        exact=exact,
    )
    solution = solve(problem, tol=1e-4)
    assert solution.verdict.status == "converged"
    assert largest_error(solution) < 1e-5


def test_laws_of_static_problems():
    boundary = "u_n = 1 - u**4 + g"
    parameters = {"g": "0.2*(x*cos(x)*cos(y) - y*sin(x)*sin(y)) - 1 + (1 + 0.2*sin(x)*cos(y))**4"}
    exact = "1 + 0.2*sin(x)*cos(y)"
    problem = Problem("lap(u) = -0.4*sin(x)*cos(y)", Disk(), boundary=boundary, parameters=parameters, exact=exact)
    assert not problem.is_linear
    assert largest_error(solve(problem, tol=1e-6)) < 1e-9


@pytest.mark.parametrize(
    ("equation", "initial", "boundary", "velocity"),
    [
        ("u_t = u_xx - u**2", "1 + 0.2*sin(x)", {"left": "u_n = -0.2*t", "right": "u_n = 1 - u**4"}, None),
        ("u_tt = u_xx - u**3", "1 + x", {"left": "u_n = -u**3*t", "right": "u_t + (1 + u**2)*u_n = 0"}, "x"),
        (
            ["u_t = u_xx", "v_t = v_xx"],
            ["1 + x", "1 - x"],
            {"left": ["u_n = u*v", "v_n = -v**2"], "right": ["u_t = -u_n*v", "v = 0"]},
            None,
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::frozenpinn.FrozenPinnWarning")
def test_jacobians_are_exact(equation, initial, boundary, velocity):
    problem = Problem(equation, LINE, (0, 0.1), initial, boundary, initial_velocity=velocity)
    system = solve(problem, settings=Settings(width=20)).system
    assert isinstance(system, ConstrainedDiscretisation)
    rng = np.random.default_rng(0)
    y, direction = system.initial_state + 0.01 * rng.normal(size=system.size), rng.normal(size=system.size)
    difference = (system.rhs(0.05, y + 1e-6 * direction) - system.rhs(0.05, y - 1e-6 * direction)) / 2e-6
    assert system.jacobian(0.05, y) @ direction == pytest.approx(
        difference, rel=1e-6, abs=1e-6 * np.abs(difference).max()
    )


# ---- findings and refusals -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "condition", "velocity"),
    [("u_t = u_xx", "u_n = 9*u**2", None), ("u_t = u_xx", "u_t = 9*u_n", None), ("u_tt = u_xx", "u_t - 2*u_n = 0", 0)],
)
def test_laws_of_the_wrong_sign(equation, condition, velocity):
    initial = "1" if "**" in condition else "cos(pi*x)"
    with pytest.warns(FrozenPinnWarning) as caught:  # noqa: PT031
        problem = Problem(equation, LINE, (0, 1), initial, condition, initial_velocity=velocity)
        check(problem)
    assert any("feeds the solution: " in str(w.message) for w in caught)


def test_initial_data_against_laws():
    with pytest.warns(FrozenPinnWarning, match=r"contradict the condition 'u_n = 1 - u\*\*4' on side 'right' by 15"):
        Problem("u_t = u_xx", LINE, (0, 1), "2", {"left": "u_n = 0", "right": "u_n = 1 - u**4"})


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("u_tt = -u_n", "contains 'u_tt', but the equation of 'u' is of order 1 in time"),
        ("u_t**2 = u_n", "is not linear in 'u_t'; solve it for that derivative"),
        (["u_n = -u**4", "u_n + u**4 = 0"], "side 'left' is declared twice: 'u_n + u**4 = 0' repeats it"),
    ],
)
def test_laws_that_can_not_be_kept(condition, words):
    with pytest.raises(ProblemError) as error:
        Problem("u_t = u_xx", LINE, (0, 1), "0", condition)
    assert words in str(error.value)


def test_static_laws_have_no_time():
    with pytest.raises(ProblemError, match="'u_t = -u_n' on 'left' contains time, but the problem has none"):
        Problem("u_xx = 1", LINE, boundary="u_t = -u_n")


def test_python_functions_of_time_need_their_derivative():
    problem = Problem("u_t = u_xx", LINE, (0, 1), "0", "u_n + h*u = 0", parameters={"h": lambda t: 1 + np.sin(t)})
    with pytest.raises(
        ProblemError, match="'u_n \\+ h\\*u = 0' must be differentiated by t: this needs the derivative h_t"
    ):
        solve(problem)


def test_what_needs_linear_conditions():
    problem = Problem("u_t = u_xx", LINE, (0, 1), "1", "u_n = k*(1 - u**4)", parameters={"k": 1.0})
    for strategy in ("augmented-ode", "outer-basis"):
        with pytest.raises(ProblemError, match=f"boundary='{strategy}' needs linear boundary conditions"):
            solve(problem, settings=Settings(boundary=strategy))
    with pytest.raises(ProblemError, match=r"stability\(\) needs linear boundary conditions"):
        stability(problem)
    static = Problem("u_xx = 0", LINE, boundary="u_n = k*(1 - u**4)", parameters={"k": 1.0})
    with pytest.raises(ProblemError, match=r"follow\(\) needs linear boundary conditions"):
        follow(static, "k", (0, 1))


@pytest.mark.parametrize("condition", ["u**2 = 0", "sqrt(u) = u_n", "t*u = 0"])
def test_laws_that_determine_nothing(condition):
    problem = Problem("u_t = u_xx", LINE, (0, 1), "sin(pi*x)**2", condition)
    with pytest.raises(ProblemError, match="does not determine the solution at t = 0: its derivatives by the fields"):
        solve(problem)


def test_implicit_equations_need_linear_conditions():
    with pytest.raises(
        ProblemError, match="'u_n = -u\\*\\*3' on 'left' is nonlinear or changes in time, and the equation"
    ):
        Problem("u_t - u_xxt = u_xx", LINE, (0, 1), "0", "u_n = -u**3")
