"""Operators on top of each other: several maps of the same coefficients, evaluated together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from frozenpinn.operators import tensor
from frozenpinn.operators.block import Block
from frozenpinn.operators.dense import Dense
from frozenpinn.operators.kronecker import KroneckerSum
from frozenpinn.operators.protocol import Array, Operator
from frozenpinn.operators.tensor import AxisFactor, Product


def stack(operators: Sequence[Operator]) -> Operator:
    """Return [A; B; …]: one matrix if all are dense, so that a product with it is one call; else blocks.

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
    products = [p for o in operators if isinstance(o, KroneckerSum) and (p := _single(o)) is not None]
    if len(products) == len(operators):
        return KroneckerStack(tuple((operator,) for operator in operators), tuple(_shared(products)))
    return Block(tuple((operator,) for operator in operators))


def _shared(products: Sequence[Product]) -> list[Product]:
    """Return the same products with one object for equal factors of an axis."""
    known: list[list[AxisFactor]] = [[] for _ in products[0].factors]

    def same(axis: int, factor: AxisFactor) -> AxisFactor:
        for other in known[axis]:
            if isinstance(other, np.ndarray) and isinstance(factor, np.ndarray):
                if np.array_equal(other, factor):
                    return other
            elif type(other) is type(factor):  # identities of one size
                return other
        known[axis].append(factor)
        return factor

    return [p._replace(factors=tuple(same(axis, f) for axis, f in enumerate(p.factors))) for p in products]


def _single(operator: KroneckerSum) -> Product | None:
    """Return the only product of an operator on whole tensors."""
    plain = len(operator.products) == 1 and operator.rows is None and operator.columns is None
    return operator.products[0] if plain and not operator.products[0].is_weighted else None


@dataclass(frozen=True, eq=False)
class KroneckerStack(Block):
    """Kronecker products of the same tensor; what leading axes have in common is computed once."""

    products: tuple[Product, ...] = ()

    def _apply(self, block: Array) -> Array:
        known: dict[tuple[int, ...], Array] = {}
        parts = []
        for product in self.products:
            x, key = block, tuple[int, ...]()
            for axis, factor in enumerate(product.factors):
                key = (*key, id(factor))
                if key not in known:
                    sizes = [f.shape[0] for f in product.factors[:axis]] + [f.shape[1] for f in product.factors[axis:]]
                    known[key] = tensor.along_axis(factor, axis, x, sizes)
                x = known[key]
            parts.append(x if product.scale == 1.0 else product.scale * x)
        return np.concatenate(parts)
