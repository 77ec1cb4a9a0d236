"""Trial spaces: which network represents which fields, under which boundary strategy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

import numpy as np

from frozenpinn.assembly.boundary import BoundaryData, BoundaryRows, boundary_rows, condition_terms
from frozenpinn.basis.boundary_layer import Functional
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.network import Network, PointSet
from frozenpinn.basis.outer_basis import OuterBasis
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.errors import SettingsError
from frozenpinn.geometry import Box, FlatSide, Points
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.data import Datum
from frozenpinn.statement.problem import Problem

Array = np.ndarray


class TrialNetwork(Protocol):
    """What the semi-discrete system asks of a network."""

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields."""

    @property
    def points(self) -> PointSet:
        """Quadrature points."""

    @property
    def size(self) -> int:
        """Number of basis functions."""

    @property
    def lift_size(self) -> int:
        """Number of lifting functions."""

    @property
    def width(self) -> int:
        """Number of neurons."""

    @property
    def raw_size(self) -> int:
        """Number of features behind the basis."""

    @property
    def is_orthonormal(self) -> bool:
        """Whether the basis is orthonormal at the points."""

    @property
    def singular_values(self) -> Array:
        """Of the kept basis functions."""

    @property
    def all_singular_values(self) -> Array:
        """Before truncation."""

    def operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D of every basis function."""

    def lift_operator(self, x: Array, terms: Sequence[Term]) -> Array:
        """Return Σ coefficient·D of every lifting function."""

    def combine(self, x: Array, terms: Sequence[Term], coefficients: Array, lifted: Array | None = None) -> Array:
        """Return Σ coefficient·D of the functions with given coefficients and data, one column for each."""

    def evaluate(self, x: Array, name: str, derivative: Derivative) -> Array:
        """Return one derivative of the basis of one field."""

    def point_values(self, name: str) -> Array:
        """Return the basis of one field at the points."""

    def projector(self, rcond: float | None = None) -> Array:
        """Return the map from values at the points to coefficients."""

    def truncate(self, rank: int) -> TrialNetwork:
        """Return the space of the leading functions."""


@dataclass(frozen=True)
class NullSpaceLayer:
    """Boundary strategy (default): the basis obeys the homogeneous conditions, data are lifted."""

    name: str = "null-space"


@dataclass(frozen=True)
class AugmentedODE:
    """Boundary strategy of the paper: extra rows (Bu)ₜ = gₜ − κ(Bu − g) beside the PDE rows.

    κ = 0 leaves (Bu)ₜ = gₜ, the paper's way for time-dependent Dirichlet and Neumann data. For equations of second
    order in time, values and velocities relax alike (see assembly/augmented.py).
    """

    kappa: float = 1e5
    name: str = "augmented-ode"

    def __post_init__(self) -> None:
        if not self.kappa >= 0:
            raise SettingsError(f"kappa must not be negative, got {self.kappa!r}.")


BoundaryStrategy = NullSpaceLayer | OuterBasis | AugmentedODE
STRATEGIES: dict[str, Callable[[], BoundaryStrategy]] = {
    "null-space": NullSpaceLayer,
    "outer-basis": OuterBasis,
    "augmented-ode": AugmentedODE,
}


@dataclass(frozen=True)
class Space:
    """The representation of a group of fields: a network, the data of its lifting, soft rows if any."""

    network: TrialNetwork
    data: BoundaryData
    order: int
    soft: tuple[Functional, ...] = ()
    soft_data: BoundaryData | None = None
    kappa: float = 0.0

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields represented by this space."""
        return self.network.fields

    def truncate(self, rank: int) -> Space:
        """Keep the leading basis functions."""
        return replace(self, network=self.network.truncate(rank))


def build_space(
    problem: Problem,
    hidden: HiddenLayer,
    points: Points,
    fields: tuple[str, ...] | None = None,
    strategy: BoundaryStrategy | None = None,
    cutoff: float | None = 1e-12,
    per_side: int = 1,
) -> Space:
    """Put boundary layer and SVD layer on a hidden layer.

    Parameters
    ----------
    problem, hidden, points
        What is solved, the frozen neurons, and the quadrature points.
    fields
        The fields that share this space; by default all fields of a problem with one group.
    strategy
        How boundary conditions are met; the null space by default.
    cutoff
        Relative cut-off of the SVD layer; None leaves the layer out.
    per_side
        Points on each side in several dimensions.
    """
    if fields is None:
        if len(problem.groups) > 1:
            raise SettingsError(f"the fields fall into the groups {problem.groups}; build a space for each: fields=…")
        fields = problem.groups[0]
    strategy = NullSpaceLayer() if strategy is None else strategy
    order = problem.equation(fields[0]).order
    network = Network(hidden, points, fields)
    nothing = BoundaryData(0, problem.time)
    if isinstance(strategy, OuterBasis):
        _check_outer(problem, fields)
        network = strategy.apply(network, float(problem.domain.lower[0]), float(problem.domain.upper[0]))
        _check_compliance(problem, network, strategy)
        return Space(_compressed(network, cutoff), nothing, order)
    rows = boundary_rows(problem, fields, per_side)
    if isinstance(strategy, AugmentedODE):
        hard = rows.functionals[len([c for c in problem.conditions if set(c.fields) <= set(fields)]) :]
        soft = rows.functionals[: len(rows.functionals) - len(hard)]
        compliant = network.comply_with(hard, active=())
        data = _soft_data(problem, fields, per_side).compressed()
        return Space(_compressed(compliant, cutoff), nothing, order, soft, data, strategy.kappa)
    data = rows.data.compressed()
    compliant = network.comply_with(rows.functionals, rows.active, data.shapes)
    return Space(_compressed(compliant, cutoff), data, order)


def _compressed(network: Network, cutoff: float | None) -> Network:
    return network if cutoff is None else network.compress(cutoff)


def _soft_data(problem: Problem, fields: tuple[str, ...], per_side: int) -> BoundaryData:
    """Collect the data of all conditions, zero or not: one entry per soft row."""
    method = "gauss" if problem.domain.dimension <= 3 else "sobol"
    parts: list[tuple[Datum, Array, Array | None]] = []
    for condition in problem.conditions:
        if set(condition.fields) <= set(fields):
            parts.append((condition.value, problem.domain.sample_side(condition.side, per_side, method, 0).x, None))
    return BoundaryData(sum(len(x) for _, x, _ in parts), problem.time, tuple(parts))


def _check_outer(problem: Problem, fields: tuple[str, ...]) -> None:
    for condition in problem.conditions:
        if set(condition.fields) & set(fields) and not condition.value.is_zero:
            raise SettingsError(
                f"outer basis functions need homogeneous conditions, but '{condition.text}' on side "
                f"'{condition.side.name}' is not; use boundary='null-space'."
            )


def _check_compliance(problem: Problem, network: Network, strategy: OuterBasis) -> None:
    """Refuse outer functions that do not obey the conditions they are meant to enforce.

    Of a named family, the first functions tell; the hidden layer may fit derivatives of the last ones poorly.
    """
    name = network.fields[0]
    few = slice(8 if isinstance(strategy.functions, str) else None)
    own = [c for c in problem.conditions if name in c.fields]
    texts = [f"'{c.text}' on side '{c.side.name}'" for c in own]
    functionals = boundary_rows(problem, network.fields).functionals
    texts += ["periodicity"] * (len(functionals) - len(texts))
    for functional, text in zip(functionals, texts, strict=True):
        order = max(t.derivative.order for _, terms in functional.parts for t in terms)
        rows = sum(network.operator(x, terms)[:, few] for x, terms in functional.parts)
        scale = max(
            float(np.max(np.abs(network.evaluate(network.points.x, name, Derivative((k,)))[:, few])))
            for k in {0, order}
        )
        if np.max(np.abs(rows)) > 0.5 * scale:  # a poor fit is not a wrong family
            raise SettingsError(
                f"the outer basis functions '{strategy.functions}' do not satisfy {text}. If the family is right "
                "('fourier' for periodic, 'sine' for zero Dirichlet, 'cosine' for zero Neumann conditions), the hidden "
                "layer is too narrow for it: use a larger width or a smaller count. Or use boundary='null-space'."
            )


# ---- products on boxes -----------------------------------------------------------------------------


def is_separable(problem: Problem, fields: Sequence[str]) -> bool:
    """Whether the conditions of a field act along their own axis only, with constant coefficients."""
    if len(fields) != 1 or problem.domain.dimension == 1 or not isinstance(problem.domain, Box):
        return False
    for condition in problem.conditions:
        if fields[0] not in condition.fields:
            continue
        axis = _side(condition).axis
        for jet, coefficient in zip(condition.jets, condition.coefficients, strict=True):
            tangential = sum(a for i, a in enumerate(jet.alpha) if i != axis)
            if tangential or jet.laps or coefficient.free_symbols:
                return False
    return True


def _side(condition: LinearCondition) -> FlatSide:
    assert isinstance(condition.side, FlatSide)
    return condition.side


def build_product_space(
    problem: Problem,
    field: str,
    layers: Sequence[HiddenLayer],
    points: Points,
    cutoff: float,
) -> Space:
    """Build a product network: one compliant, compressed network per axis."""
    own = [c for c in problem.conditions if field in c.fields]
    carries_data = any(not c.value.is_zero for c in own)
    factors = []
    for axis, hidden in enumerate(layers):
        rows = _axis_rows(problem, field, axis, own)
        axis_points = cast(Box, problem.domain).axis(axis).sample(len(points.axes[axis]))
        network = Network(hidden, axis_points, (field,)).comply_with(rows.functionals, rows.active)
        # lifting functions of small singular value sharpen the fit of data along a side
        factors.append(network.compress(min(cutoff, 1e-13) if carries_data else cutoff))
    products = ProductNetwork.from_factors(factors, points, cutoff, carries_data)
    data = _product_data(problem, own, products) if carries_data else BoundaryData(0, problem.time)
    return Space(products, data, problem.equation(field).order)


def _axis_rows(problem: Problem, field: str, axis: int, own: Sequence[LinearCondition]) -> BoundaryRows:
    """Return the end conditions of one axis, as rows on one-dimensional features."""
    functionals: list[Functional] = []
    interval = cast(Box, problem.domain).axis(axis)
    for condition in (c for c in own if _side(c).axis == axis):
        x = np.array([[(interval.lower, interval.upper)[_side(condition).end][0]]])
        terms = condition_terms(condition, problem.domain.sample_side(condition.side, 1))
        flat = tuple(Term(field, Derivative((t.derivative.alpha[axis],)), t.coefficient) for t in terms)
        functionals.append(Functional(((x, flat),)))
    count = len(functionals)
    if interval.periodic[0]:
        low, high = interval.lower[None, :], interval.upper[None, :]
        for k in range(max(2, problem.spatial_order(field))):
            derivative = Derivative((k,))
            parts = ((high, (Term(field, derivative, 1.0),)), (low, (Term(field, derivative, -1.0),)))
            functionals.append(Functional(parts))
    return BoundaryRows(tuple(functionals), BoundaryData(0, problem.time), tuple(range(count)))


def _product_data(problem: Problem, own: Sequence[LinearCondition], network: ProductNetwork) -> BoundaryData:
    """Sample boundary data on the grids of the sides and map them to lifting coefficients."""
    rows = dict.fromkeys(range(problem.domain.dimension), 0)
    places = []
    for condition in own:
        axis = _side(condition).axis
        places.append((axis, rows[axis]))
        rows[axis] += 1
    parts: list[tuple[Datum, Array, Array | None]] = []
    for condition, matrix in zip(own, network.side_maps(places), strict=True):
        if condition.value.is_zero:
            continue
        axis = _side(condition).axis
        axes = [f.points.x[:, 0] for f in network.factors]
        axes[axis] = np.array([(problem.domain.lower, problem.domain.upper)[_side(condition).end][axis]])
        x = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
        parts.append((condition.value, x, matrix))
    return BoundaryData(network.lift_size, problem.time, tuple(parts))
