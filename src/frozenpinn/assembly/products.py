"""Trial spaces on boxes: products of networks of one variable, each of which obeys the conditions at its ends."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, cast

import numpy as np
import sympy as sp

from frozenpinn.assembly.boundary import BoundaryData, condition_terms, matched_derivatives
from frozenpinn.assembly.interfaces import Cut, axis_cuts, cut_functionals, cut_layer
from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.boundary_layer import Functional
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.network import Network
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.geometry import Box, FlatSide, Points
from frozenpinn.geometry.points import grid_points
from frozenpinn.operators import Operator
from frozenpinn.runtime.memo import remembered
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.data import Datum
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.structure import moves_determined

Array = np.ndarray
SMALL = 200_000  #: points of a product that may be remembered: 6 MB


@remembered
def is_separable(problem: Problem, fields: Sequence[str]) -> bool:
    """Whether the conditions of a field act along their own axis only, with constant coefficients."""
    if len(fields) != 1 or not isinstance(problem.domain, Box):
        return False
    if problem.interfaces is not None and axis_cuts(problem, fields[0]) is None:
        return False
    if problem.jets.quantities or any(fields[0] in law.fields for law in problem.laws):
        return False
    if any(moves_determined(problem, equation) for equation in problem.equations):
        return False
    if fields[0] in problem.determined and not _divides_along_axes(problem, fields[0]):
        return False
    for condition in problem.conditions:
        if fields[0] not in condition.fields:
            continue
        axis = _side(condition).axis
        for jet, coefficient in zip(condition.jets, condition.coefficients, strict=True):
            tangential = sum(a for i, a in enumerate(jet.alpha) if i != axis)
            if tangential or jet.laps or coefficient.free_symbols:
                return False
    return True


def _divides_along_axes(problem: Problem, field: str) -> bool:
    """Whether the equation of a determined field has linear terms in it that are sums over the axes, with numbers."""
    own = {jet: c for jet, c in problem.equation(field).linear.items() if jet.field == field}
    along = all(sum(map(bool, jet.alpha)) + jet.laps <= 1 for jet in own)
    return bool(own) and along and all(c.is_number for c in own.values())


def _side(condition: LinearCondition) -> FlatSide:
    assert isinstance(condition.side, FlatSide)
    return condition.side


def build_product_spaces(problem: Problem, layers: Sequence[HiddenLayer], points: Points, cutoff: float) -> list[Space]:
    """Build a product network for each field: one compliant, compressed network per axis.

    Fields with the same conditions at the ends of an axis share the network of that axis, and with it all operators.
    """
    spaces = []
    for (field,) in problem.groups:
        own = [c for c in problem.conditions if field in c.fields]
        lifts = _has_data(problem, field)
        ends = _ends(problem, field)
        factors = tuple(_axis_network(h, points.along(i), ends[i], cutoff) for i, h in enumerate(layers))
        products = _product(factors, points, lifts, field)
        data = _product_data(problem, own, products) if lifts else BoundaryData(0, problem.time)
        spaces.append(Space(products, data, problem.equation(field).order))
    return spaces


@remembered
def _has_data(problem: Problem, field: str) -> bool:
    """Whether any condition of a field asks for something else than zero."""
    own = [c for c in problem.conditions if field in c.fields]
    return any(not _vanishes(c, cast(Box, problem.domain)) for c in own)


def _vanishes(condition: LinearCondition, box: Box) -> bool:
    """Whether data are zero on their side, as sin(π x) is at x = 1, if that follows from the formula at once."""
    datum, side = condition.value, _side(condition)
    if datum.is_zero or datum.expression is None:
        return datum.is_zero
    end = float((box.lower, box.upper)[side.end][side.axis])
    place = {symbol: sp.Rational(repr(end)) for k, symbol in enumerate(datum.coordinates) if k == side.axis}
    return bool(datum.expression.subs(place) == 0)


def _product(factors: tuple[Network, ...], points: Points, lifts: bool, field: str) -> ProductNetwork:
    """Return the product of networks; small ones are remembered, with what is derived from them."""
    return (_small_product if len(points) <= SMALL else _any_product)(factors, points, lifts, field)


def _any_product(factors: tuple[Network, ...], points: Points, lifts: bool, field: str) -> ProductNetwork:
    return ProductNetwork(factors, points, lifts, (field,))


_small_product = lru_cache(maxsize=8)(_any_product)


class _Ends(NamedTuple):
    """The conditions at the ends of an axis, as a value.

    ``rows`` lists for each condition its place and ``(order, coefficient)`` of its terms; ``matched`` is the number of
    derivatives that are alike at both ends of a periodic axis, 0 of others; ``cuts`` are layers between them.
    """

    rows: tuple[tuple[float, tuple[tuple[int, float], ...]], ...]
    lower: float
    upper: float
    matched: int
    cuts: tuple[Cut, ...] = ()


@remembered
def _ends(problem: Problem, field: str) -> tuple[_Ends, ...]:
    """Return the conditions of a field at the ends of each axis."""
    box, found = cast(Box, problem.domain), []
    for axis in range(box.dimension):
        rows = []
        for condition in (c for c in problem.conditions if field in c.fields and _side(c).axis == axis):
            terms = condition_terms(condition, box.sample_side(condition.side, 1))
            flat = tuple((t.derivative.alpha[axis], float(np.squeeze(t.coefficient))) for t in terms)
            rows.append((float((box.lower, box.upper)[_side(condition).end][axis]), flat))
        matched = matched_derivatives(problem, field) if box.periodic[axis] else 0
        cuts = (axis_cuts(problem, field) or ((),) * box.dimension)[axis]
        found.append(_Ends(tuple(rows), float(box.lower[axis]), float(box.upper[axis]), matched, cuts))
    return tuple(found)


@lru_cache(maxsize=64)
def _axis_network(hidden: HiddenLayer, points: Points, ends: _Ends, cutoff: float) -> Network:
    """Return the compliant, compressed network of one axis.

    Layers and points are distinguished by identity. Those of an even basis are remembered by what they are made from
    (assembly/even_axes.py), so that another solve with such an axis finds its network, tables and modes here.
    """
    functionals = [
        Functional(((np.array([[x]]), tuple(Term("u", Derivative((k,)), c) for k, c in terms)),))
        for x, terms in ends.rows
    ]
    active = range(len(functionals))
    if ends.matched and (ends.cuts or not hidden.repeats(ends.upper - ends.lower)):
        low, high = np.array([[ends.lower]]), np.array([[ends.upper]])
        for k in range(ends.matched):
            up, down = (Term("u", Derivative((k,)), sign) for sign in (1.0, -1.0))
            functionals.append(Functional(((high, (up,)), (low, (down,)))))
    functionals += cut_functionals(ends.cuts, ends.upper - ends.lower)
    network = Network(cut_layer(hidden, ends.cuts), points).comply_with(functionals, active).compress(cutoff)
    return network.shared()


def _product_data(problem: Problem, own: Sequence[LinearCondition], network: ProductNetwork) -> BoundaryData:
    """Sample boundary data on the grids of the sides and map them to lifting coefficients."""
    rows = dict.fromkeys(range(problem.domain.dimension), 0)
    places = []
    for condition in own:
        axis = _side(condition).axis
        places.append((axis, rows[axis]))
        rows[axis] += 1
    parts: list[tuple[Datum, Array, Operator | None]] = []
    for condition, matrix in zip(own, network.side_maps(tuple(places)), strict=True):
        if condition.value.is_zero:
            continue
        axis = _side(condition).axis
        axes = [f.points.x[:, 0] for f in network.factors]
        axes[axis] = np.array([(problem.domain.lower, problem.domain.upper)[_side(condition).end][axis]])
        x = grid_points(axes)
        parts.append((condition.value, x, matrix))
    return BoundaryData(network.lift_size, problem.time, tuple(parts))
