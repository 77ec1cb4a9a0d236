"""A problem for the logarithm of a field that is positive everywhere.

Where a reaction spreads into an unstable state (an epidemic among the healthy), the solution in front is tiny, and
errors relative to the largest value, round-off included, grow until they are all there is. What counts are errors
relative to the value itself, and those are errors of the logarithm w = log u:

    u_x = u·w_x,    u_xx = u·(w_xx + w_x²),    w_t = u_t / u.

The name of the field then stands for its logarithm. Where the initial value is smaller than whatever could become
visible in the time that is left, its logarithm is very steep (−r² for a Gaussian seed, up to thousands in the corners
of a box) for nothing, and contradicts conditions such as u_n = 0 there. So a floor is put under it, smoothly:

    w₀ = (1/k) log(u₀ᵏ + fᵏ),    f = exp(−(rate·T + margin)),

where the rate is that at which the field grows where there is none of it yet. Another margin, in another solve of the
same search, shows whether the floor matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import ClassVar

import numpy as np
import sympy as sp

from frozenpinn.errors import EvaluationError
from frozenpinn.language.algebra import expanded
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.data import Datum
from frozenpinn.statement.equation import Equation, split_right_side
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.views import Inner, Request, Transform, View

Array = np.ndarray
MARGIN = 40.0  #: of the floor below what can become visible, as a logarithm: what is added there ends below 2e-3 of it


@dataclass(frozen=True)
class Logarithm(Transform, View):
    """Solves for the logarithm of a positive field, with a floor so far below all that can become visible."""

    field: str
    margin: float = MARGIN
    name: ClassVar[str] = "logarithm"
    keeps_axes: ClassVar[bool] = False

    @property
    def note(self) -> str:
        """What the report says."""
        return f"errors of '{self.field}' ran away from an unstable state: it was solved for its logarithm"

    @classmethod
    def propose(cls, problem: Problem) -> None:
        """Return nothing: only a solve shows that errors run away."""

    @classmethod
    def of_one(cls, problem: Problem, names: Sequence[str], margin: float) -> Logarithm | None:
        """Return the first of some fields that has a logarithm, if any."""
        known = (name for name in names if in_logarithms(problem, name) is not None)
        field = next(known, None)
        return None if field is None else cls(field, margin)

    def decision(self, problem: Problem) -> Decision:
        """Return why."""
        return Decision("logarithm", f"errors of '{self.field}' run away from an unstable state")

    def forward(self, problem: Problem) -> Problem:
        """Return the problem of the logarithm."""
        found = in_logarithms(problem, self.field, self.margin)
        assert found is not None
        return found

    def values(self, inner: Inner, request: Request) -> Array:
        """Return exp(w) and its derivatives."""
        if request.field != self.field:
            return inner(request)
        known: dict[Jet, Array] = {}

        def of_logarithm(jet: Jet) -> Array:
            if jet not in known:
                known[jet] = inner(Request.of(request.places, jet))
            return known[jet]

        def of_field(jet: Jet) -> Array:
            total = sum((prod(map(of_logarithm, factors), start=1.0) for factors in products(jet)), 0.0)
            return np.asarray(total * np.exp(of_logarithm(Jet(jet.field, (0,) * len(jet.alpha)))))

        return request.summed(of_field)


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


def in_logarithms(problem: Problem, name: str, margin: float = MARGIN) -> Problem | None:
    """Return the problem for the logarithm of a field, above a floor so far below what counts; or None."""
    plain = problem.interfaces is None and problem.before is None and not (problem.laws or problem.points)
    if (
        not plain
        or problem.determined
        or problem.constraints
        or problem.jets.quantities
        or any(e.order != 1 for e in problem.equations)
    ):
        return None
    equations = [_equation(problem, e, name) for e in problem.equations]
    conditions = [_condition(problem, c, name) if name in c.fields else c for c in problem.conditions]
    if None in equations or None in conditions:
        return None
    x = _places(problem)
    initial = _initial(problem, name, margin, x)
    if initial is None:
        return None
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


def _places(problem: Problem) -> Array:
    """Return random places and the corners of the box around a domain, if they belong to it."""
    domain = problem.domain
    inside = domain.sample(200, "random", Seed.MEASURED_SIZES).x
    corners = np.array(list(product(*zip(domain.lower, domain.upper, strict=True))))
    return np.concatenate([inside, corners[domain.contains(corners)]])


def _initial(problem: Problem, name: str, margin: float, x: Array) -> Datum | None:
    """Return the logarithm of an initial value above a floor; without one where nothing is known of rates."""
    given, rate = problem.initial[name], _rate(problem, name, x)
    if given.expression is None or rate is None:
        return _datum(problem, given)
    start, end = problem.time
    size = float(np.max(given(x, start)))
    depth = max(rate, 0.0) * (end - start) + margin
    if not (np.isfinite(depth) and size > 0):
        return None
    k = sp.Rational(1, 5)  # a floor that is reached less softly would bend more narrowly than what spreads
    floor = sp.exp(-k * sp.Float(f"{depth:.6g}"))
    unit = sp.Float(f"{size:.6g}")
    expression = sp.log(unit) + sp.log((given.expression / unit) ** k + floor) / k
    return Datum(expression, problem.parameters.scope(problem.jets), problem.parameters.functions, given.what)


def _rate(problem: Problem, name: str, x: Array) -> float | None:
    """Return the largest growth rate of a field where there is none of it and all others are as at first."""
    jets, size = problem.jets, sp.Dummy("e", positive=True)
    (equation,) = (e for e in problem.equations if e.field == name)
    start, end = problem.time
    known = {jet: sp.Integer(0) for jet in jets.jets_in(equation.right_side)}
    for symbol, jet in jets.jets_in(equation.right_side).items():
        if jet == jets.field(jet.field):
            given = None if jet.field == name else problem.initial[jet.field].expression
            if jet.field != name and given is None:
                return None
            known[symbol] = size if given is None else given.subs(jets.t, start)
    growth = expanded(equation.right_side.xreplace(known) / size).subs(size, 0)
    scope, functions = problem.parameters.scope(jets), problem.parameters.functions
    rate = Datum(growth, scope, functions, f"the growth rate of '{name}'")
    try:
        return float(max(np.max(rate(x, float(t))) for t in np.linspace(start, end, 5)))
    except EvaluationError:
        return None


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
    highest = 2  # more derivatives make products of very many terms
    if equation.mass or any(jet.order > highest or jet.time for jet in own.values()):
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
