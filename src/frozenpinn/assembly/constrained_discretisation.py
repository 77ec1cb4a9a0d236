"""A discretisation with boundary laws: the rates of the equations, corrected so that the laws hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from frozenpinn.assembly.discretisation import Discretisation, discretise
from frozenpinn.assembly.eliminated_discretisation import EliminatedDiscretisation
from frozenpinn.assembly.laws import Laws
from frozenpinn.assembly.linear_part import LinearPart
from frozenpinn.assembly.modal_equations import modal_load
from frozenpinn.assembly.nonlinear import PointwisePart
from frozenpinn.operators import Dense, Operator
from frozenpinn.runtime.arrays import read_only

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ConstrainedDiscretisation(Discretisation):
    """∂ₜᵐ c next to L c + b(t) + n(t, c) among all rates that obey the boundary laws."""

    eliminated: EliminatedDiscretisation | None = field(kw_only=True, default=None)

    @cached_property
    def free(self) -> Discretisation:
        """The same without the laws."""
        plain = Discretisation(self.problem, self.spaces, self.stage, self.rcond, self.projected)
        return plain if self.eliminated is None else self.eliminated

    @property
    def elimination(self) -> EliminatedDiscretisation | None:
        """What eliminates fields without a time derivative."""
        return self.eliminated

    @cached_property
    def laws(self) -> Laws:
        """What corrects the rates."""
        if self.eliminated is None:
            return Laws(self.problem, self.spaces, self.layout)
        determined = self.eliminated.determined
        return Laws(self.problem, determined.whole.spaces, determined.layout, determined)

    def truncated(self, ranks: Sequence[int], judge_again: bool = False) -> Discretisation:
        """Return the discretisation in the leading functions of each space."""
        spaces = [space.truncate(rank) for space, rank in zip(self.spaces, ranks, strict=True)]
        others = () if self.eliminated is None else self.eliminated.determined.spaces
        return discretise(self.problem, [*spaces, *others], self.rcond, self.stage)

    @property
    def pointwise(self) -> PointwisePart | None:
        """The terms of all equations that are evaluated at the points."""
        return self.free.pointwise

    # ---- the parts -----------------------------------------------------------------------------

    @cached_property
    def linear(self) -> LinearPart:
        """The linear part; of laws that change, as they are at the start."""
        if self.judged is not None:
            return self.judged
        free, start = self.free.linear, self.time[0]
        slopes = np.concatenate([free.position.dense(), free.dense_velocity], axis=1)
        state = np.zeros(self.size) if self.laws.has_constant_coefficients else self.initial_state
        found = self.laws.jacobian(start, state, slopes @ state, slopes)
        count = self.layout.coefficients
        velocity = Dense(found[:, count:]) if len(self.layout.moving) else None
        return LinearPart(Dense(found[:, :count]), velocity, self.layout)

    @cached_property
    def forcing(self) -> LawfulForcing:  # type: ignore[override]
        """b(t), with what the laws add."""
        return LawfulForcing(self)

    @property
    def has_constant_coefficients(self) -> bool:
        """Whether equations and laws are linear with constant coefficients."""
        return self.pointwise is None and self.laws.has_constant_coefficients

    # ---- the system as integrators see it --------------------------------------------------------

    def _highest(self, free: Array) -> Array:
        """Return the highest time derivatives of all coefficients, rows of y' or of its derivative."""
        count, moving = self.layout.coefficients, self.layout.moving
        out = free[:count].copy()
        out[moving] = free[count:]
        return out

    def _joined(self, highest: Array, free: Array) -> Array:
        """Put highest time derivatives back."""
        count, moving = self.layout.coefficients, self.layout.moving
        out = free.copy()
        out[:count] = np.where(_like(self.layout.second, free), free[:count], highest)
        out[count:] = highest[moving]
        return out

    def rhs(self, t: float, y: Array) -> Array:
        """Return y'."""
        free = self.free.rhs(t, y)
        return self._joined(self.laws.rates(t, y, self._highest(free)), free)

    def rates(self, times: Array, states: Array) -> Array:
        """Return y' at several times, shape (m, size)."""
        return np.array([self.rhs(float(t), y) for t, y in zip(times, states, strict=True)])

    def semilinear(self, times: Array, states: Array) -> Array:
        """Return y' without its linear part at several times, shape (m, R)."""
        if self.has_constant_coefficients:
            return self.forcing.batch(times)
        rates = self.rates(times, states) - (self.linear @ states.T).T
        return self._highest(rates.T).T

    def modal_semilinear(
        self, vectors: Operator, left: Operator, rest: Operator | None = None
    ) -> Callable[[float, Array], Array]:
        """Return (t, z) → left·(rest·y + b(t) + n(t, y)) with y = vectors·z."""
        if self.has_constant_coefficients:
            return modal_load(self, vectors, left, rest)

        def load(t: float, z: Array) -> Array:
            y = np.real(vectors @ z)
            out = self.semilinear(np.array([t]), y[None])[0]
            return np.asarray(left @ (out if rest is None else out + rest @ y))

        return load

    def jacobian(self, t: float, y: Array) -> Array:
        """Return ∂y'/∂y, exactly, as a matrix."""
        if self.has_constant_coefficients:
            return self.linear.matrix
        free, rates = self.free.jacobian(t, y), self._highest(self.free.rhs(t, y))
        found = self.laws.jacobian(t, y, rates, self._highest(free))
        return self._joined(found, free)

    def jacobian_operator(self, t: float, y: Array) -> Operator:
        """Return ∂y'/∂y as an operator."""
        return Dense(self.jacobian(t, y))

    @property
    def initial_products(self) -> tuple[list[None], ...]:
        """Laws move states away from products."""
        return tuple([None] * max(1, space.order) for space in self.spaces)

    @cached_property
    def initial_state(self) -> Array:
        """The state next to the initial data that obeys the laws."""
        if self.stage.state is not None:
            return self.stage.state
        return read_only(self.laws.consistent(self.time[0], self.free.initial_state))


class LawfulForcing:
    """What is left of the rates where the state vanishes; for laws with constant coefficients, the whole forcing."""

    def __init__(self, system: ConstrainedDiscretisation) -> None:
        self._system, self._nothing = system, np.zeros(system.size)

    @property
    def is_constant(self) -> bool:
        """Whether it does not depend on time."""
        return self._system.free.forcing.is_constant and not self._system.laws.depends_on_time

    @property
    def is_separable(self) -> bool:
        """Whether many values cost little."""
        return False

    def __call__(self, t: float) -> Array:
        """Return b(t)."""
        system = self._system
        if not system.laws.has_constant_coefficients:
            return system.free.forcing(t)
        return system.laws.rates(t, self._nothing, system.free.forcing(t))

    def batch(self, times: Array) -> Array:
        """Return b at several times, shape (m, coefficients)."""
        return np.array([self(float(t)) for t in times])


def _like(mask: Array, block: Array) -> Array:
    """Return a mask of rows with the dimensions of a block."""
    return mask if block.ndim == 1 else mask[:, None]
