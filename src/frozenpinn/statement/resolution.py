"""Which fields equations are for, of which kind each is, and what remains to vanish: real expressions of real fields.

A field is complex if it is declared so, or if its equation, its conditions or its data are complex. That is found by
reading everything, with the fields that are known to be complex so far, until no more are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sympy as sp

from frozenpinn.errors import ProblemError
from frozenpinn.geometry import Domain
from frozenpinn.language.chart import Chart
from frozenpinn.language.jets import JetSpace
from frozenpinn.language.parser import parse_sides
from frozenpinn.language.scope import Scope, check_name, same_name
from frozenpinn.language.unknowns import determined_in, unknowns_in, vectors_in
from frozenpinn.language.values import Value
from frozenpinn.statement.composites import Composites, declared, flat, found_complex, is_complex_datum, with_complex
from frozenpinn.statement.conditions import Condition, normal_symbols
from frozenpinn.statement.data import is_solved
from frozenpinn.statement.equation import (
    EquationText,
    as_equations,
    field_names,
    no_unknown,
    read_residual,
    sympy_fields,
)
from frozenpinn.statement.parameters import Parameters, read_parameters

if TYPE_CHECKING:
    from frozenpinn.statement.frames import Frame


@dataclass(frozen=True)
class Resolved:
    """The fields of a problem, its parameters, and its equations as real expressions that must vanish."""

    composites: Composites
    parameters: Parameters
    residuals: tuple[sp.Expr, ...]


def resolve(
    given: Mapping[str, Any],
    domain: Domain,
    jets: JetSpace,
    time: tuple[float, float] | None,
    symbols: Sequence[str],
    frame: Frame | None = None,
) -> Resolved:
    """Find the fields of a statement and read its equations."""
    chart = Chart(jets) if frame is None else frame.chart(jets)
    own_chart = None if frame is None else chart
    static, start = time is None, 0.0 if time is None else time[0]
    texts = as_equations(given["equation"], static)
    written = [value for value in given["parameters"].values() if isinstance(value, str)]
    names = field_names(texts, chart, list(given["parameters"]), static)
    if static and len(names) < len(texts):  # div(sigma) = 0, where a parameter says what sigma is
        other = [name for name in unknowns_in(written, chart, list(given["parameters"])) if name not in names]
        names += other[: len(texts) - len(names)]
    if names and not static:
        names += _determined(given["equation"], [*texts, *written], names, len(texts), chart, list(given["parameters"]))
    if not names:
        raise ProblemError(no_unknown("; ".join(map(str, texts)), static, [str(x) for x in jets.x]))
    conditions = list(_conditions(given["boundary"]))
    vectors = _vectors([*texts, *written], conditions, names, given["initial"]) if domain.dimension > 1 else []
    composites = declared(names, given.get("vectors"), given.get("complex"), vectors, chart.names)
    if composites.vectors and frame is not None and set(frame.inner) != {"same"}:
        raise ProblemError(
            f"'{next(iter(composites.vectors))}' is a vector, and its components have no smooth values on the axis of "
            f"the {frame.kind} coordinates; state the problem in Cartesian coordinates, or away from the axis."
        )
    while True:
        parameters = read_parameters(given["parameters"], jets, composites, symbols, domain, start, own_chart)
        scope = replace(parameters.scope(jets, composites.real), static=static, interfaces=True)
        values = [read_residual(text, scope) for text in texts]
        more = {*found_complex(values, composites, jets, static)}
        more |= {*_complex_conditions(conditions, composites, scope)}
        more |= {*_complex_data(given, composites, parameters.scope(jets), domain, start)}
        if not more:
            break
        composites = with_complex(composites, sorted(more))
    for part in composites.real:
        if part not in composites.names:
            check_name(part, "field", chart, [other for other in composites.real if other != part])
    return Resolved(composites, parameters, tuple(part for value in values for part in flat(value)))


def _determined(
    given: Any, texts: Sequence[EquationText], evolving: Sequence[str], count: int, chart: Chart, known: Sequence[str]
) -> list[str]:
    """Return the fields without a time derivative: keys of a table of equations, and names that have to be fields."""
    keys = [key for key in given if key not in evolving] if isinstance(given, Mapping) else []
    written = [text for text in texts if isinstance(text, str)]
    found = determined_in(written, chart, [*known, *keys], [*evolving, *keys], count)
    symbols = [name for text in texts if isinstance(text, sp.Basic) for name in sympy_fields(text, chart, known, True)]
    return [*dict.fromkeys([*keys, *found, *(name for name in symbols if name not in evolving)])]


def _conditions(boundary: Any) -> Iterator[Any]:
    """Yield all conditions, texts and objects."""
    if isinstance(boundary, Mapping):
        for value in boundary.values():
            yield from _conditions(value)
    elif isinstance(boundary, list | tuple):
        for value in boundary:
            yield from _conditions(value)
    elif boundary is not None:
        yield boundary


def _vectors(texts: Sequence[EquationText], conditions: Sequence[Any], names: Sequence[str], initial: Any) -> list[str]:
    """Return the fields that are used as vectors, or start as one."""
    written = [text for text in (*texts, *conditions) if isinstance(text, str)]
    found = dict.fromkeys(vectors_in(written, names))
    if isinstance(initial, Mapping):
        found |= dict.fromkeys(
            name
            for key, value in initial.items()
            if isinstance(value, list | tuple) and isinstance(key, str) and (name := same_name(key, names))
        )
    return list(found)


def _complex_conditions(conditions: Sequence[Any], composites: Composites, scope: Scope) -> Iterator[str]:
    """Yield the fields that a condition determines by complex numbers; what can't be read is reported later."""
    normal = normal_symbols(scope.jets.dimension)
    own = replace(scope, normal=normal, normal_derivatives=True)
    for condition in conditions:
        if isinstance(condition, str) and ("I" in condition or composites.complex or own.parameters):
            try:
                value: Value = parse_sides(condition, own)
            except ProblemError:
                continue
            yield from found_complex([value], composites, scope.jets, True)
        elif isinstance(condition, Condition):
            given, name = getattr(condition, "value", 0), getattr(condition, "field", None)
            if isinstance(given, complex) and given.imag:
                yield from [n for n in composites.names if n not in composites.complex and name in (None, n)]


def _complex_data(
    given: Mapping[str, Any], composites: Composites, scope: Scope, domain: Domain, start: float
) -> Iterator[str]:
    """Yield the fields whose initial data or exact solution are complex."""
    names = composites.names
    for key in ("initial", "initial_velocity", "exact"):
        value = given.get(key)
        if value is None or is_solved(value):
            continue
        if isinstance(value, list | tuple) and len(names) == 1 and names[0] in composites.vectors:
            value = {names[0]: value}
        elif isinstance(value, list | tuple) and len(value) == len(names):
            value = dict(zip(names, value, strict=True))
        elif not isinstance(value, Mapping):
            value = {names[0]: value} if len(names) == 1 else {}
        for name, datum in value.items():
            owner = same_name(name, names) if isinstance(name, str) else None
            if owner is None or owner in composites.complex:
                continue
            try:
                if is_complex_datum(datum, scope, domain, start, key):
                    yield owner
            except ProblemError:  # reported where the data are read
                continue
