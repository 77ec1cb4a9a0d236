"""Products of static solves are judged on a grid of unseen places as other functions are at scattered ones."""

from dataclasses import replace

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.runtime.memo import Same
from frozenpinn.static.judging import held_out_residual
from frozenpinn.static.products import held_out_grid, left_on_grid
from frozenpinn.static.start import SolutionStart

BOX = fp.Box([0, -1], [1, 0.5])
PROBLEMS = [
    fp.Problem("lap(u) - u^3 = x*y", BOX, boundary="u = x + y^2"),
    fp.Problem(
        "lap(u) + u_x*u - u = sin(3*x)",
        BOX,
        boundary={"left": "u = y", "right": "u_x = 0", "bottom": "u = -1", "top": "u_y = 1"},
    ),
    fp.Problem(["lap(u) - v = 1", "lap(v) - u*v = x"], BOX, boundary=["u = 0", "v = y"]),
]


def both(problem, width):
    solution = fp.solve(problem, settings=fp.Settings(width=(width, width)), seed=3)
    piece = solution.pieces[0]
    on_grid = left_on_grid(problem, piece.system.spaces, piece.trajectory.state)
    return solution, on_grid, held_out_residual(problem, SolutionStart(solution.jet_values))


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("width", [10, 16])
def test_grids_and_scattered_places_tell_the_same(problem, width):
    solution, on_grid, scattered = both(problem, width)
    assert solution.facts.left == on_grid
    assert scattered / 8 < on_grid < 8 * scattered


@pytest.mark.parametrize("problem", PROBLEMS)
def test_values_on_the_grid_are_those_of_the_solution(problem):
    solution, *_ = both(problem, 10)
    grid, piece = held_out_grid(problem, 100), solution.pieces[0]
    x = grid.places.inside
    assert len(x) == 100
    assert problem.domain.contains(x).all()
    network, data = piece.system.spaces[0].network, piece.system.spaces[0].data
    state = piece.trajectory.state[: network.size]
    lifted = data(0.0) if network.lift_size else None
    value, mixed, laplacian = network.on_axes(grid.axes, [((0, 0), 0), ((1, 1), 0), ((0, 0), 1)], state, lifted)
    place = grid.parts[Same(x)]
    field = problem.jets.field("u")
    for found, jet in ((value, field), (mixed, replace(field, alpha=(1, 1))), (laplacian, replace(field, laps=1))):
        wanted = solution.jet_values(x, np.zeros(1), jet)[:, 0]
        assert found[place].ravel() == pytest.approx(wanted, rel=1e-9, abs=1e-9 * np.max(np.abs(wanted)))
