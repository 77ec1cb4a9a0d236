"""Linear constraints C u = g and their multipliers, as div U = 0 and the pressure.

A field p is the multiplier of a constraint with constant coefficients if it enters the equations of the constrained
fields by the adjoint of C, and nothing else: of all rates (of a static problem, forces) that keep the constraint, the
ones nearest to the equations' do not depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError
from frozenpinn.geometry import FlatSide
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.runtime.memo import remembered
from frozenpinn.statement.composites import Composites
from frozenpinn.statement.equation import Equation, rows_of, split_right_side

if TYPE_CHECKING:
    from frozenpinn.statement.conditions import LinearCondition
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
Polynomial: TypeAlias = Mapping[tuple[int, ...], float]  #: coefficients of derivatives, by their orders along the axes


@dataclass(frozen=True, eq=False)
class LinearConstraint:
    """Σ C_f(∂) u_f = given, which the fields f keep; their equations contain factor·C_f*(∂) p, with the multiplier p.

    Attributes
    ----------
    multiplier
        The field p.
    terms
        C_f, by field.
    given
        What the sum is to be, a function of the coordinates and time.
    factor
        Of the multiplier in all equations.
    conditions
        Those of the multiplier alone, as a given pressure.
    """

    multiplier: str
    terms: Mapping[str, Polynomial]
    given: sp.Expr
    factor: float
    conditions: tuple[LinearCondition, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that keep it."""
        return tuple(self.terms)

    @property
    def is_gradient(self) -> bool:
        """Whether each field is differentiated once along an axis of its own, as in a divergence."""
        found = [alpha for own in self.terms.values() for alpha in own]
        return len(found) == len(set(found)) == len(self.terms) and all(sum(alpha) == 1 for alpha in found)

    @property
    def is_homogeneous(self) -> bool:
        """Whether all derivatives in it are of the same order, and nothing is given."""
        return self.given == 0 and len({sum(alpha) for own in self.terms.values() for alpha in own}) == 1

    def jets(self) -> list[tuple[Jet, float]]:
        """Return its terms as jets with coefficients."""
        return [(Jet(name, alpha), c) for name, own in self.terms.items() for alpha, c in own.items()]

    def written(self, jets: JetSpace) -> sp.Expr:
        """Return C u − g."""
        return sp.Add(*(sp.Float(c) * jets.symbol(jet) for jet, c in self.jets()), -self.given)

    def text(self, jets: JetSpace) -> str:
        """Return C u − g as a text."""
        return str(self.written(jets)).replace("1.0*", "")

    def adjoint(self, field: str) -> Polynomial:
        """Return C_f*, what acts on the multiplier in the equation of a field, without the factor."""
        return adjoint(self.terms[field])

    def symbol(self, waves: Array) -> Array:
        """Return C(w) for wave vectors in rows, shape (waves, fields): what C makes of σ(w·x), up to σ⁽ᵏ⁾."""
        columns = np.zeros((len(waves), len(self.terms)))
        for k, own in enumerate(self.terms.values()):
            for alpha, c in own.items():
                columns[:, k] += c * np.prod(waves**alpha, axis=1)
        return columns


class Saddle(NamedTuple):
    """The constraints of a problem, and the equations of its other fields without the multipliers."""

    constraints: tuple[LinearConstraint, ...]
    equations: tuple[Equation, ...]


def adjoint(terms: Polynomial) -> Polynomial:
    """Return the adjoint of an operator with constant coefficients.

    >>> adjoint({(1, 0): 2.0, (2, 0): 3.0})
    {(1, 0): -2.0, (2, 0): 3.0}
    """
    return {alpha: (-1.0) ** sum(alpha) * c for alpha, c in terms.items()}


@remembered
def saddle(problem: Problem) -> Saddle | None:
    """Return the constraints of a problem with their multipliers; None if there are none."""
    equations, found = list(problem.equations), list[LinearConstraint]()
    while (step := _split_off(problem, equations, [c.multiplier for c in found])) is not None:
        constraint, equations = step
        found.append(constraint)
    if not found:
        return None
    gone = {c.multiplier for c in found}
    by_field = {e.field: e for e in equations}
    return Saddle(tuple(found), tuple(by_field[name] for name in problem.fields if name not in gone))


def multipliers(problem: Problem) -> tuple[str, ...]:
    """Return the names of the multipliers."""
    found = saddle(problem)
    return () if found is None else tuple(c.multiplier for c in found.constraints)


def _split_off(
    problem: Problem, equations: Sequence[Equation], gone: Sequence[str]
) -> tuple[LinearConstraint, list[Equation]] | None:
    """Find one more multiplier with its constraint; return it and the other equations without it."""
    static = problem.is_static
    for name in (e.field for e in problem.equations if not e.order and e.field not in gone):
        for row in equations:
            if row.order or (not static and row.field != name):
                continue
            terms = _constraint_terms(problem, row, name)
            others = [e for e in equations if e is not row]
            matched = None if terms is None else _matched(problem, terms, others, name, gone)
            if terms is not None and matched is not None:
                factor, changed = matched
                constraint = LinearConstraint(name, terms, -row.forcing, factor)
                if not static or (constraint.is_gradient and len(terms) > 1):  # Δu = w, Δw = f have the same form
                    return constraint, changed
    return None


def _constraint_terms(
    problem: Problem, row: Equation, multiplier: str
) -> dict[str, dict[tuple[int, ...], float]] | None:
    """Return C of an equation C u = g with constant coefficients, without the multiplier; None of others."""
    if not row.is_linear or row.linear_in_time or row.nonlocal_linear or row.mass or not row.linear:
        return None
    terms: dict[str, dict[tuple[int, ...], float]] = {}
    for jet, coefficient in row.linear.items():
        if jet.field == multiplier or jet.time or not coefficient.is_number:
            return None
        _add(terms.setdefault(jet.field, {}), jet, float(coefficient))
    differentiated = all(any(sum(alpha) for alpha in own) for own in terms.values())
    return {name: terms[name] for name in problem.fields if name in terms} if differentiated else None


def _add(polynomial: dict[tuple[int, ...], float], jet: Jet, coefficient: float) -> None:
    """Add a derivative, Laplacians by their parts."""
    if not jet.laps:
        polynomial[jet.alpha] = polynomial.get(jet.alpha, 0.0) + coefficient
        return
    for axis in range(len(jet.alpha)):
        alpha = tuple(a + 2 * (i == axis) for i, a in enumerate(jet.alpha))
        _add(polynomial, replace(jet, alpha=alpha, laps=jet.laps - 1), coefficient)


def _matched(
    problem: Problem,
    terms: Mapping[str, Polynomial],
    equations: Sequence[Equation],
    multiplier: str,
    gone: Sequence[str],
) -> tuple[float, list[Equation]] | None:
    """Give each constrained field the equation into which the multiplier enters by its part of the adjoint."""
    first: float | None = None
    result, others, left = list[Equation](), list[Equation](), set(terms)
    for equation in equations:
        own = _multiplier_terms(problem, equation, multiplier)
        if own is None:
            return None
        if not own:
            others.append(equation)
            continue
        fitting = [name for name in left if _ratio(own, adjoint(terms[name])) is not None]
        if not problem.is_static:
            fitting = [name for name in fitting if name == equation.field]
        if len(fitting) != 1:
            return None
        factor = _ratio(own, adjoint(terms[fitting[0]]))
        assert factor is not None
        first = factor if first is None else first
        if not problem.is_static and (abs(factor - first) > 1e-12 * abs(first) or not equation.order):
            return None
        left.discard(fitting[0])
        result.append(_without(problem, equation, multiplier, fitting[0], first / factor))
    if left or first is None:
        return None
    fields = [name for name in problem.fields if name not in (*terms, multiplier, *gone)]
    if problem.is_static and others:  # there, names of equations say little
        if len(fields) != len(others):
            return None
        others = [
            replace(others[row], field=name)
            for row, name in zip(rows_of([e.right_side for e in others], fields, problem.jets), fields, strict=True)
        ]
    return first, [*result, *others]


def _multiplier_terms(problem: Problem, equation: Equation, multiplier: str) -> Polynomial | None:
    """Return the operator on the multiplier in an equation; None if it enters in any other way."""
    jets, own = problem.jets, dict[tuple[int, ...], float]()
    elsewhere = [*equation.linear_in_time.items(), *equation.mass.items(), *equation.nonlocal_linear.items()]
    if any(jet.field == multiplier for jet in jets.jets_in(equation.nonlinear).values()):
        return None
    if any(jet.field == multiplier for jet, _ in elsewhere):
        return None
    for jet, coefficient in equation.linear.items():
        if jet.field == multiplier:
            if not coefficient.is_number:
                return None
            _add(own, jet, float(coefficient))
    return own


def _ratio(one: Polynomial, other: Polynomial) -> float | None:
    """Return the number with one = number·other, if there is one."""
    if set(one) != set(other):
        return None
    ratios = [one[alpha] / other[alpha] for alpha in one]
    return ratios[0] if np.ptp(ratios) <= 1e-12 * abs(ratios[0]) else None


def _without(problem: Problem, equation: Equation, multiplier: str, field: str, scale: float) -> Equation:
    """Return the equation of a field without the multiplier, times a number."""
    jets = problem.jets
    gone = {s: sp.Integer(0) for s, jet in jets.jets_in(equation.right_side).items() if jet.field == multiplier}
    right = equation.right_side.xreplace(gone)
    right = right if scale == 1.0 else sp.Float(scale) * right
    return replace(split_right_side(field, equation.order, right, jets), mass=equation.mass)


def _with_conditions(constraint: LinearConstraint, problem: Problem) -> LinearConstraint:
    """Return a constraint with the conditions of its multiplier."""
    own = tuple(c for c in problem.conditions if c.fields == (constraint.multiplier,))
    return replace(constraint, conditions=own)


def _driven(equation: Equation, kept: Sequence[LinearConstraint], problem: Problem) -> Equation:
    """Return the equation of a field with what given values of a multiplier add to it, as a pressure at both ends."""
    jets, right = problem.jets, equation.right_side
    for constraint in kept:
        if equation.field in constraint.terms and (given := _extended(constraint, problem)) != 0:
            own = constraint.adjoint(equation.field)
            added = [c * jets.differentiate(given, Jet(constraint.multiplier, alpha)) for alpha, c in own.items()]
            right += sp.Float(constraint.factor) * sp.Add(*added)
    if right is equation.right_side:
        return equation
    return replace(split_right_side(equation.field, equation.order, right, jets), mass=equation.mass)


def _extended(constraint: LinearConstraint, problem: Problem) -> sp.Expr:
    """Return a function with the values that conditions give to a multiplier, linear from one side to the other."""
    ends: dict[int, sp.Expr] = {}
    axis = None
    for condition in (c for c in constraint.conditions if not c.value.is_zero):
        side, value, (coefficient, *others) = condition.side, condition.value.expression, condition.coefficients
        along = {c.side.axis for c in constraint.conditions if isinstance(c.side, FlatSide)}
        plain = not others and condition.jets[0].order == 0 and coefficient.is_number and len(along) == 1
        if not isinstance(side, FlatSide) or value is None or value.free_symbols & set(problem.jets.x) or not plain:
            raise ProblemError(
                f"'{condition.text}' on '{side.name}' gives '{constraint.multiplier}' values that change along it, "
                "or on sides of several directions; it can be a number or a function of t on sides of one direction, "
                "such as 'p = 1' on the left and 'p = 0' on the right."
            )
        axis, ends[side.end] = side.axis, value / coefficient
    if axis is None:
        return sp.Integer(0)
    low, length = sp.Float(float(problem.domain.lower[axis])), sp.Float(float(problem.domain.lengths[axis]))
    s = (problem.jets.x[axis] - low) / length
    if {c.side.end for c in constraint.conditions if isinstance(c.side, FlatSide)} != {0, 1}:
        return next(iter(ends.values()))
    return ends.get(0, sp.Integer(0)) * (1 - s) + ends.get(1, sp.Integer(0)) * s


def without_multipliers(problem: Problem) -> Problem:
    """Return the problem of the fields that keep the constraints, without multipliers; itself if there are none."""
    found = saddle(problem)
    if found is None:
        return problem
    gone = {c.multiplier for c in found.constraints}
    fields = tuple(name for name in problem.fields if name not in gone)
    kept = tuple(_with_conditions(c, problem) for c in found.constraints)
    inner = problem.replaced(
        fields=fields,
        composites=Composites(fields),
        equations=tuple(_driven(e, kept, problem) for e in found.equations),
        conditions=tuple(c for c in problem.conditions if not gone & set(c.fields)),
        laws=tuple(law for law in problem.laws if not gone & set(law.fields)),
        initial={name: datum for name, datum in problem.initial.items() if name not in gone},
        constraints=tuple(c for c in problem.constraints if c.field not in gone),
        kept=kept,
        exact={},
        given={},
    )
    return inner.replaced(groups=inner.coupled_fields())
