"""The façade: what a user calls, and the straight line behind it.

analyse → transform → [ size → basis → assemble → integrate → judge ]* → back: the bracket is a single solve
(search/single.py), the star the search for a tolerance (search/search.py).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast, overload
from weakref import WeakSet

from frozenpinn.analysis.wellposedness import check_well_posed
from frozenpinn.errors import IntegrationError, SettingsError, Summarised, interruptible, silenced, warn
from frozenpinn.results.event import Condition, Stop
from frozenpinn.results.quantity import Quantity
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arguments import is_whole, shown, spelled
from frozenpinn.runtime.budget import Budget
from frozenpinn.runtime.stopwatch import Progress, listening
from frozenpinn.search.kind import Hints, Kind
from frozenpinn.search.search import Search
from frozenpinn.search.settings import Settings, Sizes, Task, Tolerances, read_tolerance, warn_of_contradictions
from frozenpinn.search.single import solve_once
from frozenpinn.search.witness import estimate_error
from frozenpinn.statement.consistency import slight_contradictions
from frozenpinn.statement.findings import Findings
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.unknowns import listed
from frozenpinn.transforms.subspace import read_subspace

__all__ = ["check", "estimate_error", "solve"]

_LOG = logging.getLogger("frozenpinn")
_LOG.addHandler(logging.NullHandler())
_CHECKED: WeakSet[Problem] = WeakSet()  # whose findings have been reported: they are not repeated


@overload
def solve(
    problem: Problem,
    *,
    tol: float | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    progress: Progress | bool | None = None,
    settings: Settings | None = None,
    start: Any = None,
    all: Literal[False] = False,
    quantity: str | None = None,
    stop: str | Condition | None = None,
) -> Solution: ...


@overload
def solve(
    problem: Problem,
    *,
    tol: float | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    progress: Progress | bool | None = None,
    settings: Settings | None = None,
    start: Any = None,
    all: Literal[True],
    quantity: str | None = None,
    stop: str | Condition | None = None,
) -> tuple[Solution, ...]: ...


@spelled(SettingsError)
def solve(
    problem: Problem,
    *,
    tol: float | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    progress: Progress | bool | None = None,
    settings: Settings | None = None,
    start: Any = None,
    all: bool = False,
    quantity: str | None = None,
    stop: str | Condition | None = None,
) -> Solution | tuple[Solution, ...]:
    """Solve a problem; without any setting, everything is chosen from the problem's structure.

    With ``tol``, the network starts small and grows until the estimated error is within the tolerance; without, the
    problem is solved once, with sizes that are enough for most, and nothing is estimated.

    Parameters
    ----------
    problem
        What to solve.
    tol
        L² error asked of every field, relative to how much it varies (``Settings(relative_to=…)`` sets something else).
        ``solution.status`` says whether it was met,
        ``solution.error_estimate`` what was reached, ``solution.report`` how.
    seed
        Seed of the frozen layer; the same seed gives the same solution, bit for bit.
    time_limit, memory_limit
        Seconds and bytes that the search for the tolerance (1e-6 if none is given) may take. By default it stops
        growing after a minute, and at 60 % of the free memory. What has been found by then is returned.
    progress
        Called with the name of each stage as it begins, and now and then with the share of the time that is
        integrated. By default a bar appears on a terminal or in a notebook after two seconds; False shows nothing.
    settings
        Numerical choices that you want to make yourself.
    start
        What Newton's method starts from in a nonlinear static problem: a number, text, a function of the coordinates, a
        dict of these by field, or a solution. By default the boundary data are extended, then a homotopy is tried.
    all
        Whether to look for every solution of a nonlinear static problem, by deflation; they are returned as a tuple,
        small ones first. Each has a note that says from which start it was found. There may be more.
    quantity
        The one number that the solve is for: ``"integral(k*u_n, side='right')"``, ``"mean(u, where='x < 0.5', t=1)"``,
        ``"value(u_x, x=0.5)"``. The search then stops when the estimated error of this number, relative to it (or to a
        hundredth of the integral of the absolute value), is within ``tol``; ``solution.quantity`` is the number with
        its error.
    stop
        When to stop: ``"max(u) > 1"``, or ``"integral(u^2) < 0.1"``, ``min``, ``mean`` and ``value`` likewise; or a
        Python function of (t, state) that is positive where to stop, ``lambda t, state: state(0.5) - 1``. The solution
        ends when that first holds, and ``solution.event`` is the time with its error, which is within the tolerance.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; with ``tol``, its attribute ``solution`` is the best so far, or None.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> solution = fp.solve(rod, tol=1e-6)
    >>> solution.status
    'converged'
    >>> round(float(solution(0.5, 0.1)), 6)
    0.372708
    """
    options: dict[str, Any] = {"seed": seed, "time_limit": time_limit, "memory_limit": memory_limit}
    options |= {"progress": progress, "settings": settings, "start": start, "all": all}
    if stop is None:
        return solve_from(None, problem, tol, quantity=quantity, **options)
    if quantity is not None:
        raise SettingsError("give stop= or quantity=, not both: the tolerance is for one of them.")
    return _solve_until(stop, problem, tol, options)


def _solve_until(given: Any, problem: Problem, tol: float | None, options: Mapping[str, Any]) -> Solution:
    """Solve until a condition first holds: on a rough solution first, which may break down later.

    The second solve goes on a little longer than the rough one says.
    """
    if not isinstance(problem, Problem):
        raise SettingsError(f"solve() takes a Problem, got {type(problem).__name__}.")
    if problem.is_static:
        raise SettingsError("stop= is for problems with time; a static one has no event to wait for.")
    stop = Stop.read(given, problem)
    stop.refuse_start(problem)
    if tol is None:
        solution = _as_far_as_possible(problem, stop, options)
        return _stopped(solution, stop)
    with silenced():
        rough = _as_far_as_possible(problem, stop, options)
    guess, (start, end) = stop.first(rough), problem.time
    longer = 1e-3 * max(0.0 if guess is None else guess - start, 1e-3 * (end - start))
    while True:
        until = end if guess is None else min(end, guess + longer)
        if guess is not None and until > (until_now := rough.problem.time[1]) < end:  # it breaks down soon after
            until = 0.5 * (guess + until_now)
        cut = problem if until >= end else problem.during((start, until))
        solution = cast(Solution, solve_from(None, cut, tol, quantity=stop, **options))
        if guess is None or until >= end or stop.first(solution) is not None:
            return _stopped(solution, stop)
        guess, longer = until, 4.0 * longer


def _as_far_as_possible(problem: Problem, stop: Stop, options: Mapping[str, Any]) -> Solution:
    """Solve without a tolerance; what breaks down after the condition holds is as good as what goes on."""
    try:
        return cast(Solution, solve_from(None, problem, None, **options))
    except IntegrationError as error:
        if error.solution is None or stop.first(error.solution) is None:
            raise
        return cast(Solution, error.solution)


def _stopped(solution: Solution, stop: Stop) -> Solution:
    """Cut a solution where a condition first holds, or say that it never does."""
    goal = stop.of(solution)
    if goal is None:
        note = stop.missed(solution)
        warn(note)
        return replace(solution, notes=(*solution.notes, note))
    start, time = solution.problem.time[0], float(goal.number.real)
    until = solution.problem.during((start, time))
    witness = None if solution.witness is None else replace(solution.witness, problem=until)
    return replace(solution, problem=until, witness=witness, stopped=goal)


@interruptible
def solve_from(
    first: Sizes | None,
    problem: Problem,
    tol: float | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    progress: Progress | bool | None = None,
    settings: Settings | None = None,
    start: Any = None,
    all: bool = False,
    quantity: str | Stop | None = None,
) -> Solution | tuple[Solution, ...]:
    """Solve a problem as :func:`solve` does, from sizes that a similar one has needed."""
    started = time.perf_counter()
    if not isinstance(problem, Problem):
        raise SettingsError(f"solve() takes a Problem, got {type(problem).__name__}.")
    if problem.parameters.inferred:
        raise SettingsError(
            f"{listed(problem.parameters.inferred)}: to be found from measurements. Call fp.infer(problem, data), or "
            "give values with problem.at(…)."
        )
    if problem.parameters.unknown:
        raise SettingsError(
            f"the problem has an eigenvalue, '{problem.parameters.unknown[0]}'; call modes(problem, 10) for the first "
            "ten, or give it a value by problem.at(…)."
        )
    settings = Settings() if settings is None else settings
    if not isinstance(settings, Settings):
        raise SettingsError(f"settings is a value such as fp.Settings(width=200), got {shown(settings)}.")
    settings.scales(problem)  # unknown fields are refused at once
    listener = listening(progress)
    if settings.scale is not None:
        problem = _looked_at_closely(problem, settings.scale)
    tol, budget = read_tolerance(tol, time_limit, memory_limit), Budget(time_limit, memory_limit)
    if start is not None and not problem.is_static:
        raise SettingsError("start= is for static problems; an evolution starts from its initial value.")
    if all and not problem.is_static:
        raise SettingsError("all=True is for static problems; an evolution has one solution.")
    seed = int(seed) if is_whole(seed) else seed
    if not is_whole(seed) or seed < 0:
        raise SettingsError(f"seed must be a whole number from 0 on, got {shown(seed)}.")
    tolerances, kind = Tolerances.of(tol, settings.rtol, settings.rules.search), kind_of(problem)
    if quantity is not None and tol is None:
        raise SettingsError("quantity= is what the tolerance is for; give tol=1e-4, too.")
    goal = quantity if quantity is None or isinstance(quantity, Stop) else Quantity.read(quantity, problem)
    task = Task(settings, seed, tolerances, start=start, first=first, asked=seed, kind=kind, quantity=goal)
    if tol is not None:
        warn_of_contradictions(settings, tol)
    if isinstance(settings.subspace, str | None) and settings.subspace in (None, "auto"):
        kind.check(problem, task)
    else:  # the settings refer to the problem on the subspace
        read_subspace(settings.subspace, problem)
    if problem not in _CHECKED:
        with budget.enforced():
            _checked(problem, settings.without)
    with Summarised():
        for finding in slight_contradictions(problem, tol):
            warn(finding.text)
    with Summarised(), listener as told:
        if all:
            return _solve_all(problem, task, budget, told)
        solution = _solve_one(problem, task, budget, told)
    rest = time.perf_counter() - started - sum(solution.seconds.values())
    return replace(solution, seconds={**solution.seconds, "other": max(0.0, rest)})


def kind_of(problem: Problem) -> Kind:
    """Return what solves a problem: evolution, or the static solver."""
    if problem.is_static:
        from frozenpinn.static.kind import Static  # imported here, as most problems do not need it

        return Static()
    from frozenpinn.evolution.kind import Evolution

    return Evolution()


def _looked_at_closely(problem: Problem, scale: float) -> Problem:
    """Return the problem with the smallest scale that a user has named."""
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not 0 < scale < 1:
        raise SettingsError(f"scale is a part of the domain and of the time, between 0 and 1; got {scale!r}.")
    return problem.replaced(smallest=float(scale))


def _solve_one(problem: Problem, task: Task, budget: Budget, told: Progress) -> Solution:
    heard = _logged(told) if _LOG.isEnabledFor(logging.DEBUG) else told
    if task.tolerances.solution is not None:
        solution = Search(problem, task, budget, heard).solve()
    else:
        solution = solve_once(problem, task, Hints(), heard).solution
    for width, error, seconds in () if solution.verdict is None else solution.verdict.attempts:
        _LOG.info("width %s: estimated error %.2g after %.2g s", width, error, seconds)
    _LOG.info("%s: %r", solution.status, solution)
    return solution


def _logged(told: Progress) -> Progress:
    def heard(stage: str) -> None:
        _LOG.debug("%s", stage)
        told(stage)

    return heard


def _solve_all(problem: Problem, task: Task, budget: Budget, told: Progress) -> tuple[Solution, ...]:
    """Return every solution that deflation finds, each to the tolerance; the budget is that of each."""
    from frozenpinn.static.several import coarse_solutions, refined

    if problem.is_linear:
        one = _solve_one(problem, task, budget, told)
        return (replace(one, notes=(*one.notes, "the problem is linear, so there is no other solution to look for")),)
    told("deflation")
    found = coarse_solutions(problem, task)

    def refine(start: Any) -> Solution:
        fresh = Budget(budget.seconds, budget.memory)
        return _solve_one(problem, replace(task, start=start), fresh, told)

    return refined(found, refine)


@spelled(SettingsError)
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

    Examples
    --------
    >>> import frozenpinn as fp
    >>> print(fp.check(fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0")))
    no objections
    """
    if not isinstance(problem, Problem):
        raise SettingsError(f"check() takes a Problem, got {type(problem).__name__}.")
    return _checked(problem)


def _checked(problem: Problem, without: Sequence[str] = ()) -> Findings:
    """Return what was found; a problem that passes is not checked again."""
    with Summarised():
        findings = check_well_posed(problem, without)
    _CHECKED.add(problem)
    return findings
