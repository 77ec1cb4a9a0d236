"""Vectors: what makes one, vector calculus, conditions, data, what is refused."""

import numpy as np
import pytest
import sympy as sp

import frozenpinn as fp
from frozenpinn.language.jets import JetSpace
from frozenpinn.language.parser import Scope, parse_value
from frozenpinn.language.values import scalars

SQUARE = fp.Box([0, 0], [1, 1])
TORUS = fp.Box([0, 0], [1, 1], periodic=True)


def state(equation="U_t = lap(U)", initial=("x", "y"), boundary=None, domain=TORUS, **more):
    return fp.Problem(equation, domain, (0, 1), initial, boundary, **more)


def text_of(text, coordinates=("x", "y"), **parameters):
    jets = JetSpace(coordinates)
    names = [f"v{c}" for c in coordinates]
    vector = tuple(jets.symbol(jets.field(name)) for name in names)
    scope = Scope(jets, ["u", *names], parameters, composites={"v": vector})
    return ", ".join(str(sp.expand(number)) for number in scalars(parse_value(text, scope)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("div(v)", "vx_x + vy_y"),
        ("grad(div(v))", "vx_xx + vy_xy, vx_xy + vy_yy"),
        ("lap(v)", "lap(vx), lap(vy)"),
        ("curl(v)", "-vx_y + vy_x"),
        ("curl(u)", "u_y, -u_x"),
        ("curl(curl(v))", "-vx_yy + vy_xy, vx_xy - vy_xx"),
        ("advect(v, u)", "u_x*vx + u_y*vy"),
        ("advect(v, v)", "vx*vx_x + vx_y*vy, vx*vy_x + vy*vy_y"),
        ("dot(v, grad(v))", "vx*vx_x + vx_y*vy, vx*vy_x + vy*vy_y"),
        ("cross(v, [1, 2])", "2*vx - vy"),
        ("v[1] + v_x[0]", "vx_x + vy"),
        ("trace(grad(v))", "vx_x + vy_y"),
        ("sym(grad(v))[0]", "vx_x, vx_y/2 + vy_x/2"),
        ("div(u*identity)", "u_x, u_y"),
        ("div(2*sym(grad(v)))", "2*vx_xx + vx_yy + vy_xy, vx_xy + vy_xx + 2*vy_yy"),
        ("transpose(grad(v)) - grad(v)", "0, vx_y - vy_x, -vx_y + vy_x, 0"),
        ("dot([[1, 2], [3, 4]], v)", "vx + 2*vy, 3*vx + 4*vy"),
        ("dot(v, v)", "vx**2 + vy**2"),
        ("abs2(v)", "vx**2 + vy**2"),
        ("dxx(v)", "vx_xx, vy_xx"),
    ],
)
def test_calculus_in_the_plane(text, expected):
    assert text_of(text) == expected


def test_calculus_in_space():
    xyz = ("x", "y", "z")
    assert text_of("curl(v)", xyz) == "vy_z*-1 + vz_y".replace("vy_z*-1", "-vy_z") + ", vx_z - vz_x, -vx_y + vy_x"
    assert text_of("cross(v, [0, 0, 1])", xyz) == "vy, -vx, 0"
    assert text_of("div(curl(v))", xyz) == "0"


@pytest.mark.parametrize(
    ("given", "vectors"),
    [
        ({"equation": "U_tt = lap(U) + grad(div(U))", "initial_velocity": 0}, {"U": ("Ux", "Uy")}),
        (
            {"equation": ["U_t = -grad(p)", "p_t = -div(U)"], "initial": {"U": 0, "p": "sin(2*pi*x)"}},
            {"U": ("Ux", "Uy")},
        ),
        ({"equation": "U_t = lap(U) - U*U[0]"}, {"U": ("Ux", "Uy")}),
        ({"initial": {"U": ["x", 0]}}, {"U": ("Ux", "Uy")}),
        ({"vectors": "U"}, {"U": ("Ux", "Uy")}),
        ({"vectors": {"U": 3}, "initial": ["x", "y", 1]}, {"U": ("U1", "U2", "U3")}),
        ({"equation": "U_t = lap(U)", "initial": "x"}, {}),
    ],
)
def test_which_fields_are_vectors(given, vectors):
    assert state(**given).composites.vectors == vectors


BY_NAME = {"Ux": "x", "Uy": "y**2"}
FUNCTIONS = [lambda x, y: (x, y**2), lambda points: points ** [1, 2]]


@pytest.mark.parametrize("initial", [["x", "y**2"], "[x, y**2]", *FUNCTIONS, {"U": ["x", "y**2"]}, BY_NAME])
def test_initial_data_of_vectors(initial):
    problem = state(initial=initial, vectors=("U",))
    places = np.array([[0.2, 0.5], [0.3, 0.1]])
    assert np.array_equal(problem.initial["Ux"](places), [0.2, 0.3])
    assert np.allclose(problem.initial["Uy"](places), [0.25, 0.01], rtol=1e-15)


def test_conditions_of_vectors():
    sigma = {"sigma": "lam*div(U)*identity + 2*mu*sym(grad(U))", "lam": 2, "mu": 1}
    boundary = {
        "left": "U = 0",
        "right": "dot(sigma, n) = [0, 1]",
        "bottom": "U = [0, 0]",
        "top": ["dot(U, n) = 0", "Ux_n = 0"],
    }
    problem = fp.Problem("div(sigma) = [0, -1]", SQUARE, boundary=boundary, parameters=sigma)
    assert [(c.side.name, len(c.jets)) for c in problem.conditions] == [
        ("left", 1), ("left", 1), ("right", 2), ("right", 2), ("bottom", 1), ("bottom", 1), ("top", 1), ("top", 1),
    ]  # fmt: skip
    right = problem.conditions[2]
    assert {problem.jets.name(jet): str(c) for jet, c in zip(right.jets, right.coefficients, strict=True)} == {
        "Ux_x": "4", "Uy_y": "2",
    }  # fmt: skip
    objects = {"left": fp.Dirichlet([0, "y"], "U"), "right": fp.Neumann(0), "bottom": fp.Free(), "top": fp.Free("U")}
    other = fp.Problem("lap(U) = 0", SQUARE, boundary=objects, vectors="U")
    assert [float(c.value(np.array([[0, 0.5]]))[0]) for c in other.conditions] == [0, 0.5, 0, 0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"equation": "U_t = div(U)"}, "a vector stands where a number is needed"),
        ({"equation": "U_t = lap(U) + div(U)"}, "a vector stands where a number is needed"),
        ({"equation": "U_t = sin(U) + 0*grad(div(U))"}, "a vector stands where a number is needed"),
        ({"equation": "U_t = U*U + grad(div(U))"}, "a vector stands where a number is needed"),
        ({"equation": "U_t = grad(div(U))", "initial": "x"}, "of the vector 'U' is a number; write 2 components"),
        ({"equation": "U_t = grad(div(U))", "initial": ["x"]}, "of the vector 'U' needs 2 components, got 1"),
        ({"equation": "U_t = grad(div(U)) + [1, 2, 3]"}, "vectors of different length are added"),
        ({"equation": "U_t = lap(U)", "vectors": ("V",)}, "vectors= names 'V'; the fields are 'U'"),
        ({"equation": "U_t = lap(U)", "vectors": {"U": 0}}, "is the number of components, such as 2; got 0"),
        (
            {"equation": ["U_t = grad(div(U))", "Ux_t = 0"], "initial": {"U": 0}},
            "'Ux' is a component of the vector 'U'",
        ),
        ({"equation": "U_t = grad(div(U)) + U[2]*U"}, "a component is a whole number from 0 to 1"),
        ({"equation": "U_t = lap(U) + trace(U)*U"}, "a matrix is needed here, such as grad"),
        (
            {"vectors": {"U": 3}, "initial": ["x", "y", 1], "equation": "U_t = grad(div(U))"},
            "needs 2 components here, got 3",
        ),
        ({"vectors": "U", "initial": lambda x, y: x}, "returned an array of shape"),
        ({"vectors": 3}, r"vectors= names fields, such as vectors=\('U',\); got 3"),
        ({"vectors": "U", "initial": {"Ux": "x"}}, "the initial value is missing for 'U'"),
    ],
)
def test_refused(given, words):
    with pytest.raises(fp.FrozenPinnError, match=words):
        state(**given)
