"""How far a solution in time may be from the truth, by its distance from a second one that shares little with it.

At the start, the data give the error directly. What both solutions may share is added: errors of their steps, narrow
features of formulas and peaks of sources that neither has resolved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.analysis.constraint_findings import start_violation
from frozenpinn.analysis.formula_scales import NOTHING, formula_scales
from frozenpinn.analysis.probing import Probe, forcings, probe
from frozenpinn.analysis.scales import sizes_of
from frozenpinn.evolution.narrow_features import beside_jumps, is_abrupt, telling_times
from frozenpinn.evolution.step_errors import StepErrors, step_errors
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.results.residuals import initial_values
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.decisions import Decision, distinct
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.search.estimate import (
    Values,
    is_free,
    is_invariant,
    places_of,
    residual_ratio,
    root_mean_square,
    scales_of,
    values_at,
)
from frozenpinn.search.imbalance import IMBALANCE, error_of_imbalance
from frozenpinn.search.kind import Pair
from frozenpinn.search.rules import EstimateRules
from frozenpinn.search.settings import Settings
from frozenpinn.search.unresolved import UNRESOLVED, features_missed, missed_features
from frozenpinn.statement.multipliers import multipliers, saddle
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class _When(NamedTuple):
    """The times of a comparison, ascending, and which of them are evenly spread."""

    times: Array
    even: Array


def compare(solution: Solution, witness: Solution, settings: Settings) -> ErrorEstimate:
    """Estimate the error of a solution by its distance from one that is at least as accurate."""
    places, when = places_of(solution, witness), _moments(solution, witness)
    values = values_at(solution, witness, places, when.times)
    return _estimate(solution, places, when, values, settings, stepped=True)


def judge_pair(coarser: Solution, finer: Solution, settings: Settings, tol: float = 0.0) -> Pair:
    """Estimate the errors of two solutions, each by the other.

    Errors of the time steps of the coarser one are not estimated if the finer one is within ``tol``, or if errors
    of its own steps, which have smaller tolerances, are far below the distance.
    """
    trust = 2.5  # the error of the finer one as part of the distance, over the ratio of residuals
    stepped = 0.02  # least such ratio if time is stepped: residuals do not see how errors of steps add up
    least = 1e-3  # least such ratio otherwise
    abrupt = 0.3  # least part where formulas have narrow features, jumps or corners
    far_below = 3e-3  # part of the distance below which errors of steps matter in neither solution
    places, when = places_of(coarser, finer), _moments(coarser, finer)
    values = values_at(coarser, finer, places, when.times)
    rules = settings.rules.estimate
    distance = _estimate(coarser, places, when, values, settings)
    ratio = residual_ratio(coarser, finer, distance.worst, rules)
    steps = _takes_steps(finer)
    part = min(1.0, trust * max(ratio, stepped if steps else least))
    why = list[Decision]()
    if part < abrupt and "abrupt formulas" not in settings.without and is_abrupt(coarser.problem):
        why.append(Decision("abrupt formulas", "formulas jump, bend or are narrow"))
        part = abrupt
    if part < 1.0 and "growing distance" not in settings.without and _grows(values, places, when):
        why.append(Decision("growing distance", "the distance from the witness grows exponentially, the solution not"))
        part = 1.0
    estimate = _estimate(finer, places, when, values, settings, part, stepped=True, why=why)
    share = _share_of_steps(finer, values, places, when, estimate.scales, rules) if steps else 0.0
    if not (estimate.worst <= tol or 0.0 < share <= far_below * distance.worst):
        distance = _estimate(coarser, places, when, values, settings, stepped=True)
    return Pair(distance, estimate, ratio, share)


def _takes_steps(solution: Solution) -> bool:
    """Whether time takes steps, and not a closed form."""
    return any(piece.trajectory.steps for piece in solution.pieces)


def _share_of_steps(
    solution: Solution,
    values: dict[str, Values],
    places: Probe,
    when: _When,
    scales: Mapping[str, float],
    rules: EstimateRules,
) -> float:
    """Return the relative error of the second of two solutions that is due to its steps in time."""
    times = when.times
    shares = [0.0]
    for name, (mine, theirs) in values.items():
        found = _steps(solution, name, root_mean_square(places.rms(mine - theirs), times), scales[name], rules)
        if found is not None:
            shares.append(found.whole(name, scales[name]) / scales[name])
    return max(shares)


def _steps(solution: Solution, name: str, distance: float, scale: float, rules: EstimateRules) -> StepErrors | None:
    """Return what time steps have added up to, estimated closely if it exceeds the distance of two solutions."""
    found = step_errors(solution, rules=rules.step_errors)
    if found is None or not found.whole(name, scale) > distance:
        return found
    return step_errors(solution, closely=True, rules=rules.step_errors) or found


def _grows(values: dict[str, Values], places: Probe, when: _When) -> bool:
    """Whether the distance of two solutions grows exponentially and they do not: what both leave out does so, too."""
    amplified = 30.0  # growth in the second half of the time
    even = when.even
    for mine, theirs in values.values():
        gaps, sizes = places.rms(mine - theirs)[even], places.rms(theirs)[even]
        half = len(gaps) // 2
        if gaps[-1] > amplified * gaps[half] and sizes[-1] < 3.0 * sizes[half]:
            return True
    return False


def _estimate(
    solution: Solution,
    places: Probe,
    when: _When,
    values: dict[str, Values],
    settings: Settings,
    part: float | None = None,
    *,
    stepped: bool = False,
    why: Sequence[Decision] = (),
) -> ErrorEstimate:
    """Estimate the error of the first of two solutions by their distance, or of the second by a part of it.

    ``stepped`` adds what errors of its steps in time add up to, which the other one may share. ``settings`` name what
    is not to raise it, ``why`` what has determined the part.
    """
    problem, (times, even), rules = solution.problem, when, settings.rules.estimate
    overall, curves, parts, growths, raised = {}, {}, {}, [], list(why)
    stepped = stepped and _takes_steps(solution) and "errors of steps" not in settings.without
    evenly = {name: Values(a[:, even], b[:, even]) for name, (a, b) in values.items()}
    scales = scales_of(problem, places, evenly, settings)
    later = times[:, None] > np.array([piece.start for piece in solution.pieces])
    lost = np.sqrt(later @ np.array([piece.loss**2 for piece in solution.pieces]))  # by new bases: no residual shows it
    scales |= {name: max(scales[name], _least_size(solution, name)) for name in multipliers(problem)}
    for name, (mine, theirs) in values.items():
        gaps, sizes = places.rms(mine - theirs), places.rms(theirs)
        scale = scales[name] = scales[name] or float(np.max(gaps)) or 1.0
        growths.append(None if problem.is_linear else _growth(times[even], gaps[even], sizes[even]))
        found, distance = (mine if part is None else theirs)[:, 0], float(gaps[0])
        if part is not None:
            kept = np.hypot(_parts(problem, part, gaps / scale, rules) * gaps, lost * sizes)
            parts[name] = np.divide(np.minimum(kept, gaps), gaps, out=np.ones_like(gaps), where=gaps > 0)
            gaps = np.minimum(kept, gaps)
        apart = root_mean_square(places.rms(mine - theirs), times)
        steps = _steps(solution, name, apart, scale, rules) if stepped else None
        if steps is not None:
            own_steps = np.interp(times, steps.times, steps.of(name, scale))
            if np.max(own_steps) > np.max(gaps):
                raised.append(Decision("errors of steps", "errors of time steps add up to more than the distance"))
            gaps = np.hypot(gaps, own_steps)
        start, missed = _initial_gap(problem, places, name, found, distance)
        if missed and "missed initial data" in settings.without:
            missed = 0.0
        unseen, reasons = _unseen(solution, name, times, settings.without)
        raised += reasons
        if missed:
            raised.append(Decision("missed initial data", "both solutions miss the same part of them"))
        start_error = missed * _growth_factor(solution, times) if missed else 0.0
        gaps = np.sqrt(gaps**2 + start_error**2 + unseen**2)
        gaps[0] = max(gaps[0], start) if part is None or name not in problem.initial else start
        curves[name] = gaps / scale
        overall[name] = root_mean_square(gaps, times) / scale
        if steps is not None:  # errors of steps may be large between these times
            overall[name] = max(overall[name], steps.whole(name, scale) / scale)
        if problem.is_linear and overall[name] > rules.parted:
            # what has nothing in common with the truth is not judged by its own size
            known = sizes_of(problem)[name]
            if 0 < known < scale:
                raised.append(Decision("size of the data", "solutions are larger than their data imply"))
                overall[name] *= scale / known
    steady = [rate for rate in growths if rate is not None]
    composed = {name: problem.composites.parts(name) for name in problem.composites.composed}
    if steady:
        raised.append(Decision("chaos", "errors grow exponentially all the time"))
    growth = max(steady) if steady else None
    return ErrorEstimate(overall, times, curves, growth, parts, composed, distinct(raised), scales)


@remembered
def _least_size(solution: Solution, name: str) -> float:
    """Return the size of a multiplier below which its own does not matter: a part of what other terms could cause.

    A pressure may vanish where a body force drives a flow along a channel: all that is left of it is round-off.
    """
    share = 1e-3  # of what they could drive it to
    problem, found = solution.problem, saddle(solution.problem)
    assert found is not None
    constraint = next(c for c in found.constraints if c.multiplier == name)
    x = problem.domain.sample(40, "random", Seed.MEASURED_SIZES).x
    largest = 0.0
    for equation in (e for e in found.equations if e.field in constraint.fields):
        jets = list(problem.jets.jets_in(equation.right_side).values())
        terms = problem.compile(sp.Add.make_args(equation.right_side), jets)
        for t in np.linspace(*problem.time, 3):
            values = [solution.jet_values(x, np.array([t]), jet)[:, 0] for jet in jets]
            with np.errstate(all="ignore"):
                sizes = [float(np.sqrt(np.mean(np.square(term)))) for term in terms(*x.T, float(t), *values)]
            largest = max([largest, *sizes])
    factors = [abs(constraint.factor * c) for own in constraint.terms.values() for c in own.values()]
    return share * largest * float(np.max(problem.domain.lengths)) / max(factors)


def _unseen(solution: Solution, name: str, times: Array, without: tuple[str, ...]) -> tuple[Array, list[Decision]]:
    """Return the error that a distance does not show, as both solutions miss the same of formulas."""
    total, reasons = np.zeros(len(times)), []
    for kind, missed, why in (
        ("missed forcing", _missed_forcing, "its peaks lie between the points"),
        ("unresolved features", missed_features, UNRESOLVED),
    ):
        if kind not in without and np.any(error := missed(solution, name, times)):
            reasons.append(Decision(kind, why))
            total = total + error
    shared = np.zeros(len(times)) if "imbalance" in without else error_of_imbalance(solution, name, times)
    if np.any(shared > total):
        reasons.append(Decision("imbalance", IMBALANCE))
    return np.maximum(total, shared), reasons


def _parts(problem: Problem, part: float, distance: Array, rules: EstimateRules) -> Array:
    """Return the part of a relative distance that is the error of the finer solution, over time.

    Errors of nonlinear equations add up as long as they are small. Once solutions have parted, both may be wrong.
    """
    least = np.zeros_like(distance) if problem.is_linear else np.nan_to_num(distance, nan=1.0) / rules.parted
    return np.clip(np.maximum(part, least), 0.0, 1.0)


def _moments(solution: Solution, witness: Solution) -> _When:
    """Return when two solutions are compared."""
    both = (solution, witness)
    return _times(solution.problem, all(map(is_invariant, both)), all(map(is_free, both)))


@remembered
def _times(problem: Problem, invariant: bool, free: bool) -> _When:
    """Return the times of a comparison, and which of them are evenly spread.

    Where data and equation do not agree at the start (in a derivative, say) there is a layer in time, and all of the
    error may be in it; not where equations are solved exactly. Fewer times suffice for solutions that decay or
    oscillate freely.
    """
    start, end = problem.time
    if invariant:
        few = 5  # are enough, as nothing but the initial data is wrong
        return _When(read_only(np.linspace(start, end, few)), read_only(np.ones(few, bool)))
    count = 9 if free else 21
    shares = np.geomspace(1e-5, 0.1, 8) if free else np.geomspace(1e-7, 10**-1.5, 12)
    even, narrow = np.linspace(start, end, count), formula_scales(problem) is not NOTHING
    even = beside_jumps(problem, even) if narrow else even
    times = np.union1d(even, start + (end - start) * shares)
    if narrow and len(telling := telling_times(problem)):
        times = np.union1d(times, telling)
    return _When(read_only(times), read_only(np.isin(times, even)))


def _initial_gap(problem: Problem, places: Probe, name: str, found: Array, distance: float) -> tuple[float, float]:
    """Return the error at the start, which is known, and the part of it that both solutions have missed.

    What lies between the points of both is in neither, so their distance does not show it; it is taken to last.
    """
    if name not in problem.initial:  # it follows from the other fields, as at any time
        return distance, 0.0
    shared_part = 0.3  # distance over initial error, below which both solutions share that error
    visible = 1e-9  # part of the data
    if name not in problem.initial or _is_projected(problem, name):  # it has no data of its own
        return distance, 0.0
    wanted = initial_values(problem, name, 0, places.x)
    gap, size = float(places.rms(found - wanted)), float(places.rms(wanted))
    shared = size > 0 and distance < shared_part * gap and gap > visible * size  # round-off about 0 is not missed data
    return gap, gap if shared else 0.0


@remembered
def _is_projected(problem: Problem, name: str) -> bool:
    """Whether the initial values of a field violate its constraint, so that others are nearest to them."""
    found = saddle(problem)
    constraints = () if found is None else found.constraints
    return any(name in c.fields and start_violation(problem, c) > 1e-9 for c in constraints)


def _growth_factor(solution: Solution, times: Array) -> Array:
    """Return by how much a linear problem multiplies what is missed at the start."""
    if not solution.problem.is_linear:
        return np.ones(len(times))
    rate = solution.abscissa
    return np.asarray(np.exp(np.clip(rate * (times - times[0]), 0.0, 300.0)) if np.isfinite(rate) else 1.0)


def _missed_forcing(solution: Solution, name: str, times: Array) -> Array:
    """Return the error of a forcing with peaks between the points of the basis (on an interval), as it adds up."""
    unseen = 1e-2  # part of a forcing that interpolation between the points misses
    problem, equation = solution.problem, solution.problem.equation(name)
    if problem.domain.dimension > 1 or equation.forcing == 0:
        return np.zeros(len(times))
    from scipy.interpolate import make_interp_spline  # it takes a fifth of a second, which few problems need

    places, own = probe(problem), np.unique(solution.collocation[:, 0])
    worst = 0.0
    for seen, wanted in zip(forcings(problem, name, own[:, None]), forcings(problem, name, places.x), strict=True):
        if not (np.all(np.isfinite(seen)) and np.all(np.isfinite(wanted))):
            continue
        gap = float(places.rms(make_interp_spline(own, seen)(places.x[:, 0]) - wanted))
        worst = max(worst, gap if gap > unseen * float(places.rms(wanted)) else 0.0)
    if not equation.order:  # the field follows it at once
        return np.full(len(times), worst)
    return np.asarray(worst * (times - times[0]) ** equation.order / equation.order)


def _growth(times: Array, gaps: Array, sizes: Array) -> float | None:
    """Return the rate of an error that grows exponentially relative to the solution, from small to visible."""
    chaotic = 1e3  # growth of relative errors that no front or layer explains
    steady = 0.9  # correlation of the logarithm of the error with time, in chaos
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(gaps / sizes)
    top = int(np.argmax(logs > np.log(0.1))) if np.any(logs > np.log(0.1)) else len(times) - 1
    rising = slice(1, top + 1)
    if top < 6 or not np.all(np.isfinite(logs[rising])):
        return None
    if gaps[top] < chaotic * gaps[1] or logs[top] - logs[1] < np.log(chaotic):
        return None
    if np.corrcoef(times[rising], logs[rising])[0, 1] < steady:
        return None
    return float(np.polyfit(times[rising], logs[rising], 1)[0])


def remarks(solution: Solution, rules: EstimateRules) -> list[str]:
    """Name the narrow features that a solution has missed, and say whether the problem multiplies errors."""
    worth_saying = 5.0  # rate × time of growing errors
    found = [missed.text for missed in features_missed(solution)]
    start, end = solution.problem.time
    rate = solution.abscissa if solution.problem.is_linear else 0.0
    if np.isfinite(rate) and rate * (end - start) > worth_saying:
        found.append(f"errors at the start are multiplied by {10 ** (rate * (end - start) / np.log(10)):.0e}")
    elif (steps := step_errors(solution, rules=rules.step_errors)) is not None and steps.factor > np.exp(worth_saying):
        found.append(f"errors are multiplied by up to {steps.factor:.0e} on the way")
    return found
