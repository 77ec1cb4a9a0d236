"""Nonlocal terms: integrals, means, kernels, fractional Laplacians; fields without space, coupled to others."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from frozenpinn import Box, Disk, Free, Interval, Problem, ProblemError, Settings, Unknown, follow, load, solve

LINE = Interval(0, 1)
PERIOD = Interval(0, 2 * np.pi, periodic=True)


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
    ("equation", "domain", "initial", "boundary", "exact"),
    [
        ("u_t = u_xx - mean(u)", LINE, "1 + cos(pi*x)", "u_n = 0", "exp(-t) + exp(-pi**2*t)*cos(pi*x)"),
        ("u_t = -2*integral(x*u)", LINE, "1 + 0*x", None, "exp(-t)"),
        ("u_t = -fraclap(u, 0.75)", PERIOD, "sin(x) + sin(3*x)", None, "exp(-t)*sin(x) + exp(-3**1.5*t)*sin(3*x)"),
        ("u_t = -(-2*lap(u))^0.75", PERIOD, "sin(x)", None, "exp(-2**0.75*t)*sin(x)"),
        (
            "u_t = integral(exp(-20*(x - s)**2)*u(s)) - u",
            PERIOD,
            "sin(x)",
            None,
            "sin(x)*exp((sqrt(pi/20)*exp(-1/80) - 1)*t)",
        ),
        ("u_t = dx(integral(exp(-20*(x - s)**2)*u(s)))", PERIOD, "sin(x)", None, "sin(x + sqrt(pi/20)*exp(-1/80)*t)"),
        ("u_t = u*(1 - integral(u)/(2*pi))", PERIOD, "0.5 + 0*x", None, "1/(1 + exp(-t))"),
        ("u_t = -u*integral(u**2)/pi", PERIOD, "sin(x)", None, "sin(x)/sqrt(1 + 2*t)"),
        ("u_t = cos(t)*mean(u)", PERIOD, "1 + sin(x)", None, "exp(sin(t)) + sin(x)"),
        ("u_tt = u_xx - mean(u)", LINE, "1 + cos(pi*x)", "u_n = 0", "cos(t) + cos(pi*t)*cos(pi*x)"),
    ],
)
def test_closed_forms(equation, domain, initial, boundary, exact):
    velocity = 0 if "u_tt" in equation else None
    problem = Problem(equation, domain, (0, 1), initial, boundary, initial_velocity=velocity, exact=exact)
    solution = solve(problem, tol=1e-7)
    assert solution.verdict.status == "converged"
    assert largest_error(solution) < 1e-7
    assert solution.residuals.pde["u"] < 1e-4


@pytest.fixture(scope="module")
def phases():
    equation = "u_t = 0.01*u_xx + u - u**3 - mean(u - u**3)"
    return solve(Problem(equation, LINE, (0, 2), "0.3 + 0.5*cos(pi*x)", "u_n = 0"), tol=1e-7)


def test_mass_is_conserved(phases):
    x, weights = np.polynomial.legendre.leggauss(60)
    mass = [weights @ phases((x + 1) / 2, t) / 2 for t in (0.0, 0.7, 2.0)]
    assert mass == pytest.approx([0.3] * 3, abs=1e-9)


def test_nonlocal_solutions_are_stored(phases, tmp_path):
    phases.save(tmp_path / "phases.fpinn")
    x = np.linspace(0, 1, 7)
    assert load(tmp_path / "phases.fpinn")(x, 0.7) == pytest.approx(phases(x, 0.7), abs=1e-9)


def test_jacobians_are_exact():
    problem = Problem(
        ["u_t = u_xx - u*mean(v*u**2)", "v_t = v_xx + integral(exp(-(x - s)**2)*u(s)**2)*v"],
        LINE,
        (0, 0.1),
        ["1 + x**2*(1 - x)**2", "1"],
        ["u_n = 0", "v_n = 0"],
    )
    system = solve(problem, settings=Settings(width=20)).system
    rng = np.random.default_rng(0)
    y, direction = system.initial_state + 0.01 * rng.normal(size=system.size), rng.normal(size=system.size)
    difference = (system.rhs(0.05, y + 1e-6 * direction) - system.rhs(0.05, y - 1e-6 * direction)) / 2e-6
    for jacobian in (system.jacobian(0.05, y), system.jacobian_operator(0.05, y)):
        assert jacobian @ direction == pytest.approx(difference, abs=1e-6 * np.abs(difference).max())


def test_nonlocal_terms_on_shapes():
    equation = "u_t = lap(u) - mean(u)"
    problem = Problem(equation, Disk(), (0, 0.5), "1", "u_n = 0", exact="exp(-t)")
    assert largest_error(solve(problem, tol=1e-5)) < 1e-5
    box = Box([0, 0], [2 * np.pi, 2 * np.pi], periodic=True)
    problem = Problem("u_t = -fraclap(u, 0.5)", box, (0, 1), "sin(x + y)", exact="exp(-sqrt(2)*t)*sin(x + y)")
    assert largest_error(solve(problem, tol=1e-3)) < 1e-3


# ---- fields without space --------------------------------------------------------------------------


def test_fields_without_space():
    problem = Problem(
        ["u_t = u_xx", "w_t = integral(u) - w"],
        LINE,
        (0, 1),
        {"u": "1 + cos(pi*x)", "w": 0},
        "u_n = 0",
        exact={"u": "1 + exp(-pi**2*t)*cos(pi*x)", "w": "1 - exp(-t)"},
    )
    assert largest_error(solve(problem, tol=1e-7)) < 1e-7


def test_fields_without_space_in_conditions():
    """A heated end, whose temperature follows the mean, against collocation at Chebyshev points."""
    problem = Problem(
        ["u_t = u_xx", "w_t = integral(u) - w"],
        LINE,
        (0, 1),
        {"u": "1 - x**2", "w": 0},
        {"left": "u_n = 0", "right": "u = w"},
    )
    solution = solve(problem, tol=1e-7)
    n = 24
    z = np.cos(np.pi * np.arange(n + 1) / n)
    c = np.r_[2.0, np.ones(n - 1), 2.0] * (-1.0) ** np.arange(n + 1)
    d = np.outer(c, 1 / c) / (z[:, None] - z + np.eye(n + 1))
    d, x = -2 * (d - np.diag(d.sum(axis=1))), (1 - z) / 2
    moments = [1 / (k + 1) for k in range(n + 1)]
    weights = np.linalg.solve(np.polynomial.chebyshev.chebvander(2 * x - 1, n).T, _chebyshev_integrals(n) / 2)
    assert moments[1] == pytest.approx(weights @ x)

    def rates(_, y):
        u = np.r_[0.0, y]
        u[0] = -(d[0, 1:] @ u[1:]) / d[0, 0]
        return np.r_[(d @ d @ u)[1:-1], weights @ u - u[-1]]

    found = solve_ivp(rates, (0, 1), np.r_[(1 - x**2)[1:-1], 0.0], "Radau", rtol=1e-9, atol=1e-11)
    assert solution(0.3, 1.0, field="w") == pytest.approx(found.y[-1, -1], abs=1e-7)
    assert solution(1.0, 1.0, field="u") == pytest.approx(found.y[-1, -1], abs=1e-7)


def _chebyshev_integrals(n):
    """Return the integrals of Chebyshev polynomials over [-1, 1]."""
    return np.array([0.0 if k % 2 else 2 / (1 - k**2) for k in range(n + 1)])


# ---- refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "domain", "words"),
    [
        ("u_t = -fraclap(u, 0.9)", LINE, "'fraclap(u, 0.9)' needs a domain that is periodic along all axes"),
        (
            "u_t = integral(exp(-0.1*(x - s)**2)*u(s))",
            PERIOD,
            "does not decay: half a period away along 'x' it is still",
        ),
        ("u_t = integral(1)", LINE, "'integral(…)' is of the fields, and there is none in it"),
        ("u_t = mean(u*integral(u))", LINE, "contains another nonlocal term; they can't be nested"),
        ("u_t = integral(u, x)", LINE, "'integral' takes 1 argument, got 2"),
        ("u_t = -fraclap(u, 3)", PERIOD, "the power of a fractional Laplacian is a number between 0 and 2, got 3"),
        ("u_t = integral(exp(x*u(s)))", LINE, "is no product of a kernel"),
        ("u_t = mean(exp(-(x - s)**2)*u(s))", LINE, "'mean(…)' has no kernel; write integral(k*u(s))"),
        ("u_t = dt(mean(u))", LINE, "the time derivative of 'mean(u)' is not supported"),
        ("u_t = mean(u_t)", LINE, "'mean(…)' of a time derivative is not supported"),
        ("u_t = (u_xx + u)^0.5", PERIOD, "Write it as (-lap(u))**0.5"),
    ],
)
def test_error_texts(equation, domain, words):
    with pytest.raises(ProblemError) as error:
        Problem(equation, domain, (0, 1), "1", None if domain is PERIOD else "u = 1")
    assert words in str(error.value)


@pytest.mark.parametrize("term", ["(-lap(u))^s", "fraclap(u, s)"])
def test_an_unknown_power_of_a_laplacian_is_no_power_of_a_number(term):
    words = r"fractional Laplacian is a number between 0 and 2, got s, and can't be unknown. Write .* as abs\(…\)\*\*s"
    with pytest.raises(ProblemError, match=words):
        Problem(f"u_t = -{term}", PERIOD, (0, 1), "1", parameters={"s": Unknown(0.7)})


def test_nonlocal_terms_in_conditions_are_refused():
    with pytest.raises(ProblemError, match=r"can't stand in a boundary condition. Give it a field of its own"):
        Problem("u_t = u_xx", LINE, (0, 1), "1", "u_n = -mean(u)")


@pytest.mark.parametrize(
    ("equation", "domain", "exact"),
    [
        ("u_xx - mean(u) = -pi**2*sin(pi*x) - 2/pi", LINE, "sin(pi*x)"),
        ("u_xx = -pi**2*sin(pi*x) - x/pi + integral(x*s*u(s))", LINE, "sin(pi*x)"),
        ("(1 + integral(u_x**2))*u_xx = -pi**2*(1 + pi**2/2)*sin(pi*x)", LINE, "sin(pi*x)"),  # Kirchhoff
        ("lap(u) - integral(u) = -2*pi**2*sin(pi*x)*sin(pi*y) - 4/pi**2", Box([0, 0], [1, 1]), "sin(pi*x)*sin(pi*y)"),
        ("lap(u) - mean(u) = -4 - 1/2", Disk(), "1 - x**2 - y**2"),
    ],
)
def test_static_terms(equation, domain, exact):
    solution = solve(Problem(equation, domain, boundary="u = 0", exact=exact), tol=1e-6)
    assert solution.status == "converged"
    assert solution.error()["rel_l2"] < 1e-9


def test_volterra():
    """The kernel jumps at s = x: each place has nodes of its own."""
    equation = "u_x + u = integral(exp(s - x)*heaviside(x - s)*u(s))"
    solution = solve(Problem(equation, LINE, boundary={"left": "u = 1", "right": Free()}), tol=1e-8)
    x = np.linspace(0, 1, 21)
    assert np.abs(solution(x) - np.exp(-x) * np.cosh(x)).max() < 1e-10


def test_nonlocal_terms_elsewhere():
    static = Problem("u_xx + lam*u = mean(u)", LINE, boundary="u = 1", parameters={"lam": 1.0})
    with pytest.raises(ProblemError, match=r"follow\(\) is for equations without nonlocal terms; 'mean\(u\)' is one"):
        follow(static, "lam", (1, 2))
