"""Which equations have a stable form on patches, and what they are made of: a classifier of terms.

An equation is accepted if it reads −div(A(x) ∇u) + N(x, u, ∇u) = 0 for each field, A being positive: second derivatives
with coefficients in x alone, and anything of first order or none. Second derivatives are integrated by parts, what A
varies by goes to the first ones; those are linearised for Newton's method. Whatever else there is, is refused by name.

In time, u_t or u_tt stands on the right in place of 0, N may depend on t, and A may vanish if N is linear in ∇u.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.assembly.collocation import Slopes
from frozenpinn.errors import ExpressionError, ProblemError
from frozenpinn.geometry import BoundaryPoints
from frozenpinn.language.calculus import resolve_function_derivatives
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Program
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Value = Array | float
ZERO = sp.Integer(0)


Matrix = tuple[tuple[Value, Value], tuple[Value, Value]]


class Flux(NamedTuple):
    """A condition that prescribes a slope: −n·A∇u = robin·u − sliding·∇u − ratio·data, sliding being along the wall."""

    robin: Array
    sliding: Array
    ratio: Array


class Parts(NamedTuple):
    """An equation in time: linear terms with coefficients in x, sources in x and t, and what else there is.

    Attributes
    ----------
    constant
        The second derivatives, and linear terms of lower order with coefficients in x.
    sources
        What no field stands in, one value for each equation.
    is_driven
        Whether sources depend on time.
    rest
        What else there is, without second derivatives; None if there is nothing.
    """

    constant: HybridForm
    sources: Program
    is_driven: bool
    rest: HybridForm | None


@dataclass(frozen=True, eq=False)
class HybridForm:
    """A problem in the form that patches solve.

    Attributes
    ----------
    problem
        The problem.
    signs
        1 for each equation whose second derivatives are +A∇²u with a positive A, −1 for others.
    diffusion
        Programs for the entries of A, by equation and field.
    lower
        The rest of each equation, with its derivatives by all jets.
    conditions
        The condition of each field on each side.
    rests
        The rest of each equation as a formula.
    t
        The time that formulas are evaluated at.
    """

    problem: Problem
    signs: tuple[float, ...]
    diffusion: dict[tuple[int, int], Program]
    lower: tuple[Slopes, ...]
    conditions: dict[tuple[str, str], LinearCondition]
    rests: tuple[sp.Expr, ...]
    t: float = 0.0

    @classmethod
    def of(cls, problem: Problem) -> HybridForm:
        """Classify the terms of a problem; refuse what no stable form on patches is known for."""
        if (reason := _unsuited(problem)) is not None:
            raise ProblemError(f"patches can't solve this problem: {reason}. Leave basis=Patches() out.")
        split = [_split(problem, name) for name in problem.fields]
        x = problem.domain.sample(64, "sobol", 0).x
        diffusion = {
            (i, problem.fields.index(name)): problem.compile(entries)
            for i, (second, _) in enumerate(split)
            for name, entries in second.items()
        }
        signs = tuple(_sign(problem, i, diffusion, x) for i in range(len(problem.fields)))
        lower = tuple(_slopes(problem, rest) for _, rest in split)
        conditions = {(c.side.name, c.fields[0]): c for c in problem.conditions}
        return cls(problem, signs, diffusion, lower, conditions, tuple(rest for _, rest in split), problem.time[0])

    def at(self, t: float) -> HybridForm:
        """Return the same form at another time."""
        return replace(self, t=t)

    @cached_property
    def parts(self) -> Parts:
        """What a system in time keeps, and the rest."""
        kept, sources, others = list[sp.Expr](), list[sp.Expr](), list[sp.Expr]()
        jets, t = self.problem.jets, self.problem.jets.t
        for rest in self.rests:
            parts: list[list[sp.Expr]] = [[], [], []]
            for term in sp.Add.make_args(sp.expand(rest)):
                own = jets.jets_in(term)
                factors = [sp.diff(term, symbol) for symbol in own]
                is_fixed = len(own) == 1 and not (jets.jets_in(factors[0]) or t in factors[0].free_symbols)
                parts[1 if not own else 0 if is_fixed else 2].append(term)
            for table, terms in zip((kept, sources, others), parts, strict=True):
                table.append(sp.Add(*terms))
        linear = tuple(_slopes(self.problem, rest) for rest in kept)
        changing = any(t in source.free_symbols for source in sources)
        program = self.problem.compile(sources)
        constant = replace(self, lower=linear, rests=tuple(kept))
        if not any(others):
            return Parts(constant, program, changing, None)
        lower = tuple(_slopes(self.problem, rest) for rest in others)
        return Parts(constant, program, changing, replace(self, diffusion={}, lower=lower, rests=tuple(others)))

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields."""
        return self.problem.fields

    @property
    def is_linear(self) -> bool:
        """Whether one linear system solves it."""
        return self.problem.is_linear

    def diffusions(self, x: Array) -> dict[tuple[int, int], Matrix]:
        """Return A at points (n, 2) by equation and field: numbers where it is constant."""
        found: dict[tuple[int, int], Matrix] = {}
        for (i, k), program in self.diffusion.items():
            with np.errstate(all="ignore"):
                a, b, c = (self.signs[i] * np.asarray(value, dtype=float) for value in program(*x.T, self.t))
            found[i, k] = ((a, b), (b, c))
        return found

    @cached_property
    def transports(self) -> bool:
        """Whether there are first derivatives."""
        return any(jet.order == 1 for slopes in self.lower for jet in slopes.jets)

    def reactions(self, i: int, x: Array, jets: Sequence[Array]) -> tuple[dict[Jet, Value], Value]:
        """Return the derivatives of N by its jets, and what a step of Newton's method has on its right-hand side."""
        slopes, sign = self.lower[i], -self.signs[i]
        with np.errstate(all="ignore"):
            value = sign * np.asarray(slopes.value(*x.T, self.t, *jets)[0], dtype=float)
            partials = [sign * np.asarray(p, dtype=float) for p in slopes.partials(*x.T, self.t, *jets)]
        load = sum((p * own for p, own in zip(partials, jets, strict=True)), -value)
        return dict(zip(slopes.jets, partials, strict=True)), load

    def residual(self, i: int, x: Array, jets: Sequence[Array]) -> Array:
        """Return N at places, of a function with given jets."""
        with np.errstate(all="ignore"):
            value = np.asarray(self.lower[i].value(*x.T, self.t, *jets)[0], dtype=float)
        return np.broadcast_to(-self.signs[i] * value, len(x))

    def prescribes(self, side: str, field: str) -> bool:
        """Whether a value is prescribed on a side, and not a slope or nothing."""
        condition = self.conditions.get((side, field))
        return condition is not None and not any(jet.order for jet in condition.jets)

    def given(self, side: str, field: str, points: BoundaryPoints) -> Array:
        """Return the data of a condition: the value itself where one is prescribed."""
        condition = self.conditions[side, field]
        data = np.broadcast_to(condition.value(points.x, self.t), len(points.x))
        return data / condition.coefficients_at(points)[0] if self.prescribes(side, field) else data

    def flux(self, side: str, field: str, points: BoundaryPoints, normal_flux: Array) -> Flux:
        """Return what a condition says of n·A∇u, of which ``normal_flux`` is nᵀA, shape (n, 2)."""
        condition, n = self.conditions[side, field], points.normals
        slope, value = np.zeros_like(points.x), np.zeros(len(points.x))
        for jet, coefficient in zip(condition.jets, condition.coefficients_at(points), strict=True):
            if jet.order:
                slope[:, jet.alpha.index(1)] += coefficient
            else:
                value = value + coefficient
        across = np.sum(slope * n, axis=1)
        ratio = np.sum(normal_flux * n, axis=1) / across
        return Flux(ratio * value, normal_flux - ratio[:, None] * slope, ratio)


def _unsuited(problem: Problem) -> str | None:
    """Return why patches can't solve a problem, as far as that is seen without its coefficients."""
    if problem.domain.dimension != 2:
        return f"they are made for two dimensions, and it has {problem.domain.dimension}"
    if (reason := _unsuited_terms(problem)) is not None:
        return reason
    if problem.interfaces is not None:
        return "coefficients or sources jump, and patches are not cut there yet"
    if problem.points:
        return "it has point sources"
    if problem.constraints and not problem.is_static:
        return f"the constraint '{problem.constraints[0].text}' holds in time"
    if problem.laws:
        return f"the condition '{problem.laws[0].text}' on '{problem.laws[0].side.name}' is not linear"
    for name in problem.fields:
        for side in problem.domain.sides:
            own = [c for c in problem.conditions if c.side.name == side.name and name in c.fields]
            if not own and not _diffuses(problem, name):
                continue  # what is only carried along needs values where it comes in
            if len(own) != 1:
                return f"{name} has {len(own) or 'no'} condition{'s' * (len(own) != 1)} on '{side.name}', and needs one"
            if own[0].fields != (name,) or any(jet.order > 1 for jet in own[0].jets):
                return (
                    f"the condition '{own[0].text}' on '{side.name}' is not one of a value or a slope of {name} alone"
                )
    return None


def _unsuited_terms(problem: Problem) -> str | None:
    for equation in problem.equations:
        jets = problem.jets.jets_in(equation.right_side)
        nonlocal_ = [jet.field for jet in jets.values() if jet.field in problem.jets.quantities]
        if nonlocal_:
            return f"the equation of {equation.field} has the nonlocal term '{nonlocal_[0]}'"
        high = [name for name, jet in jets.items() if jet.order > 2]
        if high:
            return f"no stable form is known for the term with {high[0]} in the equation of {equation.field}"
        if (reason := _unsuited_in_time(problem, equation)) is not None:
            return reason
        second = [jet.field for jet in jets.values() if jet.order == 2]
        if equation.field not in second and (problem.is_static or second):
            return f"the equation of {equation.field} has no second derivatives of {equation.field}"
        for symbol, jet in jets.items():
            factor = sp.diff(equation.right_side, symbol)
            if jet.order == 2 and problem.jets.jets_in(factor):
                return f"the factor {factor} of {symbol} depends on the solution"
            if jet.order == 2 and problem.jets.t in factor.free_symbols:
                return f"the factor {factor} of {symbol} depends on time"
            if jet.order == 1 and not second and problem.jets.jets_in(factor):
                return (
                    f"{equation.field} is carried along by '{factor}', which depends on the solution, and diffuses not"
                )
    return None


def _unsuited_in_time(problem: Problem, equation: Equation) -> str | None:
    """Return why an equation can't evolve on patches, as far as its order in time says."""
    if problem.is_static:
        return None
    if equation.order not in (1, 2) or len({e.order for e in problem.equations}) > 1:
        return "all equations must be of first order in time, or all of second"
    if equation.mass:
        return f"the left-hand side of the equation of {equation.field} is not a time derivative alone"
    rates = [name for name, jet in problem.jets.jets_in(equation.right_side).items() if jet.time]
    if rates:
        return f"the equation of {equation.field} has the term with {rates[0]}"
    if equation.order == 2 and not _diffuses(problem, equation.field):
        return f"the equation of {equation.field} has no second derivatives of {equation.field}"
    return None


def _diffuses(problem: Problem, field: str) -> bool:
    """Whether an equation has second derivatives of its own field."""
    jets = problem.jets.jets_in(problem.equation(field).right_side).values()
    return any(jet.order == 2 and jet.field == field for jet in jets)


def _split(problem: Problem, field: str) -> tuple[dict[str, list[sp.Expr]], sp.Expr]:
    """Split an equation into div(A ∇u), as the entries of A by field, and the rest."""
    right = problem.equation(field).right_side
    scope, jets = problem.parameters.scope(problem.jets), problem.jets
    entries: dict[str, list[sp.Expr]] = {}
    for symbol, jet in jets.jets_in(right).items():
        if jet.order < 2:
            continue
        factor = sp.diff(right, symbol)
        own = entries.setdefault(jet.field, [ZERO] * 3)
        if jet.laps:
            own[0], own[2] = own[0] + factor, own[2] + factor
        elif jet.alpha == (1, 1):
            own[1] += factor / 2
        else:
            own[2 * jet.alpha[1] // 2] += factor

    def unknown(text: str) -> ExpressionError:
        return ExpressionError(f"patches must differentiate the coefficients of second derivatives: {text}")

    x, y = jets.x
    rest = right.xreplace({symbol: ZERO for symbol, jet in jets.jets_in(right).items() if jet.order == 2})
    for name, (a, b, c) in entries.items():
        for axis, pair in enumerate(((a, b), (b, c))):
            spread = resolve_function_derivatives(sp.diff(pair[0], x) + sp.diff(pair[1], y), scope, unknown)
            rest = _without(rest, jets.symbol(Jet(name, (1 - axis, axis))), spread)
    return entries, rest


def _without(rest: sp.Expr, slope: sp.Symbol, spread: sp.Expr) -> sp.Expr:
    """Subtract a multiple of a slope; where it cancels what is there, nothing of either is left.

    Nothing is expanded: the square in the exponent of a narrow peak would become factors that overflow.
    """
    factor = sp.diff(rest, slope)
    cancels = spread != 0 and sp.expand(factor - spread) == 0
    return rest.xreplace({slope: ZERO}) if cancels else rest - spread * slope


def _slopes(problem: Problem, rest: sp.Expr) -> Slopes:
    jets = tuple(problem.jets.jets_in(rest).values())
    partials = [sp.diff(rest, problem.jets.symbol(jet)) for jet in jets]
    return Slopes(jets, problem.compile([rest], jets), problem.compile(partials, jets))


def _sign(problem: Problem, i: int, diffusion: dict[tuple[int, int], Program], x: Array) -> float:
    """Return 1 if A is positive everywhere, −1 if it is negative; refuse what changes its type, or runs backwards."""
    if (i, i) not in diffusion:
        return 1.0
    with np.errstate(all="ignore"):
        a, b, c, *_ = (np.broadcast_to(v, len(x)) for v in diffusion[i, i](*x.T, 0.0))
    middle, radius = 0.5 * (a + c), np.hypot(0.5 * (a - c), b)
    for sign in (1.0, -1.0) if problem.is_static else (1.0,):
        if np.all(sign * middle > radius):
            return sign
    raise ProblemError(
        f"patches can't solve this problem: the second derivatives of {problem.fields[i]} are not elliptic everywhere. "
        "Leave basis=Patches() out."
    )
