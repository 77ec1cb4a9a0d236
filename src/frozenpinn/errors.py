"""The errors and warnings of frozenpinn: few kinds, each with a text that says what to write instead."""

from __future__ import annotations

import difflib
import os
import sys
import warnings
from collections.abc import Iterable
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class FrozenPinnError(Exception):
    """Base class of every error raised on purpose by this library."""


class ProblemError(FrozenPinnError, ValueError):
    """The mathematical statement is incomplete, contradictory or not understood."""


class ExpressionError(ProblemError):
    """A text could not be read as an expression; the message points at the place."""


class SettingsError(FrozenPinnError, ValueError):
    """A numerical setting (width, points, integrator, …) does not fit the problem."""


class MissingExtraError(SettingsError):
    """An optional dependency is not installed."""


class EvaluationError(FrozenPinnError, ValueError):
    """A user's function, or a request to evaluate a solution, returned or asked for nonsense."""


class IntegrationError(FrozenPinnError, RuntimeError):
    """The time integration failed; ``time`` tells where, and what was computed before is kept.

    Attributes
    ----------
    time
        Where the integration stopped.
    solution
        The :class:`Solution` up to the last accepted step, with ``solution.problem.time`` cut there; None if there
        was no such step. It is as accurate as any other, but near a blow-up or a shock nothing is.
    trajectory
        Its coefficients.
    """

    def __init__(self, message: str, time: float = float("nan"), trajectory: object = None) -> None:
        super().__init__(message)
        self.time = time
        self.trajectory = trajectory
        self.solution: Any = None


class ConvergenceError(FrozenPinnError, RuntimeError):
    """An iteration did not converge: Newton's method for a static problem, or one for a linear system.

    Attributes
    ----------
    at_fold
        Whether a path to the problem was seen to end at a fold, so that more neurons would not help.
    """

    def __init__(self, message: str, at_fold: bool = False) -> None:
        super().__init__(message)
        self.at_fold = at_fold


class BudgetError(FrozenPinnError, RuntimeError):
    """The limits of time or memory were reached before there was anything to return."""


class FrozenPinnWarning(UserWarning):
    """Something is suspicious, but an answer could be given."""


class ResolutionWarning(FrozenPinnWarning):
    """The basis may be too coarse; an estimate of the error within the tolerance tells that it is not."""


def warn(message: str | Warning, category: type[Warning] = FrozenPinnWarning) -> None:
    """Warn at the line of the user that called this library, however deep inside it the reason is found."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return `` Did you mean 'beta'?`` if a known name is close to ``name``, else nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean '{close[0]}'?" if close else ""


def choices(names: Iterable[str]) -> str:
    """Return a readable, sorted list of legal names for an error text."""
    return ", ".join(f"'{name}'" for name in sorted(names)) or "none"
