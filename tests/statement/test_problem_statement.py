"""The statement as a whole: what a problem is made of, what must be given, and what is suspicious."""

import warnings

import numpy as np
import pytest
import sympy as sp

from frozenpinn import (
    Box,
    Dirichlet,
    EvaluationError,
    FrozenPinnWarning,
    Interval,
    Neumann,
    Problem,
    ProblemError,
    Robin,
)

LINE = Interval(0, 1)
RING = Interval(0, 1, periodic=True)


def heat(initial=0, boundary=None, domain=None, **options):
    domain = domain or (RING if boundary is None else LINE)
    return Problem("u_t = u_xx", domain, (0, 1), initial, boundary, **options)


# ---- a good problem ------------------------------------------------------------------------------


def test_a_problem_knows_its_parts():
    problem = Problem(
        ["u_tt = c**2*u_xx + v", "v_t = v_xx - u**3"],
        Interval(0, 2),
        (1, 3),
        {"u": "sin(pi*x)", "v": 0},
        Dirichlet(0),
        initial_velocity="x*(2 - x)",
        parameters={"c": 2},
    )
    assert problem.fields == ("u", "v")
    assert problem.time == (1.0, 3.0)
    assert problem.is_linear is False
    assert [e.order for e in problem.equations] == [2, 1]
    assert problem.equation("v").field == "v"
    assert list(problem.initial_velocity) == ["u"]
    assert problem.exact == {}
    x = np.array([[0.5], [1.0]])
    np.testing.assert_allclose(problem.initial["u"](x), [1, 0], atol=1e-15)
    np.testing.assert_allclose(problem.initial_velocity["u"](x), [0.75, 1])
    assert repr(problem) == "Problem(u_tt = 4*u_xx + v; v_t = -u**3 + v_xx on Interval([0, 2]), t in [1, 3])"


def test_compile_evaluates_expressions_over_jets():
    problem = heat()
    u, u_x = (
        problem.jets.symbol(problem.jets.split_name(n)[1] if "_" in n else problem.jets.field(n)) for n in ("u", "u_x")
    )
    program = problem.compile(
        [u * u_x + problem.jets.t, u_x**3 - problem.jets.x[0]],
        [problem.jets.field("u"), problem.jets.split_name("u_x")[1]],
    )
    first, second = program(np.array([1.0, 2.0]), 0.5, np.array([3.0, 4.0]), np.array([5.0, 6.0]))
    assert first.tolist() == [15.5, 24.5]
    assert second.tolist() == [124.0, 214.0]


@pytest.mark.parametrize("initial", [[1, 2], (1, 2), {"v": 2, "u": 1}])
def test_initial_data_of_a_system(initial):
    problem = Problem(["u_t = v", "v_t = u"], RING, (0, 1), initial)
    x = np.zeros((1, 1))
    assert [problem.initial[name](x)[0] for name in "uv"] == [1, 2]


def test_one_field_may_be_given_in_a_list_or_dict():
    for initial in ("x", ["x"], {"u": "x"}):
        assert heat(initial).initial["u"](np.array([[0.25]]))[0] == 0.25


def test_what_was_given_is_kept():
    problem = heat("sin(pi*x)", "u = 0", parameters={"unused": 3})
    assert problem.given["initial"] == "sin(pi*x)"
    assert problem.given["boundary"] == "u = 0"
    assert problem.given["parameters"] == {"unused": 3}


def test_a_second_order_system_needs_velocities_only_where_they_belong():
    problem = Problem(["u_t = v", "v_tt = u"], RING, (0, 1), [0, 0], initial_velocity={"v": 1})
    assert list(problem.initial_velocity) == ["v"]
    with pytest.raises(ProblemError, match="the initial velocity is given for 'u'; the fields are 'v'"):
        Problem(["u_t = v", "v_tt = u"], RING, (0, 1), [0, 0], initial_velocity={"u": 1, "v": 1})


# ---- what must be given, and how -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("time", "words"),
    [
        ((1, 0), r"time must run forward between finite values, got \(1, 0\)"),
        ((1, 1), "run forward"),
        ((0, np.inf), r"got \(0, inf\)"),
        ((np.nan, 1), "finite values"),
        (5, r"time must be \(start, end\), got 5"),
        ((0, 1, 2), r"time must be \(start, end\), got \(0, 1, 2\)"),
        ((0,), r"time must be \(start, end\)"),
        (("a", "b"), r"time must be \(start, end\)"),
        (None, r"'u_t' stands in a problem without time; write fp.Problem\(…, time=\(0, 1\), initial=…\)"),
        ((0, None), r"time must be \(start, end\)"),
        ((0, 1j), r"time must be \(start, end\)"),
    ],
)
def test_time_intervals(time, words):
    with pytest.raises(ProblemError, match=words):
        Problem("u_t = u_xx", RING, time, 0)


@pytest.mark.parametrize("domain", [None, (0, 1), "Interval(0, 1)", Interval])
def test_the_domain_is_a_box(domain):
    with pytest.raises(
        ProblemError, match=r"domain must be Interval\(a, b\), Box\(\[…\], \[…\]\) or another shape, got"
    ):
        Problem("u_t = u_xx", domain, (0, 1), 0)


def test_no_time_derivative():
    with pytest.raises(ProblemError, match=r"no time derivative in u_xx = 0: .*u_t or u_tt\. For a static problem"):
        Problem("u_xx = 0", RING, (0, 1), 0)


def test_initial_velocity():
    with pytest.raises(
        ProblemError, match=r"'u' is of second order in time: give initial_velocity .*initial_velocity=0"
    ):
        Problem("u_tt = u_xx", RING, (0, 1), 0)
    with pytest.raises(ProblemError, match="initial_velocity is given, but no equation is of second order in time"):
        Problem("u_t = u_xx", RING, (0, 1), 0, initial_velocity=0)


@pytest.mark.parametrize(
    ("initial", "words"),
    [
        ("t*x", "the initial value of u depends on t; write it at t = 0"),
        (sp.Symbol("t"), "the initial value of u depends on t"),
        ({"v": 0}, "the initial value is given for 'v'; the fields are 'u'"),
        ({"u": 0, "uu": 0}, r"the initial value is given for 'uu'; the fields are 'u'\."),
        ({}, "the initial value is missing for 'u'"),
        ([0, 0], r"the initial value needs 1 entries \(u\), got 2"),
        ([], r"needs 1 entries \(u\), got 0"),
        ("y", "unknown name 'y'"),
        ("u", "unknown name 'u'"),
        ("x = 1", "unexpected '='"),
        (float("nan"), "the initial value of u is nan"),
    ],
)
def test_initial_data(initial, words):
    with pytest.raises(ProblemError, match=words):
        heat(initial)


@pytest.mark.parametrize(
    ("initial", "words"),
    [
        ({"u": 0}, "the initial value is missing for 'v'"),
        ({"u": 0, "w": 0}, "the initial value is given for 'w'; the fields are 'u', 'v'"),
        ([0], r"the initial value needs 2 entries \(u, v\), got 1"),
        ("x", r"the initial value is one expression for 2 fields; write a dict such as \{'u': …, 'v': …\}"),
    ],
)
def test_initial_data_of_systems(initial, words):
    with pytest.raises(ProblemError, match=words):
        Problem(["u_t = v", "v_t = u"], RING, (0, 1), initial)


def test_a_misspelt_field_gets_a_suggestion():
    with pytest.raises(
        ProblemError, match=r"given for 'rho1'; the fields are 'momentum', 'rho'\. Did you mean 'rho'\?"
    ):
        Problem(["rho_t = momentum_x", "momentum_t = rho_x"], RING, (0, 1), {"rho1": 1, "momentum": 0})


def test_user_functions_are_called_once_when_the_problem_is_stated():
    with pytest.raises(EvaluationError, match=r"the initial value of u returned an array of shape \(2,\)"):
        heat(lambda x: np.zeros(2))
    with pytest.raises(EvaluationError, match="the exact solution of u is nan"):
        heat(0, exact=lambda x, t: x * np.nan)
    with pytest.raises(EvaluationError, match="the initial velocity of u is inf"):
        Problem("u_tt = u_xx", RING, (0, 1), 0, initial_velocity=lambda x: x + np.inf)
    with pytest.raises(EvaluationError, match="the boundary value of u on 'right' is nan"):
        heat(0, {"left": "u = 0", "right": Dirichlet(lambda t: np.nan)})


def test_an_initial_function_may_take_the_time():
    problem = Problem("u_t = u_xx", RING, (2, 3), lambda x, t: x + t)
    assert problem.initial["u"](np.array([[0.5]]), 2.0).tolist() == [2.5]


def test_the_initial_velocity_depends_on_t():
    with pytest.raises(ProblemError, match="the initial velocity of u depends on t"):
        Problem("u_tt = u_xx", RING, (0, 1), 0, initial_velocity="t*x")


@pytest.mark.parametrize("parameters", [[("a", 1)], 5, "a"])
def test_parameters_are_a_dict(parameters):
    with pytest.raises(ProblemError, match="parameters"):
        heat(parameters=parameters)


# ---- compatibility of initial and boundary data --------------------------------------------------


@pytest.mark.parametrize(
    ("initial", "boundary", "jump", "side"),
    [
        ("1 + 0*x", {"left": "u = 0", "right": "u = 1"}, "1", "left"),
        ("x", {"left": "u = 0", "right": "u = 0.5"}, "0.5", "right"),
        ("x", {"left": "u = 0", "right": Neumann(3)}, "2", "right"),
        ("x", {"left": Neumann(1), "right": "u = 1"}, "2", "left"),
        ("x**2", {"left": "u = 0", "right": Robin(2, 1, 3)}, "1", "right"),
        ("x", {"left": "u_xx + u = 0.25", "right": "u = 1"}, "0.25", "left"),
        (lambda x: x + 0.125, {"left": "u = 0", "right": "u = 1.125"}, "0.125", "left"),
    ],
)
def test_a_jump_between_initial_and_boundary_data(initial, boundary, jump, side):
    with pytest.warns(
        FrozenPinnWarning, match=rf"contradict the condition '.*' on side '{side}' by {jump} at t = 0; .*layer"
    ):
        heat(initial, boundary)


def test_the_jump_is_measured_at_the_start():
    heat_from_one = {"equation": "u_t = u_xx", "domain": LINE, "time": (1, 2), "initial": 1}
    Problem(**heat_from_one, boundary="u = t")
    with pytest.warns(FrozenPinnWarning, match="by 1 at t = 1"):
        Problem(**heat_from_one, boundary={"left": "u = 2*t", "right": "u = t"})


@pytest.mark.parametrize(
    ("initial", "boundary"),
    [
        ("sin(pi*x)", "u = 0"),
        ("cos(pi*x)", Neumann(0)),
        ("x", {"left": Neumann(-1), "right": "u_n = 1"}),
        ("x + 1e-10", {"left": "u = 0", "right": "u = 1"}),
        ("1e9*x", {"left": "u = 0", "right": "u = 1e9 + 1"}),
        (lambda x: np.sin(np.pi * x), "u = 0"),
        (lambda x: x, Neumann(7)),  # the derivative of a Python function is not known
        ("1", "u = exp(-t)"),
    ],
)
def test_compatible_data_are_silent(initial, boundary):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        heat(initial, boundary)


def test_a_jump_along_a_side_in_the_plane_is_its_largest():
    with pytest.warns(FrozenPinnWarning, match=r"on side 'right' by 4 at t = 0"):
        Problem("u_t = lap(u)", Box([0, 0], [1, 2]), (0, 1), "x*y**2", {
            "left": "u = 0", "right": "u = 0", "bottom": "u = 0", "top": "u = 4*x"})  # fmt: skip


def test_the_warning_points_at_the_line_of_the_user():
    with pytest.warns(FrozenPinnWarning, match="contradict") as caught:
        heat(1, {"left": "u = 0", "right": "u = 1"})
    assert caught[0].filename == __file__


def test_an_initial_value_with_a_python_function_inside_a_text():
    # the derivative of k is unknown, so the condition is left unchecked as for a Python function
    problem = heat("k*x", Neumann(0), parameters={"k": lambda x: 1 + x})
    assert problem.initial["u"](np.array([[0.5]])).tolist() == [0.75]


def test_a_singular_derivative_at_the_boundary():
    """√x has an infinite slope at 0."""
    with pytest.warns(FrozenPinnWarning, match="on side 'left'"):
        heat("sqrt(x)", {"left": Neumann(0), "right": "u = 1"})


# ---- exact solutions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "exact"),
    [
        ("u_t = u_xx", "exp(-4*pi**2*t)*sin(2*pi*x)"),
        ("u_t + u*u_x = 0", "x/(1 + t)"),
        ("u_t = u_xx + f", "t*x**2"),
        ("u_t = 0", "1"),
        ("u_tt = u_xx", "cos(2*pi*t)*sin(2*pi*x)"),
    ],
)
def test_a_true_solution_is_silent(equation, exact):
    start = str(sp.sympify(exact).subs("t", 0))
    velocity = 0 if "u_tt" in equation else None
    Problem(equation, RING, (0, 1), start, initial_velocity=velocity, parameters={"f": "x**2 - 2*t"}, exact=exact)


def test_a_wrong_solution_is_told_with_its_residual():
    with pytest.warns(
        FrozenPinnWarning, match=r"does not satisfy the equation of 'u': the relative residual is 2\b.*signs"
    ):
        heat("sin(2*pi*x)", exact="exp(4*pi**2*t)*sin(2*pi*x)")
    with pytest.warns(FrozenPinnWarning, match=r"the relative residual is 0\.5\b"):
        heat("sin(2*pi*x)", exact="exp(-2*pi**2*t)*sin(2*pi*x)")


def test_a_system_names_the_equation_that_fails():
    with pytest.warns(FrozenPinnWarning, match="does not satisfy the equation of 'v'") as caught:
        Problem(["u_t = v", "v_t = u"], RING, (0, 1), [0, 1], exact=["t", "1"])
    assert len(caught) == 1


def test_an_exact_python_function_is_taken_on_trust():
    problem = heat("x", exact=lambda x, t: x + t)
    assert problem.exact["u"](np.array([[1.0]]), 2.0).tolist() == [3.0]


@pytest.mark.parametrize(
    ("exact", "words"),
    [
        ("u", "unknown name 'u'"),
        (["x", "t"], r"the exact solution needs 1 entries \(u\), got 2"),
        ({"w": 1}, "given for 'w'"),
    ],
)
def test_exact_solutions_are_read_like_other_data(exact, words):
    with pytest.raises(ProblemError, match=words):
        heat(exact=exact)


def test_an_exact_solution_with_a_python_function_inside_a_text():
    heat("k", exact="k*exp(-t)", parameters={"k": lambda x: 1 + 0 * x})


def test_an_exact_solution_must_start_at_the_initial_value():
    with pytest.warns(FrozenPinnWarning, match="exact solution.*initial value of 'u'"):
        Problem("u_t = -u", RING, (0, 1), 2, exact="exp(-t)")
