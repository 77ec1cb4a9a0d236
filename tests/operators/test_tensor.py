"""Tensors: sums of products of vectors, tails along axes, and identities among matrices."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frozenpinn.operators import Identity, tensor

quick = settings(max_examples=40)


def outer(vectors):
    return reduce(np.multiply.outer, vectors)


@quick
@given(
    sizes=st.lists(st.integers(2, 7), min_size=2, max_size=3),
    rank=st.integers(1, 3),
    size=st.floats(1e-8, 1e8),
    seed=st.integers(0, 1000),
)
def test_sums_of_products_are_found_again(sizes, rank, size, seed):
    rng = np.random.default_rng(seed)
    values = size * sum(outer([rng.normal(size=n) for n in sizes]) for _ in range(rank))
    found = tensor.separated(values, rank**2)  # of three axes, each product of the first may take as many again
    assert found is not None
    assert all(len(product) == len(sizes) for product in found)
    np.testing.assert_allclose(sum(map(outer, found)), values, rtol=0, atol=1e-12 * np.abs(values).max())


def test_one_product_stays_one_in_three_dimensions():
    vectors = [np.linspace(1.0, 2.0, n) for n in (3, 4, 5)]
    found = tensor.separated(outer(vectors), 1)
    assert found is not None
    assert len(found) == 1
    np.testing.assert_allclose(outer(found[0]), outer(vectors), rtol=1e-14)


def test_what_takes_more_products_is_refused():
    x, y = np.linspace(0, 1, 9), np.linspace(0, 2, 8)
    sum_of_two = np.add.outer(x, y**2)
    assert tensor.separated(sum_of_two, 1) is None
    assert len(tensor.separated(sum_of_two, 2)) == 2
    assert tensor.separated(np.exp(np.multiply.outer(x, y)), 4) is None
    assert (
        tensor.separated(outer([x, y, x]) + np.exp(outer([x, y, y[:3]]))[:, :, [0, 1, 2, 0, 1, 2, 0, 1, 2]], 2) is None
    )


def test_nothing_is_a_sum_of_no_products():
    assert tensor.separated(np.zeros((3, 4)), 2) == []


def test_tails_are_the_last_tenth_of_each_axis_and_two_entries_at_least():
    block = np.zeros((30, 12))
    block[27, 0], block[26, 1], block[0, 10], block[0, 9] = 3.0, 100.0, 4.0, 100.0
    assert tensor.tails(block) == (3.0, 4.0)
    assert tensor.tails(np.ones((1, 1))) == (1.0, 1.0)


@pytest.mark.parametrize(("gap", "same"), [(0.0, True), (5e-14, True), (1e-9, False)])
def test_matrices_that_are_the_identity_up_to_round_off_become_it(gap, same):
    for place in ((1, 1), (0, 2)):
        matrix = np.eye(3)
        matrix[place] += gap
        found = tensor.simplified(matrix)
        assert isinstance(found, Identity) is same
        assert same or found is matrix
