"""Coefficients that jump under derivatives, against closed forms."""

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq

import frozenpinn as fp
from frozenpinn.assembly.parts import parts_of, with_small_parts

LINE, SQUARE = fp.Interval(0, 1), fp.Box([0, 0], [1, 1])
X = np.linspace(0.0, 1.0, 2001)
TWO = {"steel": "x < 0.3", "air": "rest"}


def rod(x, a=0.3, k1=1.0, k2=10.0):
    """Solve (k u')' = −1 with u = 0 at both ends."""
    c = (a * a / 2 / k1 + (1 - a * a) / 2 / k2) / (a / k1 + (1 - a) / k2)
    right = (c * a - a * a / 2) / k1 + (c * (x - a) - (x**2 - a * a) / 2) / k2
    return np.where(x < a, (c * x - x**2 / 2) / k1, right)


@pytest.mark.parametrize(
    "more",
    [
        {"parameters": {"k": "1 + 9*heaviside(x - 0.3)"}},
        {"parameters": {"k": "5.5 - 4.5*sign(0.3 - x)"}},
        {"parameters": {"k": {"steel": 1, "air": "10"}}, "regions": TWO},
    ],
)
def test_static_rod(more):
    solution = fp.solve(fp.Problem("dx(k*u_x) = -1", LINE, boundary="u = 0", **more), tol=1e-9)
    assert solution.status == "converged"
    assert np.abs(solution(X) - rod(X)).max() < 1e-9
    kink = np.array([0.3 - 1e-9, 0.3 + 1e-9])
    left, right = solution(kink, derivative="x")
    assert np.isclose(left, 10 * right, rtol=1e-6)


def test_contact_resistance():
    regions = {"a": "x < 0.3", "b": "0.3 < x"}
    ends = {"left": "u = 0", "right": "u = 1"}
    problem = fp.Problem(
        "div(k*grad(u)) = 0", LINE, boundary=ends, parameters={"k": {"a": 1, "b": 10}}, regions=regions, contact=0.2
    )
    flux = 1 / (0.3 + 0.07 + 0.2)
    solution = fp.solve(problem, tol=1e-9)
    assert np.isclose(solution(0.29), 0.29 * flux, atol=1e-9)
    assert np.isclose(solution(0.31), 1 - 0.069 * flux, atol=1e-9)


def mode_of_two_rods():
    """Return the rate and the shape of the slowest mode with k = 1 on one half of the interval and 4 on the other."""
    w = brentq(lambda w: w * np.cos(w / 2) * np.sin(w / 4) + 2 * w * np.sin(w / 2) * np.cos(w / 4), 3, 5.5)
    factor = np.sin(w / 2) / np.sin(w / 4)
    return w**2, lambda x: np.where(x < 0.5, np.sin(w * x), factor * np.sin(w / 2 * (1 - x)))


def test_evolution_and_its_file(tmp_path):
    rate, shape = mode_of_two_rods()
    problem = fp.Problem(
        "u_t = dx(k*u_x)", LINE, (0, 0.1), shape, "u = 0", parameters={"k": "1 + 3*heaviside(x - 0.5)"}
    )
    solution = fp.solve(problem, tol=1e-8)
    assert solution.status == "converged"
    assert np.abs(solution(X, 0.1) - np.exp(-0.1 * rate) * shape(X)).max() < 1e-8
    solution.save(tmp_path / "rod.fpinn")
    assert np.array_equal(fp.load(tmp_path / "rod.fpinn")(X, 0.1), solution(X, 0.1))
    many = np.linspace(0, 1, 400_001)
    assert np.abs(solution(many, 0.1) - np.exp(-0.1 * rate) * shape(many)).max() < 1e-8


def test_eigenvalue():
    parameters = {"k": "1 + 3*heaviside(x - 0.5)", "lam": fp.Eigenvalue()}
    found = fp.modes(fp.Problem("-dx(k*u_x) = lam*u", LINE, boundary="u = 0", parameters=parameters), 1)
    assert np.isclose(found.values[0], mode_of_two_rods()[0], rtol=1e-9)


def inclusion(x, y, inside=5.0, radius=0.4):
    square = np.maximum(x**2 + y**2, 1e-30)
    outside = x * (1 + (1 - inside) / (1 + inside) * radius**2 / square)
    return np.where(square < radius**2, 2 / (1 + inside) * x, outside)


def test_circular_inclusion():
    problem = fp.Problem(
        "div(k*grad(u)) = 0",
        fp.Box([-1, -1], [1, 1]),
        boundary=fp.Dirichlet(inclusion),
        parameters={"k": {"inside": 5, "outside": 1}},
        regions={"inside": fp.Disk((0, 0), 0.4), "outside": "rest"},
        exact=inclusion,
    )
    solution = fp.solve(problem, tol=1e-6)
    assert solution.status == "converged"
    assert solution.error("u")["rel_l2"] < 1e-7


def test_layers_on_a_square_and_in_space():
    rate, shape = mode_of_two_rods()
    layers = {"k": "1 + 3*heaviside(x - 0.5)"}
    sides = {"left": "u = 0", "right": "u = 0", "bottom": "u_n = 0", "top": "u_n = 0"}
    problem = fp.Problem("u_t = div(k*grad(u))", SQUARE, (0, 0.05), lambda x, y: shape(x), sides, parameters=layers)
    solution = fp.solve(problem, tol=1e-5)
    assert solution.status == "converged"
    assert solution.pieces[0].expansions[0].basis.is_product
    assert np.abs(solution(X, 0.3, 0.05) - np.exp(-0.05 * rate) * shape(X)).max() < 1e-6
    sides = dict.fromkeys(("x-", "x+", "y-", "y+"), "u_n = 0") | {"z-": "u = 0", "z+": "u = 1"}
    layers = {"k": "1 + 9*heaviside(z - 0.3)"}
    solid = fp.solve(
        fp.Problem("div(k*grad(u)) = 0", fp.Box([0] * 3, [1] * 3), boundary=sides, parameters=layers), tol=1e-4
    )
    flux = 1 / (0.3 + 0.07)
    assert np.isclose(solid(0.2, 0.7, 0.25), 0.25 * flux, atol=1e-5)
    assert np.isclose(solid(0.2, 0.7, 0.8), 1 - 0.02 * flux, atol=1e-5)


def stated(equation="u_t = dx(k*u_x)", k="1 + heaviside(x - 0.5)", domain=LINE, **more):
    return fp.Problem(equation, domain, (0, 1), 0, "u = 0", parameters={"k": k}, **more)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: stated(k="1 + heaviside(x - t)"), "moves in time; interfaces must stay"),
        (lambda: stated("u_t = dx(k*u*u_x)"), "is not linear in the unknown"),
        (lambda: stated("u_t = dx(k*u_x + k)"), "jumps by itself, without the unknown"),
        (lambda: stated("u_t = dx(k*(1 + t)*u_x)"), "its coefficients depend on t"),
        (lambda: stated("u_t = -dx(dx(k*u_xx))"), "differentiates twice what jumps"),
        (lambda: stated("u_t = lap(k*u)"), "contains a delta function"),
        (lambda: stated("u_t = -u_xxxx + dx(k*u_x)"), "interfaces are for equations of second order"),
        (lambda: stated("u_t = dx(k)*u + u_xx"), "contains a delta function"),
        (lambda: stated(k=2, contact=0.1), "contact= is a resistance where coefficients jump, and none does"),
        (lambda: stated(contact=-1), "contact is a resistance, a number from 0 on, got -1"),
        (lambda: stated(k={"a": 1, "b": 2}), "say what these are"),
        (
            lambda: stated(k={"a": 1, "b": 2}, regions={"a": "x < 0.5", "c": "rest"}),
            "value for 'b', which is no region",
        ),
        (lambda: stated(k={"a": 1}, regions={"a": "x < 0.5", "c": "rest"}), "has none for 'c'"),
        (lambda: stated(k={"a": 1, "c": []}, regions={"a": "x < 0.5", "c": "rest"}), "must be a number or text"),
        (lambda: stated(regions={"a": "x < 0.6", "b": "x > 0.4"}), r"overlap at \(0\.[45]\d*\): 'a', 'b'"),
        (lambda: stated(regions={"a": "x < 0.4", "b": "x > 0.6"}), r"leave a hole at \(0\.[45]\d*\)"),
        (lambda: stated(regions={"a": "x < 0.5", "b": "rest", "c": "rest"}), "are both the rest"),
        (lambda: stated(regions={"a": "x < 2", "b": "rest"}), "region 'b' has no part in the domain"),
        (lambda: stated(regions={"a": "x", "b": "rest"}), "write a comparison such as"),
        (lambda: stated(regions={"a": 3, "b": "rest"}), "region 'a' must be text"),
        (lambda: stated(regions="x < 1"), "regions is a dict such as"),
    ],
)
def test_what_is_refused(make, text):
    with pytest.raises((fp.ProblemError, fp.FrozenPinnError), match=text):
        make()


def test_settings_that_are_refused():
    problem = stated("u_t = div(k*grad(u))", domain=SQUARE)
    with pytest.raises(fp.SettingsError, match="is solved in all coordinates"):
        fp.solve(problem, settings=fp.Settings(subspace=[[1.0, 0.0]]))


def test_regions_in_a_problem_file(tmp_path):
    from frozenpinn.cli.problem_file import read_problem_file

    text = 'equation = "dx(k*u_x) = -1"\nboundary = "u = 0"\n[domain]\nlower = 0\nupper = 1\n'
    text += '[regions]\nsteel = {lower = [0], upper = [0.3]}\nair = "rest"\n[parameters.k]\nsteel = 1\nair = 10\n'
    (tmp_path / "rod.toml").write_text(text)
    problem, _ = read_problem_file(tmp_path / "rod.toml")
    assert np.abs(fp.solve(problem, tol=1e-8)(X) - rod(X)).max() < 1e-8


def test_values_of_regions_may_use_parameters():
    def rod(k, **more):
        regions = {"steel": "x < 0.4", "air": "rest"}
        given = {"k": k, **more}
        return fp.Problem(
            "u_t = dx(k*u_x)", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0", None, given, regions=regions
        )

    def same(one, other):
        (a,), (b,) = ([e.right_side for e in problem.equations] for problem in (one, other))
        return all(
            abs(float(c)) < 1e-14 for c in sp.Poly(sp.expand(a - b), *(a - b).atoms(sp.Symbol, sp.Heaviside)).coeffs()
        )

    named = rod({"steel": "50*f", "air": "f*(1 + x*f)"}, f=0.5)
    assert same(named, rod({"steel": 25, "air": "0.5 + 0.25*x"}))
    assert same(named.at(f=0.1), rod({"steel": 5, "air": "0.1 + 0.01*x"}))
    assert not same(named, named.at(f=0.1))
    with pytest.raises(fp.ProblemError, match="unknown name 'f'"):
        rod({"steel": "50*f", "air": 1})


def test_ring_of_two_materials():
    ring = fp.Interval(0, 2, periodic=True)
    problem = fp.Problem("dx(k*u_x) - u = -1 - x", ring, parameters={"k": "1 + 3*heaviside(x - 1)"})
    solution = fp.solve(problem, tol=1e-6)
    (a, b), (c, d) = solution(np.array([0.0, 2.0])), solution(np.array([0.0, 2.0]), derivative="x")
    assert solution.status == "converged"
    assert abs(a - b) < 1e-9
    assert abs(c - 4 * d) < 1e-8  # the flux goes on at the ends as well: k is 1 and 4 there


def test_periodic_axis_across_which_a_source_jumps():
    domain = fp.Box([0, 0], [2, 1], periodic=(True, False))
    problem = fp.Problem("lap(u) = heaviside(x - 1)*sin(pi*y)", domain, boundary="u = 0")
    solution = fp.solve(problem, tol=1e-6)
    x, size = np.array([0.0, 0.2, 0.7]), -1 / np.pi**2
    exact = size * np.where(x > 1, 1, 0) + size * np.cosh(np.pi * (x - 0.5)) / (2 * np.cosh(np.pi / 2))
    assert solution.status == "converged"
    assert np.allclose(solution(x, 0.5), exact, atol=1e-7)


@pytest.mark.parametrize("radius", [0.02, 0.003])
def test_a_small_inclusion_has_points_of_its_own(radius):
    k = f"where(x^2 + y^2 < {radius}^2, 100, 1)"
    solution = fp.solve(fp.Problem(f"div({k}*grad(u)) = 0", fp.Disk((0, 0), 1), boundary="u = x"), tol=1e-4)
    slope = 2.0 / (101.0 - 99.0 * radius**2)
    inside = (solution(radius / 2, 0.0) - solution(-radius / 2, 0.0)) / radius
    assert solution.status == "converged"
    np.testing.assert_allclose(inside, slope, rtol=0.02)


def test_a_small_region_is_found_and_one_outside_is_refused():
    def stated(centre):
        return fp.Problem(
            "div(k*grad(u)) = 0",
            fp.Disk((0, 0), 1),
            boundary="u = x",
            parameters={"k": {"in": 100, "out": 1}},
            regions={"in": fp.Disk(centre, 0.004), "out": "rest"},
        )

    assert len(parts_of(stated((0.3, 0.1)))) == 2
    with pytest.raises(fp.ProblemError, match="region 'in' has no part in the domain"):
        stated((1.3, 0.1))


def test_points_of_a_small_part_have_exact_weights():
    k = "where((x - 0.2)^2 + 4*(y - 0.1)^2 < 0.01^2, 100, 1)"
    problem = fp.Problem(f"div({k}*grad(u)) = 0", fp.Disk((0, 0), 1), boundary="u = x")
    points = with_small_parts(problem, problem.domain.sample(400, "gauss"))
    inside = (points.x[:, 0] - 0.2) ** 2 + 4 * (points.x[:, 1] - 0.1) ** 2 < 0.01**2
    assert np.sum(inside) >= 60
    np.testing.assert_allclose(np.sum(points.weights[inside]), np.pi * 0.01**2 / 2, rtol=1e-6)


# ---- parts that random places miss -------------------------------------------------------------------------------


@pytest.mark.parametrize("radius", [0.02, 1e-3])
def test_a_tiny_source_is_seen(radius):
    room = fp.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])

    def exact(x, y):
        r = np.hypot(x - 0.5, y - 0.5)
        outside = -np.log(np.maximum(r, radius)) / 2
        return np.where(r < radius, (radius**2 - r**2) / (4 * radius**2) - np.log(radius) / 2, outside)

    source = f"where((x - 0.5)**2 + (y - 0.5)**2 < {radius}**2, 1/{radius}**2, 0)"
    solution = fp.solve(fp.Problem(f"-lap(u) = {source}", room, boundary=fp.Dirichlet(exact)), tol=1e-2)
    x = room.sample(500, "random", 1).x
    assert solution.status == "converged"
    assert np.max(np.abs(solution(*x.T) - exact(*x.T))) < 2e-2


@pytest.mark.parametrize("width", [0.02, 3e-4])
def test_a_narrow_source_on_a_line_is_seen_and_its_error_told(width):
    def exact(x):
        h = np.abs(x - 0.4137)
        own = np.where(h < width, -(h**2) / (2 * width), -(h - width / 2))
        left, right = width / 2 - 0.4137, width / 2 - 0.5863
        return own - left - (right - left) * x

    line = fp.Problem(f"-u_xx = where(abs(x - 0.4137) < {width}, 1/{width}, 0)", fp.Interval(0, 1), boundary="u = 0")
    solution = fp.solve(line, tol=1e-4)
    error = np.max(np.abs(solution(X := np.linspace(0, 1, 400)) - exact(X)))
    assert error < 10 * solution.error_estimate.absolute("u")


@pytest.mark.filterwarnings("ignore::frozenpinn.FrozenPinnWarning")
def test_a_tiny_square_between_four_cuts_is_a_part():
    source = "where(abs(x - 0.5) < 3e-4 and abs(y - 0.5) < 3e-4, 1e7, 0)"
    problem = fp.Problem(f"lap(u) = -{source}", fp.Box((0, 0), (1, 2)), boundary="u = 0")
    assert len(parts_of(problem)) == 9
