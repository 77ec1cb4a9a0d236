"""Functions of space and time as sums of products: what is known of x is evaluated once, what is left depends on t."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.language.algebra import multiplied_out
from frozenpinn.language.functions import PointFunction, checked_values, place_of
from frozenpinn.language.program import Program
from frozenpinn.runtime.memo import remembered

Array = np.ndarray
AxisProduct: TypeAlias = tuple[sp.Expr, ...]  #: one function of each coordinate
_MOST = 8  # products of functions of one coordinate each that are evaluated one by one


class Separated(NamedTuple):
    """source = constant(x) + Σ shapes(x)·histories(t) + rest(x, t)."""

    constant: sp.Expr
    shapes: tuple[sp.Expr, ...]
    histories: tuple[sp.Expr, ...]
    rest: sp.Expr


@lru_cache(maxsize=256)
def separate(source: sp.Expr, t: sp.Symbol) -> Separated:
    """Sort a source into its constant, separable and remaining parts."""
    products: dict[sp.Expr, sp.Expr] = {}
    rest = sp.Integer(0)
    for term in sp.Add.make_args(multiplied_out(source)):
        shape, history = term.as_independent(t, as_Add=False)
        if history.free_symbols <= {t} and not history.has(AppliedUndef):
            products[history] = products.get(history, sp.Integer(0)) + shape
        else:
            rest += term
    constant = products.pop(sp.Integer(1), sp.Integer(0))
    return Separated(constant, tuple(products.values()), tuple(products), rest)


@lru_cache(maxsize=256)
def compiled(histories: tuple[sp.Expr, ...], t: sp.Symbol, derivative: int = 0) -> Program:
    """Compile (derivatives of) functions of time."""
    return Program([sp.diff(h, t, derivative) if derivative else h for h in histories], [t])


def is_smooth(history: sp.Expr) -> bool:
    """Whether a function of time can be differentiated as it stands, without jumps and corners."""
    return not history.has(sp.Heaviside, sp.sign, sp.Abs, sp.Piecewise, sp.Min, sp.Max, sp.DiracDelta)


# ---- coordinates --------------------------------------------------------------------------------------------


class AxisProducts(NamedTuple):
    """Functions of several coordinates as sums of products of functions of one each: one program for each axis.

    ``ranks`` holds the number of products of each function.
    """

    programs: tuple[Program, ...]
    ranks: tuple[int, ...]

    @classmethod
    def of(
        cls, expressions: Sequence[sp.Expr], axes: tuple[sp.Symbol, ...], t: sp.Symbol, functions: Mapping[str, Any]
    ) -> AxisProducts | None:
        """Compile expressions; None if one is no short sum of products."""
        found = [axis_products(expression, axes) for expression in expressions]
        if any(products is None for products in found):
            return None
        columns = zip(axes, zip(*(term for products in found for term in products or ()), strict=True), strict=True)
        programs = tuple(Program(own, [x, t], functions) for x, own in columns)
        return cls(programs, tuple(len(products or ()) for products in found))

    def values(self, axes: Sequence[Array], t: float) -> list[Array]:
        """Return the factors along each axis, shape (n, products); where they are too large for a float, infinities."""
        tables = []
        with np.errstate(all="ignore"):
            for program, x in zip(self.programs, axes, strict=True):
                factors = program(x, t)
                table = np.empty((len(x), len(factors)))
                for column, factor in zip(table.T, factors, strict=True):
                    column[:] = factor
                tables.append(table)
        return tables


@lru_cache(maxsize=256)
def axis_products(expression: sp.Expr, axes: tuple[sp.Symbol, ...]) -> tuple[AxisProduct, ...] | None:
    """Write an expression as a sum of a few products of functions of one coordinate each; None if it takes more.

    Examples
    --------
    >>> x, y = sp.symbols("x y", real=True)
    >>> axis_products(3 * sp.sin(x) * sp.exp(x - y), (x, y))
    ((3*exp(x)*sin(x), exp(-y)),)
    """
    found = _products(expression, axes)
    return None if found is None or len(found) > _MOST else tuple(found)


def _products(node: sp.Expr, axes: tuple[sp.Symbol, ...]) -> list[AxisProduct] | None:
    powers = 4  # of sums that are multiplied out
    if _is_along_one(node, axes):
        return [_single(node, axes)]
    if isinstance(node, sp.Add):
        parts = [_products(part, axes) for part in node.args]
        return None if any(part is None for part in parts) else [term for part in parts for term in part or ()]
    if isinstance(node, sp.Mul):
        return _multiplied([_products(part, axes) for part in node.args])
    if isinstance(node, sp.Pow) and node.exp.is_Integer:
        base = _products(node.base, axes)
        if base is not None and len(base) == 1:
            return [tuple(factor**node.exp for factor in base[0])]
        return _multiplied([base] * int(node.exp)) if 0 < node.exp <= powers else None
    if isinstance(node, sp.exp | sp.sin | sp.cos):
        return _of_sum(node, axes)
    return None


def split_by_axes(expression: sp.Expr, axes: tuple[sp.Symbol, ...]) -> sp.Expr:
    """Write waves of sums over axes by their theorem of addition: on a grid that takes products, and few sines.

    Examples
    --------
    >>> x, y = sp.symbols("x y", real=True)
    >>> split_by_axes(sp.exp(sp.cos(x - y)), (x, y))
    exp(sin(x)*sin(y) + cos(x)*cos(y))
    """

    def split(node: sp.Expr) -> sp.Expr:
        products = None if _is_along_one(node, axes) else _of_sum(node, axes)
        return node if products is None else sp.Add(*(sp.Mul(*factors) for factors in products))

    return expression.replace(lambda node: isinstance(node, sp.sin | sp.cos), split)


def _is_along_one(node: sp.Expr, axes: tuple[sp.Symbol, ...]) -> bool:
    return len(node.free_symbols & set(axes)) <= 1


def _single(node: sp.Expr, axes: tuple[sp.Symbol, ...]) -> AxisProduct:
    """Return a function of one coordinate, or a number, as a product."""
    own = next((i for i, x in enumerate(axes) if x in node.free_symbols), 0)
    return tuple(node if i == own else sp.Integer(1) for i in range(len(axes)))


def _multiplied(parts: Sequence[list[AxisProduct] | None]) -> list[AxisProduct] | None:
    """Multiply sums of products."""
    total: list[AxisProduct] = []
    for part in parts:
        if part is None or len(total) * len(part) > _MOST:
            return None
        total = [tuple(map(sp.Mul, a, b)) for a, b in product(total, part)] if total else part
    return total


def _of_sum(node: sp.Expr, axes: tuple[sp.Symbol, ...]) -> list[AxisProduct] | None:
    """Write exp, sin or cos of a sum over axes by its theorem of addition."""
    terms = sp.Add.make_args(multiplied_out(node.args[0]))
    if not all(_is_along_one(term, axes) for term in terms):
        return None
    parts = [sp.Add(*(t for t in terms if x in t.free_symbols)) for x in axes]
    parts[0] += sp.Add(*(t for t in terms if not t.free_symbols & set(axes)))
    if isinstance(node, sp.exp):
        return [tuple(map(sp.exp, parts))]
    sines: list[AxisProduct] = [(sp.sin(parts[0]),)]
    cosines: list[AxisProduct] = [(sp.cos(parts[0]),)]
    for part in parts[1:]:
        sine, cosine = sp.sin(part), sp.cos(part)
        sines, cosines = (
            [(*a, cosine) for a in sines if cosine != 0] + [(*a, sine) for a in cosines if sine != 0],
            [(*a, cosine) for a in cosines if cosine != 0] + [(-a[0], *a[1:], sine) for a in sines if sine != 0],
        )
    return sines if isinstance(node, sp.sin) else cosines


# ---- several functions of the same place ----------------------------------------------------------


def factors_along_axes(functions: Sequence[PointFunction], axes: Sequence[Array], t: float) -> list[list[Array]] | None:
    """Return the factors (n, products) of each axis, for each function; None if one is no short sum of products."""
    known = _common_products(*functions) if functions else None
    if known is None:
        return None
    tables = known.values(axes, t)
    if len(functions) == 1:
        return [tables]
    edges = pairwise(accumulate(known.ranks, initial=0))
    return [[table[:, start:end] for table in tables] for start, end in edges]


@remembered
def _common_products(first: PointFunction, *others: PointFunction) -> AxisProducts | None:
    both = (first, *others)
    if not all(f.is_formula for f in both):
        return None
    jets = first.scope.jets
    return AxisProducts.of([f.expression for f in both], tuple(jets.x), jets.t, first.functions)


def on_grid(functions: Sequence[PointFunction], axes: Sequence[Array], x: Array, t: float) -> list[Array]:
    """Evaluate functions at all points ``x`` of a grid; what depends on one coordinate is computed along its axis."""
    if not functions or not all(f.is_formula for f in functions):
        return [f.on_grid(axes, x, t) for f in functions]
    with np.errstate(all="ignore"):
        values = _common_program(*functions).on_grid(axes, t)
    return [checked_values(v, len(x), f.what, place_of(x, t)) for f, v in zip(functions, values, strict=True)]


@remembered
def _common_program(first: PointFunction, *others: PointFunction) -> Program:
    jets, axes = first.scope.jets, tuple(first.scope.jets.x)
    expressions = [split_by_axes(f.expression, axes) for f in (first, *others) if f.expression is not None]
    return Program(expressions, [*axes, jets.t], first.functions)
