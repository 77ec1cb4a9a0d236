"""A static problem as rows on the features of one frozen layer: equations inside, conditions on the boundary.

Nothing is projected, and no function obeys the conditions by itself: min Σ w |F(u)|² + s² Σ w |B u − g|². Newton's
method is written for the new coefficients, J(u) c = J(u) u − F(u), where u is any function whose derivatives are known:
the solution on a coarse network linearises the equations on a fine one without being projected onto it. A linear
problem is one such step from anywhere.

How sharply the rows determine a solution is the smallest |L u| / |u| of functions that obey the conditions: for a
linear problem the distance of its operator from a singular one. Near resonance, with a missing condition, or where a
front hangs on little, it is small, and errors of equations and data are multiplied by its inverse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import NamedTuple, Protocol

import numpy as np
import scipy.linalg as sla
import sympy as sp

from frozenpinn.assembly.boundary import condition_terms, derivative_of, periodic_functionals
from frozenpinn.assembly.interfaces import interface_functionals
from frozenpinn.assembly.nonlocal_terms import Function as Function  # noqa: PLC0414 (exported)
from frozenpinn.assembly.nonlocal_terms import jets_at, quantity_rows
from frozenpinn.basis.boundary_layer import Functional
from frozenpinn.basis.hidden import Derivative, HiddenLayer, Term
from frozenpinn.basis.special import parts_of
from frozenpinn.basis.subdomain_features import SubdomainFeatures
from frozenpinn.errors import EvaluationError
from frozenpinn.geometry import BoundaryPoints
from frozenpinn.language.jets import Jet
from frozenpinn.language.program import Program
from frozenpinn.operators import LeastSquares
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.round_off import TINY
from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.equation import Equation
from frozenpinn.statement.laws import BoundaryLaw
from frozenpinn.statement.points import refuse_points
from frozenpinn.statement.problem import Problem

Array = np.ndarray
BOUNDARY = 30.0  #: weight of conditions against equations, both relative to their largest row entry


def ignore_progress() -> None:
    """Do nothing."""


class Layered(Function, Protocol):
    """A function of a hidden layer."""

    @property
    def coefficients(self) -> Array:
        """One block for each field."""


class Places(Protocol):
    """Points of the domain with weights."""

    @property
    def x(self) -> Array:
        """Coordinates, shape (n, d)."""

    @property
    def weights(self) -> Array:
        """Quadrature weights, shape (n,)."""


@dataclass(frozen=True, eq=False)
class Combination:
    """Coefficients of the features of a hidden layer, one block for each field."""

    hidden: HiddenLayer
    fields: tuple[str, ...]
    coefficients: Array

    def jets(self, x: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives of the fields."""
        blocks = self.coefficients.reshape(len(self.fields), -1)
        out: dict[Jet, Array] = {}
        for i, name in enumerate(self.fields):
            own = [jet for jet in jets if jet.field == name]
            if own:
                values = self.hidden.combined(x, [derivative_of(jet) for jet in own], blocks[i])
                out |= dict(zip(own, values, strict=True))
        return [out[jet] for jet in jets]

    def moved(self, coefficients: Array) -> Combination:
        """Return the combination with other coefficients."""
        return Combination(self.hidden, self.fields, coefficients)


class Nothing:
    """The function that is zero."""

    def jets(self, x: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return zeros."""
        return [np.zeros(len(x)) for _ in jets]


class Slopes(NamedTuple):
    """An equation F(u) = 0 to be linearised: the jets in it, and programs for F and ∂F/∂jet."""

    jets: tuple[Jet, ...]
    value: Program
    partials: Program


_derivative = lru_cache(maxsize=256)(sp.diff)  # problems with other values have the same equations


@remembered
def slopes_of(problem: Problem, field: str) -> Slopes:
    """Return the equation of a field with its derivatives by all jets."""
    equation = problem.equation(field)
    jets = tuple(problem.jets.jets_in(equation.right_side).values())
    partials = [_derivative(equation.right_side, problem.jets.symbol(jet)) for jet in jets]
    return Slopes(jets, problem.compile([equation.right_side], jets), problem.compile(partials, jets))


def left_of_equation(problem: Problem, field: str, function: Function, x: Array) -> Array:
    """Return what a function leaves of the equation of a field at points."""
    slopes = slopes_of(problem, field)
    with np.errstate(all="ignore"):
        value = slopes.value(*x.T, 0.0, *jets_at(problem, function, x, slopes.jets))[0]
    return np.broadcast_to(np.asarray(value, dtype=float), len(x))


@dataclass(frozen=True, eq=False)
class Linearisation:
    """Rows A and right-hand side b of J(u) c = J(u) u − F(u) with the conditions, weighted.

    Attributes
    ----------
    rows, target
        A and b; with a mixing, A acts on combinations of features.
    scales
        Weights of each equation and condition.
    """

    rows: Array
    target: Array
    scales: tuple[float, ...]

    @cached_property
    def factor(self) -> LeastSquares:
        """The factorisation of the rows."""
        return LeastSquares.of(self.rows)

    @cached_property
    def unreachable(self) -> Array:
        """What the least-squares solution leaves of the linear equations, row by row."""
        return np.asarray(self.rows @ self.factor.solve(self.target) - self.target)


@dataclass(frozen=True, eq=False)
class Collocation:
    """Where the equations and conditions of a static problem are asked to hold, for one hidden layer.

    Attributes
    ----------
    problem, hidden
        What is solved, and by which features.
    points
        Points of the domain, with quadrature weights.
    sides
        The conditions, each with points of its side.
    per_side
        Number of points at which the two ends of periodic axes are matched, unless all features are periodic.
    boundary_weight
        Of conditions against equations.
    mixing
        Combinations of the features of each field to which the solution is restricted, shape (features, r), as an SVD
        layer gives them; None takes all features.
    announce
        Called before every step of Newton's method, which it may break off.
    laws
        Nonlinear conditions, each with points of its side; they are linearised with the equations.
    """

    problem: Problem
    hidden: HiddenLayer
    points: Places
    sides: tuple[tuple[LinearCondition, BoundaryPoints], ...]
    per_side: int = 0
    boundary_weight: float = BOUNDARY
    mixing: Array | None = None
    announce: Callable[[], None] = ignore_progress
    laws: tuple[tuple[BoundaryLaw, BoundaryPoints], ...] = ()
    _matches: tuple[Functional, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        refuse_points(self.problem)
        matches: tuple[Functional, ...] = ()
        if self.per_side and not self._repeats:
            matches = tuple(periodic_functionals(self.problem, self.problem.fields, self.per_side, "gauss", 0))
        matches += tuple(interface_functionals(self.problem, self.problem.fields, max(20, len(self.points.x) // 16)))
        object.__setattr__(self, "_matches", matches)

    @property
    def _repeats(self) -> bool:
        """Whether every feature has the periods of the domain."""
        return self.hidden.repeats(self.problem.domain.lengths, self.problem.domain.periodic)

    def of(self, problem: Problem, same_conditions: bool) -> Collocation:
        """Return the same rows for a problem with other values, whose conditions may be the same."""
        sides = tuple((c, points) for c, (_, points) in zip(problem.conditions, self.sides, strict=True))
        laws = tuple((law, points) for law, (_, points) in zip(problem.laws, self.laws, strict=True))
        other = replace(self, problem=problem, sides=sides, laws=laws)
        if same_conditions:
            vars(other)["conditions"] = self.conditions
        return other

    def state(self, coefficients: Array) -> Combination:
        """Return a function of this layer."""
        return Combination(self.hidden, self.problem.fields, coefficients)

    def solved(self, system: Linearisation, right_side: Array | None = None) -> Combination:
        """Return the least-squares solution of a linearisation, or for another right-hand side."""
        found = system.factor.solve(system.target if right_side is None else right_side)
        return self.state(self._expanded(found))

    def _expanded(self, found: Array) -> Array:
        """Return coefficients of the features."""
        if self.mixing is None:
            return found
        return np.concatenate([self.mixing @ block for block in np.split(found, len(self.problem.fields))])

    def _restricted(self, rows: Array) -> Array:
        """Return rows that act on combinations of the features."""
        if self.mixing is None:
            return rows
        return np.concatenate([b @ self.mixing for b in np.split(rows, len(self.problem.fields), axis=1)], axis=1)

    def _largest(self, rows: Array) -> float:
        """Return the largest entry for neurons: special functions may have unbounded derivatives.

        Those that are neurons again, on parts of the domain, count: the others cancel where the parts are joined.
        """
        size = self.hidden.size
        stretches, first = [(0, self.hidden.width + 1)], self.hidden.width + 1
        for part in parts_of(self.hidden.singular):
            stretches += [(first, first + len(part))] if part.kind == SubdomainFeatures.kind else []
            first += len(part)
        starts = range(0, rows.shape[1], size)
        blocks = [rows[:, start + low : start + high] for start in starts for low, high in stretches]
        return max(max(float(np.max(b)), -float(np.min(b))) for b in blocks) or 1.0

    # ---- rows -------------------------------------------------------------------------------------

    @cached_property
    def _inner(self) -> Array:
        """Square roots of the weights of the points, with which squares add up to a mean."""
        return np.asarray(np.sqrt(self.points.weights / np.sum(self.points.weights)))

    @cached_property
    def conditions(self) -> tuple[list[Array], list[Array], list[float]]:
        """Rows of conditions, of periodicity and of constraints, their data, and the scale of each."""
        rows, data = [], []
        for condition, points in self.sides:
            functional = Functional(((points.x, condition_terms(condition, points)),))
            rows.append(functional.rows(self.hidden, self.problem.fields))
            data.append(condition.value(points.x, 0.0))
        for functional in self._matches:
            rows.append(functional.rows(self.hidden, self.problem.fields))
            data.append(np.zeros(len(rows[-1])))
        for field_name, own, value in self._constraints():
            block = np.zeros((1, len(self.problem.fields), self.hidden.size))
            block[0, self.problem.fields.index(field_name)] = own
            rows.append(block.reshape(1, -1))
            data.append(np.array([value]))
        scales = [self.boundary_weight / self._largest(r) for r in rows]
        shares = [*(_shares(points) for _, points in self.sides)]
        shares += [np.full(len(r), 1.0 / np.sqrt(len(r))) for r in rows[len(shares) :]]
        data = [share * d for share, d in zip(shares, data, strict=True)]
        return [np.multiply(r, s[:, None], out=r) for r, s in zip(rows, shares, strict=True)], data, scales

    def _constraints(self) -> list[tuple[str, Array, float]]:
        found = []
        for constraint in self.problem.constraints:
            x = self.points.x if constraint.point is None else constraint.point
            features = self.hidden.operator(x, [Term(constraint.field, Derivative(constraint.alpha))])
            own = self._inner**2 @ features if constraint.point is None else features[0]
            found.append((constraint.field, own, constraint.value))
        return found

    def linearised(self, about: Function) -> Linearisation:
        """Return the equations linearised about a function, with the conditions."""
        blocks, targets, used = [], [], []
        for equation in self.problem.equations:
            block, target = self._equation(equation, about)
            scale = 1.0 / self._largest(block)
            weights = scale * self._inner
            blocks.append(np.multiply(block, weights[:, None], out=block))
            targets.append(weights * target)
            used.append(scale)
        rows, data, own = self.conditions
        for block, value, scale in zip(rows, data, own, strict=True):
            blocks.append(scale * block)
            targets.append(scale * value)
        lawful = []
        for law, points in self.laws:
            block, target = law_rows(law, points, about, self.hidden, self.problem.fields)
            lawful.append(self.boundary_weight / self._largest(block))
            blocks.append((lawful[-1] * _shares(points))[:, None] * block)
            targets.append(lawful[-1] * _shares(points) * target)
        stacked = self._restricted(np.concatenate(blocks))
        return Linearisation(stacked, np.concatenate(targets), (*used, *own, *lawful))

    def _equation(self, equation: Equation, about: Function) -> tuple[Array, Array]:
        """Return the rows of J(u) and the values of J(u) u − F(u) at the points."""
        x, fields = self.points.x, self.problem.fields
        slopes = slopes_of(self.problem, equation.field)
        values = jets_at(self.problem, about, x, slopes.jets)
        with np.errstate(all="ignore"):
            partials = slopes.partials(*x.T, 0.0, *values)
            value = np.broadcast_to(slopes.value(*x.T, 0.0, *values)[0], len(x))
        size = self.hidden.size
        rows = np.zeros((len(x), len(fields) * size), order="F")
        target = -np.array(value, dtype=float)
        for i, name in enumerate(fields):
            terms = []
            for jet, partial, own in zip(slopes.jets, partials, values, strict=True):
                if jet.field == name:
                    terms.append(Term(name, derivative_of(jet), partial))
                    target += partial * own
            if terms:
                rows[:, i * size : (i + 1) * size] = self.hidden.operator(x, terms)
        for jet, partial in zip(slopes.jets, partials, strict=True):
            if jet.field in self.problem.jets.quantities:
                found, along = quantity_rows(self.problem, jet, x, about, self.hidden)
                target += partial * along
                for name, own_rows in found.items():
                    first = fields.index(name) * size
                    rows[:, first : first + size] += np.reshape(partial, (-1, 1)) * own_rows
        self._check_finite(equation, rows, value)
        return rows, target

    def _check_finite(self, equation: Equation, rows: Array, value: Array) -> None:
        if equation.is_linear and not (np.all(np.isfinite(value)) and np.all(np.isfinite(rows))):
            bad = ~np.isfinite(value) | ~np.all(np.isfinite(rows), axis=1)
            place = ", ".join(f"{c:.4g}" for c in self.points.x[np.argmax(bad)])
            raise EvaluationError(
                f"the equation '{equation}' is not finite at x = ({place}): a coefficient or the source is infinite or "
                "not a number there. A division by zero?"
            )

    # ---- what a function leaves ---------------------------------------------------------------------

    def residual(self, function: Layered, scales: Sequence[float]) -> Array:
        """Return what a function of this layer leaves of equations and conditions, row by row, with given scales."""
        x, parts = self.points.x, []
        for equation, scale in zip(self.problem.equations, scales, strict=False):
            parts.append(scale * self._inner * left_of_equation(self.problem, equation.field, function, x))
        rows, data, own = self.conditions
        parts += [scale * (r @ function.coefficients - d) for r, d, scale in zip(rows, data, own, strict=True)]
        for (law, points), scale in zip(self.laws, scales[len(scales) - len(self.laws) :], strict=True):
            parts.append(scale * _shares(points) * law.values(points, 0.0, function.jets(points.x, law.jets_in())))
        return np.concatenate(parts)


def law_rows(
    law: BoundaryLaw, points: BoundaryPoints, about: Function, hidden: HiddenLayer, fields: Sequence[str]
) -> tuple[Array, Array]:
    """Return the rows of J(u) and the values of J(u) u − G(u) of a nonlinear condition at points of its side."""
    jets = law.jets_in()
    values = about.jets(points.x, jets)
    partials = law.compile([sp.diff(law.residual, law.jets.symbol(jet)) for jet in jets], jets)
    with np.errstate(all="ignore"):
        slopes = partials(*points.x.T, *points.normals.T, 0.0, *values)
    terms = [Term(jet.field, derivative_of(jet), slope) for jet, slope in zip(jets, slopes, strict=True)]
    target = sum((s * v for s, v in zip(slopes, values, strict=True)), -law.values(points, 0.0, values))
    return Functional(((points.x, tuple(terms)),)).rows(hidden, fields), target


def _shares(points: BoundaryPoints) -> Array:
    """Return square roots of weights with which squares add up to a mean over a side."""
    return np.asarray(np.sqrt(points.weights / np.sum(points.weights)))


_VECTORS = 6


def smallest_values(collocation: Collocation, system: Linearisation) -> tuple[float, float]:
    """Return the smallest |L u| / |u| and the next other one, about, by subspace iteration with the factorisation.

    With A = Q R, they are one over the largest singular values of Φ R⁻¹, where Φ are the features at the points.
    """
    tolerance = 1e-3  # relative change of both values twice in a row, after which no more is iterated
    rounds = 12
    fields, points = len(collocation.problem.fields), collocation.points
    weights = np.sqrt(points.weights / np.sum(points.weights))
    features = collocation.hidden.features(points.x) * weights[:, None]
    if collocation.mixing is not None:
        features = features @ collocation.mixing
    triangle = np.asfortranarray(system.factor.triangle)

    def mapped(block: Array) -> Array:
        """Apply Φ R⁻¹ field by field, one field below the other."""
        found = sla.solve_triangular(triangle, block, check_finite=False)
        return np.concatenate([features @ part for part in np.split(found, fields)])

    def transposed(block: Array) -> Array:
        found = np.concatenate([features.T @ part for part in np.split(block, fields)])
        return np.asarray(sla.solve_triangular(triangle, found, trans="T", check_finite=False))

    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(len(triangle), min(_VECTORS, len(triangle)))))[0]
    squares, settled = np.zeros(2), False
    for _ in range(rounds):
        vectors, triangular = np.linalg.qr(transposed(mapped(vectors)))
        before, squares = squares, np.abs(np.diag(triangular)[:2])
        if np.all(np.abs(squares - before) <= tolerance * squares):
            if settled:
                break
            settled = True
    values = np.linalg.svd(mapped(vectors), compute_uv=False)
    scale = float(np.exp(np.mean(np.log(system.scales[:fields]))))
    return lowest(1.0 / (scale * np.maximum(values, TINY)))


def lowest(values: Array) -> tuple[float, float]:
    """Return the smallest of some values and the next one, past others that are about as close to zero.

    Symmetric domains have double eigenvalues: where one of them is hit, two values vanish.

    Examples
    --------
    >>> lowest(np.array([3.0, 1.0, 4.0])), lowest(np.array([1e-9, 2e-9, 4.0]))
    ((1.0, 3.0), (1e-09, 4.0))
    """
    ratio = 100.0  # of two values that do not belong to the same eigenvalue, which may be a double one
    ordered = np.sort(np.abs(values))[:_VECTORS]
    apart = ordered[ordered > ratio * ordered[0]]
    following = apart[0] if len(apart) else ordered[min(1, len(ordered) - 1)]
    return float(ordered[0]), float(following)
