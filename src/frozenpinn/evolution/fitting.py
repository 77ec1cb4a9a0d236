"""Slopes of neurons in many dimensions, chosen by how well they represent the data of a problem.

In many dimensions a few hundred neurons can't resolve detail everywhere, and the right slope depends on the data:
nearly flat neurons are polynomials of low degree, steep ones see fronts. So initial value, velocity and forcing are
fitted at some points and judged at others. The held-out error is also a forecast of the error of the solution.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.linalg as sla

from frozenpinn.analysis.probing import known_values
from frozenpinn.basis.samplers import Sampler, adapted, with_width
from frozenpinn.geometry import Points
from frozenpinn.statement.problem import Problem

Array = np.ndarray
SCALES = (2.0, 0.6, 0.2, 0.06, 0.02, 0.006, 0.002)
_GLANCE = 300  # neurons with which all scales are tried before the search at full width
_NOTHING = 1e-100  # data below this are a pulse at another time
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
    width = min(sampler.width, _GLANCE)
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
    columns = known_values(problem, x, (0.0, 0.5, 1.0))
    sizes = [float(np.ptp(c) if varying else np.max(np.abs(c), initial=0.0)) for c in columns]
    chosen = [
        c
        for c, size in zip(columns, sizes, strict=True)
        if np.all(np.isfinite(c)) and size > max(1e-12 * np.max(np.abs(c), initial=0.0), _NOTHING)
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
