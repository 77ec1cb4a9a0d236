"""Errors of the baselines, measured as those of frozen networks are."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from frozenpinn.errors import IntegrationError, SettingsError
from frozenpinn.results.evaluation import exact_values, relative_error, unseen_points
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.peers.evaluation import field_of

Array = np.ndarray


class Scored:
    """A solution that is compared with the exact one on the same points and times as all others."""

    problem: Problem

    def error(
        self, field: str | None = None, points: int = 256, times: int = 100, at: Array | None = None
    ) -> dict[str, float]:
        """Return relative L² error and RMSE against ``problem.exact``, as ``Solution.error`` does."""
        name = field_of(self.problem, field)
        x, t = unseen_points(self.problem, points, times)
        x = x if at is None else np.asarray(at, dtype=float).reshape(-1, self.problem.domain.dimension)
        exact = exact_values(self.problem, name, x, t)
        return relative_error(self.outer(name, x, t), exact)

    def outer(self, field: str, x: Array, times: Array) -> Array:
        """Return a field at all points (n, d) and all times (m,), shape (n, m)."""
        raise NotImplementedError


def check_seconds(seconds: float | None) -> None:
    """Refuse a budget that is not a positive number of seconds; None is no limit."""
    if seconds is not None and not (_is_number(seconds) and seconds > 0):
        raise SettingsError(f"seconds must be a positive number, or None for no limit, got {seconds!r}.")


def check_rtol(rtol: float) -> None:
    """Refuse a relative accuracy that is not between 0 and 1."""
    if not (_is_number(rtol) and 0 < rtol < 1):
        raise SettingsError(f"rtol must lie between 0 and 1, such as 1e-6, got {rtol!r}.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


class Deadline:
    """A number of seconds of wall-clock time, counted from here on; None is no limit."""

    def __init__(self, seconds: float | None) -> None:
        check_seconds(seconds)
        self.seconds, self.start = seconds, perf_counter()

    @property
    def is_spent(self) -> bool:
        """Whether the time is over."""
        return self.seconds is not None and perf_counter() - self.start > self.seconds

    def check(self, time: float) -> None:
        """Raise an error if the time is over; ``time`` tells how far the integration has come."""
        if self.is_spent:
            raise IntegrationError(f"the budget of {self.seconds:g} s was exceeded at t = {time:.4g}.", time)
