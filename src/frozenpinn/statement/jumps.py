"""Where formulas of a problem jump in space: zeros of functions of the coordinates, found from all over a domain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from frozenpinn.language.fluxes import levels_of
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.interfaces import distinct
from frozenpinn.statement.level_sets import Reached, reached

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem

Array = np.ndarray


@remembered
def jumps_of(problem: Problem) -> tuple[sp.Expr, ...]:
    """Return the functions of the coordinates at whose zeros coefficients, sources or initial data jump."""
    found = [level for expression in _formulas(problem) for level in levels_of(expression)]
    return tuple(distinct([level for level in found if level.free_symbols and level.free_symbols <= {*problem.jets.x}]))


def _formulas(problem: Problem) -> Iterator[sp.Expr]:
    for equation in problem.equations:
        yield from (*equation.linear.values(), *equation.mass.values(), equation.forcing, equation.nonlinear)
    yield from (datum.expression for datum in problem.initial_data if datum.expression is not None)


def zeros_of(problem: Problem, level: sp.Expr) -> Reached:
    """Return zeros of a function in the domain, and normals there."""
    looks = 4096  # points from which zeros are looked for
    domain = problem.domain
    program = problem.compile([level, *(sp.diff(level, x) for x in problem.jets.x)])
    method = "sobol" if domain.dimension > 1 else "random"
    found = reached(lambda *x: program(*x, 0.0), domain.sample(looks, method, Seed.PROBE).x)
    kept = found.distance <= 1e-9 * domain.size
    kept[kept] = domain.contains(found.x[kept])
    return Reached(*(own[kept] for own in found))


def beside_jumps(problem: Problem) -> Array:
    """Return some places next to the jumps of a problem, on both sides, shape (n, d)."""
    each, step = 16, 1e-6 * problem.domain.size
    found = [np.empty((0, problem.domain.dimension))]
    for level in jumps_of(problem):
        zeros = zeros_of(problem, level)
        if not len(zeros.x):
            continue
        chosen = np.unique(np.linspace(0, len(zeros.x) - 1, each).astype(int))
        for side in (-step, step):
            found.append(zeros.x[chosen] + side * zeros.normals[chosen])
    x = np.concatenate(found)
    return x[problem.domain.contains(x, 0.0)]
