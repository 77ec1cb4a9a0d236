"""SymPy expressions as text: what is stored reads back as the same function."""

import numpy as np
import pytest
import sympy as sp

from frozenpinn import Interval, Problem
from frozenpinn.statement.document import problem_from_dict, problem_to_dict

x = sp.Symbol("x")
RING = Interval(0, 1, periodic=True)


@pytest.mark.parametrize(
    "given",
    [
        sp.Max(x, 0.5),
        sp.Min(x, sp.Rational(1, 3), 1 - x),
        sp.Heaviside(x - 0.5),
        sp.E * x + sp.exp(1) ** 2,
        sp.GoldenRatio * x,
        sp.Float(1 / 3) * x + 1e-300,
        sp.Abs(x - 0.5) - sp.sign(x - 0.3),
        sp.sech(x) + sp.coth(1 + x) ** 2 + 1 / sp.csc(1 + x),
        sp.atan2(x, 1) * sp.sqrt(x) ** 3,
        sp.pi * x ** sp.Rational(-1, 3) * (x + 1),
        -(x**2) / 3,
    ],
    ids=str,
)
def test_data_read_back_as_the_same_function(given):
    problem = Problem("u_t = u_xx", RING, (0, 1), given)
    again = problem_from_dict(problem_to_dict(problem))
    points = np.linspace(0.05, 1, 9)[:, None]
    np.testing.assert_array_almost_equal_nulp(problem.initial["u"](points), again.initial["u"](points), 4)


def test_equations_read_back():
    u, u_t, u_xx = sp.symbols("u u_t u_xx")
    problem = Problem(sp.Eq(u_t, u_xx / 3 - sp.Max(u, 0) ** 2), RING, (0, 1), 0)
    again = problem_from_dict(problem_to_dict(problem))
    assert str(again.equations[0]) == str(problem.equations[0])


@pytest.mark.parametrize("given", [sp.Heaviside(x - 0.5, 0), sp.Piecewise((1, x < 0.5), (2, x < 2))], ids=str)
def test_what_the_language_can_not_say_is_not_stored(given):
    assert problem_to_dict(Problem("u_t = u_xx", RING, (0, 1), given)) is None


@pytest.mark.parametrize(
    "given", [sp.Piecewise((x, x < 0.5), (2, True)), sp.Piecewise((x, (x > 0.2) & (x < 0.5)), (1, x > 0.7), (2, True))]
)
def test_cases_read_back(given):
    problem = Problem("u_t = u_xx", RING, (0, 1), given)
    again = problem_from_dict(problem_to_dict(problem))
    places = np.linspace(0.01, 0.99, 50)[:, None]
    assert np.array_equal(again.initial["u"](places), problem.initial["u"](places))
