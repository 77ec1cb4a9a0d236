"""Tolerance in, answer and its error out: verdicts, estimates, budgets and what is said about them."""

import time
import warnings

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.evolution.estimate import compare
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.runtime.budget import Budget
from frozenpinn.search.settings import Settings
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases import CASES

CIRCLE = fp.Interval(0, 2 * np.pi, periodic=True)


def heat():
    return Problem("u_t = u_xx", fp.Interval(0, np.pi), (0, 1), "sin(x) + sin(5*x)/5", "u = 0", exact=HEAT)


HEAT = "exp(-t)*sin(x) + exp(-25*t)*sin(5*x)/5"


def wave():
    return Problem("u_tt = u_xx", CIRCLE, (0, 2), "sin(3*x)", None, 0, exact="sin(3*x)*cos(3*t)")


def burgers():
    front = "0.5 - 0.5*tanh((x - 0.5*t)/(4*nu))"
    return Problem(
        "u_t + u*u_x = nu*u_xx",
        fp.Interval(-1, 1),
        (0, 0.5),
        "0.5 - 0.5*tanh(x/(4*nu))",
        f"u = {front}",
        parameters={"nu": 0.02},
        exact=front,
    )


def box():
    shape = "exp(-2*t)*sin(x)*sin(y)"
    return Problem("u_t = lap(u)", fp.Box([0, 0], [np.pi, np.pi]), (0, 1), "sin(x)*sin(y)", "u = 0", exact=shape)


def disk():
    exact = "exp(-t)*(x**2 + y) + 1"
    return Problem(
        "u_t = lap(u) - exp(-t)*(x**2 + y + 4) + 2*exp(-t)",
        fp.Disk([0, 0], 1),
        (0, 1),
        "x**2 + y + 1",
        f"u = {exact}",
        exact=exact,
    )


def five_dimensions():
    total = "+".join(f"x{i}" for i in range(1, 6))
    return Problem(
        "u_t = lap(u)", fp.Ball([0] * 5, 1), (0, 0.5), f"sin({total})", f"u = exp(-5*t)*sin({total})",
        exact=f"exp(-5*t)*sin({total})",
    )  # fmt: skip


PROBLEMS = {f.__name__: f for f in (heat, wave, burgers, box, disk, five_dimensions)}


def quietly(problem, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.FrozenPinnWarning)
        return fp.solve(problem, **options)


# ---- the tolerance is met, and the estimate tells the error -----------------------------------------


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-8])
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_tolerance_is_met(name, tol):
    solution = fp.solve(PROBLEMS[name](), tol=tol)  # warnings are errors here
    error = solution.error()["relative"]
    assert solution.status == "converged"
    assert error <= tol
    assert error / 10 <= solution.error_estimate["u"] <= 10 * max(error, 1e-13)
    assert solution.error_estimate["u"] <= tol


def test_smaller_tolerances_take_more_neurons():
    widths = [fp.solve(heat(), tol=tol).width for tol in (1e-3, 1e-9, 1e-12)]
    assert widths[0] < widths[-1]


def test_every_field_has_its_own_estimate():
    problem = Problem(
        ["u_t = v_x", "v_t = u_x"], CIRCLE, (0, 1), ["sin(x)", "0"], exact=["sin(x)*cos(t)", "cos(x)*sin(t)"]
    )
    solution = fp.solve(problem, tol=1e-7)
    assert set(solution.error_estimate) == {"u", "v"}
    for name in "uv":
        assert solution.error(name)["rel_l2"] <= 1e-7
        assert solution.error_estimate[name] <= 1e-7
    assert solution.error_at(1.0, 0.5, field="v") < 1e-6


def test_without_a_tolerance_nothing_is_checked():
    solution = fp.solve(heat(), settings=fp.Settings(width=40))
    assert (solution.status, solution.verdict, solution.error_estimate, solution.witness) == ("unchecked", *[None] * 3)


def test_same_seed_same_answer():
    first, second = (fp.solve(heat(), tol=1e-6, seed=3) for _ in range(2))
    x = np.linspace(0, np.pi, 9)
    assert np.array_equal(first(x, 0.3), second(x, 0.3))
    assert dict(first.error_estimate) == dict(second.error_estimate)


def test_rough_data_are_reached_not_converged():
    problem = Problem("u_t + u_x = 0", CIRCLE, (0, 1), "abs(x - pi)")
    with pytest.warns(fp.FrozenPinnWarning, match=r"the estimated error is \S+, above tol=1e-09: ") as caught:
        solution = fp.solve(problem, tol=1e-9, time_limit=2)
    assert solution.status == "reached"
    assert solution.verdict.reason
    assert any(w.filename == __file__ for w in caught)
    x = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    exact = np.abs((x - 1) % (2 * np.pi) - np.pi)
    error = np.linalg.norm(solution(x, 1.0) - exact) / np.linalg.norm(exact)
    assert error / 10 < solution.error_estimate["u"] < 10 * error


def test_true_failures_are_raised():
    problem = Problem("u_t = u_xx/100 + u**2", CIRCLE, (0, 2), 1)
    with pytest.raises(fp.IntegrationError) as caught:
        quietly(problem, tol=1e-4)
    assert caught.value.time == pytest.approx(1.0, abs=0.02)


# ---- the course of the error -------------------------------------------------------------------------


def test_course_of_the_error_in_time_and_space():
    problem = burgers()
    solution = fp.solve(problem, tol=1e-5)
    estimate = solution.error_estimate
    assert estimate.times[0] == 0
    assert estimate.times[-1] == 0.5
    even = np.isin(estimate.times, np.linspace(0, 0.5, 21))
    assert np.sum(even) == 21
    over_all = np.sqrt(np.trapezoid(estimate.curves["u"] ** 2, estimate.times) / 0.5)
    assert estimate["u"] == pytest.approx(max(np.sqrt(np.mean(estimate.curves["u"][even] ** 2)), over_all))
    assert estimate.at([0.1, 0.2]).shape == (2,)
    assert estimate.at(0.5) == pytest.approx(estimate.curves["u"][-1])
    x, t = np.linspace(-1, 1, 200)[:, None], np.linspace(0.05, 0.5, 10)
    claimed = solution.error_at(x, t)
    exact = np.stack([problem.exact["u"](x, s) for s in t], axis=1)
    true = np.abs(solution(x, t) - exact)
    assert claimed.shape == (200, 10)
    ratio = np.sqrt(np.mean(claimed**2) / np.mean(true**2))
    assert 0.1 < ratio < 10
    assert np.corrcoef(claimed.ravel(), true.ravel())[0, 1] > 0.3  # it tells where
    assert np.all(claimed > 0)


def test_until_when_a_tolerance_holds():
    estimate = ErrorEstimate({"u": 0.1}, np.array([0.0, 1.0, 2.0]), {"u": np.array([1e-8, 1e-6, 1e-2])})
    assert [estimate.holds_until(tol) for tol in (1e-1, 1e-3, 1e-7, 1e-9)] == [2.0, 1.0, 0.0, 0.0]
    unknown = ErrorEstimate({"u": np.nan}, np.array([0.0, 1.0]), {"u": np.array([1e-8, np.nan])})
    assert (unknown.holds_until(1e-3), unknown.holds_from(1e-3)) == (0.0, np.inf)  # what is not known is not within
    assert repr(estimate) == "ErrorEstimate(u=0.1)"
    assert ErrorEstimate.from_dict(estimate.as_dict()) == estimate


class Chaotic:
    """A stand-in for a solution: sin x, wrong by an error that grows exponentially."""

    facts = provenance = None
    pieces = ()

    def __init__(self, size, rate):
        self.problem, self.size, self.rate = Problem("u_t + u*u_x = 0.1*u_xx", CIRCLE, (0, 2), "sin(3*x)"), size, rate

    @property
    def collocation(self):
        return np.linspace(0, 6, 100)[:, None]

    def jet_values(self, x, times, jet):
        return np.sin(3 * x) + np.minimum(self.size * np.exp(self.rate * times), 1.0) * np.cos(x)


@pytest.mark.parametrize(("rate", "found"), [(8.0, True), (0.5, False)])
def test_chaos_is_recognised(rate, found):
    growth = compare(Chaotic(1e-7, rate), Chaotic(0.0, rate), Settings()).growth
    assert (growth == pytest.approx(rate, rel=0.1)) if found else growth is None


# ---- what is said --------------------------------------------------------------------------------------


def test_report_in_words():
    text = str(fp.solve(heat(), tol=1e-6).report)
    assert "converged: the estimated error, " in text
    assert "is within tol=1e-06" in text
    assert "neurons → " in text
    assert "every function of the basis obeys the conditions" in text
    assert "linear, diffusion-like: in closed form" in text
    assert "one basis for all times, as the problem is linear" in text


def test_stored_solutions_keep_verdict_and_estimate(tmp_path):
    for problem in (heat(), five_dimensions()):
        solution = fp.solve(problem, tol=1e-6)
        solution.save(tmp_path / "s.fpinn", overwrite=True)
        loaded = fp.load(tmp_path / "s.fpinn")
        assert loaded.status == "converged"
        assert loaded.verdict == solution.verdict
        assert dict(loaded.error_estimate) == dict(solution.error_estimate)
        place = [np.full(3, 0.1)] * problem.domain.dimension
        assert np.allclose(loaded.error_at(*place, 0.2), solution.error_at(*place, 0.2), rtol=1e-2)


# ---- bad input: a message, and the best that is possible ----------------------------------------------------


def test_tolerance_below_double_precision():
    with pytest.warns(fp.FrozenPinnWarning) as caught:
        solution = fp.solve(heat(), tol=1e-15)
    text = str(caught[0].message)
    assert text == "tol=1e-15 is below what double precision can reach; tol=1e-13 is taken instead."
    assert solution.error()["rel_l2"] < 1e-11


@pytest.mark.parametrize("tol", [0, -1e-3, 1, 2.0, "fine", True, float("nan")])
def test_tolerances_that_make_no_sense(tol):
    with pytest.raises(fp.SettingsError, match="tol must lie between 0 and 1, got"):
        fp.solve(heat(), tol=tol)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (fp.Settings(rtol=1e-4), "rtol = 0.0001 contradicts tol=1e-08, which asks for more accuracy"),
        (
            fp.Settings(integrator=fp.integrators.SciPy("rk45", 1e-3, 1e-3), width=12),
            "the integrator's rtol = 0.001 contradicts tol=1e-08",
        ),
        (fp.Settings(cutoff=1e-5), "cutoff = 1e-05 contradicts tol=1e-08"),
        (fp.Settings(rcond=1e-5), "rcond = 1e-05 contradicts tol=1e-08"),
    ],
)
def test_contradictory_tolerances(settings, text):
    with pytest.warns(fp.FrozenPinnWarning) as caught:
        solution = fp.solve(heat(), tol=1e-8, settings=settings)
    assert any(text in str(warning.message) for warning in caught)
    assert solution.error()["rel_l2"] < 0.1


def test_fixed_sizes_do_not_grow():
    with pytest.warns(fp.FrozenPinnWarning, match="width=8 was given; left open, it grows until the tolerance is met"):
        solution = fp.solve(heat(), tol=1e-9, settings=fp.Settings(width=8))
    assert solution.status == "reached"
    assert solution.width == 8
    error = solution.error()["rel_l2"]
    assert error / 10 < solution.error_estimate["u"] < 10 * error
    assert fp.solve(heat(), tol=1e-9, settings=fp.Settings(sampler=fp.samplers.MultiScale(60))).status == "converged"


def test_a_small_budget_gives_what_there_is():
    problem = Problem("u_t + u_x = 0", CIRCLE, (0, 1), "abs(x - pi)")
    started = time.process_time()
    with pytest.warns(fp.FrozenPinnWarning) as caught:
        solution = fp.solve(problem, tol=1e-12, time_limit=3)
    assert any("time limit of 3 s" in str(warning.message) for warning in caught)
    assert time.process_time() - started < 25
    assert solution.status == "reached"


def test_memory_is_limited():
    problem = Problem("u_t + u_x = 0", CIRCLE, (0, 1), "abs(x - pi)")
    with pytest.warns(fp.FrozenPinnWarning, match=r"another step would need about .* GB, more than the memory limit"):
        solution = fp.solve(problem, tol=1e-9, memory_limit=1e6)
    assert solution.status == "reached"


@pytest.mark.parametrize(("rate", "tol"), [(50, 1e-5), (50, 1e-8), (1000, 1e-5), (1000, 1e-8)])
def test_errors_of_layers_in_time_are_seen(rate, tol):
    """The boundary value starts with a slope that the equation does not have: all of the error is at the beginning."""
    boundary = {"left": f"u = 1 - exp(-{rate}*t)", "right": "u = 0"}
    solution = fp.solve(Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), 0, boundary), tol=tol)
    n, x, times = np.arange(1, 20_000) * np.pi, np.linspace(0, 1, 41), np.geomspace(1e-6, 1, 60)
    found, exact = solution(x[:, None], times), []
    for t in times:
        modes = -2 * rate / n * (np.exp(-rate * t) - np.exp(-(n**2) * t)) / (n**2 - rate)
        exact.append((1 - x) * (1 - np.exp(-rate * t)) + np.sin(np.outer(x, n)) @ modes)
    missed = np.trapezoid(np.mean((found.T - exact) ** 2, axis=1), times)
    mean = np.trapezoid(np.mean(exact, axis=1), times)
    true = np.sqrt(missed / np.trapezoid(np.mean((exact - mean) ** 2, axis=1), times))
    assert solution.status == "converged"
    assert true < tol
    assert true / 10 < solution.error_estimate["u"] < 10 * true


def test_more_memory_than_there_is(monkeypatch):
    monkeypatch.setattr("frozenpinn.search.sizing.physical_memory", lambda: 4e5)
    square = Problem("u_t = lap(u)", fp.Box([0, 0], [1, 1]), (0, 0.1), "sin(pi*x)*sin(pi*y)", "u = 0")
    for tol in (None, 1e-6):
        with pytest.raises(
            fp.SettingsError,
            match=r"50 neurons per axis need about .*B of memory, and this machine has 0.4 MB; width=\d+ would fit\.",
        ):
            fp.solve(square, tol=tol, settings=fp.Settings(width=50))


def test_memory_for_nothing():
    with pytest.raises(
        fp.BudgetError,
        match=r"\d+ neurons need .* memory_limit=1, of which any solve takes 0.2 MB; no width .* Not even a first",
    ):
        fp.solve(heat(), tol=1e-6, memory_limit=1)


@pytest.mark.parametrize("width", [0.001, 0.0002])
def test_peaks_between_the_points_are_told(width):
    """Neither solution sees them, so that their distance says nothing; how far one gets depends on the machine."""
    problem = Problem(
        "u_t = 0.0001*u_xx", fp.Interval(0, 1), (0, 0.01), f"sin(pi*x) + exp(-((x - 0.618)/{width})**2)", "u = 0"
    )
    solution = quietly(problem, tol=1e-4, time_limit=5)
    x = np.linspace(0, 1, 40_001)
    wanted = problem.initial["u"](x[:, None], 0.0)
    missed = np.sqrt(np.mean((solution(x, 0.0) - wanted) ** 2)) / solution.error_estimate.scales["u"]
    assert solution.error_estimate.curves["u"][0] == pytest.approx(missed, rel=0.5)
    assert solution.status == ("converged" if solution.error_estimate["u"] <= 1e-4 else "reached")


def test_peaks_of_a_forcing_are_told():
    peak = "exp(-((x - 0.618)/0.001)**2)"
    problem = Problem(f"u_t = cos(pi*x) + {peak} + 0*u_xx", fp.Interval(0, 1), (0, 1), 0, fp.Free())
    found = quietly(problem, tol=1e-4)
    assert found.status == "converged"
    assert found(0.618, 1.0) == pytest.approx(np.cos(np.pi * 0.618) + 1, abs=1e-3)
    blind = quietly(problem, tol=1e-4, time_limit=1.5, settings=fp.Settings(sampler="elm", width=80))
    assert blind.status == "reached"
    assert blind.error_estimate["u"] > 1e-3
    assert "(width 0.001) is not resolved" in blind.verdict.reason


def test_growth_goes_on_while_nothing_is_resolved():
    pulse = "sin(x) + exp(-4*(sin((x - 1.2345)/2)/0.05)**2)"
    solution = fp.solve(Problem("u_t + u_x = 0", CIRCLE, (0, 1), pulse), tol=1e-4)
    assert solution.status == "converged"


def test_layers_that_decay_are_no_chaos():
    with pytest.warns(fp.FrozenPinnWarning) as caught:
        solution = fp.solve(Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), "cos(pi*x)", "u = 0"), tol=1e-2)
    assert solution.error_estimate.growth is None
    assert not any("chaos" in str(warning.message) for warning in caught)


def test_pulses_in_time():
    problem = Problem("u_t = u_xx + exp(-((t - 0.3)/0.01)**2)", fp.Interval(0, 1), (0, 1), "0.1", "u_n = 0")
    solution = fp.solve(problem, tol=1e-5)
    assert solution(0.5, 1.0) == pytest.approx(0.1 + 0.01 * np.sqrt(np.pi), rel=1e-5)


def test_times_outside_have_no_error():
    with pytest.raises(fp.EvaluationError, match="the error is known between t = 0 and t = 1"):
        fp.solve(heat(), tol=1e-3).error_estimate.at(2.0)


def test_limits_without_a_tolerance_bound_the_search_for_the_usual_one():
    assert fp.solve(heat(), time_limit=30).verdict.tol == 1e-6
    assert fp.solve(heat()).verdict is None


def test_limits_are_positive_numbers():
    with pytest.raises(fp.SettingsError, match="time_limit is a positive number of seconds, got -1"):
        Budget(-1)
    with pytest.raises(fp.SettingsError, match="memory_limit is a positive number of bytes, got 'much'"):
        Budget(None, "much")


def test_jumps_and_noise_have_their_messages():
    table = np.random.default_rng(0).normal(size=4096)
    table[-1] = table[0]

    def noise(x):
        return np.interp(x, np.linspace(0, 2 * np.pi, 4096), table)

    def jump(x):
        return np.where((x > 3) & (x < 6), 1.0, 0.0)

    for datum, text in ((noise, "noisy"), (jump, "jumps")):
        with pytest.warns(fp.FrozenPinnWarning) as caught:
            solution = fp.solve(Problem("u_t = u_xx", CIRCLE, (0, 0.1), datum), tol=1e-3, time_limit=3)
        assert any(text in str(warning.message) for warning in caught)
        assert np.isfinite(solution(1.0, 0.1))
    assert solution(4.5, 0.1) == pytest.approx(1.0, abs=0.02)


def test_estimates_with_a_given_number_of_boundary_points():
    """The finer solve has more neurons, and so needs more conditions, too."""
    case = CASES["heat-100d"]
    problem = case.problem()
    solution = fp.solve(problem, **case.options("best", "high", case.variants[0]))
    true = solution.error(at=case.variants[0].test_points(problem))["rel_l2"]
    assert 0.1 < fp.estimate_error(solution).error_estimate.worst / true < 10


def test_one_window_is_none():
    """One basis for all times is as wide as the trial says, however it is asked for."""
    problem = Problem("u_t + u*u_x = 0.05*u_xx", fp.Interval(-1, 1, periodic=True), (0, 0.6), "-sin(pi*x)")
    widths = [fp.solve(problem, tol=1e-4, settings=fp.Settings(windows=windows)).width for windows in (None, 1)]
    assert widths[0] == widths[1] < 140


def test_a_coarse_network_that_grows_is_not_the_end():
    """Ripples of a diffusivity that the first width does not resolve make it unstable; wider ones are tried."""
    start = "x + 0.9*sin(200*x)/200"
    exact = f"exp(-t)*({start})"
    equation = "u_t = dx(u_x/(1 + 0.9*cos(200*x))) - u"
    problem = fp.Problem(equation, fp.Interval(0, 1), (0, 1), start, f"u = {exact}", exact=exact)
    solution = fp.solve(problem, tol=1e-3)
    assert "wider retry" in {name for name, _ in solution.decisions}
    assert solution.status == "converged"
    assert solution.error()["rel_l2"] < 1e-3
