"""Point sources: ``delta(x - a, y - b)`` in an equation, and the part of the solution that each causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.errors import ProblemError
from frozenpinn.geometry import Domain
from frozenpinn.language.jets import Jet, JetSpace
from frozenpinn.language.scope import POINT
from frozenpinn.statement.equation import Equation

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem


class PointSource(NamedTuple):
    """A source of some strength at a point, in the equation of a field."""

    field: str
    place: tuple[float, ...]
    strength: float


def taken_points(
    equations: Sequence[Equation], jets: JetSpace, domain: Domain
) -> tuple[tuple[Equation, ...], tuple[PointSource, ...]]:
    """Return equations without their point sources, and these."""
    rest, found = [], list[PointSource]()
    for equation in equations:
        marks = sorted((f for f in equation.right_side.atoms(AppliedUndef) if f.func == POINT), key=str)
        others = [*equation.linear.values(), *equation.linear_in_time.values(), equation.nonlinear]
        for mark in marks:
            name = sp.Dummy(real=True)
            factor = sp.diff(equation.forcing.xreplace({mark: name}), name)
            if any(e.has(mark) for e in others) or not factor.is_number:
                raise ProblemError(
                    f"{_text(mark)} has the factor '{factor}'; a point source has a number as strength, such as "
                    f"2*{_text(mark)}."
                )
            place, scale = _place(mark, jets)
            if not bool(domain.contains(np.array([place]), 0.0)[0]):
                where = ", ".join(f"{c:g}" for c in place)
                raise ProblemError(f"the point source {_text(mark)} lies at ({where}), outside the domain {domain!r}.")
            found.append(PointSource(equation.field, place, float(factor) / scale))
        gone = dict.fromkeys(marks, sp.Integer(0))
        rest.append(
            replace(equation, right_side=equation.right_side.xreplace(gone), forcing=equation.forcing.xreplace(gone))
            if marks
            else equation
        )
    return tuple(rest), tuple(found)


def refuse_points(problem: Problem) -> None:
    """Refuse point sources where they were not taken out: they would be lost."""
    if problem.points:
        raise ProblemError("point sources delta(…) are for solve(); write a narrow source instead, such as a Gaussian.")


def _text(mark: sp.Expr) -> str:
    return f"delta({', '.join(map(str, mark.args))})"


def _place(mark: sp.Expr, jets: JetSpace) -> tuple[tuple[float, ...], float]:
    """Return the point at which all arguments vanish, and by what their slopes divide the strength."""
    place: list[float | None] = [None] * jets.dimension
    scale = 1.0
    for argument in mark.args:
        own = [i for i, x in enumerate(jets.x) if x in argument.free_symbols]
        slope = sp.diff(argument, jets.x[own[0]]) if own else sp.Integer(0)
        if len(own) != 1 or not slope.is_number or argument.free_symbols != {jets.x[own[0]]}:
            break
        place[own[0]] = float(-argument.xreplace({jets.x[own[0]]: sp.Integer(0)}) / slope)
        scale *= abs(float(slope))
    if len(mark.args) != jets.dimension or any(p is None for p in place):
        wanted = ", ".join(f"{c} - {c}0" for c in jets.coordinates)
        raise ProblemError(f"{_text(mark)} is no point; write delta({wanted}), one argument for each coordinate.")
    return tuple(float(p) for p in place if p is not None), scale


def caused_by(source: PointSource, problem: Problem) -> tuple[sp.Expr, float]:
    """Return what a point source causes in free space, from the start on or forever, and the diffusion."""
    jets, equation = problem.jets, problem.equation(source.field)
    axes = range(jets.dimension)
    lap = replace(jets.field(source.field), laps=1)
    second = [equation.linear.get(Jet(source.field, tuple(2 * (i == a) for i in axes)), sp.Integer(0)) for a in axes]
    values = {sp.sympify(equation.linear.get(lap, sp.Integer(0)) + own) for own in second}
    diffusion = values.pop()
    known = not values and diffusion.is_number and float(diffusion) > 0 and equation.order <= 1 and not equation.mass
    if not known or not problem.is_linear or (jets.dimension == 2 and equation.order) or jets.dimension > 3:
        raise ProblemError(
            "point sources are for linear equations that are led by a Laplacian with a number in front of it: static "
            "ones up to three dimensions, evolutions of first order on intervals and in space. Write a narrow source "
            "instead, such as exp(-((x - a)^2 + (y - b)^2)/w^2)/(pi*w^2)."
        )
    d, q = float(diffusion), sp.Float(source.strength)
    offsets = [x - sp.Float(p) for x, p in zip(jets.x, source.place, strict=True)]
    square = sp.Add(*(z**2 for z in offsets))
    if equation.order == 0:
        forms = {1: -sp.Abs(offsets[0]) / 2, 2: -sp.log(square) / (4 * sp.pi), 3: 1 / (4 * sp.pi * sp.sqrt(square))}
        return q / sp.Float(d) * forms[jets.dimension], d
    since = jets.t - sp.Float(problem.time[0]) + sp.Float(1e-18 * float(problem.domain.size) ** 2 / d)
    width = sp.sqrt(4 * sp.Float(d) * since)
    if jets.dimension == 3:
        radius = sp.sqrt(square)
        return q / (4 * sp.pi * sp.Float(d) * radius) * (1 - sp.erf(radius / width)), d
    z = sp.Abs(offsets[0])
    near = width / sp.sqrt(sp.pi) * sp.exp(-(z**2) / width**2)
    return q / (2 * sp.Float(d)) * (near - z * (1 - sp.erf(z / width))), d
