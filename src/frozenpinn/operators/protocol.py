"""What every linear map can do: be applied, transposed, factorised, diagonalised, and written out if it is small."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, overload

import numpy as np

from frozenpinn.errors import SettingsError

Array = np.ndarray
Scalar: TypeAlias = float | complex

DENSE_LIMIT = 25_000_000  #: entries up to which ``dense()`` writes a matrix out: 5000 × 5000, 200 MB in float64


class Tag(Enum):
    """Structure of an operator, claimed where it holds by construction; the symmetries are those of real ones."""

    SYMMETRIC = auto()  #: Aᵀ = A
    SKEW = auto()  #: Aᵀ = −A
    DIAGONAL = auto()  #: only the diagonal differs from zero
    SPLIT = auto()  #: the sum of a symmetric and a skew part, each of which is kept exactly


Tags: TypeAlias = frozenset[Tag]


class Factor(Protocol):
    """(shift·I − A)⁻¹, prepared once and used for many right-hand sides."""

    def solve(self, block: Array) -> Array:
        """Return (shift·I − A)⁻¹ applied to a vector (n,) or to the columns of a block (n, m)."""


class Operator(ABC):
    """A linear map from vectors of length ``shape[1]`` to vectors of length ``shape[0]``.

    A new kind inherits from this class and adds ``shape``, ``T`` (transposed, not conjugated) and ``_apply``.
    """

    if TYPE_CHECKING:  # properties, or fields of a dataclass

        @property
        def shape(self) -> tuple[int, int]: ...  # noqa: D102

        @property
        def T(self) -> Operator: ...  # noqa: D102, N802

    @property
    def tags(self) -> Tags:
        """What is known of its structure."""
        return frozenset()

    @abstractmethod
    def _apply(self, block: Array) -> Array:
        """Return the product with a vector or block of the right length, as a new array."""

    def _entries(self, limit: int) -> Array:
        """Return the matrix; parts of it obey the limit too."""
        return self._columns(slice(0, self.shape[1]))

    def _columns(self, part: slice) -> Array:
        """Return some columns of the matrix, given by start and stop."""
        return self._apply(np.eye(self.shape[1], part.stop - part.start, -part.start))

    @overload
    def __matmul__(self, other: Array) -> Array: ...
    @overload
    def __matmul__(self, other: Operator) -> Operator: ...
    def __matmul__(self, other: Any) -> Any:
        """Apply to a vector (n,) or a block (n, m), or compose with another operator."""
        if not isinstance(other, np.ndarray):
            from frozenpinn.operators.algebra import Composition

            return Composition(self, other)
        if other.shape[0] != self.shape[1]:
            raise SettingsError(f"an operator of shape {self.shape} can't be applied to an array of {other.shape}.")
        return self._apply(other)

    def __add__(self, other: Operator) -> Operator:
        from frozenpinn.operators.algebra import Sum

        return Sum((self, other), (1.0, 1.0))

    def __rmul__(self, scale: Scalar) -> Operator:
        from frozenpinn.operators.algebra import Sum

        return Sum((self,), (scale,))

    def factorise(self, shift: Scalar = 0.0) -> Factor:
        """Prepare the solution of (shift·I − A) x = b: by the dense matrix if it is small enough, else by GMRES."""
        from frozenpinn.operators.factors import IterativeFactor, TriangularFactor

        if self.shape[0] * self.shape[1] > DENSE_LIMIT:
            return IterativeFactor(self, shift)
        return TriangularFactor.of(self.dense(), shift)

    def spectrum(self, rate: float | None = None) -> Spectrum | None:
        """Return eigenvalues and eigenvectors; None if this kind has no direct way to them.

        With a ``rate``, what eigenvalues must reach to matter, small ones of symmetric operators are more accurate:
        see :func:`~frozenpinn.operators.eigen.symmetric_modes`.
        """
        return None

    @property
    def axis_factors(self) -> tuple[Any, ...] | None:
        """The factors of a product over axes with nothing left out or weighted; None of other kinds."""
        return None

    @property
    def axis_products(self) -> tuple[Any, ...]:
        """The products over axes that it is the sum of, as far as they act on whole tensors."""
        return ()

    def multiple_of_identity(self, tolerance: float) -> float | None:
        """Return δ if the operator is δ·I up to this fraction of it, else None; None also if that is not known."""
        return None

    def dense(self, limit: int = DENSE_LIMIT) -> Array:
        """Return the matrix, or refuse if it has more than ``limit`` entries."""
        rows, columns = self.shape
        if rows * columns > limit:
            raise SettingsError(
                f"a dense {rows} × {columns} matrix has {rows * columns:,} entries, more than the limit of {limit:,}; "
                f"apply the operator with @, or write dense(limit={rows * columns}) if memory suffices."
            )
        return self._entries(limit)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A = vectors · diag(eigenvalues) · left.

    ``vectors`` maps modal coordinates to states (right eigenvectors), ``left`` states to modal coordinates;
    ``condition`` is the condition number of the eigenvectors, 1 if they are orthonormal.
    """

    eigenvalues: Array
    vectors: Operator
    left: Operator
    condition: float

    def apply(self, values: Array, block: Array) -> Array:
        """Return f(A)·block, given the values of f at the eigenvalues."""
        return self.vectors @ scale_rows(values, self.left @ block)


def scale_rows(weights: Array, block: Array) -> Array:
    """Multiply the rows of a vector or of a block by weights."""
    return weights * block if block.ndim == 1 else weights[:, None] * block
