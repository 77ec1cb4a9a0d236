"""The errors and warnings of frozenpinn: few kinds, each with a text that says what to write instead."""

from __future__ import annotations

import difflib
import functools
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self, TypeVar

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_QUOTED = re.compile(r"'[^']*'")
Function = TypeVar("Function", bound=Callable[..., Any])
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class FrozenPinnError(Exception):
    """Base class of every error raised on purpose by this library.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> try:
    ...     fp.Interval(1, 0)
    ... except fp.FrozenPinnError as error:
    ...     print(type(error).__name__)
    ProblemError
    """

    def __str__(self) -> str:
        return visible(super().__str__())

    def _render_traceback_(self) -> list[str]:
        """Return what notebooks show: the user's own lines, and the message; not the inside of this library."""
        frames = traceback.extract_tb(self.__traceback__)
        library = (_HERE, f"{os.sep}IPython{os.sep}", f"{os.sep}ipykernel{os.sep}")
        own = [frame for frame in frames if not any(part in frame.filename for part in library)]
        where = [f"line {frame.lineno}, in {frame.name}:  {frame.line}" for frame in own if frame.line]
        return [*where, f"{type(self).__name__}: {self}"]


def visible(text: str) -> str:
    """Return a text with its control characters written out, which would act on a terminal; lines and tabs stay.

    Examples
    --------
    >>> visible("unknown name " + chr(7)) == "unknown name " + ascii(chr(7)).strip("'")
    True
    """
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


class ProblemError(FrozenPinnError, ValueError):
    """The mathematical statement is incomplete, contradictory or not understood.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    frozenpinn.errors.ProblemError: no boundary condition for the sides 'left', 'right'; write ...
    """


class ExpressionError(ProblemError):
    """A text could not be read as an expression; the message points at the place."""


class SettingsError(FrozenPinnError, ValueError):
    """A numerical setting (width, points, integrator, …) does not fit the problem.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> fp.Settings(width=-3)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    frozenpinn.errors.SettingsError: ...
    """


class MissingExtraError(SettingsError):
    """An optional dependency is not installed."""

    @classmethod
    def of(cls, what: str, package: str, extra: str) -> Self:
        """Return the error of what needs a package, with the command that installs it with its extra."""
        return cls(f"{what} the package {package}; in a clone of frozenpinn, write: pip install '.[{extra}]'")


class EvaluationError(FrozenPinnError, ValueError):
    """A user's function, or a request to evaluate a solution, returned or asked for nonsense.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> fp.solve(rod)(2.0, 0.1)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    frozenpinn.errors.EvaluationError: ...
    """


class IntegrationError(FrozenPinnError, RuntimeError):
    """The time integration failed; ``time`` says when, and what was computed before is kept.

    Attributes
    ----------
    time
        Where the integration stopped.
    solution
        The :class:`Solution` up to the last accepted step, with ``solution.problem.time`` cut there; None if there
        was no such step. It is as accurate as any other, but near a blow-up or a shock nothing is.
    trajectory
        Its coefficients.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> growing = fp.Problem("u_t = u**2", fp.Interval(0, 1), (0, 2), 1, fp.Free())
    >>> try:
    ...     fp.solve(growing)
    ... except fp.IntegrationError as error:
    ...     print(f"blow-up at t = {error.time:.2f}")
    blow-up at t = 1.00
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

    Examples
    --------
    >>> import frozenpinn as fp
    >>> beyond = fp.Problem("u_xx + 5*exp(u) = 0", fp.Interval(0, 1), boundary="u = 0")  # the fold is at 3.51
    >>> try:
    ...     fp.solve(beyond)
    ... except fp.ConvergenceError:
    ...     print("no solution")
    no solution
    """

    def __init__(self, message: str, at_fold: bool = False) -> None:
        super().__init__(message)
        self.at_fold = at_fold


class BudgetError(FrozenPinnError, RuntimeError):
    """The limits of time or memory were reached before there was anything to return.

    Examples
    --------
    >>> fp.solve(problem, tol=1e-6, time_limit=0.001)  # doctest: +SKIP
    Traceback (most recent call last):
    frozenpinn.errors.BudgetError: the time limit of 0.001 s was over during: ...
    """


class InterruptionError(KeyboardInterrupt):
    """A solve was interrupted by Ctrl-C; like any KeyboardInterrupt it passes ``except Exception``.

    Attributes
    ----------
    solution
        The best :class:`Solution` so far, with its estimate; None if there was none.
    """

    def __init__(self, message: str, solution: Any = None) -> None:
        super().__init__(message)
        self.solution = solution


def interruptible(function: Function) -> Function:
    """Make a function raise an error with a ``solution``, if only None, wherever Ctrl-C finds it.

    Examples
    --------
    >>> @interruptible
    ... def early():
    ...     raise KeyboardInterrupt
    >>> try:
    ...     early()
    ... except KeyboardInterrupt as error:
    ...     print(error, error.solution)
    interrupted; there is no solution yet. None
    """

    @functools.wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except InterruptionError:
            raise
        except KeyboardInterrupt:
            raise InterruptionError("interrupted; there is no solution yet.") from None

    return called  # type: ignore[return-value]


class StorageError(FrozenPinnError, OSError):
    """A file of a solution or a picture can't be written or read, or is damaged; the message names file and place.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> fp.load("nothing.fpinn")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    frozenpinn.errors.StorageError: ...
    """


class FrozenPinnWarning(UserWarning):
    """Something is suspicious, but an answer could be given.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("error", FrozenPinnWarning)  # doctest: +SKIP
    """


class ResolutionWarning(FrozenPinnWarning):
    """The basis may be too coarse; it is not if the estimated error is within the tolerance."""


def warn(message: str | Warning, category: type[Warning] = FrozenPinnWarning) -> None:
    """Warn at the line of the user that called this library, however deep inside it the reason is found."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(visible(message) if isinstance(message, str) else message, category, stacklevel=level)


@contextmanager
def silenced(category: type[Warning] = FrozenPinnWarning) -> Iterator[None]:
    """Ignore warnings that have been issued before, or are reported in another way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        yield


@contextmanager
def noted() -> Iterator[list[warnings.WarningMessage]]:
    """Collect warnings instead of showing them, so that the caller can decide later which of them hold."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def repeat(caught: Iterable[warnings.WarningMessage]) -> None:
    """Issue the warnings that were collected."""
    for warning in caught:
        warn(warning.message)


class Summarised:
    """Issues warnings that differ only in numbers once, with their count, when a block ends.

    Of more than three that differ in quoted names as well, the first stands for all.
    """

    def __enter__(self) -> None:
        self._recorder = noted()
        self._caught = self._recorder.__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        self._recorder.__exit__(kind, error, trace)
        several = 3
        alike = _grouped([[caught] for caught in self._caught], _NUMBER)
        for group in _grouped(alike, _QUOTED):
            parts = [group] if len(group) > several else _grouped([[caught] for caught in group], _NUMBER)
            for part in parts:
                self._issue([caught.message for caught in part], part[0].category, error)

    def _issue(self, messages: list[Warning | str], category: type[Warning], error: BaseException | None) -> None:
        """Issue the first of some warnings, with the number of the others."""
        more = f" There are {len(messages) - 1} more of this kind." if len(messages) > 1 else ""
        try:
            warn(messages[0] if not more else f"{messages[0]}{more}", category)
        except Warning:
            if error is None:  # which takes precedence over a warning turned into an error
                raise


def _grouped(
    found: Iterable[list[warnings.WarningMessage]], particular: re.Pattern[str]
) -> list[list[warnings.WarningMessage]]:
    """Join groups of warnings whose texts are the same but for what is particular."""
    groups: dict[tuple[type[Warning], str], list[warnings.WarningMessage]] = {}
    for group in found:
        key = (group[0].category, particular.sub("#", _NUMBER.sub("#", str(group[0].message))))
        groups.setdefault(key, []).extend(group)
    return list(groups.values())


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return `` Did you mean 'beta'?`` if a known name is close to ``name``, else nothing."""
    known = list(map(str, known))
    alike = [own for own in known if own.lower() == str(name).lower()]
    close = difflib.get_close_matches(str(name), known, n=1) or alike
    return f" Did you mean '{close[0]}'?" if close else ""


def choices(names: Iterable[str]) -> str:
    """Return a readable, sorted list of legal names for an error text."""
    return ", ".join(f"'{name}'" for name in sorted(map(str, names))) or "none"
