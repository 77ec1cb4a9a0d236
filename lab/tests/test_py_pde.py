"""py-pde as a peer: how problems are told to it, what is refused, and one small solve."""

import os
import subprocess
import sys

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.errors import MissingExtraError, SettingsError
from frozenpinn_lab.peers import py_pde, solve_baseline
from frozenpinn_lab.peers.py_pde import PyPdeSolution, conditions, right_sides

SQUARE = fp.Box([0, 0], [1, 1])
TORUS = fp.Box([0, 0], [1, 1], periodic=True)


def test_equations():
    mixed = fp.Problem("u_t = 2*u_xy - lap(lap(u)) + u*u_x + t*u_yyy", TORUS, (0, 1), 0)
    text = right_sides(mixed)["u"]
    for part in ("laplace(laplace(u))", "d_dy(d_dx(u))", "u*d_dx(u)", "t*d_dy(d2_dy2(u))"):
        assert part in text
    waves = fp.Problem("u_tt = 0.5*lap(u) - 0.2*u_t", TORUS, (0, 1), 0, initial_velocity=0)
    told = right_sides(waves)
    assert told["u"] == "u_velocity"
    assert "laplace(u)" in told["u_velocity"]
    assert "u_velocity" in told["u_velocity"]


def test_conditions():
    sides = {"left": "u = 1 + y*t", "right": "u_n = 2", "bottom": "2*u = 0", "top": "u_y = 3"}
    with pytest.warns(fp.FrozenPinnWarning):
        problem = fp.Problem("u_t = lap(u)", SQUARE, (0, 1), 1, sides)
    assert conditions(problem) == {
        "x-": {"value_expression": "t*y + 1"},
        "x+": {"derivative_expression": "2"},
        "y-": {"value_expression": "0"},
        "y+": {"derivative_expression": "3"},
    }
    downward = fp.Problem(
        "u_t = lap(u)",
        SQUARE,
        (0, 1),
        "3*x",
        {"left": "u_x = 3", "right": "u_x = 3", "bottom": "u_n = 0", "top": "u_n = 0"},
    )
    assert [conditions(downward)[side] for side in ("x-", "x+")] == [{"derivative_expression": v} for v in ("-3", "3")]
    assert conditions(fp.Problem("u_t = lap(u)", TORUS, (0, 1), 1)) == {"x": "periodic", "y": "periodic"}


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (
            lambda: fp.Problem("u_t = lap(u)", fp.Ball(dimension=2), (0, 1), 0, "u = 0"),
            "py-pde solves on boxes of one, two",
        ),
        (
            lambda: fp.Problem("u_t = f*lap(u)", TORUS, (0, 1), 0, parameters={"f": lambda x, y: 1 + x**2}),
            r"takes equations as text; the Python functions \['f'\] are none",
        ),
        (
            lambda: fp.Problem("u_t = -lap(lap(u))", SQUARE, (0, 1), 0, ["u = 0", "lap(u) = 0"]),
            "has one condition per side; 'u_t = .*' needs more of them",
        ),
        (
            lambda: fp.Problem("u_t = lap(u)", SQUARE, (0, 1), 0, "u + u_n = 0"),
            r"conditions on u or u_n in text here, got 'u \+ u_n = 0'",
        ),
        (
            lambda: fp.Problem(
                ["u_t = lap(u)", "v_t = lap(v)"], SQUARE, (0, 1), {"u": 0, "v": 0}, ["u = 0", "v_n = 0"]
            ),
            "the same condition for all fields here; those on 'left' differ",
        ),
    ],
)
def test_refusals(problem, text):
    pytest.importorskip("pde")
    with pytest.raises(SettingsError, match=text):
        solve_baseline("py-pde", problem(), points=8)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"points": 2}, "points must be a whole number of cells of at least 4, or 2 of them; got 2"),
        ({"points": (8, 8, 8)}, r"got \(8, 8, 8\)"),
        ({"points": 8, "frames": 2}, "frames must be a whole number of at least 4, got 2"),
        ({"points": 8, "width": 3}, "'py-pde' has no option 'width' here"),
        ({}, r"'py-pde' needs the option\(s\) 'points'"),
    ],
)
def test_options_are_checked(options, text):
    pytest.importorskip("pde")
    with pytest.raises(SettingsError, match=text):
        solve_baseline("py-pde", fp.Problem("u_t = lap(u)", TORUS, (0, 1), 0), **options)


def test_the_package_may_be_missing(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(py_pde, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"needs that package: pip install './lab\[pde\]'"):
        solve_baseline("py-pde", fp.Problem("u_t = lap(u)", TORUS, (0, 1), 0), points=8)


def test_values_between_cells_and_frames():
    problem = fp.Problem("u_t = lap(u)", fp.Box([0, 0], [1, 1], periodic=[True, False]), (0, 1), 0, "u = 0")
    centres, times = (np.arange(24) + 0.5) / 24, np.linspace(0, 1, 9)
    t, x, y = np.meshgrid(times, centres, centres, indexing="ij")
    solution = PyPdeSolution(
        problem, [centres, centres], times, (np.exp(-t) * np.sin(2 * np.pi * x) * np.cos(y))[None], 0
    )
    assert solution.size == 24**2
    where = np.random.default_rng(0).random((40, 2))
    exact = np.exp(-0.3) * np.sin(2 * np.pi * where[:, 0]) * np.cos(where[:, 1])
    assert np.max(np.abs(solution(where, 0.3) - exact)) < 2e-4


_SOLVE = """
import frozenpinn as fp
from frozenpinn_lab.peers import solve_baseline
problem = fp.Problem("u_tt = 0.1*u_xx - u_t", fp.Interval(0, 1), (0, 0.5), "sin(pi*x)", "u = 0", initial_velocity=0)
found = solve_baseline("py-pde", problem, points=16, frames=5)
waves = solve_baseline("spectral", problem, modes=4)
assert found.steps > 0 and abs(found(0.3, 0.5) - waves(0.3, 0.5)) < 2e-3, found(0.3, 0.5)
try:
    solve_baseline("py-pde", problem, points=16, seconds=1e-9)
except fp.IntegrationError as error:
    assert "budget of 1e-09 s was exceeded at t = 0" in str(error)
else:
    raise AssertionError("no budget")
"""


def test_a_small_solve_without_compilation():
    pytest.importorskip("pde")
    subprocess.run([sys.executable, "-c", _SOLVE], check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
