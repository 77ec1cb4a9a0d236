"""What a solution consists of: coefficients in time times functions of space, window by window.

A problem may have been solved in another form; a chain of views (transforms/views.py) leads back to the user's fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import Protocol, TypeVar

import numpy as np

from frozenpinn.assembly.boundary import BoundaryData
from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.assembly.state import StateLayout
from frozenpinn.basis.along_axes import grid_tables, on_grid, products_at
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.basis.protocol import Basis
from frozenpinn.geometry.points import FEW_PLACES, axes_of
from frozenpinn.integrators.protocol import Trajectory
from frozenpinn.language.jets import Jet
from frozenpinn.operators import ProductSum
from frozenpinn.results.determined import Followed, Following
from frozenpinn.results.many_points import History, Snapshots, fast_values
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.memo import recent
from frozenpinn.transforms.moving_frame import MovingFrame
from frozenpinn.transforms.units import Units
from frozenpinn.transforms.views import Places, Request, View, seen_through

Array = np.ndarray
V = TypeVar("V", bound=View)


class Lift(Protocol):
    """Boundary data in time: the coefficients of the lifting functions, or a time derivative of them."""

    def __call__(self, t: float, derivative: int = 0) -> Array:
        """Return them at one time."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """A group of fields: a basis, the boundary data that it lifts, and its order in time."""

    basis: Basis
    data: Lift
    order: int

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields."""
        return self.basis.fields

    def lifted(self, times: Array, derivative: int = 0) -> Array | None:
        """Return the coefficients of lifting functions at several times, shape (m, n_l); None if there are none."""
        if not self.basis.lift_size:
            return None
        if isinstance(self.data, BoundaryData):
            return self.data.batch(times, derivative)
        return np.array([self.data(float(t), derivative) for t in times])


def no_data(t: float, derivative: int = 0) -> Array:
    """Return the data of a lifting that there is none of."""
    return np.zeros(0)


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
    views
        How the user's fields follow from those that were solved for, the user's end first.
    determined
        The functions of fields without a time derivative beside others, and their coefficients in time.
    """

    expansions: tuple[Expansion, ...]
    trajectory: Trajectory
    start: float
    end: float
    loss: float = 0.0
    integrator: str = ""
    system: Discretisation | None = None
    views: tuple[View, ...] = ()
    determined: tuple[tuple[Expansion, ...], Following] | None = None

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
        views, determined = () if frame is None else (frame,), None
        if system.elimination is not None:
            others = tuple(Expansion(s.network, s.data, s.order) for s in system.elimination.determined.spaces)
            determined = others, Followed(system, system.elimination.determined, trajectory)
        return cls(expansions, trajectory, system.time[0], trajectory.end, loss, integrator, system, views, determined)

    def seen_through(self, view: View) -> Piece:
        """Return the same piece with one more view, at the user's end."""
        return replace(self, views=(view, *self.views))

    def view(self, kind: type[V]) -> V | None:
        """Return the view of a kind; None if there is none."""
        return next((view for view in self.views if isinstance(view, kind)), None)

    def unit(self, field: str) -> float:
        """Return the unit in which a field was solved for."""
        units = self.view(Units)
        return 1.0 if units is None else units.scales.unit(field)

    @cached_property
    def layout(self) -> StateLayout:
        """Where the coefficients stand in a state."""
        if self.system is not None:
            return self.system.layout
        return StateLayout(tuple(e.basis.size for e in self.expansions), tuple(e.order for e in self.expansions))

    @property
    def all_expansions(self) -> tuple[Expansion, ...]:
        """Those of all fields: first of those that the trajectory has, then of determined ones."""
        return self.expansions if self.determined is None else (*self.expansions, *self.determined[0])

    def expansion_of(self, field: str) -> tuple[int, Expansion]:
        """Return the index and the expansion of a field."""
        return next((i, e) for i, e in enumerate(self.all_expansions) if field in e.fields)

    def coefficients(self, times: Array, index: int = 0, order: int = 0, *, interpolated: bool = False) -> Array:
        """Return ∂ₜ^order of the coefficients of one expansion, shape (m, r)."""
        times = np.asarray(times, dtype=float)
        if index >= len(self.expansions) and self.determined is not None:
            return self.determined[1](times, index - len(self.expansions), order)
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

    # ---- values ---------------------------------------------------------------------------------

    def outer(self, x: Array, times: Array, jet: Jet, interpolated: bool = False) -> Array:
        """Return the values at all points and all times, shape (n, m); of products, along the axes of a grid."""
        return self._values(Places(x, np.asarray(times, dtype=float)), jet, interpolated)

    def on_grid(self, axes: Sequence[Array], times: Array, jet: Jet, interpolated: bool = False) -> Array:
        """Return the values of a separable field on a tensor grid, shape (n₁, n₂, …, m)."""
        return self._values(Places.grid(axes, np.asarray(times, dtype=float)), jet, interpolated)

    def paired(self, x: Array, times: Array, jet: Jet) -> Array:
        """Return the values at (xᵢ, tᵢ), shape (n,)."""
        return self._values(Places(x, times, "pairs"), jet)

    def _values(self, places: Places, jet: Jet, interpolated: bool = False) -> Array:
        inner = partial(self._of_basis, interpolated=interpolated)
        return seen_through(self.views, inner, Request.of(places, jet))

    def asked_of_basis(self, x: Array, t: float, jet: Jet) -> list[Request]:
        """Return what the views ask of the basis for a derivative at points and a time."""
        asked: list[Request] = []

        def noted(request: Request) -> Array:
            asked.append(request)
            return np.zeros(request.places.shape)

        seen_through(self.views, noted, Request.of(Places(x, np.array([t])), jet))
        return asked

    def is_separable(self, field: str) -> bool:
        """Whether a field consists of products of functions of one coordinate each."""
        own = [e for e in self.expansions if field in e.fields] or self.expansions  # of others, a view knows more
        return all(e.basis.is_product for e in own) and all(view.keeps_axes for view in self.views)

    def _of_basis(self, request: Request, interpolated: bool) -> Array:
        """Return Σ coefficient·D of what was solved for."""
        x, times, arrangement, axes = request.places
        index, expansion = self.expansion_of(request.field)
        if arrangement == "all" and expansion.basis.is_product:
            axes = tuple(axes_of(x, FEW_PLACES) or ())
        if axes:
            return self._on_grid(request, axes, interpolated).reshape(request.places.shape)

        def at(when: Array) -> tuple[Array, Array | None]:
            coefficients = self.coefficients(when, index, request.time, interpolated=interpolated)
            lifted = expansion.lifted(when, request.time)
            return coefficients.T, None if lifted is None else lifted.T

        if arrangement == "pairs":
            function = History(expansion.basis, request.terms, at, self.trajectory.breaks, x, times)
            return fast_values(function)[:, 0]
        return fast_values(Snapshots(expansion.basis, request.terms, *at(times), x))

    def _on_grid(self, request: Request, axes: Sequence[Array], interpolated: bool) -> Array:
        times, order = request.places.times, request.time
        index, expansion = self.expansion_of(request.field)
        basis = expansion.basis
        assert isinstance(basis, ProductNetwork)
        mapped = getattr(self.trajectory, "mapped", None)
        few = prod(map(len, axes)) <= 3 * basis.size  # else states at all times are smaller than what is asked
        follows = order < expansion.order or interpolated or self.system is None  # from the trajectory alone
        if mapped is not None and few and follows and len(self.all_expansions) == 1 and not basis.lift_size:
            total = np.zeros((len(times), prod(map(len, axes))))
            for tables, scale in grid_tables(basis.factors, axes, request.terms):
                own = [t[:, :r] for t, r in zip(tables, basis.sizes, strict=True)]  # without lifting functions
                total += scale * mapped(times, own, order)
            return total.T.reshape(*map(len, axes), len(times))
        coefficients = self.coefficients(times, index, order, interpolated=interpolated).T
        lifted = expansion.lifted(times, order)
        full = basis.tensor(coefficients, None if lifted is None else lifted.T)
        return on_grid(basis.factors, axes, request.terms, full)

    # ---- the start ------------------------------------------------------------------------------

    @cached_property
    def initial_state(self) -> Array:
        """The state at the start of the window."""
        return self.trajectory(np.array([self.start]))[0] if self.system is None else self.system.initial_state

    def at_start(self, x: Array, field: str) -> Array:
        """Return a field and, if it is of second order in time, its velocity at the start, one column for each."""
        value = Jet(field, (0,) * x.shape[1])
        return seen_through(self.views, self._basis_at_start, Request.of(Places(x, np.array([self.start])), value))

    def _basis_at_start(self, request: Request) -> Array:
        x, terms = request.places.x, request.terms
        index, expansion = self.expansion_of(request.field)
        basis = expansion.basis
        if index >= len(self.expansions):
            return self._of_basis(request, interpolated=False)
        if len(x) < FEW_PLACES and (known := self._initial_products(index)) is not None:
            assert isinstance(basis, ProductNetwork)
            return products_at(basis.factors, x, terms, known)
        coefficients = np.stack(self.layout.split(self.initial_state)[index], axis=1)
        lifted = None
        if basis.lift_size:
            lifted = np.stack([expansion.data(self.start, k) for k in range(coefficients.shape[1])], axis=1)
        return basis.combine(x, terms, coefficients, lifted)

    def _initial_products(self, index: int) -> list[ProductSum] | None:
        """Return initial data as short sums of products, which are cheap at few places; None of others."""
        expansion = self.expansions[index]
        if len(self.expansions) > 1 or self.system is None or not isinstance(expansion.basis, ProductNetwork):
            return None
        known = [products for products in self.system.initial_products[0] if products is not None]
        return known if len(known) >= expansion.order else None


def looked_up(trajectory: Trajectory, times: Array, what: str = "states") -> Array:
    """Return states or rates at some times; those at few times are kept, as every derivative needs them."""
    evaluate = trajectory if what == "states" else trajectory.rates
    if len(times) > 64:
        return evaluate(times)
    return recent(trajectory, (what, times.tobytes()), lambda: read_only(evaluate(times)))
