"""Quadrature points of domains that are cut where formulas jump, so that the areas of both sides are right.

Points that know nothing of a jump give what is on one side of it a wrong area. Networks of all widths on the same kind
of points share a good part of that, so no comparison of two solutions shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import and_, sub

import numpy as np
import sympy as sp

from frozenpinn.assembly.parts import count_of_parts
from frozenpinn.errors import ProblemError
from frozenpinn.geometry import Box, Domain, Interval, Points
from frozenpinn.language.jets import JetSpace
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.jumps import jumps_of, zeros_of
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_DIMENSIONS = (2, 3)


def cut_points(problem: Problem, count: int) -> Points | None:
    """Return about as many points as wanted, so many on each part of the domain; None if nothing cuts it."""
    own = 60  # points of a part, at least
    domain = problem.domain
    if problem.interfaces is not None:
        own = count // (2 * count_of_parts(problem))  # as each has neurons of its own
    if domain.dimension not in _DIMENSIONS or any(domain.periodic):
        return None
    return _on_parts(problem, count, own)


@remembered
def rule_between_jumps(problem: Problem) -> Points | None:
    """Return a fine rule for integrals of formulas that jump, on boxes with periodic axes, too; None if none jumps."""
    fine, own = 8000, 400
    if problem.domain.dimension > 1:
        return _on_parts(problem, fine, own) if problem.domain.dimension in _DIMENSIONS else None
    places = np.concatenate([np.empty(0), *(zeros_of(problem, level).x[:, 0] for level in jumps_of(problem))])
    lower, upper = float(problem.domain.lower[0]), float(problem.domain.upper[0])
    cuts = np.unique(np.round(places, 12))
    if not len(cuts):
        return None
    pieces = [Interval(a, b).sample(own) for a, b in pairwise([lower, *cuts[(cuts > lower) & (cuts < upper)], upper])]
    return Points(np.concatenate([p.x for p in pieces]), np.concatenate([p.weights for p in pieces]), pieces[0].spacing)


def _on_parts(problem: Problem, count: int, own: int) -> Points | None:
    """Return points on each part in proportion to its measure, or as many as it must have; None if it is whole."""
    parts, domain = parts_between_jumps(problem), problem.domain
    if len(parts) < 2:
        return None
    whole = sum(part.measure for part in parts)
    rules = [part.sample(max(min(own, count), round(count * part.measure / whole))) for part in parts]
    weights = np.concatenate([r.weights * (p.measure / r.weights.sum()) for p, r in zip(parts, rules, strict=True)])
    x = np.concatenate([r.x for r in rules])
    spacing = domain.lengths / len(x) ** (1.0 / domain.dimension)
    return Points(x, weights * (domain.measure / weights.sum()), spacing)


@remembered
def parts_between_jumps(problem: Problem) -> tuple[Domain, ...]:
    """Return the parts of the domain on which no coefficient, source or initial value jumps; () if it is whole."""
    most = 12  # parts; where there are more, they are smaller than any cloud of points resolves
    domain = problem.domain
    parts: list[Domain] = [Box(domain.lower, domain.upper) if any(domain.periodic) else domain]
    for level in jumps_of(problem):
        try:
            side = _one_side(problem, level)
        except ProblemError:
            continue
        if side is not None:
            parts = [piece for part in parts for piece in _pieces(part, side)]
        if len(parts) > most:
            return ()
    return tuple(parts) if len(parts) > 1 else ()


def _one_side(problem: Problem, level: sp.Expr) -> Domain | None:
    """Return where a function has one sign: within a box around its zeros, however small, if these do not reach out."""
    looks = 4096  # points from which jumps are looked for
    from frozenpinn.geometry import Implicit  # which few problems need

    domain, beyond = problem.domain, 0.1
    zeros = zeros_of(problem, level).x
    if not len(zeros):
        return None
    low, high = np.min(zeros, axis=0), np.max(zeros, axis=0)
    margin = beyond * np.maximum(high - low, 1e-3 * np.max(high - low))
    x = domain.sample(looks, "random", Seed.PROBE).x
    outside = x[np.any((x < low - margin) | (x > high + margin), axis=1)]
    signs = np.sign(_values(problem, level, outside))
    if len(outside) and np.all(signs == signs[0]):
        return Implicit(_named(problem, level * int(signs[0])), low - margin, high + margin, cut=True)
    margin = beyond * domain.lengths
    return Implicit(_named(problem, level), domain.lower - margin, domain.upper + margin, cut=True)


def _pieces(part: Domain, side: Domain) -> list[Domain]:
    """Return what of a part is on one side of a jump, and what on the other."""
    found = list[Domain]()
    for combine in (and_, sub):
        try:
            piece = combine(part, side)
        except ProblemError:  # it is empty
            continue
        if piece.measure > 0:
            found.append(piece)
    return found or [part]


def _values(problem: Problem, level: sp.Expr, x: Array) -> Array:
    return np.broadcast_to(problem.compile([level])(*x.T, 0.0)[0], len(x))


def _named(problem: Problem, level: sp.Expr) -> sp.Expr:
    """Return a function of the coordinates that a domain has by default."""
    names: Sequence[sp.Symbol] = JetSpace(Box(problem.domain.lower, problem.domain.upper).coordinates).x
    return level.xreplace(dict(zip(problem.jets.x, names, strict=True)))
