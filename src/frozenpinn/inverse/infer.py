"""Inference: unknown numbers and fields of a problem from measurements, with error bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from frozenpinn.errors import ProblemError, SettingsError
from frozenpinn.inverse.design import Design, chosen_sensors
from frozenpinn.inverse.fields import infer_fields
from frozenpinn.inverse.numbers import infer_numbers
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.result import Inferred
from frozenpinn.inverse.rules import InverseRules
from frozenpinn.inverse.sensors import Data
from frozenpinn.inverse.unknowns import Numbers, beyond_tangents, check_present
from frozenpinn.runtime.arguments import is_whole, shown
from frozenpinn.runtime.progress import listening
from frozenpinn.runtime.stopwatch import Progress, Stopwatch
from frozenpinn.runtime.threads import one_thread
from frozenpinn.search.settings import Settings, Task
from frozenpinn.search.tolerances import Tolerances
from frozenpinn.statement.measurements import Measurements
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.unknowns import UnknownField

__all__ = ["design", "infer"]


def infer(
    problem: Problem,
    data: Measurements | Sequence[Measurements],
    *,
    seed: int = 0,
    level: float = 0.95,
    starts: int | None = None,
    progress: Progress | bool | None = None,
    settings: Settings | None = None,
    rules: InverseRules | None = None,
) -> Inferred:
    """Find the unknowns of a problem from measurements of its solution.

    The equation holds exactly: the unknowns are what makes its solution fit the measurements best, by Gauss–Newton
    with exact sensitivities.

    Parameters
    ----------
    problem
        With :class:`Unknown` or :class:`UnknownField` among its parameters.
    data
        Measurements; a list of them if several fields or derivatives were measured.
    seed
        Seed of the frozen layers; the same seed gives the same result, bit for bit.
    level
        Probability that an interval contains the truth.
    starts
        How many other starts are tried, spread over the bounds; by default some if the first fit is poor.
    progress
        Called with the name of each stage as it begins.
    settings
        Numerical choices that you want to make yourself.
    rules
        Tuned numbers that you want to replace.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem(
    ...     "u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": fp.Unknown(0.2)}
    ... )
    >>> data = fp.Measurements([0.5, 0.5], [0.61, 0.37], times=[0.5, 1.0], noise=0.01)
    >>> found = infer(problem, data)
    >>> print(found.parameters["k"])
    0.1005 ± 0.0021 (95 %: 0.0964 … 0.1046)
    """
    question = _asked("infer", problem, data, seed, settings, rules)
    if not 0 < level < 1:
        raise SettingsError(f"level must lie between 0 and 1, got {level!r}; 0.95 is usual.")
    if starts is not None and (not is_whole(starts) or starts < 0):
        raise SettingsError(f"starts is how many other starts are tried, 0 or more; got {shown(starts)}.")
    question = replace(question, starts=starts, level=level)
    with listening(progress) as told, one_thread():  # many small factorisations, which lose by a second one
        return (infer_fields if problem.parameters.unknown_fields else infer_numbers)(question, Stopwatch(told))


def design(
    problem: Problem,
    points: Any,
    count: int,
    *,
    times: Any = None,
    field: str | None = None,
    noise: float = 1.0,
    seed: int = 0,
    settings: Settings | None = None,
) -> Design:
    """Choose sensors among candidates: those from which the unknowns can be inferred best.

    They are chosen one after another, each the one that shrinks the volume of the error bars most, at the start of the
    unknowns. Nothing is measured for that.

    Parameters
    ----------
    problem
        With :class:`Unknown` among its parameters.
    points, times
        Where candidates are, shape (n, d), and when, shape (n,).
    count
        How many to choose.
    field
        What they would measure, if there are several fields.
    noise
        Their standard deviation.
    seed, settings
        As for :func:`infer`.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> problem = fp.Problem("k*u_xx = -1", fp.Interval(0, 1), boundary="u = 0", parameters={"k": fp.Unknown(1.0)})
    >>> design(problem, [0.1, 0.2, 0.5, 0.9], 1).chosen
    (2,)
    """
    n = len(np.atleast_1d(np.asarray(points, dtype=float)))
    candidates = Measurements(points, np.zeros(n), times, field, noise=noise)
    question = _asked("design", problem, candidates, seed, settings, None)
    if problem.parameters.unknown_fields:
        raise SettingsError("design() chooses sensors for unknown numbers; give the unknown fields values with at(…).")
    if not isinstance(count, int) or not 0 < count <= n:
        raise SettingsError(f"count must lie between 1 and the number of candidates, {n}; got {count!r}.")
    return chosen_sensors(question, count)


def _asked(
    who: str, problem: Problem, data: Any, seed: int, settings: Settings | None, rules: InverseRules | None
) -> Question:
    """Check what was given, and put it into one value."""
    if not isinstance(problem, Problem):
        raise SettingsError(f"{who}() takes a Problem, got {type(problem).__name__}.")
    if not problem.parameters.inferred:
        raise ProblemError(
            "the problem has no unknown: write one into it, such as parameters={'k': Unknown(1.0)}, or call "
            "solve(problem)."
        )
    check_present(problem)
    special = beyond_tangents(problem)
    if special and (problem.is_static or problem.parameters.unknown_fields):
        raise SettingsError(
            f"{who}() knows {special} in evolutions with unknown numbers only. Instead of a jump, write a smooth "
            "transition such as tanh((x - a)/w); instead of an unknown field, one with unknown numbers in it."
        )
    _check_frame(who, problem)
    settings = Settings() if settings is None else settings
    task = Task(settings, seed, Tolerances.of(None, settings.rtol, settings.rules.search))
    return Question(Numbers(problem), Data.read(data, problem), task, InverseRules() if rules is None else rules)


def _check_frame(who: str, problem: Problem) -> None:
    """Refuse unknown functions of coordinates that are not those of the solve."""
    frame = problem.frame
    if frame is None or not frame.is_called:
        return
    for name in problem.parameters.unknown_fields:
        value = problem.parameters.inferred[name]
        if isinstance(value, UnknownField) and value.of != ("t",):
            raise SettingsError(
                f"{who}() finds unknown numbers and functions of t in {frame.kind} coordinates, but '{name}' depends "
                "on the place. State the problem in Cartesian coordinates."
            )
