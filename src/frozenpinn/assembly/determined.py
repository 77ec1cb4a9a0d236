"""Fields without a time derivative as functions of those that evolve: z(t, y) with 0 = R(t, y, z).

The equations are taken at the quadrature points and multiplied by an inverse D of ∂R/∂z, so that they read

    0 = D R = z + (what depends on t and y, and not linearly on z).

On single networks, D is the least-squares inverse of ∂R/∂z at the points at the start, as static problems have it: it
takes first-order systems, and singular operators, of which it leaves out what they vanish on, such as constants. On
products it divides in the modes of the axes. Terms that are not linear in z take Newton's method, from the values that
were found last, so that a root is followed for as long as there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sps

from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.assembly.nonlinear import PointwisePart, pointwise_terms
from frozenpinn.assembly.projection import Divider, own_terms
from frozenpinn.assembly.spaces import Space
from frozenpinn.errors import ConvergenceError, ProblemError
from frozenpinn.operators import Block, Dense, Identity, Inverse, MatrixFree, Operator, Sparse
from frozenpinn.operators.gmres import gmres
from frozenpinn.operators.inverse import vanishing
from frozenpinn.runtime.round_off import ROUND_OFF, TINY
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.structure import free_constants, is_linear_in_determined

Array = np.ndarray
State: TypeAlias = list[list[Array]]  #: coefficients, and velocities of second-order fields, of each space
Slopes: TypeAlias = Callable[[Array], Array]  #: changes of all rows for a change of the state of all fields


# ---- inverses ---------------------------------------------------------------------------------------------


def dividers(problem: Problem, spaces: Sequence[Space], t: float, known: State) -> list[Divider]:
    """Return the inverse of the equations of each determined space, of which ``known`` is what evolves.

    Of equations that are not linear in what they determine, it is that at their solution at the start.
    """
    determined = spaces[len(known) :]
    if all(space.network.is_product for space in spaces):
        return [_along_axes(problem, space) for space in determined]
    system = _AtPoints(problem, spaces, t, known)
    z = system.solution([_guess(problem, space, t) for space in determined])
    _, slopes = system.rows(z)
    found = []
    for space, rows, columns, own in zip(determined, system.places, system.columns, z, strict=True):
        weights = np.tile(system.weights, len(space.fields))
        found.append(_least_squares(problem, space, slopes[rows, columns], weights, own))
    return found


def _least_squares(problem: Problem, space: Space, slopes: Array, weights: Array, start: Array) -> Divider:
    """Return the least-squares inverse at the points; constants that equations do not see are left out."""
    free, count = [name for name in space.fields if name in free_constants(problem)], len(space.network.points.x)
    rows = np.linalg.norm(slopes.reshape(len(space.fields), -1), axis=1)
    scales = np.repeat(1.0 / np.where(rows > 0, rows, 1.0), count)  # equations of any order count alike
    slopes, weights = scales[:, None] * slopes, scales * weights
    if not free:
        return Divider(Dense(np.linalg.pinv(slopes, rcond=ROUND_OFF) * weights), None, None, start)
    constants = np.zeros((len(weights), len(free)))
    for k, name in enumerate(free):
        place = space.fields.index(name) * count
        constants[place : place + count, k] = 1.0
    directions, _ = np.linalg.qr(space.network.projector() @ constants)
    typical = np.median(np.linalg.norm(slopes, axis=0))
    inverse = np.linalg.pinv(np.concatenate([slopes, typical * directions.T]), rcond=ROUND_OFF)[:, : len(slopes)]
    return Divider(Dense(inverse * weights), None, directions @ directions.T, start)


def _along_axes(problem: Problem, space: Space) -> Divider:
    """Return the inverse on a product, by division in the modes of the axes."""
    own = space.network.galerkin(own_terms(problem, space), space.network)
    inverse = None if own is None else Inverse.of(own)
    assert inverse is not None, "as is_separable has found"
    return Divider(space.network.projector(), inverse, None, np.zeros(space.network.size))


def _guess(problem: Problem, space: Space, t: float) -> Array:
    """Return coefficients from what a user has given as a start."""
    given = [problem.guess.get(name) for name in space.fields]
    if not any(datum is not None for datum in given):
        return np.zeros(space.network.size)
    x = space.network.points.x
    values = [np.zeros(len(x)) if datum is None else np.broadcast_to(datum(x, t), len(x)) for datum in given]
    return np.asarray(space.network.projector() @ np.concatenate(values))


class _AtPoints:
    """The equations of determined fields at the points at one time, with weights, and Gauss–Newton steps for them."""

    def __init__(self, problem: Problem, spaces: Sequence[Space], t: float, known: State) -> None:
        self.problem, self.t, self.known = problem, t, known
        determined, points = spaces[len(known) :], spaces[0].network.points
        self.names = [name for space in determined for name in space.fields]
        self.part = PointwisePart(problem, spaces, points.x, {n: problem.equation(n).right_side for n in self.names})
        self.weights, self._first = np.sqrt(points.weights), len(known)
        rows = np.cumsum([0, *(len(points.x) * len(space.fields) for space in determined)])
        ends = np.cumsum([0, *(space.network.size for space in determined)])
        self.places = [slice(a, b) for a, b in pairwise(rows)]
        self.columns = [slice(a, b) for a, b in pairwise(ends)]

    def left(self, z: Sequence[Array]) -> Array:
        """Return what is left of the equations."""
        found = {name: values for _, name, values in self.part.values(self.t, [*self.known, *([own] for own in z)])}
        return np.concatenate([self.weights * found[name] for name in self.names])

    def rows(self, z: Sequence[Array]) -> tuple[Array, Array]:
        """Return the same, and its derivative by all coefficients of determined fields."""
        left, n = self.left(z), len(self.weights)
        slopes = np.zeros((len(left), self.columns[-1].stop))
        for _, name, space, _, matrix in self.part.jacobian(self.t, [*self.known, *([own] for own in z)]):
            if space >= self._first:
                row = self.names.index(name) * n
                slopes[row : row + n, self.columns[space - self._first]] += self.weights[:, None] * matrix
        return left, slopes

    def _less(self, z: Sequence[Array], size: float) -> bool:
        """Whether the squares of what is left add up to less."""
        left = self.left(z)
        return bool(left @ left <= size)

    def solution(self, z: list[Array]) -> list[Array]:
        """Return the solution of the equations next to a guess; of linear ones the guess, as any place is as good."""
        rounds, close, near, least = 50, 1e-12, 1e-6, 1e-4  # steps; corrections that end them, or are taken whole
        if is_linear_in_determined(self.problem):
            return z
        for _ in range(rounds):
            left, slopes = self.rows(z)
            if not np.all(np.isfinite(left)):
                break
            step = np.linalg.lstsq(slopes, left, rcond=ROUND_OFF)[0]
            norm = float(np.sqrt(sum(own @ own for own in z)))
            size, share, moved = float(left @ left), 1.0, float(np.linalg.norm(step))
            gain = size - float(np.sum((left - slopes @ step) ** 2))  # of the linear model
            other = [own - step[c] for own, c in zip(z, self.columns, strict=True)]
            while moved > near * norm and share > least and not self._less(other, size - 0.1 * share * gain):
                share *= 0.5
                other = [own - share * step[c] for own, c in zip(z, self.columns, strict=True)]
            z = other
            if moved <= close * max(norm, TINY) or size == 0.0:
                return z
            if share <= least:
                break
        raise ConvergenceError(no_solution(self.problem, self.names, self.t))


def _left_out(divider: Divider, space: Space) -> Array:
    """Return the projector on the functions that an inverse takes to zero."""
    if divider.left_out is not None:
        return divider.left_out
    out, n = np.zeros((space.network.size,) * 2), space.network.size
    if isinstance(divider.inverse, Inverse):
        modes = divider.inverse.spectrum_of
        for k in np.flatnonzero(vanishing(modes.eigenvalues)):
            unit = np.zeros(n)
            unit[k] = 1.0
            out += np.outer(modes.vectors @ unit, modes.left.T @ unit)
    return out


def no_solution(problem: Problem, names: Sequence[str], t: float) -> str:
    """Say that equations without time derivatives have no solution, as far as could be found."""
    equations = " and ".join(f"'{problem.equation(name)}'" for name in names)
    fields = ", ".join(f"'{name}'" for name in names)
    where = (
        f"Give a value near it in initial={{…}}, for {fields}."
        if t == problem.time[0]
        else "There it may vanish in a fold, beyond which it could only jump to another one."
    )
    return f"the solution of {equations} for {fields} is lost at t = {t:.6g}: Newton's method finds none. {where}"


def check_balance(determined: Determined, t: float, y: Array, known: State) -> None:
    """Refuse equations that leave constants open and whose sources do not balance, so that there is no solution."""
    unbalanced = 1e-3  # part of the sources that must not be left
    problem = determined.problem
    free = free_constants(problem)
    if not free:
        return
    system, z = _AtPoints(problem, determined.whole.spaces, t, known), determined(t, y)
    own = [z[block] for block in system.columns]
    left, sources = system.left(own), system.left([0.0 * part for part in own])
    n = len(system.weights)
    for name in free:
        place = system.names.index(name) * n
        gap, size = (float(np.linalg.norm(v[place : place + n])) for v in (left, sources))
        if gap > unbalanced * size:
            raise ProblemError(
                f"'{problem.equation(name)}' determines '{name}' up to a constant, and its sources do not balance: "
                f"{gap / size:.2g} of them is left at t = {t:g}. Their integral over the domain, with the fluxes "
                f"through its sides, must be zero; or prescribe '{name}' on some side."
            )


# ---- z as a function of t and y ---------------------------------------------------------------------------


@dataclass
class _Last:
    """What was found last: where Newton's method goes on, its factor, and where there was no solution any more."""

    z: Array
    factor: tuple[Array, Array] | None = None
    lost: float | None = None


class Follow(NamedTuple):
    """How determined coefficients move: derivatives by the evolving state, and in time while that stands still."""

    slopes: Array
    by_itself: Array


class Determined:
    """Coefficients z of the fields that equations without a time derivative determine, as functions of t and y.

    ``whole`` is the system of all fields, with ``count`` coefficients of those that evolve first; its rows of the
    others are divided by their own linear part.
    """

    def __init__(self, whole: Discretisation, count: int) -> None:
        self.whole, self.count = whole, count
        self.problem, self.layout = whole.problem, whole.layout
        self.own, self.other = slice(0, count), slice(count, self.layout.coefficients)
        self.spaces = tuple(s for s, b in zip(whole.spaces, self.layout.blocks, strict=True) if b.start >= count)
        self._evolving = {n for s in whole.spaces if s not in self.spaces for n in s.fields}
        self.dividers = whole.projected.dividers
        self.start = np.concatenate([divider.start for divider in self.dividers])
        self.last = _Last(self.start)

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return self.other.stop - self.other.start

    @cached_property
    def is_dense(self) -> bool:
        """Whether matrices are written out, and not those of products."""
        return isinstance(self.whole.projected.position, Dense)

    @cached_property
    def inner(self) -> PointwisePart | None:
        """The terms of their equations that are evaluated at the points."""
        return self.terms_of([name for space in self.spaces for name in space.fields])

    @cached_property
    def outer(self) -> PointwisePart | None:
        """Those of the equations of fields that evolve."""
        return self.terms_of(sorted(self._evolving))

    def terms_of(self, names: Sequence[str]) -> PointwisePart | None:
        """Return the terms of some equations that are evaluated at the points; None if there are none."""
        expressions = {name: e for name, e in pointwise_terms(self.problem).items() if name in names}
        whole = self.whole
        return PointwisePart(self.problem, whole.spaces, whole.points.x, expressions) if expressions else None

    def enter(self, part: PointwisePart | None) -> bool:
        """Whether determined fields occur in some terms."""
        if part is None:
            return False
        inside = [self.problem.jets.jets_in(q.inner).values() for q in part.quantities.values()]
        jets = [*(jet for jet in part.jets if jet not in part.quantities), *(jet for own in inside for jet in own)]
        return any(jet.field not in self._evolving for jet in jets)

    @cached_property
    def is_explicit(self) -> bool:
        """Whether they follow from the other fields without iterations."""
        return not self.enter(self.inner)

    @property
    def is_linear(self) -> bool:
        """Whether they depend on the others linearly, in a way that does not change."""
        return self.inner is None

    # ---- linear terms ---------------------------------------------------------------------------------

    def part(self, operator: Operator, rows: slice, columns: slice) -> Operator:
        """Return a part of an operator on the coefficients of all fields."""
        if isinstance(operator, Dense):
            return Dense(operator.matrix[rows, columns])
        assert isinstance(operator, Block)
        blocks, sizes = self.layout.blocks, self.layout.sizes
        i, j = ([k for k, b in enumerate(blocks) if own.start <= b.start < own.stop] for own in (rows, columns))
        table = [[operator.rows[a][b] for b in j] for a in i]
        return blocks_of(table, [sizes[a] for a in i], [sizes[b] for b in j])

    @cached_property
    def through(self) -> Operator:
        """A_yz, what evolving fields take from determined ones linearly."""
        return self.part(self.whole.projected.position, self.own, self.other)

    @cached_property
    def mutual(self) -> Operator:
        """A_zz, which is the identity but for what one field takes from another."""
        return self.part(self.whole.projected.position, self.other, self.other)

    @cached_property
    def chain(self) -> Operator:
        """(I + E)⁻¹, where E is what determined fields take from those before them."""
        sizes, mutual = [space.network.size for space in self.spaces], self.mutual
        ends = np.cumsum([0, *sizes])
        if len(sizes) == 1:
            return Identity(sizes[0])
        if isinstance(mutual, Dense):
            lower = np.eye(ends[-1])
            for a, b in pairwise(ends):
                lower[a:b, :a] = mutual.matrix[a:b, :a]
            return Dense(np.linalg.inv(lower))
        assert isinstance(mutual, Block)

        def solve(right: Array) -> Array:
            out = right.copy()
            for i, row in enumerate(mutual.rows):
                for j, operator in enumerate(row[:i]):
                    if operator is not None:
                        out[ends[i] : ends[i + 1]] -= operator @ out[ends[j] : ends[j + 1]]
            return out

        return MatrixFree(solve, None, (int(ends[-1]), int(ends[-1])))

    @cached_property
    def of_position(self) -> Operator:
        """Z in z = Z c + Z' v + …, the linear dependence on the coefficients of evolving fields."""
        direct = self.part(self.whole.projected.position, self.other, self.own)
        return -1.0 * (direct if isinstance(self.chain, Identity) else self.chain @ direct)

    @cached_property
    def of_velocity(self) -> Dense | None:
        """Z', that on their velocities."""
        speeds = self.whole.projected.velocity
        return None if speeds is None else Dense(-(self.chain @ speeds.dense()[self.other]))

    def linearly(self, y: Array) -> Array:
        """Return the linear part of z."""
        z = self.of_position @ y[: self.count]
        return z if self.of_velocity is None else z + self.of_velocity @ y[self.count :]

    # ---- states of all fields -------------------------------------------------------------------------

    def joined(self, y: Array, z: Array) -> Array:
        """Return the state of all fields."""
        return np.concatenate([y[: self.count], z, y[self.count :]])

    def evolving(self, state: Array) -> Array:
        """Return the part of a state of all fields that evolves."""
        return np.concatenate([state[: self.count], state[self.other.stop :]])

    def projected(self, part: PointwisePart, t: float, state: Array) -> Array:
        """Return some terms projected, zero for equations without any."""
        layout = self.layout
        out = np.zeros(layout.coefficients)
        for rows, name, values in part.values(t, layout.split(state)):
            out[layout.blocks[rows]] += self.whole.field_projector(name) @ values
        return out

    # ---- z ----------------------------------------------------------------------------------------------

    def beyond(self, t: float, y: Array) -> Array:
        """Return z without its linear part."""
        if not self.is_explicit:
            return self._followed(t, y) - self.linearly(y)
        pushed = self.whole.forcing(t)[self.other]
        if self.inner is not None:
            pushed = pushed + self.projected(self.inner, t, self.joined(y, np.zeros(self.size)))[self.other]
        return np.asarray(-(self.chain @ pushed))

    def __call__(self, t: float, y: Array) -> Array:
        """Return z."""
        return self._followed(t, y) if not self.is_explicit else self.linearly(y) + self.beyond(t, y)

    def batch(self, times: Array, states: Array) -> Array:
        """Return z at several times, shape (m, size), if it depends on y linearly."""
        pushed = self.whole.forcing.batch(times)[:, self.other].T
        found = self.of_position @ states[:, : self.count].T - self.chain @ pushed
        return np.asarray(found if self.of_velocity is None else found + self.of_velocity @ states[:, self.count :].T).T

    def left(self, t: float, y: Array, z: Array) -> Array:
        """Return D R."""
        position, velocity = self.whole.projected.position, self.whole.projected.velocity
        state = self.joined(y, z)
        out = (position @ state[: self.other.stop])[self.other] + self.whole.forcing(t)[self.other]
        if velocity is not None:
            out = out + (velocity @ y[self.count :])[self.other]
        return np.asarray(out if self.inner is None else out + self.projected(self.inner, t, state)[self.other])

    def _followed(self, t: float, y: Array) -> Array:
        """Return the root next to the one that was found last, by Newton's method; no numbers where there is none."""
        rounds, close, fine, slow = 25, 1e-13, 1e-9, 0.2  # corrections relative to z; contraction that is too slow
        z, before, last = self.last.z, np.inf, self.last
        for _ in range(rounds):
            left = self.left(t, y, z)
            if not np.all(np.isfinite(left)):
                break
            step = self.solved(t, y, z, left)
            size, norm = float(np.linalg.norm(step)), max(float(np.linalg.norm(z)), TINY)
            if size > slow * before and last.factor is not None and size > fine * norm:
                last.factor, before = None, np.inf  # again from here, with the derivatives that hold here
                continue
            z = z - step
            if size <= close * norm or (size <= fine * norm and size > slow * before):
                last.z = z
                return z
            before = size
        last.factor, last.lost = None, t
        return np.full(self.size, np.nan)

    def solved(self, t: float, y: Array, z: Array, right: Array) -> Array:
        """Divide by the derivative of D R by z."""
        if self.is_explicit:
            return np.asarray(self.chain @ right)
        if not self.is_dense:
            slopes, still = self.slopes(t, self.joined(y, z)), np.zeros(len(y))
            return gmres(lambda d: slopes(self.joined(still, d))[self.other], right, 1e-12, 60, 4)[0]
        if self.last.factor is None:
            own = self.whole.jacobian(t, self.joined(y, z))[self.other, self.other]
            self.last.factor = sla.lu_factor(own + self.left_out, check_finite=False)
        return np.asarray(sla.lu_solve(self.last.factor, right, check_finite=False))

    @cached_property
    def left_out(self) -> Array:
        """What inverses leave out: functions, such as constants, on which equations vanish; they stay as they are."""
        own = [_left_out(divider, space) for space, divider in zip(self.spaces, self.dividers, strict=True)]
        return np.asarray(sla.block_diag(*own))

    def divided(self, slopes: Array, right: Array) -> Array:
        """Divide matrices by the derivative of D R by z, of which ``slopes`` are the rows of z."""
        if self.is_explicit:
            return np.asarray(self.chain @ right)
        return np.linalg.solve(slopes[:, self.other] + self.left_out, right)

    def slopes(self, t: float, state: Array) -> Slopes:
        """Return the derivative of all rows at a state of all fields."""
        product = self.whole.jacobian_operator(t, state)
        return product.__matmul__

    def response(self, t: float, y: Array, z: Array, slopes: Slopes, direction: Array) -> Array:
        """Return how z changes with y, by the exact derivative."""
        return -self.solved(t, y, z, slopes(self.joined(direction, np.zeros(self.size)))[self.other])

    def rate(self, t: float, y: Array, z: Array, rate: Array) -> Array:
        """Return the time derivative of z for a given y'."""
        self.last.z, self.last.factor = z, None
        return self.response(t, y, z, self.slopes(t, self.joined(y, z)), rate) + self.by_itself(t, y, z)

    def by_itself(self, t: float, y: Array, z: Array) -> Array:
        """Return the time derivative of z while y stands still."""
        share = 1e-4  # of the time, in which differences of what changes by itself are taken
        if not self.moves_by_itself:
            return np.zeros(self.size)
        (start, end), step = self.problem.time, share * (self.problem.time[1] - self.problem.time[0])
        offset = float(np.clip(t, start + 2 * step, end - 2 * step) - t) / step  # of the five points about t
        nodes = offset + np.arange(-2, 3)
        weights = np.linalg.solve(np.vander(nodes, increasing=True).T, np.eye(5)[1]) / step
        difference = sum(w * self.left(t + k * step, y, z) for w, k in zip(weights, nodes, strict=True))
        return -self.solved(t, y, z, np.asarray(difference))

    def follow(self, t: float, y: Array) -> Follow:
        """Return how z moves with y and by itself, as matrices."""
        if self.is_linear:
            return Follow(self._linear_slopes, self.by_itself(t, y, np.zeros(self.size)))
        z = self(t, y)
        z = z if np.all(np.isfinite(z)) else self.start
        whole = self.whole.jacobian(t, self.joined(y, z))[self.other]
        own = np.concatenate([whole[:, : self.other.start], whole[:, self.other.stop :]], axis=1)
        return Follow(-self.divided(whole, own), self.by_itself(t, y, z))

    @cached_property
    def _linear_slopes(self) -> Array:
        speeds = [] if self.of_velocity is None else [self.of_velocity.matrix]
        return np.concatenate([self.of_position.dense(), *speeds], axis=1)

    @cached_property
    def moves_by_itself(self) -> bool:
        """Whether z changes in time while the other fields stand still."""
        equations = [self.problem.equation(name) for space in self.spaces for name in space.fields]
        timed = any(self.problem.jets.t in e.right_side.free_symbols for e in equations)
        return timed or any(space.data.depends_on_time for space in self.whole.spaces)


def blocks_of(table: list[list[Operator | None]], heights: Sequence[int], widths: Sequence[int]) -> Operator:
    """Return operators as one; None stands for zero."""
    if len(heights) == len(widths) == 1:
        return table[0][0] or Sparse(sps.csr_array((heights[0], widths[0])))
    for i, row in enumerate(table):
        if not any(row):
            row[0] = Sparse(sps.csr_array((heights[i], widths[0])))
    for j, width in enumerate(widths):
        if not any(row[j] for row in table):
            table[0][j] = Sparse(sps.csr_array((heights[0], width)))
    return Block(tuple(map(tuple, table)))
