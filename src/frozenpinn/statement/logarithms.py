"""A problem for the logarithm of a field that is positive everywhere.

Where a reaction spreads into an unstable state (an epidemic among the healthy), the solution in front is tiny, and
errors beside the largest value, round-off included, grow until they are all there is. What counts there are errors
beside the value itself, and those are errors of the logarithm w = log u:

    u_x = u·w_x,    u_xx = u·(w_xx + w_x²),    w_t = u_t / u.

The name of the field then stands for its logarithm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import sympy as sp

from frozenpinn.errors import EvaluationError
from frozenpinn.language.algebra import expanded
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.data import Datum
from frozenpinn.statement.equation import Equation, split_right_side
from frozenpinn.statement.problem import Problem

_HIGHEST = 2  # derivatives in equations: more make products of very many terms
_PLACES = 200  # at which an initial value must have a logarithm


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """Yield all ways to divide items, which may be equal, into groups."""
    if not items:
        yield []
        return
    first, *rest = items
    for division in partitions(rest):
        yield [[first], *division]
        for k, group in enumerate(division):
            yield [*division[:k], [first, *group], *division[k + 1 :]]


def products(jet: Jet) -> Iterator[list[Jet]]:
    """Yield products of derivatives of w, the sum of which is a derivative of exp(w) over exp(w)."""
    d = len(jet.alpha)
    directions = [axis for axis, count in enumerate(jet.alpha) for _ in range(count)] + [d] * jet.time
    squares: list[list[int]] = [[]]
    for _ in range(jet.laps):
        squares = [[*before, axis, axis] for before in squares for axis in range(d)]
    for pairs in squares:
        for division in partitions([*directions, *pairs]):
            yield [
                Jet(jet.field, tuple(group.count(axis) for axis in range(d)), time=group.count(d)) for group in division
            ]


def in_logarithms(problem: Problem, name: str) -> Problem | None:
    """Return the problem for the logarithm of a field; None if it can't be stated."""
    plain = problem.interfaces is None and problem.before is None and not (problem.laws or problem.points)
    if not plain or problem.constraints or problem.jets.quantities or any(e.order != 1 for e in problem.equations):
        return None
    equations = [_equation(problem, e, name) for e in problem.equations]
    conditions = [_condition(problem, c, name) if name in c.fields else c for c in problem.conditions]
    initial = _datum(problem, problem.initial[name])
    if initial is None or None in equations or None in conditions:
        return None
    domain = problem.domain
    inside = domain.sample(_PLACES, "random", Seed.MEASURED_SIZES).x
    corners = np.array(list(product(*zip(domain.lower, domain.upper, strict=True))))
    x = np.concatenate([inside, corners[domain.contains(corners)]])
    try:
        initial(x, problem.time[0])
    except EvaluationError:  # it is not positive everywhere
        return None
    return problem.replaced(
        equations=tuple(equations),
        conditions=tuple(conditions),
        initial={**problem.initial, name: initial},
        exact={},
        given={},
    )


def _datum(problem: Problem, datum: Datum) -> Datum | None:
    """Return the logarithm of a formula."""
    if datum.expression is None:
        return None
    logarithm = sp.expand_log(sp.log(datum.expression), force=True)
    if logarithm.has(sp.zoo, sp.nan, sp.oo, sp.I):
        return None
    return Datum(logarithm, problem.parameters.scope(problem.jets), problem.parameters.functions, datum.what)


def _equation(problem: Problem, equation: Equation, name: str) -> Equation | None:
    """Return an equation in which a field is replaced by the exponential of another; its own is divided by it."""
    jets, size = problem.jets, sp.Dummy("e", positive=True)
    own = {s: jet for s, jet in jets.jets_in(equation.right_side).items() if jet.field == name}
    if equation.mass or any(jet.order > _HIGHEST or jet.time for jet in own.values()):
        return None
    if not own and equation.field != name:
        return equation
    right = equation.right_side.xreplace({s: size * _factor(jets, jet) for s, jet in own.items()})
    right = expanded(right / size if equation.field == name else right)
    if any(term.as_coeff_exponent(size)[1].is_nonnegative is not True for term in sp.Add.make_args(right)):
        return None  # a source would be divided by what may be tiny
    field = jets.symbol(jets.field(name))
    return split_right_side(equation.field, 1, right.xreplace({size: sp.exp(field)}), jets)


def _factor(jets: JetSpace, jet: Jet) -> sp.Expr:
    """Return a derivative of exp(w) over exp(w); Laplacians stay what they are."""
    if jet.laps:
        first = [Jet(jet.field, tuple(int(k == axis) for k in range(jets.dimension))) for axis in range(jets.dimension)]
        return sp.Add(jets.symbol(jet), *(jets.symbol(j) ** 2 for j in first))
    return sp.Add(*(sp.Mul(*map(jets.symbol, factors)) for factors in products(jet)))


def _condition(problem: Problem, condition: LinearCondition, name: str) -> LinearCondition | None:
    """Return a condition for the logarithm: of a value, or of what is proportional to the field."""
    jets, value = problem.jets, condition.value
    terms = dict(zip(condition.jets, condition.coefficients, strict=True))
    if condition.fields != (name,) or any(jet.order > 1 or jet.time for jet in terms) or value.expression is None:
        return None
    alone = terms.get(jets.field(name), sp.Integer(0))
    slopes = {jet: c for jet, c in terms.items() if jet.order}
    scope, functions = problem.parameters.scope(jets), problem.parameters.functions
    if slopes:
        if value.expression != 0 or not alone.is_number:
            return None
        datum: Datum | None = Datum(-alone, scope, functions, value.what)
    elif not alone.is_number:
        return None
    else:
        datum = _datum(problem, Datum(value.expression / alone, scope, functions, value.what))
        slopes = {jets.field(name): sp.Integer(1)}
    return (
        None
        if datum is None
        else LinearCondition(condition.side, slopes, datum, condition.text, jets, problem.parameters)
    )
