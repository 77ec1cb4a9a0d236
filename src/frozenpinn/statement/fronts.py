"""Fronts that spread from jumps: parts of a solution that are known beforehand, so that the rest is smooth.

Diffusion turns a step of the initial value into (1 + erf z)/2 with z = (x − a − c·τ)/√(4Dτ), and a contradiction
between initial value and boundary value into erfc z. Both satisfy e_t = D e_xx − c e_x, so that almost nothing of them
is left in the equation for what remains. Transport alone carries a step along. In a static problem in the plane, a
value that jumps along a side is that of an angle, whose Laplacian is zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.errors import ProblemError
from frozenpinn.geometry import Box, FlatSide
from frozenpinn.language.algebra import expanded
from frozenpinn.language.jets import Jet
from frozenpinn.language.steps import at_first, in_steps, jumps_in_time
from frozenpinn.runtime.memo import remembered
from frozenpinn.statement.data import Datum
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.points import caused_by

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem

_MOST = 24  # fronts
_BENT = (sp.Heaviside, sp.sign, sp.Abs, sp.Max, sp.Min, sp.Piecewise)  # values or slopes of which jump


class Front(NamedTuple):
    """A function of one coordinate and time; ``kind`` is "step", "low" or "high" (which side it comes from).

    It sets out at the time ``since``, and vanishes before. Where its diffusion differs along other coordinates, it is a
    function of these, too.
    """

    function: AppliedUndef
    axis: int
    place: float
    diffusion: sp.Expr
    speed: float
    kind: str
    since: float


class _Pace(NamedTuple):
    """How a front spreads: its diffusion, the largest value of it, and the speed with which it is carried."""

    diffusion: sp.Expr
    fastest: float
    speed: float


@dataclass(frozen=True, eq=False)
class Fronts:
    """The known part of each field, in terms of fronts, and the initial value of the rest.

    Attributes
    ----------
    fronts
        The functions.
    parts
        The known part of each field.
    initial
        What is left of the initial value.
    sides
        Conditions, by field and name of the side, that no longer contradict the initial value.
    points
        What point sources cause: functions, each with its formula and the diffusion.
    potentials
        Those among them of which D Δ is another one.
    """

    fronts: tuple[Front, ...]
    parts: Mapping[str, sp.Expr]
    initial: Mapping[str, sp.Expr]
    sides: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    points: Mapping[sp.Expr, tuple[sp.Expr, float]] = field(default_factory=dict)
    potentials: Mapping[sp.Expr, sp.Expr] = field(default_factory=dict)

    def remaining_data(self, problem: Problem) -> dict[str, Datum]:
        """Return what is left of the initial values of all fields."""
        scope, functions = problem.parameters.scope(problem.jets), problem.parameters.functions
        return {
            name: Datum(self.initial[name], scope, functions, datum.what) if name in self.initial else datum
            for name, datum in problem.initial.items()
        }


@remembered
def fronts_of(problem: Problem) -> Fronts | None:
    """Find the fronts of a problem on a box; None if there are none, or if it is not known how they spread.

    Reactions may be nonlinear: they have little time to act where a front is steep.
    """
    found = None
    if isinstance(problem.domain, Box) and not _has_materials(problem) and _spreads_linearly(problem):
        found = _standing(problem) if problem.is_static else _spreading(problem)
    if not problem.points:
        return found if found is not None and _can_be_subtracted(problem, found) else None
    found = _with_points(problem, Fronts((), {}, {}) if found is None else found)
    if not _can_be_subtracted(problem, found):
        raise ProblemError(
            "a point source needs conditions that are written as text or numbers: on the sides of a box, or values on "
            "other boundaries; and no constraint, no interface and no integral of the unknown."
        )
    return found


def _spreads_linearly(problem: Problem) -> bool:
    """Whether derivatives in space and time stand in linear terms only."""
    jets = [jet for e in problem.equations for jet in problem.jets.jets_in(e.nonlinear).values()]
    return problem.is_linear or not (problem.is_static or any(jet.order or jet.time for jet in jets))


def _has_materials(problem: Problem) -> bool:
    """Whether fluxes jump, which known parts have to cross."""
    return problem.interfaces is not None and problem.interfaces.material


def _can_be_subtracted(problem: Problem, fronts: Fronts) -> bool:
    """Whether equations and conditions of what remains can be written down."""
    if problem.laws or problem.constraints or _has_materials(problem):
        return False
    jets = [jet for e in problem.equations for jet in problem.jets.jets_in(e.right_side).values()]
    if any(jet.field in problem.jets.quantities for jet in jets):
        return False
    for condition in problem.conditions:
        if not any(name in fronts.parts for name in condition.fields):
            continue
        simple = all(jet.order == 0 for jet in condition.jets) or isinstance(condition.side, FlatSide)
        if condition.value.expression is None or not simple:
            return False
    return True


def _with_points(problem: Problem, fronts: Fronts) -> Fronts:
    """Return the fronts with what point sources cause."""
    jets, points, parts = problem.jets, dict[sp.Expr, tuple[sp.Expr, float]](), dict(fronts.parts)
    initial, potentials, start = dict(fronts.initial), dict[sp.Expr, sp.Expr](), sp.Float(problem.time[0])
    for source in problem.points:
        datum = problem.initial.get(source.field)
        if datum is not None and datum.expression is not None:
            initial.setdefault(source.field, datum.expression)
        for part in caused_by(source, problem):
            if part.potential and source.field not in initial:  # that of a Python function
                continue
            place = jets.x if part.since is None else (*jets.x, jets.t)
            function = sp.Function(f"point{len(points)}", real=True)(*place)
            if part.potential:
                potentials[function] = list(points)[-1]
                initial[source.field] -= part.amplitude.xreplace({jets.t: start}) * part.formula
            points[function] = (part.formula, part.diffusion)
            parts[source.field] = parts.get(source.field, sp.Integer(0)) + part.amplitude * function
    return replace(fronts, parts=parts, initial=initial, points=points, potentials=potentials)


def _standing(problem: Problem) -> Fronts | None:
    """Find what static problems have of values that jump along sides."""
    parts = angles(problem)
    return Fronts((), parts, {}) if parts else None


def _spreading(problem: Problem) -> Fronts | None:
    """Find steps of initial values and contradictions at sides, and what becomes of them."""
    finder = _Finder(problem)
    for equation in problem.equations:
        datum = problem.initial.get(equation.field)
        if equation.order == 1 and not equation.mass and datum is not None and datum.expression is not None:
            finder.look_at(equation, datum.expression)
    if not finder.fronts or len(finder.fronts) > _MOST:
        return None
    return Fronts(tuple(finder.fronts), finder.parts, finder.initial, frozenset(finder.sides))


class _Finder:
    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.fronts: list[Front] = []
        self.parts: dict[str, sp.Expr] = {}
        self.initial: dict[str, sp.Expr] = {}
        self.sides: set[tuple[str, str]] = set()

    def look_at(self, equation: Equation, start: sp.Expr) -> None:
        """Find the fronts of one field."""
        before, spread = len(self.fronts), dict[sp.Expr, sp.Expr]()
        steps, rest = self._steps(equation, start, spread)
        edges = self._edges(equation, in_steps(start) if spread else start, spread) + self._switches(equation)
        if len(self.fronts) > before:
            self.parts[equation.field], self.initial[equation.field] = steps + edges, rest

    # ---- steps of the initial value -----------------------------------------------------------------

    def _steps(self, equation: Equation, start: sp.Expr, spread: dict[sp.Expr, sp.Expr]) -> tuple[sp.Expr, sp.Expr]:
        """Return the part of the initial value that spreads from steps, and what is left; ``spread`` is filled."""
        zero = sp.Integer(0)
        if not start.has(sp.Heaviside, sp.sign, sp.Piecewise):
            return zero, start
        written = in_steps(start)
        steps = sorted(written.atoms(sp.Heaviside), key=str)
        if not steps or len(steps) > _MOST:
            return zero, start
        found: dict[sp.Expr, tuple[int, float, int]] = {}
        for step in steps:
            place = crossed_plane(self.problem, step.args[0])
            if place is None:
                return zero, start
            found[step] = place
        names = {step: sp.Dummy(real=True) for step in steps}
        polynomial = sp.Poly(expanded(written.xreplace(names)), *names.values(), domain="EX")
        if any(max(powers) > 1 for powers in polynomial.monoms()):
            return zero, start
        known, back = zero, {name: step for step, name in names.items()}
        functions: dict[sp.Expr, sp.Expr] = {}
        if not self._closes(polynomial, [found[step][0] for step in steps]):
            return zero, start
        for powers, coefficient in polynomial.terms():
            own = [step for step, power in zip(steps, powers, strict=True) if power]
            if not own:
                continue
            frozen = coefficient.as_expr().xreplace(
                {self.problem.jets.x[found[s][0]]: sp.Float(found[s][1]) for s in own}
            )
            if not self._is_smooth(frozen):
                return zero, start
            for step in own:
                if step not in functions:
                    function = self._spread(equation, *found[step])
                    if function is None:
                        return zero, start
                    functions[step] = function
            known += frozen * sp.Mul(*(names[s] for s in own))
        steady = known.xreplace(back)
        spread.update(functions)
        return known.xreplace({names[s]: f for s, f in functions.items()}), expanded(written - steady)

    def _closes(self, polynomial: sp.Poly, axes: list[int]) -> bool:
        """Whether what rises along a periodic axis falls again, so that nothing jumps where the axis closes."""
        for axis in {a for a in axes if self.problem.domain.periodic[a]}:
            own = [k for k, a in enumerate(axes) if a == axis]
            if any(sum(powers) > 1 for powers in polynomial.monoms()):
                return False
            total = sum(c.as_expr() for powers, c in polynomial.terms() if any(powers[k] for k in own))
            if expanded(sp.sympify(total)) != 0:
                return False
        return True

    def _spread(self, equation: Equation, axis: int, place: float, direction: int) -> sp.Expr | None:
        """Return what becomes of a step."""
        pace = self._pace(equation, axis, place)
        if pace is None:
            return None
        diffusion, fastest, speed = pace
        length, (start, end) = float(self.problem.domain.lengths[axis]), self.problem.time
        images = [0]
        if self.problem.domain.periodic[axis]:
            reach = 6.0 * np.sqrt(4.0 * fastest * (end - start)) + abs(speed) * (end - start)
            count = int(np.ceil(reach / length))
            if count > 3:  # periods on each side from which fronts arrive
                return None
            images = list(range(-count, count + 1))
        found = [self._new(axis, place + k * length, diffusion, speed, "step") for k in images]
        total = sp.Add(*found) - (len(images) - 1) // 2  # those from the left have passed already
        return total if direction > 0 else 1 - total

    def _pace(self, equation: Equation, axis: int, place: float) -> _Pace | None:
        """Return diffusion and speed along an axis; None without diffusion."""
        jets, domain = self.problem.jets, self.problem.domain
        middle = dict(zip(jets.x, map(float, (domain.lower + domain.upper) / 2), strict=True))
        middle[jets.x[axis]] = place
        second = Jet(equation.field, tuple(2 * (i == axis) for i in range(jets.dimension)))
        first = Jet(equation.field, tuple(int(i == axis) for i in range(jets.dimension)))
        lap = replace(jets.field(equation.field), laps=1)
        found = []
        for own in ((second, lap), (first,)):
            total = sum((equation.linear.get(jet, sp.Integer(0)) for jet in own), sp.Integer(0))
            if total.atoms(AppliedUndef) or any(jet in equation.linear_in_time for jet in own):
                return None
            found.append(total)
        there, speed = found[0].xreplace({jets.x[axis]: sp.Float(place)}), -float(found[1].subs(middle))
        if there.free_symbols:
            values = self.problem.compile([there])(*domain.sample(64, "random", 0).x.T, self.problem.time[0])[0]
            least = 1e-3 * np.max(values)  # with less diffusion along a front, its spreading is not known
            alive = bool(np.all(values > least)) and self._is_smooth(there)
            return _Pace(there, float(np.max(values)), speed) if alive else None
        diffusion = float(there)
        carried = equation.is_linear and {*equation.linear} == {first} and equation.linear[first].is_number
        known = diffusion > 0 or (diffusion == 0 and carried)
        return _Pace(sp.Float(diffusion), diffusion, speed) if known else None

    def _new(
        self, axis: int, place: float, diffusion: sp.Expr, speed: float, kind: str, since: float | None = None
    ) -> sp.Expr:
        jets, since = self.problem.jets, self.problem.time[0] if since is None else since
        along = [x for x in jets.x if x in diffusion.free_symbols]
        function = sp.Function(f"front{len(self.fronts)}", real=True)(jets.x[axis], *along, jets.t)
        self.fronts.append(Front(function, axis, place, diffusion, speed, kind, since))
        return function

    def _is_smooth(self, size: sp.Expr) -> bool:
        """Whether the size of a front has no jumps or kinks along other axes, which would spread in their own way."""
        return not any(part.free_symbols & {*self.problem.jets.x} for part in size.atoms(*_BENT))

    # ---- contradictions at the sides ------------------------------------------------------------------

    def _edges(self, equation: Equation, start: sp.Expr, spread: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
        """Return the part that spreads from sides where boundary and initial value differ; steps of it spread too."""
        gaps = list(self._gaps(equation, start))
        values = {value for _, value, _ in gaps}
        alike = len(values) == 1 and start.is_number and all(value.is_number for value in values)
        found: dict[int, list[sp.Expr]] = {}
        total = sp.Integer(0)
        for side, value, place in gaps:
            at = {self.problem.jets.x[side.axis]: sp.Float(place)}
            size = value - start.xreplace(at).xreplace(spread)
            front = self._from_side(equation, side, place) if self._is_smooth(size) else None
            if front is None:
                continue
            self.sides.add((equation.field, side.name))
            found.setdefault(side.axis, []).append(front)
            total += size * front
        if alike and len(found) > 1:  # what is left in a corner is the product of what is left along each axis
            left = sp.Mul(*(1 - sp.Add(*fronts) for fronts in found.values()))
            total = (start - gaps[0][1]) * (left - 1)
        return total

    def _from_side(
        self, equation: Equation, side: FlatSide, place: float, since: float | None = None
    ) -> sp.Expr | None:
        """Return what a side sends into the domain where its value jumps by one; None if unknown."""
        pace, kind = self._pace(equation, side.axis, place), ("low", "high")[side.end]
        if pace is None:
            return None
        diffusion, fastest, speed = pace
        if not fastest and speed * (1, -1)[side.end] <= 0:  # nothing enters
            return None
        return self._new(side.axis, place, diffusion, 0.0 if fastest else speed, kind, since)

    def _switches(self, equation: Equation) -> sp.Expr:
        """Return the part that spreads from sides whose values jump at some time."""
        jets, at_once = self.problem.jets, dict[float, list[tuple[FlatSide, sp.Expr, float]]]()
        for condition in self.problem.conditions:
            side, value = condition.side, condition.value.expression
            plain = condition.jets == (jets.field(equation.field),) and condition.coefficients[0] == 1
            if not plain or not isinstance(side, FlatSide) or value is None:
                continue
            place = float((self.problem.domain.lower, self.problem.domain.upper)[side.end][side.axis])
            for when, size in jumps_in_time(value, jets.t, self.problem.time):
                jump = size.xreplace({jets.x[side.axis]: sp.Float(place)})
                at_once.setdefault(when, []).append((side, jump, place))
        total = sp.Integer(0)
        for when, jumped in at_once.items():
            found: dict[int, list[sp.Expr]] = {}
            own = sp.Integer(0)
            for side, jump, place in jumped:
                front = self._from_side(equation, side, place, when) if self._is_smooth(jump) else None
                if front is not None:
                    found.setdefault(side.axis, []).append(front)
                    own += jump * front
            if len(found) > 1 and len({jump for _, jump, _ in jumped}) == 1 and jumped[0][1].is_number:
                own = jumped[0][1] * (1 - sp.Mul(*(1 - sp.Add(*fronts) for fronts in found.values())))
            total += own
        return total

    def _gaps(self, equation: Equation, start: sp.Expr) -> Iterator[tuple[FlatSide, sp.Expr, float]]:
        """Yield sides with a value that differs from the initial one, that value at the start, and their place."""
        problem, jets = self.problem, self.problem.jets
        value, given = jets.field(equation.field), problem.initial[equation.field].expression
        if given is None or given.atoms(AppliedUndef):  # a Python function can't be written at one place
            return
        for condition in problem.conditions:
            side = condition.side
            if condition.jets != (value,) or not isinstance(side, FlatSide) or condition.coefficients[0] != 1:
                continue
            if condition.value.expression is None or condition.value.expression.atoms(AppliedUndef):
                continue
            place = float((problem.domain.lower, problem.domain.upper)[side.end][side.axis])
            at = {jets.x[side.axis]: sp.Float(place), jets.t: sp.Float(problem.time[0])}
            wanted = at_first(condition.value.expression, jets.t, problem.time).xreplace(at)
            x = problem.domain.sample_side(side, 16, "random", 0).x
            with np.errstate(all="ignore"):
                both = problem.compile([wanted, start.xreplace(at)])(*x.T, problem.time[0])
                inside = problem.compile([given])(*problem.domain.sample(64, "random", 0).x.T, problem.time[0])
            gap, size = (
                float(np.max(np.abs(both[0] - both[1]))),
                max(float(np.max(np.abs(v))) for v in (*both, *inside)),
            )
            if np.isfinite(gap) and gap > 1e-6 * size:  # what is smaller is left to the network and its estimate
                yield side, wanted, place


# ---- values that jump along sides of a rectangle ----------------------------------------------------


def crossed_plane(problem: Problem, argument: sp.Expr) -> tuple[int, float, int] | None:
    """Return axis, place and direction of a step across one axis, inside the domain."""
    jets, domain = problem.jets, problem.domain
    own = [i for i, x in enumerate(jets.x) if x in argument.free_symbols]
    if len(own) != 1 or argument.free_symbols != {jets.x[own[0]]}:
        return None
    slope = sp.diff(argument, jets.x[own[0]])
    if not slope.is_number or slope == 0:
        return None
    place = float(-argument.xreplace({jets.x[own[0]]: sp.Integer(0)}) / slope)
    if not float(domain.lower[own[0]]) < place < float(domain.upper[own[0]]):
        return None
    return own[0], place, 1 if float(slope) > 0 else -1


def angles(problem: Problem) -> dict[str, sp.Expr]:
    """Find values that jump along the sides of a rectangle, in static problems led by a Laplacian."""
    jets, domain, parts = problem.jets, problem.domain, dict[str, sp.Expr]()
    if domain.dimension != 2:
        return parts
    for condition in problem.conditions:
        side, name = condition.side, condition.fields[0]
        second = [jet for jet in problem.equation(name).linear if jet.order == 2 and jet.field == name]
        simple = [jet for jet in second if jet.laps == 1] == second and len(second) == 1
        value = condition.value.expression
        if condition.jets != (jets.field(name),) or not isinstance(side, FlatSide) or value is None:
            continue
        if not simple or condition.coefficients[0] != 1 or not value.has(sp.Heaviside, sp.sign, sp.Piecewise):
            continue
        along = jets.x[1 - side.axis]
        place = float((domain.lower, domain.upper)[side.end][side.axis])
        inward = (jets.x[side.axis] - sp.Float(place)) * (1, -1)[side.end]
        written = in_steps(value)
        for step in sorted(written.atoms(sp.Heaviside), key=str):
            where = crossed_plane(problem, step.args[0])
            name_of = sp.Dummy(real=True)
            factor = sp.diff(written.xreplace({step: name_of}), name_of)
            if where is None or where[0] == side.axis or name_of in factor.free_symbols:
                continue
            size = factor.xreplace({along: sp.Float(where[1]), jets.x[side.axis]: sp.Float(place)})
            angle = sp.atan2(inward, (along - sp.Float(where[1])) * where[2])
            parts[name] = parts.get(name, sp.Integer(0)) + size * (1 - angle / sp.pi)
    return parts
