"""Inference: unknown numbers and fields of a problem from measurements, with error bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from frozenpinn.errors import SettingsError
from frozenpinn.inverse.answer import inferred
from frozenpinn.inverse.question import Question
from frozenpinn.inverse.result import Inferred
from frozenpinn.inverse.rules import InverseRules
from frozenpinn.runtime.arguments import is_whole, shown
from frozenpinn.runtime.stopwatch import Progress, Stopwatch, listening
from frozenpinn.runtime.threads import one_thread
from frozenpinn.search.settings import Settings
from frozenpinn.statement.measurements import Measurements
from frozenpinn.statement.problem import Problem

__all__ = ["infer"]


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
    question = Question.asked("infer", problem, data, seed, settings, rules)
    if not 0 < level < 1:
        raise SettingsError(f"level must lie between 0 and 1, got {level!r}; 0.95 is usual.")
    if starts is not None and (not is_whole(starts) or starts < 0):
        raise SettingsError(f"starts is how many other starts are tried, 0 or more; got {shown(starts)}.")
    question = replace(question, starts=starts, level=level)
    with listening(progress) as told, one_thread():  # many small factorisations, which lose by a second one
        return inferred(question, Stopwatch(told))
