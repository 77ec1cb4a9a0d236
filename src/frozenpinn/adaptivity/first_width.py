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
from frozenpinn.adaptivity.grading import is_spread_out, state_slopes
from frozenpinn.adaptivity.integrator_choice import choose_integrator
from frozenpinn.adaptivity.resolution import Watch
from frozenpinn.adaptivity.rules import Rules
from frozenpinn.adaptivity.settings import Settings, Task
from frozenpinn.adaptivity.sizing import Frame, Plan, make_plan
from frozenpinn.adaptivity.stability import stable_discretisation
from frozenpinn.adaptivity.tolerances import Tolerances
from frozenpinn.analysis.probing import probe
from frozenpinn.assembly.discretisation import Stage
from frozenpinn.basis.samplers import Sampler
from frozenpinn.errors import FrozenPinnError
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.solvers import Integrator, Observer
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class Sizes(NamedTuple):
    """What a search knows of sizes from its first solve on: the width at effort one, and how the basis is renewed.

    None for the width leaves it to the settings.
    """

    width: int | None
    follows: bool


def first_sizes(problem: Problem, task: Task) -> Sizes:
    """Find width and renewal where an accuracy is asked for and they are left open; what is found is remembered."""
    settings, rules = task.settings, task.rules.sizing
    line = problem.domain.dimension == 1
    trial = None
    if settings.windows == "auto" and line and not problem.is_linear and settings.sampler is None:
        trial = _trial(problem, settings.integrator, task.rules, task.seed)
    follows = trial is None or trial.fails
    if not task.grows:
        return Sizes(None, follows)
    if problem.domain.dimension > rules.dimensions:
        return Sizes(rules.many_start, follows)
    assert task.tolerances.solution is not None
    width = _width_for_data(problem, settings, task.tolerances.solution)
    if line and not problem.is_linear:
        if follows and Frame.of(problem, settings).renewal is not None:
            width = max(width, rules.following)
        else:
            share = (trial or _trial(problem, settings.integrator, task.rules, task.seed)).share
            # as if the shares of ever finer functions fell exponentially
            ratio = np.log(task.tolerances.solution) / np.log(max(share, 1e-12))
            width = max(width, int(min(ratio, rules.further) * rules.trial_width))
    return Sizes(width, follows)


def sized_plan(problem: Problem, task: Task, sizes: Sizes) -> Plan:
    """Return the plan of a solve of known sizes."""
    plan = make_plan(problem, task, None if sizes.width is None else round(task.effort * sizes.width))
    return plan if sizes.follows else replace(plan, frame=replace(plan.frame, renewal=None))


@remembered
def _width_for_data(problem: Problem, settings: Settings, tol: float) -> int:
    """Return the smallest width of a ladder that represents the data well enough, or that more does not help."""
    rules, dimension = settings.rules.sizing, problem.domain.dimension
    frame = Frame.of(problem, settings)
    line = dimension == 1
    ladder = rules.ladder[dimension - 1] if frame.product or line else rules.ladder_on_shapes
    if not problem.is_linear or any(equation.linear_in_time for equation in problem.equations):
        widest = rules.stepping[dimension - 1] if frame.product or line else rules.stepping_on_shapes
        ladder = tuple(width for width in ladder if width <= widest)
    margin = rules.margin_on_lines if line else rules.margin_on_products if frame.product else rules.margin_on_shapes
    before = np.inf
    for previous, width in zip((ladder[0], *ladder), ladder, strict=False):
        sampler = frame.sampler(problem, settings, width)
        misfit = (_misfit_on_axes if frame.product else _misfit)(problem, sampler, rules.ridge)
        if misfit <= margin * tol:
            return width
        if misfit > rules.slow * before:
            return previous
        before = misfit
    return ladder[-1]


def _misfit(problem: Problem, sampler: Sampler, ridge: float) -> float:
    """Return the largest relative misfit of the data at points that the fit did not see."""
    rng = np.random.default_rng(Seed.FIRST_WIDTH)
    domain, width = problem.domain, sampler.width
    train = domain.sample(2 * width, "gauss" if domain.dimension == 1 else "random", rng)
    x = np.concatenate([train.x, domain.sample(max(40, width // 2), "random", rng).x, probe(problem).x])
    targets = data_at(problem, x)
    if targets is None:
        return 0.0
    return held_out(sampler.sample(train, rng).features(x), targets, len(train.x), ridge)


def _misfit_on_axes(problem: Problem, sampler: Sampler, ridge: float) -> float:
    """Return the same for a product, along lines parallel to the axes."""
    rng, domain = np.random.default_rng(Seed.FIRST_WIDTH), problem.domain
    worst = 0.0
    for i in range(domain.dimension):
        axis = domain.axis(i)  # type: ignore[attr-defined]
        train = axis.sample(2 * sampler.width)
        along = np.concatenate([train.x, axis.sample(40, "random", rng).x])
        tables = []
        for point in domain.sample(3, "random", rng).x:
            x = np.tile(point, (len(along), 1))
            x[:, i] = along[:, 0]
            targets = data_at(problem, x)
            if targets is not None:
                tables.append(targets)
        if tables:
            features = sampler.sample(train, rng).features(along)
            worst = max(worst, held_out(features, np.concatenate(tables, axis=1), len(train.x), ridge))
    return worst


class Trial(NamedTuple):
    """Whether one basis fails to represent a solution, or would, and the share of its finest tenth at the end."""

    fails: bool
    share: float = 1.0


@remembered
def _trial(problem: Problem, integrator: str | Integrator | None, all_rules: Rules, seed: int) -> Trial:
    """Try one basis, roughly: it must get to the end, and the solution must not be steep there in places only."""
    rules, windows = all_rules.sizing, all_rules.windows
    settings = Settings(width=rules.trial_width, windows=None, rules=all_rules)
    plan = make_plan(problem, Task(settings, seed, Tolerances(None, rules.trial_rtol)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            spaces = plan.build_spaces(problem, plan.place_points(problem))
            system = stable_discretisation(problem, spaces, None, Stage.whole(problem), all_rules.cutoff)
            watch = Watch(system, rules.trial_share, windows)
            stepper = choose_integrator(system, integrator, rules.trial_rtol, all_rules.integrators)
            trajectory = stepper.integrate(system, Observer(stop=watch))
        except FrozenPinnError:
            return Trial(True)
    start, end = system.time
    if watch.until(trajectory, start) < end:
        return Trial(True)
    states = trajectory(np.linspace(start, end, 9))
    follow = not is_spread_out(state_slopes(system, states[-1], end), windows)
    return Trial(follow, max(watch.share(y) for y in states))
