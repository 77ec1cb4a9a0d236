"""Tolerance in, answer and error out: solve, look at the estimate, grow, until the tolerance is met or nothing helps.

Every solve is compared with the next, which has other neurons, more of them, other points and smaller tolerances in
time. That distance is the estimate of the first one's error; if it is too large, the next one is already the better
candidate. So no work is lost, and what is returned is a solution with a witness that is finer than itself.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from frozenpinn.adaptivity.estimate import compare
from frozenpinn.adaptivity.settings import Settings, Task
from frozenpinn.adaptivity.single import Knowledge, solve_once
from frozenpinn.adaptivity.witness import finer
from frozenpinn.errors import BudgetError, IntegrationError, ResolutionWarning, warn
from frozenpinn.results.error_estimate import ErrorEstimate, Verdict
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.budget import Budget, Progress
from frozenpinn.runtime.threads import blas_threads
from frozenpinn.statement.problem import Problem


@dataclass(frozen=True, eq=False)
class Attempt:
    """One solve on the way: what it cost, what it warned of, what its error was found to be."""

    task: Task
    solution: Solution
    seconds: float
    warnings: tuple[warnings.WarningMessage, ...]
    estimate: ErrorEstimate | None = None
    witness: Solution | None = None

    @property
    def width(self) -> int:
        """How many neurons it had (on each axis of a product)."""
        return self.solution.width

    @property
    def error(self) -> float:
        """The estimated error; infinite if it is not known."""
        worst = float("nan") if self.estimate is None else self.estimate.worst
        return worst if np.isfinite(worst) else float("inf")


def warn_of_contradictions(settings: Settings, tol: float) -> None:
    """Warn about settings that are coarser than the tolerance: they are kept, and the tolerance may not be met."""
    integrator = getattr(settings.integrator, "rtol", None)
    coarse = [
        ("rtol", settings.rtol),
        ("the integrator's rtol", integrator),
        ("cutoff", settings.cutoff if not isinstance(settings.cutoff, str) else None),
        ("rcond", settings.rcond),
        ("the threshold of windows", getattr(settings.windows, "threshold", None)),
    ]
    for name, value in coarse:
        if isinstance(value, int | float | np.floating) and value > tol:
            warn(
                f"{name} = {value:g} contradicts tol={tol:g}, which asks for more accuracy; leave it out, or write "
                f"tol={value:g}."
            )


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
        Told about every stage.
    """

    def __init__(self, problem: Problem, task: Task, budget: Budget, progress: Progress) -> None:
        assert task.tolerances.solution is not None
        self.problem, self.tol, self.budget = problem, task.tolerances.solution, budget
        self.task = replace(task, memory=budget.memory)
        self.rules = task.rules.search
        self._watched = budget.watched(progress)
        self.attempts: list[Attempt] = []
        self._knowledge = Knowledge()
        self._count = 0
        self._failures: list[IntegrationError] = []

    def solve(self) -> Solution:
        """Return the first solution within the tolerance, or the best that was found."""
        self.attempts.append(self._first())
        while True:
            reason = self._advance()
            if reason is not None:
                break
        return self._finish(reason)

    def _progress(self, stage: str) -> None:
        """Pass on what is being done; break off a step that takes much longer than was foreseen."""
        if self.budget.is_far_over and any(attempt.estimate is not None for attempt in self.attempts):
            raise BudgetError("going on took more than two minutes (give time_limit for more).")
        self._watched(stage)

    # ---- one step ---------------------------------------------------------------------------------

    def _advance(self) -> str | None:
        """Solve once more and judge the solve before by it; return why to stop, or None."""
        current = self.attempts[-1]
        try:
            witness = self._witness()
        except BudgetError as error:
            return str(error).rstrip(".")
        if witness is None:
            return f"a second solve with other neurons failed: {self._failures[-1]}".rstrip(".")
        with blas_threads(witness.solution.operations):
            estimate = compare(current.solution, witness.solution, self.task.rules.estimate)
        current = replace(current, estimate=estimate, witness=witness.solution)
        self.attempts[-1:] = [current, witness]
        if current.error <= self.rules.safety * self.tol:
            return ""
        return self._reason_to_stop()

    def _reason_to_stop(self) -> str | None:
        """Return why growing on makes no sense, if so."""
        judged = [a.error for a in self.attempts[:-1]]
        last = self.attempts[-1]
        if not self.task.grows:
            return f"{self._fixed} was given; left open, it grows until the tolerance is met"
        rates = [b / a for a, b in pairwise(judged)]
        growth = self._growth()
        ahead = last.seconds * max(growth, self._needed if judged[-1] < self.rules.coarse else 1.0) ** self._exponent
        if judged[-1] <= self.tol and (
            last.solution.operations * growth**self.rules.cost > self.rules.brief
            or (rates and rates[-1] > self.rules.helps)
        ):
            return ""
        if rates and rates[-1] > self.rules.helps:
            if max(judged[-2:]) < self.rules.floor:
                return "this is the floor of double precision for this problem"
            grown = last.task.effort >= self.rules.enough or judged[-1] < self.rules.coarse
            if grown and len(rates) > 1 and rates[-2] > self.rules.helps and not self._lasts_longer():
                return "a wider network does not help any more"
        if ahead > self.budget.left:
            limit = f"of {self.budget.seconds:g} s" if self.budget.seconds else "of a minute (give time_limit for more)"
            return f"to go on would take about {_duration(ahead)} more, which exceeds the time limit {limit}"
        needed = last.solution.bytes * growth**2
        if needed > self.budget.bytes:
            limit = f"the memory limit of {self.budget.bytes / 1e9:.2g} GB"
            return f"another step would need about {needed / 1e9:.2g} GB, more than {limit}"
        return None

    def _lasts_longer(self) -> bool:
        """Whether the last two solutions, though wrong in the end, were right for longer than those before."""
        start, end = self.problem.time
        estimates = [a.estimate for a in self.attempts if a.estimate is not None]
        times = [estimate.holds_until(self.rules.wrong) for estimate in estimates[-3:]]
        return estimates[-1].worst > self.rules.wrong and times[-1] - times[0] > self.rules.longer * (end - start)

    @property
    def _fixed(self) -> str:
        settings = self.task.settings
        return f"sampler={settings.sampler!r}" if settings.width is None else f"width={settings.width}"

    def _growth(self) -> float:
        """Return by how much the next solve shall be wider than the last.

        From two estimates the width that is needed is found as if the logarithm of the error fell linearly with it.
        """
        return float(np.clip(self._needed, self.rules.step, self.rules.stride))

    @property
    def _needed(self) -> float:
        """How much wider than the last the network has to be, as far as one can tell."""
        judged = [a for a in self.attempts if a.estimate is not None]
        if not judged:
            return self.rules.step
        far = np.log(judged[-1].error / (self.rules.safety * self.tol))
        if len(judged) == 1:
            return self.rules.stride if far > np.log(self.rules.far) else self.rules.step
        a, b = judged[-2:]
        gained, wider = np.log(a.error / b.error), b.task.effort - a.task.effort
        if gained <= 0:
            return self.rules.stride
        return float((b.task.effort + wider * far / gained) / self.attempts[-1].task.effort)

    @property
    def _exponent(self) -> float:
        """The power of the width with which time has grown from one solve to the next, at least the usual one."""
        if len(self.attempts) < 2:
            return self.rules.cost
        a, b = self.attempts[-2:]
        wider = np.log(b.task.effort / a.task.effort)
        return float(
            np.clip(
                np.log(b.seconds / a.seconds) / wider if wider > 0 else self.rules.cost,
                self.rules.cost,
                self.rules.steepest,
            )
        )

    # ---- one solve --------------------------------------------------------------------------------

    def _first(self) -> Attempt:
        """Return the first solve that comes through; failures at one and the same time are those of the problem."""
        effort = 1.0
        for _ in range(self.rules.tries):
            try:
                return self._attempt(replace(self.task, effort=effort))
            except IntegrationError as error:
                if self._fails_again(error) or not self.task.grows:
                    raise
                effort *= self.rules.stride
            except BudgetError as error:
                raise BudgetError(
                    f"{error} Not even a first solution was found; allow more, or leave the limit out."
                ) from None
        raise self._failures[-1]

    def _fails_again(self, error: IntegrationError) -> bool:
        """Remember a failure; return whether there was one at the same time before: then it is the problem's own."""
        start, end = self.problem.time
        same = any(abs(error.time - other.time) <= self.rules.same_time * (end - start) for other in self._failures)
        self._failures.append(error)
        return same or not np.isfinite(error.time)

    def _witness(self) -> Attempt | None:
        """Return a solve that shares as little as possible with the last and is finer; None if it fails twice."""
        last = self.attempts[-1]
        growth, tighter = self._growth(), self.rules.tighter
        if len(self.attempts) == 1 and self.rules.caution * last.seconds * growth**self.rules.cost > self.budget.hard:
            growth, tighter = self.rules.coarser, 1.0  # a witness that is no better than nothing else, and cheap
        for more in (1.0, self.rules.again):
            task = finer(last.solution, last.task, self.rules, growth * more, tighter)
            task = replace(task, seed=self.task.seed + self.rules.seeds * self._count)
            try:
                return self._attempt(task)
            except IntegrationError as error:
                if self._fails_again(error):  # steps of the first may have jumped over what stops the finer ones
                    raise
        return None

    def _attempt(self, task: Task) -> Attempt:
        self._count += 1
        started = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            solution, self._knowledge = solve_once(self.problem, task, self._knowledge, self._progress)
        return Attempt(task, solution, time.perf_counter() - started, tuple(caught))

    # ---- the end ------------------------------------------------------------------------------------

    def _finish(self, reason: str) -> Solution:
        """Choose the best attempt and say what is to be said about it."""
        judged = [a for a in self.attempts if a.estimate is not None]
        best = min(judged, key=lambda a: a.error) if judged else self.attempts[0]
        if judged and judged[-1].error <= self.tol:
            best = judged[-1]
        elif judged and best.error > self.rules.wrong:  # what is wrong in the end may be right for a while
            best = max(
                judged, key=lambda a: (a.estimate.holds_until(self.rules.wrong) if a.estimate else 0.0, -a.error)
            )
        met = best.error <= self.tol
        seconds = sum(a.seconds for a in self.attempts) - best.seconds
        solution = replace(
            best.solution,
            error_estimate=best.estimate or ErrorEstimate.unknown(self.problem),
            witness=best.witness,
            verdict=Verdict(
                "converged" if met else "reached",
                self.tol,
                "" if met else reason,
                tuple((a.width, a.error, a.seconds) for a in self.attempts),
            ),
            seconds={**best.solution.seconds, "estimate": seconds},
        )
        for caught in best.warnings:
            if not (np.isfinite(best.error) and issubclass(caught.category, ResolutionWarning)):  # the estimate tells
                warn(caught.message)
        if not met:
            warn(_complaint(solution, self.tol, reason))
        return solution


def _complaint(solution: Solution, tol: float, reason: str) -> str:
    """Say how far the solution is from what was asked for."""
    estimate = solution.error_estimate
    assert estimate is not None
    if not np.isfinite(estimate.worst):
        return f"the error can't be estimated: {reason}."
    text = f"the estimated error is {estimate.worst:.2g}, above tol={tol:g}: {reason}."
    start, end = solution.problem.time
    until = estimate.holds_until(tol)
    if estimate.growth is not None:
        return (
            f"{text} Errors grow like exp({estimate.growth:.3g}·t), as in chaos: the solution is within tol until "
            f"t = {until:.3g}, and from t = {estimate.holds_until(0.1):.3g} on only its statistics mean something."
        )
    return f"{text} It is within tol until t = {until:.3g}." if start < until < end else text


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.2g} min" if seconds < 7200 else f"{seconds / 3600:.2g} h"
