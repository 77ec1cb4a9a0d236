"""Outer basis functions: families obey their conditions, user functions are fitted, mistakes are named."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.assembly.strategies.outer_basis import FAMILIES
from frozenpinn.basis.hidden import Derivative
from frozenpinn.basis.network import Network

LOWER, UPPER = -1.0, 1.5
VALUE, SLOPE = Derivative((0,)), Derivative((1,))


def applied(basis, width=120):
    points = fp.Interval(LOWER, UPPER).sample(2 * width)
    return basis.apply(Network(fp.samplers.MultiScale(width).sample(points, 0), points), LOWER, UPPER)


def ends(network, derivative):
    low, high = network.evaluate(np.array([[LOWER], [UPPER]]), "u", derivative)
    return low, high


@pytest.mark.parametrize("name", FAMILIES)
def test_the_fit_is_the_family(name):
    network = applied(fp.boundary.OuterBasis(name, 9))
    x = np.linspace(LOWER, UPPER, 101)
    expected = fp.boundary.OuterBasis(name, 9).evaluate(x, LOWER, UPPER)
    np.testing.assert_allclose(network.evaluate(x[:, None], "u", VALUE)[:, :9], expected, atol=1e-7)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_orthogonal_and_has_the_constant_if_it_complies(name):
    network = applied(fp.boundary.OuterBasis(name, 8))
    assert network.size == 8 + (name != "sine")
    basis = network.evaluate(network.points.x, "u", VALUE)
    gram = basis.T @ (network.points.weights[:, None] * basis) / (UPPER - LOWER)
    expected = np.diag([0.5] * 8 + [1.0] * (network.size - 8))
    np.testing.assert_allclose(gram, expected, atol=1e-8)


def test_fourier_functions_are_periodic():
    network = applied(fp.boundary.OuterBasis("fourier", 10))
    for derivative, tolerance in ((VALUE, 1e-7), (SLOPE, 1e-4)):
        low, high = ends(network, derivative)
        np.testing.assert_allclose(low, high, atol=tolerance)


def test_sines_vanish_at_the_ends():
    for values in ends(applied(fp.boundary.OuterBasis("sine", 10)), VALUE):
        np.testing.assert_allclose(values, 0, atol=1e-7)


def test_cosines_have_no_slope_at_the_ends():
    for slopes in ends(applied(fp.boundary.OuterBasis("cosine", 10)), SLOPE):
        np.testing.assert_allclose(slopes, 0, atol=1e-4)


def test_functions_of_the_user():
    functions = [lambda x: (x - LOWER) * (UPPER - x), lambda x: 3.0, np.cos]
    network = applied(fp.boundary.OuterBasis(functions))
    assert network.size == 3
    x = np.linspace(LOWER, UPPER, 33)
    expected = np.stack([(x - LOWER) * (UPPER - x), np.full(33, 3.0), np.cos(x)], axis=1)
    np.testing.assert_allclose(network.evaluate(x[:, None], "u", VALUE), expected, atol=1e-8)


@pytest.mark.parametrize("cutoff", [None, "auto", 1e-8])
def test_heat_equation_in_sines(cutoff):
    problem = fp.Problem(
        "u_t = u_xx", fp.Interval(0, np.pi), (0, 1), "sin(x) - 2*sin(3*x)", "u = 0",
        exact="exp(-t)*sin(x) - 2*exp(-9*t)*sin(3*x)",
    )  # fmt: skip
    solution = fp.solve(
        problem, settings=fp.Settings(width=80, boundary=fp.boundary.OuterBasis("sine", 6), cutoff=cutoff)
    )
    assert solution.system.size == 6
    assert solution.error()["rel_l2"] < 1e-7


def test_advection_in_fourier_functions():
    domain = fp.Interval(0, 2 * np.pi, periodic=True)
    problem = fp.Problem("u_t + 3*u_x = 0", domain, (0, 1), "sin(2*x)", exact="sin(2*(x - 3*t))")
    assert fp.solve(problem, settings=fp.Settings(width=100, boundary="outer-basis")).error()["rel_l2"] < 1e-6


def test_unknown_family_lists_the_known_ones():
    with pytest.raises(fp.SettingsError, match=r"unknown outer basis 'bessel'; choose one of 'cosine', 'fourier', 's"):
        fp.boundary.OuterBasis("bessel")


def test_at_least_one_function():
    with pytest.raises(fp.SettingsError, match="an outer basis needs at least one function, got count=0"):
        fp.boundary.OuterBasis("sine", count=0)


def test_an_empty_list_of_functions_is_a_settings_error():
    with pytest.raises(fp.SettingsError, match="an outer basis needs at least one function"):
        applied(fp.boundary.OuterBasis([]), 10)


def test_only_in_one_dimension():
    problem = fp.Problem("u_t = lap(u)", fp.Box([0, 0], [1, 1]), (0, 1), 0, "u = 0")
    with pytest.raises(fp.SettingsError, match="outer basis functions are available in one dimension"):
        fp.solve(problem, settings=fp.Settings(width=20, boundary=fp.boundary.OuterBasis("sine")))


def test_only_for_homogeneous_conditions():
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), 1, "u = 1")
    message = r"outer basis functions need homogeneous conditions, but 'u = 1' on side 'left' is not"
    with pytest.raises(fp.SettingsError, match=message):
        fp.solve(problem, settings=fp.Settings(width=20, boundary=fp.boundary.OuterBasis("sine")))


@pytest.mark.parametrize("family", ["cosine", "fourier"])
def test_a_family_that_breaks_the_conditions_is_refused(family):
    """sin² is in both families, but they do not keep it at zero: the answer would be that of another problem."""
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 1), "sin(x)**2", "u = 0")
    with pytest.raises(fp.SettingsError, match="'u = 0'"):
        fp.solve(problem, settings=fp.Settings(width=80, boundary=fp.boundary.OuterBasis(family)))
