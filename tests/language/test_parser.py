"""The language of equations: operators, precedence, chain rule, each checked against SymPy's own derivatives."""

import math

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from frozenpinn.language.jets import JetSpace, coordinate_names
from frozenpinn.language.parser import FUNCTIONS, Scope, parse, parse_equation, tokenize
from frozenpinn.language.program import Program
from frozenpinn.language.unknowns import fields_in

x, y, t = sp.symbols("x y t", real=True)
U = x**3 * y**2 * sp.exp(t) + sp.sin(x * y)
V = sp.cos(x) * y**3 + t * x**2 + 2
K = sp.exp(-x * y) + x
D = sp.diff


def lap(f):
    return D(f, x, 2) + D(f, y, 2)


def div(a, b):
    return D(a, x) + D(b, y)


def plane(parameters=None):
    return Scope(JetSpace(["x", "y"]), ["u", "v"], parameters or {})


def line(fields=("u",), functions=None):
    return Scope(JetSpace(["x"]), fields, {}, functions or {})


def same(a, b):
    """Two expressions agree at points without any symmetry."""
    for i in range(3):
        place = {x: sp.Rational(3 + i, 7), y: sp.Rational(5 - i, 11), t: sp.Rational(2 + i, 13)}
        left, right = float(sp.sympify(a).subs(place)), float(sp.sympify(b).subs(place))
        if abs(left - right) > 1e-11 * max(1.0, abs(left)):
            return False
    return True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u", U),
        ("u(x, y, t)", U),
        ("u_t", D(U, t)),
        ("u_tt", D(U, t, 2)),
        ("u_xxxx", D(U, x, 4)),
        ("u_xy", D(U, x, y)),
        ("u_yx", D(U, x, y)),
        ("u_xyt", D(U, x, y, t)),
        ("u_txy", D(U, x, y, t)),
        ("dx(u)", D(U, x)),
        ("dy(u)", D(U, y)),
        ("dt(u)", D(U, t)),
        ("dx(dy(dt(u)))", D(U, x, y, t)),
        ("dy(u_x)", D(U, x, y)),
        ("dx(x*u)", D(x * U, x)),
        ("dy(x*u)", D(x * U, y)),
        ("dt(t*u)", D(t * U, t)),
        ("dt(u*v)", D(U * V, t)),
        ("dx(u*u_x)", D(U * D(U, x), x)),
        ("dx(exp(-u**2)*v)", D(sp.exp(-(U**2)) * V, x)),
        ("lap(u)", lap(U)),
        ("laplace(u)", lap(U)),
        ("laplacian(u)", lap(U)),
        ("lap(u_x)", lap(D(U, x))),
        ("dx(lap(u))", D(lap(U), x)),
        ("lap(u_t)", lap(D(U, t))),
        ("lap(lap(u))", lap(lap(U))),
        ("biharmonic(u)", lap(lap(U))),
        ("biharmonic(u*v)", lap(lap(U * V))),
        ("lap(2*u - 3*v + 5)", lap(2 * U - 3 * V)),
        ("lap(t*u + x**2*y**2)", lap(t * U + x**2 * y**2)),
        ("lap(x*u)", lap(x * U)),
        ("lap(u*v)", lap(U * V)),
        ("lap(u**2)", lap(U**2)),
        ("lap(u**3 - u)", lap(U**3 - U)),
        ("lap(u + u*v)", lap(U + U * V)),
        ("lap(sin(u))", lap(sp.sin(U))),
        ("lap(lap(u)*u)", lap(lap(U) * U)),
        ("div(grad(u))", lap(U)),
        ("div([u, v])", div(U, V)),
        ("div([x*y, y**2])", y + 2 * y),
        ("div(2*grad(u) - [v, x*y])", 2 * lap(U) - div(V, x * y)),
        ("div(-grad(u))", -lap(U)),
        ("div(+grad(u))", lap(U)),
        ("div(grad(u)*v)", div(D(U, x) * V, D(U, y) * V)),
        ("div(grad(u)/v)", div(D(U, x) / V, D(U, y) / V)),
        ("div((1+u)*grad(u))", div((1 + U) * D(U, x), (1 + U) * D(U, y))),
        ("div(grad(lap(u)))", lap(lap(U))),
        ("div(k*grad(u))", div(K * D(U, x), K * D(U, y))),
        ("lap(k*u)", lap(K * U)),
        ("dx(k)", D(K, x)),
        ("dot(grad(u), grad(v))", D(U, x) * D(V, x) + D(U, y) * D(V, y)),
        ("dot([u, 2], [x, v])", U * x + 2 * V),
        ("dot(grad(u) + [1, 0], [0, 1] - grad(v))", -(D(U, x) + 1) * D(V, x) + D(U, y) * (1 - D(V, y))),
    ],
)
def test_operators_in_the_plane(text, expected):
    scope = plane({"k": K})
    assert same(scope.jets.substitute(parse(text, scope), {"u": U, "v": V}), expected)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("u_xxxx", 4),
        ("dx(dx(u))", 2),
        ("lap(u)", 2),
        ("biharmonic(u)", 4),
        ("div(grad(u))", 2),
        ("dot(grad(u), [1])", 1),
        ("div(grad(u_xx))", 4),
    ],
)
def test_operators_on_the_line_become_plain_derivatives(text, order):
    assert str(parse(text, line())) == "u_" + "x" * order


def test_chain_rule_is_written_out():
    scope = line()
    assert str(parse("dx(u*u_x)", scope)) == "u*u_xx + u_x**2"
    u, ux, uxx, uxxx = (parse(name, scope) for name in ("u", "u_x", "u_xx", "u_xxx"))
    assert sp.expand(parse("dx(dx(u**2*u_x))", scope) - (2 * ux**3 + 6 * u * ux * uxx + u**2 * uxxx)) == 0


def test_mixed_derivatives_commute_to_one_symbol():
    scope = plane()
    assert parse("u_xy", scope) == parse("u_yx", scope) == parse("dx(u_y)", scope) == parse("dy(dx(u))", scope)
    assert parse("u_xxt", scope) == parse("u_txx", scope) == parse("dt(u_xx)", scope)


@pytest.mark.parametrize("text", ["lap(u)", "div(grad(u))", "3*lap(u)", "lap(3*u)", "div(3*grad(u))", "div(v*grad(u))"])
def test_the_laplacian_in_the_plane_stays_one_symbol(text):
    scope = plane()
    second = [jet for jet in scope.jets.jets_in(parse(text, scope)).values() if jet.order == 2]
    assert [(jet.field, jet.alpha, jet.laps) for jet in second] == [("u", (0, 0), 1)]


def test_an_anisotropic_operator_is_not_merged():
    scope = plane()
    names = set(map(str, scope.jets.jets_in(parse("div([2*u_x, u_y])", scope))))
    assert names == {"u_xx", "u_yy"}


def test_more_than_three_dimensions():
    scope = Scope(JetSpace(coordinate_names(11)), ["u"])
    z = scope.jets.x
    u = z[0] ** 2 * z[9] ** 3 + z[3] * z[10] ** 2 * z[0]
    assert scope.jets.coordinates == tuple(f"x{i}" for i in range(1, 12))
    for text, expected in [
        ("u_x1x10", D(u, z[0], z[9])),  # x10 is one coordinate, not x1 and a nought
        ("u_x10x1", D(u, z[0], z[9])),
        ("u_x11x11", D(u, z[10], 2)),
        ("dx4(u)", D(u, z[3])),
        ("lap(u)", sum(D(u, s, 2) for s in z)),
        ("dot(grad(u), grad(u))", sum(D(u, s) ** 2 for s in z)),
    ]:
        assert sp.expand(scope.jets.substitute(parse(text, scope), {"u": u}) - expected) == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-3**2", -9),
        ("(-3)**2", 9),
        ("2**-1", 0.5),
        ("2^3", 8),
        ("2^-2", 0.25),
        ("2**3**2", 512),
        ("2**-3**0", 0.5),
        ("-2**-2", -0.25),
        ("1 - 2 - 3", -4),
        ("8/4/2", 1),
        ("6/2*3", 9),
        ("1 - -1", 2),
        ("--2", 2),
        ("-+-2", 2),
        ("2*-3", -6),
        ("2 + 3*4**2/8 - 1", 7),
        ("1e-3", 0.001),
        ("1E+2", 100),
        (".5", 0.5),
        ("5.", 5),
        ("2.5e1", 25),
        (".5e-1", 0.05),
        ("1/3", 1 / 3),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("  2\n*\t3 ", 6),
        ("dot([1, 2], [3, 4])", 11),
        ("0**0", 1),
    ],
)
def test_precedence_and_numbers(text, value):
    assert float(parse(text, plane())) == pytest.approx(value, rel=1e-15)


def test_minus_binds_weaker_than_the_power():
    scope = line()
    u = parse("u", scope)
    assert parse("-u**2", scope) == -(u**2)
    assert parse("-u^2", scope) == -(u**2)
    assert parse("(-u)**3", scope) == -(u**3)
    assert parse("u**-1", scope) == 1 / u


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("sin(0.3)", math.sin(0.3)),
        ("cos(0.3)", math.cos(0.3)),
        ("tan(0.3)", math.tan(0.3)),
        ("asin(0.3)", math.asin(0.3)),
        ("acos(0.3)", math.acos(0.3)),
        ("atan(0.3)", math.atan(0.3)),
        ("atan2(-1, -2)", math.atan2(-1, -2)),
        ("sinh(0.3)", math.sinh(0.3)),
        ("cosh(0.3)", math.cosh(0.3)),
        ("tanh(0.3)", math.tanh(0.3)),
        ("sech(0.3)", 1 / math.cosh(0.3)),
        ("exp(0.3)", math.exp(0.3)),
        ("log(0.3)", math.log(0.3)),
        ("ln(0.3)", math.log(0.3)),
        ("sqrt(0.3)", math.sqrt(0.3)),
        ("abs(-0.3)", 0.3),
        ("sign(-0.3)", -1),
        ("erf(0.3)", math.erf(0.3)),
        ("expint(0.3)", 0.9056766516758467),
        ("heaviside(0.3)", 1),
        ("min(0.3, 0.2)", 0.2),
        ("max(0.3, 0.2)", 0.3),
    ],
)
def test_every_function_is_the_usual_one(text, value):
    """The constant is folded by SymPy; the same text with x in its place runs through NumPy."""
    scope = line()
    assert float(parse(text, scope)) == pytest.approx(value, rel=1e-14)
    first, rest = text.split("(")[1].rstrip(")").partition(",")[::2]
    with_x = f"{text.split('(')[0]}(x{',' + rest if rest else ''})"
    program = Program([parse(with_x, scope)], [*scope.jets.x, scope.jets.t])
    assert float(program(np.array([float(first)]), 0.0)[0][0]) == pytest.approx(value, rel=1e-14)


def test_every_function_is_tested():
    listed = test_every_function_is_the_usual_one.pytestmark[0].args[1]
    assert {text.split("(")[0] for text, _ in listed} == set(FUNCTIONS)


def test_heaviside_is_one_half_at_the_jump():
    assert parse("heaviside(0)", line()) == sp.Rational(1, 2)


@pytest.mark.parametrize(
    ("text", "derivative"),
    [("abs(u)", "sign(u)"), ("max(u, 0)", "heaviside(u)"), ("min(u, 0)", "heaviside(-u)")],
)
@pytest.mark.parametrize("at", [-0.7, 0.4])
def test_derivatives_of_functions_with_a_kink(text, derivative, at):
    scope = line()
    u, ux = (parse(name, scope) for name in ("u", "u_x"))
    found, expected = (
        Program([e], [u, ux])(np.array([at]), np.array([2.0]))[0]
        for e in (parse(f"dx({text})", scope), parse(f"({derivative})*u_x", scope))
    )
    assert np.broadcast_to(found, 1) == np.broadcast_to(expected, 1)


# ---- equations, names, tokens --------------------------------------------------------------------


def test_an_equation_is_left_minus_right():
    scope = line()
    assert parse_equation("u_t = u_xx", scope) == parse("u_t - u_xx", scope)
    assert parse_equation("u_t - u_xx", scope) == parse("u_t - u_xx", scope)


def test_normal_derivatives_exist_only_where_they_are_allowed():
    scope = Scope(JetSpace(["x"]), ["u"], normal_derivatives=True)
    jet = next(iter(scope.jets.jets_in(parse("u_nn", scope)).values()))
    assert (jet.normal, jet.order) == (2, 2)
    with pytest.raises(ValueError, match="unknown name 'u_n'"):
        parse("u_n", line())


def test_tokens_know_their_place():
    assert [(k.kind, k.text, k.position) for k in tokenize("u_t =2.5e-3*k")] == [
        ("name", "u_t", 0),
        ("operator", "=", 4),
        ("number", "2.5e-3", 5),
        ("operator", "*", 11),
        ("name", "k", 12),
    ]


@pytest.mark.parametrize(
    ("texts", "fields"),
    [
        (["u_t = u_xx"], ["u"]),
        (["v_tt = u", "u_t = v_x"], ["v", "u"]),
        (["u_xt = 0"], ["u"]),
        (["dt(w) = w_xx"], ["w"]),
        (["dt(w_x) = 0"], ["w"]),
        (["temperature_t = temperature_xx"], ["temperature"]),
        (["long_name_t = 0"], ["long_name"]),
        (["u_xx = 0"], []),
        (["u_t = k_t"], ["u"]),
    ],
)
def test_fields_are_what_carries_a_time_derivative(texts, fields):
    assert fields_in(texts, JetSpace(["x"]), excluded=["k_t"]) == fields


@pytest.mark.parametrize(
    "text", ["dt(dt(u))", "dt(2*u)", "dt(c*u)", "dt(pi*u)", "dt(exp(u))", "dt((1 + x)*u)", "dt(t*u)"]
)
def test_fields_inside_dt(text):
    assert fields_in([text], JetSpace(["x"]), excluded=["c"]) == ["u"]


def test_a_python_function_stands_for_its_value_at_the_current_point():
    scope = line(functions={"k": ("x", "t")})
    expected = sp.Function("k", real=True)(x, t)
    assert parse("k", scope) == parse("k(x, t)", scope) == expected


# ---- derivatives of Python functions -------------------------------------------------------------


def test_the_derivative_of_a_python_function_is_the_function_with_that_name():
    scope = line(functions={"k": ("x",), "k_x": ("x",)})
    assert str(parse("dx(k*u_x)", scope)) == "u_x*k_x(x) + u_xx*k(x)"


@pytest.mark.parametrize("text", ["lap(k*u)", "dx(dx(k*u))", "div(grad(k*u))"])
def test_the_second_derivative_of_a_python_function(text):
    # k'' contains k', and nested operators must ask for 'k_xx', not for 'k_x_x'
    for k in "abcfghk":  # the order of a set of SymPy objects changes with their names
        scope = line(functions={k: ("x",), f"{k}_x": ("x",), f"{k}_xx": ("x",)})
        expected = parse(f"{k}_xx*u + 2*{k}_x*u_x + {k}*u_xx", scope)
        assert sp.expand(parse(text.replace("k", k), scope) - expected) == 0


def test_mixed_derivatives_of_a_python_function_may_be_named_in_any_order():
    for name in ("k_xy", "k_yx"):
        scope = Scope(JetSpace(["x", "y"]), ["u"], {}, dict.fromkeys(["k", "k_x", "k_y", name], ("x", "y")))
        for text in ("dx(dy(k))", "dy(dx(k))", "dy(k_x)"):
            assert str(parse(text, scope)) == f"{name}(x, y)"


def test_the_derivative_of_a_python_function_may_be_given_as_text():
    scope = Scope(JetSpace(["x"]), ["u"], {"k_x": sp.Integer(1)}, {"k": ("x",)})
    assert str(parse("dx(k*u_x)", scope)) in {"u_x + u_xx*k(x)", "u_xx*k(x) + u_x"}


# ---- properties ----------------------------------------------------------------------------------

LEAVES = st.one_of(
    st.just(("x", lambda x, t: x)),
    st.just(("t", lambda x, t: t + 0 * x)),
    st.integers(0, 9).map(lambda n: (str(n), lambda x, t: n + 0.0 * x)),
    st.floats(0.01, 9.0).map(lambda a: (repr(a), lambda x, t: a + 0.0 * x)),
)


def _combine(children):
    pair = st.tuples(children, children)
    return st.one_of(
        pair.map(lambda p: (f"({p[0][0]} + {p[1][0]})", lambda x, t: p[0][1](x, t) + p[1][1](x, t))),
        pair.map(lambda p: (f"({p[0][0]} - {p[1][0]})", lambda x, t: p[0][1](x, t) - p[1][1](x, t))),
        pair.map(lambda p: (f"{p[0][0]}*{p[1][0]}", lambda x, t: p[0][1](x, t) * p[1][1](x, t))),
        pair.map(lambda p: (f"{p[0][0]}/(1 + ({p[1][0]})**2)", lambda x, t: p[0][1](x, t) / (1 + p[1][1](x, t) ** 2))),
        children.map(lambda c: (f"(-{c[0]})", lambda x, t: -c[1](x, t))),
        children.map(lambda c: (f"sin({c[0]})", lambda x, t: np.sin(c[1](x, t)))),
        children.map(lambda c: (f"tanh({c[0]})", lambda x, t: np.tanh(c[1](x, t)))),
        children.map(lambda c: (f"abs({c[0]})", lambda x, t: np.abs(c[1](x, t)))),
    )


@given(st.recursive(LEAVES, _combine, max_leaves=8))
@settings(max_examples=150)
def test_text_means_what_numpy_means(tree):
    text, function = tree
    points, time = np.array([-1.3, 0.2, 0.9]), 0.7
    scope = line(fields=())
    found = Program([parse(text, scope)], [*scope.jets.x, scope.jets.t])(points, time)[0]
    expected = function(points, time)
    np.testing.assert_allclose(np.broadcast_to(found, 3), expected, rtol=1e-8, atol=1e-8 * np.max(np.abs(expected)))


FIELD_TEXT = st.recursive(
    st.sampled_from(["u", "u_x", "x", "t", "u_xx", "2", "0.5"]),
    lambda c: st.one_of(
        st.tuples(c, st.sampled_from("+-*"), c).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        c.map(lambda a: f"({a})**2"),
        c.map(lambda a: f"sin({a})"),
    ),
    max_leaves=5,
)


@given(FIELD_TEXT)
@settings(max_examples=80)
def test_dx_is_the_derivative_along_every_function(text):
    scope = line()
    u = {"u": x**3 / 3 + t * x - sp.Rational(1, 4)}
    found = scope.jets.substitute(parse(f"dx({text})", scope), u)
    assert same(found, D(scope.jets.substitute(parse(text, scope), u), x))


def test_a_number_that_underflows_is_told():
    with pytest.warns(
        UserWarning, match=r"the number 2e-999 is too small for floating point numbers, and is read as 0"
    ):
        assert parse("sin(x) + 2e-999*x", plane()) == sp.sin(x)
    assert parse("0.0e-999 + x", plane()) == x
