"""How long the stages of a solve take, told to whoever wants to know."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Progress = Callable[[str], None]
_NOW_AND_THEN = 0.2  # seconds between two announcements of progress


class _Stage:
    """A block that is timed, if it comes to its end; a class, as short solves notice generators."""

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
    _told: float = 0.0

    def stage(self, name: str) -> _Stage:
        """Time a block and announce it."""
        return _Stage(self, name)

    def announce(self, name: str) -> None:
        """Say again what is being done, now that it has gone on for a while: whoever listens may break it off."""
        if self.progress is not None:
            self.progress(name)

    def reached(self, share: float) -> None:
        """Announce how much of the time is integrated, now and then."""
        now = time.perf_counter()
        if self.progress is not None and now - self._told > _NOW_AND_THEN:
            self._told = now
            self.progress(f"integration, {100 * share:.0f} %")
