"""Expressions in the fields as programs that a page can run: a stack of numbers, one instruction after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sympy as sp

from frozenpinn.errors import EvaluationError
from frozenpinn.language.jets import Jet
from frozenpinn.results.expressions import Expression, table_of_expressions
from frozenpinn.statement.composites import flat

if TYPE_CHECKING:
    from frozenpinn.results.solution import Solution

#: functions of SymPy by the name that they have in JavaScript
_FUNCTIONS = {
    **{getattr(sp, name): name for name in ("sin", "cos", "tan", "exp", "log", "sinh", "cosh", "tanh", "atan", "sign")},
    **{sp.Abs: "abs", sp.asin: "asin", sp.acos: "acos", sp.atan2: "atan2", sp.Max: "max", sp.Min: "min"},
}
Instruction = list[Any]


def formulas(solution: Solution, given: Any, derivatives: Sequence[str]) -> list[dict[str, Any]]:
    """Return the columns ``{"flux": "-k*u_x"}`` as fields of a page, which knows some derivatives."""
    return [
        {"name": name, **_formula(solution, expression, derivatives)}
        for name, expression in table_of_expressions(solution, given).items()
    ]


def _formula(solution: Solution, expression: Expression, derivatives: Sequence[str]) -> dict[str, Any]:
    if expression.shape or expression.is_complex:
        raise EvaluationError(f"a page shows real numbers; of '{expression.text}' take a component, or abs2(…).")
    space, problem = expression.space, solution.problem
    needs = []
    for jet in expression.jets:
        known = _suffix(jet, problem.domain.coordinates)
        if jet.field not in problem.fields or known not in derivatives:
            raise EvaluationError(
                f"'{expression.text}' needs {space.name(jet)}, which a page does not know; {_table(expression)}"
            )
        needs.append([jet.field, known])
    names = {space.symbol(jet): ["need", k] for k, jet in enumerate(expression.jets)}
    names |= {symbol: ["place", axis] for axis, symbol in enumerate(space.x)} | {space.t: ["time"]}
    constants = problem.parameters.constants
    (value,) = flat(expression.value)
    return {"needs": needs, "formula": _program(value, names, constants, expression)}


def _suffix(jet: Jet, coordinates: Sequence[str]) -> str:
    return "t" * jet.time + "".join(c * k for c, k in zip(coordinates, jet.alpha, strict=True))


def _table(expression: Expression) -> str:
    return f"show a table: frozenpinn.page(solution.grid(expressions={{'shown': '{expression.text}'}}), 'table.html')."


def _program(
    node: sp.Expr, names: Mapping[sp.Symbol, Instruction], constants: Mapping[str, float], whole: Expression
) -> list[Instruction]:
    """Return the instructions that leave the value of an expression on the stack."""
    if node in names:
        return [names[node]]
    if node.is_Symbol and node.name in constants:
        return [["number", float(constants[node.name])]]
    if node.is_number and not node.free_symbols:
        return [["number", float(node)]]
    operation = {sp.Add: "+", sp.Mul: "*", sp.Pow: "pow"}.get(node.func, _FUNCTIONS.get(node.func))
    if operation is None:
        raise EvaluationError(f"'{node.func.__name__}' in '{whole.text}' is not known to a page; {_table(whole)}")
    parts = [step for part in node.args for step in _program(part, names, constants, whole)]
    return [*parts, [operation, len(node.args)]]
