"""How a static solution changes with what is unknown in its problem: right-hand sides for its factorisation.

With F(u, θ) = 0 inside and B(θ) u = g(θ) on the boundary, s = ∂u/∂θ obeys J(u) s = −∂F/∂θ and
B s = ∂g/∂θ − ∂B/∂θ u: the same rows as in a step of Newton's method, one right-hand side for each unknown. An unknown
field γ = Σ aₖψₖ counts as one unknown for each ψₖ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from frozenpinn.assembly.boundary import derivative_of
from frozenpinn.assembly.collocation import Collocation, Combination, Function, slopes_of
from frozenpinn.basis.hidden import Term
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Program
from frozenpinn.statement.conditions import normal_symbols
from frozenpinn.statement.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Directions:
    """In which directions one unknown may change.

    Attributes
    ----------
    atoms
        What stands for it in expressions: a symbol, or a function with its derivatives.
    size
        How many directions there are: one for a number.
    changes
        Returns by how much each atom changes at points (n, d) in every direction, shape (n, size) each.
    """

    atoms: tuple[sp.Expr, ...]
    size: int
    changes: Callable[[Array], Sequence[Array]]


def slopes_by(
    problem: Problem,
    expression: sp.Expr,
    unknowns: Sequence[Directions],
    compiled: Callable[[list[sp.Expr]], list[Array]],
    x: Array,
) -> Array:
    """Return the derivative of an expression at points in all directions, shape (n, directions)."""
    blocks = []
    for unknown in unknowns:
        used = [(i, sp.diff(expression, atom)) for i, atom in enumerate(unknown.atoms) if expression.has(atom)]
        used = [(i, slope) for i, slope in used if slope != 0]
        block = np.zeros((len(x), unknown.size))
        if used:
            changes = unknown.changes(x)
            with np.errstate(all="ignore"):
                values = compiled([slope for _, slope in used])
            for (i, _), value in zip(used, values, strict=True):
                block += np.broadcast_to(value, len(x))[:, None] * changes[i]
        blocks.append(block)
    return np.concatenate(blocks, axis=1)


def sensitivity_rows(
    collocation: Collocation, state: Function, scales: Sequence[float], unknowns: Sequence[Directions]
) -> Array:
    """Return the right-hand sides of all sensitivities, weighted as the rows of a linearisation are."""
    problem, x = collocation.problem, collocation.points.x
    inner = np.sqrt(collocation.points.weights / np.sum(collocation.points.weights))
    parts = []
    for equation, scale in zip(problem.equations, scales, strict=False):
        jets = slopes_of(problem, equation.field).jets
        values = state.jets(x, jets)

        def compiled(
            slopes: list[sp.Expr], jets: Sequence[Jet] = jets, values: Sequence[Array] = values
        ) -> list[Array]:
            return problem.compile(slopes, jets)(*x.T, 0.0, *values)

        parts.append(-scale * inner[:, None] * slopes_by(problem, equation.right_side, unknowns, compiled, x))
    rows, _, own = collocation.conditions
    count = sum(unknown.size for unknown in unknowns)
    for index, (block, scale) in enumerate(zip(rows, own, strict=True)):
        if index < len(collocation.sides):
            parts.append(scale * _condition_rows(collocation, index, state, unknowns))
        else:
            parts.append(np.zeros((len(block), count)))
    return np.concatenate(parts)


def _condition_rows(collocation: Collocation, index: int, state: Function, unknowns: Sequence[Directions]) -> Array:
    """Return ∂g/∂θ − ∂B/∂θ u at the points of one side."""
    problem, (condition, points) = collocation.problem, collocation.sides[index]
    functions, symbols = problem.parameters.functions, problem.jets.x
    shares = np.sqrt(points.weights / np.sum(points.weights))[:, None]
    total = np.zeros((len(points.x), sum(unknown.size for unknown in unknowns)))
    given = condition.value.expression
    if given is not None:
        total += slopes_by(
            problem,
            given,
            unknowns,
            lambda slopes: Program(slopes, [*symbols, problem.jets.t], functions)(*points.x.T, 0.0),
            points.x,
        )
    varying = [i for i, c in enumerate(condition.coefficients) if any(c.has(a) for u in unknowns for a in u.atoms)]
    if varying:
        values = state.jets(points.x, [condition.jets[i] for i in varying])
        normals = normal_symbols(len(symbols))
        for i, value in zip(varying, values, strict=True):
            slope = slopes_by(
                problem,
                condition.coefficients[i],
                unknowns,
                lambda slopes: Program(slopes, [*symbols, *normals], functions)(*points.x.T, *points.normals.T),
                points.x,
            )
            total -= value[:, None] * slope
    return np.asarray(shares * total)


def sensor_rows(collocation: Collocation, sensors: Sequence[tuple[Array, Jet]]) -> Array:
    """Return the matrix that takes coefficients to what is measured: derivatives of fields at points."""
    hidden, fields = collocation.hidden, collocation.problem.fields
    parts = []
    for x, jet in sensors:
        rows = np.zeros((len(x), len(fields), hidden.size))
        wrapped = collocation.problem.domain.wrap(x)
        if jet.field in fields:  # an unknown field that is measured itself does not depend on the solution
            rows[:, fields.index(jet.field)] = hidden.operator(wrapped, [Term(jet.field, derivative_of(jet))])
        parts.append(rows.reshape(len(x), -1))
    return np.concatenate(parts)


def moved(state: Combination, sensitivities: Array, step: Array) -> Combination:
    """Return a state after a small change of the unknowns, to first order."""
    return state.moved(state.coefficients + sensitivities @ step)
