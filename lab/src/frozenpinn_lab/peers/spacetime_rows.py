"""Points in space-time, and the rows of the least-squares problem at them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial
from typing import NamedTuple

import numpy as np
import scipy.linalg as sla
import sympy as sp

from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.samplers import Sampler
from frozenpinn.errors import SettingsError
from frozenpinn.geometry import BoundaryPoints, FlatSide
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Program
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class PointCounts(NamedTuple):
    """How many points, and how those inside are placed."""

    interior: int
    boundary: int
    initial: int
    method: str


class SpaceTimeCloud(NamedTuple):
    """Points as samplers want them."""

    x: Array
    spacing: Array


class SpaceTime:
    """Points in Ω × [0, T] and features of (x, t)."""

    def __init__(self, problem: Problem, counts: PointCounts, rng: np.random.Generator, scaled: bool) -> None:
        for name, count in zip(("interior", "boundary", "initial"), counts[:3], strict=True):
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
                raise SettingsError(f"the number of {name} points must be a positive whole number, got {count!r}.")
        self.problem, self.counts, self.rng = problem, counts, rng
        inside = problem.domain.sample(counts.interior, counts.method, rng).x
        self.interior = self.joined(inside, self.times(len(inside)))
        lower = np.append(problem.domain.lower, problem.time[0])
        upper = np.append(problem.domain.upper, problem.time[1])
        d = problem.domain.dimension
        self.middle = (lower + upper) / 2 if scaled else np.zeros(d + 1)
        self.half = (upper - lower) / 2 if scaled else np.ones(d + 1)
        self.layer: HiddenLayer

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return len(self.problem.fields) * self.layer.size

    def times(self, n: int) -> Array:
        """Return n times in a random order, one in each n-th part of [0, T]."""
        start, end = self.problem.time
        return start + (end - start) * (self.rng.permutation(n) + self.rng.random(n)) / n

    def joined(self, x: Array, t: Array | float) -> Array:
        """Return points of space-time, shape (n, d + 1)."""
        return np.column_stack([x, np.broadcast_to(t, len(x))])

    def stretched(self, sampler: Sampler, seed: int) -> HiddenLayer:
        """Draw neurons in scaled coordinates and return them in the given ones."""
        z = (self.interior - self.middle) / self.half
        layer = sampler.sample(
            SpaceTimeCloud(z, np.full(z.shape[1], 2 / len(z) ** (1 / z.shape[1]))), np.random.default_rng(seed)
        )
        return HiddenLayer(
            layer.weights / self.half, self.middle + self.half * layer.origins, layer.offsets, layer.activation
        )

    def table(self, z: Array, jet: Jet) -> Array:
        """Return one derivative of all features at points of space-time, shape (n, layer.size)."""
        terms = [Term(jet.field, d, factor) for d, factor in derivatives(jet).items()]
        return self.layer.operator(z, terms)

    def columns(self, field: str) -> slice:
        """Return where the unknowns of a field stand."""
        k = self.problem.fields.index(field) * self.layer.size
        return slice(k, k + self.layer.size)

    def initial_guess(self, rcond: float) -> Array:
        """Return the coefficients of the initial value, the same at all times."""
        c = np.zeros(self.size)
        features = self.layer.features(self.interior)
        for name, datum in self.problem.initial.items():
            values = datum(self.interior[:, :-1], self.problem.time[0])
            c[self.columns(name)] = sla.lstsq(features, values, cond=max(rcond, 1e-10))[0]
        return c


def derivatives(jet: Jet) -> dict[Derivative, float]:
    """Write ∂^alpha Δ^laps ∂ₜ^time as a sum of derivatives in space-time: Δ is over the spatial axes only."""
    d = len(jet.alpha)
    table: dict[Derivative, float] = {}
    for powers in _compositions(jet.laps, d):
        alpha = (*(a + 2 * p for a, p in zip(jet.alpha, powers, strict=True)), jet.time)
        table[Derivative(alpha)] = float(factorial(jet.laps) / np.prod([factorial(p) for p in powers]))
    return table


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    """Return all ways to write a number as an ordered sum."""
    if parts == 1:
        return [(total,)]
    return [(k, *rest) for k in range(total + 1) for rest in _compositions(total - k, parts - 1)]


@dataclass(frozen=True)
class RowBlock:
    """Rows of one kind: Σ fⱼ(jets) − right, with tables of the jets, which depend linearly on the unknowns.

    Attributes
    ----------
    kind
        ``"pde"``, ``"boundary"`` or ``"initial"``.
    tables, columns
        Of each jet, the features at the points and the unknowns they belong to.
    linear
        Coefficients of the jets, (n,) each; for equations that are not linear, None.
    right
        What the sum must be.
    programs
        For the others: the function of the jets that must vanish, its derivatives, and their fixed arguments.
    """

    kind: str
    count: int
    size: int
    tables: tuple[Array, ...]
    columns: tuple[slice, ...]
    linear: tuple[Array, ...] | None = None
    right: Array | float = 0.0
    programs: tuple[Program, Program] | None = None
    arguments: tuple[Array, ...] = ()

    def residual(self, c: Array) -> Array:
        """Return what is left of the conditions."""
        values = self._jets(c)
        if self.linear is not None:
            return np.asarray(sum(a * v for a, v in zip(self.linear, values, strict=True)) - self.right)
        assert self.programs is not None
        return np.broadcast_to(self.programs[0](*self.arguments, *values)[0], self.count)

    def rows(self, c: Array) -> Array:
        """Return the derivatives of the residual by the unknowns, shape (count, size)."""
        factors: Sequence[Array | float] | None = self.linear
        if factors is None:
            assert self.programs is not None
            factors = self.programs[1](*self.arguments, *self._jets(c))
        out = np.zeros((self.count, self.size), order="F")
        for table, columns, factor in zip(self.tables, self.columns, factors, strict=True):
            out[:, columns] += table * np.broadcast_to(factor, self.count)[:, None]
        return out

    @property
    def largest(self) -> Array:
        """The largest entry of each row, of all terms with their coefficients (1 in nonlinear equations)."""
        factors = self.linear or [np.ones(self.count)] * len(self.tables)
        sizes = [np.max(np.abs(t), axis=1) * np.abs(f) for t, f in zip(self.tables, factors, strict=True)]
        return np.asarray(np.max(sizes, axis=0))

    def _jets(self, c: Array) -> list[Array]:
        return [table @ c[columns] for table, columns in zip(self.tables, self.columns, strict=True)]


def blocks_of(space: SpaceTime) -> list[RowBlock]:
    """Return all rows of a problem."""
    equations = [_equation(space, equation) for equation in space.problem.equations]
    return [*equations, *_boundary(space), *_periodic(space), *_initial(space)]


def residual_and_rows(blocks: Sequence[RowBlock], factors: Sequence[Array], c: Array) -> tuple[Array, Array]:
    """Return the weighted residual at c and its derivatives."""
    with np.errstate(all="ignore"):
        residual = np.concatenate([f * block.residual(c) for block, f in zip(blocks, factors, strict=True)])
        rows = np.concatenate([f[:, None] * block.rows(c) for block, f in zip(blocks, factors, strict=True)])
    return residual, rows


def _equation(space: SpaceTime, equation: Equation) -> RowBlock:
    """Return ∂ₜᵐu − F(x, t, jets) = 0 at the interior points."""
    problem, z = space.problem, space.interior
    highest = Jet(equation.field, (0,) * problem.domain.dimension, 0, equation.order)
    jets = [highest, *problem.jets.jets_in(equation.right_side).values()]
    tables = tuple(space.table(z, jet) for jet in jets)
    columns = tuple(space.columns(jet.field) for jet in jets)
    expression = problem.jets.symbol(highest) - equation.right_side
    arguments = tuple(z.T)
    slopes = [sp.diff(expression, problem.jets.symbol(jet)) for jet in jets]
    program, derivative = problem.compile([expression], jets), problem.compile(slopes, jets)
    if not equation.is_linear:
        return RowBlock("pde", len(z), space.size, tables, columns, programs=(program, derivative), arguments=arguments)
    zeros = [np.zeros(len(z))] * len(jets)
    linear = tuple(np.broadcast_to(a, len(z)) for a in derivative(*arguments, *zeros))
    right = -np.broadcast_to(program(*arguments, *zeros)[0], len(z))
    return RowBlock("pde", len(z), space.size, tables, columns, linear, right)


def _boundary(space: SpaceTime) -> list[RowBlock]:
    """Return the conditions on all sides, each at its share of the boundary points."""
    problem, blocks = space.problem, []
    each = max(1, space.counts.boundary // max(1, len(problem.domain.sides)))
    for condition in problem.conditions:
        points = problem.domain.sample_side(condition.side, each, "random", space.rng)
        if len(points.x) == 1:  # an end of an interval
            x, n = np.repeat(points.x, each, axis=0), np.repeat(points.normals, each, axis=0)
            points = BoundaryPoints(x, n, np.full(each, 1 / each), condition.side)
        t = space.times(len(points.x))
        z = space.joined(points.x, t)
        terms = condition.terms_at(points)
        right = np.array([condition.value(x[None], float(s))[0] for x, s in zip(points.x, t, strict=True)])
        tables = tuple(space.table(z, jet) for jet, _ in terms)
        columns = tuple(space.columns(jet.field) for jet, _ in terms)
        linear = tuple(np.broadcast_to(a, len(z)) for _, a in terms)
        blocks.append(RowBlock("boundary", len(z), space.size, tables, columns, linear, right))
    return blocks


def _periodic(space: SpaceTime) -> list[RowBlock]:
    """Return u and its derivatives below the order of the equation at one end minus those at the other."""
    problem, blocks = space.problem, []
    axes = [i for i, periodic in enumerate(problem.domain.periodic) if periodic]
    each = max(1, space.counts.boundary // max(1, len(axes) + len(problem.domain.sides)))
    for axis in axes:
        low = problem.domain.sample_side(FlatSide("", (), axis, 0), each, "random", space.rng).x
        low = np.repeat(low, each, axis=0) if len(low) == 1 else low
        high = low.copy()
        high[:, axis] = problem.domain.upper[axis]
        t = space.times(len(low))
        for name in problem.fields:
            for order in range(max(1, problem.spatial_order(name))):
                alpha = tuple(order * (i == axis) for i in range(problem.domain.dimension))
                jet = Jet(name, alpha)
                table = space.table(space.joined(low, t), jet) - space.table(space.joined(high, t), jet)
                one = (np.ones(len(low)),)
                blocks.append(RowBlock("boundary", len(low), space.size, (table,), (space.columns(name),), one))
    return blocks


def _initial(space: SpaceTime) -> list[RowBlock]:
    """Return u and, for second order in time, uₜ at the start."""
    problem, start = space.problem, space.problem.time[0]
    count, method = space.counts.initial, space.counts.method
    x = problem.domain.sample(count, method, space.rng).x
    z = space.joined(x, start)
    blocks = []
    for order, data in enumerate((problem.initial, problem.initial_velocity)):
        for name, datum in data.items():
            jet = Jet(name, (0,) * problem.domain.dimension, 0, order)
            tables, columns = (space.table(z, jet),), (space.columns(name),)
            blocks.append(RowBlock("initial", len(x), space.size, tables, columns, (np.ones(len(x)),), datum(x, start)))
    return blocks
