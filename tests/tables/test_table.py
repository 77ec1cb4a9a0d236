"""Values on grids and at scattered points as smooth functions."""

import pickle

import numpy as np
import pytest

import frozenpinn as fp

X = np.linspace(0.0, 1.0, 33)
Y = np.linspace(0.0, 2.0, 41)
GRID = np.sin(3 * X)[:, None] * np.cos(Y)[None, :]
PLACES = np.random.default_rng(5).uniform([0, 0], [1, 2], (60, 2)).T


def wave(x, y):
    return np.sin(3 * x) * np.cos(y)


def test_spline_and_its_derivatives():
    table = fp.Table(GRID, x=X, y=Y)
    assert np.abs(table(*PLACES) - wave(*PLACES)).max() < 1e-8
    x, y = PLACES
    assert np.abs(table.derivative(x=1, y=1)(x, y) + 3 * np.cos(3 * x) * np.sin(y)).max() < 1e-5
    assert np.allclose(table.on_grid({"x": x[:3], "y": y[:4]})[1, 2], table(x[1], y[2]), atol=1e-14)
    assert np.isclose(table(x, y[3])[0], table(x[0], y[3]))  # one number beside an array


def test_descending_coordinates_are_turned_around():
    assert np.allclose(fp.Table(GRID[::-1], x=X[::-1], y=Y)(*PLACES), fp.Table(GRID, x=X, y=Y)(*PLACES))


def test_own_error_is_told():
    for n, frequency in [(17, 3.0), (33, 9.0), (65, 30.0)]:
        x = np.linspace(0.0, 1.0, n)
        table = fp.Table(np.sin(frequency * x), x=x)
        fine = np.linspace(0.0, 1.0, 1001)
        error = np.abs(table(fine) - np.sin(frequency * fine)).max()
        assert error / 10 < table.fit.error < 100 * error, (n, frequency)
    assert "not known" in fp.Table([0.0, 1.0, 0.5], x=[0, 1, 2]).describe()
    rough = fp.Table((X > 0.5) * 1.0, x=X)
    assert rough.fit.error > 0.05


def test_periodic_grids_with_and_without_the_last_value():
    for x in (np.linspace(0, 1, 32, endpoint=False), np.linspace(0, 1, 33)):
        domain = fp.Interval(0, 1, periodic=True)
        problem = fp.Problem("u_t = u_xx", domain, (0, 1), fp.Table(np.sin(2 * np.pi * x), x=x))
        table = problem.given["initial"]
        assert np.isclose(table(0.997), np.sin(2 * np.pi * 0.997), atol=1e-8)
        assert np.isclose(table.derivative(x=1)(0.0), 2 * np.pi, atol=1e-5)


def test_noise_is_smoothed_by_request():
    rng = np.random.default_rng(2)
    noisy = GRID + 0.05 * rng.normal(size=GRID.shape)
    for smooth in (True, 0.05):
        table = fp.Table(noisy, x=X, y=Y, smooth=smooth)
        error = np.sqrt(np.mean((table(*PLACES) - wave(*PLACES)) ** 2))
        assert 0.045 < table.fit.noise < 0.055
        assert error < 0.01
        assert 0.3 < table.fit.error / error < 3
    assert np.abs(fp.Table(noisy, x=X, y=Y)(*PLACES) - wave(*PLACES)).max() > 0.05


def test_scattered_points():
    rng = np.random.default_rng(3)
    points = rng.uniform([0, 0], [1, 2], (300, 2))
    table = fp.Table(wave(*points.T), x=points[:, 0], y=points[:, 1])
    error = np.sqrt(np.mean((table(*PLACES) - wave(*PLACES)) ** 2))
    assert error < 2e-3
    assert error / 3 < table.fit.error < 30 * error
    noisy = fp.Table(wave(*points.T) + 0.05 * rng.normal(size=300), x=points[:, 0], y=points[:, 1], smooth=True)
    error = np.sqrt(np.mean((noisy(*PLACES) - wave(*PLACES)) ** 2))
    assert error < 0.03
    assert 0.3 < noisy.fit.error / error < 3


def test_tables_can_be_pickled():
    table = fp.Table(GRID, x=X, y=Y)
    assert np.array_equal(pickle.loads(pickle.dumps(table))(*PLACES), table(*PLACES))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: fp.Table(GRID, x=X), r"shape \(33, 41\) has 2 dimension\(s\), but 1 coordinate"),
        (lambda: fp.Table(GRID, x=X, y=X), r"'y' has shape \(33,\); the values have 41 entries along it"),
        (lambda: fp.Table(X, x=X[[1, 0, *range(2, 33)]]), r"'x' is not sorted: 0.03125 is followed by 0 at index 1"),
        (lambda: fp.Table(X, x=np.r_[0.0, X[:-1]]), r"'x' is not sorted: 0 is followed by 0 at index 1"),
        (lambda: fp.Table(np.where(X == 0.5, np.nan, X), x=X), r"1 of 33 are not, the first at index 16"),
        (lambda: fp.Table(X, x=np.where(X == 0.5, np.inf, X)), r"the coordinate 'x' must be finite"),
        (lambda: fp.Table(3.0), "at least two values"),
        (lambda: fp.Table("abc"), "must be an array of numbers, got 'abc'"),
        (lambda: fp.Table(X + 1j), "are complex"),
        (lambda: fp.Table(X, x=X, degree=4), "one of '1', '3', '5', got 4"),
        (lambda: fp.Table(X, x=X, smooth=-1), "standard deviation of the noise"),
        (lambda: fp.Table(X, x=X, y=X[:5]), r"33 scattered values need as many places along 'y', got shape \(5,\)"),
        (lambda: fp.Table(np.ones(9), x=np.ones(9), y=np.ones(9)), "at the same point"),
        (lambda: fp.Table(np.ones(4), x=np.arange(4), y=np.arange(4)), "too few in 2 coordinates"),
        (lambda: fp.Table(GRID)(0.5, 0.5), "takes 0 arguments"),
        (lambda: fp.Table(X, x=X).derivative(y=1), "has no coordinate 'y'"),
    ],
)
def test_bad_tables(make, text):
    with pytest.raises(fp.ProblemError, match=text):
        make()
