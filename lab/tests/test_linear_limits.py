"""Linear evolution at the limit: exact in time, stable over very long times, forced, damped, driven at the boundary."""

import numpy as np
import pytest
import sympy as sp

import frozenpinn as fp
from frozenpinn_lab.cases import find_case

PI = np.pi
UNIT = fp.Interval(0, 1)
STRING = fp.Interval(0, PI)
SUPPORTED = ["u = 0", "u_xx = 0"]


def coherent_state():
    """A displaced Gaussian swings in a harmonic potential (Schrödinger as real and imaginary part)."""
    phase = "(-t/2 - x*sin(t) + sin(2*t)/4)"
    envelope = "exp(-(x - cos(t))**2/2)"
    return fp.Problem(
        ["u_t = -v_xx/2 + x**2/2*v", "v_t = u_xx/2 - x**2/2*u"],
        fp.Interval(-9, 9),
        (0, 6),
        {"u": "exp(-(x - 1)**2/2)", "v": 0},
        fp.Dirichlet(0),
        exact={"u": f"{envelope}*cos({phase})", "v": f"{envelope}*sin({phase})"},
    )


def moving_source():
    x, t = sp.symbols("x t", real=True)
    u = x * (1 - x) * sp.exp(-4 * (x - sp.Rational(3, 10) - sp.Rational(2, 5) * t) ** 2)
    f = sp.diff(u, t) - sp.diff(u, x, 2)
    return fp.Problem("u_t = u_xx + f", UNIT, (0, 1), u.subs(t, 0), "u = 0", parameters={"f": f}, exact=u)


def driven_wave():
    ends = {"left": "u = -sin(3*t)", "right": "u = sin(3*(1 - t))"}
    return fp.Problem(
        "u_tt = u_xx", UNIT, (0, 4), "sin(3*x)", ends, initial_velocity="-3*cos(3*x)", exact="sin(3*(x - t))"
    )


def oblique_transport():
    u = "sin(2*(x - t))*cos(3*(y - t/2))"
    sides = {"left": f"u = {u}", "bottom": f"u = {u}", "right": fp.Free(), "top": fp.Free()}
    return fp.Problem(
        "u_t + dot([1, 1/2], grad(u)) = 0", fp.Box([0, 0], [1, 1]), (0, 1), "sin(2*x)*cos(3*y)", sides, exact=u
    )


def switched_source():
    def exact(x, t):
        return np.sin(x) * (np.exp(-t) + (1 - np.exp(0.37 - t)) * (t > 0.37))

    return fp.Problem("u_t = u_xx + heaviside(t - 0.37)*sin(x)", STRING, (0, 1), "sin(x)", "u = 0", exact=exact)


def clamped_beam():
    k, s = 4.730040744862704, 0.982502214576238  # cosh k cos k = 1
    shape = "(cosh(k*x) - cos(k*x) - s*(sinh(k*x) - sin(k*x)))"
    return fp.Problem(
        "u_tt + u_xxxx = 0",
        UNIT,
        (0, 0.3),
        shape,
        ["u = 0", "u_x = 0"],
        initial_velocity=0,
        parameters={"k": k, "s": s},
        exact=f"{shape}*cos(k**2*t)",
    )


CASES = {
    "Schrödinger with a potential": (coherent_state, 1e-10),
    "heat with a moving source": (moving_source, 1e-11),
    "wave with driven ends": (driven_wave, 1e-11),
    "oblique transport in 2-d": (oblique_transport, 1e-7),
    "source switched on": (switched_source, 1e-11),
    "clamped beam": (clamped_beam, 1e-8),
    "damped beam": (
        lambda: fp.Problem(
            "u_tt + 0.2*u_t + u_xxxx = 0",
            STRING,
            (0, 5),
            "sin(x)",
            SUPPORTED,
            initial_velocity="-0.1*sin(x)",
            exact="exp(-0.1*t)*cos(sqrt(0.99)*t)*sin(x)",
        ),
        1e-8,
    ),
    "viscoelastic string": (
        lambda: fp.Problem(
            "u_tt = u_xx + 0.1*u_xxt",
            STRING,
            (0, 3),
            "sin(x)",
            "u = 0",
            initial_velocity="-0.05*sin(x)",
            exact="exp(-0.05*t)*cos(sqrt(0.9975)*t)*sin(x)",
        ),
        2e-9,
    ),
    "plate on a box": (
        lambda: fp.Problem(
            "u_tt + biharmonic(u) = 0",
            fp.Box([0, 0], [1, 1]),
            (0, 0.1),
            "sin(pi*x)*sin(pi*y)",
            ["u = 0", "u_nn = 0"],
            initial_velocity=0,
            exact="sin(pi*x)*sin(pi*y)*cos(2*pi**2*t)",
        ),
        5e-9,
    ),
    "diffusivity that depends on time": (
        lambda: fp.Problem(
            "u_t = (1 + sin(5*t)/2)*u_xx",
            STRING,
            (0, 1),
            "sin(2*x)",
            "u = 0",
            exact="sin(2*x)*exp(-4*t - 2*(1 - cos(5*t))/5)",
        ),
        1e-6,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_linear_problem_with_an_exact_solution(name):
    build, bound = CASES[name]
    solution = fp.solve(build())
    for field in solution.problem.fields:
        assert solution.error(field)["rel_l2"] < bound


@pytest.mark.parametrize("case", ["advection", "euler-bernoulli", "euler-bernoulli-winkler", "wave", "wave-multiscale"])
def test_targets_of_the_benchmark_cases(case):
    targets = {"advection": 1e-10, "euler-bernoulli": 1e-10, "euler-bernoulli-winkler": 2e-9, "wave": 5e-9}
    found = find_case(case)
    options = found.options("best", "high", found.variants[0])
    errors = [fp.solve(found.problem(), seed=seed, **options).error()["rel_l2"] for seed in range(3)]
    assert np.mean(errors) < targets.get(case, 1e-8)


def test_energy_over_ten_thousand_periods():
    """The undamped wave keeps its energy to 1e-10 over 10⁴ periods."""
    problem = fp.Problem("u_tt = u_xx", UNIT, (0, 2e4), "sin(pi*x) + sin(3*pi*x)/2", "u = 0", initial_velocity=0)
    solution = fp.solve(problem)
    x, w = np.polynomial.legendre.leggauss(80)
    x, w = (x + 1) / 2, w / 2
    times = np.concatenate([[0.0], np.linspace(1.9e4, 2e4, 37)])
    speed, slope = (solution(x[:, None], times, derivative=d) for d in ("t", "x"))
    energy = w @ (speed**2 + slope**2)
    assert np.max(np.abs(energy / energy[0] - 1)) < 1e-10


def test_dense_output_over_a_million_periods():
    """What is lost is the round-off of the frequency alone: 1e-7 after 10⁶ turns is 1e-14 per unit of phase."""
    problem = fp.Problem("u_t + u_x = 0", fp.Interval(0, 2 * PI, periodic=True), (0, 2e6 * PI), "sin(x)")
    solution = fp.solve(problem)
    x, t = np.linspace(0, 6, 7), 1234567.891
    assert np.allclose(solution(x, t), np.sin(x - t), atol=2e-7)
    assert np.allclose(solution(x, 2e6 * PI), np.sin(x), atol=4e-7)


@pytest.mark.parametrize("diffusivity", [1.0, 1e3, 1e6])
def test_cost_does_not_depend_on_stiffness(diffusivity):
    problem = fp.Problem(
        "u_t = k*u_xx + cos(t)*sin(x)",
        STRING,
        (0, 3),
        0,
        "u = 0",
        parameters={"k": diffusivity},
        exact="sin(x)*(k*cos(t) + sin(t) - k*exp(-k*t))/(k**2 + 1)",
    )
    solution = fp.solve(problem)
    assert solution.error()["rel_l2"] < 1e-11
    assert len(solution.trajectory.starts) == 4  # windows of the interpolation of cos t


def test_symmetry_is_found_not_claimed():
    def structure(equation, boundary, **more):
        problem = fp.Problem(equation, UNIT, (0, 1), "sin(pi*x)", boundary, **more)
        return fp.solve(problem).system.linear.structure

    assert structure("u_t = dx((1 + x)*u_x) - x*u", "u = 0") == "symmetric"
    assert structure("u_t = (1 + x)*u_xx", "u = 0") == "general"
    assert structure("u_tt = -u_xxxx", SUPPORTED, initial_velocity=0) == "symmetric"
    assert structure("u_t = u_xx + u_x", "u = 0") == "split"
    assert structure("u_t = u_xx + x*u_x", "u = 0") == "general"


def weakly_coupled():
    """A coupling of 1e-3 beside a diffusivity of 1e3 must not be taken for round-off of a symmetric operator."""
    return fp.Problem(
        ["v_t = v_xx + u/1000", "u_t = 1000*u_xx"],
        UNIT,
        (0, 1),
        {"u": 1, "v": 0},
        fp.Neumann(0),
        exact={"u": "1 + 0*x", "v": "t/1000"},
    )


def overdamped():
    return fp.Problem("u_tt = u_xx - 200*u_t + 200", UNIT, (0, 1), 0, fp.Neumann(0), 1, exact="t")


def fast_reaction():
    return fp.Problem("u_t = u_xx - 1000*u + u**2 + 999", UNIT, (0, 1), 1, fp.Neumann(0), exact="1 + 0*x")


def rapid_end():
    k = np.sqrt(150)
    u = "exp(-k*x)*sin(300*t - k*x)"
    ends = {"left": fp.Dirichlet(lambda t: np.sin(300 * t)), "right": fp.Dirichlet(u)}
    return fp.Problem("u_t = u_xx", UNIT, (0, 0.2), "-exp(-k*x)*sin(k*x)", ends, parameters={"k": k}, exact=u)


@pytest.mark.parametrize(
    ("build", "bound"), [(weakly_coupled, 1e-5), (overdamped, 1e-11), (fast_reaction, 1e-9), (rapid_end, 1e-9)]
)
def test_scales_that_differ_by_orders_of_magnitude(build, bound):
    solution = fp.solve(build())
    for field in solution.problem.fields:
        assert solution.error(field)["rel_l2"] < bound
