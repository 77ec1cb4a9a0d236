"""A problem on an interval in coordinates that move with thin fronts.

A point ξ of the moving coordinate is at x = ξ + (t − t₀)·V(ξ). V is the velocity of each front where the front is, and
nothing at both ends of the interval; in between it goes smoothly from one to the next, and is flat at both. So
conditions of low order stay as they are. With X = ∂x/∂ξ a solution u(x, t) = w(ξ, t) has

    u_x = w_ξ / X,    u_t = w_t − V·w_ξ / X.

A front that travels is at rest there, and an implicit method takes long steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import sympy as sp
from numpy.polynomial import Polynomial
from sympy.core.function import AppliedUndef

from frozenpinn.language.jets import Jet
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.views import Inner, Places, Request, View

Array = np.ndarray
_ORDERS = 7  # derivatives of a solution that can be asked for, and one
_SMOOTH = Polynomial([0.0] * 5 + [126.0, -420.0, 540.0, -315.0, 70.0])  # from 0 to 1, flat to fourth order at both
_STEPS = [_SMOOTH.deriv(k) if k else _SMOOTH for k in range(_ORDERS + 1)]
_X = sp.symbols(f"X1:{_ORDERS + 2}")  # ∂x/∂ξ and its derivatives
_V = sp.symbols(f"V0:{_ORDERS + 2}")  # the velocity and its derivatives


@dataclass(frozen=True, eq=False)
class MovingFrame(View):
    """Coordinates that move with fronts from a time on.

    Attributes
    ----------
    since
        When they are those of the problem.
    knots
        The ends of the interval and the fronts between them, from left to right, …
    speeds
        … and the velocity of each.
    """

    since: float
    knots: tuple[float, ...]
    speeds: tuple[float, ...]
    name: ClassVar[str] = "moving coordinates"
    keeps_axes: ClassVar[bool] = False

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval."""
        return self.knots[0], self.knots[-1]

    def velocity(self, xi: Array, order: int = 0) -> Array:
        """Return V or a derivative of it."""
        total = np.full_like(xi, self.speeds[0] if order == 0 else 0.0)
        for a, b, before, after in self._parts:
            if before != after:
                s = np.clip((xi - a) / (b - a), 0.0, 1.0)
                total += (after - before) / (b - a) ** order * _STEPS[order](s)
        return total

    def _formula(self, xi: sp.Symbol, order: int) -> sp.Expr:
        """Return the same as an expression."""
        total = sp.Float(self.speeds[0]) if order == 0 else sp.Integer(0)
        for a, b, before, after in self._parts:
            if before != after:
                above = sp.Max((xi - sp.Float(a)) / sp.Float(b - a), 0, evaluate=False)
                s, step = sp.Min(above, 1, evaluate=False), sp.Integer(0)
                for c in reversed(_STEPS[order].coef):
                    step = sp.Float(c) + s * step if c else s * step
                total += sp.Float((after - before) / (b - a) ** order) * step
        return total

    @property
    def _parts(self) -> list[tuple[float, float, float, float]]:
        return [(a, b, v, w) for (a, b), (v, w) in zip(pairwise(self.knots), pairwise(self.speeds), strict=True)]

    @property
    def longest(self) -> float:
        """For how long distances change by no more than a half."""
        steepest = float(_STEPS[1](0.5))
        slopes = [steepest * abs(w - v) / (b - a) for a, b, v, w in self._parts]
        return 0.5 / max(*slopes, 1e-300)

    def position(self, xi: Array, t: float | Array) -> Array:
        """Return where points of the moving coordinate are."""
        return np.asarray(xi + (t - self.since) * self.velocity(xi))

    def stretch(self, xi: Array, t: float | Array) -> Array:
        """Return ∂x/∂ξ."""
        return np.asarray(1.0 + (t - self.since) * self.velocity(xi, 1))

    def origin(self, x: Array, t: float | Array) -> Array:
        """Return the moving coordinates of places."""
        xi = np.array(x, dtype=float)
        settled = 1e-14 * (self.ends[1] - self.ends[0])
        for _ in range(60):  # steps of Newton's method; five are usual
            step = (self.position(xi, t) - x) / self.stretch(xi, t)
            xi = np.clip(xi - step, *self.ends)
            if np.max(np.abs(step), initial=0.0) <= settled:
                break
        return xi

    def terms(self, jet: Jet, xi: Array, t: float | Array) -> list[tuple[Jet, Array]]:
        """Return the derivatives by ξ and t, with their factors, that a derivative by x and t consists of."""
        tau = np.broadcast_to(np.asarray(t - self.since, dtype=float), xi.shape)
        v = [self.velocity(xi, k) for k in range(_ORDERS + 1)]
        x = [float(k == 1) + tau * v[k] for k in range(1, _ORDERS + 1)]
        return [
            (Jet(jet.field, (order,), time=time), np.broadcast_to(factor(*x, *v), xi.shape))
            for order, time, factor in _chain(jet.order, jet.time)
        ]

    def values(self, inner: Inner, request: Request) -> Array:
        """Return values at places of the problem from values at places that move, by the chain rule."""
        x, times, arrangement, _ = request.places
        if arrangement == "pairs":
            return request.summed(lambda jet: self._moved(x[:, 0], times, jet, inner))

        def at(t: Array) -> Array:
            def column(own: Request) -> Array:
                return inner(own._replace(places=Places(own.places.x, t)))[:, 0]

            return request.summed(lambda jet: self._moved(x[:, 0], t, jet, column))

        return np.stack([at(times[k : k + 1]) for k in range(len(times))], axis=1)

    def _moved(self, x: Array, times: Array, jet: Jet, inner: Inner) -> Array:
        """Return a derivative at pairs of places and times, (n,)."""
        xi = self.origin(x, times)
        places = Places(xi[:, None], times, "pairs")
        parts = [factor * inner(Request.of(places, own)) for own, factor in self.terms(jet, xi, times)]
        return np.asarray(sum(parts))

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> MovingFrame:
        """Return what was stored."""
        return cls(stored["since"], tuple(stored["knots"]), tuple(stored["speeds"]))

    def seen(self, problem: Problem) -> Problem:
        """Return the same problem in these coordinates, with every term among the nonlinear ones."""
        return problem.replaced(
            equations=tuple(self._equation(problem, e) for e in problem.equations), exact={}, given={}
        )

    def _equation(self, problem: Problem, equation: Equation) -> Equation:
        jets, xi = problem.jets, problem.jets.x[0]
        tau = jets.t - sp.Float(self.since)
        velocity = [self._formula(xi, k) for k in range(jets_order(equation, problem) + 2)]
        values: dict[sp.Expr, sp.Expr] = dict(zip(_V, velocity, strict=False))
        values |= {_X[k - 1]: int(k == 1) + tau * v for k, v in enumerate(velocity) if k}
        table: dict[sp.Expr, sp.Expr] = {xi: xi + tau * velocity[0]}
        for symbol, jet in jets.jets_in(equation.right_side).items():
            table[symbol] = sp.Add(
                *(
                    factor.xreplace(values) * jets.symbol(Jet(jet.field, (order,)))
                    for order, _, factor in _symbolic_chain(jet.order, 0)
                )
            )
        drift = (_V[0] / _X[0]).xreplace(values) * jets.symbol(Jet(equation.field, (1,)))
        right = equation.right_side.xreplace(table) + drift
        zero = sp.Integer(0)
        return replace(equation, right_side=right, linear={}, linear_in_time={}, forcing=zero, nonlinear=right)


def jets_order(equation: Equation, problem: Problem) -> int:
    """Return the highest derivative in an equation."""
    return max((jet.order for jet in problem.jets.jets_in(equation.right_side).values()), default=0)


def can_move(problem: Problem) -> bool:
    """Whether a problem can be seen from moving coordinates: local formulas of first order in time on an interval."""
    domain = problem.domain
    plain = (
        domain.dimension == 1
        and not problem.determined
        and not any(domain.periodic)
        and not problem.is_static
        and problem.frame is None
    )
    alone = problem.interfaces is None and problem.before is None and not (problem.laws or problem.points)
    if not (plain and alone and not problem.constraints):
        return False
    if any(jet.order > 1 for condition in problem.conditions for jet in condition.jets):
        return False
    return all(
        e.order == 1
        and not e.mass
        and not e.nonlocal_linear
        and not e.right_side.atoms(AppliedUndef)
        and not problem.jets.quantities_in(e.right_side)
        and jets_order(e, problem) < _ORDERS - 1
        for e in problem.equations
    )


@lru_cache(maxsize=64)
def _symbolic_chain(order: int, time: int) -> tuple[tuple[int, int, sp.Expr], ...]:
    """Return (derivatives by ξ, by t, factor) of what ∂ₓ^order ∂ₜ^time is, in the symbols of X and V."""
    factors: dict[tuple[int, int], sp.Expr] = {(0, 0): sp.Integer(1)}
    for _ in range(order):
        factors = _along(factors, 1 / _X[0])
    for _ in range(time):
        moved = _along(factors, -_V[0] / _X[0])
        for (k, m), factor in factors.items():
            rate = sp.Add(*(sp.diff(factor, x) * _V[n + 1] for n, x in enumerate(_X[:-1])))
            moved[k, m] = moved.get((k, m), sp.Integer(0)) + rate
            moved[k, m + 1] = moved.get((k, m + 1), sp.Integer(0)) + factor
        factors = moved
    return tuple((k, m, factor) for (k, m), factor in sorted(factors.items()) if factor != 0)


def _along(factors: dict[tuple[int, int], sp.Expr], scale: sp.Expr) -> dict[tuple[int, int], sp.Expr]:
    """Return scale·∂ξ of a sum of derivatives with factors."""
    found: dict[tuple[int, int], sp.Expr] = {}
    for (k, m), factor in factors.items():
        inner = sp.Add(*(sp.diff(factor, x) * y for x, y in pairwise(_X)))
        inner += sp.Add(*(sp.diff(factor, v) * w for v, w in pairwise(_V)))
        found[k, m] = found.get((k, m), sp.Integer(0)) + scale * inner
        found[k + 1, m] = found.get((k + 1, m), sp.Integer(0)) + scale * factor
    return found


@lru_cache(maxsize=64)
def _chain(order: int, time: int) -> tuple[tuple[int, int, Any], ...]:
    """Return the same with functions of the values of X₁, X₂, … and V₀, V₁, …."""
    arguments = (*_X[:_ORDERS], *_V[: _ORDERS + 1])
    return tuple((k, m, sp.lambdify(arguments, factor)) for k, m, factor in _symbolic_chain(order, time))
