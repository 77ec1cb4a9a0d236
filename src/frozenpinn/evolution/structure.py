"""Structure of the linear part: symmetry that is found and kept, ranks that are stable.

The Galerkin matrix Aᵢⱼ = ⟨ψᵢ, L ψⱼ⟩ is formed from orthonormal vectors ψᵢ that are accurate to
round-off, but L ψⱼ carries an error of about ε·σ₁/σⱼ: the derivative of a function with a small
singular value is a difference of large numbers. So the column with the larger singular value is the one
to trust. Where A is symmetric or skew, its other triangle is copied from there: averaging the two would
spread the error of the last functions over all of them (measured: 1e-7 against 1e-12 for advection).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

Array = np.ndarray
Kind = Literal["symmetric", "skew-symmetric", "general"]

_LEADING = 1e-5  # singular values from here on are hardly touched by round-off …
_EXACT = 1e-8  # … and there symmetry must hold to this accuracy
_LOOSE = 5e-2  # while the whole matrix may only deviate by its noise


class Structured(NamedTuple):
    """A matrix with its symmetry made exact, and which symmetry that is."""

    matrix: Array
    kind: Kind


def keep_structure(matrix: Array, singular: Array) -> Structured:
    """Detect symmetry or skew-symmetry up to round-off and make it exact."""
    norm = np.linalg.norm(matrix)
    if norm == 0 or not np.all(np.isfinite(matrix)):
        return Structured(matrix, "general")
    leading = singular >= _LEADING * singular.max()
    block = matrix[np.ix_(leading, leading)]
    block_norm = np.linalg.norm(block)
    kinds: tuple[tuple[int, Kind], ...] = ((1, "symmetric"), (-1, "skew-symmetric"))
    for sign, kind in kinds:
        inner = np.linalg.norm(block - sign * block.T)
        if inner <= _EXACT * block_norm and np.linalg.norm(matrix - sign * matrix.T) <= _LOOSE * norm:
            trusted = singular[None, :] >= singular[:, None]
            completed = np.where(trusted, matrix, sign * matrix.T)
            upper = np.triu(np.ones_like(trusted), 1)
            equal = trusted & trusted.T & upper  # ties: take the lower triangle
            completed = np.where(equal, sign * matrix.T, completed)
            if sign < 0:
                np.fill_diagonal(completed, 0.0)
            return Structured(completed, kind)
    return Structured(matrix, "general")


def spectral_abscissa(matrix: Array) -> float:
    """Return the largest real part of the eigenvalues."""
    if matrix.size == 0:
        return 0.0
    return float(np.max(np.linalg.eigvals(matrix).real))


def stable_cutoff(
    matrix_at: MatrixAt, singular: Array, duration: float, cutoffs: tuple[float, ...], reference: float
) -> float:
    """Return the smallest cut-off whose operator has no spurious growing mode.

    Round-off in the columns of small singular values can push eigenvalues to the right. The
    abscissa at the coarse cut-off ``reference`` tells what growth the equation itself has; a
    finer basis is accepted if it grows by less than a factor e over the duration beyond that.
    """
    relative = singular / singular.max()
    allowed = max(spectral_abscissa(matrix_at(relative > reference)), 0.0) + 1.0 / duration
    for cutoff in cutoffs:
        if spectral_abscissa(matrix_at(relative > cutoff)) <= allowed:
            return cutoff
    return reference


class MatrixAt:
    """The first-order operator of a linear system, restricted to chosen basis functions."""

    def __init__(self, position: Array, velocity: Array, second: Array) -> None:
        self.position = position  # R × R: ∂ₜᵐc = position·c + velocity·v
        self.velocity = velocity  # R × R₂
        self.second = second  # which of the R coefficients belong to second-order fields

    def __call__(self, kept: Array) -> Array:
        """Return the matrix of y = [c, v] for the kept basis functions."""
        position = self.position[np.ix_(kept, kept)]
        second = self.second[kept]
        velocity = self.velocity[kept][:, kept[self.second]]
        return first_order(position, velocity, second)


def first_order(position: Array, velocity: Array, second: Array) -> Array:
    """Return the matrix of y' = A y for y = [c, v], where v = c' of the second-order coefficients."""
    if not np.any(second):
        return position
    count, moving = len(position), int(np.count_nonzero(second))
    full = np.zeros((count + moving, count + moving))
    rows = np.flatnonzero(second)
    first = np.flatnonzero(~second)
    full[np.ix_(first, np.arange(count))] = position[first]
    full[first, count:] = velocity[first]
    full[rows, count + np.arange(moving)] = 1.0
    full[count:, :count] = position[rows]
    full[count:, count:] = velocity[rows]
    return full
