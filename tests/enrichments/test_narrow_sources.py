"""Narrow sources on shapes: formulas, Python functions, tables, and what nonlinear terms make of them."""

import numpy as np
import pytest
import sympy as sp
import xarray as xr

import frozenpinn as fp
from frozenpinn.assembly.collocation import Combination
from frozenpinn.basis.boxed import Axis, BoxFunctions
from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.enrichments.narrow_sources import Continued
from frozenpinn.language.jets import Jet

x, y = sp.symbols("x y", real=True)
PEAK = sp.exp(-200 * ((x - 0.3) ** 2 + (y - 0.2) ** 2))  #: forty times narrower than the disk
SOURCE = sp.lambdify((x, y), PEAK.diff(x, 2) + PEAK.diff(y, 2))


def table():
    axis = np.linspace(-1, 1, 301)
    return xr.DataArray(SOURCE(*np.meshgrid(axis, axis, indexing="ij")), dims=("x", "y"), coords={"x": axis, "y": axis})


@pytest.mark.parametrize("source", [SOURCE, table()], ids=["a function", "a table"])
def test_sources_that_are_no_formulas(source):
    problem = fp.Problem("lap(u) = f", fp.Disk(), boundary="u = g", parameters={"f": source, "g": str(PEAK)})
    solution = fp.solve(problem, tol=1e-5)
    points = fp.Disk().sample(1000, "random", 5).x
    exact = sp.lambdify((x, y), PEAK)(*points.T)
    assert solution.status == "converged"
    assert solution.width < 300
    assert np.linalg.norm(solution(points) - exact) < 1e-5 * np.linalg.norm(exact)


def test_a_semilinear_equation_with_a_peak():
    exact = PEAK + sp.sin(x)
    source = exact.diff(x, 2) + exact.diff(y, 2) - exact**3
    problem = fp.Problem("lap(u) - u**3 = f", fp.Disk(), boundary=f"u = {exact}", parameters={"f": str(source)})
    solution = fp.solve(problem, tol=1e-4)
    points = fp.Disk().sample(1000, "random", 5).x
    values = sp.lambdify((x, y), exact)(*points.T)
    assert "nonlinear sources" in {name for name, _ in solution.decisions}
    assert solution.status == "converged"
    assert solution.width < 300
    assert np.linalg.norm(solution(points) - values) < 1e-6 * np.linalg.norm(values)


def test_a_function_is_continued_beyond_a_shape():
    domain, box = fp.Disk(), fp.Box([-1.4, -1.4], [1.4, 1.4])
    axis = Axis(np.array([3.0]), np.zeros(1), np.zeros(1), np.array([[1.0], [0.0]]))
    detail = BoxFunctions.of([axis, axis], [np.ones((1, 1))])  # sin 3x sin 3y
    hidden = HiddenLayer(np.array([[1.0, 2.0]]), np.zeros((1, 2)), np.zeros(1), "sin", detail)
    state = Combination(hidden, ("u",), np.array([0.7, 0.2, 1.5]))
    problem = fp.Problem("lap(u) = u**2", domain, boundary="u = 0")
    found = Continued.of(state, problem, box)
    inside = domain.sample(200, "random", 3).x
    jets = [Jet("u", (0, 0)), Jet("u", (1, 0)), Jet("u", (0, 0), 1)]
    for own, wanted in zip(found.jets(inside, jets), state.jets(inside, jets), strict=True):
        assert own == pytest.approx(wanted, abs=3e-5)
    grid = np.stack(np.meshgrid(*[np.linspace(-1.4, 1.4, 60)] * 2, indexing="ij"), -1).reshape(-1, 2)
    order = np.random.default_rng(4).permutation(len(grid))
    whole, scattered = found.jets(grid, jets), found.jets(grid[order], jets)
    for values, others in zip(whole, scattered, strict=True):
        assert values[order] == pytest.approx(others, rel=1e-9, abs=1e-9)
    assert np.max(np.abs(whole[0])) < 10.0


def test_nothing_is_continued_without_functions_of_a_box():
    hidden = HiddenLayer(np.ones((1, 2)), np.zeros((1, 2)), np.zeros(1), "sin")
    problem = fp.Problem("lap(u) = u**2", fp.Disk(), boundary="u = 0")
    assert Continued.of(Combination(hidden, ("u",), np.ones(2)), problem, fp.Box([-1, -1], [1, 1])) is None
