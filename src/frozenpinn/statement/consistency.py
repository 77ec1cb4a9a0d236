"""Do the data of a problem agree with each other? Initial, boundary and exact ones, each with the size of the gap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from frozenpinn.errors import FrozenPinnError, ProblemError, silenced
from frozenpinn.geometry import BoundaryPoints, Box, FlatSide
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Program
from frozenpinn.language.quantities import FRACTIONAL, Quantity
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.round_off import ROUND_OFF
from frozenpinn.statement.findings import SLIGHT, UNDERFLOW, Finding
from frozenpinn.statement.fronts import fronts_of

if TYPE_CHECKING:
    from frozenpinn.statement.conditions import LinearCondition
    from frozenpinn.statement.data import Datum
    from frozenpinn.statement.equation import Equation
    from frozenpinn.statement.laws import BoundaryLaw
    from frozenpinn.statement.problem import Problem


Array = np.ndarray
_CONTRADICTS = 1e-8  # relative to the size of the terms of a condition
_WRONG = 1e-6  # relative to the size of an exact solution, which may be written with few digits
_MISSED = 1e-5  # relative to the size of an exact solution at boundaries, where data of an infinite domain are cut off


@remembered
def inconsistencies(problem: Problem) -> tuple[Finding, ...]:
    """Return where initial data contradict the boundary data, and what an exact solution violates."""
    if problem.is_static:
        return tuple(wrong_solution(problem)) if problem.exact else ()
    found = [finding for c in problem.conditions if (finding := _against_initial(problem, c)) is not None]
    texts = (_against_law(problem, law) for law in problem.laws)
    found += [Finding("contradiction", "warning", text) for text in texts if text]
    return (*found, *wrong_solution(problem)) if problem.exact else tuple(found)


def further_contradictions(problem: Problem) -> list[Finding]:
    """Return where initial velocities contradict the boundary data, or the data of two sides each other.

    These are looked for before a solve, not when a problem is stated: they need derivatives.
    """
    texts = [_against_velocity(problem, condition) for condition in problem.conditions]
    return [Finding("contradiction", "warning", text) for text in [*texts, *_at_corners(problem)] if text]


# ---- initial against boundary data ----------------------------------------------------------------


def slight_contradictions(problem: Problem, tol: float | None) -> list[Finding]:
    """Return the contradictions that were too small to warn of when a problem was stated, and are not for a solve."""
    if problem.parameters.inferred:
        return []
    return [finding for finding in inconsistencies(problem) if (tol or 0.0) < finding.size <= SLIGHT]


def _against_initial(problem: Problem, condition: LinearCondition) -> Finding | None:
    if any(name not in problem.initial for name in condition.fields):  # determined without initial data
        return None
    points, start = _on_side(problem, condition), problem.time[0]
    gap = _gap(problem, condition, points, problem.initial, start, condition.value.soon(points.x, problem.time))
    if not gap > 0:
        return None
    what = (
        f"the initial data contradict the condition '{condition.text}' on side '{condition.side.name}' "
        f"by {gap:.3g} at t = {start:g}"
    )
    x, terms = (
        problem.domain.sample(40, "random", 0).x,
        zip(condition.jets, condition.coefficients_at(points), strict=True),
    )
    scale = max(  # how much the terms vary: tolerances are relative to that
        float(np.max(np.abs(c)) * np.ptp(problem.initial[jet.field](x, start))) / problem.domain.size**jet.order
        for jet, c in terms
    )
    fronts = fronts_of(problem)
    if fronts is not None and (condition.fields[0], condition.side.name) in fronts.sides:
        text = f"{what}; the layer that spreads from there is known in closed form, and split off."
    else:
        text = (
            f"{what}; the solution has a layer there that limits the accuracy. Change one of them, or let the boundary "
            "data grow smoothly from the initial value."
        )
    return Finding("contradiction", "warning", text, gap / scale if gap < scale else 1.0)


def _against_law(problem: Problem, law: BoundaryLaw) -> str | None:
    """Compare initial data with a law, unless it contains a time derivative without initial data."""
    points, start = problem.domain.sample_side(law.side, 25, "random", 0), problem.time[0]
    values = []
    for jet in law.jets_in():
        data = problem.initial_velocity if jet.time else problem.initial
        if jet.time > 1 or jet.field not in data:
            return None
        values.append(_values(problem, data[jet.field], replace(jet, time=0), points.x, start))
    if any(value is None for value in values):
        return None
    known = [value for value in values if value is not None]
    gap = float(np.max(np.abs(law.values(points, start, known))))
    fields = [problem.initial_velocity if jet.time else problem.initial for jet in law.jets_in()]
    sizes = [
        _size(problem, data[jet.field], start) / problem.domain.size**jet.order
        for jet, data in zip(law.jets_in(), fields, strict=True)
    ]
    terms = [law.compile([term], law.jets_in()) for term in sp.Add.make_args(law.residual)]
    with np.errstate(all="ignore"):
        sizes += [np.max(np.abs(p(*points.x.T, *points.normals.T, start, *known)[0])) for p in terms]
    if not gap > _MISSED * float(np.nanmax(sizes)):
        return None
    return (
        f"the initial data contradict the condition '{law.text}' on side '{law.side.name}' by {gap:.3g} at "
        f"t = {start:g}; the solution has a layer there that limits the accuracy. Change one of them."
    )


def _against_velocity(problem: Problem, condition: LinearCondition) -> str | None:
    """Compare the initial velocity with the time derivative of boundary data, for equations of second order."""
    if not all(name in problem.initial_velocity for name in condition.fields):
        return None
    points, start = _on_side(problem, condition), problem.time[0]
    try:
        with silenced():  # a jump in time has a text of its own
            rate = condition.value.time_derivative(1, points.x, start, problem.time)
    except FrozenPinnError:
        return None
    gap = _gap(problem, condition, points, problem.initial_velocity, start, rate, _MISSED)
    if not gap > 0 or gap <= _MISSED * _data_size(condition, points, problem.time) / (problem.time[1] - start):
        return None  # derivatives of Python functions in time are differences
    return (
        f"the initial velocity contradicts the time derivative of the condition '{condition.text}' on side "
        f"'{condition.side.name}' by {gap:.3g} at t = {start:g}; a kink runs into the domain from there and limits the "
        "accuracy. Give the initial velocity that the boundary data have, or let these start gently, like t**2."
    )


def _data_size(condition: LinearCondition, points: BoundaryPoints, time: tuple[float, float]) -> float:
    """Return the size of boundary data on a whole side in the course of time."""
    return max(float(np.max(np.abs(condition.value(points.x, float(t))))) for t in np.linspace(*time, 5))


def _on_side(problem: Problem, condition: LinearCondition) -> BoundaryPoints:
    domain = problem.domain
    method = "uniform" if domain.dimension < 4 and isinstance(domain, Box) else "random"
    return domain.sample_side(condition.side, 25, method, 0)


def _gap(
    problem: Problem,
    condition: LinearCondition,
    points: BoundaryPoints,
    data: Mapping[str, Datum],
    t: float,
    wanted: Array,
    tolerance: float = _CONTRADICTS,
) -> float:
    """Return how far data miss a condition; 0 within the tolerance, or if a derivative of them is not known."""
    total = -wanted
    scale = float(np.max(np.abs(total)))
    coefficients = condition.coefficients_at(points)
    for jet, coefficient in zip(condition.jets, coefficients, strict=True):
        value = _values(problem, data[jet.field], jet, points.x, t)
        if value is None:
            return 0.0
        if not np.all(np.isfinite(value)):
            return float("inf")
        total = total + coefficient * value
        scale = max(scale, float(np.max(np.abs(coefficient * value))))
    gap = float(np.max(np.abs(total)))
    if gap <= max(tolerance * scale, UNDERFLOW):
        return 0.0
    for jet, coefficient in zip(condition.jets, coefficients, strict=True):  # what may cancel, in the user's units
        typical = _size(problem, data[jet.field], t) / problem.domain.size**jet.order
        scale = max(scale, float(np.max(np.abs(coefficient))) * typical)
    start, end = problem.time
    later = [condition.value(points.x, start + share * (end - start)) for share in (0.5, 1.0)]  # may begin at zero
    largest = max(float(np.max(np.abs(values))) for values in later)
    if not any(jet.order for jet in condition.jets):
        largest = max(largest, *(data[jet.field].size_of_terms(points.x, t) for jet in condition.jets))
    return gap if gap > tolerance * scale and not gap <= ROUND_OFF * largest else 0.0


def _values(problem: Problem, datum: Datum, jet: Jet, x: Array, t: float) -> Array | None:
    """Return a derivative of a datum; None if it is that of an unknown Python function."""
    if jet.order == 0 and jet.time == 0:
        return datum(x, t)
    derivative = datum.derivative(jet)
    if derivative is None:
        return None
    with np.errstate(all="ignore"):
        return np.broadcast_to(problem.compile([derivative])(*x.T, t)[0], len(x))


def _size(problem: Problem, datum: Datum, *times: float) -> float:
    """Return the largest value of a datum at some points of the domain."""
    x = problem.domain.sample(40, "random", 0).x
    return max(float(np.max(np.abs(datum(x, t)))) for t in times)


# ---- boundary data against each other --------------------------------------------------------------


def _at_corners(problem: Problem) -> list[str]:
    """Compare prescribed values where two sides of a box meet."""
    domain, (start, end) = problem.domain, problem.time
    if not isinstance(domain, Box) or not 1 < domain.dimension < 4:
        return []
    given = [c for c in problem.conditions if len(c.jets) == 1 and c.jets[0].order == 0]
    found = []
    for one, other in combinations(given, 2):
        a, b = one.side, other.side
        if one.fields != other.fields or not isinstance(a, FlatSide) or not isinstance(b, FlatSide):
            continue
        if a.axis == b.axis or (one.value.expression is not None and one.value.expression == other.value.expression):
            continue
        x = _shared_edge(domain, a, b)
        times = (start, start + 0.37 * (end - start), end)
        gaps = np.stack([np.abs(_prescribed(one, x, t) - _prescribed(other, x, t)) for t in times])
        worst, (when, where) = float(np.max(gaps)), np.unravel_index(np.argmax(gaps), gaps.shape)
        if worst > UNDERFLOW and worst > _CONTRADICTS * _common_size(problem, one, other):
            found.append(
                f"the conditions '{one.text}' on side '{a.name}' and '{other.text}' on side '{b.name}' contradict each "
                f"other by {worst:.3g} where the sides meet, at {_place(problem, x[where], times[when])}; the solution "
                "jumps there, and errors of that size must be expected nearby. Let the data of one side pass smoothly "
                "into the other's."
            )
    return found


def _common_size(problem: Problem, *conditions: LinearCondition) -> float:
    """Return the size of a field according to its data on some sides and at the start."""
    datum = problem.initial.get(conditions[0].fields[0])
    sizes = [0.0 if datum is None else _size(problem, datum, problem.time[0])]
    for condition in conditions:
        points = _on_side(problem, condition)
        factor = float(np.max(np.abs(condition.coefficients_at(points)[0])))
        sizes.append(_data_size(condition, points, problem.time) / factor)
    return max(sizes)


def _shared_edge(domain: Box, a: FlatSide, b: FlatSide) -> Array:
    """Return points of the edge between two sides: one in the plane, nine in space."""
    ends = (domain.lower, domain.upper)
    x = domain.lower + np.linspace(0.0, 1.0, 9 if domain.dimension == 3 else 1)[:, None] * domain.lengths
    for side in (a, b):
        x[:, side.axis] = ends[side.end][side.axis]
    return x


def _prescribed(condition: LinearCondition, x: Array, t: float) -> Array:
    points = BoundaryPoints(x, np.zeros_like(x), np.ones(len(x)), condition.side)
    return condition.value(x, t) / condition.coefficients_at(points)[0]


def _place(problem: Problem, x: Array, t: float) -> str:
    when = "" if problem.is_static else f", t = {t:.4g}"
    return f"x = ({', '.join(f'{c:.4g}' for c in x)}){when}"


# ---- exact solutions -------------------------------------------------------------------------------


def wrong_solution(problem: Problem) -> list[Finding]:
    """Return what an exact solution violates: initial data, equations (if it is symbolic), boundary conditions."""
    rng = np.random.default_rng(0)
    x = problem.domain.sample(40, "random", rng).x
    t = rng.uniform(*problem.time, 40)
    found = [*_exact_against_initial(problem, x), *_exact_against_equations(problem, x, t)]
    found += _exact_against_conditions(problem)
    return [Finding("exact", "warning", f"the exact solution {text}") for text in found]


def _exact_against_initial(problem: Problem, x: Array) -> list[str]:
    found, (start, end) = [], problem.time
    for name, datum in problem.exact.items():
        for order, data in enumerate((problem.initial, problem.initial_velocity)):
            values = _values(problem, datum, replace(problem.jets.field(name), time=order), x, start)
            if name not in data or values is None:
                continue
            gap, where = _relative(values, data[name](x, start), 0.0)
            if not gap <= _WRONG:  # perhaps round-off of a solution that is larger later on, which may take a while
                size = _size(problem, datum, start, end) / (end - start) ** order
                gap, where = _relative(values, data[name](x, start), size)
            if not gap <= _WRONG:
                what = ("value", "velocity")[order]
                found.append(
                    f"differs from the initial {what} of '{name}' by {gap:.3g} of its size, most at "
                    f"{_place(problem, x[where], start)}. Check the source term and the signs."
                )
    return found


def _exact_against_equations(problem: Problem, x: Array, t: Array) -> list[str]:
    found = []
    for equation in problem.equations:
        sides = _sides(problem, equation)
        if sides is None:
            continue
        with np.errstate(all="ignore"):
            left, right = (np.broadcast_to(v, len(x)) for v in problem.compile(sides[:2])(*x.T, t))
            terms = problem.compile([*sp.Add.make_args(sides[1]), *sides[2:]])(*x.T, t)
            largest = max(float(np.max(np.abs(v))) for v in terms)
            gap, where = _relative(left, right, 0.0 if equation.order else largest)
            if gap > _WRONG and equation.order:  # perhaps nothing but the round-off of terms that cancel
                gap, where = _relative(left, right, largest)
            if not equation.order and gap:  # a static equation has nothing on its left-hand side
                gap = float(np.abs(right[where])) / (largest or 1.0)
        if not gap <= _WRONG:
            found.append(
                f"does not satisfy the equation of '{equation.field}': the relative residual is {gap:.3g}, largest at "
                f"{_place(problem, x[where], float(t[where]))}. Check the source term and the signs."
            )
    return found


def _sides(problem: Problem, equation: Equation) -> list[sp.Expr] | None:
    """Return ∂ₜᵐu (zero if static) and the right-hand side for the exact solution; None if a derivative is unknown.

    The linear terms follow: in a static equation they cancel, and what is left of them is round-off.
    """
    jets = problem.jets
    left_side = equation.left_side(jets)
    needed = {**{jets.symbol(jet): jet for jet in left_side}, **jets.jets_in(equation.right_side)}
    if any(jet.field not in problem.exact for jet in needed.values()):  # integrals, and pressures that are not given
        return None
    table = {symbol: problem.exact[jet.field].derivative(jet) for symbol, jet in needed.items()}
    if any(value is None for value in table.values()):
        return None
    left = sp.Add(*(c * table[jets.symbol(jet)] for jet, c in left_side.items()))
    linear = [] if equation.order else [c * table[jets.symbol(jet)] for jet, c in equation.linear.items()]
    return [left, equation.right_side.xreplace(table), *linear]


def _exact_against_laws(problem: Problem, t: float) -> list[str]:
    """Return which laws an exact solution misses at one time; those with unknown derivatives are skipped."""
    found = []
    for law in problem.laws:
        points = problem.domain.sample_side(law.side, 25, "random", 0)
        own = [(jet, problem.exact.get(jet.field)) for jet in law.jets_in()]
        values = [None if d is None else _values(problem, d, jet, points.x, t) for jet, d in own]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            continue
        gap = float(np.max(np.abs(law.values(points, t, known))))
        if not gap <= _MISSED * max(1e-300, *(float(np.max(np.abs(v))) for v in known)):
            found.append(f"misses the condition '{law.text}' on side '{law.side.name}' by {gap:.3g} at t = {t:.4g}")
    return found


def _exact_against_conditions(problem: Problem) -> list[str]:
    found, (start, end) = [], problem.time
    times = (start + 0.37 * (end - start), end)
    found += _exact_against_laws(problem, times[0])
    for condition in (c for c in problem.conditions if set(c.fields) <= set(problem.exact)):
        points = _on_side(problem, condition)
        wanted = [condition.value(points.x, t) for t in times]
        gaps = [_gap(problem, condition, points, problem.exact, t, w) for t, w in zip(times, wanted, strict=True)]
        if not any(gaps):
            continue
        worst = int(np.argmax(gaps))
        scale = max(float(np.max(np.abs(w))) for w in wanted)
        for jet, coefficient in zip(condition.jets, condition.coefficients_at(points), strict=True):
            size = _size(problem, problem.exact[jet.field], start, *times) / problem.domain.size**jet.order
            scale = max(scale, float(np.max(np.abs(coefficient))) * size)
        if not gaps[worst] <= _MISSED * scale:
            when = "" if problem.is_static else f" at t = {times[worst]:.4g}"
            found.append(
                f"misses the condition '{condition.text}' on side '{condition.side.name}' by {gaps[worst]:.3g}"
                f"{when}. Check the boundary data and the sign of the normal derivative, which points "
                "outwards."
            )
    return found


def _relative(a: Array, b: Array, size: float) -> tuple[float, int]:
    """Return the largest difference relative to the larger of two sets of values, and where; 0 for round-off."""
    difference = np.abs(a - b)
    where = int(np.argmax(difference))
    largest = max(float(np.max(np.abs(a))), float(np.max(np.abs(b))))
    if difference[where] <= max(ROUND_OFF * max(size, largest), UNDERFLOW):
        return 0.0, where
    return float(difference[where]) / (largest or 1.0), where


# ---- nonlocal quantities --------------------------------------------------------------------------


def check_quantities(problem: Problem) -> None:
    """Refuse quantities that mean nothing on this domain."""
    found = {
        jet.field: quantity
        for equation in problem.equations
        for jet, quantity in problem.jets.quantities_in(equation.right_side).items()
    }
    for quantity in found.values():
        _check(problem, quantity)
    for equation in problem.equations:
        if any(problem.jets.symbol(jet) in c.free_symbols for jet, c in equation.mass.items()):
            raise ProblemError(f"a nonlocal term can't stand on the left of '{equation}'.")


def refuse_quantities(problem: Problem, what: str) -> None:
    """Say that something works without nonlocal terms only."""
    for equation in problem.equations:
        for quantity in problem.jets.quantities_in(equation.right_side).values():
            raise ProblemError(f"{what} is for equations without nonlocal terms; '{quantity.name}' is one.")


def _check(problem: Problem, quantity: Quantity) -> None:
    small = 1e-6  # of a kernel half a period away, as a part of its largest value
    domain = problem.domain
    if quantity.kind == FRACTIONAL and (not isinstance(domain, Box) or not all(domain.periodic)):
        raise ProblemError(
            f"'{quantity.name}' needs a domain that is periodic along all axes, such as Interval(0, 1, periodic=True): "
            "a fractional Laplacian acts over all of space."
        )
    if quantity.kind == FRACTIONAL or quantity.is_constant or not isinstance(domain, Box):
        return
    program = Program([quantity.kernel], [*problem.jets.x, *quantity.variables], problem.parameters.functions)
    for axis in np.flatnonzero(domain.periodic):
        around = np.repeat(domain.center[None], 201, axis=0)
        around[:, axis] += np.linspace(-0.5, 0.5, 201) * domain.lengths[axis]
        beyond = around.copy()
        beyond[:, axis] += domain.lengths[axis]
        with np.errstate(all="ignore"):
            here, there = (np.broadcast_to(program(*domain.center, *x.T)[0], len(x)) for x in (around, beyond))
        size = float(np.max(np.abs(here))) if np.all(np.isfinite(here)) else np.inf
        ends = float(max(abs(here[0]), abs(here[-1])))
        if not (ends <= small * size or np.max(np.abs(here - there)) <= small * size):
            raise ProblemError(
                f"the kernel of '{quantity.name}' does not decay: half a period away along "
                f"'{domain.coordinates[axis]}' it is still {ends:.3g}, of {size:.3g} at most, and it does not have the "
                f"period {domain.lengths[axis]:g}. Use a narrower kernel, a periodic one, or a longer domain."
            )
