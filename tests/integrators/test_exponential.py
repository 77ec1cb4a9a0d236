"""Exponential collocation: exact in the linear part, a convergent iteration in the rest."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.evolution.integrator_choice import choose_integrator
from frozenpinn.integrators import SciPy

STRING = fp.Interval(0, np.pi)


def reaction(rate=1.0):
    """u = e^{-t} sin x solves u_t = u_xx + r (u − u³) + f."""
    return fp.Problem(
        "u_t = u_xx + r*(u - u**3) + f",
        STRING,
        (0, 1),
        "sin(x)",
        "u = 0",
        parameters={"r": rate, "f": "-r*(exp(-t)*sin(x) - exp(-3*t)*sin(x)**3)"},
        exact="exp(-t)*sin(x)",
    )


def sine_gordon_breather():
    u = "4*atan(sin(t/2**0.5)/cosh(x/2**0.5))"
    domain = fp.Interval(-20, 20)
    return fp.Problem("u_tt = u_xx - sin(u)", domain, (0, 10), 0, "u = 0", "4/2**0.5/cosh(x/2**0.5)", exact=u)


def damped_cubic():
    u = "exp(-t/10)*cos(t)*sin(x)"
    f = f"-sin(x)*exp(-t/10)*(cos(t)*0.01) + ({u})**3"
    return fp.Problem(
        "u_tt + 0.2*u_t = u_xx - u**3 + f",
        STRING,
        (0, 5),
        "sin(x)",
        "u = 0",
        "-sin(x)/10",
        parameters={"f": f},
        exact=u,
    )


def schroedinger_soliton():
    return fp.Problem(
        ["u_t = -v_xx/2 - (u**2 + v**2)*v", "v_t = u_xx/2 + (u**2 + v**2)*u"],
        fp.Interval(-12, 12, periodic=True),
        (0, 1),
        {"u": "sech(x)", "v": 0},
        exact={"u": "sech(x)*cos(t/2)", "v": "sech(x)*sin(t/2)"},
    )


@pytest.mark.filterwarnings("ignore:the initial data contradict:frozenpinn.FrozenPinnWarning")
@pytest.mark.parametrize(
    ("build", "bound"),
    [
        (reaction, 1e-10),
        (lambda: reaction(30.0), 5e-8),
        (damped_cubic, 1e-10),
        (sine_gordon_breather, 1e-5),
        (schroedinger_soliton, 1e-4),
    ],
    ids=["reaction", "fast reaction", "damped wave", "sine-Gordon", "Schrödinger"],
)
def test_nonlinear_problems_with_exact_solutions(build, bound):
    solution = fp.solve(build(), settings=fp.Settings(integrator="exponential", rtol=1e-9))
    assert solution.integrator == "exponential"
    for field in solution.problem.fields:
        assert solution.error(field)["rel_l2"] < bound


def test_it_agrees_with_cvode_and_takes_far_fewer_windows_than_steps():
    problem = fp.Problem("u_t + u*u_x = 0.05*u_xx", fp.Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0")
    by_windows = fp.solve(problem, settings=fp.Settings(integrator="exponential", rtol=1e-9, windows=None))
    by_steps = fp.solve(problem, settings=fp.Settings(integrator="cvode", rtol=1e-9, windows=None))
    x, t = np.linspace(-1, 1, 41)[:, None], np.linspace(0, 1, 11)
    assert np.allclose(by_windows(x, t), by_steps(x, t), atol=1e-7)
    assert by_windows.trajectory.steps < 0.1 * by_steps.trajectory.steps


def test_coefficients_that_depend_on_time():
    problem = fp.Problem(
        "u_t = (1 + sin(5*t)/2)*u_xx",
        STRING,
        (0, 1),
        "sin(2*x)",
        "u = 0",
        exact="sin(2*x)*exp(-4*t - 2*(1 - cos(5*t))/5)",
    )
    solution = fp.solve(problem)
    assert solution.integrator == "exponential"
    assert solution.error()["rel_l2"] < 1e-10


@pytest.mark.parametrize("tol", [1e-4, 1e-6, 1e-8])
def test_the_error_follows_the_tolerance(tol):
    assert fp.solve(reaction(), settings=fp.Settings(integrator="exponential", rtol=tol)).error()["rel_l2"] < tol


def test_rates_and_values_of_the_trajectory_fit_together():
    solution = fp.solve(reaction(), settings=fp.Settings(integrator="exponential"))
    times, h = np.array([0.11, 0.5, 0.93]), 1e-4
    difference = (solution.trajectory(times + h) - solution.trajectory(times - h)) / (2 * h)
    assert np.allclose(solution.trajectory.rates(times), difference, atol=1e-6)
    assert np.max(np.abs(solution.trajectory(np.array([0.0]))[0] - solution.system.initial_state)) < 1e-9


def test_an_operator_without_good_eigenvectors_is_refused():
    problem = fp.Problem("u_t = u_xx/100 + u_x - u**3", STRING, (0, 1), "sin(x)", "u = 0")
    with pytest.raises(fp.SettingsError, match="well-conditioned eigenvectors; use integrator='cvode'"):
        fp.solve(problem, settings=fp.Settings(integrator="exponential"))


def test_blow_up_is_told_and_keeps_what_was_computed():
    problem = fp.Problem("u_t = 0.01*u_xx + u**2", fp.Interval(0, 1, periodic=True), (0, 2), "1 + 0*x")
    with pytest.raises(fp.IntegrationError, match="exponential stopped at t = ") as caught:
        fp.solve(problem, settings=fp.Settings(width=20, integrator="exponential", windows=None))
    assert 0.9 < caught.value.time <= 1.01
    assert np.all(np.isfinite(caught.value.trajectory(np.array([0.5]))))


def test_a_fallback_puts_its_own_name_on_the_result():
    problem = fp.Problem("u_t = 0.01*u_xx + u**2", fp.Interval(0, 1, periodic=True), (0, 2), "1 + 0*x")
    with pytest.raises(fp.IntegrationError, match=r"cvode-bdf stopped at t = (1|0\.99)"):
        fp.solve(
            problem,
            settings=fp.Settings(
                width=20,
                integrator=fp.integrators.ExponentialCollocation(1e-8, fallback=fp.integrators.CVODE(1e-8)),
                windows=None,
            ),
        )


def test_nonlinearities_on_a_symmetric_operator_are_left_to_multistep_methods():
    problem = fp.Problem("u_t + 100*u*u_x = 0.5*u_xx", fp.Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0")
    points = problem.domain.sample(400)
    space = fp.stages.build_space(problem, fp.samplers.MultiScale(200).sample(points, 0), points, cutoff=1e-9)
    assert choose_integrator(fp.stages.discretise(problem, space), None, 1e-8) == fp.integrators.ETD(
        1e-8, fallback=fp.integrators.CVODE(1e-8, fallback=SciPy("radau", 1e-8))
    )
