"""Whether a static problem is well posed, read off its equations before any time is spent on solving it.

* The symbol of an elliptic equation vanishes for no real wave; half its order is the number of conditions on each side.
  In one dimension the conditions at both ends together must be as many as the order.
* If nothing but derivatives of a field occurs, its solution is determined up to a constant. Then a constraint is
  needed, and source and fluxes must balance: ∫ f = ∮ a u_n.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.analysis.conservation import Law, balance_law
from frozenpinn.language.jets import Jet
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.consistency import further_contradictions
from frozenpinn.statement.findings import COUNT, Finding, miscounted

if TYPE_CHECKING:
    from frozenpinn.geometry import BoundaryPoints
    from frozenpinn.statement.equation import Equation
    from frozenpinn.statement.laws import BoundaryLaw
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
Row: TypeAlias = "tuple[list[Jet], list[Array | float], Array]"  #: derivatives, their factors, what is prescribed
_WAVES = (1e12, 1e13)  # wave numbers at which the highest derivatives lead, however small their coefficients


def static_findings(problem: Problem) -> tuple[Finding, ...]:
    """Return what can be said against a static problem."""
    found = [*further_contradictions(problem), *_undetermined(problem)]
    symbol = StaticSymbol(problem)
    if symbol.complete:
        kind = _type(problem, symbol)
        found += [kind] if kind is not None else _conditions(problem, symbol)
    if not any(finding.kind == COUNT for finding in found):
        found = [*_imbalance(problem), *found]
    return tuple(found)


class StaticSymbol:
    """The equations on plane waves exp(i ξ·x), as far as their highest derivatives are linear."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        rows = [dict(equation.linear) for equation in problem.equations]
        highest = {name: problem.spatial_order(name) for name in problem.fields}
        nonlinear = [jet for e in problem.equations for jet in problem.jets.jets_in(e.nonlinear).values()]
        nonlinear = [jet for jet in nonlinear if jet.field in highest]
        self.complete = all(jet.order < highest[jet.field] for jet in nonlinear) and all(rows)
        self._jets = [list(row) for row in rows]
        self._program = problem.compile([c for row in rows for c in row.values()])

    def determinants(self, x: Array, xi: Array) -> tuple[Array, Array]:
        """Return determinants of the matrices of amplitudes at points (n, d) for waves (m, d), and their sizes.

        Both have the shape (n, m). The size is that of the largest product of terms in a determinant, relative to
        which the determinant is given.
        """
        with np.errstate(all="ignore"):
            found = self._program(*x.T, 0.0)
        values = iter([np.broadcast_to(v, len(x)) for v in found])
        fields = self.problem.fields
        shape = (len(x), len(xi), len(fields), len(fields))
        matrices, sizes = np.zeros(shape, dtype=complex), np.zeros(shape)
        for i, jets in enumerate(self._jets):
            for jet in jets:
                term = np.multiply.outer(next(values), _wave(jet, 1j * xi))
                matrices[:, :, i, fields.index(jet.field)] += term
                sizes[:, :, i, fields.index(jet.field)] += np.abs(term)
        largest = _largest_product(sizes)
        return np.linalg.det(matrices) / np.where(largest > 0, largest, 1.0), largest


def _largest_product(sizes: Array) -> Array:
    """Return the largest product of one entry of each row and column of matrices (…, k, k), about for many rows."""
    count = sizes.shape[-1]
    if count > 5:
        return np.asarray(np.prod(np.max(sizes, axis=-1), axis=-1))
    rows = np.arange(count)
    return np.max([np.prod(sizes[..., rows, np.array(order)], axis=-1) for order in permutations(range(count))], axis=0)


def _wave(jet: Jet, exponents: Array) -> Array:
    """Return what a derivative does to exp(exponent·x), for exponents (m, d)."""
    value = np.prod(exponents ** np.array(jet.alpha), axis=1)
    return np.asarray(value * np.sum(exponents**2, axis=1) ** jet.laps)


# ---- type --------------------------------------------------------------------------------------------


def _samples(problem: Problem) -> tuple[Array, Array]:
    """Return points of the domain and unit vectors: along the axes, along their diagonals, and random ones."""
    n_directions = 64
    places = 12
    rng, d = np.random.default_rng(0), problem.domain.dimension
    directions = rng.normal(size=(n_directions, d))
    angles = np.pi * np.arange(n_directions) / n_directions
    plane = np.zeros((n_directions, d))
    plane[:, :2] = np.stack([np.cos(angles), np.sin(angles)], axis=1)[:, :d]
    every = np.concatenate([np.eye(d), plane, directions]) if d > 1 else np.eye(1)
    return problem.domain.sample(places, "random", rng).x, every / np.linalg.norm(every, axis=1, keepdims=True)


def _type(problem: Problem, symbol: StaticSymbol) -> Finding | None:
    """Say where equations are not elliptic; those of first order, and in one dimension, need not be."""
    vanishes = 1e-6  # relative size of a symbol that is zero
    if problem.domain.dimension == 1 or _degree(problem, symbol) in (None, 0, 1):
        return None
    points, directions = _samples(problem)
    table = symbol.determinants(points, _WAVES[1] * directions / problem.domain.lengths)[0]
    signs: list[tuple[float, Array]] = []
    for x, values in zip(points, table, strict=True):
        if not np.all(np.isfinite(values)):
            return None
        turned = values * np.exp(-1j * np.angle(values[np.argmax(np.abs(values))]))
        if np.min(turned.real) < -vanishes and np.max(np.abs(turned.imag)) < 1e-2:
            return _not_elliptic(problem, x)
        signs.append((float(np.sign(values[np.argmax(np.abs(values))].real)), x))
    one, other = (next((x for sign, x in signs if sign == s), None) for s in (1.0, -1.0))
    if one is not None and other is not None:
        return Finding(
            "ill-posed",
            "warning",
            f"the coefficient of the highest derivative has one sign at x = ({_point(one)}) and the other at "
            f"x = ({_point(other)}): where it is zero the solution need not be smooth, nor unique. Check it.",
        )
    return None


def _not_elliptic(problem: Problem, x: Array) -> Finding:
    names = problem.domain.coordinates
    text = (
        f"the equation is not elliptic at x = ({_point(x)}): some waves pass through it unhindered, as in "
        f"u_{2 * names[0]} - u_{2 * names[-1]} = 0. Conditions all around a domain do not determine such a solution. "
        "Check the signs; if one coordinate is a time, call it t and give time= and initial=."
    )
    return Finding("ill-posed", "warning", text)


def _point(x: Array) -> str:
    return ", ".join(f"{c:.4g}" for c in x)


# ---- conditions --------------------------------------------------------------------------------------


def _degree(problem: Problem, symbol: StaticSymbol) -> int | None:
    """Return the order of the determinant of the equations; None if it can't be determined."""
    x = problem.domain.sample(3, "random", 1).x[-1:]
    direction = np.random.default_rng(2).normal(size=problem.domain.dimension)
    waves = np.multiply.outer(_WAVES, direction / np.linalg.norm(direction) / problem.domain.lengths)
    sizes = [float(size) for size in symbol.determinants(x, waves)[1][0]]
    if not all(np.isfinite(s) and s > 0 for s in sizes):
        return None
    return round(float(np.log10(sizes[1] / sizes[0]) / np.log10(_WAVES[1] / _WAVES[0])))


def _conditions(problem: Problem, symbol: StaticSymbol) -> list[Finding]:
    """Compare the number of conditions with what an elliptic equation needs."""
    degree = _degree(problem, symbol)
    if degree is None or degree == 0:
        return []
    axes = frozenset[str]() if problem.frame is None else problem.frame.axes  # regularity is the condition there
    sides = [*(c.side for c in problem.conditions), *(law.side for law in problem.laws)]
    given = {side.name: sides.count(side) for side in problem.domain.sides if side.name not in axes}
    if problem.domain.dimension == 1 and given:
        total = sum(given.values()) + degree // 2 * len(axes)
        return [] if total == degree else [_miscounted("both ends together have", total, degree, problem)]
    if degree % 2:
        return []  # transport: in- and outflow are a matter of directions
    needed = degree // 2
    return [_miscounted(f"side '{name}' has", n, needed, problem) for name, n in given.items() if n != needed]


def _miscounted(where: str, given: int, needed: int, problem: Problem) -> Finding:
    many = given > needed
    what = "too many: some contradict or repeat others" if many else "too few: the solution is not unique"
    return miscounted(where, given, needed, what, problem, problem.is_linear and len(problem.fields) == 1)


# ---- what is determined up to a constant ------------------------------------------------------------------


def undetermined_fields(problem: Problem) -> list[str]:
    """Return the fields of which nothing but derivatives occurs in equations and conditions."""
    jets = [jet for e in problem.equations for jet in problem.jets.jets_in(e.right_side).values()]
    under = [problem.jets.quantities[jet.field].inner for jet in jets if jet.field in problem.jets.quantities]
    jets += [jet for inner in under for jet in problem.jets.jets_in(inner).values()]
    jets += [jet for condition in problem.conditions for jet in condition.jets]
    jets += [jet for law in problem.laws for jet in law.jets_in()]
    return [name for name in problem.fields if not any(jet.field == name and jet.order == 0 for jet in jets)]


def _undetermined(problem: Problem) -> list[Finding]:
    """Find fields that are determined up to a constant, and check that solutions exist; not for eigenvalues."""
    found: list[Finding] = []
    if problem.parameters.unknown:
        return found
    for name in undetermined_fields(problem):
        if not any(constraint.field == name and constraint.picks for constraint in problem.constraints):
            text = (
                f"'{name}' is determined up to a constant: equations and conditions contain nothing but its "
                f"derivatives, and constants are the null space. Add constraint='mean({name}) = 0', or its value at a "
                f"point, constraint='{name}({', '.join('0' * problem.domain.dimension)}) = 0'."
            )
            found.append(Finding("conditions", "error", text))
    return found + _surplus(problem)


def _surplus(problem: Problem) -> list[Finding]:
    """Find constraints of fields that are determined without them; fields whose values are in equations are exempt."""
    inside = [jet for e in problem.equations for jet in problem.jets.jets_in(e.right_side).values()]
    valued = {jet.field for jet in inside if jet.order == 0 or jet.field in problem.jets.quantities}
    alone = len(problem.fields) == 1 and problem.spatial_order(problem.fields[0]) == 2
    most = 1 if alone else problem.domain.dimension + 1  # bodies may turn, and beams tilt
    found, free = [], dict.fromkeys(undetermined_fields(problem), most)
    picking = [constraint for constraint in problem.constraints if constraint.picks]
    for constraint in picking if valued.isdisjoint(problem.jets.quantities) else ():
        if constraint.field not in valued and not free.get(constraint.field):
            text = (
                f"the constraint '{constraint.text}' is one too many: '{constraint.field}' is determined without it. "
                "It is either contradictory or superfluous; leave it out."
            )
            found.append(Finding("conditions", "warning", text))
        free[constraint.field] = max(0, free.get(constraint.field, 0) - 1)
    return found


def _imbalance(problem: Problem) -> list[Finding]:
    """Find equations whose sources and prescribed fluxes do not add up to nothing; not for eigenvalues."""
    if problem.parameters.unknown:
        return []
    return [finding for equation in problem.equations if (finding := _unbalanced(problem, equation)) is not None]


def _unbalanced(problem: Problem, equation: Equation) -> Finding | None:
    """Compare ∫ s with ∮ F·n for div F + s = 0 without fields in s, if conditions prescribe the flux on all sides."""
    balanced = 1e-6  # relative size of an imbalance of source and fluxes that is round-off of a quadrature
    unsure = 10.0  # times the distance of two rules
    law = balance_law(problem, equation.field)
    if problem.jets.jets_in(law.rest):
        return None
    coarse = _total(problem, law, 1000)
    fine = None if coarse is None else _total(problem, law, 4000)
    if coarse is None or fine is None:
        return None
    total, size = fine
    if not abs(total) > max(balanced * size, unsure * abs(total - coarse[0])):
        return None
    names = dict.fromkeys(jet.field for flux in law.fluxes for jet in problem.jets.jets_in(flux).values())
    of = " and ".join(f"'{name}'" for name in names)
    text = (
        f"the data of {of} contradict each other: the source and the fluxes through the boundary add up to "
        f"{total:.3g}, {abs(total) / size:.2g} of their size, instead of zero, so no solution exists. Change one of "
        "them, or prescribe a value somewhere."
    )
    return Finding("contradiction", "error", text)


def _total(problem: Problem, law: Law, n_points: int) -> tuple[float, float] | None:
    """Return ∫ s + ∮ F·n and the integral of the sizes; None if a flux is not prescribed."""
    domain = problem.domain
    method = "gauss" if domain.dimension <= 3 else "sobol"
    total = size = 0.0
    for side in domain.sides:
        sides = domain.sample_side(side, 1 if domain.dimension == 1 else n_points // 10, method, 0)
        flux = _prescribed_flux(problem, law, sides)
        if flux is None:
            return None
        total += float(sides.weights @ flux)
        size += float(sides.weights @ np.abs(flux))
    points = domain.sample(n_points, method, 0)
    with np.errstate(all="ignore"):
        source = np.broadcast_to(problem.compile([law.rest])(*points.x.T, 0.0)[0], len(points.x))
    total, size = total + float(points.weights @ source), size + float(points.weights @ np.abs(source))
    return (total, size) if np.isfinite(total) else None


def _prescribed_flux(problem: Problem, law: Law, points: BoundaryPoints) -> Array | None:
    """Return F·n at points of a side where that is a combination of what conditions prescribe; None of others."""
    split = [problem.jets.affine(flux) for flux in law.fluxes]
    if any(part is None for part in split):
        return None
    terms = [(axis, jet, c) for axis, part in enumerate(split) for jet, c in (part[0] if part else {}).items()]
    conditions: list[LinearCondition | BoundaryLaw] = [*problem.conditions, *problem.laws]
    given = [row for c in conditions if c.side == points.side and (row := _row(c, points))]
    jets = list(dict.fromkeys([jet for _, jet, _ in terms] + [jet for row in given for jet in row[0]]))
    if not jets:
        return np.zeros(len(points.x))
    with np.errstate(all="ignore"):
        factors = problem.compile([c for *_, c in terms] + [part[1] for part in split if part])(*points.x.T, 0.0)
    wanted, known = np.zeros((len(points.x), len(jets))), np.zeros(len(points.x))
    for (axis, jet, _), factor in zip(terms, factors[: len(terms)], strict=True):
        wanted[:, jets.index(jet)] += points.normals[:, axis] * factor
    for axis, factor in enumerate(factors[len(terms) :]):
        known = known + points.normals[:, axis] * factor
    return _combined(given, jets, wanted, known)


def _combined(given: list[Row], jets: list[Jet], wanted: Array, known: Array) -> Array | None:
    """Return the combination of conditions whose terms are those of a flux; None if there is none."""
    rows, values = np.zeros((len(wanted), len(given), len(jets))), np.zeros((len(wanted), len(given)))
    for k, (own, coefficients, value) in enumerate(given):
        for jet, coefficient in zip(own, coefficients, strict=True):
            rows[:, k, jets.index(jet)] += coefficient
        values[:, k] = value
    if not (np.all(np.isfinite(rows)) and np.all(np.isfinite(wanted))):
        return None
    factors = np.einsum("nj,njk->nk", wanted, np.linalg.pinv(rows, rcond=1e-10))
    missed = np.linalg.norm(np.einsum("nk,nkj->nj", factors, rows) - wanted, axis=1)
    if not np.all(missed <= 1e-9 * np.linalg.norm(wanted, axis=1)):
        return None
    return np.asarray(known + np.sum(factors * values, axis=1))


def _row(condition: LinearCondition | BoundaryLaw, points: BoundaryPoints) -> Row | None:
    """Return the terms of a linear condition and what it prescribes, at points of its side; None of others."""
    if isinstance(condition, LinearCondition):
        terms = condition.terms_at(points)
        value = np.broadcast_to(condition.value(points.x, 0.0), len(points.x))
        return [jet for jet, _ in terms], [c for _, c in terms], value
    jets = condition.jets_in()
    slopes = [sp.diff(condition.residual, condition.jets.symbol(jet)) for jet in jets]
    if any(condition.jets.jets_in(slope) for slope in slopes):
        return None
    coefficients = list(condition.compile(slopes, ())(*points.x.T, *points.normals.T, 0.0))
    return jets, coefficients, -condition.values(points, 0.0, [np.zeros(len(points.x))] * len(jets))
