"""Operators as functions of vectors, made for many calls with small ones: what a call finds out is found out once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from frozenpinn.operators.kronecker import KroneckerSum
from frozenpinn.operators.protocol import Array, Operator
from frozenpinn.operators.tensor import axis_steps, by_steps


def mapping(operator: Operator) -> Callable[[Array], Array]:
    """Return x → operator·x for vectors of the right length.

    >>> from frozenpinn.operators import kronecker
    >>> mapping(kronecker(np.array([[0.0, 1.0], [1.0, 0.0]]), 2.0 * np.eye(2)))(np.arange(4.0))
    array([4., 6., 0., 2.])
    """
    if not isinstance(operator, KroneckerSum) or not operator.is_plain_product:
        return operator.__matmul__
    factors, scale, *_ = operator.products[0]
    if len(factors) == 2 and isinstance(factors[0], np.ndarray) and isinstance(factors[1], np.ndarray):
        return _of_two(factors[0] if scale == 1.0 else scale * factors[0], factors[1])
    steps, rows = axis_steps(factors), operator.shape[0]
    if not steps or scale != 1.0:
        return lambda x: scale * by_steps(steps, rows, x)
    return lambda x: by_steps(steps, rows, x)


def _of_two(first: Array, second: Array) -> Callable[[Array], Array]:
    """Return the map of a product of two matrices, the one that shrinks a tensor more before the other."""
    before, turned = (first.shape[1], second.shape[1]), np.ascontiguousarray(second.T)
    if len(first) * before[1] * (before[0] + len(second)) <= len(second) * before[0] * (before[1] + len(first)):
        return lambda x: ((first @ x.reshape(before)) @ turned).reshape(-1)
    return lambda x: (first @ (x.reshape(before) @ turned)).reshape(-1)
