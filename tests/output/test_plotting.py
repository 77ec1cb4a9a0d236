"""Plots: pictures are written where they can be drawn, and refused with a reason where not."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

import frozenpinn as fp
import zoo
from frozenpinn import EvaluationError

plt.switch_backend("Agg")
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture
def heat():
    return zoo.solved("heat")


@pytest.fixture
def quantum():
    return zoo.solved("quantum")


@pytest.fixture(scope="module")
def plate():
    box = fp.Box([0, 0], [2, 1])
    return fp.solve(
        fp.Problem("u_t = lap(u)", box, (0, 0.1), "sin(pi*x)*sin(pi*y)", "u = 0"), settings=fp.Settings(width=16)
    )


@pytest.fixture(scope="module")
def cube():
    box = fp.Box([0, 0, 0], [1, 1, 1])
    start = "sin(pi*x)*sin(pi*y)*sin(3*pi*z)"
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


def test_the_backend_stays_as_it_is():
    program = """
import sys, matplotlib
matplotlib.use("svg")
import frozenpinn as fp
solution = fp.solve(fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0"))
solution.plot()
assert "matplotlib.pyplot" not in sys.modules, "pyplot is not imported behind the user's back"
import matplotlib.pyplot as plt
assert plt.get_backend() == "svg"
figure = solution.plot()
assert plt.gcf() is figure, "plt.show() shows it"
assert plt.get_backend() == "svg"
assert matplotlib.rcParams["legend.frameon"], "the user's style stays"
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_figures_for_files_are_no_business_of_pyplot(heat, tmp_path):
    before = plt.get_fignums()
    figure = heat.plot(tmp_path / "heat.png")
    assert plt.get_fignums() == before
    assert figure._repr_png_().startswith(PNG), "notebooks show it"


def test_times_are_chosen(heat, plate):
    legend = [text.get_text() for text in heat.plot(times=[0, 0.05]).axes[1].get_legend().get_texts()]
    assert legend == ["t = 0", "t = 0.05"]
    titles = [a.get_title() for a in plate.plot(times=[0.01, 0.02, 0.03, 0.04, 0.05]).axes if a.get_title()]
    assert titles == [f"u, t = {t}" for t in (0.01, 0.02, 0.03, 0.04, 0.05)]
    assert next(a.get_title() for a in plate.plot(times=0.05).axes) == "u, t = 0.05"


def test_one_scale_for_all_frames_and_only_what_is_used_of_it(plate, quantum, heat):
    frames = [a.collections[0] for a in plate.plot().axes[:4]]
    assert {frame.get_clim() for frame in frames} == {frames[0].get_clim()}
    assert frames[0].get_cmap().name == "RdBu_r"
    assert heat.plot().axes[0].collections[0].get_cmap().name == "viridis", "a field of one sign has sequential colours"
    figure = quantum.plot(field="a")
    assert figure.axes[0].collections[0].get_cmap().name == "RdBu_r"
    low, high = figure.axes[0].collections[0].get_clim()
    assert low == -high
    lines = heat_with_both_signs().plot().axes
    assert lines[2].get_ylim() == pytest.approx((-0.25, 1.0), abs=0.01), "the bar shows no colour that is not there"


def heat_with_both_signs():
    problem = fp.Problem("u_t = 0.01*u_xx", fp.Interval(0, 1, periodic=True), (0, 0.01), "0.375 + 0.625*cos(2*pi*x)")
    return fp.solve(problem, settings=fp.Settings(width=20))


def test_given_axes(heat, plate):
    figure, axes = plt.subplots(1, 2)
    assert heat.plot(ax=axes[0]) is figure
    heat.plot(ax=axes[1], times=[0, 0.1])
    assert axes[0].get_title() == "u(x, t)"
    assert len(axes[1].lines) == 2
    _, one = plt.subplots()
    plate.plot(ax=one)
    assert one.get_title() == "u, t = 0.1", "on one pair of axes, the end"
    _, pair = plt.subplots(1, 2)
    plate.plot(ax=pair, times=[0, 0.1])
    assert [a.get_title() for a in pair] == ["u, t = 0", "u, t = 0.1"]


def test_units_and_derivatives_are_told(heat):
    figure = heat.plot(units={"x": "m", "t": "s", "u": "K"})
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("t [s]", "x [m]")
    assert figure.axes[1].get_ylabel() == "u [K]"
    slope = heat.plot(derivative="x")
    assert slope.axes[0].get_title() == "u_x(x, t)"
    np.testing.assert_allclose(
        slope.axes[1].lines[0].get_ydata(), np.pi * np.cos(np.pi * np.linspace(0, 1, 400)), atol=1e-6
    )


def test_maps_of_errors_and_residuals():
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 0.1), "sin(x)", "u = 0", exact="exp(-t)*sin(x)")
    solution = fp.solve(problem, tol=1e-4)
    known = solution.plot(show="error")
    assert known.axes[0].get_title() == "|u − exact|"
    assert known.axes[1].get_yscale() == "log"
    x = np.linspace(0, np.pi, 400)
    drawn = np.maximum(np.abs(solution(x, 0.1) - np.exp(-0.1) * np.sin(x)), np.finfo(float).tiny)
    np.testing.assert_allclose(known.axes[1].lines[-1].get_ydata(), drawn, atol=1e-13)
    assert solution.plot(show="residual").axes[0].get_title() == "|residual of u|"
    search = solution.plot(show="convergence").axes[0]
    assert "tol = 0.0001" in [text.get_text() for text in search.get_legend().get_texts()]
    guess = fp.solve(fp.Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 0.1), "sin(x)", "u = 0"), tol=1e-4)
    figure = guess.plot(show="error", times=[0.1])
    assert figure.axes[0].get_title() == "estimated error of u"
    line = figure.axes[1].lines[0]
    np.testing.assert_allclose(line.get_ydata(), guess.error_at(line.get_xdata(), 0.1))


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"show": "eror"}, "show is one of 'convergence', 'error', 'residual', 'values'; got 'eror'"),
        ({"show": "error"}, "the error at points is not known, because there is no second solution"),
        (
            {"show": "convergence"},
            r"there is no search to draw, because no tolerance was given; write fp.solve\(problem",
        ),
        ({"show": "residual", "derivative": "x"}, "drawn of the field itself: leave derivative out"),
        ({"times": [0.3]}, r"times are numbers between 0 and 0.2, such as \[0, 0.2\]; got \[0.3\]"),
        ({"times": "now"}, "times are numbers between 0 and 0.2"),
        ({"times": np.linspace(0, 0.1, 30)}, "a figure has at most 24 times, got 30"),
        ({"ax": 3}, "ax is an Axes of Matplotlib, or an array of them; got 3"),
        ({"units": {"y": "m"}}, "units of 'y': the names are 't', 'u', 'x'"),
        ({"units": "m"}, "units are given by name, such as {'x': 'm'}; got 'm'"),
        ({"time": 0.1}, "has no argument 'time'"),
    ],
)
def test_what_can_not_be_drawn(wrong, text):
    with pytest.raises(EvaluationError, match=text):
        zoo.solved("ladder").plot(**wrong)


def test_too_few_axes(quantum):
    _, axes = plt.subplots(1, 3)
    with pytest.raises(EvaluationError, match="4 panels are to be drawn, on 3 axes; give as many axes"):
        quantum.plot(ax=axes)


def test_solids(cube, tmp_path):
    pytest.importorskip("pyvista")
    plotter = cube.plot_3d(tmp_path / "cube.png", cells=6)
    assert (tmp_path / "cube.png").read_bytes().startswith(PNG)
    assert list(plotter.scalar_bars.keys()) == ["u"]
    assert "0.0" not in plotter.renderer.cube_axes_actor.x_labels  # as many digits as the size of a part needs
    drawn = max((m for m in plotter.meshes if "u" in m.array_names), key=lambda m: m.n_points)
    plotter.close()
    assert np.max(drawn["u"]) <= 1.01 * np.max(cube(*drawn.points.T, 0.01))


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"kind": "volume"}, "kind is one of 'contours', 'slices', 'surface'; got 'volume'"),
        ({"cells": 1}, "cells is a whole number between 4 and 200, got 1"),
        ({"file": "a.docx"}, "can't draw 'a.docx'; the file must end in one of .png"),
        ({"time": 3}, "times are numbers between 0 and 0.01"),
    ],
)
def test_what_can_not_be_drawn_of_solids(cube, wrong, text):
    with pytest.raises(EvaluationError, match=text):
        cube.plot_3d(**wrong)


def test_solids_only(plate):
    with pytest.raises(EvaluationError, match=r"plot_3d draws solids, and the domain has 2 dimension\(s\); call plot"):
        plate.plot_3d()
