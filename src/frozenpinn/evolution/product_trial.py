"""Rough trials of products: how wide each axis must be for the solution, which may be finer than the data.

On a periodic interval the product has one axis, whose functions are waves: transforms make a step cheap, whatever the
number of them. So a semilinear problem there is solved with waves, unless a trial shows that too many are needed, or
that few neurons could follow a front which diffusion holds together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sympy.core.function import AppliedUndef

from frozenpinn.analysis.formula_scales import formula_scales
from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.assembly.initial_data import Stage
from frozenpinn.errors import FrozenPinnError, silenced
from frozenpinn.evolution.grading import is_spread_out
from frozenpinn.evolution.integrator_choice import choose_integrator
from frozenpinn.evolution.resolution import Watch
from frozenpinn.evolution.spaces import build_spaces
from frozenpinn.evolution.stability import stable_discretisation
from frozenpinn.evolution.window_transfer import state_slopes
from frozenpinn.integrators import Integrator, Observer, Trajectory
from frozenpinn.runtime.memo import remembered
from frozenpinn.search.axis_misfit import narrower_misfits, needed_width, state_size, worst_misfits
from frozenpinn.search.rules import Rules
from frozenpinn.search.settings import Settings, Task, Tolerances
from frozenpinn.search.sizing import Frame, make_plan
from frozenpinn.statement.problem import Problem


def lattice_width(problem: Problem, task: Task) -> tuple[int] | None:
    """Return how many waves a problem on a periodic interval needs; None if waves do not suit it."""
    trials = (128, 480)  # waves, the second if one needs more
    rules, asked, settings = task.rules.sizing, task.tolerances.solution, task.settings
    assert asked is not None
    free = task.grows and settings.windows == "auto" and settings.points is None and settings.integrator is None
    if not free or problem.is_linear or not _is_semilinear(problem) or not Frame.of(problem, settings, (2,)).product:
        return None
    length, narrowest = float(problem.domain.lengths[0]), _narrowest(problem)
    for width in trials:
        if length > rules.points_on_cycles * width * narrowest:  # it would fall between the points
            continue
        trial = _trial(problem, None, task.rules, task.seed, (width,))
        if trial is None:
            return None
        wanted = rules.trial_margin * asked
        needed = needed_width(trial.misfits[0], width, wanted, rules.digits_per_neuron, rules.trial_noise)
        if needed <= rules.further_on_products * width:
            return (max(int(needed), rules.ladder[0][0]),)
        if trial.has_front and _dissipates(problem):
            return None
    return None


def _dissipates(problem: Problem) -> bool:
    """Whether each field is damped by an even derivative of its own that leads: fronts do not break up into waves."""
    for equation in problem.equations:
        leading = max(equation.linear, key=lambda jet: jet.order, default=None)
        if equation.order != 1 or (leading and (leading.field != equation.field or leading.order % 2)):
            return False
    return True


def _is_semilinear(problem: Problem) -> bool:
    """Whether a problem has a linear part with numbers as coefficients that leads: that part is solved exactly."""
    for equation in problem.equations:
        if equation.mass or equation.nonlocal_linear or equation.linear_in_time:
            return False
        if any(c.free_symbols or c.atoms(AppliedUndef) for c in equation.linear.values()):
            return False
        leading = max((jet.order for jet in equation.linear), default=0)
        rest = max((jet.order for jet in problem.jets.jets_in(equation.nonlinear).values()), default=-1)
        if rest >= leading:
            return False
    return True


def _narrowest(problem: Problem) -> float:
    """Return the width of the narrowest feature of the formulas in space; infinite if there is none."""
    scales = formula_scales(problem)
    if any(feature.kind == "jump" and feature.narrow[0] for feature in scales.features):
        return 0.0
    return min((stretch.width for stretch in scales.stretches(0)), default=np.inf)


def width_for_solution(problem: Problem, task: Task, widths: tuple[int, ...]) -> tuple[int, ...]:
    """Return widths of the axes of a product that suit the solution, as a rough trial has shown it."""
    trials = (36, 20)  # neurons per axis in two and three dimensions
    rules, asked = task.rules.sizing, task.tolerances.solution
    assert asked is not None
    first = trials[problem.domain.dimension - 2]
    trial = _trial(problem, task.settings.integrator, task.rules, task.seed, (first,) * problem.domain.dimension)
    if trial is None:
        return widths
    margin = rules.margin_on_products if problem.is_linear else rules.trial_margin
    wanted, most = margin * asked, int(rules.further_on_products * first)
    needed = [needed_width(own, first, wanted, rules.digits_per_neuron, rules.trial_noise) for own in trial.misfits]
    return tuple(max(w, min(int(n), most)) for w, n in zip(widths, needed, strict=True))


class Trial(NamedTuple):
    """What narrower products would miss along each axis, and whether the solution ends up steep in places only."""

    misfits: tuple[tuple[float, ...], ...]
    has_front: bool


class _Patience:
    """Ends a trial on a box after some steps: what comes later is a guess then."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    def __call__(self, t: float, y: np.ndarray) -> bool:
        self._left -= 1
        return self._left <= 0


def rough_solve(
    problem: Problem,
    integrator: str | Integrator | None,
    settings: Settings,
    seed: int,
    rtol: float,
    stop: Callable[[Discretisation], Callable[[float, np.ndarray], bool]],
) -> tuple[Discretisation, Trajectory] | None:
    """Solve with one basis, as far as a function of the system lets it go on, without a word; None if that fails."""
    plan = make_plan(problem, Task(settings, seed, Tolerances(None, rtol)))
    with silenced(Warning):
        try:
            spaces = build_spaces(plan, problem, plan.place_points(problem))
            system = stable_discretisation(problem, spaces, None, Stage.whole(problem), settings.rules.cutoff)
            stepper = choose_integrator(system, integrator, rtol, settings.rules.integrators)
            return system, stepper.integrate(system, Observer(stop=stop(system)))
        except FrozenPinnError:
            return None


@remembered
def _trial(
    problem: Problem, integrator: str | Integrator | None, all_rules: Rules, seed: int, width: tuple[int, ...]
) -> Trial | None:
    """Try a product, roughly; None if it does not get far."""
    most_steps = 250  # an epidemic in 2-d would need 1100 and take 14 s
    sizing, alone = all_rules.sizing, len(width) == 1

    def stop(system: Discretisation) -> Watch | _Patience:
        return Watch(system, sizing.trial_share, all_rules.windows) if alone else _Patience(most_steps)

    solved = rough_solve(
        problem, integrator, Settings(width=width, windows=None, rules=all_rules), seed, sizing.trial_noise, stop
    )
    if solved is None:
        return None
    system, trajectory = solved
    found = []
    times = np.linspace(system.time[0], trajectory.end, 9)
    states = trajectory(times)
    for t, y in zip(times, states, strict=True):
        for k, (block, space) in enumerate(zip(system.layout.blocks, system.spaces, strict=True)):
            found.append((k, state_size(space, y[block], float(t)), narrower_misfits(space, y[block], float(t))))
    worst = worst_misfits(found)
    if not np.all(np.isfinite(worst)):
        return None
    slopes = state_slopes(system, states[-1], float(times[-1]))
    front = not all(is_spread_out(axis) for axis in slopes)
    return Trial(tuple(map(tuple, worst.tolist())), front)
