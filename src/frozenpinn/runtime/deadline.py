"""Breaks off what does not look at the clock itself, as Ctrl-C would."""

from __future__ import annotations

import _thread
import ctypes
import time
from collections.abc import Iterator
from contextlib import contextmanager

from frozenpinn.errors import BudgetError
from frozenpinn.runtime.threads import threads_restored

_AGAIN = 0.25  # seconds after which it is tried again: some callbacks of C code swallow exceptions


class OverrunError(BudgetError):
    """A stage was broken off in its midst."""

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
            watch.over = True  # at once: the call itself may be broken off
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
        wait = min(self._seconds, _thread.TIMEOUT_MAX)
        while not self._gate.acquire(timeout=wait):
            self._raising = True
            if not self.over:
                self._raised = True
                self._raise()
            self._raising = False
            if self.over:
                return
            wait = _AGAIN

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
