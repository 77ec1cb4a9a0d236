"""The pipeline: points → hidden layer → boundary layer → SVD layer → system → integrator → solution."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Literal
from weakref import WeakSet

from frozenpinn.adaptivity.first_width import prepare
from frozenpinn.adaptivity.grading import Windows
from frozenpinn.adaptivity.settings import Directions
from frozenpinn.adaptivity.settings import Settings as Chosen
from frozenpinn.adaptivity.sizing import Plan, Settings, boundary_strategy, check_settings, make_plan, read_windows
from frozenpinn.adaptivity.time_windows import March, Progress, Stopwatch
from frozenpinn.adaptivity.tolerance import Control, first_rtol, independent, read_tolerance, warn_of_contradictions
from frozenpinn.analysis.subspace import Subspace
from frozenpinn.analysis.wellposedness import check_well_posed
from frozenpinn.errors import BudgetError, SettingsError
from frozenpinn.results.residuals import raise_if_infinite, warn_if_suspicious
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.budget import Budget, amount, physical_memory
from frozenpinn.runtime.progress import LateBar
from frozenpinn.runtime.threads import blas_threads
from frozenpinn.statement.findings import Findings
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.subspace import read_subspace, solve_on, try_subspace
from frozenpinn.transforms.units import solve_in_units

_CHECKED: WeakSet[Problem] = WeakSet()


def solve(
    problem: Problem,
    *,
    tol: float | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    progress: Progress | None = None,
    settings: Chosen | None = None,
) -> Solution:
    """Solve a problem; without any setting, everything is chosen from the problem's structure.

    With ``tol``, the network starts small and grows until the estimated error is within the tolerance; without, the
    problem is solved once, with sizes that are enough for most, and nothing is estimated.

    Parameters
    ----------
    problem
        What to solve.
    tol
        Relative L² error asked of every field. ``solution.status`` tells whether it was met,
        ``solution.error_estimate`` what was reached, ``solution.report`` how.
    seed
        Seed of the frozen layer; the same seed gives the same solution, bit for bit.
    time_limit, memory_limit
        Seconds and bytes that a solve with ``tol`` may take. By default it stops growing after about a minute, and at
        60 % of the free memory.
    progress
        Called with the name of each stage as it begins, and now and then with the share of the time that is
        integrated; by default a bar appears on a terminal after two seconds.
    settings
        Numerical choices that you want to make yourself.
    """
    chosen = Chosen() if settings is None else settings
    tol, budget = read_tolerance(tol), Budget(time_limit, memory_limit)
    if tol is None and (time_limit is not None or memory_limit is not None):
        raise SettingsError("time_limit and memory_limit bound the search for a tolerance; give tol=1e-6, too.")
    inner = Settings(
        seed=seed,
        width=chosen.width,
        points=chosen.points,
        sampler=chosen.sampler,
        point_method=chosen.point_method,
        boundary=boundary_strategy(chosen.boundary),
        cutoff=chosen.cutoff,
        rcond=chosen.rcond,
        integrator=chosen.integrator,
        rtol=first_rtol(chosen.rtol, tol),
        boundary_points=chosen.boundary_points,
    )
    run = _Run(problem, chosen.windows, chosen.subspace)
    if tol is not None:
        warn_of_contradictions(inner, chosen.windows, tol, chosen.rtol)
    run.check(inner)
    with LateBar() if progress is None else nullcontext(progress) as told:
        if tol is not None:
            return Control(problem, inner, run, tol, budget, told).solve()
        return run(inner, told)


def estimate_error(solution: Solution) -> Solution:
    """Return the solution with its error estimated, by a second solve with independent neurons and points."""
    if solution.error_estimate is None:
        solution.estimate_error()
    return solution


class _Run:
    """Solves a problem once with given settings: on a given subspace, on one that is found, or in all coordinates."""

    def __init__(
        self, problem: Problem, windows: int | str | Windows | None, subspace: Literal["auto"] | Directions | None
    ) -> None:
        self.problem, self.windows, self.subspace = problem, windows, subspace
        self._insisted: Subspace | None = None

    def check(self, settings: Settings) -> None:
        """Check problem and settings before time is spent on them."""
        if isinstance(self.problem, Problem) and self.subspace is not None and not _is_auto(self.subspace):
            self._insisted = read_subspace(self.subspace, self.problem)
        else:
            check_settings(self.problem, settings)
            read_windows(self.problem, self.windows)
        _check_once(self.problem)

    def __call__(self, settings: Settings, progress: Progress | None) -> Solution:
        """Solve once."""
        if self._insisted is not None:
            run = partial(self._on, settings, progress)
            return solve_on(self.problem, self._insisted, run, settings.rtol)
        settings = replace(settings, windows=read_windows(self.problem, self.windows))
        found = _on_few_directions(self.problem, settings, progress) if _is_auto(self.subspace) else None
        return solve_once(self.problem, settings, progress) if found is None else found

    def _on(self, settings: Settings, progress: Progress | None, reduced: Problem) -> Solution:
        """Solve a problem on a subspace, to which the settings refer."""
        check_settings(reduced, settings)
        return solve_once(reduced, replace(settings, windows=read_windows(reduced, self.windows)), progress)


def _is_auto(subspace: object) -> bool:
    return isinstance(subspace, str) and subspace == "auto"


def _check_once(problem: Problem) -> None:
    if problem not in _CHECKED:
        check(problem)


def _on_few_directions(problem: Problem, settings: Settings, progress: Progress | None) -> Solution | None:
    """Solve on a subspace if there is one that is enough; settings of a network in all coordinates forbid it."""
    given = (settings.points, settings.sampler, settings.boundary)
    if problem.domain.dimension < 2 or any(value is not None for value in given) or settings.point_method != "auto":
        return None
    started = time.perf_counter()
    solution = try_subspace(problem, lambda reduced: solve_once(reduced, settings, progress), settings.rtol)
    if solution is not None:
        rest = time.perf_counter() - started - sum(solution.seconds.values())
        solution.seconds = {"subspace": rest, **solution.seconds}
    return solution


def check(problem: Problem) -> Findings:
    """Check that a problem is well posed, as :func:`solve` does the first time it sees one.

    Returns
    -------
    Findings
        Everything that was found, notes included; ``print`` shows it.

    Raises
    ------
    ProblemError
        If short waves explode: backward diffusion, a fourth-order term of the wrong sign.

    Warns
    -----
    FrozenPinnWarning
        If a side has more or fewer boundary conditions than the equations need there, if data contradict each other, or
        if they jump or are noisy.
    """
    findings = check_well_posed(problem)
    _CHECKED.add(problem)
    return findings


def solve_once(problem: Problem, settings: Settings, progress: Progress | None = None) -> Solution:
    """Run the pipeline once with fixed settings, with fields of very different size in units of their own."""
    return solve_in_units(problem, lambda scaled: _solve_in_these_units(scaled, settings, progress))


def _solve_in_these_units(problem: Problem, settings: Settings, progress: Progress | None) -> Solution:
    watch = Stopwatch(progress)
    if settings.accuracy is not None:
        with watch.stage("choice of sizes"), blas_threads(0.0):
            settings = prepare(problem, settings)
    plan = make_plan(problem, settings)
    _check_memory(plan, settings.memory)
    with blas_threads(plan.operations):
        march = March(problem, settings, plan, watch)
        solution = march.run()
        solution.solve_again = partial(_solve_again, solution, settings)
        with watch.stage("checks"):
            # on an interval, the estimate that belongs to a tolerance tells all that could be warned of
            told = settings.accuracy is not None and problem.domain.dimension == 1
            (raise_if_infinite if told else warn_if_suspicious)(solution)
    solution.seconds = watch.seconds
    return solution


def _check_memory(plan: Plan, limit: float | None) -> None:
    """Refuse a solve that needs more memory than it may have, or than there is."""
    each = " per axis" if plan.product else ""
    need = f"{plan.sampler.width} neurons{each} need about {amount(plan.bytes)} of memory"
    if limit is not None and plan.bytes > limit:
        raise BudgetError(f"{need}, more than memory_limit={limit:g}.")
    if plan.bytes > (all_there_is := physical_memory()):
        raise SettingsError(
            f"{need}, and this machine has {amount(all_there_is)}. Use a smaller width, or fewer points."
        )


def _solve_again(solution: Solution, settings: Settings, problem: Problem) -> Solution:
    """Solve with other neurons and points, more of both, and smaller tolerances in time."""
    again = replace(settings, seed=settings.seed + 7919, rtol=max(0.1 * settings.rtol, 1e-13))
    return solve_once(problem, independent(solution, again))
