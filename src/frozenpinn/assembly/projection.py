"""Equations evaluated at the quadrature points and projected: the linear terms as matrices, once and for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from frozenpinn.assembly.boundary import derivative_of
from frozenpinn.assembly.spaces import Relaxation, Space
from frozenpinn.assembly.state import StateLayout
from frozenpinn.basis.hidden import Term
from frozenpinn.errors import EvaluationError, SettingsError
from frozenpinn.operators import Dense, Operator
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Terms: TypeAlias = Mapping[str, Mapping[int, list[Term]]]  #: linear terms by equation and time derivative


class Projected(NamedTuple):
    """What is projected once: projectors of all spaces, and the linear terms as matrices.

    ``odd`` is the part of ``position`` that comes from odd derivatives, if there are also even ones.
    """

    terms: Terms
    projectors: tuple[Operator, ...]
    position: Array
    velocity: Array
    odd: Array | None
    relaxations: tuple[Relaxation | None, ...]


def _check_points(spaces: Sequence[Space]) -> None:
    n = len(spaces[0].network.points.x)
    for space in spaces:
        if not space.network.is_orthonormal and space.network.size > n * len(space.fields):
            raise SettingsError(
                f"{n} points are too few for {space.network.size} basis functions; "
                "use at least as many points as neurons, better twice as many."
            )


def field_columns(space: Space, projector: Operator, field: str) -> Operator:
    """Return the columns of a space's projector that act on the equation of one field."""
    if len(space.fields) == 1 and space.soft is None:
        return projector
    n = len(space.network.points.x)
    start = space.fields.index(field) * n
    return Dense(projector.dense()[:, start : start + n])


def leading_rows(space: Space, projector: Operator, rank: int) -> Operator:
    """Return the projector onto the leading functions of a space, which is truncated already."""
    if space.network.is_product:
        return space.network.projector()
    return Dense(projector.dense()[:rank])


def project(problem: Problem, spaces: Sequence[Space], rcond: float | None) -> Projected:
    """Project the linear terms with coefficients in x alone: L ψ at the points, then the inner product with ψ."""
    _check_points(spaces)
    terms = _linear_terms(problem, spaces[0].network.points.x)
    projectors = tuple(_projector(space, rcond) for space in spaces)
    layout = StateLayout(tuple(s.network.size for s in spaces), tuple(s.order for s in spaces))
    count = layout.coefficients
    parities = {t.derivative.order % 2 for by_time in terms.values() for t in by_time.get(0, [])}
    odd = np.zeros((count, count)) if parities == {0, 1} and len(spaces) == 1 else None
    position, velocity = np.zeros((count, count)), np.zeros((count, count))
    for equation in problem.equations:
        index = next(i for i, space in enumerate(spaces) if equation.field in space.fields)
        rows, projector = layout.blocks[index], field_columns(spaces[index], projectors[index], equation.field)
        for order, of_order in terms[equation.field].items():
            target = position if order == 0 else velocity
            for columns, space in zip(layout.blocks, spaces, strict=True):
                own = [t for t in of_order if t.field in space.fields]
                if odd is not None and order == 0:
                    uneven = [t for t in own if t.derivative.order % 2]
                    odd[rows, columns] += (projector @ space.network.at_points(uneven)).dense()
                    own = [t for t in own if not t.derivative.order % 2]
                if own:
                    target[rows, columns] += (projector @ space.network.at_points(own)).dense()
    if odd is not None:
        position += odd
    relaxations = tuple(
        None if space.soft is None else space.soft.relaxation(space.network, space.order, projector.dense())
        for space, projector in zip(spaces, projectors, strict=True)
    )
    for rows, soft in zip(layout.blocks, relaxations, strict=True):
        if soft is not None:
            position[rows, rows] += soft.position
            velocity[rows, rows] += soft.velocity
    return Projected(terms, projectors, position, velocity[:, layout.moving], odd, relaxations)


def _linear_terms(problem: Problem, x: Array) -> Terms:
    """Return the linear terms of each equation by time derivative, coefficients evaluated at the points."""
    table: dict[str, dict[int, list[Term]]] = {}
    for equation in problem.equations:
        jets = list(equation.linear)
        with np.errstate(all="ignore"):
            values = problem.compile([equation.linear[j] for j in jets])(*x.T, 0.0) if jets else []
        by_time: dict[int, list[Term]] = {}
        for jet, value in zip(jets, values, strict=True):
            if not np.all(np.isfinite(value)):
                raise EvaluationError(
                    f"the coefficient '{equation.linear[jet]}' of {problem.jets.name(jet)} is not finite at "
                    "some points of the domain; a division by zero?"
                )
            by_time.setdefault(jet.time, []).append(Term(jet.field, derivative_of(jet), value))
        table[equation.field] = by_time
    return table


def _projector(space: Space, rcond: float | None) -> Operator:
    if space.soft is not None:
        return Dense(space.soft.projector(space.network))
    return space.network.projector(None if space.network.is_orthonormal else rcond)
