"""Which features suit a static problem: pilots of a third of the width, judged where they were not fitted.

Waves of small reach resolve smooth solutions to round-off with few neurons, those of large reach see detail, neurons of
tanh follow what is steep in one place. What a pilot leaves of equations and conditions at held-out points ranks them
nearly as their true errors do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from frozenpinn.assembly.collocation import Function
from frozenpinn.assembly.interfaces import with_parts
from frozenpinn.basis.boxed import BoxFunctions
from frozenpinn.basis.hidden import HiddenLayer, SpecialFunctions
from frozenpinn.basis.samplers import MultiScale, Sampler, Waves, sampler_by_name, with_width
from frozenpinn.basis.special import joined, parts_of
from frozenpinn.enrichments.features import MorePoints
from frozenpinn.enrichments.narrow_sources import Detail, refined
from frozenpinn.enrichments.offers import enrichments_of, helpful, needed
from frozenpinn.errors import ConvergenceError
from frozenpinn.geometry import Points
from frozenpinn.runtime.arrays import fixed
from frozenpinn.runtime.decisions import Decision, distinct
from frozenpinn.statement.problem import Problem
from frozenpinn.static.judging import held_out, held_out_residual
from frozenpinn.static.newton import Found, newton
from frozenpinn.static.plan import StaticPlan

Array = np.ndarray


@dataclass(frozen=True)
class Family:
    """A kind of features, whose width is left open, special functions added to them, and what is noted of these."""

    sampler: Sampler
    special: SpecialFunctions | None = None
    sites: MorePoints | None = None
    decisions: tuple[Decision, ...] = ()  #: of an enrichment with a decision of its own; else they follow from classes

    @property
    def label(self) -> str:
        """How reports call it."""
        sampler, more = self.sampler, "" if not self.count else f" + {self.count} special functions"
        if not isinstance(sampler, Waves):
            return sampler.name + more
        stretched = "" if sampler.stretch is None else f" × ({', '.join(f'{s:.2g}' for s in sampler.stretch)})"
        return f"waves of reach {sampler.reach:g}{stretched}{more}"

    @property
    def count(self) -> int:
        """Number of special functions."""
        return 0 if self.special is None else len(self.special)

    def layer(self, plan: StaticPlan, points: Points) -> HiddenLayer:
        """Draw the features of a solve."""
        sampler = self.sampler if self.sampler.width == plan.width else with_width(self.sampler, plan.width)
        if isinstance(sampler, MultiScale) and sampler.grading is not None and plan.slopes is not None:
            sampler = sampler.graded(plan.grading(plan.slopes))
        hidden = sampler.sample(points, np.random.default_rng(plan.task.seed))
        return with_parts(plan.problem, replace(hidden, singular=self.special) if self.count else hidden)


class Pilot(NamedTuple):
    """A narrow solve with one kind of features, and what it leaves at held-out points."""

    family: Family
    found: Found
    left: float
    decisions: tuple[Decision, ...] = ()


def decisions_of(problem: Problem, pilot: Pilot) -> tuple[Decision, ...]:
    """Return what has led to the features of a pilot."""
    sampler = pilot.family.sampler
    why = f"of all kinds that were compared, the least is left by {pilot.family.label}: {pilot.left:.1e}"
    of_features = pilot.family.decisions or enrichments_of(problem, pilot.family.special)
    found = [*of_features, Decision("pilots", why)]
    if isinstance(sampler, Waves) and sampler.stretch is not None:
        found.append(Decision("stretched waves", "the solution varies faster along some axes than along others"))
    return (*found, *pilot.decisions)


def families(plan: StaticPlan) -> list[Family]:
    """Return the kinds of features to compare: the user's one, or those that suit the dimension."""
    settings, rules, domain = plan.task.settings, plan.task.rules.static, plan.problem.domain
    given, always = settings.sampler, needed(plan)
    if given is not None:
        return [Family(sampler_by_name(given, plan.width) if isinstance(given, str) else given, always)]
    reaches = rules.reaches
    if "pilots" in settings.without:
        reaches = reaches[len(reaches) // 2 :][:1]
    lengths = zip(domain.lengths, domain.periodic, strict=True)
    periods = tuple(float(length) if periodic else None for length, periodic in lengths)
    known = periods if any(domain.periodic) else ()
    if domain.periodic and all(domain.periodic):
        return [Family(Waves(plan.width, periods=known))]
    many = domain.dimension > 3
    waves = [Family(Waves(plan.width, reach, periods=known, mixed=many), always) for reach in reaches]
    if any(domain.periodic) or "pilots" in settings.without:
        return waves
    neurons = Family(MultiScale(plan.width), always)
    if plan.slopes is not None:
        own = MultiScale(plan.width).graded(plan.grading(plan.slopes))
        why = (Decision("narrow features", "formulas are narrow in places, where points and neurons lie"),)
        return [*waves, neurons, Family(own, always, decisions=why)]
    return [*waves, neurons]


def stretched(family: Family, plan: StaticPlan, found: Function) -> Iterator[Family]:
    """Yield the same waves with faster ones along the axes on which a solution varies faster."""
    sampler, rules = family.sampler, plan.task.rules.static
    unwanted = "stretched waves" in plan.task.settings.without
    if not isinstance(sampler, Waves) or sampler.mixed or plan.problem.domain.dimension == 1 or unwanted:
        return
    rates = axis_rates(plan.problem, found)
    worth = 1.3  # ratio of the rates along two axes from which waves are stretched
    if rates is None or np.max(rates) < worth * np.min(rates):
        return
    most = 4.0  # of the frequencies along one axis, as a multiple of their mean
    relative = np.clip(rates / np.exp(np.mean(np.log(rates))), 1.0 / most, most)
    factors = tuple(float(f) for f in relative / np.exp(np.mean(np.log(relative))))
    for reach in dict.fromkeys((sampler.reach, *_neighbours(sampler.reach, rules.reaches))):
        yield replace(family, sampler=replace(sampler, reach=reach, stretch=factors))


def _neighbours(reach: float, reaches: tuple[float, ...]) -> list[float]:
    """Return the next smaller and larger reach."""
    i = int(np.argmin(np.abs(np.array(reaches) - reach)))
    return [reaches[k] for k in (i - 1, i + 1) if 0 <= k < len(reaches)]


def axis_rates(problem: Problem, found: Function) -> Array | None:
    """Return how fast fields vary along each axis, in units of one over its length; None if that is unknown."""
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
    rules, plan = plan.task.rules.static, plan.with_special(family.count, family.sites)
    points = replace(points, x=fixed(points.x))  # so that the layer keeps its features there
    collocation = plan.collocation(family.layer(plan, points), points)
    try:
        found = newton(collocation, start, rules.newton, rules.pilot_accuracy)
    except ConvergenceError:
        return None
    return Pilot(family, found, held_out_residual(plan.problem, found.state))


def best_family(plan: StaticPlan, start: Function, known: Family | None = None) -> Pilot | None:
    """Return the pilot that leaves least, of all kinds of features; None if Newton's method fails for all of them.

    If a coarser solve has found a kind that suits, only waves of about the same reach are tried.
    """
    kinds, rules = families(plan), plan.task.rules.static
    if known is not None and isinstance(known.sampler, Waves):
        near = (known.sampler.reach, *_neighbours(known.sampler.reach, rules.reaches))
        kinds = [k for k in kinds if not isinstance(k.sampler, Waves) or k.sampler.reach in near] or kinds
    points = plan.with_special(kinds[0].count).place_points()
    pilots = [run_pilot(plan, family, points, start) for family in kinds]
    best = _least(pilots)
    if best is None:
        return None
    waves = _least([p for p in pilots if p is not None and isinstance(p.family.sampler, Waves)]) or best
    for family in stretched(waves.family, plan, best.found.state):
        best = _least([best, run_pilot(plan, family, points, best.found.state)]) or best
    return best


def with_special_functions(plan: StaticPlan, best: Pilot, detailed: bool = False) -> Pilot:
    """Try adding special functions to the best features; if they help, choose the best features again.

    ``detailed`` says whether sources may have too much detail for the pilot. Neurons on parts of a domain get functions
    of corners, but none of layers and of sources.
    """
    kinds, rules = families(plan), plan.task.rules.static
    reaches = _neighbours(getattr(best.family.sampler, "reach", max(rules.reaches)), rules.reaches)
    near = [best.family, *(k for k in kinds if getattr(k.sampler, "reach", None) in reaches)]
    limit = best.left * (0.15 if best.left > 0.1 else 0.02)  # where special functions help, they leave much less
    chosen = best
    for more, sites, decision in helpful(plan, best.found.state, detailed):
        noted = () if decision is None else (decision, *enrichments_of(plan.problem, needed(plan)))
        points = plan.with_special(len(more), sites).place_points()
        for k, family in enumerate(near):
            tried = run_pilot(
                plan, replace(family, special=more, sites=sites, decisions=noted), points, best.found.state
            )
            if k == 0 and (tried is None or tried.left > limit):
                break
            chosen = _least([chosen, tried]) or chosen
    return _with_finer_detail(plan, chosen)


def _with_finer_detail(plan: StaticPlan, pilot: Pilot) -> Pilot:
    """Return a pilot whose functions on a box know its nonlinear terms, again and again, until nothing changes."""
    tol, sites = plan.task.tolerances.solution, pilot.family.sites
    most, worse = 8, 1.5  # rounds, and what one may leave, as a multiple of what was left before
    enough, gains = 0.03 * (1e-6 if tol is None else tol), 0.6  # changes, and ratio of two of them, that end the rounds
    before = np.inf
    for _ in range(0 if "nonlinear sources" in plan.task.settings.without else most):
        found = refined(plan, pilot.found.state, sites) if isinstance(sites, Detail) else None
        if found is None:
            break
        others = [part for part in parts_of(pilot.family.special) if not isinstance(part, BoxFunctions)]
        family = replace(pilot.family, special=joined([found[0], *others]), sites=found[1])
        points = plan.with_special(family.count, family.sites).place_points()
        tried = run_pilot(plan, family, points, pilot.found.state)
        if tried is None or tried.left > worse * pilot.left:
            break
        change = found[1].distance(plan.problem, pilot.found.state, tried.found.state)
        why = Decision("nonlinear sources", "nonlinear terms have as much detail as the sources")
        pilot, sites = tried._replace(decisions=distinct([*pilot.decisions, why])), found[1]
        if change < enough or change > gains * before:
            break
        before = change
    return pilot


def promised(plan: StaticPlan, pilot: Pilot) -> float:
    """Return what a solve may leave, as if the logarithm of that fell with the number of neurons along each axis."""
    grown = (plan.width / pilot.found.state.hidden.width) ** (1.0 / plan.problem.domain.dimension)
    return float(min(pilot.left, 1.0) ** grown)


def best_features(plan: StaticPlan, start: Function) -> Pilot | None:
    """Return the pilot of the best family, with special functions where they help; None if all fail."""
    best = best_family(plan, start)
    if best is None or best.left <= plan.task.rules.static.special_from:
        return best
    return with_special_functions(plan, best)


def _least(pilots: Sequence[Pilot | None]) -> Pilot | None:
    """Return the pilot that leaves least, the first of equal ones."""
    return min((p for p in pilots if p is not None), key=lambda p: p.left, default=None)
