"""Structure of the linear part: symmetry that is found and kept.

The Galerkin matrix Aᵢⱼ = ⟨ψᵢ, L ψⱼ⟩ is formed from orthonormal vectors ψᵢ that are accurate to
round-off, but L ψⱼ carries an error of about ε·σ₁/σⱼ: the derivative of a function with a small
singular value is a difference of large numbers. So the column with the larger singular value is the one
to trust. Where A is symmetric or skew, its other triangle is copied from there: averaging the two would
spread the error of the last functions over all of them (tests/operators/test_trusted_triangle.py).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from frozenpinn.runtime.round_off import SUMMED, TINY

Array = np.ndarray
Kind = Literal["symmetric", "skew-symmetric", "split", "general"]


class Structured(NamedTuple):
    """A matrix with its symmetry made exact, and which symmetry that is."""

    matrix: Array
    kind: Kind


def keep_structure(matrix: Array, singular: Array) -> Structured:
    """Detect symmetry or skew-symmetry up to round-off and make it exact."""
    trusted = 1e-2  # singular values that round-off hardly touches, relative to the largest
    exact = 1e-11  # accuracy of the symmetry there, of each entry against the sizes of its two rows
    loose = 5e-2  # deviation of the whole matrix, which may be noise
    norm = np.linalg.norm(matrix)
    if norm == 0 or not np.isfinite(norm):
        return Structured(matrix, "general")
    sorted_already = bool((singular[1:] <= singular[:-1]).all())
    order = np.arange(len(singular)) if sorted_already else np.argsort(-singular, kind="stable")
    ranked = matrix if sorted_already else matrix[np.ix_(order, order)]
    leading = int(np.count_nonzero(singular >= trusted * singular.max()))
    block = ranked[:leading, :leading]
    sizes = np.maximum(np.sqrt(np.einsum("ij,ij->i", block, block)), TINY)
    # a weak term must not hide behind a strong one, except as round-off of the larger of two rows
    allowed = exact * np.sqrt(np.outer(sizes, sizes)) + SUMMED * np.maximum.outer(sizes, sizes)
    kinds: tuple[tuple[int, Kind], ...] = ((1, "symmetric"), (-1, "skew-symmetric"))
    for sign, kind in kinds:
        if (
            np.all(np.abs(block - sign * block.T) <= allowed)
            and np.linalg.norm(ranked - sign * ranked.T) <= loose * norm
        ):
            lower = np.tril(ranked, -1)  # columns of larger singular values than their row
            completed = lower + sign * lower.T
            if sign > 0:
                np.fill_diagonal(completed, np.diagonal(ranked))
            back = order if sorted_already else np.argsort(order)
            return Structured(completed if sorted_already else completed[np.ix_(back, back)], kind)
    return Structured(matrix, "general")


def keep_split(even: Array, odd: Array, singular: Array) -> Structured | None:
    """Make a symmetric part (of even derivatives) and a skew-symmetric one (of odd ones) exact, each by itself.

    Their sum is neither, but its eigenvalues lie to the left of those of the symmetric part, as they must, and on
    periodic intervals both have the same eigenvectors. None if one of the parts has another structure.
    """
    first, second = keep_structure(even, singular), keep_structure(odd, singular)
    if first.kind != "symmetric" or second.kind != "skew-symmetric":
        return None
    return Structured(first.matrix + second.matrix, "split")


def spectral_abscissa(matrix: Array) -> float:
    """Return the largest real part of the eigenvalues."""
    if matrix.size == 0:
        return 0.0
    return float(np.max(np.linalg.eigvals(matrix).real))
