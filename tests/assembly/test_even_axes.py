"""What is remembered of axes: found again by value, bounded, and without effect on any answer."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.assembly import even_axes, products
from frozenpinn.assembly.even_axes import SMALL, even_grid, even_layer
from frozenpinn.basis import galerkin
from frozenpinn.integrators import decomposition

MEMORIES = (
    even_axes._grid,
    even_axes._line,
    even_axes.even_layer,
    products._axis_network,
    products._small_product,
    galerkin._with_numbers,
    decomposition._remembered,
)
SETTINGS = fp.Settings(width=(14, 12), subspace=None)


def problem(initial="sin(pi*x)*sin(pi*y)", k=0.1, **named):
    return fp.Problem(
        "u_t = k*lap(u)", fp.Box([0, 0], [1, 1]), (0, 0.5), initial, "u = 0", parameters={"k": k}, **named
    )


def factors(solution):
    return solution.system.spaces[0].network.factors


def test_grids_of_equal_boxes_are_one():
    grid = even_grid(fp.Box([0, 0], [1, 2]), (8, 9), "gauss")
    assert even_grid(fp.Box([0, 0], [1, 2]), (8, 9), "gauss") is grid
    expected = fp.Box([0, 0], [1, 2]).sample([8, 9], "gauss")
    np.testing.assert_array_equal(grid.x, expected.x)
    np.testing.assert_array_equal(grid.along(1).weights, expected.along(1).weights)
    assert even_grid(fp.Box([0, 0], [1, 3]), (8, 9), "gauss") is not grid
    assert even_grid(fp.Box([0, 0], [1, 2], periodic=True), (8, 9), "spectral") is not grid
    with pytest.raises(ValueError, match="read-only"):
        grid.x[0] = 1.0


def test_large_grids_are_not_kept():
    box, counts = fp.Box([0, 0], [1, 1]), (2, SMALL)
    assert even_grid(box, counts, "uniform") is not even_grid(box, counts, "uniform")


def test_neurons_depend_on_the_seed():
    line = even_grid(fp.Box([0, 0], [1, 1]), (8, 8), "gauss").along(0)
    sampler = fp.samplers.Sines(6)
    layer = even_layer(sampler, line, 0)
    assert even_layer(sampler, line, 0) is layer
    assert not np.array_equal(even_layer(sampler, line, 1).weights, layer.weights)


def test_axes_that_are_alike_share_one_network():
    box, initial = fp.Box([0, 0, 0], [1, 1, 2]), "sin(pi*x)*sin(pi*y)*sin(pi*z/2)"
    solution = fp.solve(
        fp.Problem("u_t = lap(u)", box, (0, 0.1), initial, "u = 0"), settings=fp.Settings(width=12, subspace=None)
    )
    first, second, third = solution.system.spaces[0].network.factors
    assert first is second
    assert first is not third


def test_a_sweep_builds_its_axes_once():
    first = fp.solve(problem(), settings=SETTINGS)
    for other in (problem("x*(1-x)*y*(1-y)"), problem(k=0.3)):
        assert factors(fp.solve(other, settings=SETTINGS)) == factors(first)  # the same objects
    free = fp.Problem("u_t = lap(u)", fp.Box([0, 0], [1, 1]), (0, 0.5), "cos(pi*x)", "u_n = 0")
    assert factors(fp.solve(free, settings=SETTINGS)) != factors(first)


def test_what_is_remembered_changes_no_bit():
    for memory in MEMORIES:
        memory.cache_clear()
    cold = fp.solve(problem(), settings=SETTINGS)
    fp.solve(problem(k=0.7), settings=SETTINGS, seed=3)
    warm = fp.solve(problem(), settings=SETTINGS)
    x, t = np.random.default_rng(0).uniform(0, 1, (40, 2)), np.linspace(0, 0.5, 4)
    np.testing.assert_array_equal(warm(*x.T[:, :, None], t), cold(*x.T[:, :, None], t))


def test_memories_are_bounded():
    assert all(memory.cache_parameters()["maxsize"] <= 64 for memory in MEMORIES)


def test_fields_with_the_same_conditions_share_their_axes():
    box = fp.Box([0, 0], [1, 1])
    initial = {"u": "sin(pi*x)*sin(pi*y)", "v": 0}
    both = fp.Problem({"u": "lap(u)", "v": "lap(v)"}, box, (0, 0.1), initial, fp.Dirichlet(0))
    spaces = fp.solve(both, settings=SETTINGS).system.spaces
    assert spaces[0].network.factors == spaces[1].network.factors
