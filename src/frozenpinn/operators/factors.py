"""Ways to solve (shift·I − A) x = b: by a triangular decomposition, by the spectrum, by iteration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
from scipy.sparse.linalg import LinearOperator, gmres

from frozenpinn.errors import ConvergenceError, SettingsError
from frozenpinn.operators.protocol import Array, Factor, Operator, Scalar, Spectrum


def singular(shift: Scalar) -> SettingsError:
    """Return the error for a shift that is an eigenvalue."""
    return SettingsError(f"{shift:g}·I − A is singular: {shift:g} is an eigenvalue of the operator; use another shift.")


@dataclass(frozen=True, eq=False)
class TriangularFactor:
    """Gaussian elimination of a dense matrix."""

    lu: Array
    pivots: Array

    @classmethod
    def of(cls, matrix: Array, shift: Scalar) -> TriangularFactor:
        """Factorise shift·I − matrix."""
        if matrix.shape[0] != matrix.shape[1]:
            raise SettingsError(f"an operator of shape {matrix.shape} can't be factorised; it must be square.")
        shifted = shift * np.eye(len(matrix)) - matrix
        (getrf,) = sla.get_lapack_funcs(("getrf",), (shifted,))
        lu, pivots, info = getrf(shifted, overwrite_a=True)
        if info > 0:
            raise singular(shift)
        return cls(lu, pivots)

    def solve(self, block: Array) -> Array:
        """Return (shift·I − A)⁻¹ block."""
        return sla.lu_solve((self.lu, self.pivots), block, check_finite=False)


@dataclass(frozen=True, eq=False)
class SpectralFactor:
    """Division by shift − λ in modal coordinates; ``real`` says that real blocks have real solutions."""

    spectrum: Spectrum
    shift: Scalar
    real: bool = False

    def __post_init__(self) -> None:
        if np.any(self.spectrum.eigenvalues == self.shift):
            raise singular(self.shift)

    def solve(self, block: Array) -> Array:
        """Return (shift·I − A)⁻¹ block."""
        out = self.spectrum.apply(1.0 / (self.shift - self.spectrum.eigenvalues), block)
        return out.real if self.real and np.isrealobj(block) else out


@dataclass(frozen=True, eq=False)
class IterativeFactor:
    """GMRES, column by column.

    Attributes
    ----------
    operator, shift
        What is to be solved.
    preconditioner
        An approximate solution of the same system, such as the factor of a simpler operator; None takes none.
    rtol
        Size of the residual, relative to the right-hand side.
    restart, cycles
        GMRES starts again after ``restart`` iterations, and gives up after so many ``cycles``.
    """

    operator: Operator
    shift: Scalar = 0.0
    preconditioner: Factor | None = None
    rtol: float = 1e-10
    restart: int = 50
    cycles: int = 20

    def solve(self, block: Array) -> Array:
        """Return (shift·I − A)⁻¹ block, or raise a :class:`ConvergenceError`."""
        if block.ndim == 2:
            return np.stack([self.solve(column) for column in block.T], axis=1)
        plain = as_linear_operator(self.operator)
        kind = np.result_type(plain.dtype, type(self.shift))
        shifted = LinearOperator(plain.shape, lambda x: self.shift * x - self.operator @ x, dtype=kind)
        inner = self.preconditioner
        guess = None if inner is None else LinearOperator(plain.shape, inner.solve, dtype=kind)
        limits = {"rtol": self.rtol, "restart": self.restart, "maxiter": self.cycles}
        x, info = gmres(shifted, block, M=guess, **limits)
        if info:
            left = np.linalg.norm(block - shifted.matvec(x)) / np.linalg.norm(block)
            raise ConvergenceError(
                f"GMRES did not solve ({self.shift:g}·I − A) x = b with {len(block)} unknowns: after at most "
                f"{self.cycles} × {self.restart} iterations the residual is {left:.1e} of b, not {self.rtol:g}. Give a "
                "preconditioner: a similar operator that can be factorised."
            )
        return x


class _View(LinearOperator):  # type: ignore[misc]
    """An operator with the methods that SciPy asks for."""

    def __init__(self, operator: Operator) -> None:
        super().__init__((operator @ np.zeros(operator.shape[1])).dtype, operator.shape)
        self.operator = operator

    def _matvec(self, x: Array) -> Array:
        return self.operator @ x

    def _rmatvec(self, x: Array) -> Array:
        return (self.operator.T @ x.conj()).conj()

    _matmat, _rmatmat = _matvec, _rmatvec


def as_linear_operator(operator: Operator) -> LinearOperator:
    """Return an operator in the form that ``scipy.sparse.linalg`` takes, for gmres, eigs, expm_multiply and others."""
    return _View(operator)
