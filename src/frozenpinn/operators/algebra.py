"""Sums and compositions of operators of any kind, and operators made of blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

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

    @property
    def axis_products(self) -> tuple[Any, ...]:
        """Those of all terms."""
        return tuple(p for o in self.operators for p in o.axis_products)

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


@dataclass(frozen=True, eq=False)
class Block(Operator):
    """Rows of operators; None stands for zero. Every row and every column needs an operator, which gives its size.

    The first-order form of c'' = K c + D c':

    >>> from frozenpinn.operators import Dense, Identity
    >>> K, D = Dense(np.array([[-4.0]])), Dense(np.array([[-1.0]]))
    >>> Block(((None, Identity(1)), (K, D))).dense()
    array([[ 0.,  1.],
           [-4., -1.]])
    """

    rows: tuple[tuple[Operator | None, ...], ...]

    def __post_init__(self) -> None:
        heights, widths = self._sizes
        for row, height in zip(self.rows, heights, strict=True):
            for operator, width in zip(row, widths, strict=True):
                if operator and operator.shape != (height, width):
                    raise SettingsError(f"a block has shape {operator.shape}; its row and column need {height, width}.")

    @cached_property
    def _sizes(self) -> tuple[list[int], list[int]]:
        """Heights of the rows and widths of the columns."""
        known = [[o.shape[0] for o in row if o] for row in self.rows]
        across = [[o.shape[1] for o in column if o] for column in zip(*self.rows, strict=True)]
        if not all(known) or not all(across):
            raise SettingsError(
                "a row or a column of blocks has no operator; write 0.0 * one of the right shape there."
            )
        return [k[0] for k in known], [k[0] for k in across]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        heights, widths = self._sizes
        return sum(heights), sum(widths)

    @property
    def T(self) -> Block:  # noqa: N802
        """The transposed map."""
        return Block(tuple(tuple(o and o.T for o in column) for column in zip(*self.rows, strict=True)))

    def _apply(self, block: Array) -> Array:
        parts = np.split(block, np.cumsum(self._sizes[1])[:-1])
        rows = ([o @ part for o, part in zip(row, parts, strict=True) if o] for row in self.rows)
        return np.concatenate([sum(rest, first) for first, *rest in rows])

    def __add__(self, other: Operator) -> Operator:
        if not isinstance(other, Block) or other._sizes != self._sizes:
            return super().__add__(other)
        pairs = (zip(a, b, strict=True) for a, b in zip(self.rows, other.rows, strict=True))
        return Block(tuple(tuple(p + q if p and q else p or q for p, q in row) for row in pairs))

    def multiple_of_identity(self, tolerance: float) -> float | None:
        """Return δ if all blocks on the diagonal are δ·I and there are no others."""
        cells = [(i, j, o) for i, row in enumerate(self.rows) for j, o in enumerate(row) if o]
        if any(i != j for i, j, _ in cells):
            return None
        found = {o.multiple_of_identity(tolerance) for _, _, o in cells}
        return found.pop() if len(found) == 1 else None

    def _entries(self, limit: int) -> Array:
        heights, widths = self._sizes
        rows = zip(self.rows, heights, strict=True)
        return np.block(
            [[o.dense(limit) if o else np.zeros((h, w)) for o, w in zip(row, widths, strict=True)] for row, h in rows]
        )


def diagonal_blocks(operator: Operator) -> list[Operator] | None:
    """Return the blocks of a block-diagonal operator, one block for any other kind; None if there are further ones."""
    if not isinstance(operator, Block):
        return None if isinstance(operator, Composition) else [operator]
    cells = [(i, j, o) for i, row in enumerate(operator.rows) for j, o in enumerate(row) if o]
    return [o for _, _, o in cells] if all(i == j for i, j, _ in cells) else None
