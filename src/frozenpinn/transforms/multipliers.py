"""Constrained fields without their multipliers, which are recovered from what their equations leave.

    U_t = F(U) − ∇p,  div U = 0:    p is found from ∇p = F(U) − U_t, by least squares, with the mean 0 (or as asked)

The fields that are left keep the constraint: by a potential (transforms/potential.py), or in a basis that obeys it
(assembly/constrained_basis.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import sympy as sp

from frozenpinn.basis.hidden import Derivative
from frozenpinn.basis.recovery import Recovery, recovery
from frozenpinn.geometry import Domain
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.language.parser import parse
from frozenpinn.language.printer import as_text
from frozenpinn.language.program import Program
from frozenpinn.language.scope import Scope
from frozenpinn.runtime.decisions import Decision
from frozenpinn.statement.multipliers import LinearConstraint, adjoint, saddle, without_multipliers
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.potential import Potential
from frozenpinn.transforms.views import Inner, Places, Request, Transform, View

Array = np.ndarray
_KEPT = 6  # sets of times at which coefficients are remembered


@dataclass(frozen=True, eq=False)
class Multipliers(Transform):
    """Solves for the fields that keep a constraint, without its multiplier."""

    constraints: tuple[LinearConstraint, ...]
    name: ClassVar[str] = "multipliers"
    note: ClassVar[str] = ""

    @classmethod
    def propose(cls, problem: Problem) -> Multipliers | None:
        """Return the constraints of a problem; static ones are left as they are unless there is a potential."""
        found = saddle(problem)
        if found is None or (problem.is_static and Potential.propose(without_multipliers(problem)) is None):
            return None
        return cls(found.constraints)

    def decision(self, problem: Problem) -> Decision:
        """Return what was left out."""
        names = ", ".join(f"'{c.multiplier}'" for c in self.constraints)
        return Decision("multipliers", f"{names} keeps a constraint: it is found from what the other equations leave")

    def forward(self, problem: Problem) -> Problem:
        """Return the problem of the other fields."""
        return without_multipliers(problem)

    def view(self, problem: Problem) -> Recovered:
        """Return how multipliers are found."""
        found = saddle(problem)
        assert found is not None
        equations = {e.field: e for e in found.equations}
        return Recovered(
            problem.domain,
            problem.jets,
            tuple(_Law.of(c, equations, problem) for c in found.constraints),
            problem.time,
            problem.parameters.functions,
        )


class _Law(NamedTuple):
    """How one multiplier follows: its operators and, for each, what they leave, right-hand side − ∂ₜ u."""

    multiplier: str
    operators: tuple[Mapping[tuple[int, ...], float], ...]
    left: tuple[sp.Expr, ...]
    points: Array | None  # where its mean value is given; None for that over the domain
    value: sp.Expr  # the coordinates and time may occur in it

    @classmethod
    def of(cls, constraint: LinearConstraint, equations: Mapping[str, Any], problem: Problem) -> _Law:
        """Read the equations of the fields of a constraint."""
        operators, left = [], []
        for name in constraint.fields:
            equation = equations[name]
            operators.append({a: constraint.factor * c for a, c in adjoint(constraint.terms[name]).items()})
            mass = sp.Add(*(c * problem.jets.symbol(jet) for jet, c in equation.left_side(problem.jets).items()))
            left.append(mass - equation.right_side)
        points, value = _fixed(constraint, problem)
        return cls(constraint.multiplier, tuple(operators), tuple(left), points, value)


def _fixed(constraint: LinearConstraint, problem: Problem) -> tuple[Array | None, sp.Expr]:
    """Return where values of a multiplier are given, and which: on a side, by a constraint, or else its mean, zero."""
    name = constraint.multiplier
    for condition in problem.conditions:
        if condition.fields == (name,) and condition.jets[0].order == 0 and condition.value.expression is not None:
            points = problem.domain.sample_side(condition.side, 24, "gauss", 0)
            if len(condition.jets) == 1 and condition.coefficients[0].is_number:
                return points.x, condition.value.expression / condition.coefficients[0]
    given = [c for c in problem.constraints if c.field == name and c.picks]
    return (given[0].point, sp.Float(given[0].value)) if given else (None, sp.Integer(0))


@dataclass(frozen=True, eq=False)
class Recovered(View):
    """Finds multipliers from what the equations of the other fields leave, at each time that is asked for."""

    domain: Domain
    jets: JetSpace
    laws: tuple[_Law, ...]
    time: tuple[float, float]
    functions: Mapping[str, Any]
    name: ClassVar[str] = "multipliers"
    keeps_axes: ClassVar[bool] = True
    _known: dict[object, Array] = field(default_factory=dict, repr=False)

    @property
    def fields(self) -> tuple[str, ...]:
        """The multipliers."""
        return tuple(law.multiplier for law in self.laws)

    def values(self, inner: Inner, request: Request) -> Array:
        """Return a multiplier, or any other field as it is."""
        law = next((law for law in self.laws if law.multiplier == request.field), None)
        if law is None:
            return inner(request)
        places = request.places
        times, which = np.unique(places.times, return_inverse=True)
        coefficients = self._in_time(law, inner, times, request.time)
        return request.summed(
            lambda jet: self._derivative(law, places, Derivative(jet.alpha, jet.laps), coefficients, which)
        )

    def _derivative(
        self, law: _Law, places: Places, derivative: Derivative, coefficients: Array, which: Array
    ) -> Array:
        """Return a derivative at places, given coefficients at distinct times."""
        rule = self._rules[law.multiplier]
        if places.arrangement == "grid":
            return rule.on_grid(places.axes, derivative, coefficients)[..., which]
        if places.arrangement == "all":
            return rule.values(places.x, derivative, coefficients)[:, which]
        out = np.empty(len(places.x))
        for k in range(coefficients.shape[-1]):
            own = np.flatnonzero(which == k)
            out[own] = rule.values(places.x[own], derivative, coefficients[..., k : k + 1])[:, 0]
        return out

    @cached_property
    def _rules(self) -> dict[str, Recovery]:
        return {law.multiplier: recovery(self.domain, law.operators) for law in self.laws}

    def _in_time(self, law: _Law, inner: Inner, times: Array, order: int) -> Array:
        """Return coefficients, or their derivatives in time, by nine-point polynomials."""
        if not order:
            return self._coefficients(law, inner, times)
        start, end = self.time
        nodes, width = np.linspace(-1.0, 1.0, 9), 0.02 * (end - start)
        parts = []
        for t in times:
            middle = min(max(t, start + width), end - width)
            basis = np.polynomial.chebyshev.chebvander(nodes, len(nodes) - 1)
            slope = np.polynomial.chebyshev.chebder(np.eye(len(nodes)), order) / width**order
            rule = np.polynomial.chebyshev.chebval((t - middle) / width, slope) @ np.linalg.inv(basis)
            parts.append(self._coefficients(law, inner, middle + width * nodes) @ rule)
        return np.stack(parts, axis=-1)

    def _coefficients(self, law: _Law, inner: Inner, times: Array) -> Array:
        """Return the coefficients of a multiplier at some times, in the last axis."""
        rule = self._rules[law.multiplier]
        points = rule.points
        found = sorted({jet for left in law.left for jet in self.jets.jets_in(left).values()})
        key = (law.multiplier, times.tobytes(), inner(Request.of(Places(points.x[:3], times), found[0])).tobytes())
        if key in self._known:
            return self._known[key]
        size, most = len(points.x) * len(found), 3_000_000  # values that are held at once
        parts = np.array_split(times, max(1, -(-size * len(times) // most)))
        coefficients = np.concatenate([self._fitted(law, inner, part, found) for part in parts], axis=-1)
        while len(self._known) >= _KEPT:
            self._known.pop(next(iter(self._known)))
        self._known[key] = coefficients
        return coefficients

    def _fitted(self, law: _Law, inner: Inner, times: Array, found: Sequence[Jet]) -> Array:
        """Return the coefficients at a few times."""
        rule = self._rules[law.multiplier]
        points = rule.points
        places, shape = Places(points.x, times), (len(points.x), len(times))
        values = {jet: inner(Request.of(places, jet)) for jet in found}
        images = []
        for program, jets in self._programs[law.multiplier]:
            with np.errstate(all="ignore"):
                image = program(*(c[:, None] for c in points.x.T), times[None], *(values[jet] for jet in jets))[0]
            images.append(np.broadcast_to(image, shape))
        coefficients = rule.coefficients(images)
        if law.points is None and law.value == 0:
            return coefficients
        return coefficients + self._shift(rule, law, coefficients, times)

    @cached_property
    def _programs(self) -> dict[str, list[tuple[Program, list[Jet]]]]:
        """What is left of each equation, compiled."""
        found: dict[str, list[tuple[Program, list[Jet]]]] = {}
        for law in self.laws:
            for left in law.left:
                own = list(self.jets.jets_in(left).values())
                symbols = [*self.jets.x, self.jets.t, *map(self.jets.symbol, own)]
                found.setdefault(law.multiplier, []).append((Program([left], symbols, self.functions), own))
        return found

    def _shift(self, rule: Recovery, law: _Law, coefficients: Array, times: Array) -> Array:
        """Return the coefficients of the constant that given values ask for."""
        zero = Derivative((0,) * self.domain.dimension)
        x = rule.points.x[:1] if law.points is None else law.points
        own = 0.0 if law.points is None else np.mean(rule.values(x, zero, coefficients), axis=0)
        wanted = Program([law.value], [*self.jets.x, self.jets.t])(*(c[:, None] for c in x.T), times[None])[0]
        wanted = np.mean(np.broadcast_to(wanted, (len(x), len(times))), axis=0)
        return np.asarray(rule.constant[..., None] * (wanted - own))

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data and texts."""
        laws = [
            {
                "multiplier": law.multiplier,
                "operators": [[[list(alpha), c] for alpha, c in own.items()] for own in law.operators],
                "left": [as_text(left) for left in law.left],
                "points": None if law.points is None else law.points.tolist(),
                "value": as_text(law.value),
            }
            for law in self.laws
        ]
        from frozenpinn.geometry.documents import domain_to_dict  # which knows all shapes

        fields = sorted({j.field for law in self.laws for e in law.left for j in self.jets.jets_in(e).values()})
        return {"domain": domain_to_dict(self.domain), "time": list(self.time), "laws": laws, "fields": fields}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Recovered:
        """Read what was stored."""
        from frozenpinn.geometry.documents import domain_from_dict  # which knows all shapes

        domain = domain_from_dict(stored["domain"])
        jets = JetSpace(domain.coordinates)
        scope = Scope(jets, stored["fields"])
        laws = tuple(
            _Law(
                own["multiplier"],
                tuple({tuple(alpha): c for alpha, c in operator} for operator in own["operators"]),
                tuple(parse(text, scope) for text in own["left"]),
                None if own["points"] is None else np.array(own["points"]),
                parse(own["value"], scope),
            )
            for own in stored["laws"]
        )
        return cls(domain, jets, laws, tuple(stored["time"]), {})

    def __getstate__(self) -> dict[str, object]:
        hidden = ("_rules", "_programs")
        return {key: value for key, value in self.__dict__.items() if key not in hidden} | {"_known": {}}
