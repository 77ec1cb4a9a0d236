"""The linear part of a discretisation, ∂ₜᵐ c = position·c + velocity·v, and its first-order form y' = A y."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from frozenpinn.assembly.state import StateLayout
from frozenpinn.operators import DENSE_LIMIT, Dense, Operator, Tag
from frozenpinn.operators.symmetry import Kind, spectral_abscissa
from frozenpinn.runtime.arrays import read_only

Array = np.ndarray
_UNIFORM = 1e-9  # velocities that enter alike up to this fraction are damped uniformly


@dataclass(frozen=True, eq=False)
class LinearPart:
    """A linear operator on states, with the structure that integrators look for.

    Attributes
    ----------
    position
        From coefficients to the highest time derivatives, shape (R, R).
    velocity
        From velocities to the same, shape (R, R₂).
    layout
        Where coefficients and velocities stand in a state.
    drift
        What is added to c' = v of second-order coefficients, shape (R₂, size); None for nothing.
    """

    position: Operator
    velocity: Array
    layout: StateLayout
    drift: Array | None = None

    @property
    def structure(self) -> Kind:
        """Symmetry of ``position``: ``"symmetric"``, ``"skew-symmetric"``, ``"split"`` into both, or ``"general"``."""
        kinds: tuple[tuple[Tag, Kind], ...] = (
            (Tag.SYMMETRIC, "symmetric"),
            (Tag.SKEW, "skew-symmetric"),
            (Tag.SPLIT, "split"),
        )
        return next((kind for tag, kind in kinds if tag in self.position.tags), "general")

    @property
    def order(self) -> int | None:
        """The order in time if it is the same for all coefficients, else None."""
        return self.layout.order

    @cached_property
    def damping(self) -> float | None:
        """The number δ if velocities enter as δ·c' (zero if they don't), None if in any other way."""
        velocity = self.velocity
        if not velocity.size or not np.any(velocity):
            return 0.0
        if velocity.shape[0] != velocity.shape[1]:
            return None
        delta = float(np.median(np.diag(velocity)))
        gap = np.max(np.abs(velocity - delta * np.eye(len(velocity))))
        return delta if gap <= _UNIFORM * abs(delta) else None

    @cached_property
    def matrix(self) -> Array:
        """The matrix A of the first-order form."""
        return read_only(self.with_drift(self.layout.matrix(self.position.dense(), self.velocity)))

    def with_drift(self, matrix: Array) -> Array:
        """Add what moves positions beside their velocities to a first-order matrix."""
        if self.drift is not None:
            matrix[self.layout.moving] += self.drift
        return matrix

    def __matmul__(self, y: Array) -> Array:
        """Return the linear part of y' for a state, or for several in columns."""
        c, v = y[: self.layout.coefficients], y[self.layout.coefficients :]
        highest = self.position @ c
        if not len(v):
            return highest
        highest = highest + self.velocity @ v
        if self.drift is not None:
            v = v + self.drift @ y
        return self.layout.joined(highest.T, v.T).T

    @cached_property
    def abscissa(self) -> float:
        """Largest real part of the eigenvalues of A; not a number if it is too large to be written out."""
        if self.layout.size**2 > DENSE_LIMIT:
            return float("nan")
        if self.structure == "skew-symmetric" and self.order == 1:
            return 0.0
        return spectral_abscissa(self.matrix)

    @cached_property
    def eigensystem(self) -> tuple[Array, Array, float]:
        """Eigenvalues and eigenvectors of A, and the condition number of the latter."""
        eigenvalues, vectors = map(np.ascontiguousarray, np.linalg.eig(self.matrix))  # real ones are strided views
        return eigenvalues, vectors, float(np.linalg.cond(vectors))

    def restricted(self, kept: Array, position: Array | None = None) -> Array:
        """Return the matrix A of some of the coefficients, given as a mask; ``position`` may replace one's own."""
        matrix = self.position.dense() if position is None else position
        return self.layout.kept(kept).matrix(matrix[np.ix_(kept, kept)], self._velocity_of(kept))

    def kept(self, chosen: Array) -> LinearPart:
        """Return the same for some of the coefficients, given as a mask; there must be no drift."""
        position = Dense(self.position.dense()[np.ix_(chosen, chosen)], self.position.tags)
        return LinearPart(position, self._velocity_of(chosen), self.layout.kept(chosen))

    def _velocity_of(self, chosen: Array) -> Array:
        return self.velocity[chosen][:, chosen[self.layout.second]]
