"""Quadrature points of domains that are cut where formulas jump, so that the areas of both sides are right.

Points that know nothing of a jump give what is on one side of it a wrong area. Networks of all widths on the same kind
of points share a good part of that, so no comparison of two solutions shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import and_, sub

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError
from frozenpinn.geometry import Box, Domain, Points
from frozenpinn.geometry.rare.implicit import Implicit
from frozenpinn.language.fluxes import levels_of
from frozenpinn.language.jets import JetSpace
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.interfaces import distinct
from frozenpinn.statement.level_sets import reached
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_DIMENSIONS = (2, 3)
_LOOKS = 4096  # points from which jumps are looked for
_MOST = 12  # parts; where there are more, they are smaller than any cloud of points resolves


def cut_points(problem: Problem, count: int) -> Points | None:
    """Return about as many points as wanted, so many on each part of the domain; None if nothing cuts it."""
    own = 60  # points of a part, at least
    parts = parts_between_jumps(problem)
    if len(parts) < 2:
        return None
    whole = sum(part.measure for part in parts)
    rules = [part.sample(max(min(own, count), round(count * part.measure / whole))) for part in parts]
    weights = np.concatenate([r.weights * (p.measure / r.weights.sum()) for p, r in zip(parts, rules, strict=True)])
    x = np.concatenate([r.x for r in rules])
    spacing = problem.domain.lengths / len(x) ** (1.0 / problem.domain.dimension)
    return Points(x, weights * (problem.domain.measure / weights.sum()), spacing)


@remembered
def parts_between_jumps(problem: Problem) -> tuple[Domain, ...]:
    """Return the parts of the domain on which no coefficient, source or initial value jumps; () if it is whole."""
    domain = problem.domain
    if domain.dimension not in _DIMENSIONS or any(domain.periodic):
        return ()
    parts = [domain]
    for level in _jumps(problem):
        try:
            side = _one_side(problem, level)
        except ProblemError:
            continue
        if side is not None:
            parts = [piece for part in parts for piece in _pieces(part, side)]
        if len(parts) > _MOST:
            return ()
    return tuple(parts) if len(parts) > 1 else ()


def _jumps(problem: Problem) -> list[sp.Expr]:
    """Return the functions of the coordinates at whose zeros formulas jump."""
    found = [level for expression in _formulas(problem) for level in levels_of(expression)]
    return distinct([level for level in found if level.free_symbols and level.free_symbols <= set(problem.jets.x)])


def _formulas(problem: Problem) -> Iterator[sp.Expr]:
    for equation in problem.equations:
        yield from (*equation.linear.values(), *equation.mass.values(), equation.forcing, equation.nonlinear)
    yield from (datum.expression for datum in problem.initial_data if datum.expression is not None)


def _one_side(problem: Problem, level: sp.Expr) -> Domain | None:
    """Return where a function has one sign: within a box around its zeros, however small, if these do not reach out."""
    domain, beyond = problem.domain, 0.1
    zeros = _zeros(problem, level)
    if not len(zeros):
        return None
    low, high = np.min(zeros, axis=0), np.max(zeros, axis=0)
    margin = beyond * np.maximum(high - low, 1e-3 * np.max(high - low))
    x = domain.sample(_LOOKS, "random", Seed.PROBE).x
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


def _zeros(problem: Problem, level: sp.Expr) -> Array:
    """Return zeros of a function in the domain."""
    domain = problem.domain
    program = problem.compile([level, *(sp.diff(level, x) for x in problem.jets.x)])
    x, _, distance = reached(lambda *x: program(*x, 0.0), domain.sample(_LOOKS, "sobol", Seed.PROBE).x)
    x = x[distance <= 1e-9 * domain.size]
    return x[domain.contains(x)]


def _values(problem: Problem, level: sp.Expr, x: Array) -> Array:
    return np.broadcast_to(problem.compile([level])(*x.T, 0.0)[0], len(x))


def _named(problem: Problem, level: sp.Expr) -> sp.Expr:
    """Return a function of the coordinates that a domain has by default."""
    names: Sequence[sp.Symbol] = JetSpace(Box(problem.domain.lower, problem.domain.upper).coordinates).x
    return level.xreplace(dict(zip(problem.jets.x, names, strict=True)))
