"""Systems in which some equations have no time derivative: which equation determines which field, and of which class.

That is read off the highest time derivative of each field in each equation, as in Pryce's analysis of differential-
algebraic systems (BIT 41, 2001): of all ways to give each field an equation of its own, the one with the most time
derivatives is taken. It also says how often each equation would have to be differentiated in time until all fields
evolve. If none has to be, or just once, for fields whose time derivative stands beside another one's, the fields
without an equation in time follow from the others at each moment (index 1). If a constraint has to be differentiated
once and a field without time derivatives is then found, that field is its multiplier (index 2), as a pressure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError, choices
from frozenpinn.language.jets import TIME, Jet, JetSpace
from frozenpinn.runtime.memo import remembered

if TYPE_CHECKING:
    from frozenpinn.statement.equation import Equation
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
Kind: TypeAlias = Literal["evolution", "pointwise", "elliptic", "multiplier"]
_NEVER = -1e6  # what it costs to give a field an equation in which it does not occur


@dataclass(frozen=True)
class Matching:
    """An equation for each field.

    Attributes
    ----------
    rows
        The number of the equation of each field.
    orders
        Its highest time derivative there, which is 0 for fields that equations determine at each moment.
    differentiated
        How often each equation, by its number, would have to be differentiated in time until all fields evolve.
    index
        Differentiation index: 0 if all fields evolve, 1 or 2 for what can be solved.
    """

    rows: tuple[int, ...]
    orders: tuple[int, ...]
    differentiated: tuple[int, ...]
    index: int


def match(residuals: Sequence[sp.Expr], fields: Sequence[str], jets: JetSpace) -> Matching:
    """Give each field an equation; refuse fields that no equation determines, and an index above two."""
    times, taste = _signature(residuals, fields, jets)
    rows = _assigned(times, taste)
    if np.min(times[np.arange(len(fields)), rows]) < 0:
        raise ProblemError(_undetermined(residuals, times, rows, fields))
    differentiated, top = _offsets(times, rows)
    index = max(differentiated) + int(np.min(top) == 0)
    _check_index(index, differentiated, residuals)
    if index == 2:
        rows = _beside_constraints(times, taste, residuals, differentiated)
    orders = [int(times[i, row]) for i, row in enumerate(rows)]
    return Matching(tuple(rows), tuple(max(0, order) for order in orders), tuple(differentiated), index)


def _assigned(times: Array, taste: Array) -> list[int]:
    """Return the equation of each field: the sum of the time derivatives is the largest, then that of the tastes."""
    from scipy.optimize import linear_sum_assignment

    return [int(row) for row in linear_sum_assignment(-np.where(times < 0, _NEVER, 1e3 * times + taste))[1]]


def _beside_constraints(
    times: Array, taste: Array, residuals: Sequence[sp.Expr], differentiated: Sequence[int]
) -> list[int]:
    """Return the equation of each field if some are constraints: fields keep the equations in which they evolve."""
    evolving, moving = np.any(times > 0, axis=1), np.any(times > 0, axis=0)
    if np.sum(evolving) != np.sum(moving):
        raise ProblemError(
            f"{_listed(residuals, differentiated)} must be differentiated by {TIME}, and not every field with a time "
            f"derivative has an equation of its own with it: {np.sum(evolving)} such field(s), {np.sum(moving)} such "
            "equation(s). Solve the equations for the time derivatives, so that each stands in one of them."
        )
    rows = np.empty(len(times), dtype=int)
    for fields, equations in ((evolving, moving), (~evolving, ~moving)):
        part = np.ix_(fields, equations)
        rows[fields] = np.flatnonzero(equations)[_assigned(times[part], taste[part])]
    return [int(row) for row in rows]


def _signature(residuals: Sequence[sp.Expr], fields: Sequence[str], jets: JetSpace) -> tuple[Array, Array]:
    """Return the highest time derivative of each field in each equation, −1 if it is not there, and what decides ties.

    A time derivative that stands alone is preferred to one that is differentiated in space; without time derivatives,
    the highest derivative in space tells whose equation it is.
    """
    times, taste = np.full((2, len(fields), len(residuals)), -1.0)
    for row, residual in enumerate(residuals):
        for jet in _occurring(residual, jets):
            if jet.field not in fields:
                continue
            i = fields.index(jet.field)
            preferred = -float(jet.order) if jet.time else float(jet.order)
            if (jet.time, preferred) > (times[i, row], taste[i, row]) or times[i, row] < jet.time:
                times[i, row], taste[i, row] = jet.time, preferred
    return times, taste


def _occurring(expression: sp.Expr, jets: JetSpace) -> list[Jet]:
    """Return the jets of an expression, with those inside nonlocal quantities."""
    found = list(jets.jets_in(expression).values())
    inner = [
        j for jet in found if jet.field in jets.quantities for j in _occurring(jets.quantities[jet.field].inner, jets)
    ]
    return [jet for jet in found if jet.field not in jets.quantities] + inner


def _offsets(times: Array, rows: Sequence[int]) -> tuple[list[int], Array]:
    """Return how often each equation is differentiated, and the order that each field then has, the smallest ones."""
    extra, chosen = np.zeros(times.shape[1]), list(rows)
    for _ in range(10 * len(rows) + 10):
        top = np.max(np.where(times < 0, -np.inf, times + extra), axis=1)
        new = extra.copy()
        new[chosen] = top - times[np.arange(len(rows)), chosen]
        if np.array_equal(new, extra):
            break
        extra = new
    return [int(e) for e in extra], top


def _undetermined(residuals: Sequence[sp.Expr], times: Array, rows: list[int], fields: Sequence[str]) -> str:
    lost = [fields[i] for i, row in enumerate(rows) if times[i, row] < 0]
    surplus = [f"'{residuals[row]} = 0'" for i, row in enumerate(rows) if times[i, row] < 0]
    return (
        f"no equation is left that determines {choices(lost)}: the others are needed for the other fields, and "
        f"{', '.join(surplus)} does not contain {'it' if len(lost) == 1 else 'them'}. Each field needs an equation "
        "of its own in which it occurs."
    )


def _check_index(index: int, differentiated: Sequence[int], residuals: Sequence[sp.Expr]) -> None:
    """Refuse an index above two, with the equations that would have to be differentiated, and how often."""
    if index > 2:
        raise ProblemError(
            f"the equations have the differentiation index {index}, and up to 2 is supported: until all fields have a "
            f"time derivative, one would have to differentiate {_listed(residuals, differentiated)} by {TIME}. "
            "Replace such an equation by its time derivative, with the others inserted; the initial data then say "
            "what it keeps."
        )


def _listed(residuals: Sequence[sp.Expr], differentiated: Sequence[int]) -> str:
    """Return which equations have to be differentiated, and how often."""
    often = {1: "once", 2: "twice"}
    found = [f"'{residuals[row]} = 0' {often.get(n, f'{n} times')}" for row, n in enumerate(differentiated) if n]
    return " and ".join(found)


@remembered
def kinds(problem: Problem) -> Mapping[str, Kind]:
    """Return of which class each field is.

    ``evolution``: its equation has its time derivative. The others belong to equations without one: ``pointwise`` ones
    contain no spatial derivatives of such fields, ``elliptic`` ones do; a ``multiplier``, as a pressure, keeps a
    constraint in which it does not occur itself.
    """
    if problem.is_static:
        return {}
    found: dict[str, Kind] = {e.field: "evolution" for e in problem.equations if e.order}
    for equation in (e for e in problem.equations if not e.order):
        inside = [
            jet for jet in _occurring(equation.right_side, problem.jets) if problem.equation(jet.field).order == 0
        ]
        spread = any(jet.order for jet in inside) or problem.jets.quantities_in(equation.right_side)
        owned = any(jet.field == equation.field for jet in inside)
        found[equation.field] = "multiplier" if not owned else "elliptic" if spread else "pointwise"
    return {name: found[name] for name in problem.fields}


@remembered
def is_linear_in_determined(problem: Problem) -> bool:
    """Whether equations without a time derivative are linear in the fields that they determine, as far as is seen."""
    determined = set(problem.determined)
    for name in determined:
        equation = problem.equation(name)
        hidden = [problem.jets.quantities[j.field].inner for j in _hidden(equation.right_side, problem.jets)]
        for expression in (equation.nonlinear, *hidden):
            own = [s for s, j in problem.jets.jets_in(expression).items() if j.field in determined]
            slopes = [sp.diff(expression, symbol) for symbol in own]
            if any(
                set(problem.jets.jets_in(slope).values()) & {problem.jets.jet_of(s) for s in own} for slope in slopes
            ):
                return False
    return True


def _hidden(expression: sp.Expr, jets: JetSpace) -> list[Jet]:
    """Return the nonlocal quantities of an expression."""
    return [jet for jet in jets.jets_in(expression).values() if jet.field in jets.quantities]


@remembered
def mutually_determined(problem: Problem) -> tuple[tuple[str, ...], ...]:
    """Group determined fields that depend on each other, each group after those that it depends on.

    An equation of odd order, such as q_x = c, does not determine its field by itself: conditions of others take part.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    names = list(problem.determined)
    uses = [
        {j.field for j in _occurring(problem.equation(name).right_side, problem.jets) if j.field in names}
        for name in names
    ]
    for name, own in zip(names, uses, strict=True):
        inside = _occurring(problem.equation(name).right_side, problem.jets)
        if max((jet.order for jet in inside if jet.field == name), default=0) % 2:
            for other, theirs in zip(names, uses, strict=True):
                if name in theirs:
                    own.add(other)
                if other in own:
                    theirs.add(name)
    table = csr_array([[int(other in own) for other in names] for own in uses])
    groups = connected_components(table, connection="strong")[1] if names else []
    left = {int(g): [name for name, own in zip(names, groups, strict=True) if own == g] for g in groups}
    found: list[tuple[str, ...]] = []
    while left:
        done = {name for group in found for name in group}
        free = [g for g, own in left.items() if set().union(*(uses[names.index(n)] for n in own)) <= done | set(own)]
        found.append(tuple(left.pop(free[0])))
    return tuple(found)


def in_order(problem: Problem) -> tuple[str, ...]:
    """Return determined fields, each after those that it depends on."""
    return tuple(name for group in mutually_determined(problem) for name in group)


def moves_determined(problem: Problem, equation: Equation) -> bool:
    """Whether the time derivative of a field stands in an equation that another one determines at each moment."""
    return any(problem.equation(jet.field).order < equation.order for jet in equation.mass)


@remembered
def free_constants(problem: Problem) -> tuple[str, ...]:
    """Return the determined fields of which equations and conditions contain derivatives only: constants are open."""
    names = [name for name, kind in problem.determined.items() if kind == "elliptic"]
    inside = [j for e in problem.equations if not e.order for j in _occurring(e.right_side, problem.jets)]
    inside += [jet for condition in problem.conditions for jet in condition.jets]
    inside += [jet for law in problem.laws for jet in law.jets_in()]
    return tuple(name for name in names if not any(jet.field == name and not jet.order for jet in inside))


def told(problem: Problem) -> tuple[str, ...]:
    """Return, for a system with equations without time derivatives, what each of these determines."""
    words = {
        "pointwise": "point by point",
        "elliptic": "as an elliptic field",
        "multiplier": "as the multiplier of a constraint",
    }
    free, mean = free_constants(problem), ", up to a constant: its mean is taken to be zero"
    return tuple(
        f"'{problem.equation(name)}' determines '{name}' {words[kind]}{mean if name in free else ''}."
        for name, kind in problem.determined.items()
    )


def refuse_unsolved(problem: Problem, what: str) -> None:
    """Say which equations without a time derivative ``what`` can't solve."""
    from frozenpinn.statement.multipliers import multipliers

    keeping = multipliers(problem)
    for name, kind in problem.determined.items():
        if kind != "multiplier" or name in keeping:
            continue
        raise ProblemError(
            f"{what} can't keep '{problem.equation(name)}': '{name}' is the multiplier of this constraint, which must "
            f"be linear with constant coefficients, and '{name}' must enter the equations of the constrained fields by "
            "its adjoint, as -grad(p) beside div(U) = 0, with the same factor in all."
        )
