"""The semi-discrete system: Problem × trial spaces → y' = A y + b(t) + n(t, y), with its exact Jacobian.

The state is y = [c, v]: c collects the coefficients of all fields, v the velocities of those of
second order in time. Every equation is evaluated at the quadrature points and projected; the terms
that are linear with coefficients in x alone are projected once and for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from frozenpinn.assembly.augmented import Relaxation, augmented_projector, relaxation
from frozenpinn.assembly.boundary import derivative_of
from frozenpinn.assembly.forcing import Forcing, Layout, data_of
from frozenpinn.assembly.nonlinear import PointwisePart, basis_rows
from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.errors import EvaluationError, SettingsError
from frozenpinn.operators.symmetry import Kind, MatrixAt, first_order, keep_split, keep_structure, spectral_abscissa
from frozenpinn.statement.problem import Problem

Array = np.ndarray
_AT_ONCE = 256  # times at which values at all points are held together

Snapshot: TypeAlias = Callable[[Array, float], Array]  #: from points (n, d) and a time to values (n,)


class Stage(NamedTuple):
    """A part of an evolution: start and end, and the values and velocities of the fields at the start."""

    time: tuple[float, float]
    values: Mapping[str, Snapshot]
    velocities: Mapping[str, Snapshot]


class System:
    """y' = A y + b(t) + n(t, y) for the coefficients of a frozen network.

    Attributes
    ----------
    problem, spaces
        What was discretised, and in which spaces.
    position, velocity
        ∂ₜᵐ c = position·c + velocity·v + …, shapes (R, R) and (R, R₂).
    stage
        Start, end and initial data.
    monitor
        Asked after every accepted step whether to stop there; None never stops.
    announce
        Told the time of every accepted step.
    reference_size
        Size of the solution in an earlier stage, against which growth is judged; None takes the initial state.
    forcing
        b(t), the part of ∂ₜᵐ c that does not depend on c.
    rhs_evaluations, jacobian_evaluations
        Counters for the report.
    """

    def __init__(
        self, problem: Problem, spaces: Sequence[Space], rcond: float | None = None, stage: Stage | None = None
    ) -> None:
        self.problem = problem
        self.stage = Stage(problem.time, problem.initial, problem.initial_velocity) if stage is None else stage
        self.monitor: Callable[[float, Array], bool] | None = None
        self.announce: Callable[[float], None] | None = None
        self.reference_size: float | None = None
        self.spaces = tuple(spaces)
        self.rcond = rcond
        self.points = spaces[0].network.points
        self.rhs_evaluations = 0
        self.jacobian_evaluations = 0
        sizes = [space.network.size for space in self.spaces]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        self.blocks = tuple(slice(int(a), int(b)) for a, b in pairwise(starts))
        self.coefficients = int(starts[-1])
        self.second = np.concatenate([np.full(n, s.order == 2) for n, s in zip(sizes, self.spaces, strict=True)])
        self.moving = np.flatnonzero(self.second)
        self.size = self.coefficients + len(self.moving)
        self._check_points()
        self.projectors = [_projector(space, rcond) for space in self.spaces]
        position, velocity, odd = self._linear_part()
        self.position, self._structure = self._structured(position, odd)
        self.velocity = velocity
        layout = Layout(problem, self.spaces, self.blocks, self.points.x, self.coefficients, self.field_projector)
        self.forcing = Forcing(layout, self._terms, self._relaxations)

    def _check_points(self) -> None:
        n = len(self.points.x)
        for space in self.spaces:
            if space.network.is_orthonormal:
                continue
            if space.network.size > n * len(space.fields):
                raise SettingsError(
                    f"{n} points are too few for {space.network.size} basis functions; "
                    "use at least as many points as neurons, better twice as many."
                )

    # ---- assembly -------------------------------------------------------------------------------

    def space_of(self, field: str) -> tuple[int, Space]:
        """Return the index and the space of a field."""
        for i, space in enumerate(self.spaces):
            if field in space.fields:
                return i, space
        raise KeyError(field)

    def field_projector(self, field: str) -> Array:
        """Return the columns of the projector that act on the equation of one field."""
        i, space = self.space_of(field)
        n = len(self.points.x)
        start = space.fields.index(field) * n
        return self.projectors[i][:, start : start + n]

    @cached_property
    def _terms(self) -> dict[str, dict[int, list[Term]]]:
        """Linear terms of each equation by time derivative, coefficients evaluated at the points."""
        x = self.points.x
        table: dict[str, dict[int, list[Term]]] = {}
        for equation in self.problem.equations:
            jets = list(equation.linear)
            with np.errstate(all="ignore"):
                values = self.problem.compile([equation.linear[j] for j in jets])(*x.T, 0.0) if jets else []
            by_time: dict[int, list[Term]] = {}
            for jet, value in zip(jets, values, strict=True):
                if not np.all(np.isfinite(value)):
                    raise EvaluationError(
                        f"the coefficient '{equation.linear[jet]}' of {self.problem.jets.name(jet)} is not finite at "
                        "some points of the domain; a division by zero?"
                    )
                by_time.setdefault(jet.time, []).append(Term(jet.field, derivative_of(jet), value))
            table[equation.field] = by_time
        return table

    def _linear_part(self) -> tuple[Array, Array, Array | None]:
        """Project the linear autonomous terms: L ψ at the points, then the inner product with ψ.

        The third matrix is the part of the first that comes from odd derivatives, if there are also even ones.
        """
        count = self.coefficients
        parities = {t.derivative.order % 2 for by_time in self._terms.values() for t in by_time.get(0, [])}
        odd = np.zeros((count, count)) if parities == {0, 1} and len(self.spaces) == 1 else None
        position = np.zeros((count, count))
        velocity = np.zeros((count, count))
        for equation in self.problem.equations:
            rows = self.blocks[self.space_of(equation.field)[0]]
            projector = self.field_projector(equation.field)
            for order, terms in self._terms[equation.field].items():
                target = position if order == 0 else velocity
                for columns, space in zip(self.blocks, self.spaces, strict=True):
                    own = [t for t in terms if t.field in space.fields]
                    if odd is not None and order == 0:
                        uneven = [t for t in own if t.derivative.order % 2]
                        odd[rows, columns] += projector @ basis_rows(space.network, self.points.x, uneven)
                        own = [t for t in own if not t.derivative.order % 2]
                    if own:
                        target[rows, columns] += projector @ basis_rows(space.network, self.points.x, own)
        if odd is not None:
            position += odd
        for rows, soft in zip(self.blocks, self._relaxations, strict=True):
            if soft is not None:
                position[rows, rows] += soft.position
                velocity[rows, rows] += soft.velocity
        return position, velocity[:, self.moving], odd

    def _structured(self, position: Array, odd: Array | None) -> tuple[Array, Kind]:
        orders = {space.order for space in self.spaces}
        orthonormal = all(space.network.is_orthonormal and not space.soft for space in self.spaces)
        if len(orders) > 1 or not orthonormal:
            return position, "general"
        found = keep_structure(position, self.singular_values)
        if found.kind == "general" and odd is not None and orders == {1}:
            return keep_split(position - odd, odd, self.singular_values) or found
        return found

    @cached_property
    def _relaxations(self) -> list[Relaxation | None]:
        """The soft boundary rows of each space; None where there are none."""
        pairs = zip(self.spaces, self.projectors, strict=True)
        return [relaxation(space, projector) if space.soft else None for space, projector in pairs]

    @cached_property
    def drift(self) -> Array | None:
        """What soft boundary rows add to c' = v of second-order fields, shape (R₂, size); None without them."""
        if not any(s.soft and s.order == 2 for s in self.spaces):
            return None
        out = np.zeros((len(self.moving), self.size))
        start = 0
        for block, space, soft in zip(self.blocks, self.spaces, self._relaxations, strict=True):
            if space.order != 2:
                continue
            rows = slice(start, start + space.network.size)
            if soft is not None:
                out[rows, block] = soft.drift_position
                out[rows, self.coefficients + start : self.coefficients + rows.stop] = soft.drift_velocity
            start = rows.stop
        return out

    def _drift_forcing(self, t: float) -> Array | float:
        """Return what boundary data add to c' of second-order fields."""
        parts = []
        for space, soft in zip(self.spaces, self._relaxations, strict=True):
            if space.order == 2:
                part = np.zeros(space.network.size)
                for order, block in ({} if soft is None else soft.drift_data).items():
                    part += block @ data_of(space)(t, order)
                parts.append(part)
        return np.concatenate(parts)

    # ---- the system as integrators see it ---------------------------------------------------------

    @property
    def structure(self) -> Kind:
        """Symmetry of ``position``: ``"symmetric"``, ``"skew-symmetric"``, ``"split"`` into both, or ``"general"``."""
        return self._structure

    @property
    def time(self) -> tuple[float, float]:
        """Start and end."""
        return self.stage.time

    @cached_property
    def singular_values(self) -> Array:
        """Singular values of all basis functions, relative to the largest of their space."""
        return np.concatenate([s.network.singular_values / s.network.singular_values.max() for s in self.spaces])

    @cached_property
    def matrix(self) -> Array:
        """The matrix A of the first-order form."""
        return self._with_drift(first_order(self.position, self.velocity, self.second))

    def _with_drift(self, matrix: Array) -> Array:
        if self.drift is not None:
            matrix[self.moving] += self.drift
        return matrix

    @cached_property
    def spectral_abscissa(self) -> float:
        """Largest real part of the eigenvalues of A."""
        if self.structure == "skew-symmetric" and not len(self.moving):
            return 0.0
        return spectral_abscissa(self.matrix)

    @cached_property
    def eigensystem(self) -> tuple[Array, Array, float]:
        """Eigenvalues and eigenvectors of A, and the condition number of the latter."""
        eigenvalues, vectors = np.linalg.eig(self.matrix)
        return eigenvalues, vectors, float(np.linalg.cond(vectors))

    @property
    def matrix_at(self) -> MatrixAt:
        """The matrix A as a function of the kept basis functions."""
        return MatrixAt(self.position, self.velocity, self.second)

    @cached_property
    def pointwise(self) -> PointwisePart | None:
        """The terms that must be evaluated at the points at each time; None if there are none."""
        part = PointwisePart(self.problem, self.spaces, self.points.x)
        return part if part.jets else None

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
        """Whether the right-hand side does not depend on t, given y."""
        return self.has_constant_coefficients and self.forcing.is_constant

    def forcings(self, times: Array) -> Array:
        """Return b at several times, shape (m, R)."""
        return self.forcing.batch(times)

    @property
    def forcing_is_constant(self) -> bool:
        """Whether b does not depend on time."""
        return self.forcing.is_constant

    @property
    def forcing_is_separable(self) -> bool:
        """Whether b is a sum of fixed vectors times functions of time: many values cost little."""
        return self.forcing.is_separable

    def state_forcing(self, t: float) -> Array:
        """Return b(t) in the first-order form, shape (size,)."""
        moving = np.zeros(len(self.moving)) if self.drift is None else self._drift_forcing(t)
        return self._first_order(self.forcing(t), moving)

    def _first_order(self, highest: Array, velocity: Array | float) -> Array:
        """Return y' from the highest time derivatives of all coefficients and the velocities."""
        if not len(self.moving):
            return highest
        out = np.concatenate([highest, highest[..., self.moving]], axis=-1)
        out[..., self.moving] = velocity
        return out

    def rhs(self, t: float, y: Array) -> Array:
        """Return y'."""
        self.rhs_evaluations += 1
        c, v = y[: self.coefficients], y[self.coefficients :]
        highest = self.position @ c
        if len(v):
            highest += self.velocity @ v
        highest += self.forcing(t)
        if self.pointwise is not None:
            for rows, name, values in self.pointwise.values(t, self.split(y)):
                highest[self.blocks[rows]] += self.field_projector(name) @ values
        if self.drift is not None:
            v = v + self.drift @ y + self._drift_forcing(t)
        return self._first_order(highest, v)

    def rates(self, times: Array, states: Array) -> Array:
        """Return y' at several times, shape (m, size), by products of matrices."""
        out = np.empty(states.shape)
        for start in range(0, len(times), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            y = states[part]
            c, v = y[:, : self.coefficients], y[:, self.coefficients :]
            highest = c @ self.position.T + v @ self.velocity.T + self.semilinear(times[part], y)
            if self.drift is not None:
                v = v + y @ self.drift.T + np.array([self._drift_forcing(float(t)) for t in times[part]])
            out[part] = self._first_order(highest, v)
        return out

    def semilinear(self, times: Array, states: Array) -> Array:
        """Return b(t) + n(t, y) at several times at once, shape (m, R)."""
        self.rhs_evaluations += len(times)
        out = self.forcing.batch(times)
        if self.pointwise is not None:
            for space, name, values in self.pointwise.batch(times, self.split(states.T)):
                out[:, self.blocks[space]] += values @ self.field_projector(name).T
        return out

    def modal_semilinear(self, vectors: Array, left: Array) -> Callable[[float, Array], Array]:
        """Return (t, z) → left·(b(t) + n(t, vectors·z)) as a function made for many calls.

        All matrices are multiplied by ``vectors`` and ``left`` beforehand. For equations of first order in time.
        """
        forcing = self.forcing
        constant = left @ forcing(self.time[0]) if forcing.is_constant else None
        recent: dict[float, Array] = {}  # a step asks twice for the same time

        def push(t: float) -> Array:
            if constant is not None:
                return constant
            if t not in recent:
                recent.clear()
                recent[t] = left @ forcing(t)
            return recent[t]

        part = self.pointwise
        if part is None:
            return lambda t, _: push(t).copy()
        rights = [vectors[block] for block in self.blocks]
        fields = [(name, self.blocks[self.space_of(name)[0]]) for name in part.fields]
        lefts = {name: left[:, rows] @ self.field_projector(name) for name, rows in fields}
        pointwise = part.transformed(rights, lefts)

        def semilinear(t: float, z: Array) -> Array:
            self.rhs_evaluations += 1
            out = pointwise(t, z)
            out += push(t)
            return out

        return semilinear

    def jacobian(self, t: float, y: Array) -> Array:
        """Return ∂y'/∂y, exactly."""
        self.jacobian_evaluations += 1
        if self.pointwise is None:
            return self.matrix
        position, velocity = self.position.copy(), self.velocity.copy()
        columns_of = np.cumsum(self.second) - 1
        for rows, name, column, order, matrix in self.pointwise.jacobian(t, self.split(y)):
            block = self.field_projector(name) @ matrix
            if order == 0:
                position[self.blocks[rows], self.blocks[column]] += block
            else:
                start = int(columns_of[self.blocks[column].start])
                velocity[self.blocks[rows], start : start + block.shape[1]] += block
        return self._with_drift(first_order(position, velocity, self.second))

    def split(self, y: Array) -> list[list[Array]]:
        """Return the coefficients (and velocities) of each space: ``split(y)[space][order]``.

        Of several states at once, ``y`` has one in each column.
        """
        result: list[list[Array]] = []
        start = self.coefficients
        for block, space in zip(self.blocks, self.spaces, strict=True):
            parts = [y[block]]
            if space.order == 2:
                parts.append(y[start : start + space.network.size])
                start += space.network.size
            result.append(parts)
        return result

    # ---- initial state ------------------------------------------------------------------------

    @cached_property
    def initial_state(self) -> Array:
        """Least-squares coefficients of the initial data."""
        (start, _), values, velocities = self.stage
        position = [self._fit(space, values, 0, start) for space in self.spaces]
        moving = [s for s in self.spaces if s.order == 2]
        return np.concatenate(position + [self._fit(s, velocities, 1, start) for s in moving])

    def _fit(self, space: Space, data: Mapping[str, Snapshot], order: int, t: float) -> Array:
        x = self.points.x
        zero = Derivative((0,) * x.shape[1])
        targets = []
        for name in space.fields:
            target = data[name](x, t)
            if space.network.lift_size:
                lift = space.network.lift_operator(x, [Term(name, zero)])
                target = target - lift @ space.data(t, order)
            targets.append(target)
        return np.asarray(space.network.projector(self.rcond) @ np.concatenate(targets))

    @property
    def c0(self) -> Array:
        """The initial state, under the paper's name."""
        return self.initial_state


def semidiscretize(problem: Problem, spaces: Space | Sequence[Space], rcond: float | None = None) -> System:
    """Turn a problem and its trial spaces into a system of ordinary differential equations."""
    return System(problem, [spaces] if isinstance(spaces, Space) else list(spaces), rcond)


def _projector(space: Space, rcond: float | None) -> Array:
    if space.soft:
        return augmented_projector(space)
    return space.network.projector(None if space.network.is_orthonormal else rcond)
