"""Interfaces: where coefficients under derivatives jump, and what is continuous there.

Across the zeros of a level function φ(x), values of the fields are continuous, and so is the flux through it, whatever
stands under the derivatives of an equation: Σ nᵢ Fᵢ with n = ∇φ/|∇φ|. With a contact resistance R, values jump by R
times the flux.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.errors import ProblemError
from frozenpinn.language.algebra import expanded
from frozenpinn.language.fluxes import Flux, levels_of
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.language.lexer import shortened
from frozenpinn.runtime.arguments import between

Array = np.ndarray
MOST_LEVELS = 8


class FluxTerm(NamedTuple):
    """coefficient(x)·jet, a part of the flux along an axis; without an axis, of something that has no direction."""

    axis: int | None
    jet: Jet
    coefficient: sp.Expr


@dataclass(frozen=True, eq=False)
class Interfaces:
    """All interfaces of a problem.

    Attributes
    ----------
    levels
        The functions at whose zeros coefficients jump.
    fluxes
        What is continuous across all of them, each as a sum of terms.
    fields
        The fields whose values are continuous, too.
    contact
        The contact resistance.
    material
        Whether fluxes jump. If not, sources or other coefficients do, and slopes are continuous.
    """

    levels: tuple[sp.Expr, ...]
    fluxes: tuple[tuple[FluxTerm, ...], ...]
    fields: tuple[str, ...]
    contact: float = 0.0
    material: bool = True

    def groups(self) -> list[set[str]]:
        """Return the fields that share a flux."""
        return [{term.jet.field for term in flux} for flux in self.fluxes]

    def scaled(self, units: Mapping[str, sp.Expr]) -> Interfaces:
        """Return the same interfaces for fields in other units."""
        fluxes = tuple(
            tuple(t._replace(coefficient=t.coefficient * units[t.jet.field]) for t in flux) for flux in self.fluxes
        )
        return replace(self, fluxes=fluxes)


def read_interfaces(
    residuals: Sequence[sp.Expr],
    fluxes: Sequence[Sequence[Flux]],
    jets: JetSpace,
    orders: Mapping[str, int],
    contact: float | None,
) -> Interfaces | None:
    """Return the interfaces of equations in which fluxes jump; None if there are none."""
    if contact is not None and not between(contact, 0.0, 1e300):
        raise ProblemError(f"contact is a resistance, a number from 0 on, got {contact!r}.")
    if not any(fluxes):
        if contact:
            raise ProblemError(
                "contact= is a resistance where coefficients jump, and none does under a derivative; leave it out."
            )
        return None
    expressions = [*residuals, *(f.value for own in fluxes for f in own)]
    levels = distinct([level for e in expressions for level in levels_of(e) if not jets.jets_in(level)])
    for level in levels:
        if jets.t in level.free_symbols:
            raise ProblemError(
                f"a coefficient jumps where {level} = 0, which moves in time; interfaces must stay where they are."
            )
        if level.atoms(AppliedUndef):
            raise ProblemError(f"a coefficient jumps where {level} = 0; write the Python function in it as text.")
    if len(levels) > MOST_LEVELS:
        raise ProblemError(f"coefficients jump at {len(levels)} different places; at most {MOST_LEVELS} are possible.")
    high = [name for name, order in orders.items() if order > 2]
    if high:
        raise ProblemError(
            f"a coefficient jumps under a derivative, and '{high[0]}' has derivatives of order {orders[high[0]]}; "
            "interfaces are for equations of second order. Use a smooth transition such as tanh((x - a)/w)."
        )
    own = tuple(_terms(list(row), jets) for row in fluxes if row)
    second = tuple(name for name, order in orders.items() if order == 2)
    known = {t.jet.field for flux in own for t in flux if t.jet.order}
    for name in (name for name in second if name not in known):  # nothing jumps in its own flux: slopes are continuous
        base = jets.field(name)
        own += (tuple(FluxTerm(i, jets.shifted(base, i), sp.Integer(1)) for i in range(jets.dimension)),)
    return Interfaces(tuple(levels), own, second, float(contact or 0.0))


def _terms(fluxes: list[Flux], jets: JetSpace) -> tuple[FluxTerm, ...]:
    """Return the parts of a flux, measured so that slopes have a positive factor where it was written."""
    first, found = fluxes[0].factor, dict[tuple[int, Jet], sp.Expr]()
    for flux in fluxes:
        ratio = sp.simplify(flux.factor / first)
        if not ratio.is_number:
            raise ProblemError(
                f"the derivatives of what jumps, '{shortened(str(flux.value))}', have different factors in front of "
                "them; write one divergence, div(k*grad(u))."
            )
        split = jets.affine(expanded(flux.value))
        if split is None:
            raise ProblemError(
                f"'{shortened(str(flux.value))}' jumps under a derivative and is not linear in the unknown; across "
                "interfaces, fluxes must be linear."
            )
        coefficients, rest = split
        if levels_of(rest):
            raise ProblemError(
                f"the part '{shortened(str(rest))}' of a flux jumps by itself, without the unknown: it would be a "
                "source on the interface. Write it outside of the derivative."
            )
        for jet, coefficient in coefficients.items():
            if jets.t in coefficient.free_symbols:
                raise ProblemError(
                    f"the flux '{shortened(str(flux.value))}' jumps and its coefficients depend on t; across "
                    "interfaces they must not."
                )
            if jet.time or jet.order > 1:
                raise ProblemError(
                    f"'{jets.name(jet)}' stands in a flux that jumps; only values and first derivatives may."
                )
            key = (flux.axis, jet)
            found[key] = found.get(key, sp.Integer(0)) + ratio * coefficient
    return tuple(FluxTerm(axis, jet, c) for (axis, jet), c in found.items())


def distinct(levels: Sequence[sp.Expr]) -> list[sp.Expr]:
    """Return levels, each set of zeros once."""
    found: list[sp.Expr] = []
    for level in levels:
        if not any(sp.simplify(level / other).is_number for other in found):
            found.append(level)
    return found
