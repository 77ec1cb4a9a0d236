"""One solve of one task: analyse → transform → size → basis → assemble → integrate → back.

What a solve learns on the way (directions that carry the data, units, sizes) is returned with the solution and may be
handed to the next solve of the same search: :class:`Knowledge`.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from frozenpinn.analysis.scales import Scales, can_be_scaled, scales_of, uneven
from frozenpinn.analysis.subspace import Subspace, find_subspace, with_axes
from frozenpinn.errors import ConvergenceError, EvaluationError, IntegrationError, SettingsError, warn
from frozenpinn.evolution.checks import raise_if_lost, warn_if_missed, warn_if_suspicious
from frozenpinn.evolution.first_width import Lesson, Sizes, first_sizes, known_sizes, sized_plan, with_sizes
from frozenpinn.evolution.time_windows import March
from frozenpinn.results.agreement import Misfit, judge
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.decisions import Decision
from frozenpinn.runtime.seeds import Seed
from frozenpinn.runtime.stopwatch import Progress, Stopwatch
from frozenpinn.runtime.threads import blas_threads
from frozenpinn.search.settings import Task
from frozenpinn.search.sizing import check_settings
from frozenpinn.search.transformed import solve_through
from frozenpinn.statement.fronts import fronts_of
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms import Logarithm, Restriction, Units, WithoutFronts
from frozenpinn.transforms.logarithm import MARGIN, in_logarithms
from frozenpinn.transforms.subspace import NotReducibleError, read_subspace

if TYPE_CHECKING:
    from frozenpinn.static.solve import Earlier


_CONFIRMED = 10.0  # factor up to which two solves agree on the size of a field
_VISIBLE = 1e-6  # size of a field beside what others could drive it to, below which it has no unit of its own


class Unknown:
    """Stands for what no solve has found out yet."""


UNKNOWN = Unknown()


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What earlier solves of a search have found out.

    Attributes
    ----------
    subspace
        The directions that carry everything; None if there are none.
    settled
        Whether a solution on them has been shown to hold in all coordinates as accurately as can be asked.
    scales
        Units of the fields; None if they are of similar size.
    sizes
        First width, and whether the basis must follow the solution; or the solve that teaches them.
    earlier
        The last solution of a static problem, from which Newton's method goes on.
    logarithm
        The field that is solved for by its logarithm, as its errors run away otherwise.
    """

    subspace: Subspace | Unknown | None = UNKNOWN
    settled: bool = False
    scales: Scales | Unknown | None = UNKNOWN
    sizes: Sizes | Lesson | Unknown = UNKNOWN
    earlier: Earlier | None = None
    logarithm: str | None = None


class Outcome(NamedTuple):
    """A solution, and what is known now."""

    solution: Solution
    knowledge: Knowledge

    def noting(self, *decisions: Decision) -> Outcome:
        """Return the outcome with decisions that were made before all others."""
        own = (*decisions, *self.solution.decisions)
        return self._replace(solution=replace(self.solution, decisions=own))


Inner: TypeAlias = Callable[[Problem, Knowledge], Outcome]


def solve_once(problem: Problem, task: Task, knowledge: Knowledge, progress: Progress | None = None) -> Outcome:
    """Solve a problem once: on given directions, on some that are found, or in all coordinates."""

    def inner(reduced: Problem, known: Knowledge) -> Outcome:
        return _positively(reduced, task, known, progress)

    without = task.settings.without
    if "known fronts" not in without and (fronts := fronts_of(problem)) is not None:
        outcome = Outcome(*solve_through(WithoutFronts(fronts), problem, lambda rest: inner(rest, knowledge)))
        return outcome.noting(
            Decision("known fronts", "data jump, and what spreads from there is known in closed form")
        )
    directions = task.settings.subspace
    if directions is None or task.start is not None:
        return inner(problem, knowledge)
    if not isinstance(directions, str) or directions != "auto":
        return _on_given_directions(problem, task, knowledge, inner)
    return _on_few_directions(problem, task, knowledge, inner)


# ---- directions -----------------------------------------------------------------------------------


def _on(problem: Problem, subspace: Subspace, knowledge: Knowledge, inner: Inner) -> Outcome:
    """Solve on a subspace."""
    return Outcome(*solve_through(Restriction(subspace), problem, lambda reduced: inner(reduced, knowledge)))


def _on_given_directions(problem: Problem, task: Task, knowledge: Knowledge, inner: Inner) -> Outcome:
    """Solve on a subspace that a user insists on; warn if the full problem disagrees."""
    subspace = read_subspace(task.settings.subspace, problem)

    def checked(reduced: Problem, known: Knowledge) -> Outcome:
        check_settings(reduced, task)
        return inner(reduced, known)

    try:
        outcome = _on(problem, subspace, knowledge, checked)
    except NotReducibleError as reason:
        raise SettingsError(f"the problem can't be solved on this subspace: {reason}") from None
    agreement = judge(outcome.solution, task.tolerances.reduction)
    if agreement.misfit is not None:
        directions = subspace.describe(problem.domain.coordinates)
        warn(
            f"the solution on the subspace {directions} does not satisfy {agreement.misfit.what} in all coordinates: "
            f"the relative residual is {agreement.misfit.size:.2g}. Use subspace='auto' or None."
        )
    return outcome


def _on_few_directions(problem: Problem, task: Task, knowledge: Knowledge, inner: Inner) -> Outcome:
    """Look for a subspace, solve there, and return the solution if the full problem agrees; else solve in full."""
    started, settings, subspace = time.perf_counter(), task.settings, knowledge.subspace
    if isinstance(subspace, Unknown):
        given = (settings.points, settings.sampler, settings.boundary)  # settings of a network in all coordinates
        fixed = any(value is not None for value in given) or settings.point_method != "auto"
        whole = problem.domain.dimension < 2 or fixed or problem.interfaces is not None  # which stay where they are
        subspace = None if whole or "subspace" in settings.without else find_subspace(problem)
    rejected: tuple[Decision, ...] = ()
    while subspace is not None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = _attempt(problem, subspace, task, knowledge, inner)
        if isinstance(found, IntegrationError):
            raise found
        if isinstance(found, Outcome):
            for warning in caught:
                warn(warning.message)
            seconds = found.solution.seconds
            rest = time.perf_counter() - started - sum(seconds.values())
            found = found._replace(solution=replace(found.solution, seconds={"subspace": rest, **seconds}))
            directions = subspace.describe(problem.domain.coordinates)
            return found.noting(*rejected, Decision("subspace", f"the data depend on {directions} alone"))
        rejected = (
            *rejected,
            Decision("rejected subspace", f"a solution there misses {found.what} by {found.size:.2g}"),
        )
        wider = with_axes(problem, subspace, found.axes)
        subspace = None if wider is subspace else wider
        knowledge = replace(knowledge, settled=False, sizes=UNKNOWN, earlier=None)  # of another number of coordinates
    outcome = inner(problem, knowledge)
    outcome = outcome._replace(knowledge=replace(outcome.knowledge, subspace=None))
    return outcome.noting(*rejected) if rejected else outcome


def _attempt(
    problem: Problem, subspace: Subspace, task: Task, knowledge: Knowledge, inner: Inner
) -> Outcome | IntegrationError | Misfit:
    """Return a solution that holds in all coordinates, the error of one that did until it failed, or the misfit."""
    try:
        outcome = _on(problem, subspace, knowledge, inner)
    except NotReducibleError as reason:
        return Misfit(float("inf"), str(reason))
    except IntegrationError as error:
        until = error.solution
        agrees = until is not None and judge(until, task.tolerances.reduction).misfit is None
        return error if agrees else Misfit(float("inf"), "anything")
    except (SettingsError, EvaluationError) as error:
        return Misfit(float("inf"), str(error))
    if knowledge.settled:
        return outcome
    agreement = judge(outcome.solution, task.tolerances.reduction)
    if agreement.misfit is not None:
        return agreement.misfit
    return outcome._replace(knowledge=replace(outcome.knowledge, subspace=subspace, settled=agreement.settled))


# ---- logarithms -----------------------------------------------------------------------------------


def _positively(problem: Problem, task: Task, knowledge: Knowledge, progress: Progress | None) -> Outcome:
    """Solve a problem; if errors of a positive field run away from an unstable state, for its logarithm."""
    if knowledge.logarithm is None:
        try:
            return _in_units(problem, task, knowledge, progress)
        except IntegrationError as error:
            possible = [name for name in error.runaway if in_logarithms(problem, name) is not None]
            if not possible or "logarithm" in task.settings.without:
                raise
            knowledge = replace(knowledge, sizes=UNKNOWN, scales=UNKNOWN, logarithm=possible[0])
    assert knowledge.logarithm is not None
    through = Logarithm(knowledge.logarithm, MARGIN * math.sqrt(task.effort))  # pairs of solves see if it is seen
    outcome = Outcome(*solve_through(through, problem, lambda inner: _in_units(inner, task, knowledge, progress)))
    why = f"errors of '{knowledge.logarithm}' run away from an unstable state"
    return outcome.noting(Decision("logarithm", why))


# ---- units ----------------------------------------------------------------------------------------


def _in_units(problem: Problem, task: Task, knowledge: Knowledge, progress: Progress | None) -> Outcome:
    """Solve with fields in units of their own if their sizes are very different.

    Sizes are a guess until the solution is known: if it is out of balance in these units, it is solved once more in
    those that it has turned out to need.
    """
    known = not isinstance(knowledge.scales, Unknown)
    scales = knowledge.scales if not isinstance(knowledge.scales, Unknown) else scales_of(problem)
    given = task.start is not None or "units" in task.settings.without
    if given:  # a start is in the user's units
        scales = None
    measured = scales is not None or (can_be_scaled(problem) and not given)
    if known or not measured:
        return _in(problem, scales, task, knowledge, progress)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = _in(problem, scales, task, knowledge, progress)
        except ConvergenceError:
            if scales is None or not problem.is_static:
                raise
            scales = None  # a wrong guess
            outcome = _in(problem, scales, task, knowledge, progress)
        sizes = _sizes(outcome.solution)
    if uneven({name: size / (1.0 if scales is None else scales.unit(name)) for name, size in sizes.items()}):
        knowledge = replace(knowledge, earlier=None)  # which is in other units

        def again(sizes: dict[str, float]) -> Outcome:
            found = _in(problem, Scales.of(sizes) if uneven(sizes) else None, task, knowledge, progress)
            return found.noting(Decision("measured units", "the solution has other sizes than were guessed"))

        better = again(sizes)
        noise = _noise(sizes, _sizes(better.solution)) if problem.is_static and uneven(sizes) else set()
        return again({name: 1.0 if name in noise else size for name, size in sizes.items()}) if noise else better
    for warning in caught:
        warn(warning.message)
    return outcome


def _noise(before: dict[str, float], after: dict[str, float]) -> set[str]:
    """Return the fields whose sizes a solve in these units does not confirm: they vanish, but for its errors."""
    return {name for name, size in before.items() if not size / _CONFIRMED <= after[name] <= _CONFIRMED * size}


def _sizes(solution: Solution) -> dict[str, float]:
    """Return how large the fields of a solution are; those that vanish but for round-off are as large as others."""
    problem = solution.problem
    x = problem.domain.sample(60, "random", Seed.MEASURED_SIZES).x
    times = np.linspace(*problem.time, 9)
    values = {name: solution.jet_values(x, times, problem.jets.field(name)) for name in problem.fields}
    sizes = {name: float(np.max(np.abs(own))) for name, own in values.items()}
    if not problem.is_static:
        return sizes
    from frozenpinn.static.judging import judged_sizes

    return judged_sizes(problem, sizes, _VISIBLE)


def _in(
    problem: Problem, scales: Scales | None, task: Task, knowledge: Knowledge, progress: Progress | None
) -> Outcome:
    """Solve in given units, or in those of the problem."""

    def solve(scaled: Problem) -> Outcome:
        solution, found = _in_these_coordinates(scaled, task, knowledge, progress)
        return Outcome(solution, replace(knowledge, scales=scales, **found))

    if scales is None:
        return solve(problem)
    return Outcome(*solve_through(Units(scales), problem, solve)).noting(Decision("units", str(scales)))


# ---- the solve itself -------------------------------------------------------------------------------


def _in_these_coordinates(
    problem: Problem, task: Task, knowledge: Knowledge, progress: Progress | None
) -> tuple[Solution, dict[str, Any]]:
    """Return a solution, and what it teaches."""
    watch, asked = Stopwatch(progress), task.tolerances.solution is not None
    if problem.is_static:
        from frozenpinn.static.solve import solve_static  # most problems need none of it

        earlier = solve_static(problem, task, knowledge.earlier, watch)
        taught = {"sizes": Sizes(None, False), "earlier": earlier}
        decisions = (*structure(problem), *earlier.solution.decisions)
        return replace(earlier.solution, seconds=dict(watch.seconds), decisions=decisions), taught
    sizes = knowledge.sizes
    if isinstance(sizes, Lesson):
        sizes = sizes.for_effort(task.effort)
    if not asked:
        sizes = Sizes(None, problem.domain.dimension == 1)
    elif isinstance(sizes, Unknown):
        with watch.stage("choice of sizes"), blas_threads(0.0):
            sizes = known_sizes(problem, task) or first_sizes(problem, task)
    plan = sized_plan(problem, with_sizes(task, problem, sizes), sizes)
    plan.check_memory()
    with blas_threads(plan.operations):
        solution = March(problem, plan, watch).run()
        with watch.stage("checks"):
            if asked:  # the estimate tells all else that could be warned of
                raise_if_lost(solution, task.rules.checks)
                warn_if_missed(solution, task.rules.checks)
            else:
                warn_if_suspicious(solution, task.rules)
    decisions = (*structure(problem), *sizes.decisions, *solution.decisions)
    solution = replace(solution, seconds=dict(watch.seconds), decisions=decisions)
    return solution, {"sizes": Lesson(solution, task, sizes)}


def structure(problem: Problem) -> tuple[Decision, ...]:
    """Return what the statement itself has decided: coordinates, and parts of the domain."""
    found = []
    if problem.frame is not None:
        found.append(Decision("curved coordinates", f"the statement is in {problem.frame.kind} coordinates"))
    if problem.interfaces is not None:
        found.append(Decision("interfaces", "coefficients or sources jump, or have kinks"))
    return tuple(found)
