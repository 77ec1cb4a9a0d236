"""Special functions of all kinds: derivatives against differences, Laplacians against sums, tables that make them."""

import numpy as np
import pytest

from frozenpinn.basis.corners import LOG, LOG_R, PLAIN, Corner, Power, SingularFunctions
from frozenpinn.basis.layers import LayerFunctions
from frozenpinn.basis.poles import SpacePoles
from frozenpinn.basis.special import SPECIAL

POWERS = [Power(p, q, log, f) for p in (0.67, 2, -1) for q in (0, 1) for log in (PLAIN, LOG, LOG_R) for f in (0.0, 1.5)]
KINDS = {
    "plane": SingularFunctions.at(Corner(0.1, 0.2, 0.7, 4.5), POWERS, 1.3),
    "space": SpacePoles.of([(0.0, 0.1, 0.2)], [0.5], 3, (-1, 1)),
    "layers": LayerFunctions(np.random.default_rng(1).normal(size=(5, 7))),
}


def places(kind):
    return 2.0 + np.random.default_rng(0).random((30, 3 if kind == "space" else 2))


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives(kind):
    functions, x, h = KINDS[kind], places(kind), 1e-5
    d = x.shape[1]
    for axis in range(d):
        for lower in [(0,) * d, tuple(int(i == 0) for i in range(d))]:
            step = h * np.eye(d)[axis]
            difference = (functions(x + step, lower) - functions(x - step, lower)) / (2.0 * h)
            found = functions(x, tuple(a + (i == axis) for i, a in enumerate(lower)))
            assert found == pytest.approx(difference, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_laplacians(kind):
    functions, x = KINDS[kind], places(kind)
    d = x.shape[1]
    total = sum(functions(x, tuple(2 * (i == axis) for i in range(d)), 1) for axis in range(d))
    assert functions(x, (0,) * d, 2) == pytest.approx(total, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_make_them_again(kind):
    functions, x = KINDS[kind], places(kind)
    again = SPECIAL[functions.kind](functions.table)
    assert np.array_equal(again(x, (0,) * x.shape[1]), functions(x, (0,) * x.shape[1]))


def test_multipoles_of_space_are_harmonic_and_independent():
    poles, x = SpacePoles.of([(0.0, 0.0, 0.0)], [1.0], 3), places("space") - 1.0
    assert len(poles) == 1 + 3 + 5 + 7
    assert not np.any(poles(x, (0, 0, 0), 1))
    assert np.linalg.matrix_rank(poles(x, (0, 0, 0))) == 16
