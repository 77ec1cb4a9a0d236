"""Solves that stop at an event: its time against closed forms, states, and messages."""

import re
import warnings

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import j1, jn_zeros

import frozenpinn as fp

RATE = 3 - 0.1 * np.pi**2  # the solution is ½ sin πx exp(RATE t)
DOUBLED = np.log(2) / RATE


@pytest.fixture(scope="module")
def growth():
    return fp.Problem(
        "u_t = 0.1*u_xx + r*u", fp.Interval(0, 1), (0, 2), "0.5*sin(pi*x)", "u = 0", parameters={"r": 3.0}
    )


def falls(t):
    """Return the value at the centre of a disk that starts with 1 − r², less one half."""
    zeros = jn_zeros(0, 40)
    return float(np.sum(8 / (zeros**3 * j1(zeros)) * np.exp(-(zeros**2) * t))) - 0.5


EVENTS = {
    "max": ("max(u) > 1", DOUBLED),
    "parameters": ("max(u) >= r/3", DOUBLED),
    "integral": ("integral(u^2) > 1", np.log(8) / 2 / RATE),
    "part": ("mean(u, where='x < 0.5') > 1", np.log(np.pi) / RATE),
    "flux": ("integral(u_n, side='right') < -pi", DOUBLED),
    "value": ("value(u, x=0.5) > 1", DOUBLED),
    "function": (lambda t, state: state(0.5) - 1, DOUBLED),
    "integral of a state": (lambda t, state: state.integral("u^2") - 1, np.log(8) / 2 / RATE),
}


@pytest.mark.parametrize("name", EVENTS)
def test_events_of_a_closed_form(growth, name):
    stop, exact = EVENTS[name]
    solution = fp.solve(growth, tol=1e-7, stop=stop, progress=False)
    assert solution.status == "converged"
    assert abs(solution.event - exact) <= solution.event.error < 1e-7
    assert solution.problem.time == (0.0, pytest.approx(exact, abs=1e-7))
    assert solution(0.5, solution.problem.time[1]) == pytest.approx(0.5 * np.exp(RATE * exact), rel=1e-6)


def test_without_a_tolerance(growth):
    solution = fp.solve(growth, stop="max(u) > 1")
    assert solution.event == pytest.approx(DOUBLED, abs=1e-6)
    assert np.isnan(solution.event.error)
    with pytest.raises(fp.EvaluationError, match="lies outside"):
        solution(0.5, 1.0)


def test_what_would_break_down_later():
    blow_up = fp.Problem("u_t = u^2", fp.Interval(0, 1), (0, 2), 1, fp.Free())
    solution = fp.solve(blow_up, tol=1e-6, stop="max(u) > 50", progress=False)
    assert solution.event == pytest.approx(0.98, abs=1e-6)
    with pytest.raises(fp.IntegrationError):
        fp.solve(blow_up, stop="min(u) < 0")


def test_what_holds_for_a_moment_only():
    wave = fp.Problem("u_tt = u_xx", fp.Interval(0, 1), (0, 3), "sin(pi*x)", "u = 0", initial_velocity=0)
    solution = fp.solve(wave, tol=1e-8, stop="min(u) < -0.99999", progress=False)
    assert solution.event == pytest.approx(np.arccos(-0.99999) / np.pi, abs=1e-6)


def test_nonlinear_problems_and_shapes():
    fisher = fp.Problem("u_t = u_xx + u*(1 - u)", fp.Interval(0, 1), (0, 9), 0.2, "u_n = 0")
    solution = fp.solve(fisher, tol=1e-6, stop="mean(u) > 0.5", progress=False)
    assert solution.event == pytest.approx(np.log(4), abs=1e-5)
    disk = fp.Problem("u_t = lap(u)", fp.Disk(), (0, 0.5), "1 - x^2 - y^2", "u = 0")
    solution = fp.solve(disk, tol=1e-5, stop="max(u) < 0.5", progress=False)
    assert solution.event == pytest.approx(brentq(falls, 0.01, 0.4, xtol=1e-14), abs=1e-6)


def test_many_dimensions():
    product = "*".join(f"sin(pi*x{k})" for k in range(1, 5))
    cube = fp.Problem("u_t = lap(u)", fp.Box([0] * 4, [1] * 4), (0, 0.05), product, "u = 0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.FrozenPinnWarning)
        solution = fp.solve(cube, stop="max(u) < 0.5", settings=fp.Settings(width=300))
    assert solution.event == pytest.approx(np.log(2) / 4 / np.pi**2, rel=0.2)  # so few neurons


def test_what_never_happens_is_told(growth):
    message = r"'max\(u\) > 100' never holds until t = 2; the largest value of max\(u\) is 28\.\d+, at t = 2\."
    with pytest.warns(fp.FrozenPinnWarning, match=message):
        solution = fp.solve(growth, stop="max(u) > 100")
    assert solution.event is None
    assert solution.problem.time == (0, 2)
    assert any("never holds" in note for note in solution.notes)

    def later(t, state):
        return t - 3

    with pytest.warns(fp.FrozenPinnWarning, match=r"'later' never holds until t = 2\."):
        fp.solve(growth, stop=later)


@pytest.mark.parametrize(
    ("stop", "message"),
    [
        ("max(u) > 0.4", r"holds at the start already, at t = 0: max\(u\) is 0\.5 there"),
        ("mean(u) < 1", r"holds at the start already, at t = 0: mean\(u\) is 0\.31831 there"),
        ("min(u_x) < -1", "holds at the start already"),
        (lambda t, state: 1.0, "holds at the start already, at t = 0"),
        ("u > 1", "compares u, which is no single number; write for example"),
        ("maxx(u) > 1", r"'maxx' is not one of .*Did you mean 'max'\?"),
        ("max(u) > 1 > 0", "is not one comparison"),
        ("max(u)", "is not one comparison"),
        ("max(u) > x", "the right-hand side, x, is no number"),
        ("max([u, u]) > 1", "takes the max of what is no real number"),
        ("value(u, x=0.5, t=1) > 1", "leave t= out"),
        (3, "stop is a condition; write for example"),
        (lambda t, state: "soon", "returns a number, positive where to stop; it returned 'soon'"),
    ],
)
def test_conditions_that_are_refused(growth, stop, message):
    with pytest.raises(fp.SettingsError, match=message):
        fp.solve(growth, stop=stop)


def test_what_has_no_events(growth):
    with pytest.raises(fp.SettingsError, match="stop= is for problems with time"):
        fp.solve(fp.Problem("u_xx = 1", fp.Interval(0, 1), boundary="u = 0"), stop="max(u) > 1")
    with pytest.raises(fp.SettingsError, match="not both"):
        fp.solve(growth, tol=1e-3, stop="max(u) > 1", quantity="integral(u)")
    with pytest.raises(fp.SettingsError, match="takes a Problem"):
        fp.solve(3, stop="max(u) > 1")


def test_states_and_files(growth, tmp_path):
    solution = fp.solve(growth, tol=1e-6, stop="max(u) > 1", progress=False)
    state = solution.at(0.1)
    assert state(0.3) == solution(0.3, 0.1)
    assert state("u_x", 0.3) == solution("u_x", 0.3, 0.1)
    assert state.integral("u") == solution.integral("u", t=0.1)
    assert state.mean("u") == solution.mean("u", t=0.1)
    assert "Moment(t = 0.1 of" in repr(state)
    with pytest.raises(fp.EvaluationError, match="lies outside"):
        solution.at(1.5)
    assert re.search(r"event +it stops at the time of max\(u\) > 1, t = 0\.3443", str(solution.report))
    file = str(tmp_path / "stopped.npz")
    solution.save(file)
    assert fp.load(file).event == solution.event
