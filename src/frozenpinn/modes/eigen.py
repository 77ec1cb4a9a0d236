"""Dense eigenvalue problems A c = λ B c, accurate where the eigenvalues are small.

Computed from A itself, every eigenvalue is wrong by round-off of the largest; of (A − s B)⁻¹ B the wanted ones are the
largest, and accurate to the last digits: 6e-12 instead of 3e-9 with fourth derivatives. Symmetric problems are made
exactly symmetric before, by the triangle that carries less noise (operators/symmetry.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg as sla

from frozenpinn.errors import ConvergenceError
from frozenpinn.operators.symmetry import keep_structure

Array = np.ndarray


class Spectrum(NamedTuple):
    """Eigenvalues, nearest to where they were looked for first, and eigenvectors in columns."""

    values: Array
    vectors: Array
    symmetric: bool


def eigenpairs(
    left: Array,
    right: Array | None,
    singular: Array,
    near: complex = 0.0,
    side: float = -1.0,
    among: Array | None = None,
) -> Spectrum:
    """Return all eigenpairs that are finite, the nearest to ``near`` first.

    Parameters
    ----------
    left, right
        A and B; None for the identity.
    singular
        Singular values of the functions: those with the largest are the smoothest.
    near
        Where eigenvalues are looked for.
    side
        On which side of ``near`` the shift lies: −1 or 1.
    among
        Orthonormal complex vectors, in columns, whose combinations the eigenvectors are; all vectors if None.
    """
    root = _root(left, right, singular) if np.isreal(near) else None
    mass = np.eye(len(left)) if right is None else right
    exact = left if root is None else keep_structure(left, singular).matrix
    scale = _scale(left, right, singular)
    apart = 0.1  # of the shift from the wanted values, as a part of that size
    if among is not None:
        exact, mass = (among.conj().T @ part @ among for part in (exact, mass))
        right = None if right is None else mass
        root = _of_complex(root, right)
    shift, inverse = _shifted_inverse(exact, mass, near, side * apart * scale)
    if root is not None:
        sign, lower = root
        middle = inverse if right is None else lower.conj().T @ (sign * inverse) @ lower
        inverses, vectors = sla.eigh((middle + middle.conj().T) / 2.0, check_finite=False, driver="evd")
        if right is not None:
            vectors = sla.solve_triangular(lower, vectors, lower=True, trans="C", check_finite=False)
    else:
        product = inverse if right is None else inverse @ right
        inverses, vectors = map(np.ascontiguousarray, np.linalg.eig(product))
    nothing = 1e-13  # eigenvalue of the inverse, relative to the largest, up to which its own is infinite
    kept = np.abs(inverses) > nothing * np.max(np.abs(inverses))
    values = shift + 1.0 / inverses[kept]
    order = by_distance(values, near)
    vectors = vectors if among is None else among @ vectors
    return Spectrum(values[order], np.ascontiguousarray(vectors[:, kept][:, order]), root is not None)


def by_distance(values: Array, near: complex = 0.0) -> Array:
    """Return the order of values by their distance from a number; of conjugates, positive imaginary parts first."""
    distance = np.abs(values - near)
    digits = np.round(np.log(np.maximum(distance, 1e-300)), 8)  # pairs are as far, up to round-off
    parts = [-np.round(part / np.maximum(distance, 1e-300), 8) for part in (np.imag(values), np.real(values))]
    return np.lexsort(np.stack([*parts, digits]))


def _shifted_inverse(left: Array, mass: Array, near: complex, step: float) -> tuple[complex, Array]:
    """Return (A − s B)⁻¹ with a shift s next to ``near`` that is no eigenvalue."""
    for factor in (1.0, 1.7, 0.43):
        shift = near + factor * step
        try:
            inverse = np.linalg.inv(left - shift * mass)
        except np.linalg.LinAlgError:
            continue
        if np.all(np.isfinite(inverse)):
            return shift, inverse
    raise ConvergenceError(
        "the equations of the eigenvalue problem determine nothing: their matrix is singular for every eigenvalue. "
        "Does every field have an equation and conditions of its own?"
    )


def _of_complex(root: tuple[float, Array] | None, mass: Array | None) -> tuple[float, Array] | None:
    """Return the Cholesky factor of ±B among complex vectors."""
    if root is None or mass is None:
        return root
    sign = root[0]
    return sign, sla.cholesky(sign * (mass + mass.conj().T) / 2.0, lower=True, check_finite=False)


def _scale(left: Array, right: Array | None, singular: Array) -> float:
    """Return about how large the smallest eigenvalues are: what L makes of the smoothest functions."""
    leading = np.argsort(-singular, kind="stable")[:4]  # their part of A has the size of the smallest eigenvalues
    size = float(np.median(np.linalg.norm(left[:, leading], axis=0)))
    mass = 1.0 if right is None else float(np.max(np.linalg.norm(right[:, leading], axis=0)))
    return (size or float(np.linalg.norm(left)) or 1.0) / (mass or 1.0)


def _root(left: Array, right: Array | None, singular: Array) -> tuple[float, Array] | None:
    """Return ±1 and the Cholesky factor of ±B if A is symmetric and ±B positive; None if they are not."""
    if keep_structure(left, singular).kind != "symmetric":
        return None
    if right is None:
        return 1.0, np.empty((0, 0))
    round_off = 1e-12  # asymmetry of B
    if np.linalg.norm(right - right.T) > round_off * np.linalg.norm(right):
        return None
    for sign in (1.0, -1.0):
        factor, info = sla.lapack.dpotrf(sign * (right + right.T) / 2.0, lower=1, clean=1)
        if info == 0 and np.min(np.diag(factor)) > 1e-6 * np.max(np.diag(factor)):
            return sign, np.asarray(factor)
    return None
