"""How far a static solution may be from the truth, by its distance from another one and what both leave of equations.

What a solution misses of prescribed values, or leaves of an equation, is an error at least, whatever the distance says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frozenpinn.analysis.probing import Probe
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.decisions import Decision, distinct
from frozenpinn.search.estimate import (
    Values,
    places_of,
    residual_ratio,
    root_mean_square,
    scales_of,
    smaller_size,
    values_at,
)
from frozenpinn.search.imbalance import IMBALANCE, part_of_imbalance
from frozenpinn.search.kind import Pair
from frozenpinn.search.rules import EstimateRules
from frozenpinn.search.settings import Settings, Task
from frozenpinn.search.unresolved import UNRESOLVED, missed_features
from frozenpinn.static.judging import judged_sizes, least_errors
from frozenpinn.static.start import SolutionStart

Array = np.ndarray
PATCHES = "patches"  #: what solves on patches are called
_NOW = np.zeros(1)


def compare(solution: Solution, finer: Solution, settings: Settings) -> ErrorEstimate:
    """Estimate the error of a solution by its distance from one that is at least as accurate."""
    places = places_of(solution, finer)
    return _estimate(solution, places, values_at(solution, finer, places, _NOW), settings)


def judge_pair(coarser: Solution, finer: Solution, settings: Settings) -> Pair:
    """Estimate the errors of two solutions, each by the other."""
    least = 1e-6  # smallest ratio of residuals that is believed
    places = places_of(coarser, finer)
    values = values_at(coarser, finer, places, _NOW)
    rules = settings.rules.estimate
    distance = _estimate(coarser, places, values, settings)
    ratio = _ratio(coarser, finer)
    ratio = residual_ratio(coarser, finer, distance.worst, rules) if ratio is None else ratio
    part = min(1.0, rules.static_trust * max(ratio, least))
    why = list[Decision]()
    if part < 1.0 and "blind residuals" not in settings.without and not _is_comparable(coarser, finer, rules):
        why.append(Decision("blind residuals", "errors hardly leave a residual, or both solutions are of other kinds"))
        part = 1.0
    return Pair(distance, _estimate(finer, places, values, settings, part, why), ratio)


def alone(solution: Solution, rules: EstimateRules) -> ErrorEstimate:
    """Estimate the error of a solution without a second one, by the narrow solve that has chosen its features.

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


def _ratio(coarser: Solution, finer: Solution) -> float | None:
    """Return what the finer of two solutions leaves at held-out points, as a part of what the other does.

    On patches, what their highest modes carry must have fallen as much.

    Errors fall faster than that for equations of high order, whose residuals have many derivatives in them, until
    round-off takes over, and once the coarser solution is near the other one at all.
    """
    resolved = 0.3  # what a solution leaves that is near the truth
    per_order = 0.375  # the power of the ratio for each derivative, at least the first
    rounded = 1e-6  # what is left by round-off
    one, other = coarser.facts, finer.facts
    if one is None or other is None or not (one.left > 0 and np.isfinite([one.left, other.left]).all()):
        return None
    if coarser.integrator == finer.integrator == PATCHES:  # points miss the corner that decides, its patches do not
        return max(other.left / one.left, other.apart / one.apart)
    order = max(finer.problem.spatial_order(name) for name in finer.problem.fields)
    faster = other.left > rounded and one.left < resolved
    return (other.left / one.left) ** (max(1.0, per_order * order) if faster else 1.0)


def _is_comparable(coarser: Solution, finer: Solution, rules: EstimateRules) -> bool:
    """Whether residuals show how much better one solution is than another.

    They do not where an error hardly leaves a residual, nor if the finer one is by least squares and the other by
    projection: the former makes residuals small, and errors no smaller.
    """
    one, other = coarser.facts, finer.facts
    if one is None or other is None:
        return True
    if coarser.integrator == finer.integrator == PATCHES:  # projections, near resonance, too
        return True
    projected = isinstance(finer.width, tuple)  # on a product: it does not trade values for residuals
    sharp = all(facts.singular[0] >= rules.blind * facts.singular[1] for facts in (one, other))
    return sharp and (projected or coarser.integrator == finer.integrator)


def _estimate(
    solution: Solution,
    places: Probe,
    values: dict[str, Values],
    settings: Settings,
    part: float | None = None,
    why: Sequence[Decision] = (),
) -> ErrorEstimate:
    """Estimate the error of the first of two solutions by their distance, or of the second by a part of it.

    ``settings`` name what is not to raise it, ``why`` what has determined the part.
    """
    problem, rules = solution.problem, settings.rules.estimate
    overall, curves, parts, raised = {}, {}, {}, list(why)
    least = {} if "missed data" in settings.without else _least(solution)
    own = {name: smaller_size(places.rms(a), places.rms(b)) for name, (a, b) in values.items()}
    own = judged_sizes(problem, own)
    scales = scales_of(problem, places, values, settings, own)
    for name, (mine, theirs) in values.items():
        gaps = places.rms(mine - theirs)
        whole = [own[part] for part in problem.composites.together(name)]  # a vanishing part is judged by the rest
        size = float(np.linalg.norm(whole)) or float(np.max(gaps)) or 1.0
        scale = scales[name] = scales[name] or size
        if part is not None:
            kept = np.minimum(_part(part, gaps / scale, rules) * gaps, gaps)
            parts[name] = np.divide(kept, gaps, out=np.ones_like(gaps), where=gaps > 0)
            gaps = kept
        if least.get(name, 0.0) * size > np.max(gaps):
            raised.append(Decision("missed data", "prescribed values and residuals imply larger errors"))
        gaps = np.maximum(gaps, size * least.get(name, 0.0))
        if "unresolved features" not in settings.without and np.any(unseen := missed_features(solution, name, _NOW)):
            raised.append(Decision("unresolved features", UNRESOLVED))
            gaps = gaps + unseen
        missing = 0.0 if "imbalance" in settings.without else part_of_imbalance(solution, name) * scale
        if np.any(missing > gaps):
            raised.append(Decision("imbalance", IMBALANCE))
            gaps = np.maximum(gaps, missing)
        curves[name], overall[name] = gaps / scale, root_mean_square(gaps) / scale
    composed = {name: problem.composites.parts(name) for name in problem.composites.composed}
    return ErrorEstimate(
        overall, _NOW, curves, parts=parts, composed=composed, decisions=distinct(raised), scales=scales
    )


def _part(part: float, distance: Array, rules: EstimateRules) -> Array:
    """Return the part of a relative distance that is the error of the finer solution.

    Once two solutions have parted, both may be wrong: one that is far off can't vouch for another one.
    """
    parted = ~(distance < rules.parted)
    return np.clip(np.maximum(part, parted), 0.0, 1.0)


def _least(solution: Solution) -> dict[str, float]:
    """Return what errors must be at least, as a solution misses its own data."""
    task, facts = solution.provenance, solution.facts
    if facts is None or not isinstance(task, Task):
        return {}
    if solution.integrator == PATCHES:  # what a projection leaves varies fast: it is hardly an error
        return least_errors(solution.problem, SolutionStart(solution.jet_values), np.inf)
    smallest = facts.singular[facts.singular[0] < task.rules.estimate.blind * facts.singular[1]]
    return least_errors(solution.problem, SolutionStart(solution.jet_values), smallest)
