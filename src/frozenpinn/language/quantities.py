"""Nonlocal quantities: integrals, means, kernels and fractional Laplacians of expressions in the fields.

Each stands in an equation as one symbol, like a field that is not differentiated. Its value at a point needs the fields
everywhere: K(x, s) is a matrix between points, applied to the values of an expression.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import sympy as sp

from frozenpinn.errors import ExpressionError
from frozenpinn.language.algebra import expanded

if TYPE_CHECKING:
    from frozenpinn.language.calls import _Calls
    from frozenpinn.language.jets import JetSpace
    from frozenpinn.language.lexer import Token


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


def integration_variables(parser: _Calls) -> tuple[str, ...]:
    """Return the names s at which a field is taken inside the next parentheses, u(s); none if there are none."""
    depth, tokens, scope = 1, parser.tokens, parser.scope
    known = {*scope.fields, *scope.composites}
    for i in range(parser.position, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[i].text, 0)
        if depth == 0:
            break
        if tokens[i].text in known and i + 1 < len(tokens) and tokens[i + 1].text == "(":
            inside = []
            for token in tokens[i + 2 :]:
                if token.text == ")":
                    break
                inside.append(token)
            names = tuple(token.text for token in inside[::2])
            plain = all(token.kind == "name" and scope.lookup(token.text) is None for token in inside[::2])
            if plain and len(names) == scope.jets.dimension and all(token.text == "," for token in inside[1::2]):
                return names
    return ()


def integrated(parser: _Calls, value: sp.Expr, kind: str, variables: tuple[str, ...], token: Token) -> sp.Expr:
    """Return the integral or mean of an expression over the domain, as symbols."""
    jets, volume = parser.scope.jets, sp.Mul(*parser.scope.chart.lengths)
    check_place(parser, value, token)
    if not variables:
        return jets.quantity(Quantity(kind, value, volume))
    symbols = tuple(sp.Symbol(name, real=True) for name in variables)
    if kind != INTEGRAL:
        raise parser.fail(f"'{kind}(…)' has no kernel; write integral(k*u({', '.join(variables)})).", token)
    total = sp.Integer(0)
    for term in sp.Add.make_args(expanded(value)):
        factors = sp.Mul.make_args(term)
        inner = [f for f in factors if jets.jets_in(f)]
        outer = sp.Mul(*(f for f in factors if not jets.jets_in(f)))
        if not inner or any(f.free_symbols & {*jets.x} for f in inner):
            raise parser.fail(
                f"'{term}' is no product of a kernel, such as exp(-({jets.x[0]} - {variables[0]})**2), and a function "
                f"of the fields at {', '.join(variables)}.",
                token,
            )
        if outer.has(sp.DiracDelta):
            raise parser.fail("a kernel can't contain delta functions; write the field itself.", token)
        own = sp.Mul(*inner).xreplace(dict(zip(symbols, jets.x, strict=True)))
        total += jets.quantity(Quantity(KERNEL, own, volume, outer, symbols))
    return total


def fractional(parser: _Calls, value: sp.Expr, power: sp.Expr, token: Token) -> sp.Expr:
    """Return (−Δ)^power of an expression."""
    check_place(parser, value, token)
    if not power.is_number or not 0 < float(power) <= 2:
        raise parser.fail(
            f"the power of a fractional Laplacian is a number between 0 and 2, got {power}, and can't be unknown. "
            f"Write the power of a number as abs(…)**{power}.",
            token,
        )
    return parser.scope.jets.quantity(Quantity(FRACTIONAL, value, power=float(power)))


def check_place(parser: _Calls, value: sp.Expr, token: Token) -> None:
    """Refuse nonlocal terms where none can stand: of known functions, in conditions, inside each other."""
    jets = parser.scope.jets
    if not jets.jets_in(value):
        raise parser.fail(f"'{token.text}(…)' is of the fields, and there is none in it; write the number.", token)
    if parser.scope.normal_derivatives:
        raise parser.fail(
            f"'{token.text}(…)' can't stand in a boundary condition. Give it a field of its own, such as "
            "w_t = integral(u) - w, which may.",
            token,
        )
    if jets.quantities_in(value):
        raise parser.fail(f"'{token.text}(…)' contains another nonlocal term; they can't be nested.", token)
    if any(jet.time for jet in jets.jets_in(value).values()):
        raise parser.fail(f"'{token.text}(…)' of a time derivative is not supported.", token)
