"""Programs: SymPy expressions evaluated by NumPy without generating code."""

import numpy as np
import pytest
import sympy as sp

from frozenpinn import ProblemError
from frozenpinn.language.program import Program

x, y = sp.symbols("x y", real=True)
X, Y = np.random.default_rng(0).uniform(0.2, 0.9, (2, 50))


@pytest.mark.parametrize(
    "expression",
    [
        x + y,
        x * y - 3,
        x / y,
        (x + 1) / (y * (x + 2)),
        -x / 7,
        x**-1,
        x**-2,
        *(x**n for n in range(2, 12)),
        x**-5,
        x**-9,
        x**y,
        x ** sp.Rational(1, 3),
        sp.sqrt(x),
        1 / sp.sqrt(x),
        x**2.5,
        sp.exp(-x) * sp.sin(3 * y),
        sp.tan(x) + sp.cot(y) + sp.sec(x) + sp.csc(y),
        sp.asin(x) + sp.acos(y) + sp.atan(x),
        sp.atan2(x, -y),
        sp.sinh(x) + sp.cosh(y) + sp.tanh(x) + sp.coth(y) + sp.sech(x) + sp.csch(y),
        sp.log(x) + sp.erf(y),
        sp.Abs(x - y) + sp.sign(x - y),
        sp.Min(x, y, 0.5) - sp.Max(x, y, 0.5),
        sp.Heaviside(x - y, sp.Rational(1, 2)),
        sp.Piecewise((x, x < y), (y**2, True)),
        sp.Piecewise((x, x < 0.4), (2 * x, x < 0.6), (3 * x, True)),
        sp.Piecewise((1, (x < 0.5) & (y > 0.5)), (2, (x >= 0.5) | (y <= 0.5))),
        sp.pi * x + sp.E,
    ],
    ids=str,
)
def test_values_agree_with_sympy(expression):
    found = np.broadcast_to(Program([expression], [x, y])(X, Y)[0], 50)
    expected = [float(expression.subs({x: a, y: b})) for a, b in zip(X, Y, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_several_outputs_share_their_parts():
    calls = []
    k = sp.Function("k", real=True)

    def function(z):
        calls.append(z)
        return z**2

    program = Program([k(x) + y, sp.sin(k(x)), k(x) * k(y)], [x, y], {"k": function})
    first, second, third = program(X, Y)
    np.testing.assert_allclose(first, X**2 + Y)
    np.testing.assert_allclose(second, np.sin(X**2))
    np.testing.assert_allclose(third, X**2 * Y**2)
    assert len(calls) == 2  # k(x) once, k(y) once


def test_constants_come_back_as_numbers():
    assert Program([3, sp.pi, sp.Rational(1, 4), 0.5], [x])(X) == [3.0, np.pi, 0.25, 0.5]


def test_a_piecewise_function_without_an_else_is_not_a_number_there():
    found = Program([sp.Piecewise((x, x < 0.5))], [x])(np.array([0.25, 0.75]))[0]
    assert found[0] == 0.25
    assert np.isnan(found[1])


def test_the_delta_function_is_zero_where_it_is_a_function():
    assert Program([sp.DiracDelta(x) + sp.DiracDelta(x, 1)], [x])(X)[0].tolist() == [0.0] * 50


def test_a_program_may_be_called_again():
    program = Program([x**2 + 1, 2], [x])
    assert [program(np.array([v]))[0][0] for v in (1.0, 2.0, 1.0)] == [2.0, 5.0, 2.0]


@pytest.mark.parametrize("expression", [x**-2, x**-3, 1 / x, 1 / (x + 1) ** 2])
def test_whole_numbers_are_not_divided_as_whole_numbers(expression):
    # np.reciprocal of integers is 0
    assert Program([expression], [x])(np.array([2]))[0][0] == float(expression.subs(x, 2))


def test_unknown_symbols_and_functions():
    with pytest.raises(ProblemError, match="the symbol 'y' is not known here"):
        Program([x + y], [x])
    with pytest.raises(ProblemError, match=r"'gamma' in 'gamma\(x\)' can't be evaluated numerically"):
        Program([sp.gamma(x)], [x])


def test_complex_constants():
    with pytest.raises(ProblemError, match="complex"):
        Program([x * sp.I], [x])


def test_small_exponentials_are_not_the_inverses_of_infinite_ones():
    x = sp.Symbol("x", real=True)
    places = np.array([0.0, 0.01, 1.0])
    with np.errstate(all="raise", under="ignore"):
        (found,) = Program([x * sp.exp(-((sp.Integer(30) * x) ** 2))], [x])(places)
        (nothing,) = Program([sp.exp(-1250) * x / 3], [x])(places)
    np.testing.assert_allclose(found, places * np.exp(-((30 * places) ** 2)), rtol=1e-14)
    np.testing.assert_array_equal(nothing, 0.0)


@pytest.mark.parametrize("part", [4, 100_000])
def test_grids_give_the_values_of_their_points(monkeypatch, part):
    monkeypatch.setattr("frozenpinn.language.program._PART", part)
    program = Program([sp.sin(x) * y, sp.exp(y), 2, sp.Function("f")(x)], [x, y], {"f": np.cos})
    plain = Program([sp.sin(x) * y, sp.exp(y), 2], [x, y])
    across, along = np.linspace(0, 1, 7), np.linspace(2, 3, 5)
    places = [c.ravel() for c in np.meshgrid(across, along, indexing="ij")]
    for values, wanted in zip(plain.on_grid([across, along]), plain(*places), strict=True):
        assert np.allclose(values, np.broadcast_to(wanted, 35), rtol=1e-15, atol=0)
    assert np.array_equal(program.on_grid([across, along])[3], np.cos(places[0]))


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp <= 1024, reason="no wider floats on this machine")
@pytest.mark.parametrize("order", [1, 2, 3])
def test_overflow_is_harmless_where_the_limit_is_finite(order):
    x = sp.Symbol("x")
    program = Program([sp.diff((1 + sp.exp(3 * x)) ** -2, x, order)], [x])
    with np.errstate(all="ignore"):
        found = program(np.array([-400.0, 0.0, 2.0, 400.0, 1200.0]))[0]
    assert np.all(np.isfinite(found))
    assert found[-1] == 0.0
    exact = sp.diff((1 + sp.exp(3 * x)) ** -2, x, order).subs(x, 2).evalf(30)
    assert found[2] == pytest.approx(float(exact), rel=1e-12)


def test_a_quotient_that_is_too_large_stays_so():
    x = sp.Symbol("x")
    program = Program([(1 + sp.exp(2 * x)) / (1 + sp.exp(x)), sp.log(-sp.exp(x))], [x])
    with np.errstate(all="ignore"):
        large, undefined = program(np.array([400.0, 900.0, 1e6]))
    assert large[0] == pytest.approx(float(np.exp(400.0)), rel=1e-9)
    assert np.isinf(large[1])
    assert np.isnan(large[2])
    assert np.all(np.isnan(undefined))


def test_programs_of_one_expression_have_their_own_functions():
    x, k = sp.symbols("x k", real=True)
    expression = [k * sp.Function("f")(x)]
    twice, thrice = (Program(expression, [x], {"f": f, "k": v}) for f, v in ((np.sin, 2.0), (np.cos, 3.0)))
    assert twice(0.5) == [2.0 * np.sin(0.5)]
    assert thrice(0.5) == [3.0 * np.cos(0.5)]
    assert not twice.is_vectorised
    assert Program([k * x], [x], {"k": 1.0}).is_vectorised
