"""The outward normal in boundary conditions: its components, and derivatives along it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import sympy as sp

from frozenpinn.geometry import FlatSide, Side
from frozenpinn.language.algebra import expanded
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.statement.parameters import Parameters


@lru_cache
def normal_symbols(dimension: int) -> tuple[sp.Symbol, ...]:
    """Return symbols for the components of the outward normal, the same in every process; no text can name them."""
    return tuple(sp.Dummy(f"n{i + 1}", dummy_index=i, real=True) for i in range(dimension))


def without_normal(jet: Jet, side: Side) -> dict[Jet, sp.Expr]:
    """Write normal derivatives as derivatives along the axes: Σ nᵢ ∂ᵢ; on the side of a box, ±∂ along one of them."""
    table: dict[Jet, sp.Expr] = {replace(jet, normal=0): sp.Integer(1)}
    for _ in range(jet.normal):
        new: dict[Jet, sp.Expr] = {}
        for plain, factor in table.items():
            for axis, component in _components(side, len(jet.alpha)):
                alpha = tuple(a + (i == axis) for i, a in enumerate(plain.alpha))
                shifted = replace(plain, alpha=alpha)
                new[shifted] = new.get(shifted, sp.Integer(0)) + component * factor
        table = new
    return table


def _components(side: Side, dimension: int) -> list[tuple[int, sp.Expr]]:
    """Return the components of the outward normal that are not zero everywhere on a side."""
    if isinstance(side, FlatSide):
        return [(side.axis, sp.Integer((-1, 1)[side.end]))]
    return list(enumerate(normal_symbols(dimension)))


def outward(side: Side, jets: JetSpace, parameters: Parameters) -> tuple[sp.Expr, ...]:
    """Return the components of the outward normal on a side, along the unit vectors of the calculus."""
    known = dict(_components(side, jets.dimension))
    if parameters.chart is not None:
        known = {axis: component * parameters.chart.senses[axis] for axis, component in known.items()}
    return tuple(known.get(axis, sp.Integer(0)) for axis in range(jets.dimension))


def normal_terms(name: str, side: Side, jets: JetSpace, parameters: Parameters) -> dict[Jet, sp.Expr]:
    """Return the derivative of a field along the outward normal, as coefficients of derivatives along the axes."""
    if parameters.chart is None:
        return without_normal(replace(jets.field(name), normal=1), side)
    scope = replace(parameters.scope(jets, [name], normal=True), normal=outward(side, jets, parameters))
    value = scope.lookup(f"{name}_n")
    split = jets.affine(expanded(value)) if isinstance(value, sp.Expr) else None
    assert split is not None
    return split[0]
