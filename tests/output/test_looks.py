"""How users want pictures to look: colours, limits, contours, arrows, streamlines, titles; cyclic phases."""

import numpy as np
import pytest

import frozenpinn as fp


@pytest.fixture(scope="module")
def plate():
    ring = fp.Disk((0, 0), 1) - fp.Disk((0.3, 0.2), 0.25)
    return fp.solve(fp.Problem("lap(u) = -1", ring, boundary="u = 0"), settings=fp.Settings(width=100))


@pytest.fixture(scope="module")
def square():
    problem = fp.Problem("u_t = lap(u)", fp.Box([0, 0], [1, 1]), (0, 0.1), "sin(pi*x)*sin(pi*y)", "u = 0")
    return fp.solve(problem, settings=fp.Settings(width=60))


@pytest.fixture(scope="module")
def rod():
    return fp.solve(fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0"))


@pytest.fixture(scope="module")
def wave():
    return fp.solve(
        fp.Problem("I*psi_t = -psi_xx/2 + x**2/2*psi", fp.Interval(-9, 9), (0, 1), "exp(-(x - 2)**2/2)", "psi = 0")
    )


def kinds(axis):
    return [type(part).__name__ for part in axis.collections]


@pytest.mark.parametrize("name", ["plate", "square", "rod"])
def test_colours_limits_and_titles(name, request):
    solution = request.getfixturevalue(name)
    figure = solution.plot(cmap="magma", limits=(-0.5, 2), title="heat")
    image = figure.axes[0].collections[0]
    assert (image.get_cmap().name, *image.get_clim()) == ("magma", -0.5, 2)
    assert figure.axes[0].get_title().startswith("heat")


def test_limits_of_curves(rod):
    assert rod.plot(limits=(-1, 3)).axes[1].get_ylim() == (-1, 3)


def test_zeros_are_far_below_a_logarithmic_scale(rod):
    low, high = rod.plot(log=True).axes[1].get_ylim()
    assert 0 < 1e-9 * high < low


def test_logarithmic_scales(square):
    norm = square.plot(log=True, limits=(1e-3, 1)).axes[0].collections[0].norm
    assert (type(norm).__name__, norm.vmin, norm.vmax) == ("LogNorm", 1e-3, 1)


@pytest.mark.parametrize("name", ["plate", "square", "rod"])
def test_contours(name, request):
    axis = request.getfixturevalue(name).plot(contours=6).axes[0]
    lines = [part for part in axis.collections if "Contour" in type(part).__name__]
    assert len(lines) == 1
    assert 4 <= len(lines[0].levels) <= 9


def test_arrows_lie_in_the_domain_and_show_the_vector(plate):
    (arrows,) = [part for part in plate.plot(arrows="-grad(u)").axes[0].collections if type(part).__name__ == "Quiver"]
    places = np.column_stack([arrows.X, arrows.Y])
    assert np.all(plate.problem.domain.contains(places))
    np.testing.assert_allclose(np.column_stack([arrows.U, arrows.V]).T, plate("-grad(u)", *places.T), rtol=1e-12)


@pytest.mark.parametrize("name", ["plate", "square"])
def test_streamlines(name, request):
    axis = request.getfixturevalue(name).plot(streamlines="[y, -x]").axes[0]
    assert "LineCollection" in kinds(axis)
    assert len(axis.patches) > 3  # heads of arrows


def test_phases_are_cyclic_and_left_out_where_the_field_vanishes(wave):
    size, _, phase, snapshots = wave.plot().axes[:4]
    image = phase.collections[0]
    assert (image.get_cmap().name, *image.get_clim()) == ("twilight", -np.pi, np.pi)
    assert size.collections[0].get_cmap().name == "viridis"
    assert 0.2 < np.ma.getmaskarray(np.ma.masked_invalid(image.get_array())).mean() < 0.8
    for line in snapshots.lines:
        steps = np.abs(np.diff(line.get_ydata()))
        assert not np.any(steps[np.isfinite(steps)] > np.pi)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cmap": "magmma"}, "cmap is a colour map of Matplotlib, such as 'magma'; got 'magmma'. Did you mean 'magma'"),
        (
            {"limits": (1, 0)},
            r"limits are the two ends of the scale, such as \(0, 1\), the smaller one first; got \(1, 0\)",
        ),
        ({"limits": "all"}, "limits are the two ends of the scale"),
        ({"log": 1}, "log is True or False, got 1"),
        ({"log": True, "limits": (-1, 1)}, "a logarithmic scale has positive ends"),
        ({"contours": -1}, "contours is how many lines are drawn, from 0 to 100; got -1"),
        ({"title": 3}, "title is a text, got 3"),
        ({"arrows": "u"}, r"arrows= is a real vector, such as 'U', 'grad\(u\)' or '\[u, v\]'; 'u' is none"),
        ({"streamlines": 3}, "streamlines= is a vector as text"),
        ({"arrows": "grad(w)"}, "unknown name 'w'"),
        ({"arrows": "grad(u)", "streamlines": "grad(u)"}, "arrows= and streamlines= show the same; give one of them"),
    ],
)
def test_looks_that_make_no_sense(plate, given, message):
    with pytest.raises(fp.FrozenPinnError, match=message):
        plate.plot(**given)


def test_arrows_need_a_plane(rod):
    with pytest.raises(fp.EvaluationError, match="arrows= are drawn over a plane, and the domain has one dimension"):
        rod.plot(arrows="[u, u]")
