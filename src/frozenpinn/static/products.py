"""Static problems on boxes by products of networks of the axes, where they leave less than other features would.

What they leave is measured on a grid that no solve is fitted at. Its coordinates are random, one in each of as many
equal parts of an axis, together with both ends of the axis: values inside and on all sides are sums along the axes of
the same few tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np
import sympy as sp

from frozenpinn.assembly.collocation import Function, lowest, slopes_of
from frozenpinn.assembly.discretisation import Discretisation, discretise
from frozenpinn.assembly.initial_data import Snapshot, Stage
from frozenpinn.assembly.spaces import Space
from frozenpinn.assembly.state import StateLayout
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.errors import BudgetError, ConvergenceError, FrozenPinnError, SettingsError
from frozenpinn.geometry import BoundaryPoints, Box, FlatSide
from frozenpinn.geometry.array_arguments import frozen
from frozenpinn.geometry.points import grid_points
from frozenpinn.integrators.protocol import Work
from frozenpinn.integrators.steady import SteadyState
from frozenpinn.language.jets import Jet
from frozenpinn.results.expansion import Piece
from frozenpinn.results.solution import Solution
from frozenpinn.results.static_facts import StaticFacts
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.memo import Same, remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.search.sizing import Frame, Plan, make_plan
from frozenpinn.statement.problem import Problem
from frozenpinn.static.judging import HeldOut, laplacian_parts, left_at, warn_if_singular
from frozenpinn.static.newton_krylov import Balanced, balance
from frozenpinn.static.plan import StaticPlan

Array = np.ndarray


def check_product(plan: StaticPlan) -> None:
    """Refuse widths of axes where there can be no product."""
    if plan.problem.constraints or not Frame.of(plan.problem, plan.task.settings).product:
        raise SettingsError(
            f"width={plan.task.settings.width} has one number for each axis, for products of networks on boxes in two "
            "to five dimensions, with conditions of constant coefficients along their own axis and without a "
            "constraint. Write one number here."
        )


def given_product(plan: StaticPlan, start: Function | None, how: str) -> Solution:
    """Return the solution by a product whose widths the user has given."""
    check_product(plan)
    found = solve_on_product(plan, start, np.inf, how)
    if found is None:
        raise ConvergenceError("a product of networks leads to no solution here; write width as one number.")
    return found


def product_plan(plan: StaticPlan) -> Plan | None:
    """Return the numbers of a product of networks that matches other features; None if there can be none."""
    problem, settings = plan.problem, plan.task.settings
    given, d = isinstance(settings.width, tuple), problem.domain.dimension
    if (
        problem.constraints
        or problem.jets.quantities
        or (not given and (settings.width is not None or settings.points is not None))
    ):
        return None
    if not Frame.of(problem, settings).product:
        return None
    width = settings.width if given else (plan.task.rules.static.axis_width(plan.width, d),) * d
    return make_plan(problem, plan.task, width)


def solve_on_product(plan: StaticPlan, start: Function | None, promised: float, how: str) -> Solution | None:
    """Return a solution by a product of networks if it leaves less than is promised of other features; else None.

    Without a start, Newton's method begins with the function of the product that carries the boundary data, and follows
    the solution as the nonlinear terms are added where that leads nowhere.
    """
    problem, task, rules, own = plan.problem, plan.task, plan.task.rules.static, product_plan(plan)
    if own is None:
        return None
    try:
        own.check_memory()
        spaces = own.product_spaces(problem, own.place_points(problem))
        values = {} if start is None else {name: _snapshot(problem, start, name) for name in problem.fields}
        system = discretise(problem, spaces, stage=Stage((0.0, 0.0), values, {}))
        if problem.is_linear or start is not None:
            first = np.zeros(system.size) if problem.is_linear else system.initial_state
            found = balance(system, first, rules.newton.accuracy, plan.announce)
        else:
            found = _continued(problem, system, rules.newton.accuracy, plan.announce)
    except BudgetError:
        raise
    except (ConvergenceError, FrozenPinnError, np.linalg.LinAlgError):
        return None
    name = "modes of the axes" if problem.is_linear else "Newton, modes of the axes"
    system = replace(system, stage=Stage.whole(problem))  # the start is not needed any more
    piece = Piece.of(system, SteadyState(found.state, name, Work(len(found.changes), len(found.changes))), 0.0, name)
    left = left_on_grid(problem, spaces, found.state)
    if not left < promised:
        return None
    singular = lowest(found.eigenvalues)
    if problem.is_linear and len(found.changes) == 1:  # the modes are those of the whole operator
        warn_if_singular(singular, problem, rules)
    steps = () if problem.is_linear else found.changes
    return Solution(
        problem,
        (piece,),
        sampler="products of sines",
        width=tuple(sampler.width for sampler in own.samplers),
        counts=own.counts,
        bytes=own.bytes,
        operations=own.operations,
        provenance=task,
        facts=StaticFacts("products of sines along the axes", left, singular, steps, how, left),
        decisions=(
            Decision("products", f"they leave {left:.1e} of the equations; {promised:.1e} is promised without"),
        ),
    )


def _continued(problem: Problem, system: Discretisation, accuracy: float, announce: Callable[[], None]) -> Balanced:
    """Solve from the linear terms on: at once if that works, else by adding the nonlinear ones little by little."""
    state, reached, step = np.zeros(system.size), 0.0, 1.0
    shortest = 1.0 / 256.0  # part of the nonlinear terms
    while True:
        share = min(1.0, reached + step)
        stage = system if share == 1.0 else replace(system, problem=_with_share(problem, share))
        try:
            found = balance(stage, state, accuracy, announce)
        except ConvergenceError:
            step /= 4.0
            if step < shortest:
                raise
            continue
        if share == 1.0:
            return found
        state, reached, step = found.state, share, 1.5 * step


def _with_share(problem: Problem, share: float) -> Problem:
    """Return the problem with a part of its nonlinear terms."""
    s = sp.Float(share)
    return problem.replaced(equations=tuple(replace(e, nonlinear=s * e.nonlinear) for e in problem.equations))


def _snapshot(problem: Problem, function: Function, name: str) -> Snapshot:
    """Return one field of a function, as initial data are evaluated."""
    return lambda x, t: function.jets(x, [problem.jets.field(name)])[0]


# ---- what a product leaves --------------------------------------------------------------------------


class _Grid(NamedTuple):
    """Coordinates of each axis, from end to end; the places that consist of them, and where these stand in the grid.

    ``parts`` has the entries of the grid for each array of places.
    """

    axes: tuple[Array, ...]
    places: HeldOut
    parts: dict[Same[Array], tuple[slice, ...]]


@remembered
def held_out_grid(problem: Problem, inside: int) -> _Grid:
    """Return a grid with about as many points inside, which all solves of a problem share."""
    rng, box = np.random.default_rng(Seed.STATIC_GRID), cast(Box, problem.domain)
    d = box.dimension
    count = int(np.ceil(inside ** (1.0 / d) - 1e-9))
    free = [(np.arange(count) + rng.random(count)) / count for _ in range(d)]
    middle = [a + (b - a) * own for a, b, own in zip(box.lower, box.upper, free, strict=True)]
    axes = tuple(frozen([a, *own, b]) for a, b, own in zip(box.lower, box.upper, middle, strict=True))
    within = slice(1, -1)
    x = frozen(grid_points(middle))
    parts, sides = {Same(x): (within,) * d}, dict[tuple[int, int], BoundaryPoints]()
    for side in (cast(FlatSide, condition.side) for condition in problem.conditions):
        at, axis = (side.axis, side.end), side.axis
        if at not in sides:
            end = (box.lower, box.upper)[side.end][axis]
            own = frozen(grid_points([np.array([end]) if k == axis else m for k, m in enumerate(middle)]))
            normal = np.eye(d)[axis] * (1.0 if side.end else -1.0)
            sides[at] = BoundaryPoints(own, np.tile(normal, (len(own), 1)), np.ones(len(own)), side)
            place = slice(0, 1) if side.end == 0 else slice(-1, None)
            parts[Same(own)] = tuple(place if k == axis else within for k in range(d))
    chosen = [sides[c.side.axis, c.side.end] for c in problem.conditions if isinstance(c.side, FlatSide)]
    return _Grid(axes, HeldOut(x, tuple(chosen), (), x[:0]), parts)


@remembered
def _jets(problem: Problem) -> tuple[Jet, ...]:
    """Return all derivatives that are evaluated, Laplacians by their parts."""
    found = [problem.jets.field(name) for name in problem.fields]
    found += [jet for name in problem.fields for jet in slopes_of(problem, name).jets]
    found += [jet for condition in problem.conditions for jet in condition.jets]
    d = problem.domain.dimension
    return tuple(dict.fromkeys(own for jet in found for own in laplacian_parts(jet, d) or (jet,)))


class _OnGrid:
    """The function that coefficients of products stand for, at places of a grid."""

    def __init__(self, problem: Problem, spaces: Sequence[Space], state: Array, grid: _Grid) -> None:
        self._grid, self._known = grid, dict[Jet, Array]()
        wanted = _jets(problem)
        blocks = StateLayout(tuple(s.network.size for s in spaces), tuple(s.order for s in spaces)).blocks
        for space, block in zip(spaces, blocks, strict=True):
            network, own = cast(ProductNetwork, space.network), [jet for jet in wanted if jet.field in space.fields]
            lifted = space.data(0.0) if network.lift_size else None
            alphas = [(jet.alpha, jet.laps) for jet in own]
            self._known |= zip(own, network.on_axes(grid.axes, alphas, state[block], lifted), strict=True)

    def jets(self, x: Array, jets: Sequence[Jet]) -> list[Array]:
        """Return derivatives at all places of one array."""
        part = self._grid.parts[Same(x)]
        return [self._whole(jet)[part].reshape(-1) for jet in jets]

    def _whole(self, jet: Jet) -> Array:
        if jet not in self._known:
            first, *others = (self._known[own] for own in laplacian_parts(jet, len(self._grid.axes)))
            self._known[jet] = sum(others, first)
        return self._known[jet]


def left_on_grid(problem: Problem, spaces: Sequence[Space], state: Array) -> float:
    """Return what products leave of equations and conditions between their points, relative to the terms of these."""
    places = 4096  # 64 coordinates along each axis of a square, which see what is narrow along one of them
    grid = held_out_grid(problem, places)
    return left_at(problem, _OnGrid(problem, spaces, state, grid), grid.places)
