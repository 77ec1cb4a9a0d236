"""A basis that follows the solution on boxes: each axis is graded by the slopes along it."""

import pickle
import warnings

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.evolution.first_width import learned
from frozenpinn.evolution.grading import initial_slopes, is_spread_out, steepest, total_slope
from frozenpinn.search.grading import Slopes
from frozenpinn.search.settings import Sizes, Task, Tolerances

FRONT = "0.5 - 0.5*tanh((x - 0.3 - 0.5*t)/0.04)"
NEUMANN = {"bottom": "u_n = 0", "top": "u_n = 0"}


def moving_front(periodic=False):
    """The travelling front of Burgers' equation, parallel to y; what varies along y decays."""
    return fp.Problem(
        "u_t + u*u_x = 0.01*lap(u)",
        fp.Box((0, 0), (1, 1), periodic=(False, periodic)),
        (0, 0.4),
        "0.5 - 0.5*tanh((x - 0.3)/0.04)",
        {"left": "u = " + FRONT, "right": "u = " + FRONT, **({} if periodic else NEUMANN)},
        exact=FRONT,
    )


def standing_front(viscosity=0.01, time=0.6):
    ends = {"left": "u = 0", "right": "u = 0", **NEUMANN}
    start = "-sin(pi*x)*(1 + 0.1*cos(pi*y))"
    return fp.Problem(f"u_t + u*u_x = {viscosity}*lap(u)", fp.Box((-1, 0), (1, 1)), (0, time), start, ends)


def solve(problem, **settings):
    return fp.solve(problem, settings=fp.Settings(subspace=None, **settings))


def activations(solution):
    return [[f.hidden.activation for f in piece.expansions[0].basis.factors] for piece in solution.pieces]


@pytest.fixture(scope="module")
def followed():
    return solve(moving_front(), width=(48, 12), windows="adaptive", rtol=1e-5)


# ---- slopes ---------------------------------------------------------------------------------------------


def test_the_steepest_slope_across_an_axis_counts():
    assert steepest(np.array([[1.0, -3.0], [0.5, 0.2]])).tolist() == [-3.0, 0.5]
    x_slopes, y_slopes = initial_slopes(moving_front())
    assert not is_spread_out(x_slopes)
    assert total_slope(y_slopes) < 1e-12
    assert x_slopes.places[np.argmax(np.abs(x_slopes.sizes[0]))] == pytest.approx(0.3, abs=2e-3)


def test_an_oblique_front_is_spread_out_along_both_axes():
    box = fp.Box((0, 0), (1, 1), periodic=True)
    problem = fp.Problem("u_t = lap(u) - u**3", box, (0, 1), "tanh(sin(2*pi*(x + y))/0.1)")
    assert all(is_spread_out(axis) for axis in initial_slopes(problem))


def test_errors_do_not_count_as_slopes():
    places, even = np.linspace(0, 1, 101), np.ones(101)
    assert is_spread_out(Slopes(places, [even], [np.exp(-(((places - 0.5) / 0.01) ** 2))]))


# ---- windows --------------------------------------------------------------------------------------------


def test_a_front_parallel_to_an_axis_is_followed(followed):
    """With as many neurons as one basis has, which does not resolve the front."""
    one = solve(moving_front(), width=(48, 12), windows=None, rtol=1e-5)
    error = followed.error()["rel_l2"]
    assert error < 1e-5
    assert one.error()["rel_l2"] > 30 * error
    assert len(followed.pieces) > 1
    for before, after in zip(followed.pieces[:-1], followed.pieces[1:], strict=True):
        assert before.end == after.start
        assert after.loss < 1e-4


def test_axes_that_are_spread_out_keep_their_functions(followed):
    assert activations(followed)[-1] == ["tanh", "sin"]
    assert all(kinds[1] == "sin" for kinds in activations(followed))
    points = followed.pieces[-1].expansions[0].basis.factors[0].points.x[:, 0]
    near = np.abs(points - 0.3 - 0.5 * followed.pieces[-1].start) < 0.1
    assert np.mean(near) > 0.4  # of the points on a fifth of the axis


def test_a_periodic_axis_keeps_its_lattice():
    solution = solve(moving_front(periodic=True), width=(48, 8), windows=2, rtol=1e-4)
    x, y = (f.points.x[:, 0] for f in solution.pieces[-1].expansions[0].basis.factors)
    np.testing.assert_allclose(np.diff(y), 1 / len(y))
    assert np.ptp(np.diff(x)) > 0.01
    assert solution.error()["rel_l2"] < 3e-3


def test_a_graded_axis_may_be_periodic():
    """The front moves through the end of the axis; values and slopes match there."""
    start = "sin(2*pi*x) + 0.5 + 0.1*cos(2*pi*y)"
    problem = fp.Problem("u_t + u*u_x = 0.01*lap(u)", fp.Box((0, 0), (1, 1), periodic=True), (0, 0.3), start)
    solution = solve(problem, width=(40, 12), windows="adaptive", rtol=1e-4)
    assert ["tanh", "sin"] in activations(solution)
    finer = solve(problem, width=(128, 24), windows=None, rtol=1e-6)
    x, y = np.linspace(0, 1, 41)[:, None], np.linspace(0, 1, 9)
    np.testing.assert_allclose(solution(x, y, 0.3), finer(x, y, 0.3), atol=2e-4)
    low, high = (solution(np.array([end]), np.array([0.2]), 0.3, derivative="x") for end in (0.0, 1.0))
    np.testing.assert_allclose(low, high, rtol=1e-6)


def test_fixed_windows_on_a_box():
    solution = solve(moving_front(), width=(48, 8), windows=3, rtol=1e-4)
    assert [p.end for p in solution.pieces] == pytest.approx([0.4 / 3, 0.8 / 3, 0.4])
    assert solution.error()["rel_l2"] < 2e-3


def test_windows_in_three_dimensions():
    problem = fp.Problem(
        "u_t + u*u_x = 0.02*lap(u)",
        fp.Box((0, 0, 0), (1, 1, 1), periodic=(False, True, False)),
        (0, 0.1),
        "0.5 - 0.5*tanh((x - 0.3)/0.08)",
        {
            "left": "u = 0.5 - 0.5*tanh((0 - 0.3 - 0.5*t)/0.08)",
            "right": "u = 0.5 - 0.5*tanh((1 - 0.3 - 0.5*t)/0.08)",
            "front": "u_n = 0",
            "back": "u_n = 0",
        },
        exact="0.5 - 0.5*tanh((x - 0.3 - 0.5*t)/0.08)",
    )
    solution = solve(problem, width=(36, 4, 6), windows=2, rtol=1e-4)
    assert activations(solution) == [["tanh", "sin", "sin"]] * 2
    assert solution.error()["rel_l2"] < 1e-3


def test_such_solutions_are_stored_and_pickled(followed, tmp_path):
    followed.save(str(tmp_path / "front.fpinn"))
    x, y, t = np.linspace(0, 1, 21)[:, None], np.linspace(0, 1, 5), 0.25
    for copy in (fp.load(str(tmp_path / "front.fpinn")), pickle.loads(pickle.dumps(followed))):
        assert len(copy.pieces) == len(followed.pieces)
        np.testing.assert_allclose(copy(x, y, t), followed(x, y, t), atol=1e-9)
    assert f"{len(followed.pieces)}, new bases at t = " in str(followed.report)


# ---- where it pays ----------------------------------------------------------------------------------------


def lesson(problem, width, tol=1e-4, windows="auto"):
    settings = fp.Settings(subspace=None, windows=windows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.FrozenPinnWarning)  # what is not resolved is the point
        solution = solve(problem, width=width, windows=None, rtol=1e-3)
    return learned(solution, Sizes(width, False), Task(settings, 0, Tolerances.of(tol, None)))


def test_a_front_that_is_not_resolved_is_followed_from_then_on():
    found = lesson(standing_front(0.006, 0.45), (64, 12))
    assert found.follows
    assert found.width[0] < 64
    assert "fronts along axes" in {name for name, _ in found.decisions}
    assert not lesson(standing_front(0.006, 0.45), (64, 12), windows=None).follows
    assert not lesson(standing_front(0.006, 0.45), (48, 12)).follows  # more neurons first: too little is known
    assert not lesson(standing_front(0.1), (64, 12)).follows  # resolved


def test_oblique_fronts_get_width():
    start = "sin(2*pi*(x + y)) + 0.3*cos(2*pi*x)"
    box = fp.Box((0, 0), (1, 1), periodic=True)
    problem = fp.Problem("u_t + u*u_x + u*u_y = 0.005*lap(u)", box, (0, 0.2), start)
    assert not lesson(problem, (64, 64)).follows


def test_without_a_tolerance_products_keep_one_basis():
    assert len(solve(standing_front(0.02, 0.3), width=(32, 8), rtol=1e-3).pieces) == 1


def test_windows_elsewhere_are_refused():
    disk = fp.Problem("u_t = lap(u) - u**3", fp.Disk((0, 0), 1), (0, 1), "0", "u = 0")
    box = fp.Problem("u_t = lap(u) - u**3", fp.Box((0, 0), (1, 1)), (0, 1), "0", "u = 0")
    text = (
        r"need an interval, or a product of networks: a box in two or three dimensions .* Write windows=None, or leave"
    )
    for problem, settings in ((disk, {}), (box, {"sampler": "swim"}), (box, {"cutoff": None})):
        with pytest.raises(fp.SettingsError, match=text):
            fp.solve(problem, settings=fp.Settings(windows=3, **settings))
