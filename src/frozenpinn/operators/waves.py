"""Maps between coefficients of waves and values at equispaced points, by fast Fourier transforms.

On a periodic axis every function is a sum of few waves, so that the discrete Fourier transform of the matrix from
coefficients to values has few entries in each column: a product with it is a sparse product and one transform.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft
from scipy.sparse import csr_array

from frozenpinn.operators.dense import Dense
from frozenpinn.operators.protocol import Array, Operator
from frozenpinn.runtime.round_off import ROUND_OFF


@dataclass(frozen=True, eq=False)
class Waves(Operator):
    """A matrix of waves with its transform.

    Attributes
    ----------
    matrix
        From coefficients to values at points, shape (points, r), or from values to coefficients.
    amplitudes
        The same with amplitudes of waves in place of values.
    outward
        Whether it maps coefficients to values.
    """

    matrix: Array
    amplitudes: csr_array
    outward: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.matrix.shape
        return rows, columns

    @property
    def T(self) -> Operator:  # noqa: N802
        """The transposed map."""
        return Dense(self.matrix.T)

    def _apply(self, block: Array) -> Array:
        if self.outward:
            out = fft.ifft(self.amplitudes @ block, axis=0, overwrite_x=True)
        else:
            out = self.amplitudes @ fft.fft(block, axis=0)
        return out if np.iscomplexobj(self.matrix) or np.iscomplexobj(block) else np.ascontiguousarray(out.real)


def by_transforms(operator: Operator, outward: bool) -> Operator:
    """Return a faster form of an operator on one axis, if its functions are waves; else the operator itself."""
    waves = 2  # waves in a function
    large = 96  # functions: of fewer, the matrix is faster than transforms
    factors = operator.axis_factors or ()
    if len(factors) != 1 or not isinstance(factors[0], np.ndarray) or min(operator.shape) < large:
        return operator
    matrix = factors[0]
    spectrum = fft.fft(matrix, axis=0) if outward else fft.ifft(matrix, axis=1)
    spectrum[np.abs(spectrum) <= ROUND_OFF * np.max(np.abs(spectrum))] = 0.0
    few = 2 * waves * matrix.shape[1 if outward else 0]  # a real wave is two complex ones
    return Waves(matrix, csr_array(spectrum), outward) if np.count_nonzero(spectrum) <= few else operator
