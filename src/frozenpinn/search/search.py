"""Tolerance in, answer and error out: solve, estimate the error, grow, until the tolerance is met or nothing helps.

Every solve is compared with the one before, which has other neurons, fewer of them, other points and larger tolerances
in time. Their distance is the error of the coarser one, a part of it that of the finer one. The finest is the answer,
and the one before it the witness; so no work is lost.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from frozenpinn.analysis.wellposedness import check_well_posed
from frozenpinn.errors import (
    BudgetError,
    IntegrationError,
    InterruptionError,
    ResolutionWarning,
    Summarised,
    noted,
    silenced,
    warn,
)
from frozenpinn.results.error_estimate import UNKNOWN_ERROR, ErrorEstimate, Verdict
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.budget import Budget, OverrunError, Progress
from frozenpinn.runtime.decisions import Decision, distinct
from frozenpinn.search.axis_misfit import axis_misfits
from frozenpinn.search.cost_forecast import CostForecast
from frozenpinn.search.estimate import known_error
from frozenpinn.search.kind import Attempt, Failure, Hints
from frozenpinn.search.patches import OnPatches
from frozenpinn.search.settings import Sizes, Task, Tolerances
from frozenpinn.search.single import attempt, solve_once
from frozenpinn.search.trust import doubt, stall_reason, stalls_for_good, stays_singular
from frozenpinn.search.witness import finer
from frozenpinn.statement.problem import Problem

_DOUBT = Decision("doubt", "what is left of the equations is too much, or does not fall with the width")


class Search:
    """Solves a problem to a tolerance.

    Parameters
    ----------
    problem
        What to solve.
    task
        What the first solve is asked; sizes that are left open grow.
    budget
        Limits of time and memory.
    progress
        Notified of every stage.
    """

    def __init__(self, problem: Problem, task: Task, budget: Budget, progress: Progress) -> None:
        assert task.tolerances.solution is not None
        assert task.kind is not None
        self.problem, self.kind, self.tol, self.budget = problem, task.kind, task.tolerances.solution, budget
        self.task = replace(task, memory=budget.memory)
        self.rules = task.rules.search
        self._told, self._stage = progress, "the choice of sizes"
        self.attempts: list[Attempt] = []
        self._distances: list[float] = []
        self._forecast = CostForecast(self.rules)
        self._hints = Hints()
        self._count = 0
        self._kept = 0.0
        self._failures: list[Failure] = []
        self._decisions: list[Decision] = []
        self._without = task.settings.without

    def solve(self) -> Solution:
        """Return the first solution within the tolerance, or the best that was found."""
        try:
            self.attempts.append(self._first())
            reason = None
            while reason is None:
                reason = self._advance()
        except KeyboardInterrupt:
            raise self._interruption() from None
        return self._finish(reason)

    def _interruption(self) -> InterruptionError:
        """Return the error that reports an interruption, with the best solution so far."""
        if not self.attempts:
            return InterruptionError("the solve was interrupted before there was a first solution.")
        with silenced(Warning):
            best = self._finish("the solve was interrupted")
        known = best.error_estimate is not None and np.isfinite(best.error_estimate.worst)
        error = f"estimated error {best.error_estimate.worst:.2g}" if known else "error unknown"  # type: ignore[union-attr]
        text = f"the solve was interrupted; the best so far ({error}) is the error's 'solution'."
        return InterruptionError(text, best)

    def _progress(self, stage: str) -> None:
        """Pass on what is being done; break off what takes longer than it may."""
        if self.budget.seconds is not None or self.attempts:
            self.budget.check(stage, self._kept)
        self._stage = stage
        self._told(stage)

    # ---- one step ---------------------------------------------------------------------------------

    def _advance(self) -> str | None:
        """Solve once more and judge the last two by each other; return why to stop, or None."""
        task = self._next()
        if isinstance(task, str):
            return task
        another = self._another(task)
        if isinstance(another, Failure):
            early = isinstance(another.error, BudgetError)
            return ("" if early else "a second solve with other neurons failed: ") + str(another.error).rstrip(".")
        try:
            with self.budget.enforced():
                self._judge(another)
        except BudgetError:
            return f"the time limit {self.budget.limit} was over during: the estimate"
        return self._reason_to_stop()

    def _judge(self, another: Attempt) -> None:
        """Estimate the errors of the last two solves from each other; the coarser companion of a first one comes first.

        What was foretold of the coarser one is kept if it explains the distance: then the finer one has got worse.
        """
        explains = 2.0  # by how much the ratio of residuals may underestimate that of errors
        *before, last = self.attempts
        a, b = sorted((last, another), key=lambda attempt: attempt.task.effort)
        assert a.solution is not None
        assert b.solution is not None
        pair = self.kind.judge(a.solution, b.solution, self.task, self.rules.safety * self.tol)
        if a.estimate is None or not pair.coarser.worst <= explains * max(pair.ratio, 1.0) * a.error:
            a = replace(a, estimate=pair.coarser, witness=b.solution)
        b = replace(b, estimate=pair.finer, witness=a.solution, steps=pair.steps)
        a, b = self._doubted(a), self._doubted(b)
        if b.estimate is not None and _DOUBT in b.estimate.decisions:  # coarser ones are no better
            a, *before = (self._raised(x) for x in (a, *before))
        if self.task.quantity is not None:
            a, b = self._with_goal(a), self._with_goal(b)
        self._distances.append(pair.coarser.worst if a.goal is None else a.goal.error)
        kept = (b, self._best([*before, a]))  # the finest, and what to return if that turns out to be worse
        before = [x if x in kept else replace(x, solution=None, witness=None) for x in before]
        self.attempts = [*before, a, b]

    def _with_goal(self, attempt: Attempt) -> Attempt:
        """Return an attempt with the number that is asked for, if any."""
        quantity, solution = self.task.quantity, attempt.solution
        if quantity is None or solution is None:
            return attempt
        judged = replace(solution, witness=attempt.witness, error_estimate=attempt.estimate)
        with silenced():
            return replace(attempt, goal=quantity.of(judged, max(0.03 * self.tol, 1e-13)))  # of quadrature: little

    def _doubted(self, attempt: Attempt) -> Attempt:
        """Raise an estimate to what is left of the equations, if that is too much for any distance to be trusted."""
        if np.isnan(attempt.left):  # that was not measured
            return attempt
        history = [(a.task.effort, a.left) for a in self.attempts if a.local == attempt.local]
        projected = isinstance(attempt.width, tuple)  # on the axes of a product
        left = doubt(attempt.task.effort, attempt.left, history, self.task.rules.static, projected)
        return attempt if left is None else self._raised(attempt)

    def _raised(self, attempt: Attempt) -> Attempt:
        """Raise an estimate to what is left of the equations, at most to the size of the solution."""
        if not np.isfinite(attempt.left) or attempt.estimate is None or "doubt" in self._without:
            return attempt
        return replace(attempt, estimate=attempt.estimate.at_least(min(attempt.left, 1.0), _DOUBT))

    def _reason_to_stop(self) -> str | None:
        """Return why growing on makes no sense, if so; nothing to say if the tolerance is met."""
        helps = 0.7  # what a wider network must do to the distance from the one before
        floor = 1e-11  # a distance that is round-off
        brief = 5e9  # operations that may be spent on more safety than was asked for: about a second
        coarse = 1e-2  # above this error nothing is resolved yet
        error, last = self._answers[-1].error, self.attempts[-1]
        if error <= self.rules.safety * self.tol:
            return ""
        if not self.task.grows:
            return f"{self._fixed} was given; left open, it grows until the tolerance is met"
        alike = [(a.task.effort, a.left) for a in self.attempts if a.local == last.local]
        if stalls_for_good(alike, self.task.rules.static):
            self._note("stall", "residuals do not fall as networks grow")
            return stall_reason(last.left, _newton_changes(last.solution))
        facts = [None if a.solution is None else a.solution.facts for a in self.attempts[-2:]]
        if stays_singular(facts, self.task.rules.static):
            self._note("stall", "an eigenvalue is hit")
            return "an eigenvalue is hit: the solution is not unique, or does not exist"
        rates = [b / a for a, b in pairwise(self._distances)]
        stalls = [rate > helps for rate in rates]
        assert last.solution is not None
        if error <= self.tol and (last.solution.operations > brief or stalls[-1:] == [True]):
            return ""
        if stalls[-1:] == [True] and max(self._distances[-2:]) < floor:
            return "this is the floor of double precision for this problem"
        enough = 0.0 if last.solution.facts is None else self.task.rules.static.hopeless  # features may differ
        small = self._distances[-1] < coarse and last.task.effort >= enough
        grown = last.task.effort >= self.rules.enough or small
        if grown and stalls[-2:] == [True, True] and not self._lasts_longer():
            return "a wider network does not help any more"
        return None

    def _note(self, name: str, reason: str) -> None:
        self._decisions.append(Decision(name, reason))

    @property
    def _answers(self) -> list[Attempt]:
        """The attempts that may be returned: where a width is given, it is kept."""
        return self.attempts if self.task.grows else self.attempts[:1]

    def _lasts_longer(self) -> bool:
        """Whether the last two solutions, though wrong in the end, were right for longer than those before."""
        longer = 0.03  # part of the time
        start, end = self.problem.time
        estimates = [a.estimate for a in self.attempts if a.estimate is not None]
        times = [estimate.holds_until(self.rules.wrong) for estimate in estimates[-3:]]
        return estimates[-1].worst > self.rules.wrong and times[-1] - times[0] > longer * (end - start)

    @property
    def _fixed(self) -> str:
        settings = self.task.settings
        return f"sampler={settings.sampler!r}" if settings.width is None else f"width={settings.width}"

    # ---- sizes and limits ---------------------------------------------------------------------------

    def _next(self) -> Task | str:
        """Return the next task: as fine as is wanted, or as the limits allow; or why there is none."""
        companion = 0.8  # growth
        coarser = 0.6  # growth
        least = 1.1  # growth, if a limit does not allow for more
        sizes = 6  # growths that are tried
        if self._needs_no_finer:
            self._note("coarser companion", "the initial data alone tell that the first solve is good enough")
            return self._finer(companion, 1.0)
        wanted = self._growth()
        for growth in np.geomspace(wanted, min(wanted, least), sizes if self.task.grows else 1):
            task = self._finer(float(growth), self.rules.tighter)
            seconds, needed = self.rules.caution * self._forecast.seconds(task), self._forecast.bytes(task)
            if seconds <= self.budget.left and needed <= self.budget.bytes:
                return task
        if len(self.attempts) == 1:  # something cheap, lest nothing is known of the error; a given width stays as it is
            return self._finer(coarser, 1.0) if self.task.grows else task
        if needed > self.budget.bytes:
            limit = f"the memory limit of {self.budget.bytes / 1e9:.2g} GB"
            return f"another step would need about {needed / 1e9:.2g} GB, more than {limit}"
        return f"to go on would take about {duration(seconds)} more, which exceeds the time limit {self.budget.limit}"

    @property
    def _needs_no_finer(self) -> bool:
        """Whether the first solve is known to be good enough, so that a coarser one suffices to judge it."""
        if len(self.attempts) > 1 or not self.task.grows or "coarser companion" in self._without or self.task.quantity:
            return False
        assert self.attempts[0].solution is not None
        error = known_error(self.attempts[0].solution, self.task.rules.estimate)
        return error is not None and error <= self.rules.safety * self.tol

    def _finer(self, growth: float, tighter: float) -> Task:
        """Return the task of a solve that shares as little as possible with the last."""
        tightest = 1e-5  # by no more at once
        last = self.attempts[-1]
        assert last.solution is not None
        if tighter < 1.0 and last.steps > self.rules.steps * self.tol:  # they decide, and fall off with the tolerance
            tighter = min(tighter, max(tightest, self.rules.steps * self.tol / last.steps))
        return finer(last.solution, last.task, self.rules, growth, tighter)

    def _growth(self) -> float:
        """Return by how much the next solve is to be wider than the last.

        From two errors the width that is needed is found as if the logarithm of the error fell linearly with it.
        """
        far_off = 30.0  # a ratio of estimate to tolerance that calls for the longest stride
        if len(self.attempts) < 2:
            return self.rules.step
        a, b = self.attempts[-2:]
        if b.steps > 0.5 * b.error and b.steps > self.rules.steps * self.tol:  # wider networks would not help
            return self.rules.step
        with np.errstate(all="ignore"):  # errors may be unknown, and so infinite
            far, gained = np.log(b.error / (self.rules.safety * self.tol)), np.log(a.error / b.error)
        wider = b.task.effort - a.task.effort
        if not (np.isfinite(far) and gained > 0):
            needed = self.rules.stride if not far <= np.log(far_off) else self.rules.step
        else:
            needed = 1.0 + wider * far / gained / b.task.effort
        return float(np.clip(needed, self.rules.step, self.rules.stride))

    # ---- one solve --------------------------------------------------------------------------------

    def _first(self) -> Attempt:
        """Return the first solve that comes through; failures at one and the same time are those of the problem.

        Coarse networks may grow where the problem does not; wider ones are tried then. Under a limit of time the first
        may take a part of it; if that is over, a coarser one has a part of the rest.
        """
        tries = 3  # if they fail at different times or exceed a limit
        retreat = 0.5  # growth of a first solve that has exceeded its share of a limit
        share = 0.7  # of the time that is left
        effort, limited = 1.0, self.budget.seconds is not None and self.task.grows
        left = tries
        while True:
            left -= 1
            self._kept = (1.0 - share) * self.budget.left if limited and left else 0.0
            found = self._attempt(replace(self.task, effort=effort))
            if isinstance(found, Attempt):
                return found
            if isinstance(found.error, BudgetError):
                if not (left and self.task.grows and self.budget.left > 0):
                    raise BudgetError(
                        f"{found.error} Not even a first solution was found; allow more, or leave the limit out."
                    )
                effort *= retreat
                self._note("coarser retry", "the first solve has exceeded its share of a limit")
                continue
            coarse = found.is_coarse and effort < self.rules.enough
            left += coarse
            same = self._fails_again(found)
            if not left or not self.task.grows or ((same or found.final) and not coarse):
                raise found.raised()
            effort *= self.rules.stride
            stopped = isinstance(found.error, IntegrationError)
            self._note("wider retry", f"the first solve has {'stopped on the way' if stopped else 'found nothing'}")

    def _fails_again(self, failure: Failure) -> bool:
        """Remember a failure; return whether there was one at the same time before: then it is the problem's own."""
        near = 0.05  # part of the whole time
        start, end = self.problem.time
        same = any(abs(failure.time - other.time) <= near * (end - start) for other in self._failures)
        self._failures.append(failure)
        return same

    def _another(self, task: Task) -> Attempt | Failure:
        """Return a solve of a task, or of a slightly larger one (much larger if networks grow), or the last failure."""
        alone = len(self.attempts) == 1 and self.budget.seconds is None  # an estimate is worth as much as the solution
        self._kept = min(0.0, self.budget.left - self.attempts[-1].seconds) if alone else 0.0
        rules, widest = self.rules, self.rules.again
        for more in (1.0, rules.again, rules.stride, rules.stride**2):
            if more > widest:
                break
            if more > 1.0:
                self._note("wider retry", "a second solve has failed")
            seed = self.task.seed + rules.seeds * self._count
            found = self._attempt(replace(task, effort=more * task.effort, seed=seed))
            if isinstance(found, Attempt) or isinstance(found.error, BudgetError):
                return found
            # steps of the first may have jumped over what stops the finer ones; a coarser one fails for itself
            same, widest = self._fails_again(found), found.widest
            if (same or found.is_lost) and task.effort > self.attempts[-1].task.effort and not found.is_coarse:
                raise found.raised()
        return self._failures[-1]

    def _attempt(self, task: Task) -> Attempt | Failure:
        self._count += 1
        started = time.perf_counter()
        with noted() as caught:
            try:
                with self.budget.enforced(self._kept):
                    found = attempt(self.problem, task, self._hints, self._progress)
            except OverrunError:
                return Failure(BudgetError(f"the time limit {self.budget.limit} was over during: {self._stage}."))
            except BudgetError as error:
                return Failure(error)
        if isinstance(found, Failure):
            return found
        solution, self._hints = found
        seconds = time.perf_counter() - started
        self._forecast.learn(solution, self._hints.lesson, seconds)
        left = float("nan") if solution.facts is None else solution.facts.left
        local = isinstance(self._hints.lesson, OnPatches)
        return Attempt(task, solution.width, seconds, tuple(caught), solution, left=left, local=local)

    # ---- the end ------------------------------------------------------------------------------------

    def _best(self, attempts: list[Attempt]) -> Attempt:
        """Return the last attempt if it is within the tolerance, else that with the least error."""
        found = [a for a in reversed(attempts) if a.solution is not None]
        if all(a.left > self.task.rules.static.blind for a in found):  # chance decides which two are close
            return found[0]
        best = min(found, key=lambda a: a.error)
        if found[0].error <= self.tol or best.error < self.rules.wrong:
            return found[0] if found[0].error <= self.tol else best
        # what is wrong in the end may be right for a while
        return max(found, key=lambda a: (a.estimate.holds_until(self.rules.wrong) if a.estimate else 0.0, -a.error))

    def _limits(self, solution: Solution) -> list[str]:
        """Say what a solution has missed, if there is time to look for it."""
        try:
            with self.budget.enforced():
                return self.kind.remarks(solution, self.task.rules.estimate)
        except OverrunError:
            return []

    def _finish(self, reason: str) -> Solution:
        """Choose the best attempt and say what is to be said about it."""
        best = self._best(self._answers)
        if self.task.quantity is not None and best.goal is None:
            best = self._with_goal(best)
        assert best.solution is not None
        met, known = best.error <= self.tol, np.isfinite(best.error)
        if best.left > self.task.rules.static.untrusted:
            reason = stall_reason(best.left, _newton_changes(best.solution))
        if not met:
            reason = "; ".join([reason, *self._limits(best.solution)])
        estimate = best.estimate or self.kind.alone(best.solution, self.task.rules.estimate)
        known = known or (best.goal is None and bool(np.isfinite(estimate.worst)))
        if best is not self._answers[-1]:
            self._note("earlier answer", "its error is smaller than that of the last solve")
        solution = replace(
            best.solution,
            error_estimate=estimate,
            decisions=distinct([*best.solution.decisions, *self._decisions, *estimate.decisions]),
            witness=best.witness,
            verdict=Verdict(
                "converged" if met else "reached" if known else UNKNOWN_ERROR,
                self.tol,
                "" if met else reason,
                tuple((a.width, a.error, a.seconds) for a in self.attempts),
                best.goal,
            ),
            seconds={**best.solution.seconds, "estimate": sum(a.seconds for a in self.attempts) - best.seconds},
        )
        compared = best.estimate is not None
        for caught in best.warnings:
            if not (compared and issubclass(caught.category, ResolutionWarning)):  # the error estimate covers it
                warn(caught.message)
        if not compared:
            self.kind.warn(best.solution, self.task.rules)
        if not met:
            warn(complaint(solution, self.tol, reason))
        return solution


def _newton_changes(solution: Solution | None) -> tuple[float, ...]:
    """Return the relative changes of the steps of Newton's method, if a solution was found by it."""
    return () if solution is None or solution.facts is None else solution.facts.steps


# ---- what is said about a solution that is not within its tolerance ------------------------------------------------


def complaint(solution: Solution, tol: float, reason: str) -> str:
    """Say how far the solution is from what was asked for."""
    estimate = solution.error_estimate
    assert estimate is not None
    goal = None if solution.verdict is None else solution.verdict.goal
    if goal is not None and not (goal.beside and goal.error <= tol):
        known = f"the estimated relative error of {goal.text} is {goal.error:.2g}, above tol={tol:g}"
        return f"{known if np.isfinite(goal.error) else f'the error of {goal.text} is not known'}: {reason}."
    if not np.isfinite(estimate.worst):
        return f"the error can't be estimated: {reason}."
    first = f"the estimated error is {estimate.worst:.2g}, above tol={tol:g}: {reason}."
    return " ".join([first, *filter(None, (_until(solution, estimate, tol), _lacking(solution)))])


def _until(solution: Solution, estimate: ErrorEstimate, tol: float) -> str:
    """Say until when the tolerance holds."""
    start, end = solution.problem.time
    until = estimate.holds_until(tol)
    if estimate.growth is not None:
        return (
            f"Errors grow like exp({estimate.growth:.3g}·t), as in chaos: the solution is within tol until "
            f"t = {until:.3g}, and from t = {estimate.holds_until(0.1):.3g} on only its statistics mean something."
        )
    since = estimate.holds_from(tol)
    if since < start + 0.5 * (end - start):
        return f"It is within tol from t = {since:.3g} on."
    return f"It is within tol until t = {until:.3g}." if start < until < end else ""


def _lacking(solution: Solution) -> str:
    """Name the axis that lacks resolution most, if the basis is a product of functions of its axes."""
    misfits, names = axis_misfits(solution), solution.problem.domain.coordinates
    if len(misfits) < 2 or solution.reduced is not None:
        return ""
    axis = int(np.argmax(misfits))
    return (
        f"The axis {names[axis]} lacks resolution most: its fastest neurons carry {misfits[axis]:.2g} of the solution."
    )


def duration(seconds: float) -> str:
    """Write a time for people."""
    if seconds < 120:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.2g} min" if seconds < 7200 else f"{seconds / 3600:.2g} h"


# ---- once more -----------------------------------------------------------------------------------------------------


def solve_again(solution: Solution, task: Task, values: Mapping[str, Any]) -> Solution:
    """Solve the problem of a solution for other values of some parameters."""
    problem, settings = solution.problem.at(**values), task.settings
    tol, seed = task.tolerances.solution, task.seed if task.asked is None else task.asked
    tolerances = Tolerances.of(tol, settings.rtol, settings.rules.search)
    first, quantity = sizes_needed(solution), task.quantity
    fresh = Task(settings, seed, tolerances, first=first, asked=seed, kind=task.kind, quantity=quantity)
    with Summarised():
        check_well_posed(problem)
        if tol is None:
            return solve_once(problem, fresh, Hints()).solution
        return Search(problem, fresh, Budget(), _nobody).solve()


def sizes_needed(solution: Solution) -> Sizes | None:
    """Return the sizes with which a search would have met its tolerance at once; None if they are not known."""
    task = solution.provenance
    if not isinstance(task, Task) or task.first is None or solution.verdict is None or solution.subspace is not None:
        return None
    grown = len(solution.verdict.attempts) > 2
    return task.first.scaled(task.effort / task.rules.search.step) if grown else task.first


def _nobody(stage: str) -> None:
    """Listen to the progress of a solve."""
