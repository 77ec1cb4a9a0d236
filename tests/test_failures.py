"""Solutions that cease to exist: told with the time, the cause and a way out; what was computed stays usable."""

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import frozenpinn as fp

CIRCLE = fp.Interval(0, 1, periodic=True)
SHOCK = fp.Problem("u_t + u*u_x = 0", fp.Interval(-1, 1, periodic=True), (0, 1), "-sin(pi*x)")
UNRESOLVED = "the basis does not resolve u: its finest tenth carries"


def pointwise():
    """u = u₀/(1 − u₀ t) exists until t = 2/3, first lost at x = 1/4."""
    return fp.Problem("u_t = u**2", CIRCLE, (0, 2), "1 + sin(2*pi*x)/2")


def reaction_diffusion():
    """Diffusion can't hold data this large."""
    return fp.Problem("u_t = u_xx + u**2", fp.Interval(0, 1), (0, 1), "100*sin(pi*x)", "u = 0")


def failure(problem, seed=0, **settings):
    with pytest.raises(fp.IntegrationError) as caught:
        fp.solve(problem, seed=seed, settings=fp.Settings(**settings))
    return caught.value


@pytest.fixture(scope="module")
def blown_up():
    return failure(pointwise())


# ---- blow-up --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("build", "time"), [(pointwise, 2 / 3), (reaction_diffusion, 0.010985)])
@pytest.mark.parametrize("seed", [0, 1])
def test_blow_up_is_told_with_time_cause_and_a_way_out(build, time, seed):
    error = failure(build(), seed=seed)
    text = str(error)
    assert error.time == pytest.approx(time, rel=2e-3)
    assert f"stopped at t = {error.time:.6g} (of " in text
    assert re.search(r"grows without bound|shrunk to nothing|not finite", text)
    assert "may blow up in finite time" in text
    assert "try a shorter time, a larger width" in text


def test_the_solution_before_the_blow_up_is_right(blown_up):
    solution = blown_up.solution
    x, t = np.linspace(0, 1, 60), np.linspace(0, 0.6, 13)
    start = 1 + np.sin(2 * np.pi * x[:, None]) / 2
    exact = start / (1 - start * t)
    assert np.max(np.abs(solution(x[:, None], t) / exact - 1)) < 1e-4
    early = t[:9]
    assert np.max(np.abs(solution(x[:, None], early) / exact[:, :9] - 1)) < 1e-6
    assert np.max(np.abs(solution(x[:, None], early, derivative="t") / exact[:, :9] ** 2 - 1)) < 1e-5


def test_diffusion_before_the_blow_up_is_right():
    """Against Chebyshev collocation, itself converged."""

    def middle(n):
        k = np.arange(n + 1)
        x = np.cos(np.pi * k / n)
        c = np.where((k == 0) | (k == n), 2.0, 1.0) * (-1.0) ** k
        d = np.outer(c, 1 / c) / (x[:, None] - x + np.eye(n + 1))
        d -= np.diag(d.sum(axis=1))
        second = (4 * d @ d)[1:-1, 1:-1]
        start = 100 * np.sin(np.pi * (x[1:-1] + 1) / 2)
        found = solve_ivp(
            lambda _, u: second @ u + u * u,
            (0, 0.01),
            start,
            "Radau",
            jac=lambda _, u: second + np.diag(2 * u),
            rtol=1e-10,
            atol=1e-8,
        )
        return found.y[n // 2 - 1, -1]

    reference = middle(64)
    assert middle(80) == pytest.approx(reference, rel=1e-9)
    solution = failure(reaction_diffusion()).solution
    assert float(solution(0.5, 0.01)) == pytest.approx(reference, rel=1e-6)


@pytest.mark.parametrize("integrator", ["cvode", "cvode-adams", "dop853", "radau", "exponential"])
def test_every_integrator_leaves_a_solution(integrator):
    error = failure(fp.Problem("u_t = u_xx/100 + u**2", CIRCLE, (0, 2), 1), integrator=integrator, width=40, rtol=1e-6)
    start, end = error.solution.problem.time
    assert start == 0
    assert 0.9 < end <= error.time
    t = np.array([0.0, 0.3, 0.6, 0.9])
    np.testing.assert_allclose(error.solution(0.3, t), 1 / (1 - t), rtol=1e-4)


def test_the_solution_ends_where_the_computation_did(blown_up):
    solution = blown_up.solution
    problem = pointwise()
    assert isinstance(solution, fp.Solution)
    assert solution.problem.time[1] <= blown_up.time
    assert np.all(np.isfinite(solution(np.linspace(0, 1, 9), solution.problem.time[1])))
    with pytest.raises(fp.EvaluationError, match=r"t = 1\.5 lies outside the solved interval \[0, 0\.66"):
        solution(0.5, 1.5)
    error = failure(problem, width=40)
    assert problem.time == (0, 2), "the user's problem is left alone"
    assert error.solution.problem is not problem


def test_the_solution_before_the_blow_up_is_like_any_other(blown_up, tmp_path):
    solution = blown_up.solution
    assert "scipy-dop853" in str(solution.report)
    assert "new bases at t = " in str(solution.report)
    solution.save(str(tmp_path / "part.fpinn"))
    loaded = fp.load(str(tmp_path / "part.fpinn"))
    x = np.linspace(0, 1, 11)
    np.testing.assert_allclose(loaded(x, 0.4), solution(x, 0.4), rtol=1e-7)
    assert loaded.problem.time == solution.problem.time
    solution.plot(str(tmp_path / "part.png"))
    assert solution.grid(11, 5).sizes == {"x": 11, "t": 5}


def test_the_advice_works(blown_up):
    shorter = fp.Problem("u_t = u**2", CIRCLE, (0, 0.75 * blown_up.time), "1 + sin(2*pi*x)/2")
    solution = fp.solve(shorter)
    x = np.linspace(0, 1, 30)
    np.testing.assert_allclose(blown_up.solution(x, 0.45), solution(x, 0.45), rtol=1e-6)
    assert fp.estimate_error(solution).error_estimate["u"] < 1e-6


def test_nothing_computed_is_no_solution():
    with pytest.raises(fp.IntegrationError) as caught:
        fp.solve(
            fp.Problem("u_t = u_xx + u**2*log(x - 2)", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0"),
            settings=fp.Settings(width=30),
        )
    assert "not finite" in str(caught.value)
    assert caught.value.solution is None


# ---- a shock without viscosity --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shocked():
    with pytest.warns(fp.FrozenPinnWarning, match=UNRESOLVED):
        return fp.solve(SHOCK, settings=fp.Settings(windows=None))


@pytest.mark.parametrize("seed", [0, 1])
def test_a_basis_follows_a_shock_without_viscosity_until_it_is_there(seed):
    """The characteristics cross at t = 1/π; until shortly before, u is constant along x = x₀ + u₀(x₀) t."""
    error = failure(SHOCK, seed=seed)
    text = str(error)
    assert error.time == pytest.approx(1 / np.pi, rel=5e-3)
    assert f"stopped at t = {error.time:.6g} (of 1)" in text
    assert "a shock without viscosity" in text
    assert "Add viscosity" in text
    foot = np.linspace(-0.99, 0.99, 80)
    for t in (0.1, 0.2, 0.3):
        u = -np.sin(np.pi * foot)
        assert np.max(np.abs(error.solution(foot + u * t, t) - u)) < 1e-6


def test_a_basis_that_stays_tells_since_when_it_fails():
    with pytest.warns(fp.FrozenPinnWarning, match=UNRESOLVED) as told:
        fp.solve(SHOCK, seed=1, settings=fp.Settings(windows=None))
    (text,) = [str(w.message) for w in told]
    assert "Use a larger width than 200" in text
    assert "a shorter time" in text
    (since,) = [float(m[1]) for w in told if (m := re.search(r"from t = (\S+) on", str(w.message)))]
    assert since == pytest.approx(1 / np.pi, rel=0.2)


def test_before_the_shock_one_basis_is_right(shocked):
    foot = np.linspace(-0.99, 0.99, 80)
    for t, bound in ((0.1, 1e-8), (0.2, 1e-5), (0.25, 1e-3)):
        u = -np.sin(np.pi * foot)
        assert np.max(np.abs(shocked(foot + u * t, t) - u)) < bound


def test_the_estimate_tells_that_nothing_is_known_behind_the_shock(shocked):
    with pytest.warns(fp.FrozenPinnWarning, match="the estimated relative error is .* not resolved"):
        assert fp.estimate_error(shocked).error_estimate["u"] > 0.05


def test_conditions_at_characteristic_ends_are_told_too():
    """At u = ±0 nothing enters; Dirichlet conditions are one too many, and the shock is told all the same."""
    problem = fp.Problem("u_t + u*u_x = 0", fp.Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0")
    with pytest.warns(fp.FrozenPinnWarning) as told:
        fp.solve(problem, settings=fp.Settings(windows=None))
    texts = [str(w.message) for w in told]
    assert any("side 'left' has 1 condition(s)" in text for text in texts)
    assert any(UNRESOLVED in text for text in texts)
