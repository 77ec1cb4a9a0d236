"""Coordinates that a text is written in: their names, derivatives along them, and how lengths depend on them.

The plain chart has the coordinates of the jets, and all lengths are one. Others are made in
:mod:`frozenpinn.statement.frames`.

Polar, cylindrical and spherical coordinates: charts over the coordinates that a problem is solved in.

Where the axis r = 0 belongs to the domain, a problem is solved in other coordinates, in which it is regular: in r², in
the cosine of the polar angle, or in Cartesian ones. Texts don't see that: they have r, and take
derivatives by the chain rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import sympy as sp

from frozenpinn.language.algebra import expanded
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
        """Return a derivative of a real field, given by a jet in the coordinates of the text."""
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


class Curvilinear(Chart):
    """Coordinates ξ(x) of a text over those of the jets.

    Parameters
    ----------
    jets
        The coordinates that are solved in.
    kind, names
        What the coordinates are called.
    places
        ξ as expressions in x.
    rows
        ∂/∂ξᵢ = Σⱼ rows[i][j] ∂/∂xⱼ.
    lengths, volume
        Lengths of unit steps along ξ, and the volume element, over all angles that nothing depends on.
    inner
        The squares of the lengths of unit steps along x, and their volume element; None if x are Cartesian.
    senses
        −1 for each xᵢ that falls where ξᵢ grows, 1 for others.
    """

    def __init__(
        self,
        jets: JetSpace,
        kind: str,
        names: Sequence[str],
        places: Sequence[sp.Expr],
        rows: Sequence[Sequence[sp.Expr]],
        lengths: Sequence[sp.Expr],
        volume: sp.Expr,
        inner: tuple[Sequence[sp.Expr], sp.Expr] | None,
        senses: Sequence[int] = (),
    ) -> None:
        super().__init__(jets, lengths if inner is not None else ())
        self.kind, self._names, self.places, self.rows = kind, tuple(names), tuple(places), tuple(map(tuple, rows))
        self.inner = inner
        self.senses = tuple(senses) or self.senses
        self._shadow = JetSpace(names)
        if inner is not None:
            self.volume = volume
        #: whether unit vectors of the text are those of the calculus
        self.is_reduced = inner is not None and sp.simplify(volume - sp.Mul(*lengths)) != 0
        self._frame = [
            tuple(row[j] / length for j in range(jets.dimension)) for row, length in zip(rows, lengths, strict=True)
        ]

    @property
    def names(self) -> tuple[str, ...]:
        """How a text calls the coordinates."""
        return self._names

    @property
    def is_flat(self) -> bool:
        """Whether vectors are Cartesian inside."""
        return self.inner is None

    def coordinate(self, name: str) -> sp.Expr:
        """Return what a coordinate is in those of the jets; time is time."""
        return self.jets.t if name == TIME else self.places[self._names.index(name)]

    def split_name(self, name: str, *, normal: bool = False) -> tuple[str, Jet] | None:
        """Split ``u_rt`` into the field and how often it is differentiated along each coordinate of the text."""
        return self._shadow.split_name(name, normal=normal)

    def differentiated(self, field: str, jet: Jet) -> sp.Expr:
        """Return a derivative of a real field, given by a jet in the coordinates of the text."""
        value: sp.Expr = self.jets.symbol(replace(self.jets.field(field), time=jet.time))
        for axis, count in enumerate(jet.alpha):
            for _ in range(count):
                value = self.derivative(value, axis)
        return value

    def derivative(self, expression: sp.Expr, axis: int | None) -> sp.Expr:
        """Differentiate along one coordinate of the text, or in time for ``None``."""
        if axis is None:
            return self.jets.total_derivative(expression, None)
        row = enumerate(self.rows[axis])
        return expanded(sp.Add(*(f * self.jets.total_derivative(expression, j) for j, f in row if f != 0)))

    def along(self, expression: sp.Expr, axis: int) -> sp.Expr:
        """Differentiate along an axis of the calculus."""
        return self.jets.total_derivative(expression, axis) if self.is_flat else self.derivative(expression, axis)

    def laplacian(self, expression: sp.Expr) -> sp.Expr:
        """Return Δ of a real expression."""
        if self.inner is None:
            return self.jets.laplacian(expression)
        squares, volume = self.inner
        total, derive = sp.Integer(0), self.jets.total_derivative
        for j, square in enumerate(squares):
            total += derive(expanded(volume / square * derive(expression, j)), j)
        return expanded(expanded(total) / volume)

    def literal(self, vector: Vector, arithmetic: Arithmetic) -> Vector:
        """Return the components of the calculus of a vector that a text gives by components along its unit vectors."""
        if not self.is_flat or len(vector) != len(self._frame):
            return vector
        columns = zip(*self._frame, strict=True)
        return tuple(
            arithmetic.add(*(arithmetic.mul(f, v) for f, v in zip(column, vector, strict=True))) for column in columns
        )

    def component(self, vector: Vector, index: int, arithmetic: Arithmetic) -> sp.Expr:
        """Return a component along a unit vector of the text."""
        if not self.is_flat or len(vector) != len(self._frame):
            return cast(sp.Expr, vector[index])
        pairs = zip(self._frame[index], vector, strict=True)
        return cast(sp.Expr, arithmetic.add(*(arithmetic.mul(f, v) for f, v in pairs)))
