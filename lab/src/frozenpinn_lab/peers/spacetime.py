"""Space-time random features: one network in (x, t), its output layer from one least-squares problem.

    u(x, t) = Σ cₖ σ(wₖ·(x, t) + bₖ) + c₀

Frozen hidden weights by ELM or SWIM as in the frozen networks, but in all of space-time. Rows of the least-squares
problem are the equation at random points of Ω × [0, T], the boundary conditions (on periodic axes: equal values and
derivatives at both ends) and the initial conditions, each kind divided by the root of its number: the loss is a sum of
means of squares, with the given weights. Without weights, each row is divided by its largest entry (the rescaling of
Chen, Chi, E and Yang, Bridging traditional and machine learning-based algorithms for solving PDEs: the random feature
method, 2022), without which derivatives of high order outweigh all else.

Nonlinear equations are solved by Gauss–Newton steps, each of them one such problem, halved until the loss decreases.
The derivatives of the right-hand side by u, uₓ, … are symbolic. The first guess is the initial value at all times.

In the paper these are the methods "ELM" and "SWIM" of the advection equation, which fail beyond speeds of about 40.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as sla

from frozenpinn.basis.samplers import ELM, SWIM
from frozenpinn.errors import IntegrationError, SettingsError
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers.evaluation import arranged, field_of
from frozenpinn_lab.peers.score import Deadline, Scored
from frozenpinn_lab.peers.spacetime_rows import PointCounts, RowBlock, SpaceTime, blocks_of, residual_and_rows

Array = np.ndarray
_HALVINGS = 12
_BLOCK = 10_000  # points evaluated at a time


class Weights(NamedTuple):
    """Weights of the three losses."""

    pde: float = 1.0
    boundary: float = 1.0
    initial: float = 1.0


class SpaceTimeSolution(Scored):
    """A network in space-time.

    Attributes
    ----------
    problem, layer, coefficients
        What was solved, the neurons, and the output layer by field.
    size
        Number of unknowns.
    iterations, losses
        Gauss–Newton steps (1 for linear problems), and the loss after each.
    stopped
        Whether the budget ended the iteration before it had converged.
    """

    def __init__(
        self, problem: Problem, space: SpaceTime, coefficients: Array, losses: Sequence[float], stopped: bool
    ) -> None:
        self.problem, self.layer = problem, space.layer
        self.coefficients = dict(zip(problem.fields, coefficients.reshape(len(problem.fields), -1), strict=True))
        self.size, self.losses, self.iterations, self.stopped = len(coefficients), tuple(losses), len(losses), stopped

    def __call__(self, *where: Any, field: str | None = None) -> Array:
        """Evaluate a field: ``solution(x, t)``, ``solution(x, y, t)``, ``solution(x[:, None], t)`` for a grid.

        Coordinates and t are numbers or arrays that broadcast against each other; or one array of points (n, d), and t.
        """
        coefficients = self.coefficients[field_of(self.problem, field)]
        x, t, shape = arranged(self.problem, where)
        z = np.column_stack([x, t])
        parts = [self.layer.features(z[i : i + _BLOCK]) @ coefficients for i in range(0, len(z), _BLOCK)]
        return np.concatenate([*parts, np.empty(0)]).reshape(shape)

    def outer(self, field: str, x: Array, times: Array) -> Array:
        """Return the values at all points (n, d) and all times (m,), shape (n, m)."""
        c = self.coefficients[field]
        return np.stack([self.layer.features(np.column_stack([x, np.full(len(x), t)])) @ c for t in times], axis=1)


def solve_spacetime(
    problem: Problem,
    *,
    sampler: str = "elm",
    width: int = 400,
    interior: int = 2000,
    boundary: int = 400,
    initial: int = 400,
    seed: int = 0,
    rcond: float = 1e-14,
    weights: Weights | Sequence[float] | None = None,
    eta: float = 1.0,
    scale: float = 1.0,
    scaled: bool = True,
    activation: str = "tanh",
    point_method: str = "latin-hypercube",
    iterations: int = 30,
    tol: float = 1e-8,
    seconds: float | None = None,
) -> SpaceTimeSolution:
    """Solve a problem by random features in space-time.

    Parameters
    ----------
    problem
        What to solve, in any dimension; systems too.
    sampler
        ``"elm"`` (weights from N(0, scale²), biases uniform in [−eta, eta]) or ``"swim"`` (pairs of interior points,
        all equally likely, as the solution is not known).
    width
        Number of neurons.
    interior, boundary, initial
        Numbers of points in Ω × (0, T), on the boundary for all times (shared between the sides), and at the start.
    seed
        Of neurons and points.
    rcond
        Singular values below this fraction of the largest are left out.
    weights
        Of the losses of equation, boundary and initial conditions; None divides each row by its largest entry.
    scaled
        Draw the neurons in coordinates that run from −1 to 1; otherwise in the given ones.
    activation
        ``"tanh"`` or ``"sin"``.
    point_method
        Of the interior points: ``random``, ``latin-hypercube`` or ``sobol``.
    iterations, tol
        Most Gauss–Newton steps, and the relative change of the solution that ends them.
    seconds
        Wall-clock budget. A nonlinear solve returns what it has, with ``stopped``; if it has nothing yet,
        IntegrationError is raised.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0",
    ...     exact="exp(-pi**2*t)*sin(pi*x)")
    >>> solve_spacetime(problem, width=100, interior=400).error()["rel_l2"] < 1e-5
    True
    """
    budget = Deadline(seconds)
    counts = PointCounts(interior, boundary, initial, point_method)
    space = SpaceTime(problem, counts, np.random.default_rng(seed), scaled)
    space.layer = space.stretched(_sampler(sampler, width, eta, scale, activation), seed)
    blocks = blocks_of(space)
    factors = _row_factors(blocks, None if weights is None else Weights(*weights))
    losses: list[float] = []
    start = np.zeros(space.size)
    if problem.is_linear:
        residual, rows = residual_and_rows(blocks, factors, start)
        _check(budget)
        c = start - least_squares(rows, residual, rcond)
        losses.append(_loss(blocks, factors, c))
        return SpaceTimeSolution(problem, space, c, losses, False)
    c = space.initial_guess(rcond)
    _check(budget)
    c, losses, stopped = _gauss_newton(blocks, factors, c, rcond, iterations, tol, budget)
    return SpaceTimeSolution(problem, space, c, losses, stopped)


def _gauss_newton(
    blocks: Sequence[RowBlock],
    factors: Sequence[Array],
    c: Array,
    rcond: float,
    iterations: int,
    tol: float,
    budget: Deadline,
) -> tuple[Array, list[float], bool]:
    """Minimise the loss; return the coefficients, the losses, and whether the budget ended it."""
    loss = _loss(blocks, factors, c)
    losses: list[float] = []
    for _ in range(iterations):
        residual, rows = residual_and_rows(blocks, factors, c)
        change = least_squares(rows, residual, rcond)
        for k in range(_HALVINGS):
            trial = c - 0.5**k * change
            new = _loss(blocks, factors, trial)
            if new < loss:
                break
        else:
            return c, [*losses, loss], False  # as low as rounding errors allow
        size, step = float(np.linalg.norm(rows @ c)), float(np.linalg.norm(rows @ (trial - c)))
        decrease = loss - new
        c, loss = trial, new
        losses.append(loss)
        if step <= tol * size or decrease <= 1e-6 * loss:
            return c, losses, False
        if budget.is_spent:
            return c, losses, True
    return c, losses, False


def least_squares(rows: Array, right: Array, rcond: float) -> Array:
    """Return the shortest least-squares solution without the singular values below rcond times the largest."""
    try:
        solution = sla.lstsq(rows, right, cond=rcond, lapack_driver="gelsd", check_finite=False)[0]
    except (sla.LinAlgError, ValueError):
        solution = np.full(rows.shape[1], np.nan)
    if not np.all(np.isfinite(solution)):
        raise IntegrationError("the least-squares problem has no finite solution; check coefficients and data.")
    return np.asarray(solution)


def _row_factors(blocks: Sequence[RowBlock], weights: Weights | None) -> list[Array]:
    """Return what each row is multiplied by."""
    totals: dict[str, int] = {}
    for block in blocks:
        totals[block.kind] = totals.get(block.kind, 0) + block.count
    if weights is not None:
        if not all(np.isfinite(w) and w >= 0 for w in weights):
            raise SettingsError(f"weights must be numbers that are not negative, got {tuple(weights)}.")
        share = weights._asdict()
        return [np.full(block.count, np.sqrt(share[block.kind] / totals[block.kind])) for block in blocks]
    return [1.0 / (np.maximum(block.largest, 1e-300) * np.sqrt(totals[block.kind])) for block in blocks]


def _loss(blocks: Sequence[RowBlock], factors: Sequence[Array], c: Array) -> float:
    total = 0.0
    for block, factor in zip(blocks, factors, strict=True):
        with np.errstate(all="ignore"):
            total += float(np.sum((factor * block.residual(c)) ** 2))
    return total if np.isfinite(total) else np.inf


def _sampler(name: str, width: int, eta: float, scale: float, activation: str) -> ELM | SWIM:
    if name == "elm":
        return ELM(width, eta=eta, scale=scale, activation=activation)
    if name == "swim":
        return SWIM(width, activation=activation)
    raise SettingsError(f"the sampler of space-time features is 'elm' or 'swim', got {name!r}.")


def _check(budget: Deadline) -> None:
    if budget.is_spent:
        raise IntegrationError(f"the budget of {budget.seconds:g} s was exceeded before the first solve.")
