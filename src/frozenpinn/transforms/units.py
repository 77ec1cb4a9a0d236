"""Every field in units of its own size: fields that share matrices and tolerances should be of similar size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from frozenpinn.analysis.scales import Scales, nondimensional, scales_of
from frozenpinn.runtime.decisions import Decision
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.views import Inner, Request, Transform, View

Array = np.ndarray


@dataclass(frozen=True)
class Units(Transform, View):
    """Measures every field in a unit of its own: u = unit · (what was computed)."""

    scales: Scales
    name: ClassVar[str] = "units"
    keeps_axes: ClassVar[bool] = True

    @property
    def note(self) -> str:
        """What the report says."""
        return f"fields of very different sizes: while solving, {self.scales}"

    @classmethod
    def propose(cls, problem: Problem) -> Units | None:
        """Return units if the data call for them."""
        scales = scales_of(problem)
        return None if scales is None else cls(scales)

    def decision(self, problem: Problem) -> Decision:
        """Return the units."""
        return Decision("units", str(self.scales))

    def forward(self, problem: Problem) -> Problem:
        """Return the problem in these units; coordinates and time stay."""
        return nondimensional(problem, self.scales)

    def values(self, inner: Inner, request: Request) -> Array:
        """Multiply by the unit."""
        unit = self.scales.unit(request.field)
        terms = tuple(term._replace(coefficient=unit * term.coefficient) for term in request.terms)
        return inner(request._replace(terms=terms))

    def as_dict(self) -> dict[str, Any]:
        """Return the units."""
        return {name: self.scales.unit(name) for name in self.scales.exponents}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Units:
        """Return units that were stored."""
        return cls(Scales({name: round(np.log10(unit)) for name, unit in stored.items()}))
