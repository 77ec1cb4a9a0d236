"""Which features suit a static problem: pilots of a third of the width, judged where they were not fitted.

Waves of small reach resolve smooth solutions to round-off with few neurons, those of large reach see detail, neurons of
tanh follow what is steep in one place. What a pilot leaves of equations and conditions at held-out points ranks them
nearly as their true errors do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from frozenpinn.adaptivity.static.judging import held_out, left_over
from frozenpinn.adaptivity.static.plan import StaticPlan
from frozenpinn.assembly.collocation import Function
from frozenpinn.assembly.corners import singular_functions
from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.samplers import MultiScale, Sampler, Waves, sampler_by_name, with_width
from frozenpinn.errors import ConvergenceError
from frozenpinn.geometry import Points
from frozenpinn.solvers.newton import Found, newton
from frozenpinn.statement.problem import Problem

Array = np.ndarray


@dataclass(frozen=True)
class Family:
    """A kind of features, whose width is left open."""

    sampler: Sampler

    @property
    def label(self) -> str:
        """How reports call it."""
        sampler = self.sampler
        if not isinstance(sampler, Waves):
            return sampler.name
        stretched = "" if sampler.stretch is None else f" × ({', '.join(f'{s:.2g}' for s in sampler.stretch)})"
        return f"waves of reach {sampler.reach:g}{stretched}"

    def layer(self, plan: StaticPlan, points: Points) -> HiddenLayer:
        """Draw the features of a solve."""
        sampler = self.sampler if self.sampler.width == plan.width else with_width(self.sampler, plan.width)
        hidden = sampler.sample(points, np.random.default_rng(plan.task.seed))
        if isinstance(plan.task.settings.sampler, str | None):
            hidden = replace(hidden, singular=singular_functions(plan.problem))
        return hidden


class Pilot(NamedTuple):
    """A narrow solve with one kind of features, and what it leaves at held-out points."""

    family: Family
    found: Found
    left: float


def families(plan: StaticPlan) -> list[Family]:
    """Return the kinds of features to compare: the user's one, or those that suit the dimension."""
    settings, rules, domain = plan.task.settings, plan.task.rules.static, plan.problem.domain
    if settings.sampler is not None:
        given = settings.sampler
        return [Family(sampler_by_name(given, plan.width) if isinstance(given, str) else given)]
    lengths = zip(domain.lengths, domain.periodic, strict=True)
    periods = tuple(float(length) if periodic else None for length, periodic in lengths)
    known = periods if any(domain.periodic) else ()
    if domain.periodic and all(domain.periodic):
        return [Family(Waves(plan.width, periods=known))]
    many = domain.dimension > 3
    waves = [Family(Waves(plan.width, reach, periods=known, mixed=many)) for reach in rules.reaches]
    if any(domain.periodic):
        return waves
    return [*waves, Family(MultiScale(plan.width))]


def stretched(family: Family, plan: StaticPlan, found: Function) -> Iterator[Family]:
    """Yield the same waves with faster ones along the axes on which a solution varies faster."""
    sampler, rules = family.sampler, plan.task.rules.static
    if not isinstance(sampler, Waves) or sampler.mixed or plan.problem.domain.dimension == 1:
        return
    rates = axis_rates(plan.problem, found)
    if rates is None or np.max(rates) < rules.worth * np.min(rates):
        return
    relative = np.clip(rates / np.exp(np.mean(np.log(rates))), 1.0 / rules.most_stretch, rules.most_stretch)
    factors = tuple(float(f) for f in relative / np.exp(np.mean(np.log(relative))))
    for reach in dict.fromkeys((sampler.reach, *_neighbours(sampler.reach, rules.reaches))):
        yield Family(replace(sampler, reach=reach, stretch=factors))


def _neighbours(reach: float, reaches: tuple[float, ...]) -> list[float]:
    """Return the next smaller and larger reach."""
    i = int(np.argmin(np.abs(np.array(reaches) - reach)))
    return [reaches[k] for k in (i - 1, i + 1) if 0 <= k < len(reaches)]


def axis_rates(problem: Problem, found: Function) -> Array | None:
    """Return how fast fields vary along each axis, in units of one over its length; None if that can't be told."""
    x = held_out(problem).inside
    domain, rates = problem.domain, np.zeros(problem.domain.dimension)
    for name in problem.fields:
        jets = [
            replace(problem.jets.field(name), alpha=tuple(int(i == a) for i in range(x.shape[1])))
            for a in range(x.shape[1])
        ]
        value, *slopes = found.jets(x, [problem.jets.field(name), *jets])
        size = float(np.std(value))
        if not np.isfinite(size) or size == 0.0:
            continue
        own = np.array([np.sqrt(np.mean(s**2)) for s in slopes]) * domain.lengths / size
        rates = np.maximum(rates, own)
    return rates if np.all(rates > 0) and np.all(np.isfinite(rates)) else None


# ---- pilots ---------------------------------------------------------------------------------------


def run_pilot(plan: StaticPlan, family: Family, points: Points, start: Function) -> Pilot | None:
    """Solve with a kind of features; None if Newton's method fails."""
    rules = plan.task.rules.static
    collocation = plan.collocation(family.layer(plan, points), points)
    try:
        found = newton(collocation, start, rules.newton, rules.pilot_accuracy)
    except ConvergenceError:
        return None
    return Pilot(family, found, left_over(plan.problem, found.state, rules))


def best_family(plan: StaticPlan, start: Function, known: Family | None = None) -> Pilot | None:
    """Return the pilot that leaves least, of all kinds of features; None if Newton's method fails for all of them.

    If a coarser solve has found a kind that suits, waves of about the same reach are enough to look at.
    """
    points, rules = plan.place_points(), plan.task.rules.static
    kinds = families(plan)
    if known is not None and isinstance(known.sampler, Waves):
        near = (known.sampler.reach, *_neighbours(known.sampler.reach, rules.reaches))
        kinds = [k for k in kinds if not isinstance(k.sampler, Waves) or k.sampler.reach in near] or kinds
    pilots = [run_pilot(plan, family, points, start) for family in kinds]
    done = sorted((p for p in pilots if p is not None), key=lambda p: p.left)
    if not done:
        return None
    best, waves = done[0], next((p for p in done if isinstance(p.family.sampler, Waves)), done[0])
    for family in stretched(waves.family, plan, best.found.state):
        pilot = run_pilot(plan, family, points, best.found.state)
        if pilot is not None and pilot.left < best.left:
            best = pilot
    return best
