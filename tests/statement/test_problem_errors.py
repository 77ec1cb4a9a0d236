"""Messages: what is wrong, what was got, where it stands, and what to write instead."""

import math

import pytest
import sympy as sp

from frozenpinn import Box, FrozenPinnError, Interval, Problem, ProblemError
from frozenpinn.errors import EvaluationError, ExpressionError, SettingsError, choices, suggestion
from frozenpinn.language.jets import JetSpace
from frozenpinn.language.parser import Scope, parse, parse_equation

LINE = Scope(JetSpace(["x"]), ["u", "theta"], {"beta": sp.Integer(2)}, {"k": ("x",)})
PLANE = Scope(JetSpace(["x", "y"]), ["u", "v"], {"nu": sp.Integer(2)}, {"k": ("x", "y")})


def message(text, scope=LINE):
    with pytest.raises(ExpressionError) as error:
        parse_equation(text, scope)
    return str(error.value)


def state(equation="u_t = u_xx", domain=None, **parameters):
    return Problem(equation, domain or Interval(0, 1, periodic=True), (0, 1), 0, parameters=parameters)


@pytest.mark.parametrize("kind", [ProblemError, ExpressionError, SettingsError, EvaluationError])
def test_every_error_is_a_value_error_and_ours(kind):
    assert issubclass(kind, FrozenPinnError)
    assert issubclass(kind, ValueError)


def test_choices_and_suggestion():
    assert choices(["b", "a"]) == "'a', 'b'"
    assert choices([]) == "none"
    assert suggestion("bta", ["alpha", "beta"]) == " Did you mean 'beta'?"
    assert suggestion("zzz", ["alpha", "beta"]) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bta*u", ["unknown name 'bta'", "Did you mean 'beta'?", "parameters={…}"]),
        ("u_t = thet", ["unknown name 'thet'", "Did you mean 'theta'?"]),
        ("u_t = theta_xy", ["unknown name 'theta_xy'", "Did you mean 'theta_x'?"]),
        (
            "w",
            ["unknown name 'w'", "fields 'theta', 'u'", "coordinates 't', 'x'", "parameters 'beta', 'k'"],
        ),
        ("sinn(x)", ["unknown function 'sinn'", "Did you mean 'sin'?", "Known: sin, cos"]),
        ("laplac(u)", ["unknown function 'laplac'", "Did you mean 'laplace'?"]),
        ("foo(u)", ["unknown function 'foo'", "dx, dt, k"]),
        ("dy(u)", ["unknown function 'dy'", "dx, dt"]),
        ("sin(u, x)", ["'sin' takes 1 argument, got 2"]),
        ("sin()", ["'sin' takes 1 argument, got 0"]),
        ("atan2(u)", ["'atan2' takes 2 arguments, got 1"]),
        ("max(u, x, t)", ["'max' takes 2 arguments, got 3"]),
        ("dx(u, x)", ["'dx' takes 1 argument, got 2"]),
        ("lap()", ["'lap' takes 1 argument, got 0"]),
        ("dot([u])", ["'dot' takes 2 arguments, got 1"]),
        ("sin", ["'sin' is a function: write sin(…)"]),
        ("lap*u", ["'lap' is a function: write lap(…)"]),
        ("dx + u", ["'dx' is a function: write dx(…)"]),
        ("beta(u)", ["'beta' is a parameter, not a function; write 'beta' or 'beta*(…)'"]),
        ("u(1 + x)", ["the field 'u' is taken at the current point; write 'u' alone"]),
        ("u(x)", ["the field 'u' is taken at the current point"]),
        ("k(u)", ["the Python function 'k' takes the coordinates 't', 'x' only"]),
        ("k(2*x)", ["takes the coordinates 't', 'x' only"]),
        ("k(1)", ["takes the coordinates 't', 'x' only"]),
        ("2u", ["unexpected 'u'. Write '*' for a product"]),
        ("2 u_x", ["Write '*' for a product"]),
        ("u x", ["unexpected 'x'. Write '*' for a product"]),
        ("(u)(x)", ["unexpected '('. Write '*' for a product"]),
        ("2(u + 1)", ["unexpected '('. Write '*' for a product"]),
        ("u 2", ["unexpected '2'. Write '*' for a product"]),
        ("u_t = 2 u", ["Write '*' for a product"]),
        ("(u", ["expected ')', the text ends"]),
        ("sin(u", ["expected ')', the text ends"]),
        ("[u, x", ["expected ']', the text ends"]),
        ("(u]", ["expected ')', got ']'"]),
        ("u)", ["unexpected ')'"]),
        ("u +", ["the expression ends too early"]),
        ("u*", ["the expression ends too early"]),
        ("*u", ["unexpected '*'"]),
        ("u = v = 1", ["an equation has one '=', this has more"]),
        ("u == 1", ["unexpected '=='. An equation has one '='; comparisons are <, <=, >, >=."]),
        ("", ["an empty expression in ''"]),
        ("u =", ["an empty expression in 'u ='"]),
        ("u.x", ["unexpected character '.'", "Attribute access is not part of the language"]),
        ("u < 1", ["unexpected '<'. Put a comparison in parentheses: (x < 0.5) is 1 or 0."]),
        ("'u'", ['unexpected character "\'"']),
        ("u__x", ["names with '__' are refused: 'u__x'"]),
        ("1/0", ["'1/0' contains a division by zero or an infinite constant"]),
        ("u/(1 - 1)", ["division by zero"]),
        ("log(0)*u", ["division by zero or an infinite constant"]),
        ("sqrt(-1)*u", ["'sqrt(-1)*u' is complex: it has a root, a logarithm or a power of a negative number"]),
        ("log(-2)", ["is complex"]),
        ("u**101", ["powers beyond 100 are refused, got 101"]),
        ("10**100**2", ["powers beyond 100 are refused, got 10000"]),
        ("(10**100)**4", ["this constant is beyond the range of floating point numbers"]),
        ("1e999", ["this number is beyond the range of floating point numbers"]),
        ("dx(k)", ["this needs the derivative k_x of the Python function 'k'", "parameters={'k_x': …}"]),
        ("dx(k*u)", ["the derivative k_x of the Python function 'k'", "Give 'k' as text or SymPy"]),
    ],
)
def test_messages_on_the_line(text, words):
    found = message(text)
    for word in words:
        assert word in found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("grad(u)", ["a vector stands where a number is needed; use div(…) or dot(…, …)"]),
        ("u_t = grad(u)", ["a vector stands where a number is needed"]),
        ("grad(u) + 1", ["a vector stands where a number is needed"]),
        ("1 - grad(u)", ["a vector stands where a number is needed"]),
        ("sin(grad(u))", ["a vector stands where a number is needed"]),
        ("grad(u)**2", ["a vector stands where a number is needed"]),
        ("2**grad(u)", ["a vector stands where a number is needed"]),
        ("u/grad(u)", ["a vector stands where a number is needed"]),
        ("grad(u)*grad(v)", ["a vector stands where a number is needed"]),
        ("grad(grad(u))", ["a vector stands where a number is needed"]),
        ("lap(grad(u))", ["a vector stands where a number is needed"]),
        ("dx(grad(u))", ["a vector stands where a number is needed"]),
        ("[grad(u), 1]", ["a vector stands where a number is needed"]),
        ("div(u)", ["a vector is needed here, such as grad(u) or [a, b]"]),
        ("dot(u, grad(u))", ["a vector is needed here"]),
        ("div([u, v, x])", ["a vector needs 2 components here, got 3"]),
        ("dot([u], [u, v])", ["a vector needs 2 components here, got 1"]),
        ("div([u, v] + [u])", ["vectors of different length are added"]),
        ("div(k*grad(u))", ["the derivative k_x of the Python function 'k'"]),
        ("u_z", ["unknown name 'u_z'"]),
    ],
)
def test_messages_in_the_plane(text, words):
    found = message(text, PLANE)
    for word in words:
        assert word in found


@pytest.mark.parametrize(
    ("text", "column"),
    [("u + bta", 4), ("u_t = 2 x", 8), ("sinn(u)", 0), ("u*(1 + grad(u))", 5), ("u.x", 1), ("(u", 2), ("u\n+ bta", 4)],
)
def test_the_place_is_marked(text, column):
    """The last line of a message has its marker below the offending character."""
    *_, line, marker = message(text).split("\n")
    assert line == "    " + text.replace("\n", " ")
    assert marker == " " * (4 + column) + "^"


def test_an_unknown_name_in_data():
    with pytest.raises(
        ExpressionError, match=r"unknown name 'z'\. Names that can be used here: coordinates 't', 'x'; parameters"
    ):
        parse("z", Scope(JetSpace(["x"])))


def test_the_marker_stays_in_sight_in_a_long_text():
    found = message("u + " * 500 + "bta" + " + u" * 500)
    *_, line, marker = found.split("\n")
    assert len(found) < 600
    assert line[marker.index("^") :].startswith("bta")


@pytest.mark.parametrize("text", ["(2 u)", "sin(2 u)", "[2 u]", "(u)*(2 x)"])
def test_a_missing_product_inside_parentheses(text):
    assert "Write '*' for a product" in message(text)


@pytest.mark.parametrize("text", ["x(1 + u)", "pi(1 + u)", "t(u)"])
def test_a_coordinate_is_not_called(text):
    assert "Write '*' for a product" in message(text) or "not a function" in message(text)


@pytest.mark.parametrize("text", ["k()", "k(x, t)", "k(x, x)", "2**k()"])
def test_the_number_of_arguments_of_a_python_function(text):
    assert "'k' takes 1 argument" in message(text)


@pytest.mark.parametrize(
    "text", ["(-8)**(1/3)", "asin(2)", "u*acos(-3)", "2**sqrt(-1)", "sqrt(-1)**2", "max(sqrt(-1), 1)"]
)
def test_complex_constants_in_disguise(text):
    # the first three contain no I
    assert "is complex" in message(text)


@pytest.mark.parametrize("text", ["2**(1/0)", "(1/0)**2", "u**(1/0)", "max(1/0, 1)", "u*sin(abs(1/0))", "atan(1/0)"])
def test_infinite_constants_in_disguise(text):
    # sin(oo) is an interval in SymPy
    assert "division by zero" in message(text)


# ---- notations from elsewhere --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("i*u_t + u_xx = 0", "unknown name 'i'"),
        ("u_t = j*u_xx", "unknown name 'j'"),
        ("1j*u_t + u_xx = 0", "unexpected 'j'"),
        ("u_t = (2.5i*u)", "got 'i'"),
    ],
)
def test_the_imaginary_unit_in_other_notations(text, got):
    found = message(text)
    assert got in found
    assert "The imaginary unit is 'I', as in psi_t = I*psi_xx; numbers such as 2j are written 2*I." in found


def test_the_imaginary_unit_is_a_free_name():
    assert "u_xx" in str(state("u_t = i*u_xx", i=2).equations[0].right_side)


@pytest.mark.parametrize(
    ("text", "name", "got"),
    [
        ("diff(u, t) = diff(u, x, 2)", "u_t", "diff(u,t)"),
        ("Derivative(u, t) = u_xx", "u_t", "Derivative(u,t)"),
        ("Derivative(u(x, t), t) = u_xx", "u_t", "Derivative(u(x,t),t)"),
        ("du/dt = d2u/dx2", "u_t", "du/dt"),
        ("d^2u/dt^2 = u_xx", "u_tt", "d^2u/dt^2"),
        ("∂u/∂t = ∂²u/∂x²", "u_t", "∂u/∂t"),
        ("u_t = ∂²u/∂x²", "u_xx", "∂²u/∂x²"),
        ("u_t = diff(u, x, 2)", "u_xx", "diff(u,x,2)"),
        ("u_t = diff(u_x, x)", "u_xx", "diff(u_x,x)"),
        ("u_t = Derivative(u, (x, 2))", "u_xx", "Derivative(u,(x,2))"),
        ("u_t = D(u, x)", "u_x", "D(u,x)"),
        ("u_t = d2u/dx2", "u_xx", "d2u/dx2"),
        ("u_t = d**2 u/dx**2", "u_xx", "d**2u/dx**2"),
        ("u_t = d2u/dxdt", "u_xt", "d2u/dxdt"),
        ("u_t = d(u)/dx", "u_x", "d(u)/dx"),
        ("u_t = d/dx(u)", "dx(…)", "d/dx"),
    ],
)
def test_derivatives_in_other_notations(text, name, got):
    with pytest.raises(ExpressionError) as error:
        state(text)
    assert f"Write '{name}' instead of '{got}'" in str(error.value)


@pytest.mark.parametrize(
    "text", ["diff(u**2, t) = u", "u_t = diff(u*u_x, x)", "u.diff(t) = u", "u' = u_xx", "∂_t u = u", "u_t = d2u/dx"]
)
def test_derivatives_in_other_notations_without_a_translation(text):
    with pytest.raises(ExpressionError, match=r"Write derivatives as u_t, u_x, u_xx, as in u_t = u_xx, .* dx"):
        state(text)


def test_quotients_are_not_mistaken_for_derivatives():
    assert "unknown name 'delta'" in message("u_t = delta/dx(u)")
    assert "elta_x" not in message("u_t = delta/dx(u)")
    assert str(state("u_t = d/2*u + D*u", d=4, D=1).equations[0].right_side) == "3*u"


@pytest.mark.parametrize(
    "text",
    [
        "u_t = u_xx + np.where(x, 1, 0)",
        "u_t = u_xx + where(x, 1, 0)",
        "u_t = u_xx + Piecewise(x, 1)",
        "u_t = u_xx + (1 if x else 0)",
        "u_t = u if x",
        "u_t = if(x, 1, 0)",
        "u_t = if",
    ],
)
def test_steps_instead_of_conditions(text):
    found = message(text)
    assert "Write where(x < 0.5, a, b), which is a where x < 0.5 and b elsewhere" in found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("u_t = ((1+x)*u_x)_x", "unexpected '_x'. Write the derivative of an expression as dx((1+x)*u_x)."),
        ("u_t = 2*(u**2)_xx", "as dx(dx(u**2))."),
        ("u_t = (2*(u**2)_x)", "as dx(u**2)."),
        ("u_t = sin(u)_x", "as dx(sin(u))."),
        ("u_t = (u**2)_y", "as dx(…); the coordinates are 't', 'x'."),
        (f"u_t = ({'u + ' * 20}u)_x", "as dx(…)."),
        ("(u**2)_t = u_xx", "no time derivative is recognised. Write the derivative of an expression as dt(u**2)."),
        ("u_t = |u|", "Write abs(…)."),
        ("u_t = ∇²u", "lap(u)"),
    ],
)
def test_suffixes_of_expressions(text, words):
    with pytest.raises(ExpressionError) as error:
        state(text)
    assert words in str(error.value)


def test_a_field_without_an_equation_is_told():
    texts = ["u_t + u*u_x + v*u_y = -p_x + lap(u)", "v_t + u*v_x + v*v_y = -p_y + lap(v)"]
    with pytest.raises(ExpressionError) as error:
        Problem(texts, Box([0, 0], [1, 1], periodic=True), (0, 1), {"u": 0, "v": 0, "p": 0})
    found = str(error.value)
    assert "unknown name 'p_x'. Names that can be used here: fields 'u', 'v'" in found
    assert "Every field needs an equation of its own: with p_t, or one more without a time derivative" in found
    assert "lap(p) = … or u_x + v_y = 0 for a pressure" in found
    assert "Did you mean" not in found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("v_t = p_y", "parameters={'p': …}, and its derivative is dy(p)"),
        ("nu_y*u", "'nu' is a parameter: write its derivative with dy(nu)"),
        ("k_x*u", "'k' is a Python function: give its derivative too, parameters={'k_x': …}"),
        ("U_x", "Did you mean 'u_x'?"),
    ],
)
def test_derivatives_of_what_is_not_a_field(text, words):
    assert words in message(text, PLANE)


def test_a_slip_in_the_name_of_a_field():
    assert "Did you mean 'theta_x'?" in message("u_t = tehta_x")


# ---- parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x", "'x' is a coordinate and can't be a parameter; choose another name"),
        ("t", "'t' is a coordinate and can't be a parameter"),
        ("u", "'u' is an unknown of the equation and can't be a parameter too"),
        ("sin", "'sin' is a built-in name and can't be a parameter"),
        ("pi", "'pi' is a built-in name and can't be a parameter"),
        ("lap", "'lap' is a built-in name and can't be a parameter"),
        ("dot", "'dot' is a built-in name"),
        ("", "a parameter needs a plain name such as 'nu', got ''"),
        ("2a", "a parameter needs a plain name such as 'nu', got '2a'"),
        ("a b", "a parameter needs a plain name"),
        ("a-b", "a parameter needs a plain name"),
        ("a__b", "a parameter needs a plain name"),
        ("__import__", "a parameter needs a plain name"),
    ],
)
def test_names_of_parameters(name, words):
    with pytest.raises(ProblemError, match=words):
        state(**{name: 1})


def test_a_number_is_no_name():
    with pytest.raises(ProblemError, match="a parameter needs a plain name such as 'nu', got 3"):
        Problem("u_t = u_xx", Interval(0, 1, periodic=True), (0, 1), 0, parameters={3: 1})


@pytest.mark.parametrize("name", ["dx", "dt", "u_x", "u_xxt"])
def test_derivatives_are_no_names_of_parameters(name):
    # otherwise 'u_t = u_x' with u_x = 5 would silently become u_t = 5
    with pytest.raises(ProblemError, match=f"'{name}' is .*can't be a parameter"):
        state(**{name: 5})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_of_parameters_are_finite(value):
    with pytest.raises(ProblemError, match=f"parameter 'a' is {value}; it must be a finite number"):
        state(a=value)


@pytest.mark.parametrize("value", [[1, 2], (1,)])
def test_values_of_parameters(value):
    with pytest.raises(
        ProblemError, match=r"parameter 'a' must be a finite number, text, .* or a function of x, t; got "
    ):
        state(a=value)


@pytest.mark.parametrize("value", [None, {}, object()], ids=["None", "dict", "object"])
def test_objects_are_no_values_of_parameters(value):
    with pytest.raises(ProblemError, match="parameter 'a' must be a finite number, text"):
        state(a=value)


@pytest.mark.parametrize("value", [sp.oo, sp.nan, sp.asin(2)], ids=str)
def test_sympy_values_of_parameters(value):
    with pytest.raises(ProblemError, match="parameter 'a'"):
        state(a=value)


def test_a_parameter_with_a_mistake_in_its_text():
    with pytest.raises(ExpressionError, match="unknown name 'y'"):
        state(a="1 + y")
    with pytest.raises(ExpressionError, match="division by zero"):
        state(a="1/0")


def test_the_derivative_of_a_python_function_parameter():
    with pytest.raises(
        ProblemError, match=r"needs the derivative k_x of the Python function 'k'.*parameters=\{'k_x': …\}"
    ):
        state("u_t = dx(k*u_x)", k=lambda x: 1 + x)
    state("u_t = dx(k*u_x)", k=lambda x: 1 + x, k_x=lambda x: 1 + 0 * x)
    plane = Box([0, 0], [1, 1], periodic=True)
    with pytest.raises(ProblemError, match=r"needs the derivative k_[xy] "):
        state("u_t = div(k*grad(u))", plane, k=lambda x, y: x + y)
    state("u_t = div(k*grad(u))", plane, k=lambda p: 1 + p[:, 0], k_x=lambda x: 1 + 0 * x, k_y=lambda x, y: 0 * x)


def test_a_python_function_of_time_is_not_differentiated_in_space():
    equation = state("u_t = dx(k*u_x)", k=lambda t: 1 + t).equations[0]
    assert str(equation.right_side) == "u_xx*k(t)"


def test_parse_reports_the_equal_sign():
    with pytest.raises(ExpressionError, match="unexpected '='"):
        parse("u = 1", LINE)
