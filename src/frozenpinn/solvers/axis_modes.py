"""Diagonalising linear parts on boxes axis by axis.

A Kronecker sum A⊗I + I⊗B has the products of the eigenvectors of A and B as its eigenvectors: two small problems
instead of a large one. What is no such sum (mixed derivatives, coefficients of both variables, a weak drift whose
eigenvectors would be complex) is left over as ``rest``. Fields that share their networks may be coupled: then a small
matrix is diagonalised for each product of modes, as in i ψₜ = −Δψ written for two real fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from frozenpinn.assembly.linear_part import LinearPart
from frozenpinn.operators import (
    Block,
    Identity,
    KroneckerSum,
    ModeMatrices,
    Operator,
    Product,
    Sparse,
    Sum,
    Tag,
    detect,
    kronecker,
    tensor,
)
from frozenpinn.operators.eigen import Eigensystem, eigensystem
from frozenpinn.runtime.memo import remembered

Array = np.ndarray
_CONDITION = 1e4  # of the eigenvectors of one axis: they cost four digits of round-off at most
_DIAGONAL = 1e-9  # what a matrix may have beside its diagonal in the modes of another one
_FLAT = 0.3  # mean of a factor beside its size, from which on it is worth splitting off


class AxisModes(NamedTuple):
    """Eigenvalues and eigenvectors of most of an operator, and what is left over; None for nothing."""

    eigenvalues: Array
    vectors: Operator
    left: Operator
    rest: Operator | None


@dataclass(frozen=True)
class _Parts:
    """An operator as constant·I + Σ matrices along one axis each + what else there is."""

    constant: float = 0.0
    matrices: tuple[tuple[int, Array], ...] = ()
    rest: tuple[Operator, ...] = field(default=())

    def along(self, axis: int) -> list[Array]:
        return [m for a, m in self.matrices if a == axis]


@remembered
def axis_modes(linear: LinearPart, complete: bool, rate: float) -> AxisModes | None:
    """Diagonalise a linear part on products; None if nothing of it can be, or not all if it is to be ``complete``.

    ``rate`` is what eigenvalues must reach to matter, as in :func:`~frozenpinn.operators.eigen.symmetric_modes`.
    """
    table = _table(linear.position)
    if table is None:
        return None
    parts = [[_take(o, complete) for o in row] for row in table]
    if complete and any(p.rest for row in parts for p in row):
        return None
    diagonal = [parts[i][i] for i in range(len(parts))]
    across = [p for i, row in enumerate(parts) for j, p in enumerate(row) if i != j]
    strength = [max((_strength(p) for p in group), default=0.0) for group in (diagonal, across)]
    if strength[1] > (0.0 if complete else strength[0]):
        return _coupled(linear, parts, complete, rate) if linear.order == 1 else None
    sizes, modes, rests = _sizes(table), [], dict[tuple[int, int], list[Operator]]()
    for i, own in enumerate(diagonal):
        found = _axes(own, sizes[i], complete, rate)
        if found is None:
            return None
        modes.append((found[0], own.constant))
        rests[i, i] = found[1]
    for i, row in enumerate(table):
        for j, operator in enumerate(row):
            if i != j and operator is not None and _strength(parts[i][j]) + len(parts[i][j].rest):
                rests[i, j] = [operator]
    values = [reduce(np.add.outer, [e.eigenvalues for e in axes]).ravel() + c for axes, c in modes]
    vectors = [kronecker(*(_plain(e.vectors) for e in axes)) for axes, _ in modes]
    left = [kronecker(*(_plain(e.left) for e in axes)) for axes, _ in modes]
    return AxisModes(np.concatenate(values), _diagonal(vectors), _diagonal(left), _rest(rests, table))


def _table(position: Operator) -> list[list[Operator | None]] | None:
    """Return the blocks of an operator on products; None if it is no such operator."""
    rows = [list(row) for row in position.rows] if isinstance(position, Block) else [[position]]
    known = [o for row in rows for o in row if _products(o)]
    return rows if known else None


def _products(operator: Operator | None) -> tuple[Product, ...]:
    """Return the products of the part of an operator that is a sum over axes."""
    if isinstance(operator, KroneckerSum):
        return operator.products if operator.rows is None and operator.columns is None else ()
    if isinstance(operator, Sum):
        return tuple(p for o in operator.operators for p in _products(o))
    return ()


def _sizes(table: Sequence[Sequence[Operator | None]]) -> list[tuple[int, ...]]:
    """Return the shape of the tensor of each field."""
    found = []
    for i, row in enumerate(table):
        rows = [tuple(f.shape[0] for f in p.factors) for o in row for p in _products(o)]
        columns = [tuple(f.shape[1] for f in p.factors) for other in table for p in _products(other[i])]
        found.append((rows or columns)[0])
    return found


def _take(operator: Operator | None, complete: bool) -> _Parts:
    """Sort the terms of an operator by what they act on."""
    if operator is None or isinstance(operator, Sparse):
        return _Parts()
    if isinstance(operator, Sum) and all(s == 1.0 for s in operator.scales):
        parts = [_take(o, complete) for o in operator.operators]
        return _Parts(
            sum(p.constant for p in parts),
            tuple(m for p in parts for m in p.matrices),
            tuple(o for p in parts for o in p.rest),
        )
    if not isinstance(operator, KroneckerSum) or operator.rows is not None or operator.columns is not None:
        return _Parts(rest=(operator,))
    constant, matrices, rest = 0.0, list[tuple[int, Array]](), list[Product]()
    for p in operator.products:
        axes = tensor.active_axes(p.factors)
        square = all(f.shape[0] == f.shape[1] for f in p.factors)
        if p.is_weighted or len(axes) > 1 or not square:
            mean = None if complete or p.is_weighted or not square else _mean(p)
            if mean is not None:
                matrices.append(mean)
                axis, matrix = mean
                factors = tuple(Identity(f.shape[0]) if a != axis else -matrix for a, f in enumerate(p.factors))
                rest.append(Product(factors))
            rest.append(p)
        elif axes:
            matrices.append((axes[0], np.real(p.scale) * p.factors[axes[0]]))  # type: ignore[operator]
        else:
            constant += float(np.real(p.scale))
    left_over = (KroneckerSum(tuple(rest)),) if rest else ()
    return _Parts(constant, tuple(matrices), left_over)


def _mean(p: Product) -> tuple[int, Array] | None:
    """Replace all factors of a product but the largest by multiples of the identity; None where they have no mean."""
    axes = tensor.active_axes(p.factors)
    factors = [np.asarray(p.factors[a]) for a in axes]
    sizes = [float(np.linalg.norm(f)) / np.sqrt(len(f)) for f in factors]
    main = int(np.argmax(sizes))
    scale = float(np.real(p.scale))
    for k, f in enumerate(factors):
        if k != main:
            mean = float(np.trace(f)) / len(f)
            if abs(mean) < _FLAT * sizes[k]:
                return None
            scale *= mean
    return axes[main], scale * factors[main]


def _strength(parts: _Parts) -> float:
    return abs(parts.constant) + sum(float(np.linalg.norm(m)) for _, m in parts.matrices)


def _axes(
    parts: _Parts, sizes: tuple[int, ...], complete: bool, rate: float
) -> tuple[list[Eigensystem], list[Operator]] | None:
    """Diagonalise the sum along each axis; what stands in the way of real, well-conditioned modes joins the rest."""
    found, rest = list[Eigensystem](), list(parts.rest)
    for axis, size in enumerate(sizes):
        matrices = parts.along(axis)
        symmetric = [m for m in matrices if Tag.SYMMETRIC in detect(m)]
        others = [m for m in matrices if Tag.SYMMETRIC not in detect(m)]
        whole = _eigen(matrices, size, rate)
        real = whole is not None and np.isrealobj(whole.eigenvalues)
        dominant = _norm(others) > _norm(symmetric)
        if whole is not None and (complete or real or dominant or not others):
            found.append(whole)
            continue
        if complete:
            return None
        part = _eigen(symmetric, size, rate)
        assert part is not None, "symmetric matrices can be diagonalised"
        found.append(part)
        identities = [Identity(n) for n in sizes]
        factors = (*identities[:axis], sum(others[1:], others[0]), *identities[axis + 1 :])
        rest.append(KroneckerSum((Product(factors),)))
    return found, rest


def _norm(matrices: Sequence[Array]) -> float:
    return float(np.linalg.norm(sum(matrices[1:], matrices[0]))) if matrices else 0.0


def _eigen(matrices: Sequence[Array], size: int, rate: float) -> Eigensystem | None:
    """Diagonalise the sum of some matrices; None if its eigenvectors are ill conditioned."""
    if not matrices:
        identity = np.eye(size)
        return Eigensystem(np.zeros(size), identity, identity, 1.0)
    matrix = sum(matrices[1:], matrices[0])
    found = eigensystem(matrix, detect(matrix), rate)
    return found if found is not None and found.condition <= _CONDITION else None


def _plain(matrix: Array) -> Array:
    return np.ascontiguousarray(matrix)


def _diagonal(operators: Sequence[Operator]) -> Operator:
    """Return operators as the blocks of a diagonal."""
    if len(operators) == 1:
        return operators[0]
    return Block(tuple(tuple(o if i == j else None for j in range(len(operators))) for i, o in enumerate(operators)))


def _rest(rests: dict[tuple[int, int], list[Operator]], table: Sequence[Sequence[Operator | None]]) -> Operator | None:
    """Return what is left over as one operator."""
    sums = {key: sum(found[1:], found[0]) for key, found in rests.items() if found}
    if not sums:
        return None
    if len(table) == 1:
        return sums[0, 0]
    indices, sizes = range(len(table)), [int(np.prod(s)) for s in _sizes(table)]
    for i in indices:
        if not any((i, j) in sums for j in indices) or not any((j, i) in sums for j in indices):
            sums.setdefault((i, i), Sparse(csr_array((sizes[i], sizes[i]))))
    return Block(tuple(tuple(sums.get((i, j)) for j in indices) for i in indices))


# ---- coupled fields ------------------------------------------------------------------------------------


def _coupled(linear: LinearPart, parts: Sequence[Sequence[_Parts]], complete: bool, rate: float) -> AxisModes | None:
    """Diagonalise fields that are coupled through operators with common modes: a small matrix for each mode."""
    table = _table(linear.position)
    assert table is not None
    shapes = set(_sizes(table))
    if len(shapes) > 1 or any(p.rest for row in parts for p in row):
        return None
    (sizes,) = shapes
    count = len(parts)
    axes = []
    for axis, size in enumerate(sizes):
        sums = [m for row in parts for p in row if (own := p.along(axis)) for m in [sum(own[1:], own[0])]]
        main = max(sums, key=lambda m: float(np.linalg.norm(m)), default=np.zeros((size, size)))
        found = _eigen([main], size, rate)
        if found is None:
            return None
        axes.append(found)
    matrices = np.zeros((int(np.prod(sizes)), count, count), dtype=np.result_type(*(e.eigenvalues for e in axes)))
    for i, row in enumerate(parts):
        for j, p in enumerate(row):
            values = []
            for axis, e in enumerate(axes):
                own = p.along(axis)
                modal = e.left @ sum(own[1:], own[0]) @ e.vectors if own else np.zeros((sizes[axis],) * 2)
                diagonal = np.diag(modal)
                if np.linalg.norm(modal - np.diag(diagonal)) > _DIAGONAL * max(float(np.linalg.norm(modal)), 1e-300):
                    return None
                values.append(diagonal)
            matrices[:, i, j] = reduce(np.add.outer, values).ravel() + p.constant
    eigenvalues, small = np.linalg.eig(matrices)
    conditions = np.linalg.cond(small)
    if not np.max(conditions) <= _CONDITION:
        return None
    vectors = _diagonal([kronecker(*(_plain(e.vectors) for e in axes))] * count)
    left = _diagonal([kronecker(*(_plain(e.left) for e in axes))] * count)
    inner = ModeMatrices(np.ascontiguousarray(small))
    outer = ModeMatrices(np.ascontiguousarray(np.linalg.inv(small)))
    return AxisModes(np.ascontiguousarray(eigenvalues.T).ravel(), vectors @ inner, outer @ left, None)
