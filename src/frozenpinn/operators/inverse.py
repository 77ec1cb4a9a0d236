"""The inverse of an operator whose eigenvectors are known; what it takes to zero, the inverse takes to zero too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from frozenpinn.operators.protocol import Array, Operator, Spectrum
from frozenpinn.runtime.round_off import SUMMED


def quotients(values: Array | float, divisors: Array) -> Array:
    """Divide; where a divisor is round-off of the largest, the quotient is zero."""
    there = ~vanishing(divisors)
    found = np.zeros(np.broadcast_shapes(np.shape(values), divisors.shape), np.result_type(values, divisors))
    return np.asarray(np.divide(values, divisors, out=found, where=there))


def vanishing(values: Array) -> Array:
    """Return which values are zero up to round-off."""
    sizes = np.abs(values)
    return np.asarray(~(sizes > SUMMED * np.max(sizes)))


@dataclass(frozen=True, eq=False)
class Inverse(Operator):
    """A⁻¹, by division in the modal coordinates of A, which are real; a pseudo-inverse if eigenvalues vanish.

    >>> import numpy as np
    >>> from frozenpinn.operators import Diagonal
    >>> Inverse.of(Diagonal(np.array([2.0, 4.0]))) @ np.ones(2)
    array([0.5 , 0.25])
    """

    operator: Operator
    spectrum_of: Spectrum

    @classmethod
    def of(cls, operator: Operator) -> Self | None:
        """Return the inverse; None if there are no such coordinates."""
        spectrum = operator.spectrum()
        return None if spectrum is None or spectrum.eigenvalues.dtype.kind == "c" else cls(operator, spectrum)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.operator.shape

    @property
    def T(self) -> Inverse:  # noqa: N802
        """The transposed map."""
        own = self.spectrum_of
        return Inverse(self.operator.T, Spectrum(own.eigenvalues, own.left.T, own.vectors.T, own.condition))

    def _apply(self, block: Array) -> Array:
        return self.spectrum_of.apply(quotients(1.0, self.spectrum_of.eigenvalues), block)
