"""Functions on boxes as features, alone and beside others."""

import numpy as np
import pytest

from frozenpinn.basis.boxed import Axis, BoxFunctions
from frozenpinn.basis.corners import Corner, Power, SingularFunctions
from frozenpinn.basis.layers import LayerFunctions
from frozenpinn.basis.special import JoinedFunctions, joined

X = np.random.default_rng(0).uniform(0, 1, (40, 2))


@pytest.fixture
def product():
    """sin(2x)·cos(3y) and twice that plus sin(2x)."""
    x = Axis(np.array([2.0]), np.array([0.0]), np.array([0.0]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    y = Axis(np.array([3.0]), np.array([0.5]), np.array([1.5 + np.pi / 2]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    return BoxFunctions.of([x, y], [np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[2.0, 1.0], [0.0, 0.0]])])


@pytest.mark.parametrize(
    ("alpha", "laps", "wanted"),
    [
        ((0, 0), 0, lambda x, y: np.sin(2 * x) * np.cos(3 * y)),
        ((1, 1), 0, lambda x, y: -6 * np.cos(2 * x) * np.sin(3 * y)),
        ((0, 0), 1, lambda x, y: -13 * np.sin(2 * x) * np.cos(3 * y)),
    ],
)
def test_derivatives(product, alpha, laps, wanted):
    values = product(X, alpha, laps)
    assert np.allclose(values[:, 0], wanted(*X.T), atol=1e-13)
    rest = {(0, 0, 0): np.sin(2 * X[:, 0]), (0, 0, 1): -4 * np.sin(2 * X[:, 0])}.get((*alpha, laps), 0.0)
    assert np.allclose(values[:, 1], 2 * wanted(*X.T) + rest, atol=1e-13)


def test_a_table_makes_the_same_functions(product):
    again = BoxFunctions(product.table)
    assert len(again) == 2
    assert np.array_equal(again(X, (2, 1)), product(X, (2, 1)))


def test_kinds_side_by_side(product):
    layer = LayerFunctions(np.array([[1.0, 0.0, 5.0, 0.0, 0.0, 1.0, 0.0]]))
    corner = SingularFunctions.at(Corner(2.0, 2.0, 0.0, np.pi), [Power(0.5, 0.0)])
    every = joined([product, None, layer, corner, layer])
    assert isinstance(every, JoinedFunctions)
    assert [part.kind for part in every.parts] == [corner.kind, layer.kind, product.kind]
    assert every(X, (0, 1)).shape == (40, len(every)) == (40, 5)
    assert np.array_equal(every(X, (0, 1))[:, 3:], product(X, (0, 1)))
    assert joined([None]) is None
    assert isinstance(joined([layer]), LayerFunctions)
