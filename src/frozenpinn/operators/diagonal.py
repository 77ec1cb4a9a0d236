"""Diagonal operators and the identity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from frozenpinn.operators.factors import SpectralFactor
from frozenpinn.operators.protocol import Array, Operator, Scalar, Spectrum, Tag, Tags, scale_rows


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
