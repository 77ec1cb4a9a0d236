"""A small, closed language for equations: text in, SymPy expression over the jet out.

The text is tokenised and parsed here, by a whitelist. Nothing is ever evaluated as Python or handed
to ``sympify``: a name that is not a field, coordinate, parameter or listed function is an error
that says where it stands. Every step is checked as it is made, so that nothing grows without bound.

    expression  =  term (("+" | "-") term)*             vector  =  "[" expression ("," expression)* "]"
    term        =  factor (("*" | "/") factor)*         call    =  name "(" arguments ")"
    factor      =  ("+" | "-") factor | power
    power       =  atom (("**" | "^") factor)?
    atom        =  number | name | call | vector | "(" expression ")"
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import sympy as sp

from frozenpinn.errors import ExpressionError, choices, suggestion
from frozenpinn.language.algebra import MAX_EFFORT, MAX_POWER, bounded, checked, computed, effort, operations
from frozenpinn.language.derivatives import merge_laplacians, resolve_function_derivatives
from frozenpinn.language.fluxes import has_flux, jumps_along, marked, without_deltas
from frozenpinn.language.hints import COMPLEX, IMAGINARY, case_hint, derivative_hint
from frozenpinn.language.jets import TIME, JetSpace
from frozenpinn.language.lexer import MAX_CHARACTERS, Token, pointed, shortened, tokenize
from frozenpinn.language.program import constant_value
from frozenpinn.language.scope import FUNCTIONS, KINKED, OPERATORS, Scope, derivative_names, is_builtin

__all__ = ["FUNCTIONS", "MAX_CHARACTERS", "Scope", "parse", "parse_equation", "tokenize"]

MAX_DEPTH = 60
_PRODUCT = "Write '*' for a product."

Vector: TypeAlias = tuple[sp.Expr, ...]
Value: TypeAlias = sp.Expr | Vector


def refuse_other_notations(text: str, jets: JetSpace, excluded: Sequence[str] = (), what: str = "time ") -> None:
    """Raise if a text without fields writes its derivatives in another notation, such as du/dt or diff(u, t)."""
    tokens = tokenize(text)
    for i, token in enumerate(tokens):
        if token.kind == "name" and token.text not in excluded:
            hint = derivative_hint(text, token.position) or _suffix_hint(text, tokens, i, jets)
            if hint:
                raise ExpressionError(pointed(text, token.position, f"no {what}derivative is recognised. {hint}"))


def parse(text: str, scope: Scope) -> sp.Expr:
    """Parse one scalar expression.

    >>> jets = JetSpace(["x"])
    >>> parse("dx(u*u_x)", Scope(jets, fields=["u"]))
    u*u_xx + u_x**2
    """
    parser = _Parser(text, scope, tokenize(text))
    return checked(parser.whole(), parser.what)


def parse_equation(text: str, scope: Scope) -> sp.Expr:
    """Parse ``left = right`` into ``left − right``; a text without ``=`` means ``… = 0``."""
    tokens = tokenize(text)
    equals = [i for i, token in enumerate(tokens) if token.text == "="]
    if len(equals) > 1:
        place = tokens[equals[1]].position
        raise ExpressionError(pointed(text, place, "an equation has one '=', this has more."))
    if not equals:
        return parse(text, scope)
    left, right = (_Parser(text, scope, part) for part in (tokens[: equals[0]], tokens[equals[0] + 1 :]))
    return checked(left.whole() - right.whole(), left.what)


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str, scope: Scope, tokens: list[Token]) -> None:
        self.text = text
        self.what = f"'{shortened(text)}'"
        self.scope = scope
        self.tokens = tokens
        self.position = 0
        self.depth = 0
        self.effort = 0

    # ---- plumbing ---------------------------------------------------------------------------

    def fail(self, message: str, token: Token | None = None) -> ExpressionError:
        place = token.position if token is not None else len(self.text)
        return ExpressionError(pointed(self.text, place, message))

    def peek(self) -> Token | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def accept(self, *texts: str) -> Token | None:
        token = self.peek()
        if token is not None and token.kind == "operator" and token.text in texts:
            self.position += 1
            return token
        return None

    def expect(self, text: str) -> None:
        if self.accept(text) is None:
            token = self.peek()
            got = f"got '{token.text}'.{self.hint(token)}" if token else "the text ends."
            raise self.fail(f"expected '{text}', {got}", token)

    def hint(self, token: Token) -> str:
        """Say what may have been meant by the current token, which can't follow the one before it."""
        if token.kind not in ("name", "number") and token.text != "(":
            return ""
        if token.text in IMAGINARY and self.position and self.tokens[self.position - 1].kind == "number":
            return f" {COMPLEX}"
        special = case_hint(token.text) or _suffix_hint(self.text, self.tokens, self.position, self.scope.jets)
        return f" {special or _PRODUCT}"

    def deeper(self, rule: Callable[[], Value]) -> Value:
        """Apply a rule one level further down; deep nesting would exhaust the stack."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"nested deeper than {MAX_DEPTH} levels.", self.peek())
        value = rule()
        self.depth -= 1
        return value

    def compute(self, function: Callable[..., Any], *arguments: Any) -> sp.Expr:
        return computed(function, *arguments, what=self.what)

    def spend(self, steps: int, token: Token) -> None:
        """Count the work of SymPy before it is done, and refuse too much of it."""
        self.effort += steps
        if self.effort > MAX_EFFORT:
            advice = "Write it in a shorter form, or use a Python function as parameter for large coefficients."
            raise self.fail(f"this takes too many operations to work out (more than {MAX_EFFORT}). {advice}", token)

    def scalar(self, value: Value, token: Token | None) -> sp.Expr:
        if isinstance(value, tuple):
            raise self.fail("a vector stands where a number is needed; use div(…) or dot(…, …).", token)
        return value

    def vector(self, value: Value, token: Token) -> Vector:
        if not isinstance(value, tuple):
            raise self.fail("a vector is needed here, such as grad(u) or [a, b].", token)
        if len(value) != self.scope.jets.dimension:
            wanted = self.scope.jets.dimension
            raise self.fail(f"a vector needs {wanted} components here, got {len(value)}.", token)
        return value

    # ---- grammar ----------------------------------------------------------------------------

    def whole(self) -> sp.Expr:
        if not self.tokens:
            raise ExpressionError(f"an empty expression in '{self.text}'.")
        value = self.expression()
        token = self.peek()
        if token is not None:
            raise self.fail(f"unexpected '{token.text}'.{self.hint(token)}", token)
        return self.scalar(value, self.tokens[0])

    def expression(self) -> Value:
        return self.deeper(self.sum)

    def sum(self) -> Value:
        """Collect all terms before adding: adding one by one would sort the whole sum again each time."""
        first = self.term()
        terms = [first]
        while token := self.accept("+", "-"):
            other = self.term()
            if isinstance(first, tuple) != isinstance(other, tuple):
                self.scalar(first, token)
                self.scalar(other, token)
            if isinstance(first, tuple) and isinstance(other, tuple) and len(first) != len(other):
                raise self.fail("vectors of different length are added.", token)
            terms.append(other if token.text == "+" else _negative(other))
        if len(terms) == 1:
            return first
        if isinstance(first, tuple):
            return tuple(self.compute(sp.Add, *column) for column in zip(*terms, strict=True))
        return self.compute(sp.Add, *terms)

    def term(self) -> Value:
        factors = [self.factor()]
        while token := self.accept("*", "/"):
            other = self.factor()
            if token.text == "/":
                factors.append(self.compute(sp.Pow, self.scalar(other, token), sp.Integer(-1)))
            else:
                if any(isinstance(factor, tuple) for factor in factors):
                    self.scalar(other, token)
                factors.append(other)
        if len(factors) == 1:
            return factors[0]
        scalars = [factor for factor in factors if not isinstance(factor, tuple)]
        for vector in factors:
            if isinstance(vector, tuple):
                return tuple(self.compute(sp.Mul, *scalars, component) for component in vector)
        return self.compute(sp.Mul, *scalars)

    def factor(self) -> Value:
        return self.deeper(self.signed)

    def signed(self) -> Value:
        token = self.accept("+", "-")
        if token is None:
            return self.power()
        value = self.factor()
        return _negative(value) if token.text == "-" else value

    def power(self) -> Value:
        base = self.atom()
        token = self.accept("**", "^")
        if token is None:
            return base
        return self.raised(self.scalar(base, token), self.scalar(self.factor(), token), token)

    def raised(self, base: sp.Expr, exponent: sp.Expr, token: Token) -> sp.Expr:
        """Compute a power after estimating how large it becomes."""
        if exponent.is_number:
            power = constant_value(exponent)
            factors = sp.Mul.make_args(base)
            inner = [constant_value(f.exp) for f in factors if f.is_Pow and f.exp.is_number and not f.is_number]
            largest = max([power, *(power * e for e in inner)], key=abs)
            if abs(largest) > MAX_POWER:
                raise self.fail(f"powers beyond {MAX_POWER} are refused, got {largest:g}.", token)
            sizes = [abs(constant_value(f)) for f in factors if f.is_number]
            if any(abs(power * math.log10(size)) > 300 for size in sizes if size):
                raise self.fail("this constant is beyond the range of floating point numbers.", token)
        return self.compute(sp.Pow, base, exponent)

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
            value = self.expression()
            self.expect(")")
            return value
        if token.text == "[":
            return tuple(self.scalar(v, token) for v in self.arguments("]"))
        raise self.fail(f"unexpected '{token.text}'.", token)

    def number(self, token: Token) -> sp.Expr:
        if token.text.isdigit() and len(token.text) <= 18:
            return sp.Integer(int(token.text))
        value = float(token.text)
        if not math.isfinite(value):
            raise self.fail("this number is beyond the range of floating point numbers.", token)
        return sp.Float(value)

    def arguments(self, closing: str) -> list[Value]:
        values = [self.expression()]
        while self.accept(","):
            values.append(self.expression())
        self.expect(closing)
        return values

    # ---- names and calls --------------------------------------------------------------------

    def name(self, token: Token) -> sp.Expr:
        word = token.text
        value = self.scope.lookup(word)
        if value is not None:
            return value
        if is_builtin(word, self.scope.jets):
            raise self.fail(f"'{word}' is a function: write {word}(…).", token)
        if hint := derivative_hint(self.text, token.position) or case_hint(word):
            raise self.fail(f"unknown name '{word}'. {hint}", token)
        raise self.fail(self.scope.unknown(word), token)

    def call(self, token: Token) -> Value:
        word, scope = token.text, self.scope
        foreign = scope.lookup(word) is None and not is_builtin(word, scope.jets)
        if foreign and (hint := derivative_hint(self.text, token.position) or case_hint(word)):
            raise self.fail(f"unknown function '{word}'. {hint}", token)
        arguments = self.arguments(")") if not self.accept(")") else []
        if word in scope.functions:
            return self.function_call(word, arguments, token)
        if word in FUNCTIONS:
            count, function = FUNCTIONS[word]
            self.require(arguments, count, token)
            scalars = [self.scalar(a, token) for a in arguments]
            self.spend((10 + 5 * sum(map(operations, scalars))) * (word in KINKED), token)
            return self.compute(function, *scalars)
        if word in OPERATORS:
            return self.operator(word, arguments, token)
        if word in derivative_names(scope.jets):
            self.require(arguments, 1, token)
            axis = None if word == "dt" else scope.jets.axes[word[1:]]
            return self.derivative(self.scalar(arguments[0], token), axis, token)
        if word in scope.fields:
            if tuple(arguments) == scope.place:
                return scope.jets.symbol(scope.jets.field(word))
            raise self.fail(f"the field '{word}' is taken at the current point; write '{word}' alone.", token)
        if scope.lookup(word) is not None:
            kind = "a parameter, " if word in scope.parameters else ""
            raise self.fail(f"'{word}' is {kind}not a function; write '{word}' or '{word}*(…)'.", token)
        callables = [*FUNCTIONS, *OPERATORS, *derivative_names(scope.jets), *scope.functions]
        text = f"unknown function '{word}'.{suggestion(word, callables)} Known: {', '.join(callables)}."
        raise self.fail(text, token)

    def require(self, arguments: Sequence[Value], count: int, token: Token) -> None:
        if len(arguments) != count:
            wanted = "1 argument" if count == 1 else f"{count} arguments"
            raise self.fail(f"'{token.text}' takes {wanted}, got {len(arguments)}.", token)

    def function_call(self, word: str, arguments: Sequence[Value], token: Token) -> sp.Expr:
        self.require(arguments, len(self.scope.functions[word]), token)
        known = {*self.scope.jets.x, self.scope.jets.t}
        scalars = [self.scalar(a, token) for a in arguments]
        if any(a not in known for a in scalars):
            names = choices([*self.scope.jets.coordinates, TIME])
            raise self.fail(f"the Python function '{word}' takes the coordinates {names} only.", token)
        return self.scope.function(word, scalars)

    # ---- derivatives ------------------------------------------------------------------------

    def resolved(self, value: sp.Expr, token: Token) -> sp.Expr:
        return resolve_function_derivatives(value, self.scope, lambda text: self.fail(text, token))

    def derivative(self, value: sp.Expr, axis: int | None, token: Token) -> sp.Expr:
        self.spend(effort(value), token)
        jets = self.scope.jets
        if has_flux(value):
            raise self.fail("this differentiates twice what jumps; a flux may be differentiated once.", token)
        if axis is None or not self.scope.interfaces or not jumps_along(value, jets, axis):
            return self.resolved(self.compute(jets.total_derivative, value, axis), token)
        smooth = self.compute(lambda v: without_deltas(jets.total_derivative(v, axis, deltas=True)), value)
        return self.resolved(smooth, token) + marked(value, axis)

    def operator(self, word: str, arguments: Sequence[Value], token: Token) -> Value:
        jets = self.scope.jets
        axes = range(jets.dimension)
        self.require(arguments, 2 if word == "dot" else 1, token)
        if word == "grad":
            value = self.scalar(arguments[0], token)
            return tuple(self.derivative(value, i, token) for i in axes)
        if word == "div":
            vector = self.vector(arguments[0], token)
            total = self.compute(sp.Add, *(self.derivative(vector[i], i, token) for i in axes))
            return self.compute(merge_laplacians, total, jets)
        if word == "dot":
            left, right = (self.vector(a, token) for a in arguments)
            return self.compute(sp.Add, *(a * b for a, b in zip(left, right, strict=True)))
        value = self.scalar(arguments[0], token)
        for _ in range(2 if word == "biharmonic" else 1):
            self.spend(2 * jets.dimension * effort(value), token)
            value = self.resolved(self.compute(jets.laplacian, value), token)
        return bounded(value, self.what)


def _negative(value: Value) -> Value:
    return tuple(-v for v in value) if isinstance(value, tuple) else -value


def _suffix_hint(text: str, tokens: Sequence[Token], i: int, jets: JetSpace) -> str:
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
    jet = jets.parse_suffix(suffix)
    if jet is None or jet.order + jet.time > 4:
        return (
            f"Write the derivative of an expression as dx(…); the coordinates are {choices([*jets.coordinates, TIME])}."
        )
    for name, count in zip((*jets.coordinates, TIME), (*jet.alpha, jet.time), strict=True):
        for _ in range(count):
            inner = f"d{name}({inner})"
    return f"Write the derivative of an expression as {inner}."
