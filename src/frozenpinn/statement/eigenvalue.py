"""Eigenvalue problems L u = λ W u: the unknown number among the parameters, and the operators on its two sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp

from frozenpinn.errors import ProblemError
from frozenpinn.language.algebra import expanded
from frozenpinn.language.jets import Jet
from frozenpinn.runtime.arguments import spelled

if TYPE_CHECKING:
    from frozenpinn.statement.equation import Equation
    from frozenpinn.statement.problem import Problem

_EXAMPLE = "Problem('-lap(u) = lam*u', domain, boundary='u = 0', parameters={'lam': Eigenvalue()})"


@spelled(ProblemError)
@dataclass(frozen=True)
class Eigenvalue:
    """The value of a parameter that is the eigenvalue to be found.

    The equations must be linear and homogeneous in the fields, and linear in the parameter: L u = λ W u. W may depend
    on the coordinates and contain derivatives. Call :func:`frozenpinn.modes` for eigenvalues and functions.

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
    return {equation.field: _sides(equation, sp.Symbol(name, real=True)) for equation in problem.equations}


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
    if problem.composites.complex:
        raise ProblemError(
            f"eigenvalues of complex equations are not supported: '{sorted(problem.composites.complex)[0]}' is "
            "complex, and its two real parts have each real eigenvalue twice, and the conjugate of each complex one. "
            "Multiply the equation so that it is real, if it can be."
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
    if problem.constraints:
        raise ProblemError(
            f"the constraint '{problem.constraints[0].text}' can't be combined with an eigenvalue; eigenfunctions have "
            "norm one. Leave it out."
        )
