"""Kronecker products and their sums: kept entries, weights, composition, memory."""

import pickle
import tracemalloc
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frozenpinn.errors import SettingsError
from frozenpinn.operators import Composition, Identity, KroneckerSum, Product, Selection, Tag, kronecker

quick = settings(max_examples=60)


def matrix_of(operator):
    """Multiply everything out, the slow way."""
    rows, columns = operator.shape
    out = np.zeros((rows, columns))
    for factors, scale, *weights in operator.products:
        full = reduce(np.kron, [f.dense() if isinstance(f, Identity) else f for f in factors])
        full = full if operator.rows is None else full[operator.rows.flat]
        full = full if operator.columns is None else full[:, operator.columns.flat]
        left, right = (np.ones(n) if w is None else w for n, w in zip(operator.shape, weights, strict=True))
        out = out + scale * left[:, None] * full * right
    return out


def kept(rng, sizes):
    count = int(rng.integers(1, np.prod(sizes) + 1))
    chosen = rng.permutation(int(np.prod(sizes)))[:count]
    return Selection(np.stack(np.unravel_index(chosen, sizes), axis=1), sizes)


@st.composite
def sums(draw, axes):
    """Draw sums of products with any sizes, kept rows and columns, weights on both sides, identities here and there."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    rows, columns = (
        tuple(draw(st.lists(st.integers(1, 5), min_size=d, max_size=d))) for d in [draw(axes)] for _ in range(2)
    )
    if draw(st.booleans()):
        columns = rows
    selections = [kept(rng, sizes) if draw(st.booleans()) else None for sizes in (rows, columns)]
    lengths = [
        np.prod(sizes) if s is None else len(s.flat) for s, sizes in zip(selections, (rows, columns), strict=True)
    ]
    products = []
    for _ in range(draw(st.integers(1, 3))):
        factors = tuple(
            Identity(m) if m == n and draw(st.booleans()) else rng.normal(size=(m, n))
            for m, n in zip(rows, columns, strict=True)
        )
        weights = [rng.normal(size=length) if draw(st.booleans()) else None for length in lengths]
        products.append(Product(factors, float(rng.normal()), *weights))
    return KroneckerSum(tuple(products), *selections)


def close(found, expected):
    np.testing.assert_allclose(
        found, expected, rtol=1e-11, atol=1e-11 * max(1.0, np.max(np.abs(expected), initial=0.0))
    )


@quick
@given(operator=sums(st.integers(2, 3)), columns=st.integers(1, 4))
def test_application_and_entries_equal_the_matrix(operator, columns):
    matrix, rng = matrix_of(operator), np.random.default_rng(columns)
    close(operator.dense(), matrix)
    close(operator.T.dense(), matrix.T)
    vector, block = rng.normal(size=matrix.shape[1]), rng.normal(size=(matrix.shape[1], columns))
    for right in (vector, block, block.copy(order="F"), block + 1j):
        result = operator @ right
        assert result.shape == (len(matrix), *right.shape[1:])
        close(result, matrix @ right)
    close(operator.T @ (matrix @ block), matrix.T @ (matrix @ block))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(operator)) @ block, operator @ block)


@quick
@given(first=sums(st.just(2)), seed=st.integers(0, 10_000))
def test_sums_and_compositions_of_kronecker_sums(first, seed):
    rng = np.random.default_rng(seed)
    matrix, x = matrix_of(first), rng.normal(size=first.shape[1])
    twice = first + 2.0 * first
    assert isinstance(twice, KroneckerSum)
    close(twice @ x, 3.0 * (matrix @ x))
    inner = KroneckerSum(
        tuple(Product(tuple(rng.normal(size=(f.shape[1], 2)) for f in p.factors)) for p in first.products)
    )
    if first.columns is None:
        close((first @ inner).dense(), matrix @ matrix_of(inner))
    close((first.T @ first).dense(), matrix.T @ matrix)


def test_sums_with_other_kept_entries_are_right_too():
    a = np.random.default_rng(0).normal(size=(2, 2))
    some, other = (Selection(np.array(rows), (2, 2)) for rows in ([[0, 1], [1, 1]], [[1, 0], [0, 1]]))
    first, second = kronecker(a, a, rows=some, columns=some), kronecker(a, a, rows=some, columns=other)
    close((first + second).dense(), matrix_of(first) + matrix_of(second))
    close((first + second) @ np.ones(2), (matrix_of(first) + matrix_of(second)) @ np.ones(2))


def test_a_projector_meets_an_operator_axis_by_axis():
    """Pᵀ-orthonormal tables: P·(D ⊗ V + V ⊗ D) is a Kronecker sum of small matrices, restricted to what is kept."""
    rng = np.random.default_rng(0)
    values = [np.linalg.qr(rng.normal(size=(30, 7)))[0] for _ in range(2)]
    slopes = [rng.normal(size=(30, 7)) for _ in range(2)]
    kept = Selection(np.argwhere(np.add.outer(np.arange(7), np.arange(7)) < 7), (7, 7))
    projector = kronecker(*(v.T for v in values), rows=kept)
    terms = (Product((slopes[0], values[1])), Product((values[0], slopes[1]), -2.0))
    both = projector @ KroneckerSum(terms, columns=kept)
    assert isinstance(both, KroneckerSum)
    assert [[isinstance(f, Identity) for f in p.factors] for p in both.products] == [[False, True], [True, False]]
    close(both.dense(), matrix_of(projector) @ matrix_of(KroneckerSum(terms, columns=kept)))
    weighted = KroneckerSum((terms[0]._replace(left=rng.normal(size=900)),), columns=kept)
    assert isinstance(projector @ weighted, Composition)  # a coefficient that varies can't be split by axes
    close((projector @ weighted).dense(), matrix_of(projector) @ matrix_of(weighted))


def test_only_round_off_makes_an_identity():
    noise = np.random.default_rng(0).normal(size=(4, 4))
    same, above = np.eye(4), np.triu(noise, 1)
    factors = (same + 1e-15 * noise, same + 1e-11 * noise, same + 1e-11 * above, same[:, :3], same + above)
    (term,) = kronecker(*factors).products
    assert [isinstance(f, Identity) for f in term.factors] == [True, False, False, False, False]


def test_axes_that_shrink_most_come_first():
    """Of 60 × 60 × 60 values few are asked for: the largest tensor formed is the input, not something wider."""
    rng = np.random.default_rng(0)
    operator = kronecker(rng.normal(size=(120, 60)), rng.normal(size=(1, 60)), rng.normal(size=(2, 60)))
    x = rng.normal(size=60**3)
    assert _peak(operator, x) < 0.25 * x.nbytes
    close(operator @ x, np.einsum("ai,bj,ck,ijk->abc", *_factors(operator), x.reshape(60, 60, 60)).ravel())


def test_memory_on_64_cubed_is_a_few_states():
    rng = np.random.default_rng(0)
    factor, same = rng.normal(size=(64, 64)), Identity(64)
    laplacian = kronecker(factor, same, same) + kronecker(same, factor, same) + kronecker(same, same, factor)
    full = kronecker(factor, factor, factor)
    x = rng.normal(size=64**3)
    for operator in (laplacian, full, full.T):
        assert _peak(operator, x) < 5 * x.nbytes
    assert _peak(full, np.stack([x, x], axis=1)) < 10 * x.nbytes
    expected = np.einsum("ai,ijk->ajk", factor, x.reshape(64, 64, 64))
    close(kronecker(factor, same, same) @ x, expected.ravel())


def _factors(operator):
    return operator.products[0].factors


def _peak(operator, x):
    tracemalloc.start()
    operator @ x
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_symmetries_follow_from_those_of_the_factors():
    a = np.random.default_rng(0).normal(size=(3, 3))
    symmetric, skew, same = a + a.T, a - a.T, Identity(3)
    some = Selection(np.array([[0, 1], [2, 2], [1, 0]]), (3, 3))
    copy = Selection(some.indices[[1, 0, 2]], (3, 3))
    assert kronecker(symmetric, same).tags == kronecker(skew, skew).tags == {Tag.SYMMETRIC}
    assert (kronecker(skew, same) + kronecker(symmetric, skew)).tags == {Tag.SKEW}
    assert kronecker(symmetric, skew, rows=some, columns=some).tags == {Tag.SKEW}
    others = (
        kronecker(a, same),
        kronecker(symmetric, same) + kronecker(skew, same),
        kronecker(symmetric, same, rows=some, columns=copy),
        1j * kronecker(symmetric, same),
        KroneckerSum((Product((symmetric, same), 1.0, np.arange(9.0)),)),
    )
    for operator in others:
        assert operator.tags == frozenset()
        assert not np.allclose(operator.dense(), operator.dense().conj().T)


def test_what_does_not_fit_is_refused():
    two, three = np.ones((2, 2)), np.ones((3, 3))
    with pytest.raises(SettingsError, match=r"rows of a Kronecker sum disagree: axes of sizes \[\(2, 3\), \(3, 2\)\]"):
        KroneckerSum((Product((two, three)), Product((three, two))))
    with pytest.raises(SettingsError, match=r"columns .* sizes \[\(2, 2\), \(2, 3\)\]"):
        kronecker(two, three, columns=Selection(np.array([[0, 0]]), (2, 2)))
    with pytest.raises(SettingsError, match=r"rows .* 6 kept, \[1\] weights"):
        KroneckerSum((Product((two, three), 1.0, np.ones(1)),))
    with pytest.raises(SettingsError, match="listed twice"):
        Selection(np.array([[0, 1], [1, 1], [0, 1]]), (2, 2))
    with pytest.raises(ValueError, match="invalid entry"):
        Selection(np.array([[0, 2]]), (2, 2))
