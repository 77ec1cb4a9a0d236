"""Operators that are known by their modes, and what becomes of sums and products of operators that share them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from frozenpinn.operators.dense import Dense
from frozenpinn.operators.protocol import Array, Operator, Spectrum
from frozenpinn.runtime.round_off import ALIKE


@dataclass(frozen=True, eq=False)
class Spectral(Operator):
    """V diag(λ) V⁻¹, as sums over the axes of products have it.

    >>> import numpy as np
    >>> from frozenpinn.operators import Diagonal
    >>> modes = Diagonal(np.array([2.0, 4.0])).spectrum()
    >>> Spectral(modes, np.array([1.0, 3.0])) @ np.ones(2)
    array([1., 3.])
    """

    modes: Spectrum
    eigenvalues: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.modes.vectors.shape[0], self.modes.left.shape[1]

    @property
    def T(self) -> Spectral:  # noqa: N802
        """The transposed map."""
        own = self.modes
        return Spectral(Spectrum(own.eigenvalues, own.left.T, own.vectors.T, own.condition), self.eigenvalues)

    def _apply(self, block: Array) -> Array:
        return self.modes.apply(self.eigenvalues, block)

    def spectrum(self, rate: float | None = None) -> Spectrum:
        """Return the modes with these eigenvalues."""
        return Spectrum(self.eigenvalues, self.modes.vectors, self.modes.left, self.modes.condition)


def composed(first: Operator, outer: Operator, inner: Operator, others: Sequence[Operator] = ()) -> Operator:
    """Return first + outer·inner: as one matrix, or by modes of one of them or of ``others``, or as they are."""
    if isinstance(first, Dense):
        return Dense(first.matrix + outer @ inner.dense())
    probe = np.random.default_rng(0).normal(size=inner.shape[1])
    change = outer @ (inner @ probe)
    if not np.any(change):
        return first
    wanted = first @ probe + change
    for operator in (first, outer, inner, *others):
        modes = operator.spectrum() if operator.shape == first.shape else None
        if modes is None or modes.eigenvalues.dtype.kind == "c":
            continue
        every = modes.vectors @ np.ones(len(modes.eigenvalues))
        found = Spectral(modes, modes.left @ (first @ every + outer @ (inner @ every)))
        if np.linalg.norm(found @ probe - wanted) <= ALIKE * np.linalg.norm(wanted):
            return found
    return first + outer @ inner
