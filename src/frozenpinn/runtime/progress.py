"""A progress bar on the terminal for solves that take longer than two seconds."""

from __future__ import annotations

import re
import sys
import threading
from types import TracebackType
from typing import Any

DELAY = 2.0


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
        """Tell what is being done."""
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
