"""Calls in a text: functions, operators, derivatives, comparisons; the other half of the parser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import sympy as sp
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, BooleanAtom

from frozenpinn.errors import ExpressionError, choices, suggestion
from frozenpinn.language.algebra import MAX_EFFORT, bounded, computed, effort, operations
from frozenpinn.language.calculus import Calculus, resolve_function_derivatives
from frozenpinn.language.fluxes import has_flux, jumps_along, marked, without_deltas
from frozenpinn.language.hints import STEPS, case_hint, derivative_hint
from frozenpinn.language.jets import TIME, Jet
from frozenpinn.language.lexer import Token, pointed, shortened
from frozenpinn.language.quantities import FRACTIONAL, NONLOCAL, fractional, integrated, integration_variables
from frozenpinn.language.scope import (
    FUNCTIONS,
    KINKED,
    OPERATORS,
    POINT,
    SOFT_OPERATORS,
    Scope,
    callable_names,
    derivative_call,
    derivative_names,
    is_builtin,
    is_soft,
    operator_name,
)
from frozenpinn.language.values import (
    COMPLEX_FUNCTIONS,
    Arithmetic,
    Complex,
    Matrix,
    Scalar,
    Value,
    Vector,
    each,
    imaginary,
    is_matrix,
    real,
    scalars,
)

_RELATIONS = {"<": sp.StrictLessThan, "<=": sp.LessThan, ">": sp.StrictGreaterThan, ">=": sp.GreaterThan}


class _Calls:
    """What the parser knows of names that are called; the grammar is in :mod:`frozenpinn.language.parser`."""

    def __init__(self, text: str, scope: Scope, tokens: list[Token]) -> None:
        self.text = text
        self.what = f"'{shortened(text)}'"
        self.scope = scope
        self.tokens = tokens
        self.position = 0
        self.depth = 0
        self.effort = 0
        self.arithmetic = Arithmetic(self.compute)
        self.variables: dict[str, sp.Symbol] = {}  # of integration, inside integral(…)

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

    def accept_word(self, word: str) -> Token | None:
        token = self.peek()
        if token is not None and token.kind == "name" and token.text == word and not self.scope.is_own(word):
            self.position += 1
            return token
        return None

    def arguments(self, closing: str) -> list[Value]:
        raise NotImplementedError

    def deeper(self, rule: Callable[[], Value]) -> Value:
        """Apply a rule one level further down; deep nesting would exhaust the stack."""
        max_depth = 60
        self.depth += 1
        if self.depth > max_depth:
            raise self.fail(f"nested deeper than {max_depth} levels.", self.peek())
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

    # ---- kinds of values --------------------------------------------------------------------

    def scalar(self, value: Value, token: Token | None) -> Scalar:
        if isinstance(value, tuple):
            raise self.fail("a vector stands where a number is needed; use div(…) or dot(…, …).", token)
        return value

    def real(self, value: Value, token: Token | None) -> sp.Expr:
        number = self.scalar(value, token)
        if isinstance(number, Complex):
            raise self.fail(
                "this is complex, and a real number is needed here; write re(…), im(…), abs(…) or abs2(…).", token
            )
        return number

    def vector(self, value: Value, token: Token) -> Vector | Matrix:
        if not isinstance(value, tuple):
            raise self.fail("a vector is needed here, such as grad(u) or [a, b].", token)
        if len(value) != self.scope.jets.dimension:
            wanted = self.scope.jets.dimension
            raise self.fail(f"a vector needs {wanted} components here, got {len(value)}.", token)
        return value

    def matrix(self, value: Value, token: Token) -> Matrix:
        if not is_matrix(value):
            raise self.fail("a matrix is needed here, such as grad(U) of a vector U.", token)
        return cast(Matrix, value)

    def negative(self, value: Value) -> Value:
        return self.arithmetic.negative(value)

    def finite(self, value: Value) -> Value:
        return each(lambda part: bounded(part, self.what), value)

    def listed(self, values: Sequence[Value], token: Token) -> Value:
        """Return [a, b]: a vector of numbers, or a matrix of rows."""
        if all(isinstance(value, tuple) and not is_matrix(value) for value in values):
            if len({len(cast(Vector, value)) for value in values}) > 1:
                raise self.fail("the rows of a matrix have different lengths.", token)
            return tuple(cast(list[Vector], values))
        vector = tuple(self.scalar(self.number_of(value, token), token) for value in values)
        return self.scope.chart.literal(vector, self.arithmetic)

    def component(self, value: Value, token: Token) -> Value:
        """Return a component, U[0], after the opening bracket."""
        if not isinstance(value, tuple):
            raise self.fail("only vectors have components, such as U[0] of a vector U.", token)
        (index, *more) = self.arguments("]")
        if more or isinstance(index, tuple | Complex) or not index.is_Integer or not 0 <= int(index) < len(value):
            raise self.fail(f"a component is a whole number from 0 to {len(value) - 1}, as in U[0].", token)
        if is_matrix(value):
            return value[int(index)]
        return self.scope.chart.component(cast(Vector, value), int(index), self.arithmetic)

    # ---- comparisons ------------------------------------------------------------------------

    def compared(self, left: Value, right: Value, token: Token) -> Boolean:
        a, b = (self.real(self.number_of(value, token), token) for value in (left, right))
        self.spend(10 + 5 * (operations(a) + operations(b)), token)
        return _RELATIONS[token.text](a, b)

    def condition(self, value: Any, token: Token) -> Boolean:
        if not is_condition(value):
            raise self.fail(f"a comparison such as x < 0.5 is needed here. {STEPS}", token)
        return cast(Boolean, value)

    def number_of(self, value: Any, token: Token | None) -> Value:
        """Return a comparison as a number: 1 where it holds, 0 elsewhere."""
        if not is_condition(value):
            return cast(Value, value)
        return self.chosen(value, sp.Integer(1), sp.Integer(0))

    def chosen(self, condition: Boolean, first: sp.Expr, second: sp.Expr) -> sp.Expr:
        """Return one of two values; a step between numbers is a Heaviside function, the only notation of jumps."""
        if condition in (sp.true, sp.false):
            return first if condition == sp.true else second
        joined = condition.args if isinstance(condition, sp.And) else (condition,)
        if first.is_number and second.is_number and all(hasattr(part, "gts") for part in joined):
            step = sp.Mul(*(sp.Heaviside(part.gts - part.lts, sp.Rational(1, 2)) for part in joined))
            return self.compute(lambda s: second + (first - second) * s, step)
        return self.compute(lambda a, b: sp.Piecewise((a, condition), (b, True)), first, second)

    def where(self, arguments: Sequence[Any], token: Token) -> Value:
        """Return where(condition, a, b), for numbers and vectors."""
        self.require(arguments, 3, token)
        condition = self.condition(arguments[0], token)
        first, second = (self.number_of(value, token) for value in arguments[1:])
        if isinstance(first, tuple) or isinstance(second, tuple):
            if not (isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second)):
                raise self.fail("both values of where(…, a, b) must be numbers, or vectors of the same length.", token)
            pairs = zip(first, second, strict=True)
            return tuple(self.where([condition, a, b], token) for a, b in pairs)
        parts = [(real(first), real(second)), (imaginary(first), imaginary(second))]
        re, im = (a if a == b else self.chosen(condition, a, b) for a, b in parts)
        return re if im == 0 else Complex(re, im)

    # ---- calls ------------------------------------------------------------------------------

    def call(self, token: Token) -> Value:
        word, scope = token.text, self.scope
        plain = word in FUNCTIONS  # which no user can give another meaning
        own = not plain and scope.lookup(word) is not None
        soft = not plain and not scope.is_own(word) and is_soft(word, scope.chart, called=True)
        foreign = not (plain or own or soft) and not is_builtin(word, scope.chart)
        if foreign and (hint := derivative_hint(self.text, token.position) or case_hint(word)):
            raise self.fail(f"unknown function '{word}'. {hint}", token)
        if soft and word in NONLOCAL:
            return self.nonlocal_term(word, token)
        arguments = self.arguments(")") if not self.accept(")") else []
        if soft and word == "where":
            return self.where(arguments, token)
        arguments = [self.number_of(argument, token) for argument in arguments]
        if soft and word == "delta":
            return POINT(*(self.real(argument, token) for argument in arguments))
        if word in scope.functions:
            return self.function_call(word, arguments, token)
        try:
            if (value := self.builtin(word, arguments, token, soft)) is not None:
                return value
        except ExpressionError as error:
            raise error if "\n" in str(error) else self.fail(str(error), token) from None
        if word in scope.fields or word in scope.composites:
            return self.field_call(word, arguments, token)
        if own:
            kind = "a parameter, " if word in scope.parameters else ""
            raise self.fail(f"'{word}' is {kind}not a function; write '{word}' or '{word}*(…)'.", token)
        callables = callable_names(scope)
        text = f"unknown function '{word}'.{suggestion(word, callables)} Known: {', '.join(callables)}."
        raise self.fail(text, token)

    def nonlocal_term(self, word: str, token: Token) -> Value:
        """Return an integral, a mean or a fractional Laplacian; fields may be taken at variables of integration."""
        names = integration_variables(self) if word != FRACTIONAL else ()
        known, self.variables = self.variables, {name: sp.Symbol(name, real=True) for name in names}
        arguments = [self.number_of(argument, token) for argument in self.arguments(")")]
        self.variables = known
        self.require(arguments, 2 if word == FRACTIONAL else 1, token)
        if word == FRACTIONAL:
            power = self.real(arguments[1], token)
            return each(lambda part: fractional(self, part, power, token) if part != 0 else part, arguments[0])
        return each(lambda part: integrated(self, part, word, names, token) if part != 0 else part, arguments[0])

    def builtin(self, word: str, arguments: list[Value], token: Token, soft: bool) -> Value | None:
        """Apply a function or operator of the language; None if it is none."""
        if word in FUNCTIONS or (soft and word in COMPLEX_FUNCTIONS):
            return self.applied(word, arguments, token)
        if word in OPERATORS or (soft and operator_name(word) in (*OPERATORS, *SOFT_OPERATORS)):
            return self.operator(operator_name(word), arguments, token)
        jet = derivative_call(word, self.scope.chart) if soft or word in derivative_names(self.scope.chart) else None
        if jet is None:
            return None
        self.require(arguments, 1, token)
        return self.differentiated(arguments[0], jet, token)

    def field_call(self, word: str, arguments: Sequence[Value], token: Token) -> Value:
        value = self.scope.lookup(word)
        at_variables = bool(self.variables) and tuple(arguments) == tuple(self.variables.values())
        if tuple(arguments) == self.scope.place or at_variables:
            assert value is not None
            return value
        raise self.fail(
            f"the field '{word}' is taken at the current point; write '{word}' alone. Values at other places or "
            f"earlier times, such as {word}(t - 1), are not supported: equations are local in space and time.",
            token,
        )

    def applied(self, word: str, arguments: Sequence[Value], token: Token) -> Scalar:
        """Apply a function of numbers."""
        if word in COMPLEX_FUNCTIONS:
            self.require(arguments, 1, token)
            if isinstance(arguments[0], tuple) and word == "abs2":
                conjugate = [self.arithmetic.apply("conj", sp.conjugate, [v]) for v in scalars(arguments[0])]
                pairs = zip(scalars(arguments[0]), conjugate, strict=True)
                return self.arithmetic.add(*(self.arithmetic.mul(a, b) for a, b in pairs))
            return self.arithmetic.apply(word, sp.re, [self.scalar(arguments[0], token)])
        count, function = FUNCTIONS[word]
        self.require(arguments, count, token)
        numbers = [self.scalar(a, token) for a in arguments]
        reals = [a for a in numbers if not isinstance(a, Complex)]
        self.spend((10 + 5 * sum(map(operations, reals))) * (word in KINKED), token)
        if word == "exp" and reals and reals[0].is_number:
            return function(*reals)  # exp(1000)*exp(-1000*x) is finite; products are checked as a whole
        return self.arithmetic.apply(word, function, numbers)

    def require(self, arguments: Sequence[Value], count: int, token: Token) -> None:
        if len(arguments) != count:
            wanted = "1 argument" if count == 1 else f"{count} arguments"
            raise self.fail(f"'{token.text}' takes {wanted}, got {len(arguments)}.", token)

    def function_call(self, word: str, arguments: Sequence[Value], token: Token) -> sp.Expr:
        self.require(arguments, len(self.scope.functions[word]), token)
        known = {*self.scope.place, self.scope.jets.t}
        reals = [self.real(a, token) for a in arguments]
        if any(a not in known for a in reals):
            names = choices([*self.scope.chart.names, TIME])
            raise self.fail(f"the Python function '{word}' takes the coordinates {names} only.", token)
        return self.scope.function(word, reals)

    # ---- derivatives ------------------------------------------------------------------------

    def resolved(self, value: sp.Expr, token: Token) -> sp.Expr:
        return resolve_function_derivatives(value, self.scope, lambda text: self.fail(text, token))

    def derivative(self, value: sp.Expr, axis: int | None, token: Token, *, framed: bool = False) -> sp.Expr:
        """Differentiate along a coordinate of the text, or along an axis of the calculus (``framed``)."""
        chart = self.scope.chart
        self.spend(effort(value), token)
        if has_flux(value):
            raise self.fail("this differentiates twice what jumps; a flux may be differentiated once.", token)
        scope, along = self.scope, chart.along if framed and axis is not None else chart.derivative
        plain = axis is None or not scope.interfaces or scope.own_chart is not None
        if axis is None or plain or not jumps_along(value, scope.jets, axis):
            return self.resolved(self.compute(along, value, axis), token)
        smooth = self.compute(lambda v: without_deltas(scope.jets.total_derivative(v, axis, deltas=True)), value)
        return self.resolved(smooth, token) + marked(value, axis)

    def differentiated(self, value: Value, jet: Jet, token: Token) -> Value:
        """Differentiate as often along each axis, and in time, as a jet says."""
        if isinstance(value, tuple) and self.scope.chart.kind != "cartesian" and any(jet.alpha):
            raise self.fail("unit vectors turn in these coordinates; use grad(…), div(…) and lap(…) of vectors.", token)
        axes = [*(axis for axis, count in enumerate(jet.alpha) for _ in range(count)), *([None] * jet.time)]
        for axis in axes:
            value = each(lambda part, along=axis: self.derivative(part, along, token), value)  # type: ignore[misc]
        return value

    def operator(self, word: str, arguments: Sequence[Value], token: Token) -> Value:
        calculus = Calculus(
            self.scope.chart, self.arithmetic, lambda value, axis: self.derivative(value, axis, token, framed=True)
        )
        self.require(arguments, 2 if word in ("dot", "cross", "advect") else 1, token)
        first = arguments[0]
        if word == "grad":
            return calculus.grad(self.scalar(first, token) if not self.is_flat_vector(first) else first)
        if word == "div":
            return calculus.div(self.vector(first, token))
        if word in ("curl", "rot"):
            return calculus.curl(self.vector(first, token) if isinstance(first, tuple) else first)
        if word == "dot":
            return calculus.dot(*(self.vector(a, token) for a in arguments))
        if word == "cross":
            return calculus.cross(*(self.vector(a, token) for a in arguments))
        if word == "advect":
            return calculus.dot(self.vector(first, token), calculus.grad(arguments[1]))
        if word == "dn":
            return self.along_normal(first, token)
        if word in ("sym", "transpose", "trace"):
            function = {"sym": calculus.symmetric, "transpose": calculus.transpose, "trace": calculus.trace}[word]
            return function(self.matrix(first, token))
        for _ in range(2 if word == "biharmonic" else 1):
            first = self.laplacian(first, calculus, token)
        return first

    def laplacian(self, value: Value, calculus: Calculus, token: Token) -> Value:
        if is_matrix(value):
            raise self.fail("the Laplacian of a matrix is not part of the language.", token)
        parts = [part for number in scalars(value) for part in (real(number), imaginary(number))]
        self.spend(2 * self.scope.jets.dimension * sum(map(effort, parts)), token)
        return each(lambda part: bounded(self.resolved(part, token), self.what), calculus.lap(value))

    def is_flat_vector(self, value: Value) -> bool:
        return isinstance(value, tuple) and not is_matrix(value)

    def along_normal(self, value: Value, token: Token) -> Value:
        """Return the derivative of an expression along the outward normal."""
        if self.scope.normal is None:
            raise self.fail(
                "'dn(…)' is the derivative along the outward normal, which boundary conditions have.", token
            )
        normal, lengths = self.scope.normal, self.scope.chart.lengths

        def derived(part: sp.Expr) -> sp.Expr:
            axes = [i for i, component in enumerate(normal) if component != 0]
            terms = [normal[i] * self.derivative(part, i, token, framed=True) / lengths[i] for i in axes]
            return self.compute(sp.Add, *terms)

        return each(derived, value)


def is_condition(value: object) -> bool:
    """Whether a value is a comparison, or some of them joined; SymPy takes symbols for conditions, too."""
    return isinstance(value, Relational | sp.And | sp.Or | BooleanAtom)
