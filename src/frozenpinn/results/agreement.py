"""Whether a solution that was found on a subspace holds in all coordinates.

A reduction is a guess until this check: the data may depend on few directions while the conditions on sides that are
not seen from there make the solution depend on more. A box then gets the axes of the sides where it went wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from frozenpinn.geometry import FlatSide
from frozenpinn.language.jets import Jet
from frozenpinn.results.residuals import condition_gap, imbalance, initial_gaps
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.conditions import LinearCondition

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution

Array = np.ndarray
_SETTLED = 1e-6  # residuals that no finer solve asks to be smaller: see Tolerances.reduction


class Misfit(NamedTuple):
    """The largest relative residual in all coordinates, what it is a residual of, and the axes of sides that fail."""

    size: float
    what: str
    axes: frozenset[int] = frozenset()


class Agreement(NamedTuple):
    """Whether a solution on a subspace holds in all coordinates.

    ``settled`` if all residuals are as small as can be asked: a finer solution need not be checked again.
    """

    misfit: Misfit | None
    settled: bool


def judge(solution: Solution, accepted: float) -> Agreement:
    """Check at random points whether a solution that was found on a subspace holds in all coordinates.

    Relative residuals up to ``accepted`` are small; larger ones are compared with those on the subspace: a solution
    that is not well resolved there is no better in more dimensions.
    """
    reduced, subspace = solution.reduced, solution.subspace
    assert reduced is not None
    assert subspace is not None
    problem, rng = solution.problem, np.random.default_rng(Seed.AGREEMENT)
    start, end = problem.time
    times = start + (end - start) * (np.arange(4) + rng.random(4)) / 4
    x = problem.domain.sample(60, "random", rng).x
    z = subspace.project(x)
    settled, alike = True, 3.0  # factor up to which residuals at the same points of the subspace are about as large
    for name in problem.fields:
        for what, residual in (
            ("equation", partial(_equation_residual, times=times)),
            ("initial value", _initial_residual),
        ):
            value = residual(solution, name, x)
            settled = settled and value <= _SETTLED
            if not (value <= accepted or value <= alike * residual(reduced, name, z)):
                return Agreement(Misfit(value, f"the {what} of '{name}'"), False)
    misfit, small = _boundary_misfit(solution, x, times, accepted, rng)
    return Agreement(misfit, settled and small)


def _equation_residual(solution: Solution, name: str, x: Array, times: Array) -> float:
    """Return the L² residual of one equation, relative to its largest term."""
    gap, scale = imbalance(solution, solution.problem.equation(name), x, times)
    return gap / (scale or 1.0)


def _initial_residual(solution: Solution, name: str, x: Array) -> float:
    """Return the relative L² misfit of the initial value or the initial velocity, whichever is larger."""
    gaps = [gap for gap in initial_gaps(solution, solution.problem.domain.wrap(x)) if gap.name == name]
    relative = (float(np.linalg.norm(g.found - g.wanted)) / (float(np.linalg.norm(g.wanted)) or 1.0) for g in gaps)
    return max(relative, default=0.0)


def _boundary_misfit(
    solution: Solution, inside: Array, times: Array, accepted: float, rng: np.random.Generator
) -> tuple[Misfit | None, bool]:
    """Measure all conditions at random points of all sides, relative to the size of their terms.

    Returns the largest misfit, if any, and whether all are as small as can be asked.
    """
    assert solution.reduced is not None
    domain = solution.problem.domain
    worst, axes, small = Misfit(0.0, ""), set(), True
    sizes: dict[Jet, float] = {}
    for alike in _alike(solution.problem.conditions):
        sides = [domain.sample_side(c.side, 12, "random", rng) for c in alike]
        gap = condition_gap(solution, alike, sides, times)
        scale = float(np.max(np.abs(gap.wanted)))
        for jet, (factor, _) in gap.terms.items():
            if jet not in sizes:
                sizes[jet] = _largest(solution, inside, times, jet)
            scale = max(scale, float(np.max(np.abs(factor))) * sizes[jet])
        ends = np.cumsum([len(points) for points in sides])
        for condition, part in zip(alike, np.split(np.abs(gap.total), ends[:-1]), strict=True):
            size = float(np.max(part)) / (scale or 1.0)
            small = small and size <= _SETTLED
            if size <= accepted or size <= min(10.0 * _inaccuracy(solution.reduced), 0.1):  # at single points
                continue
            if isinstance(condition.side, FlatSide):
                axes.add(condition.side.axis)
            worst = max(worst, Misfit(size, f"the condition '{condition.text}' on side '{condition.side.name}'"))
    return worst._replace(axes=frozenset(axes)) if worst.size else None, small


def _inaccuracy(reduced: Solution) -> float:
    """Return how far a solution on a subspace is from its own conditions, on the boundary and at the start."""
    residuals = reduced.residuals
    return max([residuals.boundary, *residuals.initial.values()])


def _alike(conditions: Sequence[LinearCondition]) -> list[list[LinearCondition]]:
    """Group conditions that differ in nothing but their side, to evaluate them together."""
    groups: dict[object, list[LinearCondition]] = {}
    for condition in conditions:
        datum = condition.value
        given = id(datum) if datum.expression is None else datum.expression
        groups.setdefault((condition.jets, given), []).append(condition)
    return list(groups.values())


def _largest(solution: Solution, x: Array, times: Array, jet: Jet) -> float:
    """Return the size of a derivative in the domain, at least that of the field over the size of the domain."""
    value = float(np.max(np.abs(solution.jet_values(x, times, solution.problem.jets.field(jet.field)))))
    own = float(np.max(np.abs(solution.jet_values(x, times, jet)))) if jet.order else value
    return max(own, value / float(np.max(solution.problem.domain.lengths)) ** jet.order)
