"""Product network on boxes: u = Σ C_ij ψᵢ(x) ψⱼ(y), each factor a frozen network of one axis.

Every factor obeys the conditions at the two ends of its axis exactly, so every product does. The
factors are orthonormal, so the products are. Of all products, those whose product of singular
values lies above the cut-off are kept. Boundary data are lifted by products in which at least one
factor is a lifting function of its axis (transfinite interpolation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
import scipy.linalg as sla

from frozenpinn.basis.along_axes import at_scattered, pure
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.network import Network
from frozenpinn.basis.protocol import PointSet
from frozenpinn.operators import KroneckerSum, Operator, Product, Selection, kronecker

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ProductNetwork:
    """Products of one-dimensional networks; the same interface as :class:`Network`.

    Attributes
    ----------
    factors
        One compressed network per axis.
    points
        Tensor grid whose axes are the points of the factors.
    indices
        Shape (r, d): which function of each axis makes up each product.
    lift_indices
        Shape (n_l, d): the same for lifting functions; entries from ``factor.size`` on denote
        lifting functions of that axis.
    """

    factors: tuple[Network, ...]
    points: PointSet
    indices: Array
    lift_indices: Array
    fields: tuple[str, ...] = ("u",)

    @classmethod
    def from_factors(cls, factors: Sequence[Network], points: PointSet, cutoff: float, lift: bool) -> ProductNetwork:
        """Keep the products with singular values above ``cutoff`` relative to the largest."""
        sigma = [f.singular_values / f.singular_values[0] for f in factors]
        table = sigma[0]
        for s in sigma[1:]:
            table = np.multiply.outer(table, s)
        kept = np.argwhere(table > cutoff)
        order = np.argsort(-table[tuple(kept.T)], kind="stable")
        lifting = np.zeros((0, len(factors)), dtype=int)
        if lift:
            ranges = [range(f.size + f.lift_size) for f in factors]
            rows = [i for i in product(*ranges) if any(k >= f.size for k, f in zip(i, factors, strict=True))]
            lifting = np.array(rows, dtype=int).reshape(-1, len(factors))
        return cls(tuple(factors), points, kept[order], lifting, factors[0].fields)

    @property
    def size(self) -> int:
        """Number of basis functions."""
        return len(self.indices)

    @property
    def lift_size(self) -> int:
        """Number of lifting functions."""
        return len(self.lift_indices)

    @property
    def width(self) -> int:
        """Number of neurons of all axes together."""
        return sum(f.width for f in self.factors)

    @property
    def raw_size(self) -> int:
        """Number of products of features behind the basis."""
        return int(np.prod([f.raw_size for f in self.factors]))

    @property
    def is_orthonormal(self) -> bool:
        """The factors are, so the products are."""
        return True

    @cached_property
    def singular_values(self) -> Array:
        """Products of the factors' singular values, relative to the largest."""
        result = np.ones(self.size)
        for axis, f in enumerate(self.factors):
            result = result * f.singular_values[self.indices[:, axis]] / f.singular_values[0]
        return result

    @property
    def all_singular_values(self) -> Array:
        """The kept ones: the others are never formed."""
        return self.singular_values

    is_product = True

    @cached_property
    def _kept(self) -> Selection:
        """The products that are kept, among all."""
        return Selection(self.indices, tuple(f.size for f in self.factors))

    def at_points(self, terms: Sequence[Term]) -> Operator:
        """Return the map from coefficients to Σ coefficient·D at the tensor grid, axis by axis."""
        tables: dict[tuple[int, int], Array] = {}
        products = []
        for term in terms:
            for alpha, factor in pure(term.derivative, len(self.factors)):
                for axis, order in enumerate(alpha):
                    if (axis, order) not in tables:
                        own = [Term(self.fields[0], Derivative((order,)))]
                        tables[axis, order] = self.factors[axis].at_points(own).dense()
                factors = tuple(tables[axis, order] for axis, order in enumerate(alpha))
                coefficient = np.asarray(term.coefficient, dtype=float) * factor
                if coefficient.ndim:
                    products.append(Product(factors, left=coefficient))
                else:
                    products.append(Product(factors, float(coefficient)))
        if not products:
            tables = {(axis, 0): np.zeros((len(f.points.weights), f.size)) for axis, f in enumerate(self.factors)}
            products = [Product(tuple(tables.values()), 0.0)]
        return KroneckerSum(tuple(products), columns=self._kept)

    def projector(self, rcond: float | None = None) -> Operator:
        """Return the map from values at the tensor grid to coefficients, axis by axis."""
        return kronecker(*(f.projector().dense() for f in self.factors), rows=self._kept)

    def truncate(self, rank: int) -> ProductNetwork:
        """Return the network of the leading ``rank`` products."""
        return self if rank >= self.size else replace(self, indices=self.indices[:rank])

    def operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D of every product, shape (n, r)."""
        return self._combine(x, terms, self.indices)

    def lift_operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D of every lifting function, shape (n, n_l)."""
        return self._combine(x, terms, self.lift_indices)

    def combine(self, x: Array, terms: Sequence[Term], coefficients: Array, lifted: Array | None = None) -> Array:
        """Return Σ coefficient·D of the functions with given coefficients (r, m) and data (n_l, m), shape (n, m)."""
        return at_scattered(self.factors, x, terms, self.tensor(coefficients, lifted))

    def tensor(self, coefficients: Array, lifted: Array | None = None) -> Array:
        """Return coefficients (r, m) and data (n_l, m) as a tensor over the axes, lifting functions last."""
        sizes = [f.size + f.lift_size for f in self.factors]
        full = np.zeros((*sizes, coefficients.shape[1]))
        full[tuple(self.indices.T)] = coefficients
        if lifted is not None:
            full[tuple(self.lift_indices.T)] = lifted
        return full

    def evaluate(self, x: Array, name: str, derivative: Derivative) -> Array:
        """Return one derivative of the basis, shape (n, r)."""
        return self.operator(x, [Term(name, derivative)])

    def _combine(self, x: Array, terms: Sequence[Term], indices: Array) -> Array:
        cache: dict[tuple[int, int], Array] = {}
        out = np.zeros((len(x), len(indices)))
        for term in terms:
            for alpha, factor in pure(term.derivative, len(self.factors)):
                part = self._axis_product(x, alpha, indices, cache)
                coefficient = np.asarray(term.coefficient, dtype=float) * factor
                out += part * (coefficient if coefficient.ndim == 0 else coefficient[:, None])
        return out

    def _axis_product(
        self, x: Array, alpha: tuple[int, ...], indices: Array, cache: dict[tuple[int, int], Array]
    ) -> Array:
        result: Array | None = None
        for axis, order in enumerate(alpha):
            if (axis, order) not in cache:
                cache[axis, order] = self._axis_values(axis, x[:, axis], order)
            columns = cache[axis, order][:, indices[:, axis]]
            if result is None:
                result = columns
            else:
                result *= columns
        assert result is not None
        return result

    def _axis_values(self, axis: int, x: Array, order: int) -> Array:
        """Evaluate basis and lifting functions of one axis, once per distinct coordinate."""
        distinct, inverse = np.unique(x, return_inverse=True)
        factor, name = self.factors[axis], self.fields[0]
        terms = [Term(name, Derivative((order,)))]
        column = distinct[:, None]
        table = np.concatenate([factor.operator(column, terms), factor.lift_operator(column, terms)], axis=1)
        return table[inverse]

    # ---- lifting of boundary data -----------------------------------------------------------------

    def side_maps(self, conditions: Sequence[tuple[int, int]]) -> list[Array]:
        """Return for each boundary condition the map from its data to lifting coefficients.

        ``conditions`` lists ``(axis, row)``: the axis of the condition and its row among the rows of that
        axis. Its data are sampled on the tensor grid of the other axes' points. A coefficient that
        several conditions determine (at edges and corners) is averaged.
        """
        fits = [self._axis_fit(axis) for axis in range(len(self.factors))]
        edges = self.lift_indices >= np.array([f.size for f in self.factors])
        share = 1.0 / np.maximum(1, edges.sum(axis=1))
        maps = []
        for axis, row in conditions:
            own = self.lift_indices[:, axis] == self.factors[axis].size + row
            weights = np.where(own, share, 0.0)[:, None]
            for other in (i for i in range(len(self.factors)) if i != axis):
                matrix = fits[other][self.lift_indices[:, other]]
                weights = (weights[:, :, None] * matrix[:, None, :]).reshape(self.lift_size, -1)
            maps.append(weights)
        return maps

    def _axis_fit(self, axis: int) -> Array:
        """Return the map from values at the points of an axis to coefficients of its functions."""
        points = self.factors[axis].points
        weight = np.sqrt(points.weights)
        table = self._axis_values(axis, points.x[:, 0], 0)
        return np.asarray(sla.pinv(weight[:, None] * table, rtol=1e-13) * weight)
