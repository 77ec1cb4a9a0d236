"""Discretisations that never write their matrices out, and derivatives by parameters."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.assembly.products import build_product_spaces
from frozenpinn.operators import Dense

SQUARE = fp.Box([0, 0], [1, 1])
REACTION = fp.Problem("u_t = 0.05*lap(u) + x*u_y/5 + u - u**3", SQUARE, (0, 0.5), "x*(1 - x)*sin(2*pi*y)", "u = 0")
PAIR = fp.Problem(
    {"u": "0.05*lap(u) - v", "v": "0.02*lap(v) + u"},
    SQUARE,
    (0, 0.5),
    {"u": "sin(pi*x)*sin(2*pi*y)", "v": 0},
    fp.Dirichlet(0),
)
pytestmark = pytest.mark.filterwarnings("ignore::frozenpinn.errors.ResolutionWarning")  # few neurons are enough here


@pytest.mark.parametrize("problem", [REACTION, PAIR], ids=["one field", "two fields"])
@pytest.mark.parametrize("solver", ["krylov", "dense"])
def test_products_are_solved_without_a_matrix(problem, solver):
    usual = fp.solve(problem, settings=fp.Settings(width=14, subspace=None, rtol=1e-9))
    cvode = fp.integrators.CVODE(1e-10, linear_solver=solver)
    other = fp.solve(problem, settings=fp.Settings(width=14, subspace=None, integrator=cvode))
    assert not isinstance(usual.system.linear.position, Dense)
    x, t = np.random.default_rng(0).uniform(size=(20, 2)), np.linspace(0, 0.5, 5)
    for field in problem.fields:
        found, expected = (s(*x.T[:, :, None], t, field=field) for s in (usual, other))
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_the_preconditioner_is_the_linear_part_in_its_modes():
    problem = fp.Problem("u_t = 30*lap(u) + 10*u - u**3", SQUARE, (0, 0.1), "sin(pi*x)*sin(pi*y)", "u = 0")
    points = SQUARE.sample([30, 30])
    layers = [fp.samplers.MultiScale(20).sample(SQUARE.axis(i).sample(30), i) for i in range(2)]
    space = build_product_spaces(problem, layers, points, 1e-4)
    system = fp.stages.discretise(problem, space)
    dense, free = (fp.integrators.CVODE(1e-8, linear_solver=name).integrate(system) for name in ("dense", "krylov"))
    times = np.linspace(0, 0.1, 7)
    np.testing.assert_allclose(free(times), dense(times), atol=1e-7)


@pytest.mark.parametrize(
    "problem",
    [
        REACTION,
        PAIR,
        fp.Problem("u_tt = u_xx - u_t*u**2", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", initial_velocity=0),
        fp.Problem("u_t = u_xx + x*u_x", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0"),
    ],
    ids=["box", "system", "second order", "linear"],
)
def test_products_with_the_jacobian_are_those_of_the_matrix(problem):
    system = fp.solve(problem, settings=fp.Settings(width=12, cutoff=1e-4, subspace=None, windows=None)).system
    rng = np.random.default_rng(0)
    y, direction = rng.normal(size=(2, system.size))
    expected = system.jacobian(0.1, y) @ direction
    np.testing.assert_allclose(
        system.jacobian_operator(0.1, y) @ direction, expected, atol=1e-10 * np.abs(expected).max()
    )


def test_unknown_linear_solvers_are_refused():
    with pytest.raises(
        fp.SettingsError, match="unknown linear solver 'lu' of CVODE; choose 'auto', 'dense' or 'krylov'"
    ):
        fp.integrators.CVODE(linear_solver="lu")
