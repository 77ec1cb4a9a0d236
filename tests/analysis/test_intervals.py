"""Bounds of formulas on cells: they hold at random points, and they are tight where that matters."""

import numpy as np
import pytest
import sympy as sp

from frozenpinn.analysis.intervals import Cells, UnknownError
from frozenpinn.language.program import Program

x, t = sp.symbols("x t", real=True)
EXPRESSIONS = [
    sp.exp(-(((x - 0.4) / 3e-4) ** 2)),
    sp.expand(((x - 0.4) / 3e-4) ** 2),
    sp.tanh((x - t) / 0.01),
    sp.sech(30 * x - 3) ** 2,
    1 / (1 + 100 * (x - t) ** 2),
    sp.Max(x, t, 0.3),
    sp.Min(x, t) * x,
    sp.Abs(sp.sin(9 * x)),
    sp.sqrt(x + t),
    sp.tan(x),
    sp.cot(x + 1),
    sp.sec(x) + sp.csc(x + 1) + sp.coth(x + 1) + sp.csch(x + 1),
    x**t,
    sp.Piecewise((x, x < t), (2, True)),
    sp.cos(20 * x * t),
    sp.atan(50 * (x - 0.2)),
    sp.erf((x - t) / 0.01),
    sp.log(x + 0.01),
    x**3 - x**2 * t,
    sp.cosh(3 * (x - 0.5)) - sp.sinh(t),
    sp.Heaviside(x - 0.5) + sp.sign(t - 0.2),
    x ** sp.Rational(-3, 2) / (t + 1) ** 3,
]


def cells(count=300):
    rng = np.random.default_rng(0)
    radii = 10.0 ** rng.uniform(-6, -1, (2, count))
    return Cells((x, t), np.maximum(rng.random((2, count)), radii + 1e-9), radii)


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_bounds_hold_at_random_points_of_every_cell(expression):
    where, rng = cells(), np.random.default_rng(1)
    found, program = where.enclose(expression), Program([expression], [x, t])
    for _ in range(50):
        places = where.middles + where.radii * rng.uniform(-1, 1, where.middles.shape)
        values = np.asarray(program(*places)[0], dtype=float)
        slack = 1e-9 * (1 + np.abs(values))
        assert np.all(values >= found.values.low - slack)
        assert np.all(values <= found.values.high + slack)


def test_slopes_bound_differences():
    where = cells()
    found, program = where.enclose(sp.tanh(3 * x * t) * sp.exp(-t)), Program([sp.tanh(3 * x * t) * sp.exp(-t)], [x, t])
    step = where.radii[1] / 3
    slopes = (program(where.middles[0], where.middles[1] + step)[0] - program(*where.middles)[0]) / step
    assert np.all(slopes <= found.slopes.high[1] + 1e-6)
    assert np.all(slopes >= found.slopes.low[1] - 1e-6)


def test_a_square_that_is_written_out_is_bounded_as_well_as_the_square():
    where = Cells((x,), np.array([[0.4, 0.5]]), np.full((1, 2), 1e-5))
    for expression in (((x - sp.Float(0.4)) / 1e-3) ** 2, sp.expand(((x - sp.Float(0.4)) / 1e-3) ** 2)):
        found = where.enclose(expression).values
        assert np.all(found.high - found.low < [1e-3, 5.0])  # (0.1 ± 1e-5)² · 1e6 varies by 4


def test_what_is_not_known_has_no_bounds():
    with pytest.raises(UnknownError):
        cells().enclose(sp.Function("f")(x))
    with pytest.raises(UnknownError):
        cells().enclose(sp.Symbol("u"))
