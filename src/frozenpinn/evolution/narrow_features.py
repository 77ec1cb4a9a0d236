"""What narrow features of formulas mean for an evolution: parts of time, points and neurons, times of comparison."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.analysis.formula_scales import NOTHING, Stretch, formula_scales
from frozenpinn.analysis.scales import sizes_of
from frozenpinn.language.steps import switches_of
from frozenpinn.runtime.memo import remembered
from frozenpinn.search.grading import Slopes, places_on, widened
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_BESIDE = 1e-7  # part of the time by which jumps are avoided
_AFTER = np.geomspace(1e-4, 0.1, 6)  # parts of the rest of the time, after boundary data have jumped


class PartOfTime(NamedTuple):
    """Start and end, and the shortest time in which formulas change there."""

    time: tuple[float, float]
    shortest: float = np.inf


@remembered
def parts_of_time(problem: Problem) -> tuple[PartOfTime, ...]:
    """Cut the time where formulas jump, and around pulses: within them steps are short."""
    most_parts = 80  # of time; where there would be more, steps are kept short all the time
    scales, (start, end) = formula_scales(problem), problem.time
    if scales is NOTHING:
        return (PartOfTime(problem.time),)
    pulses = _joined([widened(s, start, end) for s in scales.stretches(problem.domain.dimension)])
    if not pulses and not scales.breaks:
        return (PartOfTime(problem.time),)
    edges = {start, end, *scales.breaks, *(t for p in pulses for t in (p.low, p.high))}
    times = sorted(edges)
    least = 1e-12 * (end - start)
    times = [t for k, t in enumerate(times) if k == 0 or t - times[k - 1] > least]
    times[-1] = end
    if len(times) > most_parts:
        shortest = min((p.width for p in pulses), default=(end - start) / most_parts)
        return (PartOfTime(problem.time, shortest),)
    parts = []
    for a, b in pairwise(times):
        inside = [p.width for p in pulses if p.low < (a + b) / 2 < p.high]
        parts.append(PartOfTime((a, b), min(inside, default=np.inf)))
    return tuple(parts)


def _joined(stretches: list[Stretch]) -> list[Stretch]:
    """Join stretches that overlap; one that is much narrower than another stays a part of its own."""
    found: list[Stretch] = []
    for stretch in sorted(stretches):
        last = found[-1] if found else None
        if last is not None and stretch.low < last.high and stretch.width > 0.2 * last.width:
            found[-1] = Stretch(last.low, max(last.high, stretch.high), min(last.width, stretch.width))
        else:
            found.append(stretch)
    return found


@remembered
def narrow_places(problem: Problem) -> tuple[Slopes, ...] | None:
    """Return places on each axis, and how densely points are needed by each narrow feature; None if there is none."""
    scales, axes = formula_scales(problem), range(problem.domain.dimension)
    if scales is NOTHING:
        return None
    if len(axes) > 1 or _carries(problem):  # what is narrow at the start only will be elsewhere
        scales = replace(scales, features=tuple(f for f in scales.features if f.lasting))
    if not any(scales.stretches(axis) for axis in axes):
        return None
    ends = zip(problem.domain.lower.tolist(), problem.domain.upper.tolist(), strict=True)
    return tuple(
        places_on(scales.stretches(axis), lower, upper) for axis, (lower, upper) in zip(axes, ends, strict=True)
    )


def _carries(problem: Problem) -> bool:
    """Whether a linear problem carries its initial data elsewhere: its one basis can't be made for the start."""
    if not problem.is_linear:
        return False
    orders = [sum(jet.alpha) for e in problem.equations for jet in (*e.linear, *e.linear_in_time)]
    return any(e.order == 2 for e in problem.equations) or any(order % 2 for order in orders)


@remembered
def telling_times(problem: Problem) -> Array:
    """Return times in and around pulses of formulas, and next to their jumps: errors may occur there alone."""
    most_pulses = 12  # that get times of their own, as do jumps
    scales, (start, end) = formula_scales(problem), problem.time
    breaks = np.array(scales.breaks)
    found = [breaks - _BESIDE * (end - start), breaks + _BESIDE * (end - start)]
    for t in breaks[:most_pulses] if conditions_switch(problem) else ():  # a layer spreads from there
        found.append(t + (end - t) * _AFTER)
    for s in scales.stretches(problem.domain.dimension)[:most_pulses]:
        found.append(np.linspace(s.low - 2 * s.width, s.high + 2 * s.width, 7))
    times = np.concatenate(found)
    return times[(times > start) & (times < end)]


@remembered
def conditions_switch(problem: Problem) -> bool:
    """Whether formulas of conditions jump or bend at certain times."""
    texts = [condition.value.expression for condition in problem.conditions]
    texts += [law.residual for law in problem.laws]
    return any(text is not None and switches_of(text, problem.jets.t) for text in texts)


def beside_jumps(problem: Problem, times: Array) -> Array:
    """Return times with those at which formulas jump moved to just before."""
    breaks, (start, end) = np.array(formula_scales(problem).breaks), problem.time
    if not len(breaks):
        return times
    near = np.min(np.abs(times[:, None] - breaks), axis=1) < _BESIDE * (end - start)
    return np.where(near, times - _BESIDE * (end - start), times)


@remembered
def is_abrupt(problem: Problem) -> bool:
    """Whether equations have narrow features or jumps in time, or bend abruptly where a field has some value."""
    if problem.is_static:
        return False
    scales = formula_scales(problem)
    if scales.breaks or any(feature.lasting for feature in scales.features):
        return True
    bent = (sp.Abs, sp.Max, sp.Min, sp.sign, sp.Heaviside, sp.Piecewise)
    for equation in problem.equations:
        powers = [p for p in equation.nonlinear.atoms(sp.Pow) if p.exp.is_number and not p.exp.is_integer]
        if equation.nonlinear.has(*bent) or any(problem.jets.jets_in(p) for p in powers):
            return True
        if any(_switches(problem, node) for node in equation.nonlinear.atoms(sp.tanh, sp.erf, sp.atan, sp.exp)):
            return True
    return False


def _switches(problem: Problem, node: sp.Expr) -> bool:
    """Whether a function changes all of a sudden where a field passes through some value, as tanh(1000*u) does."""
    sudden = 100.0  # change of an argument as a field goes from zero to its size, above which a function is a switch
    argument = node.args[0]
    fields = {s: jet.field for s, jet in problem.jets.jets_in(argument).items() if jet.order == 0 and not jet.time}
    if not fields:
        return False
    sizes = sizes_of(problem)
    slopes = {s: sp.diff(argument, s) for s in fields}  # of a number only if the argument is linear: exp(-1/u) bends
    steep = {s: float(slope) * sizes[fields[s]] for s, slope in slopes.items() if slope.is_number}
    return any(abs(value) > sudden for value in steep.values())
