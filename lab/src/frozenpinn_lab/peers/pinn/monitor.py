"""The clock of a training: budget, history, and errors that are measured while the clock stands still."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from frozenpinn.errors import IntegrationError
from frozenpinn_lab.peers.score import check_seconds


class Monitor:
    """Records the progress of a training and tells when its time is over.

    Parameters
    ----------
    seconds
        Budget, with preparation and compilation; None for no limit.
    checkpoints
        Seconds at which the error is measured.
    measure
        Returns the error for given parameters; the clock does not run meanwhile.

    Attributes
    ----------
    history
        (seconds, iteration, loss).
    errors
        (seconds, relative L² error) at the checkpoints.
    compile_seconds
        Time spent on compilation, a part of the total.
    stopped
        Whether the budget ended the training.
    """

    def __init__(
        self, seconds: float | None, checkpoints: Sequence[float] = (), measure: Callable[[Any], float] | None = None
    ) -> None:
        check_seconds(seconds)
        self.budget = math.inf if seconds is None else float(seconds)
        self.history: list[tuple[float, int, float]] = []
        self.errors: list[tuple[float, float]] = []
        self.compile_seconds = 0.0
        self.iterations = 0
        self.stopped = False
        self._due = sorted(checkpoints)
        self._measure = measure
        self._start, self._paused = time.perf_counter(), 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the start, without measurements."""
        return time.perf_counter() - self._start - self._paused

    @property
    def is_over(self) -> bool:
        """Whether the budget is spent."""
        self.stopped = self.stopped or self.elapsed >= self.budget
        return self.stopped

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Count the time of a block as compilation."""
        start = time.perf_counter()
        yield
        self.compile_seconds += time.perf_counter() - start

    def record(self, iterations: int, loss: float, parameters: Callable[[], Any]) -> bool:
        """Note some finished iterations; return whether to go on."""
        self.iterations += iterations
        now = self.elapsed
        self.history.append((now, self.iterations, loss))
        if not math.isfinite(loss):
            raise IntegrationError(
                f"the loss of the PINN is {loss} after {self.iterations} iterations ({now:.3g} s): the training "
                "diverged. Use a smaller learning rate, or other loss weights."
            )
        if self._measure is not None and self._due and now >= self._due[0]:
            self._due = [c for c in self._due if c > now]
            start = time.perf_counter()
            self.errors.append((now, self._measure(parameters())))
            self._paused += time.perf_counter() - start
        return not self.is_over
