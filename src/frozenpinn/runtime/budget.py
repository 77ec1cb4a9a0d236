"""Limits of a solve in seconds and bytes; stages that do not check the clock are interrupted, as by Ctrl-C."""

from __future__ import annotations

import _thread
import ctypes
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache

from frozenpinn.errors import BudgetError, SettingsError
from frozenpinn.runtime.arguments import between, shown
from frozenpinn.runtime.threads import threads_restored

Progress = Callable[[str], None]
_PART = 0.6  # of the free memory that may be used if no limit is given
_ANY = 2e5  # bytes of programs and tables that any solve takes, beside its arrays


# ---- deadlines ------------------------------------------------------------------------------------


class OverrunError(BudgetError):
    """A stage was interrupted before its end."""

    def __init__(self, message: str = "the time limit was over in the midst of a stage.") -> None:
        super().__init__(message)


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Raise an :class:`OverrunError` in this thread if a block takes longer; None never does."""
    if seconds is None:
        yield
        return
    with threads_restored():
        watch = _Watch(_thread.get_ident(), max(0.0, seconds))
        try:
            _thread.start_new_thread(watch.run, ())
            yield
        except Exception as error:
            if not isinstance(error, OverrunError) and _stems_from_overrun(error):
                raise OverrunError from None
            raise
        finally:
            watch.over = True  # at once: the call itself may be interrupted
            watch.stop()


def _stems_from_overrun(error: BaseException | None) -> bool:
    """Whether other code has turned an overrun into an error of its own, as NumPy does here and there."""
    while error is not None and not isinstance(error, OverrunError):
        error = error.__cause__ or error.__context__
    return error is not None


class _Watch:
    """Waits in a thread of its own.

    An exception that arrives from outside can break off any line of Python, the end of the block included. So there are
    no locks between the two threads, which might stay locked: each sets its own flag before it reads that of the other.
    """

    def __init__(self, target: int, seconds: float) -> None:
        self._target, self._seconds = ctypes.c_ulong(target), float(seconds)
        self.over = self._raising = self._raised = False
        self._gate = _thread.allocate_lock()
        self._gate.acquire()

    def run(self) -> None:
        """Raise when the time is over, and again while the block goes on."""
        again = 0.25  # seconds after which it is tried again: some callbacks of C code swallow exceptions
        wait = min(self._seconds, _thread.TIMEOUT_MAX)
        while not self._gate.acquire(timeout=wait):
            self._raising = True
            if not self.over:
                self._raised = True
                self._raise()
            self._raising = False
            if self.over:
                return
            wait = again

    def stop(self) -> None:
        """Let the block go on without a limit; what has been raised but not yet arrived arrives here."""
        while True:
            try:
                self.over = True
                while self._raising:
                    time.sleep(0)
                if self._raised:
                    self._raised = False
                    self._take_back()
                if self._gate.locked():
                    self._gate.release()
            except OverrunError:
                continue
            return

    def _take_back(self) -> None:
        """Wait for what is on its way.

        Python has a call to cancel it, which leaves a flag behind: with a profiler the interpreter then waits for ever.
        """
        self._raise()
        while True:
            pass

    def _raise(self) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(self._target, ctypes.py_object(OverrunError))


# ---- budget ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Budget:
    """Limits of a solve: ``seconds`` from ``started`` on, ``memory`` in bytes; None for the defaults."""

    seconds: float | None = None
    memory: float | None = None
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        for name, value, unit in (("time_limit", self.seconds, "seconds"), ("memory_limit", self.memory, "bytes")):
            if value is not None and not between(value, 1e-300, 1e300):
                raise SettingsError(f"{name} is a positive number of {unit}, got {shown(value)}.")

    @property
    def left(self) -> float:
        """Seconds that may still be used for growing."""
        patience = 60.0  # seconds for growing if no limit is given
        return (patience if self.seconds is None else float(self.seconds)) - (time.perf_counter() - self.started)

    @property
    def bytes(self) -> float:
        """Memory that may be used."""
        return _free_memory() if self.memory is None else float(self.memory)

    @property
    def limit(self) -> str:
        """The limit of time in words."""
        return "of a minute (give time_limit for more)" if self.seconds is None else f"of {self.seconds:g} s"

    def watched(self, progress: Progress) -> Progress:
        """Return a progress function that raises when the time given is over."""
        if self.seconds is None:
            return progress

        def told(stage: str) -> None:
            self.check(stage)
            progress(stage)

        return told

    def enforced(self, kept: float = 0.0) -> AbstractContextManager[None]:
        """Return a block that is interrupted when it exceeds the limit by more than a short grace period."""
        grace, moment = 0.05, 0.3  # part of a limit, and seconds, that a stage may overrun before it is interrupted
        if self.seconds is None:
            return nullcontext()
        return deadline(max(0.0, self.left - kept) + grace * self.seconds + moment)

    def check(self, stage: str, kept: float = 0.0) -> None:
        """Stop at a stage if less than ``kept`` seconds are left."""
        if self.left < kept:
            raise BudgetError(f"the time limit {self.limit} was over during: {stage}.")


def beside_others(limit: float | None, most: float) -> float:
    """Return how many bytes arrays may take, beside the programs and tables of any solve."""
    return most if limit is None else max(0.0, min(limit - _ANY, most))


def others_take(limit: float) -> str:
    """Say what any solve takes, if that is visible in a limit."""
    return f", of which any solve takes {amount(_ANY)}" if limit < 4.0 * _ANY else ""


def _free_memory() -> float:
    """Return 60 % of what the system can give without swapping: free pages, and those that it keeps for files."""
    try:
        with open("/proc/meminfo", encoding="ascii") as handle:
            lines = dict(line.split(":", 1) for line in handle)
        return _PART * 1024.0 * float(lines["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):  # not on every system
        return _free_pages()


def _free_pages() -> float:
    try:
        return _PART * os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on every system
        return 4e9


@cache
def physical_memory() -> float:
    """Return how many bytes of memory this machine has; infinite if it does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return float("inf")


def peak_memory() -> float:
    """Return the most bytes that this process has used so far; zero if the system does not say."""
    try:
        import resource
    except ImportError:  # not on every system
        return 0.0
    most = float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return most if sys.platform == "darwin" else 1024.0 * most


def amount(size: float) -> str:
    """Write a number of bytes for people."""
    return f"{size / 1e6:.2g} MB" if size < 1e9 else f"{size / 1e9:.3g} GB"
