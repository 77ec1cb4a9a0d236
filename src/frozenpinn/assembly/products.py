"""Trial spaces on boxes: products of networks of one variable, each of which obeys the conditions at its ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from frozenpinn.assembly.boundary import BoundaryData, BoundaryRows, condition_terms, matched_derivatives
from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.boundary_layer import Functional
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.network import Network
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.geometry import Box, FlatSide, Points
from frozenpinn.geometry.points import grid_points
from frozenpinn.operators import Operator
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.data import Datum
from frozenpinn.statement.problem import Problem

Array = np.ndarray


def is_separable(problem: Problem, fields: Sequence[str]) -> bool:
    """Whether the conditions of a field act along their own axis only, with constant coefficients."""
    if len(fields) != 1 or problem.domain.dimension == 1 or not isinstance(problem.domain, Box):
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


def _side(condition: LinearCondition) -> FlatSide:
    assert isinstance(condition.side, FlatSide)
    return condition.side


def build_product_spaces(problem: Problem, layers: Sequence[HiddenLayer], points: Points, cutoff: float) -> list[Space]:
    """Build a product network for each field: one compliant, compressed network per axis.

    Fields with the same conditions at the ends of an axis share the network of that axis, and with it all operators.
    """
    axes = [points.along(axis) for axis in range(len(layers))]
    known: list[tuple[int, BoundaryRows, Network]] = []
    spaces = []
    for (field,) in problem.groups:
        own = [c for c in problem.conditions if field in c.fields]
        lifts = any(not c.value.is_zero for c in own)
        factors = []
        for axis, (hidden, axis_points) in enumerate(zip(layers, axes, strict=True)):
            rows = _axis_rows(problem, field, axis, own, hidden)
            found = next((n for a, r, n in known if a == axis and _same(r, rows)), None)
            if found is None:
                network = Network(hidden, axis_points, (field,))
                network = network.comply_with(rows.functionals, range(len(rows.conditions)))
                found = network.compress(cutoff)
                known.append((axis, rows, found))
            factors.append(found)
        products = ProductNetwork(tuple(factors), points, lifts, (field,))
        data = _product_data(problem, own, products) if lifts else BoundaryData(0, problem.time)
        spaces.append(Space(products, data, problem.equation(field).order))
    return spaces


def _same(one: BoundaryRows, other: BoundaryRows) -> bool:
    """Whether two fields have the same conditions at the ends of an axis."""
    return len(one.functionals) == len(other.functionals) and all(
        np.array_equal(x, y) and [t[1:] for t in a] == [t[1:] for t in b]
        for f, g in zip(one.functionals, other.functionals, strict=True)
        for (x, a), (y, b) in zip(f.parts, g.parts, strict=True)
    )


def _axis_rows(
    problem: Problem, field: str, axis: int, own: Sequence[LinearCondition], hidden: HiddenLayer
) -> BoundaryRows:
    """Return the end conditions of one axis, as rows on one-dimensional features."""
    functionals: list[Functional] = []
    interval = cast(Box, problem.domain).axis(axis)
    for condition in (c for c in own if _side(c).axis == axis):
        x = np.array([[(interval.lower, interval.upper)[_side(condition).end][0]]])
        terms = condition_terms(condition, problem.domain.sample_side(condition.side, 1))
        flat = tuple(Term(field, Derivative((t.derivative.alpha[axis],)), t.coefficient) for t in terms)
        functionals.append(Functional(((x, flat),)))
    periodicity: list[Functional] = []
    if interval.periodic[0] and not hidden.repeats(float(interval.measure)):
        low, high = interval.lower[None, :], interval.upper[None, :]
        for k in range(matched_derivatives(problem, field)):
            derivative = Derivative((k,))
            parts = ((high, (Term(field, derivative, 1.0),)), (low, (Term(field, derivative, -1.0),)))
            periodicity.append(Functional(parts))
    return BoundaryRows(tuple(functionals), tuple(periodicity), (), problem.time)


def _product_data(problem: Problem, own: Sequence[LinearCondition], network: ProductNetwork) -> BoundaryData:
    """Sample boundary data on the grids of the sides and map them to lifting coefficients."""
    rows = dict.fromkeys(range(problem.domain.dimension), 0)
    places = []
    for condition in own:
        axis = _side(condition).axis
        places.append((axis, rows[axis]))
        rows[axis] += 1
    parts: list[tuple[Datum, Array, Operator | None]] = []
    for condition, matrix in zip(own, network.side_maps(places), strict=True):
        if condition.value.is_zero:
            continue
        axis = _side(condition).axis
        axes = [f.points.x[:, 0] for f in network.factors]
        axes[axis] = np.array([(problem.domain.lower, problem.domain.upper)[_side(condition).end][axis]])
        x = grid_points(axes)
        parts.append((condition.value, x, matrix))
    return BoundaryData(network.lift_size, problem.time, tuple(parts))
