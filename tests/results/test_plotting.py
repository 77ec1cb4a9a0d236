"""Plots: pictures are written where they can be drawn, and refused with a reason where not."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn import EvaluationError

plt.switch_backend("Agg")
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def heat():
    return fp.solve(
        fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0"), settings=fp.Settings(width=30)
    )


@pytest.fixture(scope="module")
def quantum():
    ring = fp.Interval(0, 2 * np.pi, periodic=True)
    return fp.solve(
        fp.Problem(["a_t = -b_xx", "b_t = a_xx"], ring, (0, 1), {"a": "cos(x)", "b": 0}), settings=fp.Settings(width=30)
    )


@pytest.fixture(scope="module")
def plate():
    box = fp.Box([0, 0], [2, 1])
    return fp.solve(
        fp.Problem("u_t = lap(u)", box, (0, 0.1), "sin(pi*x)*sin(pi*y)", "u = 0"), settings=fp.Settings(width=16)
    )


@pytest.fixture(scope="module")
def cube():
    box = fp.Box([0, 0, 0], [1, 1, 1])
    start = "sin(pi*x)*sin(pi*y)*sin(pi*z)"
    with pytest.warns(fp.FrozenPinnWarning, match="represents the initial value of u only to"):
        return fp.solve(fp.Problem("u_t = lap(u)", box, (0, 0.01), start, "u = 0"), settings=fp.Settings(width=4))


def test_one_dimension(heat, tmp_path):
    figure = heat.plot(str(tmp_path / "heat.png"))
    data = (tmp_path / "heat.png").read_bytes()
    assert data.startswith(PNG)
    assert len(data) > 5000
    image, snapshots = figure.axes[0], figure.axes[1]
    assert image.get_title() == "u(x, t)"
    assert (image.get_xlabel(), image.get_ylabel()) == ("t", "x")
    assert len(snapshots.lines) == 5
    np.testing.assert_allclose(snapshots.lines[0].get_ydata(), np.sin(np.pi * np.linspace(0, 1, 400)), atol=1e-8)


def test_figure_is_returned_without_a_file(heat, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figure = heat.plot()
    assert [a.get_title() for a in figure.axes][:2] == ["u(x, t)", "snapshots"]
    assert not list(tmp_path.iterdir())


def test_saved_figures_are_closed(heat, tmp_path):
    before = len(plt.get_fignums())
    heat.plot(tmp_path / "a.png")
    assert len(plt.get_fignums()) == before


def test_system_has_a_row_per_field(quantum, tmp_path):
    figure = quantum.plot(str(tmp_path / "system.png"))
    assert (tmp_path / "system.png").read_bytes().startswith(PNG)
    titles = [a.get_title() for a in figure.axes]
    assert "a(x, t)" in titles
    assert "b(x, t)" in titles


def test_one_field_of_a_system(quantum):
    titles = [a.get_title() for a in quantum.plot(field="b").axes]
    assert "b(x, t)" in titles
    assert "a(x, t)" not in titles
    with pytest.raises(EvaluationError, match=r"unknown field 'u'; the fields are 'a', 'b'\."):
        quantum.plot(field="u")


def test_two_dimensions(plate, tmp_path):
    figure = plate.plot(str(tmp_path / "plate.png"))
    assert (tmp_path / "plate.png").read_bytes().startswith(PNG)
    titles = [a.get_title() for a in figure.axes]
    assert titles[:4] == ["u, t = 0", "u, t = 0.0333", "u, t = 0.0667", "u, t = 0.1"]


def test_other_formats(heat, tmp_path):
    for kind, start in (("pdf", b"%PDF"), ("svg", b"<?xml")):
        heat.plot(tmp_path / f"heat.{kind}")
        assert (tmp_path / f"heat.{kind}").read_bytes().startswith(start)


def test_zero_solution_is_drawn(tmp_path):
    zero = fp.solve(fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), 0, "u = 0"), settings=fp.Settings(width=20))
    zero.plot(tmp_path / "zero.png")
    assert (tmp_path / "zero.png").stat().st_size > 5000


def test_three_dimensions_are_drawn_as_a_slice(cube, tmp_path):
    figure = cube.plot(str(tmp_path / "cube.png"))
    assert (tmp_path / "cube.png").read_bytes().startswith(PNG)
    assert [a.get_title() for a in figure.axes][:2] == ["u, t = 0, z = 0.5", "u, t = 0.00333, z = 0.5"]
    drawn = figure.axes[0].collections[0].get_array()
    x = np.linspace(0, 1, 121)
    np.testing.assert_allclose(drawn, cube(x, x[:, None], 0.5, 0.0), atol=1e-12)


def test_loaded_solution_is_drawn(heat, tmp_path):
    heat.save(tmp_path / "heat.fpinn")
    fp.load(tmp_path / "heat.fpinn").plot(tmp_path / "heat.png")
    assert (tmp_path / "heat.png").read_bytes().startswith(PNG)


def test_matplotlib_is_imported_only_to_draw():
    program = "import sys, frozenpinn; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
