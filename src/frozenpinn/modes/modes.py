"""Eigenvalues, steady states and their stability: what a user calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from frozenpinn.analysis.wellposedness import check_well_posed
from frozenpinn.errors import ConvergenceError, ProblemError, SettingsError, interruptible, warn
from frozenpinn.modes.eigenproblem import Eigenproblem, of_linearisation, of_statement
from frozenpinn.modes.plan import make_plan
from frozenpinn.modes.result import Modes
from frozenpinn.modes.solve import find_modes
from frozenpinn.modes.stability import Stability, at_rest
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arguments import shown, spelled
from frozenpinn.runtime.budget import Budget
from frozenpinn.runtime.stopwatch import Progress, listening
from frozenpinn.search.settings import Settings, read_tolerance
from frozenpinn.solve import solve
from frozenpinn.statement.consistency import refuse_quantities
from frozenpinn.statement.data import is_solved
from frozenpinn.statement.laws import refuse_laws
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.steady import without_time

__all__ = ["modes", "stability", "steady"]


@interruptible
@spelled(SettingsError)
def modes(
    problem: Problem,
    count: int = 10,
    *,
    near: complex | None = None,
    about: Solution | None = None,
    tol: float | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    progress: Progress | bool | None = None,
    settings: Settings | None = None,
) -> Modes:
    """Find eigenvalues and eigenfunctions, each with an error estimate.

    Every eigenvalue is found on three networks that are drawn independently; its distance from the others is its error,
    and values that do not reappear are left out, with a note.

    Parameters
    ----------
    problem
        With an :class:`Eigenvalue` among its parameters; or a static problem whose linearisation F'(u) v = λ v about a
        solution is meant, F(u) being the left-hand side of its equations minus the right-hand side.
    count
        How many eigenvalues.
    near
        The eigenvalues nearest to this number are found; those of smallest modulus by default.
    about
        The solution to linearise about; none for problems with an Eigenvalue.
    tol
        Error asked of every eigenvalue, relative to it, or to a hundredth of the largest of them (and of the first
        four) for those that are smaller. Networks grow until all estimates are within it, or the time is over.
    seed
        Seed of the frozen layers; the same seed gives the same bits.
    time_limit, memory_limit
        Seconds and bytes that may be used for growing; a minute by default.
    progress
        Called with what is being done; by default a bar appears after two seconds. False shows nothing.
    settings
        Numerical choices that you want to make yourself: width, points, sampler, cutoff, rules.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> drum = fp.Problem(
    ...     "-lap(u) = lam*u", fp.Disk((0, 0), 1), boundary="u = 0", parameters={"lam": fp.Eigenvalue()}
    ... )
    >>> found = fp.modes(drum, 3)
    >>> found.values.round(9), bool(found.errors.max() < 1e-9)
    (array([ 5.78318596, 14.68197064, 14.68197064]), True)
    >>> float(found[0](0.0, 0.0).round(8))
    1.08676164
    """
    if not isinstance(problem, Problem):
        raise SettingsError(f"modes() takes a Problem, got {type(problem).__name__}.")
    _check_count(count)
    is_number = isinstance(near, int | float | complex | np.number) and not isinstance(near, bool)
    if near is not None and not (is_number and abs(near) < 1e300):
        raise SettingsError(f"near is a number; the eigenvalues nearest to it are returned. Got {shown(near)}.")
    eigenproblem = _read(problem, about, settings.without if isinstance(settings, Settings) else ())
    target = 0.0 if near is None else complex(near) if np.imag(near) else float(np.real(near))
    options = (tol, seed, Budget(time_limit, memory_limit), progress, settings)
    return _found(eigenproblem, eigenproblem.problem, int(count), target, False, *options)


def _read(problem: Problem, about: Solution | None, without: Sequence[str]) -> Eigenproblem:
    """Return the eigenvalue problem that is meant, or say why there is none."""
    refuse_laws(problem.laws, "modes()")
    refuse_quantities(problem, "modes()")
    if problem.parameters.unknown:
        if about is not None:
            raise SettingsError(
                "about= is for the linearisation of a nonlinear problem; this one has an Eigenvalue and is linear. "
                "Leave one of the two out."
            )
        check_well_posed(problem, without)
        return of_statement(problem)
    if about is None:
        raise ProblemError(
            "there is no eigenvalue in the problem; write for example Problem('-lap(u) = lam*u', …, "
            "parameters={'lam': Eigenvalue()}), or modes(problem, 10, about=solution) for those of the linearisation "
            "about a solution."
        )
    if not problem.is_static:
        raise SettingsError("modes() takes static problems; for an evolution call stability(problem, about=solution).")
    return of_linearisation(problem, at_rest(about, problem), problem)


def _check_count(count: Any) -> None:
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise SettingsError(f"the number of eigenvalues is a positive whole number, got {count!r}.")


def _found(
    eigenproblem: Eigenproblem,
    shown: Problem,
    count: int,
    near: complex,
    rightmost: bool,
    tol: float | None,
    seed: int,
    budget: Budget,
    progress: Progress | bool | None,
    settings: Settings | None,
) -> Modes:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise SettingsError(f"seed must be a whole number from 0 on, got {seed!r}.")
    plan = make_plan(eigenproblem, Settings() if settings is None else settings, count, near, rightmost)
    with listening(progress) as told:
        return find_modes(plan, shown, read_tolerance(tol), int(seed), budget, told)


@spelled(SettingsError)
def steady(
    problem: Problem,
    start: Any = None,
    *,
    constraint: str | Sequence[str] | None = None,
    tol: float | None = 1e-8,
    seed: int = 0,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    progress: Progress | bool | None = None,
    settings: Settings | None = None,
) -> Solution:
    """Find a steady state of a time-dependent problem: the same equations without time derivatives.

    Newton's method starts from the initial value, or from ``start``; there may be several steady states, and the one it
    finds need not be stable: ask :func:`stability`.

    Parameters
    ----------
    problem
        A problem with time, nothing of which depends on t.
    start
        As for :func:`solve`: a number, text, a function, a dict of these by field, or a solution.
    constraint
        What picks one of many steady states where the evolution conserves something: ``"mean(u) = 1"``.
    tol, seed, time_limit, memory_limit, progress, settings
        As for :func:`solve`.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> heated = fp.Problem("u_t = u_xx + 1", fp.Interval(0, 1), (0, 1), 0, "u = 0")
    >>> float(fp.steady(heated)(0.5).round(9))
    0.125
    """
    if not isinstance(problem, Problem):
        raise SettingsError(f"steady() takes a Problem, got {type(problem).__name__}.")
    static = without_time(problem, constraint)
    options: dict[str, Any] = {"tol": tol, "seed": seed, "progress": progress, "settings": settings}
    options |= {"time_limit": time_limit, "memory_limit": memory_limit}
    if static.is_linear or start is not None:
        return solve(static, start=None if static.is_linear else start, **options)
    try:
        return solve(static, start=_initial(problem), **options)
    except ConvergenceError:
        found = solve(static, **options)
    warn(
        "Newton's method does not find a steady state from the initial value; the one that it finds from the boundary "
        "data may be another one than you expect. Give start= to look elsewhere."
    )
    return found


def _initial(problem: Problem) -> Any:
    """Return the initial data as a start: fields without a time derivative may have none."""
    given = problem.given["initial"] if problem.given else None
    if not problem.determined or is_solved(given):
        return given
    missing: dict[str, Any] = dict.fromkeys(problem.determined, 0)
    known = {name: datum.expression for name, datum in (*problem.initial.items(), *problem.guess.items())}
    return None if None in known.values() else {**missing, **known}


@spelled(SettingsError)
def stability(
    steady_state: Solution | Problem,
    count: int = 6,
    *,
    about: Solution | None = None,
    tol: float | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    progress: Progress | bool | None = None,
    settings: Settings | None = None,
) -> Stability:
    """Determine whether small disturbances of a steady state grow: the rightmost eigenvalues of the linearisation.

    Parameters
    ----------
    steady_state
        What :func:`steady` has returned; or a problem with time, whose steady state is found first.
    count
        How many eigenvalues.
    about
        The steady state of a problem that is given: a solution.
    tol, seed, time_limit, memory_limit, progress, settings
        As for :func:`modes`.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> fisher = fp.Problem("u_t = u_xx + 20*u*(1 - u)", fp.Interval(0, 1), (0, 1), 1, "u_x = 0")
    >>> print(fp.stability(fp.steady(fisher, start=0)).verdict, fp.stability(fisher).verdict)
    unstable stable
    """
    _check_count(count)
    problem, state = _evolution(steady_state, about)
    refuse_laws(problem.laws, "stability()")
    refuse_quantities(problem, "stability()")
    _refuse_unknown_rates(problem)
    if state is None:
        state = steady(problem, seed=seed, progress=progress)
    shown = state.problem if isinstance(state.problem, Problem) and state.problem.is_static else without_time(problem)
    eigenproblem = of_linearisation(problem, at_rest(state, problem), shown)
    budget = Budget(time_limit, memory_limit)
    found = _found(eigenproblem, shown, int(count), 0.0, True, tol, seed, budget, progress, settings)
    rules = (Settings() if settings is None else settings).rules.modes
    return Stability.of(found, state, rules.neutral)


def _refuse_unknown_rates(problem: Problem) -> None:
    """Refuse evolutions whose eigenvalues would be wrong."""
    second = next((equation for equation in problem.equations if equation.order == 2), None)
    if second is not None and problem.determined:
        raise ProblemError(
            f"stability() can't treat '{second}' beside equations without a time derivative; write it as a first-order "
            "system."
        )
    implicit = next((equation for equation in problem.equations if equation.mass), None)
    if implicit is not None:
        raise ProblemError(
            f"stability() can't treat derivatives in space of the highest time derivative, as in '{implicit}'; for "
            "linear equations write the eigenvalue problem, such as 'u_xx = lam*(u - u_xx)', and call modes()."
        )
    if problem.interfaces is not None and problem.domain.dimension > 1:
        raise ProblemError(
            "stability() knows coefficients that jump on intervals only; for linear equations write the eigenvalue "
            "problem, such as '-div(k*grad(u)) = lam*u', and call modes()."
        )


def _evolution(given: Any, about: Solution | None) -> tuple[Problem, Solution | None]:
    """Return the problem with time, and its steady state if it is known."""
    if isinstance(given, Problem):
        if given.is_static:
            raise SettingsError(
                "stability() needs a problem with time: disturbances of a static one have no law to grow by. "
                "modes(problem, 10, about=solution) gives eigenvalues of its linearisation."
            )
        return given, about
    if not isinstance(given, Solution):
        raise SettingsError(f"stability() takes what steady() returns, or a Problem; got {type(given).__name__}.")
    evolution = getattr(given.problem, "evolution", None)
    if evolution is None:
        raise SettingsError(
            "this solution does not know the problem with time that it is a steady state of; write "
            "stability(problem, about=solution)."
        )
    return evolution, given
