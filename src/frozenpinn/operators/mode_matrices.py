"""Small matrices, one for each mode, that couple several fields."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from frozenpinn.operators.protocol import Array, Operator


@dataclass(frozen=True, eq=False)
class ModeMatrices(Operator):
    """``matrices`` (n, k, l) act on l blocks of n coefficients, mode by mode.

    >>> turn = ModeMatrices(np.array([[[0.0, -1.0], [1.0, 0.0]]] * 2))
    >>> turn @ np.array([1.0, 2.0, 3.0, 4.0])
    array([-3., -4.,  1.,  2.])
    """

    matrices: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, rows, columns = self.matrices.shape
        return n * rows, n * columns

    @property
    def T(self) -> ModeMatrices:  # noqa: N802
        """The transposed map."""
        return ModeMatrices(np.ascontiguousarray(np.swapaxes(self.matrices, 1, 2)))

    def _apply(self, block: Array) -> Array:
        few = 16  # entries that are summed up one by one
        n, rows, columns = self.matrices.shape
        x = block.reshape(columns, n, *block.shape[1:])
        if block.ndim == 1 and rows * columns <= few:  # faster than einsum
            parts = [sum(self._columns_of[i][j] * x[j] for j in range(columns)) for i in range(rows)]
            return np.concatenate(parts)
        return np.einsum("nij,jn...->in...", self.matrices, x).reshape(rows * n, *block.shape[1:])

    @cached_property
    def _columns_of(self) -> list[list[Array]]:
        """The entries, each for all modes."""
        _, rows, columns = self.matrices.shape
        return [[np.ascontiguousarray(self.matrices[:, i, j]) for j in range(columns)] for i in range(rows)]
