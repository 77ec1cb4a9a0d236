"""Named parameters of a problem: numbers, text, SymPy expressions or Python functions of x and t."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError
from frozenpinn.problem.data import Given, callable_arguments, checked_values, normalised
from frozenpinn.problem.expression import CONSTANTS, FUNCTIONS, OPERATORS, Scope, parse
from frozenpinn.problem.jet import TIME, JetSpace


@dataclass(frozen=True)
class Parameters:
    """Parameters, sorted into expressions that are substituted and functions that are called."""

    given: Mapping[str, Given] = field(default_factory=dict)
    expressions: Mapping[str, sp.Expr] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    arguments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def scope(self, jets: JetSpace, fields: Sequence[str] = (), *, normal: bool = False) -> Scope:
        """Return the names that a text may use, with these parameters among them."""
        return Scope(jets, fields, self.expressions, self.arguments, normal)


def read_parameters(given: Mapping[str, Given] | None, jets: JetSpace, fields: Sequence[str]) -> Parameters:
    """Check the names and kinds of parameters; a text may use the parameters written before it."""
    expressions: dict[str, sp.Expr] = {}
    functions: dict[str, Callable[..., Any]] = {}
    arguments: dict[str, tuple[str, ...]] = {}
    for name, value in (given or {}).items():
        _check_name(name, jets, fields)
        scope = Scope(jets, fields, expressions, arguments)
        if isinstance(value, str):
            expressions[name] = parse(value, scope)
        elif isinstance(value, sp.Basic):
            expressions[name] = normalised(sp.sympify(value), scope)
        elif callable(value):
            called_with = callable_arguments(value, jets.coordinates, f"parameter '{name}'")
            functions[name] = _checked_function(value, name, called_with)
            arguments[name] = _flat(called_with, jets)
        elif np.ndim(value) == 0 and np.isreal(value) and np.isfinite(float(value)):
            number = float(value)
            expressions[name] = sp.Integer(int(number)) if number == int(number) else sp.Float(number)
        else:
            raise ProblemError(
                f"parameter '{name}' must be a finite number, text, a SymPy expression or a function "
                f"of {', '.join((*jets.coordinates, TIME))}; got {value!r}."
            )
    return Parameters(dict(given or {}), expressions, functions, arguments)


def _flat(called_with: tuple[str, ...], jets: JetSpace) -> tuple[str, ...]:
    names: list[str] = []
    for name in called_with:
        names += jets.coordinates if name == "points" else [name]
    return tuple(names)


def _check_name(name: str, jets: JetSpace, fields: Sequence[str]) -> None:
    if not isinstance(name, str) or not re.fullmatch(r"[^\W\d]\w*", name) or "__" in name:
        raise ProblemError(f"a parameter needs a plain name such as 'nu', got {name!r}.")
    if name in (*jets.coordinates, TIME):
        raise ProblemError(f"'{name}' is a coordinate and can't be a parameter; choose another name.")
    if name in fields:
        raise ProblemError(f"'{name}' is an unknown of the equation and can't be a parameter too.")
    if name in FUNCTIONS or name in CONSTANTS or name in OPERATORS:
        raise ProblemError(f"'{name}' is a built-in name and can't be a parameter; choose another name.")


def _checked_function(function: Callable[..., Any], name: str, called_with: tuple[str, ...]) -> Callable[..., Any]:
    """Wrap a user's function: whole-point arguments are stacked, results are checked."""
    stacked = "points" in called_with
    timed = called_with[-1] == TIME

    def call(*values: Any) -> Any:
        columns = values[:-1] if timed else values
        time = float(values[-1]) if timed and np.ndim(values[-1]) == 0 else float("nan")
        n = max((np.size(c) for c in columns), default=1)
        x = np.stack([np.broadcast_to(c, n) for c in columns], axis=1) if columns else np.zeros((n, 0))
        result = function(x, *values[len(columns) :]) if stacked else function(*values)
        return checked_values(result, n, f"parameter '{name}'", x, time)

    return call
