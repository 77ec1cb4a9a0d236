"""Convergence is asserted: error against width, cut-off, tolerance and step, with fitted rates."""

import numpy as np
import pytest

import frozenpinn as fp


def advection():
    return fp.Problem(
        "u_t + 10*u_x = 0", fp.Interval(0, 2 * np.pi, periodic=True), (0, 1), "exp(sin(x))", exact="exp(sin(x - 10*t))"
    )


def heat_2d():
    return fp.Problem(
        "u_t = lap(u)",
        fp.Box([0, 0], [1, 1]),
        (0, 0.05),
        "sin(pi*x)*sin(2*pi*y)",
        "u = 0",
        exact="exp(-5*pi**2*t)*sin(pi*x)*sin(2*pi*y)",
    )


def errors(problem, seeds=(0, 1, 2), **settings):
    values = [fp.solve(problem, seed=seed, settings=fp.Settings(**settings)).error()["rel_l2"] for seed in seeds]
    return float(np.exp(np.mean(np.log(values))))


def test_error_decays_exponentially_with_width():
    problem, widths = advection(), np.array([16, 20, 24, 28, 32])
    measured = [errors(problem, width=int(w), points=120) for w in widths]
    rate = np.polyfit(widths, np.log10(measured), 1)[0]
    assert rate < -0.2  # more than one digit for every five neurons
    assert measured[-1] < 1e-7


def test_error_stays_flat_at_round_off():
    assert errors(advection(), width=100, points=200) < 1e-10
    assert errors(advection(), width=200, points=400) < 1e-10


def test_error_decays_with_width_in_two_dimensions():
    problem, widths = heat_2d(), np.array([10, 14, 18, 22])
    measured = [errors(problem, seeds=(0, 1), width=int(w)) for w in widths]
    assert np.polyfit(widths, np.log10(measured), 1)[0] < -0.2
    assert measured[-1] < 1e-5


def test_error_decays_with_the_cutoff():
    problem, cutoffs = advection(), np.array([1e-3, 1e-5, 1e-7, 1e-9, 1e-11])
    measured = [errors(problem, width=100, points=200, cutoff=float(c)) for c in cutoffs]
    order = np.polyfit(np.log10(cutoffs), np.log10(measured), 1)[0]
    assert order == pytest.approx(1.0, abs=0.35)  # the error follows the cut-off proportionally


@pytest.mark.parametrize(("method", "factor"), [("cvode", 300), ("dop853", 300), ("radau", 300), ("lsoda", 300)])
def test_error_follows_the_tolerance(method, factor):
    problem = fp.Problem(
        "u_t = u_xx + u - u**3 + f",
        fp.Interval(0, np.pi),
        (0, 1),
        "sin(x)",
        "u = 0",
        parameters={"f": "-exp(-t)*sin(x) + exp(-3*t)*sin(x)**3"},
        exact="exp(-t)*sin(x)",
    )
    for tol in (1e-3, 1e-5, 1e-7):
        solution = fp.solve(
            problem, settings=fp.Settings(width=30, points=60, cutoff=1e-8, integrator=method, rtol=tol)
        )
        assert solution.error()["rel_l2"] < factor * tol
