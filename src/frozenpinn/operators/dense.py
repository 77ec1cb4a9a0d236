"""Operators that hold their matrix or its diagonal: dense and diagonal ones, and what they share with sparse ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from frozenpinn.operators.eigen import eigensystem
from frozenpinn.operators.factors import SpectralFactor
from frozenpinn.operators.protocol import DENSE_LIMIT, Array, Operator, Scalar, Spectrum, Tag, Tags, scale_rows


@dataclass(frozen=True, eq=False)
class Stored(Operator):
    """A matrix; sums, multiples and products of two of a kind are multiplied out at once."""

    matrix: Any
    tags: Tags = frozenset()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.matrix.shape

    @property
    def T(self) -> Operator:  # noqa: N802
        """The transposed matrix."""
        return type(self)(self.matrix.T, self.tags)

    def _apply(self, block: Array) -> Array:
        return self.matrix @ block

    def __matmul__(self, other: Any) -> Any:
        """Apply to a vector or a block, or compose with another operator."""
        if isinstance(other, np.ndarray):
            return self.matrix @ other
        if isinstance(other, type(self)):
            return type(self)(self.matrix @ other.matrix)
        return super().__matmul__(other)

    def __add__(self, other: Operator) -> Operator:
        if isinstance(other, type(self)):
            return type(self)(self.matrix + other.matrix, self.tags & other.tags)
        return super().__add__(other)

    def __rmul__(self, scale: Scalar) -> Operator:
        return type(self)(scale * self.matrix, self.tags if np.isrealobj(scale) else frozenset())


@dataclass(frozen=True, eq=False)
class Dense(Stored):
    """A dense matrix, with the structure that it is known to have.

    >>> from frozenpinn.operators import Tag
    >>> A = Dense(np.array([[2.0, 1.0], [1.0, 2.0]]), frozenset({Tag.SYMMETRIC}))
    >>> A.spectrum().eigenvalues
    array([1., 3.])
    >>> A.factorise(4.0).solve(np.array([1.0, 1.0]))
    array([1., 1.])
    """

    matrix: Array

    def dense(self, limit: int = DENSE_LIMIT) -> Array:
        """Return the matrix, which is there already, however large."""
        return self.matrix

    def multiple_of_identity(self, tolerance: float) -> float | None:
        """Return δ if the matrix is δ·I."""
        delta = float(np.median(np.diag(self.matrix)))
        gap = np.max(np.abs(self.matrix - delta * np.eye(len(self.matrix))))
        return delta if gap <= tolerance * abs(delta) else None

    def spectrum(self, rate: float | None = None) -> Spectrum | None:
        """Return eigenvalues and eigenvectors by LAPACK; None if there are too few eigenvectors."""
        found = eigensystem(self.matrix, self.tags, rate)
        if found is None:
            return None
        return Spectrum(found.eigenvalues, Dense(found.vectors), Dense(found.left), found.condition)


@dataclass(frozen=True, eq=False)
class Diagonal(Operator):
    """Multiplication by given values, row by row."""

    values: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.values), len(self.values)

    @property
    def tags(self) -> Tags:
        """Diagonal, and symmetric if it is real."""
        return frozenset({Tag.DIAGONAL, Tag.SYMMETRIC} if np.isrealobj(self.values) else {Tag.DIAGONAL})

    @property
    def T(self) -> Self:  # noqa: N802
        """Itself."""
        return self

    def _apply(self, block: Array) -> Array:
        return scale_rows(self.values, block)

    def _entries(self, limit: int) -> Array:
        return np.diag(self.values)

    def factorise(self, shift: Scalar = 0.0) -> SpectralFactor:
        """Divide by shift − values."""
        return SpectralFactor(self.spectrum(), shift)

    def spectrum(self, rate: float | None = None) -> Spectrum:
        """Return the values; the eigenvectors are those of the identity."""
        return Spectrum(self.values, Identity(len(self.values)), Identity(len(self.values)), 1.0)


class Identity(Diagonal):
    """The identity of a given size."""

    def __init__(self, size: int) -> None:
        super().__init__(np.ones(size))
