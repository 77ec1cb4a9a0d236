"""What can be known before a solve: how many neurons the data need, and whether the basis must follow the solution.

A held-out fit of initial data, forcing and boundary data foretells the error of the solution within an order of
magnitude, as long as the solution stays as smooth as the data. For nonlinear problems in one dimension a rough trial
shows whether it does: a front calls for a basis that follows it, detail everywhere for a wider one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from frozenpinn.analysis.probing import probe
from frozenpinn.basis.samplers import Sampler
from frozenpinn.evolution.grading import is_spread_out
from frozenpinn.evolution.product_trial import lattice_width, rough_solve, width_for_solution
from frozenpinn.evolution.resolution import Watch
from frozenpinn.evolution.spaces import data_at, held_out
from frozenpinn.evolution.window_transfer import state_slopes
from frozenpinn.integrators import Integrator
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.search.axis_misfit import SHARES, axis_misfits
from frozenpinn.search.rules import Rules, SizingRules, WindowRules
from frozenpinn.search.settings import Settings, Sizes, Task
from frozenpinn.search.sizing import Frame, Plan, Width, has_constant_coefficients, make_plan
from frozenpinn.statement.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a solve teaches the next one of its search, found out when there is one.

    Attributes
    ----------
    solution, cost
        What was found, and the plan of the solve.
    before
        The sizes that it started from.
    """

    solution: Solution
    cost: Plan
    before: Sizes

    @cached_property
    def sizes(self) -> Sizes:
        """The sizes to go on with."""
        return learned(self.solution, self.before, self.cost.task)

    def for_effort(self, effort: float) -> Sizes:
        """Return the sizes of a solve of some effort: a coarser one has nothing to learn."""
        return self.before if effort < self.cost.task.effort else self.sizes


def first_sizes(problem: Problem, task: Task) -> Sizes:
    """Find width and renewal where an accuracy is asked for and they are left open; what is found is remembered."""
    many = 200  # neurons in many dimensions, to begin with
    following = 140  # neurons of a basis that follows the solution: fewer need many windows
    further = 1.5  # how far beyond the width of the trial its outcome is trusted
    settings, rules = task.settings, task.rules.sizing
    line = problem.domain.dimension == 1
    periodic = line and all(problem.domain.periodic)
    if periodic and "trial of waves" not in settings.without and (waves := lattice_width(problem, task)) is not None:
        why = f"a rough solve on a periodic interval asks for {waves[0]} waves"
        return Sizes(waves, follows=False, decisions=(Decision("trial of waves", why),))
    trial, tried = None, line and not problem.is_linear and "trial basis" not in settings.without
    if settings.windows == "auto" and tried and settings.sampler is None:
        trial = _trial(problem, settings.integrator, task.rules, task.seed)
    # on products a solve must have shown that it pays
    follows = settings.windows != "auto" or (line and (trial is None or trial.fails))
    if not task.grows:
        return Sizes(None, follows)
    if problem.domain.dimension > rules.dimensions:
        return Sizes(many, follows)
    assert task.tolerances.solution is not None
    width, decisions = _width_for_data(problem, settings, task.tolerances.solution), list[Decision]()
    if isinstance(width, int) and line and not problem.is_linear:
        if follows and Frame.of(problem, settings).renewal is not None:
            width = max(width, following)
            if trial is not None:
                decisions.append(Decision("trial basis", "one basis fails a rough solve, or the solution gets steep"))
        elif tried:
            share = (trial or _trial(problem, settings.integrator, task.rules, task.seed)).share
            # as if the shares of ever finer functions fell exponentially
            ratio = np.log(task.tolerances.solution) / np.log(np.clip(share, 1e-12, 0.99))
            width = max(width, int(min(ratio, further) * rules.trial_width))
            why = f"the finest functions of {rules.trial_width} neurons carry {share:.1g} of a rough solve"
            decisions.append(Decision("trial basis", f"{why}: the first width is {width}"))
    if (
        isinstance(width, tuple)
        and not has_constant_coefficients(problem)  # the solution may be finer than the data
        and "trial of products" not in settings.without
        and (needed := width_for_solution(problem, task, width)) != width
    ):
        why = f"a rough solve asks for widths {needed}, the data for {width}"
        width, decisions = needed, [*decisions, Decision("trial of products", why)]
    return Sizes(width, follows, decisions=tuple(decisions))


def known_sizes(problem: Problem, task: Task) -> Sizes | None:
    """Return the sizes that a task starts from, if they suit the problem; None if they are to be found."""
    first, dimension = task.first, problem.domain.dimension
    if first is None or not task.grows or first.dimension != dimension:
        return None
    product = Frame.of(problem, task.settings, first.width if dimension == 1 else None).product
    return first if isinstance(first.width, tuple) == product else None


def with_sizes(task: Task, problem: Problem, sizes: Sizes) -> Task:
    """Return the task with the sizes that it starts from, so that another solve can start from them."""
    if sizes.width is None or not task.grows or task.tolerances.solution is None:
        return task
    return replace(task, first=Sizes(sizes.width, sizes.follows, dimension=problem.domain.dimension))


def sized_plan(problem: Problem, task: Task, sizes: Sizes) -> Plan:
    """Return the plan of a solve of known sizes that takes some effort."""
    more, width = 1.05, sizes.width
    if isinstance(width, tuple):
        held = sizes.held or (0,) * len(width)
        # an axis that is resolved gets a few more neurons: a witness must have other functions
        width = tuple(int(more * h) + 2 if h else round(task.effort * w) for w, h in zip(width, held, strict=True))
    elif width is not None:
        width = round(task.effort * width)
    return make_plan(problem, task, width, sizes.follows)


def learned(solution: Solution, sizes: Sizes, task: Task) -> Sizes:
    """Return what a solve on a product teaches the next one: which axes are resolved, and whether to follow fronts."""
    resolved = 1e-2  # largest misfit of a resolved axis (of its slower neurons), relative to that of the worst axis
    negligible = 1e-2  # largest misfit of a resolved axis, relative to the tolerance
    fewer = 1.5  # times: a basis that follows a front needs fewer neurons across it
    asked = task.tolerances.solution
    if asked is None or not solution.pieces[-1].expansions[0].basis.is_product:
        return sizes
    misfits, without = axis_misfits(solution), task.settings.without
    widths = (solution.width,) * len(misfits) if isinstance(solution.width, int) else solution.width
    if isinstance(sizes.width, tuple) and "resolved axes" not in without:
        limit = min(resolved * max(misfits), negligible * asked)
        held = tuple(w if m <= limit else 0 for m, w in zip(misfits, widths, strict=True))
        sizes = sizes._replace(held=held)
        if any(held):
            names = [c for c, kept in zip(solution.problem.domain.coordinates, held, strict=True) if kept]
            sizes = sizes._replace(decisions=(*sizes.decisions, _resolved(names)))
    if sizes.follows or solution.problem.is_linear or task.settings.windows != "auto" or len(widths) == 1:
        return sizes
    fronts = fronts_to_follow(solution, misfits, widths, task)
    if not any(fronts) or "fronts along axes" in without:
        return sizes
    if isinstance(sizes.width, tuple):
        narrower = tuple(round(w / fewer) if f else w for w, f in zip(sizes.width, fronts, strict=True))
        sizes = sizes._replace(width=narrower)
    why = Decision("fronts along axes", "a front along an axis needs a much wider network that does not follow it")
    return sizes._replace(follows=True, decisions=(*sizes.decisions, why))


def _resolved(names: Sequence[str]) -> Decision:
    return Decision("resolved axes", f"{', '.join(names)}: the fastest neurons carry next to nothing")


@remembered
def _width_for_data(problem: Problem, settings: Settings, tol: float) -> Width:
    """Return the smallest width of a ladder that represents the data well enough, or that more does not help."""
    on_shapes = (100, 150, 220, 330, 500, 800)  # ladder of widths on other shapes
    widest_on_shapes = 220
    widest_first = (400, 96, 32)  # widest first width where time has no closed form, by dimension
    in_closed_form = 0.5  # of the tolerance, as widths cost little where time takes no steps
    patience = 2  # widths in a row with a slow gain: the ladders of products have short steps
    on_lines = 0.02  # of the tolerance, as widths are cheap
    margin_on_shapes = 10.0  # times the tolerance
    rules, dimension = settings.rules.sizing, problem.domain.dimension
    frame = Frame.of(problem, settings)
    line = dimension == 1
    ladder = rules.ladder[dimension - 1] if frame.product or line else on_shapes
    if not problem.is_linear or any(equation.linear_in_time for equation in problem.equations):
        widest = widest_first[dimension - 1] if frame.product or line else widest_on_shapes
        ladder = tuple(width for width in ladder if width <= widest)
    if frame.product:
        # widths cost little where time takes no steps
        closed = has_constant_coefficients(problem)
        margin = (in_closed_form if closed else rules.margin_on_products) * tol
        return tuple(
            _climb(
                ladder,
                margin,
                rules,
                lambda width, a=axis: _misfit_on_axis(problem, frame, settings, a, width),  # type: ignore[misc]
                patience,
                closely=closed,
            )
            for axis in range(dimension)
        )
    margin = (on_lines if line else margin_on_shapes) * tol
    return _climb(
        ladder, margin, rules, lambda width: _misfit(problem, frame.samplers(problem, settings, width)[0], rules.ridge)
    )


def _climb(
    ladder: tuple[int, ...],
    margin: float,
    rules: SizingRules,
    misfit: Callable[[int], float],
    patience: int = 1,
    closely: bool = False,
) -> int:
    """Return the first width with a misfit within the margin, or that before some which brought little.

    A network that is too narrow does not see short waves at all, so a slow gain counts only where the misfit is below
    ``rules.blind``. ``closely`` also tries the width half-way between two.
    """
    slow_gain = 0.5  # a fit that gets better by less is limited by the data
    before, slow = np.inf, 0
    for k, width in enumerate(ladder):
        found = misfit(width)
        if found <= margin:
            between = 2 * ((ladder[k - 1] + width) // 4) if closely and k else width
            return between if between < width and misfit(between) <= margin else width
        slow = slow + 1 if rules.blind > before and found > slow_gain * before else 0
        if slow == patience:
            return ladder[k - patience]
        before = found
    return ladder[-1] if before < rules.blind else ladder[0]


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


def _misfit_on_axis(problem: Problem, frame: Frame, settings: Settings, axis: int, width: int) -> float:
    """Return the misfit of the data along one axis of a product, on lines parallel to it."""
    lines = 4  # parallel to the axis
    rng, domain, rules = np.random.default_rng(Seed.FIRST_WIDTH), problem.domain, settings.rules.sizing
    line = domain.axis(axis)  # type: ignore[attr-defined]
    sampler = frame.samplers(problem, settings, (width,) * domain.dimension)[axis]
    train = line.sample(2 * width, frame.method)
    along = np.concatenate([train.x, line.sample(max(40, width // 2), "random", rng).x])
    tables = []
    for point in domain.sample(lines, "random", rng).x:
        x = np.tile(point, (len(along), 1))
        x[:, axis] = along[:, 0]
        targets = data_at(problem, x)
        if targets is not None:
            tables.append(targets)
    if not tables:
        return 0.0
    return held_out(
        sampler.sample(train, rng).features(along), np.concatenate(tables, axis=1), len(train.x), rules.ridge
    )


class Trial(NamedTuple):
    """Whether one basis fails to represent a solution, or would, and the share of its finest tenth at the end."""

    fails: bool
    share: float = 1.0


@remembered
def _trial(problem: Problem, integrator: str | Integrator | None, all_rules: Rules, seed: int) -> Trial:
    """Try one basis, roughly: it must get to the end, and the solution must not be steep there in places only."""
    rtol = 1e-3  # rough
    rules, windows = all_rules.sizing, all_rules.windows
    settings = Settings(width=rules.trial_width, windows=None, rules=all_rules)
    solved = rough_solve(
        problem, integrator, settings, seed, rtol, lambda system: Watch(system, rules.trial_share, windows)
    )
    if solved is None:
        return Trial(True)
    system, trajectory = solved
    watch = Watch(system, rules.trial_share, windows)
    start, end = system.time
    if watch.until(trajectory, start) < end:
        return Trial(True)
    states = trajectory(np.linspace(start, end, 9))
    follow = not all(is_spread_out(axis) for axis in state_slopes(system, states[-1], end))
    return Trial(follow, max(watch.share(y) for y in states))


# ---- fronts --------------------------------------------------------------------------------------------------------


def fronts_to_follow(solution: Solution, misfits: Sequence[float], widths: Sequence[int], task: Task) -> list[bool]:
    """Return for each axis whether there is a front along it that a basis should follow.

    Parameters
    ----------
    solution
        Found with one basis.
    misfits, widths
        What narrower networks miss along each axis, and its neurons.
    task
        What was asked.
    """
    from_width = (64, 36)  # neurons of an axis that has a front and does not resolve it, in two and three dimensions
    wider = (1.7, 2.5)  # by how much it would have to be wider, at least
    rules, asked, d = task.rules.sizing, task.tolerances.solution, len(widths)
    assert asked is not None
    least, worth = from_width[d - 2], wider[d - 2]
    wanted = SHARES[-1] * np.log(rules.trial_margin * asked)  # as if misfits fell exponentially with the width
    lacking = [w >= least and wanted < worth * np.log(min(m, 0.9)) for w, m in zip(widths, misfits, strict=True)]
    if not any(lacking):
        return lacking
    return [a and b for a, b in zip(lacking, _fronts(solution, task.rules.windows), strict=True)]


def _fronts(solution: Solution, rules: WindowRules) -> list[bool]:
    """Return for each axis whether the solution, while it can be trusted, is steep on a small part of it."""
    trusted = 2e-2  # share of the finest functions
    piece = solution.pieces[-1]
    system, times = solution.system, np.linspace(piece.start, piece.end, 33)
    watch, states = Watch(system, 1.0, rules), piece.trajectory(times)
    shares = np.array([watch.share(y) for y in states])
    worst = int(np.argmax(np.where(shares <= trusted, shares, 0.0)))
    return [not is_spread_out(axis) for axis in state_slopes(system, states[worst], float(times[worst]))]
