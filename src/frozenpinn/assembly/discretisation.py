"""The discretisation: Problem × trial spaces → ∂ₜᵐ c = L c + b(t) + n(t, c), with its exact Jacobian.

Every equation is evaluated at the quadrature points and projected; the terms that are linear with coefficients in x
alone are projected once and for all. Integrators see the first-order form y' = A y + b(t) + n(t, y) of the state
y = [c, v], where v are the velocities of second-order fields (state.py); of an equation without a time derivative,
the same right-hand side is its residual.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot
from typing import TYPE_CHECKING

import numpy as np

from frozenpinn.assembly.boundary import derivative_of
from frozenpinn.assembly.forcing import Forcing, Layout
from frozenpinn.assembly.initial_data import Snapshot, Stage, fitted, fitted_along_axes
from frozenpinn.assembly.linear_part import LinearPart
from frozenpinn.assembly.modal_equations import modal_load
from frozenpinn.assembly.nonlinear import PointwisePart, pointwise_terms
from frozenpinn.assembly.projection import (
    Projected,
    constant_part,
    divided,
    field_columns,
    is_constant_on_products,
    leading_rows,
    project,
    project_products,
)
from frozenpinn.assembly.spaces import Space
from frozenpinn.assembly.state import StateLayout
from frozenpinn.basis.hidden import Term
from frozenpinn.basis.protocol import PointSet
from frozenpinn.operators import Dense, MatrixFree, Operator, ProductSum, Tag
from frozenpinn.operators.symmetry import keep_split, keep_structure
from frozenpinn.runtime.arrays import read_only
from frozenpinn.statement.points import refuse_points
from frozenpinn.statement.problem import Problem

if TYPE_CHECKING:
    from frozenpinn.assembly.eliminated_discretisation import EliminatedDiscretisation

Array = np.ndarray
_AT_ONCE = 256  # times at which values at all points are held together, …
_NEAR = 400_000  # … and how many values at most: with more, memory takes longer than sums
_TAGS = {
    "symmetric": frozenset({Tag.SYMMETRIC}),
    "skew-symmetric": frozenset({Tag.SKEW}),
    "split": frozenset({Tag.SPLIT}),
    "general": frozenset[Tag](),
}


@dataclass(frozen=True, eq=False)
class Discretisation:
    """∂ₜᵐ c = L c + b(t) + n(t, c) for the coefficients of frozen networks, and its first-order form.

    Attributes
    ----------
    problem, spaces
        What was discretised, and in which spaces.
    stage
        Start, end and initial data.
    rcond
        Relative cut-off of the fit of the initial data; None follows the SVD layer.
    projected
        Matrices of the linear terms as they were found, before symmetry was made exact.
    judged
        The linear part if it is known already, with its symmetry; None looks for one.
    """

    problem: Problem
    spaces: tuple[Space, ...]
    stage: Stage
    rcond: float | None
    projected: Projected
    judged: LinearPart | None = None

    @cached_property
    def layout(self) -> StateLayout:
        """Where coefficients and velocities stand in a state."""
        if self.judged is not None:
            return self.judged.layout
        return StateLayout(tuple(s.network.size for s in self.spaces), tuple(s.order for s in self.spaces))

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields in a state."""
        own = {name for space in self.spaces for name in space.fields}
        return tuple(name for name in self.problem.fields if name in own)

    @property
    def elimination(self) -> EliminatedDiscretisation | None:
        """What eliminates fields without a time derivative; None if there are none."""
        return None

    @property
    def coefficients(self) -> int:
        """Number of coefficients."""
        return self.layout.coefficients

    @property
    def size(self) -> int:
        """Number of components of a state."""
        return self.layout.size

    @property
    def points(self) -> PointSet:
        """The quadrature points."""
        return self.spaces[0].network.points

    @property
    def time(self) -> tuple[float, float]:
        """Start and end."""
        return self.stage.time

    @property
    def shortest(self) -> float:
        """The shortest time in which formulas of the problem change, as far as that is known."""
        return self.stage.shortest

    def space_of(self, field: str) -> tuple[int, Space]:
        """Return the index and the space of a field."""
        for i, space in enumerate(self.spaces):
            if field in space.fields:
                return i, space
        raise KeyError(field)

    def field_projector(self, field: str) -> Operator:
        """Return the columns of the projector that act on the equation of one field."""
        i, space = self.space_of(field)
        return divided(self.projected.inverses[i], field_columns(space, self.projected.projectors[i], field))

    @cached_property
    def singular_values(self) -> Array:
        """Singular values of all basis functions, relative to the largest of their space."""
        values = [s.network.singular_values for s in self.spaces]
        return read_only(np.concatenate([own / own.max() for own in values]))

    def truncated(self, ranks: Sequence[int], judge_again: bool = False) -> Discretisation:
        """Return the discretisation in the leading functions of each space, by slicing what is projected already.

        The linear part keeps the symmetry that it was found to have, unless it is to be judged again.
        """
        spaces = tuple(space.truncate(rank) for space, rank in zip(self.spaces, ranks, strict=True))
        if self.projected.left or any(
            space.soft is not None or space.images is not None for space in spaces
        ):  # fitted with all functions together
            return discretise(self.problem, spaces, self.rcond, self.stage)
        kept = np.concatenate([np.arange(s.network.size) < rank for s, rank in zip(self.spaces, ranks, strict=True)])
        projectors = tuple(
            leading_rows(space, p, rank)
            for space, p, rank in zip(spaces, self.projected.projectors, ranks, strict=True)
        )
        if not judge_again:
            linear = self.linear.kept(kept)
            projected = self.projected._replace(
                projectors=projectors, position=linear.position, velocity=linear.velocity, odd=None
            )
            return replace(self, spaces=spaces, projected=projected, judged=linear)
        chosen, odd, speeds = np.ix_(kept, kept), self.projected.odd, self.projected.velocity
        projected = self.projected._replace(
            projectors=projectors,
            position=Dense(self.projected.position.dense()[chosen]),
            velocity=None if speeds is None else Dense(speeds.dense()[kept][:, kept[self.layout.second]]),
            odd=None if odd is None else Dense(odd.dense()[chosen]),
        )
        return replace(self, spaces=spaces, projected=projected, judged=None)

    # ---- the parts -----------------------------------------------------------------------------

    @cached_property
    def linear(self) -> LinearPart:
        """The linear part with constant coefficients, its symmetry made exact."""
        if self.judged is not None:
            return self.judged
        operator, odd = self.projected.position, self.projected.odd
        same_kind = self.layout.order is not None and all(
            s.network.is_orthonormal and s.obeys_conditions for s in self.spaces
        )
        if same_kind and isinstance(operator, Dense):
            position = operator.matrix
            found = keep_structure(position, self.singular_values)
            if found.kind == "general" and odd is not None and self.layout.order == 1:
                found = keep_split(position - odd.dense(), odd.dense(), self.singular_values) or found
            operator = Dense(found.matrix, _TAGS[found.kind])
        return LinearPart(operator, self.projected.velocity, self.layout, self._drift)

    @cached_property
    def _drift(self) -> Array | None:
        """What soft boundary rows add to c' = v of second-order fields, shape (R₂, size); None without them."""
        if not any(s.soft is not None and s.order == 2 for s in self.spaces):
            return None
        layout = self.layout
        out = np.zeros((len(layout.moving), layout.size))
        start = 0
        for block, space, soft in zip(layout.blocks, self.spaces, self.projected.relaxations, strict=True):
            if space.order != 2:
                continue
            rows = slice(start, start + space.network.size)
            if soft is not None:
                out[rows, block] = soft.drift_position
                out[rows, layout.coefficients + start : layout.coefficients + rows.stop] = soft.drift_velocity
            start = rows.stop
        return out

    def _drift_forcing(self, t: float) -> Array:
        """Return what boundary data add to c' of second-order fields."""
        parts = []
        for space, soft in zip(self.spaces, self.projected.relaxations, strict=True):
            if space.order == 2:
                part = np.zeros(space.network.size)
                for order, block in ({} if soft is None else soft.drift_data).items():
                    part += block @ space.boundary_data(t, order)
                parts.append(part)
        return np.concatenate(parts)

    @cached_property
    def forcing(self) -> Forcing:
        """b(t), the part of the highest time derivatives that does not depend on the state."""
        at, blocks = self.points, self.layout.blocks
        layout = Layout(self.problem, self.spaces, blocks, at.x, self.coefficients, self.field_projector, at.axes)
        return Forcing(layout, self.projected.terms, self.projected.relaxations, self.projected.left)

    @cached_property
    def pointwise(self) -> PointwisePart | None:
        """The terms that must be evaluated at the points at each time; None if there are none."""
        expressions = pointwise_terms(self.problem)
        return PointwisePart(self.problem, self.spaces, self.points.x, expressions) if expressions else None

    @property
    def is_linear(self) -> bool:
        """Whether the right-hand side is linear in y; coefficients may depend on time."""
        return self.problem.is_linear

    @property
    def has_constant_coefficients(self) -> bool:
        """Whether the right-hand side is linear in y with constant coefficients."""
        return self.pointwise is None

    @property
    def is_autonomous(self) -> bool:
        """Whether the right-hand side is linear and does not depend on t, given y."""
        return self.has_constant_coefficients and self.forcing.is_constant

    # ---- the system as integrators see it --------------------------------------------------------

    def state_forcing(self, t: float) -> Array:
        """Return b(t) in the first-order form, shape (size,)."""
        moving = 0.0 if self.linear.drift is None else self._drift_forcing(t)
        return self.layout.joined(self.forcing(t), moving)

    def rhs(self, t: float, y: Array) -> Array:
        """Return y'."""
        layout, linear = self.layout, self.linear
        c, v = y[: layout.coefficients], y[layout.coefficients :]
        highest = linear.position @ c
        if linear.velocity is not None:
            highest = highest + linear.velocity @ v
        highest += self.forcing(t)
        if self.pointwise is not None:
            for rows, name, values in self.pointwise.values(t, layout.split(y)):
                highest[layout.blocks[rows]] += self.field_projector(name) @ values
        if linear.drift is not None:
            v = v + linear.drift @ y + self._drift_forcing(t)
        return layout.joined(highest, v)

    def rates(self, times: Array, states: Array) -> Array:
        """Return y' at several times, shape (m, size), by products of matrices."""
        layout, linear = self.layout, self.linear
        out = np.empty(states.shape)
        step = int(np.clip(_NEAR // len(self.points.x), 1, _AT_ONCE))
        for start in range(0, len(times), step):
            part = slice(start, start + step)
            y = states[part]
            c, v = y[:, : layout.coefficients], y[:, layout.coefficients :]
            highest = (linear.position @ c.T).T + self.semilinear(times[part], y)
            if linear.velocity is not None:
                highest += (linear.velocity @ v.T).T
            if linear.drift is not None:
                v = v + y @ linear.drift.T + np.array([self._drift_forcing(float(t)) for t in times[part]])
            out[part] = layout.joined(highest, v)
        return out

    def semilinear(self, times: Array, states: Array) -> Array:
        """Return b(t) + n(t, y) at several times at once, shape (m, R)."""
        out = self.forcing.batch(times)
        if self.pointwise is not None:
            for space, name, values in self.pointwise.batch(times, self.layout.split(states.T)):
                out[:, self.layout.blocks[space]] += (self.field_projector(name) @ values.T).T
        return out

    def modal_semilinear(
        self, vectors: Operator, left: Operator, rest: Operator | None = None
    ) -> Callable[[float, Array], Array]:
        """Return (t, z) → left·(rest·y + b(t) + n(t, y)) with y = vectors·z, as a function made for many calls."""
        return modal_load(self, vectors, left, rest)

    def jacobian(self, t: float, y: Array) -> Array:
        """Return ∂y'/∂y, exactly, as a matrix."""
        if self.pointwise is None:
            return self.linear.matrix
        layout = self.layout
        whole = self.linear.position.dense() if len(layout.moving) else self.linear.matrix  # which is remembered
        position, velocity = whole.copy(), self.linear.dense_velocity.copy()
        columns_of = np.cumsum(layout.second) - 1
        for rows, name, column, order, matrix in self.pointwise.jacobian(t, layout.split(y)):
            block = self.field_projector(name) @ matrix
            if order == 0:
                position[layout.blocks[rows], layout.blocks[column]] += block
            else:
                start = int(columns_of[layout.blocks[column].start])
                velocity[layout.blocks[rows], start : start + block.shape[1]] += block
        return self.linear.with_drift(layout.matrix(position, velocity))

    def jacobian_operator(self, t: float, y: Array) -> Operator:
        """Return ∂y'/∂y, exactly, as products with vectors: no matrix is formed."""
        if self.pointwise is None:
            return MatrixFree(self.linear.__matmul__, None, (self.size, self.size))
        layout, differential = self.layout, self.pointwise.differential(t, self.layout.split(y))

        def product(direction: Array) -> Array:
            out = self.linear @ direction
            highest = np.zeros(layout.coefficients)
            for rows, name, values in differential(layout.split(direction)):
                highest[layout.blocks[rows]] += self.field_projector(name) @ values
            return np.asarray(out + layout.joined(highest, 0.0))

        return MatrixFree(product, None, (self.size, self.size))

    def mean_linear(self, t: float, y: Array) -> LinearPart:
        """Return the linear part with the mean over the domain of the derivatives of everything else at a state."""
        if self.pointwise is None or self.linear.is_dense:
            return self.linear
        weights = self.points.weights / np.sum(self.points.weights)
        terms: dict[str, list[Term]] = {}
        for name, jet, mean in self.pointwise.mean_partials(t, self.layout.split(y), weights):
            if not jet.time and np.isfinite(mean):
                terms.setdefault(name, []).append(Term(jet.field, derivative_of(jet), mean))
        extra = project_products(terms, self.spaces, self.layout)
        return replace(self.linear, position=self.linear.position + extra)

    # ---- initial state ------------------------------------------------------------------------

    @cached_property
    def initial_state(self) -> Array:
        """Least-squares coefficients of the initial data."""
        if self.stage.state is not None:
            return self.stage.state
        found = [self._fit(i) for i in range(len(self.spaces))]
        parts = [own[0] for own in found] + [velocity for own in found for velocity in own[1:]]
        return read_only(parts[0] if len(parts) == 1 else np.concatenate(parts))

    @cached_property
    def initial_products(self) -> tuple[Sequence[ProductSum | None], ...]:
        """Initial values and velocities of each space, where their coefficients are short sums of products."""
        if self.stage.state is not None:
            return tuple([None] * max(1, space.order) for space in self.spaces)
        return tuple(fitted_along_axes(space, self._data(space), self.time[0]) for space in self.spaces)

    @property
    def starts_in_products(self) -> bool:
        """Whether all of the initial state is known by short sums of products: it need not be multiplied out."""
        return all(own is not None for space in self.initial_products for own in space)

    @property
    def initial_norms(self) -> tuple[float, float]:
        """Norms of the initial coefficients, and of the velocities."""
        if self.starts_in_products:
            parts = [[own.norm for own in space if own is not None] for space in self.initial_products]
            return hypot(*(own[0] for own in parts)), hypot(*(v for own in parts for v in own[1:]))
        state, n = self.initial_state, self.layout.coefficients
        return float(np.linalg.norm(state[:n])), float(np.linalg.norm(state[n:]))

    def _data(self, space: Space) -> dict[int, Mapping[str, Snapshot]]:
        """Return the initial values and, at second order, velocities."""
        return dict(enumerate((self.stage.values, self.stage.velocities)[: max(1, space.order)]))

    def _fit(self, index: int) -> list[Array]:
        """Return the coefficients of the initial values of a space and, at second order, of velocities."""
        space, products = self.spaces[index], self.initial_products[index]
        left = {order: own for order, own in self._data(space).items() if products[order] is None}
        same = space.soft is None and (self.rcond is None or not space.network.is_orthonormal)
        projector = self.projected.projectors[index] if same else space.network.projector(self.rcond)
        fits = iter(fitted(space, projector, left, self.time[0]) if left else ())
        return [next(fits) if own is None else own.full() for own in products]

    @property
    def c0(self) -> Array:
        """The initial state, under the paper's name."""
        return self.initial_state


def discretise(
    problem: Problem, spaces: Space | Sequence[Space], rcond: float | None = None, stage: Stage | None = None
) -> Discretisation:
    """Turn a problem and its trial spaces into a system of ordinary differential equations."""
    refuse_points(problem)
    spaces = (spaces,) if isinstance(spaces, Space) else tuple(spaces)
    stage = Stage.whole(problem) if stage is None else stage
    if not problem.determined and is_constant_on_products(problem, spaces):
        return Discretisation(problem, spaces, stage, rcond, *constant_part(problem, spaces))
    if problem.determined:
        from frozenpinn.assembly.eliminated_discretisation import eliminate

        eliminated = eliminate(problem, spaces, rcond, stage)
        spaces, projected = eliminated.spaces, eliminated.projected
        if not any(space.laws for space in spaces):
            return eliminated
    else:
        eliminated, projected = None, project(problem, spaces, rcond)
    if any(space.laws for space in spaces):
        from frozenpinn.assembly.constrained_discretisation import ConstrainedDiscretisation

        return ConstrainedDiscretisation(problem, spaces, stage, rcond, projected, eliminated=eliminated)
    return Discretisation(problem, spaces, stage, rcond, projected)
