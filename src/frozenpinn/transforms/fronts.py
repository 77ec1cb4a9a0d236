"""A problem without the fronts that spread from its jumps and without the fields of its point sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import sympy as sp

from frozenpinn.geometry import FlatSide
from frozenpinn.language.algebra import expanded
from frozenpinn.language.fluxes import without_deltas
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.language.parser import parse
from frozenpinn.language.printer import as_text
from frozenpinn.language.program import Program
from frozenpinn.language.scope import Scope
from frozenpinn.runtime.decisions import Decision
from frozenpinn.statement.breaks import breaks_among
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.data import Datum
from frozenpinn.statement.equation import Equation, split_right_side
from frozenpinn.statement.fronts import Front, Fronts, fronts_of
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.views import Inner, Places, Request, Transform, View

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class WithoutFronts(Transform):
    """Solves for what remains of a solution after known fronts are subtracted."""

    fronts: Fronts
    name: ClassVar[str] = "known fronts"
    note: ClassVar[str] = (
        "what spreads from jumps of the data is known in closed form, and added to what the network has found"
    )

    @classmethod
    def propose(cls, problem: Problem) -> WithoutFronts | None:
        """Return the fronts of a problem, if there are any."""
        fronts = None if problem.determined else fronts_of(problem)
        return None if fronts is None else cls(fronts)

    def decision(self, problem: Problem) -> Decision:
        """Return why."""
        return Decision("known fronts", "data jump, and what spreads from there is known in closed form")

    def forward(self, problem: Problem) -> Problem:
        """Return the problem of what remains."""
        return without_fronts(problem, self.fronts)

    def view(self, problem: Problem) -> KnownParts:
        """Return the fronts, to be added."""
        return KnownParts(known_parts(problem, self.fronts), problem.jets.coordinates)


@dataclass(frozen=True, eq=False)
class KnownParts(View):
    """Adds a formula in the coordinates and time to some fields."""

    formulas: Mapping[str, sp.Expr]
    coordinates: tuple[str, ...]
    name: ClassVar[str] = "known parts"
    keeps_axes: ClassVar[bool] = True
    _programs: dict[Jet, Program] = field(default_factory=dict, repr=False)

    def values(self, inner: Inner, request: Request) -> Array:
        """Add derivatives of the formula."""
        found = inner(request)
        if request.field not in self.formulas:
            return found
        return found + request.summed(lambda jet: self._formula(jet, request.places))

    def _formula(self, jet: Jet, places: Places) -> Array:
        if jet not in self._programs:
            jets = JetSpace(self.coordinates)
            expression = jets.differentiate(self.formulas[jet.field], jet)
            self._programs[jet] = Program([expression], [*jets.x, jets.t])
        with np.errstate(all="ignore"):
            return np.broadcast_to(self._programs[jet](*places.mesh)[0], places.shape)

    def as_dict(self) -> dict[str, Any]:
        """Return the formulas as texts."""
        texts = {name: as_text(expression) for name, expression in self.formulas.items()}
        return {"coordinates": list(self.coordinates), "formulas": texts}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> KnownParts:
        """Read formulas that were stored as texts."""
        coordinates = tuple(stored["coordinates"])
        scope = Scope(JetSpace(coordinates))
        return cls({name: parse(text, scope) for name, text in stored["formulas"].items()}, coordinates)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_programs": {}}


# ---- the problem of what remains ------------------------------------------------------------------


def formula(front: Front, problem: Problem) -> sp.Expr:
    """Return a front as a function of coordinates and time."""
    jets, since = problem.jets, problem.jets.t - sp.Float(front.since)
    least = (1e-9 * float(problem.domain.lengths[front.axis])) ** 2  # square of the width at the start
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

    equations = tuple(map(equation, problem.equations))
    return problem.replaced(
        equations=equations,
        interfaces=breaks_among(problem, equations)
        if problem.is_static
        else problem.interfaces,  # as |x - a| of a point
        conditions=tuple(map(condition, problem.conditions)),
        initial=fronts.remaining_data(problem),
        points=(),
        before=problem,
        known=known_parts(problem, fronts),
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
