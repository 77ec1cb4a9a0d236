"""How long the stages of a solve take, and how its progress is shown: in a terminal, a notebook or by a function."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from html import escape
from types import TracebackType
from typing import Any

from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import shown

Progress = Callable[[str], None]
DELAY = 2.0


class _Stage:
    """A block that is timed if it completes; a class, as generators would slow down short solves."""

    __slots__ = ("name", "start", "watch")

    def __init__(self, watch: Stopwatch, name: str) -> None:
        self.watch, self.name = watch, name

    def __enter__(self) -> None:
        if self.watch.progress is not None:
            self.watch.progress(self.name)
        self.start = time.perf_counter()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if kind is None:
            seconds = self.watch.seconds
            seconds[self.name] = seconds.get(self.name, 0.0) + time.perf_counter() - self.start


@dataclass
class Stopwatch:
    """Collects the seconds of named stages, in order."""

    progress: Progress | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    _announced: float = 0.0

    def stage(self, name: str) -> _Stage:
        """Time a block and announce it."""
        return _Stage(self, name)

    def announce(self, name: str) -> None:
        """Announce a stage that has gone on for a while, so that the listener may interrupt it."""
        if self.progress is not None:
            self.progress(name)

    def reached(self, share: float) -> None:
        """Announce how much of the time is integrated, now and then."""
        now_and_then = 0.2  # seconds between two announcements of progress
        now = time.perf_counter()
        if self.progress is not None and now - self._announced > now_and_then:
            self._announced = now
            self.progress(f"integration, {100 * share:.0f} %")


def listening(progress: Progress | bool | None) -> AbstractContextManager[Progress]:
    """Return who receives the names of stages: a bar (None or True), nobody (False), or the user's function."""
    if progress is None or progress is True:
        return CellBar() if _in_notebook() else LateBar()
    if progress is False:
        return nullcontext(ignore_progress)
    if isinstance(progress, type) or not callable(progress):
        raise SettingsError(
            f"progress is a function that takes the name of a stage, or False to show nothing; got {shown(progress)}."
        )
    return nullcontext(progress)


def ignore_progress(text: str) -> None:
    """Say nothing."""


def _in_notebook() -> bool:
    """Whether this runs in a notebook: a shell of IPython that has a kernel."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


class CellBar:
    """A progress bar in a notebook cell: appears after a delay, and is cleared at the end."""

    def __init__(self, delay: float = DELAY) -> None:
        self._delay, self._start, self._announced = delay, 0.0, 0.0
        self._handle: Any = None

    def __enter__(self) -> CellBar:
        self._start = time.perf_counter()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._handle is not None:
            self._handle.update({"text/html": "", "text/plain": ""}, raw=True)

    def __call__(self, text: str) -> None:
        """Show what is being done."""
        refresh = 0.1  # seconds between two changes in a notebook
        now = time.perf_counter()
        if now - self._start < self._delay or now - self._announced < refresh:
            return
        self._announced = now
        share = re.search(r", (\d+) %$", text)
        value = "" if share is None else f' value="{share[1]}"'
        bar = f'<progress max="100"{value}></progress> solving: {escape(text)}, {now - self._start:.0f} s'
        data = {"text/html": bar, "text/plain": f"solving: {text}"}
        if self._handle is None:
            from IPython.display import display

            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


class LateBar:
    """Shows the stages of a solve once it has lasted a while, if there is a terminal to show them on.

    Called with the name of a stage, as ``solve(progress=…)`` is; a share such as ``"integration, 40 %"`` moves the bar.
    """

    def __init__(self, delay: float = DELAY, console: Any = None) -> None:
        self._console, self._delay = console, delay
        self._lock = threading.Lock()
        self._text = ""
        self._bar: Any = None
        self._timer: threading.Timer | None = None

    def __enter__(self) -> LateBar:
        if self._console is not None or sys.stderr.isatty():
            self._timer = threading.Timer(self._delay, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._timer = None
            if self._bar is not None:
                self._bar.stop()

    def __call__(self, text: str) -> None:
        """Show what is being done."""
        self._text = text
        with self._lock:
            self._update()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._timer is None:  # finished in the meantime
                return
            console = self._console or Console(stderr=True)
            columns = (TextColumn("solving: {task.description}"), BarColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=console, transient=True)
            self._bar.add_task(self._text, total=None)
            self._bar.start()
            self._update()

    def _update(self) -> None:
        if self._bar is None:
            return
        share = re.search(r", (\d+) %$", self._text)
        if share is None:
            self._bar.update(0, description=self._text, total=None, completed=0)
        else:
            self._bar.update(0, description=self._text, total=100, completed=int(share[1]))
