"""Tensors, kept entries of tensors, and matrices that act on one axis each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np

from frozenpinn.errors import SettingsError
from frozenpinn.operators.dense import Identity
from frozenpinn.operators.eigen import detect
from frozenpinn.operators.protocol import Array, Scalar, Tag
from frozenpinn.runtime.round_off import SUMMED

AxisFactor: TypeAlias = Array | Identity
Tables: TypeAlias = Callable[[int, int], Array]  #: from axis and order of a derivative to its table


@dataclass(frozen=True, eq=False)
class Selection:
    """Kept entries of a tensor: ``indices`` (r, d) into a tensor of ``sizes``, each at most once."""

    indices: Array
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(np.unique(self.flat)) < len(self.flat):
            raise SettingsError("the indices of a Selection must differ; some products are listed twice.")

    @cached_property
    def flat(self) -> Array:
        """Positions in the flattened tensor."""
        return np.ravel_multi_index(tuple(self.indices.T), self.sizes)

    def scatter(self, block: Array) -> Array:
        """Put the rows of a vector or block at their places among zeros."""
        out = np.zeros((prod(self.sizes), *block.shape[1:]), block.dtype)
        out[self.flat] = block
        return out


class Product(NamedTuple):
    """scale · diag(left) · (F₁ ⊗ F₂ ⊗ …) · diag(right); None stands for ones."""

    factors: tuple[AxisFactor, ...]
    scale: Scalar = 1.0
    left: Array | None = None
    right: Array | None = None

    @property
    def is_weighted(self) -> bool:
        """Whether rows or columns have weights."""
        return self.left is not None or self.right is not None


def active_axes(factors: Sequence[AxisFactor]) -> list[int]:
    """Return the axes on which something happens."""
    return [axis for axis, f in enumerate(factors) if isinstance(f, np.ndarray)]  # faster than asking for identities


def simplified(factor: AxisFactor) -> AxisFactor:
    """Return the identity for a matrix that differs from it by round-off only."""
    if not isinstance(factor, np.ndarray) or factor.shape[0] != factor.shape[1]:
        return factor
    if len(factor) and abs(factor.item(0) - 1.0) > SUMMED:  # the first entry decides, mostly
        return factor
    if np.max(np.abs(np.diagonal(factor) - 1.0), initial=0.0) > SUMMED:
        return factor
    gap = np.max(np.abs(factor - np.eye(len(factor))), initial=0.0)
    return Identity(len(factor)) if gap <= SUMMED else factor


def simplified_product(product: Product) -> Product:
    """Return a product with identities for all factors that are such up to round-off."""
    for factor in product.factors:
        if isinstance(factor, np.ndarray) and factor.shape[0] == factor.shape[1]:
            return product._replace(factors=tuple(map(simplified, product.factors)))
    return product


def multiplied(first: AxisFactor, second: AxisFactor) -> AxisFactor:
    """Return the product of two matrices of one axis."""
    if not isinstance(first, np.ndarray):
        return second
    return first @ second if isinstance(second, np.ndarray) else first


def spectral_norm(factor: AxisFactor) -> float:
    """Return the largest singular value of a matrix of one axis."""
    return float(np.linalg.norm(factor, 2)) if isinstance(factor, np.ndarray) else 1.0


def sign_of(term: Product) -> int:
    """Return 1 for a symmetric product, −1 for a skew one, 0 for others."""
    if term.is_weighted or np.iscomplexobj(term.scale):
        return 0
    tags = [detect(f) if isinstance(f, np.ndarray) else f.tags for f in term.factors]
    return prod(1 if Tag.SYMMETRIC in t else -1 if Tag.SKEW in t else 0 for t in tags)


def kept_indices(kept: Selection | None, sizes: tuple[int, ...]) -> Array:
    """Return the indices of all kept entries, shape (r, d)."""
    return np.indices(sizes).reshape(len(sizes), -1).T if kept is None else kept.indices


def entries_of(factor: AxisFactor, i: Array, j: Array) -> Array:
    """Return the entries of a matrix in given rows and columns, shape (len(i), len(j))."""
    if not isinstance(factor, np.ndarray):
        return np.equal.outer(i, j)
    return factor.take(j, axis=1).take(i, axis=0)  # in the end whole rows are copied: faster than np.ix_


class Step(NamedTuple):
    """A factor, and how many entries of a tensor lie before and after its axis when its turn comes."""

    factor: Array
    before: int
    after: int


def axis_steps(factors: Sequence[AxisFactor]) -> tuple[Step, ...]:
    """Return in which order factors are applied to a tensor: those that shrink it most first."""
    sizes, steps = [f.shape[1] for f in factors], []
    axes = active_axes(factors)
    if len(axes) > 1:
        axes.sort(key=lambda a: _cost(*factors[a].shape))
    for axis in axes:
        steps.append(Step(np.asarray(factors[axis]), prod(sizes[:axis]), prod(sizes[axis + 1 :])))
        sizes[axis] = factors[axis].shape[0]
    return tuple(steps)


def along_axes(factors: Sequence[AxisFactor], block: Array) -> Array:
    """Apply one factor to each axis of a flattened tensor."""
    return by_steps(axis_steps(factors), prod(f.shape[0] for f in factors), block)


def by_steps(steps: Sequence[Step], rows: int, block: Array) -> Array:
    """Apply factors in the order of some steps; the result has so many rows."""
    tail = block.shape[1:]
    x, columns = block, prod(tail)
    for factor, before, after in steps:
        x = _multiplied(factor, x, before, after * columns)
    return x.reshape(rows, *tail)


def along_axis(factor: AxisFactor, axis: int, block: Array, sizes: Sequence[int]) -> Array:
    """Apply a factor to one axis of a flattened tensor of given sizes; further columns may follow."""
    if not isinstance(factor, np.ndarray):
        return block
    tail = block.shape[1:]
    found = _multiplied(factor, block, prod(sizes[:axis]), prod(sizes[axis + 1 :]) * prod(tail))
    return found.reshape(-1, *tail)


def _multiplied(factor: Array, block: Array, before: int, after: int) -> Array:
    """Multiply the middle axis of a tensor (before, n, after): one product of matrices if it is first or last."""
    if before == 1:
        return factor @ block.reshape(factor.shape[1], after)
    if after == 1:
        return block.reshape(before, factor.shape[1]) @ factor.T
    return factor @ block.reshape(before, factor.shape[1], after)


def _cost(rows: int, columns: int) -> float:
    """Return what to sort axes by for the fewest multiplications: two neighbours in this order cost least."""
    return 1.0 / max(columns, 1) - 1.0 / max(rows, 1)


def tails(block: Array) -> tuple[float, ...]:
    """Return the norm of the last tenth of a tensor along each axis."""
    lengths = [max(2, n // 10) for n in block.shape]
    return tuple(
        float(np.linalg.norm(np.take(block, range(max(0, n - k), n), axis=axis)))
        for axis, (n, k) in enumerate(zip(block.shape, lengths, strict=True))
    )


def separated(values: Array, rank: int, tolerance: float = 1e-13) -> list[tuple[Array, ...]] | None:
    """Write a tensor as a sum of at most ``rank`` products of vectors, one per axis; None if it takes more.

    >>> len(separated(np.array([[1.0, 2.0], [2.0, 4.0]]), 1))
    1
    """
    if values.ndim == 1:
        return [(values,)]
    flat = values.reshape(len(values), -1)
    u, s, vt = np.linalg.svd(flat, full_matrices=False)
    count = int(np.count_nonzero(s > tolerance * s[0])) if s.size and s[0] > 0 else 0
    if count > rank:
        return None
    products: list[tuple[Array, ...]] = []
    for k in range(count):
        scale = float(np.max(np.abs(u[:, k])))
        inner = separated((s[k] * scale * vt[k]).reshape(values.shape[1:]), rank - len(products), tolerance)
        if inner is None:
            return None
        products += [(u[:, k] / scale, *rest) for rest in inner]
    return products


@dataclass(frozen=True, eq=False)
class ProductSum:
    """Σₖ ⊗ₐ factorsₐ[:, k].

    Examples
    --------
    >>> ProductSum((np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]))).full()
    array([3., 4., 6., 8.])
    """

    factors: tuple[Array, ...]

    @classmethod
    def nothing(cls, sizes: Sequence[int]) -> ProductSum:
        """Return zero."""
        return cls(tuple(np.zeros((n, 0)) for n in sizes))

    @property
    def rank(self) -> int:
        """How many products there are."""
        return int(self.factors[0].shape[1])

    def full(self) -> Array:
        """Multiply out, the last axis varying fastest."""
        if len(self.factors) == 1:
            return np.asarray(self.factors[0].sum(axis=1))
        rest = self.factors[-1]
        for part in self.factors[-2:0:-1]:
            rest = (part[:, None] * rest).reshape(len(part) * len(rest), -1)
        return np.asarray(self.factors[0] @ rest.T).reshape(-1)

    def mapped(self, maps: Sequence[AxisFactor]) -> ProductSum:
        """Apply a matrix to each axis."""
        return ProductSum(tuple(np.asarray(m @ f) for m, f in zip(maps, self.factors, strict=True)))

    @property
    def norm(self) -> float:
        """The Euclidean norm; of products that cancel each other, to half of the digits."""
        return sqrt(max(0.0, float(self.inner_products.sum())))

    @cached_property
    def inner_products(self) -> Array:
        """The inner products of all pairs of products, shape (rank, rank): their sum is the norm squared."""
        first, *others = self.factors
        found = first.T @ first
        for other in others:
            found *= other.T @ other
        return found
