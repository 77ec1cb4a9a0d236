"""Paths of solutions: ``fp.follow(problem, "lam", (0, 7))``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError, SettingsError, interruptible
from frozenpinn.paths.continuation import OneParameter
from frozenpinn.paths.follower import Follower
from frozenpinn.paths.path import Path
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.arguments import spelled
from frozenpinn.runtime.stopwatch import Progress, listening
from frozenpinn.search.settings import Settings, Task, Tolerances, read_tolerance
from frozenpinn.solve import kind_of, solve
from frozenpinn.statement.consistency import refuse_quantities
from frozenpinn.statement.laws import refuse_laws
from frozenpinn.statement.parameters import check_known
from frozenpinn.statement.problem import Problem

_NORMS = ("L2", "max")


@interruptible
@spelled(SettingsError)
def follow(
    problem: Problem,
    parameter: str,
    span: tuple[float, float],
    *,
    tol: float = 1e-8,
    steps: int | None = None,
    norm: str = "L2",
    seed: int = 0,
    progress: Progress | bool | None = None,
    settings: Settings | None = None,
    start: Any = None,
) -> Path:
    """Follow the solutions of a static problem from one value of a parameter on, through folds.

    Parameters
    ----------
    problem
        A static problem.
    parameter
        Name of one of its constants; the value that it has does not matter.
    span
        Where the path starts and where it is to end. It also ends where it leaves this range at either end.
    tol
        Relative error asked of the parameter at folds, and of the solutions of :meth:`Path.at`.
    steps
        Along the path, at most; 150 by default.
    norm
        Which norm of the solutions is listed and drawn: ``"L2"`` or ``"max"``.
    seed
        Of the frozen layers.
    progress
        Called with what is being done.
    settings
        Numerical choices that you want to make yourself.
    start
        What Newton's method starts from at the first value, as in :func:`solve`.

    Raises
    ------
    ConvergenceError
        If there is no solution at the start of the range.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> bratu = fp.Problem("u_xx + lam*exp(u) = 0", fp.Interval(0, 1), boundary="u = 0", parameters={"lam": 1})
    >>> path = fp.follow(bratu, "lam", (0, 4), steps=24)
    >>> [round(fold.value, 9) for fold in path.folds]
    [3.513830719]
    >>> [round(float(solution(0.5)), 6) for solution in path.at(3.0)]
    [0.640147, 1.975267]
    """
    if not isinstance(problem, Problem):
        raise SettingsError(f"follow() takes a Problem, got {type(problem).__name__}.")
    if not problem.is_static:
        raise ProblemError("follow() is for static problems; this one has time derivatives. Leave out time= and them.")
    refuse_laws(problem.laws, "follow()")
    refuse_quantities(problem, "follow()")
    first, last = _read_span(span)
    settings = Settings() if settings is None else settings
    if norm not in _NORMS:
        raise SettingsError(f"norm must be 'L2' or 'max', got {norm!r}.")
    if steps is not None:
        if not isinstance(steps, int | np.integer) or isinstance(steps, bool) or steps < 1:
            raise SettingsError(f"steps must be a positive whole number, got {steps!r}.")
        static = settings.rules.static
        rules = replace(settings.rules, static=replace(static, path=replace(static.path, steps=int(steps))))
        settings = replace(settings, rules=rules)
    wanted = read_tolerance(tol)
    assert wanted is not None
    tolerances = Tolerances.of(None, None, settings.rules.search)
    task = Task(settings, seed, tolerances, start=start, kind=kind_of(problem))
    known = _read_parameter(problem, parameter)
    refine = partial(_refined, wanted, seed)
    with listening(progress) as told:
        return Follower(known, (first, last), task, wanted, norm, refine, told).follow()


def _refined(tol: float, seed: int, problem: Problem, start: Any) -> Solution:
    """Solve a problem from a point of a path, to its tolerance."""
    return solve(problem, tol=tol, seed=seed, start=start)


def _read_span(span: Any) -> tuple[float, float]:
    try:
        first, last = (float(value) for value in span)
    except (TypeError, ValueError):
        raise SettingsError(f"the range of the parameter is two numbers such as (0, 7), got {span!r}.") from None
    if not (np.isfinite(first) and np.isfinite(last)):
        raise SettingsError(f"the range of the parameter must be finite, got ({first:g}, {last:g}).")
    if first == last:
        raise SettingsError(f"the range of the parameter is empty: both ends are {first:g}. Write for example (0, 7).")
    return first, last


def _read_parameter(problem: Problem, name: Any) -> OneParameter:
    """Return the problem as a function of a parameter."""
    if not isinstance(name, str):
        raise SettingsError(f"the parameter is given by its name, such as 'lam'; got {name!r}.")
    check_known([name], problem.given["parameters"])
    if name not in problem.parameters.constants:
        raise ProblemError(
            f"parameter '{name}' is a function of the coordinates; a path needs one that is a number. Write it as "
            "lam*f with a number lam, and follow that."
        )
    found = OneParameter.of(problem, name)
    if not found.matters:
        raise ProblemError(f"neither the equations nor the conditions depend on '{name}'; there is nothing to follow.")
    return found
