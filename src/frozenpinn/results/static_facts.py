"""What is known of a static solve beside its solution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class StaticFacts:
    """How a static solution was found, and how sharply the problem determines it.

    Attributes
    ----------
    features
        Kind of the features that were chosen.
    pilot
        What a narrow solve with them leaves at held-out points, relative to the terms of the equations; not a number on
        patches, which have none.
    singular
        The two smallest values of |L u| / |u|, L being the operator or its linearisation, over functions that obey the
        conditions: the distance of the problem from one without a unique solution.
    steps
        Relative change of the solution in each step of Newton's method; empty for linear problems.
    start
        What Newton's method started from.
    left
        What the solution leaves of equations and conditions at held-out points, relative to their terms; not a number
        if that was not looked at.
    apart
        Distance of the solution from the narrow solve, relative to its size, the largest over the fields; not a number
        if that was not looked at. On patches, what their highest modes carry.
    """

    features: str
    pilot: float
    singular: tuple[float, float]
    steps: tuple[float, ...] = ()
    start: str = ""
    left: float = float("nan")
    apart: float = float("nan")

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> StaticFacts:
        """Read what :meth:`as_dict` has written."""
        singular = tuple(float("inf") if value is None else float(value) for value in stored["singular"])
        read: dict[str, Any] = {"singular": singular, "steps": tuple(stored["steps"])}
        for name in ("pilot", "left", "apart"):
            read[name] = float("nan") if stored.get(name) is None else float(stored[name])
        return cls(**{**stored, **read})
