"""The forcing b(t) of a semi-discrete system: source terms, and what lifted or soft boundary data contribute.

A source Σ g(x)·h(t) is projected once, so that a value of b(t) costs a few products; other sources are evaluated at the
points and projected each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.assembly.nonlocal_terms import linear_quantities
from frozenpinn.assembly.spaces import Relaxation, Space
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.errors import EvaluationError
from frozenpinn.language.program import Program
from frozenpinn.language.separation import compiled, separate
from frozenpinn.operators import Dense, Operator
from frozenpinn.runtime.arrays import is_finite, read_only
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class Layout(NamedTuple):
    """Where the coefficients of each space stand, and how the equation of a field is projected.

    ``axes`` are the coordinates of a grid of points, empty if they are scattered.
    """

    problem: Problem
    spaces: Sequence[Space]
    blocks: Sequence[slice]
    x: Array
    size: int
    projector: Callable[[str], Operator]
    axes: Sequence[Array] = ()

    def rows(self, field: str) -> slice:
        """Return the coefficients of the space that holds a field."""
        return next(b for b, space in zip(self.blocks, self.spaces, strict=True) if field in space.fields)


class Forcing:
    """b(t), shape (coefficients,); iterations ask for the same times again, so recent values are kept."""

    def __init__(
        self,
        layout: Layout,
        terms: Mapping[str, Mapping[int, list[Term]]],
        relaxations: Sequence[Relaxation | None],
        left: Mapping[str, list[Term]],
    ) -> None:
        self._layout = layout
        self._static = np.zeros(layout.size)
        self._products: list[tuple[Array, Program]] = []
        self._sources: list[tuple[slice, Operator, Program]] = []
        for equation in layout.problem.equations:
            if equation.forcing != 0:
                self._add_source(equation.field, equation.forcing)
        maps, fixed = _lift_maps(layout, terms, left)
        for rows, space, soft in zip(layout.blocks, layout.spaces, relaxations, strict=True):
            maps += [(space, order, rows, Dense(block)) for order, block in ({} if soft is None else soft.data).items()]
        for rows, vector in fixed:
            self._static[rows] += vector
        self._maps: list[Map] = []
        for part in maps:
            space, order, rows, matrix = part
            if space.boundary_data.depends_on_time:
                if not self._add_product(part):
                    self._maps.append(part)
            elif order == 0:
                self._static[rows] += matrix @ space.boundary_data(layout.problem.time[0])
        self._static = read_only(self._static)
        self._recent: dict[float, Array] = {}

    @property
    def is_constant(self) -> bool:
        """Whether b does not depend on time."""
        return not (self._products or self._sources or self._maps)

    def __call__(self, t: float) -> Array:
        """Return b(t)."""
        kept = 64  # values of b(t) that are kept
        if self.is_constant:
            return self._static
        value = self._recent.get(t)
        if value is None:
            if len(self._recent) >= kept:
                self._recent.clear()
            value = self._recent[t] = read_only(self._evaluate(t))
        return value

    @property
    def is_separable(self) -> bool:
        """Whether b is a sum of fixed vectors times functions of time, so that many values cost little."""
        return not self._sources and all(space.boundary_data.is_separable for space, *_ in self._maps)

    def batch(self, times: Array) -> Array:
        """Return b at several times, shape (m, coefficients)."""
        if not all(program.is_vectorised for _, _, program in self._sources):
            return np.array([self(float(t)) for t in times])
        out = np.tile(self._static, (len(times), 1))
        with np.errstate(all="ignore"):
            for matrix, program in self._products:
                histories = [np.broadcast_to(h, times.shape) for h in program(times)]
                out += np.stack(histories, axis=1) @ matrix.T
            for rows, projector, program in self._sources:
                self._add_values(out[:, rows], projector, program, times)
        for space, order, rows, operator in self._maps:
            out[:, rows] += (operator @ space.boundary_data.batch(times, order).T).T
        return out

    def _add_values(self, out: Array, projector: Operator, program: Program, times: Array) -> None:
        """Add a source at several times, some of them at once."""
        at_once = 100_000  # values of a source that are computed together
        columns = [c[:, None] for c in self._layout.x.T]
        step = max(1, at_once // len(self._layout.x))
        for start in range(0, len(times), step):
            part = times[start : start + step]
            values = np.broadcast_to(program(*columns, part[None, :])[0], (len(self._layout.x), len(part)))
            out[start : start + step] += (projector @ values).T

    def _evaluate(self, t: float) -> Array:
        out = self._static.copy()
        x = self._layout.x
        with np.errstate(all="ignore"):  # values that are not finite are reported by the integrators
            for matrix, program in self._products:
                out += matrix @ np.array(program(t), dtype=float)
            for rows, projector, program in self._sources:
                out[rows] += projector @ np.broadcast_to(program(*x.T, t)[0], len(x))
        values: dict[tuple[int, int], Array] = {}
        for space, order, rows, operator in self._maps:
            key = (id(space), order)
            if key not in values:
                values[key] = space.boundary_data(t, order)
            out[rows] += operator @ values[key]
        return out

    def _add_source(self, field: str, source: sp.Expr) -> None:
        """Sort a source into its constant, separable and remaining parts."""
        layout = self._layout
        jets, rows, projector = layout.problem.jets, layout.rows(field), layout.projector(field)
        constant, shapes, histories, rest = separate(source, jets.t)
        if constant != 0:
            self._static[rows] += projector @ self._values(constant)
        if histories:
            matrix = np.zeros((layout.size, len(shapes)))
            matrix[rows] = projector @ np.stack([self._values(shape) for shape in shapes], axis=1)
            self._products.append((matrix, compiled(histories, jets.t)))
        if rest != 0:
            self._sources.append((rows, projector, layout.problem.compile([rest])))

    def _add_product(self, part: Map) -> bool:
        """Project boundary data that are fixed shapes times functions of time once; return whether they are."""
        probes = 33  # times at which derivatives of boundary data must be finite to be used
        space, order, rows, operator = part
        if space.boundary_data.separated is None:
            return False
        shapes, histories, symbol = space.boundary_data.separated
        program, times = compiled(histories, symbol, order), np.linspace(*self._layout.problem.time, probes)
        with np.errstate(all="ignore"):
            if not all(map(is_finite, program(times))):
                return False
        matrix = np.zeros((self._layout.size, shapes.shape[1]))
        matrix[rows] = operator @ shapes
        self._products.append((matrix, program))
        return True

    def _values(self, expression: sp.Expr) -> Array:
        """Return a function of x at the points; it must be finite there."""
        with np.errstate(all="ignore"):
            program, layout = self._layout.problem.compile([expression]), self._layout
            value = program.on_grid(layout.axes, 0.0)[0] if layout.axes else program(*layout.x.T, 0.0)[0]
        if not is_finite(value):
            raise EvaluationError(f"the forcing '{expression}' is not finite at some points of the domain.")
        return np.broadcast_to(value, len(self._layout.x))


Map: TypeAlias = tuple[Space, int, slice, Operator]  #: what a time derivative of a space's data adds to some rows


def _fixed_lift(layout: Layout, field: str, space: Space, terms: Sequence[Term]) -> Array | None:
    """Return what data that never change add through linear terms of their own field, axis by axis; None if not so."""
    data = space.boundary_data
    if field not in space.fields or data.depends_on_time:
        return None
    found = space.network.lifted_projection(terms, data(layout.problem.time[0]))
    return None if found is None or layout.projector(field) is not space.network.projector() else found


def _lift_maps(
    layout: Layout, linear: Mapping[str, Mapping[int, list[Term]]], left: Mapping[str, list[Term]]
) -> tuple[list[Map], list[tuple[slice, Array]]]:
    """Return what time derivatives of lifted data add through the linear terms and the left-hand sides.

    What data that never change add is returned by itself where that takes no map.
    """
    maps, fixed = list[Map](), list[tuple[slice, Array]]()
    if not any(space.network.lift_size for space in layout.spaces):
        return maps, fixed
    zero = Derivative((0,) * layout.x.shape[1])
    for equation in layout.problem.equations:
        rows, projector = layout.rows(equation.field), layout.projector(equation.field)
        for space in (s for s in layout.spaces if s.network.lift_size):
            table: dict[int, list[Term]] = {
                k: [t for t in terms if t.field in space.fields] for k, terms in linear[equation.field].items()
            }
            if equation.field in space.fields and space.order:  # the lifting moves by itself: −M ∂ₜᵐ of it
                own_side = left.get(equation.field, [Term(equation.field, zero, 1.0)])
                table.setdefault(space.order, []).extend(t._replace(coefficient=-t.coefficient) for t in own_side)
            for matrix, term in linear_quantities(layout.problem, equation, layout.x, space.network.points.weights):
                if term.field in space.fields:
                    lifted = Dense(matrix @ space.network.lift_at_points([term]).dense())
                    maps.append((space, 0, rows, projector @ lifted))
            for order, own in table.items():
                vector = _fixed_lift(layout, equation.field, space, own) if own and order == 0 else None
                if vector is not None:
                    fixed.append((rows, vector))
                elif own:
                    maps.append((space, order, rows, projector @ space.network.lift_at_points(own)))
    return maps, fixed
