"""Named parameters of a problem: numbers, text, SymPy expressions or Python functions of x and t."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import sympy as sp

from frozenpinn.language.jets import TIME, JetSpace
from frozenpinn.language.scope import Scope, check_name
from frozenpinn.statement.data import Given, callable_arguments, called, read_given

Array = np.ndarray


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
    """Check the names and kinds of parameters; a text may use the other parameters."""
    expressions: dict[str, sp.Expr] = {}
    functions: dict[str, Callable[..., Any]] = {}
    arguments: dict[str, tuple[str, ...]] = {}
    for name, value in _in_order(given or {}):
        check_name(name, "parameter", jets, fields)
        what = f"parameter '{name}'"
        expression = read_given(value, Scope(jets, fields, expressions, arguments), what)
        if expression is not None:
            expressions[name] = expression
        else:
            function = cast(Callable[..., Any], value)
            called_with = callable_arguments(function, jets.coordinates, what, fields)
            functions[name] = _checked_function(function, what, called_with)
            arguments[name] = _flat(called_with, jets)
    return Parameters(dict(given or {}), expressions, functions, arguments)


def _in_order(given: Mapping[str, Given]) -> Iterator[tuple[str, Given]]:
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


def _names(value: Given) -> set[str]:
    if isinstance(value, str):
        return set(re.findall(r"[^\W\d]\w*", value))
    return {symbol.name for symbol in value.free_symbols} if isinstance(value, sp.Basic) else set()


def _flat(called_with: tuple[str, ...], jets: JetSpace) -> tuple[str, ...]:
    names: list[str] = []
    for name in called_with:
        names += jets.coordinates if name == "points" else [name]
    return tuple(names)


def _checked_function(function: Callable[..., Any], what: str, called_with: tuple[str, ...]) -> Callable[..., Any]:
    """Wrap a user's function: whole-point arguments are stacked, results are checked."""
    stacked = "points" in called_with
    last = -1 if stacked and called_with[-1] == TIME else None  # f(points, t) comes as f(x, y, …, t)
    names = called_with if not stacked else ()

    def call(*values: Any) -> Array:
        n = max(np.size(value) for value in values)
        arguments = values
        if stacked:
            columns = [np.broadcast_to(column, n) for column in values[:last]]
            arguments = (np.stack(columns, axis=1), *values[len(columns) :])

        def where(i: int) -> str:
            place = [f"{np.broadcast_to(value, n)[i]:g}" for value in values]
            if stacked:
                return f"x = ({', '.join(place[:last])})"
            return ", ".join(f"{name} = {value}" for name, value in zip(names, place, strict=True))

        return called(function, arguments, n, what, where)

    return call
