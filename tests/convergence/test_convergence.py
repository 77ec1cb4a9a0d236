"""Convergence of each kind: error against width, axis, cut-off, tolerance and noise, with fitted rates."""

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
    tolerances = np.array([1e-3, 1e-5, 1e-7])
    settings = [fp.Settings(width=30, points=60, cutoff=1e-8, integrator=method, rtol=tol) for tol in tolerances]
    measured = np.array([fp.solve(problem, settings=s).error()["rel_l2"] for s in settings])
    assert np.all(measured < factor * tolerances)
    assert np.polyfit(np.log10(tolerances), np.log10(measured), 1)[0] > 0.4


COARSE = pytest.mark.filterwarnings("ignore::frozenpinn.FrozenPinnWarning")  # too narrow on purpose


@COARSE
def test_the_coarse_axis_of_a_product_decides():
    measured = [errors(heat_2d(), seeds=(0, 1), width=(22, w)) for w in (8, 12, 16, 20)]
    assert np.polyfit((8, 12, 16, 20), np.log10(measured), 1)[0] < -0.2
    few, many = (errors(heat_2d(), seeds=(0, 1), width=(6, w)) for w in (20, 28))
    assert few == pytest.approx(many, rel=0.1)
    assert few > 10 * measured[-1]


@COARSE
@pytest.mark.parametrize(
    ("equation", "domain", "exact", "widths", "bound"),
    [
        ("lap(u) = 0", fp.Disk(), "exp(x)*sin(y)", (20, 40, 60, 80), 1e-6),
        ("lap(u) = 0", fp.Box([0, 0], [1, 1]), "exp(x)*sin(y)", (6, 9, 12, 15), 3e-3),
        ("u_xx + u**3 = -9*sin(3*x) + sin(3*x)**3", fp.Interval(0, 1), "sin(3*x)", (4, 6, 8, 10), 1e-7),
    ],
    ids=["disk", "product", "nonlinear"],
)
def test_error_of_static_problems_decays_with_width(equation, domain, exact, widths, bound):
    problem = fp.Problem(equation, domain, boundary=f"u = {exact}", exact=exact)
    measured = [errors(problem, seeds=(0, 1), width=w) for w in widths]
    slope = np.polyfit(np.array(widths) / widths[-1], np.log10(measured), 1)[0]
    assert slope < -2  # digits gained up to the last width
    assert measured[-1] < bound


def test_error_of_eigenvalues_decays_with_width():
    problem = fp.Problem("-u_xx = lam*u", fp.Interval(0, 1), boundary="u = 0", parameters={"lam": fp.Eigenvalue()})
    exact, measured = np.pi**2 * np.array([1.0, 4.0, 9.0]), []
    for width in (8, 12, 16):
        found = fp.modes(problem, 3, settings=fp.Settings(width=width)).values
        measured.append(np.max(np.abs(np.asarray(found) / exact - 1)))
    assert measured[0] > 1e3 * measured[1] > 1e5 * measured[2]
    assert measured[2] < 1e-11


def test_error_and_error_bar_of_inference_follow_the_noise():
    problem = fp.Problem(
        "u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": fp.Unknown(0.2)}
    )
    x, t, noise = np.linspace(0.1, 0.9, 20), np.full(20, 0.5), np.array([1e-2, 1e-3, 1e-4, 1e-5])
    exact, chance = np.exp(-0.05 * np.pi**2) * np.sin(np.pi * x), np.random.default_rng(3).standard_normal(20)
    data = [fp.Measurements(x, exact + size * chance, times=t, noise=size) for size in noise]
    found = [fp.infer(problem, measured).parameters["k"] for measured in data]
    for quantity in ([abs(k.value - 0.1) for k in found], [k.std for k in found]):
        assert np.polyfit(np.log10(noise), np.log10(quantity), 1)[0] == pytest.approx(1.0, abs=0.02)
    assert all(abs(k.value - 0.1) < 3 * k.std for k in found)
