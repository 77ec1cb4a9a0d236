"""Narrow sources on shapes: what a product of networks on a box around the shape makes of them is one more feature.

A formula for the source goes on beyond the domain. On a box, products of networks of the axes resolve detail that some
hundred features of a shape do not. With p such that L p = f there, u = p + v, and v, which obeys L v = 0 and what p
leaves of the conditions, is as smooth as if there were no detail. Of nonlinear equations, L is the linear part, and
once there is a solution, its nonlinear terms join the sources. Python functions and tables are sources as formulas are,
if they are known, and smooth, on the box.

A solution on the shape consists of functions on the box, which carry its detail, and of features that are smooth there
but mean nothing beyond. For nonlinear terms these are replaced by polynomials that agree with them on the shape and
stay small on the box. So the detail that nonlinear terms inherit from the solution is known on the whole box.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
import sympy as sp
from numpy.polynomial import chebyshev

from frozenpinn.assembly.collocation import Combination, Function, left_of_equation, slopes_of
from frozenpinn.assembly.discretisation import discretise
from frozenpinn.assembly.initial_data import Stage
from frozenpinn.basis.boxed import Axis, BoxFunctions
from frozenpinn.basis.hidden import Derivative, pure
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.basis.special import parts_of
from frozenpinn.enrichments.features import Features, Pilot, beside
from frozenpinn.errors import BudgetError, FrozenPinnError
from frozenpinn.geometry import BoundaryPoints, Box, Points
from frozenpinn.geometry.points import FEW_PLACES, axes_of
from frozenpinn.language.functions import UserFunction
from frozenpinn.language.jets import Jet
from frozenpinn.operators import LeastSquares
from frozenpinn.runtime.seeds import Seed
from frozenpinn.search.settings import Settings
from frozenpinn.search.sizing import Frame, has_constant_coefficients, make_plan
from frozenpinn.statement.conditions import read_boundary
from frozenpinn.statement.problem import Problem
from frozenpinn.static.newton_krylov import balance
from frozenpinn.static.plan import StaticPlan

Array = np.ndarray
_WIDTHS = ((48, 96, 192, 384, 640), (20, 32, 48, 72))  # neurons of each axis of a box, in two and three dimensions
_ENOUGH = 0.03  # part of the sources that functions on a box may leave to be of use
_CHECKED = 300  # points at which a function on a box is checked


@dataclass(frozen=True, eq=False)
class Detail:
    """Where sources have detail: candidates for points, and how much of the sources each stands for.

    Attributes
    ----------
    x, weights
        Points of the domain and their quadrature weights, shapes (n, d) and (n,).
    sizes
        Of the sources there, shape (n,).
    spacing
        Typical distance of neighbours along each axis.
    box, width
        On which the sources are resolved, and the neurons of each of its axes.
    """

    x: Array
    weights: Array
    sizes: Array
    spacing: Array
    box: Box
    width: int

    def with_points(self, points: Points, count: int, problem: Problem, rng: np.random.Generator) -> Points:
        """Return points with more of them where sources are large."""
        count = min(len(self.x), max(count, len(points) // 2))
        share = self.weights * self.sizes
        share = share / np.sum(share)
        i = np.unique(rng.choice(len(self.x), size=count, p=share))
        weights = np.minimum(self.weights[i] / (count * share[i]), float(np.max(points.weights)))
        return Points(np.concatenate([points.x, self.x[i]]), np.concatenate([points.weights, weights]), points.spacing)

    def distance(self, problem: Problem, one: Function, other: Function) -> float:
        """Return how far two functions are apart where the sources are large, relative to their size."""
        rng, share = np.random.default_rng(Seed.STATIC_RESIDUALS), self.weights * self.sizes
        x = self.x[rng.choice(len(self.x), size=_CHECKED, p=share / np.sum(share))]
        jets = [problem.jets.field(name) for name in problem.fields]
        pairs = zip(one.jets(x, jets), other.jets(x, jets), strict=True)
        return max(float(np.linalg.norm(a - b) / (np.linalg.norm(b) or 1.0)) for a, b in pairs)

    def with_boundary(self, points: BoundaryPoints, problem: Problem) -> BoundaryPoints:
        """Return the points of a side as they are."""
        return points


class _Found(NamedTuple):
    """Functions on a box, the factors that make them solve the equations, and where these have detail."""

    functions: BoxFunctions
    scales: Sequence[float]
    detail: Detail


def offer(pilot: Pilot) -> Iterator[Features]:
    """Offer what a box makes of the sources, without the functions of weak corners and with them."""
    wanted = pilot.detailed and pilot.is_whole and "narrow sources" not in pilot.without
    if wanted and (found := particular(pilot.plan)) is not None:
        functions, detail = found
        yield Features(beside(functions, pilot.always, pilot.holes), detail)
        if pilot.corners is not None:
            yield Features(beside(functions, pilot.always, pilot.holes, pilot.corners), detail)


def particular(plan: StaticPlan) -> tuple[BoxFunctions, Detail] | None:
    """Return functions p with L p = f on a box around the domain, one for each field, and where f has detail.

    None if the sources are constant, not known, or not resolved there, or if products are tried anyway.
    """
    problem = plan.problem
    if not (2 <= problem.domain.dimension <= len(_WIDTHS) + 1) or any(problem.domain.periodic):
        return None
    if not _has_sources(problem) or problem.jets.quantities or Frame.of(problem, plan.task.settings).product:
        return None
    for box in _boxes(problem):
        around = _on_box(problem, box)
        if around is not None:
            best, gap = _resolved(plan, around)
            if best is not None and gap < _ENOUGH:
                return best.functions, best.detail
    return None


def refined(plan: StaticPlan, state: Combination, detail: Detail) -> tuple[BoxFunctions, Detail] | None:
    """Return the functions for sources with the nonlinear terms of a solution, on the box that it has functions of.

    None if the problem is linear, or if these are not resolved there.
    """
    problem = plan.problem
    about = None if problem.is_linear else Continued.of(state, problem, detail.box)
    around = _on_box(problem, detail.box)
    if about is None or around is None:
        return None
    best, gap = _resolved(plan, with_nonlinear_sources(problem, around, about), detail.width)
    return None if best is None or gap > _ENOUGH else (best.functions, best.detail)


def _resolved(plan: StaticPlan, around: Problem, least_width: int = 0) -> tuple[_Found | None, float]:
    """Solve on a box with more and more neurons, as long as that helps; return what that leaves of the sources."""
    best, least, tol = None, np.inf, plan.task.tolerances.solution
    enough = 1e-11 if tol is None else max(1e-11, 1e-3 * tol)  # misfit at which no further width is tried
    seen, helps = 0.3, 0.5  # a misfit below the first must fall to the second part of it with the next width
    for width in _WIDTHS[around.domain.dimension - 2]:
        if width < least_width:
            continue
        found = _solved(plan, around, width)
        gap = np.inf if found is None else _gap(plan, around, found)
        if found is None or (gap >= helps * least and least < seen):
            break
        best, least = (found, gap) if gap < least else (best, least)
        if gap < enough:
            break
    return best, least


def _gap(plan: StaticPlan, around: Problem, found: _Found) -> float:
    """Return what functions on a box leave of the sources inside the domain, relative to these."""
    rng, domain, detail = np.random.default_rng(Seed.STATIC_RESIDUALS), plan.problem.domain, found.detail
    share = detail.weights * detail.sizes
    x = detail.x[rng.choice(len(detail.x), size=_CHECKED, p=share / np.sum(share))]
    x = np.concatenate([domain.sample(_CHECKED, "random", rng).x, x + detail.spacing * rng.uniform(-0.5, 0.5, x.shape)])
    x, worst = x[domain.contains(x, 0.0)], 0.0
    for name in around.fields:
        slopes = slopes_of(around, name)
        jets = [found.functions(x, jet.alpha, jet.laps)[:, around.fields.index(jet.field)] for jet in slopes.jets]
        own = [found.scales[around.fields.index(jet.field)] * v for jet, v in zip(slopes.jets, jets, strict=True)]
        left = slopes.value(*x.T, 0.0, *own)[0]
        source = np.broadcast_to(slopes.value(*x.T, 0.0, *(np.zeros(len(x)) for _ in own))[0], len(x))
        worst = max(worst, float(np.linalg.norm(left) / (np.linalg.norm(source) or 1.0)))
    return worst


def _varied(width: int, plan: StaticPlan) -> int:
    """Return a width of an axis that differs from one solve to the next, so that two share no error."""
    return 2 * round(width * (1.0 + 0.2 * np.log2(max(plan.task.effort, 1.0))) / 2)


def _has_sources(problem: Problem) -> bool:
    """Whether there are sources that vary, and all equations have derivatives of second order in their linear part."""
    leads = all(
        any(jet.field == e.field and jet.order >= 2 for jet in e.linear) and not e.linear_in_time
        for e in problem.equations
    )
    return leads and any(e.forcing.free_symbols for e in problem.equations)


def _boxes(problem: Problem) -> Sequence[Box]:
    """Return a box with a margin around the domain, and the bounding box."""
    domain = problem.domain
    lower, lengths = np.asarray(domain.lower, dtype=float), np.asarray(domain.lengths, dtype=float)
    upper = lower + lengths
    margin = 0.2  # in units of the lengths of the domain
    return [Box(lower - m * lengths, upper + m * lengths) for m in (margin, 0.0)]


def _on_box(problem: Problem, box: Box) -> Problem | None:
    """Return the linear part of a problem on a box, with zero values at its sides; None if it is not finite there."""
    jets, equations = problem.jets, []
    for equation in problem.equations:
        linear = sum((c * jets.symbol(jet) for jet, c in equation.linear.items()), sp.Integer(0))
        equations.append(replace(equation, right_side=linear + equation.forcing, nonlinear=sp.Integer(0)))
    parts = [e for equation in equations for e in (equation.forcing, *equation.linear.values())]
    try:
        with np.errstate(all="ignore"):
            values = problem.compile(parts)(*box.sample(2000, "random", 0).x.T, 0.0)
    except FrozenPinnError:  # of a Python function or a table that ends where the domain ends
        return None
    if not all(np.all(np.isfinite(value)) for value in values):
        return None
    ends = {side.name: _ends(problem, axis) for axis, side in ((s.axis, s) for s in box.sides)}
    return problem.replaced(
        domain=box,
        equations=tuple(equations),
        conditions=read_boundary(ends, box, problem.fields, jets, problem.parameters)[0],
        laws=(),
        groups=tuple((name,) for name in problem.fields),
        constraints=(),
        exact={},
    )


def _ends(problem: Problem, axis: int) -> list[str]:
    """Return zero values of all fields, and zero second derivatives of those with equations of fourth order."""
    found = []
    for name in problem.fields:
        found.append(f"{name} = 0")
        if problem.spatial_order(name) > 2:
            second = tuple(2 * int(i == axis) for i in range(problem.domain.dimension))
            found.append(f"{problem.jets.name(Jet(name, second))} = 0")
    return found


def _solved(plan: StaticPlan, around: Problem, width: int) -> _Found | None:
    """Solve on the box."""
    task = replace(plan.task, settings=Settings(rules=plan.task.rules))
    own = make_plan(around, task, (_varied(width, plan),) * around.domain.dimension)
    rules = plan.task.rules.static
    most = 1e10 if has_constant_coefficients(around) else 4e8  # operations at effort one
    if own.operations > most * max(plan.task.effort, 1.0) ** 2:
        return None
    restarts = 4 if plan.task.effort > 2.0 else 1  # of GMRES
    try:
        own.check_memory()
        spaces = own.product_spaces(around, own.place_points(around))
        system = discretise(around, spaces, stage=Stage.whole(around))
        found = balance(system, np.zeros(system.size), rules.newton.accuracy, plan.announce, restarts)
    except BudgetError:
        raise
    except (FrozenPinnError, np.linalg.LinAlgError):
        return None
    networks = [space.network for space in spaces]
    first = networks[0]
    if not isinstance(first, ProductNetwork) or any(n.factors != first.factors for n in networks):
        return None
    tensors = [part[0].reshape(first.sizes) for part in system.layout.split(found.state)]
    detail = _detail(plan.problem, around, own.place_points(around), width)
    if detail is None or not all(np.any(tensor) for tensor in tensors):
        return None
    scales = [float(np.max(np.abs(tensor))) for tensor in tensors]
    axes = [Axis.of(factor) for factor in first.factors]
    functions = BoxFunctions.of(axes, [t / s for t, s in zip(tensors, scales, strict=True)])
    return _Found(functions, scales, detail)


def _detail(problem: Problem, around: Problem, grid: Points, width: int) -> Detail | None:
    """Return the points of a grid that lie in the domain, with the sizes of the sources."""
    inside = np.flatnonzero(problem.domain.contains(grid.x, 0.0))
    if not len(inside):
        return None
    x = grid.x[inside]
    with np.errstate(all="ignore"):
        values = around.compile([e.forcing for e in around.equations])(*x.T, 0.0)
    parts = [np.abs(np.broadcast_to(v, len(x))) / (float(np.max(np.abs(v))) or 1.0) for v in values]
    sizes = np.max(parts, axis=0)
    if not np.all(np.isfinite(sizes)) or not isinstance(around.domain, Box):
        return None
    smallest = 1e-3  # size of a source, relative to its largest, below which points are not rarer
    return Detail(x, grid.weights[inside], sizes + smallest, grid.spacing, around.domain, width)


# ---- nonlinear terms beyond the shape ---------------------------------------------------------------

_DEGREES = {2: 24, 3: 10}  # of the polynomials, by dimension


@dataclass(frozen=True, eq=False)
class Continued:
    """Fields on a box: functions of the box, and products of Chebyshev polynomials.

    Attributes
    ----------
    detail, shares
        Functions of the box and their coefficients, shape (fields, functions).
    polynomials
        Coefficients of the products, one tensor for each field.
    """

    fields: tuple[str, ...]
    box: Box
    detail: BoxFunctions
    shares: Array
    polynomials: Array

    @classmethod
    def of(cls, state: Combination, problem: Problem, box: Box) -> Continued | None:
        """Continue a function of a shape to a box around it; None if it has no functions of a box."""
        detail, columns = _boxed(state)
        if detail is None:
            return None
        d = box.dimension
        highest, (n, m) = _DEGREES[d], (_DEGREES[d] + 1, len(state.fields))
        chosen = np.array([k for k in product(range(n), repeat=d) if sum(k) <= highest])
        each = 3  # points for each polynomial, at which they agree with the function
        x = problem.domain.sample(each * len(chosen), "random", np.random.default_rng(Seed.STATIC_RESIDUALS)).x
        blocks = state.coefficients.reshape(m, -1)
        smooth = blocks.copy()
        smooth[:, columns] = 0.0
        rest = state.moved(smooth.ravel())
        values = np.stack(rest.jets(x, [problem.jets.field(name) for name in state.fields]), axis=1)
        tables = _tables(box, list(x.T), (0,) * d)
        rows = np.prod([table[:, chosen[:, axis]] for axis, table in enumerate(tables)], axis=0)
        fall = 1.6  # by which polynomials get more expensive from degree to degree, lest they grow beyond the shape
        falling = fall ** -np.sum(chosen, axis=1).astype(float)
        polynomials = np.zeros((m, *(n,) * d))
        ridge = 1e-11  # relative to the lowest polynomials
        polynomials[:, *chosen.T] = falling * LeastSquares.of(rows * falling, ridge).solve(values).T
        return cls(state.fields, box, detail, blocks[:, columns], polynomials)

    def jets(self, x: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives of the fields."""
        axes, found = axes_of(x, FEW_PLACES), []
        for jet in jets:
            i = self.fields.index(jet.field)
            value = self.detail(x, jet.alpha, jet.laps) @ self.shares[i]
            for alpha, factor in pure(Derivative(jet.alpha, jet.laps), x.shape[1]):
                tables = _tables(self.box, list(x.T) if axes is None else axes, alpha)
                value += factor * _combined(tables, self.polynomials[i], axes is not None)
            found.append(value)
        return found


def with_nonlinear_sources(problem: Problem, linear: Problem, about: Continued) -> Problem:
    """Return a linear problem whose sources are, in addition, the nonlinear terms of another one about a function."""
    coordinates, functions, arguments, equations = linear.jets.coordinates, {}, {}, []
    for k, (equation, own) in enumerate(zip(linear.equations, problem.equations, strict=True)):
        name = f"nonlinear terms {k}"
        only = problem.replaced(
            equations=tuple(
                replace(e, right_side=own.nonlinear, linear={}, forcing=sp.Integer(0)) if e is own else e
                for e in problem.equations
            )
        )
        functions[name] = UserFunction(_Terms(only, own.field, about), name, coordinates, ("points",))
        arguments[name] = coordinates
        source = sp.Function(name, real=True)(*linear.jets.x)
        equations.append(replace(equation, right_side=equation.right_side + source, forcing=equation.forcing + source))
    known = linear.parameters
    return linear.replaced(
        equations=tuple(equations),
        parameters=replace(
            known, functions={**known.functions, **functions}, arguments={**known.arguments, **arguments}
        ),
    )


@dataclass(frozen=True, eq=False)
class _Terms:
    """The nonlinear terms of one equation about a function, at points (n, d)."""

    problem: Problem
    field: str
    about: Continued

    def __call__(self, points: Array) -> Array:
        return np.array(left_of_equation(self.problem, self.field, self.about, points))


def _boxed(state: Combination) -> tuple[BoxFunctions | None, list[int]]:
    """Return the functions of a box that a combination contains, and their columns."""
    first = state.hidden.width + 1
    for part in parts_of(state.hidden.singular):
        if isinstance(part, BoxFunctions):
            return part, list(range(first, first + len(part)))
        first += len(part)
    return None, []


def _tables(box: Box, coordinates: Sequence[Array], alpha: tuple[int, ...]) -> list[Array]:
    """Return derivatives of the Chebyshev polynomials of each axis of a box, shape (n, number)."""
    found = []
    for axis, (x, order) in enumerate(zip(coordinates, alpha, strict=True)):
        half = float(box.lengths[axis]) / 2.0
        s = (x - float(box.lower[axis])) / half - 1.0
        slopes = chebyshev.chebder(np.eye(_DEGREES[box.dimension] + 1), order)
        found.append(chebyshev.chebval(s, slopes).T / half**order)
    return found


def _combined(tables: Sequence[Array], tensor: Array, on_grid: bool) -> Array:
    """Return a combination of products, at the points of a grid or at scattered ones."""
    if on_grid:
        for axis, table in enumerate(tables):
            tensor = np.moveaxis(np.tensordot(table, tensor, axes=(1, axis)), 0, axis)
        return np.asarray(tensor.ravel())
    part = tables[0] @ tensor.reshape(len(tensor), -1)
    for table in tables[1:]:
        part = np.einsum("ni,nik->nk", table, part.reshape(*table.shape, -1))
    return np.asarray(part[:, 0])
