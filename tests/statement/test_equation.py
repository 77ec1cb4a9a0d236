"""Equations solved for their time derivatives and split into linear, time-dependent, forcing and nonlinear parts."""

import itertools

import pytest
import sympy as sp

from frozenpinn import Box, Interval, Problem, ProblemError
from frozenpinn.statement.equation import Equation

LINE = Interval(0, 1, periodic=True)
PLANE = Box([0, 0], [1, 1], periodic=True)
x, y, t = sp.symbols("x y t", real=True)


def state(equation, domain=LINE, velocity=None, **parameters):
    """A periodic problem whose initial data are all one."""
    initial = [1] * len(equation) if isinstance(equation, list | dict) else 1
    return Problem(equation, domain, (0, 1), initial, initial_velocity=velocity, parameters=parameters)


def parts(problem, field="u"):
    """The four parts of one equation, with names in place of jets."""
    equation = problem.equation(field)
    name = problem.jets.name
    return (
        {name(jet): c for jet, c in equation.linear.items()},
        {name(jet): c for jet, c in equation.linear_in_time.items()},
        equation.forcing,
        equation.nonlinear,
    )


def text_of(problem, field="u"):
    return str(sp.expand(problem.equation(field).right_side))


# ---- splitting -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "linear", "in_time", "forcing"),
    [
        ("u_t = u_xx", {"u_xx": 1}, {}, 0),
        ("u_t = 2*u_xx - 3*u_x + u", {"u_xx": 2, "u_x": -3, "u": 1}, {}, 0),
        ("u_t - u_xx = 0", {"u_xx": 1}, {}, 0),
        ("u_xx = u_t", {"u_xx": 1}, {}, 0),
        ("u_t - u_xx", {"u_xx": 1}, {}, 0),
        ("4*u_t = u_xx", {"u_xx": sp.Rational(1, 4)}, {}, 0),
        ("x*u_t = u_xx", {"u_xx": 1 / x}, {}, 0),
        ("u_t = x*u + sin(x)*u_x", {"u": x, "u_x": sp.sin(x)}, {}, 0),
        ("u_t = t*u_xx + x*u", {"u": x}, {"u_xx": t}, 0),
        ("(1 + t)*u_t = u_xx", {}, {"u_xx": 1 / (1 + t)}, 0),
        ("u_t = (1 + t)*u", {"u": 1}, {"u": t}, 0),
        ("u_t = u_xx + sin(x)*exp(-t) + 1", {"u_xx": 1}, {}, sp.sin(x) * sp.exp(-t) + 1),
        ("u_t = dx((1 + x**2)*u_x)", {"u_x": 2 * x, "u_xx": None}, {}, 0),
        ("u_t = 3", {}, {}, 3),
        ("u_t = 0", {}, {}, 0),
        ("u_t = (u + u_x)/(1 + x**2)", {"u": 1 / (1 + x**2), "u_x": 1 / (1 + x**2)}, {}, 0),
        ("u_t = u*u_x/u", {"u_x": 1}, {}, 0),
    ],
)
def test_linear_parts(equation, linear, in_time, forcing):
    found = parts(state(equation))
    assert found[0].keys() == linear.keys()
    assert all(sp.simplify(found[0][name] - c) == 0 for name, c in linear.items() if c is not None)
    assert found[1].keys() == in_time.keys()
    assert all(sp.simplify(found[1][name] - c) == 0 for name, c in in_time.items())
    assert sp.simplify(found[2] - forcing) == 0
    assert found[3] == 0


@pytest.mark.parametrize(
    ("equation", "nonlinear", "linear"),
    [
        ("u_t + u*u_x = u_xx", "-u*u_x", {"u_xx": 1}),
        ("u_t = u - u**3", "-u**3", {"u": 1}),
        ("u_t = u*(1 - u)", "-u**2", {"u": 1}),
        ("u_t = sin(u)", "sin(u)", {}),
        ("u_t = abs(u) + u_x", "Abs(u)", {"u_x": 1}),
        ("u_t = t*u**2 + x", "t*u**2", {}),
        ("u*u_t = u_xx", "u_xx/u", {}),
        ("dt(u**2) = u_xx", "u_xx/(2*u)", {}),
        ("u_t = dx(u*u_x)", "u*u_xx + u_x**2", {}),
        ("u_t = u_x**2 + u_x", "u_x**2", {"u_x": 1}),
    ],
)
def test_nonlinear_parts(equation, nonlinear, linear):
    problem = state(equation)
    found = parts(problem)
    assert str(found[3]) == nonlinear
    assert found[0] == linear
    assert not problem.is_linear
    assert not problem.equations[0].is_linear


@pytest.mark.parametrize(
    "equation", ["u_t = u_xx + t*u + x*u_x - u**3 + sin(t) + u*u_x", "u_tt + u_t = u_xx - sin(u)", "u*u_t = (1 + u)**2"]
)
def test_the_parts_add_up(equation):
    problem = state(equation, velocity=0 if "u_tt" in equation else None)
    e = problem.equations[0]
    symbol = problem.jets.symbol
    terms = itertools.chain(e.linear.items(), e.linear_in_time.items())
    total = sum((c * symbol(jet) for jet, c in terms), sp.Integer(0)) + e.forcing + e.nonlinear
    assert sp.simplify(total - e.right_side) == 0


@pytest.mark.parametrize(
    ("equation", "order"),
    [
        ("u_t = u_xx", 1),
        ("dt(u) = u_xx", 1),
        ("u_tt = u_xx", 2),
        ("u_tt + u_t = u_xx", 2),
        ("dt(u_t) = u_xx", 2),
        ("u_tt = u_xxt", 2),
    ],
)
def test_time_order(equation, order):
    assert state(equation, velocity=0 if order == 2 else None).equations[0].order == order


def test_dt_of_dt_is_a_second_derivative():
    assert state("dt(dt(u)) = u_xx", velocity=0).equations[0].order == 2


def test_a_lower_time_derivative_is_an_ordinary_linear_term():
    linear, *_ = parts(state("u_tt = u_xx - 2*u_t + 3*u_xxt", velocity=0))
    assert linear == {"u_xx": 1, "u_t": -2, "u_xxt": 3}


def test_spatial_order_is_the_highest_of_all_equations():
    problem = state(["u_t = v_xx + u_x", "v_t = u_xxx + lap(v)"])
    assert (problem.spatial_order("u"), problem.spatial_order("v")) == (3, 2)
    assert state("u_t = biharmonic(u)", PLANE).spatial_order("u") == 4
    assert state("u_t = 1").spatial_order("u") == 0


def test_an_equation_reads_as_it_was_meant():
    assert str(state("2*u_tt = u_xx", velocity=0).equations[0]) == "u_tt = u_xx/2"
    assert str(Equation("u", 1, sp.Integer(0))) == "u_t = 0"


# ---- systems -------------------------------------------------------------------------------------


def test_a_system_keeps_the_order_of_its_equations():
    problem = state(["v_t = u_x", "u_t = v_x"])
    assert problem.fields == ("v", "u")
    assert (text_of(problem, "v"), text_of(problem, "u")) == ("u_x", "v_x")


def test_coupled_time_derivatives_are_solved_for():
    problem = state(["u_t + v_t = u_xx", "u_t - v_t = v_xx"])
    half = sp.Rational(1, 2)
    assert parts(problem, "u")[0] == {"u_xx": half, "v_xx": half}
    assert parts(problem, "v")[0] == {"u_xx": half, "v_xx": -half}


@pytest.mark.parametrize("factor", ["max(x - 5, 0)", "heaviside(x - 5)", "(x - 5 + abs(x - 5))", "exp(-(x - 100)**2)"])
def test_a_coefficient_of_the_time_derivative_may_vanish_elsewhere(factor):
    problem = state(f"{factor}*u_t = u_xx", Interval(99, 101, periodic=True))
    assert parts(problem)[0].keys() == {"u_xx"}


def test_a_coefficient_that_is_zero_by_an_identity_is_singular():
    with pytest.raises(ProblemError, match="the matrix of their coefficients is singular"):
        state("(sin(x)**2 + cos(x)**2 - 1)*u_t = u_xx")


def test_coupled_time_derivatives_with_variable_coefficients():
    problem = state(["u_t + x*v_t = u_xx", "x*u_t - v_t = v_xx"])
    linear = parts(problem, "u")[0]
    assert sp.simplify(linear["u_xx"] - 1 / (1 + x**2)) == 0
    assert sp.simplify(linear["v_xx"] - x / (1 + x**2)) == 0
    assert problem.is_linear


def test_a_mass_matrix_may_depend_on_the_fields():
    problem = state(["u_t + u*v_t = 0", "v_t = u_xx"])
    assert parts(problem, "v")[0] == {"u_xx": 1}
    assert text_of(problem, "u") == "-u*u_xx"


def test_equations_in_the_wrong_order_are_matched_to_their_fields():
    problem = state(["v_t - u_t = 0", "u_t = u_xx"])
    assert text_of(problem, "u") == text_of(problem, "v") == "u_xx"


def test_orders_may_differ_between_fields():
    problem = Problem(["u_tt = v", "v_t = u_xx"], LINE, (0, 1), [0, 0], initial_velocity=0)
    assert [e.order for e in problem.equations] == [2, 1]
    assert list(problem.initial_velocity) == ["u"]


def test_dict_form():
    problem = state({"u": "lap(u) - v", "v": "v_t = u"})
    assert (text_of(problem, "u"), text_of(problem, "v")) == ("u_xx - v", "u")


def test_auxiliary_quantities_are_text_parameters():
    """Cahn–Hilliard, written as it stands in the books."""
    problem = Problem("u_t = lap(mu)", LINE, (0, 1), 1, parameters={"eps": 0.25, "mu": "u**3 - u - eps*u_xx"})
    u = sp.exp(-t) * sp.sin(3 * x)
    eps = sp.Rational(1, 4)
    found = problem.jets.substitute(problem.equations[0].right_side, {"u": u})
    expected = sp.diff(u**3 - u - eps * sp.diff(u, x, 2), x, 2)
    assert sp.simplify(sp.nsimplify(found) - expected) == 0
    assert {name: float(c) for name, c in parts(problem)[0].items()} == {"u_xx": -1, "u_xxxx": -0.25}


def test_a_parameter_may_use_the_others_in_any_order():
    assert text_of(state("u_t = b*u", a=2, b="a**2 + x")) == "u*x + 4*u"
    assert text_of(state("u_t = b*u", b="a**2 + x", a=2)) == "u*x + 4*u"
    with pytest.raises(ProblemError, match="unknown name 'b'"):
        state("u_t = b*u", a="b + 1", b="a**2")


def test_the_derivative_of_a_jump_is_refused():
    for k in ("1 - 0.9*heaviside(x - 0.5)", "sign(x - 0.5) + 2"):
        with pytest.raises(ProblemError, match="contains a delta function"):
            state("u_t = dx(k)*u + u_xx", k=k)
    assert text_of(state("u_t = heaviside(x - 0.5)*u_xx")) == "u_xx*Heaviside(x - 0.5)"


def test_a_python_function_of_the_unknown_is_refused():
    with pytest.raises(ProblemError, match="function of the unknown 'u'"):
        state("u_t = u_xx + f", f=lambda u: u**2)


# ---- SymPy ---------------------------------------------------------------------------------------


def test_sympy_symbols_are_names():
    u_t, u_xx, u, nu = sp.symbols("u_t u_xx u nu")
    problem = Problem(sp.Eq(u_t, nu * u_xx - u**3), LINE, (0, 1), 0, parameters={"nu": 3})
    assert text_of(problem) == "-u**3 + 3*u_xx"
    assert str(parts(problem)[3]) == "-u**3"


@pytest.mark.parametrize("real", [True, None, "positive"])
def test_sympy_functions(real):
    """The assumptions of the user's symbols don't matter."""
    assumptions = {} if real is None else {"positive": True} if real == "positive" else {"real": True}
    X, T = sp.symbols("x t", **assumptions)
    u = sp.Function("u")(X, T)
    problem = state(sp.Eq(u.diff(T) + u * u.diff(X), X * T + sp.sin(u)))
    assert text_of(problem) == "t*x - u*u_x + sin(u)"


# subs would turn Derivative(u, x, x) into Derivative(dummy, x) = 0, depending on the order of a set
@pytest.mark.parametrize("name", ["u", "v", "w", "phi"])
def test_sympy_derivatives_of_several_orders(name):
    X, T = sp.symbols("x t")
    u = sp.Function(name)(X, T)
    equation = sp.Eq(u.diff(T), u + u.diff(X) + u.diff(X, 2) + u.diff(X, 3) + u.diff(X, 4))
    linear, *_ = parts(state(equation), name)
    assert linear == {name: 1, f"{name}_x": 1, f"{name}_xx": 1, f"{name}_xxx": 1, f"{name}_xxxx": 1}


def test_sympy_mixed_derivatives_are_not_lost():
    X, T = sp.symbols("x t")
    u = sp.Function("u")(X, T)
    equation = state(sp.Eq(u.diff(T), u.diff(X, 2, T) + u.diff(X, 2))).equations[0]
    assert str(equation) == "u_t - u_xxt = u_xx"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("dt(u - u_xx) + u_x = 0", "u_t - u_xxt = -u_x"),
        ("2*u_t - x*u_xxt = u", "2*u_t - u_xxt*x = u"),
        (["v_t = u", "u_t = v_xt"], "u_t - v_xt = 0"),
    ],
)
def test_implicit_equations(text, read):
    equations = {e.field: e for e in state(text).equations}
    assert str(equations["u"]) == read
    assert not equations["v"].mass if "v" in equations else True


def test_sympy_products_are_differentiated():
    X, Y, T = sp.symbols("x y t")
    u = sp.Function("u")(X, Y, T)
    flux = sp.Derivative(X * u * u.diff(X), X) + sp.Derivative(u.diff(Y), Y)
    problem = state(sp.Eq(sp.Derivative(u, T), flux), PLANE)
    exact = sp.sin(x) * y**3 * sp.exp(t)
    found = problem.jets.substitute(problem.equations[0].right_side, {"u": exact})
    expected = sp.diff(x * exact * sp.diff(exact, x), x) + sp.diff(exact, y, 2)
    assert sp.simplify(found - expected) == 0


def test_sympy_systems_and_residuals():
    X, T = sp.symbols("x t")
    u, v = (sp.Function(name)(X, T) for name in "uv")
    problem = state([u.diff(T) - v.diff(X), sp.Eq(v.diff(T), u.diff(X))])
    assert problem.fields == ("u", "v")
    assert (text_of(problem, "u"), text_of(problem, "v")) == ("v_x", "u_x")


def test_sympy_may_use_python_functions():
    X, T = sp.symbols("x t")
    u, k = sp.Function("u")(X, T), sp.Function("k")(X)
    problem = state(sp.Eq(u.diff(T), k * u), k=lambda x: 1 + x)
    assert text_of(problem) == "u*k(x)"


def test_sympy_derivative_of_a_python_function():
    X, T = sp.symbols("x t")
    u, k = sp.Function("u")(X, T), sp.Function("k")(X)
    equation = sp.Eq(u.diff(T), sp.Derivative(k * u.diff(X), X))
    problem = state(equation, k=lambda x: 1 + x, k_x=lambda x: 1 + 0 * x)
    assert text_of(problem) == "u_x*k_x(x) + u_xx*k(x)"
    with pytest.raises(ProblemError, match=r"needs the derivative k_x of the Python function 'k'"):
        state(equation, k=lambda x: 1 + x)


def test_sympy_derivative_of_a_parameter_that_depends_on_x():
    # SymPy alone takes the symbol k for a constant
    X, T, k = sp.symbols("x t k")
    u = sp.Function("u")(X, T)
    problem = state(sp.Eq(u.diff(T), sp.Derivative(k * u.diff(X), X)), k="1 + x**2")
    linear, *_ = parts(problem)
    assert linear.keys() == {"u_x", "u_xx"}
    assert linear["u_x"] == 2 * x


@pytest.mark.parametrize("place", [(0, "t"), ("2*x", "t"), ("x", 0), ("x",)])
def test_sympy_fields_at_another_place_are_refused(place):
    X, T = sp.symbols("x t")
    u = sp.Function("u")
    with pytest.raises(ProblemError, match="u"):
        state(sp.Eq(u(X, T).diff(T), u(*(sp.sympify(p, locals={"x": X, "t": T}) for p in place))))


def test_sympy_fields_take_their_arguments_in_order():
    X, T = sp.symbols("x t")
    u = sp.Function("u")(T, X)
    with pytest.raises(ProblemError, match=r"'u\(t, x\)' in .* at another place; write u\(x, t\)"):
        state(sp.Eq(u.diff(T), u.diff(X, 2)))


def test_sympy_objects_that_are_no_expressions():
    X = sp.Symbol("x")
    for thing in (sp.true, sp.Tuple(1, 2), sp.Interval(0, 1), X < 1, sp.Lambda(X, X**2)):
        with pytest.raises(ProblemError):
            Problem("u_t = u_xx", LINE, (0, 1), thing)
        with pytest.raises(ProblemError):
            state("u_t = a*u", a=thing)


def test_sympy_errors():
    X, Y, T = sp.symbols("x y t")
    u = sp.Function("u")(X, T)
    with pytest.raises(ProblemError, match=r"unknown function 'f' in .*add it to parameters"):
        state(sp.Eq(u.diff(T), sp.Function("f")(X)))
    with pytest.raises(ProblemError, match="unknown name 'y'"):
        state(sp.Eq(u.diff(T), Y * u))
    with pytest.raises(ProblemError, match=r"differentiates by 'y'; the coordinates are 't', 'x'"):
        state(sp.Eq(u.diff(T), sp.Function("u")(X, Y, T).diff(Y)))


@pytest.mark.parametrize("factor", [sp.oo, sp.asin(2)], ids=str)
def test_sympy_constants_must_be_real_and_finite(factor):
    X, T = sp.symbols("x t")
    u = sp.Function("u")(X, T)
    with pytest.raises(ProblemError, match=r"complex|infinite"):
        state(sp.Eq(u.diff(T), factor * u))


def test_sympy_functions_without_a_numerical_meaning():
    u, u_t = sp.symbols("u u_t")
    for function in (sp.zeta, sp.gamma, sp.besselj):
        with pytest.raises(ProblemError, match="can't be evaluated numerically"):
            state(sp.Eq(u_t, function(1, u) if function is sp.besselj else function(u)))


# ---- what can't be solved ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "words"),
    [
        ("u_t**2 = u_xx", ["not linear in its highest time derivative 'u_t'", "write 'u_t = …'"]),
        ("sin(u_t) = u", ["not linear in its highest time derivative"]),
        ("u_tt*u_tt = u", ["highest time derivative 'u_tt'"]),
        (["u_t + v_t = 0", "2*u_t + 2*v_t = u"], ["can't be solved for 'u_t', 'v_t'", "singular"]),
        (["u_t*v_t = 0", "v_t = u"], ["not linear in its highest time derivative 'u_t', 'v_t'"]),
        ("u*u_xxt + u_t = 0", ["the coefficient 'u' of 'u_xxt' contains 'u'", "must enter linearly"]),
        ("u_t - t*u_xxt = 0", ["the coefficient '-t' of 'u_xxt' depends on t", "depend on the coordinates only"]),
        (["u_xt + v_t + w_t = 0", "u_t = v", "u_t = w"], ["each field needs an equation with its own time derivative"]),
        (["u_t = v_xtt", "v_tt = u"], ["couples 'u', 'v', which have different time orders"]),
        ("u_ttt = u_xx", ["time derivative of order 3; orders 1 and 2 are supported", "w = u_t"]),
        ("u_tttt = u", ["order 4"]),
        (["u_t = u_xx", "u_t = u"], ["2 equation(s) for 1 field(s) ('u')", "go into parameters={…}"]),
        (["u_t = u_xx", "u_x = 0"], ["2 equation(s) for 1 field(s) ('u')", "further equations without one"]),
        ("u_t = v_t", ["1 equation(s) for 2 field(s)", "'u', 'v'"]),
        ("u_t = mu_xx", ["unknown name 'mu_xx'", "with mu_t, or one more without", "parameters={'mu': …}"]),
    ],
)
def test_not_solvable(equation, words):
    with pytest.raises(ProblemError) as error:
        state(equation)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("equation", ["u_t = u_t - u", "u_t - u_t = u_xx", "u_t = u_t - 1", "0*u_t = u"])
def test_a_time_derivative_that_cancels_is_missing(equation):
    with pytest.raises(ProblemError, match=r"time derivative of 'u' cancels|no time derivative"):
        state(equation)


@pytest.mark.parametrize("name", ["x", "t", "sin", "pi", "lap", "dx"])
def test_a_field_can_not_have_the_name_of_something_else(name):
    # a field and a coordinate of one name would be the same SymPy symbol
    with pytest.raises(ProblemError, match=f"'{name}'.*can't be"):
        state(f"{name}_t = {name}_xx")


@pytest.mark.parametrize(
    ("equation", "words"),
    [
        (None, "text, SymPy, a list or a dict of them; got None"),
        ([], "a list or a dict of them"),
        (3.0, "got 3.0"),
        ([1], "an equation is text or SymPy, got int: 1"),
        ("u_xx = 0", "no time derivative in u_xx = 0: the unknown must appear as u_t or u_tt"),
        (sp.Eq(sp.Symbol("u_xx"), 0), "no time derivative in Eq\\(u_xx, 0\\)"),
        ("", "no time derivative"),
    ],
)
def test_not_an_evolution_equation(equation, words):
    with pytest.raises(ProblemError, match=words):
        Problem(equation, LINE, (0, 1), 0)


def test_a_dict_of_numbers_is_refused():
    with pytest.raises(ProblemError, match="an equation is text or SymPy"):
        Problem({"u": 0}, LINE, (0, 1), 0)
