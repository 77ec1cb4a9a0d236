"""What remains of a problem whose data were Python functions, once it has been stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from frozenpinn.errors import EvaluationError
from frozenpinn.geometry import Domain
from frozenpinn.language.jets import JetSpace
from frozenpinn.statement.composites import Composites
from frozenpinn.statement.frames import Frame


class TimeOrder(NamedTuple):
    """All that is known of an equation."""

    order: int


@dataclass(frozen=True)
class Outline:
    """Domain, time, fields and time orders of a problem: enough to evaluate its solution."""

    domain: Domain
    time: tuple[float, float]
    fields: tuple[str, ...]
    orders: Mapping[str, int]
    composites: Composites
    exact: Mapping[str, Any] = field(default_factory=dict)
    frame: Frame | None = None

    @property
    def stated(self) -> Domain:
        """The domain in the coordinates of the statement."""
        return self.domain if self.frame is None else self.frame.stated

    @property
    def jets(self) -> JetSpace:
        """How derivatives are called."""
        return JetSpace(self.domain.coordinates)

    def equation(self, name: str) -> TimeOrder:
        """Return the time order of a field, as an equation would tell it."""
        return TimeOrder(self.orders[name])

    @property
    def is_static(self) -> bool:
        """Whether nothing depends on time."""
        return not any(self.orders.values())

    @property
    def equations(self) -> NoReturn:
        """Not stored."""
        raise EvaluationError("this solution was stored without its equations, as they contain Python functions.")
