"""Projection of differential operators onto product networks, axis by axis.

A term c(x, y)·∂ⁱₓ∂ʲᵧ with a coefficient that is a short sum of products f(x)·g(y) becomes a short sum of Kronecker
products of small matrices. Of other coefficients the mean is split off, and the rest is evaluated at the points and
projected. Terms that act along one axis are added up, those of even and of odd derivatives apart, and where such a
sum is symmetric or skew up to round-off it is made exactly so.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.basis.hidden import Derivative, Term, pure
from frozenpinn.operators import Identity, KroneckerSum, Operator, Product, tensor
from frozenpinn.operators.symmetry import keep_structure
from frozenpinn.operators.tensor import AxisFactor
from frozenpinn.runtime.round_off import ROUND_OFF

if TYPE_CHECKING:
    from frozenpinn.basis.network import Network
    from frozenpinn.basis.product import ProductNetwork

Array = np.ndarray


def project_terms(target: ProductNetwork, source: ProductNetwork, terms: Sequence[Term]) -> Operator:
    """Return the projection onto ``target`` of Σ coefficient·D of the functions of ``source``.

    Where all coefficients are numbers, it follows from the networks of the axes, and is remembered.
    """
    numbers = tuple((t.derivative, float(t.coefficient)) for t in terms if not np.ndim(t.coefficient))
    if len(numbers) == len(terms):
        return _with_numbers(target.factors, source.factors, numbers)
    return _projected(target, source, terms)


@lru_cache(maxsize=32)
def _with_numbers(
    target: tuple[Network, ...], source: tuple[Network, ...], numbers: tuple[tuple[Derivative, float], ...]
) -> Operator:
    from frozenpinn.basis.product import ProductNetwork

    # points of the grid matter for coefficients that depend on the place only
    ours, theirs = (ProductNetwork(factors, factors[0].points) for factors in (target, source))
    return _projected(ours, theirs, [Term("u", derivative, number) for derivative, number in numbers])


def _projected(target: ProductNetwork, source: ProductNetwork, terms: Sequence[Term]) -> Operator:
    """Return the same, from the terms as they are."""
    products: list[tuple[int, Product]] = []  # with the parity of the derivative
    scattered: list[Term] = []
    known: dict[tuple[int, int, int], AxisFactor] = {}  # axes that are alike have one network

    def matrix(axis: int, order: int, weight: Array | None) -> AxisFactor:
        if weight is not None:
            return _matrix(target, source, axis, order, weight)
        key = (id(target.factors[axis]), id(source.factors[axis]), order)
        if key not in known:
            known[key] = _matrix(target, source, axis, order, None)
        return known[key]

    for term in terms:
        weights = _separated(target, np.asarray(term.coefficient, dtype=float))
        if weights is None:
            coefficient = np.asarray(term.coefficient)
            mean = float(coefficient @ target.points.weights / np.sum(target.points.weights))
            scattered.append(term._replace(coefficient=coefficient - mean))
            weights = [(mean, {})]
        for alpha, multiple in pure(term.derivative, len(target.sizes)):
            for scale, own in weights:
                factors = (matrix(axis, k, own.get(axis)) for axis, k in enumerate(alpha))
                products.append((sum(alpha) % 2, Product(tuple(factors), multiple * scale)))
    if not products:
        products = [(0, Product(tuple(matrix(axis, 0, None) for axis in range(len(target.sizes))), 0.0))]
    whole: Operator = KroneckerSum(_gathered(target, source, products))
    return whole + target.projector() @ source.at_points(scattered) if scattered else whole


def _separated(target: ProductNetwork, coefficient: Array) -> list[tuple[float, dict[int, Array]]] | None:
    """Write a coefficient as a short sum of numbers times functions of single axes; None if it is no short sum."""
    rank = 4  # products that a coefficient may consist of before values at the points are cheaper
    if coefficient.ndim == 0:
        return [(float(coefficient), {})]
    values = coefficient.reshape([len(f.points.weights) for f in target.factors])
    size = float(np.max(np.abs(values)))
    single = tensor.separated(values, 1)
    if single is not None:
        return [_constants_out(vectors) for vectors in single]
    # f(x) + g(y), as a potential has it, and what is left
    mean, axes = float(np.mean(values)), range(values.ndim)
    result, rest = [(mean, dict[int, Array]())], values - mean
    for axis in axes:
        vector = np.mean(values, axis=tuple(k for k in axes if k != axis)) - mean
        if np.max(np.abs(vector)) > ROUND_OFF * size:
            result.append((1.0, {axis: vector}))
            rest = rest - np.expand_dims(vector, tuple(k for k in axes if k != axis))
    if np.max(np.abs(rest)) <= ROUND_OFF * size:
        return result
    found = tensor.separated(rest, rank)
    return None if found is None else [*result, *(_constants_out(vectors) for vectors in found)]


def _constants_out(vectors: Sequence[Array]) -> tuple[float, dict[int, Array]]:
    """Put vectors that are constant into a number."""
    scale, varying = 1.0, {}
    for axis, vector in enumerate(vectors):
        if np.ptp(vector) <= ROUND_OFF * np.max(np.abs(vector)):
            scale *= float(np.mean(vector))
        else:
            varying[axis] = vector
    return scale, varying


def _matrix(target: ProductNetwork, source: ProductNetwork, axis: int, order: int, weight: Array | None) -> AxisFactor:
    """Return ⟨ψᵢ, weight·∂ᵏ ψⱼ⟩ of one axis."""
    if weight is None and target.factors[axis] is source.factors[axis]:
        found = source.projected_table(axis, order)
        if found is not None:
            return tensor.simplified(found)
    # derivatives are needed for this once: what follows is kept, not they
    projector, table = target.projectors[axis], source.table(axis, 0) if order == 0 else source.at_axis(axis, order)
    return tensor.simplified((projector if weight is None else projector * weight) @ table)


def _gathered(
    target: ProductNetwork, source: ProductNetwork, products: list[tuple[int, Product]]
) -> tuple[Product, ...]:
    """Add up what acts along one axis alone, and keep the symmetry of the sums: once for axes that are alike."""
    kept: list[Product] = []
    constant, sums = 0.0, dict[tuple[int, int], list[tuple[float, Array]]]()  # by axis and parity
    square = target.sizes == source.sizes
    for parity, product in products:
        axes = tensor.active_axes(product.factors)
        if not square or len(axes) > 1:
            kept.append(product)
        elif not axes:
            constant += float(np.real(product.scale))
        else:
            part = float(np.real(product.scale)), np.asarray(product.factors[axes[0]])
            sums.setdefault((axes[0], parity), []).append(part)
    identities = tuple(Identity(n) for n in target.sizes)
    if constant or not (kept or sums):
        kept.append(Product(identities, constant))
    known: dict[Hashable, list[Array]] = {}
    for axis, (network, other) in enumerate(zip(target.factors, source.factors, strict=True)):
        parts = [sums[axis, parity] for parity in (0, 1) if (axis, parity) in sums]
        recipe = (id(network), id(other), *(tuple((scale, id(m)) for scale, m in part) for part in parts))
        if recipe not in known:
            known[recipe] = _structured([_added(p) for p in parts], network.singular_values, network is other)
        for matrix in known[recipe]:
            factors: tuple[AxisFactor, ...] = (*identities[:axis], matrix, *identities[axis + 1 :])
            kept.append(Product(factors))
    return tuple(kept)


def _added(part: list[tuple[float, Array]]) -> Array:
    """Add up multiples of matrices."""
    (scale, first), *others = part
    return sum((factor * m for factor, m in others), scale * first)


def _structured(parts: list[Array], singular: Array, own: bool) -> list[Array]:
    """Return matrices with the same sum: one that is symmetric or skew, two that are, or the sum as it is."""
    if not parts or not own:
        return parts
    whole = sum(parts[1:], parts[0])
    found = keep_structure(whole, singular)
    if found.kind != "general" or len(parts) == 1:
        return [found.matrix]
    return [keep_structure(part, singular).matrix for part in parts]
