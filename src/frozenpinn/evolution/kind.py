"""Problems in time, as the search for a tolerance sees them: sizes, one march from start to end, checks, errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from frozenpinn.errors import ConvergenceError, IntegrationError
from frozenpinn.evolution.checks import not_finite, warn_if_missed, warn_if_suspicious
from frozenpinn.evolution.diagnose_growth import explained
from frozenpinn.evolution.estimate import compare, judge_pair, remarks
from frozenpinn.evolution.first_width import Lesson, first_sizes, known_sizes, sized_plan, with_sizes
from frozenpinn.evolution.time_windows import March
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.stopwatch import Stopwatch
from frozenpinn.runtime.threads import blas_threads
from frozenpinn.search.estimate import largest_values
from frozenpinn.search.kind import Failure, Pair
from frozenpinn.search.rules import EstimateRules, Rules
from frozenpinn.search.settings import Sizes, Task
from frozenpinn.search.single import structure
from frozenpinn.search.sizing import Plan, check_points, make_plan
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.structure import refuse_unsolved
from frozenpinn.transforms import without_constraints

if TYPE_CHECKING:
    from frozenpinn.search.patch_plan import PatchPlan, Resolved


@dataclass(frozen=True)
class Evolution:
    """Initial value problems. See :class:`frozenpinn.search.kind.Kind` for what the methods promise."""

    def check(self, problem: Problem, task: Task) -> None:
        """Refuse too few points; a single solve in all coordinates makes its plan at once, and has enough."""
        refuse_unsolved(problem, "solve()")
        problem, settings = without_constraints(problem, task.settings.without), task.settings
        if settings.basis is not None:
            return
        given = (settings.points, settings.subspace, task.tolerances.solution)
        if settings.cutoff is not None and all(value is None for value in given):
            return
        plan = make_plan(problem, task)
        if plan.frame.product or problem.domain.dimension == 1:
            for n, sampler in zip(plan.counts, plan.samplers, strict=True):
                check_points(n, sampler.width, settings)

    def attempt(
        self, problem: Problem, task: Task, lesson: Any, watch: Stopwatch
    ) -> tuple[Solution, Lesson | Resolved] | Failure:
        """Choose sizes, march to the end, and check the outcome."""
        if task.settings.basis is not None:
            return self._on_patches(problem, task, lesson, watch)
        asked = task.tolerances.solution is not None
        if not asked:
            sizes = Sizes(None, problem.domain.dimension == 1)
        elif lesson is not None:
            sizes = lesson.for_effort(task.effort)
        else:
            with watch.stage("choice of sizes"), blas_threads(0.0):
                sizes = known_sizes(problem, task) or first_sizes(problem, task)
        plan = sized_plan(problem, with_sizes(task, problem, sizes), sizes)
        plan.check_memory()
        march = March(problem, plan, watch)
        with blas_threads(plan.operations):
            try:
                solution = march.run()
            except (IntegrationError, ConvergenceError) as error:
                return _failure(error, march)
            with watch.stage("checks"):
                lost = not_finite(solution, task.rules.checks)
                if lost is not None:
                    return Failure(lost, lost.time, widest=inf)
                if asked:  # the error estimate replaces all other warnings
                    warn_if_missed(solution, task.rules.checks)
                else:
                    warn_if_suspicious(solution, task.rules)
        decisions = (*structure(problem), *sizes.decisions, *solution.decisions)
        solution = replace(solution, seconds=dict(watch.seconds), decisions=decisions)
        return solution, Lesson(solution, plan, sizes)

    def _on_patches(
        self, problem: Problem, task: Task, lesson: Resolved | None, watch: Stopwatch
    ) -> tuple[Solution, Resolved] | Failure:
        """March on patches."""
        from frozenpinn.evolution.patches import PatchMarch  # imported here, as most problems do not need it

        march = PatchMarch(problem, task, lesson, watch)
        try:
            found = march.run()
        except IntegrationError as error:
            return Failure(error, error.time, march.solution_so_far, (), task.rules.search.again)
        decisions = (*structure(problem), *found.solution.decisions)
        return replace(found.solution, seconds=dict(watch.seconds), decisions=decisions), found

    def cost(self, problem: Problem, task: Task, lesson: Any) -> Plan | PatchPlan:
        """Return the plan of a solve, of the form in which the last one was done."""
        if task.settings.basis is not None:
            from frozenpinn.search.patch_plan import patch_cost

            return patch_cost(task, lesson)
        return sized_plan(lesson.solution.problem, task, lesson.for_effort(task.effort))

    def sizes(self, solution: Solution) -> dict[str, float]:
        """Return the largest values."""
        return largest_values(solution)

    def compare(self, solution: Solution, finer: Solution, task: Task) -> ErrorEstimate:
        """Estimate the error of a solution by its distance from a finer one."""
        with blas_threads(finer.operations):
            return compare(solution, finer, task.settings)

    def judge(self, coarser: Solution, finer: Solution, task: Task, tol: float) -> Pair:
        """Estimate the errors of two solutions, each by the other."""
        with blas_threads(finer.operations):
            return judge_pair(coarser, finer, task.settings, tol)

    def alone(self, solution: Solution, rules: EstimateRules) -> ErrorEstimate:
        """Return that nothing is known."""
        return ErrorEstimate.unknown(solution.problem)

    def remarks(self, solution: Solution, rules: EstimateRules) -> list[str]:
        """Name what a solution has missed, and say whether the problem multiplies errors."""
        return remarks(solution, rules)

    def warn(self, solution: Solution, rules: Rules) -> None:
        """Warn about a basis that is too coarse, and about growth."""
        warn_if_suspicious(solution.reduced or solution, rules)


def _failure(error: IntegrationError | ConvergenceError, march: March) -> Failure:
    """Return how a march has failed, with the solution until then and fields whose errors have run away."""
    widest = march.plan.task.rules.search.again
    if isinstance(error, ConvergenceError):
        return Failure(error, widest=widest)
    error, runaway = explained(error, march.system)
    return Failure(error, error.time, march.solution_so_far, runaway, widest, final=not isfinite(error.time))
