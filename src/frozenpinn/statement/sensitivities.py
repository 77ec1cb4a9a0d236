"""The sensitivities of an evolution as further fields of the same problem.

With u_t = F(jets of u, θ), s = ∂u/∂θ obeys s_t = Σ ∂F/∂jet · jet(s) + ∂F/∂θ, starts from ∂u₀/∂θ, and its boundary
conditions are B s = ∂g/∂θ − ∂B/∂θ u. Linear equations stay linear, and every integrator serves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import sympy as sp

from frozenpinn.language.jets import Jet
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.data import Datum
from frozenpinn.statement.equation import Equation, split_right_side
from frozenpinn.statement.problem import Problem


def sensitivity_field(field: str, name: str) -> str:
    """Return the name of ∂field/∂name; no user's name has two underscores."""
    return f"{field}__{name}"


def with_sensitivities(problem: Problem, values: Mapping[str, float], names: Sequence[str] | None = None) -> Problem:
    """Return a problem with numbers for its unknowns, and derivatives by them, or by some, as further fields."""
    numbers = {sp.Symbol(name, real=True): sp.Float(value, 17) for name, value in values.items()}
    chosen = [symbol for symbol in numbers if names is None or symbol.name in names]
    made = _Sensitivities(problem, numbers)
    other = problem.replaced(
        fields=(*problem.fields, *(sensitivity_field(f, s.name) for s in chosen for f in problem.fields)),
        equations=(
            *map(made.fixed, problem.equations),
            *(made.equation(e, s) for s in chosen for e in problem.equations),
        ),
        conditions=(
            *map(made.fixed_condition, problem.conditions),
            *(made.condition(c, s) for s in chosen for c in problem.conditions),
        ),
        initial=made.data(problem.initial, chosen),
        initial_velocity=made.data(problem.initial_velocity, chosen),
        parameters=replace(problem.parameters, inferred={}),
        exact={},
        given={},
    )
    return other.replaced(groups=other.coupled_fields())


class _Sensitivities:
    """Derivatives of the parts of a problem by its unknowns."""

    def __init__(self, problem: Problem, numbers: Mapping[sp.Symbol, sp.Expr]) -> None:
        self.problem, self.numbers = problem, numbers
        self.scope, self.functions = problem.parameters.scope(problem.jets), problem.parameters.functions

    def _moved(self, jet: Jet, symbol: sp.Symbol) -> Jet:
        return replace(jet, field=sensitivity_field(jet.field, symbol.name))

    def _datum(self, expression: sp.Expr, what: str) -> Datum:
        return Datum(expression.xreplace(self.numbers), self.scope, self.functions, what)

    def fixed(self, equation: Equation) -> Equation:
        """Return an equation with numbers for the unknowns."""
        right = equation.right_side.xreplace(self.numbers)
        return split_right_side(equation.field, equation.order, right, self.problem.jets)

    def equation(self, equation: Equation, symbol: sp.Symbol) -> Equation:
        """Return the equation of the derivative of a field by an unknown."""
        jets, right = self.problem.jets, equation.right_side
        slope = sp.diff(right, symbol)
        for own, jet in jets.jets_in(right).items():
            slope += sp.diff(right, own) * jets.symbol(self._moved(jet, symbol))
        name = sensitivity_field(equation.field, symbol.name)
        return split_right_side(name, equation.order, slope.xreplace(self.numbers), jets)

    def _condition(self, like: LinearCondition, terms: Mapping[Jet, sp.Expr], value: Datum) -> LinearCondition:
        fixed = {jet: c.xreplace(self.numbers) for jet, c in terms.items() if c != 0}
        return LinearCondition(like.side, fixed, value, like.text, self.problem.jets, self.problem.parameters)

    def fixed_condition(self, condition: LinearCondition) -> LinearCondition:
        """Return a condition with numbers for the unknowns."""
        terms = dict(zip(condition.jets, condition.coefficients, strict=True))
        value = condition.value
        if value.expression is not None:
            value = self._datum(value.expression, value.what)
        return self._condition(condition, terms, value)

    def condition(self, condition: LinearCondition, symbol: sp.Symbol) -> LinearCondition:
        """Return the condition on the derivative of a field by an unknown."""
        terms: dict[Jet, sp.Expr] = {}
        for jet, coefficient in zip(condition.jets, condition.coefficients, strict=True):
            moved = self._moved(jet, symbol)
            terms[moved] = terms.get(moved, sp.Integer(0)) + coefficient
            terms[jet] = terms.get(jet, sp.Integer(0)) + sp.diff(coefficient, symbol)
        given = condition.value.expression
        slope = sp.Integer(0) if given is None else sp.diff(given, symbol)
        return self._condition(condition, terms, self._datum(slope, condition.value.what))

    def data(self, data: Mapping[str, Datum], symbols: Sequence[sp.Symbol]) -> dict[str, Datum]:
        """Return initial data, with numbers for the unknowns, and their derivatives."""
        found = {
            name: datum if datum.expression is None else self._datum(datum.expression, datum.what)
            for name, datum in data.items()
        }
        for symbol in symbols:
            for name, datum in data.items():
                slope = sp.Integer(0) if datum.expression is None else sp.diff(datum.expression, symbol)
                found[sensitivity_field(name, symbol.name)] = self._datum(slope, datum.what)
        return found
