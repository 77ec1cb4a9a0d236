"""Two fields that keep one linear constraint, as derivatives of a potential: a stream function for div U = 0.

    C₁(∂)u₁ + C₂(∂)u₂ = 0   where   u₁ = C₂(∂)ψ,   u₂ = −C₁(∂)ψ

The equation of ψ is the sum of the adjoint operators on the equations of u₁ and u₂, so the multiplier drops out of it:
what the Galerkin method does with it is what it does in functions that keep the constraint. It is taken on boxes, where
ψ is a sum of products along the axes. Either all axes are periodic, and the means of the fields do not change; or on
every side nothing passes through, so that ψ = 0 there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, Signature
from typing import Any, ClassVar

import numpy as np
import sympy as sp

from frozenpinn.analysis.constraint_findings import start_violation
from frozenpinn.basis.hidden import Derivative, pure
from frozenpinn.geometry import Box, FlatSide
from frozenpinn.language.algebra import expanded
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.runtime.decisions import Decision
from frozenpinn.statement.composites import Composites
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.data import Datum
from frozenpinn.statement.equation import Equation, is_divergence, split_right_side
from frozenpinn.statement.multipliers import LinearConstraint, Polynomial, adjoint
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.views import Inner, Request, Transform, View

Array = np.ndarray
NAME = "psi"


@dataclass(frozen=True, eq=False)
class Potential(Transform, View):
    """Solves for the potential of two fields.

    Attributes
    ----------
    potential
        Its name.
    operators
        What acts on it, for each of the fields.
    means
        Constants that are added to the fields.
    """

    potential: str
    operators: Mapping[str, Polynomial]
    means: Mapping[str, float]
    name: ClassVar[str] = "potential"
    keeps_axes: ClassVar[bool] = True
    note: ClassVar[str] = ""

    @classmethod
    def propose(cls, problem: Problem) -> Potential | None:
        """Return the potential of a constraint of two fields on a box; None where there is none, or it has no data."""
        own = [c for c in problem.kept if c.is_homogeneous and len(c.fields) == 2]
        domain = problem.domain
        if not own or not isinstance(domain, Box) or domain.dimension != 2 or not _is_plain(problem, own[0].fields):
            return None
        (first, ahead), (second, behind) = own[0].terms.items()
        operators = {first: behind, second: {alpha: -c for alpha, c in ahead.items()}}
        taken = {*problem.fields, *problem.parameters.functions, *problem.domain.coordinates}
        name = next(n for n in (NAME, *(f"{NAME}{k}" for k in range(1, 99))) if n not in taken)
        form = cls(name, operators, dict.fromkeys(operators, 0.0))
        means = form._means_at_start(problem) if all(domain.periodic) else form.means
        form = replace(form, means=means or {})
        if means is None or form._conditions(problem) is None or form._initial(problem, own[0]) is None:
            return None
        return form

    def decision(self, problem: Problem) -> Decision:
        """Return what was solved for."""
        names = " and ".join(f"'{name}'" for name in self.operators)
        return Decision("potential", f"{names} keep their constraint as derivatives of a potential")

    # ---- the problem of the potential ---------------------------------------------------------------

    def forward(self, problem: Problem) -> Problem:
        """Return the problem of the potential and all other fields."""
        jets, (constraint,) = problem.jets, (c for c in problem.kept if set(c.fields) == set(self.operators))
        fields = tuple(dict.fromkeys(self.potential if n in self.operators else n for n in problem.fields))
        equations = [self._equation(problem)]
        for own in problem.equations:
            if own.field not in self.operators:
                equations.append(split_right_side(own.field, own.order, self._written(jets, own.right_side), jets))
        by_field = {e.field: e for e in equations}
        conditions, initial = self._conditions(problem), self._initial(problem, constraint)
        assert conditions is not None
        assert initial is not None
        inner = problem.replaced(
            fields=fields,
            composites=Composites(fields),
            equations=tuple(by_field[name] for name in fields),
            conditions=tuple(conditions),
            initial=initial,
            kept=tuple(c for c in problem.kept if c is not constraint),
            exact={},
            given={},
        )
        return inner.replaced(groups=inner.coupled_fields())

    def _equation(self, problem: Problem) -> Equation:
        """Return Σ B*(equations), where the fields are B ψ."""
        jets, order, right, mass = problem.jets, 0, sp.Integer(0), dict[Jet, sp.Expr]()
        for name, operator in self.operators.items():
            equation = problem.equation(name)
            order = equation.order
            inside = self._written(jets, equation.right_side)
            right += sp.Add(*(c * _differentiated(jets, inside, alpha) for alpha, c in adjoint(operator).items()))
            for alpha, c in adjoint(operator).items():
                for beta, b in operator.items():
                    jet = Jet(self.potential, tuple(np.add(alpha, beta).tolist()), 0, order)
                    mass[jet] = mass.get(jet, sp.Integer(0)) + _number(c * b)
        right = with_laplacians(jets, expanded(right))
        equation = split_right_side(self.potential, order, right, jets)
        if not order:
            return equation
        left = with_laplacians(jets, sp.Add(*(c * jets.symbol(jet) for jet, c in mass.items())))
        split = jets.affine(left)
        assert split is not None
        return replace(equation, mass=split[0])

    def _written(self, jets: JetSpace, expression: sp.Expr) -> sp.Expr:
        """Write the fields of an expression as derivatives of the potential."""
        table = {}
        for symbol, jet in jets.jets_in(expression).items():
            if jet.field in self.operators:
                table[symbol] = sp.Add(*(_number(c) * jets.symbol(own) for own, c in self._parts(jet)))
                if not jet.order and not jet.time:
                    table[symbol] += sp.Float(self.means[jet.field]) if self.means[jet.field] else 0
        return expression.xreplace(table)

    def _parts(self, jet: Jet) -> list[tuple[Jet, float]]:
        """Return a derivative of a field as a sum of derivatives of the potential."""
        found = []
        for beta, c in self.operators[jet.field].items():
            alpha = tuple(a + b for a, b in zip(jet.alpha, beta, strict=True))
            found.append((replace(jet, field=self.potential, alpha=alpha), c))
        return found

    # ---- conditions -----------------------------------------------------------------------------------

    def _conditions(self, problem: Problem) -> list[LinearCondition] | None:
        """Return the conditions of the potential; None unless nothing passes through any side."""
        kept, own = [], dict[tuple[int, int], list[tuple[LinearCondition, dict[Jet, sp.Expr]]]]()
        for condition in problem.conditions:
            if not set(condition.fields) & set(self.operators):
                kept.append(condition)
                continue
            terms, side = self._condition_terms(condition), condition.side
            if terms is None or not isinstance(side, FlatSide):
                return None
            own.setdefault((side.axis, side.end), []).append((condition, terms))
        for (axis, _), entries in own.items():
            closed = [entry for entry in entries if _is_closed(entry[1], axis) and entry[0].value.is_zero]
            if len(closed) != 1:
                return None
            value = problem.jets.field(self.potential)
            kept.append(self._condition(problem, closed[0][0], {value: sp.Integer(1)}))
            for condition, terms in entries:
                if condition is closed[0][0]:
                    continue
                along = {jet: c for jet, c in terms.items() if jet.alpha[axis]}  # others vanish with the potential
                if not along or any(sum(jet.alpha) > jet.alpha[axis] for jet in along):
                    return None
                kept.append(self._condition(problem, condition, along))
        walls = 2 * sum(not periodic for periodic in problem.domain.periodic)
        return kept if len(own) == walls and (not walls or not any(problem.domain.periodic)) else None

    def _condition_terms(self, condition: LinearCondition) -> dict[Jet, sp.Expr] | None:
        """Return the left-hand side of a condition in derivatives of the potential, Laplacians by their parts."""
        terms: dict[Jet, sp.Expr] = {}
        for jet, coefficient in zip(condition.jets, condition.coefficients, strict=True):
            if jet.field not in self.operators or jet.time or not coefficient.is_number:
                return None
            for own, c in self._parts(jet):
                for alpha, factor in pure(Derivative(own.alpha, own.laps), len(own.alpha)):
                    flat = Jet(self.potential, alpha)
                    terms[flat] = terms.get(flat, sp.Integer(0)) + coefficient * _number(c * factor)
        return {jet: c for jet, c in terms.items() if c != 0}

    def _condition(self, problem: Problem, condition: LinearCondition, terms: dict[Jet, sp.Expr]) -> LinearCondition:
        text = f"{condition.text} (of '{self.potential}')"
        return LinearCondition(condition.side, terms, condition.value, text, problem.jets, problem.parameters)

    # ---- the start --------------------------------------------------------------------------------------

    def _initial(self, problem: Problem, constraint: LinearConstraint) -> dict[str, Datum] | None:
        """Return the initial values, those of the potential by integrals along straight lines; None if unknown."""
        if problem.is_static:
            return {}
        if any(problem.equation(name).order != 1 for name in self.operators) or not constraint.is_gradient:
            return None
        if start_violation(problem, constraint) > 1e-9:  # it is to be projected
            return None
        given = {name: problem.initial[name] for name in self.operators}
        scope, functions = problem.parameters.scope(problem.jets), problem.parameters.functions
        start: Any = sp.Integer(0)
        if not all(datum.is_zero for datum in given.values()):
            start = _LineIntegral(self, given, np.array(problem.domain.lower), problem.time[0])
        datum = Datum(start, scope, functions, f"the initial value of the potential of {' and '.join(given)}")
        others = {name: own for name, own in problem.initial.items() if name not in self.operators}
        return {self.potential: datum, **others}

    def _means_at_start(self, problem: Problem) -> dict[str, float] | None:
        """Return the means of the fields on a periodic box; None if they may change, or nothing says them."""
        round_off = 1e-13
        points = problem.domain.sample([64] * problem.domain.dimension, "spectral")
        means = {}
        for name in self.operators:
            equation = problem.equation(name)
            if problem.is_static or not is_divergence(self._written(problem.jets, equation.right_side), problem.jets):
                return None
            for t in np.linspace(*problem.time, 3):
                forced = np.broadcast_to(problem.compile([equation.forcing])(*points.x.T, float(t))[0], len(points.x))
                if abs(np.mean(forced)) > round_off * np.max(np.abs(forced)):
                    return None
            values = problem.initial[name](points.x, problem.time[0])
            mean = float(np.mean(values))
            means[name] = mean if abs(mean) > round_off * float(np.max(np.abs(values))) else 0.0
        return means

    # ---- the view -------------------------------------------------------------------------------------

    def values(self, inner: Inner, request: Request) -> Array:
        """Return derivatives of the potential."""
        if request.field not in self.operators:
            return inner(request)
        terms = []
        for term in request.terms:
            jet = Jet(term.field, term.derivative.alpha, term.derivative.laps)
            for own, c in self._parts(jet):
                terms.append(
                    term._replace(
                        field=self.potential,
                        derivative=Derivative(own.alpha, own.laps),
                        coefficient=c * term.coefficient,
                    )
                )
        found = inner(request._replace(terms=tuple(terms)))
        constant = sum(t.coefficient for t in request.terms if not t.derivative.order) * self.means[request.field]
        return found if request.time or not np.any(constant) else found + constant

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        operators = {n: [[list(a), c] for a, c in own.items()] for n, own in self.operators.items()}
        return {"potential": self.potential, "operators": operators, "means": dict(self.means)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Potential:
        """Read what was stored."""
        operators = {n: {tuple(a): c for a, c in own} for n, own in stored["operators"].items()}
        return cls(stored["potential"], operators, stored["means"])


def _is_plain(problem: Problem, fields: Sequence[str]) -> bool:
    """Whether the equations of some fields are explicit, of the same order, without anything that has no derivative."""
    equations = [problem.equation(name) for name in fields]
    special = problem.interfaces is not None or problem.laws or problem.points or problem.jets.quantities
    return (
        not special
        and problem.frame is None
        and len({e.order for e in equations}) == 1
        and not any(e.mass for e in equations)
    )


def _is_closed(terms: Mapping[Jet, sp.Expr], axis: int) -> bool:
    """Whether a condition is that of the first derivative along a side."""
    return len(terms) == 1 and all(sum(jet.alpha) == 1 and not jet.alpha[axis] for jet in terms)


def _differentiated(jets: JetSpace, expression: sp.Expr, alpha: Sequence[int]) -> sp.Expr:
    for axis, times in enumerate(alpha):
        for _ in range(times):
            expression = jets.total_derivative(expression, axis)
    return expression


def with_laplacians(jets: JetSpace, expression: sp.Expr) -> sp.Expr:
    """Write sums of second derivatives along all axes as Laplacians, where that makes an expression shorter.

    >>> jets = JetSpace(["x", "y"])
    >>> with_laplacians(jets, sum(jets.symbol(Jet("u", a)) for a in ((2, 1), (0, 3))))
    lap(u_y)
    """
    expression, shorter = expanded(expression), True
    while shorter:
        shorter = False
        for jet in sorted(jets.jets_in(expression).values(), key=lambda j: (-j.order, j)):
            if jet.alpha[0] < 2:
                continue
            base = replace(jet, alpha=(jet.alpha[0] - 2, *jet.alpha[1:]))
            others = [jets.shifted(jets.shifted(base, axis), axis) for axis in range(1, jets.dimension)]
            lap = jets.symbol(replace(base, laps=base.laps + 1))
            written = expanded(expression.xreplace({jets.symbol(jet): lap - sp.Add(*map(jets.symbol, others))}))
            if len(sp.Add.make_args(written)) < len(sp.Add.make_args(expression)):
                expression, shorter = written, True
                break
    return expression


class _LineIntegral:
    """The potential of two fields with a divergence of zero: the integral of its gradient along straight lines."""

    def __init__(self, form: Potential, given: Mapping[str, Datum], origin: Array, time: float) -> None:
        self._form, self._given, self._origin, self._time = form, dict(given), origin, time
        names = next(iter(given.values())).coordinates
        parameters = [Parameter(str(name), Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        self.__signature__ = Signature(parameters)

    def __call__(self, *where: Any) -> Array:
        """Return the values, with as many points on each line as are needed."""
        tolerance = 1e-13
        x = np.stack(np.broadcast_arrays(*map(np.atleast_1d, where)), axis=-1).astype(float)
        flat, before = x.reshape(-1, x.shape[-1]), None
        for count in (16, 32, 64, 128, 256):
            found = self._integral(flat, count)
            size = np.max(np.abs(found), initial=1e-300)
            if before is not None and np.max(np.abs(found - before), initial=0.0) <= tolerance * size:
                break
            before = found
        return found.reshape(x.shape[:-1])

    def _integral(self, x: Array, count: int) -> Array:
        nodes, weights = np.polynomial.legendre.leggauss(count)
        along, total = x - self._origin, np.zeros(len(x))
        for s, w in zip((nodes + 1.0) / 2.0, weights / 2.0, strict=True):
            at = self._origin + s * along
            for name, operator in self._form.operators.items():
                ((alpha, factor),) = operator.items()
                values = self._given[name](at, self._time) - self._form.means[name]
                total += w * values / factor * along[:, alpha.index(1)]
        return total


def _number(value: float) -> sp.Expr:
    return sp.Integer(int(value)) if value == int(value) else sp.Float(value)
