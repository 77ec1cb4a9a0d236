"""Conditions that jump in time, against series, closed forms and solves that start at the jump."""

from contextlib import nullcontext

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.special import jn_zeros, jv

import frozenpinn as fp
from frozenpinn.language.steps import jumps_in_time, settled

LINE, X = fp.Interval(0, 1), np.linspace(0.0, 1.0, 101)
N = np.arange(1, 2001)[:, None]


def heated(x, t):
    """u_t = u_xx, u = 1 at the left end since t = 0, 0 at the right end and before."""
    if t <= 0:
        return np.zeros_like(x)
    return 1 - x - np.sum(2 / (N * np.pi) * np.sin(N * np.pi * x) * np.exp(-((N * np.pi) ** 2) * t), axis=0)


@pytest.mark.parametrize(
    ("left", "exact"),
    [
        ("u = heaviside(t - 0.1)", lambda x, t: heated(x, t - 0.1)),
        ("u = where(t < 0.1, 0, 2)", lambda x, t: 2 * heated(x, t - 0.1)),
        ("u = where(0.1 < t < 0.15, 1, 0)", lambda x, t: heated(x, t - 0.1) - heated(x, t - 0.15)),
        ("u = (1 - sign(cos(10*pi*t)))/2", lambda x, t: heated(x, t - 0.05) - heated(x, t - 0.15)),
        (fp.Dirichlet(lambda t: np.where(t < 0.1, 0.0, 1.0)), lambda x, t: heated(x, t - 0.1)),
    ],
)
def test_values_that_switch(left, exact, tmp_path):
    problem = fp.Problem("u_t = u_xx", LINE, (0, 0.2), 0, {"left": left, "right": "u = 0"})
    solution = fp.solve(problem, tol=1e-2)
    assert solution.status == "converged"
    for t in (0.03, 0.11, 0.13, 0.2):
        assert np.abs(solution(X, t) - exact(X, t))[1:].max() < 1e-6
    solution.save(tmp_path / "u.fpinn")
    again = fp.load(tmp_path / "u.fpinn")
    assert all(np.allclose(again(X, t), solution(X, t), atol=1e-11) for t in (0.1, 0.12))


def test_the_same_on_both_sides_of_a_corner():
    problem = fp.Problem("u_t = lap(u)", fp.Box([0, 0], [1, 1]), (0, 0.1), 0, "u = heaviside(t - 0.05)")
    solution = fp.solve(problem, tol=1e-4)

    def cooled(x, t):
        odd = N[::2]
        return np.sum(4 / (odd * np.pi) * np.sin(odd * np.pi * x) * np.exp(-((odd * np.pi) ** 2) * t), axis=0)

    x = np.array([0.02, 0.3, 0.5])
    for t in (0.051, 0.1):
        assert np.allclose(solution(x, x, t), 1 - cooled(x, t - 0.05) ** 2, atol=1e-6)


def test_what_enters_is_carried():
    ends = {"left": "u = heaviside(t - 0.3)", "right": fp.Free()}
    solution = fp.solve(fp.Problem("u_t = -2*u_x", LINE, (0, 1), 0, ends), tol=1e-6)
    x = np.array([0.0, 0.2, 0.49, 0.51, 0.9])
    assert np.allclose(solution(x, 0.55), [1, 1, 1, 0, 0], atol=1e-9)
    assert np.allclose(solution(x, 0.2), 0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("u_n = -heaviside(t - 0.2)*u**4", "u_n = -u**4"),
        ("u_n + where(t < 0.2, 0, 2)*u = 0", "u_n + 2*u = 0"),
        ("u_n = where(t < 0.2, 0, -1)", "u_n = -1"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*contradict:frozenpinn.FrozenPinnWarning")
def test_laws_and_slopes_that_switch(before, after):
    """Nothing happens until the switch, so that a solve from there on has the same solution."""
    whole, late = (
        fp.solve(fp.Problem("u_t = u_xx", LINE, time, 1, {"left": "u_n = 0", "right": right}), tol=1e-5)
        for time, right in (((0, 0.4), before), ((0.2, 0.4), after))
    )
    assert whole.status == "converged"
    for t in (0.22, 0.3, 0.4):
        assert np.allclose(whole(X, t), late(X, t), atol=1e-5)
    assert np.allclose(whole(X, 0.19), 1.0, atol=1e-8)


def by_differences(reaction, until, start, left):
    """u_t = u_xx/10 + reaction(u), insulated at the right end, by second differences and Richardson's extrapolation."""

    def solved(n):
        h = 1 / n

        def rates(_, u):
            whole = np.concatenate([[left], u, u[-2:-1]])
            return np.diff(whole, 2) / h**2 / 10 + reaction(u)

        band = solve_ivp(
            rates, (0, until), start(np.arange(1, n + 1) * h), "LSODA", lband=1, uband=2, rtol=1e-9, atol=1e-9
        )
        return band.y[:, -1]

    return (4 * solved(400)[1::2] - solved(200)) / 3


@pytest.mark.parametrize(
    ("left", "start", "fits"), [("heaviside(t - 0.5)", "0", True), ("1", "0", False), ("1", "heaviside(0.3 - x)", True)]
)
def test_nonlinear_reactions(left, start, fits):
    """What spreads from a jump is split off although the equation is nonlinear."""
    ends = {"left": f"u = {left}", "right": "u_n = 0"}
    with nullcontext() if fits else pytest.warns(fp.FrozenPinnWarning, match="known in closed form, and split off"):
        problem = fp.Problem("u_t = u_xx/10 - u**3", LINE, (0, 1), start, ends)
    solution = fp.solve(problem, tol=1e-5)
    assert solution.status == "converged"
    wanted = by_differences(
        lambda u: -(u**3), 1.0 if left == "1" else 0.5, lambda x: 1.0 * (x < 0.3) * (start != "0"), 1
    )
    assert np.allclose(solution(np.arange(1, 201) / 200, 1.0), wanted, atol=2e-5 if start == "0" else 2e-3)


def test_shapes_go_on_with_the_same_basis():
    """On a disk nothing is split off: what a jump leaves is that of a start that contradicts its condition."""
    whole = fp.solve(fp.Problem("u_t = lap(u)", fp.Disk(), (0, 0.4), 0, "u = heaviside(t - 0.2)"), tol=1e-2)
    roots = jn_zeros(0, 30)
    exact = [1 - np.sum(2 / (roots * jv(1, roots)) * np.exp(-(roots**2) * t)) for t in (0.1, 0.2)]
    assert whole.status == "converged"
    assert np.allclose([whole(0.0, 0.0, 0.3), whole(0.0, 0.0, 0.4)], exact, atol=1e-3)
    assert np.allclose(whole(0.3, 0.3, 0.19), 0.0, atol=1e-9)


def test_what_is_still_refused():
    moving = fp.Problem("u_t = lap(u)", fp.Disk(), (0, 1), 0, "u = heaviside(t - 0.5 - x/4)")
    with pytest.raises(fp.ProblemError, match="jumps in time, at times that change from place to place"):
        fp.solve(moving)
    law = fp.Problem("u_t = lap(u)", fp.Disk(), (0, 1), 0, "u_n = -heaviside(t - 0.5 - x/4)*u**2")
    with pytest.raises(fp.ProblemError, match="jumps in time, at times that change from place to place"):
        fp.solve(law)


def test_steps_settle_between_switches():
    t = sp.Symbol("t", real=True)
    step = sp.Heaviside(t - 1, sp.Rational(1, 2)) * t + sp.Max(t, 2) + sp.sign(t - 3)
    assert settled(step, t, (1, 2)) == t + 1
    assert settled(step, t, (0, 2)).has(sp.Heaviside)
    assert [(when, float(size)) for when, size in jumps_in_time(step, t, (0, 4))] == [(1.0, 1.0), (3.0, 2.0)]
