"""Named parameters of a problem: numbers, text, SymPy expressions or Python functions of x and t."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

import sympy as sp

from frozenpinn.errors import ProblemError, choices, suggestion
from frozenpinn.geometry import Domain
from frozenpinn.language.chart import Chart
from frozenpinn.language.functions import Given, UserFunction, read_given, read_value
from frozenpinn.language.jets import JetSpace
from frozenpinn.language.program import Program, constant_value
from frozenpinn.language.scope import Scope, check_name
from frozenpinn.language.values import Complex, Scalar, Value
from frozenpinn.runtime.arguments import shown
from frozenpinn.runtime.memo import remembered
from frozenpinn.statement.composites import IMAGINARY, REAL, ComplexTable, Composites, Part, returns_complex
from frozenpinn.statement.eigenvalue import Eigenvalue
from frozenpinn.statement.tables import table_functions
from frozenpinn.statement.unknowns import (
    Inferable,
    Unknown,
    UnknownField,
    field_expression,
    field_functions,
    read_unknown,
)
from frozenpinn.tables import Table

ParameterValue: TypeAlias = Given | Eigenvalue | Inferable | Table  #: what a parameter may be


@dataclass(frozen=True, eq=False)
class Parameters:
    """What the names of parameters stand for.

    Attributes
    ----------
    expressions
        What is substituted for a name in every text; a symbol for a constant that stays one.
    functions
        What is left in expressions: Python functions, and the numbers of constants that stay symbols.
    arguments
        The coordinates that each Python function takes.
    unknown
        Eigenvalues, which stay symbols and count as zero where a value is needed.
    inferred
        What is to be found from measurements; the symbols and functions that stand for it have the values of its start.
    composites
        The fields that texts may name, besides their real parts.
    chart
        The coordinates of texts, if they are others than those that are solved in.
    """

    expressions: Mapping[str, Value]
    functions: Mapping[str, UserFunction | float]
    arguments: Mapping[str, tuple[str, ...]]
    unknown: tuple[str, ...] = ()
    inferred: Mapping[str, Inferable] = field(default_factory=dict)
    composites: Composites = field(default_factory=Composites)
    chart: Chart | None = None

    @property
    def constants(self) -> dict[str, float]:
        """The parameters that are numbers, or texts without coordinates and fields, with their values."""
        real = {name: e for name, e in self.expressions.items() if isinstance(e, sp.Expr)}
        numbers = {name: constant_value(e) for name, e in real.items() if e.is_number}
        return numbers | {
            name: f for name, f in self.functions.items() if name in self.symbols and isinstance(f, float)
        }

    @property
    def symbols(self) -> tuple[str, ...]:
        """The constants that stay symbols in all expressions."""
        return tuple(n for n in self.functions if n not in (*self.arguments, *self.unknown, *self.inferred))

    @property
    def unknown_fields(self) -> tuple[str, ...]:
        """The fields that are to be found from measurements."""
        return tuple(name for name, value in self.inferred.items() if isinstance(value, UnknownField))

    def scope(self, jets: JetSpace, fields: Sequence[str] = (), *, normal: bool = False) -> Scope:
        """Return the names that a text may use, with these parameters among them."""
        composed = self.composites.values(jets) if fields else {}
        return Scope(jets, fields, self.expressions, self.arguments, normal, composites=composed, own_chart=self.chart)

    @remembered
    def compiled(self, expressions: tuple[sp.Expr, ...], symbols: tuple[sp.Symbol, ...]) -> Program:
        """Return a program for expressions in which these parameters occur."""
        return Program(expressions, symbols, self.functions)


def check_count(given: Mapping[str, Any]) -> None:
    """Refuse so many parameters that reading them would take longer than most solves."""
    most = 3000
    if len(given) > most:
        raise ProblemError(
            f"{len(given):,} parameters are given; a problem has {most:,} at most. Values of one quantity at many "
            "places are one parameter: parameters={'k': fp.Table(values, x=…)}."
        )


def read_parameters(
    given: Mapping[str, ParameterValue],
    jets: JetSpace,
    composites: Composites,
    symbols: Sequence[str],
    domain: Domain,
    start: float,
    chart: Chart | None = None,
) -> Parameters:
    """Check the names and kinds of parameters; a text may use the other parameters, and ``symbols`` stay symbols.

    Python functions are called at points of the ``domain`` and the ``start`` to see whether they are complex.
    """
    check_known(symbols, given)
    fields, composed = composites.real, composites.values(jets)
    given = {name: cast(ParameterValue, read_unknown(value, f"parameter '{name}'")) for name, value in given.items()}
    expressions: dict[str, Value] = {}
    functions: dict[str, UserFunction | float] = {}
    arguments: dict[str, tuple[str, ...]] = {}
    for name, value in _in_order(given):
        check_name(name, "parameter", chart or jets, (*composites.names, *fields))
        if isinstance(value, Unknown):
            functions[name], expressions[name] = value.start, sp.Symbol(name, real=True)
            continue
        if isinstance(value, UnknownField):
            own = field_functions(name, value, jets)
            functions |= own
            arguments |= {word: function.names for word, function in own.items()}
            expressions[name] = field_expression(name, value, jets)
            continue
        if isinstance(value, Eigenvalue):
            functions[name], expressions[name] = 0.0, sp.Symbol(name, real=True)
            continue
        if isinstance(value, Table):
            own = table_functions(name, value, jets, given)
            functions |= own
            arguments |= {word: function.names for word, function in own.items()}
            continue
        if isinstance(value, ComplexTable):
            raise ProblemError(
                f"parameter '{name}' is an array of complex numbers; give its real and its imaginary part as two "
                f"parameters, and write re + I*im."
            )
        what = f"parameter '{name}'"
        scope = Scope(jets, fields, expressions, arguments, composites=composed, own_chart=chart)
        expression = _read(value, scope, what)
        if name in symbols:
            if not isinstance(expression, sp.Expr) or not expression.is_number:
                kind = "a Python function" if expression is None else f"'{expression}'"
                raise ProblemError(f"{what} is {kind}; only constants can be left as symbols.")
            functions[name], expression = constant_value(expression), sp.Symbol(name, real=True)
        if expression is not None:
            expressions[name] = expression
            continue
        own = _python_functions(name, cast(Callable[..., Any], value), scope, domain, start)
        functions |= own
        arguments |= {word: function.names for word, function in own.items()}
        if name not in own:
            real, imaginary = (replace(scope, functions=arguments).function(word) for word in own)
            expressions[name] = Complex(real, imaginary)
    inferred = {name: value for name, value in given.items() if isinstance(value, Unknown | UnknownField)}
    unknown = tuple(name for name, value in given.items() if isinstance(value, Eigenvalue))
    return Parameters(expressions, functions, arguments, unknown, inferred, composites, chart)


def _read(value: Any, scope: Scope, what: str) -> Value | None:
    """Read a value of any kind; a list of numbers or texts is a vector."""
    if isinstance(value, list | tuple) and value and all(isinstance(entry, str) for entry in value):
        return tuple(cast(Scalar, read_given(entry, scope, what)) for entry in value)
    return read_value(value, scope, what)


def _python_functions(
    name: str, function: Callable[..., Any], scope: Scope, domain: Domain, start: float
) -> dict[str, UserFunction]:
    """Return a Python function by its name; a complex one as two, for its real and its imaginary part."""
    own: dict[str, Callable[..., Any]] = {name: function}
    names = scope.chart.names
    if returns_complex(function, names, domain, start):
        own = {f"{name}{REAL}": Part(function), f"{name}{IMAGINARY}": Part(function, imaginary=True)}
    return {word: UserFunction.read(f, names, f"parameter '{name}'", scope.fields) for word, f in own.items()}


def check_known(names: Iterable[str], given: Mapping[str, ParameterValue]) -> None:
    """Refuse names of parameters that a problem does not have."""
    if isinstance(names, str) or not isinstance(names, Sequence | Mapping | set):
        raise ProblemError(f"names of parameters are a list such as ['nu'], got {shown(names)}.")
    for name in names:
        if not isinstance(name, str) or name not in given:
            known = f"the parameters are {choices(given)}.{suggestion(str(name), given)}" if given else "there is none."
            raise ProblemError(f"'{name}' is not a parameter of this problem; {known}")


def _in_order(given: Mapping[str, ParameterValue]) -> Iterator[tuple[str, ParameterValue]]:
    """Yield parameters so that each text comes after those it names, whatever order they were written in."""
    pending = dict(given)
    while pending:
        ready = [
            name
            for name, value in pending.items()
            if not any(other in _names(value) for other in pending if other != name)
        ]
        for name in ready or list(pending):  # a circle is left to the parser, which names what it misses
            yield name, pending.pop(name)


def _names(value: ParameterValue) -> set[str]:
    if isinstance(value, str):
        return set(re.findall(r"[^\W\d]\w*", value))
    return {symbol.name for symbol in value.free_symbols} if isinstance(value, sp.Basic) else set()
