"""What a network must satisfy, made from a problem: residuals of equations, initial and boundary conditions.

Whatever does not depend on the unknown (forcing, coefficients, boundary values, Python functions) is evaluated once at
the collocation points, by the same NumPy programs as everywhere in this library. What is left is an expression in
the derivatives of the network, which SymPy translates to JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.errors import SettingsError
from frozenpinn.geometry import FlatSide, Side
from frozenpinn.language.jets import Jet
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.data import Datum
from frozenpinn.statement.problem import Problem

Array: TypeAlias = Any  # of NumPy or JAX
Rows: TypeAlias = tuple[tuple[Array, ...], Array]  # points (n, d + 1) in space and time, data (n, k)


class SpaceTimeField(Protocol):
    """A function of space and time with derivatives: the network."""

    def values(self, parameters: Any, z: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return one array (n,) for each jet, at points (n, d + 1)."""


class ResidualBlock(NamedTuple):
    """Points at which something must vanish.

    ``residuals(field, parameters, rows)`` returns the quantities that must be zero, each of shape (n,). Every set of
    points has n rows; periodic conditions have two sets, one for each side. The loss is Σ weights · |residuals|².
    """

    rows: Rows
    weights: Array
    residuals: Callable[[SpaceTimeField, Any, Rows], list[Array]]


# ---- equations ----------------------------------------------------------------------------------


class Trained(Protocol):
    """What is trained beside the network: symbols of the problem whose values depend on the parameters."""

    @property
    def atoms(self) -> tuple[sp.Expr, ...]:
        """What stands for them in expressions."""

    def values(self, parameters: Any, z: Array) -> list[Array]:
        """Return one array (n,) for each atom, at points (n, d + 1)."""


def equations(problem: Problem, z: Array, weight: float, trained: Trained | None = None) -> ResidualBlock:
    """Return ∂ₜᵐu (zero if static) − right-hand side of all equations at points of space and time."""
    atoms = () if trained is None else trained.atoms
    hoisted = _Hoisted(problem, atoms)
    dummies = {atom: sp.Dummy(real=True) for atom in atoms}
    expressions = [hoisted.reduce(equation.right_side) for equation in problem.equations]
    d = problem.domain.dimension
    highest = [Jet(equation.field, (0,) * d, 0, equation.order) for equation in problem.equations]
    jets = list(dict.fromkeys(jet for e in expressions for jet in problem.jets.jets_in(e).values()))
    symbols = [problem.jets.symbol(jet) for jet in jets]
    right_sides = to_jax([e.xreplace(dummies) for e in expressions], [*symbols, *dummies.values(), *hoisted.symbols])
    needed, moving = list(dict.fromkeys([*highest, *jets])), 0.0 if problem.is_static else 1.0

    def residuals(field: SpaceTimeField, parameters: Any, rows: Rows) -> list[Array]:
        (points,), data = rows
        table = dict(zip(needed, field.values(parameters, points, needed), strict=True))
        own = [] if trained is None else trained.values(parameters, points)
        right = right_sides(*(table[jet] for jet in jets), *own, *data.T)
        return [table[jet] * moving - value for jet, value in zip(highest, right, strict=True)]

    return ResidualBlock(((z,), hoisted.evaluate(z)), _equal(weight, len(z)), residuals)


def to_jax(expressions: Sequence[sp.Expr], symbols: Sequence[sp.Symbol]) -> Callable[..., list[Array]]:
    """Translate expressions into one function of arrays."""
    try:
        function = sp.lambdify(symbols, list(expressions), modules="jax", cse=True, dummify=True)
    except (NotImplementedError, TypeError, ValueError) as error:
        raise SettingsError(f"the equation has no counterpart in JAX: {error}") from error
    return function


class _Hoisted:
    """Replaces what contains no derivative of the unknown, and nothing trained, by symbols; evaluates it at points."""

    def __init__(self, problem: Problem, trained: Sequence[sp.Expr] = ()) -> None:
        self.problem, self.trained = problem, tuple(trained)
        self._table: dict[sp.Expr, sp.Symbol] = {}

    @property
    def symbols(self) -> list[sp.Symbol]:
        return list(self._table.values())

    def _moves(self, node: sp.Expr) -> bool:
        return bool(self.problem.jets.jets_in(node)) or (bool(self.trained) and node.has(*self.trained))

    def reduce(self, node: sp.Expr) -> sp.Expr:
        if node in self.trained:
            return node
        if not self._moves(node):
            is_constant = not (node.free_symbols or node.has(AppliedUndef))
            return node if is_constant else self._table.setdefault(node, sp.Dummy(real=True))
        if not node.args:
            return node
        if isinstance(node, sp.Add | sp.Mul):  # all factors, or terms, without a jet become one symbol
            known = [a for a in node.args if not self._moves(a)]
            others = [a for a in node.args if self._moves(a)]
            return node.func(*([self.reduce(node.func(*known))] if known else []), *map(self.reduce, others))
        return node.func(*map(self.reduce, node.args))

    def evaluate(self, z: Array) -> Array:
        columns = [_at_points(self.problem, expression, z) for expression in self._table]
        return np.stack(columns, axis=1) if columns else np.zeros((len(z), 0))


def _at_points(problem: Problem, expression: sp.Expr, z: Array) -> Array:
    """Evaluate a known function of x and t; Python functions take one time at a time."""
    if expression.has(AppliedUndef):
        datum = Datum(expression, problem.parameters.scope(problem.jets), problem.parameters.functions, "a coefficient")
        return _datum(datum, z)
    with np.errstate(all="ignore"):
        values = np.broadcast_to(problem.compile([expression])(*z.T)[0], len(z))
    if not np.all(np.isfinite(values)):
        raise SettingsError(f"'{expression}' is not finite at all collocation points.")
    return values


def _datum(datum: Datum, z: Array) -> Array:
    """Evaluate data at points of space and time."""
    if not datum.depends_on_time:
        return datum(z[:, :-1], float(z[0, -1]))
    return np.concatenate([datum(row[None, :-1], float(row[-1])) for row in z])


# ---- initial and boundary conditions ------------------------------------------------------------


class Linear(NamedTuple):
    """Σ coefficient·jet = value at points of space and time."""

    jets: tuple[Jet, ...]
    z: Array
    data: Array  # value and coefficients, (n, 1 + jets)
    weights: Array


def linear(z: Array, terms: Sequence[tuple[Jet, Array | float]], value: Array, weight: float) -> Linear:
    """Return a condition whose points share a weight equally."""
    coefficients = [np.broadcast_to(np.asarray(c, dtype=float), len(z)) for _, c in terms]
    data = np.stack([value, *coefficients], axis=1)
    return Linear(tuple(jet for jet, _ in terms), z, data, _equal(weight, len(z)))


def together(conditions: Sequence[Linear]) -> list[ResidualBlock]:
    """Put conditions on the same derivatives into one block each."""
    groups: dict[tuple[Jet, ...], list[Linear]] = {}
    for condition in conditions:
        groups.setdefault(condition.jets, []).append(condition)
    return [_linear_block(jets, [np.concatenate(part) for part in zip(*(c[1:] for c in g), strict=True)])
            for jets, g in groups.items()]  # fmt: skip


def _linear_block(jets: tuple[Jet, ...], parts: Sequence[Array]) -> ResidualBlock:
    z, table, weights = parts

    def residuals(field: SpaceTimeField, parameters: Any, rows: Rows) -> list[Array]:
        (points,), data = rows
        values = field.values(parameters, points, jets)
        return [sum(c * v for c, v in zip(data.T[1:], values, strict=True)) - data[:, 0]]

    return ResidualBlock(((z,), table), weights, residuals)


def _equal(weight: float, count: int) -> Array:
    return np.full(count, weight / count)


def condition_blocks(problem: Problem, count: int, weight: float, rng: np.random.Generator) -> list[ResidualBlock]:
    """Return all initial and boundary conditions: a third of the points is initial, unless the problem is static.

    The other points are shared equally by sides and pairs of periodic sides; the mean over all of them has the
    given weight, so each side has its part of it.
    """
    domain = problem.domain
    axes = [axis for axis, periodic in enumerate(domain.periodic) if periodic]
    parts = len(domain.sides) + len(axes)
    initial = 0 if problem.is_static else max(1, round(count / 3)) if parts else count
    conditions = []
    if initial:
        conditions = initial_conditions(problem, domain.sample(initial, "latin-hypercube", rng).x, weight)
    each = max(1, round((count - initial) / max(parts, 1)))
    for side in domain.sides:
        on_side = [c for c in problem.conditions if c.side.name == side.name]
        conditions += side_conditions(problem, side, on_side, each, weight / parts, rng)
    return [*together(conditions), *(periodic_block(problem, axis, each, weight / parts, rng) for axis in axes)]


def initial_conditions(problem: Problem, x: Array, weight: float) -> list[Linear]:
    """Return u = u₀ and, for second order in time, uₜ = v₀ at points of the domain."""
    start, zero = problem.time[0], (0,) * problem.domain.dimension
    z = np.column_stack([x, np.full(len(x), start)])
    data = [(Jet(name, zero), datum) for name, datum in problem.initial.items()]
    data += [(Jet(name, zero, 0, 1), datum) for name, datum in problem.initial_velocity.items()]
    return [linear(z, [(jet, 1.0)], datum(x, start), weight) for jet, datum in data]


def side_conditions(
    problem: Problem,
    side: Side,
    conditions: Sequence[LinearCondition],
    count: int,
    weight: float,
    rng: np.random.Generator,
) -> list[Linear]:
    """Return the conditions on one side at points of space and time."""
    points = problem.domain.sample_side(side, count, "random", rng)
    if len(points) == 1:  # the end of an interval: one point at many times
        picked = np.zeros(count, dtype=int)
        points = type(points)(points.x[picked], points.normals[picked], points.weights[picked], points.side)
    z = np.column_stack([points.x, stratified(problem.time, len(points), rng)])
    return [linear(z, condition.terms_at(points), _datum(condition.value, z), weight) for condition in conditions]


def periodic_block(problem: Problem, axis: int, count: int, weight: float, rng: np.random.Generator) -> ResidualBlock:
    """Return the jumps of each field and of its derivatives across a pair of periodic sides."""
    domain = problem.domain
    x = np.resize(domain.sample_side(FlatSide("", (), axis, 0), count, "random", rng).x, (count, domain.dimension))
    low = np.column_stack([x, stratified(problem.time, count, rng)])
    high = low.copy()
    high[:, axis] = domain.upper[axis]
    jets = [
        Jet(name, tuple(k * (i == axis) for i in range(domain.dimension)))
        for name in problem.fields
        for k in range(max(1, problem.spatial_order(name)))
    ]

    def residuals(field: SpaceTimeField, parameters: Any, rows: Rows) -> list[Array]:
        here, there = (field.values(parameters, points, jets) for points in rows[0])
        return [a - b for a, b in zip(here, there, strict=True)]

    return ResidualBlock(((low, high), np.zeros((count, 0))), _equal(weight, count), residuals)


def stratified(time: tuple[float, float], count: int, rng: np.random.Generator) -> Array:
    """Return times in random order, one in each of equal parts of the interval."""
    return time[0] + (time[1] - time[0]) * (rng.permutation(count) + rng.random(count)) / count
