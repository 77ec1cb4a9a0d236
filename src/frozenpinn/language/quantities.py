"""Nonlocal quantities: integrals, means, kernels and fractional Laplacians of expressions in the fields.

Each stands in an equation as one symbol, like a field that is not differentiated. Its value at a point needs the fields
everywhere: K(x, s) is a matrix between points, applied to the values of an expression.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import sympy as sp

from frozenpinn.errors import ExpressionError

if TYPE_CHECKING:
    from frozenpinn.language.jets import JetSpace

INTEGRAL, MEAN, KERNEL, FRACTIONAL = "integral", "mean", "kernel", "fraclap"
NONLOCAL = (INTEGRAL, MEAN, FRACTIONAL)  #: how they are called


@dataclass(frozen=True)
class Quantity:
    """∫ kernel(x, s)·inner(s, t, jets at s)·volume(s) ds, its mean, or (−Δ)^power of inner.

    Attributes
    ----------
    kind
        Which of these.
    inner
        Over jets, coordinates (those of s) and time.
    volume
        Volume element in the coordinates of the text, 1 in Cartesian ones.
    kernel, variables
        A function of the coordinates x and of the variables s; 1 for integrals and means.
    power
        Of a fractional Laplacian.
    """

    kind: str
    inner: sp.Expr
    volume: sp.Expr = sp.S.One
    kernel: sp.Expr = sp.S.One
    variables: tuple[sp.Symbol, ...] = ()
    power: float = 1.0

    @property
    def name(self) -> str:
        """How the quantity is written."""
        if self.kind == FRACTIONAL:
            return f"fraclap({self.inner}, {self.power:g})"
        if self.kind == KERNEL:
            return f"integral(({self.kernel})*({self.inner}) by {', '.join(map(str, self.variables))})"
        return f"{self.kind}({self.inner})"

    @property
    def is_constant(self) -> bool:
        """Whether it is the same everywhere."""
        return self.kind in (INTEGRAL, MEAN)

    def is_linear(self, jets: JetSpace) -> bool:
        """Whether it is linear in the fields, with coefficients that do not depend on time."""
        split = jets.affine(self.inner)
        return split is not None and not any(jets.t in c.free_symbols for c in (*split[0].values(), split[1]))

    def derivative(self, axis: int | None, jets: JetSpace) -> sp.Expr:
        """Return the derivative of the quantity along an axis, as an expression."""
        if axis is None:
            raise ExpressionError(f"the time derivative of '{self.name}' is not supported; write it without dt(…).")
        if self.is_constant:
            return sp.Integer(0)
        if self.kind == FRACTIONAL:
            return jets.quantity(replace(self, inner=jets.total_derivative(self.inner, axis)))
        return jets.quantity(replace(self, kernel=sp.diff(self.kernel, jets.x[axis])))
