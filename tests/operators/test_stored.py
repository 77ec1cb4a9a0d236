"""Operators as arrays and back: every kind that a trajectory may hold."""

import numpy as np
import pytest

from frozenpinn.errors import FrozenPinnError
from frozenpinn.operators import (
    Block,
    Dense,
    Diagonal,
    Identity,
    ModeMatrices,
    kronecker,
    operator_arrays,
    operator_from_arrays,
)

RNG = np.random.default_rng(0)
PLANE = kronecker(RNG.normal(size=(2, 2)), RNG.normal(size=(3, 3)) + 1j)
SOLID = kronecker(RNG.normal(size=(2, 2)), Identity(2), RNG.normal(size=(3, 3)))
PAIR = Block(((PLANE, None), (None, PLANE)))
KINDS = {
    "dense": Dense(RNG.normal(size=(3, 3))),
    "complex": Dense(RNG.normal(size=(3, 3)) * 1j),
    "two axes": PLANE,
    "three axes, one at rest": SOLID,
    "two fields": PAIR,
    "twelve fields": Block(tuple(tuple(PLANE if i == j else None for j in range(12)) for i in range(12))),
    "coupled fields": PAIR @ ModeMatrices(RNG.normal(size=(6, 2, 2)) + 1j),
}


@pytest.mark.parametrize("kind", KINDS)
def test_operators_come_back_from_their_arrays(kind):
    operator = KINDS[kind]
    arrays = operator_arrays(operator, "vectors")
    assert all(isinstance(a, np.ndarray) and a.dtype != object for a in arrays.values())
    others = {"vectors2": np.ones((1, 1)), "starts": np.zeros(3)}
    back = operator_from_arrays({**others, **arrays}, "vectors")
    np.testing.assert_array_equal(back.dense(), operator.dense())
    vector = RNG.normal(size=operator.shape[1])
    np.testing.assert_allclose(back @ vector, operator @ vector, rtol=1e-13)


@pytest.mark.parametrize(
    ("operator", "name"),
    [
        (Diagonal(np.ones(2)), "Diagonal"),
        (PLANE + PLANE, "KroneckerSum"),
        (Dense(np.eye(2)) @ Diagonal(np.ones(2)), "Composition"),
        (Block(((PLANE, PLANE), (None, PLANE))), "Block"),
    ],
)
def test_other_kinds_are_refused(operator, name):
    with pytest.raises(FrozenPinnError, match=f"an operator of class {name} can't be stored"):
        operator_arrays(operator, "vectors")
