"""Arrays that can't mean what they seem to: masked, complex, not finite, of the wrong shape. None is misread."""

from datetime import datetime
from fractions import Fraction

import numpy as np
import pytest

import frozenpinn as fp

UNIT = fp.Interval(0, 1)
X = np.linspace(0.0, 1.0, 21)
PEAK = np.ma.array(np.sin(np.pi * X), mask=(X > 0.4) & (X < 0.6))
DATES = np.array([datetime(2026, 1, 1), datetime(2026, 1, 2)], dtype="datetime64[D]")
FITTED = {"equation": "k*u_xx = -1", "domain": UNIT, "boundary": "u = 0", "parameters": {"k": fp.Unknown(1.0)}}


def heat(**changes):
    return fp.Problem(
        **{"equation": "u_t = u_xx", "domain": UNIT, "time": (0, 0.1), "initial": 0, "boundary": "u = 0"} | changes
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: fp.Table(PEAK, x=X),
        lambda: fp.Table(np.sin(X), x=np.ma.array(X, mask=PEAK.mask)),
        lambda: heat(initial=PEAK),
        lambda: heat(initial=PEAK + 0j, equation="u_t = I*u_xx"),
        lambda: heat(equation="u_t = k*u_xx", parameters={"k": PEAK + 2.0}),
        lambda: heat(boundary={"left": fp.Dirichlet(fp.Table(PEAK, t=X)), "right": "u = 0"}),
        lambda: fp.Measurements(X, PEAK),
        lambda: fp.Measurements(np.ma.array(X, mask=PEAK.mask), np.sin(X)),
        lambda: fp.Measurements(X, np.sin(X), noise=np.ma.array(X + 1, mask=PEAK.mask)),
        lambda: fp.Measurements(X, np.sin(X), times=np.ma.array(X, mask=PEAK.mask)),
        lambda: fp.design(fp.Problem(**FITTED), np.ma.array(X, mask=PEAK.mask), 1),
        lambda: fp.Polygon(np.ma.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], mask=[[0, 0], [0, 0], [0, 1]])),
        lambda: fp.Ball(np.ma.array([0.0, 0.0], mask=[0, 1])),
        lambda: UNIT.contains(np.ma.array([[0.5], [0.7]], mask=[[0], [1]])),
        lambda: fp.solve(heat(initial=lambda x: np.ma.masked_greater(x, 0.5))),
        lambda: fp.solve(heat(), tol=1e-3)(PEAK, 0.1),
        lambda: fp.solve(heat(), tol=1e-3)([PEAK, PEAK], 0.1),
        lambda: fp.sweep(heat(), {"initial": ["x", "1-x"]}, points=PEAK.reshape(-1, 1)),
    ],
)
def test_masked_entries_are_refused_with_their_number(call):
    with pytest.raises(fp.FrozenPinnError, match=r"\d+ of \d+ entries are masked\. Fill them, array\.filled"):
        call()


def test_arrays_with_nothing_masked_are_arrays():
    whole = np.ma.array(np.sin(np.pi * X), mask=False)
    assert np.array_equal(fp.Table(whole, x=X).values, whole.data)
    assert len(fp.Measurements(X[~PEAK.mask], PEAK.compressed())) == PEAK.count()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: fp.Measurements(X, np.exp(1j * X)), r"values are complex; measure the real and the imaginary part"),
        (lambda: fp.Measurements(X + 0j, X), "points are complex"),
        (lambda: fp.Measurements([0.1, 0.2], ["1", "2"]), r"values must be numbers, got \['1', '2'\]"),
        (lambda: fp.Measurements([0.1, 0.2], [None, 1.0]), "values must be numbers, got"),
        (lambda: fp.Measurements([0.1, 0.2], DATES), "values must be numbers, got"),
        (lambda: fp.Measurements([0.1, 0.2], [[1.0], [2.0, 3.0]]), "values must be numbers, got"),
        (lambda: fp.Measurements([0.1, 0.2], np.ones((2, 2))), r"values of shape \(2, 2\) are series of 2 points"),
        (lambda: fp.Measurements([0.1, 0.2], [True, False]), "values must be numbers, got"),
        (lambda: fp.Table(["1", "2", "3"], x=(0, 1)), "the values of a table must be an array of numbers"),
        (lambda: fp.Table(DATES, x=(0, 1)), "the values of a table must be an array of numbers"),
        (lambda: fp.Table([1.0, None], x=(0, 1)), "the values of a table must be an array of numbers"),
        (lambda: fp.Table([[1.0], [1.0, 2.0]], x=(0, 1)), "the values of a table must be an array of numbers"),
        (lambda: heat(initial=np.array(["a", "b"])), "must be an array of numbers"),
        (lambda: fp.design(fp.Problem(**FITTED), None, 1), r"points are where candidates are, of shape \(n, d\), got"),
        (
            lambda: heat(equation="u_t = k*u_xx", parameters={"k": np.ma.masked}),
            "parameter 'k' must be a finite number",
        ),
        (lambda: fp.solve(heat(), tol=1e-3)(np.nan, 0.1), "nan"),
    ],
)
def test_what_is_no_array_of_real_numbers_is_refused(call, text):
    with pytest.raises(fp.FrozenPinnError, match=text):
        call()


def test_numbers_of_other_types_are_numbers():
    assert fp.Measurements([Fraction(1, 2)], [Fraction(1, 4)]).values[0] == 0.25
    assert fp.Table(np.array([True, False]), x=(0, 1)).values.tolist() == [1.0, 0.0]


def test_the_parts_of_a_complex_field_are_measured_one_by_one():
    wave = fp.Problem("I*u_t = -k*u_xx", UNIT, (0, 0.1), "sin(pi*x)", "u = 0", parameters={"k": fp.Unknown(0.8)})
    true = np.sin(np.pi * 0.3) * np.exp(-1j * np.pi**2 * np.array([0.05, 0.1])) + 1e-5 * np.array([1 - 1j, -1 + 1j])
    where, times = [0.3, 0.3], [0.05, 0.1]
    found = fp.infer(
        wave,
        [
            fp.Measurements(where, true.real, times, quantity="re(u)", noise=1e-5),
            fp.Measurements(where, true.imag, times, quantity="im(u)", noise=1e-5),
        ],
    )
    assert abs(float(found.parameters["k"]) - 1.0) < 1e-4
