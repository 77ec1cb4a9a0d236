"""Sums of products of vectors: what they are multiplied out, mapped and measured."""

import numpy as np
import pytest

from frozenpinn.operators import Identity, ProductSum, kronecker

SIZES = (3, 4, 2)


def sum_of(rank):
    rng = np.random.default_rng(rank)
    return ProductSum(tuple(rng.normal(size=(n, rank)) for n in SIZES))


@pytest.mark.parametrize("rank", [1, 3])
def test_multiplied_out(rank):
    products = sum_of(rank)
    np.testing.assert_allclose(products.full(), np.einsum("ik,jk,lk->ijl", *products.factors).ravel())


def test_of_two_axes():
    a, b = np.array([[1.0, 0.0], [2.0, 1.0]]), np.array([[3.0, 1.0], [4.0, 1.0]])
    np.testing.assert_array_equal(ProductSum((a, b)).full(), (a @ b.T).ravel())


def test_of_one_axis():
    np.testing.assert_array_equal(ProductSum((np.array([[1.0, 2.0], [3.0, 4.0]]),)).full(), [3.0, 7.0])
    np.testing.assert_array_equal(ProductSum.nothing((3,)).full(), np.zeros(3))


def test_mapped_axis_by_axis():
    products, rng = sum_of(3), np.random.default_rng(9)
    maps = [rng.normal(size=(5, 3)), Identity(4), rng.normal(size=(2, 2))]
    np.testing.assert_allclose(products.mapped(maps).full(), kronecker(*maps) @ products.full())


def test_inner_products_add_up_to_the_norm():
    products = sum_of(3)
    pairs = products.inner_products
    assert pairs.shape == (3, 3)
    assert pairs.sum() == pytest.approx(np.linalg.norm(products.full()) ** 2)


def test_nothing():
    nothing = ProductSum.nothing(SIZES)
    assert nothing.rank == 0
    np.testing.assert_array_equal(nothing.full(), np.zeros(24))
    np.testing.assert_array_equal(nothing.mapped([np.ones((2, n)) for n in SIZES]).full(), np.zeros(8))
