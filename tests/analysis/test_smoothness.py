"""Jumps, noise and corners are told apart, and nothing smooth is taken for one of them."""

import time
import warnings

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_smoothing_spline

import frozenpinn as fp
from frozenpinn.analysis.smoothness import Line, classify, roughness
from frozenpinn.analysis.wellposedness import examine

LINE = fp.Interval(0, 1)
RING = fp.Interval(0, 1, periodic=True)


def of(function):
    return classify(Line(function, lambda s: f"{s:.6g}"))


def noisy(samples, level=0.05, seed=0):
    x = np.linspace(0, 1, samples)
    return x, np.sin(2 * np.pi * x) + level * np.random.default_rng(seed).normal(size=samples)


def stated(initial=0, equation="u_t = u_xx", domain=LINE, boundary="u = 0", **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fp.Problem(equation, domain, (0, 1), initial, boundary, **more)


@pytest.mark.parametrize(
    "function",
    [
        lambda s: 0 * s + 3.0,
        lambda s: 1e6 + 3.3 * s,
        lambda s: 1e-9 * np.sin(2 * np.pi * s),
        lambda s: np.sin(200 * np.pi * s),
        lambda s: np.sin(2000 * np.pi * s),
        lambda s: np.tanh((s - 0.4) / 1e-2),
        lambda s: np.tanh((s - 0.4) / 1e-4),
        lambda s: np.tanh((s - 0.4) / 1e-6),
        lambda s: np.exp(-(((s - 0.3003) / 1e-4) ** 2)),
        lambda s: np.sin(2 * np.pi * s).astype(np.float32),
        lambda s: np.sin(s) + 1e-8 * np.cos(1e9 * s),
        CubicSpline(*noisy(300)),
        make_smoothing_spline(*noisy(300)),
    ],
)
def test_smooth_however_narrow(function):
    assert of(function) is None


@pytest.mark.parametrize(
    ("function", "where", "before", "after"),
    [
        (lambda s: np.where(s > 0.3, 1.0, 0.0), 0.3, 0, 1),
        (lambda s: 1e9 * np.sign(s - 0.123456), 0.123456, -1e9, 1e9),
        (lambda s: np.sin(s) + 1e-4 * (s > 0.7), 0.7, np.sin(0.7), np.sin(0.7) + 1e-4),
        (lambda s: (7 * s) % 1.0, 1 / 7, 1, 0),
    ],
)
def test_jumps_are_located(function, where, before, after):
    found = of(function)
    assert found.kind == "jump"
    assert float(found.where) == pytest.approx(where, abs=1e-6)
    assert (found.before, found.after) == pytest.approx((before, after), abs=2e-5 * max(1, abs(after)))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_noise_of_every_kind(scale):
    rng = np.random.default_rng(1)
    white = of(lambda s: scale * (np.sin(s) + 0.01 * rng.normal(size=len(s))))
    assert white.kind == "noise"
    assert white.level == pytest.approx(0.01 / np.sin(1), rel=0.1)
    for samples in (200, 1000):
        x, y = noisy(samples)
        assert of(lambda s, x=x, y=y: scale * np.interp(s, x, y)).kind == "noise"
        assert of(lambda s, y=y, n=samples: scale * y[np.round(s * (n - 1)).astype(int)]).kind == "noise"


@pytest.mark.parametrize(
    ("function", "where"),
    [(lambda s: np.abs(s - 0.3), 0.3), (lambda s: np.maximum(0, 1 - 10 * np.abs(s - 0.5)), 0.5), (np.sqrt, 0.0)],
)
def test_corners_are_no_jumps(function, where):
    found = of(function)
    assert found.kind == "corner"
    assert float(found.where) == pytest.approx(where, abs=1e-5)


# ---- texts -----------------------------------------------------------------------------------------


def test_a_jump_is_told_with_its_place_and_a_smooth_replacement():
    problem = stated(lambda x: np.where(x > 0.25, 1.0, 0.0))
    with pytest.warns(fp.FrozenPinnWarning, match=r"the initial value of u jumps from 0 to 1 at x = 0.25: .*tanh"):
        fp.check(problem)


def test_a_step_whose_front_is_known_is_only_a_note():
    (finding,) = [f for f in roughness(stated("heaviside(x - 0.25)")) if f.kind == "jump"]
    assert finding.severity == "note"
    assert "jumps at x = 0.25: what spreads from there is known" in finding.text


def test_noise_is_told_with_its_level_and_a_remedy():
    samples, values = noisy(500)
    problem = stated(lambda x: np.interp(x, samples, values))
    with pytest.warns(fp.FrozenPinnWarning, match=r"noisy, by about 0.0\d+ of its size.*smooth=True"):
        fp.check(problem)


def test_a_corner_is_only_a_note():
    problem = stated("1/2 - abs(x - 1/2)")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fp.check(problem)
    (finding,) = roughness(problem)
    assert (finding.kind, finding.severity) == ("corner", "note")
    assert "at x = 0.5" in finding.text


def test_forcing_and_boundary_data_are_looked_at():
    (finding,) = roughness(stated(equation="u_t = u_xx + heaviside(x - 0.75)*sin(t)"))
    assert "the forcing of u jumps from 0" in finding.text
    assert "x = 0.75" in finding.text
    switch = fp.Dirichlet(lambda t: np.where(t > 0.5, 2.0, 0.0))
    (finding,) = roughness(stated(boundary={"left": switch, "right": "u = 0"}))
    assert "on side 'left' jumps from 0 to 2 at t = 0.5" in finding.text


def test_data_that_are_not_periodic():
    ring = fp.Interval(0, 1, periodic=True)
    (finding,) = roughness(stated("x", "u_t + u_x = 0", ring, None))
    assert "is 0 at one end of the periodic axis 'x' and 1 at the other" in finding.text
    assert not roughness(stated("sin(2*pi*x)", "u_t + u_x = 0", ring, None))


@pytest.mark.parametrize("domain", [fp.Box([0, 0], [1, 1]), fp.Ball([0.5, 0.5], 0.5)])
def test_lines_through_several_dimensions(domain):
    (finding,) = roughness(stated(lambda x, y: np.where(x + y > 1, 3.0, 1.0), "u_t = lap(u)", domain))
    assert "jumps from" in finding.text
    assert not roughness(stated("exp(x)*tanh(50*(x + y - 1))", "u_t = lap(u)", domain))


@pytest.mark.timing
@pytest.mark.parametrize("size", [5e-324, 1e-323, 1e-320, 1e-312, 2.2e-308, 2.3e-308, 1e-300])
def test_numbers_without_digits_are_neither_rough_nor_contradictory(size):
    """Below 2e-308 numbers have few digits, and smooth data step from one to the next."""
    assert of(lambda s: size * np.sin(np.pi * s)) is None
    given = {"a": size}
    assert not examine(stated("a*sin(pi*x)", parameters=given))
    assert not examine(stated("a*cos(3*x)**2", boundary="u = a*cos(3*x)**2", parameters=given))
    assert not examine(stated("a*sin(2*pi*x + 1)", domain=RING, boundary=None, parameters=given))
    assert not examine(stated("a*sin(pi*x)", parameters=given, exact="a*exp(-pi**2*t)*sin(pi*x)"))


def test_smooth_data_cost_nothing():
    best = 1.0
    for _ in range(5):
        problem = stated("sin(pi*x)*exp(x)")
        started = time.process_time()
        roughness(problem)
        best = min(best, time.process_time() - started)
    assert best < 5e-3
