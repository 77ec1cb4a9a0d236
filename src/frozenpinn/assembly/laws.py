"""Boundary laws kept while a solution evolves: of all rates of change that obey them, the ones next to the equations'.

A law G = 0 is differentiated in time until the highest time derivatives of the fields appear: C(t, y)·c⁽ᵐ⁾ + h(t, y) is
to vanish at points of the boundary. Among all rates that obey it, those are taken that differ least from what the
equations ask for, in the mean square. For a linear law this is the Galerkin method in the functions that obey it. A
multiple of G itself, pulled to zero, keeps round-off from adding up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import scipy.linalg as sla
import sympy as sp

from frozenpinn.assembly.boundary import derivative_of
from frozenpinn.assembly.spaces import Space
from frozenpinn.assembly.state import StateLayout
from frozenpinn.basis.hidden import Term
from frozenpinn.errors import EvaluationError, ProblemError
from frozenpinn.geometry import BoundaryPoints
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Program
from frozenpinn.runtime.round_off import ALIKE, TINY
from frozenpinn.statement.laws import BoundaryLaw
from frozenpinn.statement.problem import Problem

if TYPE_CHECKING:
    from frozenpinn.assembly.determined import Determined, Follow

Array = np.ndarray
State: TypeAlias = Sequence[Sequence[Array]]


@dataclass(frozen=True, eq=False)
class _Side:
    """One law at its points: maps from states to jets there, and the programs of its derivatives."""

    law: BoundaryLaw
    points: BoundaryPoints
    lower: tuple[Jet, ...]
    upper: tuple[Jet, ...]
    factors: Program  # of the highest time derivatives
    rest: Program
    by_lower: Program  # of rest and factors, by each lower jet
    levels: tuple[tuple[tuple[Jet, ...], Program, Program], ...]  # G and its derivatives below the highest

    def at(self, t: float) -> tuple[Array | float, ...]:
        """Return what programs take before the jets."""
        return (*self.points.x.T, *self.points.normals.T, t)


class Laws:
    """All laws of a system; the rates of change that they allow."""

    def __init__(
        self, problem: Problem, spaces: Sequence[Space], layout: StateLayout, determined: Determined | None = None
    ) -> None:
        pull = 5.0  # rate at which a law is pulled to zero, in units of one over the duration
        self.problem, self.spaces, self.layout, self.determined = problem, tuple(spaces), layout, determined
        self.count = layout.coefficients if determined is None else determined.count  # coefficients that evolve
        duration = problem.time[1] - problem.time[0]
        placed = [entry for space in spaces for entry in space.laws]
        self.sides = [_prepared(problem, law, points, pull / duration) for law, points in placed]
        self._maps: dict[tuple[int, Jet], Array] = {}
        self._lifts: dict[tuple[int, Jet], Array] = {}
        self._index = {name: i for i, space in enumerate(spaces) for name in space.fields}
        for k, side in enumerate(self.sides):
            for jet in {*side.lower, *side.upper, *(j for jets, *_ in side.levels for j in jets)}:
                self._add(k, jet, side.points.x)

    def _add(self, k: int, jet: Jet, x: Array) -> None:
        """Remember the map from coefficients to a jet at the points of a law."""
        network = self.spaces[self._index[jet.field]].network
        terms = [Term(jet.field, derivative_of(jet))]
        self._maps[k, jet] = network.operator(x, terms)
        if network.lift_size:
            self._lifts[k, jet] = network.lift_operator(x, terms)

    @cached_property
    def held(self) -> Array:
        """Which coefficients follow the laws: those of fields with the highest spatial derivatives in each."""
        mask = np.zeros(self.count, dtype=bool)
        for side in self.sides:
            for name in leading_fields(side.law, self.problem.evolving):
                mask[self.layout.blocks[self._index[name]]] = True
        return mask

    # ---- fields that follow from those that evolve -----------------------------------------------------

    def _whole(self, t: float, y: Array) -> State:
        """Return a state with the coefficients of all fields, split by space and time order."""
        if self.determined is None:
            return self.layout.split(y)
        z = self.determined(t, y)
        return self.layout.split(self.determined.joined(y, z if np.all(np.isfinite(z)) else self.determined.start))

    def _folded(self, columns: Array, follow: Follow | None) -> Array:
        """Return derivatives by the state of all fields, in columns, as derivatives by what evolves."""
        if follow is None or self.determined is None:
            return columns
        z = self.determined.other
        own = np.concatenate([columns[:, : z.start], columns[:, z.stop :]], axis=1)
        return np.asarray(own + columns[:, z] @ follow.slopes[:, : own.shape[1]])

    # ---- jets on the boundary ---------------------------------------------------------------------

    def _jet(self, k: int, jet: Jet, t: float, state: State) -> Array:
        """Return a jet at the points, from a state that is split by space and time order."""
        i = self._index[jet.field]
        value = self._maps[k, jet] @ state[i][jet.time]
        if (k, jet) in self._lifts:
            value = value + self._lifts[k, jet] @ self.spaces[i].data(t, jet.time)
        return np.asarray(value)

    def _rows(self, k: int, jet: Jet, factor: Array | float, out: Array) -> None:
        """Add factor·(jet as a function of coefficients) to rows on all coefficients."""
        block = self.layout.blocks[self._index[jet.field]]
        out[:, block] += np.reshape(factor, (-1, 1)) * self._maps[k, jet]

    def _columns(self, jet: Jet) -> slice:
        """Return where the coefficients or velocities of a jet stand in a state."""
        i = self._index[jet.field]
        if jet.time == 0:
            return self.layout.blocks[i]
        start = self.layout.coefficients + sum(
            size for size, order in zip(self.layout.sizes[:i], self.layout.orders[:i], strict=True) if order == 2
        )
        return slice(start, start + self.layout.sizes[i])

    # ---- constraints on the rates -------------------------------------------------------------------

    def _constraint(self, t: float, state: State, follow: Follow | None) -> tuple[Array, Array, list[list[Array]]]:
        """Return C and h at all points, without weights, and the values of lower jets."""
        rows, values, lowers = [], [], []
        for k, side in enumerate(self.sides):
            lower = [self._jet(k, jet, t, state) for jet in side.lower]
            with np.errstate(all="ignore"):
                factors = side.factors(*side.at(t), *lower)
                (rest,) = side.rest(*side.at(t), *lower)
            out = np.zeros((len(side.points.x), self.layout.coefficients))
            value = np.array(np.broadcast_to(rest, len(out)), dtype=float)
            for jet, factor in zip(side.upper, factors, strict=True):
                self._rows(k, jet, factor, out)
                if (k, jet) in self._lifts:
                    data = self.spaces[self._index[jet.field]].data(t, jet.time)
                    value += factor * (self._lifts[k, jet] @ data)
            if follow is not None and self.determined is not None:
                value += out[:, self.determined.other] @ follow.by_itself
            rows.append(self._folded(out, follow))
            values.append(value)
            lowers.append(lower)
        return np.concatenate(rows), np.concatenate(values), lowers

    def _factors(self, side: _Side, t: float, lower: Sequence[Array]) -> Array:
        """Return the absolute factors of the highest time derivatives, (jets, points)."""
        n = len(side.points.x)
        with np.errstate(all="ignore"):
            return np.abs([np.broadcast_to(f, n) for f in side.factors(*side.at(t), *lower)])

    @cached_property
    def _weights(self) -> Array:
        """Square roots of the weights of the points of all laws, so that squares add up to a mean over each side."""
        return np.concatenate([np.sqrt(s.points.weights / np.sum(s.points.weights)) for s in self.sides])

    @cached_property
    def _tests(self) -> Array:
        """Combinations of points at which laws are asked for, shape (k, points): no more than the features can obey.

        They are weighted as features are, with their singular values, so that rough functions do not count more.
        """
        nothing, (t0, t1) = np.zeros_like(self._typical), self.problem.time
        rows = [self._at(t, y)[0] for t in (t0, 0.5 * (t0 + t1)) for y in (nothing, self._typical)]
        seen = self._seen[self.held]
        rows = [np.where(np.isfinite(r), r, 0.0)[:, self.held] * self._weights[:, None] * seen for r in rows]
        if len(self._weights) <= 16:  # few and independent
            return np.asarray(np.diag(self._weights))
        u, s, _ = np.linalg.svd(np.concatenate(rows, axis=1), full_matrices=False)
        return np.asarray(u[:, s > ALIKE * s[0]].T * self._weights)

    @cached_property
    def _seen(self) -> Array:
        """The singular values of all functions, relative to the largest of their space."""
        own = [s.network.singular_values / s.network.singular_values[0] for s in self.spaces]
        return np.concatenate(own)[: self.count]

    @cached_property
    def _typical(self) -> Array:
        """A state that stands for others: the one that fits the initial data."""
        y = np.zeros(self.count + len(self.layout.moving))
        x = self.spaces[0].network.points.x
        for block, space in zip(self.layout.blocks, self.spaces, strict=True):
            if block.start >= self.count:
                break
            values = [np.broadcast_to(self.problem.initial[n](x, self.problem.time[0]), len(x)) for n in space.fields]
            y[block] = space.network.projector() @ np.concatenate(values)
        return y

    def _at(self, t: float, y: Array) -> tuple[Array, Array, list[list[Array]]]:
        """Return C, h and lower jets for a state of what evolves."""
        return self._constraint(t, self._whole(t, y), None if self.determined is None else self.determined.follow(t, y))

    def rates(self, t: float, y: Array, highest: Array) -> Array:
        """Return the rates next to given ones that obey all laws."""
        rows, value, _ = self._at(t, y)
        rows, value = self._tests @ rows, self._tests @ value
        gap = rows @ highest + value
        out = highest.copy()
        out[self.held] -= _least(rows[:, self.held], gap)
        return out

    def jacobian(self, t: float, y: Array, highest: Array, slopes: Array) -> Array:
        """Return the derivative of :meth:`rates` by the state, given that of the rates of the equations, (R, size)."""
        follow = None if self.determined is None else self.determined.follow(t, y)
        rows, value, lowers = self._constraint(t, self._whole(t, y), follow)
        tests, held = self._tests, self.held
        own = tests @ rows[:, held]
        q, r = sla.qr(own.T, mode="economic", check_finite=False)
        gap = tests @ (rows @ highest + value)
        multipliers = sla.solve_triangular(r, sla.solve_triangular(r, gap, trans="T", check_finite=False))
        found = highest.copy()
        found[held] -= own.T @ multipliers
        pull = tests.T @ multipliers
        if follow is not None and self.determined is not None:
            found = np.concatenate([found, follow.slopes[:, : self.count] @ found + follow.by_itself])
        whole = (len(value), self.layout.size), (self.layout.coefficients, self.layout.size)
        (direct, indirect), start = map(np.zeros, whole), 0
        for k, side in enumerate(self.sides):
            part = slice(start, start + len(side.points.x))
            start = part.stop
            by_lower = self._by_lower(side, t, lowers[k])
            upper = [self._jet_of_rates(k, jet, t, found) for jet in side.upper]
            for j, jet in enumerate(side.lower):
                table, columns = by_lower[j], self._columns(jet)
                total = table[0] + sum(f * u for f, u in zip(table[1:], upper, strict=True))
                direct[part, columns] += np.reshape(total, (-1, 1)) * self._maps[k, jet]
                for factor, top in zip(table[1:], side.upper, strict=True):
                    if np.any(factor):
                        block = self.layout.blocks[self._index[top.field]]
                        scaled = np.reshape(factor * pull[part], (-1, 1)) * self._maps[k, jet]
                        indirect[block, columns] += self._maps[k, top].T @ scaled
        direct, indirect = self._folded(direct, follow), self._folded(indirect, follow)
        if follow is not None:
            indirect = indirect[: self.count] + follow.slopes[:, : self.count].T @ indirect[self.count :]
        moved = slopes - indirect * held[:, None]
        out = moved.copy()
        change = tests @ (rows @ moved + direct)
        out[held] -= q @ sla.solve_triangular(r, change, trans="T", check_finite=False)
        return out

    def _by_lower(self, side: _Side, t: float, lower: list[Array]) -> list[list[Array]]:
        """Return, for each lower jet, the derivatives of rest and factors by it."""
        with np.errstate(all="ignore"):
            flat = [np.broadcast_to(v, len(side.points.x)) for v in side.by_lower(*side.at(t), *lower)]
        each = 1 + len(side.upper)
        return [flat[i * each : (i + 1) * each] for i in range(len(side.lower))]

    def _jet_of_rates(self, k: int, jet: Jet, t: float, highest: Array) -> Array:
        i = self._index[jet.field]
        value = self._maps[k, jet] @ highest[self.layout.blocks[i]]
        if (k, jet) in self._lifts:
            value = value + self._lifts[k, jet] @ self.spaces[i].data(t, jet.time)
        return np.asarray(value)

    # ---- kinds --------------------------------------------------------------------------------------

    @property
    def is_linear(self) -> bool:
        """Whether all laws are linear."""
        return all(side.law.is_linear for side in self.sides)

    @property
    def has_constant_coefficients(self) -> bool:
        """Whether all laws are linear with constant coefficients."""
        return all(side.law.has_constant_coefficients for side in self.sides)

    @property
    def depends_on_time(self) -> bool:
        """Whether time itself, or boundary data that depend on it, occur in a law."""
        lifted = any(self.spaces[self._index[jet.field]].data.depends_on_time for _, jet in self._lifts)
        return lifted or any(side.law.depends_on_time for side in self.sides)

    # ---- a start that obeys the laws ------------------------------------------------------------------

    def consistent(self, t: float, y: Array) -> Array:
        """Return the state next to a given one that obeys all laws, by Newton's method."""
        tolerance = 1e-12  # correction, relative to the size of the state, after which it stops
        rounds = 30  # of Newton's method for a consistent start
        self._check_determined(t, y)
        y, size = y.copy(), max(float(np.linalg.norm(y)), TINY)
        for _ in range(rounds):
            rows, gap = self._violation(t, y)
            if not len(gap):
                return y
            if not (np.all(np.isfinite(rows)) and np.all(np.isfinite(gap))):
                text = self.sides[0].law.text
                raise EvaluationError(f"the boundary condition '{text}' is not finite at the initial data.")
            step = sla.lstsq(rows, gap, cond=ALIKE)[0]
            y -= step
            if np.linalg.norm(step) <= tolerance * size:
                break
        return y

    def _check_determined(self, t: float, y: Array) -> None:
        """Refuse laws that say nothing about the rates at the start, or are not finite there."""
        round_off = 1e-10  # part of usual factors of the highest time derivatives that determines nothing
        size = float(np.linalg.norm(y)) or 1.0
        for k, side in enumerate(self.sides):
            there = [self._jet(k, jet, t, self._whole(t, y)) for jet in side.lower]
            elsewhere = [np.full(len(side.points.x), size) for _ in side.lower]
            own, usual = (self._factors(side, t, lower) for lower in (there, elsewhere))
            largest = max(np.max(own), np.nanmax(usual, initial=0.0, where=np.isfinite(usual)))
            if not np.all(np.isfinite(own)) or not np.min(np.sum(own, axis=0)) > round_off * largest:
                raise ProblemError(
                    f"the boundary condition '{side.law.text}' on '{side.law.side.name}' does not determine the "
                    f"solution at t = {t:g}: its derivatives by the fields vanish or are infinite at the initial data. "
                    "Write it another way, such as 'u = 0' for 'u**2 = 0', or start elsewhere."
                )

    def _violation(self, t: float, y: Array) -> tuple[Array, Array]:
        """Return what is left of laws and of their time derivatives below the highest, and the derivatives by y."""
        state, places = self._whole(t, y), np.cumsum([0, *(len(side.points.x) for side in self.sides)])
        follow = None if self.determined is None else self.determined.follow(t, y)
        free = np.concatenate([self.held, self.held[self.layout.moving]])
        rows, gaps = [], []
        for level in range(max(len(side.levels) for side in self.sides)):
            own, left = np.zeros((places[-1], self.layout.size)), np.zeros(places[-1])
            for k, side in enumerate(self.sides):
                if level >= len(side.levels):
                    continue
                part = slice(places[k], places[k + 1])
                jets, value, partials = side.levels[level]
                values = [self._jet(k, jet, t, state) for jet in jets]
                with np.errstate(all="ignore"):
                    left[part] = value(*side.at(t), *values)[0]
                    slopes = partials(*side.at(t), *values)
                for jet, slope in zip(jets, slopes, strict=True):
                    own[part, self._columns(jet)] += np.reshape(slope, (-1, 1)) * self._maps[k, jet]
            rows.append(self._tests @ np.where(free, self._folded(own, follow), 0.0))
            gaps.append(self._tests @ left)
        return np.concatenate([np.zeros((0, len(y))), *rows]), np.concatenate([np.zeros(0), *gaps])


def leading_fields(law: BoundaryLaw, evolving: Sequence[str]) -> list[str]:
    """Return the evolving fields with the highest derivatives in a law: they follow it, whatever the others do."""
    own = [name for name in law.fields if name in evolving]
    orders = {name: max(j.order + j.time for j in law.jets_in() if j.field == name) for name in own}
    return [name for name in own if orders[name] == max(orders.values())]


def law_places(
    problem: Problem, fields: Sequence[str], per_side: int
) -> tuple[tuple[BoundaryLaw, BoundaryPoints], ...]:
    """Return the laws that a group of fields follows, with points of their sides."""
    method = "gauss" if problem.domain.dimension <= 3 else "sobol"
    return tuple(
        (law, problem.domain.sample_side(law.side, per_side, method, 0))
        for law in problem.laws
        if leading_fields(law, problem.evolving or problem.fields)[0] in fields
    )


def _least(rows: Array, gap: Array) -> Array:
    """Return the smallest x with rows·x = gap."""
    few = 4  # rows that are far from dependent, as those of the ends of an interval
    if len(rows) <= few:
        return np.asarray(rows.T @ np.linalg.solve(rows @ rows.T, gap))
    q, r = sla.qr(rows.T, mode="economic", check_finite=False)
    return np.asarray(q @ sla.solve_triangular(r, gap, trans="T", check_finite=False))


def _prepared(problem: Problem, law: BoundaryLaw, points: BoundaryPoints, pull: float) -> _Side:
    """Differentiate a law in time until the highest derivatives of the fields appear, and compile all parts."""
    order = max(problem.equation(name).order for name in law.fields)
    missing = order - law.time_order
    derivatives = [law.differentiated(k) for k in range(missing + 1)]
    total = sum((sp.binomial(missing, k) * pull ** (missing - k) * d for k, d in enumerate(derivatives)), sp.Integer(0))
    jets = law.jets_in(total)
    upper = tuple(jet for jet in jets if jet.time == order)
    lower = tuple(jet for jet in jets if jet not in upper)
    symbol = law.jets.symbol
    factors = [sp.diff(total, symbol(jet)) for jet in upper]
    rest = total.xreplace({symbol(jet): sp.Integer(0) for jet in upper})
    by_lower = [sp.diff(e, symbol(jet)) for jet in lower for e in (rest, *factors)]
    levels = []
    for derivative in derivatives[:missing]:
        own = tuple(law.jets_in(derivative))
        partials = [sp.diff(derivative, symbol(jet)) for jet in own]
        levels.append((own, law.compile([derivative], own), law.compile(partials, own)))
    return _Side(
        law,
        points,
        lower,
        upper,
        law.compile(factors, lower),
        law.compile([rest], lower),
        law.compile(by_lower, lower),
        tuple(levels),
    )
