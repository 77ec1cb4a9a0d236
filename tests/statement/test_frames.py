"""Polar, cylindrical and spherical coordinates: how problems in them are solved, and what is refused."""

import numpy as np
import pytest
import sympy as sp

import frozenpinn as fp
from frozenpinn.statement.document import problem_from_dict, problem_to_dict
from frozenpinn.statement.frames import read_coordinates

TURN = 2 * np.pi
RADIUS = fp.Interval(0, 1)


def state(domain, coordinates, equation="lap(u) = 0", boundary="u = 0", **more):
    return fp.Problem(equation, domain, boundary=boundary, coordinates=coordinates, **more)


@pytest.mark.parametrize(
    ("domain", "coordinates", "equation", "expected"),
    [
        (fp.Box([1, 0], [2, TURN]), "polar", "lap(u)", "u_rr + u_r/r + u_thetatheta/r**2"),
        (RADIUS, "polar", "lap(u)", "4*r2*u_r2r2 + 4*u_r2"),
        (RADIUS, "spherical", "lap(u)", "4*r2*u_r2r2 + 6*u_r2"),
        (RADIUS, "spherical", "u_rr + 2*u_r/r", "4*r2*u_r2r2 + 6*u_r2"),
        (fp.Box([0, 0], [1, 1]), "cylindrical", "div(grad(u))", "4*r2*u_r2r2 + 4*u_r2 + u_zz"),
        (fp.Box([1, 0], [2, TURN]), ("r", "theta"), "dot([1, 2], grad(u)) + u_rr", "u_rr + u_r + 2*u_theta/r"),
        (fp.Box([1, 0], [2, TURN]), ("polar", "s", "phi"), "lap(u)", "u_ss + u_s/s + u_phiphi/s**2"),
        (fp.Box([0, 0], [1, TURN]), "polar", "lap(u)", "lap(u)"),
        (fp.Box([0, 0], [1, TURN]), "polar", "div(2*grad(u))", "2*lap(u)"),
        (fp.Disk(), "polar", "lap(u) + u_theta", "-y*u_x + x*u_y + lap(u)"),
        (fp.Ball([0, 0, 0]), "spherical", "lap(u)", "lap(u)"),
    ],
)
def test_equations(domain, coordinates, equation, expected):
    problem = state(domain, coordinates, f"{equation} = 0")
    symbols = {name: sp.Symbol(name, real=True) for name in ("x", "y", "r", "s", "r2", "lap")}
    found = sp.expand(problem.equations[0].right_side)
    plain = sp.sympify(expected.replace("lap(u)", "LAP"), locals={**symbols, "LAP": sp.Symbol("lap(u)", real=True)})
    names = {s: sp.Symbol(s.name, real=True) for s in plain.free_symbols}
    assert sp.expand(found - plain.xreplace(names)) == 0


@pytest.mark.parametrize("points", [np.array([[1.2, 0.4], [1.9, 2.5]])])
def test_operators_in_curved_coordinates_are_those_of_space(points):
    """Gradient, divergence, rotation and Laplacian of a vector, against the same in Cartesian coordinates."""
    from frozenpinn.language.parser import parse_value
    from frozenpinn.language.program import Program

    x, y = sp.symbols("x y", real=True)
    cartesian = (x**2 * y + y, sp.sin(x) * y**2)
    r, th = sp.symbols("r theta", real=True)
    place = {x: r * sp.cos(th), y: r * sp.sin(th)}
    turned = [
        sp.cos(th) * cartesian[0] + sp.sin(th) * cartesian[1],
        -sp.sin(th) * cartesian[0] + sp.cos(th) * cartesian[1],
    ]
    turned = [component.subs(place) for component in turned]
    given = {"vectors": "U", "initial": 0, "boundary": "U = 0"}
    problem = fp.Problem("U_t = lap(U)", fp.Box([1, 0], [2, TURN]), (0, 1), coordinates="polar", **given)
    scope = problem.parameters.scope(problem.jets, problem.fields)
    table = dict(zip(("Ur", "Utheta"), turned, strict=True))

    def found(text):
        value = parse_value(text, scope)
        parts = [problem.jets.substitute(part, table) for part in (value if isinstance(value, tuple) else [value])]
        return np.array(Program(parts, [r, th])(*points.T))

    def expected(*parts, rotate=False):
        values = np.array([np.broadcast_to(v, 2) for v in Program([p.subs(place) for p in parts], [r, th])(*points.T)])
        c, s = np.cos(points[:, 1]), np.sin(points[:, 1])
        return np.array([c * values[0] + s * values[1], c * values[1] - s * values[0]]) if rotate else values

    d, (a, b) = sp.diff, cartesian
    assert np.allclose(found("div(U)"), expected(d(a, x) + d(b, y)))
    assert np.allclose(found("curl(U)"), expected(d(b, x) - d(a, y)))
    laplacian = [d(c, x, 2) + d(c, y, 2) for c in cartesian]
    assert np.allclose(found("lap(U)"), expected(*laplacian, rotate=True))
    carried = [a * d(c, x) + b * d(c, y) for c in cartesian]
    assert np.allclose(found("advect(U, U)"), expected(*carried, rotate=True))


def test_the_domain_that_is_solved_on():
    assert repr(state(fp.Box([0, 0], [2, TURN]), "polar").domain) == "Disk(center (0, 0), radius 2)"
    shell = state(fp.Box([1, 0], [2, np.pi]), "spherical")
    assert (shell.domain.coordinates, tuple(shell.domain.upper)) == (("r", "costheta"), (2.0, 1.0))
    assert shell.frame.axes == {"bottom", "top"}
    assert "Extruded" in repr(state(fp.Box([0, 0, 0], [1, TURN, 2]), "cylindrical").domain)
    assert state(fp.Box([1, 0], [2, TURN]), "polar").domain.periodic == (False, True)
    assert state(fp.Box([1, 0], [2, 3]), "polar").domain.periodic == (False, False)


def test_plain_data():
    problem = state(fp.Box([0, 0], [1, 1]), "cylindrical", boundary={"r+": "u = z", "z-": "u = 0", "z+": "u = 1"})
    again = problem_from_dict(problem_to_dict(problem))
    assert repr(again) == repr(problem)
    assert again.stated.coordinates == ("r", "z")
    assert str(problem.at().equations) == str(problem.equations)
    assert read_coordinates(RADIUS, None) == (RADIUS, None)


@pytest.mark.parametrize(
    ("domain", "coordinates", "given", "words"),
    [
        (fp.Box([0, 0], [1, 1]), "polar", {}, "the centre of the polar coordinates is a corner of the domain"),
        (fp.Box([1, 0, 0], [2, 1, TURN]), "spherical", {}, "the axis of the spherical coordinates is a corner"),
        (fp.Box([1, 0], [2, 1]), "polar", {"equation": "lap(u) = x"}, "'x' is a Cartesian coordinate, and"),
        (fp.Box([1, 0], [2, 1]), None, {"equation": "lap(u) = theta"}, r'for others write coordinates="polar"'),
        (fp.Box([-1, 0], [2, 1]), "polar", {}, "'r' runs from -1; a distance from the axis is not negative"),
        (fp.Box([1, 0], [2, 7]), "polar", {}, "more than a whole turn"),
        (fp.Box([1, 0], [2, 4]), "spherical", {}, "the polar angle lies between 0 and pi"),
        (fp.Box([1, 0], [2, 1], periodic=[True, False]), "polar", {}, "'r' is a distance and can't be periodic"),
        (RADIUS, "spherical", {"boundary": {"r-": "u = 0", "r+": "u = 0"}}, "'r-' is the axis of the coordinates"),
        (RADIUS, "spherical", {"boundary": None}, r"no boundary condition for the sides 'r\+'"),
        (RADIUS, "sperical", {}, "unknown coordinates 'sperical'.*Did you mean 'spherical'"),
        (RADIUS, 3, {}, r'coordinates= is a kind such as "polar" or names such as'),
        (RADIUS, ("r",), {}, "may be a distance from a centre in the plane or in space"),
        (fp.Box([0, 0, 0], [1, 1, 1]), "polar", {}, 'coordinates="polar" are r or r, theta; the domain has 3'),
        (fp.Disk(), "spherical", {}, "it has 2 dimensions, not 3"),
        (fp.Box([0, 0], [1, TURN]), "polar", {"vectors": "u", "boundary": "u = 0"}, "no smooth values on the axis"),
        (RADIUS, "polar", {"equation": "div(grad(grad(u))) = [0]"}, "need all coordinates of space"),
        (fp.Box([1, 0], [2, TURN]), "polar", {"boundary": {"theta-": "u = 0", "r-": "u = 0", "r+": "u = 0"}},
         "axis 'theta' is periodic"),
    ],
)  # fmt: skip
def test_refused(domain, coordinates, given, words):
    with pytest.raises(fp.FrozenPinnError, match=words):
        state(domain, coordinates, **given)


def test_constraints_name_points_in_the_same_coordinates():
    given = {"boundary": "u_n = 1/2", "equation": "lap(u) = 1", "constraint": "u(0.5) = 1"}
    assert state(RADIUS, "polar", **given).constraints[0].point[0, 0] == 0.25
    solution = fp.solve(state(RADIUS, "polar", **given))
    assert solution(np.array([0.5, 1.0])) == pytest.approx([1.0, 1.0 + 3 / 16], abs=1e-8)
    with pytest.raises(fp.ProblemError, match=r"the mean of a field is not known in polar coordinates"):
        state(RADIUS, "polar", **{**given, "constraint": "mean(u) = 0"})


def test_places_that_are_refused():
    solution = fp.solve(state(fp.Box([1, 0], [2, TURN]), "polar", boundary="u = 1"))
    assert solution(1.5, 0.3) == pytest.approx(1.0, abs=1e-8)
    assert solution(r=1.5, theta=9.0) == pytest.approx(1.0, abs=1e-8)  # an angle
    with pytest.raises(fp.EvaluationError, match=r"the point \(0.5, 0.3\) lies outside the domain"):
        solution(0.5, 0.3)
    with pytest.raises(fp.EvaluationError, match="is not made of the coordinates 'r', 't', 'theta'"):
        solution(1.5, 0.3, derivative="x")
    with pytest.raises(fp.EvaluationError, match="integrals over sides are not known in polar coordinates"):
        solution.integral("u", side="left")


@pytest.mark.parametrize(
    ("equation", "domain", "coordinates"),
    [
        ("u_rr + u_r/r - u/r**2 = 0", RADIUS, "cylindrical"),
        ("lap(u) + u/r = 0", RADIUS, "spherical"),
        ("lap(u) - u**2/r**2 = 0", RADIUS, "polar"),
        ("lap(u) - u/sin(theta)**2 = 1", fp.Box([1, 0], [2, np.pi]), "spherical"),
        ("lap(u) - u/r**2 = 1", fp.Box([0, 0], [1, TURN]), "polar"),
    ],
)
def test_coefficients_that_are_infinite_on_the_axis(equation, domain, coordinates):
    with pytest.raises(fp.ProblemError, match=r"is infinite on the axis of the coordinates, so solutions behave like"):
        state(domain, coordinates, equation)


@pytest.mark.parametrize(
    ("initial", "equation", "smooth"),
    [
        ("1 - r**2", "lap(u)", True),
        ("sin(pi*r)/r", "lap(u)", True),
        ("1 - r**2", "lap(u) + r*u_r", True),
        (lambda r: np.cos(np.pi * r / 2), "lap(u)", True),
        ("1 - r", "lap(u)", False),
        (lambda r: 1 - r, "lap(u)", False),
        ("1 - r**2", "lap(u) + u_r", False),
        ("1 - r**2", "lap(u) + where(r < 0.5, 0, 1)*u", True),
    ],
)
def test_what_is_not_even_around_the_axis(initial, equation, smooth):
    import warnings

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fp.Problem(f"u_t = {equation}", RADIUS, (0, 0.1), initial, "u = 0", coordinates="spherical")
    odd = [w for w in found if "is not even in the coordinates around the axis" in str(w.message)]
    assert len(odd) == (0 if smooth else 1)
