"""Known functions that are added to what networks have found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.language.parser import parse
from frozenpinn.language.printer import as_text
from frozenpinn.language.program import Program
from frozenpinn.language.scope import Scope

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Added:
    """A formula in the coordinates and time for some fields."""

    formulas: Mapping[str, sp.Expr]
    coordinates: tuple[str, ...]
    _programs: dict[Jet, Program] = field(default_factory=dict, repr=False)

    def _program(self, jet: Jet) -> Program:
        if jet not in self._programs:
            jets = JetSpace(self.coordinates)
            expression = jets.differentiate(self.formulas[jet.field], jet)
            self._programs[jet] = Program([expression], [*jets.x, jets.t])
        return self._programs[jet]

    def outer(self, x: Array, times: Array, jet: Jet) -> Array:
        """Return a derivative at all points and times, shape (n, m)."""
        if jet.field not in self.formulas:
            return np.zeros((len(x), len(times)))
        with np.errstate(all="ignore"):
            values = self._program(jet)(*(c[:, None] for c in x.T), times[None, :])[0]
        return np.array(np.broadcast_to(values, (len(x), len(times))))

    def on_grid(self, axes: Sequence[Array], times: Array, jet: Jet) -> Array:
        """Return a derivative on a grid, shape (n₁, n₂, …, m)."""
        shape = (*map(len, axes), len(times))
        if jet.field not in self.formulas:
            return np.zeros(shape)
        mesh = np.meshgrid(*axes, times, indexing="ij", sparse=True)
        with np.errstate(all="ignore"):
            return np.array(np.broadcast_to(self._program(jet)(*mesh)[0], shape))

    def paired(self, x: Array, times: Array, jet: Jet) -> Array:
        """Return a derivative at (xᵢ, tᵢ), shape (n,)."""
        if jet.field not in self.formulas:
            return np.zeros(len(x))
        with np.errstate(all="ignore"):
            return np.array(np.broadcast_to(self._program(jet)(*x.T, times)[0], len(x)))

    def as_dict(self) -> dict[str, Any]:
        """Return the formulas as texts."""
        texts = {name: as_text(expression) for name, expression in self.formulas.items()}
        return {"coordinates": list(self.coordinates), "formulas": texts}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Added:
        """Read formulas that were stored as texts."""
        coordinates = tuple(stored["coordinates"])
        scope = Scope(JetSpace(coordinates))
        return cls({name: parse(text, scope) for name, text in stored["formulas"].items()}, coordinates)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_programs": {}}
