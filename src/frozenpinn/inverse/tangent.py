"""How an evolution changes with what is unknown in its problem: one linear system for all directions at once.

With u_t = F(u, θ), s = ∂u/∂θ obeys s_t = Σ ∂F/∂jet · jet(s) + ∂F/∂θ, starts from ∂u₀/∂θ, and on the boundary
B s = ∂g/∂θ − ∂B/∂θ u. The unknown is z = P s, the projection of the whole s: then s = Ψ z + (Λ − ΨPΛ) ℓ(t), where Λ
lifts the boundary data ℓ, and no time derivative of these is needed. Second orders in time have velocities, too.

All columns of Y' = A(t) Y + F(t) are integrated at once by Radau IIA of order 5. One factorisation of the three stages
serves all columns, and, where A is constant, all steps of the same length: these are halved and doubled only, by the
embedded estimate of order 3 (Hairer & Wanner, Solving ODEs II, IV.8).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.linalg as sla
import sympy as sp

from frozenpinn.assembly.boundary import condition_terms, derivative_of, periodic_functionals
from frozenpinn.assembly.state import StateLayout
from frozenpinn.basis.boundary_layer import Functional
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.network import Network
from frozenpinn.geometry import BoundaryPoints, Points
from frozenpinn.inverse.sensitivity import Directions, condition_slopes, partials, slopes_by
from frozenpinn.language.jets import Jet
from frozenpinn.runtime.memo import Same
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.problem import Problem

Array = np.ndarray
State: TypeAlias = Callable[[Array, Array, Jet], Array]  #: derivatives of the solution at points and times, (n, m)


@dataclass(frozen=True, eq=False)
class Group:
    """Fields that share boundary conditions: a network that obeys these, and where they are posed."""

    network: Network
    order: int
    sides: tuple[tuple[LinearCondition, BoundaryPoints], ...]

    @cached_property
    def projector(self) -> Array:
        """P, shape (r, fields·n)."""
        return self.network.projector().dense()

    @cached_property
    def lifted(self) -> Array:
        """P Λ."""
        zero = Derivative((0,) * self.network.hidden.dimension)
        parts = [self.network.lift_operator(self.network.points.x, [Term(f, zero)]) for f in self.network.fields]
        return np.asarray(self.projector @ np.concatenate(parts))

    def own_projector(self, field: str) -> Array:
        """Return the columns of P for the equation of one field."""
        n, i = len(self.network.points.x), self.network.fields.index(field)
        return self.projector[:, i * n : (i + 1) * n]

    def tables(self, x: Array, jet: Jet) -> tuple[Array, Array]:
        """Return a derivative of all functions, and of what lifts boundary data, at points."""
        terms = [Term(jet.field, derivative_of(jet))]
        own = self.network.operator(x, terms)
        return own, self.network.lift_operator(x, terms) - own @ self.lifted


@dataclass(frozen=True, eq=False)
class TangentSpace:
    """Where the tangents of a problem are looked for."""

    groups: tuple[Group, ...]

    @cached_property
    def layout(self) -> StateLayout:
        """Where positions and velocities stand."""
        return StateLayout(tuple(g.network.size for g in self.groups), tuple(g.order for g in self.groups))

    def group_of(self, field: str) -> int:
        """Return the index of the group of a field."""
        return next(i for i, group in enumerate(self.groups) if field in group.network.fields)


def tangent_space(
    problem: Problem, hidden: HiddenLayer, points: Points, cutoff: float, per_side: int, unknowns: Sequence[Directions]
) -> TangentSpace:
    """Let a network obey the homogeneous conditions of every group of fields, and lift data where they are unknown."""
    atoms, groups = [atom for unknown in unknowns for atom in unknown.atoms], []
    method = "gauss" if problem.domain.dimension <= 3 else "sobol"
    for fields in problem.groups:
        conditions = [c for c in problem.conditions if set(c.fields) <= set(fields)]
        sides = tuple((c, problem.domain.sample_side(c.side, per_side, method, 0)) for c in conditions)
        rows = [Functional(((p.x, condition_terms(c, p)),)) for c, p in sides]
        lifts = any(e is not None and e.has(*atoms) for c in conditions for e in (*c.coefficients, c.value.expression))
        active = range(sum(len(p.x) for _, p in sides)) if lifts else ()
        if not hidden.repeats(problem.domain.lengths, problem.domain.periodic):  # such rows have nothing but round-off
            rows += periodic_functionals(problem, fields, per_side, method, 0)
        network = Network(hidden, points, tuple(fields)).comply_with(rows, tuple(active)).compress(cutoff)
        groups.append(Group(network, problem.equation(fields[0]).order, sides if lifts else ()))
    return TangentSpace(tuple(groups))


@dataclass(frozen=True, eq=False)
class _Term:
    """A derivative of the right-hand side of an equation by a jet, and the tables of that jet."""

    field: str
    jet: Jet
    partial: sp.Expr
    table: Array
    lift: Array


def _kept(unknown: Directions) -> Directions:
    """Return the same directions, with what they change at the same points kept, if that is the same at all times."""
    if unknown.depends_on_time or unknown.size == 1:
        return unknown
    known: dict[tuple[Same[Array], int], Array] = {}

    def changes(x: Array, t: float | Array, wanted: Sequence[int]) -> Sequence[Array]:
        places = Same(x)
        missing = [i for i in wanted if (places, i) not in known]
        for i, change in zip(missing, unknown.changes(x, t, missing), strict=True):
            known[places, i] = change
        return [known[places, i] for i in wanted]

    return replace(unknown, changes=changes)


class Tangent:
    """The system of all tangents at one solution.

    Parameters
    ----------
    problem, state
        The problem with values of the unknowns, and derivatives of its solution.
    space, unknowns
        Where tangents are looked for, and in which directions.
    """

    def __init__(self, problem: Problem, state: State, space: TangentSpace, unknowns: Sequence[Directions]) -> None:
        self.problem, self.state, self.space, self.unknowns = problem, state, space, tuple(map(_kept, unknowns))
        self.layout, self.size = space.layout, sum(u.size for u in unknowns)
        self.x = space.groups[0].network.points.x
        self.terms: list[_Term] = []
        for equation in problem.equations:
            for jet in problem.jets.jets_in(equation.right_side).values():
                partial = sp.diff(equation.right_side, problem.jets.symbol(jet))
                if partial != 0:
                    tables = space.groups[space.group_of(jet.field)].tables(self.x, jet)
                    self.terms.append(_Term(equation.field, jet, partial, *tables))
        self._constant = [t for t in self.terms if not self._varies(t.partial)]
        self._varying = [t for t in self.terms if self._varies(t.partial)]
        slopes = [e for eq in problem.equations for u in self.unknowns for _, e in partials(eq.right_side, u.atoms)]
        used = {j: None for e in (*slopes, *(t.partial for t in self._varying)) for j in self._jets(e)}
        self.jets = tuple(used)
        moving = any(u.depends_on_time for u in self.unknowns) or any(map(self._varies, slopes))
        self._steady = not moving and not self._varying and not any(g.sides for g in space.groups)
        self._recent: dict[float, list[Array]] = {}
        self._loads: dict[float, Array] = {}

    def _jets(self, expression: sp.Expr) -> list[Jet]:
        return list(self.problem.jets.jets_in(expression).values())

    def _varies(self, expression: sp.Expr) -> bool:
        return bool(self._jets(expression)) or self.problem.jets.t in expression.free_symbols

    @property
    def has_constant_matrix(self) -> bool:
        """Whether the matrix does not depend on time."""
        return not self._varying

    def _values(self, t: float) -> list[Array]:
        """Return the jets of the solution at the points."""
        if t not in self._recent:
            self.prepare(np.array([t]))
        return self._recent[t]

    def prepare(self, times: Array) -> None:
        """Evaluate the solution at several times at once, and forget what is over."""
        kept = {t: values for t, values in self._recent.items() if t >= times[0]}
        tables = [self.state(self.x, times, jet).T for jet in self.jets]
        self._recent = kept | {float(t): [table[i] for table in tables] for i, t in enumerate(times)}

    def evaluated(self, expressions: Sequence[sp.Expr], t: float) -> list[Array]:
        """Return expressions in jets of the solution at the points."""
        with np.errstate(all="ignore"):
            found = self.problem.compile(list(expressions), self.jets)(*self.x.T, t, *self._values(t))
        return [np.broadcast_to(value, len(self.x)) for value in found]

    # ---- the matrix -----------------------------------------------------------------------------

    def _blocks(self, terms: Sequence[_Term], t: float) -> tuple[Array, Array]:
        """Return what some terms add to the highest derivatives, from positions and from velocities."""
        layout = self.layout
        position = np.zeros((layout.coefficients, layout.coefficients))
        velocity = np.zeros((layout.coefficients, len(layout.moving)))
        places = np.cumsum(layout.second) - 1
        sums: dict[tuple[str, int, int], Array] = {}
        values = self.evaluated([term.partial for term in terms], t) if terms else []
        for term, value in zip(terms, values, strict=True):
            key = (term.field, self.space.group_of(term.jet.field), term.jet.time)
            sums[key] = sums.get(key, 0.0) + value[:, None] * term.table
        for (field, column, time), table in sums.items():
            row = self.space.group_of(field)
            block = self.space.groups[row].own_projector(field) @ table
            columns = layout.blocks[column]
            if time:
                start = int(places[columns.start])
                velocity[layout.blocks[row], start : start + block.shape[1]] += block
            else:
                position[layout.blocks[row], columns] += block
        return position, velocity

    @cached_property
    def _fixed(self) -> tuple[Array, Array]:
        return self._blocks(self._constant, self.problem.time[0])

    @cached_property
    def _fixed_matrix(self) -> Array:
        return self.layout.matrix(*self._fixed)

    def matrix(self, t: float) -> Array:
        """Return the matrix of the first-order form."""
        if not self._varying:
            return self._fixed_matrix
        (position, velocity), (more, faster) = self._fixed, self._blocks(self._varying, t)
        return self.layout.matrix(position + more, velocity + faster)

    # ---- right-hand sides -------------------------------------------------------------------------

    def forcing(self, t: float) -> Array:
        """Return what drives the tangents, one column for each direction."""
        moment = 0.0 if self._steady else t
        if moment not in self._loads:
            if len(self._loads) > 8:
                self._loads.pop(next(iter(self._loads)))
            self._loads[moment] = self._driven(t)
        return self._loads[moment]

    def _driven(self, t: float) -> Array:
        problem, layout = self.problem, self.layout
        highest = np.zeros((layout.coefficients, self.size))
        data = {(i, k): self.data(i, t, k) for i, g in enumerate(self.space.groups) if g.sides for k in range(g.order)}
        partial = self.evaluated([term.partial for term in self.terms], t) if data else []
        for equation in problem.equations:
            row = self.space.group_of(equation.field)
            values = slopes_by(problem, equation.right_side, self.unknowns, lambda s: self.evaluated(s, t), self.x, t)
            for term, factor in zip(self.terms, partial, strict=False):
                key = (self.space.group_of(term.jet.field), term.jet.time)
                if term.field == equation.field and key in data:
                    values = values + factor[:, None] * (term.lift @ data[key])
            highest[layout.blocks[row]] += self.space.groups[row].own_projector(equation.field) @ values
        return layout.joined(highest.T, 0.0).T

    def data(self, index: int, t: float, order: int = 0) -> Array:
        """Return ∂g/∂θ − ∂B/∂θ u of one group, or its time derivative, shape (rows, directions)."""
        start, end = self.problem.time
        if order:
            step = 1e-5 * (end - start)
            before, after = max(start, t - step), min(end, t + step)
            return (self.data(index, after) - self.data(index, before)) / (after - before)
        parts = []
        for condition, points in self.space.groups[index].sides:

            def values(jets: Sequence[Jet], x: Array = points.x) -> list[Array]:
                return [self.state(x, np.array([t]), jet)[:, 0] for jet in jets]

            parts.append(condition_slopes(self.problem, condition, points, values, self.unknowns, t))
        return np.concatenate(parts)

    @cached_property
    def initial(self) -> Array:
        """The tangents at the start."""
        problem, (start, _) = self.problem, self.problem.time
        parts = []
        for kind in (problem.initial, problem.initial_velocity):
            for group in self.space.groups:
                if kind is problem.initial_velocity and group.order < 2:
                    continue
                columns = [self._slope(kind[field].expression, start) for field in group.network.fields]
                parts.append(group.projector @ np.concatenate(columns))
        return np.concatenate(parts)

    def _slope(self, expression: sp.Expr | None, t: float) -> Array:
        if expression is None:
            return np.zeros((len(self.x), self.size))
        return slopes_by(
            self.problem, expression, self.unknowns, lambda s: self.problem.compile(s)(*self.x.T, t), self.x, t
        )


_S6 = 6**0.5
_NODES = np.array([(4 - _S6) / 10, (4 + _S6) / 10, 1.0])
_WEIGHTS = np.array(
    [
        [(88 - 7 * _S6) / 360, (296 - 169 * _S6) / 1800, (-2 + 3 * _S6) / 225],
        [(296 + 169 * _S6) / 1800, (88 + 7 * _S6) / 360, (-2 - 3 * _S6) / 225],
        [(16 - _S6) / 36, (16 + _S6) / 36, 1 / 9],
    ]
)
_ERROR = np.array([-13 - 7 * _S6, -13 + 7 * _S6, -1]) / 3
_INTERPOLATION = np.linalg.inv(np.vander([0.0, *_NODES], increasing=True))  # values at the nodes to powers


class Step(NamedTuple):
    """One step: its start and length, and the states at the start and at the three nodes, all columns."""

    start: float
    length: float
    states: tuple[Array, ...]

    @staticmethod
    def shares(part: Array) -> Array:
        """Return how states are weighted at parts (m,) of a step, shape (m, 4)."""
        return np.asarray(np.vander(part, 4, increasing=True) @ _INTERPOLATION)


def integrate_tangents(system: Tangent, rtol: float, take: Callable[[Step], None]) -> None:
    """Integrate all tangents, and hand on every step; errors are relative to the largest column.

    Steps are the time over powers of two. Times are announced many steps ahead.
    """
    ahead = 24  # steps whose values of the solution are evaluated at once
    longest, shortest = 4, 22  # powers of two
    (t0, t1), level, at, known = system.problem.time, longest, 0.0, dict[int, float]()
    state, factors, matrix, load = system.initial, _Factors(system), system.matrix(t0), system.forcing(t0)
    largest = float(np.max(np.linalg.norm(state, axis=0), initial=0.0))
    while at < 1.0:
        h = (t1 - t0) * 2.0**-level
        t = t0 + at * (t1 - t0)
        if at >= known.get(level, 0.0):
            known[level] = min(1.0, at + ahead * 2.0**-level)
            parts = at + 2.0**-level * np.arange(round((known[level] - at) * 2.0**level))
            system.prepare(np.ravel((t0 + parts * (t1 - t0))[:, None] + h * _NODES))
        times = [float(s) for s in t + h * _NODES]
        matrices, loads = [system.matrix(s) for s in times], [system.forcing(s) for s in times]
        factors.begin()
        states = factors.stages(h, matrices, state, loads)
        slope = matrix @ state + load
        defect = slope + sum(e * (z - state) for e, z in zip(_ERROR, states, strict=True)) / h
        error, sizes = factors.filtered(h, matrix, defect), np.linalg.norm(states[2], axis=0)
        reached = max(largest, float(np.max(sizes, initial=0.0)), 1e-300)
        ratio = float(np.max(np.linalg.norm(error, axis=0) / (sizes + 0.1 * reached), initial=0.0)) / rtol
        if not ratio <= 1.0 and level < shortest:
            level += 1
            continue
        take(Step(t, h, (state, *states)))
        state, load, largest, matrix = states[2], loads[2], reached, matrices[2]
        at += 2.0**-level
        if ratio < 0.03 and level > longest and (at * 2.0 ** (level - 1)).is_integer():
            level -= 1


class _Factors:
    """Factorisations of the stages; those of a constant matrix are kept by the length of the step."""

    def __init__(self, system: Tangent) -> None:
        self.constant = system.has_constant_matrix
        self.kept: dict[tuple[str, float], tuple[Array, Array]] = {}

    def begin(self) -> None:
        """Forget what belongs to matrices that have changed."""
        if not self.constant:
            self.kept.clear()

    def _get(self, key: tuple[str, float], make: Callable[[], Array]) -> tuple[Array, Array]:
        if key not in self.kept:
            self.kept[key] = sla.lu_factor(make(), overwrite_a=True, check_finite=False)
        return self.kept[key]

    def stages(self, h: float, matrices: list[Array], state: Array, loads: list[Array]) -> list[Array]:
        """Return the states at the nodes: I - h (a_ij A_j) times these are the state and the loads."""

        def make() -> Array:
            rows = [
                np.concatenate([-h * a * m for a, m in zip(row, matrices, strict=True)], axis=1) for row in _WEIGHTS
            ]
            whole = np.concatenate(rows)
            whole[np.diag_indices_from(whole)] += 1.0
            return whole

        right = np.concatenate([state + h * sum(a * f for a, f in zip(row, loads, strict=True)) for row in _WEIGHTS])
        return np.split(sla.lu_solve(self._get(("stages", h), make), right, check_finite=False), 3)

    def filtered(self, h: float, matrix: Array, defect: Array) -> Array:
        """Return the error of a step, without what is stiff."""
        real = 3 + 3 ** (2 / 3) - 3 ** (1 / 3)
        factors = self._get(("filter", h), lambda: real / h * np.eye(len(matrix)) - matrix)
        return np.asarray(sla.lu_solve(factors, defect, check_finite=False))
