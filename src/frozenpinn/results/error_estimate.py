"""What is known of the error of a solution: its size, its course in time, and what became of a tolerance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frozenpinn.errors import EvaluationError, choices
from frozenpinn.runtime.arguments import reals, spelled
from frozenpinn.runtime.arrays import read_only
from frozenpinn.runtime.decisions import Decision
from frozenpinn.statement.problem import Problem

if TYPE_CHECKING:
    from frozenpinn.results.quantity import Goal

Array = np.ndarray


UNKNOWN_ERROR = "error unknown"  #: the status of a solution whose error could not be estimated


class Verdict(NamedTuple):
    """What became of a tolerance, and why no more.

    ``"converged"``, ``"reached"`` (the best that was found) or ``"error unknown"`` (there is no estimate).

    ``attempts`` are the solves on the way: width, estimated error (infinite where none was made) and seconds of each,
    the coarser companion of a first solve before it. ``goal`` is the number whose error had to meet the tolerance,
    if it was not that of the fields.
    """

    status: str
    tol: float
    reason: str
    attempts: tuple[tuple[int | tuple[int, ...], float, float], ...]
    goal: Goal | None = None


class UnknownFieldError(EvaluationError, KeyError):
    """An estimate was asked for a field that there is not; a KeyError, too, as mappings have it."""

    __str__ = Exception.__str__


@dataclass(frozen=True, eq=False)
class ErrorEstimate(Mapping[str, float]):
    """Estimated L² error of each field over space and time, ``estimate["u"]``, and its course in time.

    It is relative to how much the field varies.

    Attributes
    ----------
    overall
        One number per field.
    times, curves
        The course: root mean square of the error over space at each time, relative to the same.
    growth
        Rate λ if errors grow like exp(λt) all the time, as in chaos; None otherwise.
    parts
        Which part of the distance from the witness is taken for the error, at each time; empty if all of it is.
    composed
        The real fields of complex ones and of vectors; the error of each is relative to the whole,
        ``estimate["psi"]`` that of all together.
    decisions
        Why it is more than the distance from the witness tells; files keep them with the solution.
    scales
        What errors are relative to, by real field: how much the field varies (the root mean square of its deviation
        from its mean over space and time, at least a thousandth of its own), or what ``Settings(relative_to=…)`` says.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> estimate = fp.solve(rod, tol=1e-4).error_estimate
    >>> estimate["u"] < 1e-4, bool(estimate.at(0.05) < 1e-4)
    (True, True)
    """

    overall: Mapping[str, float]
    times: Array
    curves: Mapping[str, Array]
    growth: float | None = None
    parts: Mapping[str, Array] = field(default_factory=dict)
    composed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    scales: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", read_only(np.asarray(self.times, dtype=float)))
        for name in ("curves", "parts"):
            table = {key: read_only(np.asarray(values, dtype=float)) for key, values in getattr(self, name).items()}
            object.__setattr__(self, name, table)

    def __getitem__(self, field: str) -> float:
        return float(np.linalg.norm([self.overall[part] for part in self._parts(field)]))

    def _parts(self, field: str) -> tuple[str, ...]:
        """Return the real fields that a name stands for."""
        if isinstance(field, str) and field in self.composed:
            return self.composed[field]
        if not isinstance(field, str) or field not in self.overall:
            raise UnknownFieldError(f"unknown field {field!r}; the fields are {choices(self.overall)}.")
        return (field,)

    def __iter__(self) -> Iterator[str]:
        return iter(self.overall)

    def __len__(self) -> int:
        return len(self.overall)

    def __repr__(self) -> str:
        return "ErrorEstimate(" + ", ".join(f"{name}={value:.2g}" for name, value in self.items()) + ")"

    @property
    def worst(self) -> float:
        """The largest of all fields; not a number if there is no estimate."""
        values = list(self.overall.values())
        return float(np.max(values)) if values else float("nan")

    def absolute(self, field: str) -> float:
        """Return the estimated root mean square error of a field, in its own unit; not a number if none was made."""
        if not self.scales:
            return float("nan")
        return float(np.linalg.norm([self.overall[part] * self.scales[part] for part in self._parts(field)]))

    def absolute_errors(self) -> dict[str, float]:
        """Return the estimated root mean square errors of all fields, in their units."""
        return {name: self.absolute(name) for name in self.overall}

    @spelled(EvaluationError)
    def at(self, t: Any, field: str | None = None) -> Array:
        """Return the course at given times, interpolated (logarithmically) between those of the comparison."""
        parts = self._parts(next(iter(self.composed or self.overall)) if field is None else field)
        t = reals(t, "times are real numbers, or arrays of them", EvaluationError)
        if not np.all((t >= self.times[0]) & (t <= self.times[-1])):
            raise EvaluationError(f"the error is known between t = {self.times[0]:g} and t = {self.times[-1]:g}.")
        curve = np.linalg.norm([self.curves[part] for part in parts], axis=0)
        logs = np.log(np.maximum(curve, 1e-300))
        return np.asarray(np.exp(np.interp(t, self.times, logs)))

    def part(self, t: Any, field: str) -> Array:
        """Return which part of the distance from the witness is taken for the error at given times."""
        t = np.asarray(t, dtype=float)
        return np.interp(t, self.times, self.parts[field]) if field in self.parts else np.ones(t.shape)

    def holds_until(self, tol: float) -> float:
        """Return up to when all fields are estimated to be within a tolerance."""
        above = np.any([~(np.asarray(curve) <= tol) for curve in self.curves.values()], axis=0)
        if not np.any(above):
            return float(self.times[-1])
        return float(self.times[max(0, int(np.argmax(above)) - 1)])

    def at_least(self, worst: float, why: Decision) -> ErrorEstimate:
        """Return the estimate, multiplied for all fields and times if its worst is below a number."""
        if not self.worst < worst:
            return self
        decisions = (*self.decisions, why)
        if self.worst == 0.0:
            return replace(self, overall=dict.fromkeys(self.overall, worst), decisions=decisions)
        factor = worst / self.worst
        overall = {name: factor * value for name, value in self.overall.items()}
        curves = {name: factor * curve for name, curve in self.curves.items()}
        return replace(self, overall=overall, curves=curves, decisions=decisions)

    def holds_from(self, tol: float) -> float:
        """Return from when on all fields are estimated to be within a tolerance; infinite if they never are."""
        above = np.any([~(np.asarray(curve) <= tol) for curve in self.curves.values()], axis=0)
        if not np.any(above):
            return float(self.times[0])
        last = len(above) - 1 - int(np.argmax(above[::-1]))
        return float(self.times[last + 1]) if last + 1 < len(above) else float("inf")

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
        return {
            "overall": {name: float(value) for name, value in self.overall.items()},
            "times": [float(t) for t in self.times],
            "curves": {name: [float(v) for v in curve] for name, curve in self.curves.items()},
            "growth": self.growth,
            "parts": {name: [float(v) for v in part] for name, part in self.parts.items()},
            "composed": {name: list(own) for name, own in self.composed.items()},
            "scales": {name: float(scale) for name, scale in self.scales.items()},
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> ErrorEstimate:
        """Read what :meth:`as_dict` has written."""
        curves = {name: np.array(curve, dtype=float) for name, curve in stored["curves"].items()}
        overall = {name: float("nan") if value is None else value for name, value in stored["overall"].items()}
        times = np.array(stored["times"], dtype=float)
        composed = {name: tuple(own) for name, own in stored.get("composed", {}).items()}
        parts, scales = stored.get("parts", {}), stored.get("scales", {})
        return cls(overall, times, curves, stored["growth"], parts, composed, scales=scales)

    @classmethod
    def unknown(cls, problem: Problem) -> ErrorEstimate:
        """Return the estimate of an error that can't be estimated."""
        times = np.array(problem.time)
        return cls(
            dict.fromkeys(problem.fields, float("nan")), times, dict.fromkeys(problem.fields, np.full(2, np.nan))
        )
