"""The solution as a function: broadcasting, derivatives, refusals, error measures, report, reproducibility."""

import json

import numpy as np
import pytest

import frozenpinn as fp
import zoo
from frozenpinn import EvaluationError
from frozenpinn.integrators.hermite import HermiteTrajectory

PI = np.pi


@pytest.fixture
def heat():
    return zoo.solved("heat")


@pytest.fixture
def ring():
    return zoo.solved("transport")


@pytest.fixture
def string():
    return zoo.solved("string")


@pytest.fixture
def plate():
    return zoo.solved("plate")


@pytest.fixture
def quantum():
    return zoo.solved("quantum")


# ---- broadcasting: all ways of asking give the same numbers ---------------------------------------

X, T = np.linspace(0.1, 0.9, 5), np.linspace(0.0, 0.2, 5)


def test_numbers_give_a_number(heat):
    value = heat(0.3, 0.1)
    assert np.shape(value) == ()
    assert float(value) == pytest.approx(np.exp(-(PI**2) * 0.1) * np.sin(0.3 * PI), rel=1e-9)
    assert f"{value:.3f}" == "0.302"


def test_points_at_one_time(heat):
    values = heat(X, 0.1)
    assert values.shape == (5,)
    assert values == pytest.approx([float(heat(x, 0.1)) for x in X], rel=1e-12)


def test_one_point_at_many_times(heat):
    values = heat(0.3, T)
    assert values.shape == (5,)
    assert values == pytest.approx([float(heat(0.3, t)) for t in T], rel=1e-12)


def test_pairs(heat):
    values = heat(X, T)
    assert values.shape == (5,)
    assert values == pytest.approx([float(heat(x, t)) for x, t in zip(X, T, strict=True)], rel=1e-12)


def test_grid_has_the_pairs_on_its_diagonal(heat):
    grid = heat(X[:, None], T[None, :])
    assert grid.shape == (5, 5)
    assert np.diag(grid) == pytest.approx(heat(X, T), rel=1e-12)
    np.testing.assert_allclose(heat(X[:, None], T), grid, rtol=0, atol=0)
    np.testing.assert_allclose(heat(X, T[:, None]), grid.T, rtol=1e-12)


def test_partly_shared_axes(heat):
    """Times that vary along one of two axes of the points: neither pairs nor a grid."""
    x = np.linspace(0, 1, 12).reshape(3, 4)
    t = np.array([0.0, 0.1, 0.2])[:, None]
    values = heat(x, t)
    assert values.shape == (3, 4)
    np.testing.assert_allclose(values, [[float(heat(b, t[i, 0])) for b in row] for i, row in enumerate(x)], atol=1e-13)


def test_lists_and_integers(heat):
    assert heat([0.25, 0.5], 0).shape == (2,)
    assert heat(1, 0) == pytest.approx(0, abs=1e-12)


def test_nothing_asked_nothing_returned(heat):
    assert heat(np.array([]), 0.1).shape == (0,)
    assert heat(np.zeros((0, 1)), T).shape == (0, 5)


def test_many_points_are_evaluated_in_blocks(heat, monkeypatch):
    x, t = np.linspace(0, 1, 1000), np.linspace(0, 0.2, 1000)
    pairs, grid = heat(x, t), heat(x[:, None], T)
    monkeypatch.setattr("frozenpinn.results.many_points._BLOCK", 64)
    monkeypatch.setattr("frozenpinn.results.many_points._FEWEST", 0)
    np.testing.assert_allclose(heat(x, t), pairs, rtol=0, atol=1e-15)
    np.testing.assert_allclose(heat(x[:, None], T), grid, rtol=0, atol=1e-15)


def test_values_of_a_call_may_be_changed(heat):
    first = heat(X[:, None], T)
    first[:] = 7.0
    assert heat(X[:, None], T).max() < 1.1


class TestTwoDimensions:
    points = np.random.default_rng(0).uniform([0, 0], [1, 2], (6, 2))

    def test_three_numbers(self, plate):
        assert np.shape(plate(0.5, 0.5, 0.05)) == ()
        assert float(plate(0.5, 0.5, 0.05)) == pytest.approx(np.exp(-0.1 * PI**2), rel=1e-6)

    def test_points_as_one_array(self, plate):
        x, y = self.points.T
        np.testing.assert_allclose(plate(self.points, 0.05), plate(x, y, 0.05), rtol=0, atol=0)
        single = [float(plate(*p, 0.05)) for p in self.points]
        np.testing.assert_allclose(plate(self.points, 0.05), single, atol=1e-13)

    def test_points_with_a_time_each(self, plate):
        x, y = self.points.T
        t = np.linspace(0, 0.1, 6)
        assert plate(self.points, t).shape == (6,)
        np.testing.assert_allclose(plate(self.points, t), plate(x, y, t), rtol=0, atol=0)
        single = [float(plate(*p, s)) for p, s in zip(self.points, t, strict=True)]
        np.testing.assert_allclose(plate(self.points, t), single, atol=1e-13)

    def test_grid_of_three_axes(self, plate):
        x, y, t = np.linspace(0, 1, 3), np.linspace(0, 2, 4), np.linspace(0, 0.1, 5)
        grid = plate(x[:, None, None], y[None, :, None], t)
        assert grid.shape == (3, 4, 5)
        expected = np.exp(-2 * PI**2 * t) * np.sin(PI * x)[:, None, None] * np.sin(PI * y)[None, :, None]
        np.testing.assert_allclose(grid, expected, atol=1e-6)

    def test_points_that_share_the_axis_of_time(self, plate):
        """x varies along the first axis, y and t along the second: neither pairs nor a grid."""
        x, y, t = np.array([0.2, 0.4])[:, None], np.array([0.5, 1.0, 1.5]), np.array([0.0, 0.05, 0.1])
        values = plate(x, y, t)
        assert values.shape == (2, 3)
        assert values[1, 2] == pytest.approx(float(plate(0.4, 1.5, 0.1)), abs=1e-13)


# ---- derivatives ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("derivative", "factor", "function"),
    [
        ("", 1, np.sin),
        ("x", PI, np.cos),
        ("xx", -(PI**2), np.sin),
        ("xxx", -(PI**3), np.cos),
        ("t", -(PI**2), np.sin),
        ("xt", -(PI**3), np.cos),
        ("tx", -(PI**3), np.cos),
        ("xxt", PI**4, np.sin),
    ],
)
def test_derivatives_of_the_heat_equation(heat, derivative, factor, function):
    expected = factor * np.exp(-(PI**2) * T) * function(PI * X[:, None])
    found = heat(X[:, None], T, derivative=derivative)
    np.testing.assert_allclose(found, expected, atol=1e-5 * abs(factor))


@pytest.mark.parametrize(
    ("derivative", "expected"),
    [
        ("t", lambda x, t: -PI * np.sin(PI * x) * np.sin(PI * t)),
        ("tt", lambda x, t: -(PI**2) * np.sin(PI * x) * np.cos(PI * t)),
        ("xt", lambda x, t: -(PI**2) * np.cos(PI * x) * np.sin(PI * t)),
        ("xtt", lambda x, t: -(PI**3) * np.cos(PI * x) * np.cos(PI * t)),
    ],
)
def test_derivatives_of_second_order_in_time(string, derivative, expected):
    x, t = X[:, None], np.linspace(0, 1, 7)
    np.testing.assert_allclose(string(x, t, derivative=derivative), expected(x, t), atol=1e-5)


def test_mixed_derivatives_in_two_dimensions(plate):
    x, y, t = 0.3, 0.4, 0.05
    decay = np.exp(-2 * PI**2 * t)
    assert float(plate(x, y, t, derivative="xy")) == pytest.approx(
        decay * PI**2 * np.cos(PI * x) * np.cos(PI * y), abs=1e-5
    )
    np.testing.assert_allclose(plate(x, y, t, derivative="xy"), plate(x, y, t, derivative="yx"), rtol=0, atol=0)


def test_derivative_with_time_dependent_boundary_data():
    problem = fp.Problem(
        "u_t = u_xx",
        fp.Interval(0, 1),
        (0, 1),
        "exp(-x)*cos(x)",
        "u = exp(-x)*cos(2*t - x)",
        exact="exp(-x)*cos(2*t - x)",
    )
    solution = fp.solve(problem, settings=fp.Settings(width=60))
    t = np.linspace(0, 1, 9)
    expected = -2 * np.exp(-X[:, None]) * np.sin(2 * t - X[:, None])
    np.testing.assert_allclose(solution(X[:, None], t, derivative="t"), expected, atol=1e-6)
    np.testing.assert_allclose(solution(0.0, t), np.cos(2 * t), atol=1e-12)


def test_fields_of_a_system(quantum):
    t = np.linspace(0, 1, 7)
    for field, exact in (("a", lambda x: np.cos(x) * np.cos(t)), ("b", lambda x: -np.cos(x) * np.sin(t))):
        np.testing.assert_allclose(quantum(X[:, None], t, field=field), exact(X[:, None]), atol=1e-9)
    np.testing.assert_allclose(quantum(0.0, t, field="b", derivative="t"), -np.cos(t), atol=1e-6)


# ---- periodic axes --------------------------------------------------------------------------------


def test_periodic_points_are_wrapped(ring):
    inside = ring(X, 1.5)
    for shift in (-6.0, -2.0, 2.0, 200.0):
        np.testing.assert_allclose(ring(X + shift, 1.5), inside, atol=1e-10)
    np.testing.assert_allclose(ring(X + 2, 1.5, derivative="x"), ring(X, 1.5, derivative="x"), atol=1e-9)
    assert float(ring(2.0, 1.5)) == pytest.approx(float(ring(0.0, 1.5)), abs=1e-12)


# ---- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((1.2, 0.1), r"the point \(1\.2\) lies outside the domain Interval\(\[0, 1\]\)\."),
        (([0.5, -0.01], 0.1), r"the point \(-0\.01\) lies outside"),
        ((np.nan, 0.1), r"the point \(nan\) lies outside"),
        ((0.5, 0.3), r"t = 0\.3 lies outside the solved interval \[0, 0\.2\]\."),
        ((0.5, [0.1, -0.2]), r"t = -0\.2 lies outside the solved interval \[0, 0\.2\]\."),
        ((0.5, np.nan), r"t = nan lies outside"),
        ((np.zeros(3), np.zeros(4)), r"the shapes \(3,\), \(4,\) do not broadcast; for a grid write"),
        ((0.5,), r"expected solution\(x, t\), or solution\(points, t\) with points of shape \(n, 1\); got 1 argument"),
        ((0.5, 0.1, 0.1), r"expected solution\(x, t\), or .* got 3 argument"),
        ((), r"got 0 argument\(s\)"),
    ],
)
def test_refused_places(heat, arguments, text):
    with pytest.raises(EvaluationError, match=text):
        heat(*arguments)


def test_places_at_the_very_edge_are_allowed(heat):
    assert heat(1 + 1e-12, 0.2 + 1e-12) == pytest.approx(0, abs=1e-10)


def test_nan_is_refused_on_a_periodic_axis_too(ring):
    with pytest.raises(EvaluationError, match=r"the point \(nan\) lies outside the domain"):
        ring(np.nan, 1.5)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"field": "w"}, r"unknown field 'w'; the fields are 'u'\."),
        ({"derivative": "y"}, r"derivative='y' is not made of the coordinates 't', 'x'; write for example 'xx'\."),
        ({"derivative": "u_x"}, r"derivative='u_x' is not made of the coordinates"),
        ({"derivative": "tt"}, r"more time derivatives than the equation of 'u', which is of order 1\."),
    ],
)
def test_refused_requests(heat, options, text):
    with pytest.raises(EvaluationError, match=text):
        heat(0.5, 0.1, **options)


def test_third_time_derivative_is_refused(string):
    with pytest.raises(EvaluationError, match="which is of order 2"):
        string(0.5, 0.1, derivative="ttt")


def test_a_system_wants_a_field(quantum):
    with pytest.raises(EvaluationError, match=r"the system has the fields 'a', 'b'; say field='a'\."):
        quantum(0.5, 0.1)
    with pytest.raises(EvaluationError, match=r"unknown field 'u'; the fields are 'a', 'b'\."):
        quantum(0.5, 0.1, field="u")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            (0.5, 0.05),
            r"expected solution\(x, y, t\), or solution\(points, t\) with points of shape \(n, 2\); got 2 argument",
        ),
        ((np.zeros((4, 3)), 0.05), r"points of shape \(n, 2\); got 2 argument\(s\) of shape \(4, 3\), \(\)"),
        ((np.zeros((4, 2)), np.zeros(3)), "do not broadcast"),
        ((0.5, 2.5, 0.05), r"the point \(0\.5, 2\.5\) lies outside the domain Box\(\[0, 1\] × \[0, 2\]\)\."),
    ],
)
def test_refused_places_in_two_dimensions(plate, arguments, text):
    with pytest.raises(EvaluationError, match=text):
        plate(*arguments)


# ---- grid, error, estimate ------------------------------------------------------------------------


def test_grid_is_a_dataset_with_names(heat):
    table = heat.grid(points=11, times=5)
    assert table.u.dims == ("x", "t")
    assert dict(table.sizes) == {"x": 11, "t": 5}
    np.testing.assert_allclose(table.u.sel(x=0.5, t=0.1, method="nearest"), heat(0.5, 0.1), rtol=1e-12)
    slope = heat.grid(points=11, times=5, derivative="x")
    np.testing.assert_allclose(slope.u.sel(x=0, t=0), PI, rtol=1e-6)


def test_grid_in_two_dimensions(plate):
    table = plate.grid(points=5, times=3)
    assert table.u.dims == ("x", "y", "t")
    assert table.y.values[-1] == 2.0
    np.testing.assert_allclose(table.u[1, 1, 1], plate(0.25, 0.5, 0.05), atol=1e-13)


def test_grid_of_a_system_holds_all_fields(quantum):
    table = quantum.grid(points=9, times=3)
    assert set(table.data_vars) == {"a", "b"}
    np.testing.assert_allclose(table.a**2 + table.b**2, np.cos(table.x) ** 2 + 0 * table.t, atol=1e-9)


def test_error_is_that_of_the_benchmarks(heat):
    """Relative L² error and RMSE on 256 × 100 uniform points, ends included."""
    x, t = np.linspace(0, 1, 256), np.linspace(0, 0.2, 100)
    exact = np.exp(-(PI**2) * t) * np.sin(PI * x[:, None])
    difference = heat(x[:, None], t) - exact
    error = heat.error()
    assert error["rel_l2"] == pytest.approx(np.linalg.norm(difference) / np.linalg.norm(exact), rel=1e-3)
    assert error["rmse"] == pytest.approx(np.sqrt(np.mean(difference**2)), rel=1e-3)
    assert error["rel_l2"] < 1e-9


def test_errors_of_the_other_kinds(string, plate, quantum, ring):
    assert string.error()["rel_l2"] < 1e-9
    assert plate.error()["rel_l2"] < 1e-6
    assert quantum.error("a")["rel_l2"] < 1e-9
    assert quantum.error("b")["rel_l2"] < 1e-9
    assert ring.error()["rel_l2"] < 1e-9


def test_error_needs_an_exact_solution():
    solution = fp.solve(
        fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0"), settings=fp.Settings(width=20)
    )
    with pytest.raises(EvaluationError, match=r"the problem has no exact solution; give Problem\(…, exact=…\)\."):
        solution.error()


def test_error_of_the_zero_solution_is_zero():
    solution = fp.solve(
        fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), 0, "u = 0", exact=0), settings=fp.Settings(width=20)
    )
    assert solution.error() == {"rel_l2": 0.0, "relative": 0.0, "rmse": 0.0}


ADVECTION = fp.Problem(
    "u_t + 40*u_x = 0", fp.Interval(0, 2 * PI, periodic=True), (0, 1), "sin(x)", exact="sin(x - 40*t)"
)
HEAT = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.2), "sin(pi*x)", "u = 0", exact="exp(-pi**2*t)*sin(pi*x)")


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("width", [16, 24, None])
@pytest.mark.parametrize("problem", [ADVECTION, HEAT], ids=["advection", "heat"])
def test_estimate_follows_the_true_error(problem, width, seed):
    """Over seven orders of magnitude; below 1e-12 the error of one seed is a matter of luck."""
    solution = fp.solve(problem, settings=fp.Settings(width=width), seed=seed)
    estimated = fp.estimate_error(solution)
    error, estimate = solution.error()["rel_l2"], estimated.error_estimate["u"]
    assert error / 30 < estimate < 30 * max(error, 1e-12)
    assert estimated.error_estimate == {"u": estimate}


@pytest.mark.parametrize("tol", [1e-3, 1e-5])
def test_estimate_sees_the_error_of_the_time_integration(tol):
    """Two solves with the same tolerance take similar steps, so their errors in time are not independent."""
    front = "1/(1 + exp(x - 5*t))**2"
    problem = fp.Problem(
        "u_t = u_xx + 6*u*(1 - u)", fp.Interval(-5, 10), (0, 1), "1/(1 + exp(x))**2", f"u = {front}", exact=front
    )
    solution = fp.solve(problem, settings=fp.Settings(width=100, rtol=tol))
    error = solution.error()["rel_l2"]
    assert error / 3 < fp.estimate_error(solution).error_estimate["u"] < 3 * error


def test_estimate_is_made_once(heat):
    first = fp.estimate_error(heat)
    assert fp.estimate_error(first) is first
    assert fp.estimate_error(first).error_estimate is first.error_estimate


def test_estimate_of_every_field(quantum):
    solution = fp.estimate_error(fp.solve(quantum.problem, settings=fp.Settings(width=30)))
    assert set(solution.error_estimate) == {"a", "b"}
    for field in ("a", "b"):
        assert solution.error_estimate[field] > solution.error(field)["rel_l2"] / 30


# ---- report ---------------------------------------------------------------------------------------

STAGES = ("points", "hidden, boundary and SVD layer", "operators", "initial state", "integration", "checks", "other")


def test_report_tells_stages_sizes_and_residuals(heat):
    text = str(heat.report)
    for label in (*STAGES, "total", "network", "rank", "linear part", "integrator"):
        assert f"\n{label} " in f"\n{text}", label
    assert "u_t = u_xx" in text
    assert "multi-scale, width 60, 120 points" in text
    assert "symmetric, fastest growth rate -9.87e+00 (spectral abscissa)" in text
    assert "exact, no time steps" in text
    for label in ("PDE residual u", "boundary residual", "initial residual u", "true error u"):
        assert label in text, label
    assert " ms\n" in text


def test_report_counts_the_work_of_an_integrator():
    solution = fp.solve(
        fp.Problem("u_t = u_xx - u**3", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0"),
        settings=fp.Settings(width=30, rtol=1e-5, integrator="cvode"),
    )
    report = solution.report
    assert report.steps > 5
    assert report.rhs_evaluations > report.steps
    assert report.jacobian_evaluations > 0
    assert f"cvode-bdf, {report.steps} steps, {report.rhs_evaluations} right-hand sides" in str(report)
    assert report.error is None
    assert "true error" not in str(report)


def test_report_of_a_good_solution_has_small_residuals(heat, string, plate, quantum):
    for solution in (heat, string, plate, quantum):
        residuals = solution.report.residuals
        assert max(residuals.pde.values()) < 1e-3
        assert residuals.boundary < 1e-9
        assert max(residuals.initial.values()) < 1e-6


class Euler:
    """Fifty steps of the explicit Euler method: an integrator that is far from accurate."""

    name = "euler"

    def integrate(self, system, observer):
        times, states = np.linspace(*system.time, 51), [system.initial_state]
        for t in times[:-1]:
            states.append(states[-1] + (times[1] - times[0]) * system.rhs(t, states[-1]))
        rates = [system.rhs(t, y) for t, y in zip(times, states, strict=True)]
        return HermiteTrajectory(times, np.array(states), np.array(rates))


def test_residuals_notice_a_bad_integration():
    exact = "sin(pi*x)*exp(-(1 + 0.01*pi**2)*t)"
    problem = fp.Problem("u_t = 0.01*u_xx - u", fp.Interval(0, 1), (0, 0.5), "sin(pi*x)", "u = 0", exact=exact)
    good = fp.solve(problem, settings=fp.Settings(width=60, cutoff=1e-5))
    bad = fp.solve(problem, settings=fp.Settings(width=60, cutoff=1e-5, integrator=Euler()))
    assert bad.error()["rel_l2"] > 1e-3
    assert good.report.residuals.pde["u"] < 2e-4
    assert bad.report.residuals.pde["u"] > 5 * good.report.residuals.pde["u"], (
        "the residual contains what the time integration leaves over"
    )


def test_report_as_plain_data(heat, quantum, plate):
    for solution in (heat, quantum, plate):
        table = solution.report.as_dict()
        text = json.dumps(table, allow_nan=False)
        again = json.loads(text)
        assert again["rank"] == solution.system.coefficients
        assert set(again["residuals"]) == {"pde", "boundary", "initial"}
        assert tuple(again["seconds"]) == STAGES
        assert set(again["error"]) == set(solution.problem.fields)
        assert all(type(v) is float for v in again["seconds"].values())


def test_report_of_the_zero_solution_is_valid_json():
    solution = fp.solve(
        fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), 0, "u = 0", exact=0), settings=fp.Settings(width=20)
    )
    json.dumps(solution.report.as_dict(), allow_nan=False)


def test_report_shows_an_estimate_that_was_made_after_it():
    solution = fp.solve(HEAT, settings=fp.Settings(width=20))
    assert "estimated error" not in str(solution.report)
    assert "estimated error u" in str(fp.estimate_error(solution).report)


def test_compression_is_never_below_one(heat, plate, quantum):
    """More basis functions than products of neurons can't be."""
    for solution in (heat, plate, quantum):
        assert solution.report.compression >= 1


def test_repr_is_one_readable_line(heat):
    assert repr(heat).startswith("Solution(Problem(u_t = u_xx on Interval([0, 1]), t in [0, 0.2]), ")
    assert "\n" not in repr(heat)


# ---- reproducibility ------------------------------------------------------------------------------

NONLINEAR = fp.Problem("u_t = u_xx - u**3", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
CUBE = fp.Problem("u_t = lap(u)", fp.Box([0, 0], [1, 1]), (0, 0.05), "sin(pi*x)*sin(pi*y)", "u = 0")


@pytest.mark.parametrize(
    ("problem", "settings"),
    [
        (HEAT, fp.Settings(width=40)),
        (HEAT, fp.Settings(width=40, sampler="swim")),
        (HEAT, fp.Settings(width=40, point_method="random", cutoff=1e-6)),
        (NONLINEAR, fp.Settings(width=40)),
        (CUBE, fp.Settings(width=12)),
        (CUBE, fp.Settings(width=40, sampler="elm", boundary="augmented-ode")),
    ],
    ids=["linear", "swim", "random-points", "nonlinear", "product", "augmented"],
)
def test_same_seed_same_bits(problem, settings):
    first, second = (fp.solve(problem, seed=3, settings=settings) for _ in range(2))
    other = fp.solve(problem, seed=4, settings=settings)
    x = np.linspace(0.05, 0.95, 17)
    places = (x,) * problem.domain.dimension
    t = problem.time[1]
    assert first(*places, t).tobytes() == second(*places, t).tobytes()
    assert first(*places, t, derivative="xx").tobytes() == second(*places, t, derivative="xx").tobytes()
    assert not np.array_equal(first(*places, t), other(*places, t))
    np.testing.assert_allclose(first(*places, t), other(*places, t), atol=1e-2)


def test_looking_does_not_change_a_solution(heat):
    before = heat(X, 0.1).tobytes()
    heat.error(), heat.report, heat.grid(), fp.estimate_error(heat)
    assert heat(X, 0.1).tobytes() == before


# ---- warnings -------------------------------------------------------------------------------------


def test_warnings_point_at_the_line_that_called_solve():
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.01), "sin(20*pi*x)", "u = 0")
    with pytest.warns(fp.FrozenPinnWarning, match="represents the initial value of u only to") as caught:
        fp.solve(problem, settings=fp.Settings(width=10))
    assert all(warning.filename == __file__ for warning in caught)
    with pytest.warns(fp.FrozenPinnWarning, match="points are too few for width") as caught:
        fp.solve(HEAT, settings=fp.Settings(width=20, points=15))
    assert caught[0].filename == __file__


def test_motion_from_rest_is_not_taken_for_an_explosion():
    """The initial state is round-off of a fit to zero; what grows from there is the solution."""
    data = fp.Dirichlet(lambda t: np.sin(9 * t) ** 3)
    problem = fp.Problem("u_tt = u_xx", fp.Interval(0, 1), (0, 3), 0, {"left": data, "right": "u = 0"}, 0)
    fp.solve(problem, settings=fp.Settings(width=40))  # warnings are errors here


def test_derivatives_beyond_round_off_are_flagged():
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 0.2), "sin(x)", "u = 0")
    solution, x = fp.solve(problem), np.linspace(0.1, 3, 30)
    assert np.allclose(solution(x, 0.1, derivative="xxx"), -np.exp(-0.1) * np.cos(x), atol=1e-4)
    with pytest.warns(fp.FrozenPinnWarning, match="the derivative of order 7 is dominated by round-off"):
        solution(x, 0.1, derivative="x" * 7)


def test_a_front_that_is_not_resolved_is_flagged():
    problem = fp.Problem("u_t + u*u_x = 0.001*u_xx", fp.Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0")
    with pytest.warns(fp.FrozenPinnWarning, match="does not resolve u: its finest tenth carries"):
        solution = fp.solve(problem, settings=fp.Settings(width=100, windows=None))
    with pytest.warns(fp.FrozenPinnWarning, match="the estimated relative error is"):
        fp.estimate_error(solution)
