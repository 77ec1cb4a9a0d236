"""SymPy within bounds: every expression that enters is real, finite, computable and of limited size.

SymPy evaluates whatever it is given, for as long as it takes. Here sizes are measured before an
operation and constants as soon as they exist, so that no short text can keep the machine busy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.errors import ExpressionError, FrozenPinnError, ProblemError
from frozenpinn.language.program import Program, constant_value, is_computable

Array = np.ndarray

MAX_TERMS = 1_000
MAX_POWER = 100
MAX_EFFORT = 3_000  #: operations of all derivatives and kinks in one text, some two seconds of SymPy
_FUNCTION, _KINK = 8, 40  # operations that take as long as the derivative of a function, of a minimum or maximum
_KINKS = (sp.Min, sp.Max, sp.Abs, sp.sign, sp.Heaviside)
_OVERFLOW, _BEYOND = 700.0, 1e9  # exponents of e that no float can hold, and those that are taken for a mistake
_NOT_REAL = (sp.I, sp.zoo, sp.nan, sp.oo, -sp.oo)
_SYMPY_FAILURES = (ArithmeticError, AttributeError, NotImplementedError, RecursionError, TypeError, ValueError)


@lru_cache(maxsize=16_384)
def operations(node: sp.Basic) -> int:
    """Return the number of operations of an expression written out in full, in the time of its distinct parts."""
    return sum(map(operations, node.args)) + max(len(node.args) - 1, 1) if node.args else 0


def effort(expression: sp.Basic) -> int:
    """Predict the work of a derivative, in operations, from the distinct parts of an expression.

    A product of n factors becomes n products; SymPy sorts long sums, and compares the arguments of what has a kink.
    """
    total, seen, stack = 0, {expression}, [expression]
    while stack:
        node = stack.pop()
        if node.args and not node.is_number:
            n = len(node.args)
            total += n * n // 4 + 1 if isinstance(node, sp.Mul) else 2 * n if isinstance(node, sp.Add) else _FUNCTION
            total += _KINK if isinstance(node, _KINKS) else 0
            stack += [part for part in node.args if part not in seen]
            seen.update(node.args)
    return total


@lru_cache(maxsize=16_384)
def _is_clean(node: sp.Basic) -> bool:
    """Whether no part is imaginary or infinite by name."""
    return all(map(_is_clean, node.args)) if node.args else node not in _NOT_REAL


def exponential(argument: sp.Expr) -> sp.Expr:
    """Return exp of an expression as one piece.

    SymPy writes exp(1000.0*x - 1000.0) as 5e-435*exp(1000.0*x), which is zero times infinity in double precision; whole
    numbers and fractions stay inside.
    """
    large = argument.is_Float and _OVERFLOW < abs(argument) < _BEYOND
    if large or (argument.is_Add and any(term.is_Float for term in argument.args)):
        floats = {number: sp.Rational(repr(float(number))) for number in argument.atoms(sp.Float)}
        if all(np.isfinite(float(number)) for number in floats):
            argument = argument.xreplace(floats)
    return sp.exp(argument)


def product(*factors: sp.Expr) -> sp.Expr:
    """Multiply; exp(1000)*exp(-1000*x), which SymPy leaves as it is, becomes exp(1000 - 1000*x)."""
    result = sp.Mul(*factors)
    powers = [factor for factor in result.args if isinstance(factor, sp.exp)] if result.is_Mul else []
    if len(powers) > 1 and any(p.exp.is_number and abs(constant_value(p.exp)) > _OVERFLOW for p in powers):
        others = [factor for factor in result.args if factor not in powers]
        return sp.Mul(*others, exponential(sp.Add(*(p.exp for p in powers))))
    return result


def computed(function: Callable[..., Any], *arguments: Any, what: str) -> sp.Expr:
    """Apply a SymPy operation; what it can't do becomes an error that names ``what``."""
    try:
        result = function(*arguments)
    except FrozenPinnError:
        raise
    except _SYMPY_FAILURES as error:
        raise ExpressionError(f"{what} can't be computed: {str(error)[:200] or type(error).__name__}.") from None
    return bounded(result, what)


def bounded(expression: sp.Expr, what: str) -> sp.Expr:
    """Check one step of a growing expression: its size, and its value if it is a constant."""
    max_operations = 20_000
    max_bits = 1_100  # beyond the range of a float, exact numbers only cost time
    if expression.is_Rational and max(abs(expression.p), expression.q).bit_length() > max_bits:
        check_constant(expression, what)
        return sp.Float(constant_value(expression))
    if expression.is_number:
        check_constant(expression, what)
    elif not _is_clean(expression):
        _refuse_constant(expression, what)
    if operations(expression) > max_operations:
        raise ExpressionError(
            f"{what} expands to more than {max_operations} operations. "
            "Use a Python function as parameter for large coefficients."
        )
    return expression


def checked(expression: sp.Expr, what: str) -> sp.Expr:
    """Return an expression in which every constant is real and finite and every function can be computed."""
    bounded(expression, what)
    seen: set[sp.Basic] = set()
    stack: list[sp.Basic] = [expression]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.is_number:
            check_constant(node, what)
        elif is_computable(node):
            stack.extend(node.args)
        else:
            raise ProblemError(f"'{node.func.__name__}' in '{node}' of {what} can't be evaluated numerically.")
    return expression


def check_constant(node: sp.Expr, what: str) -> None:
    """Refuse a constant that no floating point number can stand for."""
    if not math.isfinite(constant_value(node)):
        _refuse_constant(node, what)


def _refuse_constant(node: sp.Expr, what: str) -> None:
    if node.has(sp.zoo, sp.nan, sp.oo, -sp.oo) or (node.is_number and math.isinf(constant_value(node))):
        raise ExpressionError(
            f"{what} contains a division by zero or an infinite constant; floating point numbers end at 1e308."
        )
    raise ExpressionError(
        f"{what} is complex: it has a root, a logarithm or a power of a negative number. If that is meant, write the "
        "imaginary unit as I."
    )


# ---- expansion ------------------------------------------------------------------------------------


def expanded(expression: sp.Expr) -> sp.Expr:
    """Multiply out products and powers, unless that would give more than ``MAX_TERMS`` terms."""
    if _terms(expression) > MAX_TERMS:
        return expression
    opaque = _opaque(expression)
    result = sp.expand(expression.xreplace(opaque), power_base=False, power_exp=False, log=False, trig=False)
    return result.xreplace({place: f for f, place in opaque.items()})


def multiplied_out(expression: sp.Expr) -> sp.Expr:
    """Multiply out products only."""
    opaque = _opaque(expression)
    return sp.expand_mul(expression.xreplace(opaque)).xreplace({place: f for f, place in opaque.items()})


def _opaque(expression: sp.Expr) -> dict[sp.Expr, sp.Dummy]:
    """Return symbols for functions and denominators, which stay as they are written.

    SymPy would turn exp(-(x - 9.5)**2) into 1e-40*exp(-x**2 + 19.0*x), 1/(1 + x + u)**30 into a denominator of
    thousands of terms, and exp(-1000)/(1 - exp(-1000)) into 1/(exp(1000) - 1), which no float can hold.
    """
    whole = [p for p in expression.atoms(sp.Pow) if p.base.is_Add and p.exp.is_number and not p.exp.is_positive]
    return {f: sp.Dummy(real=True) for f in (*expression.atoms(sp.Function), *whole)}


def _terms(node: sp.Basic) -> float:
    """Bound the number of terms after expansion, without expanding."""
    if not node.args:
        return 1
    if isinstance(node, sp.Add):
        return sum(map(_terms, node.args))
    if isinstance(node, sp.Mul):
        return math.prod(map(_terms, node.args))
    terms = max(map(_terms, node.args))
    if isinstance(node, sp.Pow) and node.exp.is_Rational and terms > 1:
        power = int(abs(node.exp))
        terms = math.comb(int(terms) + power - 1, power) if max(terms, power) <= MAX_TERMS else math.inf
        if node.exp.is_positive:
            return terms
    return 1 if terms <= MAX_TERMS else math.inf  # the argument of a function is expanded too


def vanishes(expression: sp.Expr, x: Mapping[sp.Symbol, Array]) -> bool:
    """Return whether an expression is zero at all points ``x``, for many values of everything else it contains.

    ``sp.simplify`` would give a proof, in a time without bound.
    """
    expression = expanded(expression)
    if not expression.args:
        return bool(expression == 0)
    functions = {f: sp.Dummy(real=True) for f in expression.atoms(AppliedUndef)}
    terms = sp.Add.make_args(expression.xreplace(functions))
    others = sorted(set[sp.Symbol]().union(*(term.free_symbols for term in terms)) - set(x), key=str)
    n, rng = len(next(iter(x.values()))), np.random.default_rng(0)
    sizes = 10.0 ** rng.uniform(-2.0, 2.0, (len(others), n))  # a step or a kink may be anywhere
    values = [*x.values(), *(sizes * rng.choice([-1.0, 1.0, 1.0], sizes.shape))]
    with np.errstate(all="ignore"):
        parts = np.stack([np.broadcast_to(part, n) for part in Program(terms, [*x, *others])(*values)])
        total, scale = np.abs(parts.sum(axis=0)), np.abs(parts).sum(axis=0)
    known = np.isfinite(total)
    return bool(known.any() and np.all(total[known] <= 1e-11 * scale[known]))
