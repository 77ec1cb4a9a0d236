"""Exact solutions in many dimensions that depend on few directions: found there, and checked in all coordinates."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frozenpinn as fp
from frozenpinn.analysis.subspace import find_subspace
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.geometry.ball import Ball


def box(dimension, low=0.0, high=1.0, **options):
    return fp.Box([low] * dimension, [high] * dimension, **options)


def mean_heat(d):
    """u_t = Δu, u = cos(mean of x)·exp(−t/d)."""
    domain = box(d)
    mean = f"({' + '.join(domain.coordinates)})/{d}"
    exact = f"cos({mean})*exp(-t/{d})"
    return fp.Problem("u_t = lap(u)", domain, (0, 1), f"cos({mean})", f"u = {exact}", exact=exact)


def reaction_diffusion():
    """u_t = Δu + u² + f on [−1, 1]⁵, u = 2 sin(πx₁/2) cos(πx₂/2) e^{−t}."""
    shape = "sin(pi/2*x1)*cos(pi/2*x2)"
    source = f"(pi^2 - 2)*{shape}*exp(-t) - 4*({shape})^2*exp(-2*t)"
    exact = f"2*{shape}*exp(-t)"
    equation = f"u_t = lap(u) + u^2 + {source}"
    return fp.Problem(equation, box(5, -1, 1), (0, 1), f"2*{shape}", f"u = {exact}", exact=exact)


def text(problem, solution):
    return solution.subspace.describe(problem.domain.coordinates)


# ---- accuracy -------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 3, 4, 5, 7, 10])
def test_heat_along_the_diagonal(d):
    problem = mean_heat(d)
    solution = fp.solve(problem)
    assert solution.subspace.size == 1
    assert solution.error()["rel_l2"] < 1e-11
    assert max(solution.residuals.pde.values()) < 1e-7
    assert solution.residuals.boundary < 1e-10


def test_reaction_and_diffusion_in_five_dimensions():
    problem = reaction_diffusion()
    solution = fp.solve(problem)
    assert text(problem, solution) == "x1, x2"
    assert isinstance(solution.reduced.system.spaces[0].network, ProductNetwork)
    assert solution.error()["rel_l2"] < 1e-8


def test_advection_and_diffusion_of_a_skew_wave():
    wave, speed = np.array([1.0, 2.0, -1.0, 0.5]), np.array([0.5, -0.3, 0.2, 0.4])
    phase = "x1 + 2*x2 - x3 + x4/2"
    exact = f"sin({phase} - {speed @ wave}*t)*exp(-{0.05 * wave @ wave}*t)"
    equation = "u_t + 0.5*u_x1 - 0.3*u_x2 + 0.2*u_x3 + 0.4*u_x4 = 0.05*lap(u)"
    problem = fp.Problem(equation, box(4), (0, 1), f"sin({phase})", f"u = {exact}", exact=exact)
    solution = fp.solve(problem)
    np.testing.assert_allclose(solution.subspace.rows, [wave / np.linalg.norm(wave)], atol=1e-14)
    assert solution.error()["rel_l2"] < 1e-10


def test_two_planes_that_do_not_meet_make_a_box():
    exact = "sin(x1 + x2)*cos(x3 - x4)*exp(-4*t)"
    problem = fp.Problem("u_t = lap(u)", box(4), (0, 0.5), "sin(x1 + x2)*cos(x3 - x4)", f"u = {exact}", exact=exact)
    solution = fp.solve(problem)
    assert text(problem, solution) == "(x1 + x2)/√2; (x3 − x4)/√2"
    assert solution.error()["rel_l2"] < 1e-9


def test_a_skew_plane_in_four_dimensions():
    exact = "exp(-5*t)*sin(x1 + 2*x2) + exp(-2*t)*cos(x3 - x2)"
    initial = "sin(x1 + 2*x2) + cos(x3 - x2)"
    problem = fp.Problem("u_t = lap(u)", box(4), (0, 0.2), initial, f"u = {exact}", exact=exact)
    solution = fp.solve(problem)
    assert solution.subspace.size == 2
    assert type(solution.reduced.problem.domain).__name__ == "ConvexPolytope"
    assert solution.error()["rel_l2"] < 1e-6


@pytest.mark.parametrize(
    ("equation", "decay"), [("u_t = u_xx + 2*u_yy", 3.0), ("u_t = lap(u) + u_xy", 3.0), ("u_t = 2*u_xx + u_yy/2", 2.5)]
)
def test_diffusion_that_is_not_the_same_in_all_directions(equation, decay):
    exact = f"sin(x + y)*exp(-{decay}*t)"
    problem = fp.Problem(equation, box(2), (0, 0.5), "sin(x + y)", f"u = {exact}", exact=exact)
    solution = fp.solve(problem)
    assert text(problem, solution) == "(x + y)/√2"
    assert solution.error()["rel_l2"] < 1e-10


def test_waves_have_velocities_too():
    exact = "sin(x + y + z)*cos(sqrt(3)*t) + cos(x + y + z)*sin(sqrt(3)*t)"
    problem = fp.Problem(
        "u_tt = lap(u)",
        box(3),
        (0, 1),
        "sin(x + y + z)",
        f"u = {exact}",
        initial_velocity="sqrt(3)*cos(x + y + z)",
        exact=exact,
    )
    solution = fp.solve(problem)
    assert solution.subspace.size == 1
    assert solution.error()["rel_l2"] < 1e-9
    x = problem.domain.sample(30, "random", 0).x
    np.testing.assert_allclose(solution(x, 0.0, derivative="t"), np.sqrt(3) * np.cos(x.sum(axis=1)), atol=1e-8)


def test_a_system_of_several_fields():
    exact = {"u": "sin(x + y + z)*cos(3*t)", "v": "sin(x + y + z)*sin(3*t)"}
    problem = fp.Problem(
        ["u_t = lap(v)", "v_t = -lap(u)"],
        box(3),
        (0, 1),
        {"u": "sin(x + y + z)", "v": "0"},
        [f"{name} = {value}" for name, value in exact.items()],
        exact=exact,
    )
    solution = fp.solve(problem)
    assert "u and v depend on 1 direction of 3: (x + y + z)/√3" in str(solution.report)
    assert max(solution.error(name)["rel_l2"] for name in ("u", "v")) < 1e-9


def test_fields_with_different_directions_share_a_plane():
    exact = {"u": "sin(x1)*exp(-t)", "v": "cos(x2)*exp(-t)"}
    problem = fp.Problem(
        ["u_t = lap(u)", "v_t = lap(v)"],
        box(4),
        (0, 0.3),
        {"u": "sin(x1)", "v": "cos(x2)"},
        [f"{name} = {value}" for name, value in exact.items()],
        exact=exact,
    )
    solution = fp.solve(problem)
    assert solution.subspace.axes == (0, 1)
    assert max(solution.error(name)["rel_l2"] for name in ("u", "v")) < 1e-8


def test_python_functions_as_data():
    def wave(points, t):
        return np.sin(points.sum(axis=1)) * np.exp(-5 * t)

    problem = fp.Problem(
        "u_t = k*lap(u)",
        box(5),
        (0, 0.3),
        lambda points: wave(points, 0.0),
        fp.Dirichlet(wave),
        exact=wave,
        parameters={"k": lambda points: 1.0 + 0.0 * points[:, 0]},
    )
    solution = fp.solve(problem)
    assert solution.subspace.size == 1
    assert solution.error()["rel_l2"] < 1e-8


@pytest.mark.parametrize("d", [3, 6])
def test_a_ball(d):
    direction = [1.0, 2.0, 2.0, *[0.0] * (d - 3)]
    names = fp.Box([0] * d, [1] * d).coordinates
    phase = f"{names[0]} + 2*{names[1]} + 2*{names[2]}"
    exact = f"cos({phase})*exp(-t)"
    ball = Ball([0.5] * d, 0.7)
    solution = fp.solve(fp.Problem("u_t = lap(u)/9", ball, (0, 1), f"cos({phase})", f"u = {exact}", exact=exact))
    np.testing.assert_allclose(solution.subspace.rows, [np.array(direction) / 3], atol=1e-14)
    assert solution.error()["rel_l2"] < 1e-10


def test_a_normal_derivative_on_a_ball():
    ball = Ball([0.0] * 4, 1.0)
    value = "-x1*sin(x1)*exp(-t/9)"
    problem = fp.Problem("u_t = lap(u)/9", ball, (0, 1), "cos(x1)", fp.Neumann(value), exact="cos(x1)*exp(-t/9)")
    solution = fp.solve(problem)
    assert solution.subspace.axes == (0,)
    assert solution.error()["rel_l2"] < 1e-10


def test_periodic_axes_inside_and_outside():
    domain = box(3, periodic=[True, False, True])
    inside = fp.Problem("u_t = lap(u)", domain, (0, 0.01), "sin(2*pi*x)", "u_n = 0", exact="sin(2*pi*x)*exp(-4*pi^2*t)")
    outside = fp.Problem("u_t = lap(u)", domain, (0, 0.1), "cos(pi*y)", "u_n = 0", exact="cos(pi*y)*exp(-pi^2*t)")
    for problem, axis in ((inside, 0), (outside, 1)):
        solution = fp.solve(problem)
        assert solution.subspace.axes == (axis,)
        assert solution.error()["rel_l2"] < 1e-10
    shifted = fp.solve(inside)
    np.testing.assert_allclose(shifted(3.2, 0.5, 7.1, 0.01), shifted(0.2, 0.5, 0.1, 0.01), rtol=1e-12)


def test_a_front_along_a_skew_line_is_followed_in_windows():
    """Burgers' equation along x + y, by Cole and Hopf: W = 2w solves W_t + W·W_s = 2ν·W_ss, s = x + y."""
    nu = 0.02
    share = f"exp(-{2 * nu}*pi^2*t)"
    shape = "{n}*pi*{e}*sin(pi*(x + y))/(1.05 + {e}*cos(pi*(x + y)))"
    exact = shape.format(n=2 * nu, e=share)
    problem = fp.Problem(
        f"u_t + u*(u_x + u_y) = {nu}*lap(u)",
        box(2),
        (0, 0.5),
        shape.format(n=2 * nu, e="1"),
        f"u = {exact}",
        exact=exact,
    )
    solution = fp.solve(problem)
    assert solution.subspace.size == 1
    assert solution.error()["rel_l2"] < 1e-6


@settings(max_examples=6)
@given(d=st.integers(2, 6), seed=st.integers(0, 9999))
def test_any_plane_wave_under_any_constant_coefficients(d, seed):
    rng = np.random.default_rng(seed)
    names, wave = box(d).coordinates, rng.normal(size=d).round(3)
    spread, speed = rng.uniform(0.1, 1.0, d).round(3), rng.normal(size=d).round(3)
    terms = " + ".join(f"{a}*u_{c}{c} - ({b})*u_{c}" for a, b, c in zip(spread, speed, names, strict=True))
    phase = " + ".join(f"({w})*{c}" for w, c in zip(wave, names, strict=True))
    exact = f"sin({phase} - ({speed @ wave})*t)*exp(-{spread @ wave**2}*t)"
    problem = fp.Problem(f"u_t = {terms}", box(d), (0, 0.5), f"sin({phase})", f"u = {exact}", exact=exact)
    solution = fp.solve(problem)
    assert solution.subspace is not None
    assert solution.error()["rel_l2"] < 1e-8


# ---- fallback -------------------------------------------------------------------------------------


def is_full(solution):
    return solution.subspace is None and solution.reduced is None


def test_a_source_on_a_square_with_cold_sides_needs_all_coordinates():
    """Nothing in the data depends on x, but the sides do; the series of the exact solution tells."""
    solution = fp.solve(fp.Problem("u_t = lap(u) + 1", box(2), (0, 0.1), 0, "u = 0"))
    assert is_full(solution)
    odd = np.arange(1, 80, 2)
    m, n = np.meshgrid(odd, odd)
    rate = np.pi**2 * (m**2 + n**2)
    amplitude = (
        16 / (np.pi**2 * m * n * rate) * (1 - np.exp(-rate * 0.1)) * np.sin(m * np.pi / 2) * np.sin(n * np.pi / 2)
    )
    assert float(solution(0.5, 0.5, 0.1)) == pytest.approx(amplitude.sum(), abs=2e-6)


def test_a_source_along_x_with_cold_sides_is_tried_and_given_up():
    """The data depend on x and the reduced problem can be solved; only the check on the other sides tells."""
    problem = fp.Problem("u_t = lap(u) + sin(pi*x)", box(2), (0, 0.1), 0, "u = 0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # an attempt that fails says nothing
        solution = fp.solve(problem)
    assert is_full(solution)
    assert np.max(np.abs(solution(np.linspace(0, 1, 5), 0.0, 0.1))) < 1e-8


@pytest.mark.filterwarnings("ignore:the initial data contradict", "ignore:the network represents")
def test_sides_that_contradict_the_initial_value_are_seen_without_a_solve(monkeypatch):
    monkeypatch.setattr("frozenpinn.transforms.subspace.restrict", lambda *_: pytest.fail("there is nothing to try"))
    problem = fp.Problem("u_t = lap(u)", box(3), (0, 0.01), "sin(pi*x)", "u = 0")
    assert find_subspace(problem) is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the data contradict each other, and few neurons don't resolve that
        assert fp.solve(problem, settings=fp.Settings(width=8)).subspace is None


def test_axes_of_sides_that_hold_the_solution_are_added():
    sides = dict.fromkeys(("left", "right", "front", "back"), "u = 0") | {"bottom": "u_n = 0", "top": "u_n = 0"}
    problem = fp.Problem("u_t = lap(u) + sin(pi*x)", box(3), (0, 0.1), 0, sides)
    solution = fp.solve(problem)
    assert solution.subspace.axes == (0, 2)
    flat = {"left": "u = 0", "right": "u = 0", "bottom": "u = 0", "top": "u = 0"}
    expected = fp.solve(fp.Problem("u_t = lap(u) + sin(pi*x)", box(2), (0, 0.1), 0, flat))
    assert float(solution(0.4, 0.9, 0.3, 0.1)) == pytest.approx(float(expected(0.4, 0.3, 0.1)), abs=1e-9)


def test_a_circle_of_a_torus_is_not_cut_skew():
    exact = "sin(2*pi*(x + y))*exp(-8*pi^2*t)"
    problem = fp.Problem("u_t = lap(u)", box(2, periodic=True), (0, 0.01), "sin(2*pi*(x + y))", exact=exact)
    solution = fp.solve(problem)
    assert is_full(solution)
    assert solution.error()["rel_l2"] < 1e-6


def test_it_can_be_switched_off_and_settings_of_a_full_network_do_so():
    problem = mean_heat(2)
    assert is_full(fp.solve(problem, settings=fp.Settings(subspace=None)))
    narrow = fp.solve(problem, settings=fp.Settings(width=20))
    assert narrow.system.coefficients <= 21  # settings refer to the network that is built
    assert is_full(
        fp.solve(problem, settings=fp.Settings(sampler=fp.samplers.MultiScale(200), boundary="augmented-ode"))
    )
    assert fp.solve(problem).subspace is not None


# ---- insisting ------------------------------------------------------------------------------------


def test_given_directions_need_not_be_normal_or_found():
    problem = mean_heat(4)
    solution = fp.solve(problem, settings=fp.Settings(subspace=[[2, 2, 2, 2]], width=60))
    assert solution.report.width == 60
    assert solution.error()["rel_l2"] < 1e-10
    plane = fp.solve(problem, settings=fp.Settings(subspace=[[1, 1, 0, 0], [0, 0, 3, 3]], width=24))
    assert plane.subspace.size == 2
    assert plane.error()["rel_l2"] < 1e-7


def test_windows_belong_to_the_given_direction():
    solution = fp.solve(mean_heat(2), settings=fp.Settings(subspace=[[1, 1]], windows=3))
    assert len(solution.pieces) == 3
    assert solution.error()["rel_l2"] < 1e-8


def test_a_wrong_direction_is_warned_about():
    with pytest.warns(fp.FrozenPinnWarning, match=r"subspace x does not satisfy .* the relative residual is \d"):
        fp.solve(mean_heat(2), settings=fp.Settings(subspace=[[1, 0]]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("yes", "unknown subspace 'yes'; write subspace="),
        ([[1, 0]], r"shape \(1, 2\) in a problem of dimension 3"),
        (np.eye(3), r"shape \(3, 3\) in a problem of dimension 3"),
        ([[1, 2, 3], [2, 4, 6]], "the 2 directions of the subspace are not independent"),
        ([[1, np.nan, 0]], "a direction of the subspace is not finite"),
        ([[1, "a", 0]], "a subspace is an array of directions"),
        (np.zeros((0, 3)), r"shape \(0, 3\) in a problem of dimension 3"),
    ],
)
def test_directions_that_make_no_sense(given, message):
    with pytest.raises(fp.SettingsError, match=message):
        fp.solve(mean_heat(3), settings=fp.Settings(subspace=given))


def test_directions_that_can_not_be_used_say_why():
    problem = fp.Problem("u_t = lap(u)", box(2), (0, 1), "1", "u_n = 0")
    with pytest.raises(fp.SettingsError, match=r"can't be solved on this subspace: .* only Dirichlet conditions"):
        fp.solve(problem, settings=fp.Settings(subspace=[[1, 1]]))


def test_a_problem_is_asked_for_first():
    with pytest.raises(fp.SettingsError, match="takes a Problem"):
        fp.solve("u_t = u_xx", settings=fp.Settings(subspace=[[1, 0]]))


# ---- the embedded solution ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def skew():
    exact = "sin(x + 2*y - z)*exp(-6*t)"
    return fp.solve(fp.Problem("u_t = lap(u)", box(3), (0, 0.2), "sin(x + 2*y - z)", f"u = {exact}", exact=exact))


@pytest.fixture(scope="module")
def flat():
    return fp.solve(reaction_diffusion(), settings=fp.Settings(rtol=1e-7))


@pytest.mark.parametrize("name", ["x", "y", "z", "xy", "xz", "yy", "t", "zt"])
def test_derivatives_are_those_of_differences(skew, name):
    x, t, h = np.random.default_rng(1).uniform(0.2, 0.8, (12, 3)), 0.07, 1e-3
    *rest, last = name

    def lower(dx, dt):
        return skew(x + dx, t + dt, derivative="".join(rest))

    step = np.eye(3)["xyz".index(last)] * h if last != "t" else np.zeros(3)
    dt = h if last == "t" else 0.0
    first = (lower(step, dt) - lower(-step, -dt)) / (2 * h)
    second = (lower(2 * step, 2 * dt) - lower(-2 * step, -2 * dt)) / (4 * h)
    np.testing.assert_allclose(skew(x, t, derivative=name), (4 * first - second) / 3, atol=2e-7)


def test_derivatives_beside_the_subspace_vanish(flat):
    x = flat.problem.domain.sample(9, "random", 0).x
    for name in ("x3", "x1x4", "x5x5", "x3t"):
        assert not np.any(flat(x, 0.5, derivative=name))
    np.testing.assert_allclose(
        flat(x, 0.5, derivative="x1x2"),
        -(np.pi**2) / 2 * np.cos(np.pi / 2 * x[:, 0]) * np.sin(np.pi / 2 * x[:, 1]) * np.exp(-0.5),
        atol=1e-5,
    )


def test_points_outside_are_named_in_all_coordinates(flat, skew):
    with pytest.raises(fp.EvaluationError, match=r"the point \(0, 0, 0, 0, 1.5\) lies outside the domain Box"):
        flat(0, 0, 0, 0, 1.5, 0.5)
    with pytest.raises(fp.EvaluationError, match=r"expected solution\(x, y, z, t\)"):
        skew(0.5, 0.1)
    with pytest.raises(fp.EvaluationError, match="outside the solved interval"):
        skew(0.5, 0.5, 0.5, 3.0)


def test_grids_broadcast_in_all_coordinates(skew):
    grid = skew.grid(points=4, times=3)
    assert grid["u"].shape == (4, 4, 4, 3)
    value = float(grid["u"].sel(x=1.0, y=0.0, z=1.0, t=0.2))
    assert value == pytest.approx(0.0, abs=1e-10)


def test_report_names_the_directions(flat, skew):
    assert "u depends on 2 directions of 5: x1, x2" in str(flat.report)
    assert flat.report.as_dict()["subspace"] == "u depends on 2 directions of 5: x1, x2"
    assert "u depends on 1 direction of 3: 0.4082·x + 0.8165·y − 0.4082·z" in str(skew.report)
    assert next(iter(skew.report.seconds)) == "subspace"
    assert "subspace" not in str(fp.solve(mean_heat(2), settings=fp.Settings(subspace=None)).report)


def test_the_estimate_is_that_of_a_second_solve():
    solution = fp.solve(mean_heat(3), settings=fp.Settings(width=8, subspace=[[1, 1, 1]]))
    true = solution.error()["rel_l2"]
    assert true > 1e-13  # a network that narrow has errors to estimate
    assert fp.estimate_error(solution).error_estimate["u"] == pytest.approx(true, rel=30)
    assert fp.estimate_error(fp.solve(mean_heat(3))).error_estimate["u"] < 1e-10


@pytest.mark.parametrize("which", ["flat", "skew"])
def test_stored_and_read_again(which, request, tmp_path):
    solution = request.getfixturevalue(which)
    first, second = str(tmp_path / "a.npz"), str(tmp_path / "b.npz")
    solution.save(first)
    fp.load(first).save(second)
    x = solution.problem.domain.sample(40, "random", 3).x
    start, end = solution.problem.time
    c = solution.problem.domain.coordinates
    for file in (first, second):
        loaded = fp.load(file)
        np.testing.assert_array_equal(loaded.subspace.rows, solution.subspace.rows)
        assert loaded.subspace.axes == solution.subspace.axes
        assert loaded.report.subspace == solution.report.subspace
        for derivative, accuracy in (("", 1e-12), (c[0] + c[1], 1e-8), ("t", 1e-5)):
            for t in (start, 0.37 * end, end):
                expected = solution(x, t, derivative=derivative)
                np.testing.assert_allclose(loaded(x, t, derivative=derivative), expected, atol=accuracy)
        with pytest.raises(fp.EvaluationError, match="lies outside the domain"):
            loaded(x + 5.0, 0.0)
        assert loaded.error()["rel_l2"] < 1e-6


def test_stored_without_equations(tmp_path):
    problem = fp.Problem("u_t = lap(u)", box(3), (0, 0.1), lambda x, y, z: np.cos(np.pi * y), "u_n = 0")
    solution = fp.solve(problem)
    file = str(tmp_path / "c.npz")
    solution.save(file)
    loaded = fp.load(file)
    assert float(loaded(0.1, 0.3, 0.9, 0.1)) == pytest.approx(float(solution(0.1, 0.3, 0.9, 0.1)), abs=1e-12)
    assert float(loaded(0.1, 0.3, 0.9, 0.1)) == pytest.approx(np.cos(0.3 * np.pi) * np.exp(-(np.pi**2) / 10), abs=1e-9)


def test_plots_of_many_dimensions_show_the_few(flat, skew, tmp_path):
    for solution, count in ((flat, 4), (skew, 2)):
        figure = solution.plot()
        assert len([axis for axis in figure.axes if axis.get_title()]) == count
        plt.close(figure)


def test_what_was_found_before_a_blow_up_is_embedded_too():
    """u' = u², u(0) = 5 ends at t = 1/5."""
    problem = fp.Problem("u_t = lap(u) + u^2", box(4), (0, 1), 5, "u_n = 0")
    with pytest.raises(fp.IntegrationError) as caught:
        fp.solve(problem)
    before = caught.value.solution
    assert before.problem.domain is problem.domain
    assert before.problem.time[1] == pytest.approx(0.2, abs=1e-3)
    assert float(before(0.1, 0.2, 0.3, 0.4, 0.1)) == pytest.approx(10.0, abs=1e-6)


def test_a_poor_solution_of_a_good_reduction_is_kept_and_warned_about():
    """A front that 1-d can't resolve at this width is not resolved in more dimensions either."""
    text = "tanh((x + y - 1)/0.01)"
    problem = fp.Problem("u_t = 0.0001*lap(u)", box(2), (0, 0.01), text, f"u = {text}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solution = fp.solve(problem)
    assert solution.subspace is not None
    texts = [str(w.message) for w in caught if issubclass(w.category, fp.FrozenPinnWarning)]
    assert any("the network represents the initial value of u only to" in text for text in texts)
