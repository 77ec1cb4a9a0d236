"""Coordinates that a text is written in: their names, derivatives along them, and how lengths depend on them.

The plain chart has the coordinates of the jets, and all lengths are one. Others are made in
:mod:`frozenpinn.statement.coordinates`.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from frozenpinn.language.jets import TIME, Jet, JetSpace
from frozenpinn.language.values import ONE


class Chart:
    """The coordinates of the jets themselves; ``lengths`` are those of unit steps along the axes (scale factors)."""

    kind = "cartesian"

    def __init__(self, jets: JetSpace, lengths: Sequence[sp.Expr] = ()) -> None:
        self.jets = jets
        self.lengths: tuple[sp.Expr, ...] = tuple(lengths) or (ONE,) * jets.dimension

    @property
    def names(self) -> tuple[str, ...]:
        """How a text calls the coordinates."""
        return self.jets.coordinates

    @property
    def axes(self) -> dict[str, int]:
        """The axis of each coordinate."""
        return {name: i for i, name in enumerate(self.names)}

    @property
    def is_flat(self) -> bool:
        """Whether all lengths are one, so that components of vectors are differentiated one by one."""
        return all(length == 1 for length in self.lengths)

    def coordinate(self, name: str) -> sp.Expr:
        """Return what a coordinate is in those of the jets; time is time."""
        return self.jets.t if name == TIME else self.jets.x[self.jets.axes[name]]

    def split_name(self, name: str, *, normal: bool = False) -> tuple[str, Jet] | None:
        """Split ``u_xt`` into the field and how often it is differentiated along each coordinate of the text."""
        return self.jets.split_name(name, normal=normal)

    def differentiated(self, field: str, jet: Jet) -> sp.Expr:
        """Return a derivative of a real field, told by a jet in the coordinates of the text."""
        return self.jets.symbol(Jet(field, jet.alpha, jet.laps, jet.time, jet.normal))

    def derivative(self, expression: sp.Expr, axis: int | None) -> sp.Expr:
        """Differentiate along one coordinate of the text, or in time for ``None``."""
        return self.jets.total_derivative(expression, axis)

    def laplacian(self, expression: sp.Expr) -> sp.Expr:
        """Return Δ of a real expression."""
        return self.jets.laplacian(expression)
