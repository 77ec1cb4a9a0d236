"""How far a solution may be from the truth: its distance from a second one that shares as little as possible with it.

Both solve the same problem, with other neurons, other points, and one has more of both and smaller tolerances in time.
Where their errors are independent, the distance is the error of the less accurate one (up to √2). Where they share a
bias that falls off slowly with the width, as at corners and jumps, one is so much wider that the distance is still a
good part of it. The error of the finer one is a part of the distance: as large as what it leaves of the equations is
beside what the other leaves. At the start, the data themselves tell the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from frozenpinn.analysis.probing import Probe, forcings, grid_probe, probe
from frozenpinn.analysis.scales import sizes_of
from frozenpinn.evolution.narrow_features import beside_jumps, is_abrupt, missed_features, telling_times
from frozenpinn.evolution.step_errors import StepErrors, step_errors
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.results.residuals import initial_values
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.decisions import Decision, distinct
from frozenpinn.runtime.memo import remembered
from frozenpinn.search.convergence import is_free, is_invariant, residual_ratio
from frozenpinn.search.rules import EstimateRules
from frozenpinn.search.settings import Task
from frozenpinn.statement.problem import Problem
from frozenpinn.static.judging import judged_sizes, least_errors
from frozenpinn.static.start import SolutionStart

Array = np.ndarray


class Pair(NamedTuple):
    """What two solutions tell of each other.

    Attributes
    ----------
    coarser, finer
        The estimated errors of both; for the coarser one it is the distance.
    ratio
        What the finer one leaves of equations and data, relative to what the coarser one does.
    steps
        What errors of time steps contribute to the error of the finer one.
    """

    coarser: ErrorEstimate
    finer: ErrorEstimate
    ratio: float
    steps: float = 0.0


class _When(NamedTuple):
    """The times of a comparison, ascending, and which of them are evenly spread."""

    times: Array
    even: Array


class _Values(NamedTuple):
    """A field of two solutions at the places and times of a comparison, shape (n, m) each."""

    mine: Array
    theirs: Array


def compare(
    solution: Solution, witness: Solution, rules: EstimateRules, without: tuple[str, ...] = ()
) -> ErrorEstimate:
    """Estimate the error of a solution by its distance from one that is at least as accurate."""
    places, when = _places(solution, witness), _moments(solution, witness, rules)
    values = _values(solution, witness, places, when)
    return _estimate(solution, places, when, values, rules, stepped=True, without=without)


def judge_pair(
    coarser: Solution, finer: Solution, rules: EstimateRules, tol: float = 0.0, without: tuple[str, ...] = ()
) -> Pair:
    """Estimate the errors of two solutions, each by the other.

    If the finer one is within ``tol``, the steps of the other one do not matter, and are not looked at; nor if those of
    the finer one, which has smaller tolerances, are far below the distance.
    """
    places, when = _places(coarser, finer), _moments(coarser, finer, rules)
    values = _values(coarser, finer, places, when)
    distance = _estimate(coarser, places, when, values, rules, without=without)
    ratio = _static_ratio(coarser, finer, rules)
    ratio = residual_ratio(coarser, finer, distance.worst, rules) if ratio is None else ratio
    steps = sum(piece.trajectory.steps for piece in finer.pieces)
    least = rules.static_part if coarser.problem.is_static else rules.stepped if steps else rules.least_part
    part = min(1.0, (rules.static_trust if coarser.problem.is_static else rules.trust) * max(ratio, least))
    why = list[Decision]()
    if part < rules.abrupt and "abrupt formulas" not in without and is_abrupt(coarser.problem):
        why.append(Decision("abrupt formulas", "formulas jump, bend or are narrow"))
        part = rules.abrupt
    if part < 1.0 and "blind residuals" not in without and not _is_comparable(coarser, finer, rules):
        why.append(Decision("blind residuals", "errors hardly leave a residual, or both solutions are of other kinds"))
        part = 1.0
    if part < 1.0 and "growing distance" not in without and _grows(coarser.problem, values, places, when, rules):
        why.append(Decision("growing distance", "the distance from the witness grows exponentially, the solution not"))
        part = 1.0
    estimate = _estimate(finer, places, when, values, rules, part, stepped=True, without=without, why=why)
    share = _share_of_steps(finer, values, places, when, rules)
    if not (estimate.worst <= tol or 0.0 < share <= rules.far_below * distance.worst):
        distance = _estimate(coarser, places, when, values, rules, stepped=True, without=without)
    return Pair(distance, estimate, ratio, share)


def _share_of_steps(
    solution: Solution, values: dict[str, _Values], places: Probe, when: _When, rules: EstimateRules
) -> float:
    """Return the relative error of the second of two solutions that is due to its steps in time."""
    times, even = when
    shares = [0.0]
    for name, (mine, theirs) in values.items():
        found = _steps(solution, name, _mean(places.rms(mine - theirs), times), rules)
        if found is not None:
            shares.append(found.whole(name) / (_mean(places.rms(theirs)[even]) or np.inf))
    return max(shares)


def _steps(solution: Solution, name: str, distance: float, rules: EstimateRules) -> StepErrors | None:
    """Return what time steps have added up to; more than the distance of two solutions is looked at closely."""
    found = step_errors(solution, rules=rules.step_errors)
    if found is None or not found.whole(name) > distance:
        return found
    return step_errors(solution, closely=True, rules=rules.step_errors) or found


def alone(solution: Solution, rules: EstimateRules) -> ErrorEstimate:
    """Estimate the error of a static solution without a second one, by the narrow solve that has chosen its features.

    Of others nothing is known.
    """
    facts, problem = solution.facts, solution.problem
    if facts is None or not np.isfinite(facts.apart):
        return ErrorEstimate.unknown(problem)
    better = facts.left / facts.pilot if facts.pilot > 0 and np.isfinite(facts.left) else 1.0
    error = facts.apart * min(1.0, rules.static_trust * better)
    error = max([error, *_least(solution).values()])
    curves = {name: np.array([error]) for name in problem.fields}
    why = Decision("estimate alone", "there is no second solution, but a pilot with the same features")
    return ErrorEstimate(dict.fromkeys(problem.fields, error), np.array([0.0]), curves, decisions=(why,))


def _static_ratio(coarser: Solution, finer: Solution, rules: EstimateRules) -> float | None:
    """Return what the finer of two static solutions leaves at held-out points, as a part of what the other does.

    Errors fall faster than that for equations of high order, whose residuals have many derivatives in them, until
    round-off takes over.
    """
    one, other = coarser.facts, finer.facts
    if one is None or other is None or not (one.left > 0 and np.isfinite([one.left, other.left]).all()):
        return None
    order = max(finer.problem.spatial_order(name) for name in finer.problem.fields)
    return (other.left / one.left) ** (max(1.0, rules.per_order * order) if other.left > rules.rounded else 1.0)


def _grows(problem: Problem, values: dict[str, _Values], places: Probe, when: _When, rules: EstimateRules) -> bool:
    """Whether the distance of two solutions grows exponentially and they do not: what both leave out does so, too."""
    if problem.is_static:
        return False
    even = when.even
    for mine, theirs in values.values():
        gaps, sizes = places.rms(mine - theirs)[even], places.rms(theirs)[even]
        half = len(gaps) // 2
        if gaps[-1] > rules.amplified * gaps[half] and sizes[-1] < 3.0 * sizes[half]:
            return True
    return False


def _is_comparable(coarser: Solution, finer: Solution, rules: EstimateRules) -> bool:
    """Whether residuals tell how much better one static solution is than another.

    They do not where an error hardly leaves a residual, nor if the finer one is by least squares and the other by
    projection: the former makes residuals small, and errors no smaller.
    """
    one, other = coarser.facts, finer.facts
    if one is None or other is None:
        return True
    projected = isinstance(finer.width, tuple)  # on a product: it does not trade values for residuals
    sharp = all(facts.singular[0] >= rules.blind * facts.singular[1] for facts in (one, other))
    return sharp and (projected or coarser.integrator == finer.integrator)


def _places(solution: Solution, witness: Solution) -> Probe:
    """Return where two solutions are compared: on a grid if both are evaluated axis by axis."""
    problem = solution.problem
    several = problem.domain.dimension > 1
    on_axes = several and all(s.is_separable(name) for s in (solution, witness) for name in problem.fields)
    return grid_probe(problem) if on_axes else probe(problem)


def _values(solution: Solution, witness: Solution, places: Probe, when: _When) -> dict[str, _Values]:
    """Return all fields of two solutions where they are compared."""
    problem = solution.problem
    return {
        name: _Values(*(s.jet_values(places.x, when.times, problem.jets.field(name)) for s in (solution, witness)))
        for name in problem.fields
    }


def _estimate(
    solution: Solution,
    places: Probe,
    when: _When,
    values: dict[str, _Values],
    rules: EstimateRules,
    part: float | None = None,
    *,
    stepped: bool = False,
    without: tuple[str, ...] = (),
    why: Sequence[Decision] = (),
) -> ErrorEstimate:
    """Estimate the error of the first of two solutions by their distance, or of the second by a part of it.

    ``stepped`` adds what errors of its steps in time add up to, which the other one may share. ``without`` names what
    is not to raise it, ``why`` what has determined the part.
    """
    problem, (times, even) = solution.problem, when
    overall, curves, parts, growths, raised = {}, {}, {}, [], list(why)
    least = {} if "missed data" in without else _least(solution)
    stepped = stepped and "errors of steps" not in without
    own = {name: _size(places.rms(a)[even], places.rms(b)[even], rules) for name, (a, b) in values.items()}
    own = judged_sizes(problem, own)
    for name, (mine, theirs) in values.items():
        gaps, sizes = places.rms(mine - theirs), places.rms(theirs)
        whole = [own[part] for part in problem.composites.together(name)]  # a vanishing part is judged by the rest
        scale = float(np.linalg.norm(whole)) or float(np.max(gaps)) or 1.0
        growths.append(
            None if problem.is_linear or problem.is_static else _growth(times[even], gaps[even], sizes[even], rules)
        )
        found, distance = (mine if part is None else theirs)[:, 0], float(gaps[0])
        if part is not None:
            kept = np.hypot(_parts(problem, part, gaps / scale, rules) * gaps, _lost(solution, times) * sizes)
            parts[name] = np.divide(np.minimum(kept, gaps), gaps, out=np.ones_like(gaps), where=gaps > 0)
            gaps = np.minimum(kept, gaps)
        steps = _steps(solution, name, _mean(places.rms(mine - theirs), times), rules) if stepped else None
        if steps is not None:
            own_steps = np.interp(times, steps.times, steps.sizes[name])
            if np.max(own_steps) > np.max(gaps):
                raised.append(Decision("errors of steps", "errors of time steps add up to more than the distance"))
            gaps = np.hypot(gaps, own_steps)
        start, missed = _initial_gap(problem, places, name, found, distance, rules)
        if missed and "missed initial data" in without:
            missed = 0.0
        unseen, told = _unseen(solution, name, times, rules, without)
        raised += told
        if missed:
            raised.append(Decision("missed initial data", "both solutions miss the same part of them"))
        gaps = np.sqrt(gaps**2 + (missed * _growth_factor(solution, times, missed)) ** 2 + unseen**2)
        if least.get(name, 0.0) * scale > np.max(gaps):
            raised.append(Decision("missed data", "prescribed values and residuals imply larger errors"))
        gaps = np.maximum(gaps, scale * least.get(name, 0.0))
        if not problem.is_static:
            gaps[0] = max(gaps[0], start) if part is None else start
        curves[name] = gaps / scale
        overall[name] = _mean(gaps, times) / scale
        if steps is not None:  # they may be large between these times
            overall[name] = max(overall[name], steps.whole(name) / scale)
        if problem.is_linear and overall[name] > rules.parted and not problem.is_static:
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
    return ErrorEstimate(overall, times, curves, growth, parts, composed, distinct(raised))


def _unseen(
    solution: Solution, name: str, times: Array, rules: EstimateRules, without: tuple[str, ...]
) -> tuple[Array, list[Decision]]:
    """Return the error that a distance does not show, as both solutions miss the same of formulas."""
    total, told = np.zeros(len(times)), []
    for kind, missed, why in (
        ("missed forcing", _missed_forcing, "its peaks lie between the points"),
        ("unresolved features", missed_features, "where formulas are narrow, as much is left as their terms are large"),
    ):
        if kind not in without and np.any(error := missed(solution, name, times, rules)):
            told.append(Decision(kind, why))
            total = total + error
    return total, told


def _least(solution: Solution) -> dict[str, float]:
    """Return what errors of a static solution must be at least, as it misses its own data; nothing for others."""
    task, facts = solution.provenance, solution.facts
    if facts is None or not isinstance(task, Task):
        return {}
    smallest = facts.singular[facts.singular[0] < task.rules.estimate.blind * facts.singular[1]]
    return least_errors(solution.problem, SolutionStart(solution.jet_values), smallest, task.rules.static)


def _size(mine: Array, theirs: Array, rules: EstimateRules) -> float:
    """Return the size of the smaller of two solutions: one that explodes must not be judged by its own size."""
    sizes = _mean(mine), _mean(theirs)
    return min(sizes[1], max(sizes[0], rules.smaller * sizes[1])) if np.isfinite(sizes[0]) else sizes[1]


def _parts(problem: Problem, part: float, distance: Array, rules: EstimateRules) -> Array:
    """Return the part of a relative distance that is the error of the finer solution, over time.

    Errors of nonlinear equations add up as long as they are small. Once solutions have parted, both may be wrong.
    """
    least = np.zeros_like(distance) if problem.is_linear else np.nan_to_num(distance, nan=1.0) / rules.parted
    if problem.is_static:  # nothing adds up
        least = np.where(least < 1.0, 0.0, least)
    return np.clip(np.maximum(part, least), 0.0, 1.0)


def _moments(solution: Solution, witness: Solution, rules: EstimateRules) -> _When:
    """Return when two solutions are compared."""
    both = (solution, witness)
    return _times(solution.problem, rules, all(map(is_invariant, both)), all(map(is_free, both)))


@remembered
def _times(problem: Problem, rules: EstimateRules, invariant: bool, free: bool) -> _When:
    """Return the times of a comparison, and which of them are evenly spread.

    Where data and equation do not agree at the start (in a derivative, say) there is a layer in time, and all of the
    error may be in it; not where equations are solved exactly. Fewer times tell of solutions that decay or oscillate
    freely.
    """
    start, end = problem.time
    if problem.is_static:
        return _When(np.array([start]), np.array([True]))
    if invariant:
        return _When(read_only(np.linspace(start, end, rules.invariant)), read_only(np.ones(rules.invariant, bool)))
    count, early = rules.closed if free else (rules.times, rules.early)
    shares = np.geomspace(*(rules.closed_early if free else (rules.earliest, rules.latest)), early)
    even = beside_jumps(problem, np.linspace(start, end, count))
    times = np.union1d(even, start + (end - start) * shares)
    if len(telling := telling_times(problem)):
        times = np.union1d(times, telling)
    return _When(read_only(times), read_only(np.isin(times, even)))


def _mean(values: Array, times: Array | None = None) -> float:
    """Return the root mean square over even times, or over given ones."""
    if times is None or len(times) == 1:
        return float(np.sqrt(np.mean(values**2)))
    return float(np.sqrt(np.trapezoid(values**2, times) / (times[-1] - times[0])))


def _lost(solution: Solution, times: Array) -> Array:
    """Return what was lost, relative to the solution, whenever its basis was renewed: no residual shows that."""
    later = times[:, None] > np.array([piece.start for piece in solution.pieces])
    return np.asarray(np.sqrt(later @ np.array([piece.loss**2 for piece in solution.pieces])))


def _initial_gap(
    problem: Problem, places: Probe, name: str, found: Array, distance: float, rules: EstimateRules
) -> tuple[float, float]:
    """Return the error at the start, which is known, and the part of it that both solutions have missed.

    What lies between the points of both is in neither, and their distance does not tell; it is taken to last.
    """
    if problem.is_static:
        return distance, 0.0
    wanted = initial_values(problem, name, 0, places.x)
    gap = float(places.rms(found - wanted))
    shared = distance < rules.shared * gap and gap > rules.visible * float(places.rms(wanted))
    return gap, gap if shared else 0.0


def _growth_factor(solution: Solution, times: Array, missed: float) -> Array:
    """Return by how much a linear problem multiplies what is missed at the start."""
    if not missed or not solution.problem.is_linear:
        return np.ones(len(times))
    rate = float(np.real(solution.system.linear.abscissa))
    return np.asarray(np.exp(np.clip(rate * (times - times[0]), 0.0, 300.0)) if np.isfinite(rate) else 1.0)


def _missed_forcing(solution: Solution, name: str, times: Array, rules: EstimateRules) -> Array:
    """Return the error of a forcing with peaks between the points of the basis (on an interval), as it adds up."""
    problem, equation = solution.problem, solution.problem.equation(name)
    if problem.domain.dimension > 1 or equation.forcing == 0 or problem.is_static:
        return np.zeros(len(times))
    from scipy.interpolate import make_interp_spline  # it takes a fifth of a second, which few problems need

    places, own = probe(problem), np.unique(solution.collocation[:, 0])
    worst = 0.0
    for seen, wanted in zip(forcings(problem, name, own[:, None]), forcings(problem, name, places.x), strict=True):
        if not (np.all(np.isfinite(seen)) and np.all(np.isfinite(wanted))):
            continue
        gap = float(places.rms(make_interp_spline(own, seen)(places.x[:, 0]) - wanted))
        worst = max(worst, gap if gap > rules.unseen * float(places.rms(wanted)) else 0.0)
    return np.asarray(worst * (times - times[0]) ** equation.order / equation.order)


def _growth(times: Array, gaps: Array, sizes: Array, rules: EstimateRules) -> float | None:
    """Return the rate of an error that grows exponentially beside the solution, from small to visible."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(gaps / sizes)
    top = int(np.argmax(logs > np.log(0.1))) if np.any(logs > np.log(0.1)) else len(times) - 1
    rising = slice(1, top + 1)
    if top < 6 or not np.all(np.isfinite(logs[rising])):
        return None
    if gaps[top] < rules.chaotic * gaps[1] or logs[top] - logs[1] < np.log(rules.chaotic):
        return None
    if np.corrcoef(times[rising], logs[rising])[0, 1] < rules.steady:
        return None
    return float(np.polyfit(times[rising], logs[rising], 1)[0])
