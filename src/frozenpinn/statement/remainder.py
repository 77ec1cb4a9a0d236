"""The problem of what remains of a solution after known parts of it are subtracted."""

from __future__ import annotations

import sympy as sp

from frozenpinn.geometry import FlatSide
from frozenpinn.language.algebra import expanded
from frozenpinn.language.fluxes import without_deltas
from frozenpinn.statement.breaks import breaks_among
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.data import Datum
from frozenpinn.statement.equation import Equation, split_right_side
from frozenpinn.statement.fronts import Front, Fronts
from frozenpinn.statement.problem import Problem

_WIDTH = 1e-9  # of a front at the start, as part of the axis


def formula(front: Front, problem: Problem) -> sp.Expr:
    """Return a front as a function of coordinates and time."""
    jets, since = problem.jets, problem.jets.t - sp.Float(front.since)
    least = (_WIDTH * float(problem.domain.lengths[front.axis])) ** 2
    later = front.since > problem.time[0]
    width = sp.sqrt(4 * front.diffusion * (sp.Max(since, 0) if later else since) + sp.Float(least))
    z = (jets.x[front.axis] - sp.Float(front.place) - sp.Float(front.speed) * since) / width
    # what is carried passes the side, and leaves all behind it
    whole = sp.Rational(1, 2) if front.diffusion.is_zero else 1
    found = {"step": (1 + sp.erf(z)) / 2, "low": whole * (1 - sp.erf(z)), "high": whole * (1 + sp.erf(z))}[front.kind]
    return found * sp.Heaviside(since, sp.Rational(1, 2)) if later else found


def known_parts(problem: Problem, fronts: Fronts) -> dict[str, sp.Expr]:
    """Return the known part of each field as a formula."""
    table = _formulas(problem, fronts)
    return {name: part.xreplace(table) for name, part in fronts.parts.items()}


def without_fronts(problem: Problem, fronts: Fronts) -> Problem:
    """Return the problem of what remains of each field after its known part is subtracted."""
    jets, table, still = problem.jets, _formulas(problem, fronts), _harmonic(problem, fronts)

    def written(expression: sp.Expr) -> sp.Expr:
        return without_deltas(expression.xreplace(table).doit())

    def equation(own: Equation) -> Equation:
        known = {s: jet for s, jet in jets.jets_in(own.right_side).items() if jet.field in fronts.parts}
        shifted = own.right_side.xreplace(
            {s: s + jets.differentiate(fronts.parts[jet.field], jet).xreplace(still) for s, jet in known.items()}
        )
        if own.field in fronts.parts:
            shifted -= _rate(fronts, fronts.parts[own.field], jets.t)
        return split_right_side(own.field, own.order, written(expanded(shifted)), jets)

    def condition(own: LinearCondition) -> LinearCondition:
        terms = dict(zip(own.jets, own.coefficients, strict=True))
        known = [c * jets.differentiate(fronts.parts[j.field], j) for j, c in terms.items() if j.field in fronts.parts]
        side = own.side
        if not known:
            return own
        assert own.value.expression is not None
        at = {}
        if isinstance(side, FlatSide):
            at[jets.x[side.axis]] = sp.Float(float((problem.domain.lower, problem.domain.upper)[side.end][side.axis]))
        total = sp.Add(*known)
        if isinstance(side, FlatSide) and not any(jet.order for jet in own.jets):
            total = total.xreplace({f.function: _at_side(f, problem) for f in fronts.fronts if _sets_out(f, side)})
        value = own.value.expression - written(total).xreplace(at)
        datum = Datum(value, problem.parameters.scope(jets), problem.parameters.functions, own.value.what)
        return LinearCondition(own.side, terms, datum, own.text, jets, problem.parameters)

    scope, functions = problem.parameters.scope(jets), problem.parameters.functions
    initial = {
        name: Datum(fronts.initial[name], scope, functions, datum.what) if name in fronts.initial else datum
        for name, datum in problem.initial.items()
    }
    equations = tuple(map(equation, problem.equations))
    return problem.replaced(
        equations=equations,
        interfaces=breaks_among(problem, equations)
        if problem.is_static
        else problem.interfaces,  # as |x - a| of a point
        conditions=tuple(map(condition, problem.conditions)),
        initial=initial,
        points=(),
        before=problem,
        exact={},
        given={},
    )


def _sets_out(front: Front, side: FlatSide) -> bool:
    """Whether a front comes from a side."""
    return front.axis == side.axis and front.kind == ("low", "high")[side.end]


def _at_side(front: Front, problem: Problem) -> sp.Expr:
    """Return a front at the side from which it comes."""
    if front.since <= problem.time[0]:
        return sp.Integer(1)
    return sp.Heaviside(problem.jets.t - sp.Float(front.since), sp.Rational(1, 2))


def _formulas(problem: Problem, fronts: Fronts) -> dict[sp.Expr, sp.Expr]:
    """Return what the functions of known parts stand for."""
    table = {front.function: formula(front, problem) for front in fronts.fronts}
    return table | {function: own for function, (own, _) in fronts.points.items()}


def _harmonic(problem: Problem, fronts: Fronts) -> dict[sp.Expr, sp.Expr]:
    """Return the last second derivative of what does not depend on time in the field of a point: Δ of it is known."""
    *others, last = problem.jets.x
    table = {}
    for e, (_, diffusion) in fronts.points.items():
        if problem.jets.t not in e.args:
            source = fronts.potentials[e] / sp.Float(diffusion) if e in fronts.potentials else sp.Integer(0)
            table[sp.Derivative(e, (last, 2))] = source - sp.Add(*(sp.Derivative(e, (x, 2)) for x in others))
    return table


def _rate(fronts: Fronts, part: sp.Expr, t: sp.Symbol) -> sp.Expr:
    """Return ∂ₜ of a known part, in which each front changes as diffusion and transport make it."""
    rate = sp.diff(part, t)
    table = {}
    for front in fronts.fronts:
        e, x = front.function, front.function.args[0]
        drift = sp.Float(front.speed) * sp.diff(e, x) if front.speed else sp.Integer(0)
        table[sp.Derivative(e, t)] = front.diffusion * sp.diff(e, x, 2) - drift
    for e, (_, diffusion) in fronts.points.items():
        if t not in e.args:
            continue
        table[sp.Derivative(e, t)] = sp.Float(diffusion) * sp.Add(*(sp.diff(e, x, 2) for x in e.args[:-1]))
    return rate.xreplace(table)
