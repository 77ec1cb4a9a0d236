"""Eigenvalue problems L u = λ W u: the unknown number among the parameters, and the operators on its two sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.errors import ProblemError
from frozenpinn.language.algebra import expanded
from frozenpinn.language.jets import Jet
from frozenpinn.runtime.arguments import spelled
from frozenpinn.statement.composites import IMAGINARY, REAL

if TYPE_CHECKING:
    from frozenpinn.statement.equation import Equation
    from frozenpinn.statement.problem import Problem

_EXAMPLE = "Problem('-lap(u) = lam*u', domain, boundary='u = 0', parameters={'lam': Eigenvalue()})"


@spelled(ProblemError)
@dataclass(frozen=True)
class Eigenvalue:
    """The value of a parameter that is the eigenvalue to be found.

    The equations must be linear and homogeneous in the fields, and linear in the parameter: L u = λ W u. W may depend
    on the coordinates and contain derivatives, and both may be complex. Call :func:`frozenpinn.modes` for eigenvalues
    and functions.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> levels = fp.Problem(
    ...     "-u_xx + x**2*u = lam*u", fp.Interval(-8, 8), boundary="u = 0", parameters={"lam": fp.Eigenvalue()}
    ... )
    >>> fp.modes(levels, 3).values.round(8)
    array([1., 3., 5.])
    """


@dataclass(frozen=True)
class Sides:
    """One equation L u = λ W u, as coefficients of derivatives of the fields."""

    left: Mapping[Jet, sp.Expr]
    right: Mapping[Jet, sp.Expr]


def sides_of(problem: Problem) -> dict[str, Sides]:
    """Return the operators on the two sides of every equation of an eigenvalue problem."""
    (name,) = problem.parameters.unknown
    table = {equation.field: _sides(equation, sp.Symbol(name, real=True)) for equation in problem.equations}
    for real, imaginary in complex_pairs(problem):
        table[imaginary] = _matched(problem, table, real, imaginary)
    return table


def complex_pairs(problem: Problem) -> tuple[tuple[str, str], ...]:
    """Return the real and the imaginary part of every complex field."""
    made = problem.composites
    names = [part for name in sorted(made.complex) for part in made.components(name)]
    return tuple((f"{name}{REAL}", f"{name}{IMAGINARY}") for name in names)


def _matched(problem: Problem, table: Mapping[str, Sides], real: str, imaginary: str) -> Sides:
    """Return the equation of an imaginary part, as it belongs to that of the real part: A u of one complex operator A.

    If the two have changed places, as in ``I*u_xx = lam*u``, they are those of i A, but for a sign.
    """
    turned = {name: (other, 1) for name, other in complex_pairs(problem)}
    turned |= {other: (name, -1) for name, other in complex_pairs(problem)}
    first, second = table[real], table[imaginary]
    for sign in (1, -1):
        if all(
            _agree(mine, {jet: sign * c for jet, c in theirs.items()}, turned)
            for mine, theirs in ((first.left, second.left), (first.right, second.right))
        ):
            return Sides(*({jet: sign * c for jet, c in side.items()} for side in (second.left, second.right)))
    raise ProblemError(
        f"the equations of '{real}' and '{imaginary}' are not those of one complex equation, as with conj(…), re(…) or "
        "im(…) in it: its eigenvalues would not be those of a linear operator. State the two parts as real fields."
    )


def _agree(first: Mapping[Jet, sp.Expr], second: Mapping[Jet, sp.Expr], turned: Mapping[str, tuple[str, int]]) -> bool:
    """Whether i times what the first says of a function is what the second says of it."""
    if not all(jet.field in turned for jet in (*first, *second)):
        return False
    expected = {replace(jet, field=turned[jet.field][0]): turned[jet.field][1] * c for jet, c in first.items()}
    return all(expanded(expected.get(jet, 0) - second.get(jet, 0)) == 0 for jet in {**expected, **second})


def _sides(equation: Equation, symbol: sp.Symbol) -> Sides:
    left: dict[Jet, sp.Expr] = {}
    right: dict[Jet, sp.Expr] = {}
    for jet, coefficient in equation.linear.items():
        slope = expanded(sp.diff(coefficient, symbol))
        rest = expanded(coefficient - slope * symbol)
        if symbol in slope.free_symbols or symbol in rest.free_symbols:
            raise ProblemError(
                f"the eigenvalue '{symbol}' enters the equation '{equation}' as '{coefficient}'; it may only be a "
                f"factor of the first power, as in -lap(u) = {symbol}*u. Give another name to a function of it; "
                "write higher powers as a system."
            )
        left |= {jet: rest} if rest != 0 else {}
        right |= {jet: -slope} if slope != 0 else {}
    return Sides(left, right)


def check_eigenproblem(problem: Problem) -> None:
    """Refuse what is no eigenvalue problem, although a parameter says so."""
    names = problem.parameters.unknown
    if not names:
        return
    made = problem.composites
    real = [name for name in made.names if name not in made.complex]
    if made.complex and real:
        raise ProblemError(
            f"'{real[0]}' is real beside the complex '{min(made.complex)}', but eigenfunctions of complex equations "
            f"are complex in all fields: write complex=({', '.join(map(repr, made.names))})."
        )
    if len(names) > 1:
        listed = ", ".join(f"'{name}'" for name in names)
        raise ProblemError(f"{listed} are eigenvalues; a problem has one. Give numbers to the others.")
    name, symbol = names[0], sp.Symbol(names[0], real=True)
    if not problem.is_static:
        raise ProblemError(
            f"'{name}' is an eigenvalue, but the problem has time; leave out time= and initial=: {_EXAMPLE}. The "
            "growth of small disturbances of a steady state is told by stability(problem)."
        )
    for equation in problem.equations:
        if equation.nonlinear != 0:
            raise ProblemError(
                f"the equation '{equation}' is not linear: an eigenvalue problem can't have '{equation.nonlinear}'. "
                "For eigenvalues of the linearisation about a solution, leave the Eigenvalue out and call "
                "modes(problem, 10, about=solution)."
            )
        if equation.forcing != 0:
            raise ProblemError(
                f"the equation '{equation}' is not homogeneous: '{equation.forcing}' has no factor of "
                f"{', '.join(problem.fields)}. An eigenvalue problem has no source; leave it out."
            )
    if not any(sides.right for sides in sides_of(problem).values()):
        raise ProblemError(f"the eigenvalue '{name}' stands in no equation; write for example -lap(u) = {name}*u.")
    _check_conditions(problem, symbol)
    if made.complex:
        _check_complex_conditions(problem)


def _check_complex_conditions(problem: Problem) -> None:
    """Refuse conditions that i times a function does not obey, although the function does."""
    pairs = complex_pairs(problem)
    turned = {a: (b, -1) for a, b in pairs} | {b: (a, 1) for a, b in pairs}
    for side in dict.fromkeys(condition.side.name for condition in problem.conditions):
        rows = [dict(zip(c.jets, c.coefficients, strict=True)) for c in problem.conditions if c.side.name == side]
        rows += [{replace(j, field=turned[j.field][0]): turned[j.field][1] * c for j, c in r.items()} for r in rows]
        jets = list(dict.fromkeys(jet for row in rows for jet in row))
        atoms = {a for row in rows for c in row.values() for a in (*c.free_symbols, *c.atoms(AppliedUndef))}
        numbers = {a: sp.Float(0.3 + 0.61803 * k) for k, a in enumerate(sorted(atoms, key=str))}
        matrix = np.array([[float(sp.sympify(row.get(jet, 0)).xreplace(numbers)) for jet in jets] for row in rows])
        if np.linalg.matrix_rank(matrix) > len(rows) // 2:
            raise ProblemError(
                f"the conditions on '{side}' are not those of complex functions: i times a function that obeys them "
                "does not. Leave out conj(…), re(…) and im(…), or state real and imaginary part as real fields."
            )


def _check_conditions(problem: Problem, symbol: sp.Symbol) -> None:
    for condition in problem.conditions:
        given = condition.value.expression
        used = {s for c in condition.coefficients for s in c.free_symbols}
        if symbol in used | (set() if given is None else given.free_symbols):
            raise ProblemError(
                f"the eigenvalue '{symbol}' stands in the boundary condition '{condition.text}', which is not "
                "supported; it may only stand in the equations."
            )
        if not condition.value.is_zero:
            raise ProblemError(
                f"the boundary condition '{condition.text}' is not homogeneous; those of an eigenvalue problem have "
                "zero on the right, as in u = 0."
            )
    for constraint in problem.constraints:
        if constraint.point is None or constraint.value != 0.0:
            raise ProblemError(
                f"the constraint '{constraint.text}' can't be combined with an eigenvalue; eigenfunctions have norm "
                "one. Leave it out; conditions at a point have zero on the right, as in constraint='w(0.5, 0.5) = 0'."
            )
