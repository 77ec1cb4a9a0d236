"""Static problems, as the search for a tolerance sees them: one solve by least squares or on a product, and errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from frozenpinn.errors import BudgetError, ConvergenceError, ProblemError
from frozenpinn.results.error_estimate import ErrorEstimate
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.budget import OverrunError
from frozenpinn.runtime.stopwatch import Stopwatch
from frozenpinn.runtime.threads import blas_threads
from frozenpinn.search.estimate import largest_values
from frozenpinn.search.kind import Failure, Pair
from frozenpinn.search.patches import OnPatches
from frozenpinn.search.rules import EstimateRules, Rules
from frozenpinn.search.settings import Task
from frozenpinn.search.single import structure
from frozenpinn.search.sizing import Plan
from frozenpinn.search.unresolved import features_missed
from frozenpinn.statement.problem import Problem
from frozenpinn.static.estimate import alone, compare, judge_pair
from frozenpinn.static.judging import judged_sizes
from frozenpinn.static.patch_choice import can_have_patches, reason_for_patches
from frozenpinn.static.plan import StaticPlan, static_plan
from frozenpinn.static.products import product_plan
from frozenpinn.static.solve import Earlier, solve_static

if TYPE_CHECKING:
    from frozenpinn.search.patch_plan import PatchPlan, Resolved


@dataclass(frozen=True)
class Static:
    """Boundary value problems. See :class:`frozenpinn.search.kind.Kind` for what the methods promise."""

    def check(self, problem: Problem, task: Task) -> None:
        """Leave it to the plan, which is made at once."""

    def attempt(
        self, problem: Problem, task: Task, lesson: Any, watch: Stopwatch
    ) -> tuple[Solution, Earlier | Resolved] | Failure:
        """Solve once, going on from an earlier solution if there is one."""
        if task.settings.basis is not None or isinstance(lesson, OnPatches):
            return self._on_patches(problem, task, lesson, watch)
        if (why := reason_for_patches(problem, task, lesson)) is not None:
            tried = self._tried_on_patches(problem, task, watch, why)
            if not isinstance(tried, Failure):
                return tried
        try:
            found = solve_static(problem, task, lesson, watch)
        except ConvergenceError as error:
            failure = Failure(error, widest=task.rules.search.stride, final=error.at_fold)
            if error.at_fold or not can_have_patches(problem, task):
                return failure
            tried = self._tried_on_patches(problem, task, watch, "least squares find no solution")
            return failure if isinstance(tried, Failure) else tried
        decisions = (*structure(problem), *found.solution.decisions)
        return replace(found.solution, seconds=dict(watch.seconds), decisions=decisions), found

    def _tried_on_patches(
        self, problem: Problem, task: Task, watch: Stopwatch, why: str
    ) -> tuple[Solution, Resolved] | Failure:
        """Solve on patches that nobody has asked for: where they can't be made, it goes on without."""
        try:
            return self._on_patches(problem, task, None, watch, why)
        except OverrunError:
            raise
        except (ProblemError, BudgetError) as error:
            return Failure(ConvergenceError(str(error)))

    def _on_patches(
        self, problem: Problem, task: Task, lesson: Resolved | None, watch: Stopwatch, why: str = ""
    ) -> tuple[Solution, Resolved] | Failure:
        """Solve once on patches, which the user asks for, or for a reason."""
        from frozenpinn.static.patches import solve_on_patches  # imported here, as most problems do not need it

        try:
            found = solve_on_patches(problem, task, lesson, watch, why)
        except ConvergenceError as error:
            return Failure(error, widest=1.0, final=error.at_fold)
        decisions = (*structure(problem), *found.solution.decisions)
        return replace(found.solution, seconds=dict(watch.seconds), decisions=decisions), found

    def cost(self, problem: Problem, task: Task, lesson: Any) -> StaticPlan | Plan | PatchPlan:
        """Return the plan of a solve: of patches or a product if that was all the last one took."""
        if isinstance(lesson, OnPatches):
            from frozenpinn.search.patch_plan import patch_cost

            return patch_cost(task, cast("Resolved", lesson))
        plan = static_plan(lesson.solution.problem, task)  # which may have another form
        product = product_plan(plan) if isinstance(lesson.cost, Plan) else None
        return plan if product is None else product

    def sizes(self, solution: Solution) -> dict[str, float]:
        """Return the largest values; fields that vanish but for round-off are as large as others."""
        visible = 1e-6  # size of a field, relative to what others could drive it to, that gets a unit of its own
        return judged_sizes(solution.problem, largest_values(solution), visible)

    def compare(self, solution: Solution, finer: Solution, task: Task) -> ErrorEstimate:
        """Estimate the error of a solution by its distance from a finer one."""
        with blas_threads(0.0):
            return compare(solution, finer, task.settings)

    def judge(self, coarser: Solution, finer: Solution, task: Task, tol: float) -> Pair:
        """Estimate the errors of two solutions, each by the other."""
        with blas_threads(0.0):
            return judge_pair(coarser, finer, task.settings)

    def alone(self, solution: Solution, rules: EstimateRules) -> ErrorEstimate:
        """Estimate the error by the narrow solve that has chosen the features."""
        return alone(solution, rules)

    def remarks(self, solution: Solution, rules: EstimateRules) -> list[str]:
        """Name the narrow features that a solution has missed."""
        return [missed.text for missed in features_missed(solution)]

    def warn(self, solution: Solution, rules: Rules) -> None:
        """Say nothing: each solve has warned of its own."""
