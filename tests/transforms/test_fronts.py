"""Jumps of the data from which something known spreads, against series and closed forms."""

import numpy as np
import pytest
import sympy as sp
from scipy.special import erf

import frozenpinn as fp
from frozenpinn.statement.fronts import fronts_of

pytestmark = pytest.mark.filterwarnings("ignore:.*contradict:frozenpinn.FrozenPinnWarning")
LINE, RING = fp.Interval(0, 1), fp.Interval(0, 1, periodic=True)
X = np.linspace(0.0, 1.0, 501)
N = np.arange(1, 2001)[:, None]


def heated(x, t):
    """u_t = u_xx, u = 1 at the left end, 0 at the right end and at the start."""
    return 1 - x - np.sum(2 / (N * np.pi) * np.sin(N * np.pi * x) * np.exp(-((N * np.pi) ** 2) * t), axis=0)


def relaxed(x, t):
    """u_t = u_xx, insulated, a step at the middle at the start."""
    terms = 2 / (N * np.pi) * np.sin(N * np.pi / 2) * np.cos(N * np.pi * x) * np.exp(-((N * np.pi) ** 2) * t)
    return 0.5 - np.sum(terms, axis=0)


def held(x, t):
    """u_t = u_xx, a step at the middle, u = 0 at the left end and 1 at the right end, as at the start."""
    terms = 2 / (N * np.pi) * np.cos(N * np.pi / 2) * np.sin(N * np.pi * x) * np.exp(-((N * np.pi) ** 2) * t)
    return x + np.sum(terms, axis=0)


def cooled(x, t):
    """u_t = u_xx, a step at the middle, u = 0 at both ends, which contradicts the start at the right one."""
    size = 2 / (N * np.pi) * (np.cos(N * np.pi / 2) - np.cos(N * np.pi))
    return np.sum(size * np.sin(N * np.pi * x) * np.exp(-((N * np.pi) ** 2) * t), axis=0)


@pytest.mark.parametrize(
    ("initial", "boundary", "exact"),
    [
        ("heaviside(x - 0.5)", {"left": "u = 0", "right": "u = 1"}, held),
        ("heaviside(x - 0.5)", "u = 0", cooled),
        (0, {"left": "u = 1", "right": "u = 0"}, heated),
        ("heaviside(x - 0.5)", "u_n = 0", relaxed),
        ("(1 + sign(x - 1/2))/2", "u_n = 0", relaxed),
        ("where(x < 0.5, 0, 1)", "u_n = 0", relaxed),
    ],
)
def test_contradictions_and_steps_in_one_dimension(initial, boundary, exact, tmp_path):
    solution = fp.solve(fp.Problem("u_t = u_xx", LINE, (0, 0.2), initial, boundary), tol=1e-6)
    assert solution.status == "converged"
    for t in (1e-3, 0.01, 0.2):
        assert np.abs(solution(X, t) - exact(X, t)).max() < 1e-7
    assert np.allclose(solution(X, 0.01, derivative="x")[1:-1], np.gradient(solution(X, 0.01), X)[1:-1], atol=5e-3)
    solution.save(tmp_path / "u.fpinn")
    assert np.allclose(fp.load(tmp_path / "u.fpinn")(X, 0.01), solution(X, 0.01), atol=1e-12)
    assert "known in closed form" in str(solution.report)


def wave(x, t, diffusion):
    """Return a square wave on a ring that moves with speed 1 and diffuses."""
    n = np.arange(1, 4001)[:, None]
    decay = 2 / (n * np.pi) * np.exp(-((2 * np.pi * n) ** 2) * diffusion * t)
    return 0.25 + np.sum(decay * np.sin(n * np.pi / 4) * np.cos(2 * np.pi * n * (x - t - 0.375)), axis=0)


def test_square_waves_on_a_ring():
    start = "heaviside(x - 0.25) - heaviside(x - 0.5)"
    solution = fp.solve(fp.Problem("u_t + u_x = 0.01*u_xx", RING, (0, 0.5), start), tol=1e-4)
    assert np.abs(solution(X, 0.5) - wave(X, 0.5, 0.01)).max() < 1e-9
    carried = fp.solve(fp.Problem("u_t + u_x = 0", RING, (0, 0.6), start), tol=1e-4)
    away = np.abs(X - 0.85) > 1e-3
    away &= np.abs(X - 0.1) > 1e-3
    assert np.allclose(carried(X, 0.6)[away], ((X > 0.85) | (X < 0.1))[away], atol=1e-9)


def test_steps_across_one_axis_and_contradictions_along_another():
    conditions = {"left": "u = 0", "right": "u = 0", "bottom": "u_n = 0", "top": "u_n = 0"}
    square = fp.Box([0, 0], [1, 1])
    solution = fp.solve(fp.Problem("u_t = lap(u)", square, (0, 0.1), "heaviside(y - 0.5)", conditions), tol=1e-5)
    odd = N[::2]
    for t in (1e-3, 0.1):
        falls = np.sum(4 / (odd * np.pi) * np.sin(odd * np.pi * X) * np.exp(-((odd * np.pi) ** 2) * t), axis=0)
        found = solution.grid_values([X, X], np.array([t]), solution.problem.jets.field("u"))[..., 0]
        assert np.abs(found - falls[:, None] * relaxed(X, t)).max() < 1e-5


def test_corners_of_a_square():
    problem = fp.Problem("u_t = lap(u)", fp.Box([0, 0], [1, 1]), (0, 0.1), 1, "u = 0")
    solution = fp.solve(problem, tol=1e-4)

    def cooled(x, t):
        n = np.arange(1, 401, 2)[:, None]
        return np.sum(4 / (n * np.pi) * np.sin(n * np.pi * x) * np.exp(-((n * np.pi) ** 2) * t), axis=0)

    assert solution.status == "converged"
    for t in (1e-3, 0.02, 0.1):
        assert np.abs(solution(X, 0.3, t) - cooled(X, t) * cooled(np.array([0.3]), t)).max() < 1e-4
    step = fp.Problem(
        "u_t = 0.01*lap(u)", fp.Box([0, 0], [1, 1]), (0, 0.5), "heaviside(x - 0.5)*heaviside(y - 0.4)", "u_n = 0"
    )
    found = fp.solve(step, tol=1e-4)
    width = np.sqrt(4 * 0.01 * 0.1)
    near = (1 + erf((X - 0.5) / width)) / 2 * (1 + erf((0.45 - 0.4) / width)) / 2
    assert np.abs(found(X, 0.45, 0.1) - near).max() < 1e-4


def test_values_that_jump_along_a_side():
    sides = {"left": "u = 0", "right": "u = 0", "bottom": "u = 0", "top": "u = sign(x)"}
    solution = fp.solve(fp.Problem("lap(u) = 0", fp.Box([-1, 0], [1, 1]), boundary=sides), tol=1e-4)
    n = np.arange(1, 200)[:, None]
    x = np.linspace(0.05, 0.95, 19)
    terms = (
        2
        * (1 - np.cos(n * np.pi))
        / (n * np.pi)
        * np.sin(n * np.pi * x)
        * np.sinh(n * np.pi * 0.5)
        / np.sinh(n * np.pi)
    )
    assert solution.status == "converged"
    assert np.abs(solution(x, 0.5) - terms.sum(axis=0)).max() < 1e-4


@pytest.mark.parametrize(
    ("equation", "domain", "initial", "boundary"),
    [
        ("u_t = u_xx", LINE, "sin(pi*x)", "u = 0"),  # nothing jumps
        ("u_t = -u_xxxx", RING, "heaviside(x - 0.2) - heaviside(x - 0.5)", None),  # not diffusion
        ("u_t + u_x = u", RING, "heaviside(x - 0.2) - heaviside(x - 0.5)", None),  # carried, but not alone
        ("u_t = u_xx", RING, "heaviside(x - 0.2)", None),  # jumps where the ring closes, too
        ("u_t = u_xx", LINE, "heaviside(sin(9*x))", "u_n = 0"),  # no plane
        ("u_tt = u_xx", LINE, "heaviside(x - 0.5)", "u_n = 0"),
        ("u_t = u_xx + u*u_x", LINE, "heaviside(x - 0.5)", "u_n = 0"),
    ],
)
def test_where_nothing_is_known(equation, domain, initial, boundary):
    velocity = 0 if "u_tt" in equation else None
    assert fronts_of(fp.Problem(equation, domain, (0, 1), initial, boundary, velocity)) is None


def half_heated(x, y, t, most=60):
    """u_t = lap(u), u = 1 on the half y < 1/2 of the left side, 0 on the right side, insulated elsewhere."""
    total, k = heated(x, t) / 2, np.pi * np.arange(1, 200)
    for n in range(1, most, 2):
        a = n * np.pi
        steady = np.sinh(a * (1 - x)) / np.sinh(a)
        fades = np.sum(2 * k / (k**2 + a**2) * np.sin(k * x) * np.exp(-(k**2 + a**2) * t))
        total = total + 2 * np.sin(a / 2) / a * np.cos(a * y) * (steady - fades)
    return total


def on_square(condition, initial=0, equation="u_t = lap(u)"):
    sides = {"left": condition, "right": "u = 0", "bottom": "u_n = 0", "top": "u_n = 0"}
    return fp.Problem(equation, fp.Box([0, 0], [1, 1]), (0, 0.05), initial, sides)


def test_a_value_that_jumps_along_a_side_spreads_along_it_too():
    solution = fp.solve(on_square("u = where(y < 0.5, 1, 0)"), tol=2e-2)
    for y in (0.2, 0.55, 0.7):
        assert float(solution(0.3, y, 0.05)) == pytest.approx(float(np.squeeze(half_heated(0.3, y, 0.05))), abs=5e-3)


@pytest.mark.parametrize(
    ("condition", "initial"),
    [
        ("u = where(y < 0.5, 1, 0)", 0),
        ("u = abs(y - 0.5)", 0),
        ("u = max(0.3 - y, 0)", 0),
        ("u = 0", "abs(y - 0.5)"),
        ("u = abs(y - 0.5)", "abs(y - 0.5)*where(x < 0.4, 1, 0)"),
        ("u = where(t < 0.02, 0, 1)*where(y < 0.5, 1, 0)", 0),
        ("u = 1", "where(x < 0.4, 1, 0)*min(y, 0.5)"),
    ],
)
def test_no_front_is_as_large_as_something_with_a_kink_along_another_axis(condition, initial):
    found = fronts_of(on_square(condition, initial))
    parts = {} if found is None else found.parts
    assert not any(part.has(sp.Heaviside, sp.Abs, sp.Max, sp.Min, sp.Piecewise) for part in parts.values())


def test_fronts_of_smooth_sizes_and_of_steps_across_two_axes_are_known():
    assert len(fronts_of(on_square("u = sin(pi*y)")).fronts) == 1
    assert len(fronts_of(on_square("u = 1", "where(x < 0.4, 1, 0)*where(y < 0.3, 1, 0)")).fronts) == 3


@pytest.mark.parametrize("width", [(30, 12), (60, 12)])
def test_fronts_spread_by_the_diffusion_of_each_place_along_them(width):
    square, k = fp.Box([0, 0], [1, 1]), "0.05*(1 + 0.8*cos(pi*y))"
    problem = fp.Problem(
        "u_t = div(k*grad(u))", square, (0, 0.25), "where(x < 0.4, 1, 0)", "u_n = 0", parameters={"k": k}
    )
    assert all(front.diffusion.has(sp.cos) for front in fronts_of(problem).fronts)
    solution = fp.solve(problem, settings=fp.Settings(width=width, rtol=1e-6))
    assert float(solution(0.3, 0.3, 0.25)) == pytest.approx(0.70125, abs=2e-4)  # by finite volumes, extrapolated


def test_fronts_are_not_known_where_diffusion_vanishes_along_them():
    problem = on_square("u = 1", 0, "u_t = (y**2 + 0*x)*lap(u)")
    assert fronts_of(problem) is None
