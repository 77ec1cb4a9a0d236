"""Product network on boxes: u = Σ C_ij ψᵢ(x) ψⱼ(y), each factor a frozen network of one axis.

Every factor obeys the conditions at the two ends of its axis exactly, so every product does. The factors are
orthonormal, so the products are. All products are kept: the coefficients are a tensor, and every map is applied axis
by axis. Boundary data are lifted by products in which at least one factor is a lifting function of its axis
(transfinite interpolation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from math import prod

import numpy as np
import scipy.linalg as sla

from frozenpinn.basis.along_axes import at_scattered, axis_summands, functions_of, on_grid
from frozenpinn.basis.galerkin import project_terms
from frozenpinn.basis.hidden import Derivative, Term, pure
from frozenpinn.basis.network import Network
from frozenpinn.basis.protocol import Basis, PointSet
from frozenpinn.basis.svd_layer import pseudo_inverse
from frozenpinn.errors import SettingsError
from frozenpinn.geometry.points import FEW_PLACES, axes_of
from frozenpinn.operators import KroneckerSum, Operator, Product, ProductSum, Selection, kronecker, tensor
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.memo import remembered

Array = np.ndarray
SMALL = 50_000  #: entries of a table of an axis, which then is kept, with its projection, …
LOW = 2  #: … of derivatives up to this order: they are evaluated together


def keeps_tables(factor: Network) -> bool:
    """Whether tables of an axis are so small that they may be kept."""
    return len(factor.points.weights) * factor.size <= SMALL


def inverse_of(basis: Array, others: Array) -> Array:
    """Return the pseudo-inverse of the columns of an orthonormal basis and some others, from what these add to it."""
    apart = 1e-6  # part of lifting functions outside the basis that is more than round-off
    along = basis.T @ others
    rest = others - basis @ along
    again = basis.T @ rest  # the first pass loses digits
    rest -= basis @ again
    along += again
    if not others.shape[1]:
        return basis.T
    r, inverse, info = sla.lapack.dgels(rest, np.eye(len(rest)))
    if info or not np.min(np.abs(np.diagonal(r))) > apart * np.max(np.abs(others)):
        return pseudo_inverse(np.concatenate([basis, others], axis=1), 1e-13)[0]
    below = inverse[: others.shape[1]]
    return np.concatenate([basis.T - along @ below, below])


@lru_cache(maxsize=16)
def with_lifts(sizes: tuple[int, ...], lifts: tuple[int, ...]) -> Selection:
    """Return the entries of a tensor of basis and lifting functions that belong to one of the latter at least."""
    outer = [(0, own) for own in lifts]
    chosen = np.argwhere(~np.pad(np.ones(sizes, dtype=bool), outer))
    return Selection(read_only(chosen), tuple(size + own for size, own in zip(sizes, lifts, strict=True)))


@remembered
def projected_table(factor: Network, order: int) -> Array:
    """Return the projection of a derivative of basis and lifting functions of one axis onto the basis."""
    return read_only(axis_projector(factor) @ axis_table(factor, order))


@remembered
def _low_tables(factor: Network) -> tuple[Array, ...]:
    """Return basis and lifting functions of one axis and their first two derivatives at its points."""
    return _tables(factor, range(LOW + 1))


def _tables(factor: Network, orders: Sequence[int]) -> tuple[Array, ...]:
    found = factor.derivatives(factor.points.x, orders)
    if orders[0] == 0:
        found[0][:, : factor.size] = factor.point_values(factor.fields[0])  # as accurate as they are known
    return tuple(map(read_only, found))


@remembered
def axis_table(factor: Network, order: int) -> Array:
    """Return a derivative of basis and lifting functions of one axis at its points."""
    return _low_tables(factor)[order] if order <= LOW and keeps_tables(factor) else _tables(factor, [order])[0]


@remembered
def axis_projector(factor: Network) -> Array:
    """Return the map from values at the points of an axis to coefficients."""
    return read_only(factor.projector().dense())


@remembered
def axis_fit(factor: Network) -> Array:
    """Return the map from values at the points of an axis to coefficients of its basis and lifting functions."""
    weight = np.sqrt(factor.points.weights)
    table = weight[:, None] * axis_table(factor, 0)
    return read_only(inverse_of(table[:, : factor.size], table[:, factor.size :]) * weight)


@remembered
def compliance(factor: Network) -> Array:
    """Return the map of coefficients of an axis that replaces lifting functions by their best fit in the basis."""
    size = factor.size
    out = np.eye(size + factor.lift_size)
    out[:size, size:] = axis_projector(factor) @ axis_table(factor, 0)[:, size:]
    out[size:] = 0.0
    return read_only(out)


@dataclass(frozen=True, eq=False)
class ProductNetwork:
    """Products of one-dimensional networks; the same interface as :class:`Network`.

    Attributes
    ----------
    factors
        One compressed network per axis.
    points
        Tensor grid whose axes are the points of the factors.
    lifts
        Whether boundary data are lifted.
    """

    factors: tuple[Network, ...]
    points: PointSet
    lifts: bool = False
    fields: tuple[str, ...] = ("u",)
    is_product = True

    @property
    def is_broken(self) -> bool:
        """Whether functions of an axis have kinks or jumps inside it."""
        return any(factor.is_broken for factor in self.factors)

    is_orthonormal = True  #: as the factors are

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Functions of each axis: the shape of the tensor of coefficients."""
        return tuple(f.size for f in self.factors)

    @property
    def size(self) -> int:
        """Number of basis functions."""
        return prod(self.sizes)

    @property
    def lift_size(self) -> int:
        """Number of lifting functions."""
        return len(self._lifted.flat) if self.lifts else 0

    @property
    def width(self) -> int:
        """Number of neurons of all axes together."""
        return sum(f.width for f in self.factors)

    @property
    def raw_size(self) -> int:
        """Number of products of features behind the basis."""
        return prod(f.raw_size for f in self.factors)

    @property
    def flops(self) -> float:
        """Floating point operations of a map between coefficients and values at the grid, axis by axis."""
        counts = [len(f.points.weights) for f in self.factors]
        sizes = zip(self.sizes, counts, strict=True)
        return 2.0 * sum(prod(counts[:a]) * n * r * prod(self.sizes[a + 1 :]) for a, (r, n) in enumerate(sizes))

    @cached_property
    def singular_values(self) -> Array:
        """Products of the factors' singular values, relative to the largest, in the order of the coefficients."""
        return reduce(np.multiply.outer, (f.singular_values / f.singular_values[0] for f in self.factors)).ravel()

    @property
    def all_singular_values(self) -> Array:
        """The kept ones: the others are never formed."""
        return self.singular_values

    def shares(self, coefficients: Array) -> tuple[float, ...]:
        """Return the norms of the finest parts of a state along each axis."""
        return tuple(
            float(np.linalg.norm(tensor.along_axis(f.finest, axis, coefficients, self.sizes)))
            for axis, f in enumerate(self.factors)
        )

    def truncate(self, rank: int) -> ProductNetwork:
        """Products are kept as a whole."""
        if rank < self.size:
            raise SettingsError("a product network can't be truncated; give a larger cutoff to its factors.")
        return self

    # ---- maps between coefficients and values on the grid ------------------------------------------------

    def table(self, axis: int, order: int) -> Array:
        """Return a derivative of the functions of one axis at its points, shape (n, r)."""
        return self._tables(order)[axis][:, : self.sizes[axis]]

    def at_axis(self, axis: int, order: int) -> Array:
        """Return the same as ``table``, and keep no table."""
        factor = self.factors[axis]
        return np.asarray(factor.at_points([Term(factor.fields[0], Derivative((order,)))]).dense())

    def projected_table(self, axis: int, order: int) -> Array | None:
        """Return the projection of a derivative of the functions of an axis onto them; None if tables are large."""
        factor = self.factors[axis]
        if not keeps_tables(factor) or order > LOW:
            return None
        return projected_table(factor, order)[:, : self.sizes[axis]]

    def lifted_projection(self, terms: Sequence[Term], lifted: Array) -> Array | None:
        """Return the coefficients of Σ number·D of what boundary data lift; None if that takes values at the points."""
        small = all(map(keeps_tables, self.factors))
        if not small or any(np.ndim(term.coefficient) or term.derivative.order > LOW for term in terms):
            return None
        full = self.tensor(np.zeros((self.size, 1)), lifted[:, None]).reshape(-1)
        out = np.zeros(self.size)
        for term in terms:
            for alpha, factor in pure(term.derivative, len(self.factors)):
                tables = [projected_table(f, order) for f, order in zip(self.factors, alpha, strict=True)]
                out += (factor * float(term.coefficient)) * tensor.along_axes(tables, full)
        return out

    def _tables(self, order: int) -> tuple[Array, ...]:
        """Return a derivative of basis and lifting functions of every axis at its points."""
        return tuple(axis_table(f, order) for f in self.factors)

    def at_points(self, terms: Sequence[Term]) -> Operator:
        """Return the map from coefficients to Σ coefficient·D at the tensor grid, axis by axis."""
        return self._on_grid(terms, self.table)

    def lift_at_points(self, terms: Sequence[Term]) -> Operator:
        """Return the map from boundary data to Σ coefficient·D of what they lift, at the tensor grid."""
        return self._on_grid(terms, lambda axis, order: self._tables(order)[axis], self._lifted)

    def _on_grid(self, terms: Sequence[Term], table: tensor.Tables, columns: Selection | None = None) -> Operator:
        products = []
        for term in terms:
            for alpha, factor in pure(term.derivative, len(self.factors)):
                factors = tuple(table(axis, order) for axis, order in enumerate(alpha))
                coefficient = np.asarray(term.coefficient, dtype=float) * factor
                if coefficient.ndim:
                    products.append(Product(factors, left=coefficient))
                else:
                    products.append(Product(factors, float(coefficient)))
        if not products:
            products = [Product(tuple(table(axis, 0) for axis in range(len(self.factors))), 0.0)]
        return KroneckerSum(tuple(products), columns=columns)

    def projector(self, rcond: float | None = None) -> Operator:
        """Return the map from values at the tensor grid to coefficients, axis by axis."""
        return self._projector

    @cached_property
    def _projector(self) -> Operator:
        return kronecker(*self.projectors)

    @cached_property
    def projectors(self) -> tuple[Array, ...]:
        """The maps from values at the points of each axis to coefficients."""
        return tuple(map(axis_projector, self.factors))

    def projected_products(self, tables: Sequence[Array]) -> ProductSum | None:
        """Return the coefficients of Σₖ Πₐ fₐₖ, given by tables (n, k) of the factors at the points of each axis.

        None if the products cancel so that digits are lost, or are too large for a float.
        """
        cancelling = 100.0  # products this many times larger than their sum lose digits
        with np.errstate(all="ignore"):
            found = ProductSum(tuple(p @ f for p, f in zip(self.projectors, tables, strict=True)))
            pairs = found.inner_products
            return found if pairs.diagonal().max() <= cancelling**2 * pairs.sum() < np.inf else None

    def galerkin(self, terms: Sequence[Term], source: Basis) -> Operator | None:
        """Return the projection of Σ coefficient·D of the functions of a product; None of other ones."""
        return project_terms(self, source, terms) if isinstance(source, ProductNetwork) else None

    @cached_property
    def _lifted(self) -> Selection:
        """The products with a lifting function, among those of all functions of the axes."""
        return with_lifts(self.sizes, tuple(f.lift_size for f in self.factors))

    # ---- anywhere ------------------------------------------------------------------------------------------

    def operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D of every product, shape (n, r): large, so for few points only."""
        inner = tuple(slice(size) for size in self.sizes)
        return self._all_functions(x, terms)[:, *inner].reshape(len(x), self.size)

    def lift_operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D of every lifting function, shape (n, n_l): large, so for few points only."""
        if not self.lifts:
            return np.zeros((len(x), 0))
        values = self._all_functions(x, terms)
        return values.reshape(len(x), prod(values.shape[1:]))[:, self._lifted.flat]

    def _all_functions(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D of products of basis and lifting functions, shape (n, r₁ + l₁, …)."""
        out = np.zeros((len(x), *(f.size + f.lift_size for f in self.factors)))
        for term in terms:
            for own, scale in axis_summands([term._replace(coefficient=1.0)]):
                part = scale * np.broadcast_to(term.coefficient, len(x)).reshape(len(x), *(1,) * len(self.factors))
                for axis, (factor, of_axis) in enumerate(zip(self.factors, own, strict=True)):
                    table = functions_of(factor, x[:, axis : axis + 1], of_axis)
                    part = part * np.expand_dims(table, [k + 1 for k in range(len(self.factors)) if k != axis])
                out += part
        return out

    def combine(self, x: Array, terms: Sequence[Term], coefficients: Array, lifted: Array | None = None) -> Array:
        """Return Σ coefficient·D of the functions with given coefficients (r, m) and data (n_l, m), shape (n, m)."""
        full = self.tensor(coefficients, lifted)
        numbers = [t for t in terms if not np.ndim(t.coefficient)]
        axes = axes_of(x, FEW_PLACES) if len(numbers) == len(terms) else None
        if axes is not None:
            return on_grid(self.factors, axes, terms, full).reshape(len(x), -1)
        out = at_scattered(self.factors, x, numbers, full)
        for term in (t for t in terms if np.ndim(t.coefficient)):
            out += np.asarray(term.coefficient)[:, None] * at_scattered(
                self.factors, x, [term._replace(coefficient=1.0)], full
            )
        return out

    def tensor(self, coefficients: Array, lifted: Array | None = None) -> Array:
        """Return coefficients (r, m) and data (n_l, m) as a tensor over the axes, lifting functions last."""
        columns = coefficients.shape[1]
        if not any(f.lift_size for f in self.factors):
            return coefficients.reshape(*self.sizes, columns)
        full = np.zeros((*(f.size + f.lift_size for f in self.factors), columns), coefficients.dtype)
        full[tuple(map(slice, self.sizes))] = coefficients.reshape(*self.sizes, columns)
        if lifted is not None and self.lifts:
            full.reshape(prod(full.shape[:-1]), columns)[self._lifted.flat] = lifted
        return full

    def on_axes(
        self,
        axes: Sequence[Array],
        derivatives: Sequence[tuple[tuple[int, ...], int]],
        coefficients: Array,
        lifted: Array | None = None,
    ) -> list[Array]:
        """Return derivatives (alpha, laps) of one function on the grid of some coordinates, shape (n₁, n₂, …) each.

        Neurons are evaluated once for all of them.
        """
        full = self.tensor(coefficients[:, None], None if lifted is None else lifted[:, None])[..., 0]
        pures = [pure(Derivative(alpha, laps), len(axes)) for alpha, laps in derivatives]
        tables = []
        for axis, (factor, x) in enumerate(zip(self.factors, axes, strict=True)):
            orders = sorted({alpha[axis] for parts in pures for alpha, _ in parts})
            tables.append(dict(zip(orders, factor.derivatives(x[:, None], orders), strict=True)))
        out = []
        for parts in pures:
            terms = [
                scale * tensor.along_axes([tables[axis][k] for axis, k in enumerate(alpha)], full.reshape(-1))
                for alpha, scale in parts
            ]
            out.append(sum(terms[1:], terms[0]).reshape([len(x) for x in axes]))
        return out

    def evaluate(self, x: Array, name: str, derivative: Derivative) -> Array:
        """Return one derivative of the basis, shape (n, r): large, so for few points only."""
        return self.operator(x, [Term(name, derivative)])

    # ---- lifting of boundary data -----------------------------------------------------------------

    @remembered
    def side_maps(self, conditions: tuple[tuple[int, int], ...]) -> tuple[Operator, ...]:
        """Return for each boundary condition the map from its data to lifting coefficients.

        ``conditions`` lists ``(axis, row)``: the axis of the condition and its row among the rows of that
        axis. Its data are sampled on the tensor grid of the other axes' points.

        Axis by axis, what the data ask for beyond what is lifted already is lifted by functions that obey the
        conditions of the axes before. Where the data of two sides agree at their common edge, both are met; where they
        don't, those of the later axis are fitted in the mean, and no error spreads along the whole side.
        """
        d = len(self.factors)
        fits = list(map(axis_fit, self.factors))
        masks = [np.arange(len(fit)) >= r for fit, r in zip(fits, self.sizes, strict=True)]
        compliant = list(map(compliance, self.factors))
        maps: list[Operator] = []
        for axis, row in conditions:
            unit = np.zeros((len(fits[axis]), 1))
            unit[self.sizes[axis] + row] = 1.0
            factors = [unit if k == axis else compliant[k] @ fit if k < axis else fit for k, fit in enumerate(fits)]
            found = [Product(tuple(factors))]
            for later in range(axis + 1, d):  # its side must not be changed by what was lifted before
                found += [
                    Product(
                        tuple(
                            f * masks[k][:, None] if k == later else compliant[k] @ f if k < later else f
                            for k, f in enumerate(map(np.asarray, p.factors))
                        ),
                        -p.scale,
                    )
                    for p in found
                ]
            maps.append(KroneckerSum(tuple(found), rows=self._lifted))
        return tuple(maps)
