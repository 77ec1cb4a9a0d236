"""Several maps of the same coefficients: stacks, blocks of a diagonal, and small matrices for each mode."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frozenpinn.errors import SettingsError
from frozenpinn.operators import (
    Block,
    Dense,
    Identity,
    KroneckerSum,
    ModeMatrices,
    Selection,
    diagonal_blocks,
    kronecker,
    tensor,
)
from frozenpinn.operators.kronecker import KroneckerStack, stack

quick = settings(max_examples=30)


@st.composite
def products(draw):
    """Draw products that share some of their factors, as values and derivatives of a basis do."""
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    sizes = draw(st.lists(st.integers(1, 4), min_size=2, max_size=3))
    tables = [[rng.normal(size=(draw(st.integers(1, 4)), n)) for _ in range(2)] for n in sizes]
    tables = [[a, rng.normal(size=a.shape)] for a, _ in tables]
    count = draw(st.integers(2, 5))
    chosen = [[draw(st.integers(0, 1)) for _ in sizes] for _ in range(count)]
    scales = [draw(st.sampled_from([1.0, -2.5])) for _ in range(count)]
    return [
        s * kronecker(*(own[k].copy() for own, k in zip(tables, choice, strict=True)))
        for s, choice in zip(scales, chosen, strict=True)
    ]


@quick
@given(operators=products(), columns=st.integers(1, 3))
def test_a_stack_of_products_equals_its_matrices_on_top_of_each_other(operators, columns):
    whole = stack(operators)
    assert isinstance(whole, KroneckerStack)
    matrix = np.concatenate([o.dense() for o in operators])
    block = np.random.default_rng(0).normal(size=(matrix.shape[1], columns))
    for right in (block[:, 0], block, block + 1j):
        np.testing.assert_allclose(whole @ right, matrix @ right, atol=1e-12)
    np.testing.assert_allclose(whole.dense(), matrix, atol=1e-12)
    np.testing.assert_allclose(whole.T.dense(), matrix.T, atol=1e-12)


def test_what_leading_axes_have_in_common_is_computed_once(monkeypatch):
    rng = np.random.default_rng(0)
    (values, slopes), (across, other) = rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 6, 3))
    pairs = [(values, across), (values.copy(), other), (slopes, across.copy())]
    whole = stack([kronecker(*pair) for pair in pairs])
    axes = []
    plain = tensor.along_axis
    monkeypatch.setattr(tensor, "along_axis", lambda f, axis, *rest: axes.append(axis) or plain(f, axis, *rest))
    whole @ rng.normal(size=12)
    assert axes == [0, 1, 1, 0, 1]


def test_identities_are_shared_too():
    matrix = np.arange(9.0).reshape(3, 3)
    whole = stack([kronecker(Identity(2), matrix), kronecker(Identity(2), Identity(3))])
    vector = np.arange(6.0)
    np.testing.assert_array_equal(whole @ vector, np.concatenate([np.kron(np.eye(2), matrix) @ vector, vector]))


def test_other_kinds_are_stacked_as_matrices_or_blocks():
    dense, product = Dense(np.ones((2, 4))), kronecker(np.ones((2, 2)), np.eye(2))
    assert stack([product]) is product
    assert isinstance(stack([dense, dense]), Dense)
    kept = Selection(np.array([[0, 0], [1, 1]]), (2, 2))
    weighted = KroneckerSum((product.products[0]._replace(left=np.ones(4)),))
    others = ([dense, product], [product, product + product], [product, weighted])
    for group in (*others, [product, KroneckerSum(product.products, rows=kept)]):
        whole = stack(group)
        assert type(whole) is Block
        np.testing.assert_array_equal(whole.dense(), np.concatenate([o.dense() for o in group]))


# ---- blocks --------------------------------------------------------------------------------------------

A, B = Dense(np.array([[1.0, 2.0], [3.0, 4.0]])), Dense(np.array([[5.0]]))


def test_blocks_of_a_diagonal():
    assert diagonal_blocks(A) == [A]
    assert diagonal_blocks(Block(((A, None), (None, B)))) == [A, B]
    assert diagonal_blocks(Block(((A, Dense(np.ones((2, 1)))), (None, B)))) is None
    assert diagonal_blocks(kronecker(A.matrix, A.matrix) @ ModeMatrices(np.ones((2, 2, 2)))) is None  # it may couple


def test_blocks_are_added_place_by_place():
    across = Dense(np.ones((2, 1)))
    one, other = Block(((A, None), (None, B))), Block(((A, across), (None, B)))
    total = one + other
    assert isinstance(total, Block)
    assert total.rows[0][1] is across
    assert total.rows[1][0] is None
    np.testing.assert_array_equal(total.dense(), one.dense() + other.dense())
    flipped = Block(((B, None), (None, A)))
    assert not isinstance(one + flipped, Block)
    np.testing.assert_array_equal((one + flipped).dense(), one.dense() + flipped.dense())


def test_multiples_of_the_identity_are_told_block_by_block():
    twice = 2.0 * kronecker(Identity(2), Identity(3))
    assert twice.multiple_of_identity(1e-9) == 2.0
    assert (twice + twice).multiple_of_identity(1e-9) == 4.0
    assert kronecker(Identity(2), np.diag([1.0, 1.0, 2.0])).multiple_of_identity(1e-9) is None
    assert Block(((twice, None), (None, twice))).multiple_of_identity(1e-9) == 2.0
    assert Block(((twice, None), (None, 2.0 * twice))).multiple_of_identity(1e-9) is None
    assert Block(((twice, twice), (None, twice))).multiple_of_identity(1e-9) is None


def test_blocks_without_an_operator_in_a_row_are_refused():
    with pytest.raises(SettingsError, match=r"a row or a column of blocks has no operator; write 0\.0 \* one"):
        Block(((A, None), (None, None)))


# ---- small matrices ------------------------------------------------------------------------------------


@quick
@given(n=st.integers(1, 6), rows=st.integers(1, 3), columns=st.integers(1, 3), seed=st.integers(0, 100))
def test_matrices_of_modes_are_blocks_of_diagonals(n, rows, columns, seed):
    rng = np.random.default_rng(seed)
    small = rng.normal(size=(n, rows, columns)) + 1j * rng.normal(size=(n, rows, columns))
    operator = ModeMatrices(small)
    matrix = np.block([[np.diag(small[:, i, j]) for j in range(columns)] for i in range(rows)])
    assert operator.shape == matrix.shape
    for right in (rng.normal(size=n * columns), rng.normal(size=(n * columns, 2))):
        np.testing.assert_allclose(operator @ right, matrix @ right, atol=1e-12)
    np.testing.assert_array_equal(operator.dense(), matrix)
    np.testing.assert_array_equal(operator.T.dense(), matrix.T)
