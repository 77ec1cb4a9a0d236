"""What users are told about data and unknowns that do not fit together: each has a message of its own."""

import warnings

import numpy as np
import pytest

import frozenpinn as fp

RNG = np.random.default_rng(0)
X, T = RNG.uniform(0.05, 0.95, 30), RNG.uniform(0.05, 1.0, 30)
U = np.exp(-0.1 * np.pi**2 * T) * np.sin(np.pi * X)
NOISE = RNG.standard_normal(30)


def heat(equation="u_t = k*u_xx", **parameters):
    given = parameters or {"k": fp.Unknown(0.2)}
    return fp.Problem(equation, fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters=given)


def static(equation, **parameters):
    return fp.Problem(equation, fp.Interval(0, 1), boundary="u = 0", parameters=parameters)


def data(x=X, values=U, times=T, **options):
    return fp.Measurements(x, values, times=times, **options)


def told(problem, measured, **options):
    """Return the warnings of an inference."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = fp.infer(problem, measured, **options)
    return found, " | ".join(str(w.message) for w in caught)


@pytest.mark.parametrize(
    ("problem", "measured", "message"),
    [
        (
            heat(),
            lambda: data([0.5, 1.5], [1, 1], [0.1, 0.2]),
            r"1 of 2 measurements lie outside the domain .* at \(1.5\)",
        ),
        (
            heat(),
            lambda: data([0.5, 0.6], [1, 1], [0.1, 1.2]),
            "1 of 2 measurements lie outside the time 0 … 1, .* t = 1.2",
        ),
        (
            heat(),
            lambda: data([0.5, 0.6], [1, np.nan], [0.1, 0.2]),
            "values must be finite; 1 of them are not, .* index 1",
        ),
        (heat(), lambda: data([0.5, np.nan], [1, 1], [0.1, 0.2]), "points must be finite; 1 of them are not"),
        (heat(), lambda: data([0.5], [1], [0.1]), "can't tell 1 unknown.* and the noise, .* at least 2 are needed"),
        (
            heat("u_t = k*u_xx + s", k=fp.Unknown(0.2), s=fp.Unknown(1.0)),
            lambda: data([0.5], [1], [0.1], noise=0.1),
            r"1 measurement\(s\) can't tell 2 unknown\(s\) apart; at least 2 are needed",
        ),
        (heat(k=0.1, q=fp.Unknown(1.0)), data, "the unknown 'q' does not appear in the equations, the boundary"),
        (heat(k=0.1, q=fp.UnknownField(1.0)), data, "the unknown 'q' does not appear in the equations, the boundary"),
        (heat(), lambda: data([0.3, 0.5], [0.8, 1.0], [0.0, 0.0]), "measurements do not depend on 'k', so nothing can"),
        (
            static("u_xx = -s", s=fp.UnknownField(1.0)),
            lambda: fp.Measurements([0.0, 1.0], [0.0, 0.0], noise=0.1),
            "measurements do not depend on 'the mean of s'",
        ),
        (
            static("u_xx = -(s + q)", s=fp.Unknown(1.0), q=fp.Unknown(1.0)),
            lambda: fp.Measurements(X, X * (1 - X) / 2, noise=0.01),
            "can't tell 's', 'q' apart: they do not change along the direction 1·s - 1·q. Measure something else",
        ),
        (
            heat("u_t = c*d*u_xx", c=fp.Unknown(0.2), d=fp.Unknown(1.0)),
            lambda: data(noise=0.01),
            "can't tell 'c', 'd' apart: they do not change along the direction",
        ),
        (
            static("u_xx + lam*exp(u) = 0", lam=fp.Unknown(10.0)),
            lambda: fp.Measurements([0.3, 0.5], [0.1, 0.14], noise=0.01),
            "no solution at the start of the unknowns, lam = 10: .* Start elsewhere",
        ),
        (heat(), lambda: [], "takes Measurements or a list of them, got an empty list"),
    ],
)
def test_refused(problem, measured, message):
    with pytest.raises(fp.FrozenPinnError, match=message):
        fp.infer(problem, measured())


def test_evolutions_that_blow_up_at_every_start():
    problem = heat("u_t = 0.1*u_xx + k*u**2", k=fp.Unknown(50.0, 45.0, 55.0))
    with pytest.raises(
        fp.ConvergenceError, match=r"no solution at the start of the unknowns, k = 50: .* Start elsewhere"
    ):
        fp.infer(problem, data(noise=0.01), starts=0)


def test_starts_are_counted():
    with pytest.raises(fp.SettingsError, match="starts is how many other starts are tried, from 0 to 100000; got -3"):
        fp.infer(heat(), data(), starts=-3)


@pytest.mark.parametrize("noise", [1e-3, None])
def test_bounds_that_exclude_every_fit(noise):
    found, text = told(heat(k=fp.Unknown(0.5, 0.3, 0.9)), data(values=U + 1e-3 * NOISE, noise=noise), starts=0)
    assert found.parameters["k"].at_bound == "lower"
    assert "'k' lies at its lower bound 0.3: no value between the bounds fits the data. Widen the bounds." in text


def test_bounds_that_exclude_the_best_fit():
    _, text = told(heat(k=fp.Unknown(0.15, 0.102, 0.9)), data(values=U + 1e-3 * NOISE))
    assert "'k' lies at its lower bound 0.102: the data ask for a value beyond it. Widen the bounds." in text


def test_noise_that_does_not_fit():
    _, small = told(heat(), data(values=U + 1e-2 * NOISE, noise=1e-3))
    assert "times as large as given, or the equation does not describe the data" in small
    _, large = told(heat(), data(values=U + 1e-3 * NOISE, noise=5e-2))
    assert "times smaller than given, so the error bars are too wide. Give a smaller noise=" in large


def test_a_start_where_the_equation_is_ill_posed_is_left_behind():
    found, text = told(heat(k=fp.Unknown(-0.2)), data(values=U + 1e-2 * NOISE, noise=1e-2))
    assert found.parameters["k"].low < 0.1 < found.parameters["k"].high
    assert not text


def test_a_time_limit_ends_an_inference():
    problem = fp.Problem(
        "u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": fp.Unknown(0.2)}
    )
    data = fp.Measurements([0.5, 0.5], [0.61, 0.37], times=[0.5, 1.0], noise=0.01)
    with pytest.raises(fp.BudgetError, match=r"the time limit of 1e-06 s was over during: .*\. Give more time"):
        fp.infer(problem, data, time_limit=1e-6)
    with pytest.raises(fp.SettingsError, match="time_limit is a positive number of seconds, got 0"):
        fp.infer(problem, data, time_limit=0)
    np.testing.assert_array_equal(fp.infer(problem, data, time_limit=600).values, fp.infer(problem, data).values)
