"""The steady states of a time-dependent problem as a static problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sympy as sp

from frozenpinn.errors import ProblemError
from frozenpinn.language.jets import TIME
from frozenpinn.statement.breaks import breaks_among
from frozenpinn.statement.constraints import read_constraints
from frozenpinn.statement.equation import static_equations
from frozenpinn.statement.laws import BoundaryLaw
from frozenpinn.statement.problem import Problem


def _at_rest(law: BoundaryLaw) -> BoundaryLaw:
    """Return a boundary law without its time derivatives."""
    resting = law.residual.xreplace({s: sp.Integer(0) for s, j in law.jets.jets_in(law.residual).items() if j.time})
    if law.depends_on_time or not law.jets.jets_in(resting):
        raise ProblemError(
            f"the boundary condition '{law.text}' says nothing about a steady state, or depends on {TIME}; write it "
            "at one time, or another one."
        )
    return replace(law, residual=resting)


def without_time(problem: Problem, constraint: str | Sequence[str] | None = None) -> Problem:
    """Return the same equations without time derivatives; refuse what depends on time."""
    if problem.is_static:
        raise ProblemError("the problem is static already; call solve(problem).")
    jets, residuals = problem.jets, []
    for equation in problem.equations:
        if jets.t in equation.right_side.free_symbols:
            raise ProblemError(
                f"the equation '{equation}' depends on {TIME}, so it has no steady state; write it at one time, or "
                f"leave {TIME} out."
            )
        timed = {symbol: sp.Integer(0) for symbol, jet in jets.jets_in(equation.right_side).items() if jet.time}
        residuals.append(equation.right_side.xreplace(timed))
    for condition in problem.conditions:
        if condition.value.depends_on_time:
            raise ProblemError(
                f"the boundary condition '{condition.text}' depends on {TIME}, so there is no steady state; write it "
                "at one time."
            )
    laws = tuple(_at_rest(law) for law in problem.laws)
    scope = problem.parameters.scope(jets)
    equations = tuple(static_equations(residuals, problem.fields, jets))
    return problem.replaced(
        equations=equations,
        interfaces=breaks_among(problem, equations),
        laws=laws,
        time=(0.0, 0.0),
        initial={},
        initial_velocity={},
        exact={},
        constraints=read_constraints(constraint, problem.composites, problem.domain, scope, problem.frame),
        given={},
        evolution=problem,
    )
