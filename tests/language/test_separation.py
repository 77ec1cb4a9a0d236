"""Formulas as sums of products of functions of one coordinate each."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from frozenpinn.language.program import Program
from frozenpinn.language.separation import AxisProducts, axis_products, separate

X, Y, Z, T = sp.symbols("x y z t", real=True)
AXES = (X, Y, Z)


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        (sp.Integer(3), 1),
        (sp.sin(X), 1),
        (sp.sin(X) * sp.exp(Y) / (1 + Z**2), 1),
        (sp.exp(-50 * (X - 0.3) ** 2 - 50 * (Y + 0.1) ** 2 - Z), 1),
        (sp.exp(4 * (sp.cos(X) + sp.cos(Y)) - Z), 1),
        ((sp.sin(X) * sp.cos(Y)) ** 3, 1),
        (1 / (sp.cosh(X) * sp.cosh(Y)) ** 2, 1),
        (sp.sin(X + Y), 2),
        (sp.cos(2 * X - Y + 2 * Z + 1), 4),
        ((X + Y) ** 2, 4),
        (sp.sin(X - Y) + sp.cos(X + Y + Z) * sp.exp(T), 6),
    ],
)
def test_short_sums_of_products_are_found(expression, count):
    found = axis_products(expression, AXES)
    assert len(found) == count
    for product in found:
        for axis, factor in zip(AXES, product, strict=True):
            assert factor.free_symbols <= {axis, T}
    places = dict(zip((*AXES, T), (0.31, -0.42, 0.17, 0.6), strict=True))
    together = sum(sp.Mul(*product) for product in found)
    assert float(together.subs(places)) == pytest.approx(float(expression.subs(places)), rel=1e-13)


@pytest.mark.parametrize(
    "expression", [sp.tanh(X + Y), sp.exp(X * Y), sp.sqrt(X**2 + Y**2), sp.Abs(X - Y), (X + Y + Z) ** 3, 1 / (X + Y)]
)
def test_other_formulas_are_left_alone(expression):
    assert axis_products(expression, AXES) is None


def test_factors_beyond_floats_are_infinite_and_cause_no_warning():
    saddle = AxisProducts.of([sp.exp(1000 * X - 1000 * Y)], (X, Y), T, {})
    near, far = (saddle.values([np.linspace(0, end, 5), np.linspace(0, end, 4)], 0.0) for end in (0.1, 1))
    assert np.all(np.isfinite(near[0]))
    assert np.isinf(far[0][-1, 0])


@settings(max_examples=40)
@given(st.lists(st.tuples(*(st.integers(-3, 3),) * 3, st.floats(-2, 2)), min_size=1, max_size=2), st.booleans())
def test_waves_are_products_of_waves(waves, even):
    function = sp.cos if even else sp.sin
    expression = sp.Add(*(a * function(k * X + m * Y + n * Z + 0.3) for k, m, n, a in waves))
    grids = [np.linspace(0, 2, 4), np.linspace(-1, 1, 5), np.linspace(0, 1, 3)]
    programs = AxisProducts.of([expression], AXES, T, {})
    tables = programs.values(grids, 0.0)
    mesh = np.meshgrid(*grids, indexing="ij")
    wanted = sum(
        a * (np.cos if even else np.sin)(k * mesh[0] + m * mesh[1] + n * mesh[2] + 0.3) for k, m, n, a in waves
    )
    np.testing.assert_allclose(np.einsum("ik,jk,lk->ijl", *tables), wanted, atol=1e-13)


def test_exponentials_that_are_next_to_nothing_stay_so():
    """As the layers of an exact solution have them: SymPy would write 1/(exp(10000) - 1)."""
    tiny = sp.exp(-10000)
    parts = separate(T * X * (Y - tiny / (1 - tiny)), T)
    (shape,), (history,) = parts.shapes, parts.histories
    assert history == T
    found = Program([shape], [X, Y])(np.array([2.0]), np.array([3.0]))[0]
    np.testing.assert_array_equal(found, [6.0])
