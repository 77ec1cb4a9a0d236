"""Integrals over domains, sides and time against those known in closed form."""

import pickle

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.geometry.points import gauss


@pytest.fixture(scope="module")
def wave():
    """A standing wave: its energy is π²/4 at all times."""
    problem = fp.Problem("u_tt = c**2*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", 0, {"c": 1.0})
    return fp.solve(problem, tol=1e-8)


@pytest.fixture(scope="module")
def disk():
    return fp.solve(fp.Problem("lap(u) = 4", fp.Disk(), boundary="u = 1"), tol=1e-8)


def test_mass_and_energy_in_time(wave):
    found = wave.integral({"mass": "u", "energy": "(u_t**2 + c**2*u_x**2)/2"}, t=[0, 0.25, 1])
    np.testing.assert_allclose(found.mass, 2 / np.pi * np.cos(np.pi * found.t), atol=1e-7)
    np.testing.assert_allclose(found.energy, np.pi**2 / 4, rtol=1e-7)


def test_times_are_uniform_if_none_are_given(wave):
    found = wave.integral("u**2")
    assert found.dims == ("t",)
    np.testing.assert_allclose(found, np.cos(np.pi * found.t) ** 2 / 2, atol=1e-7)
    assert wave.integral("u**2", t=0) == pytest.approx(0.5)


def test_flux_through_the_boundary_of_a_static_solution(disk):
    assert disk.integral("u_n", side="boundary") == pytest.approx(4 * np.pi, rel=1e-7)
    assert disk.integral("x**2 + y**2", side="all") == pytest.approx(2 * np.pi, rel=1e-9)
    assert disk.integral() == pytest.approx(np.pi / 2, rel=1e-7)  # u = r²
    assert dict(disk.integral({"area": "1"})) == {"area": pytest.approx(np.pi)}


def test_the_normal_of_a_side(disk):
    assert disk.integral("nx*u_x + ny*u_y", side="boundary") == pytest.approx(4 * np.pi, rel=1e-7)
    assert disk.integral("dot(n, grad(u)) + dn(x*u)", side="all") == pytest.approx(4 * np.pi, rel=1e-7)
    assert disk.integral("x*nx", side="all") == pytest.approx(np.pi, rel=1e-9)
    curve = ["0.5*cos(2*pi*s)", "0.5*sin(2*pi*s)"]
    assert disk.integral("nx*u_x", along=curve) == pytest.approx(np.pi / 2, rel=1e-7)
    with pytest.raises(fp.FrozenPinnError, match=r"n = \[nx, ny\] is known in boundary conditions and on sides only"):
        disk("nx*u_x", 0.1, 0.2)


def test_long_rules_of_quadrature_are_made_at_once():
    """A force at the corner of a clamped beam is singular: the rules go on to their end."""
    nodes, weights = gauss(2**16)
    assert len(nodes) == 2**16
    assert np.all(np.diff(nodes) > 0)
    assert weights @ np.cos(50 * nodes) == pytest.approx(np.sin(50) / 50, abs=1e-14)


def test_ends_of_an_interval_are_sides(wave):
    assert wave.integral("u_n", t=0, side="right") == pytest.approx(-np.pi, rel=1e-6)


def test_a_stored_solution_is_integrated_alike(wave, tmp_path):
    wave.save(tmp_path / "w.fpinn")
    assert fp.load(tmp_path / "w.fpinn").integral("u_x**2", t=0.3) == pytest.approx(wave.integral("u_x**2", t=0.3))


def test_rules_that_do_not_agree_are_told(wave):
    with pytest.warns(fp.FrozenPinnWarning, match=r"the integral of 'sqrt\(abs\(x - 0\.3\)\)' is known to about"):
        wave.integral("sqrt(abs(x - 0.3))", t=0, rtol=1e-13)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (("u_tttt", 0.0), "has more time derivatives than the equation of 'u', which is of order 2"),
        (("u**2", 5.0), "t = 5 lies outside the solved interval"),
        ((3, 0.0), "an expression is text such as 'u\\*\\*2', got 3"),
        (("u", 0.0, "top"), "unknown side 'top'; the sides are 'left', 'right', or 'all' for all of them"),
        (("1/x", 0.0, "left"), "'1/x' is not finite everywhere"),
        (("u", 0.0, None, 7), "rtol is a number between 1e-15 and 1, got 7"),
        (({}, 0.0), "a table of expressions is empty"),
    ],
)
def test_integrals_that_make_no_sense(wave, given, text):
    with pytest.raises(fp.EvaluationError, match=text):
        wave.integral(*given)
    with pytest.raises(fp.ProblemError, match="unknown name 'w'"):
        wave.integral("w", t=0)


def test_static_solutions_have_no_time(disk):
    with pytest.raises(fp.EvaluationError, match="a static solution has no time: leave t out"):
        disk.integral("u", t=0)


# ---- parts of the domain, curves, means, errors --------------------------------------------------------


def segment(height):
    """Area of the unit disk beyond a line at that distance from its centre."""
    return np.arccos(height) - height * np.sqrt(1 - height**2)


def test_parts_of_an_interval(wave):
    part = (np.cos(0.2 * np.pi) - np.cos(0.3 * np.pi) + 1 + np.cos(0.9 * np.pi)) / np.pi
    assert wave.integral(t=0, where="0.2 < x < 0.3 or x > 0.9") == pytest.approx(part, abs=1e-8)
    inner = (np.cos(0.1 * np.pi) - np.cos(0.4 * np.pi)) / np.pi
    assert wave.integral(t=0, where=fp.Interval(0.1, 0.4)) == pytest.approx(inner, abs=1e-8)
    assert wave.mean(t=0, where="x < c/2") == pytest.approx(2 / np.pi, abs=1e-8)  # c is a parameter


@pytest.mark.parametrize(
    ("where", "area"),
    [
        ("x < y", np.pi / 2),
        ("x > 0 and y > 0", np.pi / 4),
        ("x > 0.5", segment(0.5)),
        ("x > 0.5 or x < -0.8", segment(0.5) + segment(0.8)),
        ("x^2 + y^2 < 0.25", np.pi / 4),
        (fp.Disk((0.2, 0.1), 0.5), np.pi / 4),
    ],
)
def test_parts_of_a_disk(disk, where, area):
    found = disk.integral("1", where=where)
    assert found == pytest.approx(area, rel=1e-8)
    assert abs(found - area) <= found.error


def test_parts_of_a_box_and_of_a_solid():
    box = fp.solve(fp.Problem("-lap(u) = 0", fp.Box([0, 0], [1, 1]), boundary="u = x + y"), tol=1e-8)
    assert box.integral(where="x + y < 1") == pytest.approx(1 / 3, rel=1e-8)
    assert box.mean(where="x < 0.3") == pytest.approx(0.65, rel=1e-8)
    cube = fp.solve(fp.Problem("-lap(u) = 0", fp.Box([0, 0, 0], [1, 1, 1]), boundary="u = 1"), tol=1e-6)
    found = cube.integral(where="x + y + z < 1")
    assert abs(found - 1 / 6) <= found.error < 1e-5


def test_polar_parts():
    plate = fp.Problem("u_rr + u_r/r = -4", fp.Interval(0, 1), boundary="u = 0", coordinates="polar")
    solution = fp.solve(plate, tol=1e-8)
    assert solution.integral(where="r < 0.5") == pytest.approx(2 * np.pi * (1 / 8 - 1 / 64), rel=1e-8)


def test_curves(disk):
    assert disk.integral("u", along=[[-1, 0], [0, 0], [0, 1]]) == pytest.approx(2 / 3, rel=1e-7)
    ring = ["cos(2*pi*s)/2", "sin(2*pi*s)/2"]
    assert disk.integral("u_n", along=ring) == pytest.approx(np.pi, rel=1e-7)
    assert disk.mean("u", along=ring) == pytest.approx(0.25, rel=1e-7)


def test_errors_are_known_and_kept(wave, disk):
    found = wave.integral("u**2", t=0.3)
    assert abs(found - np.cos(0.3 * np.pi) ** 2 / 2) <= found.error < 1e-7
    assert repr(found).endswith(f" ± {found.error:.1g}")
    assert np.all(wave.integral("u**2").error < 1e-7)
    assert "energy_error" in wave.integral({"energy": "u_x**2"}, t=[0, 1]).coords
    loose = fp.solve(disk.problem)
    assert np.isnan(loose.integral().error)
    assert repr(loose.integral()) == repr(float(loose.integral()))
    assert pickle.loads(pickle.dumps(found)).error == found.error


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"where": "x > 3"}, "where='x > 3' holds nowhere in the domain"),
        ({"where": "x"}, "'x' compares nothing; write for example 'x < 0.5'"),
        ({"where": 3}, "where is a domain or a condition such as 'x < 0.5', got 3"),
        ({"where": "t < 1"}, "depends on t|unknown name 't'"),
        ({"where": "w < 1"}, "unknown name 'w'"),
        ({"where": fp.Disk((0.9, 0), 0.3)}, "reaches outside the domain .*; write domain & region for the part inside"),
        ({"where": fp.Interval(0, 1)}, "has 1 dimension"),
        ({"along": [[0, 0]]}, r"along is a list of points with 2 coordinate\(s\) each"),
        ({"along": [[0, 0], [2, 0]]}, r"the curve leaves the domain .*, for example at \(1\.0"),
        ({"along": ["s"]}, "has 1 coordinates, and the domain has 2"),
        ({"along": [[0, 0], [0, 0]]}, "goes twice through the same point"),
        ({"side": "boundary", "where": "x < 1"}, "side and where are given; an integral is over one of them"),
        ({"wher": "x < 1"}, "has no argument 'wher'. Did you mean 'where'"),
    ],
)
def test_parts_that_make_no_sense(disk, more, text):
    with pytest.raises(fp.FrozenPinnError, match=text):
        disk.integral("u", **more)
