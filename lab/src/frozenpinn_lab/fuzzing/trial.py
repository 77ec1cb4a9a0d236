"""One hostile input and what becomes of it."""

from __future__ import annotations

import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from frozenpinn.errors import FrozenPinnError, FrozenPinnWarning

PATIENCE = 10.0  #: seconds of the processor that no input may take …
ASLEEP = 6.0  #: … and as many times as long by the clock
MEMORY = 2 * 2**30  #: bytes that no input may take beyond what the process has


class WrongValueError(Exception):
    """Something was accepted and has given another value than it should."""


class HangError(BaseException):
    """An input took longer than it may."""


@dataclass(frozen=True)
class Trial:
    """An input: how it can be told again, and what is done with it."""

    label: str
    action: Callable[[], object]


@dataclass(frozen=True)
class Outcome:
    """What became of an input.

    Attributes
    ----------
    verdict
        ``"refused"`` by an error of this library, ``"accepted"``, or what should not be: ``"raw"`` (another error or
        warning), ``"slow"``, ``"memory"``, ``"wrong"``.
    text
        The error.
    seconds
        How long it kept the processor busy.
    """

    label: str
    verdict: str
    text: str
    seconds: float

    @property
    def good(self) -> bool:
        """Whether this is as it should be."""
        return self.verdict in ("refused", "accepted")


def outcome_of(trial: Trial) -> Outcome:
    """Try one input, within limits of time and memory where the system has them."""
    started = time.process_time()

    def told(verdict: str, text: str = "") -> Outcome:
        return Outcome(trial.label, verdict, text[-600:], time.process_time() - started)

    try:
        with limited(PATIENCE, MEMORY), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", FrozenPinnWarning)
            trial.action()
    except FrozenPinnError as error:
        return told("refused", str(error))
    except WrongValueError as error:
        return told("wrong", str(error))
    except MemoryError:
        return told("memory", "more than 2 GB")
    except HangError:
        return told("slow", f"longer than {PATIENCE:g} s")
    except Exception as error:  # whatever is not of this library's own making is what is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        return told("raw", f"{type(error).__name__}: {str(error)[:200]} (in {place.name}, line {place.lineno})")
    return told("accepted")


@contextmanager
def limited(seconds: float, memory: int) -> Iterator[None]:
    """Break off what takes too long, and let allocations fail that are too large."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield  # neither threads nor every system have such limits
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise HangError

    kinds = ((signal.SIGPROF, signal.ITIMER_PROF, seconds), (signal.SIGALRM, signal.ITIMER_REAL, ASLEEP * seconds))
    previous = [signal.signal(number, stop) for number, _, _ in kinds]
    for _, timer, limit in kinds:
        signal.setitimer(timer, limit, 0.5)  # again and again: a destructor may swallow the first one
    try:
        with _less_memory(memory):
            yield
    finally:
        for (number, timer, _), before in zip(kinds, previous, strict=True):
            signal.setitimer(timer, 0.0)
            signal.signal(number, before)


@contextmanager
def _less_memory(more: int) -> Iterator[None]:
    """Let the process have some more address space than it has, and no more."""
    import resource

    try:
        with open("/proc/self/statm", encoding="ascii") as handle:
            now = int(handle.read().split()[0]) * resource.getpagesize()
    except OSError:  # not on every system
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
