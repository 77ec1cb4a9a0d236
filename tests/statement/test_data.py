"""Data as numbers, text, SymPy and Python functions: one calling convention, checked values, time derivatives."""

import functools
import math

import numpy as np
import pytest
import sympy as sp

from frozenpinn import Box, EvaluationError, Interval, Problem, ProblemError
from frozenpinn.language.functions import callable_arguments
from frozenpinn.language.jets import JetSpace, coordinate_names
from frozenpinn.language.parser import Scope
from frozenpinn.statement.data import Datum

POINTS = {d: np.random.default_rng(d).uniform(0.5, 1.5, (6, d)) for d in (1, 2, 3)}


def datum(given, dimension=1, **functions):
    arguments = {name: callable_arguments(f, coordinate_names(dimension), name) for name, f in functions.items()}
    scope = Scope(JetSpace(coordinate_names(dimension)), (), {"a": sp.Integer(3)}, arguments)
    return Datum(given, scope, functions, "the test datum")


# ---- what may be given ---------------------------------------------------------------------------


@pytest.mark.parametrize("given", [2, 2.5, -0.0, np.float64(1.5), np.int64(3), np.array(4.0), sp.Rational(1, 3), sp.pi])
def test_numbers(given):
    values = datum(given)(POINTS[1], 0.3)
    assert values.shape == (6,)
    assert values == pytest.approx(np.full(6, float(given)))
    assert not datum(given).depends_on_time


def test_text_and_sympy_agree():
    X, T = sp.symbols("x t")
    x = POINTS[1][:, 0]
    for given in ("a*sin(x)*exp(-t)", 3 * sp.sin(X) * sp.exp(-T), sp.Symbol("a") * sp.sin(X) * sp.exp(-T)):
        np.testing.assert_allclose(datum(given)(POINTS[1], 0.3), 3 * np.sin(x) * np.exp(-0.3), rtol=1e-14)


def test_text_may_call_python_functions():
    found = datum("k*x + t", k=lambda x: x**2)(POINTS[1], 0.5)
    np.testing.assert_allclose(found, POINTS[1][:, 0] ** 3 + 0.5)


def f_of_x(x):
    return x**2


def f_of_x_and_t(x, t):
    return x**2 + t


def f_of_t(t):
    return 3 * t


def f_of_t_and_x(t, x):
    return x**2 - t


def f_with_default(x, power=3):
    return x**power


class Wave:
    def __call__(self, x, t):
        return np.cos(x - t)


@pytest.mark.parametrize(
    ("function", "expected", "in_time"),
    [
        (f_of_x, lambda x, t: x**2, False),
        (f_of_x_and_t, lambda x, t: x**2 + t, True),
        (f_of_t, lambda x, t: 3 * t + 0 * x, True),
        (f_of_t_and_x, lambda x, t: x**2 - t, True),
        (f_with_default, lambda x, t: x**3, False),
        (functools.partial(f_with_default, power=2), lambda x, t: x**2, False),
        (lambda x: x, lambda x, t: x, False),
        (lambda s, time: s * time, lambda x, t: x * t, True),
        (lambda x, *, scale=2.0: scale * x, lambda x, t: 2 * x, False),
        (np.sin, lambda x, t: np.sin(x), False),
        (np.hypot, np.hypot, True),
        (Wave(), lambda x, t: np.cos(x - t), True),
        (lambda x: 7.0, lambda x, t: 7 + 0 * x, False),
        (lambda x: x[:, None], lambda x, t: x, False),
        (lambda x: [*x], lambda x, t: x, False),
        (lambda x: x > 1, lambda x, t: 1.0 * (x > 1), False),
    ],
)
def test_functions_on_the_line(function, expected, in_time):
    found = datum(function)
    np.testing.assert_allclose(found(POINTS[1], 0.3), expected(POINTS[1][:, 0], 0.3), rtol=1e-15)
    assert found.depends_on_time is in_time


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x, y: x - 2 * y, lambda x, y, t: x - 2 * y),
        (lambda x, y, t: x - 2 * y * t, lambda x, y, t: x - 2 * y * t),
        (lambda t, y, x: x - 2 * y * t, lambda x, y, t: x - 2 * y * t),
        (lambda y: 3 * y, lambda x, y, t: 3 * y),
        (lambda x, t: x * t, lambda x, y, t: x * t),
        (lambda y, t: y * t, lambda x, y, t: y * t),
        (lambda t: t, lambda x, y, t: t + 0 * x),
        (lambda points: points[:, 0] - 2 * points[:, 1], lambda x, y, t: x - 2 * y),
        (lambda p: p[:, 0] - 2 * p[:, 1], lambda x, y, t: x - 2 * y),
        (lambda a, b: a - 2 * b, lambda x, y, t: x - 2 * y),
        (lambda a, b, c: a - 2 * b + c, lambda x, y, t: x - 2 * y + t),
        (np.hypot, lambda x, y, t: np.hypot(x, y)),
    ],
)
def test_functions_in_the_plane(function, expected):
    x, y = POINTS[2].T
    np.testing.assert_allclose(datum(function, 2)(POINTS[2], 0.3), expected(x, y, 0.3), rtol=1e-15)


def test_functions_of_whole_points_in_space():
    """In three dimensions f(points, t) has a count of its own."""
    x, y, z = POINTS[3].T
    assert callable_arguments(lambda p, s: 0, ("x", "y", "z"), "f") == ("points", "t")
    found = datum(lambda p, s: p @ [1, 2, 3] * s, 3)(POINTS[3], 0.5)
    np.testing.assert_allclose(found, (x + 2 * y + 3 * z) * 0.5)
    np.testing.assert_allclose(datum(lambda p: p[:, 2], 3)(POINTS[3]), z)


@pytest.mark.parametrize("function", [lambda: 1, lambda a, b, c: 1, lambda *args: 1, lambda **options: 1])
def test_a_function_with_a_wrong_signature(function):
    with pytest.raises(ProblemError, match=r"the test datum is a function of \d arguments.*`lambda x, t: …`"):
        datum(function)


@pytest.mark.parametrize("given", [[1, 2], (1,), np.zeros(3), True, np.bool_(False)])
def test_what_is_no_datum(given):
    with pytest.raises(ProblemError, match=r"must be a finite number, text, .* or a function of x, t; got \w+: "):
        datum(given)


@pytest.mark.parametrize("given", [None, object(), {"u": 1}], ids=["None", "object", "dict"])
def test_objects_are_no_datum(given):
    # np.isreal(None) is True
    with pytest.raises(ProblemError, match=r"must be a finite number, text, .* or a function of x, t; got \w+: "):
        datum(given)


@pytest.mark.parametrize("given", [math.nan, math.inf, -np.inf, np.float64("nan")])
def test_numbers_must_be_finite(given):
    with pytest.raises(ProblemError, match=r"the test datum is -?(nan|inf); it must be a finite number"):
        datum(given)


@pytest.mark.parametrize(
    "given", [sp.I, sp.asin(2), sp.I * sp.Symbol("x"), sp.Integer(-8) ** sp.Rational(1, 3)], ids=str
)
def test_sympy_data_must_be_real(given):
    with pytest.raises(ProblemError, match="complex"):
        datum(given)


def test_the_unknown_may_not_appear():
    jets = JetSpace(["x"])
    with pytest.raises(ProblemError, match="the value must not contain the unknown 'u_x'"):
        Datum("u_x + x", Scope(jets, ["u"]), {})


def test_sympy_functions_without_a_numerical_meaning():
    with pytest.raises(ProblemError, match="'zeta' in 'zeta\\(x\\)' of the test datum can't be evaluated numerically"):
        datum(sp.zeta(sp.Symbol("x")))


def test_is_zero():
    assert datum(0).is_zero
    assert datum(0.0).is_zero
    assert datum("x - x").is_zero
    assert not datum("x").is_zero
    assert not datum(lambda x: 0 * x).is_zero


# ---- values that functions return ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (np.zeros(5), r"\(5,\)"),
        (np.zeros((6, 2)), r"\(6, 2\)"),
        (np.zeros((1, 6)), r"\(1, 6\)"),
        (np.zeros(1), r"\(1,\)"),
        ([], r"\(0,\)"),
    ],
)
def test_wrong_shapes(value, shape):
    with pytest.raises(
        EvaluationError,
        match=rf"the test datum returned an array of shape {shape} for 6 points; expected shape \(6,\) or one number",
    ):
        datum(lambda x: value)(POINTS[1])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_must_be_finite_and_the_place_is_told(bad):
    points = np.array([[0.0, 1.0], [0.25, 2.0], [0.5, 3.0]])
    with pytest.raises(
        EvaluationError, match=rf"the test datum is {bad} at x = \(0.25, 2\), t = 0.75; it must be finite"
    ):
        datum(lambda x, y: np.where(x == 0.25, bad, y), 2)(points, 0.75)


@pytest.mark.parametrize(
    "text", ["1/x", "log(x)", "x**-2", "sin(x)/x", "1/t", "1/(x*t)", "log(t)", "t**-2", "1/sin(t)"]
)
def test_text_must_be_finite_too(text):
    # t is a Python float, which can't be divided by 0
    with pytest.raises(EvaluationError, match=r"the test datum is -?(nan|inf) at x = \(0\), t = 0; it must be finite"):
        datum(text)(np.zeros((2, 1)), 0.0)


@pytest.mark.parametrize(
    "value", [np.full(6, 1j), 1j, "text", [[1], [1, 2]], {}], ids=["array", "number", "text", "ragged", "dict"]
)
def test_values_must_be_real_numbers(value):
    # NumPy would drop an imaginary part with a warning
    with pytest.raises(EvaluationError, match="the test datum"):
        datum(lambda x: value)(POINTS[1])


def test_a_function_that_does_not_take_arrays():
    with pytest.raises(EvaluationError, match=r"the test datum.*NumPy"):
        datum(math.sin)(POINTS[1])


@pytest.mark.parametrize("text", ["x**-1", "x**-2", "x**-3", "x**-9", "1/(1 + x**2)", "x/3"])
def test_whole_numbers_are_coordinates_too(text):
    # np.reciprocal of integers is 0
    whole = np.array([[2], [3]])
    np.testing.assert_array_equal(datum(text)(whole), datum(text)(whole.astype(float)))
    np.testing.assert_array_equal(datum(text.replace("x", "t"))(whole, 2), datum(text)(np.full((2, 1), 2.0)))


# ---- time derivatives ----------------------------------------------------------------------------


def exact(order, x, t):
    """Derivatives of sin(3t + x)·exp(−t), from (3i − 1)ⁿ."""
    return np.imag((3j - 1) ** order * np.exp(1j * (3 * t + x))) * np.exp(-t)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_time_derivatives_of_text_are_exact(order):
    found = datum("sin(3*t + x)*exp(-t)").time_derivative(order, POINTS[1], 0.4, (0, 1))
    np.testing.assert_allclose(found, exact(order, POINTS[1][:, 0], 0.4), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("t", [0.0, 0.003, 0.4, 0.995, 1.0])
@pytest.mark.parametrize(("order", "accuracy"), [(0, 1e-15), (1, 1e-8), (2, 1e-5)])
def test_time_derivatives_of_functions_are_accurate(t, order, accuracy):
    found = datum(lambda x, t: np.sin(3 * t + x) * np.exp(-t)).time_derivative(order, POINTS[1], t, (0, 1))
    np.testing.assert_allclose(found, exact(order, POINTS[1][:, 0], t), rtol=0, atol=accuracy)


@pytest.mark.parametrize(("order", "accuracy"), [(1, 1e-8), (2, 1e-5)])
def test_time_derivatives_of_a_function_inside_a_text(order, accuracy):
    found = datum("k*x", k=lambda t: np.sin(3 * t)).time_derivative(order, POINTS[1], 0.4, (0, 1))
    x = POINTS[1][:, 0]
    np.testing.assert_allclose(found, x * 3**order * np.sin(1.2 + order * np.pi / 2), rtol=0, atol=accuracy)


@pytest.mark.parametrize("interval", [(0, 1e-3), (-5, -4), (0, 20)])
def test_the_differences_scale_with_the_interval(interval):
    start, end = interval
    length = end - start
    function = datum(lambda x, t: np.sin(3 * (t - start) / length) + 0 * x)
    for order, accuracy in [(1, 1e-8), (2, 1e-5)]:
        found = function.time_derivative(order, POINTS[1], start + 0.3 * length, interval) * length**order
        np.testing.assert_allclose(found, 3**order * np.sin(0.9 + order * np.pi / 2), rtol=0, atol=accuracy)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("t", [2.0, 2.0001, 2.5, 3.0])
def test_the_differences_stay_inside_the_interval(order, t):
    asked = []
    function = datum(lambda x, t: asked.append(t) or t**2 + 0 * x)
    found = function.time_derivative(order, POINTS[1], t, (2, 3))
    np.testing.assert_allclose(found, 2 * t if order == 1 else 2, rtol=1e-6)
    assert 18 <= len(asked) <= 60  # two to five stencils of nine points
    assert min(asked) >= 2.0
    assert max(asked) <= 3.0


@pytest.mark.parametrize("given", [3, "x**2", lambda x: x])
def test_constant_data_have_no_time_derivative(given):
    for order in (1, 2):
        assert np.array_equal(datum(given).time_derivative(order, POINTS[1], 0.4, (0, 1)), np.zeros(6))


# ---- Python functions as parameters --------------------------------------------------------------


def test_a_parameter_function_is_checked_too():
    def state(function):
        return Problem("u_t = k*u", Interval(0, 1, periodic=True), (0, 1), "k", parameters={"k": function})

    with pytest.raises(EvaluationError, match=r"parameter 'k' returned an array of shape \(2,\) for 7 points"):
        state(lambda x: np.zeros(2))
    with pytest.raises(EvaluationError, match="parameter 'k' is nan at x = "):
        state(lambda x: x * np.nan)
    with pytest.raises(ProblemError, match="parameter 'k' is a function of 3 arguments"):
        state(lambda a, b, c: a)


@pytest.mark.parametrize("function", [lambda s: s + 1, lambda time: time])
def test_one_argument_on_the_line_is_called_x_or_t(function):
    with pytest.raises(ProblemError, match="call the argument 'x' or 't'"):
        datum(function)


def test_names_tell_whole_points():
    """In two dimensions f(points, t) has as many arguments as f(x, y)."""
    plane = ("x", "y")
    assert callable_arguments(lambda points, t: 0, plane, "f") == ("points", "t")
    assert callable_arguments(lambda p, t: 0, plane, "f") == ("points", "t")
    assert callable_arguments(lambda a, b: 0, plane, "f") == plane
    assert callable_arguments(lambda y, t: 0, plane, "f") == ("y", "t")
    assert callable_arguments(lambda points, t: 0, ("x",), "f") == ("points", "t")
    assert callable_arguments(lambda points: 0, ("x",), "f") == ("points",)
    assert callable_arguments(lambda s, t: 0, ("x",), "f") == ("x", "t")
    found = datum(lambda points, t: points @ [1, 2] * t, 2)(POINTS[2], 0.5)
    np.testing.assert_allclose(found, POINTS[2] @ [0.5, 1.0])


def test_a_function_of_time_alone_is_a_value_on_sides_of_a_box():
    """It is called with one time, and may return an array of one number."""
    steady = {"g": lambda t: np.ones(1)}
    problem = Problem("u_t = lap(u) + g", Box([0, 0], [1, 1]), (0, 1), 1, "u = g", parameters=steady)
    value = problem.conditions[0].value
    assert np.array_equal(value(np.array([[0.0, 0.2], [0.0, 0.4], [0.0, 0.6]]), 0.5), [1.0, 1.0, 1.0])
