"""Linear evolution at the limit: exact in time, stable over very long times, forced, damped, driven at the boundary."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn_lab.cases import find_case

PI = np.pi
UNIT = fp.Interval(0, 1)
STRING = fp.Interval(0, PI)
SUPPORTED = ["u = 0", "u_xx = 0"]


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


def overdamped():
    return fp.Problem("u_tt = u_xx - 200*u_t + 200", UNIT, (0, 1), 0, fp.Neumann(0), 1, exact="t")


def fast_reaction():
    return fp.Problem("u_t = u_xx - 1000*u + u**2 + 999", UNIT, (0, 1), 1, fp.Neumann(0), exact="1 + 0*x")


@pytest.mark.parametrize(("build", "bound"), [(overdamped, 1e-11), (fast_reaction, 1e-9)])
def test_scales_that_differ_by_orders_of_magnitude(build, bound):
    solution = fp.solve(build())
    for field in solution.problem.fields:
        assert solution.error(field)["rel_l2"] < bound
