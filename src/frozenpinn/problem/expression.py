"""A small, closed language for equations: text in, SymPy expression over the jet out.

The text is tokenised and parsed here, by a whitelist. Nothing is ever evaluated as Python or handed
to ``sympify``: a name that is not a field, coordinate, parameter or listed function is an error
that says where it stands.

    expression  =  term (("+" | "-") term)*             vector  =  "[" expression ("," expression)* "]"
    term        =  factor (("*" | "/") factor)*         call    =  name "(" arguments ")"
    factor      =  ("+" | "-") factor | power
    power       =  atom (("**" | "^") factor)?
    atom        =  number | name | call | vector | "(" expression ")"
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import sympy as sp

from frozenpinn.errors import ExpressionError, choices, suggestion
from frozenpinn.problem.jet import TIME, Jet, JetSpace

MAX_CHARACTERS = 10_000
MAX_DEPTH = 60
MAX_POWER = 100
MAX_OPERATIONS = 20_000

Vector: TypeAlias = tuple[sp.Expr, ...]
Value: TypeAlias = sp.Expr | Vector

FUNCTIONS: dict[str, tuple[int, Callable[..., sp.Expr]]] = {
    "sin": (1, sp.sin),
    "cos": (1, sp.cos),
    "tan": (1, sp.tan),
    "asin": (1, sp.asin),
    "acos": (1, sp.acos),
    "atan": (1, sp.atan),
    "atan2": (2, sp.atan2),
    "sinh": (1, sp.sinh),
    "cosh": (1, sp.cosh),
    "tanh": (1, sp.tanh),
    "sech": (1, lambda z: 1 / sp.cosh(z)),
    "exp": (1, sp.exp),
    "log": (1, sp.log),
    "sqrt": (1, sp.sqrt),
    "abs": (1, sp.Abs),
    "sign": (1, sp.sign),
    "erf": (1, sp.erf),
    "heaviside": (1, lambda z: sp.Heaviside(z, sp.Rational(1, 2))),
    "min": (2, sp.Min),
    "max": (2, sp.Max),
}
CONSTANTS = {"pi": sp.pi}
OPERATORS = ("grad", "div", "dot", "lap", "laplace", "laplacian", "biharmonic")

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)"
    r"|(?P<operator>\*\*|[-+*/^(),\[\]=])|(?P<other>.)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A lexical unit and where it stands in the text."""

    kind: str
    text: str
    position: int


@dataclass(frozen=True)
class Scope:
    """The names that a text may use.

    ``parameters`` maps a name to an expression (substituted), ``functions`` lists names of Python
    functions; a bare use of such a name means "at the current point and time".
    """

    jets: JetSpace
    fields: Sequence[str] = ()
    parameters: Mapping[str, sp.Expr] = field(default_factory=dict)
    functions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    normal_derivatives: bool = False

    def names(self) -> list[str]:
        """Return every legal name, for error texts and suggestions."""
        known = [*self.fields, *self.jets.coordinates, TIME, *self.parameters, *self.functions]
        known += [f"{f}_{c}" for f in self.fields for c in (*self.jets.coordinates, TIME)]
        return [*known, *FUNCTIONS, *CONSTANTS, *OPERATORS, *self.derivative_names()]

    def derivative_names(self) -> list[str]:
        """Return the operators dx, dy, …, dt."""
        return [f"d{c}" for c in (*self.jets.coordinates, TIME)]


def tokenize(text: str) -> list[Token]:
    """Split a text into tokens; refuse what the language does not know."""
    if not isinstance(text, str):
        raise ExpressionError(f"expected an expression as text, got {type(text).__name__}: {text!r}")
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(
            f"the expression has {len(text)} characters; at most {MAX_CHARACTERS} are read. "
            "Move large formulas into a Python function and pass it as a parameter."
        )
    tokens = []
    for match in _TOKEN.finditer(text):
        kind, word = match.lastgroup or "other", match.group()
        if kind == "space":
            continue
        # lastgroup names the innermost closed group; numbers carry inner groups
        kind = "number" if match.group("number") is not None else kind
        if kind == "other":
            hint = {".": " Attribute access is not part of the language.", "<": "", ">": ""}.get(word, "")
            raise ExpressionError(_pointed(text, match.start(), f"unexpected character {word!r}.{hint}"))
        if kind == "name" and "__" in word:
            raise ExpressionError(_pointed(text, match.start(), f"names with '__' are refused: {word!r}."))
        tokens.append(Token(kind, word, match.start()))
    return tokens


def fields_in(texts: Sequence[str], jets: JetSpace, excluded: Sequence[str] = ()) -> list[str]:
    """Find the fields of a set of equations: whatever carries a time derivative (u_t, u_tt, dt(u))."""
    found: dict[str, None] = {}
    for text in texts:
        tokens = tokenize(text)
        for i, token in enumerate(tokens):
            if token.kind != "name":
                continue
            split = jets.split_name(token.text)
            if split is not None and split[1].time and token.text not in excluded:
                found[split[0]] = None
            elif token.text == "dt" and i + 2 < len(tokens) and tokens[i + 2].kind == "name":
                inner = jets.split_name(tokens[i + 2].text)
                name = inner[0] if inner is not None else tokens[i + 2].text
                if name not in (*excluded, *FUNCTIONS, *jets.coordinates):
                    found[name] = None
    return list(found)


def parse(text: str, scope: Scope) -> sp.Expr:
    """Parse one scalar expression.

    >>> jets = JetSpace(["x"])
    >>> parse("dx(u*u_x)", Scope(jets, fields=["u"]))
    u*u_xx + u_x**2
    """
    return _checked(_Parser(text, scope).whole(), text)


def parse_equation(text: str, scope: Scope) -> sp.Expr:
    """Parse ``left = right`` into ``left − right``; a text without ``=`` means ``… = 0``."""
    tokens = tokenize(text)
    equals = [token for token in tokens if token.text == "="]
    if len(equals) > 1:
        raise ExpressionError(_pointed(text, equals[1].position, "an equation has one '=', this has more."))
    if not equals:
        return parse(text, scope)
    left, right = (_Parser(text, scope, part) for part in _split(tokens, equals[0]))
    return _checked(left.whole() - right.whole(), text)


def _split(tokens: list[Token], at: Token) -> tuple[list[Token], list[Token]]:
    index = tokens.index(at)
    return tokens[:index], tokens[index + 1 :]


def _checked(expression: sp.Expr, text: str) -> sp.Expr:
    if expression.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
        raise ExpressionError(f"'{text}' contains a division by zero or an infinite constant.")
    if expression.has(sp.I):
        raise ExpressionError(f"'{text}' is complex. Write a complex field as a system of two real ones.")
    if sp.count_ops(expression) > MAX_OPERATIONS:
        raise ExpressionError(
            f"the expression expands to more than {MAX_OPERATIONS} operations. "
            "Use a Python function as parameter for large coefficients."
        )
    return expression


def _pointed(text: str, position: int, message: str) -> str:
    """Format an error with a marker below the offending place."""
    start = max(0, position - 60)
    line = text[start : position + 40].replace("\n", " ").replace("\t", " ")
    return f"{message}\n    {line}\n    {' ' * (position - start)}^"


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str, scope: Scope, tokens: list[Token] | None = None) -> None:
        self.text = text
        self.scope = scope
        self.tokens = tokenize(text) if tokens is None else tokens
        self.position = 0
        self.depth = 0

    # ---- plumbing ---------------------------------------------------------------------------

    def fail(self, message: str, token: Token | None = None) -> ExpressionError:
        place = token.position if token is not None else len(self.text)
        return ExpressionError(_pointed(self.text, place, message))

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
            got = f"got '{token.text}'" if token else "the text ends"
            raise self.fail(f"expected '{text}', {got}.", token)

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
            hint = " Write '*' for a product." if token.kind in ("name", "number") or token.text == "(" else ""
            raise self.fail(f"unexpected '{token.text}'.{hint}", token)
        return self.scalar(value, self.tokens[0])

    def expression(self) -> Value:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"nested deeper than {MAX_DEPTH} levels.", self.peek())
        value = self.term()
        while token := self.accept("+", "-"):
            other = self.term()
            if isinstance(value, tuple) and isinstance(other, tuple):
                sign = 1 if token.text == "+" else -1
                if len(value) != len(other):
                    raise self.fail("vectors of different length are added.", token)
                value = tuple(a + sign * b for a, b in zip(value, other, strict=True))
            else:
                left, right = self.scalar(value, token), self.scalar(other, token)
                value = left + right if token.text == "+" else left - right
        self.depth -= 1
        return value

    def term(self) -> Value:
        value = self.factor()
        while token := self.accept("*", "/"):
            other = self.factor()
            if token.text == "/":
                divisor = self.scalar(other, token)
                value = tuple(v / divisor for v in value) if isinstance(value, tuple) else value / divisor
            elif isinstance(value, tuple):
                scale = self.scalar(other, token)
                value = tuple(v * scale for v in value)
            else:
                value = tuple(value * v for v in other) if isinstance(other, tuple) else value * other
        return value

    def factor(self) -> Value:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"nested deeper than {MAX_DEPTH} levels.", self.peek())
        token = self.accept("+", "-")
        if token is None:
            value = self.power()
        else:
            value = self.factor()
            if token.text == "-":
                value = tuple(-v for v in value) if isinstance(value, tuple) else -value
        self.depth -= 1
        return value

    def power(self) -> Value:
        base = self.atom()
        token = self.accept("**", "^")
        if token is None:
            return base
        return self.raised(self.scalar(base, token), self.scalar(self.factor(), token), token)

    def raised(self, base: sp.Expr, exponent: sp.Expr, token: Token) -> sp.Expr:
        if exponent.is_number and abs(float(exponent)) > MAX_POWER:
            raise self.fail(f"powers beyond {MAX_POWER} are refused, got {float(exponent):g}.", token)
        if base.is_number and exponent.is_number and base != 0:
            size = abs(float(exponent) * math.log10(abs(float(base)) or 1.0))
            if size > 300:
                raise self.fail("this constant is beyond the range of floating point numbers.", token)
        return base**exponent

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
        scope, word = self.scope, token.text
        if word in scope.parameters:
            return scope.parameters[word]
        if word in scope.functions:
            arguments = [self.coordinate(name) for name in scope.functions[word]]
            return sp.Function(word, real=True)(*arguments)
        if word in scope.fields:
            return scope.jets.symbol(scope.jets.field(word))
        if word == TIME or word in scope.jets.axes:
            return self.coordinate(word)
        if word in CONSTANTS:
            return CONSTANTS[word]
        split = scope.jets.split_name(word, normal=scope.normal_derivatives)
        if split is not None and split[0] in scope.fields:
            return scope.jets.symbol(split[1])
        if word in FUNCTIONS or word in OPERATORS or word in scope.derivative_names():
            raise self.fail(f"'{word}' is a function: write {word}(…).", token)
        raise self.fail(self.unknown(word), token)

    def coordinate(self, name: str) -> sp.Symbol:
        return self.scope.jets.t if name == TIME else self.scope.jets.x[self.scope.jets.axes[name]]

    def unknown(self, word: str) -> str:
        scope = self.scope
        known = f"Known are the fields {choices(scope.fields)}" if scope.fields else "Known are"
        known += f"; the coordinates {choices([*scope.jets.coordinates, TIME])}; "
        known += f"the parameters {choices([*scope.parameters, *scope.functions])}."
        close = suggestion(word, scope.names())
        return f"unknown name '{word}'. {known}{close} A constant or function of your own goes into parameters={{…}}."

    def call(self, token: Token) -> Value:
        word, scope = token.text, self.scope
        arguments = self.arguments(")") if not self.accept(")") else []
        if word in scope.functions:
            return self.function_call(word, arguments, token)
        if word in scope.parameters:
            raise self.fail(f"'{word}' is a parameter, not a function; write '{word}' or '{word}*(…)'.", token)
        if word in FUNCTIONS:
            count, function = FUNCTIONS[word]
            self.require(arguments, count, token)
            return function(*(self.scalar(a, token) for a in arguments))
        if word in OPERATORS:
            return self.operator(word, arguments, token)
        if word in scope.derivative_names():
            self.require(arguments, 1, token)
            axis = None if word == "dt" else scope.jets.axes[word[1:]]
            return self.derivative(self.scalar(arguments[0], token), axis, token)
        if word in scope.fields:
            if list(arguments) == [self.coordinate(c) for c in (*scope.jets.coordinates, TIME)]:
                return scope.jets.symbol(scope.jets.field(word))
            raise self.fail(f"the field '{word}' is taken at the current point; write '{word}' alone.", token)
        callables = [*FUNCTIONS, *OPERATORS, *scope.derivative_names(), *scope.functions]
        text = f"unknown function '{word}'.{suggestion(word, callables)} Known: {', '.join(callables)}."
        raise self.fail(text, token)

    def require(self, arguments: Sequence[Value], count: int, token: Token) -> None:
        if len(arguments) != count:
            wanted = "1 argument" if count == 1 else f"{count} arguments"
            raise self.fail(f"'{token.text}' takes {wanted}, got {len(arguments)}.", token)

    def function_call(self, word: str, arguments: Sequence[Value], token: Token) -> sp.Expr:
        known = {*self.scope.jets.x, self.scope.jets.t}
        scalars = [self.scalar(a, token) for a in arguments]
        if any(a not in known for a in scalars):
            names = choices([*self.scope.jets.coordinates, TIME])
            raise self.fail(f"the Python function '{word}' takes the coordinates {names} only.", token)
        return sp.Function(word, real=True)(*scalars)

    def derivative(self, value: sp.Expr, axis: int | None, token: Token) -> sp.Expr:
        result = self.scope.jets.total_derivative(value, axis)
        return resolve_function_derivatives(result, self.scope, lambda text: self.fail(text, token))

    def operator(self, word: str, arguments: Sequence[Value], token: Token) -> Value:
        jets = self.scope.jets
        axes = range(jets.dimension)
        self.require(arguments, 2 if word == "dot" else 1, token)
        if word == "grad":
            value = self.scalar(arguments[0], token)
            return tuple(self.derivative(value, i, token) for i in axes)
        if word == "div":
            vector = self.vector(arguments[0], token)
            return merge_laplacians(sum(self.derivative(vector[i], i, token) for i in axes), jets)
        if word == "dot":
            left, right = (self.vector(a, token) for a in arguments)
            return sum(a * b for a, b in zip(left, right, strict=True))
        value = self.scalar(arguments[0], token)
        for _ in range(2 if word == "biharmonic" else 1):
            value = jets.laplacian(value)
        return resolve_function_derivatives(value, self.scope, lambda text: self.fail(text, token))


def resolve_function_derivatives(expression: sp.Expr, scope: Scope, fail: Callable[[str], ExpressionError]) -> sp.Expr:
    """Replace k'(x) of a Python function k by the Python function named k_x, or ask for it."""
    for derivative in expression.atoms(sp.Derivative, sp.Subs):
        inner = derivative.doit()
        if not isinstance(inner, sp.Derivative):
            expression = expression.subs(derivative, inner)
            continue
        base = inner.expr.func.__name__
        suffix = "".join(str(v) * int(n) for v, n in inner.variable_count)
        name = f"{base}_{suffix}"
        if name not in scope.functions:
            raise fail(
                f"this needs the derivative {name} of the Python function '{base}'. "
                f"Give '{base}' as text or SymPy, or add parameters={{'{name}': …}}."
            )
        expression = expression.subs(derivative, sp.Function(name, real=True)(*inner.expr.args))
    return expression


def merge_laplacians(expression: sp.Expr, jets: JetSpace) -> sp.Expr:
    """Write k·u_xx + k·u_yy + … as k·lap(u): one operator instead of one per axis."""
    if jets.dimension == 1:
        return expression
    expanded = sp.expand(expression)
    second: dict[Jet, list[sp.Symbol]] = {}
    for symbol, jet in jets.jets_in(expanded).items():
        for axis, count in enumerate(jet.alpha):
            if count >= 2:
                alpha = tuple(c - 2 * (i == axis) for i, c in enumerate(jet.alpha))
                second.setdefault(replace(jet, alpha=alpha), []).append(symbol)
    for base, symbols in second.items():
        if len(symbols) != jets.dimension:
            continue
        coefficients = {expanded.coeff(s, 1) for s in symbols}
        if len(coefficients) == 1 and not any(expanded.coeff(s, 2) for s in symbols):
            coefficient = coefficients.pop()
            lap = jets.symbol(replace(base, laps=base.laps + 1))
            expanded = sp.expand(expanded - coefficient * sum(symbols)) + coefficient * lap
    return expanded
