"""Operators with few entries in each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from frozenpinn.operators.dense import Stored
from frozenpinn.operators.factors import singular
from frozenpinn.operators.protocol import Array, Scalar


@dataclass(frozen=True, eq=False)
class Sparse(Stored):
    """A sparse matrix in compressed rows; any format of SciPy is taken."""

    matrix: sparse.csr_array

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", sparse.csr_array(self.matrix))

    def _entries(self, limit: int) -> Array:
        return self.matrix.toarray()

    def factorise(self, shift: Scalar = 0.0) -> SparseFactor:
        """Factorise by SuperLU."""
        return SparseFactor(sparse.csc_array(shift * sparse.eye_array(self.shape[0]) - self.matrix), shift)


@dataclass(frozen=True, eq=False)
class SparseFactor:
    """SuperLU of shift·I − A; computed again when it is read from a pickle."""

    matrix: sparse.csc_array
    shift: Scalar

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "_lu", splu(self.matrix))
        except RuntimeError:
            raise singular(self.shift) from None

    def __reduce__(self) -> tuple[type[SparseFactor], tuple[sparse.csc_array, Scalar]]:
        return SparseFactor, (self.matrix, self.shift)

    def solve(self, block: Array) -> Array:
        """Return (shift·I − A)⁻¹ block."""
        lu: SuperLU = self._lu  # type: ignore[attr-defined]
        if np.iscomplexobj(block) and not np.iscomplexobj(self.matrix.data):
            return lu.solve(block.real) + 1j * lu.solve(block.imag)
        return lu.solve(block)
