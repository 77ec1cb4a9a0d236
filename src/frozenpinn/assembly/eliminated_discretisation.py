"""A discretisation of the fields that evolve, from which fields without a time derivative are eliminated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from frozenpinn.assembly.determined import Determined, check_balance, dividers
from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.assembly.initial_data import Stage, fitted
from frozenpinn.assembly.linear_part import LinearPart
from frozenpinn.assembly.modal_equations import modal_load
from frozenpinn.assembly.nonlinear import PointwisePart
from frozenpinn.assembly.projection import project, shared_left_terms
from frozenpinn.assembly.spaces import Space
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.errors import ProblemError
from frozenpinn.operators import Dense, Inverse, MatrixFree, Operator
from frozenpinn.operators.spectral import composed
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.structure import in_order

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class EliminatedDiscretisation(Discretisation):
    """∂ₜᵐ c = L c + b(t) + n(t, c) for the fields that evolve; the others follow from them at each moment."""

    determined: Determined = field(kw_only=True)

    @property
    def elimination(self) -> EliminatedDiscretisation | None:
        """What eliminates fields without a time derivative: this."""
        return self

    def truncated(self, ranks: Sequence[int], judge_again: bool = False) -> Discretisation:
        """Return the discretisation in the leading functions of each space."""
        spaces = [space.truncate(rank) for space, rank in zip(self.spaces, ranks, strict=True)]
        return eliminate(self.problem, [*spaces, *self.determined.spaces], self.rcond, self.stage)

    # ---- the parts ---------------------------------------------------------------------------------------

    @cached_property
    def linear(self) -> LinearPart:
        """The linear part with constant coefficients, A_yy − A_yz A_zz⁻¹ A_zy, its symmetry made exact."""
        if self.judged is not None:
            return self.judged
        z, whole = self.determined, self.determined.whole.projected
        divided = [own.inverse.operator for own in z.dividers if isinstance(own.inverse, Inverse)]
        position = composed(z.part(whole.position, z.own, z.own), z.through, z.of_position, divided)
        velocity = None
        if whole.velocity is not None and z.of_velocity is not None:
            velocity = Dense(self._divided(whole.velocity.dense()[z.own] + z.through @ z.of_velocity.matrix))
        if self._shared is not None:
            position = Dense(self._divided(position.dense()))
        projected = self.projected._replace(position=position, velocity=velocity, odd=None)
        return Discretisation(self.problem, self.spaces, self.stage, self.rcond, projected).linear

    @cached_property
    def forcing(self) -> PushedForcing:  # type: ignore[override]
        """b(t), with what it adds through determined fields."""
        return PushedForcing(self)

    @cached_property
    def _shared(self) -> SharedMass | None:
        """The left-hand sides in which determined fields move, too."""
        terms = shared_left_terms(self.problem, self.points.x)
        return SharedMass.of(self.determined, terms) if terms else None

    def _divided(self, highest: Array) -> Array:
        """Divide what equations say by these left-hand sides."""
        return highest if self._shared is None else self._shared.inverse @ highest

    def pushed(self, t: float, rest: Array) -> Array:
        """Return what is left of the highest time derivatives by sources, divided by the left-hand sides."""
        if self._shared is None:
            return rest
        z = self.determined
        return self._divided(rest - self._shared.through @ z.by_itself(t, np.zeros(self.size), np.zeros(z.size)))

    @property
    def pointwise(self) -> PointwisePart | None:
        """The terms of all equations that are evaluated at the points."""
        return self.determined.whole.pointwise

    # ---- the system as integrators see it ------------------------------------------------------------------

    def _rest(self, t: float, y: Array) -> Array:
        """Return b + n."""
        z = self.determined
        beyond = z.beyond(t, y)
        out = z.whole.forcing(t)[z.own] + z.through @ beyond
        if z.outer is not None:
            out = out + z.projected(z.outer, t, z.joined(y, z.linearly(y) + beyond))[z.own]
        return np.asarray(self.pushed(t, out))

    def rhs(self, t: float, y: Array) -> Array:
        """Return y'."""
        rest = self.forcing(t) if self.pointwise is None else self._rest(t, y)
        return np.asarray(self.linear @ y + self._at_top(rest))

    def _at_top(self, rest: Array) -> Array:
        """Return what is added to y' by an addition to the highest time derivatives."""
        return self.layout.joined(rest, 0.0)

    def rates(self, times: Array, states: Array) -> Array:
        """Return y' at several times, shape (m, size)."""
        rest = self.semilinear(times, states)
        return np.asarray((self.linear @ states.T).T + self.layout.joined(rest, 0.0))

    def semilinear(self, times: Array, states: Array) -> Array:
        """Return b(t) + n(t, y) at several times, shape (m, R)."""
        if self.pointwise is None:
            return self.forcing.batch(times)
        return np.array([self._rest(float(t), y) for t, y in zip(times, states, strict=True)])

    def modal_semilinear(
        self, vectors: Operator, left: Operator, rest: Operator | None = None
    ) -> Callable[[float, Array], Array]:
        """Return (t, z) → left·(rest·y + b(t) + n(t, y)) with y = vectors·z."""
        if self.pointwise is None or self._is_plain:
            return modal_load(self, vectors, left, rest)

        def load(t: float, modes: Array) -> Array:
            y = np.real(vectors @ modes)
            out = self._rest(t, y)
            return np.asarray(left @ (out if rest is None else out + rest @ y))

        return load

    @cached_property
    def _is_plain(self) -> bool:
        """Whether terms at the points contain determined fields only as they follow linearly, without any push."""
        z, forcing = self.determined, self.determined.whole.forcing
        pushed = not forcing.is_constant or np.any(forcing(self.time[0])[z.other])
        linear = z.is_linear or (z.is_explicit and not z.enter(z.outer))
        lifted = any(space.network.lift_size for space in z.whole.spaces)
        local = self.pointwise is not None and not self.pointwise.quantities
        return linear and local and not pushed and not lifted and self._shared is None and self.layout.order == 1

    def jacobian(self, t: float, y: Array) -> Array:
        """Return ∂y'/∂y, exactly, as a matrix."""
        if self.pointwise is None:
            return self.linear.matrix
        z = self.determined
        whole = z.whole.jacobian(t, z.joined(y, z(t, y)))
        own, other = np.delete(np.arange(len(whole)), z.other), z.other
        moved = z.divided(whole[other], whole[other][:, own])
        return self._over(whole[np.ix_(own, own)] - whole[own, other] @ moved)

    def _over(self, slopes: Array) -> Array:
        """Divide derivatives of the state, or rows of a Jacobian, by left-hand sides in which other fields move."""
        if self._shared is None:
            return slopes
        highest, moving = slopes[: self.layout.coefficients].copy(), self.layout.moving
        highest[moving] = slopes[self.layout.coefficients :]
        return np.asarray(self.layout.joined(self._divided(highest).T, slopes[moving].T).T)

    def jacobian_operator(self, t: float, y: Array) -> Operator:
        """Return ∂y'/∂y, exactly, as products with vectors."""
        if self.pointwise is None:
            return MatrixFree(self.linear.__matmul__, None, (self.size, self.size))
        z, found = self.determined, self.determined(t, y)
        slopes = z.slopes(t, z.joined(y, found))

        def product(direction: Array) -> Array:
            moved = z.response(t, y, found, slopes, direction)
            return self._over(z.evolving(slopes(z.joined(direction, moved))))

        return MatrixFree(product, None, (self.size, self.size))

    def mean_linear(self, t: float, y: Array) -> LinearPart:
        """Return the linear part."""
        return self.linear


@dataclass(frozen=True, eq=False)
class SharedMass:
    """M⁻¹ of ∂ₜᵐ(M_y y + M_z z) = …, where z follows y linearly, and M_z."""

    inverse: Array
    through: Array

    @classmethod
    def of(cls, z: Determined, terms: Mapping[str, list[Term]]) -> SharedMass:
        """Put together the left-hand sides of all equations."""
        whole, layout = z.whole, z.layout
        _check_shared(z)
        mass = np.eye(layout.coefficients)[z.own]
        for name, own in terms.items():
            row, space = whole.space_of(name)
            projector, rows = whole.field_projector(name), layout.blocks[row]
            unit = Term(name, Derivative((0,) * whole.points.x.shape[1]))
            mass[rows, rows] -= (projector @ space.network.at_points([unit])).dense()
            for column, other in zip(layout.blocks, whole.spaces, strict=True):
                chosen = [term for term in own if term.field in other.fields]
                if chosen:
                    mass[rows, column] += (projector @ other.network.at_points(chosen)).dense()
        through = mass[:, z.other]
        return cls(np.linalg.inv(mass[:, z.own] + through @ z.of_position.dense()), through)


def _check_shared(z: Determined) -> None:
    """Refuse what would need the time derivative of more than a linear dependence."""
    names = ", ".join(f"'{name}'" for space in z.spaces for name in space.fields)
    if not z.is_linear:
        raise ProblemError(
            f"the time derivative of {names} stands in another equation, and their own equations are not linear with "
            "coefficients in the coordinates; insert what they say about these fields."
        )
    if any(space.data.depends_on_time for space in z.whole.spaces):
        raise ProblemError(
            f"the time derivative of {names} stands in another equation, and boundary data depend on t; write fields "
            "that vanish there, such as p - g(t) in place of p."
        )


class PushedForcing:
    """b_y(t) − A_yz (I + E)⁻¹ b_z(t), what the forcing of all equations does to evolving fields."""

    def __init__(self, system: EliminatedDiscretisation) -> None:
        self._system, self._inner = system, system.determined.whole.forcing

    @property
    def is_constant(self) -> bool:
        """Whether it does not depend on time."""
        return self._inner.is_constant

    @property
    def is_separable(self) -> bool:
        """Whether many values cost little."""
        return self._inner.is_separable

    def __call__(self, t: float) -> Array:
        """Return b(t)."""
        return self._system.pushed(t, self._through(self._inner(t)))

    def batch(self, times: Array) -> Array:
        """Return b at several times, shape (m, coefficients)."""
        found = self._through(self._inner.batch(times).T).T
        return np.array([self._system.pushed(float(t), row) for t, row in zip(times, found, strict=True)])

    def _through(self, values: Array) -> Array:
        z = self._system.determined
        return np.asarray(values[z.own] - z.through @ (z.chain @ values[z.other]))


def eliminate(problem: Problem, spaces: Sequence[Space], rcond: float | None, stage: Stage) -> EliminatedDiscretisation:
    """Turn a problem with fields that are determined at each moment into a system for those that evolve."""
    evolving = [space for space in spaces if space.order]
    places = {name: k for k, name in enumerate(in_order(problem))}
    others = sorted((s for s in spaces if not s.order), key=lambda s: min(places[name] for name in s.fields))
    ordered = (*evolving, *others)
    known = [_start(space, stage, rcond) for space in evolving]
    projected = project(problem, ordered, rcond, dividers(problem, ordered, stage.time[0], known))
    whole = Discretisation(problem, ordered, stage, rcond, projected)
    determined = Determined(whole, sum(space.network.size for space in evolving))
    found = EliminatedDiscretisation(problem, tuple(evolving), stage, rcond, projected, determined=determined)
    if stage.state is None and stage.time[0] == problem.time[0]:
        check_balance(determined, stage.time[0], found.initial_state, known)
    return found


def _start(space: Space, stage: Stage, rcond: float | None) -> list[Array]:
    """Return coefficients of values, and of velocities, at the start of a stage."""
    data = dict(enumerate((stage.values, stage.velocities)[: max(1, space.order)]))
    return fitted(space, space.network.projector(None if space.network.is_orthonormal else rcond), data, stage.time[0])
