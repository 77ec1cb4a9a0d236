"""Which equations have a stable form on patches, and what they are made of: a classifier of terms.

An equation is accepted if it reads −div(A(x) ∇u) + N(x, u, ∇u) = 0 for each field, A being positive: second derivatives
with coefficients in x alone, and anything of first order or none. Second derivatives are integrated by parts, what A
varies by goes to the first ones; those are linearised for Newton's method. Whatever else there is, is refused by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Value = Array | float
ZERO = sp.Integer(0)


Matrix = tuple[tuple[Value, Value], tuple[Value, Value]]


class Flux(NamedTuple):
    """A condition that prescribes a slope: −n·A∇u = robin·u − sliding·∇u − data, with a tangential part if it must."""

    robin: Array
    sliding: Array
    data: Array


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
    """

    problem: Problem
    signs: tuple[float, ...]
    diffusion: dict[tuple[int, int], Program]
    lower: tuple[Slopes, ...]
    conditions: dict[tuple[str, str], LinearCondition]

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
        return cls(problem, signs, diffusion, lower, conditions)

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
                a, b, c = (self.signs[i] * np.asarray(value, dtype=float) for value in program(*x.T, 0.0))
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
            value = sign * np.asarray(slopes.value(*x.T, 0.0, *jets)[0], dtype=float)
            partials = [sign * np.asarray(p, dtype=float) for p in slopes.partials(*x.T, 0.0, *jets)]
        load = sum((p * own for p, own in zip(partials, jets, strict=True)), -value)
        return dict(zip(slopes.jets, partials, strict=True)), load

    def dirichlet(self, side: str, field: str, points: BoundaryPoints) -> Array | None:
        """Return the value that is prescribed; None where a slope is."""
        condition = self.conditions[side, field]
        if any(jet.order for jet in condition.jets):
            return None
        factor = condition.coefficients_at(points)[0]
        return np.broadcast_to(condition.value(points.x, 0.0), len(points.x)) / factor

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
        data = np.broadcast_to(condition.value(points.x, 0.0), len(points.x))
        return Flux(ratio * value, normal_flux - ratio[:, None] * slope, ratio * data)


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
    if problem.laws:
        return f"the condition '{problem.laws[0].text}' on '{problem.laws[0].side.name}' is not linear"
    for name in problem.fields:
        for side in problem.domain.sides:
            own = [c for c in problem.conditions if c.side.name == side.name and name in c.fields]
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
        if not any(jet.order == 2 and jet.field == equation.field for jet in jets.values()):
            return f"the equation of {equation.field} has no second derivatives of {equation.field}"
        for symbol, jet in jets.items():
            factor = sp.diff(equation.right_side, symbol)
            if jet.order == 2 and problem.jets.jets_in(factor):
                return f"the factor {factor} of {symbol} depends on the solution"
    return None


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
    """Return 1 if A is positive everywhere, −1 if it is negative; refuse what changes its type."""
    with np.errstate(all="ignore"):
        a, b, c, *_ = (np.broadcast_to(v, len(x)) for v in diffusion[i, i](*x.T, 0.0))
    middle, radius = 0.5 * (a + c), np.hypot(0.5 * (a - c), b)
    for sign in (1.0, -1.0):
        if np.all(sign * middle > radius):
            return sign
    raise ProblemError(
        f"patches can't solve this problem: the second derivatives of {problem.fields[i]} are not elliptic everywhere. "
        "Leave basis=Patches() out."
    )
