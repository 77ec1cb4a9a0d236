"""Polar, cylindrical and spherical coordinates: against closed forms and the same problems in Cartesian ones."""

import numpy as np
import pytest
from scipy.special import j0, j1, jn_zeros

import frozenpinn as fp

ROOT = float(jn_zeros(0, 1)[0])
RADIUS = fp.Interval(0, 1)
TURN = 2 * np.pi


def heat_of_a_disk(r, t):
    return j0(ROOT * r) * np.exp(-(ROOT**2) * t)


@pytest.fixture(scope="module")
def radial():
    initial = lambda r: j0(ROOT * r)  # noqa: E731
    problem = fp.Problem("u_t = lap(u)", RADIUS, (0, 0.2), initial, "u = 0", exact=heat_of_a_disk, coordinates="polar")
    return fp.solve(problem, tol=1e-9)


def test_heat_in_a_disk(radial):
    assert radial.status == "converged"
    assert radial.error()["rel_l2"] < 1e-10
    r = np.array([0.0, 0.3, 0.8, 1.0])
    assert np.allclose(radial(r, 0.1), heat_of_a_disk(r, 0.1), atol=1e-11)
    assert np.allclose(radial(r, 0.1, derivative="r"), -ROOT * j1(ROOT * r) * np.exp(-0.1 * ROOT**2), atol=1e-10)
    assert radial(0.0, 0.1, derivative="rr") == pytest.approx(-(ROOT**2) / 2 * np.exp(-0.1 * ROOT**2), rel=1e-6)
    assert radial.grid(points=3, times=2).u.dims == ("r", "t")
    assert radial.integral("u", t=0.0) == pytest.approx(TURN * j1(ROOT) / ROOT, rel=1e-9)


def test_it_is_stored(radial, tmp_path):
    radial.save(str(tmp_path / "u.fpinn"))
    again = fp.load(str(tmp_path / "u.fpinn"))
    assert again(0.3, 0.1, derivative="r") == radial(0.3, 0.1, derivative="r")
    assert radial.plot().axes[0].get_ylabel() == "r"


def test_it_is_the_same_in_cartesian_coordinates():
    equation = "lap(u) - u**3 = -4*f"
    given = {"boundary": "u = 0", "coordinates": "polar", "parameters": {"f": "exp(-r**2)"}}
    cartesian = {"boundary": "u = 0", "parameters": {"f": "exp(-(x**2 + y**2))"}}
    plane = fp.solve(fp.Problem(equation, fp.Disk(), **cartesian), tol=1e-9)
    line = fp.solve(fp.Problem(equation, RADIUS, **given), tol=1e-9)
    disk = fp.solve(fp.Problem(equation, fp.Box([0, 0], [1, TURN]), **given), tol=1e-9)
    r, theta = np.meshgrid(np.linspace(0, 1, 9), np.linspace(0, 6, 5))
    expected = plane(r * np.cos(theta), r * np.sin(theta))
    assert np.max(np.abs(line(r) - expected)) < 1e-8
    assert np.max(np.abs(disk(r, theta) - expected)) < 1e-8


RING, TUBE, SHELL = fp.Box([1, 0], [2, TURN]), fp.Box([0, 0], [1, 1]), fp.Box([1, 0], [2, np.pi])
AROUND = {"r-": "u = cos(theta)", "r+": "u = 0"}
ENDS = {"r+": "u = r**2 - 2*z**2", "z-": "u = r**2", "z+": "u_n = -4*z"}
BRATU = "2*log((4 - 2*sqrt(2))/(1 + (3 - 2*sqrt(2))*r**2))"


@pytest.mark.parametrize(
    ("coordinates", "domain", "equation", "boundary", "exact"),
    [
        ("polar", RING, "lap(u) = 0", AROUND, "cos(theta)*(4/r - r)/3"),
        ("polar", fp.Box([1, 0], [2, 1]), "lap(u) = 0", "u = r**2*sin(2*theta)", "r**2*sin(2*theta)"),
        ("polar", fp.Box([0, 0], [1, TURN]), "lap(u) = -4*r*cos(theta)", "u = 0", "(r - r**3)*cos(theta)/2"),
        ("polar", RADIUS, "div((1 + r**2)*grad(u)) = -4 - 8*r**2", "u_n + u = -2", "1 - r**2"),
        ("polar", RADIUS, "lap(u) + exp(u) = 0", "u = 0", BRATU),
        ("cylindrical", TUBE, "lap(u) = 0", ENDS, "r**2 - 2*z**2"),
        ("spherical", SHELL, "lap(u) = 0", AROUND, "cos(theta)*(8/r**2 - r)/7"),
        ("spherical", RADIUS, "u_rr + 2/r*u_r - u = 6 - r**2", fp.Neumann(2), "r**2"),
    ],
)
def test_static(coordinates, domain, equation, boundary, exact):
    problem = fp.Problem(equation, domain, boundary=boundary, exact=exact, coordinates=coordinates)
    assert fp.solve(problem, tol=1e-8).error()["rel_l2"] < 1e-8


def test_a_spherical_wave():
    exact = lambda r, t: np.sinc(3 * r) * np.cos(3 * np.pi * t)  # noqa: E731
    start = lambda r: np.sinc(3 * r)  # noqa: E731
    problem = fp.Problem("u_tt = lap(u)", RADIUS, (0, 1.5), start, "u = 0", 0, exact=exact, coordinates="spherical")
    assert fp.solve(problem, tol=1e-8).error()["rel_l2"] < 1e-8


def test_eigenvalues():
    def modes(domain, coordinates, n):
        given = {"boundary": "u = 0", "parameters": {"lam": fp.Eigenvalue()}, "coordinates": coordinates}
        return fp.modes(fp.Problem("-lap(u) = lam*u", domain, **given), n)

    assert np.allclose(modes(RADIUS, "polar", 4).values, jn_zeros(0, 4) ** 2, rtol=1e-10)
    assert np.allclose(modes(RADIUS, "spherical", 3).values, (np.pi * np.arange(1, 4)) ** 2, rtol=1e-10)
    disk = modes(fp.Box([0, 0], [1, TURN]), "polar", 3)
    assert np.allclose(disk.values, [ROOT**2, *[jn_zeros(1, 1)[0] ** 2] * 2], rtol=1e-10)
    assert disk[0](0.3, 1.0) / disk[0](0.0, 0.0) == pytest.approx(j0(0.3 * ROOT), rel=1e-9)


def test_a_vector_in_an_annulus():
    exact = ["0", "r + 1/r"]  # flow between turning cylinders
    sides = {"r-": "U = [0, 2]", "r+": "U = [0, 2.5]"}
    ring = fp.Box([1, 0], [2, TURN])
    problem = fp.Problem("U_t = lap(U)", ring, (0, 0.1), exact, sides, exact=exact, coordinates="polar", vectors="U")
    assert problem.fields == ("Ur", "Utheta")
    assert fp.solve(problem).error("U")["rel_l2"] < 1e-9
