"""Every kind of operator does what its matrix does: apply, transpose, add, scale, compose, solve, pickle."""

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from frozenpinn.errors import SettingsError
from frozenpinn.operators import (
    DENSE_LIMIT,
    Block,
    Composition,
    Dense,
    Diagonal,
    Identity,
    KroneckerSum,
    MatrixFree,
    Product,
    Selection,
    Sparse,
    Sum,
    Tag,
    detect,
    kronecker,
)

SIZE = 6


def dense(rng, rows=SIZE, columns=SIZE):
    matrix = rng.normal(size=(rows, columns))
    return Dense(matrix), matrix


def sparse(rng):
    matrix = rng.normal(size=(SIZE, SIZE)) * (rng.random((SIZE, SIZE)) < 0.4)
    return Sparse(sp.coo_array(matrix)), matrix


def matrix_free(rng):
    matrix = rng.normal(size=(SIZE, SIZE))
    return MatrixFree(partial(np.matmul, matrix), partial(np.matmul, matrix.T), matrix.shape), matrix


def diagonal(rng):
    values = rng.normal(size=SIZE)
    return Diagonal(values), np.diag(values)


def identity(rng):
    return Identity(SIZE), np.eye(SIZE)


def product(rng):
    first, second = rng.normal(size=(2, 2)), rng.normal(size=(3, 3))
    return kronecker(first, second), np.kron(first, second)


def total(rng):
    (first, a), (second, b) = dense(rng), diagonal(rng)
    return Sum((first, second), (2.0, -0.5)), 2.0 * a - 0.5 * b


def composition(rng):
    (outer, a), (inner, b) = dense(rng, SIZE, 9), dense(rng, 9, SIZE)
    return Composition(outer, inner), a @ b


def block(rng):
    (k, a), (d, b) = dense(rng, 4, 2), dense(rng, 4, 4)
    return Block(((None, MatrixFree(_two, _two_transposed, (2, 4))), (k, d))), np.block(
        [[np.zeros((2, 2)), TWO], [a, b]]
    )


TWO = np.arange(8.0).reshape(2, 4)


def _two(x):
    return TWO @ x


def _two_transposed(x):
    return TWO.T @ x


KINDS = [dense, sparse, matrix_free, diagonal, identity, product, total, composition, block]
seeds = given(seed=st.integers(0, 10_000))
quick = settings(max_examples=15)
kinds = pytest.mark.parametrize("kind", KINDS)
close = partial(np.testing.assert_allclose, rtol=1e-11, atol=1e-11)


@kinds
@quick
@seeds
def test_an_operator_does_what_its_matrix_does(kind, seed):
    rng = np.random.default_rng(seed)
    operator, matrix = kind(rng)
    vector, columns = rng.normal(size=SIZE), rng.normal(size=(SIZE, 3))
    assert operator.shape == matrix.shape
    close(operator.dense(), matrix)
    for right in (vector, columns, columns[:, :1], columns * (1 + 2j)):
        result = operator @ right
        assert result.shape == right.shape
        close(result, matrix @ right)
    close(operator.T @ columns, matrix.T @ columns)
    close(operator.T.T @ vector, matrix @ vector)
    close(operator.T.dense(), matrix.T)


@kinds
@pytest.mark.parametrize("other", KINDS)
def test_any_two_kinds_are_added_and_composed(kind, other):
    rng = np.random.default_rng(4)
    (first, a), (second, b), x = kind(rng), other(rng), rng.normal(size=(SIZE, 2))
    for operator, matrix in [
        (first + second, a + b),
        (first + -1.0 * second, a - b),
        (np.float64(3.0) * first, 3.0 * a),
        (2j * first, 2j * a),
        (first @ second, a @ b),
    ]:
        close(operator.dense(), matrix)
        close(operator @ x, matrix @ x)
        close(operator.T @ x, matrix.T @ x)


@pytest.mark.parametrize("make", [dense, sparse, product])
def test_two_of_a_kind_stay_of_that_kind(make):
    rng = np.random.default_rng(0)
    (first, _), (second, _) = make(rng), make(rng)
    for result in (first + second, 2.0 * first, first @ second, first.T):
        assert type(result) is type(first)


@kinds
@pytest.mark.parametrize("shift", [0.0, 1.7, -0.3 + 2j])
def test_factors_solve(kind, shift):
    rng = np.random.default_rng(5)
    operator, matrix = kind(rng)
    shifted = shift * np.eye(SIZE) - matrix
    if np.linalg.cond(shifted) > 1e10:
        matrix, operator = matrix + 5.0 * np.eye(SIZE), operator + 5.0 * Identity(SIZE)
        shifted = shift * np.eye(SIZE) - matrix
    factor = operator.factorise(shift)
    for right in (rng.normal(size=SIZE), rng.normal(size=(SIZE, 2)), rng.normal(size=SIZE) * 1j):
        found = factor.solve(right)
        assert found.shape == right.shape
        assert np.iscomplexobj(found) == (np.iscomplexobj(right) or np.iscomplexobj(shift))
        np.testing.assert_allclose(found, np.linalg.solve(shifted, right), rtol=1e-7, atol=1e-7)


@kinds
def test_pickles_apply_bitwise_alike(kind):
    operator, _ = kind(np.random.default_rng(6))
    again = pickle.loads(pickle.dumps(operator))
    x = np.random.default_rng(7).normal(size=(SIZE, 3))
    np.testing.assert_array_equal(again @ x, operator @ x)
    np.testing.assert_array_equal(again.T @ x, operator.T @ x)
    assert again.tags == operator.tags
    factors = operator.factorise(9.0), pickle.loads(pickle.dumps(operator.factorise(9.0)))
    np.testing.assert_array_equal(factors[0].solve(x), factors[1].solve(x))


@kinds
def test_results_are_new_arrays_and_operators_do_not_change(kind):
    operator, matrix = kind(np.random.default_rng(8))
    x = np.ones(SIZE)
    result = operator @ x
    result += 100.0
    np.testing.assert_array_equal(x, 1.0)
    close(operator @ x, matrix @ x)
    field = next(iter(vars(operator)))
    with pytest.raises(AttributeError):
        setattr(operator, field, None)


@kinds
def test_arrays_of_a_wrong_length_are_refused(kind):
    operator, _ = kind(np.random.default_rng(9))
    for shape in [(1,), (SIZE + 1,), (1, 3)]:
        with pytest.raises(ValueError, match=r"shape|mismatch"):
            operator @ np.ones(shape)


def test_operators_that_do_not_fit_are_refused():
    wide, square = kronecker(np.ones((2, 3))), Diagonal(np.ones(2))
    with pytest.raises(SettingsError, match=r"different shapes .*\(2, 2\), \(2, 3\).* can't be added"):
        square + wide
    with pytest.raises(SettingsError, match=r"\(2, 3\) and \(2, 2\) can't be composed"):
        wide @ square
    with pytest.raises(SettingsError, match=r"shape \(2, 3\) can't be factorised; it must be square"):
        wide.factorise()
    with pytest.raises(SettingsError, match=r"block has shape \(2, 2\); its row and column need \(2, 3\)"):
        Block(((wide,), (square,)))
    with pytest.raises(SettingsError, match=r"no operator; write 0.0 \* one of the right shape"):
        Block(((square, None), (square, None)))
    with pytest.raises(SettingsError, match="give MatrixFree an apply_transposed"):
        _ = MatrixFree(np.cumsum, None, (3, 3)).T


def test_dense_refuses_above_its_limit():
    large = kronecker(*(np.ones((20, 20)) for _ in range(3)))
    with pytest.raises(SettingsError) as caught:
        large.dense()
    for part in ("8000 × 8000", "64,000,000 entries", f"limit of {DENSE_LIMIT:,}", "with @", "dense(limit=64000000)"):
        assert part in str(caught.value)
    with pytest.raises(SettingsError, match="limit of 35"):
        Identity(6).dense(limit=35)
    assert Identity(6).dense(limit=36).shape == (6, 6)


def test_a_composition_may_be_small_though_its_parts_are_large():
    """What lies between is written out some columns at a time."""
    rng = np.random.default_rng(0)
    outer, first, second = rng.normal(size=(2, 20)), rng.normal(size=(1, 20)), rng.normal(size=(20, 40))
    weights, matrix = rng.normal(size=800), np.kron(first, second)
    kept = Selection(np.argwhere(rng.random((20, 40)) < 0.5), (20, 40))
    weighted = KroneckerSum((Product((first, second), 2.0, right=weights[kept.flat]),), columns=kept)
    for inner, expected in [
        (kronecker(first, second), matrix),
        (weighted, 2.0 * matrix[:, kept.flat] * weights[kept.flat]),
        (MatrixFree(partial(np.matmul, matrix), None, matrix.shape), matrix),
    ]:
        with pytest.raises(SettingsError, match="more than the limit of 3,000"):
            inner.dense(limit=3000)
        close((Dense(outer) @ inner).dense(limit=3000), outer @ expected)
        close((Dense(outer) @ inner).dense(limit=len(expected[0]) * 2), outer @ expected)


def test_tags_are_kept_where_they_hold():
    symmetric = Dense(np.array([[1.0, 2.0], [2.0, 5.0]]), frozenset({Tag.SYMMETRIC}))
    skew = Dense(np.array([[0.0, 2.0], [-2.0, 0.0]]), frozenset({Tag.SKEW}))
    ones = Diagonal(np.ones(2))
    assert (symmetric + symmetric).tags == (3.0 * symmetric).tags == symmetric.T.tags == {Tag.SYMMETRIC}
    assert (symmetric + ones).tags == (2.0 * (symmetric + ones)).tags == {Tag.SYMMETRIC}
    assert ones.tags == {Tag.SYMMETRIC, Tag.DIAGONAL}
    assert Diagonal(1j * np.ones(2)).tags == {Tag.DIAGONAL}
    for none in (symmetric + skew, 1j * symmetric, symmetric @ symmetric, 1j * (symmetric + ones), ones @ symmetric):
        assert none.tags == frozenset()


def test_symmetry_is_detected_to_the_last_bit():
    matrix = np.random.default_rng(0).normal(size=(5, 5))
    assert detect(matrix + matrix.T) == {Tag.SYMMETRIC}
    assert detect(matrix - matrix.T) == {Tag.SKEW}
    spoiled = matrix + matrix.T
    spoiled[0, 1] = np.nextafter(spoiled[0, 1], np.inf)
    for other in (matrix, spoiled, matrix[:3], 1j * (matrix + matrix.T)):
        assert detect(other) == frozenset()
