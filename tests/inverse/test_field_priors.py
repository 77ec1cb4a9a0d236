"""What is expected of an unknown field before anything is measured: Matérn's covariances, in units of the domain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.inverse.field_basis import field_basis, matern, prior_root
from frozenpinn.inverse.rules import InverseRules, Smoothness

DISTANCE = np.linspace(0.0, 3.0, 31)


def _covariance(problem, prior, *points):
    """The covariance of an unknown field at points, without the mean over the domain."""
    basis = field_basis("k", problem, InverseRules().field_width, 0)
    functions = basis.at(np.array(points, dtype=float))[:, 1:] @ prior_root(basis, prior)
    return functions @ functions.T


def _evolution(domain, end, of=None, boundary="u = 0"):
    field = fp.UnknownField(1.0, of=of)
    return fp.Problem("u_t = k*u_xx", domain, (0, end), 0, boundary, parameters={"k": field})


@pytest.mark.parametrize(
    ("order", "factor"),
    [(1, lambda s: 1 + s), (2, lambda s: 1 + s + s**2 / 3), (3, lambda s: 1 + s + 2 * s**2 / 5 + s**3 / 15)],
)
def test_closed_forms_of_the_covariance(order, factor):
    s = np.sqrt(2 * order + 1) * DISTANCE
    assert matern(DISTANCE, order) == pytest.approx(factor(s) * np.exp(-s), rel=1e-13)


@given(order=st.integers(0, 6), length=st.floats(0.05, 5.0))
def test_covariances_are_positive_and_fall_with_the_distance(order, length):
    values = matern(DISTANCE / length, order)
    assert values[0] == pytest.approx(1.0)
    assert np.all(np.diff(values) < 0)
    x = np.linspace(0, 1, 12)
    assert np.linalg.eigvalsh(matern(np.abs(x[:, None] - x) / length, order))[0] > -1e-12


@pytest.mark.parametrize("order", [1, 3])
def test_increments_are_those_of_the_covariance_everywhere(order):
    """The mean over the domain is free, so that increments tell: E (f(x) − f(y))² = 2 − 2k, also at the ends."""
    prior, places = Smoothness(order, 0.5), np.array([0.0, 0.1, 0.45, 0.6, 1.0])
    found = _covariance(_evolution(fp.Interval(0, 1), 1.0), prior, *places[:, None])
    size = np.diag(found)
    expected = 2 - 2 * matern(np.abs(places[:, None] - places) / 0.5, order)
    assert size[:, None] + size - 2 * found == pytest.approx(expected, abs=0.02)


def test_fields_on_periodic_domains_are_periodic():
    problem = fp.Problem(
        "u_t = k*u_xx", fp.Interval(0, 2, periodic=True), (0, 1), "sin(pi*x)", parameters={"k": fp.UnknownField(1.0)}
    )
    found = _covariance(problem, Smoothness(3, 0.5), [0.0], [2.0], [1.0])
    assert found[0, 0] + found[1, 1] - 2 * found[0, 1] < 1e-6  # of f(2) − f(0)
    assert found[0, 0] + found[2, 2] - 2 * found[0, 2] > 0.1  # of f(1) − f(0)


def test_units_of_time_do_not_matter():
    short, long = (
        _covariance(_evolution(fp.Interval(0, 1), end, ("x", "t")), Smoothness(3, 0.25), *points)
        for end, points in [(1.0, [(0.2, 0.3), (0.7, 0.9)]), (1000.0, [(0.2, 300.0), (0.7, 900.0)])]
    )
    assert long == pytest.approx(short, abs=1e-4)
