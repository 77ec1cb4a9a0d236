"""How long the stages of a solve take, told to whoever wants to know."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Progress = Callable[[str], None]
_NOW_AND_THEN = 0.2  # seconds between two announcements of progress


@dataclass
class Stopwatch:
    """Collects the seconds of named stages, in order."""

    progress: Progress | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    _told: float = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a block and announce it."""
        if self.progress is not None:
            self.progress(name)
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

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
