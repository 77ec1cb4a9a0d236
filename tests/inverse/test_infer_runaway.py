"""Data that no value explains: what runs away is not told as a fit."""

import warnings

import numpy as np
import pytest

import frozenpinn as fp

RNG = np.random.default_rng(0)
X, T = RNG.uniform(0.05, 0.95, 40), RNG.uniform(0.05, 1.0, 40)
U = np.exp(-0.1 * np.pi**2 * T) * np.sin(np.pi * X)
NOISE = RNG.standard_normal(40)
GROSS = np.zeros(40)
GROSS[::5] = -50.0
STATIC = X * (1 - X) / 4


def heat(**parameters):
    given = parameters or {"k": fp.Unknown(0.2)}
    return fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters=given)


def static(unknown):
    return fp.Problem("div(k*grad(u)) = -1", fp.Interval(0, 1), boundary="u = 0", parameters={"k": unknown})


def refused(problem, data, message, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.FrozenPinnWarning)
        with pytest.raises(fp.ConvergenceError, match=message):
            fp.infer(problem, data, **options)


def test_outliers_that_push_a_number_to_infinity():
    refused(
        heat(),
        fp.Measurements(X, U + 0.01 * NOISE + GROSS, times=T),
        r"data push 'k' to infinity: the fit went to .*, and beyond, at .*, it is as bad. Look for outliers, give the "
        r"noise, or bounds: Unknown\(0.2, lower=…, upper=…\)",
        starts=0,
    )


def test_outliers_in_new_data_are_refused_too():
    found = fp.infer(static(fp.Unknown(1.0)), fp.Measurements(X, STATIC + 1e-3 * NOISE))
    assert found.parameters["k"].value == pytest.approx(2.0, rel=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.FrozenPinnWarning)
        with pytest.raises(fp.ConvergenceError, match="data push 'k' to infinity"):
            found.again(fp.Measurements(X, STATIC + GROSS))


def test_noise_alone_is_fitted_by_infinity():
    refused(
        static(fp.Unknown(1.0)), fp.Measurements(X, 1e-3 * NOISE), "to infinity: the fit went to .*, it is as bad. Look"
    )
    refused(
        static(fp.Unknown(1.0)), fp.Measurements(X, 0 * X, noise=1e-3), "and beyond, at .* and .*, it is as good. Look"
    )


def test_a_bound_keeps_it():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problem, data = heat(k=fp.Unknown(0.2, upper=3.0)), fp.Measurements(X, U + GROSS, times=T)
        found = fp.infer(problem, data, starts=0)
    assert found.parameters["k"].value == pytest.approx(3.0)
    assert any("'k' lies at its upper bound 3: no value between the bounds fits" in str(w.message) for w in caught)


def test_large_numbers_that_the_data_hold_are_told():
    """A source whose start is zero may be of any size, and its bar may be wide: nothing is nonlinear."""
    problem = fp.Problem("u_xx = -s", fp.Interval(0, 1), boundary="u = 0", parameters={"s": fp.Unknown(0.0)})
    found = fp.infer(problem, fp.Measurements(X, 3e9 * X * (1 - X) / 2 + 1e9 * NOISE, noise=1e9))
    estimate = found.parameters["s"]
    assert estimate.low < 3e9 < estimate.high
    assert estimate.std > 0.1 * estimate.value


def test_an_interval_without_an_end_is_told():
    """What has cooled down to the noise tells that the conductivity is large, but not how large."""
    data = fp.Measurements([0.5], [0.02], times=[0.5], noise=0.05)
    with pytest.warns(
        fp.FrozenPinnWarning, match=r"values of 'k' above 1\..* fit the data as well: its interval is open"
    ):
        fp.infer(heat(k=fp.Unknown(0.2, lower=0.0)), data)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("noise", [None, 1e-3])
def test_fields_that_run_away(positive, noise):
    """Heat flows downhill: a source that cools where it heats asks for an infinite conductivity."""
    refused(
        static(fp.UnknownField(1.0, positive=positive)),
        fp.Measurements(X, -STATIC + 1e-3 * NOISE, noise=noise),
        "data push the mean of k to .*, and are not explained there|no values fit the data: the fit went to the mean",
    )


def test_a_field_that_leaves_most_of_the_data_is_told():
    problem = fp.Problem(
        "u_t = 0.1*u_xx + s", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"s": fp.UnknownField()}
    )
    with pytest.warns(
        fp.FrozenPinnWarning, match="the fit leaves .* of data that vary by .*: they are mostly noise, or"
    ):
        fp.infer(problem, fp.Measurements(X, U + 5.0 * NOISE, times=T))
