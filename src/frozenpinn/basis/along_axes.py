"""Products of functions of one axis each: values on grids and at points by sums along axes, never multiplied out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from math import prod
from typing import NamedTuple, cast

import numpy as np

from frozenpinn.basis.hidden import Derivative, Term, pure
from frozenpinn.basis.network import Network
from frozenpinn.basis.piecewise import Piecewise, axis_breaks, tabulated
from frozenpinn.basis.protocol import Basis
from frozenpinn.operators.dense import Identity
from frozenpinn.operators.tensor import ProductSum, along_axes
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.memo import remembered

Array = np.ndarray
_BLOCK = 4_000_000  # numbers held at a time
_FEW = 400  # places of one axis at which functions are remembered, …
_SMALL = 20_000  # … if these are no more numbers
_MANY = 500  # the same, from which on functions are tabulated


class Summand(NamedTuple):
    """A product: scale · (terms of the first axis) · (terms of the second axis) · … in this order."""

    terms: tuple[tuple[Term, ...], ...]
    scale: float = 1.0


def axis_summands(terms: Sequence[Term]) -> tuple[Summand, ...]:
    """Write Σ coefficient·D, with numbers as coefficients, as a sum of products over axes."""
    return _summands(tuple((term.field, term.derivative, float(term.coefficient)) for term in terms))


@lru_cache(maxsize=256)
def _summands(terms: tuple[tuple[str, Derivative, float], ...]) -> tuple[Summand, ...]:
    result = []
    for field, derivative, coefficient in terms:
        for alpha, factor in pure(derivative, len(derivative.alpha)):
            own = tuple((Term(field, Derivative((order,))),) for order in alpha)
            result.append(Summand(own, factor * coefficient))
    return tuple(result)


def functions_of(basis: Basis, x: Array, terms: Sequence[Term]) -> Array:
    """Return Σ coefficient·D of the functions of a basis, then of its lifting functions, shape (n, R).

    Of one variable and at few places they are remembered: checks look at the same places in every solve. At very many
    they come from a table.
    """
    own = own_terms(basis, terms)
    if x.shape[1] > 1 or any(getattr(term.coefficient, "ndim", 0) for term in own):
        return _functions(basis, x, own)
    if len(x) <= _FEW and len(x) * basis.size <= _SMALL:
        return _at_few_places(cast(Hashable, basis), x.tobytes(), own)
    if len(x) >= _MANY and isinstance(basis, Network) and not basis.is_broken:
        table = axis_table(basis, own)
        if table is not None and table.covers(x):
            return table(x[:, 0])
    return _functions(basis, x, own)


def own_terms(basis: Basis, terms: Sequence[Term]) -> tuple[Term, ...]:
    """Return terms with the field of a basis: several fields may share the networks of their axes."""
    return tuple(t if t.field in basis.fields else t._replace(field=basis.fields[0]) for t in terms)


@remembered
def axis_table(basis: Network, terms: tuple[Term, ...]) -> Piecewise | None:
    """Tabulate the functions of an axis from end to end, and a little beyond the last points."""
    points = np.sort(basis.points.x[:, 0])
    if len(points) < 2:
        return None
    margin = 1.5 * max(points[1] - points[0], points[-1] - points[-2])
    edges = axis_breaks(basis.hidden.origins[:, 0], points[0] - margin, points[-1] + margin)
    return tabulated(lambda x: _functions(basis, x[:, None], terms), edges)


def _functions(basis: Basis, x: Array, terms: Sequence[Term]) -> Array:
    if isinstance(basis, Network):
        return basis.all_functions(x, terms)
    table = basis.operator(x, terms)
    return np.concatenate([table, basis.lift_operator(x, terms)], axis=1) if basis.lift_size else table


@lru_cache(maxsize=64)
def _at_few_places(basis: Basis, places: bytes, terms: tuple[Term, ...]) -> Array:
    return read_only(_functions(basis, np.frombuffer(places)[:, None], terms))


def grid_tables(
    factors: Sequence[Basis], axes: Sequence[Array], terms: Sequence[Term]
) -> Iterator[tuple[list[Array], float]]:
    """Yield what Σ coefficient·D consists of: tables of the axes at coordinates, and a factor."""
    for summand in axis_summands(terms):
        triples = zip(factors, axes, summand.terms, strict=True)
        yield [functions_of(factor, x[:, None], own) for factor, x, own in triples], summand.scale


def on_grid(factors: Sequence[Basis], axes: Sequence[Array], terms: Sequence[Term], full: Array) -> Array:
    """Return the combination ``full`` (R₁, R₂, …, m) on the tensor grid of coordinates, shape (n₁, n₂, …, m)."""
    states = np.moveaxis(full, -1, 0)
    out = np.zeros((len(states), *map(len, axes)))
    step = max(1, _BLOCK // int(np.prod(np.maximum(states.shape[1:], out.shape[1:]))))
    for tables, scale in grid_tables(factors, axes, terms):
        for start in range(0, len(states), step):
            part = states[start : start + step]
            found = along_axes([Identity(len(part)), *tables], part.reshape(-1)).reshape(-1, *out.shape[1:])
            out[start : start + step] += found if scale == 1.0 else scale * found
    return np.moveaxis(out, 0, -1)


def products_at(factors: Sequence[Basis], x: Array, terms: Sequence[Term], known: Sequence[ProductSum]) -> Array:
    """Return sums of products of functions of the axes, without lifting functions, at points (n, d), shape (n, m)."""
    columns = [
        f[0] if len(f) == 1 else np.concatenate(f, axis=1) for f in zip(*(p.factors for p in known), strict=True)
    ]
    edges = list(pairwise(accumulate((p.rank for p in known), initial=0)))
    out = np.zeros((len(x), len(known)))
    for summand in axis_summands(terms):
        triples = zip(factors, x.T, summand.terms, columns, strict=True)
        parts = [functions_of(factor, c[:, None], own)[:, : len(f)] @ f for factor, c, own, f in triples]
        values = prod(parts[1:], start=parts[0])
        for k, (start, end) in enumerate(edges):
            out[:, k] += summand.scale * values[:, start:end].sum(axis=1)
    return out


def at_scattered(factors: Sequence[Basis], x: Array, terms: Sequence[Term], full: Array) -> Array:
    """Return the combination ``full`` (R₁, R₂, …, m) at points (n, d), shape (n, m)."""
    out = np.zeros((len(x), full.shape[-1]))
    rows = max(64, _BLOCK // max(1, prod(full.shape[1:])))
    for start in range(0, len(x), rows):
        block = slice(start, start + rows)
        for summand in axis_summands(terms):
            pairs = zip(factors, x[block].T, summand.terms, strict=True)
            first, *tables = [functions_of(factor, c[:, None], own) for factor, c, own in pairs]
            part = (first if summand.scale == 1.0 else summand.scale * first) @ full.reshape(len(full), -1)
            for table in tables:
                part = (table[:, None] @ part.reshape(*table.shape, -1))[:, 0]
            out[block] += part
    return out
