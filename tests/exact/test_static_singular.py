"""Static problems that no smooth features resolve: corners, holes, layers; and what is said where nothing does."""

import numpy as np
import pytest
import sympy as sp
from scipy.special import iv

import frozenpinn as fp
from frozenpinn.domains import Annulus, Implicit, Shell

L_SHAPE = [(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)]


def wedge(opening):
    """Return a polygon with a corner at the origin that opens from the direction of the x axis."""
    angles = np.linspace(0.0, opening, 7)
    return fp.Polygon([(0.0, 0.0), *zip(np.cos(angles), np.sin(angles), strict=True)])


def power(alpha):
    """Return r^α sin αθ with the angle between 0 and 2π."""
    return lambda x, y: np.hypot(x, y) ** alpha * np.sin(alpha * np.mod(np.arctan2(y, x), 2.0 * np.pi))


@pytest.mark.parametrize("opening", [1.25 * np.pi, 1.5 * np.pi, 1.9 * np.pi])
def test_the_function_of_a_corner_is_found_to_round_off(opening):
    exact = power(np.pi / opening)
    problem = fp.Problem("lap(u) = 0", wedge(opening), boundary=fp.Dirichlet(exact), exact=exact)
    solution = fp.solve(problem, tol=1e-9)
    assert solution.status == "converged"
    assert solution.error()["rel_l2"] < 1e-10


def test_a_source_on_the_l_shape():
    """Values of a lightning solver (rational functions with poles at the corners), good to 1e-8."""
    problem = fp.Problem("lap(u) = -1", fp.Polygon(L_SHAPE), boundary="u = 0")
    solution = fp.solve(problem, tol=1e-8)
    assert solution.status == "converged"
    found = [float(solution(x, y)) for x, y in [(-0.5, 0.5), (0.5, 0.5), (-0.1, 0.1)]]
    assert found == pytest.approx([0.13105296, 0.10236216, 0.09806647], abs=1e-8)


def square_series(x, y):
    """Return the solution of Δu = −1 on the unit square, u = 0 on its boundary."""
    a = np.pi * np.arange(1, 4001, 2)[:, None]
    s = np.abs(y - 0.5)
    ratio = np.exp(a * (s - 0.5)) * (1.0 + np.exp(-2.0 * a * s)) / (1.0 + np.exp(-a))
    return np.sum(4.0 / a**3 * np.sin(a * x) * (1.0 - ratio), axis=0)


def test_data_that_contradict_each_other_at_right_angles():
    solution = fp.solve(fp.Problem("lap(u) = -1", fp.Box([0, 0], [1, 1]), boundary="u = 0"), tol=1e-9)
    x, y = 0.1 + 0.8 * np.random.default_rng(0).random((2, 50))
    assert solution.status == "converged"
    assert np.max(np.abs(solution(x, y) - square_series(x, y))) < 1e-10


def test_values_that_jump_at_corners():
    values = {"top": "u = 1", "left": "u = 0", "right": "u = 0", "bottom": "u = 0"}
    with pytest.warns(fp.FrozenPinnWarning, match="contradict each other by 1"):
        solution = fp.solve(fp.Problem("lap(u) = 0", fp.Box([0, 0], [1, 1]), boundary=values), tol=1e-7)
    assert float(solution(0.5, 0.5)) == pytest.approx(0.25, abs=1e-8)


@pytest.mark.parametrize(
    ("domain", "exact"),
    [
        (Annulus(0.2, 1), "log(sqrt(x**2 + y**2))/log(0.2)"),
        (Annulus(0.01, 1), "log(sqrt(x**2 + y**2))/log(0.01)"),
        (Shell(0.1, 1), "(0.1/sqrt(x**2 + y**2 + z**2) - 0.1)/0.9"),
    ],
)
def test_multipoles_of_holes(domain, exact):
    problem = fp.Problem("lap(u) = 0", domain, boundary={"inner": "u = 1", "outer": "u = 0"}, exact=exact)
    solution = fp.solve(problem, tol=1e-10)
    assert solution.status == "converged"
    assert solution.error()["rel_l2"] < 1e-11


@pytest.mark.parametrize("small", [1e-2, 1e-4])
def test_layers_on_a_line(small):
    line, values = fp.Interval(0, 1), {"left": "u = 0", "right": "u = 1"}
    exact = f"(1 - exp(-x/{small}))/(1 - exp(-1/{small}))"
    problem = fp.Problem("e*u_xx + u_x = 0", line, boundary=values, parameters={"e": small}, exact=exact)
    solution = fp.solve(problem, tol=1e-6)
    assert solution.status == "converged"
    assert solution.error()["rel_l2"] < 1e-9
    exact = f"(exp(-x/{small}) + exp((x - 1)/{small}))/(1 + exp(-1/{small}))"
    problem = fp.Problem("e**2*u_xx = u", line, boundary="u = 1", parameters={"e": small}, exact=exact)
    assert fp.solve(problem, tol=1e-6).error()["rel_l2"] < 1e-9


@pytest.mark.parametrize("small", [1e-2, 1e-3])
def test_a_layer_across_convection_in_the_plane(small):
    def exact(x, y):
        return (x - np.exp((x - 1) / small)) * np.sin(np.pi * y)

    def source(x, y):
        return np.sin(np.pi * y) + small * np.pi**2 * exact(x, y)

    problem = fp.Problem(
        "-e*lap(u) + u_x = f",
        fp.Box([0, 0], [1, 1]),
        boundary="u = 0",
        parameters={"e": small, "f": source},
        exact=exact,
    )
    solution = fp.solve(problem, tol=1e-6)
    assert solution.status == "converged"
    assert solution.error()["rel_l2"] < 1e-6


def test_a_layer_along_a_circle():
    exact = lambda x, y: iv(0, np.hypot(x, y) / 0.05) / iv(0, 20.0)  # noqa: E731
    problem = fp.Problem("0.0025*lap(u) = u", fp.Disk(), boundary="u = 1", exact=exact)
    solution = fp.solve(problem, tol=1e-5)
    assert solution.status == "converged"
    assert solution.error()["rel_l2"] < 1e-5


def narrow(domain, place, boundary):
    """Return a peak, 40 times narrower than the domain, on a smooth slope."""
    x, y = sp.symbols("x y")
    u = sp.exp(-((x - place[0]) ** 2 + (y - place[1]) ** 2) / 0.0025) + x * y
    f = sp.diff(u, x, 2) + sp.diff(u, y, 2) - u
    parameters = {"f": f, "g": u + x * sp.diff(u, x) + y * sp.diff(u, y), "v": u}
    return fp.Problem("lap(u) - u = f", domain, boundary=boundary, parameters=parameters, exact=u)


@pytest.fixture(scope="module")
def narrow_beside_a_corner():
    """A solution with functions of a corner and of a box side by side."""
    return fp.solve(narrow(fp.Polygon(L_SHAPE), (-0.5, 0.5), "u = v"), tol=1e-6)


def test_a_narrow_source_on_a_disk():
    solution = fp.solve(narrow(fp.Disk(), (0.3, 0.2), "u + u_n = g"), tol=1e-6)
    assert solution.status == "converged"
    assert solution.error()["rel_l2"] < 1e-6


def test_a_narrow_source_beside_a_corner(narrow_beside_a_corner):
    assert narrow_beside_a_corner.status == "converged"
    assert narrow_beside_a_corner.error()["rel_l2"] < 1e-6


# ---- what no features resolve ------------------------------------------------------------------------


def hidden_corner(x, y):
    return np.maximum(np.minimum(x, -y), np.maximum(np.abs(x), np.abs(y)) - 1.0)


@pytest.mark.parametrize("tol", [0.1, 1e-6])
def test_a_residual_that_stalls_is_never_called_converged(tol):
    domain = Implicit(hidden_corner, lower=[-1.01, -1.01], upper=[1.01, 1.01])
    problem = fp.Problem("lap(u) = -1", domain, boundary="u = 0")
    with pytest.warns(
        fp.FrozenPinnWarning, match=r"the residual stalls at \d+ %: the solution has a singularity that the"
    ):
        solution = fp.solve(problem, tol=tol)
    assert solution.status == "reached"
    assert "(a corner?)" in solution.verdict.reason
    assert solution.error_estimate["u"] > 0.2  # u(−½, ½) is 20 % and more below 0.131
    assert "doubt" in {name for name, _ in solution.decisions}


def test_a_solve_without_a_tolerance_says_so_too():
    domain = Implicit(hidden_corner, lower=[-1.01, -1.01], upper=[1.01, 1.01])
    problem = fp.Problem("lap(u) = -1", domain, boundary="u = 0")
    with pytest.warns(fp.FrozenPinnWarning, match="The solution may be wrong"):
        fp.solve(problem, settings=fp.Settings(width=100))


def test_special_functions_are_stored(tmp_path, narrow_beside_a_corner):
    problem = fp.Problem("e*u_xx + u_x = 0", fp.Interval(0, 1), boundary="u = x", parameters={"e": 1e-3})
    for solution in (
        narrow_beside_a_corner,
        fp.solve(problem, tol=1e-6),
        fp.solve(fp.Problem("lap(u) = 0", Shell(0.1, 1), boundary={"inner": "u = 1", "outer": "u = 0"}), tol=1e-6),
    ):
        assert "special functions" in solution.sampler
        solution.save(tmp_path / "s.fpinn", overwrite=True)
        x = solution.problem.domain.sample(40, "random", 0).x.T
        assert fp.load(tmp_path / "s.fpinn")(*x) == pytest.approx(solution(*x), rel=1e-12, abs=1e-12)
