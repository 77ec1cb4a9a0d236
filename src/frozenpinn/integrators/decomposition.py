"""Diagonalising the linear part of a system, where its structure or the condition of its eigenvectors allows it.

On boxes that is done axis by axis: the eigenvectors of a Kronecker sum A⊗I + I⊗B are products of those of A and B.
Products A⊗B that are diagonal in these modes too (as in Δ², where boundary conditions allow it) join them; of others
the diagonal does. What remains (mixed derivatives, drift) is left over as ``rest``. Fields that share their networks
may be coupled, as in i ψₜ = −Δψ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from frozenpinn.assembly.linear_part import LinearPart
from frozenpinn.integrators.modal import Modes
from frozenpinn.integrators.protocol import OdeSystem
from frozenpinn.integrators.scaling_and_squaring import is_sum_over_axes
from frozenpinn.operators import (
    Block,
    Composition,
    Dense,
    Diagonal,
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
from frozenpinn.operators.eigen import WELL_CONDITIONED, Eigensystem, eigensystem
from frozenpinn.operators.inverse import Inverse, quotients
from frozenpinn.operators.symmetry import keep_structure
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.round_off import ALIKE

Array = np.ndarray
_CONDITION = 1e4  # of the eigenvectors of one axis: they cost four digits of round-off at most
_SMALL = 200_000  # coefficients of a linear part that may be remembered: some MB


@dataclass(frozen=True, eq=False)
class Decomposition:
    """Most of an operator in its modes, and what is left over; None for nothing.

    Attributes
    ----------
    eigenvalues, vectors, left
        The modes: ``vectors`` are the right eigenvectors, ``left`` maps states to modal coordinates.
    rest
        What is no part of them.
    order, damping
        In time: z' = λ z, or z'' = κ z + δ z'.
    """

    eigenvalues: Array
    vectors: Operator
    left: Operator
    rest: Operator | None = None
    order: int = 1
    damping: float = 0.0

    @cached_property
    def modes(self) -> Modes:
        """The scalar equations."""
        return Modes(self.eigenvalues, self.order, self.damping)


class _Terms(NamedTuple):
    """The terms of an operator: a constant, matrices along one axis, products along several, and others."""

    constant: float = 0.0
    matrices: tuple[tuple[int, Array], ...] = ()
    products: tuple[Product, ...] = ()
    others: tuple[Operator, ...] = ()

    def along(self, axis: int) -> list[Array]:
        """Return the matrices of one axis."""
        return [m for a, m in self.matrices if a == axis]

    @property
    def strength(self) -> float:
        """About how large they are, without those that are no sums over axes."""
        return abs(self.constant) + sum(float(np.linalg.norm(m)) for _, m in self.matrices)

    def all_products(self, sizes: tuple[int, ...]) -> list[Product]:
        """Return all terms but the constant and the others as products."""
        return [*(_along(axis, m, sizes) for axis, m in self.matrices), *self.products]

    @property
    def is_sum(self) -> bool:
        """Whether all terms act along one axis."""
        return not (self.products or self.others)


@remembered
def axis_modes(linear: LinearPart, complete: bool, rate: float) -> Decomposition | None:
    """Diagonalise a linear part on products; None if nothing of it can be, or not all if it is to be ``complete``.

    ``rate`` is what eigenvalues must reach to matter, as in :func:`~frozenpinn.operators.eigen.symmetric_modes`.
    """
    position = linear.position
    if isinstance(position, Composition) and isinstance(position.outer, Inverse):
        mass, own = position.outer.operator, position.inner
        return _in_time(_quotient(_sorted(mass), _sorted(own), _sizes(((own,),))[0], rate), linear)
    rows = position.rows if isinstance(position, Block) else ((position,),)
    products = [p for row in rows for o in row if o is not None for p in o.axis_products]
    if not products:
        return None
    plain = all(o is None or isinstance(o, KroneckerSum | Sparse) for row in rows for o in row)
    small = plain and linear.layout.coefficients <= _SMALL and not any(p.is_weighted for p in products)
    return _in_time((_remembered if small else _found)(rows, linear.order, complete, rate), linear)


def _in_time(found: Decomposition | None, linear: LinearPart) -> Decomposition | None:
    """Add the order in time and the damping of a linear part."""
    order, damping = linear.order or 1, linear.damping or 0.0
    return found if found is None or (order, damping) == (1, 0.0) else replace(found, order=order, damping=damping)


def _found(
    table: tuple[tuple[Operator | None, ...], ...], order: int | None, complete: bool, rate: float
) -> Decomposition | None:
    """Diagonalise the operators between fields of an order in time."""
    terms = [[_sorted(o) for o in row] for row in table]
    diagonal = [terms[i][i] for i in range(len(terms))]
    across = [t for i, row in enumerate(terms) for j, t in enumerate(row) if i != j]
    strong, strong_across = (max((t.strength for t in group), default=0.0) for group in (diagonal, across))
    if strong_across > (0.0 if complete else strong):
        return _coupled(terms, _sizes(table), complete, rate) if order in (0, 1) else None
    return _separate(table, terms, complete, rate)


_remembered = lru_cache(maxsize=16)(_found)  # projected terms are remembered too, so that other solves find them


def _sizes(table: Sequence[Sequence[Operator | None]]) -> list[tuple[int, ...]]:
    """Return the shape of the tensor of each field."""
    found = []
    for i, row in enumerate(table):
        rows = [tuple(f.shape[0] for f in p.factors) for o in row if o is not None for p in o.axis_products]
        columns = [tuple(f.shape[1] for f in p.factors) for other in table if (o := other[i]) for p in o.axis_products]
        found.append((rows + columns)[0] if rows + columns else ())
    return found


def _sorted(operator: Operator | None) -> _Terms:
    """Sort the terms of an operator by what they act on."""
    if operator is None or (isinstance(operator, Sparse) and not operator.matrix.nnz):
        return _Terms()
    if isinstance(operator, Sum) and all(s == 1.0 for s in operator.scales):
        parts = [_sorted(o) for o in operator.operators]
        return _Terms(
            sum(part.constant for part in parts),
            tuple(entry for part in parts for entry in part.matrices),
            tuple(entry for part in parts for entry in part.products),
            tuple(entry for part in parts for entry in part.others),
        )
    products = operator.axis_products
    square = all(f.shape[0] == f.shape[1] for p in products for f in p.factors)
    if not isinstance(operator, KroneckerSum) or not products or not square or any(p.is_weighted for p in products):
        return _Terms(others=(operator,))
    constant, matrices, several = 0.0, list[tuple[int, Array]](), list[Product]()
    for p in products:
        axes = tensor.active_axes(p.factors)
        if len(axes) > 1:
            several.append(p)
        elif axes:
            own = np.asarray(p.factors[axes[0]])
            matrices.append((axes[0], own if p.scale == 1.0 else np.real(p.scale) * own))
        else:
            constant += float(np.real(p.scale))
    return _Terms(constant, tuple(matrices), tuple(several))


# ---- fields by themselves --------------------------------------------------------------------------------


def _separate(
    table: Sequence[Sequence[Operator | None]], terms: Sequence[Sequence[_Terms]], complete: bool, rate: float
) -> Decomposition | None:
    """Diagonalise each field by itself; what couples them is left over."""
    sizes, rests = _sizes(table), dict[tuple[int, int], Operator]()
    modes = []
    for i, row in enumerate(terms):
        if not sizes[i]:
            return None
        found = _modes(row[i], sizes[i], complete, rate) or _quotient(_Terms(1.0), row[i], sizes[i], rate)
        if found is None:
            return None
        modes.append(found)
        if found.rest is not None:
            rests[i, i] = found.rest
        for j, other in enumerate(row):
            operator = table[i][j]
            if i != j and operator is not None and other != _Terms():
                rests[i, j] = operator
    if complete and rests:
        return None
    if len(modes) == 1 and not rests:
        return modes[0]
    return Decomposition(
        np.concatenate([m.eigenvalues for m in modes]),
        _on_diagonal([m.vectors for m in modes]),
        _on_diagonal([m.left for m in modes]),
        _blocks(rests, [int(np.prod(s)) for s in sizes]),
    )


def _modes(terms: _Terms, sizes: tuple[int, ...], complete: bool, rate: float) -> Decomposition | None:
    """Diagonalise one field."""
    visible = 1e-3  # eigenvalues of products, as a part of those of the sum, that are worth including
    if complete and terms.others:
        return None
    means = () if complete else tuple(_means(terms))
    matrices = (*terms.matrices, *means)
    left_over = [*terms.products, *(_along(axis, -m, sizes) for axis, m in means)]
    axes, known = list[Eigensystem](), dict[tuple[int, ...], Eigensystem | None]()
    for axis, size in enumerate(sizes):
        own = [m for a, m in matrices if a == axis]
        key = (size, *map(id, own))
        if key not in known:  # axes that are alike share their matrices
            known[key] = _eigen(own, size, rate)
        whole = known[key]
        if whole is None or not (complete or len(sizes) == 1 or np.isrealobj(whole.eigenvalues)):
            symmetric = [m for m in own if Tag.SYMMETRIC in detect(m)]
            others = [m for m in own if Tag.SYMMETRIC not in detect(m)]
            if complete:
                return None
            if whole is None or _norm(others) <= _norm(symmetric):  # complex modes would cost more than they bring
                left_over.append(_along(axis, sum(others[1:], others[0]), sizes))
                whole = _eigen(symmetric, size, rate)
                assert whole is not None, "symmetric matrices can be diagonalised"
        axes.append(whole)
    eigenvalues = reduce(np.add.outer, [e.eigenvalues for e in axes]).ravel() + terms.constant
    vectors, left = (kronecker(*(getattr(e, name) for e in axes)) for name in ("vectors", "left"))
    if not left_over and not terms.others:
        return Decomposition(eigenvalues, vectors, left)
    extra, exact = _in_modes(left_over, axes)
    rest: list[Operator] = list(terms.others)
    if exact:
        eigenvalues = eigenvalues + extra
    elif complete:
        return None
    else:
        rest.append(KroneckerSum(tuple(left_over)))
        if np.max(np.abs(extra)) > visible * np.max(np.abs(eigenvalues)):
            eigenvalues = eigenvalues + extra
            rest.append(vectors @ (Diagonal(-extra) @ left))
    return Decomposition(eigenvalues, vectors, left, sum(rest[1:], rest[0]) if rest else None)


def _quotient(mass: _Terms, terms: _Terms, sizes: tuple[int, ...], rate: float) -> Decomposition | None:
    """Diagonalise M⁻¹K where its terms have modes in common, as waves are those of all terms on periodic axes."""
    if mass.others or terms.others or not sizes:
        return None
    below, above = mass.all_products(sizes), terms.all_products(sizes)
    axes = _common_axes([*above, *below], sizes, rate)
    if axes is None:
        return None
    (divisor, first), (eigenvalues, second) = _in_modes(below, axes), _in_modes(above, axes)
    if not (first and second):
        return None
    vectors, left = (kronecker(*(getattr(e, name) for e in axes)) for name in ("vectors", "left"))
    return Decomposition(quotients(eigenvalues + terms.constant, divisor + mass.constant), vectors, left, None)


def _common_axes(products: Sequence[Product], sizes: tuple[int, ...], rate: float) -> list[Eigensystem] | None:
    """Return the modes of each axis: of the largest skew-symmetric matrix there, else of the largest."""
    axes: list[Eigensystem] = []
    for axis, size in enumerate(sizes):
        own = [np.asarray(p.factors[axis]) for p in products if axis in tensor.active_axes(p.factors)]
        skew = [m for m in own if Tag.SKEW in detect(keep_structure(m, np.ones(size)).matrix)]
        main = max(skew or own, key=lambda m: float(np.linalg.norm(m)), default=None)
        found = _eigen([] if main is None else [keep_structure(main, np.ones(size)).matrix], size, rate)
        if found is None:
            return None
        axes.append(found)
    return axes


def _along(axis: int, matrix: Array, sizes: tuple[int, ...]) -> Product:
    return Product(tuple(matrix if a == axis else Identity(n) for a, n in enumerate(sizes)))


def _means(terms: _Terms) -> Iterable[tuple[int, Array]]:
    """Yield stand-ins along single axes for products on axes that have no matrix of their own.

    All factors of a product but the largest are replaced by multiples of the identity.
    """
    flat = 0.3  # mean of a factor as a part of its size: a larger one stands for the factor
    for p in terms.products:
        axes = tensor.active_axes(p.factors)
        if all(terms.along(axis) for axis in axes):
            continue
        factors = [np.asarray(p.factors[a]) for a in axes]
        sizes = [float(np.linalg.norm(f)) / np.sqrt(len(f)) for f in factors]
        main = int(np.argmax(sizes))
        means = [float(np.trace(f)) / len(f) for f in factors]
        if all(abs(mean) >= flat * size for k, (mean, size) in enumerate(zip(means, sizes, strict=True)) if k != main):
            scale = float(np.real(p.scale)) * float(np.prod([m for k, m in enumerate(means) if k != main]))
            yield axes[main], scale * factors[main]


def _in_modes(products: Sequence[Product], axes: Sequence[Eigensystem]) -> tuple[Array, bool]:
    """Return the diagonal of some products in the modes of the axes, and whether the rest is round-off."""
    total: Array = np.zeros([len(e.eigenvalues) for e in axes])
    exact = True
    for p in products:
        diagonals = []
        for factor, e in zip(p.factors, axes, strict=True):
            if not isinstance(factor, np.ndarray):
                diagonals.append(np.ones(factor.shape[0]))
                continue
            modal = e.left @ factor @ e.vectors
            diagonals.append(np.diag(modal))
            exact &= bool(np.linalg.norm(modal - np.diag(diagonals[-1])) <= ALIKE * np.linalg.norm(modal))
        total = total + np.real(p.scale) * reduce(np.multiply.outer, diagonals)
    return total.ravel(), exact


def _norm(matrices: Sequence[Array]) -> float:
    return float(np.linalg.norm(sum(matrices[1:], matrices[0]))) if matrices else 0.0


def _eigen(matrices: Sequence[Array], size: int, rate: float) -> Eigensystem | None:
    """Diagonalise the sum of some matrices; None if its eigenvectors are ill conditioned."""
    if not matrices:
        return Eigensystem(np.zeros(size), np.eye(size), np.eye(size), 1.0)
    matrix = sum(matrices[1:], matrices[0])
    found = eigensystem(matrix, detect(matrix), rate)
    if found is None or found.condition > _CONDITION:
        return None
    return found._replace(vectors=np.ascontiguousarray(found.vectors), left=np.ascontiguousarray(found.left))


def _on_diagonal(operators: Sequence[Operator]) -> Operator:
    """Return operators as the blocks of a diagonal."""
    if len(operators) == 1:
        return operators[0]
    return Block(tuple(tuple(o if i == j else None for j in range(len(operators))) for i, o in enumerate(operators)))


def _blocks(entries: dict[tuple[int, int], Operator], sizes: Sequence[int]) -> Operator | None:
    """Return some blocks as one operator; None if there are none."""
    if not entries:
        return None
    if len(sizes) == 1:
        return entries[0, 0]
    indices, full = range(len(sizes)), dict(entries)
    for i in indices:  # every row and every column needs an operator
        if not any((i, j) in entries for j in indices) or not any((j, i) in entries for j in indices):
            full.setdefault((i, i), Sparse(csr_array((sizes[i], sizes[i]))))
    return Block(tuple(tuple(full.get((i, j)) for j in indices) for i in indices))


# ---- coupled fields ------------------------------------------------------------------------------------


def _coupled(
    terms: Sequence[Sequence[_Terms]], shapes: Sequence[tuple[int, ...]], complete: bool, rate: float
) -> Decomposition | None:
    """Diagonalise fields that are coupled through operators with common modes: a small matrix for each mode."""
    if len(set(shapes)) > 1 or (complete and not all(t.is_sum for row in terms for t in row)):
        return None
    sizes, count = shapes[0], len(terms)
    axes = []
    for axis, size in enumerate(sizes):
        sums = [[sum(own[1:], own[0])] for row in terms for t in row if (own := t.along(axis))]
        found = _eigen(max(sums, key=_norm, default=[]), size, rate)
        if found is None:
            return None
        axes.append(found)
    matrices = np.zeros((int(np.prod(sizes)), count, count), dtype=np.result_type(*(e.eigenvalues for e in axes)))
    rests: dict[tuple[int, int], Operator] = {}
    for i, row in enumerate(terms):
        for j, t in enumerate(row):
            values, exact = _in_modes([_along(axis, m, sizes) for axis, m in t.matrices], axes)
            if not exact:
                return None
            matrices[:, i, j] = values + t.constant
            if not t.is_sum:
                parts: list[Operator] = [*t.others, *([KroneckerSum(t.products)] if t.products else [])]
                rests[i, j] = sum(parts[1:], parts[0])
    eigenvalues, small = np.linalg.eig(matrices)
    if not np.max(np.linalg.cond(small)) <= _CONDITION:
        return None
    inverse = np.linalg.inv(small)
    if np.isrealobj(matrices) and np.iscomplexobj(eigenvalues):
        eigenvalues, small, inverse = _without_conjugates(eigenvalues, small, inverse)
    vectors, left = (_on_diagonal([kronecker(*(getattr(e, n) for e in axes))] * count) for n in ("vectors", "left"))
    inner, outer = ModeMatrices(np.ascontiguousarray(small)), ModeMatrices(np.ascontiguousarray(inverse))
    rest = _blocks(rests, [int(np.prod(sizes))] * count)
    return Decomposition(np.ascontiguousarray(eigenvalues.T).ravel(), vectors @ inner, outer @ left, rest)


def _without_conjugates(eigenvalues: Array, vectors: Array, inverse: Array) -> tuple[Array, Array, Array]:
    """Keep one of each pair of conjugate eigenvalues if all come in pairs: states are real parts of what is kept."""
    order = np.argsort(-eigenvalues.imag, axis=1, kind="stable")
    half = eigenvalues.shape[1] // 2
    ordered = np.take_along_axis(eigenvalues, order, axis=1)
    if eigenvalues.shape[1] % 2 or not np.all(ordered[:, :half].imag > 0):
        return eigenvalues, vectors, inverse
    kept = order[:, :half]
    return (
        np.take_along_axis(eigenvalues, kept, axis=1),
        2.0 * np.take_along_axis(vectors, kept[:, None, :], axis=2),
        np.take_along_axis(inverse, kept[:, :, None], axis=1),
    )


def can_propagate(system: OdeSystem) -> bool:
    """Whether the exact propagator can solve a system."""
    if not system.has_constant_coefficients:
        return False
    if not system.linear.is_dense:
        return decompose(system) is not None or is_sum_over_axes(system)
    return system.forcing.is_constant or is_structured(system) or _is_well_conditioned(system)


def is_structured(system: OdeSystem) -> bool:
    """Whether the linear part is diagonalised by orthogonal eigenvectors."""
    linear = system.linear
    if linear.order == 1:
        return linear.structure in ("symmetric", "skew-symmetric")
    return linear.order == 2 and linear.structure == "symmetric" and linear.damping is not None


def is_diagonalisable(system: OdeSystem) -> bool:
    """Whether the linear part is diagonalised by eigenvectors that are orthogonal, or nearly so."""
    return is_structured(system) or (system.linear.structure == "split" and _is_well_conditioned(system))


def _is_well_conditioned(system: OdeSystem) -> bool:
    return system.linear.order == 1 and system.linear.eigensystem[2] <= WELL_CONDITIONED


def decompose(system: OdeSystem, complete: bool = True) -> Decomposition | None:
    """Diagonalise the operator if its structure, or the condition of its eigenvectors, allows it.

    On products, where that is done axis by axis, ``complete=False`` takes what can be diagonalised and leaves a rest.
    """
    linear, (start, end) = system.linear, system.time
    if not linear.is_dense:
        return _by_axes(system, complete)
    if is_structured(system):
        order = linear.order or 1
        spectrum = linear.position.spectrum(rate=(end - start) ** -order)
        assert spectrum is not None, "operators with a symmetry can be diagonalised"
        own = spectrum.eigenvalues, spectrum.vectors, spectrum.left
        return Decomposition(*own, order=order, damping=linear.damping or 0.0)
    autonomous = system.has_constant_coefficients and system.forcing.is_constant
    return None if autonomous else _as_a_whole(system)


def _by_axes(system: OdeSystem, complete: bool) -> Decomposition | None:
    """Diagonalise a linear part on products of networks."""
    written_out = 700  # coefficients on products whose matrix is diagonalised as a whole: less than a second
    linear, (start, end) = system.linear, system.time
    if linear.order is None or linear.damping is None:
        return None
    found = axis_modes(linear, complete, (end - start) ** -linear.order)
    if found is None and complete and system.has_constant_coefficients and len(system.initial_state) <= written_out:
        return _as_a_whole(system)
    return None if found is None or (linear.order == 2 and np.iscomplexobj(found.eigenvalues)) else found


def _as_a_whole(system: OdeSystem) -> Decomposition | None:
    """Diagonalise a matrix without any structure, if its eigenvectors allow it."""
    if not _is_well_conditioned(system):
        return None
    eigenvalues, vectors, _ = system.linear.eigensystem
    return Decomposition(eigenvalues, Dense(vectors), Dense(np.linalg.inv(vectors)))


def can_step(system: OdeSystem) -> bool:
    """Whether exponential multistep methods can: of first order in time, symmetric or diagonalised axis by axis."""
    linear = system.linear
    if linear.order != 1:
        return False
    return linear.structure == "symmetric" if linear.is_dense else True
