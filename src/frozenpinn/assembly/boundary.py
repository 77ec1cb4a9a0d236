"""From the conditions of a problem to rows on the network's coefficients, and the data they carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import sympy as sp

from frozenpinn.assembly.interfaces import interface_functionals, joined_ends
from frozenpinn.basis.boundary_layer import Functional
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.geometry import BoundaryPoints, FlatSide
from frozenpinn.language.jets import Jet
from frozenpinn.language.separation import compiled, is_smooth, separate
from frozenpinn.operators import Dense, Operator
from frozenpinn.runtime.arrays import is_finite, read_only
from frozenpinn.runtime.round_off import SUMMED, TINY
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.data import Datum
from frozenpinn.statement.problem import Problem

Array = np.ndarray


def derivative_of(jet: Jet) -> Derivative:
    """Return the spatial derivative that a jet names, in the network's terms."""
    return Derivative(jet.alpha, jet.laps)


def condition_terms(condition: LinearCondition, points: BoundaryPoints) -> tuple[Term, ...]:
    """Return the terms of a boundary condition with coefficients at points of its side."""
    return tuple(Term(jet.field, derivative_of(jet), c) for jet, c in condition.terms_at(points))


@dataclass(frozen=True)
class BoundaryData:
    """The data ℓ(t) of the lifting: boundary values at points, mapped to lifting coefficients.

    ``parts`` lists ``(datum, points, map)``; a map of None puts the values into consecutive entries.
    ``shapes`` recovers all values from few: data = shapes · ℓ(t); None means that ℓ are the data.
    ``within`` is a part of the time in which nothing switches; at its ends, values are those inside.
    """

    size: int
    time: tuple[float, float]
    parts: tuple[tuple[Datum, Array, Operator | None], ...] = field(default=())
    shapes: Array | None = field(default=None)
    within: tuple[float, float] | None = field(default=None)

    def during(self, time: tuple[float, float]) -> BoundaryData:
        """Return the same data for a part of the time in which nothing switches."""
        return replace(self, within=time) if any(datum.may_switch for datum, _, _ in self.parts) else self

    @cached_property
    def depends_on_time(self) -> bool:
        """Whether ℓ changes in time."""
        return any(datum.depends_on_time for datum, _, _ in self._now)

    @cached_property
    def _now(self) -> tuple[tuple[Datum, Array, Operator | None], ...]:
        """The parts, without steps in time if these are settled."""
        time = self.within
        return self.parts if time is None else tuple((datum.during(time), x, m) for datum, x, m in self.parts)

    @cached_property
    def _fixed(self) -> Array:
        """Data that do not change in time."""
        out, start = np.zeros(self.size), 0
        for datum, x, matrix in self._now:
            values = datum(x, self.time[0])
            if matrix is None:
                out[start : start + len(x)] = values
                start += len(x)
            else:
                out += matrix @ values
        return read_only(out)

    @cached_property
    def separated(self) -> tuple[Array, tuple[sp.Expr, ...], sp.Symbol] | None:
        """The data as a matrix times smooth functions of time; None if they can't be written so."""
        found = self._columns
        return found if found is not None and all(map(is_smooth, found[1])) else None

    @cached_property
    def _columns(self) -> tuple[Array, tuple[sp.Expr, ...], sp.Symbol] | None:
        """The data as a matrix times functions of time; None if they can't be written so."""
        columns: dict[sp.Expr, Array] = {}
        time = None
        start = 0
        for datum, x, matrix in self._now:
            if datum.expression is None:
                return None
            time = datum.time_symbol
            constant, shapes, histories, rest = separate(datum.expression, time)
            if rest != 0:
                return None
            for history, shape in zip((sp.Integer(1), *histories), (constant, *shapes), strict=True):
                if shape != 0:
                    column = columns.setdefault(history, np.zeros(self.size))
                    if matrix is None:
                        column[start : start + len(x)] += datum.part(shape, x)
                    else:
                        column += matrix @ datum.part(shape, x)
            start += len(x) if matrix is None else 0
        if not columns or time is None:
            return None
        return np.stack(list(columns.values()), axis=1), tuple(columns), time

    @property
    def is_separable(self) -> bool:
        """Whether ℓ is a sum of fixed vectors times functions of time, so that many values cost little."""
        return self.separated is not None

    def batch(self, times: Array, derivative: int = 0) -> Array:
        """Return ℓ or its derivative at several times, shape (m, size)."""
        if not self.depends_on_time:
            return np.tile(self(0.0, derivative), (len(times), 1))
        if self.separated is None:
            return np.array([self(float(t), derivative) for t in times])
        matrix, histories, symbol = self.separated
        with np.errstate(all="ignore"):
            values = compiled(histories, symbol, derivative)(times)
        return np.stack([np.broadcast_to(v, times.shape) for v in values], axis=1) @ matrix.T

    def __call__(self, t: float, derivative: int = 0) -> Array:
        """Return the ``derivative``-th time derivative of ℓ at time ``t``, shape (size,)."""
        inside = 1e-9  # part of a stretch of time by which its ends are avoided
        if not self.depends_on_time:
            return np.zeros(self.size) if derivative else self._fixed
        if self.separated is not None:
            columns, histories, symbol = self.separated
            with np.errstate(all="ignore"):
                found = columns @ np.array(compiled(histories, symbol, derivative)(t), dtype=float)
            if is_finite(found):
                return np.asarray(found)
        out = np.zeros(self.size)
        start, time = 0, self.time
        if self.within is not None:  # Python functions may jump at its ends
            a, b = self.within
            time = (a + inside * (b - a), b - inside * (b - a))
            t = min(max(t, time[0]), time[1])
        for datum, x, matrix in self._now:
            values = datum.time_derivative(derivative, x, t, time)
            if matrix is None:
                out[start : start + len(x)] = values
                start += len(x)
            else:
                out += matrix @ values
        return out

    def compressed(self) -> BoundaryData:
        """Return the same data in the few shapes that they take in the course of time.

        Lifting functions amplify the round-off of boundary values, differently at every time; those of fixed shapes
        carry no such noise, and few of them cost less than one per boundary point.
        """
        few = 16  # up to as many values, compression does not pay
        if self.size < few or not self.parts:
            return self
        if self._columns is not None and not self.is_separable:  # samples could miss what lasts for a short time
            u, s, _ = np.linalg.svd(self._columns[0], full_matrices=False)
            return self._in_shapes(u[:, : max(1, int(np.sum(s > SUMMED * s[0])))])
        count = 8 if self.depends_on_time else 1
        start, end = self.time
        while count <= _SNAPSHOTS:
            times = start + (end - start) * (1.0 - np.cos(np.pi * np.arange(count) / max(count - 1, 1))) / 2.0
            snapshots = np.stack([self(float(t)) for t in times], axis=1)
            u, s, _ = np.linalg.svd(snapshots, full_matrices=False)
            rank = max(1, int(np.sum(s > SUMMED * s[0])))
            if 2 * rank <= count or count == 1:
                shapes = u[:, :rank]
                if self._is_spanned_by(shapes):
                    return self._in_shapes(shapes)
            count *= 2
        return self

    def _is_spanned_by(self, shapes: Array) -> bool:
        """Whether the data at further times are combinations of the shapes."""
        start, end = self.time
        values = np.stack([self(start + (end - start) * s) for s in (0.0123, 0.271, 0.577, 0.8321, 0.993)], axis=1)
        missed = values - shapes @ (shapes.T @ values)
        return bool(np.max(np.abs(missed)) <= 10.0 * SUMMED * max(float(np.max(np.abs(values))), TINY))

    def _in_shapes(self, shapes: Array) -> BoundaryData:
        parts, start = [], 0
        for datum, x, matrix in self.parts:
            if matrix is None:
                parts.append((datum, x, Dense(shapes[start : start + len(x)].T)))
                start += len(x)
            else:
                parts.append((datum, x, Dense(shapes.T) @ matrix))
        return BoundaryData(shapes.shape[1], self.time, tuple(parts), shapes)


_SNAPSHOTS = 64


@dataclass(frozen=True)
class BoundaryRows:
    """All rows of the boundary operator of a group of fields, with their data.

    Attributes
    ----------
    conditions, periodicity
        Rows of the stated conditions, and those that match the ends of periodic axes, or the sides of interfaces.
    values
        The datum and the points of each condition.
    time
        Start and end, for derivatives of the data.
    """

    conditions: tuple[Functional, ...]
    periodicity: tuple[Functional, ...]
    values: tuple[tuple[Datum, Array], ...]
    time: tuple[float, float]

    @property
    def functionals(self) -> tuple[Functional, ...]:
        """All rows, conditions first."""
        return (*self.conditions, *self.periodicity)

    @property
    def active(self) -> tuple[int, ...]:
        """Which rows carry data that do not vanish."""
        flags = np.repeat([not datum.is_zero for datum, _ in self.values], [len(x) for _, x in self.values])
        return tuple(int(i) for i in np.flatnonzero(flags))

    def data(self, zeros: bool = False) -> BoundaryData:
        """Return the data of the active rows, or of all conditions."""
        parts = tuple((datum, x, None) for datum, x in self.values if zeros or not datum.is_zero)
        return BoundaryData(sum(len(x) for _, x, _ in parts), self.time, parts)


def boundary_rows(
    problem: Problem, fields: Sequence[str], per_side: int = 1, rng: int = 0, hidden: HiddenLayer | None = None
) -> BoundaryRows:
    """Collect conditions and periodicity of a group of fields as rows on ridge features.

    A hidden layer that is periodic by itself needs no rows that match the ends: all they have is round-off.
    """
    method = "gauss" if problem.domain.dimension <= 3 else "sobol"
    functionals, values = [], []
    for condition in problem.conditions:
        if set(condition.fields) <= set(fields):
            points = problem.domain.sample_side(condition.side, per_side, method, rng)
            functionals.append(Functional(((points.x, condition_terms(condition, points)),)))
            values.append((condition.value, points.x))
    joints, periodic = list[Functional](), problem.domain.periodic
    if any(periodic) and (hidden is None or not hidden.repeats(problem.domain.lengths, periodic)):
        joints += periodic_functionals(problem, fields, per_side, method, rng)
    if problem.interfaces is not None:
        joints += interface_functionals(problem, fields, per_side)
    joints += _at_points(problem, fields)
    return BoundaryRows(tuple(functionals), tuple(joints), tuple(values), problem.time)


def _at_points(problem: Problem, fields: Sequence[str]) -> list[Functional]:
    """Return the homogeneous conditions of an eigenproblem at points, as rows."""
    own = ((c.point, Term(c.field, Derivative(c.alpha))) for c in problem.constraints if c.field in fields)
    return [Functional(((point, (term,)),)) for point, term in own if point is not None]


def periodic_functionals(
    problem: Problem, fields: Sequence[str], per_side: int, method: str, rng: int
) -> list[Functional]:
    """Match values and derivatives on the two ends of every periodic axis."""
    domain, result = problem.domain, []
    for axis in (i for i, periodic in enumerate(domain.periodic) if periodic):
        low = domain.sample_side(FlatSide("", (), axis, 0), per_side, method, rng).x
        high = low.copy()
        high[:, axis] = domain.upper[axis]
        if problem.interfaces is not None and problem.interfaces.material:
            result += joined_ends(problem, fields, axis, high, low)
            continue
        for name in fields:
            for k in range(matched_derivatives(problem, name)):
                derivative = Derivative(tuple(k * (i == axis) for i in range(domain.dimension)))
                parts = ((high, (Term(name, derivative, 1.0),)), (low, (Term(name, derivative, -1.0),)))
                result.append(Functional(parts))
    return result


def matched_derivatives(problem: Problem, name: str) -> int:
    """Periodic functions are matched up to one order below the equation's, at least in value and slope."""
    return max(2, problem.spatial_order(name))
