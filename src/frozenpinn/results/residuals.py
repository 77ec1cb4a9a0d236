"""Residuals on points and times that the solve never saw: PDE, boundary and initial conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from frozenpinn.adaptivity.grading import falls_between
from frozenpinn.assembly.boundary import condition_terms
from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.network import Network, PointSet
from frozenpinn.errors import IntegrationError, ResolutionWarning, warn
from frozenpinn.geometry import FlatSide
from frozenpinn.language.jets import Jet
from frozenpinn.solvers.protocol import typical_size

if TYPE_CHECKING:
    from frozenpinn.results.solution import Piece, Solution
    from frozenpinn.statement.equation import Equation
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
_UNRESOLVED = 3e-3
_MISSED = 2e-3
_MISSED_SOFTLY = 2e-2  # where conditions are met in least squares, about as well as the equation


class Residuals(NamedTuple):
    """Relative L² residual of the PDE, largest boundary residual, relative L² error of the initial fit."""

    pde: dict[str, float]
    boundary: float
    initial: dict[str, float]


def measure_residuals(solution: Solution, points: int = 200, times: int = 12) -> Residuals:
    """Measure how well a solution satisfies what it was asked to satisfy, at held-out points."""
    rng = np.random.default_rng(987654321)
    x = solution.problem.domain.sample(points, "random", rng).x
    start, end = solution.problem.time
    t = start + (end - start) * (np.arange(times) + rng.random(times)) / times
    first = solution.pieces[0].trajectory(np.array([start]))[0]
    return Residuals(_pde(solution, x, t), _boundary(solution, t, rng), _initial(solution, x, first))


def warn_if_suspicious(solution: Solution) -> None:
    """Warn about a basis that can't represent the initial data, or a solution that has exploded."""
    raise_if_infinite(solution)
    problem = solution.problem
    x = problem.domain.sample(60, "random", 2357).x
    misfits = _initial(solution, x, solution.pieces[0].system.initial_state)
    for name, error in misfits.items():
        if error > 1e-3:
            warn(
                f"the network represents the initial value of {name} only to {error:.2g} (relative L²); "
                "the solution can't be better. Use a larger width, or steeper neurons (MultiScale(width, shortest=2)).",
                ResolutionWarning,
            )
    if max(misfits.values()) <= 1e-3 and falls_between(problem, solution.pieces[0].system):
        warn(
            "the initial data have details between the points of the basis, which the solution does not contain. Use a "
            "larger width."
        )
    norms = np.concatenate([_norms(piece) for piece in solution.pieces])
    _warn_if_unresolved(solution)
    _warn_if_boundary_is_missed(solution)
    growth = float(norms.max() / max(norms[0], 1e-300))
    if growth > 1e6:  # suspicious, unless the solution starts from zero and is driven
        growth = float(norms.max() / typical_size(solution.pieces[0].system))
    if growth > 1e6:
        warn(
            f"the solution has grown by a factor {growth:.2g}; the spectral abscissa of the linear part is "
            f"{solution.system.spectral_abscissa:.3g}. If the equation itself does not grow like this, the basis is "
            "unstable: use more points, a larger cutoff (1e-8), or check the boundary conditions.",
            ResolutionWarning,
        )


def raise_if_infinite(solution: Solution) -> None:
    """Refuse a solution that is not finite."""
    if not all(np.all(np.isfinite(_norms(piece))) for piece in solution.pieces):
        raise IntegrationError(
            f"the solution is not finite at t = {solution.problem.time[1]:g}: the linear part has modes that "
            f"grow like exp({solution.system.spectral_abscissa:.3g}·t). "
            "Is the problem well posed (sign of the highest derivative)?"
        )


def _norms(piece: Piece) -> Array:
    """Return the sizes of the states at start, middle and end of a window: in L², whatever the basis."""
    with np.errstate(over="ignore"):
        return np.linalg.norm(
            piece.trajectory(np.array([piece.start, (piece.start + piece.end) / 2, piece.end])), axis=1
        )


def _warn_if_unresolved(solution: Solution) -> None:
    """Warn if the finest tenth of the basis carries a visible part of the solution: the next finer would too.

    The functions are ordered by singular value, smooth ones first, so their last coefficients tell what is missing.
    """
    piece = solution.pieces[-1]
    system, times = piece.system, np.linspace(piece.start, piece.end, 3)
    states = piece.trajectory(times)
    scale = max(float(np.max(np.linalg.norm(states[:, block], axis=1))) for block in system.blocks)
    scale = max(scale, *(_lifted_size(space, system.points, times) for space in system.spaces))
    for block, space in zip(system.blocks, system.spaces, strict=True):
        count = space.network.size // 10
        if not space.network.is_orthonormal or count < 2 or scale == 0:
            continue
        share = float(np.max(np.linalg.norm(states[:, block][:, -count:], axis=1))) / scale
        if share > _UNRESOLVED:
            times = np.linspace(piece.start, piece.end, 129)
            lost = np.linalg.norm(piece.trajectory(times)[:, block][:, -count:], axis=1) > _UNRESOLVED * scale
            since = float(times[np.argmax(lost)]) if np.any(lost) else piece.end
            warn(
                f"from t = {since:.3g} on the basis does not resolve {' and '.join(space.fields)}: its finest tenth "
                f"carries {share:.2g} of the solution, and an error of that size must be expected; before, the "
                f"solution can be used. Use a larger width than {space.network.width}, a shorter time, or, if a shock "
                "is forming, some viscosity.",
                ResolutionWarning,
            )


def _warn_if_boundary_is_missed(solution: Solution) -> None:
    """Warn about conditions that are not met; where they are met by construction there is nothing to look at."""
    problem, system = solution.problem, solution.pieces[0].system
    if problem.domain.dimension == 1 or not all(isinstance(space.network, Network) for space in system.spaces):
        return
    soft = any(space.soft for space in system.spaces)
    start, end = problem.time
    times = np.array([start + 0.3 * (end - start), end])
    rng = np.random.default_rng(24680)
    inside = problem.domain.sample(40, "random", rng).x
    sizes = {
        name: float(np.max(np.abs(solution.jet_values(inside, times, problem.jets.field(name)))))
        for name in problem.fields
    }
    size = float(np.max(problem.domain.lengths))
    for condition in problem.conditions:
        points = problem.domain.sample_side(condition.side, 20, "random", rng)
        total = -np.stack([condition.value(points.x, float(t)) for t in times], axis=1)
        scale = float(np.max(np.abs(total)))
        for jet, coefficient in condition.terms_at(points):
            part = np.broadcast_to(coefficient, len(points.x))[:, None] * solution.jet_values(points.x, times, jet)
            total = total + part
            scale = max(scale, float(np.max(np.abs(part))), sizes[jet.field] / size**jet.order, 1e-300)
        missed = float(np.max(np.abs(total)))
        if missed > (_MISSED_SOFTLY if soft else _MISSED) * scale:
            warn(
                f"the solution misses the condition '{condition.text}' on side '{condition.side.name}' by up to "
                f"{missed / scale:.2g} of its terms. Use a larger width or more boundary points; a corner where "
                "conditions of two kinds meet, or one that points inwards, makes solutions singular."
            )


def _lifted_size(space: Space, points: PointSet, times: Array) -> float:
    """Return the largest L² norm of the part of the solution that boundary data lift."""
    if not space.network.lift_size:
        return 0.0
    root = np.sqrt(points.weights)
    zero = Derivative((0,) * points.x.shape[1])
    values = [space.network.lift_operator(points.x, [Term(name, zero)]) for name in space.fields]
    return max(float(np.linalg.norm(root * (v @ space.data(float(t))))) for v in values for t in times)


def _pde(solution: Solution, x: Array, t: Array) -> dict[str, float]:
    problem = solution.problem
    result = {}
    for equation in problem.equations:
        per_time = _size(solution, x, t, equation.field) / (t[-1] - t[0]) ** equation.order
        gap, scale = imbalance(solution, equation, x, t, interpolated=True)
        result[equation.field] = gap / max(scale, per_time, 1e-300)
    return result


def imbalance(
    solution: Solution, equation: Equation, x: Array, t: Array, interpolated: bool = False
) -> tuple[float, float]:
    """Return the L² difference of the two sides of an equation, and the size of its largest term."""
    problem = solution.problem
    jets = list(problem.jets.jets_in(equation.right_side).values())
    values = [solution.jet_values(x, t, jet) for jet in jets]
    program = problem.compile([equation.right_side], jets)
    highest = Jet(equation.field, (0,) * x.shape[1], 0, equation.order)
    left = solution.jet_values(x, t, highest, interpolated=interpolated)
    right = np.empty_like(left)
    with np.errstate(all="ignore"):
        for k, s in enumerate(t):
            right[:, k] = program(*x.T, float(s), *(v[:, k] for v in values))[0]
    sizes = [float(np.linalg.norm(side)) for side in (left, right)]
    return float(np.linalg.norm(left - right)), max(*sizes, _largest_term(problem, equation, x, t, values))


def _size(solution: Solution, x: Array, t: Array, field: str) -> float:
    return float(np.linalg.norm(solution.jet_values(x, t, solution.problem.jets.field(field))))


def _largest_term(problem: Problem, equation: Equation, x: Array, times: Array, values: list[Array]) -> float:
    """Return the size of the largest linear term, or of the sum of the others: a steady balance is judged against them.

    ``values`` are those of the jets of the right-hand side, in their order, shape (n, m) each.
    """
    jets = list(problem.jets.jets_in(equation.right_side).values())
    linear = [jet for jet in jets if jet in equation.linear]
    program = problem.compile([*(equation.linear[jet] for jet in linear), equation.nonlinear, equation.forcing], jets)
    largest = 0.0
    with np.errstate(all="ignore"):
        tables = [program(*x.T, float(t), *(v[:, k] for v in values)) for k, t in enumerate(times)]
    for i in range(len(linear) + 2):
        factor = np.stack([np.broadcast_to(table[i], len(x)) for table in tables], axis=1)
        term = factor * values[jets.index(linear[i])] if i < len(linear) else factor
        size = float(np.linalg.norm(term))
        largest = max(largest, size if np.isfinite(size) else 0.0)
    return largest


def _boundary(solution: Solution, t: Array, rng: np.random.Generator) -> float:
    problem, worst = solution.problem, 0.0
    for condition in problem.conditions:
        points = problem.domain.sample_side(condition.side, 20, "random", rng)
        x = points.x
        total = -np.stack([condition.value(x, float(s)) for s in t], axis=1)
        for term, jet in zip(condition_terms(condition, points), condition.jets, strict=True):
            coefficient = np.broadcast_to(term.coefficient, len(x))
            total = total + coefficient[:, None] * solution.jet_values(x, t, jet)
        worst = max(worst, float(np.max(np.abs(total))))
    for axis in (i for i, periodic in enumerate(problem.domain.periodic) if periodic):
        low = problem.domain.sample_side(FlatSide("", (), axis, 0), 20, "random", rng).x
        high = low.copy()
        high[:, axis] = problem.domain.upper[axis]
        for name in problem.fields:
            jet = problem.jets.field(name)
            gap = solution.jet_values(low, t, jet) - solution.jet_values(high, t, jet)
            worst = max(worst, float(np.max(np.abs(gap))))
    return worst


def _initial(solution: Solution, x: Array, state: Array) -> dict[str, float]:
    """Return the relative L² misfit of initial values ("u") and, of second-order fields, velocities ("u_t")."""
    problem, system = solution.problem, solution.pieces[0].system
    start, end = problem.time
    parts = system.split(state)
    result = {}
    for name, datum in problem.initial.items():
        index, space = system.space_of(name)
        term = [Term(name, Derivative((0,) * x.shape[1]))]
        basis = space.network.operator(x, term)
        lift = space.network.lift_operator(x, term) if space.network.lift_size else None
        data = [(name, datum), *([(f"{name}_t", problem.initial_velocity[name])] if space.order == 2 else [])]
        size = 0.0
        for order, (label, wanted) in enumerate(data):
            exact = wanted(x, start)
            found = basis @ parts[index][order]
            if lift is not None:
                found = found + lift @ space.data(start, order)
            # a velocity is small if it moves little of the field over the whole time
            size = max(float(np.linalg.norm(exact)), size / (end - start))
            result[label] = float(np.linalg.norm(found - exact)) / (size or 1.0)
    return result
