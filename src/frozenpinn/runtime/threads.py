"""BLAS threads set on purpose: small matrices are faster on one thread than on many."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import lru_cache
from typing import Any

SMALL = 3e9  # floating point operations below which waking a second thread costs more than it brings
REFLECTIONS = 1e11  #: such a limit for QR factorisations, whose panels gain little: with 300 to 960 columns they take
#: 1.4 to 2.8 times as long on two threads, up to ten times if other programs run, as threads often wait for one another


def _libraries() -> tuple[Any, ...]:
    """Return what sets the threads of each BLAS library that is loaded by now."""
    return _found("sksundae" in sys.modules)


@lru_cache(maxsize=2)
def _found(with_sundials: bool) -> tuple[Any, ...]:
    """Look for the libraries; that of SUNDIALS, which brings its own, is loaded when it is first needed."""
    from threadpoolctl import ThreadpoolController

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


def blas_threads(operations: float, small: float = SMALL) -> AbstractContextManager[None]:
    """Run a block on one BLAS thread if its largest factorisation is small; else leave all threads."""
    return nullcontext() if operations > small else one_thread()


@contextmanager
def one_thread() -> Iterator[None]:
    """Run a block on one BLAS thread; the libraries are looked for once only, which takes as long as a short solve."""
    changed = [(library, count) for library in _libraries() if (count := library.num_threads) > 1]
    try:
        for library, _ in changed:
            library.set_num_threads(1)
        yield
    finally:
        for library, count in changed:
            library.set_num_threads(count)


class ThreadPool:
    """Threads that do independent parts of some work, each on one BLAS thread; on one processor, the caller does them.

    A part that has failed raises its error when the crew is left, or before.
    """

    def __init__(self) -> None:
        crew = 4  # threads of Python that work at the same time, at most
        self._stack = ExitStack()
        self._pool: ThreadPoolExecutor | None = None
        self._open: deque[Future[None]] = deque()
        self._count = min(
            crew, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        )

    def __enter__(self) -> ThreadPool:
        """Call the crew."""
        self._stack.enter_context(one_thread())
        if self._count > 1:
            self._pool = self._stack.enter_context(ThreadPoolExecutor(self._count))
        return self

    def __exit__(self, *error: object) -> None:
        """Wait for all parts."""
        with self._stack:
            while self._open:
                self._open.popleft().result()

    def do(self, work: Callable[..., None], *arguments: Any) -> None:
        """Have a part done; while many wait, wait for the first of them, as each holds its arguments."""
        if self._pool is None:
            work(*arguments)
            return
        while len(self._open) >= 2 * self._count:
            self._open.popleft().result()
        self._open.append(self._pool.submit(work, *arguments))


@contextmanager
def threads_restored() -> Iterator[None]:
    """Leave the numbers of BLAS threads as they were, also if a block is interrupted while it changes them."""
    before = [(library, library.num_threads) for library in _libraries()]
    try:
        yield
    finally:
        for library, count in before:
            if library.num_threads != count:
                library.set_num_threads(count)
