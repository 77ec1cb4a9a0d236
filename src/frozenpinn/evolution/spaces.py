"""Trial spaces of a solve in time: hidden layers by the plan's sampler, with what the problem adds to them.

In many dimensions a few hundred neurons can't resolve detail everywhere, and the right slope depends on the data:
nearly flat neurons are polynomials of low degree, steep ones see fronts. So initial value, velocity and forcing are
fitted at some points and judged at others. The held-out error is also a forecast of the error of the solution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import scipy.linalg as sla

from frozenpinn.analysis.probing import known_values
from frozenpinn.assembly.interfaces import with_parts
from frozenpinn.assembly.spaces import Space
from frozenpinn.assembly.strategies import build_space
from frozenpinn.basis.samplers import Sampler, adapted, with_width
from frozenpinn.enrichments.corners import singular_functions
from frozenpinn.geometry import Points
from frozenpinn.search.rules import FINEST
from frozenpinn.search.sizing import Plan
from frozenpinn.statement.problem import Problem


def build_spaces(
    plan: Plan, problem: Problem, cloud: Points, window: int = 0, pool: Points | None = None
) -> list[Space]:
    """Sample the hidden layer and put the linear layers on it, for each group of fields.

    Each window of time draws its own neurons; ``pool`` are the points they are drawn from, if not the cloud.
    """
    if plan.frame.product:
        return plan.product_spaces(problem, cloud, window)
    task, sampler = plan.task, plan.sampler
    if task.settings.sampler is None and "fitted slopes" not in task.settings.without:
        sampler = fitted(problem, sampler, cloud, task.seed)
    seeds = np.random.SeedSequence(task.seed if window == 0 else (task.seed, window))
    hidden = sampler.sample(cloud if pool is None else pool, np.random.default_rng(seeds))
    if problem.domain.dimension == 2 and task.settings.sampler is None and "corners" not in task.settings.without:
        hidden = replace(hidden, singular=singular_functions(problem))
    if problem.interfaces is not None:
        hidden = with_parts(problem, hidden)
    per_side = 1 if problem.domain.dimension == 1 else _boundary_points(plan, problem)
    strategy, cutoff = plan.frame.strategy, task.settings.cutoff
    if cutoff == "auto":  # the finest that makes sense
        cutoff = strategy.cutoff or (FINEST if problem.is_linear else task.rules.cutoff.nonlinear)
    return [build_space(problem, hidden, cloud, group, strategy, cutoff, per_side) for group in problem.groups]


def _boundary_points(plan: Plan, problem: Problem) -> int:
    """Return how many points a side gets: enough rows to see every feature of that side."""
    rows = 1.5  # points on the whole boundary per neuron
    fewest = 8  # on each side
    given = plan.task.settings.boundary_points
    sides = max(1, len(problem.domain.sides) + 2 * sum(problem.domain.periodic))
    if given is not None:
        return max(1, round(given / sides))
    return max(fewest, int(rows * plan.sampler.width / sides))


# ---- slopes of neurons in many dimensions --------------------------------------------------------------------------


Array = np.ndarray
SCALES = (2.0, 0.6, 0.2, 0.06, 0.02, 0.006, 0.002)
_RIDGE = 1e-11  # what the SVD layer would cut off


def fitted(problem: Problem, sampler: Sampler, points: Points, seed: int) -> Sampler:
    """Return the sampler with the scale, and with or without pairs of both signs, that fits the data best."""
    if not hasattr(sampler, "rescaled"):
        return sampler
    x, targets = _targets(problem, points, sampler.width)
    if targets is None:
        return sampler
    train = 4 * len(x) // 5
    errors: dict[tuple[int, bool], float] = {}

    def error(k: int, antithetic: bool) -> float:
        if (k, antithetic) not in errors:
            layer = adapted(sampler, "rescaled", SCALES[k], antithetic).sample(points, seed)
            errors[k, antithetic] = held_out(layer.features(x), targets, train)
        return errors[k, antithetic]

    best = _descend(partial(error, antithetic=True), _glance(sampler, points, x, targets, seed))
    _descend(partial(error, antithetic=False), best)
    (k, antithetic), _ = min(errors.items(), key=lambda item: item[1])
    return adapted(sampler, "rescaled", SCALES[k], antithetic)


def _glance(sampler: Sampler, points: Points, x: Array, targets: Array, seed: int) -> int:
    """Return which scale is best for a few neurons."""
    glance = 300  # neurons with which all scales are tried before the search at full width
    width = min(sampler.width, glance)
    few, train = slice(5 * width // 2), 2 * width
    errors = []
    for scale in SCALES:
        layer = adapted(with_width(sampler, width), "rescaled", scale).sample(points, seed)
        errors.append(held_out(layer.features(x[few]), targets[few], train))
    return int(np.argmin(errors))


def _descend(error: Callable[[int], float], k: int) -> int:
    """Walk along the scales until the error grows on both sides."""
    for step in (1, -1):
        while 0 <= k + step < len(SCALES) and error(k + step) < error(k):
            k += step
    return k


def data_at(problem: Problem, x: Array, varying: bool = False) -> Array | None:
    """Return initial values, velocities and forcings at some times, each column of norm one; None if all vanish.

    Parameters
    ----------
    problem, x
        Whose data, and where, shape (n, d).
    varying
        Whether constants are left out, which every basis represents.
    """
    nothing = 1e-100  # data below this are a pulse at another time
    columns = known_values(problem, x, (0.0, 0.5, 1.0))
    sizes = [float(np.ptp(c) if varying else np.max(np.abs(c), initial=0.0)) for c in columns]
    chosen = [
        c
        for c, size in zip(columns, sizes, strict=True)
        if np.all(np.isfinite(c)) and size > max(1e-12 * np.max(np.abs(c), initial=0.0), nothing)
    ]
    if not chosen:
        return None
    table = np.stack([c / np.max(np.abs(c)) for c in chosen], axis=1)
    return np.asarray(table / np.linalg.norm(table, axis=0))


def _targets(problem: Problem, points: Points, width: int) -> tuple[Array, Array | None]:
    """Return points and what is known there, each column of norm one; None if all data are constant."""
    count = 5 * width // 2
    rng = np.random.default_rng(0)
    x = points.x[rng.permutation(len(points))[:count]]
    table = data_at(problem, x, varying=True)
    if table is not None or not problem.conditions:
        return x, table
    # the boundary data move the solution
    middle = sum(problem.time) / 2
    sides = [problem.domain.sample_side(c.side, 2 * width, "sobol", 0).x for c in problem.conditions]
    values = [c.value(s, middle) for c, s in zip(problem.conditions, sides, strict=True)]
    order = rng.permutation(sum(map(len, sides)))[:count]
    x, column = np.concatenate(sides)[order], np.concatenate(values)[order]
    if np.ptp(column) <= 1e-12 * np.max(np.abs(column), initial=0.0):
        return x, None
    return x, column[:, None] / np.linalg.norm(column)


def held_out(features: Array, targets: Array, train: int, ridge: float = _RIDGE) -> float:
    """Fit by regularised least squares on the first rows; return the worst relative error on the others."""
    m = features.shape[1]
    stacked = np.zeros((train + m, m), order="F")
    stacked[:train] = features[:train]
    stacked[np.arange(train, train + m), np.arange(m)] = ridge * np.linalg.norm(features[:train])
    right = np.zeros((train + m, targets.shape[1]))
    right[:train] = targets[:train]
    product, r = sla.qr_multiply(stacked, right.T, mode="right", overwrite_a=True)
    coefficients = sla.solve_triangular(r, product.T, check_finite=False)
    gap = features[train:] @ coefficients - targets[train:]
    return float(np.max(np.linalg.norm(gap, axis=0) / np.maximum(np.linalg.norm(targets[train:], axis=0), 1e-300)))
