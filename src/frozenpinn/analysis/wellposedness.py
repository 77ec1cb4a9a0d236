"""Is the problem well posed? Read off the symbol, before any time is spent on solving it.

Freezing coefficients at a point, a plane wave exp(i ξ·x + λ t) turns the equations into an eigenvalue problem for λ:
λ m(ξ) = a(ξ), where m is the symbol of the left-hand side, 1 unless an equation is implicit.

* If the real part of λ grows without bound with |ξ|, short waves explode at once: backward diffusion, a fourth-order
  term of the wrong sign. Such a problem has no solution that depends continuously on its data.
* On a side, λ is fixed with a large real part and the equations are solved for the exponents of exp(κ·distance from
  the side). Each solution that decays into the domain needs one boundary condition, no more and no less (the count of
  Kreiss): one per side for diffusion and waves, two for beams, one at an inflow and none at an outflow.

Whether a boundary law feeds the solution: layers at its side that grow, found on the linearised law.

A layer exp(λt + κ·outward distance + iξ·along the side) obeys the equations if λ is an eigenvalue of their symbol, and
a law a·u + b·u_n + c·u_t = 0, linearised at the initial data, if a + bκ + cλ = 0. Both together with κ > 0 and a large
λ is what a wrong sign does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.analysis.constraint_findings import constraint_findings
from frozenpinn.analysis.formula_scales import formula_scales
from frozenpinn.analysis.scales import can_be_scaled, scale_findings
from frozenpinn.analysis.seams import seam_findings
from frozenpinn.analysis.smoothness import roughness
from frozenpinn.analysis.symbol import USUAL, Symbol, at_initial, fastest
from frozenpinn.errors import ProblemError, warn
from frozenpinn.geometry import Box, FlatSide, Side
from frozenpinn.runtime.memo import remembered
from frozenpinn.statement.consistency import further_contradictions, inconsistencies
from frozenpinn.statement.findings import INSISTED, Finding, Findings, miscounted
from frozenpinn.statement.structure import told
from frozenpinn.statement.tables import tables_of
from frozenpinn.statement.usage import free_fields, unused_parameters

if TYPE_CHECKING:
    from frozenpinn.geometry import BoundaryPoints
    from frozenpinn.statement.conditions import LinearCondition
    from frozenpinn.statement.laws import BoundaryLaw
    from frozenpinn.statement.problem import Problem


Array = np.ndarray
_DURING = (0.03, 0.2, USUAL, 0.55, 0.75, 0.97)  # parts of the time at which conditions are counted if coefficients vary
FED = 20.0  #: growth exp(20) of a layer at a side
_THICKNESSES = np.geomspace(1e-1, 1e3, 161)  # of layers that are tried: one over this part of the domain


def examine(problem: Problem) -> Findings:
    """Collect everything that can be said against a problem, without raising or warning."""
    return Findings((*inconsistencies(problem), *_further(problem)))


def check_well_posed(problem: Problem, without: Sequence[str] = ()) -> Findings:
    """Raise for equations whose short waves explode and for wrong numbers of conditions, warn about everything else.

    What contradicts itself in the statement has been warned about when the problem was stated. Refusals that a user
    does ``without`` are warnings. All findings are returned.
    """
    found = _further(problem)
    for finding in found:
        if finding.severity == "error" and INSISTED.get(finding.kind) not in without:
            raise ProblemError(finding.text)
        if finding.severity != "note":
            warn(finding.text)
    return Findings((*inconsistencies(problem), *found))


@remembered
def _further(problem: Problem) -> tuple[Finding, ...]:
    tables = tuple(Finding("data", "note", f"{what} is {t.describe()}.") for what, t in tables_of(problem))
    about = (*tables, *constraint_findings(problem), *unused_parameters(problem), *free_fields(problem))
    if problem.is_static:
        from frozenpinn.analysis.ellipticity import static_findings

        return (*static_findings(problem), *seam_findings(problem), *about)
    found = [*_symbol_findings(problem)]
    if any(problem.domain.periodic):
        found += seam_findings(problem)
    found += [*further_contradictions(problem), *roughness(problem)]
    found += [*(Finding("structure", "note", text) for text in told(problem)), *about]
    return (*found, *scale_findings(problem)) if can_be_scaled(problem) else tuple(found)


def _symbol_findings(problem: Problem) -> list[Finding]:
    if "multiplier" in problem.determined.values():  # waves say nothing about the conditions that a pressure needs
        return []
    symbol = Symbol(problem)
    conditions = [_judge_conditions(problem, symbol, side) for side in problem.domain.sides]
    feeding = [_judge_feeding(problem, symbol, condition) for condition in problem.conditions]
    feeding += [judge_law(problem, symbol, law) for law in problem.laws]
    growth = _judge_growth(problem, Symbol(problem, centred=True))
    return [finding for finding in (growth, *conditions, *feeding) if finding is not None]


def _judge_growth(problem: Problem, symbol: Symbol) -> Finding | None:
    """Compare the growth of waves of two lengths in several directions, at several points."""
    wave_numbers = (1e2, 1e3)  # in units of one over the size of the domain
    rng = np.random.default_rng(0)
    domain, duration = problem.domain, problem.time[1] - problem.time[0]
    spots = [*(_Spot(x, USUAL, duration) for x in domain.sample(5, "random", rng).x), *_narrow_spots(problem)]
    directions = [*np.eye(domain.dimension)[:3], *rng.normal(size=(2, domain.dimension))]
    waves = 1j * np.stack([d / np.linalg.norm(d) / domain.lengths for d in directions])
    exponents = np.multiply.outer(wave_numbers, waves)
    # in other coordinates operators are symmetric with a weight, which adds lower derivatives
    least = 1e-6 if problem.frame is None else 0.1
    seen: list[list[float]] = []
    for x, share, lasts in spots:
        coefficients = symbol.coefficients(x, share)
        if coefficients in seen or not np.all(np.isfinite(coefficients)):
            continue
        seen.append(coefficients)
        rates = symbol.rates(coefficients, exponents)
        slow, fast = fastest(rates, -np.inf)
        speed = np.fmax.reduce(np.abs(rates[1]), axis=-1, initial=0.0)
        explodes = (fast > 2 * np.maximum(slow, 0.0)) & (fast > least * speed) & (fast * lasts > 50)
        if np.any(explodes):
            return _explosion(symbol, x, share, float(fast[explodes][0]), wave_numbers[1])
    return None


class _Spot(NamedTuple):
    """A place, a part of the time, and for how long coefficients are about what they are there and then."""

    x: Array
    share: float
    lasts: float


def _narrow_spots(problem: Problem) -> list[_Spot]:
    """Return where and when coefficients have narrow features, which random places miss."""
    n_cells = 9  # that hold a narrow feature, at which coefficients are evaluated
    start, end = problem.time
    found = []
    for feature in (f for f in formula_scales(problem).features if f.lasting):
        cells = np.unique(np.linspace(0, len(feature.low) - 1, n_cells).astype(int))
        for low, high in zip(feature.low[cells], feature.high[cells], strict=True):
            middle = (low + high) / 2
            if np.all(problem.domain.contains(middle[None, :-1])):
                lasts = float(high[-1] - low[-1]) if feature.narrow[-1] else end - start
                found.append(_Spot(middle[:-1], float(middle[-1] - start) / (end - start), lasts))
    return found


@remembered
def growth_bound(problem: Problem) -> float | None:
    """Return the growth rate of the fastest plane wave, with coefficients frozen at many points; None if not known.

    Solutions of linear problems grow at most about so fast, unless a boundary condition feeds them.
    """
    if "multiplier" in problem.determined.values():
        return None
    symbol = Symbol(problem)
    if not symbol.complete or symbol.frozen or problem.laws or any(map(_feeds, problem.conditions)):
        return None
    rng = np.random.default_rng(1)
    domain = problem.domain
    directions = [*np.eye(domain.dimension)[:3], *rng.normal(size=(3, domain.dimension))]
    waves = 1j * np.stack([d / np.linalg.norm(d) / domain.lengths for d in directions])
    exponents = np.multiply.outer((0.0, 1.0, 3.0, 10.0, 30.0, 100.0), waves)
    worst, seen = 0.0, list[list[float]]()
    for x in domain.sample(20, "random", rng).x:
        coefficients = symbol.coefficients(x)
        if not np.all(np.isfinite(coefficients)):
            return None
        if coefficients not in seen:
            seen.append(coefficients)
            worst = max(worst, float(np.max(fastest(symbol.rates(coefficients, exponents), 0.0))))
    return worst


def _feeds(condition: LinearCondition) -> bool:
    """Whether a condition is none of u = g, u_n = g: others, such as u_n = u, can make solutions grow."""
    return len({jet.order for jet in condition.jets}) > 1 or len(condition.fields) > 1


def _explosion(symbol: Symbol, x: Array, share: float, rate: float, scale: float) -> Finding:
    place, (start, end) = ", ".join(f"{c:g}" for c in x), symbol.problem.time
    when = f" and t = {start + share * (end - start):.6g}" if symbol.varies else ""
    text = (
        f"the problem is ill posed at x = ({place}){when}: waves {scale:g} times shorter than the domain grow like "
        f"exp({rate:.3g}·t), and shorter ones faster. Check the sign of the highest derivative: "
        "'u_t = u_xx', 'u_t = -u_xxxx', 'u_tt = u_xx' and 'u_tt = -u_xxxx' are well posed. If the data are those at "
        "the end T of the time, replace t by T - t."
    )
    # only the linearisation at the initial data: the user may know better
    return Finding("ill-posed", "warning" if symbol.frozen else "error", text)


def _judge_conditions(problem: Problem, symbol: Symbol, side: Side) -> Finding | None:
    """Count the solutions that decay into the domain from one side and compare with the conditions there."""
    if not symbol.complete:
        return None
    given = [c.side for c in problem.conditions].count(side) + [law.side for law in problem.laws].count(side)
    found = [_needed(problem, symbol, side, share) for share in (_DURING if symbol.varies else (USUAL,))]
    needs = set().union(*found)
    if not needs or needs == {given}:
        return None
    if len(needs) > 1 and all(len(counts) <= 1 for counts in found):
        return _changing(side, given, needs)
    if len(needs) > 1:  # in- and outflow on one curved side
        text = (
            f"side '{side.name}' has {given} condition(s), but the equations need {min(needs)} on one part of it and "
            f"{max(needs)} on another (inflow and outflow?). Divide it: domain.with_sides(inflow='x < 0')."
        )
        return Finding("conditions", "warning", text)
    (needed,) = needs
    many = "too many: the solution has a layer there, or none exists"
    what = many if given > needed else "too few: the solution is not unique"
    is_certain = not symbol.frozen and (len(problem.fields) == 1 or problem.domain.dimension == 1)
    return miscounted(f"side '{side.name}' has", given, needed, what, problem, is_certain)


def _needed(problem: Problem, symbol: Symbol, side: Side, share: float) -> set[int]:
    """Return the numbers of conditions that points of a side need at one time; empty if they can't be determined."""
    needs: set[int] = set()
    for x, normal in _places(problem, side):
        coefficients = symbol.coefficients(x, share)
        if not np.all(np.isfinite(coefficients)) or _degenerates(symbol, coefficients, normal):
            return set()
        count = _decaying(problem, symbol, coefficients, normal)
        if count is not None:
            needs.add(count)
    return needs


def _changing(side: Side, given: int, needs: set[int]) -> Finding:
    """Return what is to be said where an inflow becomes an outflow, or the other way round."""
    text = (
        f"side '{side.name}' has {given} condition(s), but the equations need {min(needs)} at some times and "
        f"{max(needs)} at others (inflow that becomes outflow?). "
    )
    if given < max(needs):
        more = f"Give {max(needs)}: too few leave the solution undetermined while something enters there."
        return Finding("conditions", "warning", text + more)
    if given > max(needs):
        return Finding("conditions", "warning", text + f"Give {max(needs)} at most: more contradict each other.")
    more = "While it needs fewer, they must agree with what arrives there, or a layer appears."
    return Finding("conditions", "note", text + more)


def _judge_feeding(problem: Problem, symbol: Symbol, condition: LinearCondition) -> Finding | None:
    """Look for a mode exp(λt + κ·outward distance) that a condition a u + b u_n = g of the wrong sign lets grow."""
    if not symbol.complete or len(condition.fields) > 1 or {jet.order for jet in condition.jets} != {0, 1}:
        return None
    points = problem.domain.sample_side(condition.side, 3, "random", 0)
    value, slope = np.zeros(len(points.x)), np.zeros(len(points.x))
    for jet, coefficient in condition.terms_at(points):
        if jet.order == 0:
            value = value + coefficient
        else:
            slope = slope + coefficient * points.normals[:, int(np.argmax(jet.alpha))]
    duration = problem.time[1] - problem.time[0]
    for x, normal, a, b in zip(points.x, points.normals, value, slope, strict=True):
        coefficients = symbol.coefficients(x)
        if a * b >= 0 or not np.all(np.isfinite(coefficients)):
            continue
        rate = float(fastest(symbol.rates(coefficients, -a / b * normal), 0.0))
        if rate * duration > FED:
            text = (
                f"the condition '{condition.text}' on side '{condition.side.name}' feeds the solution: a layer of "
                f"thickness {abs(b / a):.2g} there grows like exp({rate:.3g}·t). Value and outward slope have opposite "
                "signs; was 'u + c*u_n = …' with a positive c meant?"
            )
            return Finding("conditions", "warning", text)
    return None


def _places(problem: Problem, side: Side) -> list[tuple[Array, Array]]:
    """Return points of a side with their outward normals: the middle of a flat one, several of others."""
    domain = problem.domain
    if isinstance(domain, Box) and isinstance(side, FlatSide):
        x, normal = domain.center.copy(), np.zeros(domain.dimension)
        x[side.axis] = (domain.lower, domain.upper)[side.end][side.axis]
        normal[side.axis] = (-1.0, 1.0)[side.end]
        return [(x, normal)]
    points = domain.sample_side(side, 12, "random", 0)
    return list(zip(points.x, points.normals, strict=True))


def _degenerates(symbol: Symbol, coefficients: list[float], normal: Array) -> bool:
    """Whether a highest derivative across the side has the coefficient zero there: the count says nothing then."""
    values = iter(coefficients)
    for jets in symbol.rows:
        across = [(sum(a for a, n in zip(j.alpha, normal, strict=True) if n) + 2 * j.laps, next(values)) for j in jets]
        top = max((order for order, _ in across), default=0)
        if top and any(order == top and value == 0 for order, value in across):
            return True
    return False


def _decaying(problem: Problem, symbol: Symbol, coefficients: list[float], normal: Array) -> int | None:
    """Return how many exponents κ with det(λ − symbol(κ)) = 0 point into the domain, for large λ."""
    length = float(np.abs(normal) @ problem.domain.lengths)
    order = symbol.order
    if order == 0:  # an ordinary differential equation at each point: conditions are optional
        return None
    counts = []
    for scale in (30.0, 60.0):  # exponents of this size, in units of one over the length
        kappa = scale / length
        axis = -kappa * normal
        here = symbol.rates(coefficients, axis)
        # terms may cancel at this very exponent: their sizes, not their sum, then give the rate
        sizes = symbol.rates([abs(c) for c in coefficients], np.abs(axis))
        rate = max(_largest(here), 1e-3 * _largest(sizes)) or 1.0
        roots = _roots(symbol, coefficients, axis, rate, order)
        if roots is None:
            return None
        still = int(np.count_nonzero(roots == 0))  # where the left-hand side vanishes, as in lap(u_t) = …
        if still % 2:
            return None
        counts.append(int(np.count_nonzero(roots.real < 0)) + still // 2)  # these decay inwards; half of the zeros do
    return counts[0] if counts[0] == counts[1] else None


def _largest(rates: Array) -> float:
    """Return the largest eigenvalue, which does not depend on the units of the fields."""
    return float(np.fmax.reduce(np.abs(rates), initial=0.0))


def _roots(symbol: Symbol, coefficients: list[float], axis: Array, rate: float, order: int) -> Array | None:
    """Return the exponents (in units of the scale) by interpolating the determinant on a circle."""
    degree = order * len(symbol.matrix(coefficients, axis))
    nodes = np.exp(2j * np.pi * np.arange(degree + 1) / (degree + 1))
    there = np.multiply.outer(nodes, axis)
    values = np.linalg.det(symbol.mass(coefficients, there) - symbol.matrix(coefficients, there) / rate)
    polynomial = np.fft.fft(values) / (degree + 1)  # ascending powers
    polynomial[np.abs(polynomial) < 1e-10 * np.max(np.abs(polynomial))] = 0.0
    if not np.any(polynomial):
        return None
    roots = np.roots(np.trim_zeros(polynomial, "b")[::-1])
    return None if np.any(np.abs(roots.real) < 1e-6 * np.abs(roots)) else roots


# ---- boundary laws --------------------------------------------------------------------------------


def judge_law(problem: Problem, symbol: Symbol, law: BoundaryLaw) -> Finding | None:
    """Look for a layer that a law of the wrong sign lets grow."""
    if not symbol.complete or len(law.fields) > 1:
        return None
    points = problem.domain.sample_side(law.side, 3, "random", 0)
    slopes = _linearised(problem, law, points)
    if slopes is None:
        return None
    if problem.equation(law.fields[0]).order == 2 and np.any(slopes[1] * slopes[2] < 0):
        text = (
            f"the condition '{law.text}' on side '{law.side.name}' feeds the solution: waves come back from there "
            "larger than they went. Is the sign of u_n right? 'u_t + c*u_n = 0' with a positive c absorbs them."
        )
        return Finding("conditions", "warning", text)
    duration = problem.time[1] - problem.time[0]
    for i, (x, normal) in enumerate(zip(points.x, points.normals, strict=True)):
        coefficients = symbol.coefficients(x)
        a, b, c = (float(part[i]) for part in slopes)
        if not np.all(np.isfinite([*coefficients, a, b, c])):
            continue
        rate, kappa = _fastest(problem, symbol, coefficients, normal, (a, b, c))
        if rate * duration > FED:
            text = (
                f"the condition '{law.text}' on side '{law.side.name}' feeds the solution: a layer of thickness "
                f"{1.0 / kappa:.2g} there grows like exp({rate:.3g}·t). Is the sign of u_n right? What leaves the "
                "domain lowers u there: 'u_n = -h*u', 'u_t + c*u_n = 0' and 'u_t = -u_n' are dissipative."
            )
            return Finding("conditions", "warning", text)
    return None


def _linearised(problem: Problem, law: BoundaryLaw, points: BoundaryPoints) -> tuple[Array, Array, Array] | None:
    """Return the coefficients of value, outward slope and time derivative at the initial data; None for others."""
    initial = {name: datum.expression for name, datum in problem.initial.items()}
    velocity = {name: datum.expression for name, datum in problem.initial_velocity.items()}
    parts = [np.zeros(len(points.x)) for _ in range(3)]
    for jet in law.jets_in():
        slope = sp.diff(law.residual, law.jets.symbol(jet))
        value = at_initial(slope, problem, initial, velocity)
        if value is None or jet.order > 1 or (jet.order and jet.time) or jet.time > 1:
            return None
        with np.errstate(all="ignore"):
            found = law.compile([value], ())(*points.x.T, *points.normals.T, problem.time[0])[0]
        factor = points.normals[:, int(np.argmax(jet.alpha))] if jet.order else 1.0
        parts[2 if jet.time else jet.order] += found * factor
    return parts[0], parts[1], parts[2]


def _fastest(
    problem: Problem, symbol: Symbol, coefficients: list[float], normal: Array, law: tuple[float, float, float]
) -> tuple[float, float]:
    """Return the largest growth rate of a layer, and its κ; (0, 1) if there is none."""
    waves_along = (0.0, 30.0)  # waves along the side, in units of one over the size of the domain
    a, b, c = law
    length, best = float(np.abs(normal) @ problem.domain.lengths), (0.0, 1.0)
    along = np.linalg.svd(normal[None])[2][-1] if len(normal) > 1 else np.zeros(1)
    for xi in waves_along if len(normal) > 1 else (0.0,):
        kappas = _THICKNESSES / length
        exponents = np.multiply.outer(kappas, normal) + 1j * xi / problem.domain.size * along
        rates = fastest(symbol.rates(coefficients, exponents), -np.inf)
        gaps = a + b * kappas + c * rates
        for i in np.flatnonzero(np.sign(gaps[:-1]) * np.sign(gaps[1:]) < 0):
            if np.isfinite(rates[i]) and rates[i] > best[0]:
                best = (float(rates[i]), float(kappas[i]))
    return best
