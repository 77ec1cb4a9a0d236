"""Functions of the same place evaluated together: what their formulas have in common, as u and u_t do, counts once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from frozenpinn.language.functions import PointFunction, checked_values, place_of
from frozenpinn.language.program import Program
from frozenpinn.language.separation import AxisProducts, split_by_axes
from frozenpinn.runtime.memo import remembered

Array = np.ndarray


def factors_along_axes(functions: Sequence[PointFunction], axes: Sequence[Array], t: float) -> list[list[Array]] | None:
    """Return the factors (n, products) of each axis, for each function; None if one is no short sum of products."""
    known = _products(*functions) if functions else None
    if known is None:
        return None
    tables = known.values(axes, t)
    if len(functions) == 1:
        return [tables]
    edges = pairwise(accumulate(known.ranks, initial=0))
    return [[table[:, start:end] for table in tables] for start, end in edges]


@remembered
def _products(first: PointFunction, *others: PointFunction) -> AxisProducts | None:
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
        values = _program(*functions).on_grid(axes, t)
    return [checked_values(v, len(x), f.what, place_of(x, t)) for f, v in zip(functions, values, strict=True)]


@remembered
def _program(first: PointFunction, *others: PointFunction) -> Program:
    jets, axes = first.scope.jets, tuple(first.scope.jets.x)
    expressions = [split_by_axes(f.expression, axes) for f in (first, *others) if f.expression is not None]
    return Program(expressions, [*axes, jets.t], first.functions)
