"""The same problem with other values of what stays a symbol in it, without reading its texts again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from frozenpinn.statement.conditions import LinearCondition
from frozenpinn.statement.data import Datum
from frozenpinn.statement.problem import Problem


def with_values(problem: Problem, values: Mapping[str, Any]) -> Problem:
    """Return a problem with other numbers of its symbols and other functions behind its names."""
    parameters = replace(problem.parameters, functions={**problem.parameters.functions, **values})

    def bound(datum: Datum) -> Datum:
        other = object.__new__(Datum)
        kept = ("what", "expression", "function", "_scope")
        vars(other).update({name: getattr(datum, name) for name in kept}, _functions=parameters.functions)
        return other

    def rebound(condition: LinearCondition) -> LinearCondition:
        terms = dict(zip(condition.jets, condition.coefficients, strict=True))
        return LinearCondition(condition.side, terms, bound(condition.value), condition.text, problem.jets, parameters)

    return problem.replaced(
        parameters=parameters,
        conditions=tuple(map(rebound, problem.conditions)),
        laws=tuple(replace(law, parameters=parameters) for law in problem.laws),
        initial={name: bound(datum) for name, datum in problem.initial.items()},
        initial_velocity={name: bound(datum) for name, datum in problem.initial_velocity.items()},
    )
