"""Breaks off what does not look at the clock itself, as Ctrl-C would."""

from __future__ import annotations

import ctypes
import threading
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
        watch = _Watch(threading.get_ident(), max(0.0, seconds))
        watch.start()
        try:
            yield
        except Exception as error:
            if not isinstance(error, OverrunError) and _stems_from_overrun(error):
                raise OverrunError from None
            raise
        finally:
            watch.stop()


def _stems_from_overrun(error: BaseException | None) -> bool:
    """Whether other code has turned an overrun into an error of its own, as NumPy does here and there."""
    while error is not None and not isinstance(error, OverrunError):
        error = error.__cause__ or error.__context__
    return error is not None


class _Watch(threading.Thread):
    """Waits in a thread of its own."""

    def __init__(self, target: int, seconds: float) -> None:
        super().__init__(daemon=True, name="frozenpinn deadline")
        self._target, self._seconds = ctypes.c_ulong(target), seconds
        self._over, self._lock = threading.Event(), threading.Lock()

    def run(self) -> None:
        wait = self._seconds
        while not self._over.wait(wait):
            with self._lock:
                if not self._over.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(self._target, ctypes.py_object(OverrunError))
            wait = _AGAIN

    def stop(self) -> None:
        """Let the block go on without a limit; what has been raised but not yet arrived is taken back."""
        with self._lock:
            self._over.set()
            ctypes.pythonapi.PyThreadState_SetAsyncExc(self._target, None)
