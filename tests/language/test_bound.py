"""Programs at fixed places: the same bits as without, and what depends on the places alone only once."""

import pickle

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from frozenpinn.language.program import Bound, Program

X, Y, T, U, V = SYMBOLS = sp.symbols("x y t u v", real=True)
RNG = np.random.default_rng(4)
PLACES = RNG.normal(size=(2, 7))
LEAVES = st.sampled_from([*SYMBOLS, sp.Integer(2), sp.Rational(1, 3)])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
        inner.map(sp.sin),
        inner.map(sp.tanh),
        inner.map(lambda e: e**3),
        inner.map(lambda e: sp.exp(-(e**2))),
        st.tuples(inner, inner).map(lambda p: sp.Max(p[0], p[1])),
    ),
    max_leaves=12,
)


@settings(max_examples=60)
@given(st.lists(EXPRESSIONS, min_size=1, max_size=3), st.integers(0, 3))
def test_the_same_bits_as_the_program(expressions, count):
    program = Program(expressions, SYMBOLS)
    values = [*PLACES, 0.3, RNG.normal(size=7), RNG.normal(size=7)]
    bound = Bound(program, *values[:count])
    for _ in range(2):
        for found, expected in zip(bound(*values[count:]), program(*values), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_what_depends_on_the_places_is_evaluated_once():
    calls = []

    def slow(x):
        calls.append(len(x))
        return x**2

    f = sp.Function("f")
    bound = Bound(Program([f(X) * U + f(U)], [X, U], {"f": slow}), PLACES[0])
    for u in (1.0, 2.0, 3.0):
        np.testing.assert_array_equal(bound(np.full(7, u))[0], PLACES[0] ** 2 * u + u**2)
    assert len(calls) == 1 + 3


def test_results_of_the_places_alone_can_not_be_written_into():
    known, other = Bound(Program([sp.sin(X), U], [X, U]), PLACES[0])(np.ones(7))
    with pytest.raises(ValueError, match="read-only"):
        known[0] = 1.0
    other[0] = 1.0


def test_exponentials_that_overflow_are_harmless_where_quotients_are_finite():
    program = Program([sp.exp(X * U) / (1 + sp.exp(X * U)) ** 2], [X, U])
    x, u = np.array([1.0, 500.0]), np.array([0.5, 1.5])
    with np.errstate(all="ignore"):
        expected, found = program(x, u)[0], Bound(program, x)(u)[0]
    assert np.all(np.isfinite(expected))
    np.testing.assert_array_equal(found, expected)


def test_one_that_was_pickled():
    bound = pickle.loads(pickle.dumps(Bound(Program([sp.cos(X) * U], [X, U]), PLACES[0])))
    np.testing.assert_array_equal(bound(2.0)[0], np.cos(PLACES[0]) * 2.0)
