"""What values a formula takes on cells: interval arithmetic with derivatives, for many cells at once.

Every part of an expression has its value in the middle of each cell, bounds of its values on all of it, and bounds of
its first derivatives. Bounds by derivatives and by arithmetic are both kept: (x − a)² written out as a sum of three
terms is bounded as well as the square itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

Array = np.ndarray


class UnknownError(Exception):
    """A part of an expression has no bounds: a Python function, or one that is not known here."""


class Bounds(NamedTuple):
    """Lower and upper bounds."""

    low: Array
    high: Array

    def __mul__(self, other: object) -> Bounds:
        assert isinstance(other, tuple)
        products = [_times(a, b) for a in self for b in other]
        return Bounds(functools.reduce(np.minimum, products), functools.reduce(np.maximum, products))

    def plus(self, other: Bounds) -> Bounds:
        """Return bounds of a sum."""
        return Bounds(_sum(self.low, other.low, -np.inf), _sum(self.high, other.high, np.inf))

    def hull(self, other: Bounds) -> Bounds:
        """Return bounds of both."""
        return Bounds(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    @property
    def size(self) -> Array:
        """The largest absolute value."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def smallest(self) -> Array:
        """The smallest absolute value."""
        return np.maximum(0.0, np.maximum(self.low, -self.high))


class Enclosure(NamedTuple):
    """Value in the middle of each cell (n,), bounds of the values (n,) and of the derivatives (k, n)."""

    middle: Array
    values: Bounds
    slopes: Bounds


def _times(a: Array, b: Array) -> Array:
    product = np.multiply(a, b)
    return np.where(np.isnan(product), 0.0, product)  # nothing times anything


def _sum(a: Array, b: Array, open_end: float) -> Array:
    total = np.add(a, b)
    return np.where(np.isnan(total), open_end, total)


# ---- functions of one argument ----------------------------------------------------------------------


def _rising(f: Callable[[Array], Array]) -> Callable[[Bounds], Bounds]:
    return lambda z: Bounds(f(z.low), f(z.high))


def _even(f: Callable[[Array], Array], falls: bool) -> Callable[[Bounds], Bounds]:
    """Return the range of an even function that falls, or rises, from zero on."""

    def of(z: Bounds) -> Bounds:
        near, far = f(z.smallest), f(z.size)
        return Bounds(far, near) if falls else Bounds(near, far)

    return of


def _cosine(z: Bounds) -> Bounds:
    ends = [np.cos(z.low), np.cos(z.high)]
    low, high = np.minimum(*ends), np.maximum(*ends)
    period = 2 * np.pi
    with np.errstate(invalid="ignore"):
        top = np.floor(z.high / period) > np.floor(z.low / period)
        top |= np.floor(z.low / period) * period == z.low
        bottom = np.floor((z.high - np.pi) / period) > np.floor((z.low - np.pi) / period)
    lost = ~np.isfinite(low) | ~np.isfinite(high)
    return Bounds(np.where(bottom | lost, -1.0, low), np.where(top | lost, 1.0, high))


def _sine(z: Bounds) -> Bounds:
    return _cosine(Bounds(z.low - np.pi / 2, z.high - np.pi / 2))


def _step_slope(z: Bounds) -> Bounds:
    crosses = (z.low <= 0) & (z.high >= 0)
    return Bounds(np.zeros_like(z.low), np.where(crosses, np.inf, 0.0))


def _erf(z: Array) -> Array:
    from scipy.special import erf

    return np.asarray(erf(z))


def _negative(z: Bounds) -> Bounds:
    return Bounds(-z.high, -z.low)


def _inverse(z: Bounds) -> Bounds:
    inside = (z.low <= 0) & (z.high >= 0)
    one, other = 1.0 / z.high, 1.0 / z.low
    return Bounds(np.where(inside, -np.inf, one), np.where(inside, np.inf, other))


def _positive(z: Bounds) -> Bounds:
    return Bounds(np.maximum(z.low, 0.0), np.maximum(z.high, 0.0))


_bell = _even(lambda z: 1.0 / (1.0 + z * z), falls=True)
_sech = _even(lambda z: 1.0 / np.cosh(z), falls=True)
_tanh = _rising(np.tanh)
_exp = _rising(np.exp)

#: By the head of an expression: the function, the range of its values and that of its derivative.
RULES: dict[Any, tuple[Callable[[Array], Array], Callable[[Bounds], Bounds], Callable[[Bounds], Bounds]]] = {
    sp.exp: (np.exp, _exp, _exp),
    sp.log: (np.log, lambda z: _rising(np.log)(_positive(z)), lambda z: _inverse(_positive(z))),
    sp.sin: (np.sin, _sine, _cosine),
    sp.cos: (np.cos, _cosine, lambda z: _negative(_sine(z))),
    sp.sinh: (np.sinh, _rising(np.sinh), _even(np.cosh, falls=False)),
    sp.cosh: (np.cosh, _even(np.cosh, falls=False), _rising(np.sinh)),
    sp.tanh: (np.tanh, _tanh, _even(lambda z: 1.0 / np.cosh(z) ** 2, falls=True)),
    sp.sech: (lambda z: 1.0 / np.cosh(z), _sech, lambda z: _negative(_sech(z) * _tanh(z))),
    sp.erf: (_erf, _rising(_erf), _even(lambda z: 2.0 / np.sqrt(np.pi) * np.exp(-z * z), falls=True)),
    sp.atan: (np.arctan, _rising(np.arctan), _bell),
    sp.Abs: (np.abs, _even(np.abs, falls=False), _rising(np.sign)),
    sp.sign: (np.sign, _rising(np.sign), _step_slope),
    sp.Heaviside: (lambda z: np.heaviside(z, 0.5), _rising(lambda z: np.heaviside(z, 0.5)), _step_slope),
}
_QUOTIENTS = {
    sp.tan: (sp.sin, sp.cos),
    sp.cot: (sp.cos, sp.sin),
    sp.sec: (None, sp.cos),
    sp.csc: (None, sp.sin),
    sp.coth: (sp.cosh, sp.sinh),
    sp.csch: (None, sp.sinh),
}


def _power(exponent: float) -> tuple[Callable[[Array], Array], Callable[[Bounds], Bounds]]:
    """Return z ↦ z^exponent and its range."""
    whole = exponent == int(exponent)

    def f(z: Array) -> Array:
        return np.asarray(np.power(z if whole else np.maximum(z, 0.0), exponent))

    if exponent < 0:
        _, positive = _power(-exponent)
        return f, lambda z: _inverse(positive(z))
    if not whole or exponent % 2 == 1:
        return f, _rising(f)
    return f, _even(f, falls=False)


# ---- expressions ------------------------------------------------------------------------------------


class Cells:
    """Cells in the space of some symbols, and the enclosures of expressions on them.

    Parameters
    ----------
    symbols
        The coordinates, by symbol; others have no bounds.
    middles, radii
        Of the cells, (k, n).
    constants
        Numbers of parameters that are symbols, by name.
    """

    def __init__(
        self, symbols: tuple[sp.Symbol, ...], middles: Array, radii: Array, constants: Mapping[str, float] | None = None
    ) -> None:
        self.symbols, self.middles, self.radii = symbols, middles, radii
        self._constants = constants or {}
        self._known: dict[sp.Basic, Enclosure] = {}

    def enclose(self, node: sp.Basic) -> Enclosure:
        """Return the enclosure of an expression on all cells."""
        if node not in self._known:
            with np.errstate(all="ignore"):
                self._known[node] = self._tightened(self._enclosed(node))
        return self._known[node]

    def _tightened(self, found: Enclosure) -> Enclosure:
        """Take the better of two bounds: by arithmetic, and by the derivatives around the middle."""
        reach = np.sum(_times(found.slopes.size, self.radii), axis=0)
        reach = np.where(np.isfinite(found.middle) & np.isfinite(reach), reach, np.inf)
        middle = np.where(np.isfinite(found.middle), found.middle, 0.0)
        low = np.fmax(np.where(np.isnan(found.values.low), -np.inf, found.values.low), middle - reach)
        high = np.fmin(np.where(np.isnan(found.values.high), np.inf, found.values.high), middle + reach)
        slopes = Bounds(
            np.where(np.isnan(found.slopes.low), -np.inf, found.slopes.low),
            np.where(np.isnan(found.slopes.high), np.inf, found.slopes.high),
        )
        return Enclosure(found.middle, Bounds(np.minimum(low, high), np.maximum(low, high)), slopes)

    def _enclosed(self, node: sp.Basic) -> Enclosure:
        if node.is_number:
            return self._constant(float(node))
        if node in self.symbols:
            return self._coordinate(self.symbols.index(node))
        if isinstance(node, sp.Symbol) and node.name in self._constants:
            return self._constant(self._constants[node.name])
        if isinstance(node, sp.Add):
            return functools.reduce(_added, map(self.enclose, node.args))
        if isinstance(node, sp.Mul):
            return functools.reduce(_multiplied, map(self.enclose, node.args))
        if isinstance(node, sp.Pow):
            return self._raised(*node.args)
        if isinstance(node, sp.Max | sp.Min):
            return functools.reduce(_larger if isinstance(node, sp.Max) else _smaller, map(self.enclose, node.args))
        if isinstance(node, sp.Piecewise):
            return self._piecewise(node)
        if node.func in _QUOTIENTS:
            top, bottom = _QUOTIENTS[node.func]
            inverse = self._composed(*_reciprocal(), self.enclose(bottom(node.args[0])))
            return inverse if top is None else _multiplied(self.enclose(top(node.args[0])), inverse)
        if node.func in RULES:
            return self._composed(*RULES[node.func], self.enclose(node.args[0]))
        raise UnknownError(str(node))

    def _constant(self, value: float) -> Enclosure:
        every, flat = np.full(self.middles.shape[1], value), np.zeros_like(self.middles)
        return Enclosure(every, Bounds(every, every), Bounds(flat, flat))

    def _coordinate(self, axis: int) -> Enclosure:
        middle, radius, slope = self.middles[axis], self.radii[axis], np.zeros_like(self.middles)
        slope[axis] = 1.0
        return Enclosure(middle, Bounds(middle - radius, middle + radius), Bounds(slope, slope))

    def _composed(
        self, f: Callable[[Array], Array], values: Callable[[Bounds], Bounds], slope: Callable[[Bounds], Bounds], z: Any
    ) -> Enclosure:
        return Enclosure(f(z.middle), values(z.values), slope(z.values) * z.slopes)

    def _raised(self, base: sp.Basic, exponent: sp.Basic) -> Enclosure:
        if not exponent.is_number:
            return self.enclose(sp.exp(exponent * sp.log(base)))
        power = float(exponent)
        f, values = _power(power)
        _, lower = _power(power - 1.0)

        def slope(z: Bounds) -> Bounds:
            found, factor = lower(z), np.full_like(z.low, power)
            return Bounds(factor, factor) * found

        return self._composed(f, values, slope, self.enclose(base))

    def _piecewise(self, node: sp.Piecewise) -> Enclosure:
        """Return the hull of all branches; where they meet, the value may jump."""
        middles, branches = [], []
        for branch, condition in node.args:
            found = self.enclose(branch)
            branches.append(found)
            middles.append((self._holds(condition), found.middle))
        known = np.select([holds for holds, _ in middles], [value for _, value in middles], np.nan)
        values = functools.reduce(Bounds.hull, (found.values for found in branches))
        open_end = np.full_like(self.middles, np.inf)
        return Enclosure(known, values, Bounds(-open_end, open_end))

    def _holds(self, condition: sp.Basic) -> Array:
        """Return whether a condition holds in the middle of the cells."""
        from frozenpinn.language.program import Program

        truth = Program([sp.Piecewise((1, condition), (0, True))], self.symbols, self._constants)(*self.middles)[0]
        return np.broadcast_to(np.asarray(truth) > 0.5, self.middles.shape[1])


def _reciprocal() -> tuple[Any, Any, Any]:
    f, values = _power(-1.0)
    _, square = _power(-2.0)
    return f, values, lambda z: _negative(square(z))


def _added(a: Enclosure, b: Enclosure) -> Enclosure:
    return Enclosure(a.middle + b.middle, a.values.plus(b.values), a.slopes.plus(b.slopes))


def _multiplied(a: Enclosure, b: Enclosure) -> Enclosure:
    slopes = (a.slopes * b.values).plus(b.slopes * a.values)
    return Enclosure(_times(a.middle, b.middle), a.values * b.values, slopes)


def _larger(a: Enclosure, b: Enclosure, sign: float = 1.0) -> Enclosure:
    pick = np.maximum if sign > 0 else np.minimum
    values = Bounds(pick(a.values.low, b.values.low), pick(a.values.high, b.values.high))
    first = a.values.low > b.values.high if sign > 0 else a.values.high < b.values.low
    second = b.values.low > a.values.high if sign > 0 else b.values.high < a.values.low
    both = a.slopes.hull(b.slopes)
    low = np.where(first, a.slopes.low, np.where(second, b.slopes.low, both.low))
    high = np.where(first, a.slopes.high, np.where(second, b.slopes.high, both.high))
    return Enclosure(pick(a.middle, b.middle), values, Bounds(low, high))


def _smaller(a: Enclosure, b: Enclosure) -> Enclosure:
    return _larger(a, b, -1.0)
