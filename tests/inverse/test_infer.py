"""Inference of unknown numbers: values, error bars, and what is said where nothing can be learnt."""

import pickle

import numpy as np
import pytest

import frozenpinn as fp

SQUARE = fp.Box([0, 0], [1, 1])
QUICK = fp.Settings(width=160)


def poisson(**unknowns):
    """−u_xx − a u_yy = s·sin(πx)sin(πy) with u = 0: u = s/(π²(1 + a)) sin sin, so only s/(1 + a) can be told."""
    given = {"a": 1.0, "s": 1.0} | unknowns
    return fp.Problem("u_xx + a*u_yy = -s*sin(pi*x)*sin(pi*y)", SQUARE, boundary="u = 0", parameters=given)


def bump(x, a=1.0, s=1.0):
    return s / (np.pi**2 * (1 + a)) * np.prod(np.sin(np.pi * x), axis=1)


@pytest.fixture(scope="module")
def places():
    return np.random.default_rng(1).uniform(0, 1, (30, 2))


@pytest.fixture(scope="module")
def found(places):
    noise = 1e-3 * np.random.default_rng(2).standard_normal(30)
    data = fp.Measurements(places, bump(places, a=2.0) + noise, noise=1e-3)
    return fp.infer(poisson(a=fp.Unknown(1.0, 0.1, 10)), data, settings=QUICK)


def test_exact_data_give_the_number_to_eight_digits(places):
    found = fp.infer(poisson(a=fp.Unknown(1.0)), fp.Measurements(places, bump(places, a=2.0)), settings=QUICK)
    estimate = found.parameters["a"]
    assert abs(estimate.value - 2.0) < 1e-8
    assert abs(estimate.value - 2.0) < 10 * estimate.std < 1e-7


def test_noise_gives_the_error_bar_of_linear_theory(found, places):
    slopes = -bump(places, a=2.0) / 3.0  # ∂u/∂a
    assert found.parameters["a"].std == pytest.approx(1e-3 / np.linalg.norm(slopes), rel=0.1)
    assert abs(found.parameters["a"].value - 2.0) < 4 * found.parameters["a"].std
    assert 0.4 < found.misfit < 1.8
    assert found.freedom == 29


def test_the_solution_belongs_to_the_estimate(found):
    assert found.solution(0.5, 0.5) == pytest.approx(1 / (np.pi**2 * (1 + float(found.parameters["a"]))), rel=1e-6)
    assert found.solution.problem.parameters.constants["a"] == float(found.parameters["a"])


def test_the_report_and_the_estimate_read_well(found, tmp_path):
    assert "inferred from 30 measurements" in found.report
    assert "misfit: χ²" in found.report
    assert " ± " in str(found.parameters["a"])
    assert "(95 %: " in str(found.parameters["a"])
    found.plot(str(tmp_path / "fit.png"))
    assert (tmp_path / "fit.png").stat().st_size > 10_000


def test_samples_have_the_covariance(found):
    drawn = found.sample(4000, seed=1)["a"]
    assert np.std(drawn) == pytest.approx(found.parameters["a"].std, rel=0.05)
    assert np.array_equal(drawn, found.sample(4000, seed=1)["a"])


def test_new_data_are_inferred_like_from_the_start(found, places):
    data = fp.Measurements(places, bump(places, a=2.2), noise=1e-3)
    with pytest.warns(fp.FrozenPinnWarning, match="times smaller than given"):
        again = found.again(data)
    assert float(again.parameters["a"]) == pytest.approx(2.2, abs=1e-2 * again.parameters["a"].std)
    assert set(again.seconds) == {"steps from the old fit"}
    assert again.solution(0.5, 0.5) == pytest.approx(1 / (np.pi**2 * 3.2), rel=1e-4)


def test_results_can_be_pickled(found):
    copy = pickle.loads(pickle.dumps(found))
    assert float(copy.parameters["a"]) == float(found.parameters["a"])
    with pytest.raises(fp.EvaluationError, match=r"call infer\(found.problem, data\) again"):
        copy.again(found.data)


def test_the_same_seed_gives_the_same_bits(places):
    data = fp.Measurements(places, bump(places, a=2.0), noise=1e-4)
    with pytest.warns(fp.FrozenPinnWarning, match="smaller than given"):
        one, two = (fp.infer(poisson(a=fp.Unknown(1.0)), data, settings=QUICK) for _ in range(2))
    assert float(one.parameters["a"]) == float(two.parameters["a"])


def test_an_unknown_in_a_boundary_condition_is_found():
    problem = fp.Problem(
        "u_xx = 1",
        fp.Interval(0, 1),
        boundary={"left": "u = 1", "right": "u_n + h*u = 0"},
        parameters={"h": fp.Unknown(1.0)},
    )  # u = 1 - (1 + 1.5 h)/(1 + h) x + x²/2
    x = np.linspace(0, 1, 9)
    found = fp.infer(problem, fp.Measurements(x, 1 - 4.75 / 3.5 * x + x**2 / 2))
    assert float(found.parameters["h"]) == pytest.approx(2.5, rel=1e-8)


def test_derivatives_can_be_measured():
    problem = fp.Problem("k*u_xx = -1", fp.Interval(0, 1), boundary="u = 0", parameters={"k": fp.Unknown(1.0)})
    found = fp.infer(problem, fp.Measurements([0.0, 1.0, 0.2], [0.25, -0.25, 0.15], derivative="x"))
    assert float(found.parameters["k"]) == pytest.approx(2.0, rel=1e-8)


def test_a_nonlinear_problem():
    problem = fp.Problem(
        "u_xx = k*u**3 + f",
        fp.Interval(0, 1),
        boundary={"left": "u = 1", "right": "u = e"},
        parameters={"k": fp.Unknown(0.1), "f": "exp(x) - 2*exp(3*x)", "e": "exp(1)"},
    )
    x = np.linspace(0.1, 0.9, 9)
    found = fp.infer(problem, fp.Measurements(x, np.exp(x)))
    assert float(found.parameters["k"]) == pytest.approx(2.0, rel=1e-7)


def test_a_poor_start_is_left_by_other_starts():
    """u'' + k²u = 0 with u(0) = 0, u(1) = 1 resonates at k = π, 2π: fits are stuck between."""
    problem = fp.Problem(
        "u_xx + k**2*u = 0",
        fp.Interval(0, 1),
        boundary={"left": "u = 0", "right": "u = 1"},
        parameters={"k": fp.Unknown(1.0, 0.5, 9.0)},
    )
    x = np.linspace(0.05, 0.95, 19)
    found = fp.infer(problem, fp.Measurements(x, np.sin(7.5 * x) / np.sin(7.5)), settings=fp.Settings(width=60))
    assert float(found.parameters["k"]) == pytest.approx(7.5, rel=1e-6)


# ---- in time ------------------------------------------------------------------------------------------


def heat(**unknowns):
    given = {"k": 0.1, "c": 1.0} | unknowns
    return fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "c*sin(pi*x)", "u = 0", parameters=given)


def test_evolutions_and_their_initial_values():
    x, t = np.array([0.2, 0.5, 0.5, 0.7]), np.array([0.1, 0.5, 1.0, 0.3])
    values = 3.0 * np.exp(-0.2 * np.pi**2 * t) * np.sin(np.pi * x)
    found = fp.infer(heat(k=fp.Unknown(0.1), c=fp.Unknown(1.0)), fp.Measurements(x, values, times=t))
    assert float(found.parameters["k"]) == pytest.approx(0.2, rel=1e-8)
    assert float(found.parameters["c"]) == pytest.approx(3.0, rel=1e-8)
    assert found.solution(0.5, 1.0) == pytest.approx(3.0 * np.exp(-0.2 * np.pi**2), rel=1e-7)


def test_two_fields_of_a_reaction():
    problem = fp.Problem(
        ["u_t = 0.1*u_xx - k*u", "v_t = 0.1*v_xx + k*u"],
        fp.Interval(0, 1),
        (0, 1),
        ["1", "0"],
        [fp.Neumann(0, field="u"), fp.Neumann(0, field="v")],
        parameters={"k": fp.Unknown(1.0)},
    )
    t = np.linspace(0.2, 1.0, 5)
    data = [
        fp.Measurements(np.full(5, 0.3), np.exp(-2.0 * t), times=t, field="u"),
        fp.Measurements(np.full(5, 0.6), 1 - np.exp(-2.0 * t), times=t, field="v"),
    ]
    assert float(fp.infer(problem, data).parameters["k"]) == pytest.approx(2.0, rel=1e-7)


# ---- bad input ----------------------------------------------------------------------------------------


def refused(problem, data, text, **options):
    with pytest.raises(fp.FrozenPinnError, match=text):
        fp.infer(problem, data, **options)


def test_what_can_not_be_inferred(places):
    data, free = fp.Measurements(places, bump(places)), fp.Unknown(1.0)
    refused(poisson(), data, "has no unknown: write one into it")
    refused("u_xx", data, "takes a Problem, got str")
    refused(poisson(a=free), [1.0], "takes Measurements or a list of them, got list")
    refused(poisson(a=free), data, "level must lie between 0 and 1, got 95", level=95)
    refused(poisson(a=free, q=free), data, "unknown 'q' does not appear in the equations")
    refused(
        poisson(a=free, s=free),
        data,
        "can't tell 'a', 's' apart: they do not change along the direction",
        settings=QUICK,
    )
    refused(poisson(a=free), fp.Measurements(places[:1], [0.1]), "1 measurement.* can't tell 1 unknown.* at least 2")
    on_side = np.stack([np.zeros(5), np.linspace(0, 1, 5)], axis=1)
    refused(poisson(a=free), fp.Measurements(on_side, np.zeros(5), noise=0.1), "do not depend on 'a'", settings=QUICK)
    mixed = [data, fp.Measurements(places, bump(places), noise=0.1)]
    refused(poisson(a=free), mixed, "noise of some measurements is given and that of others is not")


def test_solve_says_to_infer():
    with pytest.raises(fp.SettingsError, match=r"'a': to be found from measurements\. Call fp\.infer"):
        fp.solve(poisson(a=fp.Unknown(1.0)))


def test_bounds_that_exclude_every_fit_are_told(places):
    data = fp.Measurements(places, bump(places, a=2.0), noise=1e-4)
    with pytest.warns(fp.FrozenPinnWarning) as told:
        found = fp.infer(poisson(a=fp.Unknown(0.5, 0.1, 1.0)), data, settings=QUICK, starts=0)
    assert found.parameters["a"].at_bound == "upper"
    assert "at its upper bound" in str(found.parameters["a"])
    texts = " ".join(str(w.message) for w in told)
    assert "'a' lies at its upper bound 1: no value between the bounds fits the data" in texts
    assert "times as large as given" in texts


def test_a_start_without_a_solution_is_told():
    problem = fp.Problem(
        "u_xx + lam*exp(u) = 0", fp.Interval(0, 1), boundary="u = 0", parameters={"lam": fp.Unknown(6.0)}
    )
    refused(problem, fp.Measurements([0.5, 0.6], [0.1, 0.1]), "no solution at the start of the unknowns, lam = 6")


def test_static_problems_may_have_nonlinear_conditions():
    """u = 1 - a x of u_xx = 0 with u_n = -s u⁴ at x = 1: a = s (1 - a)⁴, so a = 1/2 for s = 8."""
    radiating = fp.Problem(
        "u_xx = 0",
        fp.Interval(0, 1),
        boundary={"left": "u = 1", "right": "u_n = -s*u**4"},
        parameters={"s": fp.Unknown(2.0)},
    )
    x = np.linspace(0.1, 1.0, 10)
    found = fp.infer(radiating, fp.Measurements(x, 1.0 - 0.5 * x))
    assert float(found.parameters["s"]) == pytest.approx(8.0, rel=1e-8)


def test_data_may_need_the_normal_of_a_curved_side():
    """u = k (x² + y²) on the unit disk, where u_n = 2 k."""
    bowl = fp.Problem(
        "lap(u) = 4*k",
        fp.Disk(),
        boundary="u_n + u = k*dot(n, [2*x, 2*y]) + k*(x**2 + y**2)",
        parameters={"k": fp.Unknown(1.0)},
    )
    points = fp.Disk().sample(20, "random", 0).x
    found = fp.infer(bowl, fp.Measurements(points, 3.0 * np.sum(points**2, axis=1)))
    assert float(found.parameters["k"]) == pytest.approx(3.0, rel=1e-8)


def test_a_field_beside_a_nonlinear_condition():
    """u = 1 - x/2 of dx(k*u_x) = f with k = 1 + x: f = -1/2; at x = 1, k u_n = -1 = -16 u⁴."""
    radiating = fp.Problem(
        "dx(k*u_x) = -0.5",
        fp.Interval(0, 1),
        boundary={"left": "u = 1", "right": "k*u_x = -16*u**4"},
        parameters={"k": fp.UnknownField(1.5, positive=True)},
    )
    x = np.linspace(0.02, 1.0, 50)
    data = fp.Measurements(x, 1.0 - 0.5 * x + 1e-4 * np.random.default_rng(0).standard_normal(50), noise=1e-4)
    found = fp.infer(radiating, data)
    assert np.max(np.abs(found.field("k")(x) - (1.0 + x))) < 0.05
