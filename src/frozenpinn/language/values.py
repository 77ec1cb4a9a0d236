"""What a text may stand for: a real expression, a complex number, a vector, a matrix; and how to compute with them.

SymPy sees real expressions only. A complex value is a pair of them, its real and its imaginary part, so every check of
sizes and constants holds for each part, and a complex equation is two real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import sympy as sp

from frozenpinn.errors import ExpressionError
from frozenpinn.language.algebra import exponential, product

ZERO, ONE = sp.Integer(0), sp.Integer(1)


@dataclass(frozen=True)
class Complex:
    """A complex number by its real and its imaginary part."""

    re: sp.Expr
    im: sp.Expr

    def __str__(self) -> str:
        return f"{self.re} + I*({self.im})"


Scalar: TypeAlias = sp.Expr | Complex
Vector: TypeAlias = tuple[Scalar, ...]
Matrix: TypeAlias = tuple[Vector, ...]
Value: TypeAlias = Scalar | Vector | Matrix
IMAGINARY_UNIT = Complex(ZERO, ONE)


def real(value: Scalar) -> sp.Expr:
    """Return the real part."""
    return value.re if isinstance(value, Complex) else value


def imaginary(value: Scalar) -> sp.Expr:
    """Return the imaginary part."""
    return value.im if isinstance(value, Complex) else ZERO


def pair(re: sp.Expr, im: sp.Expr) -> Scalar:
    """Return a complex number, or a real one if its imaginary part is nothing."""
    return re if im == 0 else Complex(re, im)


def scalars(value: Value) -> Iterator[Scalar]:
    """Yield the components of a value one by one."""
    if isinstance(value, tuple):
        for component in value:
            yield from scalars(component)
    else:
        yield value


def each(function: Callable[[sp.Expr], sp.Expr], value: Value) -> Value:
    """Apply a real linear function to every part of every component."""
    if isinstance(value, tuple):
        return tuple(each(function, component) for component in value)
    if isinstance(value, Complex):
        return pair(function(value.re), function(value.im))
    return function(value)


def is_matrix(value: Value) -> bool:
    """Whether a value has rows of components."""
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], tuple)


def kind_of(value: Value) -> str:
    """Return how messages call a value."""
    if isinstance(value, tuple):
        return "a matrix" if is_matrix(value) else "a vector"
    return "complex" if isinstance(value, Complex) else "a number"


class Arithmetic:
    """Sums, products, powers and functions of real and complex numbers; ``compute`` applies one operation of SymPy."""

    def __init__(self, compute: Callable[..., sp.Expr]) -> None:
        self.compute = compute

    def add(self, *terms: Scalar) -> Scalar:
        """Return a sum."""
        re = self.compute(sp.Add, *map(real, terms))
        return pair(re, self.compute(sp.Add, *map(imaginary, terms))) if _any_complex(terms) else re

    def negative(self, value: Value) -> Value:
        """Return −value."""
        return each(lambda part: -part, value)

    def mul(self, *factors: Scalar) -> Scalar:
        """Return a product."""
        re = self.compute(product, *(f for f in factors if not isinstance(f, Complex)))
        result: Scalar = re
        for factor in factors:
            if isinstance(factor, Complex):
                result = self._times(result, factor)
        return result

    def _times(self, a: Scalar, b: Complex) -> Scalar:
        if not isinstance(a, Complex):
            return pair(self.compute(sp.Mul, a, b.re), self.compute(sp.Mul, a, b.im))
        return pair(
            self.compute(lambda p, q, r, s: p * r - q * s, a.re, a.im, b.re, b.im),
            self.compute(lambda p, q, r, s: p * s + q * r, a.re, a.im, b.re, b.im),
        )

    def abs2(self, value: Scalar) -> sp.Expr:
        """Return |z|²."""
        if not isinstance(value, Complex):
            return self.compute(sp.Pow, value, sp.Integer(2))
        return self.compute(lambda a, b: a**2 + b**2, value.re, value.im)

    def inverse(self, value: Scalar) -> Scalar:
        """Return 1/z."""
        if not isinstance(value, Complex):
            return self.compute(sp.Pow, value, sp.Integer(-1))
        size = self.compute(sp.Pow, self.abs2(value), sp.Integer(-1))
        return pair(self.compute(sp.Mul, value.re, size), self.compute(sp.Mul, -value.im, size))

    def power(self, base: Scalar, exponent: Scalar) -> Scalar:
        """Return a power; real ones are left to SymPy."""
        if not isinstance(base, Complex) and not isinstance(exponent, Complex):
            return self.compute(sp.Pow, base, exponent)
        if not isinstance(exponent, Complex) and exponent.is_Integer:
            return self._whole_power(base, int(exponent))
        if base in (sp.E, sp.exp(1)):
            return self.exponential(exponent)
        # the principal branch: exp(exponent · log(base))
        return self.exponential(self.mul(exponent, self.logarithm(base)))

    def _whole_power(self, base: Scalar, exponent: int) -> Scalar:
        largest_power = 12  # of a complex number, multiplied out
        if abs(exponent) > largest_power:
            raise ExpressionError(
                f"powers of complex expressions beyond {largest_power} are refused, got {exponent}; write it with "
                "abs2(…) or exp(…)."
            )
        result: Scalar = ONE
        for _ in range(abs(exponent)):
            result = self.mul(result, base)
        return self.inverse(result) if exponent < 0 else result

    def exponential(self, value: Scalar) -> Scalar:
        """Return exp(z)."""
        re, im = real(value), imaginary(value)
        size = self.compute(exponential, re)
        return pair(
            self.compute(lambda s, a: s * sp.cos(a), size, im), self.compute(lambda s, a: s * sp.sin(a), size, im)
        )

    def logarithm(self, value: Scalar) -> Scalar:
        """Return log(z), on the principal branch."""
        return pair(self.compute(lambda s: sp.log(s) / 2, self.abs2(value)), self.argument(value))

    def argument(self, value: Scalar) -> sp.Expr:
        """Return arg z, between −π and π."""
        return self.compute(sp.atan2, imaginary(value), real(value))

    def apply(self, word: str, function: Callable[..., sp.Expr], arguments: list[Scalar]) -> Scalar:
        """Apply a function of the language."""
        if word in COMPLEX_FUNCTIONS:
            return self._of_complex(word, arguments[0])
        if not _any_complex(arguments):
            return self.compute(function, *arguments)
        if word == "abs":
            return self.compute(sp.sqrt, self.abs2(arguments[0]))
        if word in _ANALYTIC:
            return self._analytic(word, arguments[0])
        raise ExpressionError(f"'{word}' takes real numbers only, and this is complex; write {word}(re(…)).")

    def _of_complex(self, word: str, value: Scalar) -> Scalar:
        if word == "abs2":
            return self.abs2(value)
        if word == "arg":
            return self.argument(value)
        if word == "conj":
            return pair(real(value), -imaginary(value))
        return real(value) if word == "re" else imaginary(value)

    def _analytic(self, word: str, value: Scalar) -> Scalar:
        a, b, compute = real(value), imaginary(value), self.compute
        if word == "exp":
            return self.exponential(value)
        if word == "log":
            return self.logarithm(value)
        if word == "sqrt":
            return self.power(value, sp.Rational(1, 2))
        if word in _QUOTIENTS:
            above, below = _QUOTIENTS[word]
            over = ONE if above is None else self._analytic(above, value)
            return self.mul(over, self.inverse(self._analytic(below, value)))
        first, second = _WAVES[word]
        return pair(compute(first, a, b), compute(second, a, b))


def _any_complex(values: Any) -> bool:
    return any(isinstance(value, Complex) for value in values)


_WAVES: Mapping[str, tuple[Callable[..., sp.Expr], Callable[..., sp.Expr]]] = {
    "sin": (lambda a, b: sp.sin(a) * sp.cosh(b), lambda a, b: sp.cos(a) * sp.sinh(b)),
    "cos": (lambda a, b: sp.cos(a) * sp.cosh(b), lambda a, b: -sp.sin(a) * sp.sinh(b)),
    "sinh": (lambda a, b: sp.sinh(a) * sp.cos(b), lambda a, b: sp.cosh(a) * sp.sin(b)),
    "cosh": (lambda a, b: sp.cosh(a) * sp.cos(b), lambda a, b: sp.sinh(a) * sp.sin(b)),
}
_QUOTIENTS = {"tan": ("sin", "cos"), "tanh": ("sinh", "cosh"), "sech": (None, "cosh")}
_ANALYTIC = ("exp", "log", "sqrt", *_WAVES, *_QUOTIENTS)
COMPLEX_FUNCTIONS = ("re", "im", "conj", "abs2", "arg")
