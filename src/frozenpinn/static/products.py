"""Static problems on boxes by products of networks of the axes, where they leave less than other features would."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from frozenpinn.assembly.collocation import Function, lowest, nobody
from frozenpinn.assembly.discretisation import discretise
from frozenpinn.assembly.initial_data import Snapshot, Stage
from frozenpinn.errors import BudgetError, ConvergenceError, FrozenPinnError, SettingsError
from frozenpinn.integrators.protocol import Work
from frozenpinn.integrators.steady import SteadyState
from frozenpinn.results.expansion import Piece
from frozenpinn.results.solution import Solution
from frozenpinn.results.static_facts import StaticFacts
from frozenpinn.runtime.decisions import Decision
from frozenpinn.search.sizing import Frame, Plan, make_plan
from frozenpinn.statement.problem import Problem
from frozenpinn.static.grid_judging import left_on_grid
from frozenpinn.static.newton_krylov import balance
from frozenpinn.static.plan import StaticPlan
from frozenpinn.static.trust import warn_if_singular

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
    """Return the numbers of a product of networks beside other features; None if there can be none."""
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

    Without a start, Newton's method begins with the function of the product that carries the boundary data.
    """
    problem, task, rules, own = plan.problem, plan.task, plan.task.rules.static, product_plan(plan)
    if own is None:
        return None
    try:
        own.check_memory()
        spaces = own.build_spaces(problem, own.place_points(problem))
        values = {} if start is None else {name: _snapshot(problem, start, name) for name in problem.fields}
        system = discretise(problem, spaces, stage=Stage((0.0, 0.0), values, {}))
        first = np.zeros(system.size) if problem.is_linear or start is None else system.initial_state
        found = balance(system, first, rules.newton.accuracy, plan.told or nobody)
    except BudgetError:
        raise
    except (ConvergenceError, FrozenPinnError, np.linalg.LinAlgError):
        return None
    name = "modes of the axes" if problem.is_linear else "Newton, modes of the axes"
    system = replace(system, stage=Stage.whole(problem))  # the start is not needed any more
    piece = Piece.of(system, SteadyState(found.state, name, Work(len(found.changes), len(found.changes))), 0.0, name)
    left = left_on_grid(problem, spaces, found.state, rules)
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


def _snapshot(problem: Problem, function: Function, name: str) -> Snapshot:
    """Return one field of a function, as initial data are evaluated."""
    return lambda x, t: function.jets(x, [problem.jets.field(name)])[0]
