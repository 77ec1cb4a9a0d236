"""Equations evaluated at the quadrature points and projected: the linear terms as matrices, once and for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias, cast

import numpy as np
import scipy.sparse as sps

from frozenpinn.assembly.boundary import derivative_of
from frozenpinn.assembly.constrained_basis import projector_beside
from frozenpinn.assembly.linear_part import LinearPart
from frozenpinn.assembly.nonlocal_terms import linear_quantities
from frozenpinn.assembly.products import SMALL
from frozenpinn.assembly.spaces import Relaxation, Space
from frozenpinn.assembly.state import StateLayout
from frozenpinn.basis.hidden import Term
from frozenpinn.basis.network import Network
from frozenpinn.errors import EvaluationError, ProblemError, SettingsError
from frozenpinn.geometry import Box
from frozenpinn.operators import Block, Dense, Inverse, Operator, Sparse
from frozenpinn.operators.inverse import vanishing
from frozenpinn.operators.symmetry import keep_structure
from frozenpinn.runtime.arrays import is_finite
from frozenpinn.runtime.memo import recent, remembered
from frozenpinn.runtime.round_off import ALIKE, SUMMED
from frozenpinn.statement.equation import Equation, is_divergence
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.structure import moves_determined

Array = np.ndarray


def left_terms(problem: Problem, x: Array) -> Mapping[str, list[Term]]:
    """Return the terms of every implicit left-hand side, without their time derivatives, at the points.

    Those in which fields move that equations without a time derivative determine are left to their elimination.
    """
    return _left_terms(problem, x, [e for e in problem.equations if e.mass and not moves_determined(problem, e)])


def shared_left_terms(problem: Problem, x: Array) -> Mapping[str, list[Term]]:
    """Return the terms of left-hand sides in which determined fields move, too."""
    return _left_terms(problem, x, [e for e in problem.equations if moves_determined(problem, e)])


def _left_terms(problem: Problem, x: Array, equations: Sequence[Equation]) -> Mapping[str, list[Term]]:
    table: dict[str, list[Term]] = {}
    for equation in equations:
        with np.errstate(all="ignore"):
            values = problem.compile(list(equation.mass.values()))(*x.T, problem.time[0])
        for jet, value in zip(equation.mass, values, strict=True):
            if not is_finite(value):
                raise EvaluationError(
                    f"the coefficient '{equation.mass[jet]}' of {problem.jets.name(jet)} is not finite at some points "
                    "of the domain; a division by zero?"
                )
            term = Term(jet.field, derivative_of(replace(jet, time=0)), value)
            table.setdefault(equation.field, []).append(term)
    return table


def inverse_mass(
    problem: Problem, space: Space, columns: Mapping[str, Operator], terms: Mapping[str, list[Term]]
) -> Operator | None:
    """Return M⁻¹ on the coefficients of a space, given the projector of each field; None if M is the identity."""
    if not any(name in terms for name in space.fields):
        return None
    network = space.network
    mass = network.galerkin(terms[space.fields[0]], network)
    if mass is not None:
        return _inverse_on_product(problem, space, mass)
    matrix = np.zeros((network.size, network.size))
    for name in space.fields:
        own = terms.get(name) or [Term(name, derivative_of(problem.jets.field(name)), 1.0)]
        matrix += (columns[name] @ network.at_points(own)).dense()
    if network.is_orthonormal and space.obeys_conditions:
        matrix = keep_structure(matrix, network.singular_values / network.singular_values.max()).matrix
    return Dense(_inverted(problem, space, matrix))


def _inverse_on_product(problem: Problem, space: Space, mass: Operator) -> Operator:
    """Divide in the modes of the axes where there are such, else by the matrix."""
    inverse = Inverse.of(mass)
    if inverse is None:
        return Dense(_inverted(problem, space, mass.dense()))
    _check_determined(problem, space, inverse.spectrum_of.eigenvalues)
    return inverse


def _inverted(problem: Problem, space: Space, matrix: Array) -> Array:
    if _check_determined(problem, space, np.linalg.svd(matrix, compute_uv=False)):
        return np.asarray(np.linalg.inv(matrix))
    return np.asarray(np.linalg.pinv(matrix, rcond=SUMMED))


def _check_determined(problem: Problem, space: Space, values: Array) -> bool:
    """Return whether no eigenvalue or singular value vanishes; one may, if it belongs to a mean that stands still."""
    count = int(np.sum(vanishing(values)))
    if count > 1 or (count and not keeps_mean(problem, space.fields)):
        raise ProblemError(_undetermined(problem, space))
    return not count


def keeps_mean(problem: Problem, fields: Sequence[str]) -> bool:
    """Whether equations whose left-hand sides vanish on constants say nothing about the mean: it may stand still then.

    So it is on periodic domains if the right-hand side is a divergence, whatever the fields, and the mean of the
    forcing is zero: lap(psi_t) = nu*lap(lap(psi)) − psi_y*lap(psi)_x + psi_x*lap(psi)_y is one.
    """
    shares = (0.0, 0.21, 0.47, 0.73, 1.0)  # of the time, at which the mean of a forcing is computed
    domain = problem.domain
    if not isinstance(domain, Box) or domain.sides or problem.frame is not None:
        return False
    points = domain.sample(4096)
    for equation in (problem.equation(name) for name in fields):
        if equation.nonlocal_linear or not is_divergence(equation.right_side - equation.forcing, problem.jets):
            return False
        if equation.forcing != 0:
            start, end = problem.time
            program = problem.compile([equation.forcing])
            for share in shares:
                values = np.broadcast_to(program(*points.x.T, start + share * (end - start))[0], len(points.x))
                if abs(points.weights @ values) > ALIKE * (points.weights @ np.abs(values)):
                    return False
    return True


def _undetermined(problem: Problem, space: Space) -> str:
    equation = next(e for name in space.fields if (e := problem.equation(name)).mass)
    left = str(equation).partition(" = ")[0]
    return (
        f"the left-hand side '{left}' can't be solved for the time derivative: with these boundary conditions there "
        "are functions, such as constants, on which it vanishes. Prescribe a value on some side, or add a term "
        f"without spatial derivatives, as in '{equation.field}_t - {equation.field}_xxt'. (On periodic domains the "
        "mean may stay as it is, if the right-hand side is a divergence and the mean of its forcing is zero.)"
    )


Terms: TypeAlias = Mapping[str, Mapping[int, list[Term]]]  #: linear terms by equation and time derivative


class Divider(NamedTuple):
    """What divides the equations of determined fields: by a projector that inverts, or by an operator after it.

    ``left_out`` is what the inverse leaves out if the equations vanish on some functions, such as constants; ``start``
    are the coefficients at the start.
    """

    projector: Operator
    inverse: Operator | None
    left_out: Array | None
    start: Array


class Projected(NamedTuple):
    """What is projected once: projectors of all spaces, and the linear terms as matrices.

    ``dividers`` are those of spaces of determined fields, which are the last ones.

    ``odd`` is the part of ``position`` that comes from odd derivatives, if there are also even ones. ``left`` has the
    left-hand sides of implicit equations and ``inverses``, for each space, what divides by them.
    """

    terms: Terms
    projectors: tuple[Operator, ...]
    position: Operator
    velocity: Operator | None
    odd: Operator | None
    relaxations: tuple[Relaxation | None, ...]
    left: Mapping[str, list[Term]]
    inverses: tuple[Operator | None, ...]
    dividers: tuple[Divider, ...] = ()


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
    return Dense(projector.dense()[:rank])


def project(
    problem: Problem, spaces: Sequence[Space], rcond: float | None, dividers: Sequence[Divider] = ()
) -> Projected:
    """Project the linear terms with coefficients in x alone: L ψ at the points, then the inner product with ψ.

    The equations of the last spaces, of determined fields, have dividers instead.
    """
    _check_points(spaces)
    first = len(spaces) - len(dividers)
    terms = _constant_terms(problem) or _linear_terms(problem, spaces[0].network.points.x)
    projectors = (*(_projector(space, rcond) for space in spaces[:first]), *(d.projector for d in dividers))
    left = left_terms(problem, spaces[0].network.points.x)
    pairs = zip(spaces[:first], projectors[:first], strict=True)
    inverses = (*(_inverse(problem, space, p, left) for space, p in pairs), *(d.inverse for d in dividers))
    layout = StateLayout(tuple(s.network.size for s in spaces), tuple(s.order for s in spaces))
    parities = {t.derivative.order % 2 for by_time in terms.values() for t in by_time.get(0, [])}
    dense = not any(space.network.is_product for space in spaces)
    split = parities == {0, 1} and len(spaces) == 1 and dense and not left
    even, odd, velocity = (_Blocks(layout, dense) for _ in range(3))
    for equation in problem.equations:
        row = next(i for i, space in enumerate(spaces) if equation.field in space.fields)
        projector = divided(inverses[row], field_columns(spaces[row], projectors[row], equation.field))
        for order, of_order in terms[equation.field].items():
            for column, space in enumerate(spaces):
                own = [t for t in of_order if t.field in space.fields]
                uneven = [t for t in own if split and order == 0 and t.derivative.order % 2]
                for target, part in ((odd, uneven), (velocity if order else even, [t for t in own if t not in uneven])):
                    if part:
                        target.add(row, column, _projected(spaces[row], projector, space, part, inverses[row]))
    for row, column, operator in _nonlocal_blocks(problem, spaces, projectors, inverses):
        even.add(row, column, operator)
    relaxations = tuple(
        None if space.soft is None else space.soft.relaxation(space.network, space.order, projector.dense())
        for space, projector in zip(spaces, projectors, strict=True)
    )
    for index, soft in enumerate(relaxations):
        if soft is not None:
            even.add(index, index, Dense(soft.position))
            velocity.add(index, index, Dense(soft.velocity))
    uneven_part = odd.operator() if split else None
    position = even.operator() if uneven_part is None else even.operator() + uneven_part
    speeds = velocity.operator(moving=True) if velocity.entries and len(layout.moving) else None
    return Projected(terms, projectors, position, speeds, uneven_part, relaxations, left, inverses, tuple(dividers))


def own_terms(problem: Problem, space: Space) -> list[Term]:
    """Return the linear terms in which the equations of a space contain its own fields."""
    terms = _constant_terms(problem) or _linear_terms(problem, space.network.points.x)
    return [t for name in space.fields for t in terms[name].get(0, []) if t.field in space.fields]


def is_constant_on_products(problem: Problem, spaces: Sequence[Space]) -> bool:
    """Whether everything is a sum of products over the axes of small grids, with numbers as coefficients.

    Such operators are few small matrices, and of a basis that is remembered they are worth being remembered, too.
    """
    return _has_plain_terms(problem) and all(
        s.network.is_product and len(s.network.points.weights) <= SMALL and not s.laws and s.soft is None
        for s in spaces
    )


@remembered
def _has_plain_terms(problem: Problem) -> bool:
    """Whether linear terms have numbers as coefficients, and time derivatives stand alone."""
    local = not any(equation.nonlocal_linear for equation in problem.equations)
    return local and _constant_terms(problem) is not None and not left_terms(problem, problem.domain.lower[None])


def constant_part(problem: Problem, spaces: Sequence[Space]) -> tuple[Projected, LinearPart]:
    """Return such projected terms and their linear part, which other data and times on the same basis share."""

    def found() -> tuple[Projected, LinearPart]:
        projected = project(problem, spaces, None)
        layout = StateLayout(tuple(s.network.size for s in spaces), tuple(s.order for s in spaces))
        return projected, LinearPart(projected.position, projected.velocity, layout)

    return recent(problem, tuple(space.network for space in spaces), found)


def _nonlocal_blocks(
    problem: Problem,
    spaces: Sequence[Space],
    projectors: Sequence[Operator],
    inverses: Sequence[Operator | None],
) -> Iterator[tuple[int, int, Operator]]:
    """Yield what linear nonlocal terms of the equations of one space take from another."""
    points = spaces[0].network.points
    for equation in problem.equations:
        row = next(i for i, space in enumerate(spaces) if equation.field in space.fields)
        projector = divided(inverses[row], field_columns(spaces[row], projectors[row], equation.field))
        for matrix, term in linear_quantities(problem, equation, points.x, points.weights):
            column = next(i for i, space in enumerate(spaces) if term.field in space.fields)
            yield row, column, projector @ Dense(matrix @ spaces[column].network.at_points([term]).dense())


def _inverse(problem: Problem, space: Space, projector: Operator, left: Mapping[str, list[Term]]) -> Operator | None:
    """Return what divides by the left-hand sides of a space's equations."""
    if space.soft is not None and any(name in left for name in space.fields):
        raise SettingsError(
            "soft boundary rows (boundary='augmented-ode') can't be used with spatial derivatives of the highest time "
            "derivative, such as u_xxt; leave out boundary=."
        )
    columns = {name: field_columns(space, projector, name) for name in space.fields if left}
    return inverse_mass(problem, space, columns, left)


def divided(inverse: Operator | None, projector: Operator) -> Operator:
    """Return M⁻¹P, or P where the left-hand side is the time derivative alone."""
    return projector if inverse is None else inverse @ projector


def project_products(terms: Mapping[str, list[Term]], spaces: Sequence[Space], layout: StateLayout) -> Operator:
    """Project terms of the equations of some fields, all of whose spaces are products."""
    blocks = _Blocks(layout, dense=False)
    for field, of_field in terms.items():
        row = next(i for i, space in enumerate(spaces) if field in space.fields)
        for column, space in enumerate(spaces):
            own = [t for t in of_field if t.field in space.fields]
            if own:
                blocks.add(row, column, _projected(spaces[row], spaces[row].network.projector(), space, own))
    return blocks.operator()


def _projected(
    target: Space, projector: Operator, source: Space, terms: list[Term], inverse: Operator | None = None
) -> Operator:
    """Project terms of one space onto another, axis by axis where both are products."""
    along_axes = target.network.galerkin(terms, source.network)
    return projector @ source.network.at_points(terms) if along_axes is None else divided(inverse, along_axes)


class _Blocks:
    """Collects what equations of one space take from another, as one operator on all coefficients."""

    def __init__(self, layout: StateLayout, dense: bool) -> None:
        self.layout, self.dense = layout, dense
        self.entries: dict[tuple[int, int], Operator] = {}

    def add(self, row: int, column: int, operator: Operator) -> None:
        """Add to a block."""
        known = self.entries.get((row, column))
        self.entries[row, column] = operator if known is None else known + operator

    def operator(self, moving: bool = False) -> Operator:
        """Return all blocks together: one matrix, or a block operator for products.

        ``moving`` takes the columns of spaces of second order only.
        """
        layout, indices = self.layout, range(len(self.layout.sizes))
        columns = [j for j in indices if not moving or layout.orders[j] == 2]
        if self.dense:
            out = np.zeros((layout.coefficients, layout.coefficients))
            for (row, column), operator in self.entries.items():
                out[layout.blocks[row], layout.blocks[column]] = operator.dense()
            return Dense(out[:, layout.moving] if moving else out)
        table = dict(self.entries)
        for i in indices:  # every row and every column needs an operator
            if all((i, j) not in table for j in columns):
                table[i, columns[0]] = _nothing(layout.sizes[i], layout.sizes[columns[0]])
        for j in columns:
            if all((i, j) not in table for i in indices):
                table[0, j] = _nothing(layout.sizes[0], layout.sizes[j])
        if len(layout.sizes) == 1:
            return table[0, 0]
        return Block(tuple(tuple(table.get((i, j)) for j in columns) for i in indices))


def _nothing(rows: int, columns: int) -> Operator:
    """Return zero."""
    return Sparse(sps.csr_array((rows, columns)))


@remembered
def _constant_terms(problem: Problem) -> Terms | None:
    """Return the linear terms if all of their coefficients are numbers, else None."""
    coefficients = [c for equation in problem.equations for c in equation.linear.values()]
    return _linear_terms(problem, problem.domain.lower[None]) if all(c.is_number for c in coefficients) else None


def _linear_terms(problem: Problem, x: Array) -> Terms:
    """Return the linear terms of each equation by time derivative, coefficients evaluated at the points."""
    table: dict[str, dict[int, list[Term]]] = {}
    for equation in problem.equations:
        jets = list(equation.linear)
        with np.errstate(all="ignore"):
            values = problem.compile([equation.linear[j] for j in jets])(*x.T, 0.0) if jets else []
        by_time: dict[int, list[Term]] = {}
        for jet, value in zip(jets, values, strict=True):
            if not is_finite(value):
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
    if space.images is not None:
        return Dense(projector_beside(space.images, cast(Network, space.network)))
    return space.network.projector(None if space.network.is_orthonormal else rcond)
