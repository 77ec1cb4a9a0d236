"""Tensors that are short sums of products of vectors, one for each axis: mapped by their factors, not as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from frozenpinn.operators.protocol import Array
from frozenpinn.operators.tensor import AxisFactor


@dataclass(frozen=True, eq=False)
class ProductSum:
    """Σₖ ⊗ₐ factorsₐ[:, k].

    Examples
    --------
    >>> ProductSum((np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]))).full()
    array([3., 4., 6., 8.])
    """

    factors: tuple[Array, ...]

    @classmethod
    def nothing(cls, sizes: Sequence[int]) -> ProductSum:
        """Return zero."""
        return cls(tuple(np.zeros((n, 0)) for n in sizes))

    @property
    def rank(self) -> int:
        """How many products there are."""
        return int(self.factors[0].shape[1])

    def full(self) -> Array:
        """Multiply out, the last axis varying fastest."""
        if len(self.factors) == 1:
            return np.asarray(self.factors[0].sum(axis=1))
        rest = self.factors[-1]
        for part in self.factors[-2:0:-1]:
            rest = (part[:, None] * rest).reshape(len(part) * len(rest), -1)
        return np.asarray(self.factors[0] @ rest.T).reshape(-1)

    def mapped(self, maps: Sequence[AxisFactor]) -> ProductSum:
        """Apply a matrix to each axis."""
        return ProductSum(tuple(np.asarray(m @ f) for m, f in zip(maps, self.factors, strict=True)))

    @property
    def norm(self) -> float:
        """The Euclidean norm; of products that cancel each other, to half of the digits."""
        return sqrt(max(0.0, float(self.inner_products.sum())))

    @cached_property
    def inner_products(self) -> Array:
        """The inner products of all pairs of products, shape (rank, rank): their sum is the norm squared."""
        first, *others = self.factors
        found = first.T @ first
        for other in others:
            found *= other.T @ other
        return found
