"""Operators on tensor grids and on products of functions, applied axis by axis and never multiplied out.

A₁ ⊗ A₂ ⊗ A₃ acts on tensors (n₁, n₂, n₃), the last axis varying fastest. Of all products of functions some may be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import product
from math import prod
from typing import Any

import numpy as np

from frozenpinn.errors import SettingsError
from frozenpinn.operators import tensor
from frozenpinn.operators.algebra import Block
from frozenpinn.operators.dense import Dense, Identity
from frozenpinn.operators.eigen import WELL_CONDITIONED, detect, eigensystem
from frozenpinn.operators.factors import SpectralFactor
from frozenpinn.operators.protocol import Array, Factor, Operator, Scalar, Spectrum, Tag, Tags, scale_rows
from frozenpinn.operators.tensor import AxisFactor, Product, Selection, axis_steps, by_steps


def kronecker(*factors: AxisFactor, rows: Selection | None = None, columns: Selection | None = None) -> KroneckerSum:
    """Return F₁ ⊗ F₂ ⊗ …, restricted to kept rows and columns.

    >>> kronecker(np.array([[1.0, 2.0]]), Identity(2)).dense()
    array([[1., 0., 2., 0.],
           [0., 1., 0., 2.]])
    """
    return KroneckerSum((Product(factors),), rows, columns)


@dataclass(frozen=True, eq=False)
class KroneckerSum(Operator):
    """A sum of products over axes, all of the same sizes.

    Attributes
    ----------
    products
        The terms. A factor that is the identity up to round-off becomes :class:`Identity`, which costs nothing.
    rows, columns
        Which entries of the tensors are kept; None keeps all. Weights of a product belong to kept entries only.
        Operators fit together where they share one selection, not a copy of it.

    Examples
    --------
    A Laplacian is diagonalised axis by axis:

    >>> D = np.array([[-2.0, 1.0], [1.0, -2.0]])
    >>> laplacian = kronecker(D, Identity(2)) + kronecker(Identity(2), D)
    >>> laplacian.spectrum().eigenvalues
    array([-6., -4., -4., -2.])
    """

    products: tuple[Product, ...]
    rows: Selection | None = None
    columns: Selection | None = None

    def __post_init__(self) -> None:
        plain = tuple(map(tensor.simplified_product, self.products))
        object.__setattr__(self, "products", plain)
        if self._fits(plain):
            return
        for side, kept in enumerate((self.rows, self.columns)):
            sizes = {tuple(f.shape[side] for f in p.factors) for p in plain} | ({kept.sizes} if kept else set())
            weights = {len(w) for p in plain if (w := (p.left, p.right)[side]) is not None}
            if len(sizes) > 1 or weights - {self.shape[side]}:
                raise SettingsError(
                    f"{('rows', 'columns')[side]} of a Kronecker sum disagree: axes of sizes {sorted(sizes)}, "
                    f"{self.shape[side]} kept, {sorted(weights) or 'no'} weights."
                )

    def _fits(self, products: tuple[Product, ...]) -> bool:
        """Whether all products have the same sizes and no weights, and kept entries are of such tensors."""
        shapes = [f.shape for f in products[0].factors]
        for p in products:
            if p.left is not None or p.right is not None or [f.shape for f in p.factors] != shapes:
                return False
        sides = enumerate((self.rows, self.columns))
        return all(kept is None or kept.sizes == tuple(shape[side] for shape in shapes) for side, kept in sides)

    def _sizes(self, side: int) -> tuple[int, ...]:
        return tuple(f.shape[side] for f in self.products[0].factors)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        sides = enumerate((self.rows, self.columns))
        rows, columns = (len(kept.flat) if kept else prod(self._sizes(side)) for side, kept in sides)
        return rows, columns

    @property
    def T(self) -> KroneckerSum:  # noqa: N802
        """The transposed map."""
        turned = tuple(Product(tuple(f.T for f in p.factors), p.scale, p.right, p.left) for p in self.products)
        return KroneckerSum(turned, self.columns, self.rows)

    @cached_property
    def tags(self) -> Tags:
        """Symmetric or skew if all products are, by the symmetries of their factors."""
        signs = {tensor.sign_of(p) for p in self.products} if self.rows is self.columns else set()
        return frozenset({Tag.SYMMETRIC} if signs == {1} else {Tag.SKEW} if signs == {-1} else ())

    @property
    def axis_factors(self) -> tuple[AxisFactor, ...] | None:
        """The factors of a product over axes with nothing left out or weighted; None of other operators."""
        factors, scale, left, right = self.products[0]
        plain = len(self.products) == 1 and scale == 1.0 and self.rows is None is self.columns
        return factors if plain and left is None and right is None else None

    @property
    def axis_products(self) -> tuple[Product, ...]:
        """The terms, if all entries of the tensors are kept."""
        return self.products if self.rows is None and self.columns is None else ()

    # ---- application ------------------------------------------------------------------------------

    @cached_property
    def _steps(self) -> tuple[tuple[tensor.Step, ...], ...]:
        """In which order the factors of each product are applied."""
        return tuple(tensor.axis_steps(p.factors) for p in self.products)

    def _apply(self, block: Array) -> Array:
        total: Array | None = None
        full = self._scattered(block)  # once for all products
        rows = self.shape[0] if self.rows is None else prod(self.rows.sizes)
        for steps, (_, scale, left, right) in zip(self._steps, self.products, strict=True):
            x = tensor.by_steps(steps, rows, full if right is None else self._scattered(scale_rows(right, block)))
            x = x if self.rows is None else x[self.rows.flat]
            x = x if left is None else scale_rows(left, x)
            if scale != 1.0:
                x = scale * x
            total = x if total is None else total + x
        assert total is not None
        return total.copy() if np.may_share_memory(total, block) else total  # where nothing happens

    def _scattered(self, block: Array) -> Array:
        return block if self.columns is None else self.columns.scatter(block)

    def _columns(self, part: slice) -> Array:
        i, j = (tensor.kept_indices(kept, self._sizes(side)) for side, kept in enumerate((self.rows, self.columns)))
        j, out = j[part], np.zeros(())
        for factors, scale, left, right in self.products:
            term = np.full((1, 1), scale)
            for axis, factor in enumerate(factors):
                term = term * tensor.entries_of(factor, i[:, axis], j[:, axis])
            term = term if left is None else left[:, None] * term
            out = out + (term if right is None else term * right[part])
        return out

    # ---- algebra ------------------------------------------------------------------------------------

    def __add__(self, other: Operator) -> Operator:
        if isinstance(other, KroneckerSum) and self.rows is other.rows and self.columns is other.columns:
            return replace(self, products=self.products + other.products)
        return super().__add__(other)

    def __rmul__(self, scale: Scalar) -> Operator:
        return replace(self, products=tuple(p._replace(scale=scale * p.scale) for p in self.products))

    def __matmul__(self, other: Any) -> Any:
        """Apply to a vector or a block, or compose: axis by axis where nothing is selected or weighted in between."""
        if isinstance(other, np.ndarray) or not isinstance(other, KroneckerSum) or self.columns or other.rows:
            return super().__matmul__(other)
        if any(p.right is not None for p in self.products) or any(q.left is not None for q in other.products):
            return super().__matmul__(other)
        pairs = product(self.products, other.products)
        composed = (
            Product(tuple(map(tensor.multiplied, p.factors, q.factors)), p.scale * q.scale, p.left, q.right)
            for p, q in pairs
        )
        return KroneckerSum(tuple(composed), self.rows, other.columns)

    def multiple_of_identity(self, tolerance: float) -> float | None:
        """Return δ if every product is a multiple of the identity."""
        if any(tensor.active_axes(p.factors) or p.is_weighted for p in self.products):
            return None
        return float(sum(np.real(p.scale) for p in self.products))

    # ---- spectrum -------------------------------------------------------------------------------------

    def factorise(self, shift: Scalar = 0.0) -> Factor:
        """Divide in modal coordinates if there are such and they are well conditioned."""
        spectrum = self.spectrum()
        if spectrum is None or spectrum.condition > WELL_CONDITIONED:
            return super().factorise(shift)
        parts = [shift, *(x for p in self.products for x in (p.scale, *p.factors) if not isinstance(x, Identity))]
        return SpectralFactor(spectrum, shift, real=all(map(np.isrealobj, parts)))

    def spectrum(self, rate: float | None = None) -> Spectrum | None:
        """Diagonalise Σ I ⊗ … ⊗ Aₐ ⊗ … ⊗ I axis by axis, if all entries of the tensor are kept; else return None."""
        matrices = self.axis_matrices()
        if matrices is None:
            return None
        parts = [part for a in matrices if (part := eigensystem(a, detect(a), rate))]
        if len(parts) < len(matrices):
            return None
        eigenvalues = reduce(np.add.outer, [p.eigenvalues for p in parts]).ravel()
        vectors = kronecker(*(p.vectors for p in parts), rows=self.rows)
        left = kronecker(*(p.left for p in parts), columns=self.rows)
        return Spectrum(eigenvalues, vectors, left, prod(p.condition for p in parts))

    def axis_matrices(self) -> list[Array] | None:
        """Return the Aₐ of a true Kronecker sum, None if it is another."""
        sizes = self._sizes(0)
        if sizes != self._sizes(1) or self.rows is not self.columns or self.shape[0] < prod(sizes):
            return None
        sums: list[Array] = [np.zeros((n, n)) for n in sizes]
        for p in self.products:
            axes = tensor.active_axes(p.factors)
            if len(axes) > 1 or p.is_weighted:
                return None
            axis = axes[0] if axes else 0
            factor = p.factors[axis]
            sums[axis] = sums[axis] + p.scale * (factor if isinstance(factor, np.ndarray) else factor.dense())
        return sums


def mapping(operator: Operator) -> Callable[[Array], Array]:
    """Return x → operator·x for vectors of the right length.

    >>> from frozenpinn.operators import kronecker
    >>> mapping(kronecker(np.array([[0.0, 1.0], [1.0, 0.0]]), 2.0 * np.eye(2)))(np.arange(4.0))
    array([4., 6., 0., 2.])
    """
    factors = operator.axis_factors
    if factors is None or not tensor.active_axes(factors):
        return operator.__matmul__
    if len(factors) == 2 and isinstance(factors[0], np.ndarray) and isinstance(factors[1], np.ndarray):
        return _of_two(factors[0], factors[1])
    steps, rows = axis_steps(factors), operator.shape[0]
    return lambda x: by_steps(steps, rows, x)


def _of_two(first: Array, second: Array) -> Callable[[Array], Array]:
    """Return the map of a product of two matrices, the one that shrinks a tensor more before the other."""
    before, turned = (first.shape[1], second.shape[1]), np.ascontiguousarray(second.T)
    if len(first) * before[1] * (before[0] + len(second)) <= len(second) * before[0] * (before[1] + len(first)):
        return lambda x: ((first @ x.reshape(before)) @ turned).reshape(-1)
    return lambda x: (first @ (x.reshape(before) @ turned)).reshape(-1)


def stack(operators: Sequence[Operator]) -> Operator:
    """Return [A; B; …]: one matrix if all are dense, so that a product with it is one call; else blocks.

    >>> stack([Dense(np.eye(2)), Dense(np.ones((1, 2)))]).dense()
    array([[1., 0.],
           [0., 1.],
           [1., 1.]])
    """
    if len(operators) == 1:
        return operators[0]
    matrices = [operator.matrix for operator in operators if isinstance(operator, Dense)]
    if len(matrices) == len(operators):
        return Dense(np.concatenate(matrices))
    products = [p for o in operators if isinstance(o, KroneckerSum) and (p := _single(o)) is not None]
    if len(products) == len(operators):
        return KroneckerStack(tuple((operator,) for operator in operators), tuple(_shared(products)))
    return Block(tuple((operator,) for operator in operators))


def _shared(products: Sequence[Product]) -> list[Product]:
    """Return the same products with one object for equal factors of an axis."""
    known: list[list[AxisFactor]] = [[] for _ in products[0].factors]

    def same(axis: int, factor: AxisFactor) -> AxisFactor:
        for other in known[axis]:
            if isinstance(other, np.ndarray) and isinstance(factor, np.ndarray):
                if np.array_equal(other, factor):
                    return other
            elif type(other) is type(factor):  # identities of one size
                return other
        known[axis].append(factor)
        return factor

    return [p._replace(factors=tuple(same(axis, f) for axis, f in enumerate(p.factors))) for p in products]


def _single(operator: KroneckerSum) -> Product | None:
    """Return the only product of an operator on whole tensors."""
    plain = len(operator.products) == 1 and operator.rows is None and operator.columns is None
    return operator.products[0] if plain and not operator.products[0].is_weighted else None


@dataclass(frozen=True, eq=False)
class KroneckerStack(Block):
    """Kronecker products of the same tensor; what leading axes have in common is computed once."""

    products: tuple[Product, ...] = ()

    def _apply(self, block: Array) -> Array:
        known: dict[tuple[int, ...], Array] = {}
        parts = []
        for own in self.products:
            x, key = block, tuple[int, ...]()
            for axis, factor in enumerate(own.factors):
                key = (*key, id(factor))
                if key not in known:
                    sizes = [f.shape[0] for f in own.factors[:axis]] + [f.shape[1] for f in own.factors[axis:]]
                    known[key] = tensor.along_axis(factor, axis, x, sizes)
                x = known[key]
            parts.append(x if own.scale == 1.0 else own.scale * x)
        return np.concatenate(parts)
