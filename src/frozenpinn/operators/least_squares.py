"""Least squares with many right-hand sides: Householder reflectors of a tall matrix, kept and used again.

Rows of frozen features are redundant, and their matrix is singular to round-off. A ridge of the size of round-off picks
a small solution among all that fit. The triangular factor alone would lose two to four digits of it: reflectors do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla

from frozenpinn.errors import SettingsError

Array = np.ndarray
RIDGE = 1e-14  #: relative to the largest column, per square root of the number of columns
_WORK = 65  # the largest block of LAPACK's dormqr, and one more
_PANEL = 320  # columns that are factorised in one call, as no limit of time can break one off, …
_WHOLE = 1500  # … of matrices with more columns than this


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """min |A c − b|² + (ridge)² |c|² for any number of right-hand sides b.

    Attributes
    ----------
    reflectors, scales
        As LAPACK's dgeqrf leaves them; the triangular factor stands above the diagonal.
    rows
        Number of rows of A, without those of the ridge.

    Examples
    --------
    >>> fit = LeastSquares.of(np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]))
    >>> fit.solve(np.array([3.0, 4.0, 5.0])).round(12)
    array([3., 2.])
    """

    reflectors: Array
    scales: Array
    rows: int

    @classmethod
    def of(cls, matrix: Array, ridge: float = RIDGE) -> LeastSquares:
        """Factorise a matrix, with ridge rows below it."""
        rows, columns = matrix.shape
        squares = np.einsum("ij,ij->j", matrix, matrix)
        if not np.all(np.isfinite(squares)):
            raise SettingsError("the rows of a least-squares problem are not finite.")
        largest = float(np.sqrt(np.max(squares, initial=0.0)))
        stacked = np.zeros((rows + columns, columns), order="F")
        stacked[:rows] = matrix
        np.fill_diagonal(stacked[rows:], ridge * np.sqrt(columns) * (largest or 1.0))
        return cls(*_factorised(stacked), rows)

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return int(self.reflectors.shape[1])

    @property
    def triangle(self) -> Array:
        """The triangular factor R, in the upper triangle; what stands below the diagonal is not part of it."""
        return self.reflectors[: self.size]

    def solve(self, right_side: Array) -> Array:
        """Return the coefficients for one right-hand side (m,) or several (m, k)."""
        block = np.atleast_2d(right_side.T).T
        padded = np.zeros((len(self.reflectors), block.shape[1]), order="F")
        padded[: self.rows] = block
        rotated = _rotated(self.reflectors, self.scales, padded)
        found = sla.solve_triangular(self.triangle, rotated[: self.size], check_finite=False)
        return np.asarray(found[:, 0] if right_side.ndim == 1 else found)


def _factorised(matrix: Array) -> tuple[Array, Array]:
    """Return reflectors and triangular factor of a matrix in the order of Fortran, which is overwritten, and scales."""
    columns = matrix.shape[1]
    if columns <= _WHOLE:
        return _reflected(matrix)
    scales = np.zeros(columns)
    for first in range(0, columns, _PANEL):
        last = min(first + _PANEL, columns)
        panel, own = _reflected(np.array(matrix[first:, first:last], order="F"))
        matrix[first:, first:last], scales[first:last] = panel, own
        for start in range(last, columns, _WHOLE):
            rest = np.asfortranarray(matrix[first:, start : start + _WHOLE])
            matrix[first:, start : start + _WHOLE] = _rotated(panel, own, rest)
    return matrix, scales


def _reflected(matrix: Array) -> tuple[Array, Array]:
    """Return what dgeqrf makes of a matrix in the order of Fortran, which is overwritten."""
    reflectors, scales, _, info = sla.lapack.dgeqrf(matrix, lwork=_WORK * matrix.shape[1], overwrite_a=True)
    assert info == 0
    return np.asarray(reflectors), np.asarray(scales)


def _rotated(reflectors: Array, scales: Array, block: Array) -> Array:
    """Return Qᵀ times a block, which is overwritten."""
    work = _WORK * max(block.shape)
    rotated, _, info = sla.lapack.dormqr("L", "T", reflectors, scales, block, work, overwrite_c=True)
    assert info == 0
    return np.asarray(rotated)
