"""Pictures of domains, and of solutions on domains that are no boxes."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from domain_shapes import shape

from frozenpinn import EvaluationError
from frozenpinn.geometry import Annulus, Box, Disk, Interval, Shell
from frozenpinn.output.plotting import plot_solution
from frozenpinn.statement.problem import Problem

plt.switch_backend("Agg")
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_plane_domains(tmp_path):
    domain = Box([0, 0], [2, 1]) - Disk([1, 0.5], 0.25).named("hole")
    figure = domain.plot(file=str(tmp_path / "plate.png"))
    assert (tmp_path / "plate.png").read_bytes().startswith(PNG)
    assert legend(figure)[1:] == ["left", "right", "bottom", "top", "hole"]
    assert legend(figure)[0].endswith("points inside")
    axis = figure.axes[0]
    assert axis.get_title() == "Combination, measure 1.804"
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("x", "y")
    drawn = axis.collections[0].get_offsets()
    assert np.all(domain.contains(np.asarray(drawn)))
    assert len([c for c in axis.collections if type(c).__name__ == "Quiver"]) == 5


@pytest.mark.parametrize("name", ["cube", "ball in 5-d", "cloud", "parted", "mesh"])
def test_other_domains(name, tmp_path):
    figure = shape(name).plot(n=100, file=tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 5000
    assert legend(figure)[1:] == [side.name for side in shape(name).sides]
    if name == "ball in 5-d":
        assert figure.axes[0].get_title().endswith("seen along all but x1 and x2")


def test_an_interval():
    assert legend(Interval(0, 1).plot(n=20)) == ["20 points inside", "left", "right"]


def solved(domain):
    """Return what looks like a solution: |x|² + t, which refuses points outside."""

    class Fake:
        problem = Problem("u_t = lap(u)", domain, (0, 1), 0, "u = 0")

        def __call__(self, *arguments, field, derivative):
            *x, t = np.broadcast_arrays(*arguments)
            assert np.all(domain.contains(np.stack([c.ravel() for c in x], axis=1)))
            return sum(c**2 for c in x) + t

    return Fake()


def test_solutions_are_drawn_inside_only():
    figure = plot_solution(solved(Annulus(0.5, 1)))
    colours, edges = figure.axes[0].collections
    places = colours.get_coordinates() if hasattr(colours, "get_coordinates") else colours._triangulation
    radius = np.hypot(places.x, places.y)
    assert radius.max() == pytest.approx(1.0, abs=1e-8)
    assert radius.min() == pytest.approx(0.5, abs=1e-8)
    np.testing.assert_allclose(np.asarray(colours.get_array()), radius**2, atol=1e-12)
    ends = np.linalg.norm(np.concatenate(edges.get_segments()), axis=1)
    assert np.all(np.minimum(np.abs(ends - 1.0), np.abs(ends - 0.5)) < 1e-8), "no staircase: the boundary is met"
    assert figure.axes[0].get_aspect() == 1.0


def test_slices_of_solids():
    figure = plot_solution(solved(Box([0, 0, 0], [1, 2, 4])))
    assert figure.axes[0].get_title() == "u, t = 0, z = 2"
    drawn = np.asarray(figure.axes[0].collections[0].get_array()).reshape(121, 121)
    assert drawn[0, 0] == pytest.approx(4)
    assert drawn[-1, -1] == pytest.approx(9)
    assert len(figure.axes) == 5, "four frames and one bar"
    high = plot_solution(solved(Shell(1, 2, dimension=4)))
    assert high.axes[0].get_title() == "u, t = 0, x3 = 0, x4 = 0"


def test_a_slice_that_misses_the_domain():
    two = Disk([0, 0], 1) | Disk([5, 0], 1)
    from frozenpinn.geometry import Extruded

    pieces = Extruded(two, 0, 1) - Box([-9, -9, 0.2], [9, 9, 0.8])
    with pytest.raises(EvaluationError, match="the slice through the middle of the bounding box does not meet"):
        plot_solution(solved(pieces))
