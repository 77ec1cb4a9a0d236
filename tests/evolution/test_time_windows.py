"""A basis that follows the solution: gradings, windows in time, what is told about them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.basis.samplers.grading import Grading
from frozenpinn.search.grading import grade, graded_points
from frozenpinn_lab.cases import find_case


def burgers():
    return find_case("burgers").problem()


@pytest.fixture(scope="module")
def shock():
    return fp.solve(burgers())


# ---- gradings -------------------------------------------------------------------------------------------


@given(st.floats(0.01, 0.5), st.floats(-0.8, 0.8), st.floats(0.05, 1.0))
def test_a_grading_is_a_monotone_map_onto_the_interval(width, centre, floor):
    x = np.linspace(-1, 1, 801)
    grading = grade(x, [1 / np.cosh((x - centre) / width) ** 2], floor, 200)
    places = grading.place(np.linspace(0, 1, 101))
    assert np.all(np.diff(places) > 0)
    assert places[[0, -1]] == pytest.approx([-1, 1])
    assert grading.stretch(np.array([centre])) <= np.min(grading.stretch(x)) * 1.5


def test_points_share_out_the_density():
    """Half of the points stand evenly, half where the slope is."""
    x = np.linspace(0, 1, 4001)
    grading = Grading(x, 1 + (np.abs(x - 0.5) < 0.05) / 0.1)
    places = graded_points(grading, 800, "gauss", np.random.default_rng(0)).x[:, 0]
    assert np.mean(np.abs(places - 0.5) < 0.05) == pytest.approx(0.55, abs=0.02)


def test_neighbouring_stretches_differ_little():
    x = np.linspace(0, 1, 4001)
    grading = Grading(x, np.where(x < 0.5, 1.0, 1.2), steepest=0.01)
    assert np.max(np.abs(np.diff(grading.stretch(x)) / np.diff(x))) <= 0.01 * 1.1


@pytest.mark.parametrize("method", ["gauss", "uniform", "random"])
def test_graded_points_integrate(method):
    x = np.linspace(0, 2, 2001)
    grading = grade(x, [np.exp(-(((x - 1) / 0.1) ** 2))], 0.3, 200)
    cloud = graded_points(grading, 4000, method, np.random.default_rng(0))
    tolerance = {"gauss": 1e-12, "uniform": 1e-3, "random": 3e-2}[method]
    assert float(np.exp(cloud.x[:, 0]) @ cloud.weights) == pytest.approx(np.exp(2) - 1, rel=tolerance)


def test_constant_data_are_graded_evenly():
    x = np.linspace(0, 1, 101)
    assert grade(x, [np.zeros(101)], 0.3, 100).place(np.array([0.25])) == pytest.approx([0.25])


# ---- windows ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_a_shock_without_any_setting(seed):
    solution = fp.solve(burgers(), seed=seed)
    assert solution.error()["rel_l2"] < 1e-8
    assert 2 <= len(solution.pieces) <= 15
    assert solution.pieces[0].start == 0
    assert solution.pieces[-1].end == 1
    for before, after in zip(solution.pieces[:-1], solution.pieces[1:], strict=True):
        assert before.end == after.start
        assert after.loss < 1e-7


def test_accuracy_follows_the_tolerance():
    errors = [fp.solve(burgers(), settings=fp.Settings(rtol=tol)).error()["rel_l2"] for tol in (1e-3, 1e-5, 1e-7)]
    assert errors[0] < 3e-3
    assert errors[1] < 3e-5
    assert errors[2] < 3e-7


def test_the_solution_is_one_function(shock):
    """Values and derivatives agree on both sides of a change of basis, and mixed arrays of times work."""
    x = np.linspace(-0.9, 0.9, 37)
    for piece in shock.pieces[1:]:
        before, after = np.nextafter(piece.start, -1), piece.start
        assert np.max(np.abs(shock(x, before) - shock(x, after))) < 1e-7
        slope = np.max(np.abs(shock(x, after, derivative="x")))
        assert np.max(np.abs(shock(x, before, derivative="x") - shock(x, after, derivative="x"))) < 1e-5 * slope
    t = np.linspace(0, 1, 37)
    one_by_one = [float(shock(a, b)) for a, b in zip(x, t, strict=True)]
    np.testing.assert_allclose(shock(x, t), one_by_one, atol=1e-13)
    np.testing.assert_allclose(np.diag(shock(x[:, None], t)), one_by_one, atol=1e-13)
    rate = shock(x, 0.6, derivative="t")
    balance = -shock(x, 0.6) * shock(x, 0.6, derivative="x") + 0.01 / np.pi * shock(x, 0.6, derivative="xx")
    np.testing.assert_allclose(rate, balance, atol=1e-4)


def test_windows_are_reported_and_stored(shock, tmp_path):
    report = shock.report
    assert f"{len(shock.pieces)}, new bases at t = " in str(report)
    assert report.windows[0]["start"] == 0
    assert report.steps == sum(p.trajectory.steps for p in shock.pieces)
    shock.save(str(tmp_path / "shock.fpinn"))
    loaded = fp.load(str(tmp_path / "shock.fpinn"))
    x, t = np.linspace(-1, 1, 31)[:, None], np.linspace(0, 1, 17)
    np.testing.assert_allclose(loaded(x, t), shock(x, t), atol=1e-9)
    assert len(loaded.pieces) == len(shock.pieces)


def test_fixed_windows():
    solution = fp.solve(burgers(), settings=fp.Settings(windows=9, width=300))
    assert [p.end for p in solution.pieces] == pytest.approx(np.arange(1, 10) / 9)
    assert solution.error()["rel_l2"] < 2e-7


def test_windows_with_supervised_pairs():
    sampler = fp.samplers.SWIM(300, pool=2000, supervised=True)
    solution = fp.solve(
        burgers(), settings=fp.Settings(sampler=sampler, points=600, windows=9, cutoff=1e-10, rtol=1e-5)
    )
    assert len(solution.pieces) == 9
    assert solution.error()["rel_l2"] < 0.05


def test_smooth_problems_keep_one_basis():
    problem = fp.Problem("u_t = u_xx - u**3", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    assert len(fp.solve(problem).pieces) == 1


def test_systems_of_second_order_go_on_with_their_velocity():
    """The sine-Gordon kink moves; positions and velocities are handed over."""
    kink = "4*atan(exp((x - t/2)/sqrt(3/4)))"
    problem = fp.Problem(
        "u_tt = u_xx - sin(u)",
        fp.Interval(-12, 12),
        (0, 2),
        "4*atan(exp(x/sqrt(3/4)))",
        {"left": "u = " + kink.replace("(x -", "(-12 -"), "right": "u = " + kink.replace("(x -", "(12 -")},
        initial_velocity="-1/sqrt(3/4)/cosh(x/sqrt(3/4))",
        exact=kink,
    )
    solution = fp.solve(problem, settings=fp.Settings(windows=3))
    assert len(solution.pieces) == 3
    assert solution.error()["rel_l2"] < 1e-5


def test_boundary_data_in_time_are_handed_over():
    """The travelling front of Burgers' equation, with its values at the ends."""
    front = "0.5 - 0.5*tanh((x - 0.5*t)/0.02)"
    problem = fp.Problem(
        "u_t + u*u_x = 0.005*u_xx",
        fp.Interval(-0.5, 1),
        (0, 1),
        "0.5 - 0.5*tanh(x/0.02)",
        fp.Dirichlet(front),
        exact=front,
    )
    solution = fp.solve(problem)
    assert len(solution.pieces) > 1
    assert solution.error()["rel_l2"] < 1e-6


def test_corners_that_waves_carry_away_are_left_to_the_first_basis():
    """A basis that is placed by a corner of the data loses it at once, and no later one could go on."""
    string = fp.Problem("u_tt = u_xx - u**3", fp.Interval(0, 1), (0, 1), "0.5 - abs(x - 0.5)", "u = 0", 0)
    told = pytest.warns(fp.FrozenPinnWarning, match="represents the initial value")
    with pytest.warns(fp.FrozenPinnWarning, match="resolved only to about"), told:
        solution = fp.solve(string, settings=fp.Settings(windows="adaptive", width=80))
    assert "first basis again" in {decision.name for decision in solution.decisions}
    assert solution(0.3, 1.0) == pytest.approx(-0.29999, abs=3e-4)


def test_bad_windows_are_refused():
    for windows, text in (
        (0, "windows must be a positive whole number, or None to adapt; got 0"),
        (2.5, "got 2.5"),
        ("many", "unknown windows 'many'; write a number, 'adaptive', 'auto', None or Windows"),
    ):
        with pytest.raises(fp.SettingsError, match=text):
            fp.solve(burgers(), settings=fp.Settings(windows=windows))
    for wrong, text in (({"floor": 0}, "floor"), ({"threshold": 2}, "threshold"), ({"widest": 0.5}, "widest")):
        with pytest.raises(fp.SettingsError, match=text):
            fp.Windows(**wrong)


def test_a_front_beyond_the_widest_network_is_told():
    problem = fp.Problem("u_t + u*u_x = 0.005*u_xx", fp.Interval(-1, 1), (0, 0.6), "-sin(pi*x)", "u = 0")
    with pytest.warns(fp.FrozenPinnWarning, match=r"from t = 0\.\d+ on the solution is resolved only to about"):
        fp.solve(problem, settings=fp.Settings(width=80, rtol=1e-10, windows=fp.Windows(widest=1.0)))


# ---- what points and steps may miss ---------------------------------------------------------------------


@pytest.mark.parametrize("width", [0.05, 0.005])
@pytest.mark.parametrize("start", [0, 1])
def test_no_step_passes_over_a_pulse(width, start):
    """u jumps by one when the pulse comes; before and after nothing happens that would shorten a step."""
    pulse = f"exp(-((t - 5)/{width})**2)/({width}*sqrt(pi))"
    problem = fp.Problem(f"u_t = u_xx - u*u_x + {pulse}", fp.Interval(0, 1), (0, 10), start, "u_n = 0")
    assert float(fp.solve(problem)(0.5, 10.0)) == pytest.approx(start + 1, abs=1e-5)


def test_a_peak_between_the_points_is_found():
    peak = "1 + exp(-((x - 0.3)/0.0005)**2)"
    place, t = np.array([0.29, 0.3, 0.305]), 1.0
    spread = np.sqrt(0.0005**2 + 4e-4 * t)
    exact = 1 + 0.0005 / spread * np.exp(-(((place - 0.3) / spread) ** 2))
    nonlinear = fp.Problem("u_t = 1e-4*u_xx + 1e-13*u**2", fp.Interval(-1, 1), (0, 1), peak, "u_n = 0")
    np.testing.assert_allclose(fp.solve(nonlinear)(place, t), exact, atol=1e-6)
    linear = fp.Problem("u_t = 1e-4*u_xx", fp.Interval(-1, 1), (0, 1), peak, "u_n = 0")
    np.testing.assert_allclose(fp.solve(linear)(place, t), exact, atol=1e-6)  # the formula tells where it is
    with pytest.warns(fp.FrozenPinnWarning, match="details between the points of the basis"):
        fp.solve(linear.at(), settings=fp.Settings(points=400))


def test_a_narrow_velocity_is_found():
    """d'Alembert: u grows behind the two waves by half the integral of the velocity."""
    problem = fp.Problem("u_tt = u_xx + 1e-12*u**3", fp.Interval(-1, 1), (0, 0.1), "1", "u = 1", "10*exp(-(x/0.01)**2)")
    assert float(fp.solve(problem, settings=fp.Settings(rtol=1e-6))(0.0, 0.1)) - 1 == pytest.approx(
        0.05 * np.sqrt(np.pi), rel=1e-4
    )


def test_a_small_field_beside_a_large_one_is_followed():
    large = fp.Problem(
        {"a": "a_t = a_xx/pi**2", "u": "u_t = -u*u_x + 0.01/pi*u_xx"},
        fp.Interval(-1, 1),
        (0, 1),
        {"a": "100*sin(pi*x)", "u": "-sin(pi*x)"},
        fp.Dirichlet(0),
    )
    x = np.linspace(-1, 1, 101)
    exact = burgers().exact["u"](x[:, None], 1.0)
    assert np.max(np.abs(fp.solve(large)(x, 1.0, field="u") - exact)) < 1e-6
