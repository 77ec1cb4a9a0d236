"""Boundary laws: conditions that no fixed basis can obey, because they are nonlinear or change in time.

``u_n = 1 - u**4`` (radiation), ``u_n + h(t)*u = g``, ``u_t + c*u_n = 0`` (absorbing), ``u_t = -u_n`` (dynamic). The
basis stays free on such a side, and the law is kept while the solution evolves: it is differentiated in time until the
highest time derivatives of the fields appear, and these are chosen so that it holds (assembly/laws.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from frozenpinn.errors import ExpressionError, ProblemError, choices
from frozenpinn.language.calculus import resolve_function_derivatives
from frozenpinn.language.program import Program
from frozenpinn.language.steps import settled, switches_of

if TYPE_CHECKING:
    from frozenpinn.geometry import BoundaryPoints, Side
    from frozenpinn.language.jets import Jet, JetSpace
    from frozenpinn.statement.parameters import Parameters

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class BoundaryLaw:
    """residual(x, n, t, jets) = 0 on one side of the domain, with the outward normal n.

    Attributes
    ----------
    side
        Where it holds.
    residual
        What must vanish, over jets along the axes, coordinates, time and the symbols of the normal.
    text
        As it was written.
    fields
        Fields in it.
    jets, parameters, normals
        What its symbols mean.
    whole
        The residual at all times, if this law is that of a part of the time; else None.
    """

    side: Side
    residual: sp.Expr
    text: str
    fields: tuple[str, ...]
    jets: JetSpace
    parameters: Parameters
    normals: tuple[sp.Symbol, ...]
    whole: sp.Expr | None = None

    @property
    def time_order(self) -> int:
        """The highest time derivative in it."""
        return max(jet.time for jet in self.jets.jets_in(self.residual).values())

    @property
    def is_linear(self) -> bool:
        """Whether it is linear in the fields; coefficients may depend on time."""
        return self.jets.affine(self.residual) is not None

    @property
    def depends_on_time(self) -> bool:
        """Whether time itself occurs in it."""
        return self.jets.t in self.residual.free_symbols

    @property
    def has_constant_coefficients(self) -> bool:
        """Whether it is linear, with coefficients that do not depend on time."""
        split = self.jets.affine(self.residual)
        return split is not None and not any(self.jets.t in c.free_symbols for c in split[0].values())

    def jets_in(self, expression: sp.Expr | None = None) -> list[Jet]:
        """Return the jets of the law, or of an expression made of it."""
        return list(self.jets.jets_in(self.residual if expression is None else expression).values())

    def during(self, time: tuple[float, float]) -> BoundaryLaw:
        """Return the law without steps in time, as it is while nothing switches."""
        whole = self.residual if self.whole is None else self.whole
        if not switches_of(whole, self.jets.t):
            return self
        return replace(self, residual=settled(whole, self.jets.t, time), whole=whole)

    def differentiated(self, times: int) -> sp.Expr:
        """Return the time derivative of the residual along solutions."""
        result = self.residual
        jumps = [j for j in result.atoms(sp.Heaviside, sp.sign, sp.Piecewise) if self.jets.t in j.free_symbols]
        if times and jumps:
            raise ProblemError(
                f"the boundary condition '{self.text}' on '{self.side.name}' jumps in time, at times that change from "
                "place to place or are too many, and its time derivative is needed; write a short smooth transition "
                "instead, such as (1 + tanh((t - x)/0.01))/2."
            )
        for _ in range(times):
            result = self.jets.total_derivative(result, None)
        return resolve_function_derivatives(result, self.parameters.scope(self.jets), self._unknown)

    def _unknown(self, text: str) -> ExpressionError:
        """Return the error for a derivative that is not known."""
        return ExpressionError(f"the boundary condition '{self.text}' must be differentiated by t: {text}")

    def compile(self, expressions: Sequence[sp.Expr], jets: Sequence[Jet]) -> Program:
        """Compile expressions in coordinates, normal, time and the given jets, in this order."""
        symbols = [*self.jets.x, *self.normals, self.jets.t, *(self.jets.symbol(jet) for jet in jets)]
        return Program(list(expressions), symbols, self.parameters.functions)

    def values(self, points: BoundaryPoints, t: float | Array, jets: Sequence[Array]) -> Array:
        """Return the residual at points, for the values of its jets."""
        with np.errstate(all="ignore"):
            found = self.compile([self.residual], self.jets_in())(*points.x.T, *points.normals.T, t, *jets)[0]
        return np.broadcast_to(found, len(points.x))

    def towards(self, share: float) -> BoundaryLaw:
        """Return the law on the way from its linearisation, share 0, to itself, share 1.

        It is linearised where all jets vanish, or about the field 1 where it is not finite there.
        """
        found, split = self.jets.jets_in(self.residual), sp.Integer(0)
        for value in (0, 1):
            about = {s: sp.Integer(0 if jet.order else value) for s, jet in found.items()}
            slopes = {s: sp.diff(self.residual, s).subs(about) for s in found}
            split = self.residual.subs(about) + sp.Add(*(c * (s - about[s]) for s, c in slopes.items()))
            if not split.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
                break
        return replace(self, residual=sp.Float(share) * self.residual + sp.Float(1 - share) * split if share else split)

    def in_units(self, units: dict[str, sp.Number]) -> BoundaryLaw:
        """Return the law for fields that are measured in units of their own."""
        largest = max(units[name] for name in self.fields)
        table = {s: units[jet.field] * s for s, jet in self.jets.jets_in(self.residual).items()}
        return replace(self, residual=self.residual.xreplace(table) / largest)

    def __repr__(self) -> str:
        return f"BoundaryLaw({self.side.name}: {self.text})"


def check_law(law: BoundaryLaw, orders: dict[str, int], static: bool, implicit: Sequence[str] = ()) -> None:
    """Refuse what can't be kept: time in static problems, time derivatives that are too high or not linear."""
    where = f"the boundary condition '{law.text}' on '{law.side.name}'"
    if static:
        if law.time_order or law.depends_on_time:
            raise ProblemError(f"{where} contains time, but the problem has none; write time=(0, 1), initial=….")
        return
    for name in (name for name in law.fields if name in implicit):
        raise ProblemError(
            f"{where} is nonlinear or changes in time, and the equation of '{name}' has spatial derivatives of its "
            "highest time derivative; such equations need linear conditions with coefficients in the coordinates."
        )
    for jet in law.jets_in():
        if jet.time > orders[jet.field]:
            raise ProblemError(
                f"{where} contains '{law.jets.name(jet)}', but the equation of '{jet.field}' is of order "
                f"{orders[jet.field]} in time; a condition may contain time derivatives up to that order."
            )
    if not any(orders[name] for name in law.fields):
        raise ProblemError(
            f"{where} is nonlinear or changes in time, and {choices(law.fields)} has no time derivative in the "
            "equations; write it with fixed coefficients and the data on the right, as in 'u_n + 2*u = sin(t)'."
        )
    highest = [law.jets.symbol(jet) for jet in law.jets_in() if jet.time == orders[jet.field]]
    for symbol in highest:
        if sp.diff(law.residual, symbol).free_symbols & set(highest):
            raise ProblemError(f"{where} is not linear in '{symbol}'; solve it for that derivative.")
    if len({orders[name] for name in law.fields if orders[name]}) > 1:
        raise ProblemError(
            f"{where} couples {choices(law.fields)}, which have different time orders; "
            "write the second-order one as a first-order system."
        )


def refuse_laws(laws: Sequence[BoundaryLaw], what: str) -> None:
    """Say that something works with linear conditions only."""
    if laws:
        law = laws[0]
        raise ProblemError(
            f"{what} needs linear boundary conditions whose coefficients do not depend on time; "
            f"'{law.text}' on '{law.side.name}' is none."
        )
