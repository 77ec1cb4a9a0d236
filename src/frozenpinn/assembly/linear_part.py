"""The linear part of a discretisation, ∂ₜᵐ c = position·c + velocity·v, and its first-order form y' = A y."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from frozenpinn.assembly.state import StateLayout
from frozenpinn.operators import Dense, Operator, Tag
from frozenpinn.operators.symmetry import Kind, spectral_abscissa
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.round_off import ALIKE

Array = np.ndarray
_SMALL = 1000  # components up to which eigenvalues of a written-out matrix take no time


@dataclass(frozen=True, eq=False)
class LinearPart:
    """A linear operator on states, with the structure that integrators look for.

    Attributes
    ----------
    position
        From coefficients to the highest time derivatives, shape (R, R).
    velocity
        From velocities to the same, shape (R, R₂); None if they do not enter.
    layout
        Where coefficients and velocities stand in a state.
    drift
        What is added to c' = v of second-order coefficients, shape (R₂, size); None for nothing.
    """

    position: Operator
    velocity: Operator | None
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
    def is_dense(self) -> bool:
        """Whether it is one matrix, as for single networks, and not a sum over the axes of products."""
        return isinstance(self.position, Dense)

    @property
    def order(self) -> int | None:
        """The order in time if it is the same for all coefficients, else None."""
        return self.layout.order

    @cached_property
    def damping(self) -> float | None:
        """The number δ if velocities enter as δ·c' (zero if they don't), None if in any other way."""
        if self.velocity is None:
            return 0.0
        if self.velocity.shape[0] != self.velocity.shape[1]:
            return None
        return self.velocity.multiple_of_identity(ALIKE)

    @cached_property
    def matrix(self) -> Array:
        """The matrix A of the first-order form."""
        return read_only(self.with_drift(self.layout.matrix(self.position.dense(), self.dense_velocity)))

    @property
    def dense_velocity(self) -> Array:
        """The matrix from velocities to the highest derivatives."""
        shape = (self.layout.coefficients, len(self.layout.moving))
        return np.zeros(shape) if self.velocity is None else self.velocity.dense()

    def with_drift(self, matrix: Array) -> Array:
        """Add what moves positions, besides their velocities, to a first-order matrix."""
        if self.drift is not None:
            matrix[self.layout.moving] += self.drift
        return matrix

    def __matmul__(self, y: Array) -> Array:
        """Return the linear part of y' for a state, or for several in columns."""
        c, v = y[: self.layout.coefficients], y[self.layout.coefficients :]
        highest = self.position @ c
        if not len(v):
            return highest
        if self.velocity is not None:
            highest = highest + self.velocity @ v
        if self.drift is not None:
            v = v + self.drift @ y
        return self.layout.joined(highest.T, v.T).T

    @cached_property
    def abscissa(self) -> float:
        """Largest real part of the eigenvalues of A; not a number if they can't be had without a large matrix."""
        if not self.is_dense and self.layout.size > _SMALL:
            spectrum = self.position.spectrum() if self.damping is not None else None
            if spectrum is None or self.order is None:
                return float("nan")
            roots = np.asarray(spectrum.eigenvalues, dtype=complex)
            if self.order == 2:
                half = (self.damping or 0.0) / 2.0
                roots = half + np.sqrt(roots + half**2)
            return float(np.max(np.real(roots)))
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
        """Restrict it to some of the coefficients, given as a mask; there must be no drift."""
        position = Dense(self.position.dense()[np.ix_(chosen, chosen)], self.position.tags)
        velocity = None if self.velocity is None else Dense(self._velocity_of(chosen))
        return LinearPart(position, velocity, self.layout.kept(chosen))

    def _velocity_of(self, chosen: Array) -> Array:
        return self.dense_velocity[chosen][:, chosen[self.layout.second]]
