"""What a basis is: a linear space of functions that obey boundary conditions, with a lifting of boundary data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.operators import Operator, ProductSum

if TYPE_CHECKING:
    from frozenpinn.basis.network import Network

Array = np.ndarray


class PointSet(Protocol):
    """Quadrature points: what the SVD layer needs to know of a domain."""

    @property
    def x(self) -> Array:
        """Coordinates, shape (n, d)."""

    @property
    def weights(self) -> Array:
        """Quadrature weights, shape (n,)."""

    @property
    def axes(self) -> Sequence[Array]:
        """The coordinates along each axis of a grid; none of scattered points."""


@dataclass(frozen=True)
class NoPoints:
    """Stands for the quadrature points of a basis that is only evaluated."""

    dimension: int
    axes = ()

    @property
    def x(self) -> Array:
        """No place."""
        return np.zeros((0, self.dimension))

    @property
    def weights(self) -> Array:
        """No weight."""
        return np.zeros(0)


class Basis(Protocol):
    """Functions of one field or of several that share boundary conditions, ordered from smooth to rough."""

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields."""

    @property
    def points(self) -> PointSet:
        """Quadrature points."""

    @property
    def size(self) -> int:
        """Number of basis functions."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of the coefficients: functions of each axis of a product."""

    @property
    def factors(self) -> tuple[Network, ...]:
        """The networks whose functions are multiplied: one of each axis of a product, or the network itself."""

    @property
    def lift_size(self) -> int:
        """Number of lifting functions."""

    @property
    def width(self) -> int:
        """Number of neurons."""

    @property
    def raw_size(self) -> int:
        """Number of features behind the basis."""

    @property
    def is_orthonormal(self) -> bool:
        """Whether the basis is orthonormal at the points."""

    @property
    def is_product(self) -> bool:
        """Whether the functions are products of functions of one variable."""

    @property
    def is_broken(self) -> bool:
        """Whether its functions have kinks or jumps inside the domain."""

    @property
    def flops(self) -> float:
        """Floating point operations of a map between coefficients and values at the points."""

    @property
    def singular_values(self) -> Array:
        """Of the kept basis functions."""

    @property
    def all_singular_values(self) -> Array:
        """Before truncation."""

    def at_points(self, terms: Sequence[Term]) -> Operator:
        """Return the map from coefficients to Σ coefficient·D at the basis' own points."""

    def lift_at_points(self, terms: Sequence[Term]) -> Operator:
        """Return the map from boundary data to Σ coefficient·D of what they lift, at the basis' own points."""

    def shares(self, coefficients: Array) -> tuple[float, ...]:
        """Return the norms of the parts in the finest tenth of each axis, by which a state is found to be resolved."""

    def projector(self, rcond: float | None = None) -> Operator:
        """Return the map from values of all fields at the points to coefficients."""

    def galerkin(self, terms: Sequence[Term], source: Basis) -> Operator | None:
        """Return the projection of Σ coefficient·D of the functions of a basis axis by axis; None if there are none."""

    def lifted_projection(self, terms: Sequence[Term], lifted: Array) -> Array | None:
        """Return the coefficients of Σ number·D of what boundary data lift; None if that takes values at the points."""

    def projected_products(self, tables: Sequence[Array]) -> ProductSum | None:
        """Return the coefficients of Σₖ Πₐ fₐₖ, given by tables (n, k) on each axis; None if that loses digits."""

    def operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D of every basis function anywhere, shape (n, size)."""

    def lift_operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D of every lifting function anywhere, shape (n, lift_size)."""

    def combine(self, x: Array, terms: Sequence[Term], coefficients: Array, lifted: Array | None = None) -> Array:
        """Return Σ coefficient·D of the functions with given coefficients and data, one column for each."""

    def evaluate(self, x: Array, name: str, derivative: Derivative) -> Array:
        """Return one derivative of the basis of one field."""

    def truncate(self, rank: int) -> Basis:
        """Return the space of the leading functions."""
