"""How a static solution changes with what is unknown in its problem: right-hand sides for its factorisation.

With F(u, θ) = 0 inside and B(θ) u = g(θ) on the boundary, s = ∂u/∂θ obeys J(u) s = −∂F/∂θ and
B s = ∂g/∂θ − ∂B/∂θ u: the same rows as in a step of Newton's method, one right-hand side for each unknown. An unknown
field γ = Σ aₖψₖ counts as one unknown for each ψₖ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy as sp

from frozenpinn.assembly.boundary import derivative_of
from frozenpinn.assembly.collocation import Collocation, Combination, Function, slopes_of
from frozenpinn.basis.hidden import Term
from frozenpinn.geometry import BoundaryPoints
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Program
from frozenpinn.statement.conditions import LinearCondition, normal_symbols
from frozenpinn.statement.laws import BoundaryLaw
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
        Returns by how much some of the atoms change at points (n, d) and a time in every direction, shape (n, size)
        each.
    depends_on_time
        Whether that changes in time.
    """

    atoms: tuple[sp.Expr, ...]
    size: int
    changes: Callable[[Array, float | Array, Sequence[int]], Sequence[Array]]
    depends_on_time: bool = False


@lru_cache(maxsize=512)
def partials(expression: sp.Expr, atoms: tuple[sp.Expr, ...]) -> tuple[tuple[int, sp.Expr], ...]:
    """Return the derivatives of an expression by atoms that do not vanish, with the places of these."""
    found = ((i, sp.diff(expression, atom)) for i, atom in enumerate(atoms) if expression.has(atom))
    return tuple((i, slope) for i, slope in found if slope != 0)


def slopes_by(
    problem: Problem,
    expression: sp.Expr,
    unknowns: Sequence[Directions],
    compiled: Callable[[list[sp.Expr]], list[Array]],
    x: Array,
    t: float | Array = 0.0,
) -> Array:
    """Return the derivative of an expression at points in all directions, shape (n, directions)."""
    blocks = []
    for unknown in unknowns:
        used = partials(expression, unknown.atoms)
        block = np.zeros((len(x), unknown.size))
        if used:
            changes = unknown.changes(x, t, [i for i, _ in used])
            with np.errstate(all="ignore"):
                values = compiled([slope for _, slope in used])
            for change, value in zip(changes, values, strict=True):
                block += np.broadcast_to(value, len(x))[:, None] * change
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
            condition, points = collocation.sides[index]
            shares = np.sqrt(points.weights / np.sum(points.weights))[:, None]

            def there(jets: Sequence[Jet], x: Array = points.x) -> list[Array]:
                return state.jets(x, jets)

            parts.append(scale * shares * condition_slopes(problem, condition, points, there, unknowns))
        else:
            parts.append(np.zeros((len(block), count)))
    for (law, points), scale in zip(collocation.laws, scales[len(scales) - len(collocation.laws) :], strict=True):
        shares = np.sqrt(points.weights / np.sum(points.weights))[:, None]
        parts.append(-scale * shares * law_slopes(problem, law, points, state, unknowns))
    return np.concatenate(parts)


def law_slopes(
    problem: Problem, law: BoundaryLaw, points: BoundaryPoints, state: Function, unknowns: Sequence[Directions]
) -> Array:
    """Return the derivatives of the residual of a nonlinear condition by all unknowns, at points of its side."""
    jets = law.jets_in()
    values = state.jets(points.x, jets)

    def compiled(slopes: list[sp.Expr]) -> list[Array]:
        return law.compile(slopes, jets)(*points.x.T, *points.normals.T, 0.0, *values)

    return slopes_by(problem, law.residual, unknowns, compiled, points.x)


def condition_slopes(
    problem: Problem,
    condition: LinearCondition,
    points: BoundaryPoints,
    values: Callable[[Sequence[Jet]], list[Array]],
    unknowns: Sequence[Directions],
    t: float = 0.0,
) -> Array:
    """Return ∂g/∂θ − ∂B/∂θ u at points of a side; ``values`` are the jets of u there."""
    functions, symbols, x = problem.parameters.functions, problem.jets.x, points.x
    total = np.zeros((len(x), sum(unknown.size for unknown in unknowns)))
    given = condition.value.expression
    if given is not None:
        total += slopes_by(
            problem,
            given,
            unknowns,
            lambda slopes: Program(slopes, [*symbols, problem.jets.t], functions)(*x.T, t),
            x,
            t,
        )
    varying = [i for i, c in enumerate(condition.coefficients) if any(c.has(a) for u in unknowns for a in u.atoms)]
    if varying:
        normals = normal_symbols(len(symbols))
        for i, value in zip(varying, values([condition.jets[i] for i in varying]), strict=True):
            slope = slopes_by(
                problem,
                condition.coefficients[i],
                unknowns,
                lambda slopes: Program(slopes, [*symbols, *normals], functions)(*x.T, *points.normals.T),
                x,
                t,
            )
            total -= value[:, None] * slope
    return total


def jet_rows(collocation: Collocation, x: Array, jet: Jet) -> Array:
    """Return the matrix that takes coefficients to a derivative of a field at points."""
    hidden, fields = collocation.hidden, collocation.problem.fields
    rows = np.zeros((len(x), len(fields), hidden.size))
    wrapped = collocation.problem.domain.wrap(x)
    rows[:, fields.index(jet.field)] = hidden.operator(wrapped, [Term(jet.field, derivative_of(jet))])
    return rows.reshape(len(x), -1)


def moved(state: Combination, sensitivities: Array, step: Array) -> Combination:
    """Return a state after a small change of the unknowns, to first order."""
    return state.moved(state.coefficients + sensitivities @ step)
