"""One solve of a static problem: pilots choose the features, least squares or Newton's method does the rest."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple, cast

import numpy as np

from frozenpinn.assembly.collocation import Collocation, Combination, Function, Nothing, smallest_values
from frozenpinn.basis.network import Network
from frozenpinn.basis.svd_layer import compress
from frozenpinn.errors import BudgetError, ConvergenceError, ResolutionWarning, warn
from frozenpinn.geometry import Points
from frozenpinn.integrators.protocol import Work
from frozenpinn.integrators.steady import SteadyState
from frozenpinn.results.expansion import Expansion, Piece, no_data
from frozenpinn.results.solution import Solution
from frozenpinn.results.static_facts import StaticFacts
from frozenpinn.runtime.decisions import Decision, distinct
from frozenpinn.runtime.stopwatch import Stopwatch
from frozenpinn.runtime.threads import REFLECTIONS, blas_threads
from frozenpinn.search.settings import Task
from frozenpinn.search.sizing import Plan
from frozenpinn.search.trust import stall_reason
from frozenpinn.statement.problem import Problem
from frozenpinn.static.families import (
    Family,
    Pilot,
    best_family,
    decisions_of,
    families,
    promised,
    with_special_functions,
)
from frozenpinn.static.judging import held_out, held_out_residual, judged_sizes, warn_if_singular
from frozenpinn.static.newton import Found, newton
from frozenpinn.static.plan import StaticPlan, static_plan
from frozenpinn.static.products import check_product, given_product, product_plan, solve_on_product
from frozenpinn.static.start import SolutionStart, by_homotopy, extended, read_start

Array = np.ndarray


class Earlier(NamedTuple):
    """A coarser solve: its solution, the features that it has chosen, what a pilot with them has left, and its plan."""

    solution: Solution
    family: Family
    pilot: float
    cost: StaticPlan | Plan


def solve_static(problem: Problem, task: Task, earlier: Earlier | None, watch: Stopwatch) -> Earlier:
    """Solve a static problem once, going on from an earlier solve if there is one."""
    before, start = None if earlier is None else earlier.solution, cast(Function, Nothing())
    plan = replace(static_plan(problem, task), announce=partial(watch.announce, "Newton's method"))
    first = plan
    plan.check_memory()
    if isinstance(task.settings.width, tuple):
        return _with_given_product(plan, earlier, watch)
    found_on_product = _on_product_alone(plan, earlier, watch)
    if found_on_product is not None:
        return found_on_product
    many = problem.domain.dimension > task.rules.sizing.dimensions
    with blas_threads(plan.operations, REFLECTIONS):
        if many and earlier is not None and isinstance(earlier.solution.width, tuple):
            with watch.stage("products"):
                start = SolutionStart(earlier.solution.jet_values)
                product = solve_on_product(plan, start, np.inf, "a coarser solution")
            if product is not None:
                return Earlier(product, earlier.family, earlier.pilot, first)
        with watch.stage("choice of features"):
            pilot, how = _pilot(plan, earlier)
        start = pilot.found.state if before is None else SolutionStart(before.jet_values)
        rules = task.rules.static
        with watch.stage("products"):
            limit = promised(plan, pilot)
            coarser = before if before is not None and isinstance(before.width, tuple) else None
            product = None if many else solve_on_product(plan, start, limit if coarser is None else np.inf, how)
            if product is not None and coarser is not None and _agree(product, coarser, task):
                return Earlier(_with_distance(product, pilot), pilot.family, pilot.left, first)
            if not _left_by(product) < limit:
                product = None
        smooth = min(rules.special_from, rules.stalls * (np.inf if earlier is None else earlier.pilot))
        if (pilot.left if product is None else _left_by(product)) > smooth:
            with watch.stage("choice of features"):
                pilot = with_special_functions(plan.for_pilots(), pilot, _lacks_detail(plan, pilot, earlier))
        if product is not None and _left_by(product) < promised(plan, pilot):
            return Earlier(_with_distance(product, pilot), pilot.family, pilot.left, first)
        with watch.stage("points"):
            plan = plan.with_special(pilot.family.count, pilot.family.sites)
            points = plan.place_points()
            hidden = pilot.family.layer(plan, points)
            collocation = plan.collocation(hidden, points, _mixing(plan, hidden.features(points.x), points))
        with watch.stage("least squares" if problem.is_linear else "Newton's method"):
            accuracy = None if task.tolerances.solution is None else 1e-2 * task.tolerances.solution
            found, fallback = _solved(plan, collocation, start, accuracy)
        with watch.stage("conditioning"):
            singular = smallest_values(collocation, found.last)
        solution = made_solution(plan, pilot, found, points, singular, how, fallback)
        if many:
            with watch.stage("products"):
                solution = _or_product(plan, pilot.found.state, solution)
    return Earlier(_with_distance(solution, pilot), pilot.family, pilot.left, first)


def _left_by(solution: Solution | None) -> float:
    """Return what a static solution leaves of its equations; infinity if there is none."""
    return np.inf if solution is None or solution.facts is None else solution.facts.left


def begin(plan: StaticPlan) -> tuple[Family, Combination]:
    """Choose features and solve on them, for who will solve often with other values.

    Nothing is judged, and neither products nor special functions that are not needed are tried.
    """
    with blas_threads(plan.operations):
        pilot, _ = _pilot(plan, None)
        return pilot.family, _on_features(plan, pilot)


def _on_features(plan: StaticPlan, pilot: Pilot) -> Combination:
    """Solve with the features of a pilot."""
    plan = plan.with_special(pilot.family.count, pilot.family.sites)
    points = plan.place_points()
    collocation = plan.collocation(pilot.family.layer(plan, points), points)
    found, _ = _solved(plan, collocation, pilot.found.state, plan.task.rules.static.pilot_accuracy)
    return found.state


def _or_product(plan: StaticPlan, start: Function, solution: Solution) -> Solution:
    """Return what a product of networks makes of a problem, if it is cheaper or needed, and leaves less."""
    own = product_plan(plan)
    assert solution.facts is not None
    needed = solution.facts.left > 0.03  # a product is worth its price, as other features leave much
    if own is None or (own.operations > plan.operations and not needed):
        return solution
    try:
        product = solve_on_product(plan, start, solution.facts.left, solution.facts.start)
    except BudgetError:
        return solution
    return solution if product is None else product


def _on_product_alone(plan: StaticPlan, earlier: Earlier | None, watch: Stopwatch) -> Earlier | None:
    """Solve a nonlinear problem of high order on a product; None if it has none, or finds nothing.

    Neurons of other kinds are poor at fourth derivatives, and what narrow ones find is no start for a product.
    """
    high = 4
    problem, trusted = plan.problem, 0.3  # what a product may leave, measured with derivatives of that order
    if problem.is_linear or plan.task.start is not None or max(map(problem.spatial_order, problem.fields)) < high:
        return None
    with blas_threads(plan.operations, REFLECTIONS), watch.stage("products"):
        product = None
        if earlier is not None and isinstance(earlier.solution.width, tuple):
            product = solve_on_product(plan, SolutionStart(earlier.solution.jet_values), trusted, "a coarser solution")
        if product is None:
            product = solve_on_product(plan, None, trusted, "the linear terms")
    left = _left_by(product)
    cost = product_plan(plan)
    return None if product is None or cost is None else Earlier(product, families(plan)[0], left, cost)


def _with_given_product(plan: StaticPlan, earlier: Earlier | None, watch: Stopwatch) -> Earlier:
    """Solve on a product of the user's widths; where its own start fails, a pilot of other features gives one."""
    start, how, family, product = cast(Function | None, None), "", families(plan)[0], None
    if earlier is not None:
        start, how, family = SolutionStart(earlier.solution.jet_values), "a coarser solution", earlier.family
    with blas_threads(plan.operations, REFLECTIONS):
        if start is None and plan.task.start is None:
            with watch.stage("products"):
                check_product(plan)
                how = "" if plan.problem.is_linear else "the extension of the boundary data"
                product = solve_on_product(plan, None, np.inf, how)
        if product is None and start is None and not plan.problem.is_linear:
            with watch.stage("choice of features"):
                pilot, how = _pilot(plan, None)
                start, family = pilot.found.state, pilot.family
        if product is None:
            with watch.stage("products"):
                product = given_product(plan, start, how)
    left = _left_by(product)
    if left > plan.task.rules.static.untrusted:
        warn(
            f"between its points, the product of networks leaves {100 * left:.0f} % of the equations or "
            f"conditions: widths of {product.width} are too small for the solution, which may be wrong.",
            ResolutionWarning,
        )
    return Earlier(product, family, left, plan)


def _with_distance(solution: Solution, pilot: Pilot) -> Solution:
    """Return a solution that knows its distance from the pilot."""
    assert solution.facts is not None
    apart = _distance(solution.problem, SolutionStart(solution.jet_values), pilot.found.state)
    return replace(solution, facts=replace(solution.facts, apart=apart))


def _agree(product: Solution, before: Solution, task: Task) -> bool:
    """Whether a product is as near to a coarser one as is asked: it is kept then, whatever others would leave.

    Where a solution is not smooth, residuals say little: products that leave 1e-3 of the equations may be right to
    1e-7, and least squares that leave less are not.
    """
    tol = task.tolerances.solution
    if tol is None:
        return False
    functions = (SolutionStart(one.jet_values) for one in (product, before))
    return _distance(product.problem, *functions) <= task.rules.search.safety * tol


def _distance(problem: Problem, one: Function, other: Function) -> float:
    """Return the largest relative distance of a field of two functions at held-out places."""
    x, jets = held_out(problem).inside, [problem.jets.field(name) for name in problem.fields]
    values = dict(zip(problem.fields, zip(one.jets(x, jets), other.jets(x, jets), strict=True), strict=True))
    sizes = {name: float(min(np.linalg.norm(a), np.linalg.norm(b))) for name, (a, b) in values.items()}
    sizes = judged_sizes(problem, sizes)
    return max(float(np.linalg.norm(a - b)) / (sizes[name] or 1.0) for name, (a, b) in values.items())


def _mixing(plan: StaticPlan, features: Array, points: Points) -> Array | None:
    """Return the SVD layer, if a cut-off is given; by default there is none, as it costs a digit."""
    cutoff = plan.task.settings.cutoff
    if isinstance(cutoff, str) or cutoff is None:
        return None
    return compress(features * np.sqrt(points.weights / np.sum(points.weights))[:, None], cutoff).mixing


def _lacks_detail(plan: StaticPlan, pilot: Pilot, earlier: Earlier | None) -> bool:
    """Whether a pilot resolves too little for its features to suffice, or hardly more than the one before."""
    rules = plan.task.rules.static
    if promised(plan, pilot) > rules.detail_blind:
        return True
    return earlier is not None and pilot.left > max(rules.detail_from, rules.stalls * earlier.pilot)


def _pilot(plan: StaticPlan, earlier: Earlier | None) -> tuple[Pilot, str]:
    """Choose the features, and say what Newton's method started from: what is given, the solve before, or our own."""
    problem, narrow = plan.problem, plan.for_pilots()
    given = read_start(plan.task.start, problem)
    start: Function | None = given
    if start is None and earlier is not None:
        start = SolutionStart(earlier.solution.jet_values)
    if problem.is_linear:
        start = Nothing()
    how = "" if problem.is_linear else "the start that was given" if given is not None else "a coarser solution"
    chosen = None if earlier is None else earlier.family
    if start is not None:
        found = best_family(narrow, start, chosen)
        if found is None and given is not None:
            raise ConvergenceError(
                "Newton's method finds no solution from the start that was given; give another one, or leave it out."
            )
        if found is not None:
            return found, how
    return _unaided(narrow)


def _unaided(narrow: StaticPlan) -> tuple[Pilot, str]:
    """Start from the boundary data, then from a homotopy; the search tries more neurons if both lead nowhere."""
    how = "the extension of the boundary data"
    extended = best_family(narrow, _extended(narrow))
    if extended is not None and extended.left <= narrow.task.rules.static.blind:
        return extended, how
    try:
        found = best_family(narrow, _continued(narrow))
    except ConvergenceError as error:
        if error.at_fold or extended is None:
            raise
        found = None
    if found is not None:
        why = Decision("homotopy", f"Newton's method leads nowhere from {how}")
        return found._replace(decisions=(why,)), "a homotopy from the linear equation"
    if extended is not None:  # it solves nothing yet, but nothing else does
        return extended, how
    raise ConvergenceError("no solution was found: Newton's method does not converge from anything that was tried.")


def _solved(
    plan: StaticPlan, collocation: Collocation, start: Function, accuracy: float | None
) -> tuple[Found, tuple[Decision, ...]]:
    """Solve on the network of the solve; if what a narrower one has found leads nowhere, by a homotopy of its own."""
    try:
        return newton(collocation, start, plan.task.rules.static.newton, accuracy), ()
    except ConvergenceError as error:
        if plan.task.start is not None:
            raise ConvergenceError(
                "no solution was found from the start that was given: what a narrow network makes of it does not last "
                f"on {plan.width} neurons ({str(error).rstrip('.')}). Give another one, or leave it out."
            ) from error
        why = Decision("homotopy", "what a narrow network has found does not last on a wider one")
        return by_homotopy(plan, collocation), (why,)


def _extended(plan: StaticPlan) -> Combination:
    points = plan.place_points()
    collocation = plan.collocation(families(plan)[0].layer(plan, points), points)
    state = extended(collocation, plan.problem)
    assert isinstance(state, Combination)
    return state


def _continued(plan: StaticPlan) -> Combination:
    points = plan.place_points()
    return by_homotopy(
        plan, plan.collocation(families(plan)[1 % len(families(plan))].layer(plan, points), points)
    ).state


def made_solution(
    plan: StaticPlan,
    pilot: Pilot,
    found: Found,
    points: Points,
    singular: tuple[float, float],
    how: str,
    fallback: tuple[Decision, ...] = (),
) -> Solution:
    """Return a solution with all that is known of it."""
    warn_if_singular(singular, plan.problem, plan.task.rules.static)
    left, changes = held_out_residual(plan.problem, found.state), tuple(step.change for step in found.steps)
    if left > plan.task.rules.static.untrusted:
        warn(f"{stall_reason(left, changes)}. The solution may be wrong.", ResolutionWarning)
    facts = StaticFacts(
        pilot.family.label,
        pilot.left,
        singular,
        changes,
        how,
        left,
    )
    solution = solution_of(plan, found.state, points, facts)
    return replace(solution, decisions=distinct([*decisions_of(plan.problem, pilot), *fallback]))


def solution_of(plan: StaticPlan, state: Combination, points: Points, facts: StaticFacts) -> Solution:
    """Return a combination of features as a solution."""
    problem, steps = plan.problem, len(facts.steps)
    network = Network(state.hidden, points, problem.fields, outer=state.coefficients[:, None])
    name = "least squares" if problem.is_linear else "Newton"
    trajectory = SteadyState(np.ones(1), name, Work(steps, steps))
    piece = Piece((Expansion(network, no_data, 0),), trajectory, 0.0, 0.0, integrator=name)
    return Solution(
        problem,
        (piece,),
        sampler=facts.features,
        width=state.hidden.width,
        counts=(len(points.x),),
        bytes=plan.bytes,
        operations=plan.operations,
        provenance=plan.task,
        facts=facts,
    )
