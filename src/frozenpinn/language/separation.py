"""Functions of space and time as sums of products: what is known of x is evaluated once, what is left depends on t."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.language.program import Program


class Separated(NamedTuple):
    """source = constant(x) + Σ shapes(x)·histories(t) + rest(x, t)."""

    constant: sp.Expr
    shapes: tuple[sp.Expr, ...]
    histories: tuple[sp.Expr, ...]
    rest: sp.Expr


@lru_cache(maxsize=256)
def separate(source: sp.Expr, t: sp.Symbol) -> Separated:
    """Sort a source into its constant, separable and remaining parts."""
    products: dict[sp.Expr, sp.Expr] = {}
    rest = sp.Integer(0)
    for term in sp.Add.make_args(sp.expand_mul(source)):
        shape, history = term.as_independent(t, as_Add=False)
        if history.free_symbols <= {t} and not history.has(AppliedUndef):
            products[history] = products.get(history, sp.Integer(0)) + shape
        else:
            rest += term
    constant = products.pop(sp.Integer(1), sp.Integer(0))
    return Separated(constant, tuple(products.values()), tuple(products), rest)


@lru_cache(maxsize=256)
def compiled(histories: tuple[sp.Expr, ...], t: sp.Symbol, derivative: int = 0) -> Program:
    """Compile (derivatives of) functions of time."""
    return Program([sp.diff(h, t, derivative) if derivative else h for h in histories], [t])


def is_smooth(history: sp.Expr) -> bool:
    """Whether a function of time can be differentiated as it stands, without jumps and corners."""
    return not history.has(sp.Heaviside, sp.sign, sp.Abs, sp.Piecewise, sp.Min, sp.Max, sp.DiracDelta)
