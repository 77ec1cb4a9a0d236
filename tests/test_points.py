"""Point sources, against Green's functions."""

import numpy as np
import pytest
from scipy.special import jn_zeros, jv

import frozenpinn as fp

LINE = fp.Interval(0, 1)
X = np.linspace(0.0, 1.0, 401)


def test_on_an_interval():
    found = fp.solve(fp.Problem("2*u_xx + 3*delta(x - 0.3) = 0", LINE, boundary="u = 0"), tol=1e-8)
    assert np.abs(found(X) - 1.5 * np.where(X < 0.3, 0.7 * X, 0.3 * (1 - X))).max() < 1e-10
    twice = fp.Problem("u_xx = -delta(2*x - 0.6) - 4*delta(0.5 - x)", LINE, boundary="u = 0")
    halves = 0.5 * np.where(X < 0.3, 0.7 * X, 0.3 * (1 - X)) + 2 * np.minimum(X, 1 - X)
    assert np.abs(fp.solve(twice, tol=1e-8)(X) - halves).max() < 1e-10


def test_in_time(tmp_path):
    problem = fp.Problem("u_t = u_xx + delta(x - 0.3)", LINE, (0, 0.5), 0, "u = 0")
    solution = fp.solve(problem, tol=1e-6)
    n = np.arange(1, 301)[:, None]
    modes = 2 * np.sin(0.3 * n * np.pi) * np.sin(n * np.pi * X) / (n * np.pi) ** 2
    for t in (0.01, 0.5):
        rest = np.sum(modes * np.exp(-((n * np.pi) ** 2) * t), axis=0)
        assert np.abs(solution(X, t) - np.where(X < 0.3, 0.7 * X, 0.3 * (1 - X)) + rest).max() < 1e-7
    solution.save(tmp_path / "u.fpinn")
    assert np.allclose(fp.load(tmp_path / "u.fpinn")(X, 0.01), solution(X, 0.01), atol=1e-12)


def growth(t):
    """What becomes of each mode under a source of strength one."""
    return lambda rate: (1 - np.exp(-rate * t)) / rate


def swing(t, w=6.0):
    """The same of strength sin(w*t)."""
    return lambda rate: (rate * np.sin(w * t) - w * np.cos(w * t) + w * np.exp(-rate * t)) / (rate**2 + w**2)


@pytest.mark.parametrize(
    ("strength", "course", "bound"),
    [
        ("1", growth, 1e-5),
        ("heaviside(t - 0.1)", lambda t: growth(t - 0.1), 1e-5),
        ("sin(6*t)", swing, 1e-6),
        ("(2 + sin(6*t))", lambda t: lambda rate: 2 * growth(t)(rate) + swing(t)(rate), 1e-5),
    ],
)
def test_in_the_plane_and_time(strength, course, bound, tmp_path):
    box = fp.Box([0, 0], [1, 1])
    problem = fp.Problem(f"u_t = lap(u) + {strength}*delta(x - 0.3, y - 0.4)", box, (0, 0.3), 0, "u = 0")
    solution = fp.solve(problem, tol=1e-3)
    k = np.arange(1, 251)[:, None]
    for x, y, t in ((0.5, 0.5, 0.2), (0.8, 0.3, 0.3)):
        modes = (
            4 * np.sin(0.3 * np.pi * k) * np.sin(k * np.pi * x) * (np.sin(0.4 * np.pi * k) * np.sin(k * np.pi * y)).T
        )
        exact = np.sum(modes * course(t)(np.pi**2 * (k**2 + k.T**2)))
        assert abs(solution(x, y, t) - exact) < bound
    solution.save(tmp_path / "u.fpinn")
    assert np.isclose(fp.load(tmp_path / "u.fpinn")(0.5, 0.5, 0.2), solution(0.5, 0.5, 0.2), atol=1e-9)


def test_on_a_disk_in_time():
    solution = fp.solve(fp.Problem("u_t = lap(u) + delta(x, y)", fp.Disk(), (0, 0.2), 0, "u = 0"), tol=1e-4)
    z = jn_zeros(0, 100)
    for r, t in ((0.3, 0.1), (0.1, 0.05)):
        rest = np.sum(jv(0, z * r) / (np.pi * z**2 * jv(1, z) ** 2) * np.exp(-(z**2) * t))
        assert np.isclose(solution(r, 0.0, t), -np.log(r) / (2 * np.pi) - rest, atol=1e-6)


def test_in_the_plane_and_in_space():
    disk = fp.solve(fp.Problem("lap(u) = -delta(x, y)", fp.Disk(), boundary="u = 0"), tol=1e-6)
    assert np.isclose(disk(0.3, 0.4), np.log(2) / (2 * np.pi), atol=1e-8)
    ball = fp.solve(fp.Problem("lap(u) = -delta(x, y, z)", fp.Ball((0, 0, 0), 1.0), boundary="u = 0"), tol=1e-4)
    assert np.isclose(ball(0.3, 0.4, 0.0), 1 / (4 * np.pi), atol=1e-6)
    sides = {"left": "u = 0", "right": "u_n = 0", "top": "u_n = 1", "bottom": "u = 0"}
    box = fp.Box([0, 0], [1, 1])
    screened = fp.Problem("lap(u) - u = -delta(x - 0.3, y - 0.4)", box, boundary=sides)
    narrow = fp.Problem("lap(u) - u = -400/pi*exp(-400*((x - 0.3)^2 + (y - 0.4)^2))", box, boundary=sides)
    point, smooth = fp.solve(screened, tol=1e-4), fp.solve(narrow, tol=1e-4)
    assert np.isclose(point(0.7, 0.8), smooth(0.7, 0.8), rtol=2e-3)


def stated(equation, domain=LINE, **more):
    return fp.Problem(equation, domain, boundary="u = 0", **more)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: stated("u_xx = delta(x - 2)"), r"delta\(x - 2\) lies at \(2\), outside the domain"),
        (lambda: stated("lap(u) = delta(x - 0.5)", fp.Disk()), "is no point; write delta"),
        (lambda: stated("u_xx = delta(x**2 - 0.5)"), "is no point"),
        (lambda: stated("u_xx = u*delta(x - 0.5)"), "a point source has a number or a formula in t as strength"),
        (lambda: stated("u_xx = x*delta(x - 0.5)"), "has the factor '-?x'"),
        (
            lambda: stated("lap(u) = delta(x - 0.3)*delta(y)", fp.Disk()),
            r"one point in several dimensions is written delta\(x - 0\.3, y\)",
        ),
        (lambda: fp.Problem("u_t = u_xx", LINE, (0, 1), "delta(x - 0.5)", "u = 0"), "stands in equations only"),
        (lambda: fp.solve(stated("u_xx - u**3 = delta(x - 0.5)")), "point sources are for linear equations"),
        (
            lambda: fp.solve(fp.Problem("u_tt = lap(u) + delta(x, y)", fp.Disk(), (0, 1), 0, "u = 0", 0)),
            "point sources are for linear equations",
        ),
        (
            lambda: fp.solve(fp.Problem("lap(u) = delta(x, y)", fp.Disk(), boundary="u + u_n = 0")),
            "values on other boundaries",
        ),
    ],
)
def test_what_is_refused(make, text):
    with pytest.raises(fp.ProblemError, match=text):
        make()


def test_the_name_can_be_used_otherwise():
    problem = stated("u_xx = delta", parameters={"delta": -2.0})
    assert not problem.points
    assert np.isclose(fp.solve(problem, tol=1e-6)(0.5), 0.25)


def test_points_that_move_are_refused_with_a_peak():
    with pytest.raises(
        fp.ProblemError, match=r"moves, and points that move are not supported; write a narrow peak"
    ) as told:
        fp.Problem("u_t = u_xx + delta(x - v*t)", fp.Interval(0, 1), (0, 1), 0, "u = 0", parameters={"v": 2})
    peak = str(told.value).rsplit("instead: ", 1)[1].rstrip(".")
    parameters = {"w": 0.05}
    fp.Problem(f"u_t = u_xx + {peak}", fp.Interval(0, 1), (0, 1), 0, "u = 0", parameters=parameters)
    with pytest.raises(
        fp.ProblemError, match=r"exp\(-\(\(-t \+ x\)\*\*2 \+ \(y\)\*\*2\)/\(2\*w\*\*2\)\)/\(w\*sqrt\(2\*pi\)\)\*\*2"
    ):
        fp.Problem("u_t = lap(u) + delta(x - t, y)", fp.Disk(), (0, 1), 0, "u = 0")
