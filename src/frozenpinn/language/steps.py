"""Steps in time: between the times at which they switch, formulas are what they are there."""

from __future__ import annotations

import numpy as np
import sympy as sp
from sympy.core.relational import Relational

from frozenpinn.language.program import Program
from frozenpinn.runtime.round_off import LAST_DIGITS

_SWITCHES = (sp.Heaviside, sp.sign, sp.Abs, sp.Max, sp.Min, Relational)
_LOOKS = np.linspace(0.04, 0.96, 24)  # parts of a stretch of time at which a switch must have the same state
_HALF = sp.Rational(1, 2)


def switches_of(expression: sp.Expr, t: sp.Symbol) -> list[sp.Basic]:
    """Return the parts of an expression that switch at certain times, whatever the place."""
    return sorted((node for node in expression.atoms(*_SWITCHES) if node.free_symbols == {t}), key=str)


def settled(expression: sp.Expr, t: sp.Symbol, time: tuple[float, float]) -> sp.Expr:
    """Return an expression as it is during a time in which nothing switches; what does so stays as it is.

    Examples
    --------
    >>> t = sp.Symbol("t", real=True)
    >>> settled(3 * sp.Heaviside(t - 1) + sp.Abs(t - 2), t, (1, 2))
    5 - t
    """
    table: dict[sp.Basic, sp.Basic] = {}
    for node in switches_of(expression, t):
        known = _state(node, t, time)
        if known is not None:
            table[node] = known
    return expression.xreplace(table) if table else expression


def switching_times(expression: sp.Expr, t: sp.Symbol, time: tuple[float, float]) -> list[float]:
    """Return start, end and all times between at which something switches."""
    times = {float(time[0]), float(time[1])}
    for node in switches_of(expression, t):
        arguments = (node.lhs - node.rhs,) if isinstance(node, Relational) else node.args[:1]
        arguments = tuple(node.args[0] - a for a in node.args[1:]) if isinstance(node, sp.Max | sp.Min) else arguments
        for argument in arguments:
            times.update(_roots(argument, t, time))
    return sorted(times)


def at_first(expression: sp.Expr, t: sp.Symbol, time: tuple[float, float]) -> sp.Expr:
    """Return an expression as it is right after the start, whatever it is at that very moment.

    Examples
    --------
    >>> t = sp.Symbol("t", real=True)
    >>> at_first(sp.Heaviside(t), t, (0, 1))
    1
    """
    if not switches_of(expression, t):
        return expression
    return settled(expression, t, (time[0], switching_times(expression, t, time)[1]))


def jumps_in_time(expression: sp.Expr, t: sp.Symbol, time: tuple[float, float]) -> list[tuple[float, sp.Expr]]:
    """Return when an expression jumps, and by how much.

    Examples
    --------
    >>> t = sp.Symbol("t", real=True)
    >>> jumps_in_time(sp.Heaviside(t - 1) * t**2, t, (0, 3))
    [(1.0, 1.00000000000000)]
    """
    edges, found = switching_times(expression, t, time), []
    for before, now, after in zip(edges, edges[1:], edges[2:], strict=False):
        at = {t: sp.Float(now)}
        size = settled(expression, t, (now, after)).xreplace(at) - settled(expression, t, (before, now)).xreplace(at)
        if size != 0 and not (size.is_number and abs(float(size)) < LAST_DIGITS):
            found.append((now, size))
    return found


def _roots(argument: sp.Expr, t: sp.Symbol, time: tuple[float, float]) -> list[float]:
    """Return where a function of time changes its sign."""
    samples = 2000  # at which signs of functions of time are compared
    rate = sp.diff(argument, t)
    if rate.is_number and rate != 0:
        root = float(-argument.xreplace({t: sp.Integer(0)}) / rate)
        return [root] if time[0] < root < time[1] else []
    from scipy.optimize import brentq

    program = Program([argument], [t])

    def value(s: float | np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.broadcast_to(program(s)[0], np.shape(s))

    places = time[0] + (time[1] - time[0]) * (np.arange(samples) + 0.3819660) / samples
    signs = np.sign(value(places))
    pairs = [places[k : k + 2] for k in np.flatnonzero(signs[1:] * signs[:-1] < 0)]
    return [float(brentq(lambda s: float(value(s)), a, b, xtol=1e-15 * (abs(a) + abs(b)))) for a, b in pairs]


def _state(node: sp.Basic, t: sp.Symbol, time: tuple[float, float]) -> sp.Basic | None:
    """Return what a switch is during a time; None if it changes."""
    times = time[0] + (time[1] - time[0]) * _LOOKS

    def signs(argument: sp.Expr) -> int | None:
        with np.errstate(all="ignore"):
            found = set(np.sign(np.broadcast_to(Program([argument], [t])(times)[0], times.shape)).tolist())
        return int(found.pop()) if len(found) == 1 and found <= {-1.0, 1.0} else None

    if isinstance(node, Relational):
        sign = signs(node.gts - node.lts) if hasattr(node, "gts") else None
        return None if sign is None else (sp.true if sign > 0 else sp.false)
    if isinstance(node, sp.Max | sp.Min):
        best = node.args[0]
        for other in node.args[1:]:
            sign = signs(best - other)
            if sign is None:
                return None
            best = best if (sign > 0) == isinstance(node, sp.Max) else other
        return best
    sign = signs(node.args[0])
    if sign is None:
        return None
    if isinstance(node, sp.Abs):
        return sign * node.args[0]
    return sp.Integer(sign) if isinstance(node, sp.sign) else sp.Integer((sign + 1) // 2)


def in_steps(expression: sp.Expr) -> sp.Expr:
    """Write signs and simple cases as steps."""
    table: dict[sp.Expr, sp.Expr] = {}
    for node in expression.atoms(sp.sign):
        table[node] = 2 * sp.Heaviside(node.args[0], _HALF) - 1
    for node in expression.atoms(sp.Heaviside):
        table[node] = sp.Heaviside(node.args[0], _HALF)
    for node in expression.atoms(sp.Piecewise):
        if len(node.args) == 2 and node.args[1][1] == sp.true and node.args[0][1].is_Relational:
            (first, condition), (second, _) = node.args
            table[node] = second + (first - second) * sp.Heaviside(condition.gts - condition.lts, _HALF)
    return expression.xreplace(table)
