"""Newton's method that keeps away from solutions that are known (Farrell, Birkisson and Funke 2015).

F(u)/|u − v|² + F(u) has the zeros of F but v. Its Newton step is a multiple of that of F, so nothing has to be
assembled or factorised for it: with m = 1/|u − v|² + 1 for each known v, the factor is 1/(1 − Σ m′(u)δ/m).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg as sla

from frozenpinn.assembly.collocation import Collocation, Combination, Function
from frozenpinn.errors import ConvergenceError
from frozenpinn.search.static_rules import DeflationRules, NewtonRules
from frozenpinn.static.newton import Found, fitted, newton

Array = np.ndarray


def size_of(collocation: Collocation, values: Array) -> float:
    """Return the root mean square of values at the points."""
    weights = collocation.points.weights / np.sum(collocation.points.weights)
    return float(np.sqrt(np.sum(weights * values**2)))


def values_of(collocation: Collocation, function: Function) -> Array:
    """Return the fields of a function at the points, shape (fields, n)."""
    fields = [collocation.problem.jets.field(name) for name in collocation.problem.fields]
    return np.array(function.jets(collocation.points.x, fields))


def factor(collocation: Collocation, values: Array, change: Array, known: Sequence[Array], unit: float) -> float:
    """Return the factor by which deflation changes a Newton step."""
    weights, total = collocation.points.weights / np.sum(collocation.points.weights), 0.0
    for other in known:
        gap = (values - other) / unit
        square = float(np.sum(weights * gap**2)) or 1e-300
        total += -2.0 * float(np.sum(weights * gap * change / unit)) / (square * (1.0 + square))
    return 1.0 / (1.0 - total) if total != 1.0 else 1.0


def deflated_newton(
    collocation: Collocation,
    start: Function,
    known: Sequence[Array],
    rules: DeflationRules,
    newton_rules: NewtonRules,
) -> Found:
    """Find a solution other than those whose values at the points are known.

    Raises
    ------
    ConvergenceError
        If none is found from this start.
    """
    with np.errstate(all="ignore"):  # steps may leave what the equations are defined for, and end there
        return _deflated(collocation, start, known, rules, newton_rules)


def _deflated(
    collocation: Collocation,
    start: Function,
    known: Sequence[Array],
    rules: DeflationRules,
    newton_rules: NewtonRules,
) -> Found:
    unit = max((size_of(collocation, v) for v in known), default=0.0) or 1.0
    state = fitted(collocation, start)
    values = values_of(collocation, state)
    for _ in range(rules.steps):
        system = collocation.linearised(state)
        if not np.all(np.isfinite(system.rows)) or not np.all(np.isfinite(system.target)):
            break
        full = collocation.solved(system)
        change = values_of(collocation, full) - values
        size, length = max(size_of(collocation, values), unit), size_of(collocation, change)
        if not np.isfinite(length):
            break
        if length < rules.near * size and _is_new(collocation, values, known, rules):
            found = newton(collocation, full, newton_rules)
            if _is_new(collocation, values_of(collocation, found.state), known, rules):
                return found
        share = factor(collocation, values, change, known, unit)
        if abs(share) * length > rules.longest * size:
            share *= rules.longest * size / (abs(share) * length)
        state = state.moved(state.coefficients + share * (full.coefficients - state.coefficients))
        values = values_of(collocation, state)
    raise ConvergenceError("deflated Newton's method finds no other solution from this start.")


def _is_new(collocation: Collocation, values: Array, known: Sequence[Array], rules: DeflationRules) -> bool:
    sizes = [max(size_of(collocation, values), size_of(collocation, other)) for other in known]
    return all(
        size_of(collocation, values - other) > rules.same * size for other, size in zip(known, sizes, strict=True)
    )


def soft_directions(collocation: Collocation, state: Combination, count: int) -> list[Combination]:
    """Return functions of size one that the linearisation about a solution makes smallest: others are likely that way.

    With A = Q R, they are R⁻¹ times the first right singular vectors of Φ R⁻¹, where Φ are the features at the points.
    """
    system, points, fields = collocation.linearised(state), collocation.points, len(collocation.problem.fields)
    features = collocation.hidden.features(points.x) * np.sqrt(points.weights / np.sum(points.weights))[:, None]
    inverse = sla.solve_triangular(system.factor.triangle, np.eye(system.factor.size), check_finite=False)
    mapped = np.concatenate([features @ part for part in np.split(inverse, fields)])
    _, sizes, vectors = np.linalg.svd(mapped, full_matrices=False)
    return [collocation.state(inverse @ v / s) for v, s in zip(vectors[:count], sizes[:count], strict=True)]


def scaled(state: Combination, multiple: float) -> Combination:
    """Return a multiple of a function."""
    return state.moved(multiple * state.coefficients)
