"""Mathematical properties that must hold for any admissible input (Hypothesis)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frozenpinn as fp

FEW = settings(max_examples=15)


@FEW
@given(shift=st.floats(-3, 3), speed=st.floats(-5, 5), seed=st.integers(0, 1000))
def test_shifted_problem_has_the_shifted_solution(shift, speed, seed):
    domain = fp.Interval(0, 2 * np.pi, periodic=True)
    parameters = {"a": shift, "b": speed}
    equation = "u_t + b*u_x = 0.05*u_xx"
    plain = fp.solve(fp.Problem(equation, domain, (0, 1), "exp(cos(x))", parameters=parameters), seed=seed)
    moved = fp.solve(fp.Problem(equation, domain, (0, 1), "exp(cos(x - a))", parameters=parameters), seed=seed)
    x = np.linspace(0, 2 * np.pi, 50)
    assert np.allclose(moved(x, 1.0), plain(x - shift, 1.0), atol=1e-9)


@FEW
@given(a=st.floats(-3, 3), b=st.floats(-3, 3))
def test_linear_problems_superpose(a, b):
    def solve(initial):
        problem = fp.Problem(
            "u_t = u_xx + x*u", fp.Interval(0, 1), (0, 0.2), initial, "u = 0", parameters={"a": a, "b": b}
        )
        return fp.solve(problem, settings=fp.Settings(width=60))

    x = np.linspace(0, 1, 30)
    first, second = solve("sin(pi*x)"), solve("x*(1 - x)")
    both = solve("a*sin(pi*x) + b*x*(1 - x)")
    assert np.allclose(both(x, 0.2), a * first(x, 0.2) + b * second(x, 0.2), atol=1e-9)


@FEW
@given(lower=st.floats(-100, 100), length=st.floats(0.01, 1000), duration=st.floats(0.01, 100))
def test_units_do_not_matter(lower, length, duration):
    """The same heat problem in other units of space and time has the same relative error."""
    parameters = {"a": lower, "L": length, "T": duration}
    problem = fp.Problem(
        "u_t = L**2/T/10*u_xx",
        fp.Interval(lower, lower + length),
        (0, duration),
        "sin(pi*(x - a)/L)",
        "u = 0",
        parameters=parameters,
        exact="exp(-pi**2*t/T/10)*sin(pi*(x - a)/L)",
    )
    assert fp.solve(problem, settings=fp.Settings(width=80)).error()["rel_l2"] < 1e-9


@pytest.mark.parametrize("derivative", ["x", "xx", "xxx", "t", "xt"])
def test_derivatives_agree_with_differences(derivative):
    problem = fp.Problem("u_t + u*u_x = 0.1*u_xx", fp.Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0")
    solution = fp.solve(problem)
    x, t, h = np.linspace(-0.9, 0.9, 17), 0.4, 2e-3
    lower, last = derivative[:-1], derivative[-1]
    weights = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}  # sixth order
    difference = sum(
        w * solution(x + k * h * (last == "x"), t + k * h * (last == "t"), derivative=lower) for k, w in weights.items()
    )
    exact = solution(x, t, derivative=derivative)
    assert np.allclose(difference / h, exact, rtol=1e-5, atol=1e-6 * np.max(np.abs(exact)))


@FEW
@given(seed=st.integers(0, 2**31))
def test_same_seed_same_solution_bit_for_bit(seed):
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0")
    first, second = (fp.solve(problem, settings=fp.Settings(width=40), seed=seed) for _ in range(2))
    x = np.linspace(0, 1, 11)
    assert np.array_equal(first(x, 0.3), second(x, 0.3))


def test_mass_is_conserved_under_zero_flux():
    problem = fp.Problem("u_t = dx((1 + x)*u_x)", fp.Interval(0, 1), (0, 2), "exp(cos(2*pi*x))", fp.Neumann(0))
    solution = fp.solve(problem)
    x, w = np.polynomial.legendre.leggauss(200)
    mass = [w @ solution((x + 1) / 2, t) / 2 for t in (0.0, 0.5, 2.0)]
    assert np.allclose(mass, mass[0], rtol=1e-9)
    assert np.allclose(solution(x / 2 + 0.5, 2.0), mass[0], rtol=1e-3)


def test_energy_of_the_wave_is_conserved():
    problem = fp.Problem("u_tt = u_xx", fp.Interval(0, 1), (0, 50), "sin(pi*x)**3", "u = 0", initial_velocity=0)
    solution = fp.solve(problem)
    x, w = np.polynomial.legendre.leggauss(120)
    x, w = (x + 1) / 2, w / 2
    energy = [w @ (solution(x, t, derivative="t") ** 2 + solution(x, t, derivative="x") ** 2) for t in (0.0, 7.3, 50.0)]
    assert np.allclose(energy, energy[0], rtol=1e-9)
