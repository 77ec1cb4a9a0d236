"""The paper's two inverse algorithms, as public objects, and what they refuse."""

import numpy as np
import pytest

import frozenpinn as fp

DATA = fp.Measurements([0.25, 0.5, 0.75], [0.046875, 0.0625, 0.046875])


def rod(k):
    return fp.Problem("k*u_xx = -1", fp.Interval(0, 1), boundary="u = 0", parameters={"k": k})


def test_a_scan_finds_a_number_between_its_values():
    guess = fp.inverse.Scan(count=6, width=40, points=100)(rod(fp.Unknown(1.0, 0.5, 4.0)), DATA)
    assert guess.numbers["k"] == pytest.approx(2.0, rel=1e-3)


REFUSED = [
    (lambda: fp.inverse.Scan(count=2), fp.SettingsError, "a scan needs at least three values, got count=2"),
    (lambda: fp.inverse.Scan(count=5.5), fp.SettingsError, "a scan needs at least three values, got count=5.5"),
    (lambda: fp.inverse.Scan(points=1), fp.SettingsError, "needs at least two points, got points=1"),
    (lambda: fp.inverse.Scan(width=0), fp.SettingsError, "width must be a positive whole number of neurons, got 0"),
    (lambda: fp.inverse.Alternating(boundary_points=0), fp.SettingsError, "at least one point .* boundary_points=0"),
    (lambda: fp.inverse.Alternating(weight=-1), fp.SettingsError, "weight is a positive number, got -1"),
    (lambda: fp.inverse.Scan()(rod(fp.Unknown(1.0)), DATA), fp.ProblemError, "a scan needs both bounds of 'k'"),
    (lambda: fp.inverse.Scan()(rod(fp.UnknownField(1.0)), DATA), fp.ProblemError, "Scan looks for one number"),
    (lambda: fp.inverse.Alternating(sweeps=0), fp.SettingsError, "at least one sweep, got sweeps=0"),
    (lambda: fp.inverse.Alternating()(rod(fp.Unknown(1.0)), DATA), fp.ProblemError, "Alternating looks for one field"),
    (lambda: fp.inverse.Alternating()(rod(fp.UnknownField(1.0)), DATA), fp.ProblemError, "needs the parameter 'f'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_alternating_fits_a_field():
    problem = fp.Problem(
        "lap(u) - c*u = f", fp.Box([0, 0], [1, 1]), boundary="u = g",
        parameters={"c": fp.UnknownField(2.0), "f": "-(2*pi**2 + 1)*sin(pi*x)*sin(pi*y)", "g": "0"},
    )  # fmt: skip
    x = problem.domain.sample(200, "random", 0).x
    data = fp.Measurements(x, np.prod(np.sin(np.pi * x), axis=1))
    guess = fp.inverse.Alternating(width=100, boundary_points=80)(problem, data)
    assert np.max(np.abs(guess.function(np.array([[0.4, 0.6], [0.5, 0.5]])) - 1)) < 0.1
