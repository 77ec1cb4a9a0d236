"""What a problem says about the axis of its coordinates: whether its solution can be smooth there.

A smooth function around an axis is even in r. So are the terms of an equation that has smooth solutions; an odd one,
such as exp(-r) or r, has a peak or a kink on the axis, and one that is infinite there makes solutions behave like
powers of r.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from frozenpinn.errors import FrozenPinnError, ProblemError
from frozenpinn.language.functions import ChartedFunction
from frozenpinn.language.program import Program
from frozenpinn.statement.frames import Frame

if TYPE_CHECKING:
    from frozenpinn.statement.data import Datum
    from frozenpinn.statement.problem import Problem

Array = np.ndarray
_NEAR = (1e-3, 1e-6)  # distances from the axis, of the whole
_ODD, _BEYOND = 1e-7, 50.0  # part of a value that may be odd, and growth of a value that counts as infinite


def check_axis(problem: Problem) -> Iterator[str]:
    """Refuse coefficients that are infinite on the axis; yield what is to be said of terms that are not smooth."""
    frame = problem.frame
    if frame is None or not (frame.axes or frame.is_cartesian):
        return
    for equation in problem.equations:
        table = {problem.jets.name(jet): c for jet, c in (*equation.linear.items(), *equation.linear_in_time.items())}
        some = dict.fromkeys(problem.jets.jets_in(equation.nonlinear), sp.Rational(13, 10))
        for name, coefficient in {**table, str(equation.nonlinear): equation.nonlinear.xreplace(some)}.items():
            if _grows(coefficient, problem, frame):
                r = frame.names[0]
                raise ProblemError(
                    f"the coefficient of '{name}' in the equation of '{equation.field}' is infinite on the axis of the "
                    f"coordinates, so solutions behave like powers of {r} there. Substitute u = {r}*v, or another "
                    f"power, and write the equation of v; or start at {r} > 0."
                )
    terms = {f"the equation of '{e.field}'": e.right_side for e in problem.equations}
    terms |= {d.what: d.expression for d in problem.initial_data if d.expression is not None}
    odd = [what for what, expression in terms.items() if not frame.is_cartesian and _is_odd(expression, problem, frame)]
    odd += [d.what for d in problem.initial_data if not frame.is_cartesian and _function_is_odd(d, problem, frame)]
    for what in odd:
        yield (
            f"{what} is not even in the coordinates around the axis, so that the solution has a peak or a kink there: "
            f"its accuracy is limited, and so is the estimate of it. Write {frame.names[0]}**2 and the like where a "
            "smooth function is meant."
        )


def _grows(coefficient: sp.Expr, problem: Problem, frame: Frame) -> bool:
    """Whether a coefficient tends to infinity towards the axis."""
    if coefficient.is_number:
        return False
    size, sizes = np.asarray(problem.stated.upper, dtype=float), []
    for near in _NEAR:
        middle = problem.domain.sample(1, "random", rng=0).x[0]
        if frame.is_cartesian:
            middle[:2] = near * float(np.max(np.abs(size))) * np.array([0.6, 0.8])
            if frame.kind == "spherical":
                middle[2] = near * float(np.max(np.abs(size))) if problem.stated.lower[0] == 0 else middle[2]
        elif frame.inner[0] == "square":
            middle[0] = (near * size[0]) ** 2
        else:
            middle[1] = np.cos(near) if "top" in frame.axes else -np.cos(near)
        with np.errstate(all="ignore"):
            sizes.append(abs(float(np.ravel(problem.compile([coefficient])(*middle[:, None], problem.time[0])[0])[0])))
    return bool(sizes[1] > _BEYOND * max(sizes[0], 1e-300)) or not all(map(np.isfinite, sizes))


def _is_odd(expression: sp.Expr, problem: Problem, frame: Frame) -> bool:
    """Whether an expression changes if the direction away from the axis is reversed."""
    jets = problem.jets
    own = sp.Symbol("away", positive=True)
    if frame.inner[0] == "square":
        turned = expression.xreplace({jets.x[0]: own**2})
    else:
        sine, m = sp.Symbol("away", positive=True), jets.x[1]
        roots = {p: sine ** (2 * p.exp) for p in expression.atoms(sp.Pow) if p.base == 1 - m**2}
        turned = expression.xreplace(roots).xreplace({sp.acos(m): sp.asin(sine)})
    if own not in turned.free_symbols:
        return False
    rng = np.random.default_rng(0)
    others = sorted(turned.free_symbols - {own}, key=str)
    size = float(problem.stated.upper[0]) if frame.inner[0] == "square" else 1.0
    places = [problem.domain.lower[jets.x.index(s)] + rng.random(9) * problem.domain.lengths[jets.x.index(s)]
              if s in jets.x else rng.normal(size=9) for s in others]  # fmt: skip
    away = size * rng.uniform(0.1, 0.9, 9)
    try:
        program = Program([turned], [own, *others], problem.parameters.functions)
        with np.errstate(all="ignore"):
            here, there = (np.broadcast_to(program(sign * away, *places)[0], 9) for sign in (1.0, -1.0))
    except (FrozenPinnError, ValueError, TypeError, ArithmeticError):  # a Python function that knows no negative r
        return False
    return _differ(here, there)


def _function_is_odd(datum: Datum, problem: Problem, frame: Frame) -> bool:
    """Whether a Python function changes if the direction away from the axis is reversed, as far as it can be told."""
    if datum.function is None or not isinstance(datum.function.function, ChartedFunction):
        return False
    x = problem.stated.sample(9, "random", rng=0).x
    turned, axis = x.copy(), 0 if frame.inner[0] == "square" else 1
    turned[:, axis] *= -1.0
    try:
        with np.errstate(all="ignore"):
            here, there = (datum.function.function.own.at(points, problem.time[0]) for points in (x, turned))
    except FrozenPinnError:
        return False
    return _differ(here, there)


def _differ(here: Array, there: Array) -> bool:
    known = np.isfinite(here) & np.isfinite(there)
    return bool(np.any(np.abs(here - there)[known] > _ODD * np.max(np.abs(here[known]), initial=1e-300)))
