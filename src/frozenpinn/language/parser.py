"""A small, closed language for equations: text in, SymPy expressions over the jet out.

The text is tokenised and parsed here, by a whitelist. Nothing is ever evaluated as Python or handed
to ``sympify``: a name that is not a field, coordinate, parameter or listed function is an error
that says where it stands. Every step is checked as it is made, so that nothing grows without bound.

    choice      =  both ("or" both)*                    both    =  comparison ("and" comparison)*
    comparison  =  expression (("<" | "<=" | ">" | ">=") expression)*
    expression  =  term (("+" | "-") term)*             vector  =  "[" choice ("," choice)* "]"
    term        =  factor (("*" | "/") factor)*         call    =  name "(" arguments ")"
    factor      =  ("+" | "-") factor | power
    power       =  postfix (("**" | "^") factor)?       postfix =  atom ("[" number "]")*
    atom        =  number | name | call | vector | "(" choice ")"
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import sympy as sp

from frozenpinn.errors import ExpressionError, choices, warn
from frozenpinn.language.algebra import MAX_POWER, checked
from frozenpinn.language.calls import _Calls
from frozenpinn.language.chart import Chart
from frozenpinn.language.hints import COMPLEX, IMAGINARY, case_hint, derivative_hint
from frozenpinn.language.jets import TIME, JetSpace
from frozenpinn.language.lexer import MAX_CHARACTERS, Token, pointed, tokenize
from frozenpinn.language.program import constant_value
from frozenpinn.language.quantities import fractional
from frozenpinn.language.scope import FUNCTIONS, Scope, is_builtin
from frozenpinn.language.values import Complex, Scalar, Value, Vector, each

__all__ = ["FUNCTIONS", "MAX_CHARACTERS", "Scope", "parse", "parse_equation", "parse_sides", "parse_value", "tokenize"]
_PRODUCT = "Write '*' for a product."


def refuse_other_notations(
    text: str, jets: JetSpace | Chart, excluded: Sequence[str] = (), what: str = "time "
) -> None:
    """Raise if a text without fields writes its derivatives in another notation, such as du/dt or diff(u, t)."""
    tokens = tokenize(text)
    for i, token in enumerate(tokens):
        if token.kind == "name" and token.text not in excluded:
            hint = derivative_hint(text, token.position) or suffix_hint(text, tokens, i, _names(jets), jets)
            if hint:
                raise ExpressionError(pointed(text, token.position, f"no {what}derivative is recognised. {hint}"))


def parse(text: str, scope: Scope) -> sp.Expr:
    """Parse one real number.

    >>> jets = JetSpace(["x"])
    >>> parse("dx(u*u_x)", Scope(jets, fields=["u"]))
    u*u_xx + u_x**2
    """
    parser = _Parser(text, scope, tokenize(text))
    value = parser.whole()
    return cast(sp.Expr, parser.checked(parser.real(value, parser.tokens[0])))


def parse_value(text: str, scope: Scope) -> Value:
    """Parse a value of any kind: real, complex, a vector or a matrix."""
    parser = _Parser(text, scope, tokenize(text))
    return parser.checked(parser.whole())


def parse_equation(text: str, scope: Scope) -> sp.Expr:
    """Parse ``left = right`` between real numbers into ``left − right``; a text without ``=`` means ``… = 0``."""
    value = parse_sides(text, scope)
    parser = _Parser(text, scope, tokenize(text))
    return parser.real(value, parser.tokens[0])


def parse_sides(text: str, scope: Scope) -> Value:
    """Parse ``left = right`` of any kind into ``left − right``; a vector equals 0 if all its components do."""
    tokens = tokenize(text)
    equals = [i for i, token in enumerate(tokens) if token.text == "="]
    if len(equals) > 1:
        place = tokens[equals[1]].position
        raise ExpressionError(pointed(text, place, "an equation has one '=', this has more."))
    if not equals:
        return parse_value(text, scope)
    left, right = (_Parser(text, scope, part) for part in (tokens[: equals[0]], tokens[equals[0] + 1 :]))
    values = [left.whole(), right.whole()]
    values = [
        () if value == 0 and isinstance(other, tuple) else value
        for value, other in zip(values, values[::-1], strict=True)
    ]
    if not values[0] or not values[1]:  # a vector against nothing
        whole = values[0] or left.negative(values[1])
        return left.checked(whole)
    return left.checked(left.added([values[0], left.negative(values[1])], [tokens[equals[0]]]))


class _Parser(_Calls):
    """Recursive descent over the tokens of one text."""

    # ---- plumbing ---------------------------------------------------------------------------

    def expect(self, text: str) -> None:
        if self.accept(text) is None:
            token = self.peek()
            got = f"got '{token.text}'.{self.hint(token)}" if token else "the text ends."
            raise self.fail(f"expected '{text}', {got}", token)

    def hint(self, token: Token) -> str:
        """Say what may have been meant by the current token, which can't follow the one before it."""
        if token.text in ("<", ">", "<=", ">="):
            return " Put a comparison in parentheses: (x < 0.5) is 1 or 0."
        if token.text == "==":
            return " An equation has one '='; comparisons are <, <=, >, >=."
        if token.text == ",":
            return " A vector is written in brackets: [1, 0]."
        if token.kind not in ("name", "number") and token.text != "(":
            return ""
        if token.text in IMAGINARY and self.position and self.tokens[self.position - 1].kind == "number":
            return f" {COMPLEX}"
        chart = self.scope.chart
        special = case_hint(token.text) or suffix_hint(self.text, self.tokens, self.position, chart.names, chart)
        return f" {special or _PRODUCT}"

    def checked(self, value: Value) -> Value:
        """Check every part of a value as a whole."""
        return each(lambda part: checked(part, self.what), value)

    # ---- grammar ----------------------------------------------------------------------------

    def whole(self) -> Value:
        if not self.tokens:
            raise ExpressionError(f"an empty expression in '{self.text}'.")
        value = self.expression()
        token = self.peek()
        if token is not None:
            raise self.fail(f"unexpected '{token.text}'.{self.hint(token)}", token)
        return self.number_of(value, None)

    def choice(self) -> Value:
        """Read conditions, joined by 'and' and 'or'; anything else is an expression."""
        value = self.both()
        while token := self.accept_word("or"):
            value = sp.Or(self.condition(value, token), self.condition(self.both(), token))
        return value

    def both(self) -> Value:
        value = self.comparison()
        while token := self.accept_word("and"):
            value = sp.And(self.condition(value, token), self.condition(self.comparison(), token))
        return value

    def comparison(self) -> Value:
        left, found = self.expression(), []
        while token := self.accept("<", "<=", ">", ">="):
            right = self.expression()
            found.append(self.compared(left, right, token))
            left = right
        return sp.And(*found) if found else left

    def expression(self) -> Value:
        return self.deeper(self.sum)

    def sum(self) -> Value:
        """Collect all terms before adding: adding one by one would sort the whole sum again each time."""
        terms, tokens = [self.term()], []
        while token := self.accept("+", "-"):
            other = self.number_of(self.term(), token)
            tokens.append(token)
            terms.append(other if token.text == "+" else self.negative(other))
        return self.added([self.number_of(terms[0], tokens[0]), *terms[1:]], tokens) if tokens else terms[0]

    def added(self, terms: Sequence[Value], tokens: Sequence[Token]) -> Value:
        first = terms[0]
        for other, token in zip(terms[1:], tokens, strict=True):
            if isinstance(first, tuple) != isinstance(other, tuple):
                self.scalar(first, token)
                self.scalar(other, token)
            if isinstance(first, tuple) and isinstance(other, tuple) and _shape(first) != _shape(other):
                raise self.fail("vectors of different length are added.", token)
        if not isinstance(first, tuple):
            return self.arithmetic.add(*cast(list[Scalar], terms))
        columns = zip(*cast(list[Vector], terms), strict=True)
        return tuple(self.added(column, tokens) for column in columns)

    def term(self) -> Value:
        first = self.peek()
        factors = [self.factor()]
        while token := self.accept("*", "/"):
            factors[-1] = self.number_of(factors[-1], token)
            other = self.number_of(self.factor(), token)
            if token.text == "/":
                factors.append(self.arithmetic.inverse(self.scalar(other, token)))
            else:
                if any(isinstance(factor, tuple) for factor in factors):
                    self.scalar(other, token)
                factors.append(other)
        if len(factors) == 1:
            value = factors[0]
            return self.finite(value) if first is not None and first.text == "exp" else value
        return self.product(factors)

    def product(self, factors: Sequence[Value]) -> Value:
        numbers = [factor for factor in factors if not isinstance(factor, tuple)]
        for vector in factors:
            if isinstance(vector, tuple):
                return tuple(
                    self.product([*numbers, component]) if isinstance(component, tuple)
                    else self.arithmetic.mul(*numbers, component)
                    for component in vector
                )  # fmt: skip
        return self.arithmetic.mul(*numbers)

    def factor(self) -> Value:
        return self.deeper(self.signed)

    def signed(self) -> Value:
        token = self.accept("+", "-")
        if token is None:
            return self.power()
        value = self.number_of(self.factor(), token)
        return self.negative(value) if token.text == "-" else value

    def power(self) -> Value:
        base = self.postfix()
        token = self.accept("**", "^")
        if token is None:
            return base
        exponent = self.scalar(self.number_of(self.factor(), token), token)
        return self.raised(self.scalar(self.number_of(base, token), token), exponent, token)

    def raised(self, base: Scalar, exponent: Scalar, token: Token) -> Scalar:
        """Compute a power after estimating how large it becomes."""
        if isinstance(base, Complex) or isinstance(exponent, Complex):
            return self.arithmetic.power(base, exponent)
        if exponent.is_number:
            power = constant_value(exponent)
            operator = self.fractional(base, power, token)
            if operator is not None:
                return operator
            factors = sp.Mul.make_args(base)
            inner = [constant_value(f.exp) for f in factors if f.is_Pow and f.exp.is_number and not f.is_number]
            largest = max([power, *(power * e for e in inner)], key=abs)
            if abs(largest) > MAX_POWER:
                raise self.fail(f"powers beyond {MAX_POWER} are refused, got {largest:g}.", token)
            sizes = [abs(constant_value(f)) for f in factors if f.is_number]
            if any(abs(power * math.log10(size)) > 300 for size in sizes if size):
                raise self.fail("this constant is beyond the range of floating point numbers.", token)
        elif not self.scope.jets.jets_in(exponent):
            self.fractional(base, exponent, token)
        return self.compute(sp.Pow, base, exponent)

    def fractional(self, base: sp.Expr, power: float | sp.Expr, token: Token) -> sp.Expr | None:
        """Read (-lap(u))**0.9 as the operator that it means elsewhere; None for powers of numbers."""
        jets = self.scope.jets
        is_whole = isinstance(power, float) and power == int(power)
        split = jets.affine(base) if not is_whole and jets.jets_in(base) else None
        if split is None or not any(jet.order and not jet.order % 2 for jet in split[0]):
            return None
        ((jet, factor), *more) = split[0].items()
        plain, text = jets.field(jet.field), f"{power:g}" if isinstance(power, float) else str(power)
        laplacians = {replace(plain, laps=1), replace(plain, alpha=(2,)) if jets.dimension == 1 else None}
        if more or split[1] != 0 or jet not in laplacians or not factor.is_number or not factor < 0:
            raise self.fail(
                f"'(…)**{text}' of a Laplacian is no number but an operator, a fractional Laplacian. Write it as "
                f"(-lap(u))**{text} or fraclap(…, {text}), and the power of a number as abs(…)**{text}.",
                token,
            )
        return (-factor) ** power * fractional(self, jets.symbol(plain), sp.sympify(power), token)

    def postfix(self) -> Value:
        value = self.atom()
        while token := self.accept("["):
            value = self.component(value, token)
        return value

    def atom(self) -> Value:
        token = self.peek()
        if token is None:
            raise self.fail("the expression ends too early.")
        self.position += 1
        if token.kind == "number":
            return self.number(token)
        if token.kind == "name":
            return self.call(token) if self.accept("(") else self.name(token)
        if token.text == "(":
            value = self.choice()
            self.expect(")")
            return value
        if token.text == "[":
            return self.listed(self.arguments("]"), token)
        raise self.fail(f"unexpected '{token.text}'.", token)

    def number(self, token: Token) -> sp.Expr:
        if token.text.isdigit() and len(token.text) <= 18:
            return sp.Integer(int(token.text))
        value = float(token.text)
        if not math.isfinite(value):
            raise self.fail("this number is beyond the range of floating point numbers.", token)
        if value == 0.0 and any(digit in "123456789" for digit in token.text.lower().partition("e")[0]):
            warn(f"the number {token.text} is too small for floating point numbers, and is read as 0.")
        return sp.Float(value)

    def arguments(self, closing: str) -> list[Value]:
        values = [self.choice()]
        while self.accept(","):
            values.append(self.choice())
        self.expect(closing)
        return values

    def name(self, token: Token) -> Value:
        word = token.text
        if word in self.variables:
            return self.variables[word]
        value = self.scope.lookup(word)
        if value is not None:
            return value
        if is_builtin(word, self.scope.chart):
            raise self.fail(f"'{word}' is a function: write {word}(…).", token)
        if hint := derivative_hint(self.text, token.position) or case_hint(word):
            raise self.fail(f"unknown name '{word}'. {hint}", token)
        raise self.fail(self.scope.unknown(word), token)


def _names(jets: JetSpace | Chart) -> tuple[str, ...]:
    return jets.names if isinstance(jets, Chart) else jets.coordinates


def _shape(value: Value) -> tuple[int, ...]:
    return (len(value), *_shape(value[0])) if isinstance(value, tuple) else ()


def suffix_hint(text: str, tokens: Sequence[Token], i: int, names: Sequence[str], jets: JetSpace | Chart) -> str:
    """Say how to write (…)_x, the derivative of an expression; nothing if no such suffix stands at token ``i``."""
    suffix = tokens[i].text[1:]
    if not i or tokens[i - 1].text != ")" or not tokens[i].text.startswith("_") or not suffix:
        return ""
    start, level = i - 1, 1
    while level and start:
        start -= 1
        level += (tokens[start].text == ")") - (tokens[start].text == "(")
    if start and tokens[start - 1].kind == "name":  # sin(u)_x
        inner = text[tokens[start - 1].position : tokens[i - 1].position + 1]
    else:
        inner = text[tokens[start].position + 1 : tokens[i - 1].position].strip()
    inner = inner if len(inner) <= 40 else "…"
    split = jets.split_name(f"u_{suffix}")
    jet = None if split is None else split[1]
    if jet is None or jet.order + jet.time > 4:
        return f"Write the derivative of an expression as dx(…); the coordinates are {choices([*names, TIME])}."
    for name, count in zip((*names, TIME), (*jet.alpha, jet.time), strict=True):
        for _ in range(count):
            inner = f"d{name}({inner})"
    return f"Write the derivative of an expression as {inner}."
