"""Coordinates that a text is written in: their names, derivatives along them, and how lengths depend on them.

The plain chart has the coordinates of the jets, and all lengths are one. Others are made in
:mod:`frozenpinn.statement.coordinates`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import sympy as sp

from frozenpinn.language.jets import TIME, Jet, JetSpace
from frozenpinn.language.values import ONE, Arithmetic, Vector


class Chart:
    """The coordinates of the jets themselves; ``lengths`` are those of unit steps along the axes (scale factors)."""

    kind = "cartesian"

    def __init__(self, jets: JetSpace, lengths: Sequence[sp.Expr] = ()) -> None:
        self.jets = jets
        self.lengths: tuple[sp.Expr, ...] = tuple(lengths) or (ONE,) * jets.dimension
        self.volume: sp.Expr = sp.Mul(*self.lengths)
        self.senses: tuple[int, ...] = (1,) * jets.dimension  #: whether axes of the jets run the same way
        self.is_reduced = False  #: whether there are directions in space that nothing depends on

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

    def along(self, expression: sp.Expr, axis: int) -> sp.Expr:
        """Differentiate along an axis of the calculus: its unit vectors may be others than those of the text."""
        return self.derivative(expression, axis)

    def literal(self, vector: Vector, arithmetic: Arithmetic) -> Vector:
        """Return the components of the calculus of a vector that a text gives by components along its unit vectors."""
        return vector

    def component(self, vector: Vector, index: int, arithmetic: Arithmetic) -> sp.Expr:
        """Return a component along a unit vector of the text."""
        return cast(sp.Expr, vector[index])

    def laplacian(self, expression: sp.Expr) -> sp.Expr:
        """Return Δ of a real expression."""
        return self.jets.laplacian(expression)
