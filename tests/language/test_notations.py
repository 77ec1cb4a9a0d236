"""Other ways to write the same, and what is refused with a reason."""

import numpy as np
import pytest
import sympy as sp

from frozenpinn.errors import ExpressionError
from frozenpinn.language.jets import JetSpace
from frozenpinn.language.parser import Scope, parse, parse_value
from frozenpinn.language.program import Program
from frozenpinn.language.unknowns import fields_in, unknowns_in


def plane(**parameters):
    return Scope(JetSpace(["x", "y"]), ["u", "v"], parameters)


def values(text, x, scope=None):
    scope = scope or Scope(JetSpace(["x"]))
    return np.broadcast_to(Program([parse(text, scope)], [scope.jets.x[0]])(x)[0], x.shape)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("dxx(u*v)", "dx(dx(u*v))"),
        ("dxy(u)", "u_xy"),
        ("d_dx(u**2)", "dx(u**2)"),
        ("d_dt(u)", "u_t"),
        ("dtt(u)", "u_tt"),
        ("Δ(u)", "lap(u)"),
        ("π*u", "pi*u"),
        ("e**u", "exp(u)"),
        ("ν*u_x", "nu*u_x"),
        ("k^2*u", "k**2*u"),
        ("where(x < 2, 1, 3)", "3 - 2*heaviside(2 - x)"),
        ("(x >= 2)*u", "heaviside(x - 2)*u"),
        ("(0 < x < 1)", "heaviside(x)*heaviside(1 - x)"),
        ("where(2 < 1, u, v)", "v"),
        ("where(x < 1, u, u)", "u"),
    ],
)
def test_the_same(text, same):
    scope = plane(nu=sp.Integer(3), k=sp.Integer(2))
    assert sp.expand(parse(text, scope) - parse(same, scope)) == 0


def test_greek_names_both_ways():
    scope = Scope(JetSpace(["x"]), ["ψ"], {"λ": sp.Integer(7)})
    assert parse("lam*psi_x", scope) == parse("λ*ψ_x", scope)
    assert parse("lambda", scope) == 7
    assert fields_in(["ψ_t = ν*ψ_xx"], JetSpace(["x"]), ["nu"]) == ["ψ"]
    assert unknowns_in(["lap(u) = ν*π", "lap(v) = u"], JetSpace(["x"]), ["nu"]) == ["u", "v"]


def test_names_of_users_come_first():
    scope = plane(e=sp.Integer(5), re=sp.Integer(2), dxx=sp.Integer(3))
    assert parse("e*re*dxx*u", scope) == 30 * parse("u", scope)
    with pytest.raises(ExpressionError, match="'re' is a parameter, not a function"):
        parse("re(u)", scope)


def test_cases_are_taken_where_they_hold():
    x = np.linspace(-1.0, 1.0, 40)
    assert np.array_equal(values("where(x < 0, 0, sqrt(abs(x)))", x), np.where(x < 0, 0, np.sqrt(np.abs(x))))
    assert np.array_equal(values("where(-0.5 < x and x < 0.5 or x > 0.9, x, 2)", x),
                          np.where((np.abs(x) < 0.5) | (x > 0.9), x, 2))  # fmt: skip


@pytest.mark.parametrize("text", ["exp(1000)*exp(-1000*x)", "exp(1000.0)*exp(-1e3*x)", "exp(1000)/exp(1000*x)"])
def test_constants_may_overflow_inside_products(text):
    x = np.linspace(1.0, 1.5, 7)
    assert np.allclose(values(text, x), np.exp(1000 * (1 - x)), rtol=1e-12)


@pytest.mark.parametrize("text", ["exp(1000)", "x*exp(1000)", "exp(1000) + exp(-1000*x)", "exp(exp(exp(100)))"])
def test_constants_that_stay_infinite(text):
    with pytest.raises(ExpressionError, match="infinite constant"):
        parse(text, plane())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(-2*u_xx)**(1/2)", "a fractional Laplacian"),
        ("u(t - 1)", "earlier times, such as u(t - 1), are not supported: equations are local"),
        ("u(x - 1, y, t)", "Values at other places"),
        ("u + dW", "Noise is not supported: the program solves deterministic equations"),
        ("u²", "write the power as u**2"),
        ("x < 1", "Put a comparison in parentheses: (x < 0.5) is 1 or 0."),
        ("(x, 1)", "A vector is written in brackets: [1, 0]."),
        ("u == 1", "comparisons are <, <=, >, >="),
        ("where(x, 1, 2)", "a comparison such as x < 0.5 is needed here"),
        ("where(x < 1, 2)", "'where' takes 3 arguments, got 2"),
        ("where(x < 1, [u, v], 2)", "must be numbers, or vectors of the same length"),
        ("x ≤ 1", "Write where(x < 0.5, a, b)"),
        ("2 u", "unexpected 'u'. Write '*' for a product."),
        ("u'", "Write derivatives as u_t, u_x"),
        ("Δu", "Write lap(u) for the Laplacian"),
        ("r*u", 'for others write coordinates="polar"'),
        ("dn(u)", "the derivative along the outward normal, which boundary conditions have"),
        ("u[0]", "only vectors have components"),
        ("[u, v][2]", "a component is a whole number from 0 to 1"),
    ],
)
def test_refused_with_a_reason(text, words):
    with pytest.raises(ExpressionError) as error:
        parse_value(text, plane())
    assert words in str(error.value)


def test_powers_of_numbers_are_not_operators():
    assert str(parse("abs(lap(u))**0.9", plane())) == "Abs(lap(u))**0.9"
    assert parse("(u_x**2 + u_y**2)**(1/2)", plane()).is_Pow
