"""Tolerance in, answer and error out: solve, look at the estimate, grow, until the tolerance is met or nothing helps.

Every solve is compared with the next, which has other neurons, more of them, other points and smaller tolerances in
time. That distance is the estimate of the first one's error; if it is too large, the next one is already the better
candidate. So no work is lost, and what is returned is a solution with a witness that is finer than itself.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from frozenpinn.adaptivity.estimate import ErrorEstimate, compare
from frozenpinn.adaptivity.sizing import Settings
from frozenpinn.errors import BudgetError, IntegrationError, ResolutionWarning, SettingsError, warn
from frozenpinn.results.solution import Solution, Verdict
from frozenpinn.runtime.budget import Budget, Progress
from frozenpinn.statement.problem import Problem

Run = Callable[[Settings, Progress], Solution]

FINEST = 1e-13  #: of all tolerances in double precision
_SEEDS = 7919  # between two solves
_STEP, _STRIDE = 1.25, 1.8  # growth of the width from one solve to the next, at least and at most
_COARSER = 0.6  # growth if there is no time for a finer witness: the estimate becomes an upper bound
_CAUTION = 1.5  # the first guess of what a finer witness takes may be too low by this, and then there is none
_FAR = 30.0  # a ratio of estimate to tolerance that calls for the latter
_SAFETY = 0.5  # part of the tolerance that the estimate may take
_FIRST_RTOL, _TIGHTER = 0.3, 0.3  # tolerance in time as a part of tol, and of that of the solve before
_HELPS = 0.7  # what a wider network must do to the estimate, at least; …
_FLOOR = 1e-11  # … below this a failure to do so is round-off
_COST, _STEEPEST = 2.5, 7.0  # powers of the width with which time grows, at least and at most
_BRIEF = 1.0  # seconds that may be spent on more safety than was asked for
_COARSE, _ENOUGH = 1e-2, 16.0  # above this error nothing is resolved yet, until the width has grown so much
_WRONG = 0.1  # an error of solutions that have nothing in common with the truth
_LONGER = 0.03  # part of the time by which a solution must be right for longer to go on
_TRIES = 3
_SAME_TIME = 0.05  # part of the whole time within which two failures are one


@dataclass
class Attempt:
    """One solve on the way: what it cost, what it warned of, what its error was found to be."""

    settings: Settings
    solution: Solution
    seconds: float
    warnings: list[warnings.WarningMessage]
    estimate: ErrorEstimate | None = None

    @property
    def width(self) -> int:
        """How many neurons it had (on each axis of a product)."""
        return self.solution.width

    @property
    def error(self) -> float:
        """The estimated error; infinite if it is not known."""
        worst = float("nan") if self.estimate is None else self.estimate.worst
        return worst if np.isfinite(worst) else float("inf")


def read_tolerance(tol: float | None) -> float | None:
    """Check a tolerance; one below what double precision can reach is raised, with a warning."""
    if tol is None:
        return None
    if isinstance(tol, bool) or not isinstance(tol, int | float | np.floating) or not 0 < tol < 1:
        raise SettingsError(f"tol must lie between 0 and 1, got {tol!r}; write for example tol=1e-6.")
    if tol < FINEST:
        warn(f"tol={tol:g} is below what double precision can reach; tol={FINEST:g} is taken instead.")
    return max(float(tol), FINEST)


def first_rtol(given: float | None, tol: float | None) -> float:
    """Return the tolerance in time of the first solve: what the user insists on, or a part of the tolerance."""
    if given is not None:
        return given
    return Settings.rtol if tol is None else max(_FIRST_RTOL * tol, FINEST)


def warn_of_contradictions(settings: Settings, windows: object, tol: float, rtol: float | None) -> None:
    """Warn about settings that are coarser than the tolerance: they are kept, and the tolerance may not be met."""
    integrator = getattr(settings.integrator, "rtol", None)
    coarse = [
        ("rtol", rtol),
        ("the integrator's rtol", integrator),
        ("cutoff", settings.cutoff if not isinstance(settings.cutoff, str) else None),
        ("rcond", settings.rcond),
        ("the threshold of windows", getattr(windows, "threshold", None)),
    ]
    for name, value in coarse:
        if isinstance(value, int | float | np.floating) and value > tol:
            warn(
                f"{name} = {value:g} contradicts tol={tol:g}, which asks for more accuracy; leave it out, or write "
                f"tol={value:g}."
            )


class Control:
    """Solves a problem to a tolerance.

    Parameters
    ----------
    problem
        What to solve.
    settings
        What the user has fixed; sizes that are left open grow.
    run
        Solves once with given settings.
    tol
        Relative L² error that is asked for, of every field.
    budget
        Limits of time and memory.
    progress
        Told about every stage.
    """

    def __init__(
        self, problem: Problem, settings: Settings, run: Run, tol: float, budget: Budget, progress: Progress
    ) -> None:
        self.problem, self.tol, self.budget = problem, tol, budget
        self.settings = replace(settings, accuracy=tol, memory=budget.memory)
        self._run, self._watched = run, budget.watched(progress)
        self.attempts: list[Attempt] = []
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
        current.estimate = compare(current.solution, witness.solution)
        current.solution.witness = witness.solution
        self.attempts.append(witness)
        if current.error <= _SAFETY * self.tol:
            return ""
        return self._reason_to_stop()

    def _reason_to_stop(self) -> str | None:
        """Return why growing on makes no sense, if so."""
        judged = [a.error for a in self.attempts[:-1]]
        last = self.attempts[-1]
        if not self._grows:
            return f"{self._fixed} was given; left open, it grows until the tolerance is met"
        rates = [b / a for a, b in pairwise(judged)]
        growth = self._growth()
        ahead = last.seconds * max(growth, self._needed if judged[-1] < _COARSE else 1.0) ** self._exponent
        if judged[-1] <= self.tol and (ahead > _BRIEF or (rates and rates[-1] > _HELPS)):
            return ""
        if rates and rates[-1] > _HELPS:
            if max(judged[-2:]) < _FLOOR:
                return "this is the floor of double precision for this problem"
            grown = last.settings.effort >= _ENOUGH or judged[-1] < _COARSE
            if grown and len(rates) > 1 and rates[-2] > _HELPS and not self._lasts_longer():
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
        times = [estimate.holds_until(_WRONG) for estimate in estimates[-3:]]
        return estimates[-1].worst > _WRONG and times[-1] - times[0] > _LONGER * (end - start)

    @property
    def _fixed(self) -> str:
        if self.settings.width is not None:
            return f"width={self.settings.width}"
        return f"sampler={self.settings.sampler!r}"

    @property
    def _grows(self) -> bool:
        return self.settings.width is None and isinstance(self.settings.sampler, str | None)

    def _growth(self) -> float:
        """Return by how much the next solve shall be wider than the last.

        From two estimates the width that is needed is found as if the logarithm of the error fell linearly with it.
        """
        return float(np.clip(self._needed, _STEP, _STRIDE))

    @property
    def _needed(self) -> float:
        """How much wider than the last the network has to be, as far as one can tell."""
        judged = [a for a in self.attempts if a.estimate is not None]
        if not judged:
            return _STEP
        far = np.log(judged[-1].error / (_SAFETY * self.tol))
        if len(judged) == 1:
            return _STRIDE if far > np.log(_FAR) else _STEP
        a, b = judged[-2:]
        gained, wider = np.log(a.error / b.error), b.settings.effort - a.settings.effort
        if gained <= 0:
            return _STRIDE
        return float((b.settings.effort + wider * far / gained) / self.attempts[-1].settings.effort)

    @property
    def _exponent(self) -> float:
        """The power of the width with which time has grown from one solve to the next, at least the usual one."""
        if len(self.attempts) < 2:
            return _COST
        a, b = self.attempts[-2:]
        wider = np.log(b.settings.effort / a.settings.effort)
        return float(np.clip(np.log(b.seconds / a.seconds) / wider if wider > 0 else _COST, _COST, _STEEPEST))

    # ---- one solve --------------------------------------------------------------------------------

    def _first(self) -> Attempt:
        """Return the first solve that comes through; failures at one and the same time are those of the problem."""
        effort = 1.0
        for _ in range(_TRIES):
            try:
                return self._attempt(replace(self.settings, effort=effort))
            except IntegrationError as error:
                if self._fails_again(error) or not self._grows:
                    raise
                effort *= _STRIDE
            except BudgetError as error:
                raise BudgetError(
                    f"{error} Not even a first solution was found; allow more, or leave the limit out."
                ) from None
        raise self._failures[-1]

    def _fails_again(self, error: IntegrationError) -> bool:
        """Remember a failure; return whether there was one at the same time before: then it is the problem's own."""
        start, end = self.problem.time
        same = any(abs(error.time - other.time) <= _SAME_TIME * (end - start) for other in self._failures)
        self._failures.append(error)
        return same or not np.isfinite(error.time)

    def _witness(self) -> Attempt | None:
        """Return a solve that shares as little as possible with the last and is finer; None if it fails twice."""
        last = self.attempts[-1]
        growth, tighter = self._growth(), _TIGHTER
        if len(self.attempts) == 1 and _CAUTION * last.seconds * growth**_COST > self.budget.hard:
            growth, tighter = _COARSER, 1.0  # a witness that is no better than nothing else, and cheap
        for more in (1.0, 1.15):
            settings = replace(
                last.settings,
                seed=self.settings.seed + _SEEDS * self._count,
                rtol=max(tighter * last.settings.rtol, FINEST),
                effort=last.settings.effort * growth * more,
            )
            if not self._grows:
                settings = independent(last.solution, settings)
            try:
                return self._attempt(settings)
            except IntegrationError as error:
                if self._fails_again(error):  # steps of the first may have jumped over what stops the finer ones
                    raise
        return None

    def _attempt(self, settings: Settings) -> Attempt:
        self._count += 1
        started = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            solution = self._run(settings, self._progress)
        return Attempt(settings, solution, time.perf_counter() - started, list(caught))

    # ---- the end ------------------------------------------------------------------------------------

    def _finish(self, reason: str) -> Solution:
        """Choose the best attempt and say what is to be said about it."""
        judged = [a for a in self.attempts if a.estimate is not None]
        best = min(judged, key=lambda a: a.error) if judged else self.attempts[0]
        if judged and judged[-1].error <= self.tol:
            best = judged[-1]
        elif judged and best.error > _WRONG:  # what is wrong in the end may be right for a while
            best = max(judged, key=lambda a: (a.estimate.holds_until(_WRONG) if a.estimate else 0.0, -a.error))
        solution = best.solution
        solution.error_estimate = best.estimate or ErrorEstimate.unknown(self.problem)
        met = best.error <= self.tol
        solution.verdict = Verdict(
            "converged" if met else "reached",
            self.tol,
            "" if met else reason,
            tuple((a.width, a.error, a.seconds) for a in self.attempts),
        )
        solution.seconds = {**solution.seconds, "estimate": sum(a.seconds for a in self.attempts) - best.seconds}
        for caught in best.warnings:
            if not (np.isfinite(best.error) and issubclass(caught.category, ResolutionWarning)):  # the estimate tells
                warn(caught.message)
        if not met:
            warn(_complaint(solution, self.tol, reason))
        return solution


def independent(solution: Solution, settings: Settings) -> Settings:
    """Return settings for a solve that shares neither neurons nor points with one of given sizes, and is finer."""
    counts = tuple(n + max(2, n // 4) for n in solution.counts)
    points = counts if len(counts) > 1 else counts[0]
    width = solution.width + max(1, solution.width // 4)
    if settings.boundary_points is not None:  # as many as before for more neurons would be other conditions
        settings = replace(settings, boundary_points=settings.boundary_points + max(1, settings.boundary_points // 4))
    if isinstance(settings.sampler, str | None):
        return replace(settings, points=points, width=width)
    try:
        return replace(settings, points=points, width=None, sampler=replace(settings.sampler, width=width))  # type: ignore[type-var]
    except TypeError:  # a sampler of the user's own
        return replace(settings, points=points)


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
