"""The boundary-compliant layer: every basis function already obeys the homogeneous conditions.

For conditions B u = g on boundary points, the rows B[φ, 1] act on the raw coefficients. Their null
space is the layer; a pseudo-inverse in its complement lifts the data g. Both are kept as
Householder reflectors where the rows are few (exact, one dimension), or come from a truncated SVD
where they are many (several dimensions).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import scipy.linalg as sla
from scipy.sparse import csr_array

from frozenpinn.basis.activation import activation
from frozenpinn.basis.hidden import HiddenLayer, Term
from frozenpinn.errors import SettingsError

Array = np.ndarray


class Functional(NamedTuple):
    """Rows of a boundary operator: Σ over parts of (terms applied at points)."""

    parts: tuple[tuple[Array, tuple[Term, ...]], ...]

    def rows(self, hidden: HiddenLayer, fields: Sequence[str]) -> Array:
        """Return the rows that act on the raw coefficients of all fields, one block per field."""
        count = len(self.parts[0][0])
        out = np.zeros((count, len(fields) * hidden.size), order="F")
        for x, terms in self.parts:
            for i, name in enumerate(fields):
                own = [term for term in terms if term.field == name]
                if own:
                    out[:, i * hidden.size : (i + 1) * hidden.size] += hidden.operator(x, own)
        return out


def functional_rows(functionals: Sequence[Functional], hidden: HiddenLayer, fields: Sequence[str]) -> Array:
    """Return all rows of some functionals; neurons of one variable are evaluated once for those at single places."""
    if not functionals:
        return np.zeros((0, len(fields) * hidden.size))
    single = all(len(f.parts) == 1 and len(f.parts[0][0]) == 1 for f in functionals)
    if not single or hidden.dimension > 1 or hidden.singular is not None or len(fields) > 1:
        return np.concatenate([f.rows(hidden, fields) for f in functionals])
    places, terms = zip(*(f.parts[0] for f in functionals), strict=True)
    orders = sorted({term.derivative.order for own in terms for term in own})
    found = activation(hidden.activation)(hidden.pre_activation(np.concatenate(places)), orders)
    values = dict(zip(orders, found, strict=True))
    out = np.zeros((len(functionals), hidden.size))
    for row, own in enumerate(terms):
        for _, derivative, coefficient in own:
            number, k = np.asarray(coefficient).item(), derivative.order
            out[row, :-1] += (number * hidden.weights[:, 0] ** k if k else number) * values[k][row]
            out[row, -1] += 0.0 if k else number
    return out


class BoundaryLayer(Protocol):
    """A linear map from reduced to raw coefficients, and a lifting of boundary data."""

    @property
    def lifting(self) -> Array:
        """Raw coefficients of the functions that carry boundary data, shape (raw, rows)."""

    @property
    def reduced(self) -> int:
        """Number of compliant basis functions."""

    def restrict(self, features: Array) -> Array:
        """Return ``features @ A``, the features of the compliant basis; ``features`` may be overwritten."""

    def expand(self, coefficients: Array) -> Array:
        """Return ``A @ coefficients``: raw coefficients."""


@dataclass(frozen=True)
class Combined:
    """Another layer on given combinations of the raw features, the columns of a matrix."""

    layer: BoundaryLayer
    matrix: csr_array

    @property
    def lifting(self) -> Array:
        """What the layer lifts, in raw coefficients."""
        return np.asarray(self.matrix @ self.layer.lifting)

    @property
    def reduced(self) -> int:
        """As many as the layer has."""
        return self.layer.reduced

    def restrict(self, features: Array) -> Array:
        """Combine the features first."""
        return self.layer.restrict(features @ self.matrix)

    def expand(self, coefficients: Array) -> Array:
        """Return raw coefficients."""
        return np.asarray(self.matrix @ self.layer.expand(coefficients))


@dataclass(frozen=True)
class Unconstrained:
    """No conditions: A is the identity."""

    size: int

    @property
    def lifting(self) -> Array:
        """No data to lift."""
        return np.zeros((self.size, 0))

    @property
    def reduced(self) -> int:
        """All features."""
        return self.size

    def restrict(self, features: Array) -> Array:
        """Return the features themselves."""
        return features

    def expand(self, coefficients: Array) -> Array:
        """Return the coefficients themselves."""
        return coefficients


class NullSpace:
    """The exact null space of few rows, by Householder reflectors that are never multiplied out."""

    def __init__(self, rows: Array) -> None:
        scale = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        if np.any(scale == 0):
            raise SettingsError("a boundary condition acts on none of the basis functions; use a wider network.")
        self._reflectors, self._tau, _, _ = sla.lapack.dgeqrf((rows / scale[:, None]).T)
        self.count, self.size = rows.shape
        self.reduced = self.size - self.count
        r = self._reflectors[: self.count]  # in its upper triangle
        diagonal = np.abs(np.diagonal(r))
        if diagonal.min() < 1e-10 * diagonal.max():
            raise SettingsError("two boundary conditions at the same point say the same; remove one of them.")
        coefficients = np.zeros((self.size, self.count))
        coefficients[: self.count] = sla.lapack.dtrtrs(r, np.diag(1.0 / scale), trans=1)[0]
        self.lifting = self._apply("L", coefficients)

    def _apply(self, side: str, matrix: Array) -> Array:
        """Multiply by the orthogonal factor from the left or right, in place if possible."""
        work = 65  # the largest block of LAPACK's dormqr, and one more
        matrix = np.asfortranarray(matrix)
        # few reflectors are applied one by one, which takes a vector; work space for blocks of them grows with that
        lwork = work * len(matrix) if side == "R" else work * matrix.shape[1]
        lwork += work**2
        result, _, info = sla.lapack.dormqr(side, "N", self._reflectors, self._tau, matrix, lwork, overwrite_c=1)
        if info:
            raise SettingsError(f"LAPACK dormqr failed with code {info}.")
        return np.asarray(result)

    def restrict(self, features: Array) -> Array:
        """Return the features of the compliant basis."""
        return self._apply("R", features)[:, self.count :]

    def expand(self, coefficients: Array) -> Array:
        """Return raw coefficients of compliant functions."""
        padded = np.zeros((self.size, coefficients.shape[1]), order="F")
        padded[self.count :] = coefficients
        return self._apply("L", padded)


class TruncatedNullSpace:
    """The null space of many, nearly dependent rows: singular vectors below a cut-off."""

    def __init__(self, rows: Array, cutoff: float = 1e-9) -> None:
        scale = np.linalg.norm(rows, axis=1)
        scale = np.where(scale > 0, scale, 1.0)
        u, s, vt = np.linalg.svd(rows / scale[:, None], full_matrices=True)
        rank = int(np.sum(s > cutoff * s[0])) if s[0] > 0 else 0
        if rank >= rows.shape[1]:
            raise SettingsError(
                f"{rows.shape[0]} boundary rows leave no basis function of {rows.shape[1]} features free; "
                "use a wider network or fewer boundary points."
            )
        self._basis = vt[rank:].T
        self.reduced = self._basis.shape[1]
        self.lifting = vt[:rank].T @ (u[:, :rank] / s[:rank]).T / scale

    def restrict(self, features: Array) -> Array:
        """Return the features of the compliant basis."""
        return features @ self._basis

    def expand(self, coefficients: Array) -> Array:
        """Return raw coefficients of compliant functions."""
        return self._basis @ coefficients


def boundary_layer(rows: Array) -> BoundaryLayer:
    """Choose the exact null space for few independent rows and the truncated one otherwise."""
    count, size = rows.shape
    return NullSpace(rows) if 0 < count < size and count <= 16 else nearly_dependent(rows)


def nearly_dependent(rows: Array) -> BoundaryLayer:
    """Return the truncated null space of rows that may be dependent."""
    return TruncatedNullSpace(rows) if len(rows) else Unconstrained(rows.shape[1])
