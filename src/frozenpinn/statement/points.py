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
from frozenpinn.language.program import ExpInt
from frozenpinn.language.scope import POINT
from frozenpinn.language.steps import at_first, jumps_in_time, switches_of
from frozenpinn.statement.equation import Equation

if TYPE_CHECKING:
    from frozenpinn.statement.problem import Problem


class PointSource(NamedTuple):
    """A source at a point, in the equation of a field; its strength is a number or changes in time."""

    field: str
    place: tuple[float, ...]
    strength: sp.Expr


class Caused(NamedTuple):
    """A part of what a point source causes: an amplitude in time, and the field of a source of strength one.

    That is known since some time, or, if ``since`` is None, the field of a source that has been there forever. Such a
    field is the source of the next part if that is its ``potential``: D Δ of it is the field.
    """

    amplitude: sp.Expr
    formula: sp.Expr
    diffusion: float
    since: float | None
    potential: bool = False


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
            if factor.has(POINT):
                arguments = ", ".join(str(a) for m in marks if m == mark or factor.has(m) for a in m.args)
                raise ProblemError(
                    f"{_text(mark)} is multiplied by another delta; one point in several dimensions is written "
                    f"delta({arguments})."
                )
            if any(e.has(mark) for e in others) or not factor.free_symbols <= {jets.t} or factor.has(AppliedUndef):
                raise ProblemError(
                    f"{_text(mark)} has the factor '{factor}'; a point source has a number or a formula in t as "
                    f"strength, such as 2*{_text(mark)}."
                )
            place, scale = _place(mark, jets)
            if not bool(domain.contains(np.array([place]), 0.0)[0]):
                where = ", ".join(f"{c:g}" for c in place)
                raise ProblemError(f"the point source {_text(mark)} lies at ({where}), outside the domain {domain!r}.")
            if not _lies_inside(place, domain):
                where = ", ".join(f"{c:g}" for c in place)
                raise ProblemError(
                    f"the point source {_text(mark)} lies at ({where}), on the boundary of the domain; move it inside, "
                    "or write it as a flux of the condition there."
                )
            found.append(PointSource(equation.field, place, factor / sp.Float(scale)))
        gone = dict.fromkeys(marks, sp.Integer(0))
        rest.append(
            replace(equation, right_side=equation.right_side.xreplace(gone), forcing=equation.forcing.xreplace(gone))
            if marks
            else equation
        )
    return tuple(rest), tuple(found)


def _lies_inside(place: Sequence[float], domain: Domain) -> bool:
    """Whether a point of a domain has something of it on all sides; ends of periodic axes are no boundary."""
    margin = 1e-9  # part of a domain that must lie around a point
    steps = np.concatenate([sign * margin * domain.size * np.eye(len(place)) for sign in (1.0, -1.0)])
    bounded = np.tile(~np.array(domain.periodic, dtype=bool), 2)
    return bool(np.all(domain.contains(np.array(place) + steps[bounded], 0.0))) if np.any(bounded) else True


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
        if jets.t in mark.free_symbols:
            squares = " + ".join(f"({argument})**2" for argument in mark.args)
            power = f"**{len(mark.args)}" if len(mark.args) > 1 else ""
            raise ProblemError(
                f"{_text(mark)} moves, and points that move are not supported; write a narrow peak of width w instead: "
                f"exp(-({squares})/(2*w**2))/(w*sqrt(2*pi)){power}."
            )
        raise ProblemError(f"{_text(mark)} is no point; write delta({wanted}), one argument for each coordinate.")
    return tuple(float(p) for p in place if p is not None), scale


def caused_by(source: PointSource, problem: Problem) -> list[Caused]:
    """Return what a point source causes in free space.

    What is there at the start, and what is switched on later, spreads as diffusion makes it; what comes gradually is
    taken as if it had been there forever, corrected by its rate, which leaves a smooth source everywhere.
    """
    jets, equation = problem.jets, problem.equation(source.field)
    axes = range(jets.dimension)
    lap = replace(jets.field(source.field), laps=1)
    second = [equation.linear.get(Jet(source.field, tuple(2 * (i == a) for i in axes)), sp.Integer(0)) for a in axes]
    values = {sp.sympify(equation.linear.get(lap, sp.Integer(0)) + own) for own in second}
    diffusion = values.pop()
    known = not values and diffusion.is_number and equation.order <= 1 and not equation.mass
    known = known and (float(diffusion) > 0 if equation.order else float(diffusion) != 0)
    if not known or not problem.is_linear or jets.dimension > 3:
        raise ProblemError(
            "point sources are for linear equations that are led by a Laplacian with a number in front of it: static "
            "ones and evolutions of first order, up to three dimensions. Write a narrow source instead, such as "
            "exp(-((x - a)^2 + (y - b)^2)/w^2)/(pi*w^2)."
        )
    d, offsets = float(diffusion), [x - sp.Float(p) for x, p in zip(jets.x, source.place, strict=True)]
    if equation.order == 0:
        return [Caused(source.strength, _lasting(offsets, d), d, None)]
    found, rest = [], source.strength
    first = at_first(source.strength, jets.t, problem.time).xreplace({jets.t: sp.Float(problem.time[0])})
    for when, size in [(problem.time[0], first), *jumps_in_time(source.strength, jets.t, problem.time)]:
        if size == 0:
            continue
        later = when > problem.time[0]
        found.append(Caused(size, _growing(offsets, d, jets.t - sp.Float(when), problem.domain.size, later), d, when))
        rest -= size * (sp.Heaviside(jets.t - sp.Float(when), sp.Rational(1, 2)) if later else 1)
    if sp.expand(rest) != 0:
        found.append(Caused(rest, _lasting(offsets, d), d, None))
        if not switches_of(rest, jets.t):
            found.append(Caused(sp.diff(rest, jets.t), _potential(offsets, d), d, None, potential=True))
    return found


def _lasting(offsets: Sequence[sp.Expr], d: float) -> sp.Expr:
    """Return the field of a source that has been there forever."""
    square = sp.Add(*(z**2 for z in offsets))
    forms = {1: -sp.Abs(offsets[0]) / 2, 2: -sp.log(square) / (4 * sp.pi), 3: 1 / (4 * sp.pi * sp.sqrt(square))}
    return forms[len(offsets)] / sp.Float(d)


def _potential(offsets: Sequence[sp.Expr], d: float) -> sp.Expr:
    """Return what has the field of a source as D times its Laplacian."""
    square = sp.Add(*(z**2 for z in offsets))
    forms = {
        1: -(sp.Abs(offsets[0]) ** 3) / 12,
        2: -square * (sp.log(square) - 2) / (16 * sp.pi),
        3: sp.sqrt(square) / (8 * sp.pi),
    }
    return forms[len(offsets)] / sp.Float(d) ** 2


def _growing(offsets: Sequence[sp.Expr], d: float, since: sp.Expr, size: float, later: bool) -> sp.Expr:
    """Return the field of a source some time after it was switched on."""
    square = sp.Add(*(z**2 for z in offsets))
    age = (sp.Max(since, 0) if later else since) + sp.Float(1e-18 * float(size) ** 2 / d)
    width = sp.sqrt(4 * sp.Float(d) * age)
    if len(offsets) == 3:
        radius = sp.sqrt(square)
        found = (1 - sp.erf(radius / width)) / (4 * sp.pi * sp.Float(d) * radius)
    elif len(offsets) == 2:
        found = ExpInt(square / (4 * sp.Float(d) * age)) / (4 * sp.pi * sp.Float(d))
    else:
        z = sp.Abs(offsets[0])
        near = width / sp.sqrt(sp.pi) * sp.exp(-(z**2) / width**2)
        found = (near - z * (1 - sp.erf(z / width))) / (2 * sp.Float(d))
    return found * sp.Heaviside(since, sp.Rational(1, 2)) if later else found
