"""Unknown fields: accuracy without noise, bands that contain the truth with it, and what is said about them."""

import numpy as np
import pytest

import frozenpinn as fp

X = np.linspace(0.01, 0.99, 60)
GRID = np.linspace(0, 1, 101)


def gamma(x):
    return 5.0 + 2.0 * np.sin(3.0 * x)


def problem(positive=False, start=4.0):
    """u'' − γu = f with u = 1 + x², where γ = 5 + 2 sin 3x."""
    given = {"gamma": fp.UnknownField(start, positive=positive), "f": "2 - (5 + 2*sin(3*x))*(1 + x**2)"}
    return fp.Problem("u_xx - gamma*u = f", fp.Interval(0, 1), boundary="u = 1 + x**2", parameters=given)


@pytest.fixture(scope="module")
def noisy():
    values = 1 + X**2 + 1e-3 * np.random.default_rng(4).standard_normal(60)
    return fp.infer(problem(), fp.Measurements(X, values, noise=1e-3))


@pytest.mark.parametrize("positive", [False, True])
def test_exact_data_give_the_field(positive):
    found = fp.infer(problem(positive), fp.Measurements(X, 1 + X**2))
    assert found.field("gamma")(GRID) == pytest.approx(gamma(GRID), rel=1e-4)
    assert found.solution(0.3) == pytest.approx(1.09, rel=1e-8)


def test_noise_gives_bands_that_contain_the_truth(noisy):
    values, deviations = noisy.field("gamma")(GRID, std=True)
    low, high = noisy.field("gamma").band(GRID)
    assert np.mean((low <= gamma(GRID)) & (gamma(GRID) <= high)) > 0.9
    assert np.linalg.norm(values - gamma(GRID)) < 0.1 * np.linalg.norm(gamma(GRID))
    assert np.all(deviations < 2.0)
    assert 0.5 < noisy.misfit < 1.6


def test_samples_spread_as_the_band_says(noisy):
    drawn = noisy.field("gamma").sample(2000, [0.5], seed=3)
    assert drawn.shape == (2000, 1)
    assert np.std(drawn) == pytest.approx(noisy.field("gamma")(0.5, std=True)[1], rel=0.1)


def test_the_report_tells_effective_degrees_of_freedom(noisy):
    assert "gamma: a field with" in noisy.report
    assert 1 < noisy.field("gamma").effective < 20


def test_new_data_on_the_same_network(noisy):
    values = 1 + X**2 + 1e-3 * np.random.default_rng(5).standard_normal(60)
    again = noisy.again(fp.Measurements(X, values, noise=1e-3))
    assert set(again.seconds) == {"steps from the old fit"}
    assert again.field("gamma")(0.5) == pytest.approx(gamma(0.5), rel=0.1)


def test_a_field_may_be_measured_itself():
    some = np.linspace(0, 1, 15)
    data = [
        fp.Measurements(X, 1 + X**2, noise=0.05),
        fp.Measurements(some, gamma(some), field="gamma", noise=1e-3),
    ]
    with pytest.warns(fp.FrozenPinnWarning, match="smaller than given"):
        found = fp.infer(problem(positive=True), data)
    assert found.field("gamma")(GRID) == pytest.approx(gamma(GRID), rel=1e-2)


def test_a_number_beside_a_field():
    given = {"gamma": fp.UnknownField(1.0), "s": fp.Unknown(1.0), "g": "1 + x**2"}
    stated = fp.Problem("u_xx - s*u = gamma", fp.Interval(0, 1), boundary="u = g", parameters=given)
    some = np.linspace(0, 1, 25)
    data = [
        fp.Measurements(X, 1 + X**2, noise=1e-6),
        fp.Measurements(some, 2 - 3 * (1 + some**2), field="gamma", noise=1e-6),
    ]
    with pytest.warns(fp.FrozenPinnWarning, match="smaller than given"):
        found = fp.infer(stated, data)
    assert float(found.parameters["s"]) == pytest.approx(3.0, rel=1e-3)


def test_what_is_refused(noisy):
    with pytest.raises(fp.EvaluationError, match=r"'gama' is no unknown field; they are 'gamma'. Did you mean"):
        noisy.field("gama")
    with pytest.raises(fp.EvaluationError, match=r"the field 'gamma' takes 1 coordinate\(s\), x; got 2"):
        noisy.field("gamma")(0.1, 0.2)
    with pytest.raises(fp.EvaluationError, match="is known inside"):
        noisy.field("gamma")(1.5)
    with pytest.raises(fp.ProblemError, match="'k' is a function of 'z'; it may be one of 't', 'x'"):
        fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), 0, "u = 0", parameters={"k": fp.UnknownField(1, of="z")})
    with pytest.raises(fp.ProblemError, match=r"of= of an UnknownField is 't', 'x' or \('x', 't'\), got 3"):
        fp.UnknownField(of=3)


def test_sensors_are_chosen_where_they_tell_most():
    given = {"a": fp.Unknown(1.0), "b": fp.Unknown(1.0)}
    stated = fp.Problem("u_xx = -a - b*x", fp.Interval(0, 1), boundary="u = 0", parameters=given)
    found = fp.design(stated, np.linspace(0.05, 0.95, 19), 3, noise=0.01)
    assert sorted(found.points[:2, 0])[0] < 0.5 < sorted(found.points[:2, 0])[1]
    assert np.all(np.diff(found.deviations[1:], axis=0) < 0)
    assert np.all(found.deviations[-1] > found.with_all)
    assert "3 sensors" in str(found)
    with pytest.raises(fp.SettingsError, match="count must lie between 1 and the number of candidates, 2; got 3"):
        fp.design(stated, [0.1, 0.2], 3)
