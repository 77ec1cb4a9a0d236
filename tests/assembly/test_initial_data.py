"""Initial data on boxes: fitted along the axes where they are sums of products, on the grid where they are not."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.assembly import initial_data
from frozenpinn.assembly.initial_data import fitted

BOX = fp.Box([0, -1], [1, 2])


def solved(initial, boundary="u = 0", **more):
    problem = fp.Problem("u_t = lap(u)", BOX, (0, 0.01), initial, boundary, **more)
    return fp.solve(problem, settings=fp.Settings(width=(24, 28), subspace=None)), problem


def on_the_grid(problem, system):
    """The fit from values at all points of the grid."""
    network = system.spaces[0].network
    return network.projector() @ problem.initial["u"](network.points.x, 0.0)


@pytest.mark.parametrize(
    "initial", ["sin(pi*x)*(1 + y)*(2 - y)", "x*(1 - x)*(y + 1)*(y - 2)*exp(x - y) + sin(2*pi*x)*sin(pi*(y + 1)/3)"]
)
def test_products_give_the_same_fit_as_the_grid(initial, monkeypatch):
    monkeypatch.setattr(initial_data, "on_grid", lambda *a: pytest.fail("values on the grid were computed"))
    solution, problem = solved(initial)
    system = solution.system
    np.testing.assert_allclose(system.initial_state, on_the_grid(problem, system), atol=1e-13)


def test_other_data_are_fitted_on_the_grid():
    solution, problem = solved("x*(1 - x)*(1 + y)*(2 - y)*exp(x*y)")
    np.testing.assert_allclose(solution.system.initial_state, on_the_grid(problem, solution.system), atol=1e-14)


def test_products_that_cancel_are_fitted_on_the_grid():
    network = solved("x*(1 - x)*(1 + y)*(2 - y)")[0].system.spaces[0].network
    tables = [np.stack([np.ones(len(a)), np.ones(len(a))], axis=1) for a in network.points.axes]
    tables[0][:, 1] = -1 + 1e-6
    assert network.projected_products(tables) is None
    tables[0][:, 1] = -0.5
    assert network.projected_products(tables) is not None


def test_data_that_are_lifted_take_the_grid_too():
    solution, problem = solved("1 + sin(pi*x)*(1 + y)*(2 - y)", "u = 1")
    space = solution.system.spaces[0]
    assert space.network.lift_size
    (again,) = fitted(space, space.network.projector(), {0: problem.initial}, 0.0)
    np.testing.assert_array_equal(again, solution.system.initial_state)
    x = BOX.sample(50, "random", 1).x
    np.testing.assert_allclose(solution(x, 0.0), problem.initial["u"](x, 0.0), atol=1e-7)


def test_velocities_are_products_beside_values_that_are_none():
    box = fp.Box([0, 0], [2 * np.pi] * 2, periodic=True)
    values, velocities = "exp(cos(x)*sin(y))", "sin(x)*cos(2*y) - 0.5*cos(x + y)"
    problem = fp.Problem("u_tt = lap(u)", box, (0, 1), values, initial_velocity=velocities)
    solution = fp.solve(problem, settings=fp.Settings(width=(28, 28), subspace=None))
    system = solution.system
    assert [own is None for own in system.initial_products[0]] == [True, True]  # they are looked at together
    x = box.sample(50, "random", 1).x
    np.testing.assert_allclose(solution(x, 0.0), problem.initial["u"](x, 0.0), atol=1e-9)
    np.testing.assert_allclose(solution(x, 0.0, derivative="t"), problem.initial_velocity["u"](x, 0.0), atol=1e-9)
    problem = fp.Problem("u_tt = lap(u)", box, (0, 1), 0, initial_velocity=velocities)
    apart = fp.solve(problem, settings=fp.Settings(width=(28, 28), subspace=None))
    np.testing.assert_allclose(apart(x, 0.0, derivative="t"), problem.initial_velocity["u"](x, 0.0), atol=1e-12)


def test_products_too_large_for_a_float_are_fitted_on_the_grid():
    network = solved("x*(1 - x)*(1 + y)*(2 - y)")[0].system.spaces[0].network
    tables = [np.full((len(a), 1), 1e200) for a in network.points.axes]
    assert network.projected_products(tables) is None
    tables[0][0, 0] = np.inf
    assert network.projected_products(tables) is None


def test_solves_of_one_problem_share_operators():
    problem = fp.Problem("u_t = lap(u) + u_x", BOX, (0, 0.01), "sin(pi*x)*(1 + y)*(2 - y)", "u = 0")
    settings = fp.Settings(width=(12, 14), subspace=None)
    first, second, other = (fp.solve(problem, settings=settings, seed=seed).system for seed in (0, 0, 1))
    assert first is not second
    assert first.linear is second.linear
    assert first.linear is not other.linear
    np.testing.assert_array_equal(first.initial_state, second.initial_state)


@pytest.mark.parametrize("values", ["sin(x)*cos(y) + 0.3*cos(2*x)", "exp(cos(x)*sin(y))"])
def test_norms_of_the_start_without_multiplying_out(values):
    box = fp.Box([0, 0], [2 * np.pi] * 2, periodic=True)
    problem = fp.Problem("u_tt = lap(u)", box, (0, 1), values, initial_velocity="0.5*sin(x - y)")
    system = fp.solve(problem, settings=fp.Settings(width=(28, 28), subspace=None)).system
    assert system.starts_in_products == ("exp" not in values)
    assert ("initial_state" in vars(system)) != system.starts_in_products
    n = system.layout.coefficients
    expected = [np.linalg.norm(system.initial_state[:n]), np.linalg.norm(system.initial_state[n:])]
    np.testing.assert_allclose(system.initial_norms, expected, rtol=1e-12)
