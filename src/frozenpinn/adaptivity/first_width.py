"""What can be known before a solve: how many neurons the data need, and whether the basis must follow the solution.

A held-out fit of initial data, forcing and boundary data foretells the error of the solution within an order of
magnitude, as long as the solution stays as smooth as the data. For nonlinear problems in one dimension a rough trial
tells whether it does: a front calls for a basis that follows it, detail everywhere for a wider one.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from frozenpinn.adaptivity.fitting import data_at, held_out
from frozenpinn.adaptivity.grading import Watch, is_spread_out, state_slopes
from frozenpinn.adaptivity.sizing import MANY, Plan, Settings, make_plan, stable_system
from frozenpinn.analysis.probing import probe
from frozenpinn.basis.samplers import MultiScale
from frozenpinn.errors import FrozenPinnError
from frozenpinn.solvers import choose_integrator
from frozenpinn.statement.problem import Problem

Array = np.ndarray
#: How well the data must be represented, in units of the tolerance: a first network that is too narrow costs little,
#: one that is too wide costs much, except in one dimension, where all are cheap.
_ON_LINES, _ON_PRODUCTS, _ON_SHAPES = 0.02, 1.0, 10.0
_SLOW = 0.5  # a fit that gets better by less than this from one width to the next is limited by the data
_TRIAL_WIDTH, _TRIAL_TOL, _TRIAL_SHARE = 200, 1e-3, 5e-2
_RIDGE = 1e-14  # of the fit, about the cut-off of the SVD layer
_FOLLOWING = 140  # neurons of a basis that follows the solution: fewer need many windows
_FURTHER = 1.5  # how far beyond the width of the trial its outcome is trusted
_MANY_START = 200
_LADDERS = {
    1: (40, 56, 80, 110, 150, 200, 280, 400),
    2: (12, 16, 20, 24, 32, 40, 48),  # per axis
    3: (8, 10, 12, 16, 20),
}
_SHAPES = (100, 150, 220, 330, 500, 800)
_STEPPING = {
    1: 400,
    2: 24,
    3: 12,
}  # the widest first networks where there is no closed form, so that solves are costly …
_STEPPING_ON_SHAPES = 220  # … and the same on shapes


def prepare(problem: Problem, settings: Settings) -> Settings:
    """Fill in width and windows where an accuracy is asked for and they are left open."""
    if settings.accuracy is None:
        return settings
    windows, trial = settings.windows, None
    if windows == "auto" and problem.domain.dimension == 1 and not problem.is_linear and settings.sampler is None:
        trial = _trial(problem, settings)
        windows = "auto" if trial.fails else None
    settings = replace(settings, windows=windows)
    if settings.width is not None or not isinstance(settings.sampler, str | None):
        return settings
    return replace(settings, width=round(settings.effort * _start(problem, settings, trial)))


def _start(problem: Problem, settings: Settings, trial: Trial | None) -> int:
    if problem.domain.dimension > MANY:
        return _MANY_START
    width = _width_for_data(problem, settings)
    if problem.domain.dimension > 1 or problem.is_linear:
        return width
    if settings.windows is not None:
        return max(width, _FOLLOWING)
    assert settings.accuracy is not None
    share = (trial or _trial(problem, settings)).share
    # as if the shares of ever finer functions fell exponentially
    return max(width, int(min(np.log(settings.accuracy) / np.log(max(share, 1e-12)), _FURTHER) * _TRIAL_WIDTH))


def _width_for_data(problem: Problem, settings: Settings) -> int:
    """Return the smallest width of a ladder that represents the data well enough, or that more does not help."""
    assert settings.accuracy is not None
    product = make_plan(problem, replace(settings, width=10)).product
    line = problem.domain.dimension == 1
    ladder = _LADDERS[problem.domain.dimension] if product or line else _SHAPES
    if not problem.is_linear or any(equation.linear_in_time for equation in problem.equations):
        widest = _STEPPING[problem.domain.dimension] if product or line else _STEPPING_ON_SHAPES
        ladder = tuple(width for width in ladder if width <= widest)
    margin = _ON_LINES if line else _ON_PRODUCTS if product else _ON_SHAPES
    before = np.inf
    for previous, width in zip((ladder[0], *ladder), ladder, strict=False):
        misfit = _misfit(problem, make_plan(problem, replace(settings, width=width)))
        if misfit <= margin * settings.accuracy:
            return width
        if misfit > _SLOW * before:
            return previous
        before = misfit
    return ladder[-1]


def _misfit(problem: Problem, plan: Plan) -> float:
    """Return the largest relative misfit of the data at points that the fit did not see."""
    rng = np.random.default_rng(13579)
    domain, width = problem.domain, plan.sampler.width
    if not plan.product:
        train = domain.sample(2 * width, "gauss" if domain.dimension == 1 else "random", rng)
        x = np.concatenate([train.x, domain.sample(max(40, width // 2), "random", rng).x, probe(problem).x])
        targets = data_at(problem, x)
        if targets is None:
            return 0.0
        return held_out(plan.sampler.sample(train, rng).features(x), targets, len(train.x), _RIDGE)
    worst = 0.0
    for i in range(domain.dimension):  # along lines parallel to the axes
        axis = domain.axis(i)  # type: ignore[attr-defined]
        train = axis.sample(2 * width)
        along = np.concatenate([train.x, axis.sample(40, "random", rng).x])
        tables = []
        for point in domain.sample(3, "random", rng).x:
            x = np.tile(point, (len(along), 1))
            x[:, i] = along[:, 0]
            targets = data_at(problem, x)
            if targets is not None:
                tables.append(targets)
        if tables:
            features = plan.sampler.sample(train, rng).features(along)
            worst = max(worst, held_out(features, np.concatenate(tables, axis=1), len(train.x), _RIDGE))
    return worst


class Trial(NamedTuple):
    """Whether one basis fails to represent a solution, or would, and the share of its finest tenth at the end."""

    fails: bool
    share: float = 1.0


def _trial(problem: Problem, settings: Settings) -> Trial:
    """Try one basis, roughly: it must get to the end, and the solution must not be steep there in places only."""
    trial = Settings(seed=settings.seed, width=_TRIAL_WIDTH, rtol=_TRIAL_TOL, windows=None)
    plan = make_plan(problem, trial)
    if not isinstance(plan.sampler, MultiScale):
        return Trial(True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cloud = plan.place_points(problem, trial)
            system = stable_system(problem, plan.build_spaces(problem, trial, cloud), trial)
            system.monitor = watch = Watch(system, _TRIAL_SHARE)
            trajectory = choose_integrator(system, settings.integrator, _TRIAL_TOL).integrate(system)
        except FrozenPinnError:
            return Trial(True)
    start, end = system.time
    if watch.until(trajectory, start) < end:
        return Trial(True)
    states = trajectory(np.linspace(start, end, 9))
    follow = not is_spread_out(state_slopes(system, states[-1], end))
    return Trial(follow, max(watch.share(y) for y in states))
