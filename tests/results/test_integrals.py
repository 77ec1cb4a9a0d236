"""Integrals over domains, sides and time against those known in closed form."""

import numpy as np
import pytest

import frozenpinn as fp


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
