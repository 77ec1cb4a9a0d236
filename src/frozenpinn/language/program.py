"""SymPy expressions as straight-line NumPy programs.

Each distinct sub-expression becomes one instruction, so common sub-expressions are shared, and no
source code is generated or executed: an expression stays data from the parser to the last ufunc.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.logic.boolalg import BooleanAtom

from frozenpinn.errors import ProblemError
from frozenpinn.runtime.arrays import is_finite, read_only

Array = np.ndarray
Instruction = tuple[Callable[..., Any], tuple[int, ...]]


def _erf(z: Array) -> Array:
    from scipy.special import erf

    return erf(z)


class ExpInt(sp.Function):  # type: ignore[misc]
    """The exponential integral E₁(z) = ∫ exp(−s)/s ds from z > 0 on."""

    nargs = (1,)
    is_real = True

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """Return the derivative."""
        return -sp.exp(-self.args[0]) / self.args[0]

    def _eval_evalf(self, precision: int) -> sp.Expr:
        return sp.expint(1, self.args[0])._eval_evalf(precision)


def _expint(z: Array) -> Array:
    from scipy.special import exp1

    return exp1(z)


# np.reciprocal rounds whole numbers to 0, and a Python float can't be divided by 0
_inverse = functools.partial(np.divide, 1.0)


_UFUNCS: dict[Any, Callable[..., Any]] = {
    sp.sin: np.sin,
    sp.cos: np.cos,
    sp.tan: np.tan,
    sp.asin: np.arcsin,
    sp.acos: np.arccos,
    sp.atan: np.arctan,
    sp.atan2: np.arctan2,
    sp.sinh: np.sinh,
    sp.cosh: np.cosh,
    sp.tanh: np.tanh,
    sp.coth: lambda z: 1.0 / np.tanh(z),
    sp.sech: lambda z: 1.0 / np.cosh(z),
    sp.csch: lambda z: 1.0 / np.sinh(z),
    sp.cot: lambda z: 1.0 / np.tan(z),
    sp.sec: lambda z: 1.0 / np.cos(z),
    sp.csc: lambda z: 1.0 / np.sin(z),
    sp.exp: np.exp,
    sp.log: np.log,
    sp.Abs: np.abs,
    sp.sign: np.sign,
    sp.erf: _erf,
    ExpInt: _expint,
    sp.Heaviside: lambda z, half=0.5: np.heaviside(z, half),
    sp.DiracDelta: lambda z, *_: np.zeros_like(z, dtype=float),
    sp.StrictLessThan: np.less,
    sp.LessThan: np.less_equal,
    sp.StrictGreaterThan: np.greater,
    sp.GreaterThan: np.greater_equal,
    sp.Equality: np.equal,
    sp.Unequality: np.not_equal,
    sp.Not: np.logical_not,
}


_FOLDED: dict[Any, Callable[..., Any]] = {
    sp.Add: np.add,
    sp.Mul: np.multiply,
    sp.Min: np.minimum,
    sp.Max: np.maximum,
    sp.And: np.logical_and,
    sp.Or: np.logical_or,
}


_OVERFLOWING = frozenset({np.exp, np.sinh, np.cosh, _UFUNCS[sp.sech], _UFUNCS[sp.csch]})


_PART = 65_536  # points of a grid that are evaluated at a time


def is_computable(node: sp.Basic) -> bool:
    """Whether the head of an expression has a counterpart in NumPy."""
    known = (sp.Symbol, AppliedUndef, sp.Pow, sp.Piecewise, ExprCondPair, BooleanAtom)
    return isinstance(node, known) or node.func in _FOLDED or node.func in _UFUNCS


def constant_value(node: sp.Expr) -> float:
    """Return a constant as a float: NaN if it is not real, ±inf if it is out of range.

    SymPy's own evaluation raises its precision without bound to find a digit of exp(exp(exp(100)));
    NumPy overflows. Only what NumPy finds finite is then asked of SymPy, which rounds correctly.
    """
    estimate = _estimate(node)
    if not math.isfinite(estimate) or not node.args:
        return estimate
    try:
        return float(node)
    except (ArithmeticError, TypeError, ValueError):
        return estimate


def _estimate(node: sp.Expr) -> float:
    if not node.args:
        try:
            return float(node) if node.is_extended_real else math.nan
        except OverflowError:
            return math.inf
    with np.errstate(all="ignore"):
        values = [_estimate(argument) for argument in node.args]
        if isinstance(node, sp.Pow):
            return float(np.power(values[0], values[1]))
        if node.func in _FOLDED:
            return float(functools.reduce(_FOLDED[node.func], values))
        if node.func in _UFUNCS:
            return float(_UFUNCS[node.func](*values))
    raise ProblemError(f"'{node.func.__name__}' in '{node}' can't be evaluated numerically.")


def carry_out(code: Sequence[tuple[int, Callable[..., Any], tuple[int, ...]]], memory: list[Any]) -> None:
    """Carry out instructions: functions of some slots of the memory, whose results go to another."""
    for slot, function, arguments in code:
        if len(arguments) == 2:  # nearly all, and many times
            memory[slot] = function(memory[arguments[0]], memory[arguments[1]])
        else:
            memory[slot] = function(*[memory[i] for i in arguments])


class Program:
    """A compiled tuple of expressions in given symbols.

    Parameters
    ----------
    expressions
        What to compute.
    symbols
        The inputs, in the order in which :meth:`__call__` takes them.
    functions
        Python functions by the name of the undefined SymPy function that stands for them; numbers by the name of
        a symbol that is none of the inputs.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> Program([sp.sin(x) ** 2, 3], [x])(np.array([0.0, np.pi / 2]))
    [array([0., 1.]), 3.0]
    """

    def __init__(
        self,
        expressions: Sequence[sp.Expr | float],
        symbols: Sequence[sp.Symbol],
        functions: Mapping[str, Any] | None = None,
    ) -> None:
        self.expressions, self.symbols = tuple(expressions), tuple(symbols)
        self._functions = dict(functions or {})
        code = _translated(tuple(map(sp.sympify, self.expressions)), self.symbols, frozenset(self._functions))
        own = self._functions
        constants = [*code.constants, *((slot, own[name]) for slot, name in code.named)]
        self.code = [(slot, own[f] if isinstance(f, str) else f, places) for slot, f, places in code.instructions]
        self.outputs, self.overflows = code.outputs, code.overflows
        self.blank: list[Any] = [None] * code.size
        for slot, constant in constants:
            self.blank[slot] = constant

    def __call__(self, *values: Any) -> list[Any]:
        """Evaluate all expressions; a constant comes back as a number.

        Where exponentials are too large for a float and their quotient is not, as in the derivative of 1/(1 + exp(x)),
        the whole is evaluated with a larger range of exponents.
        """
        found = self._run(values)
        if not self.overflows or all(map(is_finite, found)):
            return found
        with np.errstate(all="ignore"):
            try:
                wide = self._run([np.asarray(value, dtype=np.longdouble) for value in values])
            except TypeError:  # erf has no such variant
                return found
            return [
                np.where(np.isfinite(value), value, np.asarray(wider, dtype=float))
                for value, wider in zip(found, wide, strict=True)
            ]

    def _run(self, values: Sequence[Any]) -> list[Any]:
        memory = self.blank.copy()
        memory[: len(values)] = values
        carry_out(self.code, memory)
        return [memory[slot] for slot in self.outputs]

    @functools.cached_property
    def is_vectorised(self) -> bool:
        """Whether values may be arrays of any shapes that fit each other; Python functions need not take them."""
        return not any(expression.has(AppliedUndef) for expression in map(sp.sympify, self.expressions))

    def on_grid(self, axes: Sequence[Any], *others: Any) -> list[Any]:
        """Evaluate all expressions on the grid of some coordinates, shape (n,) each, the last one varying fastest.

        What depends on one coordinate alone is computed along its axis only, the rest in parts that fit the cache.
        """
        if not self.is_vectorised:
            return self(*(x.ravel() for x in np.meshgrid(*axes, indexing="ij")), *others)
        shape, first = tuple(map(len, axes)), axes[0]
        step = max(1, _PART * len(first) // math.prod(shape))
        found: list[list[Any]] = []
        for start in range(0, len(first), step):
            part = [first[start : start + step], *axes[1:]]
            values = self(*np.ix_(*part), *others)
            sizes = tuple(map(len, part))
            found.append([np.broadcast_to(value, sizes).ravel() for value in values])
        return [np.concatenate(parts) for parts in zip(*found, strict=True)]

    def __reduce__(self) -> tuple[Any, ...]:
        return Program, (self.expressions, self.symbols, self._functions)


@functools.lru_cache(maxsize=512)  # problems that differ in numbers have the same expressions
def _translated(expressions: tuple[sp.Expr, ...], symbols: tuple[sp.Symbol, ...], names: frozenset[str]) -> _Code:
    return _Code(expressions, symbols, names)


class _Code:
    """Instructions, in which functions and numbers that are given by name are left open."""

    def __init__(self, expressions: Sequence[sp.Expr], symbols: Sequence[sp.Symbol], names: frozenset[str]) -> None:
        self._names = names
        self._slots: dict[sp.Basic, int] = {symbol: i for i, symbol in enumerate(symbols)}
        self.constants: list[tuple[int, float]] = []
        self.named: list[tuple[int, str]] = []
        self.instructions: list[tuple[int, Callable[..., Any] | str, tuple[int, ...]]] = []
        self.size = len(symbols)
        self.outputs = tuple(map(self._compile, expressions))
        self._reuse_slots(len(symbols))
        kinds = {function for _, function, _ in self.instructions}
        self.overflows = bool(kinds & _OVERFLOWING) and not any(isinstance(kind, str) for kind in kinds)

    def _reuse_slots(self, symbols: int) -> None:
        """Let results take the slots of those that nothing needs any more: their arrays are then freed."""
        kept = {*self.outputs, *(slot for slot, _ in (*self.constants, *self.named)), *range(symbols)}
        last = {slot: k for k, (_, _, arguments) in enumerate(self.instructions) for slot in arguments}
        place, free, code = {slot: slot for slot in kept}, list[int](), list[Any]()
        for k, (slot, function, arguments) in enumerate(self.instructions):
            places = tuple(place[argument] for argument in arguments)
            free += [
                place[argument] for argument in dict.fromkeys(arguments) if argument not in kept and last[argument] == k
            ]
            place[slot] = slot if slot in kept or not free else free.pop()
            code.append((place[slot], function, places))
        self.instructions = code

    def _new_slot(self) -> int:
        self.size += 1
        return self.size - 1

    def _constant(self, value: float) -> int:
        slot = self._new_slot()
        self.constants.append((slot, value))
        return slot

    def _emit(self, function: Callable[..., Any] | str, *arguments: int) -> int:
        slot = self._new_slot()
        self.instructions.append((slot, function, arguments))
        return slot

    def _compile(self, node: sp.Basic) -> int:
        if node not in self._slots:
            self._slots[node] = self._translate(node)
        return self._slots[node]

    def _translate(self, node: sp.Basic) -> int:
        if node.is_Symbol:
            if node.name in self._names:
                self.named.append((self._new_slot(), node.name))
                return self.named[-1][0]
            raise ProblemError(f"the symbol '{node}' is not known here.")
        if node in (sp.true, sp.false):
            return self._constant(bool(node))
        if node.is_number and not node.has(AppliedUndef):
            value = constant_value(node)
            if not math.isfinite(value):
                kind = "infinite" if math.isinf(value) or node.has(sp.nan, sp.zoo) else "complex"
                raise ProblemError(f"the constant '{node}' is {kind}; only real, finite numbers can be evaluated.")
            return self._constant(value)
        if isinstance(node, AppliedUndef):
            name = node.func.__name__
            if name not in self._names:
                raise ProblemError(f"the function '{name}' is not known here.")
            return self._emit(name, *map(self._compile, node.args))
        if isinstance(node, sp.Pow):
            return self._power(node)
        if isinstance(node, sp.Mul):
            return self._product(node)
        if isinstance(node, sp.Piecewise):
            return self._piecewise(node)
        if node.func in _FOLDED:
            slots = [self._compile(argument) for argument in node.args]
            result = slots[0]
            for slot in slots[1:]:
                result = self._emit(_FOLDED[node.func], result, slot)
            return result
        if node.func in _UFUNCS:
            return self._emit(_UFUNCS[node.func], *map(self._compile, node.args))
        raise ProblemError(f"'{node.func.__name__}' in '{node}' can't be evaluated numerically.")

    def _product(self, node: sp.Mul) -> int:
        """Multiply the numerator, then divide: one division instead of a power and a product."""
        exponentials = [a for a in node.args if isinstance(a, sp.exp)]  # 1/exp(x) for exp(-x) may be 1/infinity
        numerator, denominator = sp.fraction(sp.Mul(*(a for a in node.args if a not in exponentials)))
        numerator = sp.Mul(numerator, *exponentials)
        if denominator != 1 and numerator != node:
            return self._emit(np.divide, self._compile(numerator), self._compile(denominator))
        slots = [self._compile(argument) for argument in node.args]
        result = slots[0]
        for slot in slots[1:]:
            result = self._emit(np.multiply, result, slot)
        return result

    def _power(self, node: sp.Pow) -> int:
        base, exponent = self._compile(node.base), node.exp
        if exponent == sp.Rational(1, 2):
            return self._emit(np.sqrt, base)
        if exponent.is_Integer and 1 < abs(int(exponent)) <= 8:
            result = self._integer_power(base, abs(int(exponent)))
            return result if int(exponent) > 0 else self._emit(_inverse, result)
        if exponent == -1:
            return self._emit(_inverse, base)
        return self._emit(np.power, base, self._compile(exponent))

    def _integer_power(self, base: int, exponent: int) -> int:
        if exponent == 1:
            return base
        half = self._integer_power(base, exponent // 2)
        square = self._emit(np.multiply, half, half)
        return self._emit(np.multiply, square, base) if exponent % 2 else square

    def _piecewise(self, node: sp.Piecewise) -> int:
        result = None
        for value, condition in reversed(node.args):
            slot = self._compile(value)
            if condition == sp.true:
                result = slot
            else:
                otherwise = self._constant(math.nan) if result is None else result
                result = self._emit(np.where, self._compile(condition), slot, otherwise)
        assert result is not None
        return result


# ---- programs at places that stay -----------------------------------------------------------------


class Bound:
    """A program whose first inputs are fixed; the others are given to :meth:`__call__`, as to the program itself.

    Results have the same bits. Those that depend on the fixed inputs alone can't be written into.

    Examples
    --------
    >>> import sympy as sp
    >>> x, u = sp.symbols("x u")
    >>> Bound(Program([sp.sin(x) * u, sp.cos(x)], [x, u]), np.array([0.0, np.pi / 2]))(3.0)[0]
    array([0., 3.])
    """

    def __init__(self, program: Program, *fixed: Any) -> None:
        self._program, self._fixed = program, fixed
        self._blank: list[Any] = program.blank.copy()
        self._code: list[Any] = []
        memory = program.blank.copy()
        memory[: len(fixed)] = fixed
        known = {slot for slot, value in enumerate(memory) if value is not None}
        kept: dict[int, int] = {}  # where what is known now stands in the memory of this program

        def place(slot: int) -> int:
            if slot not in known:
                return slot
            if slot not in kept:
                value = memory[slot]
                kept[slot] = len(self._blank)
                self._blank.append(read_only(value) if isinstance(value, np.ndarray) else value)
            return kept[slot]

        with np.errstate(all="ignore"):
            for slot, function, arguments in program.code:
                if known.issuperset(arguments):
                    value = function(*(memory[i] for i in arguments))
                    kept.pop(slot, None)
                    known.add(slot)
                    memory[slot] = value
                else:
                    self._code.append((slot, function, tuple(map(place, arguments))))
                    kept.pop(slot, None)
                    known.discard(slot)
        self._outputs = tuple(map(place, program.outputs))

    def __call__(self, *others: Any) -> list[Any]:
        """Evaluate all expressions of the program."""
        memory, first = self._blank.copy(), len(self._fixed)
        memory[first : first + len(others)] = others
        carry_out(self._code, memory)
        found = [memory[slot] for slot in self._outputs]
        if not self._program.overflows or all(map(is_finite, found)):
            return found
        return self._program(*self._fixed, *others)

    def __reduce__(self) -> tuple[Any, ...]:
        return Bound, (self._program, *self._fixed)
