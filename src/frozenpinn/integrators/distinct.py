"""Eigenvalues that are alike: on boxes, and above all on periodic ones, many modes have the same one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray
_DIGITS = 2.0**46  # of an eigenvalue that can be trusted
_REAL = 2.0**-49  # imaginary parts, relative to the largest real one, that are round-off of an eigenvalue solver
_FEWER = 0.7  # part of the eigenvalues that differ, up to which they are computed once


class Distinct(NamedTuple):
    """Eigenvalues up to round-off, and where each of them stands: waves of the same length have the same one.

    Functions of eigenvalues are computed for these, and spread out. ``inverse`` is None where that is not worth it.
    """

    values: Array
    inverse: Array | None

    @classmethod
    def of(cls, eigenvalues: Array) -> Distinct:
        """Find them."""
        if np.max(np.abs(eigenvalues.imag), initial=0.0) <= _REAL * np.max(np.abs(eigenvalues.real), initial=0.0):
            eigenvalues = eigenvalues.real
        rounded = _rounded(eigenvalues.real)
        if np.iscomplexobj(eigenvalues):
            rounded = rounded + 1j * _rounded(eigenvalues.imag)
        values, inverse = np.unique(rounded, return_inverse=True)
        return cls(values, inverse) if len(values) < _FEWER * len(eigenvalues) else cls(eigenvalues, None)

    def spread(self, table: Array) -> Array:
        """Return a table (…, distinct) for all eigenvalues."""
        return table if self.inverse is None else table.take(self.inverse, axis=-1)


def _rounded(x: Array) -> Array:
    """Round to a few units of the last digit."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.round(mantissa * _DIGITS) / _DIGITS, exponent)
