"""Operators on top of each other: several maps of the same coefficients, evaluated together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frozenpinn.operators.block import Block
from frozenpinn.operators.dense import Dense
from frozenpinn.operators.protocol import Operator


def stack(operators: Sequence[Operator]) -> Operator:
    """Return [A; B; …]: one matrix if all are dense, so that a product with it is one call; else a block operator.

    >>> stack([Dense(np.eye(2)), Dense(np.ones((1, 2)))]).dense()
    array([[1., 0.],
           [0., 1.],
           [1., 1.]])
    """
    if len(operators) == 1:
        return operators[0]
    matrices = [operator.matrix for operator in operators if isinstance(operator, Dense)]
    if len(matrices) == len(operators):
        return Dense(np.concatenate(matrices))
    return Block(tuple((operator,) for operator in operators))
