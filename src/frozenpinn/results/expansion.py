"""What a solution consists of: coefficients in time times functions of space, window by window.

A problem may have been solved in other coordinates or units; a :class:`Pullback` says how values and derivatives in the
user's terms follow from those that were computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Protocol

import numpy as np

from frozenpinn.analysis.subspace import Subspace, chain_rule
from frozenpinn.assembly.boundary import BoundaryData, derivative_of
from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.assembly.state import StateLayout
from frozenpinn.basis.along_axes import grid_tables, on_grid, products_at
from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.basis.protocol import Basis
from frozenpinn.geometry.points import axes_of
from frozenpinn.integrators.protocol import Trajectory
from frozenpinn.language.jets import Jet
from frozenpinn.results.added import Added
from frozenpinn.results.history import History
from frozenpinn.results.tabulated import Snapshots, fast_values
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.memo import recent
from frozenpinn.transforms.logarithm_problem import products
from frozenpinn.transforms.moving_frame import MovingFrame

Array = np.ndarray


class Pullback(Protocol):
    """Rewrites a request in the user's terms as one in the terms of the solve."""

    @property
    def keeps_places(self) -> bool:
        """Whether it is evaluated at the same points."""

    def places(self, x: Array) -> Array:
        """Return where to evaluate, for points (n, d)."""

    def terms(self, terms: Sequence[Term]) -> list[Term]:
        """Return what to evaluate there."""


@dataclass(frozen=True)
class InUnits:
    """u = unit · (what was computed), by field."""

    units: Mapping[str, float]
    keeps_places = True

    def places(self, x: Array) -> Array:
        """Return the same points."""
        return x

    def terms(self, terms: Sequence[Term]) -> list[Term]:
        """Multiply by the units."""
        return [Term(t.field, t.derivative, self.units[t.field] * t.coefficient) for t in terms]


@dataclass(frozen=True, eq=False)
class OnSubspace:
    """u(x, t) = v(P x, t), with all derivatives by the chain rule; the Laplacian of u is that of v."""

    subspace: Subspace
    keeps_places = False

    def places(self, x: Array) -> Array:
        """Return P x."""
        return self.subspace.project(x)

    def terms(self, terms: Sequence[Term]) -> list[Term]:
        """Apply the chain rule."""
        result = []
        for term in terms:
            for alpha, factor in chain_rule(term.derivative.alpha, self.subspace.rows).items():
                laps = term.derivative.laps
                own = Derivative((alpha[0] + 2 * laps,)) if len(alpha) == 1 else Derivative(alpha, laps)
                result.append(Term(term.field, own, factor * term.coefficient))
        return result or [Term(terms[0].field, Derivative((0,) * self.subspace.size), 0.0)]


class Lift(Protocol):
    """Boundary data in time: the coefficients of the lifting functions, or a time derivative of them."""

    def __call__(self, t: float, derivative: int = 0) -> Array:
        """Return them at one time."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """A group of fields: a basis, the boundary data that it lifts, its order in time, and how it is seen."""

    basis: Basis
    data: Lift
    order: int
    pullbacks: tuple[Pullback, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields."""
        return self.basis.fields

    def seen_through(self, pullback: Pullback) -> Expansion:
        """Return the same functions in other terms."""
        return replace(self, pullbacks=(pullback, *self.pullbacks))

    def pulled(self, x: Array, terms: Sequence[Term]) -> tuple[Array, Sequence[Term]]:
        """Return points and terms of the solve for those of the user."""
        for pullback in self.pullbacks:
            x, terms = pullback.places(x), pullback.terms(terms)
        return x, terms

    def lifted(self, times: Array, derivative: int = 0) -> Array | None:
        """Return the coefficients of lifting functions at several times, shape (m, n_l); None if there are none."""
        if not self.basis.lift_size:
            return None
        if isinstance(self.data, BoundaryData):
            return self.data.batch(times, derivative)
        return np.array([self.data(float(t), derivative) for t in times])


@dataclass(frozen=True, eq=False)
class Piece:
    """A window of time with its own basis.

    Attributes
    ----------
    expansions
        The functions of each group of fields.
    trajectory
        Their coefficients in time.
    start, end
        The window.
    loss
        Relative L² misfit of the projection onto this basis at its start.
    integrator
        What carried the coefficients through the window.
    system
        The discretisation, from which time derivatives are found; None for a solution that was read from a file.
    added
        Known functions that belong to the solution beside what the networks have found.
    frame
        Moving coordinates in which the window was solved; at its start they are those of the problem.
    logarithm
        The field whose logarithm was solved for.
    """

    expansions: tuple[Expansion, ...]
    trajectory: Trajectory
    start: float
    end: float
    loss: float = 0.0
    integrator: str = ""
    system: Discretisation | None = None
    added: Added | None = None
    frame: MovingFrame | None = None
    logarithm: str | None = None

    @classmethod
    def of(
        cls,
        system: Discretisation,
        trajectory: Trajectory,
        loss: float = 0.0,
        integrator: str = "",
        frame: MovingFrame | None = None,
    ) -> Piece:
        """Make a piece of a system and its trajectory."""
        expansions = tuple(Expansion(s.network, s.data, s.order) for s in system.spaces)
        return cls(expansions, trajectory, system.time[0], trajectory.end, loss, integrator, system, frame=frame)

    def seen_through(self, pullback: Pullback) -> Piece:
        """Return the same piece in other terms."""
        return replace(self, expansions=tuple(e.seen_through(pullback) for e in self.expansions))

    @cached_property
    def layout(self) -> StateLayout:
        """Where the coefficients stand in a state."""
        if self.system is not None:
            return self.system.layout
        return StateLayout(tuple(e.basis.size for e in self.expansions), tuple(e.order for e in self.expansions))

    def expansion_of(self, field: str) -> tuple[int, Expansion]:
        """Return the index and the expansion of a field."""
        return next((i, e) for i, e in enumerate(self.expansions) if field in e.fields)

    def coefficients(self, times: Array, index: int = 0, order: int = 0, *, interpolated: bool = False) -> Array:
        """Return ∂ₜ^order of the coefficients of one expansion, shape (m, r)."""
        times = np.asarray(times, dtype=float)
        states = looked_up(self.trajectory, times, "states")
        if order == 0:
            return states[:, self.layout.blocks[index]]
        if order < self.expansions[index].order:
            return self.layout.split(states.T)[index][order].T
        if interpolated or self.system is None:
            rates = looked_up(self.trajectory, times, "rates")
        else:
            rates = self.system.rates(times, states)
        return self.layout.split(rates.T)[index][order - 1].T

    def outer(self, x: Array, times: Array, jet: Jet, interpolated: bool = False) -> Array:
        """Return the values at all points and all times, shape (n, m); of products, along the axes of a grid."""

        def values(own: Jet) -> Array:
            if self.frame is None:
                return self._outer(x, times, own, interpolated)
            return np.stack([self._moved(x, float(t), own, interpolated) for t in times], axis=1)

        found = self._raised(jet, values)
        return found if self.added is None else found + self.added.outer(x, np.asarray(times, dtype=float), jet)

    def _raised(self, jet: Jet, values: Callable[[Jet], Array]) -> Array:
        """Return a derivative of a field, the logarithm of which may be what has values."""
        if jet.field != self.logarithm:
            return values(jet)
        known: dict[Jet, Array] = {}
        total: Array | float = 0.0
        for product in products(jet):
            for own in product:
                if own not in known:
                    known[own] = values(own)
            total = total + prod((known[own] for own in product), start=1.0)
        size = values(replace(jet, alpha=(0,) * len(jet.alpha), laps=0, time=0))
        return np.asarray(total * np.exp(size))

    def _moved(self, x: Array, t: float, jet: Jet, interpolated: bool) -> Array:
        """Return the values at one time, from those in moving coordinates."""
        assert self.frame is not None
        xi, total = self.frame.origin(x[:, 0], t), np.zeros(len(x))
        for own, factor in self.frame.terms(jet, xi, t):
            total += factor * self._outer(xi[:, None], np.array([t]), own, interpolated)[:, 0]
        return total

    def _outer(self, x: Array, times: Array, jet: Jet, interpolated: bool) -> Array:
        if len(x) >= _FEW_PLACES and self._is_product(jet.field) and (axes := axes_of(x)) is not None:
            return self._on_grid(axes, times, jet, interpolated).reshape(len(x), len(times))
        index, expansion = self.expansion_of(jet.field)
        coefficients = self.coefficients(times, index, jet.time, interpolated=interpolated)
        lifted = expansion.lifted(times, jet.time)
        data = None if lifted is None else lifted.T
        x, terms = expansion.pulled(x, [Term(jet.field, derivative_of(jet))])
        return fast_values(Snapshots(expansion.basis, terms, coefficients.T, data, x))

    def is_separable(self, field: str) -> bool:
        """Whether a field consists of products of functions of one coordinate each."""
        return field != self.logarithm and self._is_product(field)

    def _is_product(self, field: str) -> bool:
        """Whether what was solved for consists of products."""
        _, expansion = self.expansion_of(field)
        return expansion.basis.is_product and all(pullback.keeps_places for pullback in expansion.pullbacks)

    def on_grid(self, axes: Sequence[Array], times: Array, jet: Jet, interpolated: bool = False) -> Array:
        """Return the values of a separable field on a tensor grid, shape (n₁, n₂, …, m)."""
        found = self._on_grid(axes, times, jet, interpolated)
        return found if self.added is None else found + self.added.on_grid(axes, np.asarray(times, dtype=float), jet)

    def _on_grid(self, axes: Sequence[Array], times: Array, jet: Jet, interpolated: bool) -> Array:
        index, expansion = self.expansion_of(jet.field)
        _, terms = expansion.pulled(np.empty((0, len(axes))), [Term(jet.field, derivative_of(jet))])
        basis = expansion.basis
        assert isinstance(basis, ProductNetwork)
        mapped = getattr(self.trajectory, "mapped", None)
        few = prod(map(len, axes)) <= _FEW_MORE * basis.size  # else states at all times are smaller than what is asked
        follows = jet.time < expansion.order or interpolated or self.system is None  # from the trajectory alone
        if mapped is not None and few and follows and len(self.expansions) == 1 and not basis.lift_size:
            total = np.zeros((len(times), prod(map(len, axes))))
            for tables, scale in grid_tables(basis.factors, axes, terms):
                own = [t[:, :r] for t, r in zip(tables, basis.sizes, strict=True)]  # without lifting functions
                total += scale * mapped(times, own, jet.time)
            return total.T.reshape(*map(len, axes), len(times))
        coefficients = self.coefficients(times, index, jet.time, interpolated=interpolated).T
        lifted = expansion.lifted(times, jet.time)
        full = basis.tensor(coefficients, None if lifted is None else lifted.T)
        return on_grid(basis.factors, axes, terms, full)

    @cached_property
    def initial_state(self) -> Array:
        """The state at the start of the window."""
        return self.trajectory(np.array([self.start]))[0] if self.system is None else self.system.initial_state

    def at_start(self, x: Array, field: str) -> Array:
        """Return a field and, if it is of second order in time, its velocity at the start, one column for each."""
        found = self._at_start(x, field)
        if field == self.logarithm:
            found = np.exp(found)
        if self.added is not None:
            found = found + self.added.outer(x, np.array([self.start]), Jet(field, (0,) * x.shape[1]))
        return found

    def _at_start(self, x: Array, field: str) -> Array:
        index, expansion = self.expansion_of(field)
        if (found := self._products_at_start(x, field, index)) is not None:
            return found
        coefficients = np.stack(self.layout.split(self.initial_state)[index], axis=1)
        lifted = None
        if expansion.basis.lift_size:
            lifted = np.stack([expansion.data(self.start, k) for k in range(coefficients.shape[1])], axis=1)
        zero = Derivative((0,) * x.shape[1])
        basis = expansion.basis
        axes = axes_of(x) if len(x) >= _FEW_PLACES and self._is_product(field) else None
        if isinstance(basis, ProductNetwork) and axes is not None:
            _, terms = expansion.pulled(x, [Term(field, zero)])
            return on_grid(basis.factors, axes, terms, basis.tensor(coefficients, lifted)).reshape(len(x), -1)
        return expansion.basis.combine(*expansion.pulled(x, [Term(field, zero)]), coefficients, lifted)

    def _products_at_start(self, x: Array, field: str, index: int) -> Array | None:
        """Return the same at few places of data that are short sums of products; None of others."""
        expansion, basis = self.expansions[index], self.expansions[index].basis
        few = len(x) < _FEW_PLACES and len(self.expansions) == 1
        if not few or self.system is None or not isinstance(basis, ProductNetwork):
            return None
        known = [products for products in self.system.initial_products[0] if products is not None]
        if len(known) < expansion.order:
            return None
        x, terms = expansion.pulled(x, [Term(field, Derivative((0,) * x.shape[1]))])
        return products_at(basis.factors, x, terms, known)

    def paired(self, x: Array, times: Array, jet: Jet) -> Array:
        """Return the values at (xᵢ, tᵢ), shape (n,)."""

        def values(own: Jet) -> Array:
            if self.frame is None:
                return self._paired(x, times, own)
            xi, total = self.frame.origin(x[:, 0], times), np.zeros(len(x))
            for moving, factor in self.frame.terms(own, xi, times):
                total += factor * self._paired(xi[:, None], times, moving)
            return total

        found = self._raised(jet, values)
        return found if self.added is None else found + self.added.paired(x, times, jet)

    def _paired(self, x: Array, times: Array, jet: Jet) -> Array:
        index, expansion = self.expansion_of(jet.field)
        x, terms = expansion.pulled(x, [Term(jet.field, derivative_of(jet))])

        def at(when: Array) -> tuple[Array, Array | None]:
            lifted = expansion.lifted(when, jet.time)
            return self.coefficients(when, index, jet.time).T, None if lifted is None else lifted.T

        return fast_values(History(expansion.basis, terms, at, self.trajectory.breaks, x, times))[:, 0]


def looked_up(trajectory: Trajectory, times: Array, what: str = "states") -> Array:
    """Return states or rates at some times; those asked for last are kept, as every derivative needs them."""
    evaluate = trajectory if what == "states" else trajectory.rates
    if len(times) > _FEW_TIMES:
        return evaluate(times)
    return recent(trajectory, (what, times.tobytes()), lambda: read_only(evaluate(times)))


_FEW_MORE = 3  # times as many places as functions, at which values do not go through states
_FEW_PLACES = 64  # among which no grid is looked for
_FEW_TIMES = 64  # at which states are kept
