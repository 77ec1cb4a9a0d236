"""Eigenvalues and eigenvectors of dense matrices, by the most accurate way that their structure allows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg as sla
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from frozenpinn.operators.protocol import Array, Tag, Tags
from frozenpinn.runtime.round_off import ROUND_OFF

WELL_CONDITIONED = 1e6  # eigenvectors up to here cost at most six digits of round-off


class Eigensystem(NamedTuple):
    """Eigenvalues, right eigenvectors, their inverse, and their condition number."""

    eigenvalues: Array
    vectors: Array
    left: Array
    condition: float

    @property
    def abscissa(self) -> float:
        """The largest real part of an eigenvalue."""
        return float(self.eigenvalues.real.max(initial=-np.inf))


def detect(matrix: Array) -> Tags:
    """Return which symmetries a real matrix has to the last bit.

    >>> detect(np.array([[0.0, 1.0], [-1.0, 0.0]]))
    frozenset({<Tag.SKEW: 2>})
    """
    if matrix.shape[0] != matrix.shape[1] or np.iscomplexobj(matrix):
        return frozenset()
    if (matrix == matrix.T).all():
        return frozenset({Tag.SYMMETRIC} if matrix.any() else {Tag.SYMMETRIC, Tag.SKEW})
    return frozenset({Tag.SKEW} if (matrix == -matrix.T).all() else ())


def eigensystem(matrix: Array, tags: Tags, rate: float | None = None) -> Eigensystem | None:
    """Diagonalise a matrix; None if it is not square or has too few eigenvectors."""
    if matrix.shape[0] != matrix.shape[1]:
        return None
    if (found := _in_pairs(matrix, tags)) is not None:
        return found
    if Tag.SYMMETRIC in tags:
        if rate is None:
            eigenvalues, vectors = sla.eigh(matrix, check_finite=False, driver="evd")
        else:
            eigenvalues, vectors = symmetric_modes(matrix, rate)
        return Eigensystem(eigenvalues, vectors, vectors.T, 1.0)
    if Tag.SKEW in tags:
        frequencies, vectors = sla.eigh(1j * matrix, check_finite=False, driver="evd")
        return Eigensystem(-1j * frequencies, vectors, vectors.conj().T, 1.0)
    eigenvalues, vectors = map(np.ascontiguousarray, np.linalg.eig(matrix))  # real ones are strided views
    condition = float(np.linalg.cond(vectors))
    if not condition * np.finfo(float).eps < 1e-2:  # what is expanded in them would be round-off
        return None
    return Eigensystem(eigenvalues, vectors, np.linalg.inv(vectors), condition)


def _in_pairs(matrix: Array, tags: Tags) -> Eigensystem | None:
    """Diagonalise a matrix that couples no more than two unknowns each, as waves on periodic axes are; else None."""
    many = 96  # unknowns: with fewer, it does not pay to look for a structure
    size = len(matrix)
    if size < many:
        return None
    rows = np.max(np.abs(matrix), axis=1)
    coupled = np.abs(matrix) > ROUND_OFF * np.maximum.outer(rows, rows)
    if np.count_nonzero(coupled) > 2 * size:
        return None
    count, label = connected_components(csr_array(coupled), directed=False)
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(count + 1))
    if np.max(np.diff(starts)) > 2:
        return None
    first = order[starts[:-1]]
    second = order[np.minimum(starts[:-1] + 1, size - 1)]
    paired = np.diff(starts) == 2
    i, j = first[paired], second[paired]
    blocks = np.stack([np.stack([matrix[i, i], matrix[i, j]], -1), np.stack([matrix[j, i], matrix[j, j]], -1)], -2)
    values, vectors = np.linalg.eigh(blocks) if Tag.SYMMETRIC in tags else np.linalg.eig(blocks)
    condition = float(np.max(np.linalg.cond(vectors), initial=1.0))
    if not condition * np.finfo(float).eps < 1e-2:
        return None
    eigenvalues = np.diagonal(matrix).astype(values.dtype)
    full = np.eye(size, dtype=values.dtype)
    inverse = full.copy()
    eigenvalues[i], eigenvalues[j] = values.T
    for own, small in ((full, vectors), (inverse, np.linalg.inv(vectors))):
        own[i, i], own[i, j], own[j, i], own[j, j] = small[:, 0, 0], small[:, 0, 1], small[:, 1, 0], small[:, 1, 1]
    return Eigensystem(eigenvalues, full, inverse, condition)


def symmetric_modes(matrix: Array, rate: float) -> tuple[Array, Array]:
    """Return eigenvalues and eigenvectors of a symmetric matrix, accurate where the eigenvalues are small.

    Computed from A itself, every eigenvalue is wrong by round-off of the largest: with fourth derivatives, which reach
    1e7 and more, that costs the smooth modes, which carry the solution, several digits. From (s − A)⁻¹, with s just
    beyond the spectrum, these are accurate to the last digit, and the largest ones follow from Rayleigh quotients.

    ``rate`` is what eigenvalues must reach to matter: 1/T, or 1/T² for equations of second order.
    """
    identity = np.eye(len(matrix))
    for shift in rate * 10.0 ** np.arange(7):
        shifted = shift * identity - matrix
        factor, info = sla.lapack.dpotrf(shifted, lower=1, clean=0)
        if info:  # eigenvalues beyond the shift: the equation grows
            continue
        lower, _ = sla.lapack.dpotri(factor, lower=1)
        inverses, vectors, info = sla.lapack.dsyevd(lower, lower=1, overwrite_a=1)
        if info:
            break
        if not inverses[-1] * shift <= 1e2 or inverses[0] <= 0:  # too near to an eigenvalue, or too wide a spectrum
            continue
        eigenvalues = shift - 1.0 / inverses
        quotients = np.einsum("ij,ij->j", vectors, matrix @ vectors)
        large = np.abs(eigenvalues) > np.sqrt(shift / inverses[0])
        return np.where(large, quotients, eigenvalues), vectors
    eigenvalues, vectors = sla.eigh(matrix, check_finite=False, driver="evd")
    return eigenvalues, vectors


class Distinct(NamedTuple):
    """Eigenvalues up to round-off, and where each of them stands: waves of the same length have the same one.

    Functions of eigenvalues are computed for these, and spread out. ``inverse`` is None where that is not worth it.
    """

    values: Array
    inverse: Array | None

    @classmethod
    def of(cls, eigenvalues: Array) -> Distinct:
        """Find them."""
        fewer = 0.7  # part of all eigenvalues: if fewer differ, functions of them are computed once
        real = 2.0**-49  # imaginary parts, relative to the largest real one, that are round-off of an eigenvalue solver
        if np.max(np.abs(eigenvalues.imag), initial=0.0) <= real * np.max(np.abs(eigenvalues.real), initial=0.0):
            eigenvalues = eigenvalues.real
        rounded = _rounded(eigenvalues.real)
        if np.iscomplexobj(eigenvalues):
            rounded = rounded + 1j * _rounded(eigenvalues.imag)
        values, inverse = np.unique(rounded, return_inverse=True)
        return cls(values, inverse) if len(values) < fewer * len(eigenvalues) else cls(eigenvalues, None)

    def spread(self, table: Array) -> Array:
        """Return a table (…, distinct) for all eigenvalues."""
        return table if self.inverse is None else table.take(self.inverse, axis=-1)


def _rounded(x: Array) -> Array:
    """Round to a few units of the last digit."""
    digits = 2.0**46  # of an eigenvalue that can be trusted
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.round(mantissa * digits) / digits, exponent)
