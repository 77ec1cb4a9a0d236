"""A problem without the fronts that spread from its jumps and without the fields of its point sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import sympy as sp

from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.language.parser import parse
from frozenpinn.language.printer import as_text
from frozenpinn.language.program import Program
from frozenpinn.language.scope import Scope
from frozenpinn.statement.fronts import Fronts
from frozenpinn.statement.problem import Problem
from frozenpinn.statement.remainder import known_parts, without_fronts
from frozenpinn.transforms.views import Inner, Places, Request

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class WithoutFronts:
    """Solves for what remains of a solution after known fronts are subtracted."""

    fronts: Fronts
    note: ClassVar[str] = (
        "what spreads from jumps of the data is known in closed form, and added to what the network has found"
    )

    def forward(self, problem: Problem) -> Problem:
        """Return the problem of what remains."""
        return without_fronts(problem, self.fronts)

    def view(self, problem: Problem) -> KnownParts:
        """Return the fronts, to be added."""
        return KnownParts(known_parts(problem, self.fronts), problem.jets.coordinates)


@dataclass(frozen=True, eq=False)
class KnownParts:
    """Adds a formula in the coordinates and time to some fields."""

    formulas: Mapping[str, sp.Expr]
    coordinates: tuple[str, ...]
    name: ClassVar[str] = "known parts"
    keeps_axes: ClassVar[bool] = True
    _programs: dict[Jet, Program] = field(default_factory=dict, repr=False)

    def values(self, inner: Inner, request: Request) -> Array:
        """Add derivatives of the formula."""
        found = inner(request)
        if request.field not in self.formulas:
            return found
        return found + request.summed(lambda jet: self._formula(jet, request.places))

    def _formula(self, jet: Jet, places: Places) -> Array:
        if jet not in self._programs:
            jets = JetSpace(self.coordinates)
            expression = jets.differentiate(self.formulas[jet.field], jet)
            self._programs[jet] = Program([expression], [*jets.x, jets.t])
        with np.errstate(all="ignore"):
            return np.broadcast_to(self._programs[jet](*places.mesh)[0], places.shape)

    def as_dict(self) -> dict[str, Any]:
        """Return the formulas as texts."""
        texts = {name: as_text(expression) for name, expression in self.formulas.items()}
        return {"coordinates": list(self.coordinates), "formulas": texts}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> KnownParts:
        """Read formulas that were stored as texts."""
        coordinates = tuple(stored["coordinates"])
        scope = Scope(JetSpace(coordinates))
        return cls({name: parse(text, scope) for name, text in stored["formulas"].items()}, coordinates)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_programs": {}}
