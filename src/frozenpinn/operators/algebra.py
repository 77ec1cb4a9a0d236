"""Sums and compositions of operators of any kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from frozenpinn.errors import SettingsError
from frozenpinn.operators.protocol import Array, Operator, Scalar, Tags


@dataclass(frozen=True, eq=False)
class Sum(Operator):
    """Σ scales[k] · operators[k]."""

    operators: tuple[Operator, ...]
    scales: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        shapes = [o.shape for o in self.operators]
        if len(set(shapes)) > 1:
            raise SettingsError(f"operators of different shapes {shapes} can't be added.")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.operators[0].shape

    @property
    def tags(self) -> Tags:
        """What all terms have in common."""
        return reduce(frozenset.__and__, (o.tags for o in self.operators)) if np.isrealobj(self.scales) else frozenset()

    @property
    def T(self) -> Sum:  # noqa: N802
        """The transposed map."""
        return Sum(tuple(o.T for o in self.operators), self.scales)

    def _apply(self, block: Array) -> Array:
        first, *rest = (s * (o @ block) for o, s in zip(self.operators, self.scales, strict=True))
        return sum(rest, first)

    def _entries(self, limit: int) -> Array:
        first, *rest = (s * o.dense(limit) for o, s in zip(self.operators, self.scales, strict=True))
        return sum(rest, first)


@dataclass(frozen=True, eq=False)
class Composition(Operator):
    """``outer`` after ``inner``."""

    outer: Operator
    inner: Operator

    def __post_init__(self) -> None:
        if self.outer.shape[1] != self.inner.shape[0]:
            raise SettingsError(f"operators of shapes {self.outer.shape} and {self.inner.shape} can't be composed.")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.outer.shape[0], self.inner.shape[1]

    @property
    def T(self) -> Composition:  # noqa: N802
        """The transposed map."""
        return Composition(self.inner.T, self.outer.T)

    def _apply(self, block: Array) -> Array:
        return self.outer @ (self.inner @ block)

    def _entries(self, limit: int) -> Array:
        rows, columns = self.inner.shape
        if rows * columns <= limit:
            return self.outer @ self.inner.dense(limit)
        step = max(1, limit // rows)  # what lies between may be larger than the product: some columns at a time
        parts = (slice(start, min(start + step, columns)) for start in range(0, columns, step))
        return np.concatenate([self.outer @ self.inner._columns(part) for part in parts], axis=1)
