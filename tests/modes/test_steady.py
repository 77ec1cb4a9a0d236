"""Steady states of evolutions, and whether they are stable."""

from __future__ import annotations

import numpy as np
import pytest

import frozenpinn as fp

PI = np.pi


def fisher(initial, boundary="u = 0"):
    return fp.Problem("u_t = u_xx + 20*u*(1 - u)", fp.Interval(0, 1), (0, 1), initial, boundary)


def brusselator(b):
    equations = {"u": "0.01*u_xx + 1 - (b + 1)*u + u**2*v", "v": "0.005*v_xx + b*u - u**2*v"}
    start = {"u": 1, "v": b}
    return fp.Problem(equations, fp.Interval(0, 1), (0, 1), start, ["u_x = 0", "v_x = 0"], parameters={"b": b})


def test_steady_state_of_a_forced_equation():
    problem = fp.Problem(
        "u_t + u*u_x = 0.1*u_xx + f", fp.Interval(0, 1), (0, 1), 0, "u = 0", parameters={"f": "sin(pi*x)"}
    )
    steady = fp.steady(problem)
    x = np.linspace(0.1, 0.9, 7)
    left = steady(x) * steady(x, derivative="x") - 0.1 * steady(x, derivative="xx")
    assert left == pytest.approx(np.sin(PI * x), abs=1e-5)
    assert steady.status == "converged"


def test_steady_state_of_an_equation_of_second_order():
    problem = fp.Problem("u_tt + u_t = u_xx + 1", fp.Interval(0, 1), (0, 1), 0, "u = 0", initial_velocity=0)
    assert fp.steady(problem)(0.5) == pytest.approx(0.125, abs=1e-8)


def test_a_start_leads_to_another_steady_state():
    problem = fisher("sin(pi*x)")
    assert fp.steady(problem)(0.5) > 0.5
    assert fp.steady(problem, start=0)(0.5) == pytest.approx(0.0, abs=1e-8)


def test_constraint_picks_one_of_many():
    problem = fp.Problem("u_t = u_xx + cos(pi*x)", fp.Interval(0, 1), (0, 1), 0, "u_n = 0")
    exact = 2 + np.cos(0.3 * PI) / PI**2
    assert fp.steady(problem, constraint="mean(u) = 2")(0.3) == pytest.approx(exact, abs=1e-8)


def test_fisher():
    zero, one = fp.stability(fisher(0)), fp.stability(fisher(1, "u_n = 0"))
    assert (zero.verdict, one.verdict) == ("unstable", "stable")
    assert zero.growth == pytest.approx(20 - PI**2, rel=1e-10)
    assert one.values == pytest.approx(-20 - PI**2 * np.arange(6) ** 2.0, rel=1e-8)
    assert str(zero) == "unstable: the fastest disturbances grow like exp(10.1304 t)"
    assert str(one) == "stable: the slowest disturbances decay like exp(-20 t)"
    assert fp.stability(fp.steady(fisher("sin(pi*x)"))).verdict == "stable"


def test_allen_cahn():
    problem = fp.Problem("u_t = 0.01*u_xx + u - u**3", fp.Interval(-1, 1), (0, 1), 0, "u_x = 0")
    assert fp.stability(problem).growth == pytest.approx(1.0, rel=1e-8)
    found = fp.stability(fp.steady(problem, start=1))
    assert (found.verdict, found.frequency) == ("stable", 0.0)
    assert found.growth == pytest.approx(-2.0, rel=1e-8)


@pytest.mark.parametrize(("b", "verdict"), [(1.8, "stable"), (2.0, "neutral"), (2.2, "unstable")])
def test_a_pair_crosses_at_the_hopf_bifurcation(b, verdict):
    found = fp.stability(brusselator(b))
    assert found.verdict == verdict
    assert found.growth == pytest.approx((b - 2) / 2, abs=1e-9)
    assert found.frequency == pytest.approx(np.sqrt(1 - (b - 2) ** 2 / 4), abs=1e-9)
    assert "oscillating with frequency" in str(found)


def test_waves_are_neutral_and_damping_makes_them_stable():
    def wave(damping):
        return fp.Problem(
            "u_tt + d*u_t = u_xx", fp.Interval(0, PI), (0, 1), 0, "u = 0", initial_velocity=0, parameters={"d": damping}
        )

    free, damped = fp.stability(wave(0)), fp.stability(wave(0.2))
    assert free.verdict == "neutral"
    assert free.values[:2] == pytest.approx([1j, -1j], abs=1e-10)
    assert damped.verdict == "stable"
    assert damped.values[:2] == pytest.approx(-0.1 + np.sqrt(0.99) * np.array([1j, -1j]), abs=1e-10)


def test_stability_on_a_disk():
    problem = fp.Problem("u_t = lap(u) + 7*u - u**3", fp.Disk((0, 0), 1), (0, 1), 0, "u = 0")
    found = fp.stability(fp.steady(problem))
    assert found.growth == pytest.approx(7 - 5.783185962946784, rel=1e-8)
    assert found.verdict == "unstable"


def test_given_steady_state():
    problem = fisher(0)
    static = fp.Problem("u_xx + 20*u*(1 - u) = 0", fp.Interval(0, 1), boundary="u = 0")
    solution = fp.solve(static, start=0)
    assert fp.stability(problem, about=solution).growth == pytest.approx(20 - PI**2, rel=1e-8)
    with pytest.raises(fp.SettingsError, match=r"write stability\(problem, about=solution\)"):
        fp.stability(solution)


# ---- messages ------------------------------------------------------------------------------------------------------


def test_what_depends_on_time_has_no_steady_state():
    interval = fp.Interval(0, 1)
    with pytest.raises(fp.ProblemError, match="depends on t, so it has no steady state"):
        fp.steady(fp.Problem("u_t = u_xx + sin(t)", interval, (0, 1), 0, "u = 0"))
    with pytest.raises(
        fp.ProblemError, match="the boundary condition 'u = t' depends on t, so there is no steady state"
    ):
        fp.steady(fp.Problem("u_t = u_xx", interval, (0, 1), 0, "u = t"))
    forced = fp.Problem("u_t = u_xx + f", interval, (0, 1), 0, "u = 0", parameters={"f": lambda x, t: x * t})
    with pytest.raises(fp.ProblemError, match=r"the equation 'u_t = u_xx \+ f\(x, t\)' depends on t"):
        fp.steady(forced)


def test_static_problems_have_no_stability():
    static = fp.Problem("u_xx = 1", fp.Interval(0, 1), boundary="u = 0")
    with pytest.raises(fp.ProblemError, match=r"the problem is static already; call solve\(problem\)"):
        fp.steady(static)
    with pytest.raises(fp.SettingsError, match=r"stability\(\) needs a problem with time"):
        fp.stability(static)
    with pytest.raises(fp.SettingsError, match=r"stability\(\) takes what steady\(\) returns, or a Problem; got int"):
        fp.stability(3)


def test_a_solution_of_another_problem():
    other = fp.solve(fp.Problem("lap(u) = 1", fp.Disk((0, 0), 1), boundary="u = 0"), settings=fp.Settings(width=40))
    with pytest.raises(fp.SettingsError, match=r"about= is a solution for u in 2 dimension\(s\)"):
        fp.stability(fisher(0), about=other)


def test_a_start_may_lead_to_zero():
    """The way there halves a tiny function again and again; its size means nothing."""
    problem = fp.Problem("u_t = 0.05*u_xx + u - u**3", fp.Interval(0, 1), (0, 5), "0.1*sin(pi*x)", "u = 0")
    found = fp.steady(problem)
    assert found.status == "converged"
    assert found(0.5) == 0.0
