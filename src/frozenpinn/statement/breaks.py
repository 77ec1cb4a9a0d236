"""Breaks: where sources and coefficients of a static problem jump or have kinks, outside of derivatives.

Fields are smooth on both sides of a break, and so are all of their derivatives below the order of the equations across
it: only the highest ones jump, as the equations can be solved for them. So the parts of the domain have neurons of
their own, joined as at interfaces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from frozenpinn.geometry import Domain
from frozenpinn.language.fluxes import Flux
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.language.program import Program
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.interfaces import MOST_LEVELS, FluxTerm, Interfaces, distinct, read_interfaces
from frozenpinn.statement.level_sets import reached

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
_LOOKS = 4096  # places at which the signs of level functions are compared


def interfaces_or_breaks(
    problem: Problem, residuals: Sequence[sp.Expr], fluxes: Sequence[Sequence[Flux]], contact: float | None
) -> Interfaces | None:
    """Return where fluxes of a problem jump, or else, if it is static and nothing in it is inferred, other things."""
    orders = {name: problem.spatial_order(name) for name in problem.fields}
    found = read_interfaces(residuals, fluxes, problem.jets, orders, contact)
    if found is not None or not problem.is_static or problem.parameters.inferred:
        return found
    return read_breaks(problem.equations, problem.jets, problem.domain, orders)


def breaks_among(problem: Problem, equations: Sequence[Equation]) -> Interfaces | None:
    """Return where static equations that follow from those of a problem break; interfaces of materials stay."""
    if problem.interfaces is not None and problem.interfaces.material:
        return problem.interfaces
    orders = {name: problem.spatial_order(name) for name in problem.fields}
    return read_breaks(equations, problem.jets, problem.domain, orders)


def read_breaks(
    equations: Sequence[Equation], jets: JetSpace, domain: Domain, orders: Mapping[str, int]
) -> Interfaces | None:
    """Return the breaks of static equations; None if there are none, or if it is not known what is smooth there."""
    highest = 4  # order of equations
    dimensions = 3  # beyond, problems are expected to depend on few directions only
    if domain.dimension > dimensions or jets.quantities or max(orders.values()) > highest:
        return None
    found = [level for e in equations for level in bends_of(e.right_side)]
    known = [level for level in found if _is_known(level, jets)]
    if not known:
        return None
    levels = distinct([one for level in known for one in _separate(level, jets, domain)])
    levels = _that_cut(levels, jets, domain)
    if not levels or len(levels) > MOST_LEVELS or not _solvable(equations, orders, levels, jets, domain):
        return None
    fluxes = tuple(flux for name, order in orders.items() for flux in _continuous(jets, name, order))
    valued = tuple(name for name, order in orders.items() if order)
    return Interfaces(tuple(levels), fluxes, valued, material=False)


def bends_of(expression: sp.Expr) -> list[sp.Expr]:
    """Return the functions at whose zeros an expression jumps or has a kink."""
    found: list[sp.Expr] = []
    if isinstance(expression, sp.Heaviside | sp.sign):
        return [expression.args[0]]
    if isinstance(expression, sp.Piecewise):
        for _, condition in expression.args:
            found += [r.lhs - r.rhs for r in condition.atoms(Relational)]
        return [*found, *(level for value, _ in expression.args for level in bends_of(value))]
    if isinstance(expression, sp.Abs):
        found.append(expression.args[0])
    if isinstance(expression, sp.Max | sp.Min):
        found += [a - b for i, a in enumerate(expression.args) for b in expression.args[:i]]
    return [*found, *(level for part in expression.args for level in bends_of(part))]


def _is_known(level: sp.Expr, jets: JetSpace) -> bool:
    """Whether a level is a formula in the coordinates."""
    return bool(level.free_symbols) and level.free_symbols <= set(jets.x) and not level.atoms(AppliedUndef)


def _separate(level: sp.Expr, jets: JetSpace, domain: Domain) -> list[sp.Expr]:
    """Return a function of one coordinate as one level for each zero: what lies between two is a part of its own."""
    along = 4001  # places along an axis between which zeros of a function of one coordinate are looked for
    if len(level.free_symbols) > 1:
        return [level]
    (x,) = level.free_symbols
    axis = jets.x.index(x)
    if sp.diff(level, x).is_number:
        return [level]
    places = np.linspace(float(domain.lower[axis]), float(domain.upper[axis]), along)
    program = Program([level], [x])
    with np.errstate(all="ignore"):
        values = np.broadcast_to(program(places)[0], len(places))
    if not np.all(np.isfinite(values)):
        return [level]
    from scipy.optimize import brentq  # few problems need it

    roots = [float(z) for z in places[1:-1][values[1:-1] == 0.0]]
    for (a, fa), (b, fb) in pairwise(zip(places, values, strict=True)):
        if fa * fb < 0:
            roots.append(float(brentq(lambda z: float(program(np.array([z]))[0][0]), a, b, xtol=1e-15 * abs(b - a))))
    apart = 1e-9 * float(domain.lengths[axis])
    for root in _approached(level, x, places):  # two of them between neighbouring places
        if all(abs(root - other) > apart for other in roots):
            roots.append(root)
    return [x - sp.Float(root, 17) for root in sorted(roots)]


def _approached(level: sp.Expr, x: sp.Symbol, places: Array) -> list[float]:
    """Return the zeros that Newton's method finds from places of an axis, inside it."""
    near = 1e-13 * (places[-1] - places[0])
    found, _, distance = reached(Program([level, sp.diff(level, x)], [x]), places[::16, None])
    inner = found[(distance <= near) & (found[:, 0] > places[0]) & (found[:, 0] < places[-1]), 0]
    return sorted(set(np.round(inner, 13).tolist()))


def _that_cut(levels: Sequence[sp.Expr], jets: JetSpace, domain: Domain) -> list[sp.Expr]:
    """Return the levels that have both signs in a domain; none if they make too many parts of it."""
    most_parts = 8  # in several dimensions, where every part multiplies the unknowns
    least_part = 1e-3  # share of the places that a part must have, in several dimensions
    if not levels:
        return []
    if domain.dimension == 1:
        low, high, (x,) = float(domain.lower[0]), float(domain.upper[0]), jets.x
        return [level for level in levels if level.subs(x, low) * level.subs(x, high) < 0]
    x = domain.sample(_LOOKS, "random", Seed.PROBE).x
    signs = _positive(levels, jets, x)
    share = signs.mean(axis=0)
    large = [bool(least_part < s < 1.0 - least_part) for s in share]
    _, counts = np.unique(signs[:, large], axis=0, return_counts=True)
    if np.count_nonzero(counts >= least_part * len(x)) > most_parts and not _across_axes(levels):
        return []
    return [level for level, cuts in zip(levels, large, strict=True) if cuts or _cuts_off_little(level, jets, domain)]


def _cuts_off_little(level: sp.Expr, jets: JetSpace, domain: Domain) -> bool:
    """Whether a level has zeros inside a domain, so that a part on one side of it is too small for random places."""
    beside = 1e-9  # part of the domain by which places on both sides must be inside
    program = Program([level, *(sp.diff(level, x) for x in jets.x)], list(jets.x))
    x, normals, distance = reached(program, domain.sample(_LOOKS // 8, "sobol", Seed.PROBE).x)
    near = distance <= beside * domain.size
    x, step = x[near], 2.0 * beside * domain.size * normals[near]
    return len(x) > 0 and bool(np.any(domain.contains(x - step, 0.0) & domain.contains(x + step, 0.0)))


def _positive(levels: Sequence[sp.Expr], jets: JetSpace, x: Array) -> Array:
    with np.errstate(all="ignore"):
        values = Program(list(levels), list(jets.x))(*x.T)
    return np.stack([np.broadcast_to(v, len(x)) > 0 for v in values], axis=1)


def _across_axes(levels: Sequence[sp.Expr]) -> bool:
    return all(len(level.free_symbols) == 1 for level in levels)


def _continuous(jets: JetSpace, name: str, order: int) -> list[tuple[FluxTerm, ...]]:
    """Return what is continuous in addition to the values of a field: those of u_n, Δu and (Δu)_n below the order."""
    field, found = jets.field(name), list[tuple[FluxTerm, ...]]()
    for k in range(1, order):
        base = replace(field, laps=k // 2) if jets.dimension > 1 else replace(field, alpha=(k - k % 2,))
        axes = range(jets.dimension)
        one = sp.Integer(1)
        found.append(
            tuple(FluxTerm(i, jets.shifted(base, i), one) for i in axes) if k % 2 else (FluxTerm(None, base, one),)
        )
    return found


def _solvable(
    equations: Sequence[Equation], orders: Mapping[str, int], levels: Sequence[sp.Expr], jets: JetSpace, domain: Domain
) -> bool:
    """Whether the equations determine the highest derivatives of all fields across all breaks."""
    solvable = 1e-9  # least determinant of the highest derivatives across a break, in units of their coefficients
    rows: list[dict[str, dict[Jet, sp.Expr]]] = []
    for equation in equations:
        if any(jet.order >= orders[jet.field] for jet in jets.jets_in(equation.nonlinear).values()):
            return False
        rows.append({name: {} for name in orders})
        for jet, coefficient in equation.linear.items():
            if jet.order == orders[jet.field]:
                rows[-1][jet.field][jet] = coefficient
    coefficients = [c for row in rows for terms in row.values() for c in terms.values()]
    if any(not c.free_symbols <= set(jets.x) or c.atoms(AppliedUndef) for c in coefficients):
        return False
    x = domain.sample(64, "random", Seed.PROBE).x
    with np.errstate(all="ignore"):
        values = Program(coefficients, list(jets.x))(*x.T)
        slopes = Program([sp.diff(level, c) for level in levels for c in jets.x], list(jets.x))(*x.T)
    table = dict(zip(coefficients, (np.broadcast_to(v, len(x)) for v in values), strict=True))
    across = np.stack([np.broadcast_to(s, len(x)) for s in slopes], axis=1).reshape(len(x), len(levels), -1)
    across = np.concatenate([across, np.tile(np.eye(jets.dimension), (len(x), 1, 1))], axis=1)
    length = np.linalg.norm(across, axis=2, keepdims=True)
    normals = np.divide(across, length, out=np.zeros_like(across), where=length > 0)
    matrix = np.zeros((*normals.shape[:2], len(rows), len(orders)))
    for i, row in enumerate(rows):
        for j, terms in enumerate(row.values()):
            for jet, c in terms.items():
                matrix[..., i, j] += table[c][:, None] * np.prod(normals ** np.array(jet.alpha), axis=2)
    scale = np.max(np.abs(matrix), axis=(1, 3), keepdims=True)
    if not np.all(np.isfinite(matrix)) or np.any(scale == 0):
        return False
    determinants = np.abs(np.linalg.det(matrix / scale))[length[..., 0] > 0]
    return bool(np.min(determinants) > solvable)
